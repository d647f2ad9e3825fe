"""Validation of arguments that commands and functions share."""

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from fractions import Fraction
from functools import wraps
from numbers import Real
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, TypeVar, Union, get_args, get_origin

from bjsim.errors import BjsimError, InputError, shorten, suggest
from bjsim.files import is_special

MAX_COUNT = 10**15  # largest accepted count of anything
MAX_HANDS = 10**10  # played to reach a precision if nothing else is given
MAX_TABLES = 10**6
MAX_WORKERS = 4096
SEED_BITS = 128  # of an unpredictable seed
MAX_SEED = (1 << SEED_BITS) - 1
EXPONENTS = {"k": "e3", "m": "e6", "b": "e9"}  # 10M is 10e6
F = TypeVar("F", bound=Callable[..., Any])
_on_command_line: ContextVar[bool] = ContextVar("_on_command_line", default=False)


@contextmanager
def command_line(is_on: bool = True) -> Iterator[None]:
    """Within this context, messages name arguments as options: `--hands` instead of `hands`."""
    token = _on_command_line.set(is_on)
    try:
        yield
    finally:
        _on_command_line.reset(token)


def argument(name: str, value: object = None) -> str:
    """An argument as the caller writes it, for a message: `seed=3`, or `--seed 3` on the command line."""
    value = os.fspath(value) if isinstance(value, os.PathLike) else value
    if not _on_command_line.get():
        return name if value is None else f"{name}={value!r}"
    option = "--" + name.replace("_", "-")
    return option if value is None or value is True else f"{option} {value}"


def a_type(value: object) -> str:
    """The type of a value with its article, for a message: `an int`."""
    name = type(value).__name__
    return f"{'an' if name[0] in 'aeioAEIO' else 'a'} {name}"


@contextmanager
def naming(name: str) -> Iterator[None]:
    """Within this context, errors name the argument; the command line keeps self-explanatory messages."""
    try:
        yield
    except InputError as error:
        if not _on_command_line.get() and not str(error).startswith(name):
            error.args = (f"{name}: {error}",)
        raise
    except (OSError, ValueError) as error:  # such as a path that is too long or contains a zero byte
        reason = error.strerror if isinstance(error, OSError) else error
        raise InputError(f"{argument(name)}: {reason}") from None


def names_wrong_types(function: F) -> F:
    """Let a public function or class whose work fails name the argument that is not of its annotated type.

    Nothing is refused that works, such as numpy's numbers and text for them.
    """
    if isinstance(function, type):
        function.__init__ = names_wrong_types(function.__init__)  # type: ignore[misc]
        return function

    @wraps(function)
    def guarded(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except BjsimError:
            raise
        except Exception:
            _refuse_unknown(function, kwargs)
            for name, value, hint in _annotated(function, args, kwargs):
                if _is_huge(value) or not _fits(value, hint):
                    wrong = "a number of thousands of digits" if _is_huge(value) else a_type(value)
                    raise InputError(f"{name}: {wrong} is not accepted; give {_in_words(hint)}") from None
            raise

    return guarded  # type: ignore[return-value]


def _refuse_unknown(function: Callable[..., Any], given: Mapping[str, Any]) -> None:
    """Raises: InputError: An argument is given that the function does not have; a rule is the usual one."""
    from inspect import signature  # as below

    known = signature(function).parameters
    if any(each.kind is each.VAR_KEYWORD for each in known.values()):
        return
    for name in (name for name in given if name not in known):
        otherwise = f"accepted are {', '.join(one for one in known if one != 'self')}"
        if "rules" in known:
            otherwise += f"; a rule is changed by load_rules(NAME).replace({name}=...)"
        raise InputError(f"no argument is called {name!r}; {suggest(name, known, otherwise)}") from None


def _annotated(function: Callable[..., Any], args: Any, kwargs: Any) -> Iterator[tuple[str, Any, Any]]:
    """The given arguments of a call, with their names and annotations; none if they do not match the parameters."""
    import inspect  # which takes as long as the rest of `import bjsim`

    signature = inspect.signature(function, eval_str=True)
    with suppress(TypeError):
        for name, value in signature.bind(*args, **kwargs).arguments.items():
            parameter = signature.parameters[name]
            if parameter.kind is not parameter.VAR_KEYWORD and parameter.annotation is not parameter.empty:
                several = parameter.kind is parameter.VAR_POSITIONAL
                yield from ((name, one, parameter.annotation) for one in (value if several else [value]))


def _fits(value: object, hint: Any) -> bool:
    """Whether a value is of an annotated type, as far as can be seen without using it."""
    origin, inner = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        return any(_fits(value, part) for part in inner)
    if hint in (int, float):
        with suppress(ValueError, ZeroDivisionError):
            value = _parse(value) if isinstance(value, str) else value
        return isinstance(value, Real) and not isinstance(value, bool) and (hint is float or value % 1 == 0)
    if origin is type:
        return isinstance(value, type) and issubclass(value, inner[0])
    if origin in (list, tuple, Sequence):
        if not isinstance(value, origin):
            return False
        if inner[0] is int and any(isinstance(part, str) for part in value):  # one number alone may be text
            return False
        return all(_fits(part, inner[0]) for part in value)
    if origin is Mapping:
        return isinstance(value, Mapping) and all(_fits(key, inner[0]) and _fits(value[key], inner[1]) for key in value)
    kind = NoneType if hint is None else origin or hint
    if getattr(kind, "_is_protocol", False):
        return all(hasattr(value, name) for name in vars(kind) if not name.startswith("_"))
    return not isinstance(kind, type) or isinstance(value, kind)


def _is_huge(value: object) -> bool:
    return isinstance(value, int) and abs(value) >= 10**4300  # which Python does not print


def _in_words(hint: Any) -> str:
    parts = get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)
    names = (part.__name__ if isinstance(part, type) and not get_args(part) else str(part) for part in parts)
    return " or ".join(re.sub(r"\w+\.|Type$", "", name) for name in names)


