"""`bjsim.play` and `Solver` as Python programs use them: arguments, errors, and JSON."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import warnings
from concurrent.futures import ProcessPoolExecutor
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.command import bjsim

import bjsim as library
from bjsim.bots.seats import ProgramFile
from bjsim.errors import InputError
from bjsim.sim.game.actions import Action, Player, View
from bjsim.sim.running import workers as executors
from bjsim.sim.running.driver import Driver
from bjsim.strategies.exact.solver import Solver
from bjsim.strategies.experiment import exact_returns, make_experiment, make_results
from bjsim.strategies.formats.files import WRITERS
from bjsim.strategies.learning.observations import PolicyPlayer
from bjsim.strategies.players.catalogue import FunctionPlayer, find_player, fingerprint
from bjsim.strategies.results import ExactReturn

STAND = FunctionPlayer("stand", lambda view: "S")


class Nameless:
    def decide(self, view):
        return "S"


@pytest.mark.parametrize(
    ("argument", "option", "values"),
    [
        ("hands", "--hands", [0, -5, 2.5, "many", 10**30]),
        ("tables", "--tables", [0, -1, 0.5, 10**7]),
        ("workers", "--workers", [0, -1, 5000]),
        ("seed", "--seed", [-1, 0.5, 2**128, "x"]),
    ],
)
def test_numbers_are_refused_as_the_command_refuses_them(argument, option, values):
    for value in values:
        given_ = {"hands": 10, argument: value}
        with pytest.raises(InputError) as caught:
            library.play("easy", ["lim17"], **given_)
        words = [f"--{name}={number}" for name, number in given_.items()]
        error = bjsim("run", "--bots", "lim17", *words).err
        assert str(caught.value).startswith(f"{argument}: {value} is not accepted")
        assert error == f"bjsim: {option}{str(caught.value).removeprefix(argument)}\n"


def test_whole_floats_and_numpy_integers_are_numbers_too():
    [plain] = library.play("easy", ["lim17"], hands=1000, seed=3, tables=2, workers=1)
    [other] = library.play(
        "easy", ["lim17"], hands=1e3, seed=np.int64(3), tables=np.float64(2), workers=np.uint8(1)
    )  # fmt: skip
    assert plain.tally == other.tally


def test_seeds():
    one, two = (library.play("easy", "optimal", 10_000, seed=None)[0].tally for _ in range(2))
    assert one != two, "a dozen counts alike by chance: less than once in 10**12"
    assert library.play("easy", "lim17", 10, seed=2**128 - 1)
    for generator in (np.random.SeedSequence(1), np.random.default_rng(1)):
        with pytest.raises(InputError, match=r"^seed: a (SeedSequence|Generator) is not accepted; use a whole number"):
            library.play("easy", "lim17", 10, seed=generator)


def test_one_bot_needs_no_list():
    assert [result.name for result in library.play("easy", "optimal", 100)] == ["optimal"]
    assert [result.name for result in library.play("easy", STAND, 100)] == ["stand"]
    assert [result.name for result in library.play("easy", (name for name in ("lim17", "mimic")), 100)] == [
        "lim17",
        "mimic",
    ]


def test_paths_are_taken_wherever_their_text_is(tmp_path: Path):
    chart, rules, cards = tmp_path / "mine.txt", tmp_path / "game.toml", tmp_path / "cards"
    cards.write_text("A 2 T K")
    rules.write_text('preset = "vegas-s17"\ndecks = "inf"\n')
    game = library.load_rules(rules)
    chart.write_text(WRITERS["chart"](Solver(game).chart))
    [result] = library.play(rules, [chart], 100)
    [same] = library.play(str(rules), str(chart), 100)
    assert result.tally == same.tally and game.name == "game"
    assert library.find_player(chart, game).cells == Solver(game).chart.cells  # type: ignore[attr-defined]
    assert library.ScriptedShoe.load(cards).left == 4
    with pytest.raises(InputError, match=r"no such file: .*gone\.txt"):
        library.play("easy", tmp_path / "gone.txt", 100)


def test_a_class_is_constructed_with_the_rules_if_it_needs_an_argument(tmp_path: Path):
    """As built-in players are; an entry point of the group `bjsim.players` is loaded in the same way."""
    (tmp_path / "players.py").write_text(
        "class WithRules:\n    name = 'with-rules'\n    def __init__(self, rules, least=17):\n"
        "        self.rules, self.least = rules, least\n    def decide(self, view):\n        return 'S'\n"
        "class Without:\n    name = 'without'\n    def decide(self, view):\n        return 'S'\n"
    )
    game = library.load_rules("vegas-h17")
    one, other = (library.find_player(f"{tmp_path / 'players.py'}:{name}", game) for name in ("WithRules", "Without"))
    assert one.rules == game and one.least == 17 and other.name == "without"  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("bots", "message"),
    [
        ([], "bots: an empty list is not accepted"),
        ([Nameless()], "bots: a Nameless has no name"),
        ([Nameless], "bots: Nameless is a class"),
        ([5], "bots: an int is not a player"),
        (None, "bots: a NoneType is not a player"),
        ([len, 5], "bots: an int is not a player"),
    ],
)
def test_what_is_no_player_is_refused(bots, message):
    with pytest.raises(InputError) as caught:
        library.play("easy", bots, 10)
    assert message in str(caught.value) and "\n" not in str(caught.value)


def test_a_lambda_plays_here_but_cannot_be_sent_to_a_worker(monkeypatch):
    monkeypatch.setattr(executors, "is_fork_safe", lambda: True)  # pytest-xdist has threads
    assert library.play("easy", STAND, 10, workers=1)[0].tally.rounds == 10
    with ProcessPoolExecutor(1) as pool:
        for where in ({"workers": 2}, {"executor": pool}):
            with pytest.raises(InputError, match=r"^stand cannot be sent to a worker process .*workers=1"):
                library.play("easy", STAND, 10, **where)


def refuse_constant(name: str) -> None:
    raise AssertionError(f"{name} is no JSON")


@lru_cache
def known(game: str, name: str) -> tuple[Player, ExactReturn | None]:
    rules = library.load_rules(game)
    player = STAND if name == "stand" else find_player(name, rules)
    return player, exact_returns(make_experiment(rules, [player], 1, 0), [player])[0]


@settings(max_examples=20)
@given(
    st.sampled_from(["easy", "neller", "vegas-s17", "cardshark"]),
    st.lists(st.sampled_from(["optimal", "lim17", "stand"]), min_size=1, max_size=2),
    st.integers(1, 130),
    st.integers(0, 100),
)
def test_results_are_json(game, names, hands, seed):
    rules = library.load_rules(game)
    players, exact = zip(*[known(game, name) for name in names], strict=True)
    experiment = make_experiment(rules, players, hands, seed)
    results = make_results(experiment, players, Driver(experiment).run(), exact)
    for thing in results:
        data = thing.to_json()
        assert json.loads(json.dumps(data, allow_nan=False), parse_constant=refuse_constant) == data


def test_bounds_of_too_few_hands_are_text():
    [result] = library.play("easy", "lim17", 50)
    assert result.to_json()["ci95"] == ["-inf", "inf"] == result.to_json()["convergence"][-1]["anytime95"]


@pytest.mark.parametrize(
    "command",
    [
        ("run", "--bots", "optimal", "--rules", "vegas-s17", "--hands", "100"),
        ("check", "optimal", "--rules", "vegas-s17"),
        ("compare", "--rules", "vegas-s17,vegas-h17", "--set", "max_hands=2"),
    ],
)
def test_commands_answer_for_the_finite_shoe_and_do_not_warn(command):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        outcome = bjsim(*command)
    assert outcome.status == 0 and "infinite shoe" not in outcome.out and "arning" not in outcome.err


def test_a_few_hands_are_not_judged() -> None:
    """Two shoes disagreed every fifth time, and one hand nearly always."""
    for hands in (1, 2, 50):
        assert [one.verdict for one in library.play("vegas-s17", ["optimal", "lim17"], hands=hands, seed=3)] == 2 * [
            "too few hands to judge"
        ]
    [one] = library.play("easy", "lim17", hands=1, seed=3)
    assert one.verdict == "agrees with the exact value" and not one.disagrees  # whose exact deviation is known


class Flat:
    name = "flat"

    def bet(self, view: Any) -> int:
        return 5

    def decide(self, view: Any) -> str:
        return "S"


def test_replayed_bets_are_not_varied() -> None:
    with pytest.raises(InputError, match="flat varies its bet, but ties = replay"):
        library.play("neller", Flat(), hands=10)


def test_a_checkpoint_is_of_the_code_of_its_player(tmp_path: Path) -> None:
    def bot(view: Any) -> str:
        return "S"

    def other(view: Any) -> str:
        return "H" if "H" in view.legal else "S"

    other.__name__ = "bot"
    first = library.play("easy", bot, hands=200, seed=1, checkpoint=tmp_path / "c")[0].tally.mean
    assert library.play("easy", bot, hands=200, seed=1, resume=tmp_path / "c")[0].tally.mean == first
    with pytest.raises(InputError, match="different: bots"):
        library.play("easy", other, hands=200, seed=1, resume=tmp_path / "c")


@pytest.mark.parametrize(
    ("file", "same"), [("bot.py", False), ("bot.toml", False), (".git/x", True), ("other.py", True)]
)
def test_the_digest_of_a_folder_is_that_of_the_bot_in_it(tmp_path: Path, file: str, same: bool) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "bot.py").write_text("print('S')")
    (tmp_path / "bot.toml").write_text('run = "python bot.py"\nfiles = ["bot.py"]')
    found = ProgramFile(str(tmp_path)).digest
    with (tmp_path / file).open("a") as opened:
        opened.write(" # changed")
    assert (ProgramFile(str(tmp_path)).digest == found) is same


class Limit:
    name = "limit"

    def __init__(self, limit: int) -> None:
        self.limit = limit

    def decide(self, view: View) -> Action:
        return Action("H" if len(view.hand) < self.limit else "S")


class Soft(Limit):
    """Its `decide` is inherited."""


class Other(Limit):
    def decide(self, view: View) -> Action:
        return Action("S")


class SoftOther(Other):
    """The same of another class."""


class Table(Limit):
    def __init__(self, table: dict[str, str]) -> None:
        self.table = table


def hits(limit: int, letters: str) -> FunctionPlayer:
    return FunctionPlayer("bot", lambda view: "H" if len(view.hand) < limit and letters else "S")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (FunctionPlayer("b", lambda view: next(a for a in view.legal if a != "S")),
         FunctionPlayer("b", lambda view: next(a for a in view.legal if a != "H"))),
        (Soft(17), SoftOther(17)),
        (Limit(17), Limit(16)),
        (hits(17, "SH"), hits(16, "SH")),
        (FunctionPlayer("b", lambda view, least=17: "H"), FunctionPlayer("b", lambda view, least=16: "H")),
        (PolicyPlayer("easy", lambda seen, _: np.where(seen[:, 0] < 17, 1, 0)),
         PolicyPlayer("easy", lambda seen, _: np.where(seen[:, 0] < 16, 1, 0))),
        (Table({"16": "H"}), Table({"16": "S"})),
    ],
    ids=["generator", "inherited", "attribute", "closure", "default", "policy", "table"],
)  # fmt: skip
def test_players_of_one_name_that_differ_in_one_respect_have_other_fingerprints(one: Any, other: Any) -> None:
    assert fingerprint("b", one) == fingerprint("b", one) != fingerprint("b", other)


def test_the_fingerprint_of_code_is_the_same_in_every_process() -> None:
    """The order of a set of texts is not."""
    code = "from bjsim.strategies.players.catalogue import FunctionPlayer, fingerprint\n"
    code += "def bot(view): return 'S' if view.hand in {'T6', 'T5', 'AA', '88', 'T4'} else 'H'\n"
    code += "print(fingerprint('bot', FunctionPlayer('bot', bot)), fingerprint('p', FunctionPlayer('p', print)))"
    found = set()
    for seed in "123":
        words = [sys.executable, "-c", code]
        found.add(
            subprocess.run(
                words, env={**os.environ, "PYTHONHASHSEED": seed}, capture_output=True, text=True, check=True
            ).stdout
        )
    assert len(found) == 1


@pytest.mark.parametrize("code", ["Ph", "Pd", "Ps", "P"])
def test_a_chart_is_played_by_the_rules_of_the_game_that_it_is_in(code: str) -> None:
    own = library.load_rules("vegas-s17").replace(decks="inf")
    game = own.replace(double_after_split=False)
    chart = library.Chart("c", own, {**library.solve(own).chart.cells, ("22", "2"): code})
    assert library.play(game, chart, hands=1000)[0].exact == library.evaluate(chart, game).value
    assert library.play("blackjack-switch", chart, hands=20)[0].tally.rounds == 20
