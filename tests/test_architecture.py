"""The structure of the package: imports point one way, modules are short and documented, names are unique."""

from __future__ import annotations

import ast
import graphlib
import re
import runpy
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import bjsim
from bjsim.sim.engine.kernels import layout
from bjsim.sim.game import actions

ROOT = Path(__file__).resolve().parents[1]
ROOT_PACKAGE = Path(bjsim.__file__).parent
# Modules that every package may use.
COMMON = (
    "__version__",
    "arguments",
    "arrays",
    "asked",
    "errors",
    "files",
    "json_values",
    "lazy_names",
    "report",
    "sums",
)
API = {  # only the command line and the app may use the public functions
    "cli": ("api", "request", "run", "run_result"),
    "app": ("request",),
    "table": (),
    "bots": (),
    "strategies": (),
    "sim": (),
}
PACKAGES = ("cli", "app", "table", "bots", "strategies", "sim")  # each may import itself and those after it
PAGE = ROOT / "docs" / "explanation" / "architecture.md"
LAYERS = {  # as the page has them: inside a package, each part may import itself and those after it
    package: re.findall(r"`(\w+)`", row)
    for package in ("sim", "strategies", "bots", "bots/contest")
    for (row,) in [re.findall(rf"^\| {package} \| (.*) \|$", PAGE.read_text("utf-8"), re.MULTILINE)]
}
LONGEST_MODULE = 640  # lines
LONGEST_FUNCTION = 60  # lines without decorators and docstring


def modules(package: str) -> list[Path]:
    """The Python files of a package, without generated ones."""
    return sorted(path for path in (ROOT_PACKAGE / package).rglob("*.py") if "__pycache__" not in path.parts)


@cache
def sources() -> dict[str, str]:
    """The text of every Python file of bjsim, by its path."""
    return {path.relative_to(ROOT_PACKAGE).as_posix(): path.read_text("utf-8") for path in ROOT_PACKAGE.rglob("*.py")}


@cache
def parsed(source: str) -> ast.Module:
    return ast.parse(source)


@cache
def imported_names(tree: ast.AST) -> list[tuple[int, str]]:
    return list(find_imported_names(tree))


def find_imported_names(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """(line, dotted name) of everything that a module imports, including `import_module("…")` with a literal.

    A relative import is given as `.name`.
    """
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):
                yield from ((node.lineno, alias.name) for alias in names)
            case ast.ImportFrom(module=module, names=names, level=level):
                start = "." * level + (f"{module}." if module else "")
                yield from ((node.lineno, start + alias.name) for alias in names)
            case ast.Call(
                func=ast.Name(id="import_module" | "__import__") | ast.Attribute(attr="import_module"),
                args=[ast.Constant(value=str(name)), *_],
            ):
                yield node.lineno, name


def wrong_imports(package: str, source: str) -> list[str]:
    """Complaints, "line N: …", about the imports of a module in `package`; empty if all of them are allowed."""
    allowed = PACKAGES[PACKAGES.index(package) :]
    complaints = []
    for line, name in imported_names(parsed(source)):
        top, _, rest = name.partition(".")
        if top == "":
            complaints.append(f"line {line}: {name} is relative; import bjsim.… instead")
        elif top in PACKAGES:
            complaints.append(f"line {line}: {name} is not below bjsim; import bjsim.{name} instead")
        elif top == "bjsim" and rest.partition(".")[0] not in (*allowed, *COMMON, *API[package]):
            complaints.append(f"line {line}: {name}; {package} may import only from {', '.join(allowed)}")
    return complaints


def import_graph() -> dict[str, set[str]]:
    """For every module of bjsim, the modules of bjsim that it imports."""
    paths = ROOT_PACKAGE.rglob("*.py")
    files = {".".join(("bjsim", *path.relative_to(ROOT_PACKAGE).with_suffix("").parts)): path for path in paths}
    graph: dict[str, set[str]] = {}
    for module, path in files.items():
        if "samples" in path.parts:
            continue
        names = [name for _, name in imported_names(parsed(path.read_text(encoding="utf-8")))]
        targets = {name if name in files else name.rpartition(".")[0] for name in names}
        graph[module] = {target for target in targets if target in files and target != module}
    return graph


def upward_imports(package: str, graph: dict[str, set[str]]) -> list[str]:
    """Imports between the parts of `package` that LAYERS does not allow."""
    prefix, layers = f"bjsim.{package.replace('/', '.')}.", LAYERS[package]
    complaints = []
    for module, targets in graph.items():
        for target in targets:
            if not (module.startswith(prefix) and target.startswith(prefix)) or module.endswith("__init__"):
                continue
            one, other = (name.removeprefix(prefix).partition(".")[0] for name in (module, target))
            if layers.index(other) < layers.index(one):
                complaints.append(f"{module} imports {target}, which is above it")
    return complaints


