"""The interface of a language of bots (`Language`), and the result of building a bot (`Program`)."""

from __future__ import annotations

import os
import shutil
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from bjsim.bots.protocol import printable, printable_lines
from bjsim.errors import InputError

# Subfolders of an installed tool's folder that it may need. A JDK has conf, an old one jre, a cross compiler the last.
TOOL_FOLDERS = ("bin", "conf", "include", "jre", "lib", "lib32", "lib64", "libexec", "share", "*-*-linux-gnu")


class BuildError(InputError):
    """A bot that cannot be compiled or loaded; `log` is the full output of the compiler, for its author.

    The bot may have written both texts, so control characters in them are replaced.
    """

    def __init__(self, message: str, log: str = "") -> None:
        super().__init__(printable(message))
        self.log = printable_lines(log)


class MissingToolchain(BuildError):
    """The machine has no compiler or interpreter for the bot's language. This is not a fault of the bot."""


@dataclass(frozen=True)
class Program:
    """A bot that is ready to run in a sandbox.

    Attributes:
        language: a `Language.name`, or `executable`.
        files: name -> content, placed in the bot's folder in the sandbox.
        command: runs the program for one move (exec mode).
        server: starts a fork server; empty if the language has none.
        binds: folders of the host that the commands need besides /usr.
        random: whether it says that it may answer the same question in two ways.
    """

    name: str
    language: str
    files: Mapping[str, bytes]
    command: tuple[str, ...]
    server: tuple[str, ...] = ()
    binds: tuple[str, ...] = ()
    protocol: str = "argv"
    random: bool = False


@dataclass(frozen=True)
class Commands:
    """How to run the compiled files: `Program.command` and `Program.server`, and further files that these need."""

    command: tuple[str, ...]
    server: tuple[str, ...] = ()
    files: Mapping[str, bytes] | None = None


class Language(ABC):
    """A language that bots may be written in.

    Attributes:
        name: the name in commands and results.
        endings: file name endings in lower case; the first is that of the sample bot `samples/lim17`.
        tools: names of the compiler or interpreter, in the order of preference.
        package: the Debian package of the first tool. `.ci/run` reads this line and installs the package.
        script: compiles the source in the working folder into "$OUT" with "$TOOL". A shell script, which may write
            temporary files to "$TMP" and reports errors on stderr. Empty for a language that is not compiled.
        makes: a regular expression for the names of the compiled files.
        line_gain: how many times as many hands a second a line bot plays, if starting for each move is slow; else
            0.
    """

    name: str
    endings: tuple[str, ...]
    tools: tuple[str, ...]
    package: str
    script: str = ""
    makes: str = ""
    line_gain: int = 0

    @abstractmethod
    def source_name(self, source: bytes, stem: str) -> str:
        """The name that the source must have in the sandbox; stem: that of the bot's file."""

    @abstractmethod
    def commands(self, tool: str, name: str, files: Mapping[str, bytes]) -> Commands:
        """How to run a bot from its files: name -> content, compiled, or of the source if nothing is compiled."""

    def find_tools(self) -> list[str]:
        """Paths of the tools that are installed, in the order of preference."""
        return [path for name in self.tools if (path := shutil.which(name))]

    def need_tools(self, name: str) -> None:
        """Check that what the bot of this name needs is installed. Raises: MissingToolchain."""
        find_tool(self)

    def make_program(self, name: str, files: Mapping[str, bytes]) -> Program:
        """The program made from these files; arguments and errors as in `commands`, and MissingToolchain."""
        tool = find_tool(self)
        run = self.commands(tool, name, files)
        return Program(name, self.name, {**files, **(run.files or {})}, run.command, run.server, find_binds(tool))


@cache
def find_tool(language: Language) -> str:
    """The real path of the language's compiler or interpreter.

    The first entry on the PATH may be a slow wrapper that does not exist in the sandbox, so links are resolved. A
    MissingToolchain names the package, also if the sandbox's user can read none.
    """
    from bjsim.bots.sandbox import restrictions  # needs Linux

    paths = language.find_tools()
    for path in paths:
        if restrictions.readable(path):
            return os.path.realpath(path)
    where = f" that user {restrictions.SANDBOX_USER} can read" if paths and os.geteuid() == 0 else ""
    install = f"on Debian and Ubuntu: apt install {language.package}"
    raise MissingToolchain(f"a bot in {language.name} needs {language.tools[0]}{where} ({install})")


def find_binds(tool: str) -> tuple[str, ...]:
    """Folders of the host that a tool needs besides /usr: subfolders of its installation, or the tool's file alone.

    The whole installation folder is never included, because it may be a home folder.
    """
    folder = Path(tool).parent
    if folder.is_relative_to("/usr") or folder == Path("/bin"):
        return ()
    if folder.name != "bin":
        return (tool,)
    return tuple(str(part) for name in TOOL_FOLDERS for part in folder.parent.glob(name) if part.is_dir())
