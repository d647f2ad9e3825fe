"""Pages of the app in a real browser: mouse, touch, keyboard, tabs, workers and servers that end."""

import json
import os
import re
import signal
import time
from base64 import b64decode

import pytest
from app.served import Person, Served
from chromium import AXE, PROGRAM

import bjsim
from bjsim.arguments import amount
from bjsim.strategies.exact.solver import Solver
from bjsim.strategies.formats.files import format_text

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")
pytestmark = [
    pytest.mark.skipif(PROGRAM is None, reason="there is no Chromium"),
    pytest.mark.xdist_group("chromium"),
    pytest.mark.slow,
]
PATHS = [
    "/start",
    "/run?rules=easy&hands=20000",
    "/count?rules=single-deck&rounds=20000&indices=none",
    "/play?rules=easy&seed=5",
    "/play?rules=easy&seed=5&drill=all",
    "/contest/index.html",
    "/game?rules=easy",
    "/hand?rules=easy",
    "/hand?rules=easy&hand=16+v",  # refused
    "/chart?rules=neller",  # nothing is asked yet
]
IDLE = "document.getElementById('report').ariaBusy !== 'true'"
ENDED = f"document.querySelector('#report h1') && !document.querySelector('.progress') && {IDLE}"


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    folder = tmp_path_factory.mktemp("contest") / "hill"
    bjsim.contest(["optimal", "lim17", "mimic"], folder, matches=6, seed=5)
    made = Served("--contest", str(folder), home=tmp_path_factory.mktemp("home"))
    yield made
    made.stop()


@pytest.fixture(scope="module")
def person(served):
    with Person(served) as opened:
        yield opened


def figure(person, name):
    return person.run(
        "[...document.querySelectorAll('.figures div')]"
        f".find(one => one.firstChild.textContent === {name!r})?.lastChild.textContent"
    )


def counted(person, query="rules=single-deck&rounds=20000&indices=none"):
    """Let a count end."""
    person.visit("/count?" + query)
    person.until("go.textContent === 'Done'", 120)


def seated(person, query):
    """Begin the first round at a table."""
    person.visit("/play?" + query)
    person.click("#answer button")
    person.until("document.querySelector('.said').innerText.includes('Round 1')")


def test_a_form_of_the_best_chart_is_copied_by_a_click(person):
    person.open(person.served.base + "/chart?rules=neller")
    person.until("document.getElementById('sample')")
    person.click("#sample")
    person.until("document.querySelectorAll('#report details pre').length > 2")
    person.run("document.querySelector('#report details:has(pre)').open = true")
    person.click("#report details[open] pre")
    person.until("document.getElementById('state').textContent === 'copied'")


def test_a_pocket_card_is_printed(person):
    """Nothing but the chart and its value, in a width that fits a pocket."""
    person.visit("/game?rules=easy&set=decks=1")
    assert person.text("#print") == "Print a pocket card"
    person.call("Emulation.setEmulatedMedia", media="print")
    shown = person.run(
        "[...document.querySelectorAll('body *')].filter(one => one.checkVisibility()).map(one => one.innerText).join()"
    )
    width = person.run("document.querySelector('.charts').getBoundingClientRect().width")
    person.call("Emulation.setEmulatedMedia", media="")
    assert width < 440 and ("House edge" in shown or "Player's edge" in shown)
    assert "easy: 1 deck" in shown and "bjsim solve" not in shown and "hands an hour" not in shown
    pdf = b64decode(person.call("Page.printToPDF", preferCSSPageSize=True)["data"])
    assert re.findall(rb"/MediaBox \[0 0 (\d+)\S* (\d+)\]", pdf) == [(b"298", b"420")]  # a page of 105 by 148 mm


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize(("width", "dark"), [(390, False), (1280, True)])
def test_a_page_fits_and_axe_finds_nothing(person, path, width, dark):
    person.problems.clear()
    person.open(person.served.base + path, width, 800, dark=dark)
    if not path.startswith(("/start", "/contest", "/play")):
        person.until(f"{ENDED} || document.querySelector('#report > .wrong, #sample')")
    assert person.run("document.documentElement.scrollWidth <= innerWidth")
    assert not [one for one in person.problems if "status of 422" not in one]
    if not AXE.exists():
        pytest.skip("axe-core is not in build/axe")
    assert person.findings() == []


def test_a_run_is_asked_for_by_keyboard_alone(person):
    person.visit("/run?rules=easy&hands=1000")
    person.until(ENDED)
    person.tab_to("#bots")
    person.write("lim17, mimic")
    person.press("Tab")
    person.write("20000")
    person.press("Tab")
    person.until(f"{ENDED} && document.getElementById('found-bots').rows.length === 3")
    assert "20,000" in person.text("#found-bots") and "--bots lim17,mimic --hands 20000" in person.text("pre")
    assert "bots=lim17%2C+mimic" in person.run("location.search")
    assert not person.problems


