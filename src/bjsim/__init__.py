"""bjsim: simulate, solve and judge blackjack, and run contests of blackjack bots.

>>> import bjsim
>>> rules = bjsim.load_rules("easy")
>>> f"{bjsim.solve(rules).value:.6f}"
'0.116685'

Public names and `bjsim.gym` are imported when they are first used, so that `import bjsim` is fast.
"""

from importlib import import_module

from bjsim.lazy_names import read_homes

__version__ = "0.2.0"
_HOMES = read_homes(__file__)
__all__ = ["__version__", *_HOMES]


def __getattr__(name: str) -> object:
    if name == "gym":
        try:
            return import_module("bjsim.gym")
        except ImportError as error:
            raise AttributeError(f"bjsim.gym: {error}; in a checkout: pip install '.[gym]'") from error
    if name not in _HOMES:
        raise AttributeError(f"module 'bjsim' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return __all__
