"""The parameters that a function or a request declares: names, defaults, and what its docstring says of each."""

import ast
import inspect
import re
from collections.abc import Callable
from importlib import import_module
from importlib.resources import files
from typing import Any, NamedTuple, ParamSpec, TypeVar

from bjsim.asked.kinds import Written, kind_of

REQUIRED: Any = ...
P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")


class Parameter(NamedTuple):
    """A parameter that has a kind; others are Python's alone."""

    name: str
    kind: Written
    default: Any
    about: str


def parameters(target: str) -> list[Parameter]:
    """The parameters of `MODULE:NAME`, read from the source: help needs them, and must not wait for numpy."""
    module, _, name = target.partition(":")
    source = (files("bjsim") / f"{module.removeprefix('bjsim.').replace('.', '/')}.py").read_text("utf-8")
    *_, node = (each for each in ast.parse(source).body if getattr(each, "name", "") == name)
    if isinstance(node, ast.ClassDef):
        fields = [each for each in node.body if isinstance(each, ast.AnnAssign)]
        pairs = [(ast.unparse(each.target), each.value) for each in fields]
    else:
        assert isinstance(node, ast.FunctionDef)
        given = [*node.args.args, *node.args.kwonlyargs]
        defaults = [*[None] * (len(node.args.args) - len(node.args.defaults)), *node.args.defaults]
        pairs = [(each.arg, value) for each, value in zip(given, [*defaults, *node.args.kw_defaults], strict=True)]
    about = said_of_arguments(ast.get_docstring(node) or "")
    known = [(each, value, kind) for each, value in pairs if (kind := kind_of(name, each))]
    return [Parameter(each, kind, _value(value, module), about.get(each, "")) for each, value, kind in known]


def said_of_arguments(docstring: str) -> dict[str, str]:
    """The first sentence about each argument; what follows is for Python."""
    found = re.findall(r"^ {4}(\w+): (.*?)(?=^ {4}\w+: |\Z)", _arguments(docstring), re.MULTILINE | re.DOTALL)
    return {name: re.split(r"(?<=\.) (?=[A-Z`])", " ".join(text.split()))[0] for name, text in found}


def _arguments(docstring: str) -> str:
    """The section `Args:` of a docstring; empty if it has none."""
    section = re.search(r"^Args:\n.*?(?=^\S|\Z)", inspect.cleandoc(docstring), re.MULTILINE | re.DOTALL)
    return section[0] if section else ""


def _value(node: ast.expr | None, module: str) -> Any:
    """A default: a literal, a constant of its module, or None if it is made anew each time."""
    if node is None:
        return REQUIRED
    if isinstance(node, ast.Call):
        return None
    return getattr(import_module(module), node.id) if isinstance(node, ast.Name) else ast.literal_eval(node)


def function(request: Callable[P, R], name: str, play: Callable[[R], T]) -> Callable[P, T]:
    """A function with the parameters of a request, which makes one and plays it; type checkers see them too.

    Its help is what `play` says of itself, and the arguments of the request.
    """

    def call(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            asked = request(*args, **kwargs)
        except TypeError as error:  # such as a missing argument
            raise TypeError(str(error).replace(f"{request.__qualname__}.__init__", name)) from None
        return play(asked)

    call.__name__, call.__qualname__, call.__module__ = name, name, play.__module__
    call.__doc__ = f"{play.__doc__}\n\n{_arguments(request.__doc__ or '')}"
    result = inspect.signature(play).return_annotation
    call.__signature__ = inspect.signature(request).replace(return_annotation=result)  # type: ignore[attr-defined]
    return call
