"""What a release needs: the address of the repository, the changelog, and a trial of what is uploaded.

python .ci/release.py address URL            sets the repository's address, and the README's badge
python .ci/release.py changelog DATE         the lines of changes/ become a section of CHANGELOG.md
python .ci/release.py check [PYTHON...]      builds dist/, and installs sdist and wheel on every PYTHON
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from package import QUIET_PIP, build, make_clone, make_venv, run

ROOT = Path(__file__).resolve().parents[1]
NIGHTLY = "actions/workflows/nightly.yml"
PLACEHOLDER = "https://repository.example/bjsim"
QUOTED = ("run", "--bots", "optimal,lim17", "--hands", "1e6")  # the command of the README, shorter
LINK = re.compile(r"(!?)\[([^\]]*)\]\((?!https?:|#)([^)\s]+)\)")


def address(root: Path = ROOT) -> str:
    """The address of the repository, as pyproject.toml has it."""
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return str(project["urls"]["Homepage"])


def set_address(new: str, root: Path = ROOT) -> None:
    """Write another address of the repository wherever the old one stands, and the README's badge."""
    old, new = address(root), new.removesuffix("/").removesuffix(".git")
    if not new.startswith("https://"):
        raise SystemExit(f"{new} is not accepted; give an address that starts with https://")
    for name in ("pyproject.toml", "CITATION.cff", "README.md"):
        text = (root / name).read_text(encoding="utf-8").replace(old, new)
        if name == "README.md" and NIGHTLY not in text:
            title, rest = text.split("\n", 1)
            text = f"{title}\n\n[![nightly tests]({new}/{NIGHTLY}/badge.svg)]({new}/{NIGHTLY})\n{rest}"
        (root / name).write_text(text, encoding="utf-8")


def with_absolute_links(text: str, where: str, tag: str) -> str:
    """A page whose links to files also work outside the repository, as on a package index."""
    return LINK.sub(lambda m: f"{m[1]}[{m[2]}]({where}/{'raw' if m[1] else 'blob'}/{tag}/{m[3]})", text)


def write_changelog(date: str, root: Path = ROOT) -> None:
    """Move the lines of changes/ under a new heading, and date the citation. Raises: SystemExit: There are none."""
    version = version_of(root)
    fragments = sorted(path for path in (root / "changes").glob("*.md") if path.name != "README.md")
    page = root / "CHANGELOG.md"
    text = page.read_text(encoding="utf-8")
    if f"## {version} (unreleased)" in text:
        text = text.replace(f"## {version} (unreleased)", f"## {version} ({date})")
    elif fragments:
        text = text.replace("\n## ", f"\n## {version} ({date})\n\n\n## ", 1)
    else:
        raise SystemExit(f"there is nothing in changes/, and no section '{version} (unreleased)' in CHANGELOG.md")
    if fragments:
        head = f"## {version} ({date})\n\n"
        lines = "".join(f"- {path.read_text(encoding='utf-8').strip()}\n" for path in fragments)
        text = text.replace(head, head + lines, 1)
    page.write_text(text, encoding="utf-8")
    citation = root / "CITATION.cff"
    text = re.sub(r"^date-released: .*\n", "", citation.read_text(encoding="utf-8"), flags=re.MULTILINE)
    dated = rf"\g<0>date-released: {date}\n"
    text = re.sub(rf"^version: {re.escape(version)}\n", dated, text, flags=re.MULTILINE)
    citation.write_text(text, encoding="utf-8")
    for path in fragments:
        path.unlink()


def version_of(root: Path = ROOT) -> str:
    """The version of the package."""
    text = (root / "src" / "bjsim" / "__init__.py").read_text(encoding="utf-8")
    found = re.search(r'^__version__ = "(.+)"$', text, re.MULTILINE)
    assert found
    return found[1]


def check(pythons: list[str]) -> None:
    """Build, and try what was built on every Python as a stranger would."""
    os.environ |= QUIET_PIP
    requires = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["build-system"]["requires"]
    with tempfile.TemporaryDirectory() as name:
        out = Path(name)
        clone, python = make_clone(out), make_venv(sys.executable, out)
        run(python, "-m", "pip", "install", "build", "twine", *requires, cwd=out)
        readme = clone / "README.md"
        text = with_absolute_links(readme.read_text(encoding="utf-8"), address(), f"v{version_of()}")
        readme.write_text(text, encoding="utf-8")
        built = out / "dist"
        built.mkdir()
        sdist, wheel = build(python, clone, built)
        archives = [wheel, sdist.with_name(f"{sdist.name}.tar.gz")]
        run(python, "-m", "twine", "check", "--strict", *archives, cwd=out)
        for number, interpreter in enumerate(pythons or [sys.executable]):
            (out / str(number)).mkdir()
            own = make_venv(interpreter, out / str(number))
            run(own, "-m", "pip", "install", wheel, cwd=out)
            try_out(own, out)
            run(own, "-m", "pip", "install", "--force-reinstall", "--no-deps", archives[1], cwd=out)
            try_out(own, out)
        (ROOT / "dist").mkdir(exist_ok=True)
        for path in archives:
            shutil.copy(path, ROOT / "dist")
    print(f"dist/ has what can be uploaded; links lead to {address()}")
    if address() == PLACEHOLDER:
        print("that is a placeholder: set it with `python .ci/release.py address URL` before you upload")


def try_out(python: Path, out: Path) -> None:
    """The command of the README, without matplotlib, which only a picture asks for."""
    run(python, "-m", "bjsim", *QUOTED, cwd=out)
    words = [python, "-m", "bjsim", "solve", "--plot", "chart.png"]
    refused = subprocess.run(words, cwd=out, capture_output=True, text=True)
    if "pip install matplotlib" not in refused.stderr:
        raise SystemExit(f"a picture without matplotlib is not refused by name: {refused.stderr or refused.stdout}")


def main(words: list[str]) -> None:
    match words:
        case ["address", new]:
            set_address(new)
        case ["changelog", date] if re.fullmatch(r"\d{4}-\d\d-\d\d", date):
            write_changelog(date)
        case ["check", *pythons]:
            check(pythons)
        case _:
            raise SystemExit(__doc__)


if __name__ == "__main__":
    main(sys.argv[1:])
