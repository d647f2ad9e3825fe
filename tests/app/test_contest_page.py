"""The pages of a contest in the app: those of its folder, without inline scripts, and anew when the journal grows."""

import re
import shutil
from urllib.parse import urljoin

import pytest
from click.testing import CliRunner

pytest.importorskip("starlette")
pytest.importorskip("httpx")

from starlette.testclient import TestClient

import bjsim
from bjsim.app import server
from bjsim.app.contest_work import contest_page
from bjsim.bots.contest import journal
from bjsim.cli.main import cli
from bjsim.errors import InputError


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("contest") / "hill"
    bjsim.contest(["optimal", "lim17", "mimic"], place, matches=6, seed=5)
    return place


@pytest.fixture(scope="module")
def client(folder):
    laboratory = server.Laboratory(8021, str(folder))
    with TestClient(server.make_app(laboratory), base_url="http://127.0.0.1:8021", follow_redirects=False) as opened:
        opened.cookies.set(laboratory.cookie, laboratory.token)
        yield opened
    for worker in laboratory.workers:
        worker.close()


def body(page):
    return re.sub(r"<(style|script)>.*?</\1>|<(link|script) [^>]*static[^>]*>(</script>)?|\s+", " ", page, flags=re.S)


def test_the_page_is_that_of_the_folder(folder):
    menu = r'<header class="top".*?<p id="stopped".*?</p>'
    shown = re.sub(menu, "", contest_page(str(folder), "index.html"), flags=re.S)
    written = re.sub(r"<li>Download: .*?</li>", "", (folder / "index.html").read_text(encoding="utf-8"), flags=re.S)
    assert body(shown).split() == body(written).split()
    assert 'id="hands"' in shown  # the replays


def test_no_page_has_an_inline_script_or_style(client):
    page = client.get("/contest/index.html")
    links = re.findall(r'href="(pages/.*?)"', page.text)
    assert len(links) >= 3
    for name in ["index.html", *dict.fromkeys(links)]:
        answer = client.get(f"/contest/{name}")
        assert answer.status_code == 200 and not re.search(r"<style|<script>|\son\w+=", answer.text)
        assets = re.findall(r'(?:src|href)="([./]*static/.*?)"', answer.text)
        assert len(assets) >= 2
        for address in [*assets, *re.findall(r'<a href="([./]+\w+)"', answer.text)]:
            assert client.get(urljoin(f"/contest/{name}", address)).status_code in (200, 303)


@pytest.mark.parametrize(
    "path",
    [
        "journal.jsonl",
        "standings.json",
        "pages/../journal.jsonl",
        "..%2fx",
        "%2e%2e/x",
        "pages/nosuch.html",
        "",
        "/etc/x",
    ],
)
def test_no_other_file_is_served(client, path):
    answer = client.get(f"/contest/{path}")
    assert answer.status_code in (404, 422) and "seed" not in answer.text


def test_its_place_among_the_pages_is_the_contest(client):
    assert client.get("/contest").headers["location"] == "/contest/index.html"


def test_it_is_watched(folder, tmp_path):
    copy = tmp_path / "copy"
    shutil.copytree(folder, copy)
    text = (copy / journal.NAME).read_bytes().splitlines(keepends=True)
    (copy / journal.NAME).write_bytes(b"".join(text[: len(text) // 2]))
    half = contest_page(str(copy), "index.html")
    assert "The contest is not over." in half and 'data-reload="20"' in half
    (copy / journal.NAME).write_bytes(b"".join(text))
    assert "The contest is over" in contest_page(str(copy), "index.html")
    (copy / journal.NAME).write_bytes(b"".join(text[:3]) + b"x\n")
    with pytest.raises(InputError, match="damaged"):
        contest_page(str(copy), "index.html")


def test_without_a_contest_there_is_no_page(folder):
    laboratory = server.Laboratory(8021)
    with TestClient(server.make_app(laboratory), base_url="http://127.0.0.1:8021") as opened:
        opened.cookies.set(laboratory.cookie, laboratory.token)
        assert "bjsim app --contest DIR" in opened.get("/contest/index.html").text
        assert opened.get("/contest/pages/optimal.html").status_code == 404
    for worker in laboratory.workers:
        worker.close()


def test_a_folder_without_a_contest_is_refused(tmp_path):
    answer = CliRunner().invoke(cli, ["app", "--no-browser", "--contest", str(tmp_path)])
    assert answer.exit_code and "no contest in" in str(answer.exception or answer.output)
