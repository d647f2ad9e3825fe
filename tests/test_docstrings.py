"""Every public name is documented: Google sections that agree with the signature, and an entry in the API reference.

Read from the source, as the reference's builder reads it: nothing is imported but the list of names.
"""

from __future__ import annotations

import ast
import builtins
import doctest
import re
import runpy
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest
from support.documents import ROOT

import bjsim
from bjsim.lazy_names import read_homes

PACKAGE = Path(bjsim.__file__).parent
HOMES = read_homes(bjsim.__file__)
PROPERTIES = {"property", "cached_property"}
SECTION = re.compile(r"(Args|Attributes|Returns|Raises|Yields):")
INHERITED = re.compile(r"see `[A-Z]\w+\.\w+`")  # of a base class, whose method has the sections
DATA = {"PRESETS", "__version__"}  # neither a class nor a function

Function = ast.FunctionDef | ast.AsyncFunctionDef


def sections(docstring: str) -> dict[str, list[str]]:
    """Section -> what it lists: the names before the colons, or for Returns the first words."""
    found: dict[str, list[str]] = {}
    current: list[str] | None = None
    for line in docstring.splitlines():
        if match := SECTION.fullmatch(line):
            current = found[match[1]] = []
        elif line and not line.startswith(" "):
            current = None
        elif current is not None and (match := re.match(r"    (?! )(?:\*{0,2}([\w, ]+)(?=:)|.*)", line)):
            current += (match[1] or match[0]).strip().split(", ")
    return found


def decorators(function: Function) -> set[str]:
    return {ast.unparse(each).rpartition(".")[2] for each in function.decorator_list}


def parameters(function: Function) -> list[str]:
    arguments = function.args
    names = [*arguments.posonlyargs, *arguments.args, arguments.vararg, *arguments.kwonlyargs, arguments.kwarg]
    return [each.arg for each in names if each and each.arg not in ("self", "cls") and not each.arg.startswith("_")]


def raised(function: Function) -> set[str]:
    """The classes of the errors that the body itself raises, without those of functions inside it."""
    return {
        node.exc.func.id
        for node in ast.walk(function)
        if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call) and isinstance(node.exc.func, ast.Name)
    }


def check_function(name: str, function: Function, documented_by_class: bool = False) -> Iterator[str]:
    """What is missing from a function's docstring; a constructor is documented by its class."""
    docstring = ast.get_docstring(function)
    if not docstring:
        yield f"{name}: no docstring"
        return
    parts = sections(docstring)
    if INHERITED.search(docstring):
        return
    if decorators(function) & PROPERTIES:
        if raised(function) and "Raises" not in parts:
            yield f"{name}: raises {sorted(raised(function))} without Raises"
        return
    if parts.get("Args", []) != parameters(function):
        yield f"{name}: Args are {parts.get('Args', [])}, the parameters {parameters(function)}"
    returns = function.returns
    returns_none = returns is None or (isinstance(returns, ast.Constant) and returns.value is None)
    described = function.name == "describe"  # whose result `Described` documents for all
    if not (returns_none or described or parts.keys() & {"Returns", "Yields"}):
        yield f"{name}: returns {ast.unparse(returns)} without Returns"  # type: ignore[arg-type]
    if raised(function) and "Raises" not in parts:
        yield f"{name}: raises {sorted(raised(function))} without Raises"
    yield from check_errors(name, parts)


def check_errors(name: str, parts: dict[str, list[str]]) -> Iterator[str]:
    """A caller must be able to catch what Raises names."""
    for error in parts.get("Raises", []):
        if error not in bjsim.__all__ and not hasattr(builtins, error):
            yield f"{name}: Raises names {error}, which is not public"


def class_fields(node: ast.ClassDef) -> Iterator[str]:
    """Fields in the body of a data class or a named tuple, and attributes that the constructor sets."""
    for each in node.body:
        if isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name):
            yield each.target.id
        if isinstance(each, ast.FunctionDef) and each.name == "__init__":
            for inside in ast.walk(each):
                targets = inside.targets if isinstance(inside, ast.Assign) else [getattr(inside, "target", None)]
                for target in targets if isinstance(inside, ast.Assign | ast.AnnAssign) else ():
                    if isinstance(target, ast.Attribute) and ast.unparse(target.value) == "self":
                        yield target.attr


def check_class(name: str, node: ast.ClassDef) -> Iterator[str]:
    """What is missing from the docstrings of a class and its public methods."""
    docstring = ast.get_docstring(node)
    if not docstring:
        yield f"{name}: no docstring"
        return
    parts = sections(docstring)
    functions = [each for each in node.body if isinstance(each, ast.FunctionDef) and "overload" not in decorators(each)]
    constructor = next((each for each in functions if each.name == "__init__"), None)
    fields = [each for each in class_fields(node) if not each.startswith("_")]
    listed = parts.get("Args", []) + parts.get("Attributes", [])
    expected = {*fields, *(parameters(constructor) if constructor else ())}
    properties = {each.name for each in functions if decorators(each) & PROPERTIES}
    if missing := [each for each in fields if each not in listed]:
        yield f"{name}: Args and Attributes lack {missing}"
    if unknown := [each for each in listed if each not in expected | properties]:
        yield f"{name}: has no {unknown}"
    if constructor and parts.get("Args", []) != parameters(constructor):
        yield f"{name}: Args are {parts.get('Args', [])}, the parameters {parameters(constructor)}"
    makers = [each for each in functions if each.name in ("__init__", "__post_init__", "__new__")]
    if any(map(raised, makers)) and "Raises" not in parts:
        yield f"{name}: its constructor raises without Raises"
    yield from check_errors(name, parts)
    for function in functions:
        if not function.name.startswith("_"):
            yield from check_function(f"{name}.{function.name}", function)


