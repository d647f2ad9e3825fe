"""`bjsim solve` for a shoe of real cards, as its users call it."""

from __future__ import annotations

import pytest
from support.command import bjsim, refusal
from support.printed import printed

from bjsim.sim.game.presets import PRESETS
from bjsim.strategies.exact.solver import Solver
from bjsim.strategies.exact.tables import Tables
from bjsim.strategies.shoe.solver import ShoeSolver, ShoeTables
from bjsim.strategies.solved import describe_solved

SIX = ("--rules", "vegas-s17", "--decks", 6)


def test_value_json_has_every_strategy_and_upcard() -> None:
    data = bjsim("solve", "value", "--rules", "european", "--decks", 6, "--json", "-").json
    assert list(data["strategies"]) == ["td", "td-2c", "cdz-", "cdp1", "cdp"]
    assert data["value"] == data["strategies"]["td"]
    assert sorted(data["by_upcard"]["cdp"]) == sorted("23456789TA")
    assert list(data["removal"]) == [*"A23456789T"]
    assert 1.1 < data["sd"] < 1.2


def test_the_value_is_that_of_the_strategy_and_the_shoe() -> None:
    assert float(bjsim("solve", "value", *SIX, "--strategy", "cdz-").out) == pytest.approx(-0.00402870236, abs=6e-12)
    full = ",".join(f"{card}=24" for card in "A23456789TJQK")
    assert bjsim("solve", "value", "--rules", "vegas-s17", "--shoe", full).out == bjsim("solve", "value", *SIX).out


def test_one_hand_in_the_infinite_shoe() -> None:
    """One column; the same values as a shoe of very many decks, but for the cards of the hand."""
    infinite = ("solve", "--rules", "vegas-h17", "--decks", "inf", "--set", "ls=true", "--hand", "8,8 v A")
    lines = [line.split() for line in bjsim(*infinite).out.splitlines() if line.strip()]
    assert " ".join(lines[0]) == "88 against A: expected profit in initial bets, given no dealer's natural"
    early = bjsim(*infinite[:5], "--set", "surrender=early", "--hand", "8,8 v A").out
    assert "in initial bets\n" in early and "-0.500000000" in early
    assert lines[1] == ["action", "best", "play"] and lines[-1] == ["best", "surrender"]
    found = {name: float(value) for name, value in lines[3:-1]}
    assert found["surrender"] == -0.5 > found["split"] > found["hit"] > found["stand"]
    huge = ",".join(f"{card}=20000" for card in "A23456789TJQK")
    shoe = bjsim(*infinite[:3], "--shoe", huge, *infinite[5:], "--json", "-").json["values"]["cdz-"]
    assert [*found.values()] == pytest.approx(sorted(shoe.values(), reverse=True), abs=2e-5)
    exact = bjsim("solve", "--rules", "easy", "--exact", "--hand", "8,8 v T6", "--json", "-").json["values"]
    assert exact["best play"]["S"] == "3/13"
    for hand, message in {
        "8,8,9 v T": "889 is not a hand",
        "8,8 v T6": "in vegas-s17 the dealer shows one card",
        "X2 v A": "write the cards, v, and the dealer's card",
    }.items():
        assert message in refusal("solve", "--rules", "vegas-s17", "--decks", "inf", "--hand", hand)


@pytest.mark.parametrize("decks", [6, "inf"])
def test_one_hand_where_the_dealer_shows_both_cards(decks: object) -> None:
    """What the errors advise is accepted."""
    easy = ("solve", "--rules", "easy", "--decks", decks, "--hand")
    assert "in easy the dealer shows both of its cards: write two after v, as in T,6 v T,7" in refusal(
        *easy, "10 6 v 7"
    )
    assert "16 is a total: write its cards, such as T,6 v T,7" in refusal(*easy, "16 v T7")
    assert "hit" in bjsim(*easy, "T,6 v T,7").out.split("best")[1]


@pytest.mark.parametrize("decks", [6, "inf"])
def test_the_code_after_a_surrender_is_the_second_best_action(decks: object) -> None:
    """As books print it, also where the game has no hand that needs it."""
    out = bjsim("solve", "strategy", "--rules", "vegas-h17", "--decks", decks, "--set", "ls=true").out
    rows = {line.split()[0]: line.split()[1:] for line in out.splitlines() if line.split()}
    assert rows["88"][-1] == "Rp" and rows["17"][-1] == "Rs" and rows["15"][-1] == "Rh"


def test_one_hand_under_every_strategy() -> None:
    """The depleted shoe of Farmer's program."""
    shoe = ("--rules", "vegas-s17", "--shoe", "2=4,3=4,4=2,7=2,T=7")
    values = bjsim("solve", *shoe, "--hand", "2,2 v 7", "--json", "-").json["values"]
    assert values["cdz-"]["P"] == pytest.approx(-0.76210220, abs=6e-9)
    assert values["td"]["P"] < values["cdz-"]["P"] < values["cdp"]["P"]
    lines = [line.split() for line in bjsim("solve", *shoe, "--hand", "2,2 v 7").out.splitlines() if line.strip()]
    found = {line[0]: line[1:] for line in lines}
    assert found["split"][2:4] == ["-0.762102203", "-0.762102203"] and found["best"] == ["hit"] * 5


