"""The catalogue of named strategies: each is a chart that is computed for the rules of a game."""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import os
import pickle
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, lru_cache
from importlib.machinery import SourceFileLoader
from importlib.metadata import EntryPoint, entry_points
from inspect import signature
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any, cast

from bjsim.arguments import a_type, names_wrong_types
from bjsim.errors import InputError, suggest
from bjsim.files import read_bytes
from bjsim.sim.game.actions import EXCHANGE, STAND, Action, Player, View, raise_by
from bjsim.sim.game.hand_states import DealerState, Result
from bjsim.sim.game.round import Bettor, Observer
from bjsim.sim.game.rules import Rules, need_rules
from bjsim.sim.game.states import States
from bjsim.sim.game.support import need
from bjsim.sim.running.table import Need
from bjsim.strategies.charts.chart import Chart, Row, make_chart, parse_row
from bjsim.strategies.evaluation.compare import best_chart
from bjsim.strategies.exact.exchange import BETTER
from bjsim.strategies.exact.solver import Solver
from bjsim.strategies.formats.files import load_chart
from bjsim.strategies.shoe.exchange import exchange_values
from bjsim.strategies.shoe.players import CardPlayer, Perfect, TwoCardPlayer

# --- Charts in a game whose seats may exchange the second cards of their two hands.


class ExchangingChart(Chart):
    """A chart whose player exchanges cards as is best in an infinite shoe, if both hands are then played their best.

    A chart has no cells for four cards. The compiled round does not play two hands of a seat.
    """

    needs = Need.DECISIONS

    def decide(self, view: View) -> Action:
        """Exchange or keep the second cards; any other decision is the chart's."""
        if view.legal != EXCHANGE:
            return super().decide(view)
        return self._exchange(view.hand, view.others, view.dealer)

    @cached_property
    def _exchange(self) -> Callable[[str, str, str], Action]:
        infinite = self.rules.replace(decks="inf")

        def exchange(hand: str, other: str, shown: str) -> Action:
            values = exchange_values(infinite, hand, other, shown)
            return Action("X") if values["X"] > values["S"] + BETTER else STAND

        return lru_cache(maxsize=1 << 16)(exchange)  # hands recur


def in_its_game(chart: Chart) -> Chart:
    """The chart as a player of its game: one that exchanges cards if the game asks for it."""
    if chart.rules.bets == 1 or isinstance(chart, ExchangingChart):
        return chart
    return ExchangingChart(chart.name, chart.rules, chart.cells, chart.source, chart.insurance, chart.attack)


# --- Kelly: plays the best chart, and before it stands raises to the stake with the greatest expected growth.


class Kelly:
    """A player for rules that let seats raise.

    Where its chart stands, standing wins b times the stake with probability p and loses it with probability q.
    Both are exact for the hand and the dealer's shown cards, in an infinite shoe, unless the dealer's natural takes
    less than all bets (`no_hole_loses`). The expected logarithm of the chips is greatest if the share
    f = (p b - q) / (b (p + q)) of them is staked. The player raises to f times its chips and its stake on this hand,
    rounded down; if that is not more than its stake, it stands. Stakes on other hands of a split do not count.
    """

    name = "kelly"
    about = (
        "plays the chart of optimal, and raises by the exact chance to win before it stands; needs rules with raises"
    )
    source = "Kelly, A New Interpretation of Information Rate, Bell System Technical Journal 35 (1956)"

    def __init__(self, rules: Rules) -> None:
        need(rules, self.name)
        self.rules = rules
        self.chart = best_chart(rules)
        self._columns = Solver(rules, Fraction).columns
        self._shares: dict[tuple[Result, str], Fraction] = {}

    def __deepcopy__(self, memo: object) -> Kelly:
        return self  # its only state is a cache

    def __reduce__(self) -> tuple[type[Kelly], tuple[Rules]]:
        return Kelly, (self.rules,)

    def decide(self, view: View) -> Action:
        """The chart's action, or a raise instead of a stand."""
        action = self.chart.decide(view)
        if action != STAND or "B" not in view.legal:
            return action
        state, column, _ = self.chart.states.situation(view)
        share = self.share(self.chart.states.result(state), column)
        extra = int(share * (view.stake + view.chips)) - view.stake
        return raise_by(extra) if extra > 0 else STAND

    def share(self, result: Result, column: str) -> Fraction:
        """The share of the chips to stake on a finished hand against a column; 0 or less means no raise."""
        key = result, column
        if key not in self._shares:
            wins = losses = paid = Fraction(0)
            for outcome, chance in self._columns[column].probabilities.items():
                profit, _ = self.chart.states.settle(result, 1, outcome)
                if profit > 0:
                    wins, paid = wins + Fraction(chance), profit
                elif profit < 0:
                    losses += Fraction(chance)
            self._shares[key] = (wins * paid - losses) / (paid * (wins + losses)) if wins else Fraction(-1)
        return self._shares[key]


