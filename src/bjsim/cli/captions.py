"""Captions of pictures and pages: the command that makes them."""

import shlex
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import click
from click.core import ParameterSource

from bjsim.cli.written import Files
from bjsim.run_result import RunResult

# Options that do not change a result; those that hold tables choose what is printed.
UNSAID = {*Files._fields, "log", "checkpoint", "resume", "workers", "what", "echo"}
FILES = (
    "rules_name",
    "mdp_path",
    "chart",
    "names",
    "bots",
    "system",
    "indices",
    "load_path",
)  # options whose values may be paths


def given_command(seed: int | None = None) -> str:
    """The command line with the options given and the `seed` used, without files to write, and without folders."""
    context = click.get_current_context()
    words = context.command_path.split()
    words[0] = "bjsim"
    for parameter in context.command.params:
        name = str(parameter.name)
        if name in UNSAID or context.get_parameter_source(name) is not ParameterSource.COMMANDLINE:
            continue
        given = context.params[name]
        if isinstance(parameter, click.Option) and parameter.is_flag:
            words.append(parameter.opts[0] if given else parameter.secondary_opts[0])
            continue
        for value in given if parameter.multiple else [given]:
            words += [*([parameter.opts[0]] if isinstance(parameter, click.Option) else []), _text(parameter, value)]
    if seed is not None and "--seed" not in words:
        words += ["--seed", str(seed)]
    return shlex.join(words)


def _text(parameter: click.Parameter, value: object) -> str:
    """A value as it is given on the command line, without folders."""
    text: str = getattr(parameter.type, "text", str)(value)
    if parameter.name in FILES:
        text = ",".join(Path(part).name for part in text.split(","))
    return text


def without_folders(text: str, names: Iterable[str]) -> str:
    """A text with paths shortened to file names."""
    for name in names:
        text = text.replace(name, Path(name).name)
    return text


def published(result: RunResult) -> RunResult:
    """A result with paths shortened to file names."""
    names = [one.name for one in result]
    results = tuple(replace(one, name=Path(one.name).name) for one in result)
    missing = tuple(
        ": ".join([Path(name).name, why]) for name, _, why in (line.partition(": ") for line in result.missing)
    )
    return replace(result, results=results, missing=missing, failure=without_folders(result.failure, names))


def decimals(value: float, places: int) -> str:
    """Format a number without the zero before its point, and too small a one as a limit: `.05`, `<.01`."""
    small = 0 < value < 0.5 * 10.0**-places
    text = f"{10.0**-places if small else value:.{places}f}"
    return "<" * small + (text.removeprefix("0") if value else "0")
