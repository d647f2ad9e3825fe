"""A hook of mkdocs: puts what the code says of itself where a page asks for it, as in <!-- modules -->."""

import ast
import re
import tomllib
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path

PACKAGE = Path(__file__).parents[1] / "src" / "bjsim"
PAGES = PACKAGE.parents[1] / "docs"
MARK = re.compile(r"^<!-- (\w+) -->$", re.MULTILINE)


def table(head: str, rows: Iterable[Iterable[str]]) -> str:
    """A table in Markdown."""
    heads = head.split(", ")
    texts = [
        [" ".join(cell.split()).replace("|", "\\|") for cell in row] for row in (heads, ["---"] * len(heads), *rows)
    ]
    return "\n".join(f"| {' | '.join(row)} |" for row in texts)


def modules() -> str:
    """All modules, in the order of the packages' layers, with the first paragraph of each."""
    rows = []
    for package in ("sim", "strategies", "bots", "table", "app", "cli"):
        for path in sorted((PACKAGE / package).rglob("*.py")):
            words = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
            if words and "samples" not in path.parts and path.name != "__init__.py":
                rows.append((f"`{path.relative_to(PACKAGE).as_posix()}`", words.split("\n\n")[0]))
    return table("module, content", rows)


def games() -> str:
    """The games with their values, which a test compares with the solver's."""
    from bjsim.sim.game.presets import PRESETS

    values = tomllib.loads((PAGES / "reference" / "values.toml").read_text(encoding="utf-8"))
    rows = ((f"`{name}`", game.about, values[name], game.source) for name, game in PRESETS.items())
    return table("game, what it is, value, source", rows)


def readings() -> str:
    """How each game is played where its source is silent or ambiguous."""
    from bjsim.sim.game.presets import PRESETS

    return table("game, reading", ((f"`{name}`", each) for name, game in PRESETS.items() for each in game.decisions))


def strategies() -> str:
    """The named strategies: charts, then players."""
    from bjsim.strategies.players.catalogue import BUILT_IN, CATALOGUE

    named = {**CATALOGUE, **BUILT_IN}.items()
    return table("strategy, what it does, source", ((f"`{name}`", one.about, one.source) for name, one in named))


def rules() -> str:
    """Every rule, with its default, its meaning and what it accepts."""
    from bjsim.sim.game.rules import RULE_FIELDS, Rules, plain

    rows = []
    for name, field in RULE_FIELDS.items():
        default = str(plain(getattr(Rules(), name)))
        rows.append((f"`{name}`", default.lower(), field["meaning"], field["accepts"]))
    return table("rule, default, meaning, accepts", rows)


def pages() -> str:
    """All pages, as the navigation has them."""
    nav = (PAGES.parent / "mkdocs.yml").read_text(encoding="utf-8").partition("\nnav:\n")[2].partition("\nextra_css")[0]
    lines = []
    for line in nav.splitlines():
        title, page = line.strip(" -").split(":", 1)
        lines.append(f"- [{title}]({page.strip()})" if page.strip() else f"\n### {title}\n")
    return "\n".join(line for line in lines if "(index.md)" not in line)


def public(kind: str, file: str = "__init__.pyi") -> str:
    """The reference of the public names of a kind, in the order of the file that imports them."""
    source = (PACKAGE / file).read_text(encoding="utf-8")
    lines = []
    for home, name in re.findall(r"^from (bjsim\S+) import (\w+) as \w+$", source, re.MULTILINE):
        of = "errors" if home == "bjsim.errors" else "functions" if name.islower() or name.isupper() else "classes"
        if kind in (of, file):
            lines.append(f"::: {home}.{name}")
        if kind == of and name.isupper():
            lines.append("    options:\n      show_attribute_values: false")
    return "\n".join(lines)


TABLES: dict[str, Callable[[], str]] = {
    each.__name__: each for each in (modules, games, readings, strategies, rules, pages)
}
TABLES |= {kind: partial(public, kind) for kind in ("functions", "classes", "errors")}
TABLES["gym"] = partial(public, "gym.py", "gym.py")


def on_page_markdown(markdown: str, **_: object) -> str:
    return MARK.sub(lambda mark: TABLES[mark[1]]() if mark[1] in TABLES else mark[0], markdown)
