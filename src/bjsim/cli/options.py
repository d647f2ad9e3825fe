"""Options and parameter types that several commands share."""

import functools
import json
import re
import shlex
import sys
from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import click
from click.core import ParameterSource

from bjsim.arguments import argument, check_distinct, check_writable, short_names, without_folders
from bjsim.asked.kinds import Names, Written
from bjsim.cli.asked import AskedType
from bjsim.cli.waiting import waiting
from bjsim.errors import InputError
from bjsim.files import write_file
from bjsim.report.data import Described, to_json
from bjsim.report.parts import Report
from bjsim.sim.game.presets import PRESETS, read_setting, the_rules
from bjsim.sim.game.rule_text import expand_words
from bjsim.sim.game.rules import RULE_FIELDS, parse_field

# --- Options that are an error when they are given twice.


class Once(click.Option):
    """An option that is an error when it is given twice; of click's own the last value counts, without a word."""

    def add_to_parser(self, parser: Any, ctx: click.Context) -> None:
        self.multiple = True  # so that the parser collects all values
        super().add_to_parser(parser, ctx)
        self.multiple = False

    def consume_value(self, ctx: click.Context, opts: Any) -> tuple[Any, ParameterSource]:
        given = opts.get(self.name)
        if isinstance(given, list):
            if len(given) > 1 and not ctx.resilient_parsing:
                several = ", with a comma between names" if isinstance(getattr(self.type, "kind", 0), Names) else ""
                raise InputError(f"{self.opts[0]} is given {len(given)} times; give it once{several}")
            opts = {**opts, self.name: given[0]}
        return super().consume_value(ctx, opts)


def take_once(command: click.Command) -> None:
    """Let every option of a command and its subcommands that takes one value, or is on or off, be given once."""
    for each in command.params:
        if isinstance(each, click.Option) and not each.multiple and (each.secondary_opts or not each.is_flag):
            each.__class__ = Once
    for inner in command.commands.values() if isinstance(command, click.Group) else ():
        take_once(inner)


F = TypeVar("F", bound=Callable[..., Any])


CASINO = "vegas-s17"  # the game where none is named, but for the commands of the homework


@dataclass(frozen=True)
class Assigned(Written):
    """A rule with its value in one word; `decks = 6` is refused before its other words are arguments too many."""

    use: str = ""  # what to write instead; "" for --set, whose texts are read at once

    def parse(self, name: str, text: str) -> str:
        if not self.use:
            read_setting(text)
        elif not text.partition("=")[2]:
            raise InputError(f"{argument(name, text)} is not accepted; {self.use}")
        return text


RULES_NAME = AskedType("rules", Written("NAME|FILE.toml"), lambda: PRESETS)
SETTING = AskedType("set", Assigned("FIELD=VALUE"), lambda: [f"{name}=" for name in RULE_FIELDS])
SHORT = {  # options that are short for --set, with the rule that each sets
    "decks": ("decks", "N|inf", "Number of decks in the shoe; inf draws with replacement."),
    "ten_probability": ("ten_probability", "P", "Probability of a ten-valued card, such as 4/13 or 0.3."),
    "cut": ("cut", "SHARE", "Share of the shoe that is dealt, such as 75%."),
    "players": ("seats", "N", "Players at the table: the last one counts, the others play the chart."),
}
set_option = click.option(
    "--set", "settings", multiple=True, type=SETTING, metavar="FIELD=VALUE", help="Change a rule; repeatable."
)


def settings_options(*names: str) -> Callable[[F], F]:
    """Add --set and options that are short for it; a command receives them together, as `settings`."""

    def decorate(command: F) -> F:
        @functools.wraps(command)
        def with_settings(*args: Any, settings: tuple[str, ...], **options: Any) -> object:
            given = {SHORT[name][0]: options.pop(name) for name in names}
            short = [f"{field}={value}" for field, value in given.items() if value is not None]
            return command(*args, settings=(*settings, *short), **options)

        for name in reversed(names):
            _, metavar, about = SHORT[name]
            option = click.option("--" + name.replace("_", "-"), metavar=metavar, help=about)
            with_settings = option(with_settings)
        return set_option(with_settings)  # type: ignore[return-value]

    return decorate


def rules_option(about: str, **others: Any) -> Callable[[F], F]:
    return click.option(
        "--rules",
        "rules_name",
        type=RULES_NAME,
        metavar="NAME|FILE.toml",
        help=f"Game to play: a preset (see `bjsim rules`) or a TOML file.{about}",
        **others,
    )


def rules_options(command: F, default: str = CASINO, also: Sequence[str] = ()) -> F:
    """Add the options that choose a game, which a command receives as `rules`; `also` are further ones of SHORT."""

    @functools.wraps(command)
    def with_rules(*args: Any, rules_name: str, settings: tuple[str, ...], **options: Any) -> object:
        return command(*args, rules=the_rules(rules_name, settings), **options)

    with_settings = settings_options("decks", "ten_probability", *also)(with_rules)
    return rules_option("", default=default, show_default=True)(with_settings)  # type: ignore[return-value]


