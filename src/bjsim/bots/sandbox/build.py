"""Compile a bot's file to a `Program`: once, in a sandbox session of its own, with a cache of the results.

The compiler's session is trusted no more than the bot's, because code of a Lisp program runs while it is compiled. Its
only result is what it prints: the compiled files one after another, each after a line with its size and name. Only the
file names that the language declares are accepted.

The cache is the folder `bjsim/bots` in the user's cache folder. Each cache file contains that output. The file's name
is a hash of the source, the compile script, the compiler and its version, and the kind of box.
"""

import hashlib
import os
import re
import shlex
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from functools import cache
from pathlib import Path

from bjsim.bots.sandbox.folders import BotSource, read_bot
from bjsim.bots.sandbox.languages import BuildError, Language, Program, find_binds, find_tool, run_tool
from bjsim.bots.sandbox.session import Limits, SandboxError, SandboxSession
from bjsim.files import replacing

LIMITS = Limits(timeout=120.0, memory=1 << 30, processes=64, output=16 << 20, errors=1 << 16, files=64 << 20)
MAX_FILES = 128  # compiled files of one program
MAX_LINE = 512  # bytes of the line with a file's size and name
SCRIPT = """set -e
TOOL={tool}; OUT=$TMP/made; mkdir "$OUT"
{script}
cd "$OUT"; exec find . -type f -printf '%s %P\\n' -exec cat {{}} \\;"""
FAILURES = {  # Reply.cause: message
    "timeout": f"it takes longer than {LIMITS.timeout:.0f} s",
    "cpu": f"it takes longer than {LIMITS.timeout:.0f} s",
    "memory": f"it takes more than {LIMITS.memory >> 20} MiB of memory, or {LIMITS.processes} processes",
    "flood": f"the compiled files exceed {LIMITS.output >> 20} MiB",
    "orphan": "it leaves a process running",
}


def build(bot: str | Path | BotSource, *, box: str) -> Program:
    """Compile a bot in a box of this kind, or use the cache."""
    if not isinstance(bot, BotSource):
        bot = read_bot(Path(bot), links=True)
    language, files = bot.language, dict(bot.files)
    if language is None:
        return Program(bot.name, "executable", files, (f"./{bot.main}",), protocol=bot.protocol)
    if bot.main:
        source, named = files.pop(bot.main), language.source
        files = {named if isinstance(named, str) else named(source, Path(bot.main).stem): source, **files}
    made: Mapping[str, bytes] = files
    if language.script:
        made = _compiled(bot.name, language, files, box)
    program = language.make_program(bot.name, made)
    return replace(program, files={**files, **program.files}, protocol=bot.protocol, random=bot.random)


def cache_folder() -> Path:
    """The folder with compiled bots; a path that cannot exist for a user without a home folder."""
    cache_home = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return Path(cache_home if os.path.isabs(cache_home) else os.devnull) / "bjsim" / "bots"


@cache
def _version(tool: str, option: str) -> str:
    return run_tool(tool, option).stdout


def _compiled(name: str, language: Language, sources: Mapping[str, bytes], box: str) -> Mapping[str, bytes]:
    tool = find_tool(language)
    key = hashlib.sha256()
    for part in (SCRIPT, language.script, tool, _version(tool, language.version), box):
        key.update(part.encode() + b"\0")
    for source, content in sources.items():
        key.update(f"{source}\0{len(content)}\0".encode() + content)
    cached = cache_folder() / f"{key.hexdigest()}.made"
    with suppress(OSError, ValueError):  # not compiled yet, or damaged
        return _parse_files(cached.read_bytes(), language)
    printed = _compile(name, language, tool, sources, box)
    try:
        files = _parse_files(printed, language)
    except ValueError as error:
        raise BuildError(f"{name} does not compile: {error}") from None
    with suppress(OSError):  # the cache is optional
        cached.parent.mkdir(parents=True, exist_ok=True)
        with replacing(cached) as file:
            file.write(printed)
            file.flush()
            os.fsync(file.fileno())  # whole or absent, even after a power failure
    return files


def _parse_files(printed: bytes, language: Language) -> dict[str, bytes]:
    """The compiled files, from what the compiler's session printed. Raises: ValueError for anything else."""
    files: dict[str, bytes] = {}
    begin = 0
    while begin < len(printed) or not files:
        line, newline, _ = printed[begin : begin + MAX_LINE].partition(b"\n")
        size, _, raw = line.partition(b" ")
        name = raw.decode()
        if not newline or not size.isdigit() or not re.fullmatch(language.makes, name) or name in files:
            raise ValueError(f"{line[:40]!r} is not a file that {language.name} compiles to")
        begin += len(line) + 1
        files[name] = printed[begin : begin + int(size)]
        if len(files[name]) < int(size):
            raise ValueError(f"the compiled file {name} is truncated")
        begin += int(size)
    if len(files) > MAX_FILES:
        raise ValueError(f"it compiles to {len(files)} files; at most {MAX_FILES} are accepted")
    return files


def _compile(name: str, language: Language, tool: str, sources: Mapping[str, bytes], box: str) -> bytes:
    script = SCRIPT.format(tool=shlex.quote(tool), script=language.script)
    compiler = Program(name, language.name, sources, ("/bin/sh", "-c", script), binds=find_binds(tool))
    session = SandboxSession(compiler, LIMITS, box=box, scratch=True)
    try:
        reply = session.ask([])
    finally:
        session.close()
    if reply.cause != "exit" or reply.status:
        log = reply.stderr.decode("utf-8", "replace").strip()
        if reply.cause == "start":
            raise SandboxError(f"{name} is not compiled: {log}")
        errors = (line for line in log.splitlines() if "error" in line.lower())
        why = FAILURES.get(reply.cause) or next(errors, f"status {reply.status}").strip()
        raise BuildError(f"{name} does not compile: {why}", log)
    return reply.stdout
