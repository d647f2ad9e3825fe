"""A language model as a player, for docs/how-to/judge-a-language-model.md: against a fake endpoint on this machine."""

from __future__ import annotations

import copy
import json
import pickle
import re
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from support.command import bjsim
from support.documents import ROOT, blocks

import bjsim as package
from bjsim import InputError, ModelPlayer
from bjsim.sim.game.actions import ATTACK, EXCHANGE, View
from bjsim.sim.game.presets import load_rules
from bjsim.strategies.learning.model_player import ModelFault

RULES = load_rules("vegas-s17")


class Endpoint(ThreadingHTTPServer):
    """Hits below hard or soft 17, like the dealer; `how` makes it fail. Keeps the requests."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.asked: list[dict[str, Any]] = []
        self.keys: list[str | None] = []
        self.how = ""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"


class Handler(BaseHTTPRequestHandler):
    server: Endpoint

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.asked.append(body)
        self.server.keys.append(self.headers["Authorization"])
        assert self.path == "/v1/chat/completions"
        how = self.server.how
        if how in ("404", "500", "302"):
            self.send_response(int(how))
            self.send_header("Location", "/elsewhere")
            self.end_headers()
            return
        points = re.search(r"(?:hard|soft) (\d+)", body["messages"][1]["content"])
        word = "hit" if points and int(points[1]) < 17 else "stand"
        answer = {"": f"I think. Action: {word}", "vague": "Hit or stand, who knows", "empty": None}.get(
            how, "Action: hit"
        )
        choices = [{"message": {"content": answer}}]
        text = json.dumps({"choices": choices, "usage": {"prompt_tokens": 100, "completion_tokens": 10}})
        text = {"no json": "<html>", "no choices": "{}", "large": " " * (3 << 20)}.get(how, text)
        self.send_response(200)
        self.end_headers()
        try:
            if how == "slow":
                time.sleep(1)
            for letter in text if how == "drip" else [text]:
                self.wfile.write(letter.encode())
                time.sleep(0.05 if how == "drip" else 0)
        except OSError:
            pass  # the player has hung up

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    server = Endpoint()
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()
    thread.join()


def view(hand: str = "T6", legal: str = "SHD") -> View:
    return View(RULES, 0, hand, "9", f"9#{hand}", 1, 100, legal)


def test_a_question_is_asked_once_and_its_answer_is_kept(endpoint: Endpoint, tmp_path: Path) -> None:
    file = tmp_path / "answers.jsonl"
    player = ModelPlayer("m", endpoint.url, file, prices=(2.0, 10.0), options={"temperature": 0}, tokens=99)
    assert [str(player.decide(view(hand))) for hand in ("T6", "T7", "T6")] == ["H", "S", "H"]
    assert len(endpoint.asked) == 2 and endpoint.keys == [None, None]
    asked = endpoint.asked[0]
    assert (asked["model"], asked["temperature"], asked["max_tokens"]) == ("m", 0, 99)
    assert "6 decks cut at 3/4, S17" in asked["messages"][0]["content"]
    assert asked["messages"][1]["content"].startswith("You hold 10 and 6 (hard 16). The dealer shows a 9.")
    kept = [json.loads(line) for line in file.read_text().splitlines()]
    assert [one["answer"] for one in kept] == ["I think. Action: hit", "I think. Action: stand"]
    assert kept[0]["tokens"] == [100, 10] and kept[0]["cost"] == pytest.approx((100 * 2 + 10 * 10) / 1e6)
    assert player.cost == pytest.approx(0.0006) and not player.faults
    replayed = ModelPlayer("m", None, file)
    assert str(replayed.decide(view())) == "H" and str(replayed.decide(view("T5"))) == "S"
    assert replayed.faults == {"unknown": 1} and len(endpoint.asked) == 2
    other = ModelPlayer("m", endpoint.url, file, system="Another game.")  # other instructions, another question
    other.decide(view())
    assert len(endpoint.asked) == 3


def test_only_what_can_be_chosen_is_asked(endpoint: Endpoint, tmp_path: Path) -> None:
    player = ModelPlayer("m", endpoint.url, tmp_path / "a")
    for legal in ("S", ATTACK, EXCHANGE):
        assert str(player.decide(view(legal=legal))) == "S" and not endpoint.asked
    assert str(player.decide(view(legal="SHB"))) == "H"  # raises have no words
    assert "raise" not in endpoint.asked[0]["messages"][1]["content"]


@pytest.mark.parametrize(
    ("how", "kind", "requests"),
    [
        ("404", "endpoint", 2), ("500", "endpoint", 2), ("302", "endpoint", 2), ("no json", "endpoint", 2),
        ("no choices", "endpoint", 2), ("large", "endpoint", 2), ("slow", "timeout", 1), ("drip", "timeout", 1),
        ("vague", "answer", 1), ("empty", "answer", 1),
    ],
)  # fmt: skip
def test_a_fault_stands_is_counted_and_is_replayed(
    endpoint: Endpoint, tmp_path: Path, how: str, kind: str, requests: int
) -> None:
    endpoint.how = how
    file = tmp_path / "answers.jsonl"
    player = ModelPlayer("m", endpoint.url, file, seconds=0.5)
    began = time.monotonic()
    assert str(player.decide(view())) == "S" and player.faults == {kind: 1}
    assert time.monotonic() - began < 30 and len(endpoint.asked) == requests
    endpoint.how = ""
    assert str(player.decide(view())) == "S" and len(endpoint.asked) == requests  # once is enough
    strict = ModelPlayer("m", None, file, strict=True)
    with pytest.raises(ModelFault, match=kind):
        strict.decide(view())


def test_limits_of_cost_and_requests_hold_over_restarts_and_copies(endpoint: Endpoint, tmp_path: Path) -> None:
    file, hands = tmp_path / "answers.jsonl", ["T2", "T3", "T4", "T5", "T6", "T7"]
    limits: list[dict[str, Any]] = [{"budget": 0.00025, "prices": (1.0, 0.0)}, {"requests": 3}]
    for most in limits:
        file.unlink(missing_ok=True)
        endpoint.asked.clear()
        for hand in hands:
            player = ModelPlayer("m", endpoint.url, file, **most)
            copied = copy.deepcopy(player)
            assert copied is player
            player.decide(view(hand))
        assert len(endpoint.asked) == 3 and player.faults == {"budget": 1}
    one, two = (ModelPlayer("m", endpoint.url, file) for _ in range(2))  # two processes, as it were
    one.decide(view("T8"))
    two.decide(view("T8"))
    assert len(endpoint.asked) == 4


def test_the_key_is_sent_and_kept_nowhere(endpoint: Endpoint, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "answers.jsonl"
    player = ModelPlayer("m", endpoint.url, file, key_variable="MODEL_KEY")
    player.decide(view("T2"))
    assert player.faults == {"endpoint": 1} and not endpoint.asked
    monkeypatch.setenv("MODEL_KEY", "s3cret")
    player.decide(view())
    assert endpoint.keys == ["Bearer s3cret"]
    assert "s3cret" not in file.read_text() and b"s3cret" not in pickle.dumps(player)
    assert pickle.loads(pickle.dumps(player)).decide(view()) == player.decide(view())


def test_a_contest_replays_from_the_answers(endpoint: Endpoint, tmp_path: Path) -> None:
    """Played with the endpoint, and again without it: the same bytes. A strict model's faults are strikes."""
    file = tmp_path / "answers.jsonl"
    text = "from bjsim import ModelPlayer\nplayer = ModelPlayer('m', {url!r}, {file!r}, strict=True)\n"
    journals, asked = [], 0
    for url, out in ((endpoint.url, "a"), (None, "b")):
        folder, code = tmp_path / out, tmp_path / f"model{out}.py"  # a file is loaded once
        code.write_text(text.format(url=url, file=str(file)))
        settings = ["--rules", "vegas-s17", "--matches", 2, "--seed", 5, "--out", folder]
        done = bjsim("koth", "play", f"model={code}:player", "lim17", *settings)
        assert done.status == 0, done.err
        lines = (folder / "journal.jsonl").read_text().splitlines()[1:]
        asked = asked or len(endpoint.asked)
        journals.append([line.partition(',"crc"')[0] for line in lines])
    assert journals[0] == journals[1] and len(endpoint.asked) == asked > 5
    assert not any("faults" in line for line in journals[0])
    refused = bjsim("koth", "resume", tmp_path / "a")
    assert refused.status == 2 and "outside any sandbox" in refused.err
    file.unlink()
    code = tmp_path / "limited.py"
    code.write_text(text.format(url=endpoint.url, file=str(file)) + "player.requests = 3\n")
    bjsim("koth", "play", f"{code}:player", "lim17", "--rules", "vegas-s17", "--matches", 1, "--out", tmp_path / "c")
    assert '"kind":"crash","detail":"ModelFault: budget' in (tmp_path / "c/journal.jsonl").read_text()


