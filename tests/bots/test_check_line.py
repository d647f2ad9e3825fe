"""The samples in the line protocol pass `bjsim bot check`, play as their argv twins, and each check fails a bad bot."""

import json

import pytest
from bot_helpers import SAMPLES, a_view, line_bot, needs, needs_sandbox
from click.testing import CliRunner
from support.matches import rounds_in

from bjsim.bots.check import CHECKS, add_unknown, check_match
from bjsim.bots.contest.config import Contest
from bjsim.bots.contest.entrants import gather
from bjsim.bots.contest.host import Host
from bjsim.bots.line import Clock
from bjsim.bots.protocol import UNFLUSHED
from bjsim.bots.sandbox.languages import LANGUAGES
from bjsim.cli.bot import bot as bot_command
from bjsim.sim.game.presets import load_rules

CARDSHARK = load_rules("cardshark")
SLOW = (".cpp", ".java", ".lisp", ".js", ".go", ".rs")  # tests of the other languages reach the same lines
ENDINGS = [
    pytest.param(ending, marks=[needs(ending), *([pytest.mark.slow] if ending in SLOW else [])])
    for ending in (row.endings[0] for row in LANGUAGES)
]


def run(*words):
    return CliRunner().invoke(bot_command, list(map(str, words)))


@needs_sandbox
@pytest.mark.parametrize("ending", ENDINGS)
def test_a_sample_passes_all_checks(bot, ending):
    player = bot(f"x{ending}", (SAMPLES / f"lim17_line{ending}").read_text(), timeout=10.0)
    found = check_match(player, CARDSHARK)
    assert found.passed == dict.fromkeys(CHECKS, True) and not found.faults and found.ms and found.ready_ms


@needs_sandbox
@pytest.mark.parametrize("ending", ENDINGS)
def test_a_sample_and_its_argv_twin_play_the_same_contest(tmp_path, ending):
    played = []
    for name in ("lim17", "lim17_line"):
        contest = Contest(CARDSHARK, 7, matches=1, sessions=1, timeout=10.0, protocols=("argv", "line"))
        bots = [str(SAMPLES / f"{name}{ending}"), "lim15", "optimal"]
        Host.begin(tmp_path / name, contest, gather(bots, CARDSHARK)).run()
        played.append(rounds_in(tmp_path / name))
    assert played[0] == played[1] and len(played[0]) == 5 and not any("faults" in record for record in played[0])


BAD = {
    "ready": line_bot(ready="hi"),
    "deterministic": line_bot("'HS'[os.urandom(1)[0] % 2]"),
    "unknown": line_bot(work="args[-1].startswith('bank-ms') or sys.exit(1)"),
    "resumed": line_bot("'H' if n < 9 and int(args[0]) < 15 else 'S'"),
    "ends": line_bot(end="time.sleep(60)"),
}


@needs(".py")
@needs_sandbox
@pytest.mark.parametrize("check", CHECKS)
def test_each_check_fails_a_bad_bot(bot, check):
    """Negative control of the checks."""
    passed = check_match(bot("x.py", BAD[check], timeout=10.0), CARDSHARK).passed
    failed = {name for name, good in passed.items() if good is False}
    assert failed == ({"ready", "ends"} if check == "ready" else {check})
    assert (passed["resumed"] is None) == (check == "deterministic")


def test_unknown_lines_keep_the_known_words():
    assert add_unknown("card d T")[1].startswith("card d T ") and len(add_unknown("card d T")) == 2


@pytest.mark.slow
@needs(".py")
@needs_sandbox
def test_the_command_shows_the_match(tmp_path):
    (tmp_path / "good.py").write_text(line_bot())
    done = run("check", tmp_path / "good.py", "--json", tmp_path / "x.json")
    assert done.exit_code == 0, done.output
    assert all(f"{meaning}: yes" in done.output for meaning in CHECKS.values()) and "ms per answer" in done.output
    assert json.loads((tmp_path / "x.json").read_text())["match"]["resumed"] is True
    (tmp_path / "bad.py").write_text(BAD["resumed"])
    done = run("check", tmp_path / "bad.py")
    assert done.exit_code == 1 and f"{CHECKS['resumed']}: NO" in done.output


@pytest.mark.parametrize(("language", "ending"), [(row.name, row.endings[0]) for row in LANGUAGES])
def test_a_new_line_bot_has_the_language_of_its_name(tmp_path, monkeypatch, language, ending):
    monkeypatch.chdir(tmp_path)
    assert run("new", f"mine{ending}", "--protocol", "line").exit_code == 0
    assert (tmp_path / f"mine{ending}").read_text() == (SAMPLES / f"lim17_line{ending}").read_text()
    assert run("new", "other", "--language", language).exit_code == 0
    assert (tmp_path / f"other{ending}").read_text() == (SAMPLES / f"lim17{ending}").read_text()
    assert "bjsim: line 1" not in (tmp_path / f"other{ending}").read_text()


def test_a_new_bot_without_an_ending_is_in_python(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert "wrote mine.py" in run("new", "mine").output
    assert "wrote my.c.py" in run("new", "my.c", "--language", "python").output


def unflushed(ready):
    """A bot whose answers stay in its buffer; its `ready` too, unless it is flushed."""
    source = line_bot().replace(", flush=True", "")
    return source.replace("print('ready 1')", "print('ready 1', flush=True)") if ready else source


@needs(".py")
@pytest.mark.parametrize("ready", [False, True])
def test_a_bot_that_does_not_flush_is_told_so_at_its_first_fault(tmp_path, monkeypatch, ready):
    monkeypatch.setattr(Clock, "within", lambda timeout: Clock(load=20_000 if ready else 1000, move=100, bank=500))
    (tmp_path / "x.py").write_text(unflushed(ready))
    done = run("check", tmp_path / "x.py", "--sandbox", "auto")
    kind = "timeout" if ready else "not-ready"
    assert done.exit_code == 1 and UNFLUSHED in done.output
    assert f"faults: {kind} 1\n" in done.output and "190 of 191 situations not tried" in done.output
    assert CHECKS["ends"] not in done.output


@needs(".py")
def test_a_bot_that_can_never_be_ready_is_waited_for_once(bot, monkeypatch):
    """In a contest each match would cost the time to load again."""
    monkeypatch.setattr(Clock, "within", lambda timeout: Clock(load=500))
    player = bot("x.py", unflushed(ready=False))
    first = player.ask(a_view())
    monkeypatch.setattr("bjsim.bots.player.BotPlayer.take", None)
    assert first.cause == "not-ready" and player.ask(a_view()) is first


@needs(".py")
def test_a_chatterer_has_one_fault(tmp_path):
    (tmp_path / "x.py").write_text(line_bot("'S', flush=True); print('debug'"))
    done = run("check", tmp_path / "x.py", "--timeout", "9", "--sandbox", "auto")
    assert done.exit_code == 1 and "faults: chatter 1\n" in done.output
    assert "not-ready" not in done.output and "non-deterministic" not in done.output
