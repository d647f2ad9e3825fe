"""`bjsim koth add`, `replace`, `drop`, `extend`, `sync`, `close`, `--against` and `--marks`."""

from __future__ import annotations

import csv
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from bot_helpers import needs_sandbox
from support.command import bjsim, refusal
from support.long_journal import crashers
from support.matches import CARDSHARK, CHART, begin, match_of, placed, rounds_in, whole

from bjsim.bots.contest import journal
from bjsim.bots.contest.config import Contest, parse_marks
from bjsim.bots.contest.standings import Mark, Standings, make_marks
from bjsim.errors import InputError


def rows(folder: Path) -> dict[str, dict[str, Any]]:
    return {row["bot"]: row for row in json.loads((folder / "standings.json").read_text())}


@pytest.mark.slow
def test_a_hill_from_the_command_line(tmp_path: Path) -> None:
    hill = tmp_path / "hill"
    assert bjsim("koth", "play", "lim13", "lim15", "lim17", "--matches", 2, "--seed", 3, "--out", hill).status == 0
    before = rows(hill)
    assert bjsim("koth", "add", hill, "optimal", "x=lim16").status == 0
    after = rows(hill)
    relative = {"rank": 0, "rank_range": 0, "tied_with": 0}
    assert all(after[bot] | relative == row | relative for bot, row in before.items())
    assert after["x"]["matches"] == 2 and after["x"]["age"] == 0
    bjsim("koth", "replace", hill, "x=lim18", "--no-play")
    assert rows(hill)["x"]["matches"] == 0 and rows(hill)["x"]["version"] == 2
    out = bjsim("koth", "drop", hill, "lim13").out
    assert "left: lim13 (dropped after 2 matches" in out and "left: x v1 (replaced after 2 matches" in out
    assert rows(hill).keys() == {"lim15", "lim17", "optimal", "x"}
    bjsim("koth", "extend", hill, 3)
    shown = bjsim("koth", "show", hill, "--json", "-").json
    assert shown["matches"] == 5 and [row["bot"] for row in shown["former"]] == ["lim13", "x v1"]
    page = (hill / "index.html").read_text()
    assert "No longer in the standings: lim13 (dropped" in re.sub("<[^>]*>", "", page) and 'id="again"' not in page
    assert "every card and chip" in bjsim("koth", "verify", hill).out
    own = next(record for record in journal.read(hill) if record.get("own") == 3)
    hand = f"1.{own['rounds'][0]['table'] + 1}.1.4"
    assert "optimal" in bjsim("koth", "show", hill, "--hand", hand).out and f"hand {hand}" in "".join(
        file.read_text() for file in (hill / "pages").iterdir()
    ).replace("5.1.1.4", hand)
    for words, said in (
        (["add", hill, "optimal"], "has a bot optimal; use `bjsim koth replace`"),
        (["replace", hill, "lim13"], "no bot lim13; its bots are lim15"),
        (["replace", hill, "lim15"], "has not changed"),
        (["drop", hill, "lim15", "lim17", "x"], "too few bots would remain"),
        (["add", tmp_path / "none", "lim17"], "no contest in"),
    ):
        assert said in refusal("koth", *words)
    bjsim("koth", "add", hill, "lim13=lim14", "x v1=lim12")  # names that bots had which have left
    assert "left: lim13 v1 (dropped after 2 matches" in bjsim("koth", "show", hill).out
    links = re.findall(r'<a href="(pages/[^"#]+)">([^<]+)</a>', (hill / "index.html").read_text())
    assert len({*links}) == 8 == len({link for link, _ in links})
    for link, name in links:
        assert f"</span>{name}</h1>" in (hill / link).read_text()


