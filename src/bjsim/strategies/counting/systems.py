"""The built-in counting systems (`systems.toml`), and systems from TOML files."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from bjsim.errors import InputError, suggest
from bjsim.files import read_toml
from bjsim.strategies.counting.system import CountingSystem


@cache
def built_in_systems() -> Mapping[str, CountingSystem]:
    systems: dict[str, CountingSystem] = {}
    for name, values in read_toml(Path(__file__).with_name("systems.toml")).items():
        base = systems.get(values.pop("system", ""))
        systems[name] = base.replace(name=name, **values) if base else CountingSystem(name, **values)
    return systems


def find_system(name: str | os.PathLike[str]) -> CountingSystem:
    """Find a counting system by the name of a built-in one, or load it from a file that ends in .toml."""
    if Path(name).suffix == ".toml":
        return load_system(name)
    systems = built_in_systems()
    text = os.fspath(name)
    if text.lower() in systems:
        return systems[text.lower()]
    hint = suggest(text.lower(), systems, f"systems are {', '.join(systems)}.")
    raise InputError(f"no counting system is called {text!r}; {hint} A file of one must end in .toml")


def load_system(path: str | os.PathLike[str]) -> CountingSystem:
    """Load a counting system from a TOML file with values by field; without a name, it has that of the file.

    With `system = "NAME"`, missing fields have the values of that system.
    """
    try:
        values = read_toml(Path(path))
        stem = Path(path).stem
        if "system" in values:
            return find_built_in(values.pop("system")).replace(**{"name": stem, **values})
        if "tags" not in values:
            raise InputError('tags are missing; give ten numbers, for A, 2..9 and T, or system = "hilo"')
        return CountingSystem(stem, values.pop("tags")).replace(**values)
    except OSError as error:
        raise InputError(f"cannot read the counting system {os.fspath(path)}: {error.strerror}") from None
    except InputError as error:
        raise InputError(f"{os.fspath(path)}: {error}") from None
    except ValueError as error:
        raise InputError(f"{os.fspath(path)} {error}") from None


def find_built_in(name: object) -> CountingSystem:
    """Find a built-in system; files are not followed further. Raises: InputError."""
    if not isinstance(name, str) or name.lower().endswith(".toml"):
        raise InputError(f"system = {name!r} is not accepted; use {', '.join(built_in_systems())}")
    return find_system(name)
