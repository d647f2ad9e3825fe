"""What plays which game: each front end plays it, or refuses by the sentence of `support`, as the page's table says."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from bot_helpers import SAMPLES
from support.unusual import ALL_VALUES, unusual_rules

from bjsim.bots.contest.config import Contest
from bjsim.bots.export import export
from bjsim.bots.seats import find_seated
from bjsim.errors import InputError
from bjsim.sim.engine.compiled_rules import compile_rules
from bjsim.sim.game.actions import View
from bjsim.sim.game.presets import PRESETS, named_rules
from bjsim.sim.game.rules import Rules
from bjsim.sim.game.states import States
from bjsim.sim.game.support import FRONT_ENDS, TRAITS, refusal, remarks
from bjsim.strategies.counting.departures import Departures
from bjsim.strategies.counting.system import find_system
from bjsim.strategies.counting.tables import CountingGame
from bjsim.strategies.counting.typical import decks_to_count
from bjsim.strategies.evaluation.known import known
from bjsim.strategies.experiment import make_experiment
from bjsim.strategies.learning.observations import Encoder
from bjsim.strategies.mdp.blackjack import GameProcess
from bjsim.strategies.players.catalogue import CATALOGUE, Kelly, as_player
from bjsim.strategies.promotions.bank import bank
from bjsim.strategies.shoe.game import make_game
from bjsim.strategies.shoe.players import CardPlayer, Perfect, TwoCardPlayer

PAGE = Path(__file__).parents[1] / "docs" / "how-to" / "casino-games.md"


def play(rules: Rules, adjust_luck: bool) -> object:
    return make_experiment(rules, [as_player("lim17", rules)], 10, seed=1, adjust_luck=adjust_luck)


def count(rules: Rules) -> object:
    decks_to_count(rules)
    return CountingGame(rules, find_system("hilo"), Departures(CATALOGUE["lim17"].chart(rules), ()))


def decide(rules: Rules) -> object:
    shown = "K7"[: 1 + (rules.dealer_shows == "both")]
    return Perfect(rules).decide(View.alone(rules, "K6", shown, "SH"))


def chart_bot(rules: Rules) -> str:
    return export(CATALOGUE["lim17"].chart(rules))


PLAYS: dict[str, Callable[[Rules], object]] = {
    "run": lambda rules: play(rules, False),
    "compiled": lambda rules: compile_rules(rules, [CATALOGUE["lim17"].chart(rules).policy], States(rules)),
    "luck": lambda rules: play(rules, True),
    "count": count,
    "learn": GameProcess,
    "environment": Encoder,
    "bots": lambda rules: find_seated(SAMPLES / "lim17.py", rules),
    "contest": lambda rules: Contest(rules=rules),
    "known": lambda rules: known(rules, "first"),
    "upcard": lambda rules: known(rules, "up"),
    "hole card": lambda rules: known(rules, "hole"),
    "bank": lambda rules: bank(rules, 100, 10),
    "shoe": make_game,
    "perfect": decide,
    "optimal-2c": TwoCardPlayer,
    "optimal-cd": CardPlayer,
    "kelly": Kelly,
    "export": chart_bot,
}
UNUSUAL = {
    "busted bets and one": named_rules("european").replace(no_hole_loses="busted-plus-one", decks="inf"),
    "the same in a finite shoe": named_rules("european").replace(no_hole_loses="busted-plus-one"),
    "one bet and hands that win at once": named_rules("european").replace(obo=True, charlie=6),
    "raises in a finite shoe": named_rules("cardshark").replace(decks=6),
    "a tie after an insured natural": named_rules("vegas-s17").replace(ties="replay", decks="inf"),
    "a tie after a surrender": named_rules("neller").replace(ties="replay", surrender="late", peek=False, decks="inf"),
    "doubles again": named_rules("vegas-s17").replace(max_doubles=2),
    "aces without a limit": named_rules("vegas-s17").replace(max_ace_hands="inf", resplit_aces=True, decks="inf"),
    "no splits": named_rules("vegas-s17").replace(split_by="never", surrender="none", decks="inf"),
}
GAMES = {name: preset.rules for name, preset in PRESETS.items()} | UNUSUAL
BY_VALUE = {f"{name} {value}": unusual_rules("peek", {name: value}, finite=False) for name, value in ALL_VALUES}
# seconds where they play a game
DEAR = ("luck", "known", "upcard", "hole card", "bank", "perfect", "optimal-2c", "optimal-cd")


def distinct_games() -> dict[str, Rules]:
    """The first game of each set of traits, as a front end takes all of these or none."""
    found: dict[tuple[bool, ...], tuple[str, Rules]] = {}
    for name, rules in (GAMES | BY_VALUE).items():
        if rules:
            found.setdefault(tuple(trait.has(rules) for trait in TRAITS.values()), (name, rules))
    return dict(found.values())


def refused(front_end: str, rules: Rules) -> str:
    try:
        PLAYS[front_end](rules)
    except InputError as error:
        return str(error)
    return ""


@pytest.mark.parametrize("front_end", PLAYS)
def test_a_front_end_plays_a_game_or_refuses_it_by_its_sentence(front_end: str) -> None:
    for name, rules in (distinct_games() | ({} if front_end in DEAR else GAMES)).items():
        said = refused(front_end, rules)
        if "the solver follows at most" not in said:  # which only solving a game shows
            assert said == refusal(rules, front_end), name


@pytest.mark.parametrize(
    "front_end", [name for name in FRONT_ENDS if name != "shoe"]
)  # which is left for an infinite one
def test_what_a_refusal_advises_ends_it(front_end: str) -> None:
    for name, rules in (distinct_games() | GAMES).items():
        while said := refusal(rules, front_end):
            field, value = re.search(r"; use (\w+) = ([\w-]+)", said).groups()  # type: ignore[union-attr]
            try:
                rules = rules.replace(**{field: value})
            except InputError as error:  # another rule goes with it
                assert field in str(error), name
                break
            assert refusal(rules, front_end) != said, name


@pytest.mark.parametrize("front_end", DEAR)
def test_a_dear_front_end_refuses_a_game_by_its_sentence(front_end: str) -> None:
    said = {name: refusal(rules, front_end) for name, rules in GAMES.items() if refusal(rules, front_end)}
    assert said and {name: refused(front_end, GAMES[name]) for name in said} == said


def test_every_front_end_is_tried_and_every_trait_is_in_some_game() -> None:
    assert list(PLAYS) == list(FRONT_ENDS)
    assert {name for name, trait in TRAITS.items() if not any(map(trait.has, distinct_games().values()))} == set()


def test_the_page_has_what_plays_each_game() -> None:
    columns = {
        "Free Bet": ("free-bet", "free-bet-2012"),
        "Double Attack": ("double-attack",),
        "Spanish 21": ("spanish-21", "spanish-21-s17"),
        "Super Fun 21": ("super-fun-21",),
        "Pontoon": ("pontoon",),
        "Switch": ("blackjack-switch",),
    }

    def cell(front_end: str, game: str) -> str:
        rules = named_rules(game)
        if refusal(rules, front_end):
            infinite = rules.replace(decks="inf", cut=1)
            return "no" if refusal(infinite, front_end) else "in an infinite shoe"
        return ", ".join(["yes", *remarks(rules, front_end)])

    lines = PAGE.read_text("utf-8").split("## What plays each game")[1].splitlines()
    names, _, *rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("|")]
    told = {row[0].replace("`", ""): dict(zip(names[1:], row[1:], strict=True)) for row in rows}
    assert told == {
        front_end.title: {column: cell(name, game) for column, games in columns.items() for game in games}
        for name, front_end in FRONT_ENDS.items()
        if name not in ("compiled", "shoe", "kelly")
    }
    assert all(len({cell(name, game) for game in games}) == 1 for name in FRONT_ENDS for games in columns.values())
