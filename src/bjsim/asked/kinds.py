"""The kinds of parameters, by name: how each is written, read, checked and shown. One name means one thing."""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from numbers import Real
from typing import Any

from bjsim.arguments import (
    MAX_COUNT,
    MAX_HANDS,
    MAX_SEED,
    MAX_TABLES,
    MAX_WORKERS,
    a_type,
    amount,
    argument,
    flag,
    one_digit,
    whole_number,
)
from bjsim.errors import InputError


@dataclass(frozen=True)
class Written:
    """A text whose meaning is known only to what receives it."""

    metavar: str = "TEXT"
    about: str = ""  # what help says where a docstring does not

    def parse(self, name: str, text: str) -> Any:
        """The value that a text stands for. Raises: InputError: It is not accepted; `name` is said as callers do."""
        return self.check(name, text)

    def check(self, name: str, value: Any) -> Any:
        """A value as requests hold it. Raises: InputError: It is not accepted."""
        return value

    def text(self, value: Any) -> str:
        """The value as it is written."""
        return f"{value:.15g}" if isinstance(value, float) else str(value)

    def known(self) -> Iterable[str]:
        """What shell completion offers."""
        return ()


@dataclass(frozen=True)
class Count(Written):
    """A whole number, which may be written as 1e7 or 10M."""

    metavar: str = "N"
    low: int = 1
    most: int = MAX_COUNT
    example: str = "1e7 or 10M"

    def check(self, name: str, value: Any) -> int:
        return whole_number(argument(name), value, self.low, self.most, self.example)

    def text(self, value: int) -> str:
        short = one_digit(value)
        return short if value >= 10**6 and int(float(short)) == value else str(value)


@dataclass(frozen=True)
class Number(Written):
    metavar: str = "N"
    use: str = "a number"
    low: float = -1e300
    most: float = 1e300

    def parse(self, name: str, text: str) -> float:
        try:
            number = float(text)
        except ValueError:
            raise InputError(f"{argument(name, text)} is not accepted; use {self.use}") from None
        return float(self.check(name, number))

    def check(self, name: str, value: Any) -> Any:
        is_number = isinstance(value, Real) and not isinstance(value, bool)
        if not is_number:
            raise InputError(f"{argument(name)}: {a_type(value)} is not accepted; use {self.use}")
        if not self.low <= value <= self.most:  # exactly: a whole number may be too large for a float
            raise InputError(f"{argument(name, value)} is not accepted; use {self.use}")
        return value


LEAST_SHARE = 1e-12


@dataclass(frozen=True)
class Share(Written):
    """A share of the bet: 0.0001 as a value, 0.01% as a text, where a number without the sign is an error."""

    metavar: str = "P%"
    use: str = "a share of the bet, such as 0.0001"
    most: float = math.nextafter(1, 0)

    def parse(self, name: str, text: str) -> float:
        number = text.strip().removesuffix("%")
        try:
            found = float(number) / 100
        except ValueError:
            found = -1.0
        if not LEAST_SHARE <= found <= self.most:
            most = f"{'up to' if self.most == 1 else 'below'} 100%, such as 0.001%"
            raise InputError(f"{argument(name, text)} is not accepted; use a percentage from 1e-10%, {most}")
        if not text.strip().endswith("%"):
            other = f" or, if that is a fraction, {1e4 * found:g}%" if found < 0.01 else ""
            raise InputError(f"{argument(name, text)} has no % sign; write {number}%{other}")
        return found

    def check(self, name: str, value: Any) -> float:
        is_number = isinstance(value, Real) and not isinstance(value, bool)
        if not is_number or not LEAST_SHARE <= value <= self.most:
            shown = value if isinstance(value, str | Real) else a_type(value)
            raise InputError(f"{argument(name)}: {shown} is not accepted; use {self.use}")
        return float(value)

    def text(self, value: float) -> str:
        return f"{100 * value:.15g}%"


class Dollars(float):
    """An amount that was given with a dollar sign, and so cannot be a number of units."""


