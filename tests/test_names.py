"""Modules and names in backticks, in documents, docstrings and comments, are those of the code."""

import ast
import io
import re
import tokenize
from pkgutil import resolve_name

from support.documents import PAGES, ROOT

# modules that readers write
EXAMPLES = {"NAME.py", "bold.py", "careful.py", "file.py", "train.py", "value.py"}
FOREIGN = {"bjsim.players", "posix_fadvise"}
SOURCES = [path for top in ("src", "tests", "bench", ".ci") for path in sorted((ROOT / top).rglob("*.py"))]
PATHS = [f"/{path.relative_to(ROOT).as_posix()}" for path in SOURCES]
IMPORTED = re.compile(r"from (bjsim[\w.]*) import (\w+)")
QUOTED = re.compile(r"`([A-Za-z_][\w/]*(?:\.\w+)*)(?:\([^`]*\))?`")


def split_source(source: str) -> tuple[list[str], set[str]]:
    """The docstrings of a module, and the words of its code."""
    nodes = list(ast.walk(ast.parse(source)))
    said = {node.value: None for node in nodes if isinstance(node, ast.Expr)}
    code = [value for node in nodes if node not in said for value in vars(node).values() if isinstance(value, str)]
    text = [node.value for node in said if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    return text, set(re.findall(r"\w+", " ".join(code)))


def comments(source: str) -> list[str]:
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    return [token.string for token in tokens if token.type == tokenize.COMMENT]


def is_stale(name: str, known: set[str]) -> bool:
    """Whether a name in backticks is a module that is not there, or has an underscore and is nowhere in the code."""
    if name.endswith(".py"):
        return name.split("/")[-1] not in EXAMPLES and not any(path.endswith(f"/{name}") for path in PATHS)
    if name.startswith("bjsim.") and name not in known:
        try:
            return resolve_name(name) is None
        except (ImportError, AttributeError) as error:
            return "gymnasium" not in str(error)  # an extra
    return "/" not in name and any("_" in part and part not in known for part in name.split("."))


def test_names_in_texts_are_those_of_the_code() -> None:
    modules = {path: split_source(path.read_text("utf-8")) for path in SOURCES}
    known = set().union(*(words for _, words in modules.values())) | {path.stem for path in SOURCES} | FOREIGN
    texts = {
        path: "\n".join([*text, *comments(path.read_text("utf-8"))])
        for path, (text, _) in modules.items()
        if path.is_relative_to(ROOT / "src")
    }
    texts |= {path: path.read_text("utf-8") for path in (*PAGES, ROOT / "CONTRIBUTING.md")}
    stale = [
        f"{path.relative_to(ROOT)}: {name}"
        for path, text in texts.items()
        for name in [*QUOTED.findall(text), *map(".".join, IMPORTED.findall(text))]
        if is_stale(name, known)
    ]
    assert not stale, "\n".join(stale)
    assert is_stale("sim/game/plan.py", known) and is_stale("compile_" + "plan", known)  # negative control