def test_a_hand_that_can_only_stand_may_lose_to_a_natural() -> None:
    """Where it takes the original bet, unless the hand is one, which pushes."""
    game = ("solve", "--rules", "vegas-s17", "--set", "enhc", "--set", "obo")
    finite, infinite = (
        bjsim(*game, "--decks", decks, "--hand", "T,6,5 v A", "--json", "-").json["values"] for decks in (8, "inf")
    )
    stand, _ = (next(iter(one.values()))["S"] for one in (finite, infinite))
    assert stand == pytest.approx(next(iter(infinite.values()))["S"], abs=0.02) and 0.3 < stand < 0.36
    given = "given no dealer's natural"
    assert given not in bjsim(*game, "--decks", 8, "--hand", "T,6,5 v A").out
    assert given in bjsim(*game, "--decks", 8, "--hand", "A,T v A").out


def test_the_tables_are_those_of_the_shoe() -> None:
    out = bjsim("solve", "strategy", "stand", "--rules", "vegas-h17", "--decks", 1).out
    assert out.split("\n\n")[0].splitlines()[6].split() == ["8", "H", "H", "H", "Dh", "Dh", "H", "H", "H", "H", "H"]
    printed = bjsim("solve", "strategy", "--rules", "vegas-s17", "--decks", 1, "--strategy", "td-2c").out
    assert ["T,2", "4", "hit", "0.006905%"] in [line.split() for line in printed.splitlines()]
    assert bjsim("solve", "--rules", "easy", "--decks", 1).out.startswith("Dealer AA")


def test_the_dealer_of_a_shoe_without_aces_is_in_order() -> None:
    out = bjsim("solve", "dealer", "--rules", "vegas-s17", "--shoe", "2=4,3=4,4=2,7=2,T=7").out
    assert [line.split()[1] for line in out.splitlines() if line.startswith("Dealer")] == [*"2347T"]


def test_a_shoe_that_lasts_only_with_all_its_cards_has_no_effects_of_removal() -> None:
    data = bjsim("solve", "value", "--rules", "vegas-s17", "--shoe", "5=4,6=4,T=2", "--json", "-").json
    assert data["removal"] is None and data["sd"] > 0


def test_a_chart_of_the_shoe_is_a_file_that_can_be_read(tmp_path) -> None:
    chart = tmp_path / "six.txt"
    chart.write_text(bjsim("solve", *SIX, "--format", "chart").out)
    assert bjsim("check", chart, *SIX).status == 0


@pytest.mark.parametrize("rules", ["easy", "free-bet", "blackjack-switch"])
def test_json_is_written_for_every_game_whose_value_is_printed(rules: str) -> None:
    args = ("solve", "value", "--rules", rules, "--decks", "inf")
    printed, written = bjsim(*args), bjsim(*args, "--json", "-")
    assert printed.status == written.status, written.err
    assert printed.status or float(printed.out) == written.json["value"]


def test_two_hands_have_no_value_in_a_finite_shoe() -> None:
    wrong = refusal("solve", "value", "--rules", "blackjack-switch")
    assert wrong == "exchange = 21: two hands of a seat have a chart in an infinite shoe only; use decks = inf"


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["--strategy", "td"], "give --decks 1 to 8, or --shoe"),
        (["--decks", 1, "--exact"], "fractions are for the infinite shoe"),
        (["initial", "--decks", 1], "the table initial needs --decks inf"),
        (["--shoe", "A=4,2"], "'2' is not accepted; write CARD=COUNT"),
        (["--shoe", "A=4,A=4"], "A is given twice"),
        (["--shoe", "A=4,X=4"], "'X' is not a card"),
        (["--decks", 1, "--hand", "T6"], "write the cards, v, and the dealer's two cards: T,6 v T,7"),
        (["--decks", 1, "--hand", "16 v 5"], "16 is a total: write its cards, such as T,6 v T,7"),
        (["value", "--decks", 1, "--hand", "T6 v 5"], "leave out TABLE, --format, --strategy and"),
        (["--decks", 1, "--hand", "T6 v 5", "--strategy", "td"], "leave out TABLE, --format, --strategy and"),
        (["--decks", 1, "--format", "csv", "--json", "-"], "--format and --json cannot be combined"),
        (["--decks", 1, "--hand", "T6 v 5"], "in easy the dealer shows both of its cards: write two after v"),
        (["--rules", "vegas-s17", "--decks", 1, "--hand", "T6"], "write the cards, v, and the dealer's card: T,6 v T"),
        (
            ["value", "--rules", "vegas-s17", "--decks", "inf", "--shoe", "A=4,2=4,3=4,4=4,5=4,6=4,T=16"],
            "--shoe counts the cards of a finite shoe, and decks = inf has none",
        ),
    ],
)
def test_what_is_refused(args: list[object], said: str) -> None:
    assert said in refusal("solve", *args)


@pytest.mark.slow
@pytest.mark.parametrize("preset", PRESETS)
def test_what_is_printed_is_written_as_json_too(preset: str) -> None:
    """Figures that are not known are null: free bets in a shoe have no standard deviation."""
    words = ("solve", "value", "--rules", preset)
    status = 2 if PRESETS[preset].rules.bets > 1 else 0  # games of two hands are not solved in a finite shoe
    assert bjsim(*words, "--json", "-").status == bjsim(*words).status == status


@pytest.mark.parametrize("strategy", ["td", "td-2c", "cdz-"])
def test_exceptions_are_of_the_chart_with_exceptions_alone(strategy: str) -> None:
    out = bjsim("solve", "strategy", "--rules", "single-deck", "--strategy", strategy).out
    assert ("Two-card exceptions of td-2c" in out) == (strategy == "td-2c")
    assert "exceptions of cdz-" not in out


def test_the_tables_of_a_shoe_are_followed_by_its_chart() -> None:
    game = PRESETS["single-deck"].rules
    for tables, after in ((ShoeTables(ShoeSolver(game)), "the best chart"), (Tables(Solver(game)), "best play")):
        assert f"{after} afterwards" in printed(describe_solved(tables, ["hit"], "", False), is_terminal=True)