@dataclass(frozen=True)
class CatalogueEntry:
    """A named strategy: the maker of its chart for a game, a line on what it does, and where it comes from."""

    chart: Callable[[Rules], Chart]
    about: str
    source: str


def entry(name: str, code: Callable[[Row, str, States], str], about: str, source: str) -> CatalogueEntry:
    """Make a strategy from the code of a hand against a column, which may depend on the states of the game."""

    def chart(rules: Rules) -> Chart:
        states = States(rules)
        return make_chart(name, rules, lambda row, column: code(parse_row(row), column, states), source)

    return CatalogueEntry(chart, about, source)


def _limit(n: int) -> CatalogueEntry:
    def code(hand: Row, column: str, states: States) -> str:
        return "H" if hand.points < n else "S"

    about = f"hits below {n}, stands on {n} and more"
    return entry(f"lim{n}", code, about, "[CardShark], its example bot Lim 17")


def _mimic(hand: Row, column: str, states: States) -> str:
    return "S" if states.dealer_done(DealerState(hand.points, hand.soft, cards=2)) else "H"


def _hoyle(hand: Row, column: str, states: States) -> str:
    if hand.soft:
        return "S" if hand.points >= 18 else "H"
    if hand.points >= 17:
        return "S"
    return "S" if hand.points >= 13 and column in ("2", "3", "4", "5", "6") else "H"


CATALOGUE: dict[str, CatalogueEntry] = {
    "optimal": CatalogueEntry(
        best_chart,
        "the best chart for the rules, decks included, computed",
        "dynamic programming, bjsim.strategies.exact.solver and bjsim.strategies.shoe",
    ),
    **{f"lim{n}": _limit(n) for n in range(12, 21)},
    "mimic": entry(
        "mimic",
        _mimic,
        "plays the dealer's own rule, soft 17 included",
        "Thorp, Beat the Dealer (1966), 'mimic the dealer'",
    ),
    "hoyle": entry(
        "hoyle",
        _hoyle,
        "stands on 13 to 16 against 2 to 6 only, on hard 17 and soft 18",
        "[Neller], after Hoyle's rules of games",
    ),
}


# --- Finding a player by name: a named strategy, a chart file, or any Player in Python.
#
# Accepted are names of the catalogue (`optimal`) and of `BUILT_IN` (`kelly`), names that installed packages add through
# the entry-point group `bjsim.players`, chart files, `module:object` and `file.py:object`.


BUILT_IN: dict[str, Any] = {  # players that are not charts, made for the rules of a game
    player.name: player for player in (Kelly, TwoCardPlayer, CardPlayer, Perfect)
}
ENTRY_POINTS = "bjsim.players"
_FILE_MODULE = "bjsim_player_"  # prefix of the names of modules loaded from a player's file


class UnknownPlayer(InputError):
    """No player has that name. The message gives the nearest name, or why an object cannot be used as a player."""


class FunctionPlayer:
    """A function `decide(view)` as a Player; it takes a View and returns an Action or its letter."""

    def __init__(self, name: str, decide: Any) -> None:
        self.name = name
        self._decide = decide

    def decide(self, view: View) -> Action:
        answer = self._decide(view)
        return Action(answer) if isinstance(answer, str) else answer


