"""Line bots: one process for a match, frozen between questions, replaced after a fault, and gone at the end."""

import contextlib
import itertools
import os
import random
import signal
import threading
import time
from contextlib import closing

import pytest
from bot_helpers import BOX, BOXES, COUNTS, Scripted, TakenTurns, lim17, line_bot, needs, needs_sandbox, processes

from bjsim.bots.line import LOG_LIMIT, Transcript
from bjsim.bots.sandbox.build import build
from bjsim.bots.sandbox.session import Limits, SandboxClosed, SandboxSession
from bjsim.sim.game.actions import HIT, STAND
from bjsim.sim.game.cards import Hand
from bjsim.sim.game.presets import named_rules
from bjsim.sim.game.round import Round
from bjsim.sim.game.shoe import Stream, open_shoe
from bjsim.sim.running.table import ReadableTable

pytestmark = needs(".py")
RULES = named_rules("cardshark")


@pytest.fixture
def bot(bot):
    """Make a bot as `conftest.bot`, with enough time on a busy machine."""
    return lambda name, text, **options: bot(name, text, **{"timeout": 10.0, **options})


def dealt(transcript, seats, rounds, seed=5):
    """The events of rounds of cardshark at one table."""
    shoe, events = open_shoe(RULES, Stream(seed)), []
    for _ in range(rounds):
        game = Round(RULES, shoe, len(seats))
        transcript.begin_round(range(len(seats)), [200] * len(seats), game.events)
        events.append(game.play(seats).events)
    return events


def play(bot, rounds, before=lambda: None, seed=5):
    """Play rounds of cardshark with the bot in the second of three seats; returns its player and all events."""
    transcript = Transcript(RULES)
    player = TakenTurns(bot, bot.join(transcript, 1, 3, rounds), before, strikes=99)
    events = dealt(transcript, [Scripted(lim17), player, Scripted(lim17)], rounds, seed)
    player.seat.leave(235)
    return player, events


def notes(player):
    """The answers after the move."""
    return [reply.stdout.decode().partition(" ")[2] for _, _, reply in player.answers]


@pytest.mark.parametrize("box", BOXES)
@pytest.mark.parametrize("cold", [False, True])
def test_a_match_has_one_process_which_remembers(bot, box, cold):
    before = processes()
    player = bot("x.py", line_bot("'S', n, os.getpid(), len(seen)"), box=box, cold=cold)
    played, _ = play(player, 8)
    counts = [note.split() for note in notes(played)]
    assert not played.faults and [int(n) for n, _, _ in counts] == list(range(1, len(counts) + 1))
    assert len({pid for _, pid, _ in counts}) == 1 and int(counts[-1][2]) > 60
    again, _ = play(player, 8)  # a new match
    assert [int(note.split()[0]) for note in notes(again)] == list(range(1, len(counts) + 1))
    assert {note.split()[1] for note in notes(again)}.isdisjoint(pid for _, pid, _ in counts)
    player.close()
    assert processes() == before


COUNTER = line_bot(
    f"{COUNTS}, len(seen), sum(map(len, seen))",
    setup="class Seen(list):\n    def append(self, text):\n"
    "        text.split()[0] in ('hello', 'match', 'rules', 'move') or super().append(text)\nseen = Seen()",
)


@needs_sandbox
@pytest.mark.parametrize("seed", [1, 2])
def test_a_bot_killed_at_random_moments_and_replaced_makes_the_same_moves(bot, seed):
    player, rng = bot("x.py", COUNTER), random.Random(seed)
    undisturbed, events = play(player, 20)

    def kill():
        if rng.random() < 0.3:
            for session in player._sessions:
                session.process.kill()

    killed, same = play(player, 20, kill)
    assert same == events and notes(killed) == notes(undisturbed) and not killed.faults


FAULTS = {
    "chatter": line_bot(work="print('S') if n == 3 else 0"),
    "crash": line_bot(work="n == 3 and sys.exit(7)"),
    "timeout": line_bot(work="n == 3 and time.sleep(60)"),
    "flood": line_bot(work="print('x' * 9999) if n == 3 else 0"),
    "bad-reply": line_bot("'S' if n != 3 else 'X'"),
}


