"""What a field of `Rules` is declared with, and how its values are written."""

from __future__ import annotations

import difflib
import math
from collections.abc import Callable, Iterable
from dataclasses import field
from fractions import Fraction
from html import escape
from typing import Any

from bjsim.errors import InputError
from bjsim.sim.game.rule_parsers import TRADE_WORDS

BOOL = "true or false"


class RulesError(InputError):
    """An inconsistent rule set, or an unknown field or value. The message names the field."""


def rule(default: Any, accepts: str, meaning: str, parse: Callable[[str], Any]) -> Any:
    """Declare a field with its metadata, which listings, TOML files and error messages all use."""
    return field(default=default, metadata={"accepts": accepts, "meaning": meaning, "parse": parse})


def plain(value: object) -> object:
    """Convert a field's value to a plain JSON value: a fraction or `inf` becomes text."""
    if isinstance(value, Fraction) or value == math.inf:
        return str(value)
    return value


def unknown_field(name: str, known: Iterable[str]) -> RulesError:
    """The error for a field that does not exist; it names the most similar one."""
    setting = TRADE_WORDS.get(name.lower())
    near = [setting] if setting else difflib.get_close_matches(name, known, 1)
    hint = f"did you mean {near[0]}?" if near else f"fields are {', '.join(known)}"
    return RulesError(f"no rule is called {name!r}; {hint}")


def html_table(title: str, rows: Iterable[tuple[str, object, str]]) -> str:
    """A table of fields as HTML. rows: name, value and meaning of each."""
    cells = "".join(
        f"<tr><th>{name}</th><td>{escape(str(plain(value)))}</td><td>{escape(meaning)}</td></tr>"
        for name, value, meaning in rows
    )
    return f"<table><caption>{escape(title)}</caption><tbody>{cells}</tbody></table>"
