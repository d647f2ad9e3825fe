"""A hook of mkdocs: puts a table of all modules, with the first sentence of each, where a page asks for it."""

import ast
from pathlib import Path

PACKAGE = Path(__file__).parents[1] / "src" / "bjsim"
MARK = "<!-- modules -->"


def table() -> str:
    """The table in Markdown, in the order of the packages' layers."""
    lines = ["| module | content |", "|---|---|"]
    for package in ("sim", "strategies", "bots", "cli", "app"):
        for path in sorted((PACKAGE / package).rglob("*.py")):
            words = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
            if words and "samples" not in path.parts and path.name != "__init__.py":
                first = " ".join(words.split("\n\n")[0].split()).replace("|", "\\|")
                lines.append(f"| `{path.relative_to(PACKAGE).as_posix()}` | {first} |")
    return "\n".join(lines)


def on_page_markdown(markdown: str, **_: object) -> str:
    return markdown.replace(MARK, table()) if MARK in markdown else markdown
