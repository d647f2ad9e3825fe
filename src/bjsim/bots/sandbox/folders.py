"""A bot as it lies on disk, read once: a file, or a folder with a `bot.toml` that says how its files are played."""

import hashlib
import os
import re
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath
from typing import Any

from bjsim.bots.protocol import PROTOCOLS
from bjsim.bots.sandbox.languages import ENDINGS, BuildError, Custom, Language, find_language
from bjsim.errors import printable
from bjsim.files import open_file, parse_toml, read_up_to

# --- Reading bots' files, which come from strangers: limits on their size, their names and their number.
#
# A stranger may exchange a file, or a folder above it, for a symbolic link at any time. So each part of a path is
# opened from the folder before it, without following links, and only the open file is examined.


MAX_SOURCE = 1 << 20  # bytes of a source
DECLARED = 10  # lines of a file in which it may declare its protocol
MAX_PROGRAM = 1 << 26  # bytes of an executable
MAX_ENTRIES = 2000  # files and folders in a bot's folder
MAX_DEPTH = 16  # folders above a file in it
Parts = tuple[str, ...]  # of a path below a folder


@contextmanager
def open_folder(path: str | Path, inner: Sequence[str] = ()) -> Iterator[int]:
    """Open a folder, and from it one inner folder after another; none may be a symbolic link. Raises: OSError."""
    flags = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0)
    folder = os.open(path, flags)
    try:
        for name in inner:
            above, folder = folder, os.open(name, flags, dir_fd=folder)
            os.close(above)
        yield folder
    finally:
        os.close(folder)


def list_files(folder: Path) -> list[Parts]:
    """The files and links in a folder and its folders, in order, not hidden; too many are a ValueError."""
    files: list[Parts] = []
    folders: list[Parts] = [()]
    entries = 0
    while folders:
        above = folders.pop()
        with open_folder(folder, above) as opened, os.scandir(opened) as found:
            for entry in found:
                entries += 1
                if entries > MAX_ENTRIES:
                    raise ValueError(f"is in a folder of more than {MAX_ENTRIES} files and folders")
                if entry.name.startswith(".") or entry.name == "__pycache__":
                    continue
                if entry.is_dir(follow_symlinks=False):
                    if len(above) == MAX_DEPTH:
                        raise ValueError(f"is in a folder with more than {MAX_DEPTH} folders inside each other")
                    folders.append((*above, entry.name))
                elif entry.is_symlink() or entry.is_file(follow_symlinks=False):
                    files.append((*above, entry.name))
    return sorted(files)


def read_protocol(content: bytes) -> str:
    """The protocol that a bot's file declares: `line` if the words `bjsim: line 1` are in its first ten lines."""
    first = content.split(b"\n", DECLARED)[:DECLARED]
    return "line" if any(re.search(rb"\bbjsim: line 1\b", text) for text in first) else "argv"


def check_name(path: Path, folder: Path | None = None) -> None:
    """Check that a file's name (and folders in the bot's `folder`) is safe to print, and to use in a list of bots.

    A BuildError is a colon (which separates a Python file from a name in it), a control character or bytes that
    are not UTF-8, or a symbolic link, which may point to a file that must not be published.
    """
    shown = printable(str(path))
    names = str(path.relative_to(folder)) if folder else path.name
    if not names.isprintable() or ":" in names:
        raise BuildError(f"the file name {shown} has a colon or a control character, or is not UTF-8; rename it")
    if path.is_symlink():
        raise BuildError(f"{shown} is a symbolic link; give the file itself")


MANIFEST = "bot.toml"
MAX_MANIFEST = 1 << 16  # bytes
MAX_FOLDER = 1 << 26  # bytes of all files together
MAX_FILES = 100  # each is a descriptor while a sandbox opens
KEYS = ("name", "author", "version", "protocol", "build", "run", "files", "random")  # the first six are texts
LONGEST = {"name": 40, "author": 200, "version": 200, "run": 1000, "build": 10_000}  # characters


