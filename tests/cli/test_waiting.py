"""No command works in silence: a line moves on the terminal, however long the work takes.

The work of a command is held up until new frames of the line have come, so no time is measured.
"""

import io
import os
import re
import sys
import threading
from importlib.resources import files
from types import SimpleNamespace

import pytest
from support.long_journal import played
from support.pseudo_terminal import PseudoTerminal

from bjsim.cli import waiting as waiting_module
from bjsim.cli.run import RunScreen
from bjsim.cli.waiting import EVERY, FRAMES, QUIET, Waiting, moving, waiting
from bjsim.sim.game.presets import load_rules
from bjsim.sim.running.experiment import Progress
from bjsim.sim.running.table import Span
from bjsim.sim.running.workers import is_fork_safe
from bjsim.strategies.experiment import make_experiment
from bjsim.strategies.players.catalogue import find_player

HOLD = """
import functools, os, sys, time
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
target, folder, mode = sys.argv[1:4]
del sys.argv[1:4]
module, _, names = target.partition(":")
owner, names = import_module(module), names.split(".")
for name in names[:-1]:
    owner = getattr(owner, name)
work = getattr(owner, names[-1])

def wait():
    Path(folder, "held").touch()
    while not Path(folder, "go").exists():
        time.sleep(0.05)

@functools.wraps(work)
def held(*args, **options):
    if mode == "compiling":
        import bjsim.sim.engine.jit  # as every kernel does; it follows what numba compiles
        from numba.core.event import trigger_event
        with trigger_event("numba:compile", data={"dispatcher": SimpleNamespace(py_func=work)}):
            wait()
    else:
        wait()
    return work(*args, **options)

setattr(owner, names[-1], held)
import bjsim.cli.main as main
if mode == "without":
    main.moving = __import__("contextlib").nullcontext
main.main()
"""
SOLVER = "bjsim.strategies.shoe.solver:ShoeSolver.value_of"
BLOCKS = "bjsim.sim.running.table:play_blocks"  # in forked workers, and in this process
INDEXED = "bjsim.strategies.counting.indices:best_chart"
COUNTED = "bjsim.strategies.counting.request:count_blocks"
RUN = "bjsim.bots.contest.host:Host.run"
SOLVE = "solve --rules vegas-s17 --decks 1 value"
COMMANDS = [
    (SOLVE, SOLVER, "solving the game"),
    ("solve --exact", "bjsim.cli.solve:Tables", "solving the game"),
    ("check hoyle", "bjsim.cli.check:evaluate_chart", "solving the game"),
    ("run --bots lim17 --hands 1000 --workers 2", BLOCKS, "playing"),
    ("run --bots lim17 --hands 1000 --workers 1", BLOCKS, "playing"),
    ("compare --rules easy,neller", "bjsim.cli.compare:compare_games", "solving the games"),
    ("compare --rules vegas-s17 --vary cut=1/2,3/4 --decks 1 --workers 2", BLOCKS, "playing"),
    ("count --rules vegas-s17 --decks 1", COUNTED, "preparing the table"),
    ("count indices --rules vegas-s17 --decks 1", INDEXED, "finding the best chart"),
    ("learn --rules neller", "bjsim.cli.learn:study", "solving the process"),
    ("replay --bots lim17", "bjsim.sim.running.table:ReadableTable.replay", "replaying"),
    ("play --coach", "bjsim.strategies.evaluation.coach:Coach", "solving the game"),
    ("koth show contest", "bjsim.bots.contest.standings:Standings.add_all", "reading the journal"),
    ("koth show contest", "bjsim.bots.contest.standings:Standings.rows", "comparing the bots"),
    ("koth verify contest", "bjsim.cli.koth_show:replay_contest", "replaying"),
    ("koth resume contest", "bjsim.bots.contest.host:Host.resume", "reading the journal"),
    ("koth play lim17 optimal --out new", RUN, "playing"),
    ("koth add contest lim18", "bjsim.bots.contest.host:Host.resume", "reading the journal"),
    ("koth extend contest 2", RUN, "playing"),
    ("koth trace contest 1.1 --bot lim17", "bjsim.cli.koth_show:read_table", "working"),
    ("koth close contest", "bjsim.cli.koth_change:close_contest", "working"),
    ("koth new hill", "bjsim.cli.koth_new:contents", "working"),
    ("bot check lim17.py --sandbox auto", "bjsim.cli.bot:try_bot", "asking"),
    ("bot check lim17.py --sandbox auto", "bjsim.cli.bot:open_player", "building the bot"),
    ("bot ask lim17.py T6 9 --sandbox auto", "bjsim.cli.bot_game:open_player", "working"),
    ("bot trace lim17.py --sandbox auto", "bjsim.cli.bot_game:open_player", "working"),
    ("bot compare lim17 optimal", RUN, "playing"),
    ("solve stand --plot chart.png", "matplotlib.figure:Figure.savefig", "drawing"),
    ("play --drill", "bjsim.strategies.evaluation.drill:Drill", "working"),
    ("rules easy", "bjsim.cli.rules:the_rules", "working"),
    ("doctor", "bjsim.cli.doctor:can_run_programs", "working"),
    ("warm", "bjsim.cli.warm:use_kernels", "compiling"),
    ("app --export site", "bjsim.app.export:_each", "solving the usual games"),
]  # fmt: skip


