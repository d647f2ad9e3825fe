"""The languages that bots may be written in: a row of a table for each, and how a file's language is recognised.

To add a language, add a row to LANGUAGES, and put the sample bot `samples/lim17` with the language's first ending next
to the others. Commands, messages, tests and `.ci/run` read the rest from the row.
"""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from bjsim.bots.sandbox import inside
from bjsim.errors import InputError, printable, printable_lines

Files = Mapping[str, bytes]
# Subfolders of an installed tool's folder that it may need. A JDK has conf, an old one jre, a cross compiler the last.
# Not share, which no language needs: that of ~/.local holds the user's data.
TOOL_FOLDERS = ("bin", "conf", "include", "jre", "lib", "lib32", "lib64", "libexec", "*-*-linux-gnu")
PATH = "/usr/local/bin:/usr/bin:/bin"  # of the sandbox
# Programs that others are links to, and that do what the name of the link says, which is lost when it is resolved.
WRAPPERS = ("ccache", "distcc", "icecc", "mise", "snap", "volta-shim")


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
    name: str
    language: str  # a `Language.name`, or `executable`
    files: Files  # name -> content, placed in the bot's folder in the sandbox
    command: tuple[str, ...]  # runs the program for one move (exec mode)
    server: tuple[str, ...] = ()  # starts a fork server; empty if the language has none
    binds: tuple[str, ...] = ()  # folders of the host that the commands need besides /usr
    protocol: str = "argv"
    random: bool = False  # whether it says that it may answer the same question in two ways


# --- what a row cannot say in words


def own_interpreter(found: Sequence[str]) -> list[str]:
    """The interpreter that runs bjsim first, where the sandbox's user can read it."""
    own = getattr(sys, "_base_executable", "") or sys.executable  # not that of a virtual environment
    return [own, *found, "/usr/bin/python3"]


def rust_compilers(found: Sequence[str]) -> list[str]:
    """The compilers themselves: `rustc` may be a link to rustup, which chooses one by its name, or has none."""
    paths = (*found, *filter(os.path.exists, ["/usr/bin/rustc"]))
    asked = [run_tool(path, "--print", "sysroot") for path in paths]
    return [f"{done.stdout.strip()}/bin/rustc" for done in asked if done.returncode == 0]


def run_tool(*words: str) -> subprocess.CompletedProcess[str]:
    """Run a tool outside the sandbox, in /: rustup and go obey files of the current folder, maybe a stranger's."""
    return subprocess.run(words, capture_output=True, text=True, stdin=subprocess.DEVNULL, cwd="/")


def java_source(source: bytes, stem: str) -> str:
    """The file name that javac requires: that of the public class, if there is one."""
    kinds = r"(?:(?:final|abstract|sealed|non-sealed|strictfp)\s+)*(?:class|record|enum|interface)"
    if public := re.search(rf"^\s*public\s+{kinds}\s+(\w+)", source.decode("utf-8", "replace"), re.M):
        return public[1] + ".java"
    return (stem if stem.isidentifier() else "Main") + ".java"


def java_main(name: str, files: Files) -> str:
    """The class with a `main` method. Raises: BuildError if not exactly one class has one."""
    mains = [
        file.removesuffix(".class").replace("/", ".")
        for file, content in files.items()
        if b"\x04main" in content and b"([Ljava/lang/String;)V" in content
    ]
    if len(mains) != 1:
        raise BuildError(f"{name} must have one class with a main method; found {', '.join(mains) or 'none'}")
    return mains[0]


@dataclass(frozen=True)
class Language:
    name: str  # the name in commands and results
    endings: tuple[str, ...]  # file name endings in lower case; the first is that of the sample bot `samples/lim17`
    tools: tuple[str, ...]  # names of the compiler or interpreter, in the order of preference
    package: str  # the Debian package of the first tool. `.ci/run` reads it here and installs it.
    # the name of the source in the sandbox; or a function of the source and of the stem of its file's name
    source: str | Callable[[bytes, str], str]
    # the words of the command for one move. {tool} is the tool, {folder} its folder, and {main} what `main` finds.
    run: tuple[str, ...]
    # compiles the source in the working folder into "$OUT" with "$TOOL". A shell script, which may write temporary
    # files to "$TMP" and reports errors on stderr. Empty for a language that is not compiled.
    script: str = ""
    makes: str = "bot"  # a regular expression for the names of the compiled files
    # an option with which the tool prints its version. Bots are compiled anew when that changes.
    version: str = "--version"
    # how many times as many hands a second a line bot plays, if starting for each move is slow; else 0
    line_gain: int = 0
    server: str = ""  # a program of `sandbox/inside` that the tool runs as a fork server, or ""
    find: Callable[[Sequence[str]], list[str]] = list  # the paths of the tools to try, from those on the PATH
    # what stands for {main}, from the bot's name and its files, which are compiled
    main: Callable[[str, Files], str] | None = None

    def find_tools(self) -> list[str]:
        """Paths of the tools that are installed, in the order of preference."""
        places = os.environ.get("PATH", os.defpath).split(os.pathsep)
        found = [path for name in self.tools for place in places if (path := shutil.which(name, path=place))]
        real = [path for path in found if os.path.basename(os.path.realpath(path)) not in WRAPPERS]
        return self.find(list(dict.fromkeys(map(os.path.abspath, real))))

    def need_tools(self, name: str) -> str:
        """Where that is which the bot of this name needs, or what it runs. Raises: MissingToolchain."""
        return find_tool(self)

    def make_program(self, name: str, files: Files) -> Program:
        """The program made from these files: name -> content, compiled, or of the source if nothing is compiled.

        Raises: BuildError, MissingToolchain.
        """
        tool = find_tool(self)
        command = self.command(tool, name, files)
        # A folder's author says what runs it: a name on the PATH is bound, but not a path, which may be any file's.
        binds = (*find_binds(tool), *(() if "/" in self.run[0] else find_binds(command[0])))
        program = Program(name, self.name, files, command, binds=binds)
        if not self.server:
            return program
        path = f".server/{self.server}"  # Python imports from this folder, in which no bot can have files
        server = (tool, path, *program.command[1:])
        return replace(program, files={**files, path: inside.source(self.server)}, server=server)

    def command(self, tool: str, name: str, files: Files) -> tuple[str, ...]:
        main = self.main(name, files) if self.main else ""
        return tuple(word.format(tool=tool, folder=os.path.dirname(tool), main=main) for word in self.run)


