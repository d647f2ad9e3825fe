"""Card counting: systems, index plays, bet ramps, and the risk of a counted game.

| module | what |
|---|---|
| `system` | `CountingSystem`: tags, initial count, divisor, rounding |
| `systems` | the built-in systems, and systems from TOML files |

Public names are imported when they are first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bjsim.strategies.counting.system import CountingSystem as CountingSystem
    from bjsim.strategies.counting.systems import find_system as find_system
    from bjsim.strategies.counting.systems import load_system as load_system

_MODULES = {
    "CountingSystem": "system",
    "find_system": "systems",
    "load_system": "systems",
}
__all__ = list(_MODULES)


def __getattr__(name: str) -> object:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
