"""The documentation site, opened as files: search answers, and the home page says where to begin."""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from support.documents import ROOT

pytestmark = [
    pytest.mark.slow,
    pytest.mark.xdist_group("chromium"),
    pytest.mark.skipif(not importlib.util.find_spec("mkdocs"), reason="mkdocs is not installed; make docs installs it"),
]
ASK = """(box => { box.focus(); box.value = "surrender"; box.dispatchEvent(new Event("keyup", {bubbles: true})); })(
    document.querySelector("[data-md-component=search-query]"))"""
ANSWERS = """new Promise((resolve, reject) => {
  const links = () => [...document.querySelectorAll(".md-search-result__link")].map(link => link.href);
  const timer = setInterval(() => { if (links().length) { clearInterval(timer); resolve(links()); } }, 50);
  setTimeout(() => reject("no answer"), 30000);
})"""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", folder],
        cwd=ROOT, check=True, env=os.environ | {"NO_MKDOCS_2_WARNING": "1"},
    )  # fmt: skip
    return folder


def test_search_answers_without_a_server(browser: Any, site: Path) -> None:
    browser.problems.clear()
    browser.open((site / "index.html").as_uri(), width=1280)
    browser.run(ASK)
    answer = browser.call("Runtime.evaluate", expression=ANSWERS, awaitPromise=True, returnByValue=True)
    assert any("/reference/" in link for link in answer["result"]["value"])
    assert not browser.problems


def test_no_page_scrolls_sideways(browser: Any, site: Path) -> None:
    for page in ("index.html", "reference/api.html"):
        for width in (390, 1280):
            browser.open((site / page).as_uri(), width=width)
            assert browser.run("document.documentElement.scrollWidth") <= width, page
    signatures = "[...document.querySelectorAll('.doc-signature code')]"
    wide = f"{signatures}.filter(code => code.scrollWidth > code.clientWidth + 1).map(code => code.textContent)"
    assert browser.run(f"{signatures}.length") > 100 and browser.run(wide) == []
