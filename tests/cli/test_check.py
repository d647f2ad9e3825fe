"""`bjsim check` as its users call it."""

import re
from pathlib import Path

import pytest
from support.command import bjsim, refusal

from bjsim.errors import InputError
from bjsim.sim.game.presets import PRESETS
from bjsim.strategies.charts.chart import Chart
from bjsim.strategies.evaluation import compare
from bjsim.strategies.exact.solver import Solver
from bjsim.strategies.formats.files import WRITERS

BEST = Solver(PRESETS["blackjack-p"].rules).chart
PLANTED = {("12", "T"): "S", ("88", "6"): "H", ("11", "6"): "S"}
WRONG = Chart("wrong", BEST.rules, {**BEST.cells, **PLANTED})
GAME = ("--rules", "blackjack-p")


@pytest.fixture(params=list(WRITERS))
def chart(request, tmp_path):
    """A chart with three wrong cells, in each format. Returns: (format, path)."""
    path = tmp_path / f"chart.{request.param}"
    path.write_text(WRITERS[request.param](WRONG), encoding="utf-8")
    return request.param, path


def test_a_second_letter_is_explained(tmp_path: Path) -> None:
    """16 v T surrenders in both charts; only sixteens of three cards or more are played differently."""
    rules = ("--rules", "vegas-h17", "--set", "ls=true")
    path = tmp_path / "mine.txt"
    best = bjsim("solve", *rules, "--format", "chart").out
    lines = [line.replace("Rs Rh", "Rh Rh") if line.split()[:1] == ["16"] else line for line in best.splitlines()]
    path.write_text("\n".join(lines), encoding="utf-8")
    out = bjsim("check", path, *rules).out.splitlines()
    line = "16 v T Rh → Rs: the second letter counts for hands that may not surrender"
    assert line in out
    assert "second letter" not in bjsim("check", "hoyle", "--rules", "vegas-s17").out


def test_the_json_has_what_is_promised(chart):
    data = bjsim("check", chart[1], *GAME, "--json", "-").json
    assert {(cell["row"], cell["column"]): cell["chart"] for cell in data["cells"]} == PLANTED
    assert [cell["best"] for cell in data["cells"]] == [BEST.cells[c["row"], c["column"]] for c in data["cells"]]
    costs = [cell["cost"] for cell in data["cells"]]
    assert costs == sorted(costs, reverse=True)
    assert sum(costs) == pytest.approx(data["best"] - data["value"], rel=1e-9)
    assert data["value"] == pytest.approx(Solver(BEST.rules).ev(WRONG.policy).value, abs=1e-15)
    assert data["best"] == pytest.approx(-0.002868911, abs=1e-9)


def test_the_fixed_chart_is_the_best_one_in_the_same_format(chart, tmp_path):
    form, path = chart
    fixed = tmp_path / "fixed"
    assert bjsim("check", path, *GAME, "--fix", fixed).status == 0
    assert fixed.read_text(encoding="utf-8") == WRITERS[form](BEST)
    again = bjsim("check", fixed, *GAME, "--json", "-").json
    assert again["cells"] == [] and again["value"] == again["best"]


def test_a_chart_from_standard_input_fixed_to_standard_output():
    outcome = bjsim("check", "-", *GAME, "--fix", "-", stdin=WRITERS["policy"](WRONG).encode())
    assert outcome.status == 0 and outcome.out == WRITERS["policy"](BEST)
    assert "value of the chart  " in outcome.err


def test_one_wrong_cell_costs():
    one = Chart("one", BEST.rules, {**BEST.cells, ("12", "T"): "S"})
    text = bjsim("check", "-", *GAME, stdin=WRITERS["chart"](one).encode()).out
    assert "\n1 wrong cell costs 0." in text


def test_what_is_shown():
    text = bjsim("check", "-", *GAME, stdin=WRITERS["chart"](WRONG).encode()).out
    assert "value of the best chart  -0.286891% of the bet\n" in text
    (row,) = [line for line in text.splitlines() if line.startswith("   12 ")]
    assert row.split() == ["12", "H", "H", "S", "S", "S", "H", "H", "H", "S!", "H"]
    assert text.count("!") == 4  # three cells and the legend
    assert "3 wrong cells cost 0." in text and "remainder 0.000000%" in text and "interaction" in text
    listed = [line.split()[:4] for line in text.splitlines() if line.startswith("  ") and line.strip().endswith("%")]
    assert listed == [["12", "T", "S", "H"], ["11", "6", "S", "Dh"], ["88", "6", "H", "P"]]


def test_named_strategies_are_charts_too():
    data = bjsim("check", "hoyle", "--rules", "neller", "--json", "-").json
    assert len(data["cells"]) == 6 and data["chart"] == "hoyle"