@pytest.mark.parametrize("how", ["paste", "drop", "choose"])
def test_a_chart_is_checked_once_it_is_pasted_or_its_file_dropped_or_chosen(person, how):
    text = json.dumps(format_text(Solver(bjsim.load_rules("neller")).chart))
    person.open(person.served.base + "/chart?rules=neller")
    person.until("presets && document.getElementById('text')")
    act = {
        "paste": f"box.value = {text}; box.dispatchEvent(new Event('paste'))",
        "drop": f"const moved = new DataTransfer(); moved.items.add(new File([{text}], 'chart.txt'));"
        "box.dispatchEvent(new DragEvent('drop', {dataTransfer: moved, cancelable: true}))",
        "choose": f"const moved = new DataTransfer(); moved.items.add(new File([{text}], 'chart.txt'));"
        "const file = document.getElementById('file'); file.files = moved.files;"
        "file.dispatchEvent(new Event('change'))",
    }[how]
    person.run(f"(() => {{ const box = document.getElementById('text'); {act}; }})()")
    person.until("document.querySelector('.figures')")
    assert "bjsim check chart.txt" in person.text("#report")
    assert person.run("document.getElementById('file').files.length") == 0  # so that it can be chosen again
    person.tab_to("#text")
    person.write(" ")
    person.click("#ask button")
    person.until(f"!document.getElementById('report').innerText && {IDLE}")
    person.run("document.getElementById('text').value = 'x'.repeat(6e6); changed()")  # more than is kept
    person.until("document.querySelector('#report .wrong')")
    assert not [one for one in person.problems if "status of 413" not in one]


def row(rule, value):
    return f".prices [data-rule={rule}][value={json.dumps(value)}]"


@pytest.mark.parametrize("way", ["mouse", "keyboard"])
def test_a_rule_is_changed_where_its_price_stands(person, way):
    person.visit("/game?rules=neller")
    hits, stands = row("hit_soft_17", "true"), row("hit_soft_17", "false")
    person.until(f"document.querySelector('{hits} b').innerText.includes('%')")
    cost = person.text(f"{hits} b")
    assert not person.run(f"document.querySelector('{stands}').checkVisibility()")  # it is the rule of the game
    if way == "mouse":
        person.click(hits)
    else:
        person.tab_to(hits)
        person.press("Enter")
    person.until("document.querySelector('pre').innerText.includes('hit_soft_17=true')")
    person.until(f"document.querySelector('.compared').innerText === {f'compared with neller: {cost}'!r}")
    person.until(f"document.activeElement.matches('{stands}')")
    assert person.run("document.querySelector('.chip.changed select').id") == "hit_soft_17"
    person.click("#undo")
    person.until("!document.querySelector('pre').innerText.includes('set') && !document.querySelector('.changed')")


def test_rules_stand_by_what_they_are_worth_and_rare_ones_at_a_press(person):
    person.visit("/game?rules=easy")
    priced = "[...document.querySelectorAll('.prices button')].filter(one => one.checkVisibility())"
    over = f"{priced}.every(one => !one.innerText.includes('…'))"
    person.until(over, 120)
    values = f"{priced}.map(one => parseFloat(one.lastChild.innerText.replace('\u2212', '-')))"
    few = person.run(values)
    assert few == sorted(few, reverse=True) and len(few) > 5
    person.click("#all")
    person.until(f"{priced}.length > {len(few)} && {over}", 240)
    known = [value for value in person.run(values) if value is not None]
    assert known == sorted(known, reverse=True) and len(known) > len(few)


def test_the_edge_is_told_in_the_money_of_the_address(person):
    person.visit("/game?rules=vegas-s17&bet=50&hourly=100")
    person.until("document.getElementById('evening').innerText.includes('1 time in 20')", 60)
    assert "costs you $20.30 an hour" in person.text(".means") and person.text(".edge .value") == "0.406%"
    assert "ahead about 47 times in 100; 1 time in 20 you lose more than $1,979" in person.text("#evening")
    person.tab_to("#bet")
    person.write("10")
    assert "costs you $4.06 an hour" in person.text(".means") and "bet=10" in person.run("location.search")


def test_a_short_chart_has_every_row_at_a_press_and_by_keyboard(person):
    person.visit("/game?rules=vegas-s17&set=max_hands=2")  # so every address contains "hand"
    shown = "[...document.querySelectorAll('.hard tbody tr')].filter(one => one.checkVisibility())"
    rows = f"{shown}.map(one => one.cells[0].innerText)"
    assert person.run(rows) == ["4–8", "9", "10", "11", "12", "13–16", "17–20"]
    assert person.run("getComputedStyle(document.querySelector('.hard td.close'), '::after').content") != "none"
    person.tab_to(".hard td")
    person.press("ArrowDown")
    assert person.text("#tip").startswith("9 against 2: H")
    person.press("Enter")
    person.until("document.body.dataset.page === 'hand' && location.search.includes('max_hands')")
    person.visit("/game?rules=vegas-s17")
    person.click("#full")
    assert person.run(rows) == [str(total) for total in range(4, 21)] and "18" in person.text(".hard td small")
    person.click("#short")


def test_a_rule_may_have_a_value_that_is_not_offered(person):
    person.visit("/game?rules=neller")
    person.tab_to("#decks")
    person.press("o")  # other …
    person.until("document.activeElement.classList.contains('other')")
    person.write("5")
    person.press("Enter")
    person.until(f"document.querySelector('#report pre')?.innerText.includes('decks=5') && {IDLE}")
    assert person.run("document.activeElement.id === 'decks' && document.activeElement.value === '5'")
    person.press("o")
    person.until("document.activeElement.classList.contains('other')")
    person.press("Tab")  # without a value nothing changes
    assert person.run("document.getElementById('decks').value") == "5"


