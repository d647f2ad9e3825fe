"""From a bot's file to a program that can be put in a box: compiled once, in a box of its own, and kept in a cache.

The compiler's box is trusted no more than the bot's: code of a program in Lisp runs in it. All that comes out of it is
what it prints: the compiled files one after another, each after a line with its size and its name. A language says
what its files are called; anything else is an error.

The cache is a folder of such prints, `bjsim/bots` in the user's cache folder; a file's name is a hash of all that went
into it: source, compile script, compiler and its version, and whether there was a sandbox.
"""

from __future__ import annotations

import hashlib
import os
import re
import shlex
import subprocess
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path

from bjsim.bots.protocol import Reply
from bjsim.bots.sandbox.box import Box, Limits
from bjsim.bots.sandbox.languages import (
    INSIDE,
    BuildError,
    Language,
    Program,
    binds_of,
    java_source_name,
    language_of,
    program_of,
    tool_of,
)
from bjsim.bots.sandbox.sources import read_bot

LIMITS = Limits(timeout=120.0, memory=1 << 30, processes=64, output=16 << 20, errors=1 << 16, files=64 << 20)
MOST_FILES = 128  # that a program may be compiled to
LINE = 512  # bytes at most for a file's size and name
SCRIPT = """set -e
TOOL={tool}; OUT=$TMP/made; mkdir "$OUT"
{script}
cd "$OUT"; exec find . -type f -printf '%s %P\\n' -exec cat {{}} \\;"""
ENDINGS = {
    "timeout": f"it takes longer than {LIMITS.timeout:.0f} s",
    "cpu": f"it takes longer than {LIMITS.timeout:.0f} s",
    "memory": f"that takes more than {LIMITS.memory >> 20} MiB",
    "flood": f"it comes to more than {LIMITS.output >> 20} MiB",
    "orphan": "it leaves a process running",
}


def build(path: str | Path, *, sandboxed: bool = True) -> Program:
    """The program that the bot's file comes to. Raises: BuildError, with the compiler's messages if it has any."""
    path = Path(path)
    try:
        content = read_bot(path)
        language = language_of(path)
    except OSError as error:
        raise BuildError(f"{path}: {error.strerror}") from None
    if language is None:
        return Program(path.name, "executable", {path.name: content}, (f"./{path.name}",))
    source = language.source if language.name != "java" else java_source_name(content, path.stem)
    files: Mapping[str, bytes] = {source: content}
    if language.script:
        extra = {name: (INSIDE / name).read_bytes() for name in language.extra}
        files = _compiled(path.name, language, {**files, **extra}, sandboxed)
    return program_of(path.stem, language, files)


def cache_folder() -> Path:
    """Where compiled bots are kept."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "bjsim" / "bots"


@cache
def _version(tool: str) -> str:
    return subprocess.run([tool, "--version"], capture_output=True, text=True).stdout


def _compiled(name: str, language: Language, sources: Mapping[str, bytes], sandboxed: bool) -> Mapping[str, bytes]:
    tool = tool_of(language)
    key = hashlib.sha256()
    for part in (SCRIPT, language.script, tool, _version(tool), str(sandboxed)):
        key.update(part.encode() + b"\0")
    for source, content in sources.items():
        key.update(f"{source}\0{len(content)}\0".encode() + content)
    kept = cache_folder() / f"{key.hexdigest()}.made"
    with suppress(OSError, ValueError):  # not compiled yet, or damaged
        return _files(kept.read_bytes(), language)
    printed = _compile(name, language, tool, sources, sandboxed)
    try:
        files = _files(printed, language)
    except ValueError as error:
        raise BuildError(f"{name} does not compile: {error}") from None
    with suppress(OSError):  # a cache that cannot be written to is gone without
        _keep(kept, printed)
    return files


def _files(printed: bytes, language: Language) -> dict[str, bytes]:
    """The compiled files that the compiler's box has printed. Raises: ValueError for anything else."""
    files: dict[str, bytes] = {}
    begin = 0
    while begin < len(printed) or not files:
        line, newline, _ = printed[begin : begin + LINE].partition(b"\n")
        size, _, raw = line.partition(b" ")
        name = raw.decode()
        if not newline or not size.isdigit() or not re.fullmatch(language.makes, name) or name in files:
            raise ValueError(f"{line[:40]!r} is no file that {language.name} compiles to")
        begin += len(line) + 1
        files[name] = printed[begin : begin + int(size)]
        if len(files[name]) < int(size):
            raise ValueError(f"the compiled file {name} is cut off")
        begin += int(size)
    if len(files) > MOST_FILES:
        raise ValueError(f"it comes to {len(files)} files; {MOST_FILES} are accepted")
    return files


def _keep(path: Path, content: bytes) -> None:
    """Write a file of the cache, so that it is whole or not there even if the power fails. Raises: OSError."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=path.parent) as folder, open(Path(folder, path.name), "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
        os.replace(file.name, path)


def _compile(name: str, language: Language, tool: str, sources: Mapping[str, bytes], sandboxed: bool) -> bytes:
    """What the compiler's box prints."""
    script = SCRIPT.format(tool=shlex.quote(tool), script=language.script)
    compiler = Program(name, language.name, sources, ("/bin/sh", "-c", script), binds=binds_of(tool))
    box = Box(compiler, LIMITS, sandboxed=sandboxed, scratch=True)
    try:
        reply = box.ask([])
    finally:
        box.close()
    if reply.cause != "exit" or reply.status:
        raise _failure(name, reply)
    return reply.stdout


def _failure(name: str, reply: Reply) -> BuildError:
    log = reply.stderr.decode("utf-8", "replace").strip()
    told = (line for line in log.splitlines() if "error" in line.lower())
    why = ENDINGS.get(reply.cause) or next(told, f"status {reply.status}").strip()
    return BuildError(f"{name} does not compile: {why}", log)
