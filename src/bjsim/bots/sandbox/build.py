"""From a bot's file to a program that can be put in a box: compiled once, in a box of its own, and kept in a cache.

The cache is a folder of tar files, `bjsim/bots` in the user's cache folder; a file's name is a hash of all that went
into it: source, compile script, compiler and its version.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import tarfile
import tempfile
from collections.abc import Mapping
from functools import cache
from pathlib import Path

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
from bjsim.bots.sandbox.restrictions import open_restrictions
from bjsim.bots.sandbox.sources import read_bot

COMPILE_S = 120  # of the clock and of processor time
# In seconds, blocks of 512 bytes and KiB. Nothing comes out of the box but stdout, so the result does, as a tar file.
SCRIPT = """set -e
ulimit -t {seconds}; ulimit -f 200000; ulimit -d 2000000
OUT=$TMP/made; mkdir "$OUT"
{script}
cd "$OUT"; exec tar -cf - *"""


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
    for part in (language.script, tool, _version(tool)):
        key.update(part.encode() + b"\0")
    for source, content in sources.items():
        key.update(f"{source}\0{len(content)}\0".encode() + content)
    kept = cache_folder() / f"{key.hexdigest()}.tar"
    if not kept.exists():
        archived = _compile(name, language, tool, sources, sandboxed)
        kept.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=kept.parent, delete=False) as file:
            file.write(archived)
        os.replace(file.name, kept)
    with tarfile.open(kept) as archive:
        made = {member.name: archive.extractfile(member) for member in archive.getmembers()}
        return {name: file.read() for name, file in made.items() if file is not None}


def _compile(name: str, language: Language, tool: str, sources: Mapping[str, bytes], sandboxed: bool) -> bytes:
    script = SCRIPT.format(seconds=COMPILE_S, script=language.script)
    with open_restrictions(sandboxed, sources, binds_of(tool), scratch=True) as walls:
        command = walls.command(["/bin/sh", "-c", script], TOOL=tool)
        try:
            done = subprocess.run(command, capture_output=True, timeout=COMPILE_S, **walls.popen)
        except subprocess.TimeoutExpired:
            raise BuildError(f"{name} does not compile within {COMPILE_S} s") from None
    if done.returncode:
        log = done.stderr.decode("utf-8", "replace").strip()
        first = next((line for line in log.splitlines() if "error" in line.lower()), f"status {done.returncode}")
        raise BuildError(f"{name} does not compile: {first.strip()}", log)
    return bytes(done.stdout)