def test_cards_are_gone_from_a_hand(person):
    person.visit("/hand?rules=single-deck")
    before = person.text(".answer")
    person.tab_to("#gone")
    person.write("9 9 T")
    person.press("Enter")
    person.until(f"{IDLE} && document.querySelector('#rest pre')?.innerText.includes('--shoe')")
    assert person.text(".answer") != before and "gone=9+9+T" in person.run("location.search")


def test_a_run_stops_and_goes_on(person):
    person.visit("/run?rules=easy&hands=1e9")
    person.until("document.getElementById('go').textContent === 'Stop'")
    person.click("#go")
    person.until("document.getElementById('go').textContent === 'Go on'")
    time.sleep(1.5)  # what was under way has ended
    before = person.text(".progress")
    time.sleep(1)
    assert person.text(".progress") == before
    person.click("#go")
    person.until(f"document.querySelector('.progress').innerText !== {before!r}")
    person.visit("/run?rules=easy&hands=1e9")  # a reload finds the run again
    assert int(re.sub(r"\D", "", person.text(".progress").split(" of ")[0])) > int(
        re.sub(r"\D", "", before.split(" of ")[0])
    )
    person.click("#go")


def test_focus_and_open_details_stay_while_figures_change(person):
    person.visit("/run?rules=easy&hands=1e9")
    person.until("document.querySelectorAll('#report details').length")
    person.click("#report figure summary")
    person.run("document.querySelector('#report .wide').focus()")
    before = person.text(".progress")
    person.until(f"document.querySelector('.progress').innerText !== {before!r}")
    assert not person.run(
        "document.querySelector('#report figure details').open"
    )  # of one player they are open at first
    assert person.run("document.activeElement.matches('#report .wide')")
    person.run("document.querySelector('#report .copy').focus()")
    before = person.text(".progress")
    person.until(f"document.querySelector('.progress').innerText !== {before!r}")
    assert person.run("document.activeElement.matches('#report .copy')")
    person.click("#go")


MONEY = "parseFloat(document.querySelector('#hour .value').textContent.replace('\u2212', '-').replace('$', ''))"


def test_a_count_narrows_while_one_watches_and_has_other_bets_at_once(person):
    person.visit("/count?rules=single-deck&rounds=1e8&indices=none")
    person.until("document.querySelectorAll('#found-ramps tbody tr').length === 5", 60)
    half = "parseFloat(document.querySelector('#hour .trust').textContent.split('$')[1])"
    first = person.run(half)
    person.until(f"{half} < {first}")
    rounds = person.run("document.querySelector('progress').value")
    person.tab_to("#bets div:last-child input")
    before = person.run(MONEY)
    person.write("500")
    assert person.run(MONEY) > before + 1  # before the server answers
    person.until("document.querySelector('#rest pre').innerText.includes(':50')")
    assert person.run("document.querySelector('progress').value") >= rounds
    assert person.run("new URLSearchParams(location.search).get('ramp')").endswith(":50")
    person.click("#go")
    assert not person.problems


def test_a_bad_bet_waits_for_a_number_a_corrected_one_counts_and_back_undoes_it(person):
    counted(person)
    asked, entries = person.run("[location.search, history.length]")
    shown = person.text("#hour .value"), person.run("document.querySelector('#bets div:last-child input').value")
    person.tab_to("#bets div:last-child input")
    for bad in ("ten", "-5", " "):
        person.write(bad)
        person.press("Tab")
        time.sleep(0.7)
        assert "waits for a number" in person.text("#hour") and person.run("location.search") == asked
        assert "NaN" not in person.run("[...document.querySelectorAll('input')].map(one => one.value).join()")
        person.run("document.querySelector('#bets div:last-child input').focus()")
    person.press("ArrowUp")
    assert person.run("document.activeElement.value") == "5"
    person.write("500")
    person.run("at('bankroll').value = 'ten'")  # as one types on: nothing is asked until it is a number again
    time.sleep(0.7)
    assert person.run("location.search") == asked
    person.run("at('bankroll').value = '10000'")
    person.write("$1,500")
    person.until(f"new URLSearchParams(location.search).get('ramp')?.endsWith(':150') && {IDLE}")
    person.press("Tab")
    person.until(IDLE)
    assert person.run("history.length") == entries + 1 and person.text("#hour .value") != shown[0]
    person.run("document.querySelector('#bets div:last-child input').focus()")
    person.run("history.back()")
    person.until(f"location.search === {asked!r} && {IDLE}")
    bet = "document.querySelector('#bets div:last-child input').value"
    assert (person.text("#hour .value"), person.run(bet)) == shown
    assert not person.problems


def test_index_plays_come_though_the_reader_goes_to_the_answer_and_stops_the_run(person):
    person.open(person.served.base + "/count?rules=single-deck&rounds=1e8&indices=none")
    person.until("document.getElementById('details').ariaBusy === 'true'")
    person.run("document.querySelector('.skip').click()")
    time.sleep(1)
    person.click("#go")
    person.until("go.textContent === 'Go on' && document.querySelector('#details .bars div')", 120)
    assert person.run("document.getElementById('details').ariaBusy") == "false"