class Held:
    """A command in a pseudo-terminal whose work is held up."""

    def __init__(self, folder, command, target, mode="with"):
        self.folder = folder
        self.terminal = PseudoTerminal(target, str(folder), mode, *command.split(), columns=100, code=HOLD)

    def moves(self, seconds=60):
        """Wait until the work is held up. Returns: whether the line moves then, and its last frame."""
        assert self.terminal.watch(lambda text: (self.folder / "held").exists()), self.terminal.text
        start = len(self.terminal.text)
        moved = self.terminal.watch(lambda text: len(frames(text[start:])) > 3, seconds)
        return moved, (frames(self.terminal.text) or [""])[-1]

    def go(self):
        (self.folder / "go").touch()


def frames(text):
    """The frames of the line in a transcript."""
    return re.findall(rf"[{FRAMES}] [^\r\n]*", text)


@pytest.fixture(scope="module")
def contest(tmp_path_factory):
    return played(tmp_path_factory.mktemp("contests") / "contest", 2, ["lim17", "optimal"])


def run_held(tmp_path, monkeypatch, command, target, mode, seconds=60):
    monkeypatch.chdir(tmp_path)
    held = Held(tmp_path, command, target, mode)
    try:
        return held.moves(seconds)
    finally:
        held.terminal.kill()
        held.go()  # to workers that are left


@pytest.mark.slow
@pytest.mark.parametrize(("command", "target", "said"), COMMANDS)
def test_a_line_moves_while_a_command_works(tmp_path, monkeypatch, contest, command, target, said):
    (tmp_path / "contest").symlink_to(contest)
    (tmp_path / "lim17.py").write_text((files("bjsim.bots") / "samples" / "lim17.py").read_text())
    moved, last = run_held(tmp_path, monkeypatch, command, target, "with")
    assert moved and re.match(rf"[{FRAMES}] \d+ s  {said}", last), last


def test_frames_are_never_far_apart():
    assert QUIET + EVERY <= 1


def test_it_moves_while_numba_compiles(tmp_path, monkeypatch):
    moved, last = run_held(tmp_path, monkeypatch, SOLVE, SOLVER, "compiling")
    assert moved and "compiling kernel 1, value_of (once after install, up to half a minute)" in last


def test_a_command_without_it_is_found_out(tmp_path, monkeypatch):
    assert run_held(tmp_path, monkeypatch, SOLVE, SOLVER, "without", seconds=3) == (False, "")


def test_nothing_of_it_is_left(tmp_path):
    held = Held(tmp_path, SOLVE, SOLVER)
    moved, _ = held.moves()
    held.go()
    assert moved and held.terminal.watch(lambda text: "of the bet\r\n" in text)
    held.terminal.kill()
    after = held.terminal.text.rpartition("\x1b[2K")[2]
    assert re.fullmatch(r"[-+]\d\.\d{6}% of the bet\n", after.replace("\r\n", "\n")), held.terminal.text


class Screen(io.StringIO):
    """A stream that is a terminal, or is not."""

    def __init__(self, is_terminal=True):
        super().__init__()
        self.isatty = lambda: is_terminal


def screens(monkeypatch, is_terminal=True):
    """Make standard output and error terminals, or not. Returns: both."""
    both = Screen(is_terminal), Screen(is_terminal)
    monkeypatch.setattr(sys, "stdout", both[0])
    monkeypatch.setattr(sys, "stderr", both[1])
    monkeypatch.delenv("TERM", raising=False)
    return both


