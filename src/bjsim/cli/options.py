"""Options and parameter types that several commands share."""

import functools
import math
from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

import click
from click.core import ParameterSource
from click.shell_completion import CompletionItem

from bjsim.arguments import MAX_COUNT, MAX_WORKERS, whole_number
from bjsim.bots.protocol import TIMEOUT
from bjsim.cli.once import Once
from bjsim.errors import InputError, suggest
from bjsim.sim.game.presets import PRESETS, load_rules
from bjsim.sim.game.rule_text import WORDS, parse_word
from bjsim.sim.game.rules import RULE_FIELDS, Rules
from bjsim.sim.game.shoe import MAX_SEED
from bjsim.strategies.counting.ramp import BetLimits

F = TypeVar("F", bound=Callable[..., Any])


class Count(click.ParamType):  # type: ignore[type-arg]
    """A whole number from `low` to `most`, which may be written as 1e7 or 10M."""

    name = "number"

    def __init__(self, low: int = 1, most: int = MAX_COUNT, example: str = "1e7 or 10M") -> None:
        self.low = low
        self.most = most
        self.example = example

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        return whole_number(param.opts[0] if param else self.name, value, self.low, self.most, self.example)


class Precision(click.ParamType):  # type: ignore[type-arg]
    """A fraction, written as a percentage such as 0.001%."""

    name = "precision"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        text = str(value).strip()
        try:
            number = float(text.removesuffix("%"))
        except ValueError:
            number = math.nan
        if not 0 < number <= 100:
            self.fail(f"{value} is not accepted; give a percentage above 0%, up to 100%, such as 0.001%", param)
        if not text.endswith("%"):
            share = f" or, if that is a fraction, {100 * number:g}%" if number < 1 else ""
            self.fail(f"{value} has no % sign; write {text}%{share}", param)
        return number / 100

    def text(self, value: float) -> str:
        return f"{100 * value:g}%"


class BetRange(click.ParamType):  # type: ignore[type-arg]
    """A least and a greatest bet, written as 1-12, or as 1-12x2 on two spots."""

    name = "least-most"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> BetLimits:
        try:
            return BetLimits.of(value)
        except InputError as error:
            self.fail(str(error))


class Dollars(float):
    """An amount that was given with a dollar sign, and so cannot be a number of units."""


class Money(click.ParamType):  # type: ignore[type-arg]
    """An amount above 0, or from 0 if `zero`, which may be written as 10k, 1.5M or $10,000."""

    name = "money"

    def __init__(self, zero: bool = False) -> None:
        self.zero = zero

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        text = str(value).strip().removeprefix("$").replace(",", "").lower()
        factor = {"k": 1e3, "m": 1e6}.get(text[-1:], 1.0)
        try:
            amount = float(text.rstrip("km")) * factor
        except ValueError:
            amount = math.nan
        if not (0 < amount < 1e15 or (self.zero and amount == 0 and "$" not in str(value))):
            hint = "; put $ between single quotes, or leave it out" if text.startswith("0") or not text else ""
            self.fail(f"{value!r} is not accepted; give an amount above 0, such as 10000 or 10k{hint}", param)
        return Dollars(amount) if "$" in str(value) else amount

    def text(self, value: float) -> str:
        return f"{value:.15g}"


class Names(click.ParamType):  # type: ignore[type-arg]
    """Names separated by commas, with shell completion from a list."""

    name = "names"

    def __init__(self, known: Callable[[], list[str]]) -> None:
        self.known = known

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> list[str]:
        names = [name.strip() for name in value.split(",")] if isinstance(value, str) else list(value)
        if not all(names):
            self.fail(f"{value!r} has an empty name", param, ctx)
        return names

    def text(self, value: list[str]) -> str:
        return ",".join(value)

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        before, comma, last = incomplete.rpartition(",")
        return [CompletionItem(before + comma + name) for name in self.known() if name.startswith(last)]


CASINO = "vegas-s17"  # the game where none is named, but for the commands of the homework


class RulesName(click.ParamType):  # type: ignore[type-arg]
    """A preset or a TOML file."""

    name = "rules"

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        presets = [CompletionItem(name) for name in PRESETS if name.startswith(incomplete)]
        return presets or [CompletionItem(incomplete, type="file")]


class Setting(click.ParamType):  # type: ignore[type-arg]
    """A rule and its value, as FIELD=VALUE."""

    name = "field=value"

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        return [CompletionItem(f"{name}=") for name in RULE_FIELDS if name.startswith(incomplete)]


def bot_names() -> list[str]:
    """Names that shell completion offers for `--bots`."""
    from bjsim.strategies.players.catalogue import player_names

    return player_names()