def test_a_count_finds_the_best_bets_for_a_risk_or_says_what_would_do_it(person):
    counted(person, "rules=two-deck&rounds=200000&indices=none")
    ruin = "parseFloat(document.querySelector('#ruin .value').textContent)"
    person.click("#best")
    assert person.run(ruin) <= 10 and person.run("document.getElementById('no-bets').hidden")
    assert float(person.run("document.getElementById('kelly').value")) <= 1
    person.until(
        f"document.querySelector('#rest pre').innerText.includes(document.getElementById('ramp').value) && {IDLE}"
    )
    boldest = person.run("Math.max(...[...document.querySelectorAll('#bets input')].map(one => Number(one.value)))")
    assert 10 < boldest <= 120 and "within" in person.text("#ruin")
    shown = person.text(".four"), person.text("#bets"), person.text("#rest pre")
    person.visit(person.run("location.pathname + location.search"))  # the address is a citation
    person.until("document.getElementById('go').textContent === 'Done'", 120)
    assert (person.text(".four"), person.text("#bets"), person.text("#rest pre")) == shown
    person.tab_to("#bankroll")
    person.write("800")
    assert "more than your limit" in person.text("#ruin")
    person.click("#best")
    assert "With this bankroll no bets keep the risk of ruin below" in person.text("#no-bets")
    person.run("document.activeElement.blur()")
    person.tab_to("#bankroll")
    person.write("ten")
    assert person.text("#hour .value") == "\u2013" and person.run(
        "document.querySelector('.field.wrong #bankroll') != null"
    )
    assert not person.problems


def test_a_kept_table_stands_beside_another_one_each_with_its_own_best_bets(person):
    """The kept column is what the page showed with its best bets, and the other one what it shows with its own."""
    texts = "[1, 2].map(i => one.children[i].innerText).join(' ').trim()"
    figures = f"[...document.querySelectorAll('.four div')].map(one => {texts})"
    column = "[...document.querySelectorAll('#tables tbody tr')].slice(0, 4).map(one => one.cells[{}].innerText)"

    def is_counted(name):
        title = "document.querySelector('#report h1')?.innerText"
        person.until(f"{title}?.includes({name!r}) && go.textContent === 'Done'", 120)

    def count(name):
        is_counted(name)
        person.click("#best")
        return person.run(figures)

    person.visit("/count?rules=two-deck&rounds=60000&indices=none")
    first = count("two-deck")
    person.click("#keep")
    assert person.text("#kept").startswith("Kept: Hi-Lo in two-deck.")
    assert not person.run("document.getElementById('tables').checkVisibility()")
    person.run("preset.value = 'single-deck'; preset.dispatchEvent(new Event('change'))")
    second = count("single-deck")
    person.until("document.getElementById('tables').checkVisibility()")
    assert [person.run(column.format(i)) for i in (1, 2)] == [first, second]
    assert first != second and not person.problems
    person.click("#tables a")
    is_counted("two-deck")
    assert person.run(figures) == first  # the address of a kept table has its bets
    person.run("sessionStorage.removeItem('table')")


def test_a_count_that_leaves_shoes_has_fewer_rounds_in_an_hour(person):
    counted(person, "rules=single-deck&rounds=60000&indices=none")
    person.tab_to("#leave")
    person.press("ArrowDown")  # 0
    person.press("ArrowDown")  # -1
    person.until("location.search.includes('leave=-1') && report.innerText.includes('of 100 shoes')", 120)
    person.until("document.getElementById('go').textContent === 'Done'", 120)
    assert "--leave -1" in person.text("#rest pre")
    exact = "[...document.querySelectorAll('#rest dt')].find(one => one.textContent === 'EV per hour, $')"
    hour = person.run(f"{exact}.nextSibling.textContent").split(" ± ")
    assert person.text("#hour .value") == f"${hour[0]}" and person.text("#hour .trust") == f"± ${hour[1]}"
    assert not [one for one in person.problems if "leave=0" not in one]  # which is asked no longer


def play_on(person, act, rounds=3):
    for _ in range(40):
        person.until(IDLE)
        if f"Round {rounds}," in person.text(".said") and person.run("!!document.getElementById('word')"):
            return
        before = person.text("#report")
        act()
        person.until(f"{IDLE} && document.getElementById('report').innerText !== {before!r}")
    raise AssertionError("no rounds are played")


@pytest.mark.parametrize("way", ["mouse", "touch", "keyboard"])
def test_a_table_by(person, way):
    person.visit(f"/play?rules=vegas-s17&seed={len(way)}", 390 if way == "touch" else 1280)
    if way == "keyboard":
        person.tab_to("#word")

    def act():
        if way == "keyboard":
            person.press("Enter" if person.run("document.activeElement.id === 'word'") else "s")
        else:
            stand = person.run("!!document.querySelector('[data-key=s]')")
            (person.click if way == "mouse" else person.tap)("[data-key=s]" if stand else "#answer button")

    play_on(person, act)
    assert figure(person, "rounds") == "3" and "Coach:" in person.text(".said") + person.text(".figures")
    shown, key = person.text("#report"), person.run("location.href")
    person.open(key, 1280, 800)
    person.until("document.querySelector('#report h1')")
    assert person.text("#report") == shown  # after a reload
    assert not person.problems