def test_a_bot_in_a_folder_joins_and_is_replaced(tmp_path: Path) -> None:
    """Also one whose path has the `=` of NAME=BOT. One whose command is missing is refused before it is recorded."""
    hill, bot, missing = tmp_path / "hill", tmp_path / "a=b", tmp_path / "missing"
    for folder, manifest in ((bot, ""), (missing, 'run = "no-such-interpreter"')):
        folder.mkdir()
        (folder / "bot.toml").write_text(manifest)
        (folder / "bot.py").write_text("print('S')")
    alone = ("--sandbox", "auto")
    assert bjsim("koth", "play", "lim13", "lim15", "--matches", 1, "--out", hill).status == 0
    assert bjsim("koth", "add", hill, bot, "--no-play", *alone).status == 0
    (bot / "bot.py").write_text("print('H')")
    assert bjsim("koth", "replace", hill, "a_b", "--no-play", *alone).status == 0
    assert bjsim("koth", "replace", hill, f"lim15={bot}", "--no-play", *alone).status == 0
    before = (hill / journal.NAME).read_bytes()
    for words, said in (
        (["add", hill, missing, *alone], "bot missing cannot play: missing runs no-such-interpreter, which is not"),
        (["replace", hill, "a_b=", *alone], "'a_b=' names no bot"),
        (["replace", hill, "lim13=lim14", "lim13=lim16", *alone], "lim13 is given twice"),
        (["replace", hill, f"a_b={tmp_path}", *alone], "a folder of bots takes no name"),
    ):
        assert said in refusal("koth", *words)
    assert (hill / journal.NAME).read_bytes() == before


def test_a_folder_that_a_contest_follows(tmp_path: Path) -> None:
    """Charts, so that no sandbox is needed: one is there, one appears, one changes, one disappears, and one becomes a
    file of another kind, which replaces it."""
    folder, hill = tmp_path / "bots", tmp_path / "hill"
    folder.mkdir()
    for name in ("one", "two", "three", "five"):
        (folder / f"{name}.txt").write_text(CHART)
    assert bjsim("koth", "play", folder, "lim17", "--matches", 2, "--seed", 2, "--out", hill).status == 0
    (folder / "four.txt").write_text(CHART)
    (folder / "notes.md").write_bytes(b"\0")
    (folder / "two.txt").unlink()
    (folder / "five.txt").rename(folder / "five.chart")
    (folder / "three.txt").write_text(CHART.replace(" S", " H", 1))
    done = bjsim("koth", "sync", hill, folder, "--no-play")
    changes = ["five is now version 2", "four joins", "three is now version 2", "two leaves"]
    assert done.out.splitlines()[:4] == changes and bjsim("koth", "verify", hill).status == 0
    found = bjsim("koth", "show", hill, "--json", "-").json
    assert {row["bot"]: row["version"] for row in found["standings"]} == {
        **{"four": 1, "lim17": 1, "one": 1},
        **{"five": 2, "three": 2},
    }
    assert sorted(row["left"] for row in found["former"]) == ["dropped", "replaced", "replaced"]
    before = (hill / journal.NAME).read_bytes()
    again = bjsim("koth", "sync", hill, folder, "--no-play")
    assert not {"joins", "version", "leaves"} & set(again.out.split()) and (hill / journal.NAME).read_bytes() == before


def test_two_bots_of_one_file_both_follow_it(tmp_path: Path) -> None:
    """Only one did: the other had changed, and no later sync could play on."""
    folder, hill = tmp_path / "bots", tmp_path / "hill"
    folder.mkdir()
    (folder / "x.txt").write_text(CHART)
    words = ("koth", "play", folder, f"again={folder / 'x.txt'}", "lim17", "--matches", 1, "--out", hill)
    assert bjsim(*words).status == 0
    (folder / "x.txt").write_text(CHART.replace(" S", " H", 1))
    for changed in (["x is now version 2", "again is now version 2"], []):
        done = bjsim("koth", "sync", hill, folder, "--no-play")
        assert done.status == 0 and [line for line in done.out.splitlines() if "version" in line] == changed
    (folder / "x.txt").unlink()
    (folder / "y.txt").write_text(CHART)
    assert {"again leaves", "x leaves"} < {*bjsim("koth", "sync", hill, folder, "--no-play").out.splitlines()}


