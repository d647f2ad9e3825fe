"""JavaScript: checked once; each move starts Node.js."""

from __future__ import annotations

from collections.abc import Mapping

from bjsim.bots.sandbox.languages.base import Commands, Language


class JavaScript(Language):
    """Runs under Node.js, as a CommonJS script."""

    name = "javascript"
    endings = (".js",)
    tools = ("node", "nodejs")
    package = "nodejs"
    line_gain = 150
    script = '"$TOOL" --check bot.js\ncp bot.js "$OUT"'
    makes = r"bot\.js"

    def source_name(self, source: bytes, stem: str) -> str:
        return "bot.js"

    def commands(self, tool: str, name: str, files: Mapping[str, bytes]) -> Commands:
        return Commands((tool, "--v8-pool-size=0", "--max-old-space-size=128", "bot.js"))
