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
from bot_helpers import SAMPLES, needs, needs_sandbox
from support.matches import forged, lines_in, rounds_in

from bjsim.bots.contest import journal
from bjsim.bots.contest.config import MAX_COUNT, Contest
from bjsim.bots.contest.entrants import EntrantError, gather
from bjsim.bots.contest.host import Host
from bjsim.bots.contest.match import ReplayMismatch
from bjsim.bots.contest.page import write_results
from bjsim.bots.contest.replay import protocols, questions, verify
from bjsim.bots.contest.results import row_values
from bjsim.bots.contest.standings import Standings
from bjsim.cli.koth_change import newcomers, number_of
from bjsim.errors import InputError
from bjsim.sim.game.presets import load_rules

CARDSHARK = load_rules("cardshark")
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


def begin(folder: Path, bots: Sequence[str], **settings: Any) -> Host:
    contest = Contest(CARDSHARK, **{"seed": 7, "matches": 4, "sessions": 2, "hands": 2, **settings})
    return Host.begin(folder, contest, gather(bots, CARDSHARK))


def with_events(folder: Path, bots: Sequence[str], events: dict[int, Event], **settings: Any) -> Host:
    """Play a contest in which each event happens after this number of complete matches of all series together."""
    begin(folder, bots, **settings).close()
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
    header, *records = journal.read(folder)
    standings = Standings(header).add_all(records)
    return {
        "rows": [row_values(row) for row in standings.rows()],
        "former": [row_values(row) for row in standings.former()],
        "progress": standings.progress,
        "rounds": standings.rounds,
        "played": played(standings),
    }


def own_results(folder: Path) -> dict[tuple[str, int], dict[str, Any]]:
    """By name and version what does not depend on other bots."""
    relative = ("rank", "rank_range", "tied_with", "age", "effect")
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


def cut_at_random(folder: Path, chance: random.Random, matches: int) -> None:
    """Stop the contest after so many matches more, and cut off the end of its journal as a kill may."""

    def stop(host: Host) -> None:
        nonlocal matches
        matches -= 1
        if matches <= 0:
            raise Cut

    with pytest.raises(Cut):
        Host.resume(folder).run(stop)
    file = folder / journal.NAME
    text = file.read_bytes()
    kept = text.rfind(b'{"record":"change"')  # synced before it took effect
    least = max(text.index(b"\n"), text.find(b"\n", kept) if kept >= 0 else 0) + 1
    file.write_bytes(text[: max(least, len(text) - chance.randrange(600))])


@pytest.mark.slow
def test_cuts_and_changes_at_random_moments(tmp_path: Path) -> None:
    """A hill of 20 bots: five are added, two replaced, one dropped, each after a cut in the middle of a match."""
    chance = random.Random(17)
    disturbed, calm = tmp_path / "disturbed", tmp_path / "calm"
    begin(disturbed, TWENTY, matches=6, sessions=1).close()
    for event in EVENTS:
        cut_at_random(disturbed, chance, 2)
        Host.resume(disturbed, change=partial(apply, event=event)).close()
    Host.resume(disturbed).run()
    happened = moments(disturbed)
    assert len(happened) == len(EVENTS)
    with_events(calm, TWENTY, happened, matches=6, sessions=1)
    assert (disturbed / journal.NAME).read_bytes() == (calm / journal.NAME).read_bytes()
    assert len(results(calm)["rows"]) == 24 and len(results(calm)["former"]) == 3
    assert verify(disturbed)[0] == results(calm)["rounds"]


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_kills_and_changes_at_random_moments(tmp_path: Path, seed: int) -> None:
    """The same with SIGKILL, from the command line, in a duplicate contest."""
    chance = random.Random(seed)
    command = [sys.executable, "-c", "from bjsim.cli.main import main; main()", "koth"]
    disturbed, calm = tmp_path / "disturbed", tmp_path / "calm"
    begin(disturbed, TWENTY, matches=12, duplicate=True, hands=5).close()
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
    with_events(calm, TWENTY, moments(disturbed), matches=12, duplicate=True, hands=5)
    assert results(disturbed) == results(calm)
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
    assert all(verify(folder)[0] for folder in (alone, early, late, dropped))


