"""What a contest is: who plays, by which rules, how much; as one frozen value that the journal's header keeps."""

from __future__ import annotations

import difflib
import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from bjsim.errors import InputError
from bjsim.sim.game.presets import load_rules, named_rules
from bjsim.sim.game.random_stream import MOST_SEED, random_seed
from bjsim.sim.game.rules import Rules, RulesError
from bjsim.toml_files import read_toml

HOUSE = -1  # the number of a house player, who fills a chair and is not ranked
MOST = 10**15  # of anything that is counted
MANY = 100_000  # matches of a contest that ends when it is decided


class ConfigError(InputError):
    """A contest that makes no sense, or a setting that does not exist. The message names it."""


@dataclass(frozen=True)
class Contest:
    """A contest's settings. Chips, buy-in and seats at a table are those of `rules`.

    seed: of all cards; by default one that nobody can guess. matches: how many. sittings: of each match, at one table.
    hands: of each sitting. strikes: faults that a bot may have in a match; at that many it is not asked again before
    the next. duplicate: every shoe is played again until all at the table have sat in every seat. house: the player who
    fills empty chairs, or "" for none. until: `decided` ends the contest when the leader is separated from all others,
    a number after so many seconds; never after more than `matches`. timeout: seconds that a bot has for one move.
    cold: bots are started anew for every move, never forked from a resident server.
    """

    rules: Rules
    seed: int = field(default_factory=random_seed)
    matches: int = 25
    sittings: int = 5
    hands: int = 5
    strikes: int = 10
    duplicate: bool = False
    house: str = ""
    until: str = ""
    timeout: float = 2.0
    cold: bool = False

    def __post_init__(self) -> None:
        for name in _WHOLE:
            value = getattr(self, name)
            low, most = _WHOLE[name]
            if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= most:
                raise ConfigError(f"{name} = {value} is not accepted; a whole number from {low} to {most}")
        if not isinstance(self.house, str):
            raise ConfigError(f"house = {self.house} is not accepted; a bot's name or file")
        for name in ("duplicate", "cold"):
            if not isinstance(getattr(self, name), bool):
                raise ConfigError(f"{name} = {getattr(self, name)} is not accepted; true or false")
        if self.until not in ("", "decided") and not _is_seconds(self.until):
            raise ConfigError(f"until = {self.until} is not accepted; decided, or a number of seconds")
        number = isinstance(self.timeout, (int, float)) and not isinstance(self.timeout, bool)
        if not number or not 0 < self.timeout < math.inf:
            raise ConfigError(f"timeout = {self.timeout} is not accepted; seconds, above 0")
        if self.rules.ties == "replay":
            raise ConfigError(f"the rules {self.rules.name} replay ties, which a contest cannot; use push or lose")

    @property
    def seconds(self) -> float:
        """How long the contest may be played at a stretch."""
        return float(self.until) if self.until not in ("", "decided") else math.inf

    def to_dict(self) -> dict[str, Any]:
        """All settings as plain JSON values."""
        return {"rules": self.rules.to_dict(), **{name: getattr(self, name) for name in SETTINGS}}

    @staticmethod
    def from_dict(values: Mapping[str, Any]) -> Contest:
        """The contest that `to_dict` gave."""
        known = {name: values[name] for name in SETTINGS if name != "cold"}
        return Contest(Rules.from_dict(values["rules"]), **known, cold=values.get("cold", False))


def _is_seconds(text: str) -> bool:
    try:
        return 0 < float(text) < math.inf
    except ValueError:
        return False


SETTINGS = tuple(f.name for f in fields(Contest) if f.name != "rules")
_WHOLE = {"seed": (0, MOST_SEED), **dict.fromkeys(("matches", "sittings", "hands", "strikes"), (1, MOST))}


def with_settings(contest: Contest, given: Mapping[str, Any], counted: bool = False) -> Contest:
    """The contest with these settings in place of its own.

    One that ends when it is decided goes on for MANY matches, unless somebody said how many: `given`, or whoever set
    those of `contest` (counted).
    """
    changed = replace(contest, **given)
    unlimited = changed.until == "decided" and not counted and "matches" not in given
    return replace(changed, matches=MANY) if unlimited else changed


def load_config(path: str, given: Mapping[str, Any] | None = None) -> tuple[Contest, list[str]]:
    """The contest in a TOML file, and the bots it names. given: settings that take the place of the file's.

    Keys: those of `Contest`, `bots` (a list), and `rules`: the name of a preset or of a TOML file, or a table of
    fields that may start from `preset`. A file or folder that one of them names is looked for beside the TOML file,
    then where it would be without; a strategy's name is one where nothing that is called so lies there.
    Raises: ConfigError naming the file and the key.
    """
    try:
        values = read_toml(path)
    except OSError as error:
        raise ConfigError(f"cannot read the contest {path}: {error.strerror}") from None
    except ValueError as error:
        raise ConfigError(f"{path} {error}") from None
    bots = values.pop("bots", [])
    if not isinstance(bots, list) or not all(isinstance(bot, str) for bot in bots):
        raise ConfigError(f"{path}: bots = {bots!r} is not accepted; a list of names and files")
    for name in values:
        if name not in (*SETTINGS, "rules"):
            near = difflib.get_close_matches(name, (*SETTINGS, "rules", "bots"), 1)
            hint = f"did you mean {near[0]}?" if near else f"they are bots, rules, {', '.join(SETTINGS)}"
            raise ConfigError(f"{path}: no setting is called {name!r}; {hint}")
    folder = Path(path).parent
    try:
        values = {name: str(value) if name == "until" else value for name, value in values.items()}
        if isinstance(values.get("house"), str):
            values["house"] = _beside(folder, values["house"])
        contest = replace(Contest(_rules(values.pop("rules", "cardshark"), folder)), **values)
    except (ConfigError, RulesError) as error:
        raise ConfigError(f"{path}: {error}") from None
    return with_settings(contest, given or {}, "matches" in values), [_bot_beside(folder, bot) for bot in bots]


def _rules(value: object, folder: Path) -> Rules:
    if isinstance(value, dict):
        return named_rules(str(value.get("preset", "cardshark"))).replace(
            **{name: field for name, field in value.items() if name != "preset"}
        )
    text = str(value)
    return load_rules(_beside(folder, text) if text.endswith(".toml") else text)


def name_and_source(text: str) -> tuple[str, str]:
    """A bot that is written NAME=SOURCE, or SOURCE alone, whose name is then ""."""
    name, equals, source = text.partition("=")
    return (name, source) if equals else ("", text)


def _bot_beside(folder: Path, text: str) -> str:
    """A bot, written as `field.gather` takes it, with its file or folder sought beside the contest's file."""
    name, source = name_and_source(text)
    found = _beside(folder, source)
    return f"{name}={found}" if name or "=" in found else found


def _beside(folder: Path, text: str) -> str:
    """The path of what `text` names in the folder, which may be an object of a file there; else the text itself."""
    file, colon, name = text.rpartition(":")
    if text and (folder / text).exists():
        return str(folder / text)
    return f"{folder / file}:{name}" if colon and (folder / file).is_file() else text
