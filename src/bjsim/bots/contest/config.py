"""The settings of a contest: one frozen value that the journal's header stores, and its TOML file."""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypedDict

from bjsim.arguments import argument, command_line
from bjsim.asked.kinds import check_fields
from bjsim.bots.protocol import PROTOCOLS, TIMEOUT
from bjsim.errors import InputError, printable, suggest
from bjsim.files import read_toml
from bjsim.sim.game.presets import load_rules, named_rules
from bjsim.sim.game.rules import Rules
from bjsim.sim.game.shoe import random_seed
from bjsim.sim.game.support import need

HOUSE = -1  # the bot number of the first house player; they fill seats and are not ranked
LARGEST_TABLE = 4  # seats
COMPANION = "hoyle"  # the house player beside bots that join later, unless the contest has one
MAX_TITLE = 200
MOST_HANDS = 8  # under a luck adjustment: the states of split hands grow with the square of the limit
MANY = 100_000  # default match limit of a contest that runs until it is decided


@dataclass(frozen=True)
class Contest:
    """The settings of a contest.

    Args:
        rules: The game.
        seed: Random seed; bots may predict the cards of one that they know.
        matches: Number of matches, at most. By default (0) it follows from the number of bots. In a duplicate contest
            every match is played once per seat.
        sessions: Sessions in a match, at one table.
        hands: Hands in a session.
        strikes: Faults after which a bot is not asked again in a match.
        retire: Retire a bot after this many matches in a row in which it used all its strikes and gave no answer;
            0 for never.
        duplicate: Replay every shoe until each bot has played from every seat.
        house: Fill empty seats with this player, which is not ranked.
        until: Stop after this time, or when the leader is ahead of all others (95%).
        timeout: Seconds allowed for a move.
        cold: Start a bot from scratch for every move (slower).
        protocols: Protocols of programs.
        title: Title of the pages.
        lives: How long a process of a line bot lives: for a match, or for the contest, where another number of workers
            may change the results.
        against: Every bot plays only against these house players, as for a course.
        marks: Marks by luck-adjusted score in chips per hand, such as "-1:D -0.5:C 0:B"; see marks.csv.
        score: What ranks the bots: mean chips without the luck of the cards, mean chips, or the mean of ln(chips + 1).
            By default the first that the rules allow.

    Raises:
        InputError: A setting is not accepted.
    """

    rules: Rules
    seed: int = field(default_factory=random_seed)
    matches: int = 0
    sessions: int = 5
    hands: int = 5
    strikes: int = 10
    retire: int = 3
    duplicate: bool = False
    house: str = ""
    until: str = ""
    timeout: float = TIMEOUT
    cold: bool = False
    protocols: tuple[str, ...] = PROTOCOLS
    title: str = ""
    lives: str = "match"
    against: tuple[str, ...] = ()
    marks: str = ""
    score: str = ""

    def __post_init__(self) -> None:
        check_fields(self)
        if printable(self.title) != self.title or len(self.title) > MAX_TITLE:
            wrong = argument("title", self.title)
            raise InputError(f"{wrong} is not accepted; use one line of at most {MAX_TITLE} characters")
        if self.lives == "contest" and self.duplicate:
            raise InputError("lives = contest: in a duplicate contest a process would meet a shoe again; use match")
        if self.against and self.house:
            raise InputError("house players sit in empty seats (house) or at all tables (against), not both")
        parse_marks(self.marks)
        if self.score == "luck-adjusted" and not has_luck(self.rules):
            raise InputError(
                f"score = luck-adjusted needs a limit of at most {MOST_HANDS} hands after splits; use chips"
            )
        if self.score == "log" and not self.rules.raises:
            raise InputError(
                "score = log needs rules with raises: without, bots double on credit, and may hold less than 0"
            )
        need(self.rules, "contest")

    @property
    def scored_by(self) -> str:
        return self.score or ("luck-adjusted" if has_luck(self.rules) else "chips")

    @property
    def field(self) -> tuple[str, ...]:
        """The house players HOUSE, HOUSE - 1, ..."""
        return self.against or (self.house or COMPANION,)

    @property
    def seconds(self) -> float:
        """Time limit of one run in seconds; infinite if there is none."""
        return float(self.until) if self.until not in ("", "decided") else math.inf

    @property
    def heading(self) -> str:
        """Its title, or what it is."""
        return self.title or "Blackjack contest"

    def to_dict(self) -> dict[str, Any]:
        return {"rules": self.rules.to_dict(), **{name: getattr(self, name) for name in SETTINGS}}

    @staticmethod
    def from_dict(values: Mapping[str, Any]) -> "Contest":
        values = {"score": "chips", **values}  # contests that began before there was a choice
        return Contest(Rules.from_dict(values["rules"]), **{name: values[name] for name in SETTINGS})