def test_a_count_is_asked_under_time(person):
    person.visit("/play?rules=single-deck&seed=2&system=hilo&seconds=1")
    for _ in range(30):
        person.until(IDLE)
        if "Too late" in person.text(".said"):
            break
        if "What is the" not in person.text("#answer"):
            stand = person.run("!!document.querySelector('[data-key=s]')")
            person.click("[data-key=s]" if stand else "#answer button")
        time.sleep(0.2)
    person.until("document.querySelector('.figures').innerText.includes('0 of 2 counts right')")


def test_another_time_to_count_keeps_the_table(person):
    seated(person, "rules=easy&seed=5")
    shown = person.text("#report")
    person.run("document.getElementById('seconds').focus()")
    person.write("20")
    person.press("Tab")
    person.until(f"location.search.includes('seconds=20') && {IDLE}")
    assert person.text("#report") == shown


def test_a_wrong_answer_is_said_and_changes_nothing(person):
    person.visit("/play?rules=easy&seed=77")
    person.tab_to("#word")
    person.write("1000000")
    person.press("Enter")
    person.until("document.querySelector('#answer .wrong')?.textContent.includes('is not a bet')")
    person.until(IDLE)
    assert "q to quit" not in person.text("#answer")
    person.press("Enter")  # the last bet
    person.until("document.querySelector('.said').innerText.includes('your bet is 10 chips')")


def test_keys_of_moves_do_not_fall_into_the_bet(person):
    person.visit("/play?rules=vegas-s17&seed=7")
    for key in "shdpr?":
        person.press(key)
    assert person.run("document.getElementById('word').value") == "10"
    person.press("Enter")
    person.until("document.querySelector('[data-key=h]')")
    person.press("?")
    person.until("document.querySelector('.said .bars')")
    assert person.text(".said .best").split() == ["Stand", "−0.1540"]
    person.press("s")
    person.until("document.getElementById('word')")


@pytest.mark.parametrize("path", ["/hand?rules=vegas-s17", "/chart?rules=vegas-s17"])
def test_no_old_answer_stands_below_a_new_question_that_fails(person, path):
    person.open(person.served.base + path)
    if "chart" in path:
        person.until("presets && document.getElementById('sample')")
        person.click("#sample")
    person.until(f"document.querySelector('#report :is(.figures, .verdict)') && {IDLE}")
    person.tab_to("#text" if "chart" in path else "#hand")
    person.write("x v 10")
    person.click("#ask button")
    person.until("document.querySelector('#report .wrong')")
    assert person.run("document.getElementById('report').childElementCount") == 1 and person.text("#rest") == ""
    assert "--" not in person.text("#report")


def test_where_both_cards_of_the_dealer_show_all_hands_that_are_offered_are_answered(person):
    person.visit("/hand?rules=easy")
    offered = "[...document.querySelectorAll('.example')].filter(one => one.checkVisibility()).map(one => one.value)"
    hands = [*person.run(offered), *re.findall(r"\S+ v [\w,]*\w", person.text("#about-hand"))]
    assert len(hands) == 7
    for hand in hands:
        person.run(f"askFor({hand!r})")
        person.until(f"{IDLE} && document.querySelector('#report :is(h1, .wrong)')")
        assert not person.run("document.querySelector('#report .wrong')") and "," in hand.split(" v ")[1]
    person.visit("/game?rules=easy")
    person.tab_to(".hard td")
    person.press("Enter")
    time.sleep(0.5)
    assert person.run("document.body.dataset.page") == "game" and "Enter opens" not in person.text("#report")


def test_no_old_figure_stands_beside_a_refusal(person):
    refused = "set=hit_soft_17%3Dperhaps"
    person.visit("/game?rules=easy")
    person.until("document.querySelector('.prices').innerText.includes('%')")
    person.run(f"history.pushState(null, '', '?rules=easy&{refused}'); dispatchEvent(new Event('popstate'))")
    person.until("document.querySelector('#report .wrong')")
    assert "%" not in person.text(".prices")
    person.visit("/count?rules=single-deck&rounds=20000&indices=none")
    bets = "document.getElementById('bets').checkVisibility()"
    for field, text, stay in (("ramp", "1e9", True), ("bankroll", "ten", False), ("bankroll", "10000", True)):
        person.run(f"at({field!r}).value = {text!r}; changed()")
        person.until(f"document.querySelector('#report {'h1' if text == '10000' else '.wrong'}') && {IDLE}")
        person.run("at('ramp').value = '1-12'")
        assert person.run(bets) == stay


def test_a_total_asks_which_hand_is_meant_and_cards_can_be_tapped(person):
    person.visit("/hand?rules=vegas-s17&hand=16+v+10")
    assert person.text(".verdict b") == "Hit" and "better than stand by 0.63% of the bet" in person.text(".answer")
    assert "dealer goes over: 23 times in 100. A card breaks you 61 times in 100" in person.text(".answer")
    person.click(".choices button:last-child")
    person.until("document.querySelector('.verdict b')?.innerText === 'Split'")
    assert "hand=8%2C8" in person.run("location.search") and "'8,8 v 10'" in person.text("#rest pre")
    for card in "55":
        person.click(f"[data-for=you][value='{card}']")
    person.until(IDLE)
    person.click("[data-for=dealer][value='6']")
    person.until("document.querySelector('.verdict b')?.innerText === 'Double'")
    hand = "document.getElementById('hand').value"
    assert person.run(hand) == "5,5 v 6"
    for typed, who, cards, meant in (("8,8 v A", "dealer", "5", "8,8 v 5"), ("16 v 10", "you", "99", "9,9 v 10")):
        person.run("document.getElementById('hand').focus()")
        person.write(typed)
        person.press("Enter")
        person.until(IDLE)  # the picker stands where it stays
        for card in cards:
            person.click(f"[data-for={who}][value='{card}']")
        assert person.run(hand) == meant  # cards that were tapped before are gone
    assert not person.problems