def own_paths(text: str, root: Path) -> list[str]:
    """Absolute paths in `text` that are specific to one machine.

    These are paths in a home directory, and paths in the top-level directory of the repository `root`; or in `root`
    itself, if every machine has that top-level directory.
    """
    patterns = [r"/(?:home|Users|root)/[.\w]"]
    if len(root.parts) > 2:
        everywhere = {"etc", "mnt", "opt", "private", "srv", "tmp", "usr", "var"}
        own_top = root.parts[1] not in everywhere
        patterns.append(rf"/{re.escape(root.parts[1])}/\w" if own_top else rf"{re.escape(str(root))}\b")
    return [match[0] for match in re.finditer(rf"(?<![\w.~}}])(?:{'|'.join(patterns)})[\w./-]*", text)]


@pytest.mark.parametrize("package", PACKAGES)
def test_imports_point_one_way(package: str) -> None:
    assert modules(package), f"{package}/ contains no module"
    complaints = [
        f"{path.relative_to(ROOT)} {complaint}"
        for path in modules(package)
        for complaint in wrong_imports(package, path.read_text(encoding="utf-8"))
    ]
    assert not complaints, "\n".join(complaints)


@pytest.mark.parametrize(
    ("package", "source"),
    [
        ("sim", "import bjsim.strategies.charts.chart"),
        ("sim", "from bjsim import bots"),
        ("sim", "from bjsim import Rules"),
        ("sim", "import bjsim"),
        ("strategies", "def late():\n    from bjsim.bots.player import BotPlayer"),
        ("strategies", "if TYPE_CHECKING:\n    import bjsim.cli"),
        ("app", "from bjsim.cli.options import Count"),
        ("bots", "import os, bjsim.cli.main"),
        ("bots", "importlib.import_module('bjsim.cli.main')"),
        ("cli", "import sim"),
        ("cli", "from strategies.chart import Chart"),
        ("cli", "from . import main"),
    ],
)
def test_a_planted_wrong_import_is_caught(package: str, source: str) -> None:
    """Negative control of test_imports_point_one_way."""
    assert len(wrong_imports(package, source)) == 1


@pytest.mark.parametrize("package", LAYERS)
def test_imports_inside_a_package_point_one_way(package: str) -> None:
    graph = import_graph()
    parts = {path.stem if path.is_file() else path.name for path in (ROOT_PACKAGE / package).iterdir()}
    parts = parts - {"__init__", "__pycache__", "samples", "templates", "errors"}
    assert sorted(parts) == sorted(LAYERS[package]), "the page does not list the parts of this package"
    complaints = upward_imports(package, graph)
    assert not complaints, "\n".join(complaints)


def test_an_upward_import_inside_a_package_is_caught() -> None:
    """Negative control of test_imports_inside_a_package_point_one_way."""
    assert upward_imports("sim", {"bjsim.sim.game.rules": {"bjsim.sim.engine.compiled_rules"}})


def test_no_import_circle() -> None:
    """Imports inside functions count too."""
    list(graphlib.TopologicalSorter(import_graph()).static_order())  # raises CycleError, which names the circle


@pytest.mark.parametrize("package", PACKAGES)
def test_every_folder_of_modules_is_a_package(package: str) -> None:
    """A directory without `__init__.py` is missing from the wheel. The sample bots are data, not modules."""
    folders = {path.parent for path in modules(package)} - {ROOT_PACKAGE / "bots" / "samples"}
    missing = sorted(str(path.relative_to(ROOT)) for path in folders if not (path / "__init__.py").exists())
    assert not missing, f"no __init__.py in {', '.join(missing)}"


def test_the_table_of_modules_in_the_docs_has_every_module() -> None:
    """The hook of mkdocs leaves out a module without a sentence about what it holds."""
    hook = runpy.run_path(str(ROOT / ".ci" / "tables.py"))
    present = {path.relative_to(ROOT_PACKAGE).as_posix() for package in PACKAGES for path in modules(package)}
    rows = [line.split("`")[1] for line in hook["modules"]().splitlines()[2:]]
    assert sorted(rows) == sorted(path for path in present if not re.search("__init__|samples", path))
    assert hook["on_page_markdown"](PAGE.read_text(encoding="utf-8")).count("| `sim/game/rules.py` |") == 1


def test_what_the_workflows_run_exists() -> None:
    texts = [path.read_text(encoding="utf-8") for path in (ROOT / ".github" / "workflows").glob("*.yml")]
    named = {name for text in texts for name in re.findall(r"python (\S+\.py)\b", text)}
    assert named and not [name for name in named if not (ROOT / name).is_file()]


def test_no_file_contains_a_path_of_one_machine() -> None:
    folders = ("tests", "bench", "docs", "src", ".ci", ".github")
    generated = {"__pycache__", "bjsim.egg-info"}
    files = [path for name in ("*.md", "*.toml", "Makefile", ".gitignore") for path in ROOT.glob(name)]
    files += [path for folder in folders for path in (ROOT / folder).rglob("*") if path.is_file()]
    found = [
        f"{path.relative_to(ROOT)}: {', '.join(paths)}"
        for path in sorted(files)
        if not generated.intersection(path.parts)
        and (paths := own_paths(path.read_bytes().decode("utf-8", "replace"), ROOT))
    ]
    assert not found, "\n".join(found)