@needs_sandbox
@pytest.mark.parametrize("kind", FAULTS)
def test_a_fault_is_sent_and_the_next_process_knows_the_match(bot, kind):
    player, _ = play(bot("x.py", FAULTS[kind], timeout=0.5 if kind == "timeout" else 10.0), 8)
    assert {fault.kind for fault in player.faults} == {kind}
    assert len(player.faults) == (1 if kind == "bad-reply" else len(player.answers) // 3)
    sent = player.seat.lines.all
    assert sent.count(f"fault {kind} strikes=98") == 1
    where = sent.index(f"fault {kind} strikes=98")
    assert sent[where + 1].startswith("action 1.0 S")


@needs_sandbox
def test_a_new_process_receives_the_whole_match(bot):
    text = line_bot("'S', repr([seen[1:4]] + seen[4:7])[:180]", work="n == 2 and sys.exit(1)")
    player, _ = play(bot("x.py", text), 4)
    first, second = notes(player)[0], notes(player)[2]
    assert "match seats=3 seat=1 rounds=4 chips=200\\n" in first and "resumed" not in first
    assert "match seats=3 seat=1 rounds=4 chips=200 resumed=1" in second
    assert second.replace(" resumed=1", "")[:150] == first[:150]


@needs_sandbox
def test_a_bot_that_is_not_ready_stands_in_the_whole_match(bot):
    for text, why in (
        (line_bot(ready="hello", setup="print('hi', file=sys.stderr)"), "answered hello with 'hello', not with"),
        (line_bot(ready="ready 2"), "answered hello with 'ready 2'"),
        (line_bot(setup="sys.exit(3)"), "ended with exit status 3 before it was ready"),
    ):
        began = time.monotonic()
        player, _ = play(bot("x.py", text), 4)
        assert {fault.kind for fault in player.faults} == {"not-ready"} and len(player.faults) == len(player.answers)
        assert why in player.faults[0].detail and time.monotonic() - began < 5
        assert player.seat.log in (b"hi\n", b"")  # it is started once


@needs_sandbox
def test_the_bank_pays_for_slow_moves(bot):
    """50 ms are free (a tenth of the time limit), and the bank has 500: it pays for some five moves of 150 ms."""
    player, _ = play(bot("x.py", line_bot(work="time.sleep(0.15)"), timeout=0.5), 6)
    causes = [reply.cause for _, _, reply in player.answers]
    assert causes[:3] == ["exit"] * 3 and set(causes[5:]) == {"timeout"}


def ticks_of(bot, before, **options):
    """The ticks of a thread that counts milliseconds while the bot is awake, at each of its answers."""
    setup = """ticks = 0
def think():
    global ticks
    while True:
        time.sleep(0.001)
        ticks += 1
threading.Thread(target=think, daemon=True).start()"""
    text = line_bot("'S', ticks, time.monotonic()", setup=setup, work="time.sleep(0.02)")
    played, _ = play(bot("x.py", text, **options), 5, before)
    ticks, clock = zip(*[map(float, note.split()) for note in notes(played)], strict=True)
    assert clock[-1] - clock[0] > 0.2 * (len(clock) - 1) and ticks[0] > 2
    return ticks


@pytest.mark.parametrize("box", BOXES)
def test_a_bot_does_not_think_between_questions(bot, box):
    ticks = ticks_of(bot, lambda: time.sleep(0.2), box=box)
    assert all(later - one < 60 for one, later in itertools.pairwise(ticks))  # it would be about 150


@needs_sandbox
def test_a_bot_that_is_woken_between_questions_is_stopped_again(bot):
    """Its processes may wake each other in the moment in which they are stopped; here the test wakes them."""
    before = processes()

    def wake():
        for pid in processes() - before:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGCONT)
        time.sleep(0.2)

    ticks = ticks_of(bot, wake, sandbox="required")
    assert all(later - one < 60 for one, later in itertools.pairwise(ticks))


@needs_sandbox
def test_no_timer_wakes_a_frozen_bot(bot):
    answer = "'S', ctypes.CDLL(None).timer_create(0, (ctypes.c_int * 16)(0, 0, signal.SIGCONT), (ctypes.c_long * 2)())"
    player, _ = play(bot("x.py", line_bot(answer)), 1)
    assert notes(player)[0] == "-1"


