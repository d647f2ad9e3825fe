"""The languages that a bot may be written in: how one is recognised, compiled and started. A table of data."""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from bjsim.bots.protocol import printable, printable_lines
from bjsim.errors import InputError

INSIDE = Path(__file__).parent / "inside"


class BuildError(InputError):
    """A bot that cannot be made to run. log: all that the compiler or the interpreter said, for its author.

    Both may have been written by the bot, and are made fit to be printed.
    """

    def __init__(self, message: str, log: str = "") -> None:
        super().__init__(printable(message))
        self.log = printable_lines(log)


class NoToolchain(BuildError):
    """A language that cannot be compiled or run on this machine: no fault of the bot's."""


@dataclass(frozen=True)
class Program:
    """A bot that is ready to be put in a box.

    files: what lies in the box's folder, name -> content. cold: the command that plays one move; warm: one that
    starts a server which forks for every move (empty: there is none). binds: folders that the commands need.
    """

    name: str
    language: str
    files: Mapping[str, bytes]
    cold: tuple[str, ...]
    warm: tuple[str, ...] = ()
    binds: tuple[str, ...] = ()


@dataclass(frozen=True)
class Language:
    """One row of the table.

    tools: names of the program that compiles it or runs it, in the order they are tried; package: Debian's, that holds
    it. source: what the file is called when it is compiled. script: for sh, compiles the source in the working folder
    into "$OUT" with "$TOOL", with "$TMP" for what is thrown away, and says on stderr what is wrong. makes: what the
    compiled files are called, a regular expression.
    """

    name: str
    endings: tuple[str, ...]
    tools: tuple[str, ...]
    package: str
    source: str
    script: str = ""
    makes: str = ""
    extra: tuple[str, ...] = field(default=())  # files of `inside/` that the script needs


# Linked statically where that is possible: such a program starts sooner, and forks sooner. With the server of warm.c
# only where none of the program's own code can run in it: nothing but the usual sections, which leaves out
# .preinit_array, .interp and relocations of the program's making; no symbol that is chosen by running code (i); none
# that the C library or an empty program has too (where hidden ones are local: those with _ count), and would be called
# in its place; and no interpreter, which would run first.
_LINK = r"""
bot="$TMP/bot.o"
usual='^(\.rela?)?\.(text|data|bss|rodata|tdata|tbss|(init|fini)_array|[cd]tors|eh_frame|gcc_except_table|group'
usual="$usual|comment|note|debug_[a-z]*|llvm_addrsig|symtab|symtab_shndx|strtab|shstrtab)(\..*)?\$"
served() {
    echo 'int main(void) { return 0; }' > "$TMP/empty.c" && "$TOOL" -O2 -c warm.c -o "$TMP/warm.o" &&
    "$TOOL" -static -Wl,--wrap=main "$TMP/empty.c" "$TMP/warm.o" -o "$TMP/empty" &&
    "$TOOL" -static -Wl,--wrap=main "$bot" "$TMP/warm.o" -lm -o "$TMP/bot" &&
    readelf -SW "$bot" > "$TMP/sections" && readelf -lW "$TMP/bot" > "$TMP/segments" &&
    nm "$bot" > "$TMP/symbols" && nm -g --defined-only "$bot" > "$TMP/own" &&
    nm "$TMP/empty" > "$TMP/all" && grep ' _[^ ]*$' "$TMP/all" > "$TMP/libc" && nm -g "$TMP/empty" >> "$TMP/libc" &&
    nm -g --defined-only "$("$TOOL" -print-file-name=libc.a)" >> "$TMP/libc" &&
    ! sed -n 's/^ *\[ *[0-9]*\] \([^ ]\+\).*/\1/p' "$TMP/sections" | grep -Evq "$usual" &&
    ! grep -q ' i ' "$TMP/symbols" && ! grep -q INTERP "$TMP/segments" &&
    awk '{ sub(/@.*/, "") } NR == FNR { own[$NF]; next } $NF in own' "$TMP/own" "$TMP/libc" > "$TMP/both" &&
    test "$(sed 's/.* //' "$TMP/both")" = main
}
if served 2>/dev/null; then
    mv "$TMP/bot" "$OUT/bot"
else
    "$TOOL" -static "$bot" -lm -o "$OUT/cold" 2>/dev/null || "$TOOL" "$bot" -lm -o "$OUT/cold"
fi
"""
_JAVA_SMALL = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:-UsePerfData")

