"""The pages of `solve`, `check`, `compare` and `run` in a browser; tests/cli/test_report.py has what is in them."""

import json
import math
import re
from base64 import b64decode

import pytest
from support.command import bjsim

from bjsim.sim.game.presets import named_rules
from bjsim.sim.game.rules import Rules
from bjsim.strategies.exact.solver import Solver

pytestmark = pytest.mark.xdist_group("chromium")
COMMANDS = {
    "solve": ("solve", "--rules", "blackjack-p"),
    "check": ("check", "hoyle", "--rules", "blackjack-p"),
    "compare": ("compare", "--rules", "blackjack-p", "--vary", "double_after_split=true,false"),
    "run": ("run", "--bots", "optimal,lim17", "--rules", "neller", "--hands", "20000", "--workers", "1",
            "--adjust-luck"),
}  # fmt: skip
NAMES = {"stand": "S", "hit": "H", "double": "D", "split": "P", "surrender": "R"}


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """The folder with the page of each command, and the commands' JSON."""
    folder = tmp_path_factory.mktemp("pages")
    data = {}
    for name, command in COMMANDS.items():
        result = bjsim(*command, "--html", folder / f"{name}.html", "--json", folder / f"{name}.json")
        assert result.status == 0, result.err
        data[name] = json.loads((folder / f"{name}.json").read_text())
    return folder, data


@pytest.fixture
def opened(browser, written):
    """Opens the page of a command, and returns the browser and the command's JSON."""
    browser.problems.clear()

    def open_page(name, **how):
        browser.open((written[0] / f"{name}.html").as_uri(), **how)
        return browser, written[1][name]

    yield open_page
    assert not browser.problems


TIPS = """(() => {
  const found = {};
  document.querySelectorAll(".chart td[data-ev]").forEach(cell => {
    const chart = cell.closest("table"), row = cell.parentElement.cells[0].textContent;
    const column = chart.rows[0].cells[cell.cellIndex].textContent;
    cell.dispatchEvent(new MouseEvent("mouseover", {bubbles: true}));
    const tip = document.getElementById("tip");
    const small = (cell.querySelector("small") || cell).textContent;
    if (!tip.hidden) found[`${row} ${column}`] = [tip.textContent, cell.ariaDescription, small];
  });
  return found;
})()"""


def values(tip):
    """The values of actions in the text of a cell, by letter."""
    return {NAMES[name]: float(ev) for name, ev in re.findall(r"^(\w+) ([+-](?:[\d.]+|Infinity))$", tip, re.M)}


def test_every_cell_shows_the_value_of_every_action(opened):
    page, data = opened("solve")
    tips, tables = page.run(TIPS), data["tables"]
    assert len(tips) == 35 * 10
    strategy = tables["strategy"]
    for i, row in enumerate(strategy["rows"]):
        for j, column in enumerate(strategy["columns"]):
            tip, label, small = tips[f"{row} {column}"]
            found, code = values(tip), strategy["cells"][i][j]
            assert tip == label and tip.startswith(f"{row} against {column}: {code}\n")
            assert list(found.values()) == sorted(found.values(), reverse=True) and next(iter(found)) == code[0]
            for name, letter in NAMES.items():
                if name in tables and row in tables[name]["rows"]:
                    ev = tables[name]["cells"][tables[name]["rows"].index(row)][j]
                    assert (ev is None and letter not in found) or found[letter] == pytest.approx(ev, abs=6e-7)
            one, other = list(found.values())[:2]
            assert small.startswith("<") or float(small) == pytest.approx(100 * (one - other), rel=0.06, abs=0.006)


def test_cells_are_reached_with_the_keyboard(opened):
    page, _ = opened("solve", height=400)
    assert page.run("document.querySelectorAll('.chart td[tabindex=\"0\"]').length") == 3  # one stop for each table
    page.run("document.querySelector('.hard td').focus()")
    for key in ("ArrowDown", "ArrowDown", "ArrowRight", "ArrowLeft", "ArrowUp", "ArrowRight", "ArrowUp", "ArrowUp"):
        page.press(key)
    tip = "(tip => tip.hidden ? '' : tip.textContent)(document.getElementById('tip'))"
    assert page.run(tip).startswith("4 against 3: H\n")
    box = page.run("(b => [b.left, b.top, b.right, b.bottom])(document.getElementById('tip').getBoundingClientRect())")
    assert box[0] >= 0 and box[1] >= 0 and box[2] <= 1000 and box[3] <= 400
    page.press("Escape")
    assert page.run(tip) == ""


def test_wrong_cells_have_their_costs(opened):
    page, data = opened("check")
    tips = page.run(TIPS)
    for cell in data["cells"]:
        tip, _, small = tips[f"{cell['row']} {cell['column']}"]
        assert tip.startswith(f"{cell['row']} against {cell['column']}: {cell['chart']}→{cell['best']}\n")
        assert f"best: {cell['best']}, costs {100 * cell['cost']:.6f}%" in tip
        assert small.startswith("<") or float(small) == pytest.approx(100 * cell["cost"], abs=6e-3)
    assert page.run("document.querySelectorAll('.other').length") == len(data["cells"])


