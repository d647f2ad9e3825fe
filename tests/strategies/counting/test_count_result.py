"""`bjsim.count` gives what `bjsim count` writes; other bets, stored runs, comparisons, refusals in a caller's terms."""

from __future__ import annotations

import math
import re
import sys
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from support.command import bjsim as command

import bjsim
from bjsim.arguments import command_line
from bjsim.sim.game.presets import load_rules
from bjsim.strategies.counting.ramp import BetLimits, Ramp
from bjsim.strategies.counting.request import CountRequest
from bjsim.strategies.counting.system import find_system

TWO_DECKS = bjsim.load_rules("vegas-s17").replace(decks=2, max_hands=2)
GAME = (
    "count", "--rules", "vegas-s17", "--decks", "2", "--set", "max_hands=2", "--workers", "1", "--rounds", "5e4",
    "--json", "-",
)  # fmt: skip


def without_seconds(data: dict[str, Any]) -> dict[str, Any]:
    return data | {"seconds": 0, "games": [without_seconds(game) for game in data.get("games", ())]}


@pytest.fixture(scope="module")
def result() -> bjsim.CountResult:
    return bjsim.count(TWO_DECKS, rounds=5e4)


def test_the_function_gives_what_the_command_writes(result: bjsim.CountResult, tmp_path: Path) -> None:
    written = command(*GAME, "--html", tmp_path / "page.html", "--checkpoint", tmp_path / "run.count").json
    assert without_seconds(result.to_json()) == without_seconds(written)
    page = (tmp_path / "page.html").read_text()
    assert result.to_html(re.findall("<pre>(.*)</pre>", page)[0]) == page
    assert "How to reproduce it" in page and "How to reproduce it" not in result.to_html()
    stored = bjsim.CountResult.load(tmp_path / "run.count")
    assert without_seconds(stored.to_json()) == without_seconds(written)
    result.save(tmp_path / "again.count")
    again = bjsim.CountResult.load(tmp_path / "again.count", ramp="1-4", bankroll=200)
    assert again["ror"].value == result.with_bets(ramp="1-4", bankroll=200)["ror"].value > result["ror"].value


def test_insurance_is_taken_where_the_rules_offer_it(result: bjsim.CountResult, tmp_path: Path) -> None:
    """On the same shoes: by its play, without one as the chart says, and never in a game without insurance."""
    without, chart = TWO_DECKS.replace(insurance=False), bjsim.solve(TWO_DECKS).chart
    plays = ", ".join(str(play) for play in result.run.game.departures.plays if play.row != "insurance")

    def ev(rules: bjsim.Rules, indices: str, **chart: object) -> float:
        return bjsim.count(rules, indices=indices, rounds=2e4, **chart)["ev_per_round"].value  # type: ignore[arg-type]

    assert ev(TWO_DECKS, "i18") > ev(TWO_DECKS, plays) + 0.001
    assert ev(without, "i18") == ev(without, plays) == ev(TWO_DECKS, plays)
    assert "17 of 18 index plays apply" in bjsim.count(without, rounds=1).run.description
    insures = replace(chart, insurance="I")
    always = bjsim.count(TWO_DECKS, indices="none", chart=insures, rounds=2e4)
    assert always["ev_per_round"].value == ev(TWO_DECKS, "insurance I>=-999", chart=chart) != ev(TWO_DECKS, "none")
    always.save(tmp_path / "run.count")
    departures = bjsim.CountResult.load(tmp_path / "run.count").run.game.departures
    assert any(map(departures.insured_at, departures.span))


