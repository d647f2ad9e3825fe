"""Rust: compiled; the program is executed for every move."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping

from bjsim.bots.sandbox.languages.base import Commands, Language


class Rust(Language):
    """One file, which can use the standard library only."""

    name = "rust"
    endings = (".rs",)
    tools = ("rustc",)
    package = "rustc"
    script = '"$TOOL" --edition 2021 -O -C strip=symbols -C codegen-units=1 -o "$OUT/bot" bot.rs'
    makes = "bot"

    def source_name(self, source: bytes, stem: str) -> str:
        return "bot.rs"

    def commands(self, tool: str, name: str, files: Mapping[str, bytes]) -> Commands:
        return Commands(("./bot",))

    def find_tools(self) -> list[str]:
        """The compilers themselves: `rustc` may be a link to rustup, which chooses one by its name."""
        found = []
        for path in super().find_tools():
            done = subprocess.run([path, "--print", "sysroot"], capture_output=True, text=True)
            found.append(f"{done.stdout.strip()}/bin/rustc" if done.returncode == 0 else path)
        return found