@dataclass(frozen=True)
class BotSource:
    name: str
    language: Language | None  # how it is compiled and run; None for a program that is run as it is
    main: str  # the name of the source or program, or "" if the manifest says how to run the bot
    files: Mapping[str, bytes]  # name -> content of all files, without the manifest
    sha256: str  # hash of the file, or of the manifest and all files
    protocol: str
    random: bool = False  # whether it may answer the same question in two ways
    author: str = ""


def is_bot_folder(path: Path) -> bool:
    try:
        return path.is_dir() and (path / MANIFEST).is_file()
    except OSError:
        return False


def read_bot(path: Path, *, links: bool = False) -> BotSource:
    """Read a bot's file or folder; with `links` a file, but nothing in a folder, may be a symbolic link."""
    if not is_bot_folder(path):
        return single_file(path, *read_file(path, links=links))
    try:
        return _read_folder(path)
    except OSError as error:
        raise BuildError(f"{path}: {error.strerror}") from None


def read_file(path: Path, *, links: bool = False) -> tuple[bytes, bool]:
    """Read a file (a symbolic link only with `links`): its content, and whether it may be executed."""
    try:
        with open_file(path, links=links) as file:
            executable = bool(os.fstat(file.fileno()).st_mode & 0o111)
            program = executable and path.suffix.lower() not in ENDINGS
            limit = MAX_PROGRAM if program else MAX_SOURCE
            content = read_up_to(file, limit)
    except OSError as error:
        raise BuildError(f"{path}: {error.strerror}") from None
    if content is None:
        kind = "program" if program else "source"
        raise BuildError(f"{path} is larger than {limit >> 20} MiB, the limit for a {kind}")
    return content, executable


def single_file(path: Path, content: bytes, executable: bool) -> BotSource:
    """The bot in a file of this content. executable: whether it may be executed. Raises: BuildError if it is none."""
    language = find_language(path, content, executable)
    digest = hashlib.sha256(content).hexdigest()
    return BotSource(path.stem, language, path.name, {path.name: content}, digest, read_protocol(content))


def _read_folder(path: Path) -> BotSource:
    if not hasattr(os, "O_NOFOLLOW"):
        raise BuildError(f"{path} is a folder, and such bots need Linux")
    check_name(path)
    try:
        with open_folder(path) as folder, open_file(MANIFEST, folder, links=False) as file:
            manifest = read_up_to(file, MAX_MANIFEST)
        if manifest is None:
            raise ValueError(f"is larger than {MAX_MANIFEST >> 10} KiB")
        values = parse_toml(manifest)
        _check_values(values)
        files = _read_files(path, _patterns(values))
        language, main = _language(values.get("build", ""), values.get("run", ""), files)
        protocol = values.get("protocol") or read_protocol(files.get(main, b""))
        if protocol not in PROTOCOLS:
            raise ValueError(f"protocol = {protocol!r} is not accepted; use {' or '.join(PROTOCOLS)}")
    except BuildError:
        raise
    except ValueError as error:
        raise BuildError(f"{path / MANIFEST} {error}") from None
    digest = hashlib.sha256()
    for name, content in {MANIFEST: manifest, **files}.items():
        digest.update(f"{name}\0{len(content)}\0".encode() + content)
    name = values.get("name", "").strip() or os.path.basename(os.path.abspath(path))  # not . or ..
    random, author = values.get("random", False), values.get("author", "").strip()
    return BotSource(name, language, main, files, digest.hexdigest(), protocol, random, author)


