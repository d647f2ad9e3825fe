"""Finding a player by what was written: a named strategy, a chart file, or any Player in Python.

Accepted: a name of the catalogue (`optimal`) or of `BUILT_IN` (`kelly`), a name that an installed package adds through
the entry-point group `bjsim.players`, a chart file, `module:object`, `file.py:object`.
"""

from __future__ import annotations

import difflib
import hashlib
import importlib
import importlib.util
import os
import pickle
import sys
from importlib.machinery import SourceFileLoader
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any, cast

from bjsim.errors import InputError
from bjsim.sim.game.actions import Action, Player, View
from bjsim.sim.game.rules import Rules
from bjsim.strategies.charts.chart import Chart
from bjsim.strategies.formats.files import load_chart
from bjsim.strategies.players.catalogue import CATALOGUE
from bjsim.strategies.players.kelly import Kelly
from bjsim.strategies.shoe.players import CardPlayer, TwoCardPlayer
from bjsim.strategies.shoe.present import Perfect

BUILT_IN: dict[str, Any] = {
    player.name: player for player in (Kelly, TwoCardPlayer, CardPlayer, Perfect)
}  # players that are no charts; made for the rules they are to play
ENTRY_POINTS = "bjsim.players"
_FILE_MODULE = "bjsim_player_"  # how the names of modules start that were loaded from a player's file


class UnknownPlayer(InputError):
    """No player is written so. The message gives the nearest name, or what went wrong with the object."""


class FunctionPlayer:
    """A plain function `decide(view)` as a Player; it may answer with an Action or with its letter."""

    def __init__(self, name: str, decide: Any) -> None:
        self.name = name
        self._decide = decide

    def decide(self, view: View) -> Action:
        answer = self._decide(view)
        return Action(answer) if isinstance(answer, str) else answer


def player_names() -> list[str]:
    """All names that `find_player` knows without a file or module."""
    return [*CATALOGUE, *BUILT_IN, *(point.name for point in entry_points(group=ENTRY_POINTS))]


def find_player(name: str | os.PathLike[str], rules: Rules) -> Player:
    """The player that a name or path stands for, for a game with these rules; a Chart where it is one.

    Raises: UnknownPlayer; ChartError for a chart file that cannot be read; InputError for a built-in player that cannot
    play by these rules.
    """
    text = os.fspath(name)
    if text in CATALOGUE:
        return CATALOGUE[text].chart(rules)
    if text in BUILT_IN:
        built: Player = BUILT_IN[text](rules)
        return built
    for point in entry_points(group=ENTRY_POINTS):
        if point.name == text:
            return _as_player(text, _load_entry(point), rules)
    if is_python(text):
        return _as_player(text, _load_object(text), rules)
    if Path(text).is_file():
        return load_chart(text, rules)
    if os.sep in text or Path(text).suffix:
        raise UnknownPlayer(f"{text} is a folder, no chart or bot" if Path(text).is_dir() else f"no such file: {text}")
    near = difflib.get_close_matches(text, player_names(), 1)
    hint = f"did you mean {near[0]}?" if near else f"named strategies are {', '.join(player_names())}."
    raise UnknownPlayer(
        f"no bot is called {text!r}; {hint} A chart file, module:object or file.py:object is accepted too"
    )


def as_player(bot: object, rules: Rules) -> Player:
    """The player that Python code gives: one that is named (see `find_player`), or a Player.

    Raises: InputError for anything else, and as `find_player`.
    """
    if isinstance(bot, str | os.PathLike):
        return find_player(bot, rules)
    if not callable(getattr(bot, "decide", None)):
        hint = "; wrap a function as FunctionPlayer(name, function)" if callable(bot) else ""
        raise InputError(f"bots: a {type(bot).__name__} is no player: it needs a name and decide(view) -> Action{hint}")
    if isinstance(bot, type):
        raise InputError(f"bots: {bot.__name__} is a class; give a player made of it, such as {bot.__name__}()")
    player = cast(Player, bot)
    if not isinstance(getattr(player, "name", None), str):
        raise InputError(f"bots: a {type(bot).__name__} has no name; set its attribute `name` to a text")
    return player


