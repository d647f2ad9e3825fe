"""The counter of docs/reference/counting.md, and others in Python, play every round as the compiled round does."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from support.counters import play_shoes
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


def played(rules: Rules, player: Any, key: tuple[int, int, int], rounds: int) -> np.ndarray:
    """Bet, payoff code and cards dealt of every round."""
    rows, dealt, shoe = [], 0, open_shoe(rules, Stream(*key))
    for _ in range(rounds):
        result = Round(rules, shoe, 1).play([player])
        dealt += sum(isinstance(event, Dealt) for event in result.events)
        rows.append([*result.bets, payoff_code(result.net[0], result.tied[0], rules.unit), dealt])
    return np.array(rows)


@pytest.mark.slow
def test_the_documented_counter_plays_and_bets_as_the_compiled_round() -> None:
    rules = SIX.replace(insurance=False)  # it is not asked by the count
    departures = Departures.parse("i18", Solver(rules).chart)
    table, first = ready_table(CountingGame(rules, find_system("hilo"), departures, (-20, 20)))
    key, rounds = (3, 0, 5), 100_000
    trace = play_shoes(table, stream_key(*key), rounds, rounds)[1]
    rows = played(rules, documented_counter()(departures), key, rounds)
    assert (rows[:, 1:] == trace[:, [2, 1]]).all()
    counts = trace[:, 0] + first
    assert (rows[:, 0] == np.clip(2 * counts - 2, 1, 12)).all()
    assert set(counts.tolist()) >= set(range(-5, 5))


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
