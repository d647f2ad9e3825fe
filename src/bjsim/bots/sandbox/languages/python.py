"""Python: not compiled; a fork server holds the program ready."""

from __future__ import annotations

import sys
from collections.abc import Mapping

from bjsim.bots.sandbox import inside
from bjsim.bots.sandbox.languages.base import Commands, Language


class Python(Language):
    """Runs under the interpreter that runs bjsim, where the sandbox's user can read it."""

    name = "python"
    endings = (".py",)
    tools = ("python3",)
    package = "python3"

    def source_name(self, source: bytes, stem: str) -> str:
        return "bot.py"

    def commands(self, tool: str, name: str, files: Mapping[str, bytes]) -> Commands:
        server = {"fork_server.py": inside.source("fork_server.py")}
        return Commands((tool, "bot.py"), (tool, "fork_server.py", "bot.py"), server)

    def find_tools(self) -> list[str]:
        own = getattr(sys, "_base_executable", "") or sys.executable  # not that of a virtual environment
        return [own, *super().find_tools(), "/usr/bin/python3"]
