"""A bot that uses all its strikes in match after match, without one answer, is not asked any more and has no rank."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from bot_helpers import needs_sandbox
from support.command import bjsim
from support.matches import forged, rounds_in

from bjsim.bots.contest import journal
from bjsim.bots.contest.config import Contest
from bjsim.bots.contest.entrants import gather
from bjsim.bots.contest.host import Host
from bjsim.bots.contest.match import ReplayMismatch
from bjsim.bots.contest.page import write_results
from bjsim.bots.contest.replay import verify
from bjsim.bots.contest.standings import Standings
from bjsim.sim.game.presets import load_rules

CARDSHARK = load_rules("cardshark")
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


def begin(folder: Path, workers: int = 1, **settings: Any) -> Host:
    file = folder.parent / "players.py"
    file.write_text(PLAYERS)
    bots = [f"{file}:Faulty", f"{file}:Slow", "lim17", "hoyle", "optimal"]
    contest = Contest(CARDSHARK, **{"seed": 7, "matches": 5, "strikes": 4, **settings})
    return Host.begin(folder, contest, gather(bots, CARDSHARK), workers)


@pytest.mark.parametrize("settings", [{}, {"against": ("hoyle", "lim17")}, {"duplicate": True}])
def test_a_retired_bot_is_not_asked_and_nothing_else_changes(tmp_path: Path, settings: dict[str, Any]) -> None:
    """The cards, seats, moves and chips of all rounds are those of a contest in which it is asked for ever."""
    patient, folder, parallel = (tmp_path / name for name in ("patient", "folder", "parallel"))
    begin(patient, retire=0, **settings).run()
    standings = begin(folder, **settings).run()
    begin(parallel, 3, **settings).run()
    assert (folder / journal.NAME).read_bytes() == (parallel / journal.NAME).read_bytes()
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
    assert verify(folder)[0] == len(after)


def test_without_retirement_a_bot_that_never_answers_has_no_rank_either(tmp_path: Path) -> None:
    rows = begin(tmp_path / "c", retire=0, matches=2).run().rows()
    assert [row.name for row in rows if row.rank is None] == ["faulty"] and rows[-1].name == "faulty"


@pytest.mark.parametrize("kept", ["match", "round"])
def test_a_kill_around_the_retirement_makes_no_difference(tmp_path: Path, kept: str) -> None:
    calm, killed = tmp_path / "calm", tmp_path / "killed"
    begin(calm).run()
    begin(killed).close()
    lines = (calm / journal.NAME).read_bytes().splitlines(keepends=True)
    number = next(number for number, line in enumerate(lines) if line.startswith(b'{"record":"retire"'))
    assert lines[number - 1].startswith(b'{"record":"match"')
    (killed / journal.NAME).write_bytes(b"".join(lines[: number if kept == "match" else number + 3]))
    Host.resume(killed, trust=True).run()
    assert (killed / journal.NAME).read_bytes() == (calm / journal.NAME).read_bytes()


def test_a_bot_that_answers_cannot_be_retired_in_a_journal(tmp_path: Path) -> None:
    begin(tmp_path / "c", matches=4).run()
    header, *records = list(journal.read(tmp_path / "c"))
    number = next(number for number, record in enumerate(records) if record["record"] == "retire")
    records[number]["bot"] = 1
    forged(tmp_path / "c", [header, *records])
    with pytest.raises(ReplayMismatch, match="retires a bot that still answers"):
        verify(tmp_path / "c")


def test_a_new_version_is_asked_again(tmp_path: Path) -> None:
    host = begin(tmp_path / "c", matches=4)
    host.run()
    host = Host.resume(tmp_path / "c", trust=True)
    host.change(leave=[0], join=gather(["faulty=lim15"], CARDSHARK, fewest=1))
    rows = {row.name: row for row in host.run().rows()}
    assert rows["faulty"].rank and not rows["faulty"].score.retired and rows["faulty"].version == 2


@needs_sandbox
def test_a_program_that_never_answers(tmp_path: Path) -> None:
    """The page, the terminal, the JSON file and `koth trace` name it; what line bots are sent does not change."""
    (tmp_path / "mute.py").write_text("import time\ntime.sleep(60)\n")
    line = Path(__file__).parents[3] / "src" / "bjsim" / "bots" / "samples" / "lim17_line.py"
    words = [tmp_path / "mute.py", line, "lim17", "--matches", 5, "--strikes", 2, "--timeout", 0.2, "--out"]
    out = bjsim("koth", "play", *words, tmp_path / "c").out
    assert "mute retired after match 3: timeout" in out
    header, *records = journal.read(tmp_path / "c")
    standings = Standings(header).add_all(records)
    assert standings.scores[0].faults == {"timeout": 6} and not standings.scores[1].faults
    host = Host.resume(tmp_path / "c")
    host.close()
    write_results(tmp_path / "c", host.standings, host.page, host.logs)
    page = (tmp_path / "c" / "index.html").read_text()
    assert "retired after match 3: timeout" in page and "Bots that cannot be started or do not answer" in page
    assert '"retired": "after match 3: timeout"' in (tmp_path / "c" / "standings.json").read_text()
    assert "It has retired after match 3: timeout:" in (tmp_path / "c" / "pages" / "mute.html").read_text()
    assert "timeout" in bjsim("koth", "trace", tmp_path / "c", "3.1", "--bot", "mute").out
    assert "has retired" in bjsim("koth", "trace", tmp_path / "c", "4.1", "--bot", "mute").err
    asked = bjsim("koth", "show", tmp_path / "c", "--hand", "4.1.1", "--asked").out
    assert "lim17_line (seat" in asked and "mute (seat" not in asked
    assert "every card and chip" in bjsim("koth", "verify", tmp_path / "c").out
