"""A folder as a bot: several files, with a `bot.toml` that says how they are played."""

from __future__ import annotations

import hashlib
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from bjsim.bots.sandbox.languages import ENDINGS, BuildError, Language
from bjsim.bots.sandbox.languages.custom import Custom
from bjsim.bots.sandbox.sources import check_name, read_protocol
from bjsim.toml_files import read_toml

MANIFEST = "bot.toml"
MAX_FOLDER = 1 << 26  # bytes of all files together
MAX_FILES = 100  # each is a descriptor while a sandbox opens
TEXTS = ("name", "author", "version", "protocol", "build", "run")  # keys of the manifest
KEYS = (*TEXTS, "files", "random")
LONGEST = 200  # characters of the name, the author and the version, which pages show
PROTOCOLS = ("argv", "line")


@dataclass(frozen=True)
class BotFolder:
    """What a folder has, read and checked.

    Attributes:
        name: The bot's name; by default the folder's.
        author: Who wrote it, or "".
        version: Its version, or "".
        protocol: `argv` or `line`.
        random: Whether it may answer the same question in two ways.
        language: How it is compiled and run.
        main: The name of the source, or "" if the manifest says how to run the bot.
        files: Name -> content of all files, without the manifest.
        sha256: Hash of the manifest and all files.
    """

    name: str
    author: str
    version: str
    protocol: str
    random: bool
    language: Language
    main: str
    files: Mapping[str, bytes]
    sha256: str


def is_bot_folder(path: Path) -> bool:
    """Whether the path is a folder with a `bot.toml`."""
    return path.is_dir() and (path / MANIFEST).is_file()


def read_folder(path: Path) -> BotFolder:
    """Read a bot's folder.

    Raises:
        BuildError: The manifest is not valid, a file is a link, or there are too many files or bytes.
    """
    manifest = path / MANIFEST
    try:
        values = read_toml(manifest)
        unknown = [key for key in values if key not in KEYS]
        if unknown:
            raise ValueError(f"has an unknown key {unknown[0]!r}; the keys are {', '.join(KEYS)}")
        check_name(path)
        for key in TEXTS:
            if not isinstance(values.get(key, ""), str):
                raise ValueError(f"{key} = {values[key]!r} is not accepted; use text")
        for key in ("name", "author", "version"):
            if len(values.get(key, "")) > LONGEST:
                raise ValueError(f"{key} is not accepted; use at most {LONGEST} characters")
        if not isinstance(values.get("random", False), bool):
            raise ValueError("random is not accepted; use true or false")
        patterns = values.get("files", ["**/*"])
        if not isinstance(patterns, list) or not all(isinstance(pattern, str) and pattern for pattern in patterns):
            raise ValueError("files is not accepted; use a list of names or patterns, such as *.py")
        files = _read_files(path, patterns)
        language, main = _language(values.get("build", ""), values.get("run", ""), files)
        protocol = values.get("protocol") or read_protocol(files.get(main, b""))
        if protocol not in PROTOCOLS:
            raise ValueError(f"protocol = {protocol!r} is not accepted; use {' or '.join(PROTOCOLS)}")
    except ValueError as error:
        raise BuildError(f"{manifest} {error}") from None
    except OSError as error:
        raise BuildError(f"{path}: {error.strerror}") from None
    digest = hashlib.sha256()
    for name, content in {MANIFEST: manifest.read_bytes(), **files}.items():
        digest.update(f"{name}\0{len(content)}\0".encode() + content)
    return BotFolder(
        values.get("name", "").strip() or path.name, values.get("author", ""), values.get("version", ""), protocol,
        values.get("random", False), language, main, files, digest.hexdigest(),
    )  # fmt: skip


def _read_files(folder: Path, patterns: list[str]) -> dict[str, bytes]:
    """The files that the patterns name, in order of their names; none of them hidden, and no link."""
    files: dict[str, bytes] = {}
    left = MAX_FOLDER
    for path in sorted(set(_named(folder, patterns))):
        name = path.relative_to(folder).as_posix()
        check_name(path)
        with path.open("rb") as file:
            content = file.read(left + 1)
        left -= len(content)
        files[name] = content
        if left < 0:
            raise ValueError(f"names files of more than {MAX_FOLDER >> 20} MiB")
        if len(files) > MAX_FILES:
            raise ValueError(f"names more than {MAX_FILES} files")
    return files


def _named(folder: Path, patterns: list[str]) -> Iterator[Path]:
    for pattern in patterns:
        try:
            paths = list(folder.glob(pattern))
        except (ValueError, NotImplementedError) as error:
            raise ValueError(f"files: {pattern!r} is not accepted: {error}") from None
        for path in paths:
            parts = path.relative_to(folder).parts  # raises ValueError outside the folder
            hidden = any(part.startswith(".") or part == "__pycache__" for part in parts)
            if ".." in parts or any(parent.is_symlink() for parent in path.parents if folder in parent.parents):
                raise ValueError(f"names {pattern}, which leads out of the folder")
            if path.is_file() and not hidden and path != folder / MANIFEST:
                yield path


def _language(build: str, run: str, files: Mapping[str, bytes]) -> tuple[Language, str]:
    """How the files are compiled and run, and the name of the source; "" if the manifest says it all."""
    if run:
        return Custom(build, _words(run)), ""
    if build:
        raise ValueError("has build without run, the command that starts the bot")
    mains = [name for name in files if name.startswith("bot.") and Path(name).suffix.lower() in ENDINGS]
    if len(mains) != 1:
        raise ValueError("has no run, the command that starts the bot; without it, one file must be called bot.py, ...")
    return ENDINGS[Path(mains[0]).suffix.lower()], mains[0]


def _words(run: str) -> tuple[str, ...]:
    """The words of the command that starts the bot. Raises: ValueError."""
    try:
        words = tuple(shlex.split(run))
    except ValueError as error:
        raise ValueError(f"run = {run!r} is not accepted: {error}") from None
    if not words or not words[0] or "\0" in run:
        raise ValueError(f"run = {run!r} is not accepted; use a command, such as python3 play.py")
    return words