@dataclass(frozen=True)
class Money(Number):
    """An amount, which may be written as 10k, 1.5M or $10,000."""

    metavar: str = "AMOUNT"
    use: str = "an amount above 0"
    low: float = math.ulp(0.0)  # the least number above

    def parse(self, name: str, text: str) -> float:
        found = amount(text.strip().removeprefix("$"), self.low == 0)
        if found is None:
            in_shell = text.strip()[:1] in ("0", "$", "") and argument(name).startswith("--")  # where $1 is a variable
            hint = "; put $ between single quotes, or leave it out" if in_shell else ""
            raise InputError(f"{argument(name)} {text!r} is not accepted; use {self.use}, such as 10000 or 10k{hint}")
        return Dollars(found) if found and "$" in text else found

    def text(self, value: Any) -> str:
        return "$" * isinstance(value, Dollars) + super().text(value)


@dataclass(frozen=True)
class Flag(Written):
    def check(self, name: str, value: Any) -> bool:
        return flag(name, value)


@dataclass(frozen=True)
class OneOf(Written):
    """One of the words of `metavar`."""

    def check(self, name: str, value: Any) -> str:
        if value not in self.known():
            raise InputError(f"{argument(name, value)} is not accepted; use {', '.join(self.known())}")
        return str(value)

    def known(self) -> Sequence[str]:
        return self.metavar.split("|")


@dataclass(frozen=True)
class Name(Written):
    """A text that names one thing."""

    use: str = "a name"

    def check(self, name: str, value: Any) -> str:
        if not isinstance(value, str):
            raise InputError(f"{argument(name)}: {a_type(value)} is not accepted; use {self.use}")
        return value


@dataclass(frozen=True)
class Ending(Written):
    """When a contest ends before its last match: after seconds, as a text, or when it is `decided`."""

    metavar: str = "SECONDS|decided"

    def check(self, name: str, value: Any) -> str:
        try:
            is_time = not isinstance(value, bool) and 0 < float(value) < math.inf
        except (TypeError, ValueError, OverflowError):
            is_time = False
        if value != "decided" and not is_time:
            raise InputError(f"{argument(name, value)} is not accepted; use decided, or a number of seconds")
        return str(value)


@dataclass(frozen=True)
class Names(Written):
    """Names separated by commas."""

    metavar: str = "A[,B...]"

    def parse(self, name: str, text: str) -> list[str]:
        names = [each.strip() for each in text.split(",")]
        if not all(names):
            how = "write names with one comma between two, as in A,B"
            raise InputError(f"{argument(name, repr(text))} has an empty name; {how}")
        return names

    def text(self, value: str | Sequence[str]) -> str:
        return value if isinstance(value, str) else ",".join(value)


@dataclass(frozen=True)
class Several(Names):
    """Names as a tuple: any names, or some of `words` in the order of `words`."""

    words: tuple[str, ...] = ()
    use: str = "a list of names"

    def parse(self, name: str, text: str) -> Any:
        names = super().parse(name, text)
        for wrong in (each for each in names if self.words and each not in self.words):
            raise InputError(f"{argument(name, wrong)} is not accepted; use {', '.join(self.words)}")
        return self.check(name, names)

    def check(self, name: str, value: Any) -> tuple[str, ...]:
        names = [value] if isinstance(value, str) and not self.words else value
        is_list = isinstance(names, list | tuple) and (names or not self.words)
        if not is_list or not all(isinstance(each, str) and each and each in (self.words or names) for each in names):
            raise InputError(f"{argument(name)}: {value} is not accepted; use {self.use}")
        return tuple(each for each in self.words if each in names) or tuple(names)

    def known(self) -> Sequence[str]:
        return self.words


@dataclass(frozen=True)
class CardCounts(Written):
    """The cards in a shoe by rank or kind."""

    metavar: str = "A=4,2=3,..."

    def parse(self, name: str, text: str) -> dict[str, int]:
        counts: dict[str, int] = {}
        for part in text.split(","):
            card, equals, count = part.strip().partition("=")
            if not equals or not re.fullmatch("[0-9]{1,9}", count.strip()):
                raise InputError(
                    f"{argument(name)}: {part.strip()!r} is not accepted; write CARD=COUNT, such as A=4,2=3,T=16"
                )
            if card.strip().upper() in counts:
                raise InputError(f"{argument(name)}: {card.strip()} is given twice")
            counts[card.strip().upper()] = int(count)
        return counts

    def text(self, value: Mapping[str, int]) -> str:
        return ",".join(f"{card}={count}" for card, count in value.items())