homework_rules = functools.partial(rules_options, default="easy")  # of commands that an assignment describes


def is_given(name: str) -> bool:
    return click.get_current_context().get_parameter_source(name) is ParameterSource.COMMANDLINE


def refuse_together(first: str, *others: str, why: str = "") -> None:
    """Refuse the other options beside the first, which would make the command ignore them. Raises: InputError."""
    options = {parameter.name: parameter.opts[0] for parameter in click.get_current_context().command.params}
    for other in others if is_given(first) else ():
        if is_given(other):
            raise InputError(f"{options[first]} and {options[other]} cannot be combined{why}; leave out one of them")


# --- Options for the files that a command writes, and the writing of text and JSON.


class Files(NamedTuple):
    """The files that a command is asked to write; of those that it has no option for, None."""

    json_path: str | None
    plot_path: str | None
    html_path: str | None = None
    fix_path: str | None = None
    save_path: str | None = None
    fan_path: str | None = None

    def check(self, *others: str | None) -> None:
        """Raises: InputError: One of them cannot be written or is one of the others, before anything takes time."""
        for option, path in (("--plot", self.plot_path), ("--fan", self.fan_path)):
            if path and Path(path).suffix.lower() not in (".png", ".svg"):
                raise InputError(f"{option} {path} is not accepted; the file must end in .png or .svg")
            if path and find_spec("matplotlib") is None:
                raise InputError(f"{option} needs the package matplotlib: pip install matplotlib")
        given = [path for path in self if path is not None]
        if "-" in (self.html_path, self.save_path):
            raise InputError(f"{'--html' if self.html_path == '-' else '--save'} - is not accepted; give a file's name")
        check_distinct(*given, *others)
        for path in given:
            check_writable(path)

    @property
    def quiet(self) -> bool:
        """Whether standard output is for a file alone."""
        return "-" in (self.json_path, self.fix_path)

    def without_plot(self, lacking: str, console: Any) -> "Files":
        """These files without the picture, which is named if it is asked for: it would show what there is not."""
        if self.plot_path:
            from bjsim.report.terminal import say

            say(console, f"{self.plot_path} is not drawn: there is {lacking}")
        return self._replace(plot_path=None)

    def show(
        self, result: Described | Report, command: str, *more: Any, has_lines: bool = True, text: str = ""
    ) -> None:
        """Write the files that are asked for, and print the result, with `more` parts.

        `command` finds the same again, and `text` is what --fix or --save asks for. Without `has_lines`, the terminal
        shows the lines about the game already.
        """
        from rich.console import Console

        from bjsim.report.terminal import print_report

        found = result.describe() if isinstance(result, Described) else result
        report = replace(found, parts=[*found.parts, *more])
        try:
            if path := self.fix_path or self.save_path:
                write_text(text, path)
            if self.json_path:
                write_json(result.to_json() if isinstance(result, Described) else to_json(result), self.json_path)
            if self.plot_path or self.html_path:
                public = result.published().describe() if isinstance(result, Described) else result
                self.draw(replace(public, command=command))
        finally:  # what cannot be written is printed all the same
            print_report(Console(stderr=self.quiet), report if has_lines else replace(report, lines=()))

    def draw(self, report: Report) -> None:
        """Write the picture and the page that are asked for. Raises: InputError: One cannot be written."""
        if self.html_path:
            from bjsim.report.page import make_page

            write_text(make_page(report), self.html_path)
        if self.plot_path:
            from bjsim.report.picture import draw

            with waiting("drawing"):
                draw(report, self.plot_path)


NO_FILES = Files(None, None)
json_option = click.option(
    "--json", "json_path", metavar="FILE|-", help="Write the result as JSON; - for standard output."
)


def files_options(drawn: str, page: str = "Write a self-contained page to publish.") -> Callable[[F], F]:
    """Add --json, --plot, which draws what is `drawn`, and --html, whose files a command receives as `files`."""

    def decorate(command: F) -> F:
        @functools.wraps(command)
        def with_files(*args: Any, **options: Any) -> object:
            files = Files(**{field: options.pop(field) for field in Files._fields if field in options})
            kept = options.get("checkpoint") or options.get("resume")
            files.check(kept, options.get("log"), options.get("load_path"), options.get("mdp_path"))
            return command(*args, files=files, **options)

        plot = click.option("--plot", "plot_path", metavar="FILE.png|.svg", help=drawn)
        html = click.option("--html", "html_path", metavar="FILE", help=page)
        return json_option(plot(html(with_files)))  # type: ignore[return-value]

    return decorate


def write_json(data: object, path: str) -> None:
    """Write JSON values to a file or, for `-`, to standard output."""
    write_text(json.dumps(data, indent=2) + "\n", path)