@pytest.mark.parametrize("box", BOXES)
def test_a_child_that_holds_stdout_costs_no_time_when_the_bot_ends(bot, box):
    before = processes()
    text = line_bot(work="subprocess.Popen(['sleep', '60']); os._exit(0)")
    began = time.monotonic()
    player = bot("x.py", text, box=box, timeout=60)
    played, _ = play(player, 2)
    assert {fault.kind for fault in played.faults} == {"crash"} and time.monotonic() - began < 20
    player.close()
    assert processes() == before


@needs_sandbox
def test_64_kib_of_stderr_are_kept_and_more_does_no_harm(bot):
    text = line_bot(work="sys.stderr.write(f'question {n}\\n' + 'x' * 3000000)", setup="sys.stderr.write('hi')")
    player, _ = play(bot("x.py", text, timeout=5.0), 2)
    log = player.seat.log
    assert not player.faults and len(log) == LOG_LIMIT and log.startswith(b"hiquestion 1\nxxx")


@needs_sandbox
def test_stderr_is_kept_in_every_match_of_a_process(tmp_path):
    """It was of the process, so that a match after the first 64 KiB had none."""
    (tmp_path / "x.py").write_text(line_bot(work="os.write(2, b'x' * 70000 if n == 1 else b'second')"))
    limits, program = Limits(timeout=9.0, errors=LOG_LIMIT), build(tmp_path / "x.py", box=BOX)
    with closing(SandboxSession(program, limits, box=BOX, resident=True)) as opened:
        opened.exchange(b"hello 1\n", 9.0, anew=True)
        logs = [opened.exchange(b"move 12\n", 9.0).stderr for _ in range(2)]
    assert logs == [b"x" * LOG_LIMIT, b"second"]


@needs_sandbox
def test_orphans_that_have_ended_are_no_processes_of_a_bot(bot):
    """Each stayed until the match ended, and soon there were too many."""
    player, _ = play(bot("x.py", line_bot(work="subprocess.run('true &', shell=True, check=True)")), 60)
    assert len(player.answers) > 60 and not player.faults


@needs_sandbox
def test_memory_is_limited_over_the_whole_life(bot):
    player, _ = play(bot("x.py", line_bot(setup="held = []", work="held.append(bytearray(b'x' * (20 << 20)))")), 25)
    details = {fault.detail for fault in player.faults}
    assert (
        details == {"used too much memory or too many processes, and was killed"}
        and 2 <= len(player.faults) < len(player.answers) / 5
    )


@needs_sandbox
def test_what_a_bot_does_at_the_end_of_a_match(bot):
    text = line_bot(end="sys.stderr.write(repr(seen[-3:])); sys.stderr.flush(); time.sleep(60 if n == 0 else 0)")
    player, _ = play(bot("x.py", text), 1)
    assert player.seat.log.decode().endswith("'over 235\\n', 'bye\\n']") and b"paid 2.0" in player.seat.log
    began = time.monotonic()
    ignores = "\nwhile True:\n    time.sleep(9)"
    play(bot("y.py", line_bot(end=ignores)), 1)
    assert time.monotonic() - began < 5


@needs_sandbox
def test_a_match_can_be_closed_while_a_bot_thinks(bot):
    player = bot("x.py", line_bot(work="time.sleep(60)"), timeout=60)
    threading.Timer(0.5, player.close).start()
    with pytest.raises(SandboxClosed):
        play(player, 1)


def test_a_long_past_is_read_while_it_is_written(bot):
    """A past of more than a pipe holds (64 KiB), with a bot that is slow to read it."""
    player = bot("x.py", line_bot("'H', len(seen)", work="time.sleep(0.05)"), sandbox="auto", timeout=5.0)
    transcript = Transcript(RULES)
    transcript.lines = ["past " + "x" * 95] * 5000
    seat = player.join(transcript, 0, 1)
    decided = TakenTurns(player, seat)
    dealt(transcript, [decided], 1)
    seat.leave()
    assert not decided.faults and int(notes(decided)[0]) > 5000


def test_a_question_without_a_match(bot):
    player = bot("x.py", line_bot("'H', n"), sandbox="auto", timeout=5.0)
    dealt(Transcript(RULES), [Scripted(lambda view: player.decide(view) and STAND)], 1)
    assert not player.faults and player.ms_per_move()["median"]