class Settings(TypedDict, total=False):
    """The fields of `Contest` but its rules, as `bjsim.contest` takes them: type checkers find wrong ones."""

    seed: int
    matches: int
    sessions: int
    hands: int
    strikes: int
    retire: int
    duplicate: bool
    house: str
    until: str | float
    timeout: float
    cold: bool
    protocols: Sequence[str]
    title: str
    lives: str
    against: Sequence[str]
    marks: str
    score: str


SETTINGS = tuple(Settings.__annotations__)


def has_luck(rules: Rules) -> bool:
    """Whether luck can be computed under these rules: splits need a limit on hands."""
    return rules.most_hands <= MOST_HANDS


def parse_marks(text: str) -> list[tuple[float, str]]:
    """The thresholds (chips per hand), lowest first, with the marks from there on, in a text like `-1:D 0:B`."""
    marks: dict[float, str] = {}
    for word in text.split():
        threshold, _, mark = word.partition(":")
        try:
            number = float(threshold)
        except ValueError:
            number = math.nan
        if not math.isfinite(number) or not mark or re.search("[:,;]", mark) or number in marks:
            raise InputError(
                f"marks = {text} is not accepted; write THRESHOLD:MARK, with thresholds in chips per hand, "
                'such as "-1:D -0.5:C 0:B"'
            )
        marks[number] = mark
    return sorted(marks.items())


def with_settings(contest: Contest, given: Mapping[str, Any], counted: bool = False) -> Contest:
    """Replace settings of a contest.

    A contest that runs until it is decided is limited to MANY matches, unless its matches were set (`counted`).
    """
    _check_names(given)
    changed = replace(contest, **given)
    unlimited = changed.until == "decided" and not counted and "matches" not in given
    return replace(changed, matches=MANY) if unlimited else changed


def _check_names(given: Mapping[str, Any]) -> None:
    for name in given:
        if name not in (*SETTINGS, "rules"):
            known = ("bots", "rules", *SETTINGS)
            hint = suggest(name, known, f"the settings are {', '.join(known)}")
            raise InputError(f"unknown setting {name!r}; {hint}")


def load_config(path: str, given: Mapping[str, Any] | None = None) -> tuple[Contest, list[str]]:
    """Load a contest, and the bots that it lists, from a TOML file; settings in `given` override the file's.

    Keys are the fields of `Contest`, `bots` (a list), and `rules`: the name of a preset or of a TOML file, or a
    table of fields that may start from `preset`. Files and folders are looked up in the folder of the TOML file
    first, then as given. A name that exists there is a file or folder, otherwise it is a strategy. An InputError
    names the file and the key.
    """
    try:
        values = read_toml(path)
    except OSError as error:
        raise InputError(f"cannot read the contest {path}: {error.strerror}") from None
    except ValueError as error:
        raise InputError(f"{path} {error}") from None
    bots = values.pop("bots", [])
    if not isinstance(bots, list) or not all(isinstance(bot, str) for bot in bots):
        raise InputError(f"{path}: bots = {bots!r} is not accepted; use a list of names and files")
    folder = Path(path).parent
    try:
        _check_names(values)
        if isinstance(values.get("house"), str):
            values["house"] = _located(folder, values["house"])
        if isinstance(values.get("against"), list):
            values["against"] = [_located(folder, bot) if isinstance(bot, str) else bot for bot in values["against"]]
        with command_line(False):  # keys are no options
            contest = replace(Contest(_rules(values.pop("rules", "cardshark"), folder)), **values)
    except InputError as error:
        raise InputError(f"{path}: {error}") from None
    listed = []  # as `entrants.gather` accepts them
    for text in bots:
        name, source = ("", text) if (folder / text).exists() else name_and_source(text)  # a path may have an `=`
        located = _located(folder, source)
        listed.append(f"{name}={located}" if name or "=" in located else located)
    return with_settings(contest, given or {}, "matches" in values), listed


def _rules(value: object, folder: Path) -> Rules:
    if isinstance(value, dict):
        return named_rules(str(value.get("preset", "cardshark"))).replace(
            **{name: field for name, field in value.items() if name != "preset"}
        )
    text = str(value)
    return load_rules(_located(folder, text) if text.endswith(".toml") else text)


def name_and_source(text: str) -> tuple[str, str]:
    """Split NAME=SOURCE into its parts; the name of a plain SOURCE is ""."""
    name, equals, source = text.partition("=")
    return (name, source) if equals else ("", text)


def _located(folder: Path, text: str) -> str:
    """The path of the file, folder or `file:object` that `text` names in this folder; otherwise the text itself."""
    file, colon, name = text.rpartition(":")
    if text and (folder / text).exists():
        return str(folder / text)
    return f"{folder / file}:{name}" if colon and (folder / file).is_file() else text