def write_text(text: str, path: str) -> None:
    """Write text to a file or, for `-`, to standard output. Raises: InputError if the file cannot be written."""
    if path == "-":
        sys.stdout.write(text)
    else:
        write_file(path, text.encode("utf-8", "replace"))  # names of files may not be UTF-8


# --- Captions of pictures and pages: the command that makes them.


# Options that do not change a result; those that hold tables choose what is printed.
UNSAID = {*Files._fields, "log", "checkpoint", "resume", "workers", "what", "echo", "out"}
MAY_BE_PATH = re.compile(r"FILE|CHART|BOT|\[,")  # metavars of options whose values may be paths, or lists of them


def given_command(seed: int | None = None, unsaid: Set[str] = UNSAID) -> str:
    """The command line with the options given and the `seed` used, without files to write, and without folders.

    A folder that tells two files with an ending apart stays.
    """
    context = click.get_current_context()
    words = ["bjsim", *context.command_path.split()[1:]]
    given: list[tuple[click.Parameter, str]] = []
    for parameter in context.command.params:
        name = str(parameter.name)
        if name not in unsaid and context.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            value = context.params[name]
            values = value if parameter.multiple or parameter.nargs == -1 else [value]
            given += [(parameter, getattr(parameter.type, "text", str)(each)) for each in values]
    short = short_names([source for parameter, text in given for _, source in _sources(parameter, text)])
    for parameter, text in given:
        if isinstance(parameter, click.Option) and parameter.is_flag:
            words.append(parameter.opts[0] if context.params[str(parameter.name)] else parameter.secondary_opts[0])
            continue
        parts = _sources(parameter, text)
        text = ",".join(head + (short[end] if Path(end).suffix else Path(end).name) for head, end in parts) or text
        text = without_folders(text) if (parameter.metavar or "").startswith("FIELD=V1") else text
        words += [parameter.opts[0], text] if isinstance(parameter, click.Option) else [as_argument(text)]
    if seed is not None and "--seed" not in words:
        words += ["--seed", str(seed)]
    return shlex.join(words)


def as_argument(text: str) -> str:
    """A file or folder as an argument of a command, where one that begins with a dash would be an option."""
    return f"./{text}" if text.startswith("-") and text != "-" else text


def _sources(parameter: click.Parameter, text: str) -> list[tuple[str, str]]:
    """The files that a value may name, each after its `NAME=`; a text may have counts such as 1/2."""
    metavar = parameter.metavar or ""
    if not MAY_BE_PATH.search(metavar) or ("TEXT" in metavar and not re.search(r"\.[A-Za-z]+$", text)):
        return []
    parts = text.split(",") if isinstance(getattr(parameter.type, "kind", 0), Names) else [text]
    names = [re.match(r"[^/\\=]+=", part) for part in parts]  # a folder may have the sign, too
    return [(name[0], part[name.end() :]) if name else ("", part) for name, part in zip(names, parts, strict=True)]


# --- `--vary` of `bjsim compare` and `bjsim count`.


def vary_option(about: str, others: Sequence[str] = ()) -> Callable[[F], F]:
    """Add --vary, for rules and `others`, whose texts a command receives as `varied`."""
    more = f", or vary {', '.join(others)}" if others else ""
    kind = Assigned("FIELD=V1,V2...", use=f"write FIELD=V1,V2 without blanks, such as cut=70%,80%{more}")
    varied = AskedType("vary", kind, lambda: [f"{name}=" for name in (*others, *RULE_FIELDS)])
    return click.option("--vary", "varied", multiple=True, type=varied, metavar=kind.metavar, help=about)


def parse_varied(varied: Sequence[str], others: Sequence[str] = ()) -> list[list[tuple[str, str]]]:
    """For each `--vary`, its name paired with each of its values.

    Texts are such as `das=true,false`; a semicolon separates values that have commas. `others` may vary besides
    rules.
    """
    axes = []
    owners = {name: name for name in others if is_given(name)}
    owners |= {field: name for name, (field, *_) in SHORT.items() if is_given(name)}
    for name, _, value in (text.partition("=") for text in click.get_current_context().params["settings"]):
        owners |= dict.fromkeys(expand_words([(name.strip(), value or "true")], RULE_FIELDS), name)
    for text in varied:
        name, _, values = text.partition("=")
        name = name.strip()
        axis = [(name, value.strip()) for value in values.split(";" if ";" in values else ",")]
        for field in [name] if name in others else dict.fromkeys(f for _, value in axis for f in _fields(name, value)):
            if field in owners:
                first = "" if owners[field] == name else f", first as {owners[field]}"
                raise InputError(f"--vary {name} is given twice{first}; give all its values at once, as {name}=V1,V2")
            owners[field] = name
        axes.append(axis)
    return axes


def _fields(name: str, value: str) -> list[str]:
    """The rules that a name, which may be a word of the trade, stands for. Raises: InputError."""
    fields = expand_words([(name, value)], RULE_FIELDS)
    for field, each in fields.items():
        parse_field(field, each)
    return [*fields]