def test_a_line_bot_at_a_table_of_run_watches_whole_rounds(bot):
    """It fails where it has not seen what each round before this one paid to both seats."""
    rounds = "sum(text.startswith('round ') for text in seen)"
    answer = f"'S' if sum('paid' in text for text in seen) == 2 * ({rounds} - 1) else 1 / 0"
    player = bot("x.py", line_bot(answer), sandbox="auto", timeout=5.0)
    table = ReadableTable(RULES.replace(seats=2), [Scripted(lambda view: HIT), player])
    results = table.results(5, 0, 0)
    for _ in range(3):
        next(results)
    results.close()
    assert not player.faults and player.ms_per_move()["median"] and len(player._idle) == len(player._sessions)


# --- Hostile ones cause faults of their own, do not change the game of others, and leave nothing behind.
#
# Each sits at a table of cardshark with a player in this process and an honest line bot. The same rounds are played
# with a scripted player in its seat, which makes the moves that its answers mean. The events must be equal, and so must
# be all that the honest bot received and answered.


STANDS = lambda view: STAND  # noqa: E731
SHORT = 0.3  # seconds, where a timeout is expected


def forks(work, end="time.sleep(60)"):
    """Code that runs `work` in a child, and goes on."""
    return f"(os.fork() == 0) and [{work}, {end}, os._exit(0)]"


# name, source, kinds of faults, the equivalent scripted player
HOSTILE = [
    ("two lines at once", line_bot("'S\\nH'"), {"chatter"}, STANDS),
    ("a hundred lines", line_bot("'S\\n' * 100"), {"chatter"}, STANDS),
    ("a second line later", line_bot("'S', flush=True); time.sleep(0.0003); print('H'"), {"chatter"}, STANDS),
    ("a second line when it is woken", line_bot("'S', flush=True); time.sleep(0.01); print('H'"), {"chatter"}, STANDS),
    ("a second line a thousand instructions later", line_bot("'S', flush=True); [*range(999)]; print('H'"),
        {"chatter"}, STANDS),
    ("a second line by a thread", line_bot("'S'",
        work="threading.Timer(n * 0.0002, os.write, (1, b'H\\n')).start()"), {"chatter"}, None),
    ("a second line by a child", line_bot("'S'", work=forks("time.sleep(0.001), os.write(1, b'H\\n')", "0")),
        {"chatter"}, None),
    ("an answer to half of the question", line_bot("'S'", setup="""
for line in os.fdopen(0, "rb", 0):
    os.write(1, b"ready 1\\n" if line[0] == 104 else b"H\\n" if line[0] == 99 else b"")"""), {"chatter"}, STANDS),
    ("an answer before the question", line_bot(ready="ready 1\nS"), {"not-ready"}, STANDS),
    ("no answer to hello", line_bot(ready="", setup="print = lambda *a, **b: 0"), {"not-ready"}, STANDS),
    ("ready 2", line_bot(ready="ready 2"), {"not-ready"}, STANDS),
    ("a move for hello", line_bot(ready="H"), {"not-ready"}, STANDS),
    ("ends at once", line_bot(setup="sys.exit(0)"), {"not-ready"}, STANDS),
    ("never answers a move", line_bot(work="time.sleep(60)"), {"timeout"}, STANDS),
    ("answers without an end of line", line_bot(work="os.write(1, b'H'); time.sleep(60)"), {"timeout"}, STANDS),
    ("works for ever", line_bot(work="exec('while True: pass')"), {"timeout"}, STANDS),
    ("a giant line", line_bot("'H ' + 'x' * 10**7"), {"flood"}, STANDS),
    ("a giant line without an end", line_bot(work="[os.write(1, b'x' * 9999) for _ in seen * 99]"), {"flood"}, STANDS),
    ("an empty line", line_bot("''"), {"bad-reply"}, STANDS),
    ("bytes", line_bot(work="os.write(1, bytes([0, 255, 27, 200, 10])); continue"), {"bad-reply"}, STANDS),
    ("every number", line_bot("'B', 10**3000"), {"overbet"}, STANDS),
    ("fills stderr", line_bot("'H' if int(args[0]) < 17 else 'S'", work="sys.stderr.write('x' * 10**6)"), set(), lim17),
    ("ignores the end of its input", line_bot("'S'", end="while True: time.sleep(9)"), set(), STANDS),
    ("ignores signals", line_bot("'S'", setup="signal.signal(15, signal.SIG_IGN); signal.signal(18, lambda *_: 0)",
                                 end="while True: pass"), set(), STANDS),
    ("processes that wake each other", line_bot("'S'", setup="""
def wake(other):
    while True: os.kill(other, signal.SIGCONT)
me = os.getpid()
child = os.fork()
child or wake(me)
threading.Thread(target=wake, args=(child,), daemon=True).start()"""), {"timeout"}, None),
    ("stops itself", line_bot(work="os.kill(os.getpid(), signal.SIGSTOP)"), {"timeout"}, STANDS),
    ("stops everything", line_bot(
        work="exec('try: os.kill(-1, signal.SIGSTOP)\\nexcept OSError: pass'); time.sleep(60)"), {"timeout"}, STANDS),
    ("kills everything", line_bot(work="os.kill(-1, signal.SIGKILL); os.kill(os.getpid(), 9)"), {"crash"}, STANDS),
    ("leaves children", line_bot("'S'", work=forks("os.setsid()")), set(), STANDS),
    ("leaves children and ends", line_bot(work=f"{forks('os.setsid()')}; os._exit(0)"), {"crash"}, STANDS),
    ("writes to its own input", line_bot("'H' if int(args[0]) < 17 else 'S'",
        work="os.write(os.open('/proc/self/fd/0', os.O_WRONLY | os.O_NONBLOCK), b'weather\\n' * 9)"), set(), lim17),
    ("a child that answers too", line_bot("'S'", setup="if os.fork() == 0:\n    while True:\n"
        "        time.sleep(0.001)\n        os.write(1, b'H\\n')"), {"not-ready", "chatter"}, None),
    ("grows", line_bot(setup="held = []", work="held.append(bytearray(b'x' * (300 << 20)))"), {"crash"}, STANDS),
    ("closes its output", line_bot(work="os.close(1); time.sleep(60)"), {"timeout"}, STANDS),
    ("many processes", line_bot("'S'", work="exec('try:\\n  while os.fork() >= 0: pass\\nexcept OSError: pass')"),
        {"timeout", "chatter", "crash"}, None),
]  # fmt: skip