class Custom(Language):
    """Any language: compiled by `build`, a shell script that fills "$OUT" ("" for none), and run by these words."""

    def __init__(self, build: str, run: tuple[str, ...]) -> None:
        makes = r"[\w+-][\w.+-]*(/[\w+-][\w.+-]*)*"
        super().__init__("custom", (), ("sh",), package="dash", source="", run=run, script=build, makes=makes)

    def need_tools(self, name: str) -> str:
        super().need_tools(name)
        self.command("", name, {})
        return f"{name} runs {self.run[0]}"

    def command(self, tool: str, name: str, files: Files) -> tuple[str, ...]:
        program = self.run[0]
        found = program if "/" in program else shutil.which(program, path=PATH)
        if not found:
            raise MissingToolchain(f"{name} runs {program}, which is not installed in {PATH.replace(':', ', ')}")
        return (os.path.realpath(found) if os.path.isabs(found) else found, *self.run[1:])


# Statically linked programs start faster, so static linking is tried first.
_LINK = '\n"$TOOL" -static "$TMP/bot.o" -lm -o "$OUT/bot" 2>/dev/null || "$TOOL" "$TMP/bot.o" -lm -o "$OUT/bot"'
LANGUAGES = (
    Language("python", (".py",), ("python3",), package="python3", source="bot.py", run=("{tool}", "bot.py"),
             server="fork_server.py", find=own_interpreter),
    Language("c", (".c",), ("cc", "gcc", "clang"), package="gcc", source="bot.c", run=("./bot",),
             script='"$TOOL" -O2 -Wno-error=implicit-function-declaration -c bot.c -o "$TMP/bot.o"' + _LINK),
    Language("c++", (".cpp", ".cc", ".cxx"), ("c++", "g++", "clang++"), package="g++", source="bot.cpp",
             run=("./bot",), script='"$TOOL" -O2 -c bot.cpp -o "$TMP/bot.o"' + _LINK),
    Language("java", (".java",), ("javac",), package="default-jdk-headless", source=java_source, main=java_main,
             script='"$TOOL" -J-Xmx256m -J-XX:+UseSerialGC -J-XX:-UsePerfData -d "$OUT" *.java',
             makes=r"(\w+/)*[\w$]+\.class", line_gain=150,
             run=("{folder}/java", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:-UsePerfData", "-Xmx64m",
                  "-cp", ".", "{main}")),
    Language("lisp", (".lisp", ".lsp", ".cl"), ("sbcl",), package="sbcl", source="bot.lisp",
             script='"$TOOL" --dynamic-space-size 512 --noinform --non-interactive --no-sysinit --no-userinit --eval '
                    '"(unless (compile-file \\"bot.lisp\\" :output-file \\"$OUT/bot.fasl\\") (exit :code 1))" >&2',
             makes=r"bot\.fasl", line_gain=24, run=("{tool}", "--dynamic-space-size", "128", "--script", "bot.fasl")),
    Language("javascript", (".js",), ("node", "nodejs"), package="nodejs", source="bot.js",
             script='"$TOOL" --check bot.js\ncp bot.js "$OUT"', makes=r"bot\.js", line_gain=150,
             run=("{tool}", "--v8-pool-size=0", "--max-old-space-size=128", "bot.js")),
    Language("go", (".go",), ("go",), package="golang-go", source="bot.go", run=("./bot",), version="version",
             script='export HOME="$TMP" GOCACHE="$TMP/cache" GOPATH="$TMP/path" GOTOOLCHAIN=local GOPROXY=off '
                    'GO111MODULE=off CGO_ENABLED=0 && "$TOOL" build -p 2 -trimpath -ldflags=-s -o "$OUT/bot" bot.go'),
    Language("rust", (".rs",), ("rustc",), package="rustc", source="bot.rs", run=("./bot",), find=rust_compilers,
             script='"$TOOL" --edition 2021 -O -C strip=symbols -C codegen-units=1 -o "$OUT/bot" bot.rs'),
)  # fmt: skip
ENDINGS = {ending: language for language in LANGUAGES for ending in language.endings}


def find_language(path: Path, content: bytes, executable: bool) -> Language | None:
    """The language of a file, from its ending or its first line; None for an executable that is run as it is."""
    if path.suffix.lower() in ENDINGS:
        return ENDINGS[path.suffix.lower()]
    if re.match(rb"#!.*\bpython[0-9.]*\b", content[:256]):
        return ENDINGS[".py"]
    if not executable:
        raise BuildError(
            f"{path}: neither a file that ends in {', '.join(ENDINGS)} nor an executable one (chmod +x makes it one)"
        )
    return None


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


def find_tools(language: Language, name: str = "") -> tuple[bool, str]:
    """Whether what a language's bot, perhaps of this name, needs is installed, and where it is or what is missing."""
    try:
        return True, language.need_tools(name)
    except MissingToolchain as missing:
        return False, str(missing).partition(" (")[0]