def whole_number(name: str, value: object, low: int = 1, most: int = MAX_COUNT, example: str = "1e7 or 10M") -> int:
    """Parse an integer from `low` to `most`: Python's, numpy's, an integral float, or text (`1e7`, `10M`).

    The InputError names the argument and the value, and gives `example` if numbers may be large.
    """
    try:
        number: Any = _parse(value) if isinstance(value, str) else value
        is_number = isinstance(number, Real) and not isinstance(number, bool)
        whole = int(number) if is_number else None
    except (ValueError, OverflowError):
        number = whole = None
    if whole is None or whole != number or not low <= whole <= most:
        shown = shorten(value) if isinstance(value, str | Real | None) else a_type(value)
        range_ = f"{low} to {most if most < 10**9 else one_digit(most)}"
        if most >= 10**9 and (whole is None or whole != number):  # which does not look like a number here
            range_ += f", such as {example}"
        raise InputError(f"{name}: {shown} is not accepted; use a whole number from {range_}")
    return whole


def one_digit(number: int) -> str:
    """A large number as its first digit, rounded, and a power of ten: `1e7`."""
    return f"{number:.0e}".replace("e+0", "e").replace("e+", "e")


def flag(name: str, value: object) -> bool:
    """A switch. Raises: InputError if it is neither true nor false."""
    text = isinstance(value, str | Real)
    if str(value) in ("True", "False", "0", "1") and not isinstance(value, str):  # also those of numpy
        return bool(value)
    shown = argument(name, value) if text else f"{argument(name)}: {a_type(value)}"
    raise InputError(f"{shown} is not accepted; use True or False")


def a_name(name: str, value: object) -> str:
    if not isinstance(value, str | os.PathLike):
        raise InputError(f"{argument(name)}: {a_type(value)} is not accepted; use a name, or the path of a file")
    with naming(name):
        os.fsencode(value)  # which no text with half a character survives
    return os.fspath(value)


def parse_fraction(value: object) -> Fraction:
    """Parse an exact number, such as 3/2, 1.5 or 1e6, without spending minutes on 1e99999999.

    A text has at most 100 characters, and two digits of exponent. ZeroDivisionError: the denominator is 0.
    """
    text = str(value)
    if len(text) > 100 or re.search(r"[eE][+-]?[\d_]{3}", text):
        raise ValueError("the number has too many digits")
    return Fraction(text)


def exact_number(name: str, value: object, most: int, use: str) -> Fraction:
    """Parse an exact number from 0 to `most`, or text such as 3/2; errors say that `use` is accepted."""
    try:
        number = Fraction(-1) if isinstance(value, bool) else parse_fraction(value)
    except (ValueError, ZeroDivisionError):
        number = Fraction(-1)
    if not 0 <= number <= most:
        raise InputError(f"{name}: {shorten(value)} is not accepted; use {use}")
    return number


def check_distinct(*paths: str | os.PathLike[str] | None) -> None:
    """Raises: InputError: Two of the paths are one file, so that the later result would replace the other."""
    places = [os.path.realpath(path) for path in paths if path is not None]
    if len({*places}) < len(places):
        raise InputError("two of the files are the same; give each its own name")


def check_writable(path: str | os.PathLike[str] | None, replaced: bool = False) -> None:
    """Raises: InputError, before anything is played, where a file could not be written at its end.

    One that is `replaced` whole, by another in its folder, needs that to be writable.
    """
    if path is None or path == "-":
        return
    target = Path(path)
    if not target.parent.is_dir():
        raise InputError(f"cannot write {path}: there is no folder {target.parent}")
    if replaced and is_special(target):
        raise InputError(f"cannot write {path}: it is not a regular file")
    if target.is_dir() or not os.access(target if target.exists() and not replaced else target.parent, os.W_OK):
        raise InputError(f"cannot write {path}: it is a folder or not writable")


def _parse(text: str) -> Fraction:
    text = text.strip()
    if exponent := EXPONENTS.get(text[-1:].lower()):
        text = text[:-1] + exponent
    return parse_fraction(text)


def amount(text: str, zero: bool = False) -> float | None:
    """Read an amount above 0, or from 0 if `zero`, such as 10k, 1.5M or 10,000; None if it is none, as 1,5 is none."""
    text = text.strip().lower()
    if re.fullmatch(r"\d{1,3}(,\d{3})+(?!\d)[^,]*", text):
        text = text.replace(",", "")
    scale = {"k": "e3", "m": "e6"}.get(text[-1:])
    try:
        found = float(text[:-1] + scale if scale else text)
    except ValueError:
        return None
    return found if 0 < found < 1e15 or (zero and found == 0) else None


def without_folders(text: str) -> str:
    """A list of values, such as `system=hilo,systems/my.toml`, with the names of its files; counts have no ending."""
    return re.sub(r"[^=,;]*[/\\](?=[^/\\,;]*\.[A-Za-z]+(?:[,;]|$))", "", text)


def short_names(names: Sequence[str]) -> dict[str, str]:
    """Short names by name: files lose their folders, except for those that tell two names apart."""
    parts = {name: Path(name).parts if Path(name).suffix or Path(name).is_file() else (name,) for name in names}
    short = {}
    for name, own in parts.items():
        others = [each for other, each in parts.items() if other != name]
        lengths = (n for n in range(1, len(own)) if all(each[-n:] != own[-n:] for each in others))
        short[name] = os.path.join(*own[-next(lengths, len(own)) :])
    return short
