"""Java: compiled to class files; each move starts a virtual machine."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from bjsim.bots.sandbox.languages.base import BuildError, Commands, Language

_FAST_START = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:-UsePerfData")


class Java(Language):
    """Compiled by javac, and run by the `java` in the same folder."""

    name = "java"
    endings = (".java",)
    tools = ("javac",)
    package = "default-jdk-headless"
    line_gain = 150
    script = '"$TOOL" -J-Xmx256m -J-XX:+UseSerialGC -J-XX:-UsePerfData -d "$OUT" *.java'
    makes = r"(\w+/)*[\w$]+\.class"

    def source_name(self, source: bytes, stem: str) -> str:
        return source_name(source, stem)

    def commands(self, tool: str, name: str, files: Mapping[str, bytes]) -> Commands:
        java = str(Path(tool).with_name("java"))
        return Commands((java, *_FAST_START, "-Xmx64m", "-cp", ".", main_class(name, files)))


def source_name(source: bytes, stem: str) -> str:
    """The file name that javac requires: that of the public class, if there is one."""
    public = re.search(rb"^\s*public\s+(?:final\s+|abstract\s+)*(?:class|record|enum|interface)\s+(\w+)", source, re.M)
    if public:
        return public[1].decode() + ".java"
    return (stem if stem.isidentifier() else "Main") + ".java"


def main_class(name: str, files: Mapping[str, bytes]) -> str:
    """The class with a `main` method. Raises: BuildError if not exactly one class has one."""
    mains = [
        file.removesuffix(".class").replace("/", ".")
        for file, content in files.items()
        if b"\x04main" in content and b"([Ljava/lang/String;)V" in content
    ]
    if len(mains) != 1:
        raise BuildError(f"{name} must have one class with a main method; found {', '.join(mains) or 'none'}")
    return mains[0]
