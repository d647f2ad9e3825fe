"""The server of `bjsim app`: what it refuses, and that its figures are those of the command that it prints."""

import asyncio
import json
import re
import shlex
import socket
import threading
import time
from html import unescape
from urllib.parse import urlsplit

import pytest
from click.testing import CliRunner

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")
pytest.importorskip("httpx")

from starlette.testclient import TestClient
from support.games import MANY

from bjsim.app import jobs, pages, server, work
from bjsim.cli.main import cli
from bjsim.sim.game.presets import PRESETS
from bjsim.strategies.evaluation.compare import best_chart
from bjsim.strategies.formats.files import WRITERS, read_with_notes

HOST = "http://127.0.0.1:8021"


@pytest.fixture(scope="module")
def laboratory():
    made = server.Laboratory(8021)
    yield made
    for worker in made.workers:
        worker.close()


@pytest.fixture
def stranger(laboratory):
    return TestClient(server.make_app(laboratory), base_url=HOST, follow_redirects=False)


@pytest.fixture
def client(stranger, laboratory):
    stranger.cookies.set(laboratory.cookie, laboratory.token)
    return stranger


def test_the_token_becomes_a_cookie_that_scripts_and_other_sites_cannot_use(stranger, laboratory):
    answer = stranger.get("/", params={"token": laboratory.token})
    assert answer.status_code == 303 and answer.headers["location"] == "/start"
    assert {"httponly", "samesite=strict"} <= {word.strip().lower() for word in answer.headers["set-cookie"].split(";")}


@pytest.mark.parametrize(
    "path", ["/", "/game", "/presets", "/report/game", "/static/app.js", "/report/change", "/alive"]
)
@pytest.mark.parametrize("token", ["", "wrong", "é"])
def test_without_the_token_nothing_is_served(stranger, path, token):
    answer = stranger.get(path, params={"token": token})
    assert answer.status_code == 403 and answer.text.count("\n") == 1


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:8021", "127.0.0.1", "[::1]:8021", "0.0.0.0:80", "[", ""]
)
def test_other_hosts_names_are_refused(client, host):
    assert client.get("/game", headers={"host": host}).status_code == 421


@pytest.mark.parametrize(
    "headers",
    [{}, {"origin": "null"}, {"origin": "http://evil.example"}, {"origin": "http://127.0.0.1:80"},
     {"origin": HOST, "sec-fetch-site": "cross-site"}, {"origin": HOST, "sec-fetch-site": "same-site"}],
)  # fmt: skip
def test_posts_of_other_pages_are_refused(client, headers):
    assert client.post("/report/chart", content="x", headers=headers).status_code == 403


@pytest.mark.parametrize(
    ("content", "status"),
    [("x" * 200_001, 413), (b"\xff\xfe\x00", 422), ("", 422), ("\0" * 99, 422), ("<b>" * 99, 422)],
)
def test_huge_and_broken_charts_are_refused(client, content, status):
    answer = client.post("/report/chart", content=content, headers={"origin": HOST})
    assert answer.status_code == status and "<" not in answer.text[:1]
    assert answer.headers["content-type"].startswith("text/plain")


@pytest.mark.parametrize(
    "path",
    ["/static/..%2fapp.js", "/static/../../x.py", "/..%2f..%2fetc%2fpasswd", "/report/chart", "/report/x"],
)
def test_paths_outside_are_refused(client, path):
    assert client.get(path).status_code in (404, 405)


@pytest.mark.parametrize("rules", ["x.toml", "../x.toml", "/etc/passwd", "nosuch", "easy\0"])
def test_no_file_is_read_as_a_game(client, rules):
    answer = client.get("/report/game", params={"rules": rules})
    assert answer.status_code == 422 and "no game is called" in answer.text


def test_a_browser_that_is_opened_at_once_is_waited_for(monkeypatch):
    """The server itself starts only after the address is printed."""

    def visit(address):
        socket.create_connection(("127.0.0.1", urlsplit(address).port), timeout=5).close()

    monkeypatch.setattr("webbrowser.open", visit)
    monkeypatch.setattr(server, "serve", lambda *_: None)
    assert CliRunner().invoke(cli, ["app"], catch_exceptions=False).exit_code == 0


def test_an_address_is_bounded(client):
    assert client.get("/game", params={"set": "x" * 5000}).status_code == 414


