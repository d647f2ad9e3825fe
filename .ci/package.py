"""Builds what is published, and tries it as a stranger would. Takes about a minute, PyPI, and a temporary folder.

A clone without symbolic links (the default on Windows) becomes an sdist, and the sdist becomes a wheel. Both must hold
every file that git tracks. The wheel is installed with the lowest versions that pyproject.toml declares; then
`bjsim run` and `bjsim.play` play, and a sample of the sdist's own tests passes.

    python .ci/package.py                    all of that
    python .ci/package.py --tests [WORD...]  the wheel with the newest versions and the extra `test`, and all fast tests
                                             where there is no src/; WORDs go to pytest, such as tests/sim
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
from collections.abc import Iterable
from pathlib import Path
from zipfile import ZipFile

ROOT = Path(__file__).resolve().parents[1]
SAMPLE = ("tests/test_architecture.py", "tests/test_catalogue.py", "tests/test_readme.py", "tests/sim/test_hand.py")
TOOLS = ("build", "pytest", "hypothesis")  # to build with, and for the sample
NOT_IN_SDIST = {".gitignore"}
QUIET_PIP = {"PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_QUIET": "1"}


def lowest(requirements: Iterable[str]) -> list[str]:
    """Each requirement `name>=version` as `name==version`. Raises: ValueError for one without a lowest version."""
    pins = []
    for requirement in requirements:
        match = re.fullmatch(r"([\w-]+)>=([\d.]+)(; sys_platform .*)?", requirement)
        if not match:
            raise ValueError(f"the requirement {requirement!r} is not accepted; write NAME>=VERSION")
        pins.append(f"{match[1]}=={match[2]}")
    return pins


def find_python(version: str) -> str | None:
    """The interpreter of this version, such as 3.11, for which the lowest versions have wheels."""
    for name in (sys.executable, f"python{version}"):
        if path := shutil.which(name):
            code = "import sys; print(sys.executable, '%d.%d' % sys.version_info[:2])"
            words = subprocess.run([path, "-c", code], capture_output=True, text=True).stdout.split()
            if words[1:] == [version]:
                return words[0]
    return None


def run(*words: str | Path, cwd: Path) -> None:
    """Run a command. Raises: SystemExit with what it printed, where it fails."""
    print("+", *words, flush=True)
    done = subprocess.run(words, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        raise SystemExit(f"{done.stdout}\nfailed with status {done.returncode}: {' '.join(map(str, words))}")


def tracked(clone: Path) -> set[str]:
    """The files that git tracks there, without symbolic links."""
    lines = subprocess.run(
        ["git", "ls-files", "--stage", "-z"], cwd=clone, check=True, capture_output=True, text=True
    ).stdout.split("\0")
    return {line.partition("\t")[2] for line in lines if line and not line.startswith("120000")}


def check_same(what: str, found: set[str], expected: set[str]) -> None:
    """Raises: SystemExit naming the files by which the two differ."""
    if missing := sorted(expected - found):
        raise SystemExit(f"{what} lacks {len(missing)} of {len(expected)} files: {', '.join(missing)}")
    if extra := sorted(found - expected):
        raise SystemExit(f"{what} has {len(extra)} files that git does not track: {', '.join(extra)}")
    print(f"{what} is complete: {len(found)} files")


def build(python: Path, clone: Path, out: Path) -> tuple[Path, Path]:
    """The sdist of the clone, unpacked, and the wheel made of it; both are complete."""
    run(python, "-m", "build", "--no-isolation", "--outdir", out, clone, cwd=out)
    [archive], [wheel] = out.glob("*.tar.gz"), out.glob("*.whl")
    with tarfile.open(archive) as file:
        file.extractall(out, filter="data")
    sdist = out / archive.name.removesuffix(".tar.gz")
    files = tracked(clone)
    present = {path.relative_to(sdist).as_posix() for path in sdist.rglob("*") if path.is_file()}
    made = {name for name in present if name in ("PKG-INFO", "setup.cfg") or ".egg-info/" in name}
    check_same("the sdist", present - made, files - NOT_IN_SDIST)
    with ZipFile(wheel) as file:
        packed = {name for name in file.namelist() if ".dist-info/" not in name}
    check_same("the wheel", packed, {name.removeprefix("src/") for name in files if name.startswith("src/")})
    return sdist, wheel


def make_venv(interpreter: str, out: Path) -> Path:
    """A virtual environment in `out`. Returns: its Python."""
    run(interpreter, "-m", "venv", out / "venv", cwd=out)
    return out / "venv" / ("Scripts" if os.name == "nt" else "bin") / "python"


def make_clone(out: Path) -> Path:
    """A clone without symbolic links, in `out`."""
    run("git", "clone", "--quiet", "-c", "core.symlinks=false", ROOT, out / "clone", cwd=out)
    return out / "clone"


def test_wheel(words: list[str]) -> None:
    """Run the fast tests on the wheel, in the unpacked sdist without its src/."""
    os.environ |= QUIET_PIP
    with tempfile.TemporaryDirectory() as name:
        out = Path(name)
        clone, python = make_clone(out), make_venv(sys.executable, out)
        requires = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["build-system"]["requires"]
        run(python, "-m", "pip", "install", "build", *requires, cwd=out)
        sdist, wheel = build(python, clone, out)
        run(python, "-m", "pip", "install", f"{wheel}[test]", cwd=out)
        shutil.rmtree(clone)
        shutil.rmtree(sdist / "src")
        parallel = (
            () if words else ("-n", "logical", "--maxprocesses", "4", "--dist", "loadgroup", "--no-loadscope-reorder")
        )
        done = subprocess.run([python, "-m", "pytest", "-q", *parallel, *words], cwd=sdist)
        if done.returncode:
            raise SystemExit(done.returncode)


def main(words: list[str]) -> None:
    if words[:1] == ["--tests"]:
        return test_wheel(words[1:])
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    project = settings["project"]
    version = project["requires-python"].removeprefix(">=")
    interpreter = find_python(version)
    if interpreter is None:
        print(f"warning: there is no Python {version}, so the lowest versions and the package are not tried")
        return
    os.environ |= QUIET_PIP
    with tempfile.TemporaryDirectory() as name:
        out = Path(name)
        clone, python = make_clone(out), make_venv(interpreter, out)
        run(python, "-m", "pip", "install", *TOOLS, *lowest(settings["build-system"]["requires"]), cwd=out)
        sdist, wheel = build(python, clone, out)
        needed = [*project["dependencies"], *project["optional-dependencies"]["plot"]]
        run(python, "-m", "pip", "install", wheel, *lowest(needed), cwd=out)
        run(python, "-m", "bjsim", "solve", "--plot", "chart.png", cwd=out)
        run(python, "-m", "bjsim", "run", "--bots", "optimal,lim17", "--hands", "1e4", cwd=out)
        run(python, "-c", "import bjsim; assert bjsim.play('easy', ['lim17'], hands=1e4)[0].exact", cwd=out)
        run(python, "-m", "pytest", "-q", *SAMPLE, cwd=sdist)


if __name__ == "__main__":
    main(sys.argv[1:])
