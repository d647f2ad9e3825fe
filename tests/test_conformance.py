"""Every kind of player, and every player that has a name, does what support/conformance.py asks."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from bot_helpers import SAMPLES, needs
from support.conformance import PlayerConformance, StatePlayerConformance, illegal, play

import bjsim
from bjsim.bots.player import BotPlayer, SeatedBot, open_bot, unstartable
from bjsim.bots.sandbox.languages import BuildError
from bjsim.sim.game.actions import Action, Player, View
from bjsim.sim.game.cards import Hand
from bjsim.sim.game.presets import named_rules
from bjsim.sim.game.rules import Rules
from bjsim.strategies.charts.chart import Chart, StatePlayer
from bjsim.strategies.players.catalogue import BUILT_IN, CATALOGUE, ExchangingChart, FunctionPlayer, Kelly, find_player
from bjsim.strategies.shoe.players import Perfect, TwoCardPlayer


class TestCatalogue(StatePlayerConformance):
    kinds = (Chart, ExchangingChart)  # the latter where seats have two hands
    names = ("optimal", "lim12", "lim13", "lim14", "lim15", "lim16", "lim17", "lim18", "lim19", "lim20", "mimic",
             "hoyle")  # fmt: skip

    def make(self, name: str, rules: Rules) -> Player:
        return find_player(name, rules)


class TestKelly(PlayerConformance):
    kinds = (Kelly,)
    names = ("kelly",)

    def make(self, name: str, rules: Rules) -> Player:
        return find_player(name, rules)

    @classmethod
    def supports(cls, rules: Rules) -> bool:
        return rules.raises


class TestShoePlayers(StatePlayerConformance):
    """They solve the shoe first, so they play few games."""

    kinds = (TwoCardPlayer,)  # and CardPlayer, which is derived from it
    names = ("optimal-2c", "optimal-cd")
    presets = ("vegas-s17", "downtown")
    rounds = 40

    def make(self, name: str, rules: Rules) -> Player:
        return find_player(name, rules)


class TestPerfect(PlayerConformance):
    kinds = (Perfect,)
    names = ("perfect",)
    presets = ("vegas-s17", "downtown")
    rounds = 40

    def make(self, name: str, rules: Rules) -> Player:
        return find_player(name, rules)


def brave(view: View) -> str:
    """Answers with a letter; stands on 19, and where it is offered an attack."""
    return "H" if "H" in view.legal and Hand(*view.hand).points < 19 else "S"


class TestFunction(PlayerConformance):
    kinds = (FunctionPlayer,)
    names = ("brave",)

    def make(self, name: str, rules: Rules) -> Player:
        return FunctionPlayer(name, brave)


@needs(".py")  # type: ignore[no-untyped-call]
class TestBot(PlayerConformance):
    """A sample, which is asked in a process of its own, so fewer rounds are played."""

    kinds = (BotPlayer,)
    names = ("lim17.py",)
    presets = ("cardshark", "easy", "vegas-s17")
    rounds = 40

    def make(self, name: str, rules: Rules) -> Player:
        return open_bot(SAMPLES / name, timeout=60)

    def close(self, player: Player) -> None:
        assert isinstance(player, BotPlayer) and not player.faults
        player.close()


@needs(".py")  # type: ignore[no-untyped-call]
class TestBotThatCannotStart(PlayerConformance):
    kinds = (BotPlayer,)
    names = ("broken.c",)
    travels = False  # it is made in the process in which it stands

    def make(self, name: str, rules: Rules) -> Player:
        return unstartable(name, BuildError("it cannot be compiled"))


TESTED = (TestCatalogue, TestKelly, TestShoePlayers, TestPerfect, TestFunction, TestBot, TestBotThatCannotStart)


def test_every_named_player_is_tested() -> None:
    assert {name for tests in TESTED for name in tests.names} >= {*CATALOGUE, *BUILT_IN}, "add it to its class above"


def test_every_kind_of_player_is_tested() -> None:
    """A class with `decide` or a policy in these modules is one; others, as a seated bot, are the table's own."""
    package = Path(bjsim.__file__).parent
    modules = [
        *package.glob("strategies/players/*.py"),
        *package.glob("strategies/charts/*.py"),
        *package.glob("strategies/shoe/*.py"),
        package / "bots/player.py",
    ]
    kinds = {
        node.name
        for path in modules
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ClassDef)
        and any(isinstance(part, ast.FunctionDef) and part.name in ("decide", "policy") for part in node.body)
    }
    assert kinds - {StatePlayer.__name__, SeatedBot.__name__} == {
        kind.__name__ for tests in TESTED for kind in tests.kinds
    }


class Cheat:
    """Doubles whatever is legal, and raises by more than it has."""

    name = "cheat"

    def decide(self, view: View) -> Action:
        return Action("B", view.chips + 1) if "B" in view.legal else Action("D")


def test_an_illegal_answer_is_seen() -> None:
    """Negative control of PlayerConformance."""
    view = View(named_rules("easy"), 0, "K6", "T", "T#K6", 1, 9, "SH")
    assert illegal([(view, Action("D")), (view, Action("H")), (view, Action("S", 1)), (view, Action(""))]) == [
        (view, Action("D")),
        (view, Action("S", 1)),
        (view, Action("")),
    ]
    raising = view._replace(legal="SHB")
    assert illegal([(raising, Action("B", 9)), (raising, Action("B", 10))]) == [(raising, Action("B", 10))]
    with pytest.raises(bjsim.RunFailed, match="cheat answered B"):
        play(named_rules("cardshark"), Cheat(), 1)
