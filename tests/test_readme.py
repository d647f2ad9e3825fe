"""The examples in the README work as shown."""

import doctest
import re
import runpy
from pathlib import Path

import pytest

import bjsim

ROOT = Path(__file__).resolve().parent.parent
README = ROOT / "README.md"
LINK = re.compile(r"\]\((?!https?:|#)([^)#\s]+)")
DRAWN = set(re.findall(r"docs/gallery/\w+\.png", (ROOT / "docs" / "gallery.md").read_text(encoding="utf-8")))


@pytest.mark.parametrize("page", [README, *ROOT.glob("C*.md"), *(ROOT / "docs").rglob("*.md")], ids=lambda p: p.name)
def test_links_lead_to_files(page):
    for link in LINK.findall(page.read_text(encoding="utf-8")):
        path = (page.parent / link).resolve()
        assert path.exists() or path.relative_to(ROOT).as_posix() in DRAWN, link


def test_the_readme_lists_the_pages_of_the_site():
    """In the order of its navigation, but for what only the site shows."""
    pages = runpy.run_path(str(ROOT / ".ci" / "tables.py"))["pages"]()
    listed = re.findall(
        r"\[([^]]+)\]\((?:docs/)?([\w./-]+)\)", README.read_text(encoding="utf-8").partition("| | |")[2]
    )
    links = [link for link in re.findall(r"^- \[([^]]+)\]\(([^)]+)\)", pages, re.MULTILINE)]
    only_there = ("gallery.md", "reference/commands.md", "reference/api.md")
    assert listed[: listed.index(("CONTRIBUTING.md", "CONTRIBUTING.md"))] == [
        each for each in links if each[1] not in only_there
    ]


def test_the_readme_is_a_doctest():
    results = doctest.testfile(str(README), module_relative=False)
    assert results.attempted >= 10 and results.failed == 0


def test_the_figures_of_the_first_screen():
    [result] = bjsim.play("vegas-s17", "optimal", hands=1e6, seed=1)
    text = README.read_text(encoding="utf-8")
    low, high = result.point.ci95
    assert f"| what was won | {low:.2%} to {high:.2%} |" in text
    low, high = result.adjusted.ci95
    assert f"| luck-adjusted, from the same hands | {low:.4%} to {high:.4%} |" in text
    assert 45.5e3 < result.adjusted.gain < 46.5e3, "forty-six billion hands"
