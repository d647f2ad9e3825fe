"""Hostile line bots cause faults of their own, do not change the game of others, and leave nothing behind.

Each sits at a table of cardshark with a player in this process and an honest line bot. The same rounds are played with
a scripted player in its seat, which makes the moves that its answers mean. The events must be equal, and so must be all
that the honest bot received and answered.
"""

import contextlib
import os

import pytest
from bot_helpers import COUNTS, Scripted, TakenTurns, lim17, line_bot, needs, needs_sandbox, processes

from bjsim.bots.line import Transcript
from bjsim.sim.game.actions import HIT, STAND
from bjsim.sim.game.cards import Hand
from bjsim.sim.game.presets import named_rules
from bjsim.sim.game.round import Round
from bjsim.sim.game.shoe import Stream, open_shoe

pytestmark = [needs(".py"), needs_sandbox, pytest.mark.slow]
RULES = named_rules("cardshark")
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
    ("stops everything", line_bot(work="os.kill(-1, signal.SIGSTOP); time.sleep(60)"), {"timeout"}, STANDS),
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
    transcript, shoe = Transcript(RULES), open_shoe(RULES, Stream(9))
    seats = [Scripted(hostile) if callable(hostile) else TakenTurns(hostile, hostile.join(transcript, 0, 3))]
    seats += [Scripted(lim17), TakenTurns(honest, honest.join(transcript, 2, 3))]
    events = []
    for _ in range(rounds):
        game = Round(RULES, shoe, len(seats))
        transcript.begin_round([0, 1, 2], [200] * 3, game.events)
        events.append(game.play(seats).events)
    for seat in seats:
        with contextlib.suppress(AttributeError):
            seat.seat.leave()
    return events, seats[2].seat._lines.all, [reply.stdout for _, _, reply in seats[2].answers], seats[0]


@pytest.mark.parametrize(("name", "source", "kinds", "equivalent"), HOSTILE, ids=[row[0] for row in HOSTILE])
def test_others_do_not_notice(bot, name, source, kinds, equivalent):
    before, files = processes(), len(os.listdir("/proc/self/fd"))
    honest = bot("honest.py", line_bot(f"{COUNTS}, len(seen)"), timeout=10.0)
    hostile = bot("hostile.py", source, timeout=SHORT if "timeout" in kinds else 5.0)
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


def test_a_hostile_bot_that_changes_its_moves_changes_the_game(bot):
    """Negative control: the comparison notices another move."""
    honest = bot("honest.py", line_bot(), timeout=10.0)
    one, other = (played(honest, rule)[0] for rule in (STANDS, lambda v: HIT if Hand(*v.hand).points < 19 else STAND))
    assert one != other
