"""What every player must do. A test class for a kind of player inherits PlayerConformance and says how to make one."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Iterator, Sequence
from typing import ClassVar

import pytest

from bjsim.sim.engine.compiled_rules import payoff_code
from bjsim.sim.game.actions import Action, Player, View
from bjsim.sim.game.events import RoundResult
from bjsim.sim.game.presets import PRESETS, named_rules
from bjsim.sim.game.round import Round, as_action
from bjsim.sim.game.rules import Rules
from bjsim.sim.game.shoe import Stream, open_shoe, stream_key
from bjsim.strategies.charts.chart import StatePlayer
from bjsim.strategies.experiment import compile_players
from bjsim.strategies.players.catalogue import find_needs
from support.engines import play_rounds
from support.games import UNLIKE, slow

ROUNDS = 200
KEY = (2011, 0, 0)  # seed, table and block of the rounds


class Watched:
    """Passes on what another player answers, and keeps every view with its answer."""

    def __init__(self, player: Player) -> None:
        self.player, self.name = player, player.name
        self.seen: list[tuple[View, Action]] = []

    def decide(self, view: View) -> Action:
        answer = as_action(self.player.decide(view))
        assert answer is not None
        self.seen.append((view, answer))
        return answer


def play(rules: Rules, player: Player, rounds: int = ROUNDS) -> tuple[list[RoundResult], list[tuple[View, Action]]]:
    """Rounds of the readable round with the player in every seat, and what it was asked and answered."""
    watched, shoe = Watched(player), open_shoe(rules, Stream(*KEY))
    return [Round(rules, shoe, rules.seats).play([watched] * rules.seats) for _ in range(rounds)], watched.seen


def illegal(seen: Sequence[tuple[View, Action]]) -> list[tuple[View, Action]]:
    """The answers that their views did not allow."""
    return [
        (view, answer)
        for view, answer in seen
        if not isinstance(answer, Action)
        or answer.letter not in tuple(view.legal)
        or not (0 <= answer.amount <= view.chips if answer.letter == "B" else answer.amount == 0)
    ]


class PlayerConformance:
    """The tests. `names` are tried one by one, by all `presets` that the player supports.

    All but the first name play one or two of these presets in the fast tests.
    """

    kinds: ClassVar[tuple[type, ...]]  # classes of players that these tests are for
    names: ClassVar[tuple[str, ...]]
    presets: ClassVar[Sequence[str]] = tuple(PRESETS)
    rounds: ClassVar[int] = ROUNDS
    travels: ClassVar[bool] = True  # whether it can be pickled, and so sent to a worker

    def make(self, name: str, rules: Rules) -> Player:
        """The player of this name for a game."""
        raise NotImplementedError

    @classmethod
    def supports(cls, rules: Rules) -> bool:
        """Whether the player can play this game."""
        return True

    @classmethod
    def pytest_generate_tests(cls, metafunc: pytest.Metafunc) -> None:
        if "preset" in metafunc.fixturenames:
            supported = [preset for preset in cls.presets if cls.supports(named_rules(preset))]
            assert supported, f"{cls.__name__} supports no preset"
            presets = supported if metafunc.function.__name__ in _EVERY_PRESET else supported[:1]
            cases = [
                pytest.param(name, preset)
                if preset in (presets[0], "vegas-h17") or (name, preset in UNLIKE) == (cls.names[0], True)
                else slow(name, preset)
                for name in cls.names
                for preset in presets
            ]
            metafunc.parametrize(("name", "preset"), cases)

    def close(self, player: Player) -> None:
        """End what the player holds."""

    @pytest.fixture
    def player(self, name: str, preset: str) -> Iterator[Player]:
        player = self.make(name, named_rules(preset))
        yield player
        self.close(player)

    def test_it_is_a_player_with_a_name(self, player: Player, name: str, preset: str) -> None:
        assert isinstance(player, Player) and isinstance(player, self.kinds)
        assert isinstance(player.name, str) and player.name

    def test_it_answers_legal_actions(self, player: Player, name: str, preset: str) -> None:
        results, seen = play(named_rules(preset), player, self.rounds)
        assert len(results) == self.rounds and len(seen) >= self.rounds // 2
        assert illegal(seen) == []

    def test_the_same_view_has_the_same_answer(self, player: Player, name: str, preset: str) -> None:
        rules = named_rules(preset)
        other = self.make(name, rules)
        assert play(rules, player, self.rounds) == play(rules, other, self.rounds)
        self.close(other)

    def test_a_copy_plays_the_same(self, player: Player, name: str, preset: str) -> None:
        rules = named_rules(preset)
        copies = [copy.deepcopy(player)]
        if self.travels:
            copies.append(pickle.loads(pickle.dumps(player)))
        expected = play(rules, player, self.rounds)
        for other in copies:
            assert other.name == player.name
            assert play(rules, other, self.rounds) == expected
        if self.travels:
            self.close(copies[1])  # a deep copy may be the player itself


class StatePlayerConformance(PlayerConformance):
    """They are played by compiled code as well."""

    def test_the_compiled_round_pays_the_same(self, player: Player, name: str, preset: str) -> None:
        assert isinstance(player, StatePlayer)
        rules = named_rules(preset)
        if rules.bets > 1:  # the readable round alone
            assert find_needs(player)
            return
        results, _ = play(rules, player, self.rounds)
        readable = [
            [payoff_code(net, tied, rules.unit) for net, tied in zip(result.net, result.tied, strict=True)]
            for result in results
        ]
        _, _, trace = play_rounds(
            compile_players(rules, [player] * rules.seats), stream_key(*KEY), self.rounds, self.rounds
        )
        assert trace[:, :-1].tolist() == readable


_EVERY_PRESET = ("test_it_answers_legal_actions", "test_the_compiled_round_pays_the_same")