POSITIVE = Number(use="a number above 0", low=math.ulp(0.0))
FROM_0 = Money(use="an amount from 0", low=0.0)
# By name; a name that means another thing in one request has that request before it.
KINDS: Mapping[str, Written] = {
    "bots": Names(),
    "system": Written("NAME|FILE.toml"),
    "chart": Written("CHART"),
    "ramp": Written("LOW-HIGH|'0:1 2:4 ...'"),
    "indices": Written("SET|FILE|TEXT"),
    "optimal": Written("LOW-HIGH"),
    "leave": Written("COUNT"),
    "decks": Written("N|inf"),
    "deck": Written("standard|spanish"),
    "shoe": CardCounts(),
    "pays": Written("EVENT=N,..."),
    "hands": Count(),
    "rounds": Count(most=MAX_HANDS),
    "matches": Count(),
    "sessions": Count(),
    "until": Share(
        about="Play until the anytime-valid interval is ± P or narrower (the luck-adjusted one, if there is one)."
    ),
    "seed": Count(about="The same seed gives the same result, bit for bit.", low=0, most=MAX_SEED),
    "tables": Count(most=MAX_TABLES),
    "workers": Count(about="Number of processes.", most=MAX_WORKERS),
    "adjust_luck": Flag(),
    "checkpoint": Written("FILE"),
    "resume": Written("FILE"),
    "log": Written("FILE"),
    "sandbox": OneOf("required|auto", "Whether bots need a sandbox that holds, or get the best there is."),
    "retire": Count(low=0),
    "duplicate": Flag(),
    "house": Name("BOT", use="a bot's name or file"),
    "Contest.until": Ending(),
    "protocols": Several(words=("argv", "line"), use="argv, line or both, as a list"),
    "title": Name(use="a text"),
    "lives": OneOf("match|contest"),
    "against": Several("BOT,...", use="a list of bots"),
    "marks": Name("TEXT", use="a text such as -1:D 0:B"),
    "score": OneOf("luck-adjusted|chips|log"),
    "timeout": Number("SECONDS", low=0.01, most=600, use="seconds from 0.01 to 600"),
    "cold": Flag(),
    "strikes": Count(),
    "bankroll": Money(),
    "unit": Money(),
    "chip": FROM_0,
    "ror": Share(use="a risk of ruin, such as 0.01"),
    "kelly": replace(POSITIVE, metavar="SHARE"),
    "rounds_per_hour": POSITIVE,
    "trip": replace(POSITIVE, metavar="HOURS"),
    "leave_minutes": Number(use="a number from 0", low=0.0),
    "bet": Money(),
    "goal": Money(),
    "floor": FROM_0,
    "rebate": Share(most=1.0),
    "rebate_from": FROM_0,
    "bonus": FROM_0,
    "sticky": Flag(),
    "episodes": Count(low=2),
}


def kind_of(request: str, name: str) -> Written | None:
    """The kind of a parameter of a request or function, if it has one; others are Python's alone."""
    return KINDS.get(f"{request}.{name}") or KINDS.get(name)


def checked(**given: Any) -> tuple[Any, ...]:
    """Arguments as the kinds of their names hold them. Raises: InputError: One is not accepted."""
    return tuple(KINDS[name].check(name, value) for name, value in given.items())


def check_fields(request: Any) -> None:
    """Check the fields of a frozen request that have a kind. Raises: InputError: One is not accepted."""
    for each in fields(request):
        value, kind = getattr(request, each.name, None), kind_of(type(request).__name__, each.name)
        is_default = type(value) is type(each.default) and value == each.default
        is_default = is_default or (value is None and "None" in str(each.type))
        if each.init and kind and not is_default:
            object.__setattr__(request, each.name, kind.check(each.name, value))
