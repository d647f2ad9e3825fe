"""C and C++: compiled, with a fork server linked into the program where that is safe."""

from __future__ import annotations

from collections.abc import Mapping

from bjsim.bots.sandbox.languages.base import Commands, Language

# Statically linked programs start and fork faster, so static linking is tried first.
# The fork server is linked only if none of the bot's code can run in the server process. The script checks that
#  - the object file has only the usual sections (no .preinit_array, no .interp, no relocations of its own making);
#  - no symbol is resolved by running code (ifunc, type `i` in the output of nm);
#  - no global symbol is also defined by the C library or by an empty program, because the server would then call the
#    bot's function. Hidden symbols appear as local ones there, so local symbols that begin with _ count too;
#  - the program has no interpreter segment, because that interpreter would run first.
_LINK = r"""
bot="$TMP/bot.o"
usual='^(\.rela?)?\.(text|data|bss|rodata|tdata|tbss|(init|fini)_array|[cd]tors|eh_frame|gcc_except_table|group'
usual="$usual|comment|note|debug_[a-z]*|llvm_addrsig|symtab|symtab_shndx|strtab|shstrtab)(\..*)?\$"
link_server() {
    echo 'int main(void) { return 0; }' > "$TMP/empty.c" && "$TOOL" -O2 -c fork_server.c -o "$TMP/server.o" &&
    "$TOOL" -static -Wl,--wrap=main "$TMP/empty.c" "$TMP/server.o" -o "$TMP/empty" &&
    "$TOOL" -static -Wl,--wrap=main "$bot" "$TMP/server.o" -lm -o "$TMP/bot" &&
    readelf -SW "$bot" > "$TMP/sections" && readelf -lW "$TMP/bot" > "$TMP/segments" &&
    nm "$bot" > "$TMP/symbols" && nm -g --defined-only "$bot" > "$TMP/own" &&
    nm "$TMP/empty" > "$TMP/all" && grep ' _[^ ]*$' "$TMP/all" > "$TMP/libc" && nm -g "$TMP/empty" >> "$TMP/libc" &&
    nm -g --defined-only "$("$TOOL" -print-file-name=libc.a)" >> "$TMP/libc" &&
    ! sed -n 's/^ *\[ *[0-9]*\] \([^ ]\+\).*/\1/p' "$TMP/sections" | grep -Evq "$usual" &&
    ! grep -q ' i ' "$TMP/symbols" && ! grep -q INTERP "$TMP/segments" &&
    awk '{ sub(/@.*/, "") } NR == FNR { own[$NF]; next } $NF in own' "$TMP/own" "$TMP/libc" > "$TMP/both" &&
    test "$(sed 's/.* //' "$TMP/both")" = main
}
if link_server 2>/dev/null; then
    mv "$TMP/bot" "$OUT/bot"
else
    "$TOOL" -static "$bot" -lm -o "$OUT/plain" 2>/dev/null || "$TOOL" "$bot" -lm -o "$OUT/plain"
fi
"""


class C(Language):
    """Compiled to one file: `bot` with a fork server in it, or `plain` without."""

    name = "c"
    endings: tuple[str, ...] = (".c",)
    tools: tuple[str, ...] = ("cc", "gcc", "clang")
    package = "gcc"
    script = '"$TOOL" -O2 -Wno-error=implicit-function-declaration -c bot.c -o "$TMP/bot.o"' + _LINK
    makes = "bot|plain"
    extra = ("fork_server.c",)

    def source_name(self, source: bytes, stem: str) -> str:
        return "bot.c"

    def commands(self, tool: str, name: str, files: Mapping[str, bytes]) -> Commands:
        command = tuple(f"./{file}" for file in files)
        return Commands(command, command if "bot" in files else ())


class CPlusPlus(C):
    """As C, with another compiler."""

    name = "c++"
    endings = (".cpp", ".cc", ".cxx")
    tools = ("c++", "g++", "clang++")
    package = "g++"
    script = '"$TOOL" -O2 -c bot.cpp -o "$TMP/bot.o"' + _LINK

    def source_name(self, source: bytes, stem: str) -> str:
        return "bot.cpp"