def test_a_newcomer_is_dealt_the_founders_shoes(tmp_path: Path) -> None:
    """The first card of each of its shoes is one that the founders were dealt; it sits in every seat equally often."""
    host = with_events(tmp_path, FIVE, {0: Event(join=("x=lim16",))}, matches=12)
    rounds = [record for record in rounds_in(tmp_path) if record["hand"] == 0]
    first = [record for record in rounds if record["session"] == 0]
    founders = {(one["shoe"], one["table"]): one["cards"][0] for one in first if "own" not in one}
    own = [record for record in first if "own" in record]
    assert len(own) == 12 and all(founders[one["shoe"], one["table"]] == one["cards"][0] for one in own)
    assert [one["match"] for one in own] == [one["shoe"] for one in own] == list(range(12))
    assert sorted(one["seats"].index(5) for one in own) == sorted([0, 1, 2] * 4)
    assert {one["table"] for one in own} == {0, 1} and host.roster.size == 3


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


def test_extending_plays_what_a_longer_contest_would_have_played(tmp_path: Path) -> None:
    short, long = tmp_path / "short", tmp_path / "long"
    with_events(short, FIVE, {1: Event(join=("x=lim16",))}, matches=3)
    Host.resume(short, change=lambda host: host.change(matches=5)).run()
    with_events(long, FIVE, {1: Event(join=("x=lim16",))}, matches=5)
    assert own_results(short) == own_results(long)
    assert verify(short)[1].contest.matches == 5


def test_what_cannot_change(tmp_path: Path) -> None:
    host = with_events(tmp_path, ["lim17", "lim18"], {}, matches=1)
    host = Host.resume(tmp_path)
    with pytest.raises(EntrantError, match="too few bots"):
        host.change(leave=[0])
    with pytest.raises(Exception, match="has a bot lim17; use `bjsim koth replace`"):
        newcomers(host, ["lim17"])
    with pytest.raises(Exception, match="no bot lim71; its bots are lim17, lim18"):
        number_of(host, "lim71")
    with pytest.raises(InputError, match="matches = 1000000000000001 is not accepted"):
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
def test_verify_finds_impossible_changes(tmp_path: Path, change: dict[str, Any]) -> None:
    with_events(tmp_path / "right", FIVE, {}, matches=2)
    records = list(journal.read(tmp_path / "right"))
    with pytest.raises(ReplayMismatch):
        verify(forged(tmp_path / "wrong", [*records[:-1], {"record": "change", **change}]))


def test_a_forged_round_of_a_newcomer_is_found(tmp_path: Path) -> None:
    with_events(tmp_path / "right", FIVE, {0: Event(join=("x=lim16",))}, matches=1)
    records = lines_in(tmp_path / "right")
    record = [each for each in records if each.get("own") == 5 and "net" in each][-1]
    record["net"][record["seats"].index(5)] += 10
    with pytest.raises(ReplayMismatch):
        verify(forged(tmp_path / "wrong", records))


@needs(".py")
@needs_sandbox
def test_pages_after_a_cut_and_a_change(tmp_path: Path) -> None:
    """The page of a program shows what it was asked in its last match."""
    folder = tmp_path / "hill"
    bots = [str(SAMPLES / "lim17.py"), "lim13", "lim15"]
    begin(folder, bots, matches=2).run()
    lines = (folder / journal.NAME).read_bytes().splitlines(keepends=True)
    (folder / journal.NAME).write_bytes(b"".join(lines[:8]))  # header, four rounds, match, two rounds
    event = Event(("lim15",), ("x=lim16", f"y={SAMPLES / 'bettor.py'}"))
    host = Host.resume(folder, change=partial(apply, event=event))
    host.run()
    assert verify(folder)[0] == host.standings.rounds
    write_results(folder, host.standings, host.page, host.logs)
    header, *records = journal.read(folder)
    bots = [*header["bots"], *next(record for record in records if record["record"] == "change")["join"]]
    for name, own in (("lim17", None), ("y", 4)):
        (last,) = [each for each in records if (each.get("match"), each.get("own")) == (1, own)]
        said = questions(host.contest, last["rounds"], protocols({**header, "bots": bots}))
        page = (folder / "pages" / f"{name}.html").read_text().partition("trace-details")[2]
        answers = [f"&lt; {question.answer}" for question in said]
        assert answers and page.count("&lt; ") == len(answers)
