"""The coach's costs are the solvers' values, and the drill asks where errors are expected."""

from __future__ import annotations

import json
from collections import Counter
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import pytest

from bjsim.errors import InputError
from bjsim.sim.game.actions import INSURANCE, Action, View
from bjsim.sim.game.hand_states import SPLIT_HAND
from bjsim.sim.game.presets import load_rules
from bjsim.sim.game.rules import Rules
from bjsim.strategies.charts.chart import Chart
from bjsim.strategies.evaluation.coach import Coach, Judgement
from bjsim.strategies.evaluation.drill import MAX_BYTES, MAX_CHARTS, TOPICS, Drill, Record, cell_name
from bjsim.strategies.exact.solver import Solver
from bjsim.strategies.shoe.solver import ShoeSolver

EASY, VEGAS = load_rules("easy"), load_rules("vegas-s17")


def look(rules: Rules, hand: str, dealer: str, legal: str = "SHD", split: bool = False, hands: int = 1) -> View:
    return View(rules, 0, hand, dealer, dealer + hand, 10, 190, legal, split, hands)


def judge(coach: Coach, view: View, letter: str) -> Judgement:
    judgement = coach.judge(view, Action(letter))
    assert judgement is not None
    return judgement


def cost(coach: Coach, view: View, letter: str) -> float:
    return judge(coach, view, letter).cost


def test_figures_of_the_assignment() -> None:
    """[Easy]: 18 v 16 stands for 6/13; 19 v 20 loses 1 by standing, 10/13 by hitting, 20/13 doubled, 1/2 given up."""
    coach = Coach(EASY)
    judgement = judge(coach, look(EASY, "T8", "T6"), "H")
    assert (judgement.best, judgement.chart, judgement.is_mistake) == ("S", "S", True)
    assert judgement.values["S"] == pytest.approx(6 / 13)
    view = look(EASY, "T9", "TT", "SHDR")
    expected = {"S": 1 / 2, "H": 10 / 13 - 1 / 2, "D": 20 / 13 - 1 / 2, "R": 0}
    assert {letter: cost(coach, view, letter) for letter in expected} == pytest.approx(expected)
    without = look(EASY, "T9", "TT", "SH")  # chips for neither
    assert cost(coach, without, "S") == pytest.approx(3 / 13) and cost(coach, without, "H") == 0


def test_a_finite_shoe_has_the_values_of_its_solver() -> None:
    coach, solver = Coach(VEGAS), ShoeSolver(VEGAS)
    for hand, dealer, legal in [("T6", "T", "SHD"), ("A7", "9", "SHD"), ("88", "T", "SHDP"), ("2345", "7", "SH")]:
        values = solver.hand_values(hand, dealer, pair="P" in legal)
        for letter in legal:
            assert cost(coach, look(VEGAS, hand, dealer, legal), letter) == max(values.values()) - values[letter]


def test_the_best_chart_is_never_a_mistake() -> None:
    """Ten and two against a four: the chart of six decks stands, and for exactly these cards a hit is better."""
    coach = Coach(VEGAS)
    stand, hit = (judge(coach, look(VEGAS, "T2", "4"), letter) for letter in "SH")
    assert (stand.best, stand.chart, stand.is_mistake, hit.is_mistake) == ("H", "S", False, False)
    assert 0 < stand.cost < 0.01 and hit.cost == 0
    other = judge(coach, look(VEGAS, "93", "4"), "H")
    assert other.is_mistake  # negative control: of another twelve the chart is right


@pytest.mark.parametrize("pending", [0, 1])
def test_a_resplit_takes_a_hand_from_those_that_wait(pending: int) -> None:
    """The third of at most four hands: after one more split none may be split, and two hands of one card are played.

    A hand that waits would else be split if its second card makes a pair.
    """
    coach, solver = Coach(EASY), Solver(EASY)
    means, states = solver.means(solver.columns["16"], 0.0), solver.states
    start = coach.chart.states.hand((7,), True)
    assert start.split == SPLIT_HAND
    kept = [float(means.value(states.add(start, rank), False)) for rank in range(13)]
    hand = sum(kept) / 13  # a split hand that is never split again
    waiting = (sum(kept) - kept[7] + 2 * hand) / 13  # rank index 7 is the eight
    judgement = judge(coach, look(EASY, "88", "T6", "SHDP", True, 3)._replace(pending=pending), "S")
    assert judgement.values["P"] == pytest.approx(2 * hand + pending * (hand - waiting))
    assert judgement.values["S"] == pytest.approx(means.act(coach.chart.states.hand((7, 7), True), "S"))


