"""An exported site in a real browser, which computes in Pyodide, from the folder that BJSIM_PYODIDE names."""

import json
import os
import random
import subprocess
import sys
import threading
import time
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from types import SimpleNamespace
from urllib.parse import urlencode

import pytest
from app.served import Person
from chromium import PROGRAM

from bjsim.app.export import export_site
from bjsim.app.reports import answer
from bjsim.app.work import ChosenGame
from bjsim.sim.game.presets import PRESETS
from bjsim.strategies.formats.files import WRITERS
from bjsim.strategies.players.catalogue import CATALOGUE

PYODIDE = os.environ.get("BJSIM_PYODIDE", "")
pytestmark = [
    pytest.mark.skipif(PROGRAM is None, reason="there is no Chromium"),
    pytest.mark.skipif(not PYODIDE, reason="BJSIM_PYODIDE names no folder with a release of Pyodide"),
    pytest.mark.xdist_group("site"),
    pytest.mark.slow,
]
KNOWN = ChosenGame("easy", ())
PATIENCE = 300  # seconds, on a busy machine
IDLE = "document.getElementById('report').ariaBusy === 'false'"
STATE = "navigator.serviceWorker.getRegistration().then(found => found?.active?.state)"
OVER = f"{IDLE} && document.querySelector('#report h1') && !document.querySelector('#report progress')"


class Quiet(SimpleHTTPRequestHandler):
    """Serves files as any host does."""

    def log_message(self, *_: object) -> None:
        """Say nothing."""


class Reader(Person):
    """A browser, and what a person does in the page that the site shows in its frame."""

    def __init__(self, base: str) -> None:
        super().__init__(SimpleNamespace(address=base, base=base))  # type: ignore[arg-type]

    def run(self, script: str) -> object:
        """The value of an expression in the page; undefined while there is none."""
        frame = "window.document.getElementById('page')"
        return self.outside(
            f"((document, window) => document && ({script}))({frame}?.contentDocument, {frame}?.contentWindow)"
        )

    def outside(self, script: str) -> object:
        """The value of an expression in the page around it, which may be a promise."""
        call = partial(self.call, "Runtime.evaluate", returnByValue=True, awaitPromise=True)
        result = call(expression=script)
        assert "exceptionDetails" not in result, result
        return result["result"].get("value")

    def enter(self, address: str) -> None:
        """Open the site at an address."""
        self.open("about:blank")
        self.open(self.served.base + address, 1280, 800)

    def wait(self, script: str) -> None:
        """Wait as long as Python may take."""
        self.until(script, PATIENCE)

    def go(self, address: str) -> None:
        """Follow an address in the frame."""
        self.run(f"window.location.assign({address!r})")
        self.wait(f"window.location.href.endsWith({address!r}) && document.readyState === 'complete'")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("site")
    list(export_site(place / "bjsim", PYODIDE, [KNOWN]))
    return place


@pytest.fixture(scope="module")
def base(folder):
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/bjsim/"
    server.shutdown()
    server.server_close()


@pytest.fixture(scope="module")
def reader(base):
    with Reader(base) as opened:
        yield opened
        assert not opened.problems


def test_a_figure_and_a_chart_are_there_before_python(reader):
    reader.enter("")
    reader.until("document.querySelector('#report .edge .value') && document.querySelector('#report .chart td')")
    assert not reader.outside("now.isReady") and "−0.405922%" in reader.text("#report")
    assert reader.outside("location.hash") == "#game"


def test_what_is_known_needs_no_python(reader):
    reader.enter("#game?rules=easy")
    reader.until("document.querySelector('#deviation')?.textContent.includes('bets')")  # it is asked for by itself
    assert not reader.outside("now.current") and "+11.668470%" in reader.text("#report .trust")
    reader.run("(window.bet.value = '40', window.bet.dispatchEvent(new Event('input', {bubbles: true})))")
    assert reader.outside("location.hash") == "#game?rules=easy&bet=40"


def test_a_game_that_is_not_known_is_solved(reader):
    reader.enter("#game?rules=vegas-s17&set=decks%3D4&set=resplit_aces%3Dtrue")
    reader.wait(OVER)
    assert "−0.288164%" in reader.text("#report .trust")


def asked(name, game, text="", **more):
    """A script that asks for a report."""
    query = urlencode([("rules", game.preset), *(("set", one) for one in game.settings), *more.items()])
    options = f"{{body: {json.dumps(text)}}}" if text else "{}"
    return f"answer('report/{name}?{query}', {options}, frame.contentDocument).then(found => found.text())"


CHANGES = {
    "hit_soft_17": ["true", "false"],
    "blackjack_pays": ["3/2", "6/5", "1"],
    "double_after_split": ["true", "false"],
    "double_on": ["any", "9-11", "10-11"],
    "max_hands": ["2", "4"],
    "decks": ["1", "2", "inf"],
}


def settings(number, seed):
    """Games of usual presets with up to three changes, and hands, the same for a seed."""
    chosen = random.Random(seed)
    for _ in range(number):
        names = chosen.sample(sorted(CHANGES), chosen.randrange(4))
        changes = tuple(f"{name}={chosen.choice(CHANGES[name])}" for name in names)
        hand = f"{chosen.choice('23456789TA')},{chosen.choice('23456789TA')} v {chosen.choice('23456789TA')}"
        yield ChosenGame(chosen.choice(["vegas-s17", "vegas-h17", "european", "downtown"]), changes), hand