def player_names() -> list[str]:
    """All names that `find_player` accepts, except files and Python objects."""
    return [*CATALOGUE, "basic", *BUILT_IN, *(point.name for point in entry_points(group=ENTRY_POINTS))]


@names_wrong_types
def find_player(name: str | os.PathLike[str], rules: Rules) -> Player:
    """Find a player by name.

    Args:
        name: A name of the catalogue, a chart file, `module:object` or `file.py:object`.
        rules: The game that the player is for.

    Returns:
        The player; a `Chart` if it is a strategy of the catalogue or a chart file.

    Raises:
        InputError: No player has that name, the object cannot be used as a player, a chart file is not valid, or a
            built-in player cannot play by these rules.
    """
    need_rules(rules)
    text = os.fspath(name)
    text = "optimal" if text == "basic" else text  # as books call the best chart
    if text in CATALOGUE:
        return in_its_game(CATALOGUE[text].chart(rules))
    if text in BUILT_IN:
        built: Player = BUILT_IN[text](rules)
        return built
    for point in entry_points(group=ENTRY_POINTS):
        if point.name == text:
            return _as_player(text, _load_entry(point), rules)
    if is_python(text):
        return _as_player(text, _load_object(text), rules)
    if os.path.isdir(text):
        raise UnknownPlayer(f"{text} is a folder")
    if os.path.exists(text):  # unlike Path, it bears names that no file can have
        return in_its_game(load_chart(text, rules))
    if os.sep in text or Path(text).suffix:
        raise UnknownPlayer(f"no such file: {text}")
    hint = suggest(text, player_names(), f"named strategies are {', '.join(player_names())}.")
    raise UnknownPlayer(
        f"no bot is called {text!r}; {hint} A chart file, module:object or file.py:object is accepted too"
    )


def as_player(bot: object, rules: Rules) -> Player:
    """Return the player that Python code gives: a name (see `find_player`), a Player, or a function of a view."""
    if isinstance(bot, str | os.PathLike):
        return find_player(bot, rules)
    if isinstance(bot, Chart):
        return in_its_game(replace(bot, rules=rules))
    if isinstance(bot, type):
        raise InputError(f"bots: {bot.__name__} is a class; give an instance, such as {bot.__name__}()")
    if not callable(getattr(bot, "decide", None)):
        if callable(bot):
            return FunctionPlayer(getattr(bot, "__name__", type(bot).__name__), bot)
        raise InputError(f"bots: {a_type(bot)} is not a player: it has no decide(view) -> Action")
    player = cast(Player, bot)
    if not isinstance(getattr(player, "name", None), str):
        raise InputError(f"bots: {a_type(bot)} has no name; set its attribute `name` to a string")
    return player


def _constructed(player: type, rules: Rules) -> Any:
    """A player of a class, which is given the rules if its construction needs an argument, as for built-in players."""
    needed = [one for one in signature(player).parameters.values() if one.default is one.empty and one.kind < 2]
    return player(rules) if needed else player()


def is_python(text: str) -> bool:
    """Whether `text` has the form module:object or file.py:object, so that finding the player runs code."""
    return ":" in text and text not in player_names() and not os.path.exists(text)


def python_file(text: str) -> Path | None:
    """The file of a player given as file.py:object; None for other players."""
    file = Path(text.rpartition(":")[0])
    return file if is_python(text) and file.is_file() else None


def _load_entry(point: EntryPoint) -> Any:
    try:
        return point.load()
    except Exception as error:
        raise UnknownPlayer(f"cannot load {point.value} for {point.name!r}: {type(error).__name__}: {error}") from None


def _load_object(text: str) -> Any:
    source, _, name = text.rpartition(":")
    try:
        if source.endswith(".py"):
            module = _load_file(Path(source).resolve())
        else:
            module = importlib.import_module(source)
    except Exception as error:
        raise UnknownPlayer(f"cannot load {source} for {text!r}: {type(error).__name__}: {error}") from None
    try:
        return getattr(module, name)
    except AttributeError:
        raise UnknownPlayer(f"{source} has no {name!r}") from None