def test_a_split_hand_lacks_the_cards_of_its_pair() -> None:
    """Eights of a single deck: two hands hold three of them, so that a ten more often follows. By hand: 10 v 6."""
    rules = VEGAS.replace(decks=1, double_after_split=False)
    coach = Coach(rules)
    split = judge(coach, look(rules, "8T", "6", "SH", True, 2), "H")
    whole = judge(coach, look(rules, "8T", "6", "SH"), "H")
    less = ShoeSolver(rules, {**dict.fromkeys("A2345679TJQK", 4), "8": 3}).hand_values("8T", "6")
    assert {letter: split.values[letter] for letter in "SH"} == pytest.approx({letter: less[letter] for letter in "SH"})
    assert split.values["S"] != pytest.approx(whole.values["S"], abs=1e-6)  # negative control


def test_what_has_no_exact_value_is_not_judged() -> None:
    cards = load_rules("cardshark")
    assert Coach(cards).judge(look(cards, "T6", "T", "SHDB"), Action("B", 10)) is None
    assert Coach(cards).judge(look(cards, "55555", "T"), Action("S")) is None  # a scripted shoe may have five fives
    replayed = load_rules("neller-v2").replace(decks=6)
    assert "infinite" not in Coach(replayed).basis and Coach(EASY).basis == "an infinite shoe"


def test_ties_that_are_replayed_count_with_the_value_of_the_game() -> None:
    rules = load_rules("neller")
    solver = Solver(rules, Fraction)
    means = solver.means(solver.columns["T"], solver.tie_value)
    state = solver.situations["16"]
    expected = max(means.act(state, "H"), means.act(state, "S")) - means.act(state, "S")
    assert cost(Coach(rules), look(rules, "T6", "T", "SH"), "S") == pytest.approx(float(expected))


@pytest.mark.parametrize("decks", ["inf", 6])
def test_an_early_surrender_is_judged_before_the_dealer_looks(decks: str | int) -> None:
    """Fourteen against an ace: -1/2 for the surrender, and a natural of the dealer takes the bet of any other action.

    A late surrender saves nothing of it, and is judged given that there is none.
    """
    early, late = (VEGAS.replace(decks=decks, surrender=kind) for kind in ("early", "late"))
    view = look(early, "T4", "A", "SHDR")
    judgement, without = judge(Coach(early), view, "H"), judge(Coach(late), view, "H")
    tens = 4 / 13 if decks == "inf" else 95 / 309
    assert judgement.values["R"] == pytest.approx(-0.5) == without.values["R"]
    for letter in "SHD":
        assert judgement.values[letter] == pytest.approx((1 - tens) * without.values[letter] - tens)
    assert judgement.best == "R"
    assert Coach(early).solution.hand_values("T4", "A") == pytest.approx(judgement.values)


@pytest.mark.parametrize(("decks", "tens"), [("inf", 4 / 13), (6, 95 / 309)])
def test_insurance_by_the_cards_that_are_seen(decks: str | int, tens: float) -> None:
    """Half a bet at 2:1 on a ten face down. Of six decks the ace, a ten and a six are known, and 95 of 309 are tens."""
    rules = VEGAS.replace(decks=decks, insurance=True)
    judgement = judge(Coach(rules), look(rules, "T6", "A", INSURANCE), "I")
    assert (judgement.best, judgement.chart, judgement.is_mistake) == ("S", "S", True)
    assert judgement.cost == pytest.approx(1 / 2 * (1 - 3 * tens))


@pytest.fixture(scope="module")
def coach() -> Coach:
    return Coach(VEGAS.replace(decks="inf"))


def test_the_weight_of_an_exercise(coach: Coach) -> None:
    """Ten and six against a ten: 2 * 4/13 * 1/13 * 4/13, and 0.0004 between hit and stand in an infinite shoe."""
    [found] = [each for each in Drill(coach, 1).exercises if (each.view.hand, each.view.dealer) == ("6T", "T")]
    margin = abs(cost(coach, found.view, "H") - cost(coach, found.view, "S"))
    assert 0 < margin < 0.001 and found.cell == ("16", "T")
    assert found.weight == pytest.approx(32 / 13**3 * margin * 0.5 ** (margin / 0.05))
    heavy = sorted(Drill(coach, 1).exercises, key=lambda each: -each.weight)[:20]
    assert all(0.01 < cost(coach, each.view, _second(coach, each.view)) < 0.3 for each in heavy)


def _second(coach: Coach, view: View) -> str:
    values = judge(coach, view, "S").values
    return sorted(values, key=lambda letter: -values[letter])[1]


