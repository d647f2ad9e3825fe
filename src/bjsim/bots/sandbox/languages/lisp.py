"""Common Lisp (SBCL): compiled to a fasl file; each move starts SBCL."""

from __future__ import annotations

from collections.abc import Mapping

from bjsim.bots.sandbox.languages.base import Commands, Language


class Lisp(Language):
    """SBCL compiles and runs it. The program's own code may run while it is compiled."""

    name = "lisp"
    endings = (".lisp", ".lsp", ".cl")
    tools = ("sbcl",)
    package = "sbcl"
    line_gain = 24
    script = (
        '"$TOOL" --dynamic-space-size 512 --noinform --non-interactive --no-sysinit --no-userinit --eval '
        '"(unless (compile-file \\"bot.lisp\\" :output-file \\"$OUT/bot.fasl\\") (exit :code 1))" >&2'
    )
    makes = r"bot\.fasl"

    def source_name(self, source: bytes, stem: str) -> str:
        return "bot.lisp"

    def commands(self, tool: str, name: str, files: Mapping[str, bytes]) -> Commands:
        return Commands((tool, "--dynamic-space-size", "128", "--script", "bot.fasl"))