def _check_values(values: Mapping[str, Any]) -> None:
    unknown = [key for key in values if key not in KEYS]
    if unknown:
        raise ValueError(f"has an unknown key {unknown[0]!r}; the keys are {', '.join(KEYS)}")
    for key in KEYS[:6]:
        if not isinstance(values.get(key, ""), str):
            raise ValueError(f"{key} = {values[key]!r} is not accepted; use text")
    for key, longest in LONGEST.items():
        if len(values.get(key, "")) > longest:
            raise ValueError(f"{key} is not accepted; use at most {longest} characters")
    if not isinstance(values.get("random", False), bool):
        raise ValueError("random is not accepted; use true or false")


def _patterns(values: Mapping[str, Any]) -> list[Parts]:
    patterns = values.get("files", ["**/*"])
    if not isinstance(patterns, list) or not all(isinstance(pattern, str) and pattern for pattern in patterns):
        raise ValueError("files is not accepted; use a list of names or patterns, such as *.py")
    if len(patterns) > MAX_FILES:
        raise ValueError(f"files is not accepted; use at most {MAX_FILES} names and patterns")
    for pattern in patterns:
        parts = PurePosixPath(pattern).parts
        if "/" in parts or ".." in parts:
            raise ValueError(f"names {pattern}, which leads out of the folder")
        if parts.count("**") > 1:
            raise ValueError(f"files: {pattern!r} is not accepted; use ** at most once")
    return [PurePosixPath(pattern).parts for pattern in patterns]


def _read_files(folder: Path, patterns: Sequence[Parts]) -> dict[str, bytes]:
    """The files that the patterns name, in order of their names; none of them hidden, and no link."""
    files: dict[str, bytes] = {}
    left = MAX_FOLDER
    found = (file for file in list_files(folder) if file != (MANIFEST,) and any(_matches(file, p) for p in patterns))
    for *inner, name in found:
        path = Path(folder, *inner, name)
        check_name(path, folder)
        with open_folder(folder, inner) as opened, open_file(name, opened, links=False) as file:
            content = read_up_to(file, left)
        if content is None:
            raise ValueError(f"names files of more than {MAX_FOLDER >> 20} MiB")
        left -= len(content)
        files["/".join([*inner, name])] = content
        if len(files) > MAX_FILES:
            raise ValueError(f"names more than {MAX_FILES} files")
    return files


def _matches(file: Parts, pattern: Parts) -> bool:
    """Whether a pattern names the file; `**` in it stands for any number of folders."""
    if "**" in pattern:
        at = pattern.index("**")
        pattern = (*pattern[:at], *["*"] * (len(file) - len(pattern) + 1), *pattern[at + 1 :])
    return len(file) == len(pattern) and all(map(fnmatchcase, file, pattern))


def _language(build: str, run: str, files: Mapping[str, bytes]) -> tuple[Language, str]:
    if run:
        return Custom(build, _words(run)), ""
    if build:
        raise ValueError("has build without run, the command that starts the bot")
    mains = [name for name in files if re.fullmatch(r"bot\.[^/]*", name) and Path(name).suffix.lower() in ENDINGS]
    if len(mains) != 1:
        raise ValueError("has no run, the command that starts the bot; without it, one file must be called bot.py, ...")
    return ENDINGS[Path(mains[0]).suffix.lower()], mains[0]


def _words(run: str) -> tuple[str, ...]:
    try:
        words = tuple(shlex.split(run))
    except ValueError as error:
        raise ValueError(f"run = {run!r} is not accepted: {error}") from None
    if not words or not words[0] or "\0" in run:
        raise ValueError(f"run = {run!r} is not accepted; use a command, such as python3 play.py")
    return words


def find_bots(paths: Iterable[Path]) -> Iterator[tuple[str, Language]]:
    """The name and the language of each bot in files and folders, without what has no known language."""
    for path in paths:
        if path.is_dir() and not is_bot_folder(path):
            yield from find_bots(sorted(each for each in path.iterdir() if each.is_file() or is_bot_folder(each)))
            continue
        with suppress(BuildError):
            bot = read_bot(path, links=True)
            if bot.language:
                yield bot.name, bot.language
