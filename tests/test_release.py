"""What a release is made of: its address, its changelog and its links."""

import importlib.util
import re
import runpy
import sys
import tomllib
from pathlib import Path

import pytest
from support.command import bjsim
from support.documents import ROOT

import bjsim as package

RELEASE = runpy.run_path(str(ROOT / ".ci" / "release.py"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
CITATION = (ROOT / "CITATION.cff").read_text(encoding="utf-8")


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A copy of what a release changes."""
    (tmp_path / "changes").mkdir()
    (tmp_path / "src" / "bjsim").mkdir(parents=True)
    for name in ("pyproject.toml", "CITATION.cff", "README.md", "CHANGELOG.md", "src/bjsim/__init__.py"):
        (tmp_path / name).write_text((ROOT / name).read_text(encoding="utf-8"), encoding="utf-8")
    return tmp_path


def test_one_address_and_one_version() -> None:
    assert all(url.startswith(PROJECT["urls"]["Homepage"]) for url in PROJECT["urls"].values())
    assert f'repository-code: "{PROJECT["urls"]["Homepage"]}"\n' in CITATION
    assert f"\nversion: {package.__version__}\n" in CITATION and RELEASE["version_of"]() == package.__version__


def test_the_address_is_set_in_one_place(checkout: Path) -> None:
    for new in ("https://forge.example/ann/bjsim.git", "https://other.example/bjsim/"):
        RELEASE["set_address"](new, checkout)
    texts = [(checkout / name).read_text(encoding="utf-8") for name in ("pyproject.toml", "CITATION.cff", "README.md")]
    assert all("https://other.example/bjsim" in text for text in texts)
    assert not any("forge.example" in text or "repository.example" in text for text in texts)
    assert texts[2].count("nightly.yml/badge.svg") == 1
    with pytest.raises(SystemExit, match="https"):
        RELEASE["set_address"]("git@forge.example:ann/bjsim", checkout)


def test_no_link_of_the_published_page_is_relative() -> None:
    text = RELEASE["with_absolute_links"]((ROOT / "README.md").read_text(encoding="utf-8"), "https://a.example", "v1")
    links = re.findall(r"\]\(([^)\s]+)\)", text)
    assert len(links) > 30 and all(link.startswith(("https://", "#")) for link in links)
    assert "](https://a.example/raw/v1/docs/app.png)" in text
    assert "](https://a.example/blob/v1/docs/how-to/app.md)" in text


def test_fragments_become_a_section(checkout: Path) -> None:
    page, fragment = checkout / "CHANGELOG.md", checkout / "changes" / "decks.md"
    page.write_text(f"# Changelog\n\n## {package.__version__} (unreleased)\n\n- All.\n", encoding="utf-8")
    fragment.write_text("`solve`: more decks.\n", encoding="utf-8")
    RELEASE["write_changelog"]("2031-02-03", checkout)
    first = page.read_text(encoding="utf-8")
    assert f"## {package.__version__} (2031-02-03)\n\n- `solve`: more decks.\n- All" in first and not fragment.exists()
    citation = (checkout / "CITATION.cff").read_text(encoding="utf-8")
    assert citation.count("date-released: 2031-02-03\n") == citation.count("date-released") == 1
    with pytest.raises(SystemExit, match="nothing"):
        RELEASE["write_changelog"]("2031-02-04", checkout)
    (checkout / "src/bjsim/__init__.py").write_text('__version__ = "9.0"\n', encoding="utf-8")
    fragment.write_text("`run`: less.\n", encoding="utf-8")
    RELEASE["write_changelog"]("2031-02-04", checkout)
    assert "## 9.0 (2031-02-04)\n\n- `run`: less.\n\n## " in page.read_text(encoding="utf-8")


def test_changes_are_one_line_each() -> None:
    for path in (ROOT / "changes").glob("*.md"):
        text = path.read_text(encoding="utf-8").strip()
        assert path.name == "README.md" or ("\n" not in text and not text.startswith("-")), path
    first = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8").split("\n## 0.2.0 ")[1].split("\n## ")[0]
    assert len(re.findall(r"^- ", first, re.MULTILINE)) <= 12


@pytest.mark.parametrize(
    "words",
    ["solve --plot a.png", "count --fan a.svg --bankroll 1000"],
    ids=["plot", "fan"],
)
def test_a_picture_asks_for_matplotlib_by_name(words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert importlib.util.find_spec("matplotlib") is None
    done = bjsim(*words.split())
    assert done.status == 2 and "needs the package matplotlib: pip install matplotlib" in done.err
    assert not list(tmp_path.iterdir())
