"""The count of a player at the table: only cards that are shown are counted."""

from __future__ import annotations

from fractions import Fraction

import pytest

from bjsim.errors import InputError
from bjsim.sim.game.events import Dealt, Event, Peeked, Revealed, Shuffled
from bjsim.sim.game.presets import load_rules
from bjsim.strategies.counting.count_coach import TableCount
from bjsim.strategies.counting.system import find_system

SIX = load_rules("vegas-s17")
DEAL: list[Event] = [Dealt("2", 0), Dealt("9"), Dealt("6", 0), Dealt("A", face_down=True)]


@pytest.mark.parametrize(
    ("then", "running"),
    [
        ([], 2),  # the ace was not shown
        ([Peeked(natural=False)], 2),
        ([Peeked(natural=True), Revealed("A")], 1),
        ([Dealt("5", 0), Revealed("A"), Dealt("K")], 1),  # 2 + 1 - 1 - 1
        ([Shuffled(), Dealt("K", 0)], -1),
        ([Shuffled(), Dealt("K", 0), Revealed("A")], -1),  # of the shoe before
    ],
)
def test_the_cards_that_are_counted(then: list[Event], running: int) -> None:
    count = TableCount(find_system("hilo"), SIX)
    count.see([*DEAL, *then])
    assert count.running == running


def test_true_counts_are_by_half_decks() -> None:
    """Of 312 cards, 90 low ones are gone: 222 are left, 4.27 decks or nine half decks; 90 / 4.5 = 20."""
    count = TableCount(find_system("hilo"), SIX)
    for _ in range(9):
        count.see([Dealt("5", 0)] * 10)
    assert (count.running, count.decks_unseen, count.true) == (90, Fraction(9, 2), 20)
    count.see([Dealt("T", 0)])
    assert count.true == 19  # 89 / 4.5 = 19.8, rounded down
    count.see([Shuffled()])
    assert (count.running, count.decks_unseen, count.true) == (0, 6, 0)


def test_a_running_count_starts_where_its_system_does() -> None:
    count = TableCount(find_system("ko"), SIX)
    count.see(DEAL)
    assert count.running == 4 - 4 * 6 + 2 and not count.system.uses_true_count


def test_cards_that_cannot_be_counted() -> None:
    with pytest.raises(InputError, match="cannot be counted in an infinite shoe"):
        TableCount(find_system("hilo"), load_rules("easy"))