def test_a_bot_that_cannot_be_played_does_not_join(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """The others of the folder do."""
    folder, hill = tmp_path / "bots", tmp_path / "hill"
    (folder / "missing").mkdir(parents=True)
    (folder / "missing" / "bot.toml").write_text('run = "no-such-interpreter"')
    (folder / "missing" / "bot.py").write_text("print('S')")
    (folder / "one.txt").write_text(CHART)
    assert bjsim("koth", "play", "lim13", "lim17", "--matches", 1, "--out", hill).status == 0
    done = bjsim("koth", "sync", hill, folder, "--no-play", "--sandbox", "auto")
    assert done.status == 0 and "one joins" in done.out and "missing joins" not in done.out
    assert "missing is left as it was: the bot missing cannot play" in caplog.text
    assert rows(hill).keys() == {"one", "lim13", "lim17"}


def test_a_bot_whose_new_file_cannot_play_leaves_and_the_others_play_on(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """It was left as it was, without its file, so that the contest stopped after it had recorded the other changes."""
    folder, hill = tmp_path / "bots", tmp_path / "hill"
    (folder / "walt").mkdir(parents=True)
    (folder / "walt" / "bot.py").write_text("print('S')")
    (folder / "walt" / "bot.toml").write_text("")
    (folder / "one.txt").write_text(CHART)
    options = ["--sandbox", "auto"]
    played = bjsim("koth", "play", folder, "lim17", "--matches", 1, "--timeout", 20, *options, "--out", hill)
    assert played.status == 0, played
    (folder / "walt" / "bot.toml").write_text('run = "no-such-interpreter"')
    (folder / "two.txt").write_text(CHART)
    done = bjsim("koth", "sync", hill, folder, *options)
    assert done.status == 0 and {"two joins", "walt leaves"} < set(done.out.splitlines()), done
    assert "the new version of walt does not join: the bot walt cannot play" in caplog.text
    assert rows(hill).keys() == {"one", "two", "lim17"} and rows(hill)["two"]["matches"] == 1


@needs_sandbox
def test_a_student_has_one_row_in_the_marks_whatever_changes(tmp_path: Path) -> None:
    """A mended submission had two rows, and one that could no longer be read had none."""
    folder, hill = tmp_path / "bots", tmp_path / "hill"
    for name in ("ann/a", "ann/b", "bob/bot"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / f"{name}.py").write_text("print('S')\n")

    def marks() -> list[list[str]]:
        lines = (hill / "marks.csv").read_text().splitlines()[1:]
        return sorted([line.split(",")[0], line.split(",")[6], line.split(",")[9].strip('"')] for line in lines)

    options = ["--against", "lim17", "--marks", "-99:pass", "--matches", 2, "--timeout", 20]
    assert bjsim("koth", "play", folder, *options, "--out", hill).status == 0
    assert marks() == [["ann", "", "the folder ann should have one bot"], ["bob", "pass", ""]]
    (folder / "ann/b.py").unlink()
    (folder / "bob/two.py").write_text("print('S')\n")
    assert bjsim("koth", "sync", hill, folder).status == 0
    assert marks() == [["ann", "pass", ""], ["bob", "", "dropped"]]


def test_against_house_bots_results_depend_on_the_bot_alone(tmp_path: Path) -> None:
    options = ["--against", "hoyle,lim17", "--matches", 10, "--seed", 4, "--marks", "-1.6:C -1.2:B 0:A"]
    many, one = tmp_path / "many", tmp_path / "one"
    assert bjsim("koth", "play", "lim13", "mimic", "optimal", *options, "--out", many).status == 0
    assert bjsim("koth", "play", "optimal", *options, "--out", one).status == 0
    alone, among = rows(one)["optimal"], rows(many)["optimal"]
    relative = {"rank": 0, "rank_range": 0, "tied_with": 0}
    assert alone | relative == among | relative and rows(many).keys() == {"lim13", "mimic", "optimal"}
    seats = [record["seats"] for record in rounds_in(many) if record["match"] < 3]
    assert {tuple(sorted(each)) for each in seats if len(each) == 3} == {(-2, -1, bot) for bot in range(3)}
    with (many / "marks.csv").open() as file:
        marks = list(csv.DictReader(file))
    assert [float(mark["score"]) for mark in marks] == sorted((float(mark["score"]) for mark in marks), reverse=True)
    for mark in marks:
        score = float(mark["score"])
        assert mark["mark"] == ("A" if score >= 0 else "B" if score >= -1.2 else "C" if score >= -1.6 else "-")
        assert float(mark["low"]) < score < float(mark["high"])
        assert mark["sure"] == ("yes" if mark["lowest"] == mark["highest"] else "no")
        assert score == rows(many)[mark["bot"]]["luck_adjusted"]
    assert "every card and chip" in bjsim("koth", "verify", many).out
    own = [bjsim("koth", "show", many, "--hand", *words).out for words in (["2.1.3.3"], ["2.1.3", "--bot", "optimal"])]
    assert own[0] == own[1] and "optimal gets" in own[0] and "house (lim17) gets" in own[0]
    assert "add --bot NAME, whose own match it is" in refusal("koth", "show", many, "--hand", "2.1.3")
    assert "no match 2 with a table 1 of walt" in refusal("koth", "show", many, "--hand", "2.1.3", "--bot", "walt")
    assert "--bot needs --hand" in refusal("koth", "show", many, "--bot", "optimal")
    assert bjsim("koth", "show", many).out.count("mark ") == 3
    for text in (",", "", "hoyle,"):
        assert "has an empty name" in refusal(
            "koth", "play", "lim13", "lim15", "--against", text, "--out", tmp_path / "c"
        )
    assert "not both" in refusal(
        "koth", "play", "lim13", "--against", "hoyle", "--house", "lim17", "--out", tmp_path / "c"
    )


@pytest.mark.parametrize("text", ["A", "x:A", "0:", "0:A 0:B", "nan:A", "inf:A", "0:A,1:B", "0:A:B"])
def test_marks_that_are_refused(text: str) -> None:
    with pytest.raises(InputError, match="write THRESHOLD:MARK"):
        parse_marks(text)


def marked(standings: Standings, text: str) -> list[Mark]:
    """The marks of a contest with these thresholds."""
    standings.roster.contest = replace(standings.contest, marks=text)
    return make_marks(standings)


def test_a_score_at_a_threshold_has_its_mark(tmp_path: Path) -> None:
    standings = begin(tmp_path, ["optimal"], seed=4, matches=1, against=("hoyle",)).run()
    score = marked(standings, "0:A")[0].score
    assert score is not None and parse_marks(f"{score}:A -5:B") == [(-5.0, "B"), (score, "A")]
    assert marked(standings, f"{score}:A -5:B")[0].mark == "A"
    assert marked(standings, f"{score + 1e-6}:A -5:B")[0].mark == "B"
    assert marked(standings, f"{score + 1e-6}:A")[0].mark == "-"


def test_only_a_bot_with_a_rank_and_a_whole_batch_has_a_mark() -> None:
    """In duplicate two matches are a batch; a bot that has never answered has results, and no rank.
    The first bot fails too, but answers before it does."""
    contest = Contest(CARDSHARK, matches=20, duplicate=True)
    standings = Standings({"contest": contest.to_dict(), "bots": [{"name": "good"}, {"name": "mute"}]})
    found = []
    for match in range(2):
        faults = [{"bot": bot, "move": move, "kind": "timeout"} for bot, move in ((0, 1), (1, 0))]
        play = {"seats": [0, 1], "net": [60, 70], "moves": ["HS", "S"], "faults": faults}
        standings.add(match_of(match, play))
        found.append([(mark.bot, mark.mark, mark.score) for mark in marked(standings, "0:A")])
    assert found[0] == [("good", "", None), ("mute", "", None)]
    assert found[1] == [("good", "A", 60), ("mute", "", None)]


def test_a_contest_with_nothing_left_to_play_is_over_and_can_be_closed(tmp_path: Path) -> None:
    """A stop between the last match and the record of the end left it unfinished: it had to be resumed first."""
    hill, bot = tmp_path / "hill", tmp_path / "bot.txt"
    bot.write_text(CHART)
    assert bjsim("koth", "play", bot, "lim17", "--matches", 2, "--seed", 7, "--out", hill).status == 0
    lines = whole(hill).splitlines(keepends=True)
    assert b'"record":"end"' in lines[-1]
    placed(hill, b"".join(lines[:-1]))
    bot.unlink()  # nobody is asked any more
    assert "2 matches; ended: all matches have been played" in bjsim("koth", "show", hill).out
    assert "seed 7" in bjsim("koth", "close", hill).out
    ends = [record["record"] for record in journal.read(hill)][-2:]
    assert ends == ["end", "close"] and "The contest is over: all matches" in (hill / "index.html").read_text()


def test_the_seed_is_secret_until_the_host_closes_the_contest(tmp_path: Path) -> None:
    """The first commands of docs/how-to/hill.md, and a course: the late bots are added after the end."""
    for options in ([], ["--against", "hoyle", "--marks", "-1:B"]):
        hill = tmp_path / f"hill{len(options)}"
        said = [
            bjsim("koth", "play", "lim13", "lim17", "--matches", 2, "--seed", 987654321, *options, "--out", hill).out
        ]
        assert f"bjsim koth close {hill}" in said[0]
        said += [bjsim("koth", *words).out for words in (["add", hill, "lim15"], ["drop", hill, "lim13"])]
        said += [bjsim("koth", *words).out for words in (["extend", hill, 2], ["resume", hill], ["show", hill])]
        files = [file.read_text() for file in hill.rglob("*") if file.is_file() and file.name != journal.NAME]
        assert len(files) > 5 and not [text for text in (*said, *files) if "987654321" in text or journal.NAME in text]
        assert "987654321" in bjsim("koth", "close", hill).out
        page = (hill / "index.html").read_text()
        assert "<dt>seed</dt><dd>987654321 <" in page and 'href="journal.jsonl"' in page
        assert "every card and chip is correct" in bjsim("koth", "verify", hill).out
        for words in (["add", "lim15"], ["replace", "lim15"], ["extend", 1], ["drop", "lim15"], ["close"]):
            assert "is closed" in refusal("koth", words[0], hill, *words[1:])
        assert bjsim("koth", "resume", hill).status == 0


def test_only_a_contest_that_has_ended_is_closed(tmp_path: Path) -> None:
    bjsim("koth", "play", "lim13", "lim17", "--matches", 1, "--out", tmp_path)
    bjsim("koth", "extend", tmp_path, 1, "--no-play")
    before = (tmp_path / journal.NAME).read_bytes()
    assert "has not ended" in refusal("koth", "close", tmp_path) and (tmp_path / journal.NAME).read_bytes() == before


def test_a_published_journal_has_no_path_of_the_host(tmp_path: Path) -> None:
    """Bots in two folders, one of them a late one, Python players and a house player from a file.

    A student is left out, and a bot whose name looks like a path keeps it.
    """
    subs, late = tmp_path / "subs", tmp_path / "late"
    (subs / "Ann").mkdir(parents=True)
    (subs / "Ann" / "bot.zip").write_text("no archive")
    for folder in (subs, late):
        folder.mkdir(exist_ok=True)
        (folder / f"{folder.name}.txt").write_text(CHART)
    (subs / "own.py").write_text("def decide(view): return 'S'")
    named = [f"{subs / 'own.py'}:decide", f"/x={subs / 'subs.txt'}"]
    options = ["--house", subs / "subs.txt", "--matches", 1, "--out", tmp_path / "c"]
    words = [*crashers(subs, 1), *named, subs, *options]
    assert bjsim("koth", "play", *words).status == 0
    assert bjsim("koth", "add", tmp_path / "c", late, "--trust").status == 0
    assert str(tmp_path) in (tmp_path / "c" / journal.NAME).read_text()
    assert str(tmp_path) not in (tmp_path / "c" / "index.html").read_text()
    assert bjsim("koth", "close", tmp_path / "c").status == 0
    text = (tmp_path / "c" / journal.NAME).read_text()
    assert str(tmp_path) not in text and '"./late/late.txt"' in text and '"./subs/crasher.py:Crasher"' in text
    assert '"name":"/x"' in text and '"left_out":{"Ann":"Ann/bot.zip cannot be unpacked' in text
    assert not [file for file in (tmp_path / "c").rglob("*") if file.is_file() and str(tmp_path) in file.read_text()]
    assert "every card and chip is correct" in bjsim("koth", "verify", tmp_path / "c").out
