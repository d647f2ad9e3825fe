"""`bjsim app --export`: the pages as a static site that computes in the browser, with Pyodide."""

import hashlib
import importlib.util
import io
import json
import py_compile
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from markupsafe import Markup

from bjsim.app.controls import PAGES
from bjsim.app.known import FIRST, game_key, known_answers, usual_games
from bjsim.app.pages import POLICY, assets, presets, shell
from bjsim.app.reports import REPORTS
from bjsim.app.work import ChosenGame, game_report
from bjsim.errors import InputError, file_errors
from bjsim.files import read_bytes, read_text
from bjsim.report.page import render_page
from bjsim.sim.running.workers import end_with_parent, own_processes, start_context

PYODIDE = "https://cdn.jsdelivr.net/pyodide/v0.27.7/full/"  # what the tests run with
RUNTIME = ("pyodide.mjs", "pyodide.asm.js", "pyodide.asm.wasm", "python_stdlib.zip", "pyodide-lock.json")
NEEDED = ("jinja2", "markupsafe")  # besides numpy, which Pyodide has compiled
LEFT_OUT = ("cli", "bots/samples")  # of bjsim, in a page
SITE_POLICY = (  # a browser may apply it to the worker too, which compiles WebAssembly; Chromium does not
    "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; img-src data:; connect-src 'self'; "
    "worker-src 'self'; frame-src 'self'; form-action 'none'; base-uri 'none'"
)
LONG_AGO = (1980, 1, 1, 0, 0, 0)  # so that the same files make the same archive


def export_site(
    folder: Path, pyodide: str = "", games: Iterable[ChosenGame] | None = None, processes: int = 1
) -> Iterator[tuple[int, int]]:
    """Write the site, and yield after each game how many are solved, and how many there are.

    Args:
        folder: Where to write; a new or an empty folder.
        pyodide: A folder with Pyodide's files and numpy, which are copied; or an address where they are. By default
            one whose files never change.
        games: Games whose figures travel with the site; the usual ones by default.
        processes: Number of processes that compute these figures.

    Raises:
        InputError: The folder is not empty or not writable, or a file of Pyodide is missing.
    """
    from_address = pyodide.startswith(("https://", "http://"))
    place = pyodide.rstrip("/") + "/" if from_address else "pyodide/" if pyodide else PYODIDE
    runtime = {} if from_address or not pyodide else _runtime(Path(pyodide))
    with file_errors(folder):
        folder.mkdir(parents=True, exist_ok=True)
        if any(folder.iterdir()):
            raise InputError(f"--export {folder}: the folder is not empty; name a new one")
    chosen = list(usual_games() if games is None else games)
    files: dict[str, str | bytes] = {}
    for done, answers in enumerate(_each(known_answers, chosen, processes)):
        files[f"known/{done}.json"] = json.dumps(answers)
        yield done + 1, len(chosen)
    files |= _pages(place) | {"app.zip": _archive(_python(runtime, place))}
    known = {game_key(game): f"known/{number}.json" for number, game in enumerate(chosen)}
    reports = {name: {"worker": job.worker, "kept": job.kept} for name, job in REPORTS.items()}
    files["site.json"] = json.dumps({"presets": presets(), "reports": reports, "games": known})
    content = {name: text.encode() if isinstance(text, str) else text for name, text in files.items()}
    lock = [read_bytes(runtime["pyodide-lock.json"])] if runtime else []  # has the hashes of all that is in a Pyodide
    hashed = [*(content[name] for name in sorted(content)), *lock]
    version = hashlib.sha256(b"".join(hashlib.sha256(data).digest() for data in hashed)).hexdigest()
    cached = {"files": ["./", *sorted(content)], "version": version[:16], "pyodide": place, "runtime": RUNTIME}
    content["service-worker.js"] = render_page("bjsim.app", "site_cache.js", **cached).encode()
    with file_errors(folder):  # at the end, so that a stopped export leaves an empty folder
        for name in ("known", "static", *(["pyodide"] if runtime else [])):
            (folder / name).mkdir()
        for name, source in runtime.items():
            shutil.copyfile(source, folder / "pyodide" / name)
        for name, data in content.items():
            (folder / name).write_bytes(data)


