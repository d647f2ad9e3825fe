"""The page of a counting run, in a browser: its figures are those of the command."""

import json
import math
import random
import re
from dataclasses import replace
from html import escape
from types import SimpleNamespace

import numpy as np
import pytest

from bjsim.sim.game.presets import PRESETS
from bjsim.strategies.counting.result import CountResult
from bjsim.strategies.counting.returns import CountReturns, Terms, find_figures, kelly_ramp, ramp_returns

pytestmark = pytest.mark.xdist_group("chromium")
COUNTS = np.arange(-6.0, 9.0)
SHARES = np.exp(-0.5 * (COUNTS / 2.2) ** 2) / np.exp(-0.5 * (COUNTS / 2.2) ** 2).sum()
WAGERED = 1.12 + 0.002 * COUNTS
RNG = np.random.default_rng(5)
ROOTS = RNG.normal(size=(45, 60)) * np.repeat([1e-5, 2e-4, 1e-3], 15)[:, None]
TABLE = CountReturns(COUNTS, SHARES, 0.0051 * COUNTS - 0.006, 1.31 + 0.004 * COUNTS, None, ROOTS @ ROOTS.T / 60)
BETS = np.clip(2.0 * (COUNTS - 1), 1, 12)
SPOTS = np.where(COUNTS < 1, 1, np.where(COUNTS < 4, 2, 3))
MANY = np.random.default_rng(6).normal(size=(60, 80)) * np.repeat([1e-5, 2e-4, 1e-3, 1e-3], 15)[:, None]
SPOT_TABLE = replace(TABLE, cov=np.where(SPOTS > 1, 0.48 + 0.001 * COUNTS, math.nan), error=MANY @ MANY.T / 80)


def a_page(bets=BETS, terms=None, table=TABLE, spots=None):
    terms, spots = terms or Terms(), np.ones(15, np.int64) if spots is None else spots
    figures = find_figures(ramp_returns(table, bets, spots), terms, float(table.shares @ (bets * spots * WAGERED)))
    run = SimpleNamespace(
        title="Hi-Lo in vegas-s17", description="six decks & <tags>", count_name="true count", rounds=1_000_000, seed=1,
        game=SimpleNamespace(rules=PRESETS["vegas-s17"].rules), returns=table, wagered=WAGERED, spots=spots,
        labels=["≤ -6", *(f"{count:+.0f}" for count in COUNTS[1:-1]), "≥ +8"],
    )  # fmt: skip
    return CountResult(None, run, bets, figures, terms).to_html("bjsim count --seed 1")


def numbers(text):
    """The numbers in the text of a figure."""
    return [float(number.replace(",", "")) for number in re.findall(r"-?[\d,]+(?:\.\d+)?", text)]


def test_the_page_is_complete_without_javascript():
    html = a_page()
    assert len(html.encode()) < 300_000
    assert "six decks &amp; &lt;tags&gt;" in html and not re.search(r"(?:src|href)=\"(?!data:)", html)
    for figure in find_figures(ramp_returns(TABLE, BETS), Terms(), float(TABLE.shares @ (BETS * WAGERED))):
        assert f'<dd id="{figure.key}">{escape(figure.text)}</dd>' in html


def test_its_fields_take_what_the_command_takes():
    page = a_page(BETS / 1000, Terms(bankroll=0.5, rounds_per_hour=0.25, kelly=3, unit=0.001))
    fields = re.findall(r'<input id="(.*?)".*? min="(.*?)"(?: max="(.*?)")?.*? value="(.*?)"', page)
    assert len(fields) == 7
    for name, least, most, value in fields:
        assert float(least) <= float(value) <= float(most or math.inf), name


def test_an_hour_is_in_the_money_that_the_reader_chooses():
    named = re.findall(r"<dt>(.*?)</dt>", a_page())
    assert {"EV per hour", "standard deviation per hour", "EV per round, units"} <= {*named}


def test_the_intervals_by_count_are_those_of_the_ev():
    error = np.diag(np.repeat([1e-10, 4e-8, 9e-6], 15))
    parts = (COUNTS, SHARES, TABLE.ev, TABLE.var)
    assert CountReturns(*parts, error=error).ev_half_widths() == pytest.approx(1.96 * 2e-4, rel=1e-4)


