"""The languages that bots may be written in: one module for each, and how a file's language is recognised.

To add a language, write a module with a subclass of `Language`, list the class in LANGUAGES, and put the sample bot
`samples/lim17` with the language's first ending next to the others. Commands, messages, tests and `.ci/run` read the
rest from the class.
"""

from __future__ import annotations

import re
from pathlib import Path

from bjsim.bots.sandbox.languages.base import BuildError, Language, MissingToolchain, Program, find_binds, find_tool
from bjsim.bots.sandbox.languages.c import C, CPlusPlus
from bjsim.bots.sandbox.languages.go import Go
from bjsim.bots.sandbox.languages.java import Java
from bjsim.bots.sandbox.languages.javascript import JavaScript
from bjsim.bots.sandbox.languages.lisp import Lisp
from bjsim.bots.sandbox.languages.python import Python
from bjsim.bots.sandbox.languages.rust import Rust

LANGUAGES: tuple[Language, ...] = (Python(), C(), CPlusPlus(), Java(), Lisp(), JavaScript(), Go(), Rust())
ENDINGS = {ending: language for language in LANGUAGES for ending in language.endings}


def find_language(path: Path, content: bytes, executable: bool) -> Language | None:
    """The language of a file, from its ending or its first line; None for an executable that is run as it is."""
    if path.suffix.lower() in ENDINGS:
        return ENDINGS[path.suffix.lower()]
    if re.match(rb"#!.*\bpython[0-9.]*\b", content[:256]):
        return ENDINGS[".py"]
    if not executable:
        raise BuildError(
            f"{path}: neither a file that ends in {', '.join(ENDINGS)} nor an executable one (chmod +x makes it one)"
        )
    return None


__all__ = [
    "ENDINGS",
    "LANGUAGES",
    "BuildError",
    "Language",
    "MissingToolchain",
    "Program",
    "find_binds",
    "find_language",
    "find_tool",
]
