"""Interrupted contests are resumed without any difference, and journals are verified."""

from __future__ import annotations

import fcntl
import json
import os
import random
import subprocess
import sys
import time
from collections import Counter
from contextlib import nullcontext
from pathlib import Path

import pytest
from bot_helpers import needs_sandbox
from support.command import bjsim
from support.matches import CARDSHARK, CHART, begin, counted, forged, lines_in, placed, rounds_in, whole

from bjsim.bots import player
from bjsim.bots.contest import journal
from bjsim.bots.contest.entrants import IN_PROCESS
from bjsim.bots.contest.host import Host
from bjsim.bots.contest.match import (
    ReplayMismatch,
    TableDealer,
    recorded_round,
    replay_alone,
    replay_round,
    with_spent,
)
from bjsim.bots.contest.page import close, standings_csv, standings_json
from bjsim.bots.contest.replay import Answers, verify
from bjsim.bots.sandbox import restrictions
from bjsim.bots.sandbox.languages import BuildError
from bjsim.errors import InputError, RunFailed
from bjsim.sim.game.presets import load_rules

BOTS = ["lim17", "optimal", "lim19", "hoyle", "lim15"]


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("undisturbed")
    begin(folder, BOTS, seed=7, matches=3, sessions=2).run()
    return folder


def test_cut_at_any_byte_it_ends_with_the_same_journal_and_standings(tmp_path, undisturbed):
    text = whole(undisturbed)
    header = text.index(b"\n") + 1
    cuts = random.Random(1).sample(range(header, len(text)), 3)
    for number, cut in enumerate([header, header + 1, *cuts, len(text) - 1]):
        folder = placed(tmp_path / str(number), text[:cut])
        host = Host.resume(folder, workers=1 + number % 2)
        host.run()
        assert whole(folder) == text
        fresh, _ = counted(undisturbed)
        assert standings_json(host.standings) == standings_json(fresh)
        assert standings_csv(host.standings) == standings_csv(fresh)


FAULTY = """
from bjsim import Action


class Faulty:
    name = "faulty"

    def decide(self, view):
        if view.hand[0] in "2468T":
            raise ValueError(view.hand)
        return Action("H" if len(view.hand) < 3 else "S")
"""


def test_two_house_players_at_a_table_have_separate_strikes(tmp_path):
    """They share a bot number, but each has its own faults."""
    (tmp_path / "house.py").write_text(FAULTY)
    house = f"{tmp_path / 'house.py'}:Faulty"
    begin(tmp_path / "whole", BOTS[:2], matches=2, sessions=3, strikes=3, house=house).run()
    text = whole(tmp_path / "whole")
    lines = text.splitlines(keepends=True)
    first = [record for record in map(json.loads, lines) if record.get("match") == 0]
    assert sorted(Counter(fault["place"] for record in first for fault in record.get("faults", ())).values()) == [3, 3]
    for cut in (2, 4, 20):  # the last in the second match, for which the luck model has learned from the first
        folder = placed(tmp_path / str(cut), b"".join(lines[:cut]))
        Host.resume(folder, trust=True).run()
        assert whole(folder) == text, cut
    (tmp_path / "house.py").write_text(FAULTY.replace("2468T", "2468"))
    with pytest.raises(InputError, match=r"house .* has changed"):
        Host.resume(placed(tmp_path / "4", b"".join(lines[:4])), trust=True)


def test_a_round_that_is_replayed_alone_has_the_strikes_of_each_place(tmp_path):
    """Of two house players that share a bot number, too, and after one of them has lost its chips."""
    (tmp_path / "house.py").write_text(FAULTY)
    rules, house = CARDSHARK.replace(chips=60), f"{tmp_path / 'house.py'}:Faulty"
    host = begin(tmp_path / "c", BOTS[:2], rules=rules, matches=1, sessions=3, strikes=2, house=house)
    [plan] = host.roster.tables_of(host.roster.series[None], 0)
    host.run()
    dealer, mixed = TableDealer(host.contest, plan, None), {}
    for number, record in enumerate(with_spent(host.contest, rounds_in(tmp_path / "c"), ()), 1):
        moves = [move._replace(view=None) for move in replay_round(dealer, record)]
        game = recorded_round(host.contest.rules, record)
        assert [move._replace(view=None) for move in replay_alone(host.contest, game, record)] == moves
        out = [(move.seat, move.strikes <= 0) for move in moves if record["seats"][move.seat] < 0]
        if len({each for _, each in out}) == 2:  # only one of them was out of strikes
            mixed[number] = len([each for each in out if each[1]])
    assert min(len(record["seats"]) for record in rounds_in(tmp_path / "c")) < 4
    number, stands = next(iter(mixed.items()))
    hand = bjsim("koth", "show", tmp_path / "c", "--hand", f"1.1.{number}").out
    assert hand.count("house is out of strikes, is not asked and stands") == stands