def test_figures_are_those_of_this_machine_for_thirty_settings(reader):
    """Letter by letter: the pages of reports, of which other tests say that they are those of the command line."""
    reader.enter("")
    reader.until("document.body")
    mimic = WRITERS["chart"](CATALOGUE["mimic"].chart(PRESETS["vegas-s17"].rules))
    for number, (game, hand) in enumerate(settings(30, 5)):
        kind = number % 3
        name, text, more = [("game", "", {}), ("hand", "", {"hand": hand, "gone": ""}), ("chart", mimic, {})][kind]
        query = urlencode([("rules", game.preset), *(("set", one) for one in game.settings), *more.items()])
        assert reader.outside(asked(name, game, text, **more)) == answer(name, query, text)[1], (name, query)


def test_a_click_is_answered_while_a_run_is_played(reader):
    reader.enter("#run?rules=easy&hands=1e9")
    reader.wait("document.querySelector('#report progress')?.value > 0")
    reader.until("window.parent.document.getElementById('state').hidden", PATIENCE)
    reader.run("document.querySelector('nav a[href*=hand]').click()")
    reader.wait("document.body?.dataset.page === 'hand' && document.querySelector('#report h1')")
    assert reader.outside("location.hash").startswith("#hand?rules=easy")


def test_a_run_ends_with_the_figures_of_this_machine(reader):
    reader.enter("#run?rules=vegas-s17&hands=300000")
    reader.wait(OVER)
    query, page = "rules=vegas-s17&hands=300000", "<progress"
    while "<progress" in page:
        page = answer("run", query)[1]
    assert reader.outside(asked("run", ChosenGame("vegas-s17", ()), hands="300000")) == page


def test_a_count_narrows(reader):
    reader.enter("#count?rules=single-deck&rounds=20000&indices=none")
    reader.wait("document.querySelectorAll('#found-ramps tbody tr').length === 5")
    reader.wait(OVER)


def test_a_chart_is_pasted(reader):
    reader.enter("#chart")
    reader.until("document.querySelector('#decks')?.value && document.querySelector('#sample')")
    reader.click("#sample")
    reader.wait(f"{OVER} && document.querySelector('#report .figures')")


def test_a_table_and_a_drill_are_played(reader):
    reader.enter("#play?rules=easy&seed=5")
    reader.wait("document.querySelector('#answer button')")
    reader.click("#answer button")
    reader.wait("document.querySelector('.said').innerText.includes('Round 1')")
    reader.go("play.html?rules=easy&seed=5&drill=all")
    reader.wait("document.querySelector('[data-key=s]')")
    reader.press("s")
    reader.wait("document.querySelector('.figures').innerText.includes(' of 1 right')")


def test_an_address_names_a_page_and_back_leads_back(reader):
    reader.enter("#start")
    reader.until("document.querySelector('.doors a[href^=game]')")
    reader.run("document.querySelector('.doors a[href^=game]').click()")
    reader.until("document.body?.dataset.page === 'game' && document.querySelector('#report h1')")
    reader.until("window.parent.location.hash === '#game' && window.parent.document.title.startsWith('Game')")
    reader.outside("history.back()")
    reader.until("document.body?.dataset.page === 'start'")
    reader.outside("location.hash = '#contest'")
    reader.until("document.body?.dataset.page === 'contest'")
    reader.outside("location.hash = '#//example.org/'")
    reader.until("document.body?.dataset.page === 'game'")


def test_a_page_that_is_opened_by_itself_goes_to_its_place(reader, base):
    reader.open(base + "hand.html?rules=easy", 1280, 800)
    reader.until("document.body?.dataset.page === 'hand'")
    assert reader.outside("location.pathname + location.hash").startswith("/bjsim/#hand?rules=easy")
    reader.problems.clear()  # of the page that has gone


def test_a_python_that_stops_is_started_again(reader):
    reader.enter("#hand?rules=easy")
    reader.wait(OVER)
    reader.outside("now.end('a test')")
    assert "a test" in str(reader.outside("state.textContent"))
    reader.run("(document.getElementById('hand').value = '9,9 v T,7', document.querySelector('#ask button').click())")
    reader.wait(f"{OVER} && document.querySelector('pre').innerText.includes('9,9')")


def test_without_the_server_all_goes_on(folder):
    """In a browser of its own, whose server ends after the first visit."""
    words = [sys.executable, "-u", "-m", "http.server", "0", "--bind", "127.0.0.1", "--directory", str(folder)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as server:
        assert server.stdout
        port = server.stdout.readline().split(" port ")[1].split()[0]
        with Reader(f"http://127.0.0.1:{port}/bjsim/") as reader:
            reader.enter("")
            for _ in range(PATIENCE):
                if reader.outside(STATE) == "activated":
                    break
                time.sleep(1)
            server.terminate()
            server.wait()
            reader.enter("#hand?rules=european")
            reader.wait(OVER)
            reader.enter("#game?rules=european&set=decks%3D2")
            reader.wait(OVER)
            assert not reader.problems