def test_a_planted_path_is_caught() -> None:
    """Negative control of test_no_file_contains_a_path_of_one_machine."""
    home, checkout = "/home" + "/someone/x.py", "/" + "data/team/bjsim"
    assert own_paths(f'open("{home}")', ROOT) == [home]
    assert own_paths(f"see {checkout}/sim", Path(checkout)) == [f"{checkout}/sim"]
    assert own_paths(f"see {'/' + 'data/other'}", Path(checkout)) == ["/" + "data/other"]
    assert own_paths("#!/usr/bin/env python3, /usr/share/x, ../data/x, docs/data/x", Path(checkout)) == []
    assert own_paths("#!/usr/bin/env python3", Path("/usr" + "/src/bjsim")) == []


def long_functions(source: str) -> list[str]:
    """The functions with more than LONGEST_FUNCTION lines, as "name: lines"."""
    found = []
    for node in ast.walk(parsed(source)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            lines = node.end_lineno - node.lineno + 1  # type: ignore[operator]
            if ast.get_docstring(node) is not None:
                lines -= node.body[0].end_lineno - node.body[0].lineno + 1  # type: ignore[operator]
            if lines > LONGEST_FUNCTION:
                found.append(f"{node.name}: {lines}")
    return found


def test_no_module_and_no_function_is_too_long() -> None:
    long = {name for name, text in sources().items() if text.count("\n") > LONGEST_MODULE}
    assert not long, f"modules of over {LONGEST_MODULE} lines; split them by concept"
    functions = {name: found for name, text in sources().items() if (found := long_functions(text))}
    assert not functions, "functions of over 60 lines"


def test_a_long_function_is_caught() -> None:
    """Negative control of test_no_module_and_no_function_is_too_long."""
    body = "    x = 1\n" * LONGEST_FUNCTION
    assert long_functions(f"@decorated\ndef f():\n{body}") == [f"f: {LONGEST_FUNCTION + 1}"]
    assert long_functions('def f():\n    """One.\n\n    Two.\n    """\n' + body.replace("    x = 1\n", "", 1)) == []


def readers(source: str) -> list[int]:
    """The lines that read a file by its path, but for what is installed with the package."""
    found = []
    for node in ast.walk(parsed(source)):
        if isinstance(node, ast.Call):
            name, text = ast.unparse(node.func), ast.unparse(node)
            reads = name.endswith((".read_text", ".read_bytes", "np.load")) or (
                re.search(r"\bopen$", name) and re.search(r"[(\s,]['\"]r[bt]*['\"]|^open\([\w.]+\)", text)
            )
            if reads and not re.search(r"^\(?files[.(]|^distribution\(|BytesIO|\.with_suffix\('\.pyi'\)", text):
                found.append(node.lineno)
    return found


def test_one_module_reads_files() -> None:
    """So that none waits for a pipe, or reads a device for ever. What only this program writes is excepted."""
    own = ("files.py", "bots/sandbox/", "sim/engine/jit.py")
    found = {name: lines for name, text in sources().items() if not name.startswith(own) and (lines := readers(text))}
    assert not found, "read with bjsim.files"


def test_a_planted_reader_is_caught() -> None:
    """Negative control of test_one_module_reads_files."""
    for text in ("Path(x).read_text()", "x.open('rb')", "open(x)", "np.load(x)", "x.read_bytes()"):
        assert readers(text) == [1], text
    for text in ("open(x, 'wb')", "x.open('a', encoding=y)", "read_bytes(x)", "np.load(io.BytesIO(x))", "self.open()"):
        assert readers(text) == [], text


def test_no_process_of_the_package_imports_from_the_current_folder() -> None:
    """`python -m` and `-c` put it first on sys.path; -I and -P do not."""
    starts = re.compile(r"sys\.executable,(?! \"-[IP])")
    assert not {name for name, text in sources().items() if starts.search(text)}


def test_a_class_name_means_one_thing() -> None:
    found: dict[str, list[str]] = {}
    for name, text in sources().items():
        for node in ast.walk(parsed(text)):
            if isinstance(node, ast.ClassDef):
                found.setdefault(node.name, []).append(name)
    assert "Rules" in found and not {name: paths for name, paths in found.items() if len(paths) > 1}


def test_letters_and_codes_of_actions_agree() -> None:
    assert list(actions.LETTERS) == [letter for letter in actions.NAMES if letter != "B"]
    for letter, code in actions.CODES.items():
        name = actions.NAMES[letter].upper()
        assert getattr(actions, name) == actions.Action(letter) and getattr(layout, name, code) == code