def test_jobs_are_bounded(client, laboratory, monkeypatch):
    monkeypatch.setattr(laboratory.now, "_newest", dict.fromkeys(range(jobs.WAITING)))
    assert client.get("/report/game").status_code == 503


def test_a_newer_request_of_a_page_replaces_one_that_waits():
    async def ask():
        first = asyncio.create_task(worker.run("other", time.ctime, 0))
        await asyncio.sleep(0)  # it begins, and the others wait for it
        return await asyncio.gather(first, *(worker.run(page, time.ctime, 0) for page in ["same", "same", "", ""]))

    before = threading.enumerate()
    worker = jobs.JobProcess()
    try:
        answers = asyncio.run(ask())
    finally:
        worker.close()
    assert threading.enumerate() == before, "a thread that closes its pipe while Python exits fills stderr"
    assert [status for status, _ in answers] == [200, 409, 200, 200, 200]


def test_a_server_that_stops_starts_no_process():
    worker = jobs.JobProcess()
    worker.end()
    try:
        assert asyncio.run(worker.run("", time.ctime, 0))[0] == 503
        assert not worker._pool._processes
    finally:
        worker.close()


@pytest.mark.parametrize("name", MANY)
def test_the_example_of_a_hand_suits_every_game(name):
    rules = PRESETS[name].rules
    example = pages.HANDS["both" if rules.dealer_shows == "both" else "one"]
    assert "best" in work.hand_report(work.ChosenGame(name, ()), example)


def test_a_killed_worker_is_replaced(client, laboratory):
    hand = {"rules": "easy", "hand": "T,6 v T,7"}
    assert client.get("/report/hand", params=hand).status_code == 200
    for process in laboratory.now._pool._processes.values():
        process.kill()
        process.join()
    answers = [client.get("/report/hand", params=hand).status_code for _ in range(3)]
    assert answers[-1] == 200, answers


def test_figures_of_usual_games_are_ready_and_answers_are_kept(client, laboratory, monkeypatch):
    """Opened pages waited for what another had asked before, and for presets that everybody opens."""
    made = []
    monkeypatch.setattr(server, "READY", ("neller", "easy"))
    monkeypatch.setattr(server, "READY_AFTER", 0)
    for worker in laboratory.workers:
        monkeypatch.setattr(worker, "run", answering(made))
    asyncio.run(laboratory.prepare())
    assert [(job, game.preset) for job, game in made] == [
        (job, game) for game in ("neller", "easy") for job in ("game_report", "deviation")
    ]
    assert client.get("/report/game", params={"rules": "easy"}).text == "game_report 3"
    assert client.get("/report/game", params={"rules": "easy", "set": "decks=2"}).text == "game_report 5"
    assert client.get("/report/game", params={"rules": "easy", "set": "decks=2"}).text == "game_report 5"
    assert client.get("/report/change", params={"rules": "easy", "to": "bad"}).status_code == 422
    assert client.get("/report/change", params={"rules": "easy", "to": "bad"}).status_code == 422
    assert [job for job, *_ in made[4:]] == ["game_report", "value_change", "value_change"], "errors are not kept"
    monkeypatch.setattr(server, "KEPT", 2)
    laboratory._kept.clear()
    for decks in range(1, 5):
        client.get("/report/game", params={"rules": "easy", "set": f"decks={decks}"})
    assert len(laboratory._kept) == 2
    laboratory._kept.clear()


def answering(made):
    async def run(page, job, *arguments):
        made.append((job.__name__, *arguments))
        return (422, "no") if arguments[-1] == "bad" else (200, f"{job.__name__} {len(made)}")

    return run


def test_the_start_page_has_a_door_for_each_question(client):
    page = client.get("/start").text
    doors = re.findall(r'^<a href="(\w+)">(.*?)</a>', page.partition("<main")[2], re.M)
    assert dict(doors) == {
        "play": "Learn a game",
        "chart": "Check a chart",
        "game": "Price a game",
        "count": "Count cards",
    }
    assert all(client.get(f"/{path}").status_code == 200 for path, _ in doors) and "<script src=" in page


