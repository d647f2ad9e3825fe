"""Options for the files that a command writes, and the writing of text and JSON."""

import json
import os
import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple, TypeVar

import click

from bjsim.arguments import check_writable
from bjsim.errors import InputError
from bjsim.json_values import json_values

Command = TypeVar("Command", bound=Callable[..., object])


class Files(NamedTuple):
    """The files that a command is asked to write; of those that it has no option for, None."""

    json_path: str | None
    plot_path: str | None
    html_path: str | None = None
    fix_path: str | None = None
    save_path: str | None = None
    fan_path: str | None = None

    def check(self) -> None:
        """Raises: InputError: One of them cannot be written, before anything that takes time."""
        for option, path in (("--plot", self.plot_path), ("--fan", self.fan_path)):
            if path and Path(path).suffix.lower() not in (".png", ".svg"):
                raise InputError(f"{option} {path} is not accepted; the file must end in .png or .svg")
            if path:
                need_matplotlib(option)
        if self.html_path == "-":
            raise InputError("--html - is not accepted; give the name of a file")
        for path in self:
            check_writable(path)

    @property
    def quiet(self) -> bool:
        """Whether standard output is for a file alone."""
        return "-" in (self.json_path, self.fix_path)


json_option = click.option(
    "--json", "json_path", metavar="FILE|-", help="Write the result as JSON; - for standard output."
)
html_option = click.option("--html", "html_path", metavar="FILE", help="Write a self-contained page to publish.")


def need_matplotlib(option: str) -> None:
    """Raises: InputError: A picture is asked for, and what draws it is not installed."""
    if find_spec("matplotlib") is None:
        raise InputError(f"{option} needs the package matplotlib: pip install matplotlib")


def plot_option(what: str) -> Callable[[Command], Command]:
    return click.option("--plot", "plot_path", metavar="FILE.png|.svg", help=what)


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
        if os.path.isfile(path):  # half of it
            os.remove(path)
        raise InputError(f"cannot write {path}: {error.strerror}") from None
