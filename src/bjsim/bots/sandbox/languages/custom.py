"""Any language: the commands that a bot's folder names."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping

from bjsim.bots.sandbox.languages.base import Commands, Language, MissingToolchain

PATH = "/usr/local/bin:/usr/bin:/bin"  # of the sandbox


class Custom(Language):
    """Compiled by `build`, a shell script that fills "$OUT" ("" for none), and run by the words of `run`."""

    name = "custom"
    endings: tuple[str, ...] = ()
    tools = ("sh",)
    package = "dash"
    makes = r"[\w+-][\w.+-]*(/[\w+-][\w.+-]*)*"

    def __init__(self, build: str, run: tuple[str, ...]) -> None:
        self.script, self.run = build, run

    def source_name(self, source: bytes, stem: str) -> str:
        return stem

    def need_tools(self, name: str) -> None:
        super().need_tools(name)
        self.commands("", name, {})

    def commands(self, tool: str, name: str, files: Mapping[str, bytes]) -> Commands:
        program = self.run[0]
        found = program if "/" in program else shutil.which(program, path=PATH)
        if not found:
            raise MissingToolchain(f"{name} runs {program}, which is not installed in {PATH.replace(':', ', ')}")
        return Commands((os.path.realpath(found) if os.path.isabs(found) else found, *self.run[1:]))