@pytest.mark.parametrize("game", ["vegas-s17", "double-attack", "easy"])
def test_the_best_chart_is_offered_in_forms_that_are_read_back(client, game):
    """Four of them; a policy cannot express a game in which both cards of the dealer are seen, or an attack."""
    rules = PRESETS[game].rules
    best = WRITERS["chart"](best_chart(rules))
    page = client.post(f"/report/chart?rules={game}", content=best, headers={"origin": HOST}).text
    assert "this is the best chart" in page
    forms = re.findall(r"<details><summary>as text: (\w+)</summary><pre[^>]*>(.*?)</pre>", page, re.S)
    assert [name for name, _ in forms] == ["chart", "csv", *["policy"] * (game == "vegas-s17"), "markdown"]
    for _, text in forms:
        read = read_with_notes(unescape(text), "chart.txt", rules)
        assert read.chart.cells == best_chart(rules).cells and not read.notes


def test_addresses_in_pages_are_relative(client):
    """So that the same pages work below a folder, as files of a site."""
    for name in pages.PAGES:
        text = client.get(f"/{name}").text
        found = re.findall(r'(?:href|src)="([^"]*)"', text)
        assert len(found) > len(pages.PAGES) and not [one for one in found if one.startswith("/")]
        assert all(client.get(f"/{one}").status_code == 200 for one in found if one not in ("data:,", "#main"))
    for name, (text, _) in pages.assets().items():
        assert not re.search(r"""["'`]/\w|url\(""", text), name


def test_pages_have_no_inline_script_or_style(client):
    for name in pages.PAGES:
        answer = client.get(f"/{name}")
        assert "script-src 'self';" in answer.headers["content-security-policy"]
        assert not re.search(r"<style|<script>|\s(on\w+|style)=|https?://", answer.text)
        assert "unsafe-inline" not in answer.headers["content-security-policy"]
    for report in ("game", "details", "hand"):
        answer = client.get(f"/report/{report}", params={"rules": "easy", "hand": "T,6 v T,7"})
        assert answer.status_code == 200 and " style=" not in answer.text


@pytest.mark.slow
def test_details_are_those_of_their_commands(client):
    page = unescape(client.get("/report/details", params={"rules": "two-deck", "set": "hit_soft_17=true"}).text)
    exceptions, sidebets = (shlex.split(one)[1:] for one in re.findall(r"As printed by: (bjsim .*?)</p>", page))
    found = json.loads(CliRunner().invoke(cli, [*exceptions, "--json", "-"]).stdout)["exceptions"]
    assert [cells(page, "Two-card exceptions")[n][3] for n in range(len(found))] == [
        f"{100 * one['gain']:.6f}%" for one in found
    ]
    listed = cells(page, 'id="found-sidebets"')
    assert len(listed) >= 10
    for name, _, value, *_ in listed[::3]:
        words = [name if word == "NAME" else word for word in sidebets]
        exact = json.loads(CliRunner().invoke(cli, [*words, "--json", "-"]).stdout)
        assert value == f"{100 * exact['ev']:+.4f}%"


def cells(page, begin):
    """The cells of the first table after a text."""
    rows = re.search(rf"{begin}.*?<tbody>(.*?)</table>", page, re.S)[1].split("<tr>")[1:]
    return [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row) for row in rows]


def test_a_changed_game_is_compared_with_its_preset(client):
    asked = {"rules": "vegas-s17", "set": "blackjack_pays=6/5"}
    page = client.get("/report/game", params=asked).text
    price = client.get("/report/change", params={"rules": "vegas-s17", "to": asked["set"]}).text
    assert -1.5 < float(price.replace("−", "-").rstrip("%")) < -1.2
    assert "compared with vegas-s17: " in page and client.get("/report/compared", params=asked).text == price
    assert "compared with" not in client.get("/report/game", params={"rules": "vegas-s17"}).text


@pytest.mark.parametrize(
    ("rules", "gone", "said"),
    [
        ("easy", "5", "infinite shoe"),
        ("single-deck", "5 5 5 5 5", "&#39;5&#39; is not in the shoe"),
        ("single-deck", "x", "is not in the shoe"),
    ],
)
def test_cards_that_cannot_be_gone_are_refused(client, rules, gone, said):
    hand = "T,6 v T,7" if rules == "easy" else "T,6 v T"
    answer = client.get("/report/hand", params={"rules": rules, "hand": hand, "gone": gone})
    assert answer.status_code == 422 and unescape(said) in answer.text