def test_figures_have_intervals(result: bjsim.CountResult) -> None:
    score, ev, sd = (result[key] for key in ("score", "ev_per_round", "sd_per_round"))
    assert score.value == pytest.approx((1000 * ev.value / sd.value) ** 2)
    assert score.half and score.ci95 == (score.value - score.half, score.value + score.half)
    assert result["bet"].ci95 is None
    rare = result.with_bets(bankroll=20_000)["ror"]  # its interval ends at 0
    assert rare.ci95 and rare.half and rare.ci95[0] == 0 > rare.value - rare.half
    with pytest.raises(KeyError, match="figures are ev_per_round, sd_per_round"):
        result["profit"]
    assert sum(row["share"] * row["bet"] * row["ev"] for row in result.by_count) == pytest.approx(ev.value)
    assert repr(result).startswith("CountResult(Hi-Lo in vegas-s17") and len(repr(result)) < 150
    assert "<table" in result._repr_html_() and "SCORE" in result._repr_html_()


def test_a_result_as_a_frame(result: bjsim.CountResult, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", SimpleNamespace(DataFrame=lambda columns, index: columns))
    frame: Any = result.to_frame()
    assert frame["label"] == result.run.labels and sum(frame["share"]) == pytest.approx(1)


def test_other_bets_are_those_of_another_run(result: bjsim.CountResult) -> None:
    """Where both have as many rows; money is the lowest bet, and the best ramp keeps its limits."""
    played = bjsim.count(TWO_DECKS, ramp="2-24", rounds=5e4)
    assert result.with_bets(ramp="2-24").to_json() | {"seconds": 0} == played.to_json() | {"seconds": 0}
    money = result.with_bets(ramp="$25-$300", bankroll=10_000)
    assert money.terms.unit == 25 and money["ev_per_hour"].text == result.with_bets(unit=25)["ev_per_hour"].text
    assert money["ror"].value == pytest.approx(
        math.exp(-800 * money["ev_per_round"].value / money["sd_per_round"].value ** 2)
    )
    best = result.with_bets(optimal=(1, 8), chip=0)
    assert best["score"].value >= result.with_bets(ramp="1-8")["score"].value
    assert (best.bets.min(), best.bets.max()) == (1, 8)
    assert (best.with_bets(ramp="1-12").bets == result.bets).all()  # a ramp replaces the limits


@pytest.mark.slow
def test_games_are_compared_as_by_the_command(result: bjsim.CountResult) -> None:
    written = command(*GAME, "--vary", "ramp=1-4,1-8", "--vary", "cut=60%,50%").json
    compared = result.vary(ramp=["1-4", "1-8"], cut=["60%", "50%"])
    assert without_seconds(compared.to_json()) == without_seconds(written)
    assert [name for name, _ in compared.games][1] == "ramp=1-4, cut=50%"
    first, other = (compared.games[at][1] for at in (0, 2))
    assert first.run is other.run  # the same cut: one run serves both ramps
    assert compared.differences[1][0].value == other["ev_per_round"].value - first["ev_per_round"].value
    assert repr(compared).startswith("CountComparison(ramp=1-4, cut=60%: SCORE ")


def test_objects_are_taken_as_well_as_names() -> None:
    chart = bjsim.find_player("hoyle", TWO_DECKS)
    request = CountRequest(TWO_DECKS, find_system("ko"), optimal="1-8x2", chip=2, chart=chart)  # type: ignore[arg-type]
    assert request.counting == find_system("ko") and request.limits == BetLimits(1, 8, 2)
    assert request.departures().base == chart
    assert request.changed(ramp=Ramp.spread(1, 4)).changed(optimal=(1, 4)).limits == BetLimits(1, 4)
    assert (
        request.changed(ramp="1-4").limits is None and request.changed(system="zen", das=False).counting.name == "zen"
    )
    assert CountRequest(TWO_DECKS, ramp="0:1 3/2:9").bets.counts[1] == Fraction(3, 2)  # between whole counts, 2
    assert request.changed(das=False).game.double_after_split is False


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"ramp": "1:x"}, "ramp: '1:x' is not accepted"),
        ({"system": "hilow"}, "system: no counting system is called 'hilow'; did you mean hilo"),
        ({"optimal": "12-1"}, "optimal: 12-1 is not accepted; give the least and the greatest bet"),
        ({"leave": "low"}, "leave='low' is not accepted; use a whole count"),
        ({"rounds": 0.5}, "rounds: 0.5 is not accepted"),
        ({"until": 2}, "until: 2 is not accepted; use a share of the bet"),
        ({"seed": -1}, "seed: -1 is not accepted"),
        ({"bankroll": "10k"}, "bankroll: a str is not accepted; use an amount above 0"),
        ({"kelly": 0}, "kelly=0 is not accepted; use a number above 0"),
        (
            {"ror": 0.01, "bankroll": 1e4, "unit": 10},
            "ror finds the bankroll or the unit; leave out one of them",
        ),
        ({"ror": 0.01, "bankroll": 1e4, "ramp": "$1-$8"}, "write ramp in units"),
        ({"chart": "perfect"}, "chart='perfect' is not a chart; a counter departs from a chart"),
        ({"rules": "easy"}, "cannot be counted in an infinite shoe"),
        ({"rules": TWO_DECKS.replace(dealer_shows="both", insurance=False)}, "indices='i18' does not fit this game"),
        ({"system": None}, "system: a NoneType is not accepted; use a name, or the path of a file"),
        ({"chart": 17}, "chart: an int is not accepted"),
        ({"on_progress": 3}, "on_progress: an int is not accepted; use a function"),
        (
            {"system": find_system("hilo").replace(rounding="exact"), "ramp": "0:1 1:2 3/2:9"},
            "ramp: a step at 3/2 is not accepted with Hi-Lo, whose counts are not whole",
        ),
        ({"optimal": (1, 12), "ramp": "1-8"}, "optimal and ramp cannot be combined; leave out one of them"),
        ({"chip": 2}, "chip rounds the bets of optimal"),
        ({"system": "red7", "ramp": "1/2:1"}, "ramp: a step at 1/2 is not accepted with Red Seven"),
    ],
)
def test_refusals_name_the_argument(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(bjsim.InputError, match=re.escape(message)) as refused:
        bjsim.count(**({"rules": TWO_DECKS} | arguments))
    assert "--" not in str(refused.value)


def test_the_command_line_is_told_of_options() -> None:
    """Negative control of `test_refusals_name_the_argument`."""
    with command_line(), pytest.raises(bjsim.InputError, match="--leave low is not accepted"):
        CountRequest(TWO_DECKS, leave="low")


def test_what_is_no_bet_needs_another_run(result: bjsim.CountResult) -> None:
    with pytest.raises(bjsim.InputError, match="system: it is no bet, and needs another run"):
        result.with_bets(system="ko")
    with pytest.raises(bjsim.InputError, match="the stored run has other spots"):
        result.with_bets(ramp="1-4x2")
    with pytest.raises(bjsim.InputError, match="cut: a str is not accepted; give a list of values"):
        result.vary(cut="60%")
    with pytest.raises(bjsim.InputError, match="insurance = never is not accepted; use true or false"):
        result.vary(insurance=["never", "free"])
    with pytest.raises(bjsim.InputError, match="ramp='0:0 40:5' has no bet at the counts of the table, ≤ -"):
        result.with_bets(ramp="0:0 40:5")
    with pytest.raises(bjsim.InputError, match="optimal: the best bet is 0 at every count; give a larger bankroll"):
        result.with_bets(optimal="0-8", bankroll=1, chip=1)


def test_play_stops_at_a_precision() -> None:
    said: list[tuple[int, float]] = []
    reached = bjsim.count(TWO_DECKS, until=0.001, on_progress=lambda rounds, expected: said.append((rounds, expected)))
    assert (half := reached["ev_per_round"].half) and half <= 0.001
    assert said[-1][0] == reached.run.rounds < 10**7 and said[-1][1] <= reached.run.rounds


SMALL = load_rules("vegas-s17").replace(decks=1)


def test_figures_are_compared_by_key_where_the_terms_differ() -> None:
    one = bjsim.count(SMALL, ramp="0:0 5:1", rounds=2e3, chart="hoyle", indices="none", workers=1)
    [difference] = one.vary(ror=[None, 0.01]).differences
    assert {figure.key for figure in difference} >= {"ev_per_round", "score"}
    assert not {figure.key for figure in difference} & {"bankroll", "unit"}


def test_a_chart_is_played_by_the_rules_of_the_game(tmp_path: Path) -> None:
    """Insurance was never taken by a stored chart of a game that does not offer it."""
    rules = SMALL.replace(insurance=False)
    bjsim.count(rules, rounds=2e3, chart="hoyle", workers=1).save(tmp_path / "x.count")
    [difference] = bjsim.CountResult.load(tmp_path / "x.count").vary(insurance=[False, True]).differences
    assert difference[0].value > 0.0005


@pytest.mark.parametrize(("ramp", "spots"), [("1-12", 1), ("0:1 3:5", 1), ("2:5", 1), ("1-12x2", 2), ("3x3", 3)])
def test_where_the_first_step_begins_does_not_matter_to_the_spots(ramp: str, spots: int) -> None:
    assert CountRequest("vegas-s17", ramp=ramp).spots == ((0, spots),)
    assert CountRequest("vegas-s17", ramp=ramp).cards == CountRequest("vegas-s17", ramp=f"1x{spots}").cards


def test_a_run_on_two_spots_takes_bets_that_name_none(tmp_path: Path) -> None:
    bjsim.count(SMALL, ramp="1-12x2", rounds=2e3, chart="hoyle", indices="none", workers=1).save(tmp_path / "x.count")
    one, other = (bjsim.CountResult.load(tmp_path / "x.count", ramp=ramp) for ramp in (None, "1-12x2"))
    assert one["ev_per_round"].value == other["ev_per_round"].value != 0


def test_rare_bets_wait_for_their_row() -> None:
    """The first block had no row for them, which ended the run."""
    rare = bjsim.count(SMALL, ramp="0:0 15:10", chart="hoyle", indices="none", until=0.05, workers=1)
    assert (rare["ev_per_round"].half or 1) < 0.05


@pytest.mark.slow
def test_the_plays_of_hilo_are_adapted_to_a_running_count(tmp_path: Path) -> None:
    (tmp_path / "rc.toml").write_text('system = "hilo"\ndivisor = "none"\n')
    plays = CountRequest(SMALL, chart="hoyle", system=tmp_path / "rc.toml").departures().plays
    assert next(play for play in plays if play.row == "insurance").count not in (3, 4)


def test_totals_of_both_cards_have_index_plays() -> None:
    request = CountRequest("double-exposure", chart="optimal", indices="11v10 D>=0")
    [play] = request.departures().plays
    assert play.column == "10" and str(play) == "11v10 D>=0"


def test_values_with_commas_are_drawn_as_dots(tmp_path: Path) -> None:
    vary = "indices=16vT S>=0, 12v3 S>=2;i18"
    words = ("--decks", 1, "--chart", "hoyle", "--rounds", "2e3", "--workers", 1)
    done = command("count", *words, "--vary", vary, "--html", tmp_path / "x.html")
    assert done.status == 0 and "16vT S&gt;=0, 12v3 S&gt;=2" in (tmp_path / "x.html").read_text()


def test_rules_vary_beside_a_rule() -> None:
    changed = CountRequest(TWO_DECKS).changed(rules="single-deck", cut="60%")
    assert changed.game == load_rules("single-deck").replace(cut="60%")


@pytest.mark.parametrize("name", ["workers", "checkpoint", "resume", "span", "on_progress"])
def test_what_does_not_vary_a_game_is_refused(result: bjsim.CountResult, name: str) -> None:
    with pytest.raises(bjsim.InputError, match=f"{name}: it does not vary a game"):
        result.vary(**{name: ["a", "b"]})


@pytest.mark.parametrize(("name", "value"), [("system", "ko"), ("decks", 2), ("rules", "vegas-s17"), ("h17", True)])
def test_a_stored_run_has_no_plays_for_other_games(
    result: bjsim.CountResult, tmp_path: Path, name: str, value: object
) -> None:
    """KO was played at the true counts of Hi-Lo, and one deck by the chart of two."""
    result.save(tmp_path / "x.count")
    stored = bjsim.CountResult.load(tmp_path / "x.count").with_bets(ramp="1-8")
    values: dict[str, Any] = {name: [value]}
    for given in ({}, {"indices": ["none"]}):
        with pytest.raises(bjsim.InputError, match=f"{name}: a stored run has the chart"):
            stored.vary(**values, **given)
    with pytest.raises(bjsim.InputError, match="sytem"):
        stored.vary(sytem=["ko"])


def test_a_frame_has_the_figures_of_every_game(result: bjsim.CountResult, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without pandas: only the second game has a bankroll that was sought."""
    monkeypatch.setattr("bjsim.strategies.counting.result.data_frame", lambda columns, names: columns)
    compared = bjsim.CountComparison((("one", result), ("two", result.with_bets(ror=0.01))))
    frame: Any = compared.to_frame()
    assert frame["bankroll"][0] is None and frame["bankroll"][1] > 0


def never(request: CountRequest, label: str) -> Any:
    raise AssertionError("it was played")


@pytest.mark.parametrize(("name", "values"), [("indices", ["none", "i81"]), ("leave", [None, -300])])
def test_all_games_are_checked_before_the_first_is_played(name: str, values: list[object]) -> None:
    axes = [[(name, value) for value in values]]
    with pytest.raises(bjsim.InputError, match=r"is called 'i81'|leave = -300"):
        bjsim.CountComparison.of(CountRequest(SMALL, chart="hoyle", indices="none").varied(axes), never)


def test_a_game_whose_bets_lose_does_not_take_the_others_with_it() -> None:
    one = bjsim.count(SMALL, ramp="0:0 5:1", ror=0.01, rounds=2e3, chart="hoyle", indices="none", workers=1)
    compared = one.vary(ramp=["0:1 1:0", "0:0 5:1", "1"])
    assert [name for name, _ in compared.games] == ["ramp=0:0 5:1"] and len(compared.left_out) == 2
    assert dict(compared.left_out) == compared.to_json()["left_out"]
    paths = replace(compared, left_out=(("system=systems/mine.toml", "it loses"),))
    assert paths.published().left_out == (("system=mine.toml", "it loses"),)
    assert "left out: ramp=0:1 1:0: ror 1%: these bets lose" in str(compared.describe().parts[-1])
    with pytest.raises(bjsim.InputError, match="these bets lose"):
        one.vary(ramp=["0:1 1:0"])


def test_chips_outside_the_limits_are_refused_at_once() -> None:
    with pytest.raises(bjsim.InputError, match="chip: no multiple of 5 is between 1 and 4"):
        CountRequest(SMALL, optimal="1-4", chip=5)


@pytest.mark.parametrize("text", ["1-8x2", "1 – 8X2", "1 to 8*2", "2/2-8.0x2"])
def test_limits_are_written_as_spreads_are(text: str) -> None:
    assert BetLimits.of(text) == (1, 8, 2) and Ramp.parse(text) == Ramp.spread(1, 8, 2)


@pytest.mark.parametrize("text", ["1-12x", "1-1/0", "1-", "8", "1-2e9"])
def test_limits_that_are_no_spread_are_refused(text: str) -> None:
    with pytest.raises(bjsim.InputError, match="is not accepted; give the least and the greatest bet"):
        BetLimits.of(text)


def test_index_plays_have_names_in_any_letters() -> None:
    both = TWO_DECKS.replace(dealer_shows="both", insurance=False)
    assert not CountRequest(both, indices=" NONE").departures().plays