def played(honest, hostile, rounds=3):
    """All that happened, what the honest bot received, its answers, and the player in the hostile bot's seat."""
    transcript = Transcript(RULES)
    seats = [Scripted(hostile) if callable(hostile) else TakenTurns(hostile, hostile.join(transcript, 0, 3))]
    seats += [Scripted(lim17), TakenTurns(honest, honest.join(transcript, 2, 3))]
    events = dealt(transcript, seats, rounds, seed=9)
    for seat in seats:
        with contextlib.suppress(AttributeError):
            seat.seat.leave()
    return events, seats[2].seat.lines.all, [reply.stdout for _, _, reply in seats[2].answers], seats[0]


@needs_sandbox
@pytest.mark.slow
@pytest.mark.parametrize(("name", "source", "kinds", "equivalent"), HOSTILE, ids=[row[0] for row in HOSTILE])
def test_others_do_not_notice(bot, name, source, kinds, equivalent):
    before, files = processes(), len(os.listdir("/proc/self/fd"))
    honest = bot("honest.py", line_bot(f"{COUNTS}, len(seen)"), timeout=10.0)
    hostile = bot("hostile.py", source, timeout=SHORT if "timeout" in kinds else 5.0)
    if "not-ready" in kinds:
        hostile.join = lambda *args, join=hostile.join: shortened(join(*args))
    *seen, seat = played(honest, hostile)
    if equivalent:
        assert seen == list(played(honest, equivalent)[:3])
        assert {fault.kind for fault in seat.faults} == kinds
    else:  # its answers differ from run to run, by chance
        assert {fault.kind for fault in seat.faults} <= kinds
    for player in (honest, hostile):
        player.close()
    assert processes() == before and len(os.listdir("/proc/self/fd")) == files


def shortened(seat):
    """The seat with less time to load."""
    seat.clock = type(seat.clock)(3000, seat.clock.move, seat.clock.bank)
    return seat


@needs_sandbox
@pytest.mark.slow
def test_a_hostile_bot_that_changes_its_moves_changes_the_game(bot):
    """Negative control: the comparison notices another move."""
    honest = bot("honest.py", line_bot(), timeout=10.0)
    one, other = (played(honest, rule)[0] for rule in (STANDS, lambda v: HIT if Hand(*v.hand).points < 19 else STAND))
    assert one != other