def counted_before_they_are_on_disk(folder: Path, monkeypatch, sync) -> int:
    """Matches of a contest that were counted and shown before they were on disk."""
    synced, early = [0], [0]

    def fsync(handle: int) -> None:
        sync(handle)
        if os.fstat(handle).st_size and sync is os_fsync:
            synced[0] = os.fstat(handle).st_size

    def look(host: Host) -> None:
        on_disk = whole(folder)[: synced[0]].count(b'"record":"match"')
        early[0] += on_disk < host.standings.matches

    monkeypatch.setattr(journal.os, "fsync", fsync)  # type: ignore[attr-defined]
    begin(folder, BOTS, workers=2, seed=7, matches=3, sessions=1).run(look)
    return early[0]


os_fsync = os.fsync


def test_a_match_counts_only_when_it_is_on_disk(tmp_path, monkeypatch):
    assert counted_before_they_are_on_disk(tmp_path / "synced", monkeypatch, os_fsync) == 0
    assert counted_before_they_are_on_disk(tmp_path / "not", monkeypatch, lambda handle: None) == 3  # control


def test_a_finished_contest_is_not_continued(tmp_path, undisturbed):
    placed(tmp_path, whole(undisturbed))
    assert Host.resume(tmp_path).run().end == {"record": "end", "reason": "matches", "matches": 3}
    assert whole(tmp_path) == whole(undisturbed)


def test_damage_in_the_middle_is_reported_with_the_record_and_never_cut(tmp_path, undisturbed):
    text = whole(undisturbed)
    lines = text.splitlines(keepends=True)
    damaged = {
        "changed digit": (17, lines[17].replace(b'"hand":', b'"hand": ', 1)),
        "torn in the middle": (40, lines[40][:30] + b"\n"),
        "lost": (9, b""),
        "binary": (25, b"\xff\x00" * 20 + b"\n"),
    }
    for name, (number, line) in damaged.items():
        changed = b"".join([*lines[:number], line, *lines[number + 1 :]])
        folder = placed(tmp_path / name, changed)
        with pytest.raises(journal.JournalError, match=f"record {number} "):
            Host.resume(folder)
        with pytest.raises(journal.JournalError, match=f"record {number} "):
            verify(folder)
        assert whole(folder) == changed