@pytest.fixture
def page(browser, tmp_path):
    (tmp_path / "count.html").write_text(a_page())
    browser.problems.clear()
    browser.open((tmp_path / "count.html").as_uri())
    yield browser
    assert not browser.problems


SET = """
(values => {
  for (const [id, value] of Object.entries(values.fields)) document.getElementById(id).value = value;
  const inputs = [...document.querySelectorAll("#counts input")];
  values.bets.forEach((bet, i) => { inputs[i].value = bet; });
  document.getElementById("form").dispatchEvent(new Event("input"));
  if (values.optimal) document.getElementById("optimal").click();
  const figures = [...document.querySelectorAll("#results dd")].map(cell => [cell.id, cell.textContent]);
  return {bets: inputs.map(input => input.valueAsNumber), figures: Object.fromEntries(figures)};
})(%s)
"""


def shown(page, fields, bets, optimal=False):
    """The bets and figures that the page shows after its controls were set."""
    return page.run(SET % json.dumps({"fields": fields, "bets": list(bets), "optimal": optimal}))


def test_the_figures_are_the_commands_for_any_bets(page):
    rng = random.Random(7)
    for number in range(50):
        bets = np.array([rng.choice([0, 1, 2, 4, 7.5, 12]) for _ in COUNTS], float)
        bets[-1] = 12
        if not number:  # the interval of the EV contains 0
            profits = SHARES * TABLE.ev
            bets = np.where(profits > 0, -1.02 * profits[profits < 0].sum() / profits[profits > 0].sum(), 1)
        terms = Terms(rng.choice([400, 1000, 25_000]), rng.choice([60, 100, 240]), rng.choice([0.25, 0.5, 1]))
        unit = rng.choice([1, 5, 25])
        wait = rng.choice(["", "-1", "2"]) if number else ""
        fields = {"bankroll": terms.bankroll * unit, "unit": unit, "hourly": terms.rounds_per_hour,
                  "kelly": terms.kelly, "wait": wait}  # fmt: skip
        played = np.where((int(wait) if wait else -math.inf) <= COUNTS, bets, 0)
        wagered = float(TABLE.shares @ (played * WAGERED))
        in_page = shown(page, fields, bets)["figures"]
        for figure in find_figures(ramp_returns(TABLE, played), terms, wagered):
            if figure.key.endswith("per_hour") and unit > 1:  # in money, not in units
                assert numbers(in_page[figure.key])[0] == pytest.approx(figure.value * unit, abs=0.006), figure.key
            else:
                assert in_page[figure.key] == figure.text, figure.key


def test_the_optimal_ramp_is_the_commands(page):
    for bank, kelly, chip in ((1000, 1, 1), (400, 0.5, 0.5), (50_000, 0.25, 5)):
        low = 1 if chip <= 1 else 5
        fields = {"bankroll": bank, "unit": 1, "kelly": kelly, "low": low, "high": 20, "chip": chip, "wait": ""}
        found = shown(page, fields, BETS, optimal=True)["bets"]
        assert found == pytest.approx(kelly_ramp(TABLE, bank, kelly, low, 20, chip).tolist())


def test_several_spots_have_the_commands_figures(browser, tmp_path):
    """Negative control: the figures of one spot."""
    (tmp_path / "spots.html").write_text(a_page(BETS, None, SPOT_TABLE, SPOTS))
    browser.problems.clear()
    browser.open((tmp_path / "spots.html").as_uri())
    assert browser.run("document.querySelector('#counts tbody').rows[13].cells[2].textContent") == "3"
    rng = np.random.default_rng(8)
    for _ in range(10):
        bets = rng.choice([0.5, 1, 2, 7, 12], 15)
        terms, wagered = Terms(rng.choice([800.0, 5000.0])), float(SPOT_TABLE.shares @ (bets * SPOTS * WAGERED))
        in_page = shown(browser, {"bankroll": terms.bankroll}, bets.tolist())["figures"]
        for figure in find_figures(ramp_returns(SPOT_TABLE, bets, SPOTS), terms, wagered):
            assert in_page[figure.key] == figure.text, figure.key
        assert in_page["sd_per_round"] != find_figures(ramp_returns(SPOT_TABLE, bets), terms)[1].text
    optimal = shown(browser, {"bankroll": 1000, "low": 1, "high": 20, "chip": 1}, BETS.tolist(), optimal=True)["bets"]
    assert optimal == pytest.approx(kelly_ramp(SPOT_TABLE, 1000, 1, 1, 20, 1, SPOTS).tolist())
    assert not browser.problems