def test_a_drill_returns_to_what_was_missed(coach: Coach) -> None:
    def frequency(missed: bool) -> Counter[tuple[str, str]]:
        drill, found = Drill(coach, 5), Counter[tuple[str, str]]()
        for _ in range(300):
            exercise = drill.ask()
            best, wrong = judge(coach, exercise.view, "S").best, missed and exercise.cell == ("12", "3")
            drill.answer(exercise, Action(_second(coach, exercise.view) if wrong else best))
            found[exercise.cell] += 1
        assert (len(drill.misses), drill.asked) == (missed * found["12", "3"], 300)
        return found

    right, wrong = frequency(False), frequency(True)
    assert right == frequency(False)  # the same seed, the same questions
    assert wrong["12", "3"] > 3 * max(right["12", "3"], 1) and len(right) > 60


def test_no_cell_is_asked_twice_in_a_row(coach: Coach) -> None:
    drill, cells = Drill(coach, 2), []
    for _ in range(200):
        exercise = drill.ask()
        drill.answer(exercise, Action(_second(coach, exercise.view)))
        cells.append(exercise.cell)
    assert all(one != other for one, other in pairwise(cells))
    assert [miss.cell for miss in drill.misses] == cells


def test_the_topics_of_a_drill() -> None:
    coach = Coach(VEGAS.replace(surrender="late"))
    of = {topic: Drill(coach, 1, [topic]).exercises for topic in TOPICS}
    assert {each.cell[0] for each in of["soft"]} == {f"A{rank}" for rank in range(2, 10)}
    assert {each.cell[0] for each in of["pairs"]} >= {"22", "88", "AA"}
    assert {each.cell[0] for each in of["hard"]} >= {"8", "16"} and "A7" not in {each.cell[0] for each in of["hard"]}
    surrenders = {each.cell for each in of["surrender"]}
    assert {("16", "T"), ("15", "T")} <= surrenders and ("16", "6") not in surrenders
    assert {("11", "6"), ("A7", "6")} <= {each.cell for each in of["doubles"]} and ("16", "T") in surrenders
    assert {each.cell for each in of["close"]} >= {("12", "3")} and ("20", "6") not in {e.cell for e in of["close"]}
    both = Drill(coach, 1, ["soft", "pairs"]).exercises
    assert len(both) == len(of["soft"]) + len(of["pairs"]) < len(Drill(coach, 1).exercises)


def test_a_topic_without_decisions(coach: Coach) -> None:
    with pytest.raises(InputError, match="vegas-s17 has no decisions to drill on the topics surrender"):
        Drill(coach, 1, ["surrender"])


def test_a_later_drill_begins_with_what_was_missed(coach: Coach, tmp_path: Path) -> None:
    file = tmp_path / "new folder" / "practice.json"

    def session(wrong: int, right: int, topics: tuple[str, ...] = ()) -> Drill:
        drill = Drill(coach, 7, topics, Record(coach.chart, file))
        for number in range(wrong + right):
            exercise = drill.ask()
            best = judge(coach, exercise.view, "S").best
            drill.answer(exercise, Action(_second(coach, exercise.view) if number < wrong else best))
        return drill

    missed = [cell_name(miss.cell) for miss in session(3, 0).misses if miss.cell]
    assert len(set(missed)) == 3
    again = session(0, 0)
    assert again.due == missed and [cell_name(again.ask().cell) for _ in range(3)] == missed
    assert session(0, 3).due == missed == session(0, 3).due  # one right answer is not enough: 4, 2, 1
    assert session(0, 0).due == []
    session(1, 0, ("soft",))
    assert session(0, 0, ("pairs",)).due == [] and len(session(0, 0, ("soft",)).due) == 1