def test_a_drill_by_keyboard(person):
    person.visit("/play?rules=easy&seed=4&drill=hard")
    for number in range(1, 5):
        before = person.text("#asked")
        person.press("s")
        person.until(f"document.querySelector('.figures').innerText.includes(' of {number} right')")
        assert person.text("#asked") != before


def test_the_record_of_a_game_is_shown_and_chooses_what_the_next_drill_asks(person):
    person.visit("/play?rules=vegas-s17&seed=4&drill=pairs")
    person.run("localStorage.setItem('bjsim-record', '2026-01-02\\trules=easy\\t16 v T\\tyes')")  # of another game
    for number in range(1, 9):
        person.press("p")  # not always right
        person.until(f"document.querySelector('.figures').innerText.includes(' of {number} right')")
    wrong = 8 - int(person.text(".figures").split()[1])
    missed = person.run("[...document.querySelectorAll('#map .weak')].map(one => one.title.split(':')[0])")
    assert 0 < len(missed) <= wrong and "8 moves on 1 day" in person.text("#summary")
    counted = "[...document.querySelectorAll('#map td')].map(one => Number(one.innerText) || 0)"
    assert sum(person.run(counted)) == wrong
    shown = person.text("#record")
    person.visit("/play?rules=vegas-s17&seed=4&drill=pairs")
    assert person.text("#record") == shown  # after a reload
    person.click("#new")
    person.until(f"{IDLE} && location.search.includes('due=')")
    assert all(name in person.text("#report") for name in missed)
    person.run("window.confirm = () => true")
    person.click("#forget")
    assert person.run("document.getElementById('record').hidden") and not person.problems


def test_two_tabs_play_two_tables(person):
    seated(person, "rules=easy&seed=9")
    first, one = person.session, person.text("#report")
    target = person.call("Target.createTarget", url="about:blank")["targetId"]
    person.session = person.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
    for domain in ("Page", "Runtime", "Log"):
        person.call(f"{domain}.enable")
    person.visit("/play?rules=easy&seed=9")
    assert "Place a bet" in person.text("#report")  # this tab has answered nothing
    person.session = first
    assert person.text("#report") == one
    person.call("Target.closeTarget", targetId=target)


def test_back_and_forward(person):
    person.visit("/run?rules=easy&hands=1000")
    person.until(ENDED)
    person.run("document.getElementById('bots').focus()")
    person.write("mimic")
    person.press("Tab")
    person.until(f"{ENDED} && document.getElementById('found-bots').innerText.includes('mimic')")
    person.run("history.back()")
    person.until(f"{ENDED} && document.getElementById('found-bots').innerText.includes('optimal')")
    assert person.run("document.getElementById('bots').value") == "optimal"
    person.run("history.forward()")
    person.until(f"{ENDED} && document.getElementById('found-bots').innerText.includes('mimic')")


def test_a_contest_is_shown_with_its_replays(person):
    person.visit("/contest/index.html")
    assert "optimal" in person.text("#standings") and not person.problems
    assert person.text("nav [aria-current=page]") == "Contest"
    person.click("#standings tbody a")
    person.until("document.title.includes(':') && location.pathname.startsWith('/contest/pages/')")
    assert not person.problems


def test_a_killed_worker_is_replaced_and_nothing_is_lost(person, served):
    seated(person, "rules=easy&seed=31")
    for worker in served.workers():
        os.kill(worker, signal.SIGKILL)
    for _ in range(20):
        if person.run("!!document.querySelector('[data-key=s]')"):
            person.click("[data-key=s]")
        time.sleep(1)
        if "You stand" in person.text(".said"):
            break
    assert "You stand" in person.text(".said")
    person.visit("/run?rules=easy&hands=1e9")
    person.until("document.querySelector('.progress')")
    for worker in served.workers():
        os.kill(worker, signal.SIGKILL)
    time.sleep(1)
    before = person.text(".progress")
    person.until(f"document.querySelector('.progress').innerText !== {before!r}", 60)  # by itself
    person.click("#go")


def test_a_page_says_that_the_server_has_stopped(tmp_path):
    short = Served(home=tmp_path)
    with Person(short) as person:
        person.visit("/run?rules=easy&hands=1e9")
        person.until("document.querySelector('.progress')")
        short.stop()
        person.until("!document.getElementById('stopped').hidden")
        assert "bjsim app" in person.text("#stopped")
        person.run("report.replaceChildren(); changed()")  # as on a page without an answer
        time.sleep(1)
        assert person.run(IDLE) and not person.text("#report")
    assert short.process.returncode == 0


def test_a_count_reads_amounts_as_the_server_does(person):
    person.open(person.served.base + "/count?rules=single-deck&rounds=20000&indices=none")
    person.until("typeof number === 'function' && at('bankroll').value")
    for text in ("1.5k", "10K", "2M", "10,000", "$800", " 25 ", "1,5", "ten", "-5", "0.5", "1.5,000"):
        seen = person.run(f"at('bankroll').value = {text!r}; number('bankroll') > 0 ? number('bankroll') : null")
        assert seen == amount(text.removeprefix("$")), text