def setting_option(field: str, metavar: str, what: str) -> Callable[[F], F]:
    """An option that is short for `--set FIELD=VALUE`, which a command receives as the last of its `settings`."""

    def decorate(command: F) -> F:
        @functools.wraps(command)
        def with_setting(*args: Any, settings: tuple[str, ...], **options: Any) -> object:
            value = options.pop(field)
            return command(*args, settings=settings if value is None else (*settings, f"{field}={value}"), **options)

        option = click.option("--" + field.replace("_", "-"), metavar=metavar, help=what)
        return option(with_setting)  # type: ignore[return-value]

    return decorate


ten_probability_option = setting_option(
    "ten_probability", "P", "Probability of a ten-valued card, such as 4/13 or 0.3."
)
set_option = click.option(
    "--set", "settings", multiple=True, type=Setting(), metavar="FIELD=VALUE", help="Change a rule; repeatable."
)


def rules_option(about: str, **others: Any) -> Callable[[F], F]:
    return click.option(
        "--rules",
        "rules_name",
        cls=Once,
        type=RulesName(),
        metavar="NAME|FILE.toml",
        help=f"Game to play: a preset (see `bjsim rules`) or a TOML file.{about}",
        **others,
    )


def rules_options(command: F, default: str = CASINO) -> F:
    """Add the options that choose a game, which a command receives as `rules`."""

    @functools.wraps(command)
    def with_rules(*args: Any, rules_name: str, settings: tuple[str, ...], **options: Any) -> object:
        return command(*args, rules=the_rules(rules_name, settings), **options)

    for option in (
        ten_probability_option,
        setting_option("decks", "N|inf", "Number of decks in the shoe; inf draws with replacement."),
        set_option,
        rules_option("", default=default, show_default=True),
    ):
        with_rules = option(with_rules)
    return with_rules  # type: ignore[return-value]


homework_rules = functools.partial(rules_options, default="easy")  # of commands that an assignment describes


def the_rules(rules: str | Rules, settings: tuple[str, ...]) -> Rules:
    """The rules, by name or file or as they are, with the changes of `--set`. Raises: InputError."""
    changes: dict[str, object] = {}
    for setting in settings:
        name, equals, value = setting.partition("=")
        if not equals and parse_word(name.strip()) is None:
            hint = suggest(name.strip(), WORDS, f"single words are {', '.join(WORDS)}")
            raise InputError(f"--set {setting} is not accepted; write FIELD=VALUE, such as peek=true; {hint}")
        changes[name.strip()] = value.strip() if equals else True
    return (load_rules(rules) if isinstance(rules, str) else rules).replace(**changes)


def is_given(name: str) -> bool:
    return click.get_current_context().get_parameter_source(name) is ParameterSource.COMMANDLINE


def counted(number: int, noun: str) -> str:
    """A number with its noun, such as `1 match` or `1,200 hands`."""
    plural = noun + ("es" if noun.endswith("ch") else "s")
    return f"{number:,} {noun if number == 1 else plural}"


until_option = click.option(
    "--until",
    "precision",
    type=Precision(),
    metavar="P%",
    help="Play until the anytime-valid interval is ± P or narrower (the luck-adjusted one, if there is one).",
)
seed_option = click.option(
    "--seed",
    type=Count(0, MAX_SEED),
    default=1,
    show_default=True,
    help="Random seed; the same seed gives the same result, bit for bit.",
)


def workers_option(what: str = "Number of processes.") -> Callable[[F], F]:
    return click.option("--workers", type=Count(1, MAX_WORKERS), help=f"{what}  [default: all cores]")


class Sample(NamedTuple):
    """The hands that a command plays: at most so many, until so precise, with a seed, by so many processes."""

    hands: int | None = None
    precision: float | None = None
    seed: int = 1
    workers: int | None = None


def gathered(**groups: Any) -> Callable[[F], F]:
    """Pass options to a command as named tuples, each with those options that its fields name."""

    def decorate(command: F) -> F:
        @functools.wraps(command)
        def with_groups(*args: Any, **options: Any) -> object:
            found = {
                name: group(**{field: options.pop(field) for field in group._fields if field in options})
                for name, group in groups.items()
            }
            return command(*args, **found, **options)

        return with_groups  # type: ignore[return-value]

    return decorate


def bot_options(command: F) -> F:
    """Add the options on how programs are run as bots; see `bjsim.bots.seats.BotOptions`."""
    for option in (
        click.option("--cold", is_flag=True, help="Start a bot from scratch for every move (slower)."),
        click.option(
            "--timeout",
            type=click.FloatRange(0.01, 600),
            default=TIMEOUT,
            show_default=True,
            help="Seconds allowed for a move.",
        ),
        sandbox_option("auto"),
    ):
        command = option(command)
    return command


def sandbox_option(default: str) -> Callable[[F], F]:
    return click.option(
        "--sandbox",
        type=click.Choice(["required", "auto"]),
        default=default,
        show_default=True,
        help="Whether bots need a sandbox that holds, or get the best there is.",
    )
