"""The counter of docs/reference/counting.md, and others in Python, play every round as the compiled round does."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from support.counters import Counter, at_a_table, play_shoes
from support.documents import ROOT, blocks

from bjsim.errors import RunFailed
from bjsim.sim.engine.compiled_rules import payoff_code
from bjsim.sim.game.actions import STAND, Action, View
from bjsim.sim.game.events import Dealt, Event, Revealed
from bjsim.sim.game.presets import named_rules
from bjsim.sim.game.round import Bettor, Observer, Round
from bjsim.sim.game.rules import Rules
from bjsim.sim.game.shoe import ScriptedShoe, Stream, open_shoe, stream_key
from bjsim.sim.running.table import ReadableTable, Span
from bjsim.strategies.counting.departures import Departures
from bjsim.strategies.counting.ramp import Ramp, spots_at
from bjsim.strategies.counting.system import find_system
from bjsim.strategies.counting.tables import CountingGame, ready_table
from bjsim.strategies.exact.solver import Solver
from bjsim.strategies.experiment import make_table

SIX = named_rules("vegas-s17")
PAGE = ROOT / "docs" / "reference" / "counting.md"


def documented_counter() -> Any:
    """The class on the page."""
    [code] = [block.text for block in blocks("counting.md", PAGE.read_text("utf-8")) if "class HiLo" in block.text]
    namespace: dict[str, Any] = {}
    exec(code, namespace)
    return namespace["HiLo"]


def played(rules: Rules, player: Any, key: tuple[int, int, int], rounds: int) -> tuple[np.ndarray, Any]:
    """Bet, payoff code and cards dealt of every round; and the player afterwards."""
    rows, dealt = [], 0
    player, shoe = copy.deepcopy(player), open_shoe(rules, Stream(*key))
    for _ in range(rounds):
        result = Round(rules, shoe, 1).play([player])
        dealt += sum(isinstance(event, Dealt) for event in result.events)
        rows.append([*result.bets, payoff_code(result.net[0], result.tied[0], rules.unit), dealt])
    return np.array(rows), player


def compiled(game: CountingGame, key: tuple[int, int, int], rounds: int) -> tuple[np.ndarray, int]:
    ready = ready_table(game)
    return play_shoes(ready.table, stream_key(*key), rounds, rounds)[1][:rounds], ready.first


@pytest.mark.parametrize("rounds", [2_000, pytest.param(100_000, marks=pytest.mark.slow)])
@pytest.mark.slow
def test_the_documented_counter_plays_and_bets_as_the_compiled_round(rounds: int) -> None:
    rules = SIX.replace(insurance=False)  # it is not asked by the count
    departures = Departures.parse("i18", Solver(rules).chart)
    trace, first = compiled(CountingGame(rules, find_system("hilo"), departures, (-20, 20)), (3, 0, 5), rounds)
    rows, _ = played(rules, documented_counter()(departures), (3, 0, 5), rounds)
    assert (rows[:, 1:] == trace[:, [2, 1]]).all()
    counts = trace[:, 0] + first
    assert (rows[:, 0] == np.clip(2 * counts - 2, 1, 12)).all()
    assert set(counts.tolist()) >= set(range(-5, 5))


SLOW = pytest.mark.slow
NO_HOLE_CARD = {"deal": "pdp", "peek": False, "insurance": True}


@pytest.mark.parametrize(
    ("changes", "system", "plays", "timing"),
    [
        ({"decks": 2, "hit_soft_17": True, "surrender": "late"}, "halves", "i18+fab4", "decision"),
        pytest.param({"decks": 1, "cut": "3/5", "surrender": "early"}, "omega2", "i18+fab4", "decision", marks=SLOW),
        pytest.param({"decks": 8, "deal": "ddpp"}, "ko", "16vT S>=-6, 12v4 S>=-8", "decision", marks=SLOW),
        (NO_HOLE_CARD | {"decks": 2}, "hilo", "i18", "decision"),
        pytest.param({"decks": 1, "cut": "1/2"}, "hilo", "i18", "round", marks=SLOW),
        ({"decks": 1, "cut": 1, "insurance": True}, "hilo", "16vT S>=0, insurance I>=1", "decision"),
        ({"decks": 2, "turns": "round-robin", "insurance": True}, "hiopt2-aces", "i18", "decision"),
        pytest.param({"decks": 1, "cut": "4/5", "insurance": True}, "omega2-aces", "i18", "round", marks=SLOW),
    ],
)  # fmt: skip
def test_counters_play_and_insure_as_the_compiled_round(
    changes: dict[str, Any], system: str, plays: str, timing: str
) -> None:
    rules = SIX.replace(**changes)
    departures = Departures.parse(plays, Solver(rules).chart)
    counting = find_system(system).replace(timing=timing)
    game = CountingGame(rules, counting, departures, (-40, 40), adjusted=False)  # which plays the same rounds
    trace, first = compiled(game, (1, 0, 2), 1200)
    rows, player = played(rules, Counter(counting, departures), (1, 0, 2), 1200)
    assert (rows[:, 1:] == trace[:, [2, 1]]).all()
    assert (rows[:, 0] == np.maximum(trace[:, 0] + first, 0)).all()
    if rules.deal.count("d") == 2 and "i18" in plays:
        assert any(player.insured)


@pytest.mark.parametrize(
    ("changes", "plays", "spots"),
    [
        ({"decks": 2, "seats": 3, "insurance": True, "surrender": "late"}, "i18+fab4", "0:1 1:1x2 3:1x3"),
        ({"decks": 1, "seats": 3, "cut": 1, "insurance": True}, "i18", "1x2"),
        pytest.param(NO_HOLE_CARD | {"decks": 1, "seats": 3, "cut": 1}, "i18", "1x2", marks=SLOW),
        pytest.param({"decks": 6, "seats": 7, "insurance": True}, "i18", "1", marks=SLOW),
        pytest.param({"decks": 2, "deal": "pdp", "peek": False, "seats": 2}, "16vT S>=0", "0:1x3 1:1x2", marks=SLOW),
        pytest.param({"decks": 2, "deal": "ddpp", "seats": 3}, "16vT S>=0, 12v4 S>=0", "1x2", marks=SLOW),
    ],
)  # fmt: skip
def test_spots_among_other_players_are_those_of_the_readable_round(
    changes: dict[str, Any], plays: str, spots: str
) -> None:
    """Also where the shoe runs out during rounds, as one deck does: the old hole card is not counted then."""
    rules = SIX.replace(**changes)
    departures = Departures.parse(plays, Solver(rules.replace(seats=1)).chart)
    game = CountingGame(rules, find_system("hilo"), departures, (-40, 40), Ramp.parse(spots).spots, adjusted=False)
    trace, first = compiled(game, (1, 0, 2), 1000)
    rows, counter = at_a_table(game, (1, 0, 2), len(trace))
    played = np.array([spots_at(game.spots, count) for count in trace[:, 0] + first])
    assert (rows[:, -1] == played).all() and len(trace) == 1000
    for spot, paid in enumerate(trace[:, 2:].T):
        here = played > spot
        assert (rows[here, spot] == paid[here]).all() and here.sum() > 50
    assert (rows[:, -2] == trace[:, 1]).all()
    if rules.insurance and rules.deal == "pdpd":
        assert any(counter.insured)


def test_a_counter_with_another_index_is_caught() -> None:
    """Negative control."""
    trace, _ = compiled(
        CountingGame(SIX, find_system("hilo"), Departures.parse("16vT S>=0", Solver(SIX).chart)), (3, 0, 5), 2000
    )
    rows, _ = played(SIX, documented_counter()(Departures.parse("16vT S>=2", Solver(SIX).chart)), (3, 0, 5), 2000)
    assert (rows[:, 1] != trace[:, 2]).any()


class Stander:
    """Stands, bets as instructed, and remembers what it observed."""

    name = "stander"

    def __init__(self, bets: Sequence[object] = (1,)) -> None:
        self.bets, self.seen = list(bets), list[Event]()

    def bet(self, view: View) -> int:
        assert (view.hand, view.dealer, view.visible, view.legal, view.chips) == ("", "", "", "", 190)
        return self.bets.pop(0)  # type: ignore[return-value]

    def observe(self, event: Event) -> None:
        self.seen.append(event)

    def decide(self, view: View) -> Action:
        return STAND


def test_the_hole_card_is_seen_when_it_is_shown() -> None:
    """It is shown once in each round, after a natural that a peek finds and after a hand that stands."""
    for cards, hole in (("9A7K", "K"), ("9678 5", "8")):
        player = Stander()
        result = Round(SIX, ScriptedShoe(cards), 1).play([player])
        shown = [event for event in player.seen if isinstance(event, Dealt | Revealed)]
        assert shown[:4] == [Dealt("9", 0), Dealt(cards[1]), Dealt(cards[2], 0), Dealt("#", face_down=True)]
        assert player.seen.count(Revealed(hole)) == 1
        assert result.events.count(Revealed(hole)) == 1
        assert Dealt(hole, face_down=True) in result.events


def test_bets_multiply_what_a_table_counts() -> None:
    """A player of bets 0, 1, 2, .. and one that does not choose, at the same table."""

    class Rising(Stander):
        def bet(self, view: View) -> int:
            self.bets[0] += 1  # type: ignore[operator]
            return self.bets[0] - 1  # type: ignore[operator]

    class Plain:
        name = "plain"

        def decide(self, view: View) -> Action:
            return STAND

    rules = SIX.replace(seats=2)
    _, trace = ReadableTable(rules, [Rising([0]), Plain()]).play_traced(1, 0, Span(0, 20))
    _, plain = ReadableTable(rules, [Plain(), Plain()]).play_traced(1, 0, Span(0, 20))
    assert (trace[:, 0] == np.arange(20) * plain[:, 0]).all() and plain[1:, 0].any()
    assert (trace[:, 1:] == plain[:, 1:]).all()
    assert Round(rules, ScriptedShoe("9696789"), 2).play([Plain(), Plain()]).bets == ()


@pytest.mark.parametrize("bet", [-1, 1.5, "2", None, True, 10**7])
def test_a_bet_is_a_number_of_units(bet: object) -> None:
    with pytest.raises(RunFailed, match=r"stander bet .*a whole number of units"):
        Round(SIX, ScriptedShoe("9696789"), 1).play([Stander([bet])])


def test_what_a_player_raises_names_it() -> None:
    class Broken(Stander):
        def observe(self, event: Event) -> None:
            raise KeyError("count")

    with pytest.raises(RunFailed, match="stander failed to observe Dealt"):
        Round(SIX, ScriptedShoe("9696789"), 1).play([Broken()])
    with pytest.raises(RunFailed, match="stander failed to bet: IndexError"):
        Round(SIX, ScriptedShoe("9696789"), 1).play([Stander([])])


def test_a_chart_that_counts_is_played_by_the_readable_round() -> None:
    """A chart with `observe` has a memory, which the compiled round does not know."""
    chart = Solver(SIX).chart
    assert not isinstance(chart, Bettor | Observer)

    class Watching(type(chart)):  # type: ignore[misc]
        def observe(self, event: Event) -> None: ...

    watching = Watching(chart.name, chart.rules, chart.cells)
    assert isinstance(watching, Observer)
    assert isinstance(make_table(SIX, [watching]), ReadableTable)
    assert not isinstance(make_table(SIX, [copy.copy(chart)]), ReadableTable)