LANGUAGES = (
    Language("python", (".py",), ("python3",), "python3", "bot.py"),
    Language(
        "c", (".c",), ("cc", "gcc", "clang"), "gcc", "bot.c",
        '"$TOOL" -O2 -Wno-error=implicit-function-declaration -c bot.c -o "$TMP/bot.o"' + _LINK,
        "bot|cold", ("warm.c",),
    ),
    Language(
        "c++", (".cpp", ".cc", ".cxx"), ("c++", "g++", "clang++"), "g++", "bot.cpp",
        '"$TOOL" -O2 -c bot.cpp -o "$TMP/bot.o"' + _LINK, "bot|cold", ("warm.c",),
    ),
    Language(
        "java", (".java",), ("javac",), "default-jdk-headless", "Main.java",
        '"$TOOL" -J-Xmx256m -J-XX:+UseSerialGC -J-XX:-UsePerfData -d "$OUT" *.java', r"(\w+/)*[\w$]+\.class",
    ),
    Language(
        "lisp", (".lisp", ".lsp", ".cl"), ("sbcl",), "sbcl", "bot.lisp",
        '"$TOOL" --dynamic-space-size 512 --noinform --non-interactive --no-sysinit --no-userinit --eval '
        '"(unless (compile-file \\"bot.lisp\\" :output-file \\"$OUT/bot.fasl\\") (exit :code 1))" >&2', r"bot\.fasl",
    ),
)  # fmt: skip
ENDINGS = {ending: language for language in LANGUAGES for ending in language.endings}


def language_of(path: Path) -> Language | None:
    """The language of the bot's file, by its ending or its first line; None for a program that runs as it is.

    Raises: BuildError for a file that is neither.
    """
    if path.suffix.lower() in ENDINGS:
        return ENDINGS[path.suffix.lower()]
    with path.open("rb") as file:
        first = file.readline(256)
    if re.match(rb"#!.*\bpython[0-9.]*\b", first):
        return ENDINGS[".py"]
    if not os.access(path, os.X_OK):
        raise BuildError(
            f"{path}: neither a file that ends in {', '.join(ENDINGS)} nor an executable one (chmod +x makes it one)"
        )
    return None


@cache
def tool_of(language: Language) -> str:
    """The real path of the program that compiles the language or runs it. Raises: BuildError naming the package.

    The real path, because what is first on the PATH may be a slow shim that the box does not hold.
    """
    from bjsim.bots.sandbox import restrictions  # needs Linux

    found = [path for name in language.tools if (path := shutil.which(name))]
    if language.name == "python":
        found = [getattr(sys, "_base_executable", "") or sys.executable, *found, "/usr/bin/python3"]
    for path in found:
        if restrictions.readable(path):
            return os.path.realpath(path)
    where = f" that user {restrictions.NOBODY} can read" if found and os.geteuid() == 0 else ""
    install = f"on Debian and Ubuntu: apt install {language.package}"
    raise NoToolchain(f"a bot in {language.name} needs {language.tools[0]}{where} ({install})")


# Where an installed tool keeps what it needs; conf is a JDK's, jre that of an old one, the last a cross compiler's.
PARTS = ("bin", "conf", "include", "jre", "lib", "lib32", "lib64", "libexec", "share", "*-*-linux-gnu")


def binds_of(tool: str) -> tuple[str, ...]:
    """What a tool needs beside /usr: parts of the folder that it is installed in, or the tool alone if it lies loose.

    Never that folder itself: it may be someone's home.
    """
    folder = Path(tool).parent
    if folder.is_relative_to("/usr") or folder == Path("/bin"):
        return ()
    if folder.name != "bin":
        return (tool,)
    return tuple(str(part) for name in PARTS for part in folder.parent.glob(name) if part.is_dir())


def java_source_name(source: bytes, stem: str) -> str:
    """What javac wants a source file to be called: its public class decides."""
    public = re.search(rb"^\s*public\s+(?:final\s+|abstract\s+)*(?:class|record|enum|interface)\s+(\w+)", source, re.M)
    if public:
        return public[1].decode() + ".java"
    return (stem if stem.isidentifier() else "Main") + ".java"


def java_main_class(name: str, files: Mapping[str, bytes]) -> str:
    """The class that has a `main`. Raises: BuildError when none or several have one."""
    mains = [
        file.removesuffix(".class").replace("/", ".")
        for file, content in files.items()
        if b"\x04main" in content and b"([Ljava/lang/String;)V" in content
    ]
    if len(mains) != 1:
        raise BuildError(f"{name} must have one class with a main method; found {', '.join(mains) or 'none'}")
    return mains[0]


def program_of(name: str, language: Language, files: Mapping[str, bytes]) -> Program:
    """The program made of a language's compiled files (or, for Python, of its source)."""
    tool = tool_of(language)
    binds = binds_of(tool)
    if language.name == "python":
        files = {**files, "warm.py": (INSIDE / "warm.py").read_bytes()}
        return Program(name, "python", files, (tool, "bot.py"), (tool, "warm.py", "bot.py"), binds)
    if language.name == "java":
        java = str(Path(tool).with_name("java"))
        main = java_main_class(name, files)
        return Program(name, "java", files, (java, *_JAVA_SMALL, "-Xmx64m", "-cp", ".", main), binds=binds)
    if language.name == "lisp":
        return Program(name, "lisp", files, (tool, "--dynamic-space-size", "128", "--script", "bot.fasl"), binds=binds)
    command = tuple(f"./{file}" for file in files)
    return Program(name, language.name, files, command, command if "bot" in files else ())
