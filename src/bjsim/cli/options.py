"""Options and parameter types that several commands share."""

from __future__ import annotations

import functools
import json
import math
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click
from click.shell_completion import CompletionItem

from bjsim.arguments import MAX_COUNT, whole_number
from bjsim.arguments import check_writable as check_writable
from bjsim.bots.protocol import TIMEOUT
from bjsim.errors import InputError, suggest
from bjsim.json_values import json_values
from bjsim.sim.game.presets import PRESETS, load_rules
from bjsim.sim.game.random_stream import MAX_SEED
from bjsim.sim.game.rule_fields import WORDS, parse_word
from bjsim.sim.game.rules import RULE_FIELDS, Rules
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
    """A fraction of the initial bet, written as a percentage such as 0.001%."""

    name = "precision"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        text = str(value).strip()
        try:
            number = float(text.removesuffix("%"))
        except ValueError:
            number = math.nan
        if not 0 < number < 100:
            self.fail(f"{value} is not accepted; give a percentage of the bet above 0%, such as 0.001%", param)
        if not text.endswith("%"):
            share = f" or, for a fraction of the bet, {100 * number:g}%" if number < 1 else ""
            self.fail(f"{value} has no % sign; write {text}%{share}", param)
        return number / 100

    def text(self, value: float) -> str:
        """The percentage as it is given."""
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
    """An amount above 0, which may be written as 10k, 1.5M or $10,000."""

    name = "money"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        text = str(value).strip().removeprefix("$").replace(",", "").lower()
        factor = {"k": 1e3, "m": 1e6}.get(text[-1:], 1.0)
        try:
            amount = float(text.rstrip("km")) * factor
        except ValueError:
            amount = math.nan
        if not 0 < amount < 1e15:
            hint = "; put $ between single quotes, or leave it out" if text.startswith("0") or not text else ""
            self.fail(f"{value!r} is not accepted; give an amount above 0, such as 10000 or 10k{hint}", param)
        return Dollars(amount) if "$" in str(value) else amount

    def text(self, value: float) -> str:
        """The amount as it may be given."""
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
        """The names as they are given."""
        return ",".join(value)

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        before, comma, last = incomplete.rpartition(",")
        return [CompletionItem(before + comma + name) for name in self.known() if name.startswith(last)]


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
    from bjsim.strategies.players.find import player_names

    return player_names()


def ten_probability_option(command: F) -> F:
    """Add `--ten-probability`, which the command receives as the last of its `settings`."""

    @functools.wraps(command)
    def with_setting(*args: Any, settings: tuple[str, ...], ten_probability: str | None, **options: Any) -> object:
        given = () if ten_probability is None else (f"ten_probability={ten_probability}",)
        return command(*args, settings=(*settings, *given), **options)

    return click.option(
        "--ten-probability", metavar="P", help="Probability of a ten-valued card, such as 4/13 or 0.3."
    )(with_setting)  # type: ignore[return-value]


def rules_options(command: F) -> F:
    """Add the options that choose a game; pass their values to `the_rules`."""
    command = ten_probability_option(command)
    for option in (
        click.option("--decks", metavar="N|inf", help="Number of decks in the shoe; inf draws with replacement."),
        click.option(
            "--set", "settings", multiple=True, type=Setting(), metavar="FIELD=VALUE", help="Change a rule; repeatable."
        ),
        click.option(
            "--rules", "rules_name", type=RulesName(), default="easy", show_default=True, metavar="NAME|FILE.toml",
            help="Game to play: a preset (see `bjsim rules`) or a TOML file.",
        ),
    ):  # fmt: skip
        command = option(command)
    return command


def the_rules(rules: str | Rules, settings: tuple[str, ...], decks: str | None) -> Rules:
    """The rules, by name or file or as they are, with the changes of `rules_options`. Raises: InputError."""
    changes: dict[str, object] = {}
    for setting in settings:
        name, equals, value = setting.partition("=")
        if not equals and parse_word(name.strip()) is None:
            hint = suggest(name.strip(), WORDS, f"single words are {', '.join(WORDS)}")
            raise InputError(f"--set {setting} is not accepted; write FIELD=VALUE, such as peek=true; {hint}")
        changes[name.strip()] = value.strip() if equals else True
    if decks is not None:
        changes["decks"] = decks
    return (load_rules(rules) if isinstance(rules, str) else rules).replace(**changes)


def counted(number: int, noun: str) -> str:
    """A number with its noun, such as `1 match` or `1,200 hands`."""
    plural = noun + ("es" if noun.endswith("ch") else "s")
    return f"{number:,} {noun if number == 1 else plural}"


until_option = click.option(
    "--until", "precision", type=Precision(), metavar="P%",
    help="Play until the anytime-valid interval is ± P or narrower (the luck-adjusted one, if there is one).",
)  # fmt: skip
seed_option = click.option(
    "--seed", type=Count(0, MAX_SEED), default=1, show_default=True,
    help="Random seed; the same seed gives the same result, bit for bit.",
)  # fmt: skip
adjust_option = click.option(
    "--adjust-luck/--no-adjust-luck", default=None,
    help="Remove the luck of the cards from the returns, which narrows intervals up to 100 times; charts only.  "
    "[default: on in finite shoes]",
)  # fmt: skip
html_option = click.option("--html", "html_path", metavar="FILE", help="Write a self-contained page to publish.")
json_option = click.option(
    "--json", "json_path", metavar="FILE|-", help="Write the result as JSON; - for standard output."
)


def bot_options(command: F) -> F:
    """Add the options on how programs are run as bots; see `bjsim.bots.seats.BotOptions`."""
    for option in (
        click.option("--cold", is_flag=True, help="Start a bot from scratch for every move (slower)."),
        click.option(
            "--timeout", type=click.FloatRange(0.01, 600), default=TIMEOUT, show_default=True,
            help="Seconds allowed for a move.",
        ),
        click.option(
            "--sandbox", type=click.Choice(["required", "auto", "off"]), default="auto", show_default=True,
            help="Whether to run bots in a sandbox: always, if available, or never.",
        ),
    ):  # fmt: skip
        command = option(command)
    return command


def write_json(data: object, path: str) -> None:
    """Write JSON to a file or, for `-`, to standard output; infinities become text, and nan becomes null."""
    write_text(json.dumps(json_values(data), indent=2) + "\n", path)


def write_text(text: str, path: str) -> None:
    """Write text to a file or, for `-`, to standard output. Raises: InputError if the file cannot be written."""
    if path == "-":
        sys.stdout.write(text)
        return
    try:
        Path(path).write_text(text, encoding="utf-8")
    except OSError as error:
        raise InputError(f"cannot write {path}: {error.strerror}") from None
