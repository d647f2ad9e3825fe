"""`bjsim learn` as its users call it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from matplotlib.text import Text
from small_mdps import CHAIN
from support.command import bjsim

from bjsim.report import picture


def test_a_game_with_everything(tmp_path: Path) -> None:
    data, picture = tmp_path / "learned.json", tmp_path / "regret.svg"
    status, out, _ = bjsim("learn", "--rules", "neller-v3", "--episodes", "2e5", "--json", data, "--plot", picture)
    assert status == 0
    for part in (
        "572 states",
        "The learned chart",
        "regret, exact",
        "95% interval",
        "Which pairs",
        "What does it double?",
    ):
        assert (part in out) == (part != "Which pairs"), part
    found = json.loads(data.read_text())
    assert found["episodes"] == 200_000 and found["seed"] == 1 and found["rules"]["name"] == "neller-v3"
    assert found["chart"]["10 v 6"] == "Dh"
    assert picture.read_text().startswith("<?xml")


def test_another_game_is_not_asked_the_questions_of_neller(tmp_path: Path) -> None:
    file, game = tmp_path / "x.json", ("--rules", "blackjack-p", "--set", "split_by=never")
    status, out, _ = bjsim("learn", *game, "--episodes", "1e3", "--json", file)
    assert status == 0 and "Hoyle" not in out and "Hoyle" in file.read_text()


def test_json_on_standard_output_is_only_json() -> None:
    words = ("learn", "--episodes", "2000", "--rules", "neller", "--seed", "3", "--json", "-")
    first, second = bjsim(*words), bjsim(*words)
    assert "The learned chart" in first.err
    assert {**first.json, "seconds": 0} == {**second.json, "seconds": 0}


def test_a_process_in_a_file(tmp_path: Path) -> None:
    file = tmp_path / "chain.json"
    file.write_text(json.dumps(CHAIN))
    status, out, _ = bjsim("learn", "--mdp", file, "--episodes", "1e4")
    assert status == 0 and "discount factor 0.9" in out and "every state has an optimal action" in out


def test_algorithms_are_compared_in_one_picture(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[Any] = []
    monkeypatch.setattr(picture, "save_figure", lambda figure, path: drawn.append(figure))
    data, game = tmp_path / "both.json", ("--rules", "vegas-h17", "--decks", "inf", "--set", "surrender=late")
    words = ("--episodes", "2e4", "--algorithm", "q,mc", "--plot", "x.png", "--json", data)
    status, out, _ = bjsim("learn", *game, *words)
    assert status == 0
    both = json.loads(data.read_text())["algorithms"]
    assert [one["algorithm"] for one in both] == ["q", "mc"] and all(f"{one['regret']:.6f}" in out for one in both)
    value, regret = drawn[0].subfigs[0].axes
    optimum = both[0]["value_exact"]
    assert [line.get_ydata()[0] for line in value.lines if line.get_linestyle() == "--"] == [optimum]
    for one, top, bottom in zip(both, value.lines[:2], regret.lines[:2], strict=False):
        assert top.get_ydata()[-1] == pytest.approx(optimum - one["curve"][-1]["regret"])
        assert bottom.get_ydata()[-1] == pytest.approx(one["curve"][-1]["regret"])
    drawn[0].draw_without_rendering()
    above, below = drawn[0].subfigs
    for text in (above._suptitle, *below.texts):
        edges = text.get_window_extent()
        assert edges.x0 >= 0 and edges.x1 <= drawn[0].bbox.x1, text.get_text()
    texts = {text.get_text() for text in drawn[0].findobj(Text)}
    assert {"q, even draws", "mc, independent draws", f"exact optimum, {optimum:+.4f}"} <= texts
    assert any("--algorithm q,mc --episodes 20000 --seed 1" in text for text in texts)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"gamma": 1}, "state s1: play never ends from here; it needs gamma below 1"),
        ({"gamma": 2}, "chain.json: gamma = 2.0 is not accepted"),
        ({"start": "s3"}, "chain.json: unknown state 's3'; it is neither in"),
        ({"states": {"s1": {"stay": [{"to": "s1", "p": 0.5}]}}}, "state s1, action stay: probabilities sum to 0.5"),
        (
            {"states": {"s1": {"stay": [{"to": "s1", "weight": 2}]}}},
            "state s1: play never ends from here; it needs gamma times weight below 1",
        ),
    ],
)
def test_a_broken_file_gets_one_line(change: dict[str, object], message: str, tmp_path: Path) -> None:
    file = tmp_path / "chain.json"
    file.write_text(json.dumps(CHAIN | change))
    status, _, err = bjsim("learn", "--mdp", file, "--episodes", "1000")
    assert status == 2 and message in err and err.count("\n") == 1


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("--rules", "vegas-s17"), "decks = 6: its states are too many to learn; use decks = inf"),
        (("--algorithm", "mc", "--draws", "even"), "--draws even needs --algorithm q"),
        (("--mdp", "x.json", "--decks", "2"), "--mdp and --decks cannot be combined"),
        (("--algorithm", "sarsa"), "--algorithm sarsa is not accepted; use q or mc"),
        (("--plot", "x.pdf"), "--plot x.pdf is not accepted"),
        (("--episodes", "2", "--workers", "8"), "2 episodes are too few to learn from with 8 workers"),
        (
            ("--rules", "blackjack-p", "--ten-probability", "1/2"),
            "blackjack-p: the value is infinite: resplitting TT against 2 pays without limit",
        ),
    ],
)
def test_impossible_requests_are_reported(args: tuple[str, ...], message: str) -> None:
    status, _, err = bjsim("learn", *args)
    assert status == 2 and message in err


def test_a_page_says_how_many_workers_learned_since_they_change_the_result(tmp_path: Path) -> None:
    page = tmp_path / "learned.html"
    words = ("--rules", "neller", "--episodes", "2000", "--workers", "2", "--html", page)
    assert bjsim("learn", *words).status == 0
    assert "bjsim learn --rules neller --episodes 2000 --workers 2 --seed 1<" in page.read_text()


def test_a_regret_that_is_infinite_throughout_has_no_curve(tmp_path: Path) -> None:
    """It was a traceback after all episodes, and nothing was printed."""
    to = {"stay": [{"to": "wait", "reward": -1}], "leave": [{"to": "end", "reward": -100}]}
    (tmp_path / "loop.json").write_text(json.dumps({"states": {"wait": to}, "terminal": ["end"]}))
    learn = ("learn", "--mdp", tmp_path / "loop.json", "--episodes", 200)
    assert bjsim(*learn, "--html", tmp_path / "x.html").status == 0
    assert "regret" in (tmp_path / "x.html").read_text()
    done = bjsim(*learn, "--plot", tmp_path / "x.png")
    assert done.status == 2 and "there is nothing to draw" in done.err and "value of the best policy" in done.out
