"""C and C++: compiled; the program is executed for every move."""

from __future__ import annotations

from collections.abc import Mapping

from bjsim.bots.sandbox.languages.base import Commands, Language

# Statically linked programs start faster, so static linking is tried first.
_LINK = '\n"$TOOL" -static "$TMP/bot.o" -lm -o "$OUT/bot" 2>/dev/null || "$TOOL" "$TMP/bot.o" -lm -o "$OUT/bot"'


class C(Language):
    """Compiled to one file, which is linked statically where the C library allows it."""

    name = "c"
    endings: tuple[str, ...] = (".c",)
    tools: tuple[str, ...] = ("cc", "gcc", "clang")
    package = "gcc"
    script = '"$TOOL" -O2 -Wno-error=implicit-function-declaration -c bot.c -o "$TMP/bot.o"' + _LINK
    makes = "bot"

    def source_name(self, source: bytes, stem: str) -> str:
        return "bot.c"

    def commands(self, tool: str, name: str, files: Mapping[str, bytes]) -> Commands:
        return Commands(("./bot",))


class CPlusPlus(C):
    """As C, with another compiler."""

    name = "c++"
    endings = (".cpp", ".cc", ".cxx")
    tools = ("c++", "g++", "clang++")
    package = "g++"
    script = '"$TOOL" -O2 -c bot.cpp -o "$TMP/bot.o"' + _LINK

    def source_name(self, source: bytes, stem: str) -> str:
        return "bot.cpp"