class _SourceLoader(SourceFileLoader):
    """Always compiles the source, since a folder from someone else may contain bytecode that differs from it."""

    def get_code(self, fullname: str) -> CodeType:
        code: CodeType = self.source_to_code(self.get_data(self.path), self.path)
        return code


def _load_file(path: Path) -> ModuleType:
    """Load the module in a file, once; its unique name hides no other module, and forked workers can find it."""
    name = f"{_FILE_MODULE}{hashlib.sha256(bytes(path)).hexdigest()[:12]}"
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, path, loader=_SourceLoader(name, str(path)))
        assert spec and spec.loader  # always set for a .py path
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        try:
            spec.loader.exec_module(module)
        except BaseException:
            del sys.modules[name]
            raise
    return sys.modules[name]


def find_needs(player: object) -> Need:
    """What a player needs of the place where it plays: what its attribute `needs` says, or how it can travel.

    The compiled round, which needs nothing, asks for no bets and shows no events.
    """
    needs = getattr(player, "needs", None)
    if isinstance(needs, Need) and (needs or not isinstance(player, Bettor | Observer)):
        return needs
    try:
        from_file = _FILE_MODULE.encode() in pickle.dumps(player)
    except Exception:  # whatever it raises when it is pickled
        return Need.DECISIONS | Need.OBJECTS
    return Need.DECISIONS | (Need.MODULES if from_file else Need.NOTHING)


def fingerprint(text: str, player: Player) -> str:
    """A digest that distinguishes players of the same name: of the chart, of the file, or of the code."""
    if isinstance(player, Chart):
        content = f"{sorted(player.cells.items())}{player.insurance.strip('S')}{player.attack}".encode()
    else:
        file = next((Path(part) for part in (text, text.rpartition(":")[0]) if part and Path(part).is_file()), None)
        content = read_bytes(file) if file else text.encode() + _code(getattr(player, "_decide", player))
    return hashlib.sha256(content).hexdigest()[:16]


def _code(decide: Any) -> bytes:
    """The compiled code of a function, or of an object's methods, with the numbers and texts that it holds."""
    kind = type(decide)
    methods = [decide] if hasattr(decide, "__code__") else [getattr(kind, name) for name in dir(kind)]
    methods = [each for each in methods if hasattr(each, "__code__")]
    held = [value for each in methods for value in getattr(each, "__defaults__", None) or ()]
    for cell in (cell for each in methods for cell in getattr(each, "__closure__", None) or ()):
        with suppress(ValueError):  # it is empty
            held.append(cell.cell_contents)
    shown = [value for name, value in getattr(decide, "__dict__", {}).items() if name[0] != "_"]  # others may be caches
    texts = [repr(each) for each in (*held, *shown) if isinstance(each, int | float | str | tuple | list | dict)]
    codes = [_constant(each.__code__) for each in methods]
    return repr([*codes, *(text for text in texts if " at 0x" not in text)]).encode()


def _constant(value: Any) -> str:
    """A constant as text that is the same in every process: sets are in no order, and code shows its address."""
    if isinstance(value, frozenset):
        return repr(sorted(map(repr, value)))
    if hasattr(value, "co_code"):
        return repr((value.co_code, value.co_names, [*map(_constant, value.co_consts)]))
    return repr(value)


def _as_player(text: str, loaded: Any, rules: Rules) -> Player:
    """Make a player from a Player, a Player class, a chart for other rules, or a function of a view.

    A class that needs an argument is given the rules.
    """
    if isinstance(loaded, Chart):
        return in_its_game(replace(loaded, rules=rules))
    if not hasattr(loaded, "decide"):
        if not callable(loaded):
            raise UnknownPlayer(
                f"{text} is not a player but of type {type(loaded).__name__}; it needs decide(view) -> Action"
            )
        loaded = FunctionPlayer(text, loaded)
    try:
        player: Player = _constructed(loaded, rules) if isinstance(loaded, type) else loaded
        if not isinstance(getattr(player, "name", None), str):
            player.name = text  # type: ignore[misc]
        pickle.dumps(player)
    except Exception as error:
        reason = f"{type(error).__name__}: {error}"
        raise UnknownPlayer(f"{text} cannot be created, named or sent to a worker process: {reason}") from None
    return player