def test_a_pipe_has_no_line(monkeypatch):
    out, err = screens(monkeypatch, is_terminal=False)
    with moving(), waiting("working hard") as line:
        line.draw()
        assert sys.stdout is out and sys.stderr is err
    assert not out.getvalue() and not err.getvalue()


def test_it_is_erased_before_anything_is_printed_and_spares_a_question(monkeypatch):
    out, err = screens(monkeypatch)
    with moving(), waiting("solving") as line:
        line.stop()  # frames come only from here
        line.draw()
        print("result")
        drawn = err.getvalue()
        assert "solving" in drawn and drawn.endswith("\r\x1b[2K") and out.getvalue() == "result\n"
        print("hit or stand? ", end="")
        line.draw()
        assert err.getvalue() == drawn


def test_its_thread_ends_before_a_fork_and_begins_again(monkeypatch):
    screens(monkeypatch)
    with moving(), waiting("playing") as line:
        before = line._thread
        assert before.is_alive() and is_fork_safe()
        if not (child := os.fork()):
            os._exit(before.is_alive() or line._stream is not None)
        assert os.waitpid(child, 0)[1] == 0
        assert not before.is_alive() and line._thread.is_alive()
    assert threading.active_count() == 1


def test_the_time_left_is_estimated_after_a_second(monkeypatch):
    now = 100.0
    monkeypatch.setattr(waiting_module, "time", SimpleNamespace(monotonic=lambda: now))
    line = Waiting()
    line.say("playing", 1, 1000)
    now += 0.9
    assert line.text() == "1 s  playing, 0.1%"
    now += 1.1
    line.say("playing", 200, 1000, "100 rounds/s")
    assert line.text() == "2 s  playing, 20.0%, 100 rounds/s, about 8 s left"  # 800 rounds, at 100 in a second
    line.say("playing", 1000, 1000)
    assert line.text() == "2 s  playing, 100.0%"
    line.say("rounds", 5000, 10000)  # of a checkpoint
    now += 2
    line.say("rounds", 5500, 10000)
    assert line.text() == "4 s  rounds, 55.0%, about 18 s left"  # 4,500 rounds, at 250 in a second


def test_the_time_left_is_that_at_the_speed_of_the_later_half(monkeypatch):
    """The first blocks of a run are small, and wait for the compiler; `run --until` promised hours at their speed."""
    now = 0.0
    monkeypatch.setattr(waiting_module, "time", SimpleNamespace(monotonic=lambda: now))
    line = Waiting()
    line.begin("playing")
    for seconds, done in ((20, 100), (20, 200), (2, 400)):
        now += seconds
        line.say("playing", done, 1400)
    assert line.text() == "42 s  playing, 28.6%, about 10 s left"  # 1,000 rounds, at 100 in a second
    now += 3
    assert line.text() == "45 s  playing, 28.6%, about 10 s left"  # nothing is known of the block that is played


def test_without_an_interval_yet_the_time_to_a_precision_is_not_estimated(monkeypatch, capsys):
    """One block has fewer values than an interval needs; the most rounds that may be played are no estimate."""
    now = 0.0
    monkeypatch.setattr(waiting_module, "time", SimpleNamespace(monotonic=lambda: now))
    rules = load_rules("vegas-s17")
    player = find_player("lim17", rules)
    experiment = make_experiment(rules, [player], 10**9, 1, 1, True, 1e-4)
    line = Waiting()
    screen = RunScreen(rules, [player], experiment, False, line)
    now = 10.0
    tallies = experiment.groups[0].play(1, 0, [Span(0, 1)])
    screen.update(Progress(tallies, [[]]))
    assert "left" not in line.text() and "%" not in line.text()


def test_no_line_of_a_run_wraps_or_controls_the_terminal(monkeypatch):
    """One that wrapped was erased in part, so that the terminal filled; the name of a chart is its path."""
    monkeypatch.setenv("COLUMNS", "70")
    rules = load_rules("easy")
    player = find_player("lim17", rules)
    experiment = make_experiment(rules, [player], 10**6, 1)
    line = Waiting()
    screen = RunScreen(rules, [SimpleNamespace(name=f"/home/{'x' * 70}/\x1b[2Jmine.csv")], experiment, False, line)
    screen.update(Progress(experiment.groups[0].play(1, 0, [Span(0, 100)]), [[]]))
    assert len(line.below) == 69 and "\x1b" not in line.below
    assert "[2Jmine.csv  " in line.below and line.below.endswith("%  of 100 hands")