def test_wrong_settings_show_no_figures(page):
    assert shown(page, {"bankroll": ""}, BETS)["figures"]["score"] == "–"
    assert shown(page, {"bankroll": 100}, BETS * 0)["figures"]["score"] == "–"
    assert shown(page, {"bankroll": 100}, BETS)["figures"]["score"] != "–"


BACKGROUND = "getComputedStyle(document.body).backgroundColor"
FOCUSED = "(one => one.id || one.ariaLabel || one.tagName)(document.activeElement)"


@pytest.mark.parametrize("dark", [False, True])
def test_it_is_usable_on_a_phone_by_keyboard(browser, tmp_path, dark):
    """Tab passes all controls in order, each with a name and a visible focus; keys change values and press buttons."""
    (tmp_path / "count.html").write_text(a_page())
    browser.open((tmp_path / "count.html").as_uri(), width=390, dark=dark)
    assert browser.run("document.documentElement.scrollWidth") <= 390
    assert browser.run(
        "[...document.querySelectorAll('input, select')].every(one => one.labels.length || one.ariaLabel)"
    )
    assert browser.run(BACKGROUND) == ("rgb(17, 22, 19)" if dark else "rgb(250, 250, 247)")
    reached = []
    while not reached or reached[-1] != "Bet at ≥ +8":
        browser.press("Tab")
        reached.append(browser.run(FOCUSED))
        style = browser.run("(({outlineStyle, outlineWidth}) => outlineStyle + outlineWidth)"
                            "(getComputedStyle(document.activeElement))")  # fmt: skip
        assert style == "solid3px", reached[-1]
        assert len(reached) < 30, reached
    controls = ["bankroll", "unit", "hourly", "wait", "kelly", "low", "high", "chip", "optimal", "reset", "DIV"]
    assert [one for one in reached if not one.startswith("Bet")] == controls
    assert len(reached) == len(controls) + len(COUNTS)
    before = browser.run("document.getElementById('score').textContent")
    browser.press("ArrowUp")  # the bet at +8: a unit more
    assert browser.run("document.activeElement.value") == "13"
    figures = find_figures(ramp_returns(TABLE, np.append(BETS[:-1], 13)), Terms())
    score = next(figure.text for figure in figures if figure.key == "score")
    assert browser.run("document.getElementById('score').textContent") == score != before
    browser.run("document.getElementById('reset').focus()")
    browser.press("Enter")
    assert browser.run("document.getElementById('score').textContent") == before
    browser.run("document.getElementById('bankroll').select()")
    for digit in "500":
        browser.press(digit)
    ruin = next(figure.text for figure in find_figures(ramp_returns(TABLE, BETS), Terms(500.0)) if figure.key == "ror")
    assert browser.run("document.getElementById('ror').textContent") == ruin


def test_paper_has_bets_but_no_boxes(page):
    page.call("Emulation.setEmulatedMedia", media="print")
    boxes = "[...document.querySelectorAll('input, select, button')].filter(e => e.offsetParent).map(e => e.value)"
    assert [float(bet) for bet in page.run(boxes)] == pytest.approx(BETS)
    edges = "new Set([...document.querySelectorAll('td input')].map(e => getComputedStyle(e).borderTopWidth))"
    assert page.run(f"[...{edges}]") == ["0px"]
    page.call("Emulation.setEmulatedMedia", media="")


def test_all_columns_are_visible_on_a_phone(browser, tmp_path):
    (tmp_path / "count.html").write_text(a_page())
    browser.open((tmp_path / "count.html").as_uri(), width=390)
    assert browser.run("(e => e.scrollWidth - e.clientWidth)(document.querySelector('.wide'))") == 0
