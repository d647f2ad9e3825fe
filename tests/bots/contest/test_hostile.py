"""A contest with hostile programs ends, and does not change the results of honest bots."""

import pytest
from bot_helpers import needs_sandbox

from bjsim.bots.contest import journal
from bjsim.bots.contest.config import Contest
from bjsim.bots.contest.entrants import gather
from bjsim.bots.contest.host import Host
from bjsim.bots.contest.replay import verify
from bjsim.sim.game.presets import load_rules

CARDSHARK = load_rules("cardshark")
HOSTILE = {
    "crashes": ("raise SystemExit(3)", "crash"),
    "hangs": ("while True: pass", "timeout"),
    "floods": ("print('H' * 10**6)", "flood"),
    "babbles": ("print('\\x1b[2J<script>alert(1)</script>')", "bad-reply"),
    "bets": ("print('B', 10**9)", "overbet"),
    "says-nothing": ("", "bad-reply"),
    "asks-forever": ("print('B 0')", "move-cap"),
}


def played(folder, bots, workers=1):
    rules = CARDSHARK.replace(move_cap=20)
    contest = Contest(rules, matches=1, sessions=2, strikes=2, timeout=0.3)
    host = Host.begin(folder, contest, gather(bots, rules), workers, "auto")
    return host.run()


@pytest.mark.parametrize("name", HOSTILE)
def test_it_ends_and_honest_bots_do_not_notice(tmp_path, name):
    program, kind = HOSTILE[name]
    (tmp_path / "hostile.py").write_text(program)
    (tmp_path / "stands.py").write_text("print('S')")
    honest = ["lim17", "optimal"]
    with_hostile = played(tmp_path / "a", [*honest, str(tmp_path / "hostile.py")])
    without = played(tmp_path / "b", [*honest, str(tmp_path / "stands.py")])
    assert with_hostile.scores[2].faults == {kind: 2}
    assert not without.scores[2].faults
    assert with_hostile.scores[:2] == without.scores[:2]
    assert verify(tmp_path / "a")[0] == with_hostile.rounds


@needs_sandbox  # without it the bot's error message names its folder
def test_workers_do_not_change_the_journal_of_programs(tmp_path):
    (tmp_path / "hits.py").write_text("import sys; print('H' if int(sys.argv[1]) < 16 else 'S')")
    (tmp_path / "crashes.py").write_text("import sys; print('S' if int(sys.argv[1]) > 15 else 1 / 0)")
    bots = [str(tmp_path / "hits.py"), str(tmp_path / "crashes.py"), "lim17", "optimal", "hoyle"]
    played(tmp_path / "one", bots)
    played(tmp_path / "three", bots, workers=3)
    one, three = ((tmp_path / name / journal.NAME).read_bytes() for name in ("one", "three"))
    assert one == three and b"ZeroDivisionError" in one