def need_picklable(player: Player) -> None:
    """Raises: InputError for a player that cannot be sent to a worker process."""
    try:
        pickle.dumps(player)
    except Exception as error:
        trouble = " ".join(f"{type(error).__name__}: {error}".split())
        raise InputError(
            f"{player.name} cannot be sent to a worker process ({trouble}); define it at the top of a module, "
            "or play with workers=1"
        ) from None


def is_python(text: str) -> bool:
    """Whether `text` is written module:object or file.py:object, so that finding the player runs code."""
    return ":" in text and text not in player_names() and not Path(text).exists()


def python_file(text: str) -> Path | None:
    """The file of a player written file.py:object; None for any other."""
    file = Path(text.rpartition(":")[0])
    return file if is_python(text) and file.is_file() else None


def _load_entry(point: EntryPoint) -> Any:
    try:
        return point.load()
    except Exception as error:
        raise UnknownPlayer(f"cannot load {point.value} for {point.name!r}: {type(error).__name__}: {error}") from None


def _load_object(text: str) -> Any:
    where, _, name = text.rpartition(":")
    try:
        if where.endswith(".py"):
            module = _load_file(Path(where).resolve())
        else:
            module = importlib.import_module(where)
    except Exception as error:
        raise UnknownPlayer(f"cannot load {where} for {text!r}: {type(error).__name__}: {error}") from None
    try:
        return getattr(module, name)
    except AttributeError:
        raise UnknownPlayer(f"{where} has no {name!r}") from None


class _SourceLoader(SourceFileLoader):
    """Runs the source as it is read: whoever gives away a folder may have put other bytecode beside it."""

    def get_code(self, fullname: str) -> CodeType:
        code: CodeType = self.source_to_code(self.get_data(self.path), self.path)
        return code


def _load_file(path: Path) -> ModuleType:
    """The module in a file, run once; under a name of its own, so that it hides no other and forked workers know it."""
    name = f"{_FILE_MODULE}{hashlib.sha256(bytes(path)).hexdigest()[:12]}"
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, path, loader=_SourceLoader(name, str(path)))
        assert spec and spec.loader  # a .py path always has both
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        try:
            spec.loader.exec_module(module)
        except BaseException:
            del sys.modules[name]
            raise
    return sys.modules[name]


def comes_from_file(player: Player) -> bool:
    """Whether a player refers to a module loaded from a file, which other processes than forked ones do not know."""
    return _FILE_MODULE.encode() in pickle.dumps(player)


def fingerprint(text: str, player: Player) -> str:
    """What tells this player from another one called the same: a digest of its chart, or of the file it came from."""
    if isinstance(player, Chart):
        content = repr(sorted(player.cells.items())).encode()
    else:
        file = next((Path(part) for part in (text, text.rpartition(":")[0]) if part and Path(part).is_file()), None)
        content = file.read_bytes() if file else text.encode()
    return hashlib.sha256(content).hexdigest()[:16]


def _as_player(text: str, thing: Any, rules: Rules) -> Player:
    """A Player from a Player, a Player class, a chart for other rules, or a function of a view."""
    if isinstance(thing, Chart):
        return Chart(thing.name, rules, thing.cells, thing.source)
    if not hasattr(thing, "decide"):
        if not callable(thing):
            raise UnknownPlayer(f"{text} is {type(thing).__name__}, no player: it needs decide(view) -> Action")
        thing = FunctionPlayer(text, thing)
    try:
        player: Player = thing() if isinstance(thing, type) else thing
        if not isinstance(getattr(player, "name", None), str):
            player.name = text  # type: ignore[misc]
        pickle.dumps(player)
    except Exception as error:
        trouble = f"{type(error).__name__}: {error}"
        raise UnknownPlayer(f"{text} cannot be made, named or sent to a worker process: {trouble}") from None
    return player