def test_where_storage_is_refused_pages_work_until_they_are_left(person):
    person.open(person.served.base + "/play?rules=easy&seed=5")  # whose worker another test may have killed
    person.until(
        "document.getElementById('report').innerText && document.getElementById('report').ariaBusy === 'false'"
    )
    refused = "Object.defineProperty(window, '{}', {{configurable: true, get() {{ throw new Error('refused'); }}}});"
    source = "".join(map(refused.format, ("sessionStorage", "localStorage")))
    script = person.call("Page.addScriptToEvaluateOnNewDocument", source=source)["identifier"]
    person.visit("/game?rules=easy")
    person.click("#full")
    assert person.run("at('full').ariaPressed") == "true"
    seated(person, "rules=easy&seed=5")
    for path in ("/chart?rules=easy", "/count?rules=single-deck&rounds=20000&indices=none"):
        person.open(person.served.base + path)
        person.until(f"presets && {IDLE}")
    person.call("Page.removeScriptToEvaluateOnNewDocument", identifier=script)
    assert not person.problems


def test_every_row_of_a_game_is_not_the_text_of_a_chart(person):
    person.visit("/game?rules=easy")
    person.run("sessionStorage.clear()")
    person.click("#full")
    person.open(person.served.base + "/chart?rules=easy")
    person.until("presets")
    assert not person.run("at('text').value")
    person.run("sessionStorage.clear()")


@pytest.mark.parametrize("given", ["rules=toString", "rules=easy&set=no_such=1"])
def test_what_is_not_known_of_an_address_is_said(person, given):
    person.visit("/game?" + given)
    game, said = (
        ("vegas-s17", "No game is called toString") if "String" in given else ("easy", "No rule is called no_such")
    )
    assert said in person.text("main > .notice:not([hidden])") and person.run("preset.value") == game
    person.run("changed()")
    assert not person.text("main > .notice:not([hidden])") and not person.problems


def test_a_refused_rule_is_marked(person):
    person.open(person.served.base + "/game?rules=easy&set=decks=99")
    person.until("document.querySelector('#report .wrong')")
    assert person.run("[...document.querySelectorAll('.rule.wrong [name]')].map(one => one.name)") == ["decks"]


def test_no_details_of_another_game_stand_beside_a_figure(person):
    person.visit("/game?rules=easy")
    person.until("at('details').innerText", 120)
    person.run("put(at('decks'), '2'); changed()")
    person.until(f"report.innerText.includes('2 decks') && {IDLE}")
    assert not person.text("#details")
    person.visit("/count?rules=single-deck&rounds=20000&indices=none")
    person.until("document.querySelector('#details .bars')", 120)
    person.run("preset.value = 'two-deck'; changed()")
    assert "being computed" in person.text("#details")
    person.run("window.askHost = askHost; (async () => { try { await showDetails('x', '', {}); } catch {} })()")
    person.until("at('details').ariaBusy === 'false'")


def test_bets_have_the_counts_of_their_game_though_one_has_the_focus(person):
    counted(person)
    labels = "[...document.querySelectorAll('#bets b')].map(one => one.innerText).join()"
    before = person.run(labels)
    person.run("document.querySelector('#bets div:last-child input').focus()")
    person.run("history.pushState(null, '', '?rules=vegas-s17&rounds=20000&indices=none')")
    person.run("dispatchEvent(new Event('popstate'))")
    person.until(f"here.played.includes('vegas-s17') && {IDLE}", 120)
    assert person.run(labels) == person.run("spans.map(one => one.label).join()") != before
    assert person.run("document.activeElement.matches('#bets input')")


def test_bets_of_another_game_wait_for_its_figures(person):
    """While it is computed, and where it is refused, the last game has no more best bets, and is not kept."""
    counted(person)
    ramp = person.run("at('ramp').value")
    person.run("preset.value = 'two-deck'; changed()")
    for refused in (False, True):
        if refused:
            person.run("put(at('decks'), 'inf'); changed()")
            person.until("document.querySelector('#report > .wrong')", 120)
        for button in ("best", "by-kelly", "keep"):
            person.run(f"at('{button}').click()")
        assert person.run("[at('ramp').value, sessionStorage.getItem('table')]") == [ramp, None]


def test_what_keeps_within_a_risk_is_told_of_the_bets_beside_it(person):
    counted(person, "rules=single-deck&rounds=20000&indices=none&bankroll=300")
    hidden = "at('no-bets').hidden"
    for act in ("at('by-kelly').click()", "at('bankroll').dispatchEvent(new Event('input', {bubbles: true}))"):
        person.click("#best")
        person.until(f"!{hidden}")
        person.run(act)
        assert person.run(hidden)
    person.run("at('bankroll').value = '0.01'; at('best').click()")
    assert not person.run(hidden) and "These would" not in person.text("#no-bets")
    person.run("at('bankroll').value = '2000'; at('risk').value = '2'; at('best').click()")  # a tenth of what is needed
    assert "a bankroll of $20,000" in person.text("#no-bets")
    person.click("#no-bets [data-id=bankroll]")
    assert person.run(hidden) and "within" in person.text("#ruin")
    person.run("preset.value = 'two-deck'; changed()")
    person.until(f"here.played.includes('two-deck') && {hidden}", 120)


