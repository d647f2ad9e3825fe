"""`bjsim doctor`: what is missing on this machine, and the commands that fix it."""

import logging
import platform
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import click

from bjsim.arguments import check_writable
from bjsim.bots.protocol import can_run_programs
from bjsim.cli.options import json_option, write_json
from bjsim.errors import InputError, printable


@dataclass(frozen=True)
class Check:
    """One thing that was looked for, whether it must be there, and the command that fixes it, or ""."""

    name: str
    ok: bool
    needed: bool
    found: str
    fix: str = ""

    @property
    def line(self) -> str:
        state = "ok" if self.ok else "missing" if self.needed else "optional"
        fix = f"; fix: {self.fix}" if self.fix and not self.ok else ""
        return f"{state:8}  {self.name}: {self.found}{fix}"


@click.command()
@click.argument("bots", nargs=-1, metavar="[BOT|BOTS_DIR]...", type=click.Path(path_type=Path))
@json_option
def doctor(bots: tuple[Path, ...], json_path: str | None) -> None:
    """Find out what is missing on this machine, and which command fixes it.

    Compilers and interpreters are optional, except for those that the files BOT need, and the commands that `run` names
    in the bot.toml of the folders BOT. The exit status is 1 if something needed is missing.
    """
    for path in bots:
        if not path.exists():
            raise InputError(f"no such file: {path}")
    check_writable(json_path)
    checks = []
    for check in all_checks(bots):
        checks.append(check)
        if json_path != "-":
            click.echo(printable(check.line))
    healthy = all(check.ok for check in checks if check.needed)
    if json_path:
        write_json({"ok": healthy, "checks": [asdict(check) for check in checks]}, json_path)
    if not healthy:
        raise click.exceptions.Exit(1)


def all_checks(bots: tuple[Path, ...]) -> Iterator[Check]:
    """All checks, in the order in which things are needed."""
    yield check_cache()
    if not can_run_programs():
        yield Check("sandbox", False, bool(bots), f"bots that are programs need Linux; this is {platform.system()}")
        return
    from bjsim.bots.sandbox.folders import find_bots
    from bjsim.bots.sandbox.languages import LANGUAGES, Custom, find_tools
    from bjsim.bots.sandbox.restrictions import install_command

    yield check_sandbox()
    found_bots = list(find_bots(bots))
    needed = {language.name for _, language in found_bots}
    for language in LANGUAGES:
        ok, found = find_tools(language)
        what = f"bots in {language.name}"
        yield Check(what, ok, language.name in needed, found, "" if ok else install_command(language.package))
    for name, its_language in found_bots:
        if isinstance(its_language, Custom):
            ok, found = find_tools(its_language, name)
            yield Check("run command", ok, True, found)


def check_cache() -> Check:
    if find_spec("numba") is None:
        return Check("compiled code", False, False, "numba is missing, so long runs are slow", "pip install numba")
    logging.disable(logging.WARNING)  # that no folder is writable is said here
    try:
        from bjsim.sim.engine.jit import is_cache_temporary
        from bjsim.sim.engine.kernels.walk import walk
    finally:
        logging.disable(logging.NOTSET)
    if is_cache_temporary():
        fix = "mkdir -p ~/.cache/bjsim && export NUMBA_CACHE_DIR=~/.cache/bjsim"
        return Check("compiled code", False, True, "no folder to keep it is writable, so every start is slow", fix)
    kernel: Any = walk
    return Check("compiled code", True, True, f"kept in {kernel.stats.cache_path}")


def check_sandbox() -> Check:
    """What holds for bots here."""
    from bjsim.bots.sandbox import restrictions

    held = restrictions.find_box()
    if held.whole or not held.obstacle:
        return Check("sandbox", held.whole, True, held.says)
    obstacle, _, _ = held.obstacle.partition(" (on Debian")  # the fix includes it
    return Check("sandbox", False, True, f"{held.says}; {obstacle}", restrictions.find_sandbox_fix())
