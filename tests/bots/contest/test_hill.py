"""Bots join and leave a contest: the results of the others stay the same, and kills make no difference."""

from __future__ import annotations

import random
import subprocess
import sys
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from bot_helpers import SAMPLES, TEST_BOTS, needs, needs_sandbox
from support.command import bjsim
from support.matches import CARDSHARK, begin, counted, forged, lines_in, placed, rounds_in, whole

from bjsim.arguments import MAX_COUNT
from bjsim.bots.contest import journal
from bjsim.bots.contest.entrants import gather
from bjsim.bots.contest.host import Host
from bjsim.bots.contest.match import ReplayMismatch
from bjsim.bots.contest.page import ContestReport, write_results
from bjsim.bots.contest.replay import protocols, questions, verify
from bjsim.bots.contest.standings import Standings, row_values
from bjsim.cli.koth_change import new_versions, number_of
from bjsim.errors import InputError
from bjsim.strategies.formats.files import format_text
from bjsim.strategies.players.catalogue import CATALOGUE

STRATEGIES = ("optimal", "hoyle", "lim12", "lim13", "lim14", "lim15", "lim16", "lim17", "lim18", "mimic")
TWENTY = [f"b{number}={STRATEGIES[number % len(STRATEGIES)]}" for number in range(20)]


class Event(NamedTuple):
    """A change of the bots."""

    leave: tuple[str, ...] = ()
    join: tuple[str, ...] = ()


EVENTS = [  # five are added, two replaced, one dropped
    Event(leave=("b7",)),
    Event(join=("n1=optimal",)),
    Event(leave=("b3",), join=("b3=lim18",)),
    Event(join=("n2=lim15", "n3=lim15")),
    Event(join=("n4=hoyle", "n5=mimic")),
    Event(leave=("n1",), join=("n1=lim13",)),
]


class Cut(Exception):
    """Interrupts a contest."""


def apply(host: Host, event: Event) -> None:
    leave = [number_of(host, name) for name in event.leave]
    host.change(leave, gather(event.join, CARDSHARK, fewest=0))


SHORT: dict[str, Any] = {"seed": 7, "matches": 4, "sessions": 2, "hands": 2}


def with_events(folder: Path, bots: Sequence[str], events: dict[int, Event], **settings: Any) -> Host:
    """Play a contest in which each event happens after this number of complete matches of all series together."""
    begin(folder, bots, **{**SHORT, **settings}).close()
    for matches, event in sorted(events.items()):
        stop_after(folder, matches)
        Host.resume(folder, change=partial(apply, event=event)).close()
    host = Host.resume(folder)
    host.run()
    return host


def stop_after(folder: Path, matches: int) -> None:
    """Play until there are so many matches."""

    def stop(host: Host) -> None:
        if sum(played(host).values()) >= matches:
            raise Cut

    if sum(played(host := Host.resume(folder)).values()) >= matches:
        host.close()
        return
    with pytest.raises(Cut):
        host.run(stop)


def played(host: Host | Standings) -> dict[int | None, int]:
    """The complete matches of each series."""
    return {own: series.played for own, series in host.roster.series.items()}


def results(folder: Path) -> dict[str, Any]:
    """Everything that the standings say, computed from the journal alone."""
    standings, _ = counted(folder)
    return {
        "rows": [row_values(row) for row in standings.rows()],
        "former": [row_values(row) for row in standings.former()],
        "progress": standings.progress,
        "rounds": standings.rounds,
        "played": played(standings),
    }


def own_results(folder: Path) -> dict[tuple[str, int], dict[str, Any]]:
    """By name and version what does not depend on other bots."""
    relative = ("rank", "rank_range", "tied_with", "age")
    found = results(folder)
    return {
        (row["bot"], row["version"]): {key: value for key, value in row.items() if key not in relative}
        for row in [*found["rows"], *found["former"]]
    }


def moments(folder: Path) -> dict[int, Event]:
    """The changes in a journal, by the number of matches complete at the time."""
    header, *records = journal.read(folder)
    names = [bot["name"] for bot in header["bots"]]
    found, complete = {}, 0
    for record in records:
        complete += record["record"] == "match"
        if record["record"] == "change":
            left = tuple(names[bot] for bot in record["leave"])
            names += [bot["name"] for bot in record["join"]]
            assert complete not in found
            found[complete] = Event(left, tuple(f"{bot['name']}={bot['source']}" for bot in record["join"]))
    return found