@pytest.mark.parametrize(
    "content",
    [
        b"", b"{", b"[]", b"\xff", b'{"a": 1}', b'{"a": {"16 v T": 1e9}}', b'{"a": {"16 v T": NaN}}',
        b'{"a": {"16 v T": "4"}}', b"[" * 100_000, b" " * (MAX_BYTES + 1),
    ],
)  # fmt: skip
def test_a_broken_record_is_set_aside(coach: Coach, tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "practice.json"
    file.write_bytes(content)
    record = Record(coach.chart, file)
    assert record.factors == {} and record.problem == (
        f"{file} is not a record of bjsim: it is renamed practice.broken, and a new one starts."
    )
    record.note(("16", "T"), True)
    assert Record(coach.chart, file).due == ["16 v T"]
    assert (tmp_path / "practice.broken").read_bytes() == content


def test_a_record_that_cannot_be_written_is_told(coach: Coach, tmp_path: Path) -> None:
    (tmp_path / "bjsim").write_text("a file where the folder should be")
    record = Record(coach.chart, tmp_path / "bjsim" / "practice.json")
    record.note(("16", "T"), True)
    assert record.due == ["16 v T"] and "practice.json cannot be written: " in record.problem


def test_a_record_does_not_grow_without_bound(coach: Coach, tmp_path: Path) -> None:
    """Every chart is another game; the one practised longest ago is dropped, and a cell has one number."""
    file = tmp_path / "practice.json"
    cells = coach.chart.cells
    charts = [Chart("", VEGAS, {**cells, cell: "H" if code == "S" else "S"}) for cell, code in list(cells.items())[:25]]
    for chart in charts:
        for _ in range(9):
            Record(chart, file).note(("16", "T"), True)
    assert len(json.loads(file.read_text())) == MAX_CHARTS and len(file.read_bytes()) < 1000
    assert Record(charts[-1], file).due == Record(charts[5], file).due == ["16 v T"] and not Record(charts[4], file).due
    assert Record(charts[-1], file).factors == {"16 v T": 64.0}


def test_a_miss_is_due_however_often_it_was_right_before() -> None:
    record = Record()
    for _ in range(9):
        record.note(("16", "T"), False)
    assert record.factors == {"16 v T": 1 / 16} and record.due == []
    record.note(("16", "T"), True)
    assert record.due == ["16 v T"]


def test_records_that_are_open_at_once_lose_nothing(coach: Coach, tmp_path: Path) -> None:
    file = tmp_path / "practice.json"
    other = Chart("", VEGAS, {**coach.chart.cells, ("16", "T"): "S"})
    records = [Record(chart, file) for chart in (coach.chart, other)]
    for record in (records[1], records[0]):
        record.note(("15", "T"), True)
    assert all(Record(chart, file).due == ["15 v T"] for chart in (coach.chart, other))
    Record(coach.chart, file).note(("14", "T"), True)
    records[0].note(("13", "T"), True)  # a third cell of a chart, by the first record of it
    assert Record(coach.chart, file).due == ["15 v T", "14 v T", "13 v T"]


def test_a_record_that_cannot_be_read_is_kept(coach: Coach, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "practice.json"
    Record(coach.chart, file).note(("16", "T"), True)
    before = file.read_bytes()

    def refused(path: Path) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("bjsim.strategies.evaluation.drill._parse", refused)
    record = Record(coach.chart, file)
    record.note(("15", "T"), True)
    assert file.read_bytes() == before and "cannot be read: Permission denied" in record.problem


def test_a_pair_that_may_not_be_split_is_judged_in_the_row_of_its_total() -> None:
    """The third 8 of two hands, which are all that there may be."""
    coach = Coach(VEGAS.replace(max_hands=2, decks="inf"))
    seen = View(coach.rules, 0, "88", "T", "T#88", 10, 90, "SHD", split=True, hands=2)
    assert judge(coach, seen, "S").cell == ("16", "T")


def test_split_hands_whose_ties_are_replayed_have_the_values_of_an_infinite_shoe_in_a_very_large_one() -> None:
    rules = EASY.replace(ties="replay", decks="inf")
    infinite, large = Coach(rules), ShoeSolver(rules.replace(decks=8), dict.fromkeys("A23456789TJQK", 16_000))
    for hand, dealer, legal in [("8T", "T6", "SHD"), ("85", "TT", "SHD"), ("837", "97", "SH")]:
        view = look(rules, hand, dealer, legal, split=True, hands=2)
        values = judge(infinite, view, "S").values
        assert large.view_values(view._replace(rules=large.rules)) == pytest.approx(values, abs=1e-4)


def test_insurance_of_two_hands_costs_twice_as_much() -> None:
    rules = load_rules("blackjack-switch").replace(decks="inf", insurance=True)
    judgement = Coach(rules).judge(look(rules, "T6", "A", INSURANCE)._replace(others="92"), Action("I"))
    assert judgement is not None
    assert judgement.cost == pytest.approx(2 * 1 / 2 * (1 - 3 * 4 / 13)) and judgement.lost == judgement.cost


def test_aces_that_are_never_split_are_a_soft_hand() -> None:
    """A drill of the pairs of a game without splits asked for A,A over and over."""
    coach = Coach(load_rules("neller"))
    aces = [each.topics for each in Drill(coach, 1).exercises if each.view.hand == "AA"]
    assert aces and all("soft" in topics and "pairs" not in topics for topics in aces)
    with pytest.raises(InputError, match="neller has no decisions to drill on the topics pairs"):
        Drill(coach, 1, ("pairs",))


def test_a_record_that_cannot_be_written_goes_on_in_memory(
    coach: Coach, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the file has was read again with each answer, so that nothing was ever learnt."""
    file = tmp_path / "practice.json"
    Record(coach.chart, file).note(("16", "T"), True)

    def refused(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("os.replace", refused)
    record = Record(coach.chart, file)
    for _ in range(2):
        record.note(("16", "T"), False)
    assert record.factors["16 v T"] == 1 and not record.due
