"""`bjsim bot compare`: a contest of two bots, until it is clear which one is better."""

import re

import pytest
from bot_helpers import SAMPLES
from support.command import bjsim, refusal

from bjsim.bots.contest import host
from bjsim.bots.contest.host import Host
from bjsim.errors import InputError, RunFailed


def test_the_better_one_is_named_whatever_the_order(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for pair in (("mimic", "lim15"), ("lim15", "mimic")):
        done = bjsim("bot", "compare", *pair, "--seed", 5)
        found = re.search(r"^lim15 is ahead of mimic after (\d+) matches: \+\S+ chips .*: \+\S+ to \+", done.out, re.M)
        assert done.status == 0 and found and int(found[1]) < 200
    assert not list(tmp_path.iterdir())


def test_a_bot_is_not_ahead_of_itself_and_the_contest_is_kept(tmp_path):
    done = bjsim("bot", "compare", "lim17", "lim17", "--matches", 40, "--out", tmp_path / "kept")
    assert "not decided after 80 matches: lim17 against lim17-2 +0.00" in done.out
    assert (tmp_path / "kept" / "journal.jsonl").exists()
    assert "The contest is over" in (tmp_path / "kept" / "index.html").read_text(encoding="utf-8")


def test_few_matches_give_no_interval(tmp_path):
    done = bjsim("bot", "compare", "lim15", "mimic", "--matches", 4, "--plot", tmp_path / "x.svg")
    assert "not decided after 8 matches, too few" in done.out and not (tmp_path / "x.svg").exists()
    assert "x.svg is not drawn: there is no interval" in done.out


def test_a_comparison_that_cannot_begin_says_no_result(monkeypatch):
    """It was "not decided after 0 matches, too few for an interval", before the error."""

    def fails(*_):
        raise RunFailed("the sandbox fails")
        yield

    monkeypatch.setattr(host, "play_matches", fails)
    done = bjsim("bot", "compare", "lim15", "mimic")
    assert (done.status, done.out) == (1, "") and "the sandbox fails" in done.err


def test_the_comparison_is_json_a_page_and_a_picture_with_its_command_and_no_folder(tmp_path):
    page, picture, kept = tmp_path / "x.html", tmp_path / "x.svg", tmp_path / "kept"
    words = ("bot", "compare", "mimic", "lim15", "--seed", 5)
    found = bjsim(*words, "--json", "-", "--html", page, "--plot", picture, "--out", kept)
    assert found.json["bots"] == ["lim15", "mimic"] and found.json["decided"] and found.json["difference"] > 0
    low, high = found.json["anytime95"]
    assert f"{low:+.2f} to {high:+.2f}" in found.err and "is ahead of" in page.read_text()
    assert "bjsim bot compare mimic lim15 --seed 5<" in page.read_text() and str(tmp_path) not in page.read_text()
    assert picture.stat().st_size > 1000


@pytest.mark.parametrize("setting", ['against = ["hoyle"]', 'house = "hoyle"', 'lives = "contest"\nduplicate = false'])
def test_the_settings_of_a_contest_apply_but_its_players_do_not(tmp_path, setting):
    (tmp_path / "c.toml").write_text(f'rules = "vegas-s17"\nbots = ["kelly", "optimal"]\n{setting}\n')
    done = bjsim("bot", "compare", "lim15", "mimic", "--matches", 4, "--config", tmp_path / "c.toml")
    assert done.status == 0 and "not decided after 8 matches" in done.out


def test_the_unit_of_the_lead_is_that_of_the_score(tmp_path):
    (tmp_path / "c.toml").write_text('rules = "cardshark"\nscore = "log"\n')
    words = (
        "lim15",
        "mimic",
        "--matches",
        8,
        "--seed",
        5,
        "--config",
        tmp_path / "c.toml",
        "--plot",
        tmp_path / "x.svg",
    )
    assert re.search(r"[+-]\S+ per cent of chips per match, 95%", bjsim("bot", "compare", *words).out)
    assert "per cent of chips per match more than" in (tmp_path / "x.svg").read_text()


def test_a_missing_bot_is_named():
    assert "lim99x" in refusal("bot", "compare", "lim99x", "lim17")


def test_a_folder_of_two_bots_is_not_two_sides(tmp_path):
    for name in "ab":
        (tmp_path / f"{name}.txt").write_text(bjsim("solve", "--rules", "cardshark", "--format", "chart").out)
    assert "two bots are compared, not a, b, lim12" in refusal("bot", "compare", tmp_path, "lim12", "--matches", 2)


@pytest.mark.parametrize(("name", "said"), [("lim17.js", True), ("lim17_line.js", False), ("lim17.c", False)])
def test_a_bot_that_is_started_for_each_move_is_announced_before_the_play(monkeypatch, name, said):
    """A comparison of a bot in JavaScript took minutes, without a word that a line bot takes seconds."""

    def begin(*arguments):
        raise InputError("nothing is played")

    monkeypatch.setattr(Host, "begin", begin)
    done = bjsim("bot", "compare", SAMPLES / name, "lim15")
    assert ("a line bot" in done.out) == said and "nothing is played" in done.err