@pytest.mark.slow
def test_kills_and_changes_at_random_moments(tmp_path: Path) -> None:
    """A hill of 20 bots, in duplicate: five are added, two replaced, one dropped, each after a kill somewhere."""
    chance = random.Random(0)
    command = [sys.executable, "-c", "from bjsim.cli.main import main; main()", "koth"]
    disturbed, calm = tmp_path / "disturbed", tmp_path / "calm"
    begin(disturbed, TWENTY, **{**SHORT, "matches": 12, "duplicate": True, "hands": 5}).close()
    file = disturbed / journal.NAME
    kills = 0

    def killed(*words: str) -> None:
        nonlocal kills
        size = file.stat().st_size + chance.randrange(1000, 40_000)
        process = subprocess.Popen([*command, *words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while process.poll() is None and file.stat().st_size < size:
            time.sleep(0.002)
        kills += process.poll() is None
        process.kill()
        process.wait()

    for event in EVENTS:
        killed("resume", str(disturbed))
        if not event.leave:
            killed("add", str(disturbed), *event.join)
        elif event.join:
            killed("replace", str(disturbed), *event.join)
        else:
            killed("drop", str(disturbed), *event.leave)
    subprocess.run([*command, "resume", str(disturbed)], check=True, stdout=subprocess.DEVNULL)
    assert kills >= len(EVENTS)
    assert len(moments(disturbed)) == len(EVENTS)
    with_events(calm, TWENTY, moments(disturbed), matches=12, duplicate=True, hands=5)
    assert whole(disturbed) == whole(calm)
    assert len(results(calm)["rows"]) == 24 and len(results(calm)["former"]) == 3
    subprocess.run([*command, "verify", str(disturbed)], check=True, stdout=subprocess.DEVNULL)


FIVE = ["lim13", "lim15", "lim17", "hoyle", "optimal"]


@pytest.mark.parametrize("duplicate", [False, True])
def test_an_addition_changes_nobody_else(tmp_path: Path, duplicate: bool) -> None:
    alone, early, late, dropped = (tmp_path / name for name in ("alone", "early", "late", "dropped"))
    settings = {"duplicate": duplicate, "matches": 4}
    with_events(alone, FIVE, {}, **settings)
    with_events(early, FIVE, {0: Event(join=("x=lim16",)), 7: Event(join=("y=lim14",))}, **settings)
    with_events(late, FIVE, {3: Event(join=("y=lim14",))}, **settings)
    Host.resume(late, change=lambda host: apply(host, Event(join=("x=lim16",)))).run()  # after the end
    before, first, second = own_results(alone), own_results(early), own_results(late)
    assert len(before) == 5 and first.keys() == second.keys() == before.keys() | {("x", 1), ("y", 1)}
    assert all(first[key] == second[key] == values for key, values in before.items())
    assert first == second  # the newcomers' results do not depend on when they joined, either
    with_events(dropped, FIVE, {2: Event(leave=("lim17",))}, **settings)
    after = own_results(dropped)
    assert any(after[key] != values for key, values in before.items() if key[0] != "lim17")  # the test has power
    assert all(verify(folder).rounds for folder in (alone, early, late, dropped))


@pytest.mark.parametrize("settings", [{"house": "lim17"}, {"house": "h.txt"}, {"against": ("lim17", "h.txt")}, {}])
def test_the_house_is_the_same_in_every_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settings: dict[str, Any]
) -> None:
    """A file of its name in the current folder played in its place, and a file in another folder was not found."""
    for place in ("home", "elsewhere"):
        (tmp_path / place).mkdir()
        for name in ("h.txt",) if place == "home" else ("lim17", "hoyle"):
            (tmp_path / place / name).write_text(format_text(CATALOGUE["lim19"].chart(CARDSHARK)))
    journals = []
    for place in ("home", "elsewhere"):
        monkeypatch.chdir(tmp_path / "home")
        begin(tmp_path / f"in {place}", ["lim13", "lim15"], **SHORT, **settings).close()
        monkeypatch.chdir(tmp_path / place)
        Host.resume(tmp_path / f"in {place}", change=partial(apply, event=Event(join=("x=lim16",)))).run()
        journals.append(whole(tmp_path / f"in {place}"))
    assert journals[0] == journals[1]


@pytest.fixture(scope="module")
def joined(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A contest that a bot joins before the first match."""
    folder = tmp_path_factory.mktemp("joined")
    with_events(folder, FIVE, {0: Event(join=("x=lim16",))}, matches=12)
    return folder


def test_a_newcomer_is_dealt_the_founders_shoes(joined: Path) -> None:
    """The first card of each of its shoes is one that the founders were dealt; it sits in every seat equally often."""
    rounds = [record for record in rounds_in(joined) if record["hand"] == 0]
    first = [record for record in rounds if record["session"] == 0]
    founders = {(one["shoe"], one["table"]): one["cards"][0] for one in first if "own" not in one}
    own = [record for record in first if "own" in record]
    assert len(own) == 12 and all(founders[one["shoe"], one["table"]] == one["cards"][0] for one in own)
    assert [one["match"] for one in own] == [one["shoe"] for one in own] == list(range(12))
    assert sorted(one["seats"].index(5) for one in own) == sorted([0, 1, 2] * 4)
    assert {one["table"] for one in own} == {0, 1} and {len(one["seats"]) for one in own} == {3}


def test_versions_and_ages(tmp_path: Path) -> None:
    events = {2: Event(("lim15",), ("lim15=lim16",)), 5: Event(("lim15",), ("lim15=lim18",)), 9: Event(("hoyle",))}
    with_events(tmp_path, FIVE, events, matches=6)
    found = results(tmp_path)
    rows = {row["bot"]: row for row in found["rows"]}
    assert rows.keys() == {"lim13", "lim15", "lim17", "optimal"}
    assert (rows["lim15"]["version"], rows["lim15"]["age"], rows["lim15"]["matches"]) == (3, 3, 6)
    assert (rows["lim13"]["version"], rows["lim13"]["age"]) == (1, 6)
    former = {row["bot"]: (row["rank"], row["version"], row["age"], row["matches"]) for row in found["former"]}
    assert former == {"lim15 v1": (None, 1, 2, 2), "lim15 v2": (None, 2, 1, 2), "hoyle": (None, 1, 4, 4)}
    assert counted(tmp_path)[0].scores[3].points.n == 4  # matches without hoyle do not count for it


def test_a_long_name_with_a_number_stays_that_of_its_bot(tmp_path: Path) -> None:
    """It was cut to that of the first, of which the new version then was."""
    name = "x" * 40
    host = begin(tmp_path, [f"{name}=lim13", f"{name}=lim15"], **SHORT)
    old, new = new_versions(host, [f"{name}-2=lim16"])
    assert (old, [bot.name for bot in new]) == ([1], [f"{name}-2"])
    host.change(old, new)
    host.close()


def test_extending_plays_what_a_longer_contest_would_have_played(tmp_path: Path) -> None:
    short, long = tmp_path / "short", tmp_path / "long"
    with_events(short, FIVE, {1: Event(join=("x=lim16",))}, matches=2)
    Host.resume(short, change=lambda host: host.change(matches=3)).run()
    with_events(long, FIVE, {1: Event(join=("x=lim16",))}, matches=3)
    assert own_results(short) == own_results(long)
    assert verify(short).contest.matches == 3


def test_what_cannot_change(tmp_path: Path) -> None:
    host = with_events(tmp_path, ["lim17", "lim18"], {}, matches=1)
    host = Host.resume(tmp_path)
    one, other = (gather([text], CARDSHARK, fewest=1) for text in ("lim17", "a=hoyle"))
    impossible: list[tuple[dict[str, Any], str]] = [
        ({"leave": [0]}, "too few bots"),
        ({"leave": [9]}, "numbers of bots that take part"),
        ({"leave": [0, 0], "join": other}, "each once"),
        ({"join": one}, "has a bot lim17; use `bjsim koth replace`"),
        ({"join": [*other, *other]}, "has a bot a"),
        ({"matches": 0}, "the contest has 1 already"),
    ]
    for change, said in impossible:
        with pytest.raises(InputError, match=said):
            host.change(**change)
    with pytest.raises(Exception, match="no bot lim71; its bots are lim17, lim18"):
        number_of(host, "lim71")
    with pytest.raises(InputError, match="matches: 1000000000000001 is not accepted"):
        host.change(matches=MAX_COUNT + 1)  # once recorded, no command could read the journal
    host.close()
    assert [record["record"] for record in journal.read(tmp_path)][-1] == "end"


@pytest.mark.parametrize(
    "change",
    [
        {"leave": [9], "join": []},
        {"leave": [0, 0], "join": []},
        {"leave": [], "join": [{"name": "lim13", "source": "lim13", "language": "", "sha256": "", "version": 2}]},
        {"leave": [], "join": [{"name": "new", "source": "lim13", "language": "", "sha256": "", "version": 2}]},
        {"leave": [], "join": [], "matches": 1},
    ],
)
def test_verify_finds_impossible_changes(tmp_path: Path, joined: Path, change: dict[str, Any]) -> None:
    records = list(journal.read(joined))[:7]
    with pytest.raises(ReplayMismatch, match="is not a possible change"):
        verify(forged(tmp_path / "wrong", [*records, {"record": "change", **change}]))


def test_a_forged_round_of_a_newcomer_is_found(tmp_path: Path, joined: Path) -> None:
    records = lines_in(joined)
    record = next(each for each in records if each.get("own") == 5 and "net" in each)
    record["net"][record["seats"].index(5)] += 10
    with pytest.raises(ReplayMismatch):
        verify(forged(tmp_path / "wrong", records))


@needs(".py")
@needs_sandbox
def test_pages_after_a_cut_and_a_change(tmp_path: Path) -> None:
    """The page of a program shows what it was asked in its last match."""
    folder = tmp_path / "hill"
    bots = [str(SAMPLES / "lim17.py"), "lim13", "lim15"]
    begin(folder, bots, **{**SHORT, "matches": 2}).run()
    lines = whole(folder).splitlines(keepends=True)
    placed(folder, b"".join(lines[:8]))  # header, four rounds, match, two rounds
    event = Event(("lim15",), ("x=lim16", f"y={TEST_BOTS / 'bettor.py'}"))
    host = Host.resume(folder, change=partial(apply, event=event))
    host.run()
    assert verify(folder).rounds == host.standings.rounds
    write_results(folder, host.standings, host.page, host.logs)
    header, *records = journal.read(folder)
    bots = [*header["bots"], *next(record for record in records if record["record"] == "change")["join"]]
    for name, own in (("lim17", None), ("y", 4)):
        (last,) = [each for each in records if (each.get("match"), each.get("own")) == (1, own)]
        said = questions(host.contest, last["rounds"], protocols({**header, "bots": bots}))
        page = (folder / "pages" / f"{name}.html").read_text().partition("trace-details")[2]
        answers = [f"&lt; {question.answer}" for question in said]
        assert answers and page.count("&lt; ") == len(answers)


# --- A bot that uses all its strikes in match after match, without one answer, is not asked any more and has no rank.


PLAYERS = """
class Faulty:  # never answers
    name = "faulty"
    def decide(self, view):
        1 / 0

class Slow:  # answers most hands
    name = "slow"
    def decide(self, view):
        return "S" if set("AKQJT98") & set(view.hand) else 1 / 0
"""


def begin_failing(folder: Path, workers: int = 1, **settings: Any) -> Host:
    file = folder.parent / "players.py"
    file.write_text(PLAYERS)
    bots = [f"{file}:Faulty", f"{file}:Slow", "lim17", "hoyle", "optimal"]
    return begin(folder, bots, workers, **{"seed": 7, "matches": 5, "strikes": 4, **settings})


@pytest.mark.parametrize("settings", [{}, {"against": ("hoyle", "lim17")}, {"duplicate": True}])
def test_a_retired_bot_is_not_asked_and_nothing_else_changes(tmp_path: Path, settings: dict[str, Any]) -> None:
    """The cards, seats, moves and chips of all rounds are those of a contest in which it is asked for ever."""
    patient, folder, parallel = (tmp_path / name for name in ("patient", "folder", "parallel"))
    begin_failing(patient, retire=0, **settings).run()
    standings = begin_failing(folder, **settings).run()
    begin_failing(parallel, 3, **settings).run()
    assert whole(folder) == whole(parallel)
    before, after = rounds_in(patient), rounds_in(folder)

    def without_faults(records: list[dict[str, Any]]) -> list[dict[str, Any]]:
        ordered = sorted(records, key=lambda each: (each["match"], each.get("own", -1), each["table"], each["session"]))
        return [{key: value for key, value in record.items() if key not in ("faults", "crc")} for record in ordered]

    assert without_faults(before) == without_faults(after)
    faults = [(fault["bot"], record["match"]) for record in after for fault in record.get("faults", ())]
    matches = standings.roster.total
    assert {match for bot, match in faults if bot == 0} == {0, 1, 2}
    assert {match for bot, match in faults if bot == 1} == set(range(matches))
    rows = {row.name: row for row in standings.rows()}
    assert rows["faulty"].rank is None and rows["faulty"].score.retired == "after match 3: crash"
    assert rows["slow"].rank and not rows["slow"].score.retired and rows["faulty"].tied_with == ()
    assert verify(folder).rounds == len(after) and not counted(folder)[1].mistakes.bots[0].decisions


def test_without_retirement_a_bot_that_never_answers_has_no_rank_either(tmp_path: Path) -> None:
    rows = begin_failing(tmp_path / "c", retire=0, matches=2).run().rows()
    assert [row.name for row in rows if row.rank is None] == ["faulty"] and rows[-1].name == "faulty"


def test_a_contest_of_which_no_bot_answers_ends_and_verifies(tmp_path: Path) -> None:
    (tmp_path / "players.py").write_text(PLAYERS)
    bots = [f"{name}={tmp_path / 'players.py'}:Faulty" for name in "ab"]
    standings = begin(tmp_path / "c", bots, seed=7, strikes=2, until="decided", matches=9).run()
    assert standings.end == {"record": "end", "reason": "decided", "matches": 1}
    assert verify(tmp_path / "c").rounds == 25


@pytest.mark.parametrize("kept", ["match", "round"])
def test_a_kill_around_the_retirement_makes_no_difference(tmp_path: Path, kept: str) -> None:
    calm, killed = tmp_path / "calm", tmp_path / "killed"
    begin_failing(calm, retire=1, matches=2).run()
    begin_failing(killed, retire=1, matches=2).close()
    lines = whole(calm).splitlines(keepends=True)
    number = next(number for number, line in enumerate(lines) if line.startswith(b'{"record":"retire"'))
    assert lines[number - 1].startswith(b'{"record":"match"')
    placed(killed, b"".join(lines[: number if kept == "match" else number + 3]))
    Host.resume(killed, trust=True).run()
    assert whole(killed) == whole(calm)


@pytest.fixture(scope="module")
def failed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("failed") / "c"
    begin_failing(folder, matches=4).run()
    return folder


def test_a_bot_that_answers_cannot_be_retired_in_a_journal(tmp_path: Path, failed: Path) -> None:
    header, *records = list(journal.read(failed))
    number = next(number for number, record in enumerate(records) if record["record"] == "retire")
    records[number]["bot"] = 1
    forged(tmp_path / "c", [header, *records])
    with pytest.raises(ReplayMismatch, match="retires a bot that still answers"):
        verify(tmp_path / "c")


def test_a_bot_that_does_not_answer_cannot_be_kept_in_a_journal(tmp_path: Path, failed: Path) -> None:
    forged(tmp_path / "c", [record for record in journal.read(failed) if record["record"] != "retire"])
    with pytest.raises(ReplayMismatch, match="follows a match after which a bot retires"):
        verify(tmp_path / "c")


@pytest.mark.parametrize("matches", [3, 4])
def test_the_page_of_a_retired_bot_shows_its_last_match_unless_it_was_not_asked(
    tmp_path: Path, failed: Path, matches: int
) -> None:
    records = [record for record in journal.read(failed) if record.get("match", 0) < matches]
    records[0]["bots"][0]["language"] = "python"
    asked = ContestReport(*counted(forged(tmp_path / "c", records))).questions(0)
    assert len(asked) == (4 if matches == 3 else 0) and all(question.fault for question in asked)


def test_a_new_version_is_asked_again(tmp_path: Path, failed: Path) -> None:
    host = Host.resume(placed(tmp_path / "c", whole(failed)), trust=True)
    host.change(leave=[0], join=gather(["faulty=lim15"], CARDSHARK, fewest=1))
    rows = {row.name: row for row in host.run().rows()}
    assert rows["faulty"].rank and not rows["faulty"].score.retired and rows["faulty"].version == 2


@needs_sandbox
def test_a_program_that_never_answers(tmp_path: Path) -> None:
    """The page, the terminal, the JSON file and `koth trace` name it; what line bots are sent does not change."""
    (tmp_path / "mute.py").write_text("import time\ntime.sleep(60)\n")
    words = [tmp_path / "mute.py", SAMPLES / "lim17_line.py", "lim17", "--matches", 5, "--strikes", 2]
    out = bjsim("koth", "play", *words, "--timeout", 0.2, "--out", tmp_path / "c").out
    assert "mute retired after match 3: timeout" in out
    standings, _ = counted(tmp_path / "c")
    assert standings.scores[0].faults == {"timeout": 6} and not standings.scores[1].faults
    index = (tmp_path / "c" / "index.html").read_text()
    assert "retired after match 3: timeout" in index and "Bots that cannot be started or do not answer" in index
    assert '"retired": "after match 3: timeout"' in (tmp_path / "c" / "standings.json").read_text()
    assert "It has retired after match 3: timeout:" in (tmp_path / "c" / "pages" / "mute.html").read_text()
    assert "timeout" in bjsim("koth", "trace", tmp_path / "c", "3.1", "--bot", "mute").out
    assert "has retired" in bjsim("koth", "trace", tmp_path / "c", "4.1", "--bot", "mute").err
    asked = bjsim("koth", "show", tmp_path / "c", "--hand", "4.1.1", "--asked").out
    assert "lim17_line (seat" in asked and "mute (seat" not in asked
    assert "every card and chip" in bjsim("koth", "verify", tmp_path / "c").out