def test_changed_cells_have_both_codes(opened):
    page, data = opened("compare")
    changes = data["games"][1]["changes"]
    page.run("document.querySelectorAll('details').forEach(details => { details.open = true; })")
    text = "[...document.querySelectorAll('.other')].map(cell => cell.firstChild.textContent).sort()"
    assert page.run(text) == sorted(f"{change['before']}→{change['after']}" for change in changes) != []
    tip = next(tip for tip, _, _ in page.run(TIPS).values() if "in double_after_split=true:" in tip)
    assert re.search(r"in double_after_split=true: P$", tip, re.M)


@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.parametrize("dark", [False, True])
def test_pages_fit_on_a_phone(opened, name, dark):
    page, _ = opened(name, width=390, dark=dark)
    page.run("document.querySelectorAll('details').forEach(details => { details.open = true; })")
    assert page.run("document.documentElement.scrollWidth") <= 390
    cut = """[...document.querySelectorAll('main *')].filter(
        e => !e.closest('.wide, svg') && e.getBoundingClientRect().right > 390.5).map(e => e.tagName)"""
    assert page.run(cut) == []
    ink, paper = page.run("(s => [s.color, s.backgroundColor])(getComputedStyle(document.body))")
    ink, paper = (sum(map(int, re.findall(r"\d+", colour))) for colour in (ink, paper))
    assert (ink > paper) == dark and abs(ink - paper) > 400


WIDER = "[...document.querySelectorAll('%s')].filter(e => e.scrollWidth > e.clientWidth + 1).map(e => e.textContent)"
SPLIT = """[...document.querySelectorAll('.chart td.other span')].filter(
    e => new Set([...e.getClientRects()].map(r => r.top)).size > 2 ||
         e.getBoundingClientRect().width > e.parentElement.clientWidth).length"""


def test_every_column_is_visible_on_a_phone(opened):
    page, data = opened("check", width=390)
    assert (
        any(len(cell["best"]) == 2 for cell in data["cells"])
        and page.run(WIDER % ".wide:has(.chart, #found-cells)") == []
    )
    assert page.run(SPLIT) == 0
    page, _ = opened("solve", width=390)
    assert page.run(WIDER % ".wide") == []


@pytest.mark.parametrize(
    "paper", [(8.27, 11.69), pytest.param((8.5, 11), marks=pytest.mark.slow)], ids=["A4", "letter"]
)
def test_a_strategy_is_printed_on_one_sheet(opened, paper):
    page, _ = opened("solve")
    printed = page.call("Page.printToPDF", paperWidth=paper[0], paperHeight=paper[1])["data"]
    assert len(re.findall(rb"/Type /Page\b", b64decode(printed))) == 1


def test_a_label_fits_its_box_and_plots_fill_the_width(opened):
    page, _ = opened("solve")
    assert page.run(WIDER % ".chart th") == []
    page, _ = opened("run", width=1280)
    ends = "(e => e.getBoundingClientRect().right)(document.querySelector('%s'))"
    assert page.run(ends % ".panels > :last-child > :last-child") > page.run(ends % "main") - 5


@pytest.mark.parametrize("name", COMMANDS)
def test_pages_are_complete_by_themselves_and_name_no_folder(written, name):
    text = (written[0] / f"{name}.html").read_text()
    assert not re.search(r"(?:src|href)=\"(?!data:)|url\(|@import", text) and str(written[0]) not in text
    assert len(text) < 400_000


def test_names_are_escaped_and_folders_left_out(browser, tmp_path):
    """The name of a game is any text, also inside the script, and paths are shown without their folders."""
    name = "</script><b>`${alert(1)}"
    rules, chart = tmp_path / "mine.toml", tmp_path / "chart.txt"
    rules.write_text(f'preset = "neller"\nname = {json.dumps(name)}\n')
    chart.write_text(bjsim("solve", "--rules", "neller", "--format", "csv").out)
    for command in (
        ("check", chart, "--rules", rules), ("solve", "value", "--rules", rules),
        ("compare", "--rules", f"{rules},neller-v3"), ("run", "--bots", chart, "--rules", rules, "--hands", "2000"),
    ):  # fmt: skip
        page = tmp_path / "page.html"
        assert bjsim(*command, "--html", page).status == 0
        assert str(tmp_path) not in page.read_text()
        browser.problems.clear()
        browser.open(page.as_uri())
        assert not browser.problems and browser.run("document.querySelectorAll('b').length") == 0
        assert name in browser.run("document.body.textContent")
        assert "mine.toml" in browser.run("document.querySelector('pre').textContent")


def test_an_infinite_value_is_shown(browser, tmp_path):
    game = ("--rules", "blackjack-p", "--set", "ten_probability=1/2")
    assert bjsim("solve", "value", *game, "--html", tmp_path / "page.html").status == 0
    browser.problems.clear()
    browser.open((tmp_path / "page.html").as_uri())
    tips = browser.run(TIPS)
    assert "Infinity" in tips["TT 2"][0] and values(tips["TT 2"][0])["P"] == math.inf
    assert "resplitting TT against 2" in browser.run("document.body.textContent") and not browser.problems


def test_both_cards_of_the_dealer_are_columns(browser, tmp_path):
    rules: Rules = named_rules("easy")
    assert bjsim("solve", "value", "--rules", "easy", "--html", tmp_path / "page.html").status == 0
    browser.open((tmp_path / "page.html").as_uri(), width=390)
    assert browser.run("document.documentElement.scrollWidth") <= 390
    found = browser.run("[...document.querySelector('.hard thead tr').cells].map(cell => cell.textContent)")
    assert tuple(found[1:]) == tuple(Solver(rules).columns)