def test_a_run_plays_it(endpoint: Endpoint, tmp_path: Path) -> None:
    """As the dealer plays: 100 rounds of it are those of `mimic`."""
    player = ModelPlayer("m", endpoint.url, tmp_path / "answers.jsonl")
    [model] = package.play("easy", player, 100, seed=2)
    [lim17] = package.play("easy", lambda view: package.find_player("lim17", view.rules).decide(view), 100, seed=2)
    assert model.tally == lim17.tally and not player.faults


def test_the_page_shows_a_file_that_works(endpoint: Endpoint, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    page = (ROOT / "docs/how-to/judge-a-language-model.md").read_text()
    [text] = [one.text for one in blocks("x.md", page) if "ModelPlayer(" in one.text]
    code = tmp_path / "model.py"
    code.write_text(text.replace("https://api.example.org/v1", endpoint.url).replace('"MODEL_KEY"', '""'))
    done = bjsim("run", "--bots", f"{code}:player", "--rules", "easy", "--hands", 50, "--workers", 1)
    assert done.status == 0 and endpoint.asked, done.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"url": "ftp://x"}, "url='ftp://x' is not accepted; use http://HOST:PORT/v1"),
        ({"url": "file:///etc/passwd"}, "is not accepted"),
        ({"seconds": 0}, "seconds=0 is not accepted; use a number above 0"),
        ({"budget": -1}, "budget=-1 is not accepted"),
        ({"answers": __file__}, "is not a file of a model's answers"),
    ],
)
def test_what_is_not_accepted(arguments: dict[str, Any], message: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=re.escape(message)):
        ModelPlayer(**{"model": "m", "url": None, "answers": tmp_path / "a", **arguments})