@pytest.mark.slow
def test_a_finite_shoe_is_evaluated_itself():
    text = bjsim("check", "optimal", "--rules", "vegas-h17", "--decks", "1").out
    assert "All values are for the first round of 1 deck." in text and "value of the chart       -0.043977% of" in text
    assert "no cell differs: this is the best chart" in text and "infinite" not in text
    asked = ("check", "optimal", "--rules", "vegas-h17", "--set", "cut=0", "--decks")
    assert [bjsim(*asked, decks, "--json", "-").json["shoe"] for decks in (1, "inf")] == [1, "inf"]


def test_no_cell_is_wrong_in_a_shoe_that_is_not_solved(tmp_path, monkeypatch):
    """The reason is given, and everything is for the infinite shoe."""

    def refuse(rules):
        raise InputError("TT is split without end")

    monkeypatch.setattr(compare, "ShoeSolver", refuse)
    asked = ("check", "hoyle", "--rules", "cardshark", "--decks", 7)
    fixed = tmp_path / "fixed"
    text = bjsim(*asked, "--fix", fixed).out
    assert "best chart" not in text and "! differs from the infinite-shoe chart" in text
    assert "All values are for an infinite shoe, since TT is split without end" in text
    assert re.search(r"in an infinite shoe \d+ wrong cells cost", text)
    assert "--fix wrote the chart for an infinite shoe, not for 7 decks" in text
    assert bjsim(*asked, "--json", "-").json["shoe"] == "inf"
    compare._refusal.cache_clear()


def test_an_infinite_value_is_said():
    data = bjsim("check", "optimal", "--rules", "blackjack-p", "--set", "ten_probability=1/2", "--json", "-").json
    assert data["best"] == data["value"] == "inf"
    text = bjsim("check", "hoyle", "--rules", "blackjack-p", "--set", "ten_probability=1/2").out
    assert "the value is infinite: resplitting TT against 2 pays without limit" in text
    assert "an infinite difference cannot be divided among cells" in text


def test_bad_input_gets_one_line_and_status_2(tmp_path):
    assert refusal("check", "-", stdin=b"\x89PNG\r\n").startswith("standard input, line 1, column 1: not valid UTF-8")
    path = tmp_path / "c.csv"
    path.write_text("hand,2,3\n5,H,H\n", encoding="utf-8")
    assert refusal("check", path, "--rules", "neller").startswith(f"{path}, line 1, column 9: the dealer's cards 4 5")
    assert f"cannot write {tmp_path}: it is a folder" in refusal("check", "hoyle", "--fix", tmp_path)
    (tmp_path / "mine.py").write_text("def decide(view):\n    return 'S'\n", encoding="utf-8")
    assert "is not a chart" in refusal("check", f"{tmp_path}/mine.py:decide")
    assert "cannot be created" in refusal("check", "bjsim.strategies.players.catalogue:FunctionPlayer")


def test_a_printed_chart_is_echoed_with_every_guess(tmp_path):
    hands = {"4-11": "H", "12-16": "H", "17+": "S", "Soft 13-17": "H", "Soft 18": "D", "Soft 19+": "S", "9,9": "SP"}
    lines = [f"{hand}\t" + "\t".join([code] * 10) for hand, code in hands.items()]
    pairs = "".join(f"{rank},{rank}\t" + "\t".join(["N"] * 10) + "\n" for rank in "2345678TA")
    path = tmp_path / "book.txt"
    path.write_text("A book\n\t" + "\t".join("23456789TA") + "\n" + "\n".join(lines) + "\n" + pairs)
    result = bjsim("check", str(path), "--rules", "vegas-s17", "--echo")
    assert "99  P  P  P" in result.out and "A7 Ds Ds" in result.out
    assert "guessed: D means Ds for A7" in result.out and "skipped: A book" in result.out
    assert result.out.startswith("# on the left your hand, above the dealer's card\n")
    assert (
        "guessed"
        not in bjsim("check", "-", "--rules", "vegas-s17", "--echo", stdin=result.out.split("guessed")[0].encode()).out
    )
    again = bjsim("check", str(path), "--rules", "vegas-s17")
    assert again.status == 0 and "skipped: A book" in again.err


def test_an_evaluation_is_shown_though_its_format_cannot_say_the_best_chart(tmp_path):
    chart, best, found = tmp_path / "p.txt", tmp_path / "best.txt", tmp_path / "found.json"
    chart.write_text(bjsim("solve", "--rules", "vegas-s17", "--decks", "inf", "--format", "policy").out)
    done = bjsim("check", chart, "--rules", "spanish-21", "--decks", "inf", "--fix", best, "--json", found)
    assert done.status == 2 and "a policy cannot say" in done.err and "value of the best chart" in done.out
    assert found.exists() and not best.exists()
