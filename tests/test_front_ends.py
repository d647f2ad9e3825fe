"""What plays the games of today's casinos: the table in docs/how-to/casino-games.md is what front ends accept."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from bot_helpers import SAMPLES

from bjsim.bots.contest.config import Contest
from bjsim.bots.seats import find_seated
from bjsim.errors import InputError
from bjsim.sim.game.presets import PRESETS, named_rules
from bjsim.sim.game.rules import Rules
from bjsim.strategies.counting.departures import Departures
from bjsim.strategies.counting.system import find_system
from bjsim.strategies.counting.tables import CountingGame
from bjsim.strategies.counting.typical import decks_to_count
from bjsim.strategies.evaluation.known import known
from bjsim.strategies.experiment import make_experiment
from bjsim.strategies.learning.observations import Encoder
from bjsim.strategies.mdp.blackjack import GameProcess
from bjsim.strategies.players.catalogue import CATALOGUE, as_player

PAGE = Path(__file__).parents[1] / "docs" / "how-to" / "casino-games.md"


def play(rules: Rules, adjust_luck: bool) -> object:
    return make_experiment(rules, [as_player("lim17", rules)], 10, seed=1, adjust_luck=adjust_luck)


def count(rules: Rules) -> object:
    decks_to_count(rules)
    return CountingGame(rules, find_system("hilo"), Departures(CATALOGUE["lim17"].chart(rules), ()))


FRONT_ENDS: dict[str, Callable[[Rules], object]] = {
    "`bjsim run`": lambda rules: play(rules, False),
    "luck-adjusted returns": lambda rules: play(rules, True),
    "`bjsim count`": count,
    "`bjsim learn`, in an infinite shoe": lambda rules: GameProcess(rules.replace(decks="inf", cut=1)),
    "environments": Encoder,
    "bots": lambda rules: find_seated(SAMPLES / "lim17.py", rules),
    "contests": lambda rules: Contest(rules=rules),
    "known cards": lambda rules: known(rules.replace(decks="inf", cut=1), "first"),
}
GAMES = {
    "Free Bet": ("free-bet", "free-bet-2012"),
    "Double Attack": ("double-attack",),
    "Spanish 21": ("spanish-21", "spanish-21-s17"),
    "Super Fun 21": ("super-fun-21",),
    "Pontoon": ("pontoon",),
    "Switch": ("blackjack-switch",),
}


def accepts(front_end: str, game: str) -> bool:
    try:
        FRONT_ENDS[front_end](named_rules(game))
    except InputError:
        return False
    return True


def printed() -> dict[str, dict[str, str]]:
    """The cells of the table by row and column."""
    lines = PAGE.read_text("utf-8").split("## What plays each game")[1].splitlines()
    names, _, *rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("|")]
    return {row[0]: dict(zip(names[1:], row[1:], strict=True)) for row in rows}


@pytest.mark.parametrize("front_end", FRONT_ENDS)
@pytest.mark.slow_cases("`bjsim run`", "known cards", "luck-adjusted returns")
def test_a_front_end_plays_what_the_page_says(front_end: str) -> None:
    cells = printed()[front_end]
    for column, games in GAMES.items():
        for game in games:
            assert accepts(front_end, game) == (cells[column] != "no"), (column, game)


def test_the_page_has_every_front_end_and_every_game() -> None:
    assert list(printed()) == list(FRONT_ENDS)
    assert all(list(row) == list(GAMES) for row in printed().values())
    assert {game for games in GAMES.values() for game in games} <= set(PRESETS)