def check_alias(name: str, source: str) -> Iterator[str]:
    """What is missing from the text below `NAME = function(REQUEST, ...)`: Returns and Raises; the request has Args."""
    found = re.search(rf'^{name} = function\((\w+), "{name}", .*\n"""(.*?)^"""', source, re.MULTILINE | re.DOTALL)
    if not found:
        yield f"{name}: no docstring"
        return
    parts = sections(found[2])
    if f"`{found[1]}`" not in found[2] or not parts.keys() >= {"Returns", "Raises"}:
        yield f"{name}: does not name {found[1]}, or lacks Returns or Raises"
    yield from check_errors(name, parts)


def check_source(source: str, name: str) -> list[str]:
    """What is missing from the docstrings of a class or function in a module."""
    for node in ast.parse(source).body:
        if isinstance(node, ast.ClassDef) and node.name == name:
            return list(check_class(name, node))
        if isinstance(node, Function) and node.name == name and "overload" not in decorators(node):
            return list(check_function(name, node))
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == name:
            return list(check_alias(name, source))
    raise AssertionError(f"{name} is not in the module")


@pytest.mark.parametrize("name", sorted(set(bjsim.__all__) - DATA))
def test_every_public_name_is_documented(name: str) -> None:
    module = PACKAGE.joinpath(*HOMES[name].split(".")[1:]).with_suffix(".py")
    assert check_source(module.read_text(encoding="utf-8"), name) == []


def test_the_reference_shows_every_public_name_once() -> None:
    """A hook of mkdocs puts them into the page."""
    page = (ROOT / "docs/reference/api.md").read_text(encoding="utf-8")
    shown = runpy.run_path(str(ROOT / ".ci" / "tables.py"))["on_page_markdown"](page)
    paths = [path for path in re.findall(r"^::: ([\w.]+)$", shown, re.MULTILINE)]
    assert {f"{home}.{name}" for name, home in HOMES.items()} < {*paths} and len({*paths}) == len(paths)
    assert "<!--" not in shown and any(path.startswith("bjsim.strategies.learning.gym_env.") for path in paths)


EXAMPLES = [path for path in sorted(PACKAGE.rglob("*.py")) if ">>>" in path.read_text(encoding="utf-8")]


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.relative_to(PACKAGE).as_posix())
def test_examples_in_docstrings_are_right(path: Path) -> None:
    """A docstring may be a text below a name, as that of a function made of a request is."""
    module = ".".join(["bjsim", *path.relative_to(PACKAGE).with_suffix("").parts]).removesuffix(".__init__")
    source = path.read_text(encoding="utf-8")
    texts = [node.value for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Constant)]
    for text in (text for text in texts if isinstance(text, str) and ">>>" in text):
        test = doctest.DocTestParser().get_doctest(text, vars(import_module(module)).copy(), module, str(path), 0)
        assert test.examples and doctest.DocTestRunner().run(test).failed == 0


GOOD = """
def play(rules: Rules, *bots: str, seed: int = 1) -> int:
    '''Play.

    Args:
        rules: The rules,
            which are long: two lines.
        *bots: The bots.
        seed: The seed.

    Returns:
        The profit.

    Raises:
        InputError: A bot is unknown.
    '''
    raise InputError("no")


class Shoe:
    '''A shoe.

    Args:
        decks: The decks.

    Attributes:
        left: The cards left.
    '''

    def __init__(self, decks: int) -> None:
        self.decks = decks
        self.left = 52 * decks

    @property
    def empty(self) -> bool:
        '''Whether no card is left.'''
        return not self.left
"""


@pytest.mark.parametrize(
    ("name", "old", "new", "complaint"),
    [
        ("play", "        seed: The seed.\n", "", "play: Args are ['rules', 'bots'], the parameters"),
        (
            "play",
            "        seed: The",
            "        seeds: The",
            "play: Args are ['rules', 'bots', 'seeds']",
        ),
        ("play", "    Returns:\n        The profit.\n", "", "play: returns int without Returns"),
        (
            "play",
            "    Raises:\n        InputError: A bot is unknown.\n",
            "",
            "play: raises ['InputError'] without Raises",
        ),
        ("play", "InputError: A", "ShoeError: A", "play: Raises names ShoeError, which is not public"),
        ("Shoe", "    Attributes:\n        left: The cards left.\n", "", "Shoe: Args and Attributes lack ['left']"),
        ("Shoe", "        left: The", "        lefts: The", "Shoe: has no ['lefts']"),
        ("Shoe", "        decks: The decks.\n", "", "Shoe: Args are [], the parameters ['decks']"),
        ("Shoe", "'''Whether no card is left.'''", "", "Shoe.empty: no docstring"),
        (
            "Shoe",
            "A shoe.",
            "A shoe.\n\n    Raises:\n        _Odd: Never.",
            "Shoe: Raises names _Odd, which is not public",
        ),
    ],
)
def test_a_gap_is_found(name: str, old: str, new: str, complaint: str) -> None:
    assert check_source(GOOD, name) == []
    assert GOOD.count(old) == 1
    found = check_source(GOOD.replace(old, new), name)
    assert any(each.startswith(complaint) for each in found), found
