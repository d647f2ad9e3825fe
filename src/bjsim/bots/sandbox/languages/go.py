"""Go: compiled; the program is executed for every move."""

from __future__ import annotations

from collections.abc import Mapping

from bjsim.bots.sandbox.languages.base import Commands, Language


class Go(Language):
    """One file, which can import the standard library only."""

    name = "go"
    endings = (".go",)
    tools = ("go",)
    package = "golang-go"
    script = (
        'export HOME="$TMP" GOCACHE="$TMP/cache" GOPATH="$TMP/path" GOTOOLCHAIN=local GOPROXY=off GO111MODULE=off '
        'CGO_ENABLED=0 && "$TOOL" build -p 2 -trimpath -ldflags=-s -o "$OUT/bot" bot.go'
    )
    makes = "bot"

    def source_name(self, source: bytes, stem: str) -> str:
        return "bot.go"

    def commands(self, tool: str, name: str, files: Mapping[str, bytes]) -> Commands:
        return Commands(("./bot",))