@pytest.mark.parametrize(("field", "bad"), [("chip", "121"), ("spread", "0.5")])
def test_chips_above_the_highest_bet_are_marked(person, field, bad):
    counted(person)
    bets = "[...document.querySelectorAll('#bets input')].map(one => one.value).join()"
    before = person.run(bets)
    person.run(f"at('{field}').value = '{bad}'; at('best').click()")
    assert person.run(bets) == before and person.run("at('no-bets').hidden")
    assert person.run("[...document.querySelectorAll('.field.wrong [id]')].map(one => one.id)[0]") == field


def test_two_tables_that_differ_in_a_rule_have_two_headings(person):
    counted(person)
    person.click("#keep")
    person.run("at('hit_soft_17').value = at('hit_soft_17').value === 'true' ? 'false' : 'true'")
    person.run("at('indices').value = 'fab4'; changed()")
    person.until("at('tables').checkVisibility()", 120)
    first, second = person.run("[...document.querySelectorAll('#tables thead a')].map(one => one.innerText)")
    assert first == "Hi-Lo in single-deck, index plays none" and "soft 17" in second and "index plays fab4" in second
    person.run("sessionStorage.removeItem('table')")


def test_a_count_waits_for_rare_counts(person):
    person.open(person.served.base + "/count?rules=vegas-s17&rounds=2e6&indices=none&ramp=0:0+60:1")
    person.until("document.querySelector('#report > .wrong')?.innerText.includes('more rounds')", 120)
    assert person.run("go.textContent") == "Stop" and not person.run("go.disabled")
    person.until("document.querySelector('#report > .wrong')?.innerText.endsWith('bet at one of them')", 200)
    assert person.run("go.disabled")


def test_a_game_that_is_refused_leaves_no_table_and_no_clock(person):
    seated(person, "rules=easy&seed=77&seconds=30")
    person.run("report.querySelector('form').append(element('progress', {id: 'clock'})); countDown()")
    kept = person.run("answers()")
    person.run("at('seed').value = 'x'; changed()")
    person.until(f"document.querySelector('#report > .wrong') && {IDLE}")
    assert not person.run("!!document.querySelector('.table')") and not person.run("at('record').checkVisibility()")
    person.run("began = -1e9")  # a clock that runs would end at once
    time.sleep(0.5)
    assert not person.run("answers()") and person.run("sessionStorage.getItem('play?rules=easy&seed=77')") == kept


def test_a_wrong_answer_takes_time_and_nonsense_is_no_time(person):
    person.visit("/play?rules=easy&seed=78&seconds=soon")
    assert person.run("[...document.querySelectorAll('.field.wrong input')].map(one => one.id)") == ["seconds"]
    person.visit("/play?rules=easy&seed=78&seconds=50")
    person.run("report.querySelector('form').append(element('progress', {id: 'clock'})); countDown()")
    began = person.run("began")
    person.run("at('word').value = 'x'; answer('x')")
    person.until(f"document.querySelector('#answer .wrong') && {IDLE}")
    assert person.run("began") == began
    person.until("at('clock').value < 1")


def test_a_drill_of_another_game_asks_its_own_cells(person):
    person.visit("/play?rules=vegas-s17&seed=4&drill=all")
    lines = "2026-01-02\\trules=easy\\t16 v T7\\tyes\\n2026-01-02\\trules=vegas-s17\\t88 v 9\\tyes"
    person.run(f"localStorage.setItem('bjsim-record', '{lines}')")
    person.click("#new")
    person.until(f"{IDLE} && location.search.includes('due=88+v+9')")
    shown = person.text("#asked")
    person.run("document.getElementById('report').append('old'); update()")
    person.until(f"{IDLE} && !report.innerText.includes('old')")
    assert person.text("#asked") == shown
    person.run("preset.value = 'easy'; preset.dispatchEvent(new Event('change'))")
    assert person.run("new URLSearchParams(location.search).get('due')") == "16 v T7"
    person.run("localStorage.removeItem('bjsim-record')")


def test_the_values_of_moves_wait_for_a_move_that_is_under_way(person):
    person.visit("/play?rules=vegas-s17&seed=156")  # A A against 4
    person.click("#answer button")
    person.until("document.querySelector('[data-key=s]')")
    press = "document.body.dispatchEvent(new KeyboardEvent('keydown', {key, bubbles: true}))"
    person.run(f"for (const key of ['s', '?']) {press}")
    person.until(f"{IDLE} && document.querySelector('.said').innerText.includes('stand costs')")
    person.until("(localStorage.getItem('bjsim-record') || '').includes('AA v 4')")
    person.run("localStorage.removeItem('bjsim-record')")


def test_enter_opens_the_hand_of_a_row_of_hands(person):
    person.visit("/game?rules=neller-v1")
    person.run("sessionStorage.setItem('rows', 'full'); afterChart()")
    named = "one.cells[0].firstChild.textContent"
    for row in ("16/4", "16"):
        person.run(f"[...document.querySelectorAll('.chart tr')].find(one => {named} === '{row}').cells[1].focus()")
        person.press("Enter")
    person.until("location.pathname === '/hand'")
    assert person.run("new URLSearchParams(location.search).get('hand')") == "16 v 2"
