"""What a contest is: who plays, by which rules, how much; as one frozen value that the journal's header keeps."""

from __future__ import annotations

import difflib
import math
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from bjsim.sim.errors import InputError
from bjsim.sim.presets import load_rules, named_rules
from bjsim.sim.rules import Rules, RulesError

HOUSE = -1  # the number of a house player, who fills a chair and is not ranked


class ConfigError(InputError):
    """A contest that makes no sense, or a setting that does not exist. The message names it."""


@dataclass(frozen=True)
class Contest:
    """A contest's settings. Chips, buy-in and seats at a table are those of `rules`.

    matches: how many. sittings: of each match, at one table. hands: of each sitting. strikes: faults that a bot may
    have in a match; at that many it is not asked again before the next. duplicate: every shoe is played again until
    all at the table have sat in every seat. house: the player who fills empty chairs, or "" for none. until: `decided`
    ends the contest when the leader is separated from all others, a number after so many seconds; never after more
    than `matches`. timeout: seconds that a bot has for one move.
    """

    rules: Rules
    seed: int = 1
    matches: int = 25
    sittings: int = 5
    hands: int = 5
    strikes: int = 10
    duplicate: bool = False
    house: str = ""
    until: str = ""
    timeout: float = 2.0

    def __post_init__(self) -> None:
        for name in _WHOLE:
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < _WHOLE[name]:
                raise ConfigError(f"{name} = {value} is not accepted; a whole number from {_WHOLE[name]} on")
        if not isinstance(self.duplicate, bool):
            raise ConfigError(f"duplicate = {self.duplicate} is not accepted; true or false")
        if self.until not in ("", "decided") and not _is_seconds(self.until):
            raise ConfigError(f"until = {self.until} is not accepted; decided, or a number of seconds")
        if not isinstance(self.timeout, (int, float)) or not 0 < self.timeout < math.inf:
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
        return Contest(Rules.from_dict(values["rules"]), **{name: values[name] for name in SETTINGS})


def _is_seconds(text: str) -> bool:
    try:
        return 0 < float(text) < math.inf
    except ValueError:
        return False


SETTINGS = tuple(f.name for f in fields(Contest) if f.name != "rules")
_WHOLE = {"seed": 0, "matches": 1, "sittings": 1, "hands": 1, "strikes": 1}


def load_config(path: str) -> tuple[Contest, list[str]]:
    """The contest in a TOML file, and the bots it names.

    Keys: those of `Contest`, `bots` (a list), and `rules`: the name of a preset or of a TOML file, or a table of
    fields that may start from `preset`.
    Raises: ConfigError naming the file and the key.
    """
    try:
        values = tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"cannot read the contest {path}: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} is no TOML: {error}") from None
    bots = values.pop("bots", [])
    if not isinstance(bots, list) or not all(isinstance(bot, str) for bot in bots):
        raise ConfigError(f"{path}: bots = {bots!r} is not accepted; a list of names and files")
    for name in values:
        if name not in (*SETTINGS, "rules"):
            near = difflib.get_close_matches(name, (*SETTINGS, "rules", "bots"), 1)
            hint = f"did you mean {near[0]}?" if near else f"they are bots, rules, {', '.join(SETTINGS)}"
            raise ConfigError(f"{path}: no setting is called {name!r}; {hint}")
    try:
        values = {name: str(value) if name == "until" else value for name, value in values.items()}
        return replace(Contest(_rules(values.pop("rules", "cardshark"))), **values), bots
    except (ConfigError, RulesError) as error:
        raise ConfigError(f"{path}: {error}") from None


def _rules(value: object) -> Rules:
    if isinstance(value, dict):
        return named_rules(str(value.get("preset", "cardshark"))).with_(
            **{name: field for name, field in value.items() if name != "preset"}
        )
    return load_rules(str(value))