def test_a_match_that_is_not_finished_is_left_out(tmp_path, undisturbed):
    text = whole(undisturbed)
    # In the last record, in the match before it, in the second of three, and between a round and its match.
    for end in (-20, -100, len(text) // 2, text.rindex(b'{"record":"match"')):
        placed(tmp_path, text[:end])
        matches = sum(
            line.startswith(b'{"record":"match"') and line.endswith(b"\n") for line in text[:end].splitlines(True)
        )
        done = bjsim("koth", "verify", tmp_path)
        assert f"{20 * matches} rounds of {matches} match" in done.out and done.status == 0
        assert ("left out: the last match, which is not finished" in done.out) and not journal.is_whole(tmp_path)
    assert "left out" not in bjsim("koth", "verify", undisturbed).out and journal.is_whole(undisturbed)


@pytest.mark.parametrize("key", ["net", "cards", "chips", "moves", "seats", "luck", "learned"])
def test_verify_finds_a_forged_record(tmp_path, undisturbed, key):
    def forge(record):
        value = record[key]
        record[key] = {
            "net": lambda: [value[0] + 10, *value[1:]],
            "cards": lambda: "2" + value[1:] if value[0] != "2" else "3" + value[1:],
            "chips": lambda: [value[0] - 10, *value[1:]],
            "moves": lambda: [["B 5", *value[0]], *value[1:]],
            "seats": lambda: value[::-1],
            "luck": lambda: [[x + 0.5 for x in value[0]], *value[1:]],
            "learned": lambda: {**value, "0": {"16 6": "Dh"}},
        }[key]()

    end_of_match = 21  # after the rounds of two tables
    records = lines_in(undisturbed)
    forge(records[end_of_match if key in ("luck", "learned") else 30])
    forged(tmp_path / "forged", records)
    with pytest.raises(ReplayMismatch):
        verify(tmp_path / "forged")


@pytest.mark.parametrize("change", [lambda luck: luck[1:], lambda luck: [luck[0][1:], *luck[1:]]])
def test_verify_finds_luck_of_another_shape(tmp_path, undisturbed, change):
    records = list(journal.read(undisturbed))
    records[1]["luck"] = change(records[1]["luck"])
    with pytest.raises(ReplayMismatch):
        verify(forged(tmp_path / "forged", records))


def test_a_folder_holds_one_contest_which_one_process_plays(tmp_path, undisturbed):
    placed(tmp_path, whole(undisturbed))
    with pytest.raises(journal.JournalError, match="holds a contest already"):
        begin(tmp_path, BOTS)
    first, _ = journal.Journal.reopen(tmp_path)
    with pytest.raises(journal.JournalError, match="another process"):
        Host.resume(tmp_path)
    first.close()


def killed_at_random(folder: Path, kills: int, arguments: list[str], whole_size: int, chance: random.Random) -> int:
    """Play from the command line and kill it at random sizes of the journal; returns the kills during play.

    A size that has already been reached means a kill while the contest is still starting.
    """
    command = [sys.executable, "-c", "from bjsim.cli.main import main; main()", "koth"]
    file, done = folder / journal.NAME, 0
    for size in sorted(chance.uniform(0, 0.9 * whole_size) for _ in range(kills)):
        rest = ["resume", str(folder)] if file.exists() else ["play", *arguments, "--out", str(folder)]
        process = subprocess.Popen([*command, *rest], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        if file.exists() and file.stat().st_size >= size:
            time.sleep(chance.uniform(0, 0.5))
        while process.poll() is None and not (file.exists() and file.stat().st_size >= size):
            time.sleep(0.001)
        done += process.poll() is None
        process.kill()
        process.wait()
    subprocess.run([*command, "resume", str(folder)], check=True, stdout=subprocess.DEVNULL)
    return done


@pytest.mark.slow
def test_killed_it_ends_as_if_never_stopped(tmp_path):
    kills, arguments = 12, [*BOTS, "--seed", "3", "--matches", "64"]
    command = [sys.executable, "-c", "from bjsim.cli.main import main; main()", "koth"]
    calm, disturbed = tmp_path / "calm", tmp_path / "disturbed"
    subprocess.run([*command, "play", *arguments, "--out", str(calm)], check=True, stdout=subprocess.DEVNULL)
    killed = killed_at_random(disturbed, kills, arguments, len(whole(calm)), random.Random(kills))
    assert killed >= kills / 2
    for name in (journal.NAME, "standings.json", "standings.csv"):
        assert (calm / name).read_bytes() == (disturbed / name).read_bytes(), name


def test_verify_finds_journals_that_were_not_played(tmp_path, undisturbed):
    """Journals with correct CRCs, but impossible records. Two correct journals come first."""
    records = lines_in(undisturbed)
    header, first, match = records[0], records[1], next(r for r in records if r["record"] == "match")
    whole_match = records[: records.index(match) + 1]
    rest = whole_match[2:]
    end = {"record": "end", "reason": "matches", "matches": 3}
    assert (
        verify(forged(tmp_path / "right", records)).rounds
        == verify(forged(tmp_path / "cut", whole_match)).rounds * 3
        == 60
    )
    wrong = {
        "ended undecided": [*whole_match, {**end, "reason": "decided", "matches": 1}],
        "ended too early": [*whole_match, {**end, "matches": 1}],
        "ended in a match": [*records[:30], {**end, "matches": 0}],
        "changed in a match": [header, first, {"record": "change", "leave": [], "join": [], "matches": 3}, *rest],
        "unknown reason": [*records[:-1], {**end, "reason": "bribe"}],
        "ended twice": [*records, end],
        "went on": [*records, *whole_match[1:]],
        "match twice": [*whole_match, match],
        "another match": [*whole_match[:-1], {**match, "match": 1}],
        "no such table": [header, {**first, "table": 7}, *rest],
        "another header": [header, header],
        "unknown record": [header, {"record": "tip"}],
        "empty record": [header, {}],
        "header of nothing": [{"record": "header", "format": journal.FORMAT}],
        "unused moves": [header, {**first, "moves": [[*first["moves"][0], "S"], *first["moves"][1:]]}, *rest],
        "odd moves": [header, {**first, "moves": [[1], *first["moves"][1:]]}],
        "a round more": [{**header, "contest": {**header["contest"], "sessions": 1}}, *records[1:]],
        "fault of an unknown bot": [header, {**first, "faults": [{"bot": 99}]}, *rest],
    }
    for number, (name, changed) in enumerate(wrong.items()):
        with pytest.raises((RunFailed, InputError)):
            verify(forged(tmp_path / f"{number} {name}", changed))
    other = forged(tmp_path / "format", [{**header, "format": 4}, *records])
    with pytest.raises(journal.JournalError, match=r"has format 4; this version reads format 5$"):
        verify(other)
    with pytest.raises(journal.JournalError, match="is empty"):
        verify(placed(tmp_path / "empty", b""))


def test_a_second_process_does_not_change_the_journal_of_the_first(tmp_path, undisturbed):
    header = next(journal.read(undisturbed))
    being_made = tmp_path / (journal.NAME + ".new")
    being_made.write_bytes(b"the first one's header")
    with being_made.open("ab") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        with pytest.raises(journal.JournalError, match="another process"):
            journal.Journal.create(tmp_path, header)
    assert being_made.read_bytes() == b"the first one's header"
    journal.Journal.create(tmp_path, header).close()  # a leftover file is replaced
    assert [record["record"] for record in journal.read(tmp_path)] == ["header"]


@pytest.mark.parametrize("when", ["before the lock", "while it is replaced"])
def test_a_journal_that_is_replaced_is_not_played(tmp_path, monkeypatch, undisturbed, when):
    """Closing a contest replaces it: who had opened the old one played all matches into nothing."""
    path, lock, replace = tmp_path / journal.NAME, fcntl.flock, Path.replace
    placed(tmp_path, whole(undisturbed))
    (tmp_path / "new").write_bytes(whole(undisturbed))
    refused = pytest.raises(journal.JournalError, match="another process")

    def late(file, how):
        replace(tmp_path / "new", path)
        lock(file, how)

    def early(fresh, target):
        with refused:
            Host.resume(tmp_path)
        return replace(fresh, target)

    if when == "before the lock":
        monkeypatch.setattr(journal.fcntl, "flock", late)
        with refused:
            Host.resume(tmp_path)
    else:
        monkeypatch.setattr(Path, "replace", early)
        close(tmp_path)
        assert Host.resume(tmp_path).standings.closed


STAND = {"bot": 0, "place": 0, "move": 1, "kind": "crash", "detail": ""}
IMPOSSIBLE = "its faults are not possible"


@pytest.mark.parametrize(
    ("faults", "said"),
    [
        ([STAND], ""),
        ([STAND | {"move": 0}], "a stand is due, but H is recorded"),
        ([STAND, STAND], IMPOSSIBLE),
        ([STAND | {"bot": 1}], IMPOSSIBLE),
        ([STAND | {"place": 2}], "is not valid"),
        ([STAND | {"place": -2}], IMPOSSIBLE),
        ([STAND | {"kind": "bribe"}], IMPOSSIBLE),
        ([STAND | {"kind": "move-cap"}], IMPOSSIBLE),
        *(([STAND | {"move": move, "kind": kind}], IMPOSSIBLE) for move in (2, 99) for kind in ("crash", "move-cap")),
        ([STAND | {"bot": 1, "place": 1, "move": 0}], "lim12 plays S with .*, but crash is recorded"),
    ],
)
def test_verify_finds_faults_that_were_not_made(tmp_path, faults, said):
    """The first may be one; but with one strike all later moves must be stands, which they are not with fewer."""
    (tmp_path / "hits.py").write_text(FAULTY.replace("2468T", "#"))
    bots = [f"{tmp_path / 'hits.py'}:Faulty", "lim12"]
    begin(tmp_path / "c", bots, seed=1, matches=1, sessions=1, hands=3).run()
    header, *records = lines_in(tmp_path / "c")
    assert records[0]["moves"] == [["H", "S"], ["S"]]
    records[0]["faults"] = faults
    for strikes, expected in ((2, said), (1, said or "a stand is due, but H is recorded")):
        header["contest"]["strikes"] = strikes
        folder = forged(tmp_path / f"{strikes} forged", [header, *records])
        with pytest.raises(ReplayMismatch, match=expected) if expected else nullcontext():
            verify(folder)


# --- `koth verify` asks players again: finding 7, a journal whose bots were exchanged.


HITS = "import sys\nprint('H' if int(sys.argv[1]) < 15 else 'S')\n"
STANDS = "print('S')\n"
RANDOM = "import os\nprint('H' if os.urandom(1)[0] % 2 and int(__import__('sys').argv[1]) < 21 else 'S')\n"


def exchanged(source: Path, target: Path, one: int, other: int) -> None:
    """A copy of a journal with correct checksums in which two bots have exchanged all but their moves."""
    records = list(journal.read(source))
    bots = records[0]["bots"]
    bots[one], bots[other] = bots[other], bots[one]
    forged(target, records)


def test_exchanged_names_of_strategies_do_not_verify(tmp_path: Path) -> None:
    names = ["optimal", "lim13", "lim17", "kelly", "basic", "optimal-cd"]
    play = ["koth", "play", *names, "--matches", 3, "--seed", 5, "--out", tmp_path / "c"]
    assert bjsim(*play).status == 0
    honest = bjsim("koth", "verify", tmp_path / "c")
    assert honest.status == 0 and "every card and chip is correct" in honest.out
    assert all(f"asked again: {name}, which made" in honest.out for name in names if name != "basic")
    assert "not verified" not in honest.out
    exchanged(tmp_path / "c", tmp_path / "f", 0, 1)
    said = bjsim("koth", "verify", tmp_path / "f")
    assert said.status == 1 and "is recorded" in said.err and "plays" in said.err


@pytest.mark.parametrize(("bot", "language"), [("lim13", IN_PROCESS), ("x", IN_PROCESS), ("hoyle", "python")])
def test_plays_that_are_not_those_of_the_bot_do_not_verify(tmp_path: Path, bot: str, language: str) -> None:
    """Luck is computed from them: a host chose them after the matches, and with them the ranking."""
    begin(tmp_path / "c", ["lim13", "hoyle"], seed=5, matches=1).run()
    if bot == "x":  # a late one
        assert bjsim("koth", "add", tmp_path / "c", "x=lim15").status == 0
    records = list(journal.read(tmp_path / "c"))
    [about] = [each for record in records for each in (*record.get("bots", ()), *record.get("join", ()))
               if each["name"] == bot]  # fmt: skip
    about |= {"language": language, "plays": {"16 T": "S"}}
    with pytest.raises(ReplayMismatch, match=f"the plays that the journal gives {bot} are not its own"):
        verify(forged(tmp_path / "f", records))
    same = journal.commitment(tmp_path / "f") == journal.commitment(tmp_path / "c")
    assert same == (bot == "x")  # who joins later is not in it


def test_each_version_of_a_bot_is_verified_or_named(tmp_path: Path) -> None:
    """Only the second is asked again: the moves of the first were passed over in silence."""
    (tmp_path / "x.py").write_text(FAULTY.replace("2468T", "#"))
    assert (
        bjsim("koth", "play", f"x={tmp_path / 'x.py'}:Faulty", "lim17", "--matches", 1, "--out", tmp_path / "c").status
        == 0
    )
    assert bjsim("koth", "replace", tmp_path / "c", "x=lim15", "--trust").status == 0
    said = bjsim("koth", "verify", tmp_path / "c").out
    assert "asked again: x, which made" in said and "moves not verified: x v1\n" in said


def test_a_bot_that_has_retired_is_not_asked_again(tmp_path: Path) -> None:
    """It failed then, and would answer now."""
    (tmp_path / "x.py").write_text(FAULTY.replace("2468T", "A23456789TJQK"))
    begin(tmp_path / "c", [f"{tmp_path / 'x.py'}:Faulty", "lim17"], seed=4, matches=3, retire=1, strikes=2).run()
    records = list(journal.read(tmp_path / "c"))
    records[0]["bots"][0]["language"] = "python"
    answers = Answers()
    answers._asks[0] = lambda view: "H"
    verify(forged(tmp_path / "f", records), answers)
    assert answers.unasked == {0} and not answers.same[0]
    late = next(record for record in records if record.get("match") == 1)["rounds"][0]
    late["faults"] = [STAND | {"place": late["seats"].index(0), "move": 0}]
    with pytest.raises(ReplayMismatch, match=IMPOSSIBLE):
        verify(forged(tmp_path / "f", records), answers)


def test_a_program_makes_no_move_that_it_is_not_asked_for(tmp_path: Path) -> None:
    """Against an ace it declines insurance without being asked, before it stands."""
    (tmp_path / "x.py").write_text(FAULTY.replace("2468T", "#").replace("H", "S"))
    bots = [f"{tmp_path / 'x.py'}:Faulty", "lim17"]
    begin(tmp_path / "c", bots, rules=load_rules("vegas-s17"), seed=4, matches=1, sessions=9).run()
    header, *records = journal.read(tmp_path / "c")
    header["bots"][0]["language"] = "python"
    answers = Answers()
    answers._asks[0] = lambda view: "S"
    verify(forged(tmp_path / "f", [header, *records]), answers)
    rounds = rounds_in(tmp_path / "c")
    made = [(each["moves"][each["seats"].index(0)], each["cards"][2] == "A") for each in rounds]
    assert (["S", "S"], True) in made and answers.same[0] == sum(len(moves) - declined for moves, declined in made)


def test_the_commitment_is_told_at_the_start_and_verified_after_the_close(tmp_path: Path) -> None:
    """Paths are shortened when the contest is closed; another seed has another digest."""
    (tmp_path / "bot.txt").write_text(CHART)
    words = ("koth", "play", f"/x={tmp_path / 'bot.txt'}", "lim17", "--matches", 1)
    played = bjsim(*words, "--seed", 2**60, "--out", tmp_path / "c").out
    [line] = [line for line in played.splitlines() if line.startswith("commitment: ")]
    assert len(line.split()[1]) == 64
    assert bjsim("koth", "close", tmp_path / "c").status == 0
    assert line in bjsim("koth", "verify", tmp_path / "c").out.splitlines()
    assert line not in bjsim(*words, "--seed", 2**60 + 1, "--out", tmp_path / "d").out


def test_the_commitment_has_what_the_house_plays(tmp_path: Path) -> None:
    """A host who knows the seed could choose among charts of one name."""
    house, found = tmp_path / "h.txt", list[str]()
    for text in (CHART, CHART.replace(" S", " H", 1)):
        house.write_text(text)
        for settings in ({"house": str(house)}, {"against": (str(house),)}, {"house": "lim17"}):
            folder = tmp_path / str(len(found))
            begin(folder, BOTS[:2], seed=1, matches=1, **settings).close()
            found.append(journal.commitment(folder))
    assert len({*found}) == 5 and found[2] == found[5]


@pytest.fixture(scope="module")
def contest(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A contest of programs, with their sources in `bots`; one of them takes faults until it has no strikes left."""
    folder = tmp_path_factory.mktemp("programs")
    (folder / "bots").mkdir()
    for name, text in (
        ("hits", HITS),
        ("stands", STANDS),
        ("random", RANDOM),
        ("faulty", "import sys\nprint('X' if int(sys.argv[1]) > 15 else 'H')\n"),
    ):
        (folder / "bots" / f"{name}.py").write_text(text)
    played = bjsim("koth", "play", folder / "bots", "--matches", 2, "--seed", 4, "--timeout", 20, "--out", folder / "c")
    assert played.status == 0, played.err
    return folder


@needs_sandbox
def test_programs_are_asked_again(contest: Path) -> None:
    without = bjsim("koth", "verify", contest / "c")
    assert without.status == 0 and "moves not verified: faulty, hits, random, stands" in without.out
    said = bjsim("koth", "verify", contest / "c", "--bots", contest / "bots")
    assert said.status == 0, said.err
    assert "asked again: hits" in said.out and "asked again: stands" in said.out
    assert "asked again: faulty" in said.out and "moves not verified: faulty, random\n" in said.out


@needs_sandbox
def test_why_programs_cannot_be_asked_is_told(contest: Path, monkeypatch, caplog) -> None:
    """Their moves were only called not verified."""

    def build(*arguments, **options):
        raise BuildError("there is no compiler")

    monkeypatch.setattr(player, "build", build)
    found = bjsim("koth", "verify", contest / "c", "--bots", contest / "bots")
    assert found.status == 0 and "hits is not asked again: there is no compiler" in caplog.text
    monkeypatch.setattr(restrictions, "find_box", lambda: restrictions.Held("none", False, "it is held", "no Landlock"))
    said = bjsim("koth", "verify", contest / "c", "--bots", contest / "bots")
    assert (said.status, said.err) == (1, "bjsim: a sandbox is required, but it is held (no Landlock)\n")


@needs_sandbox
def test_exchanged_programs_do_not_verify(contest: Path, tmp_path: Path) -> None:
    names = [bot["name"] for bot in next(journal.read(contest / "c"))["bots"]]
    exchanged(contest / "c", tmp_path / "f", names.index("hits"), names.index("stands"))
    assert bjsim("koth", "verify", tmp_path / "f").status == 0  # no program was asked
    said = bjsim("koth", "verify", tmp_path / "f", "--bots", contest / "bots")
    assert said.status == 1 and "is recorded" in said.err