def _runtime(folder: Path) -> dict[str, Path]:
    """The files of Pyodide that a site needs, by name. Raises: InputError: One is missing."""
    missing = f"is missing; --pyodide {folder} is not a release of Pyodide with NumPy"
    lock = folder / "pyodide-lock.json"
    if not lock.is_file():
        raise InputError(f"{lock.name} {missing}")
    try:
        wheel = json.loads(read_text(lock))["packages"]["numpy"]["file_name"]
    except (ValueError, LookupError):
        raise InputError(f"numpy {missing}") from None
    found = {name: folder / name for name in (*RUNTIME, wheel)}
    for name, path in found.items():
        if not path.is_file():
            raise InputError(f"{name} {missing}")
    return found


def _python(runtime: dict[str, Path], place: str) -> str:
    """The version of Python that runs the site, such as 3.12; empty if that is not known."""
    if runtime:
        version = json.loads(read_text(runtime["pyodide-lock.json"]))["info"]["python"]
        return str(version).rpartition(".")[0]
    return "3.12" if place == PYODIDE else ""


def _each(
    compute: Callable[[ChosenGame], dict[str, str]], games: list[ChosenGame], processes: int
) -> Iterator[dict[str, str]]:
    if processes == 1:
        yield from map(compute, games)
        return
    with own_processes(processes, start_context(fork=False), end_with_parent) as pool:
        yield from pool.map(compute, games)


def _pages(place: str) -> dict[str, str | bytes]:
    """All files of the site but what Python needs and what is known."""
    files: dict[str, str | bytes] = {f"{name}.html": shell(name, ".html", POLICY) for name in PAGES}
    files |= {f"static/{name}": text for name, (text, _) in assets().items()}
    first = Markup(game_report(FIRST))  # in the page itself, which shows it before its scripts have run
    files["first.html"] = shell("game", ".html", POLICY, first)
    files["static/host.js"] = render_page("bjsim.app", "site_host.js")
    files["index.html"] = render_page("bjsim.app", "site.html", policy=SITE_POLICY, pages=PAGES)
    files |= {name: render_page("bjsim.app", name) for name in ("site.css", "site.js")}
    return files | {"worker.js": render_page("bjsim.app", "site_worker.js", pyodide=place)}


def _archive(python: str) -> bytes:
    """bjsim and what it needs, as a zip; compiled if this Python is that of the site, which then starts sooner."""
    compiles = python == f"{sys.version_info.major}.{sys.version_info.minor}"
    packed = io.BytesIO()
    with ZipFile(packed, "w", ZIP_DEFLATED) as archive, tempfile.TemporaryDirectory() as folder:
        for name, path in _sources():
            data = read_bytes(path)
            if compiles and path.suffix == ".py":
                name, cached = name + "c", str(Path(folder, "compiled"))
                mode = py_compile.PycInvalidationMode.UNCHECKED_HASH
                py_compile.compile(str(path), cached, name, doraise=True, invalidation_mode=mode, optimize=0)
                data = read_bytes(cached)
            info = ZipInfo(name, LONG_AGO)
            info.compress_type = ZIP_DEFLATED
            archive.writestr(info, data)
    return packed.getvalue()


def _sources() -> Iterator[tuple[str, Path]]:
    """The files of Python that the site needs, with their names in its archive."""
    for package in ("bjsim", *NEEDED):
        spec = importlib.util.find_spec(package)
        assert spec is not None and spec.origin is not None
        root = Path(spec.origin).parent
        for path in sorted(root.rglob("*")):
            name = path.relative_to(root).as_posix()
            is_used = path.suffix in (".py", ".pyi", ".toml") or path.parent.name == "templates"
            if path.is_file() and is_used and not (package == "bjsim" and name.startswith(LEFT_OUT)):
                yield f"{package}/{name}", path
