"""Shared by the tests of bots: views, tables, hostile code, and marks for missing programs."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from support.waiting import wait_until

import bjsim
from bjsim.bots.sandbox import inside, restrictions
from bjsim.bots.sandbox.inside import landlock
from bjsim.bots.sandbox.languages import ENDINGS, LANGUAGES
from bjsim.bots.turn import Strikes, Turn
from bjsim.sim.game.actions import View
from bjsim.sim.game.presets import named_rules
from bjsim.sim.game.round import Round
from bjsim.sim.game.shoe import Stream, open_shoe
from bjsim.strategies.players.catalogue import find_player

SAMPLES = Path(bjsim.__file__).parent / "bots" / "samples"
TEST_BOTS = Path(__file__).parent / "support" / "bots"

HELD = restrictions.find_box()
BOX = HELD.kind  # the best box of this machine
needs_sandbox = pytest.mark.skipif(not HELD.whole, reason=f"{HELD.says} ({HELD.obstacle})")
needs_bubblewrap = pytest.mark.skipif(BOX != restrictions.BUBBLEWRAP, reason=HELD.obstacle or "no bubblewrap")
needs_landlock = pytest.mark.skipif(landlock.version() < landlock.WHOLE, reason="no Landlock 6 (Linux 6.12)")
BOXES = [
    pytest.param(restrictions.BUBBLEWRAP, marks=needs_bubblewrap),
    pytest.param(restrictions.LANDLOCK, marks=needs_landlock),
    restrictions.GROUP,
]
# Whether processes can be counted apart, so that a limit on them is exact.
COUNTED = (
    bool(shutil.which("unshare")) and not subprocess.run(["unshare", "--user", "true"], capture_output=True).returncode
)

lim17 = find_player("lim17", named_rules("cardshark")).decide


def use_box(kind, patch):
    """Let bots be opened in a box of this kind."""
    patch.setattr(restrictions, "find_box", lambda: restrictions.Held(kind, True, ""))


def change_inside(folder, patch, change=lambda name, text: text):
    """Let sandboxes run the files in this folder: what `change` makes of the name and text of each."""
    for name in (*inside.RUNNER, "fork_server.py"):
        (folder / name).write_text(change(name, inside.source(name).decode()))
    patch.setattr(inside, "FOLDER", folder)


def needs(ending):
    """Skip a test where the compiler or interpreter for files with this ending is missing, or only root can read it."""
    language = ENDINGS[ending]
    found = [path for path in language.find_tools() if restrictions.readable(path)]
    return pytest.mark.skipif(not found, reason=f"no {language.tools[0]} (Debian: {language.package})")


# An ending of each language.
EACH_LANGUAGE = [pytest.param(row.endings[0], marks=needs(row.endings[0])) for row in LANGUAGES]


def a_view(hand="K2", legal="SHDB", stake=10, chips=190, rules=None):
    """A seat's view at a table of cardshark; the dealer shows a nine."""
    return View(rules or named_rules("cardshark"), 0, hand, "9", f"9#{hand}A38", stake, chips, legal)


def parents():
    """The parents of all processes that have not ended, by process id."""
    found = {}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/stat") as stat:
                state, parent, *_ = stat.read().rpartition(")")[2].split()
        except OSError:
            continue
        if state not in "ZX":
            found[int(pid)] = int(parent)
    return found


def processes(of=None):
    """The ids of all descendants of a process, else of this one, that have not ended, as a set."""
    alive, found, new = parents(), set(), {of or os.getpid()}
    while new:
        new = {pid for pid, parent in alive.items() if parent in new} - found
        found |= new
    return found


def left_of(find, seconds=5):
    """What is still found after at most so many seconds."""
    wait_until(lambda: not find(), seconds)
    return find()


class Scripted:
    """A player in this process: a function of the view, or something that it always answers or raises."""

    def __init__(self, rule):
        self.name, self.rule = "scripted", rule

    def decide(self, view):
        if isinstance(self.rule, BaseException):
            raise self.rule
        return self.rule(view) if callable(self.rule) else self.rule


class TakenTurns:
    """A player that takes the turns of a line bot in its seat, and keeps the answers."""

    def __init__(self, bot, seat, before=lambda: None, strikes=None):
        self.name, self.seat, self.before = "seat", seat, before
        self.turn, self.answers = Turn(bot, seat, Strikes(strikes)), []

    def decide(self, view):
        self.before()
        self.answers.append(self.turn.take(view))
        return self.answers[-1].action

    @property
    def faults(self):
        return [answer.fault for answer in self.answers if answer.fault]


def play(players, rounds, rules=None, seed=5):
    """The events of some rounds at one cardshark table."""
    rules = rules or named_rules("cardshark")
    shoe = open_shoe(rules, Stream(seed))
    return [Round(rules, shoe, len(players)).play(players).events for _ in range(rounds)]


# A bot that answers with an expression; `n` counts the questions to this process, `seen` has all lines.
LINE_BOT = """# bjsim: line 1
import ctypes, os, signal, subprocess, sys, threading, time
n, seen = 0, []
{setup}
for line in sys.stdin:
    seen.append(line)
    word, *args = line.split()
    if word == "hello":
        print({ready!r}, flush=True)
    if word == "move":
        n += 1
        {work}
        print({answer}, flush=True)
{end}
"""


# Depends on all cards seen in the match.
COUNTS = "'H' if int(args[0]) < 12 + sum('card' in text for text in seen) % 9 else 'S'"


def line_bot(answer="'H' if int(args[0]) < 17 else 'S'", setup="", work="pass", ready="ready 1", end=""):
    """The source of a line bot in Python."""
    return LINE_BOT.format(answer=answer, setup=setup, work=work, ready=ready, end=end)


# Attacks, in Python. PROBE runs its argument, and prints H if it succeeds, else S.
TRIES = {
    "a socket": "socket.socket()",
    "an internet connection": "socket.create_connection(('127.0.0.1', {port}), 1)",
    "the host's users": "open('/etc/passwd').read()",
    "the home folders": "os.listdir('/root') or os.listdir('/home')",
    "this repository": "os.listdir({here!r})",
    "another bot's code": "open({other!r}).read()",
    "temporary files": "open('/tmp/x', 'w')",
    "its own folder": "open('x', 'w')",
    "its own file": "open(__file__, 'w')",
    "replacing its own file": "os.replace(__file__, 'y')",
    "shared memory files": "os.close(os.open('/dev/shm', os.O_TMPFILE | os.O_WRONLY))",
    "shared memory without a file": "mmap.mmap(-1, 4096)",
    "shared memory of a device": "mmap.mmap(os.open('/dev/zero', os.O_RDWR), 4096)",
    "memory files": "os.write(os.memfd_create('x'), b'x')",
    "System V shared memory": "libc.shmget(0, 4096, 0o1600) >= 0 or 1/0",
    "message queues": "libc.msgget(0, 0o1600) >= 0 or 1/0",
    "clearing the page cache": "os.posix_fadvise(os.open('/usr/bin/env', 0), 0, 4096, os.POSIX_FADV_DONTNEED)",
    "reading the page cache": "f = os.open('/usr/bin/env', 0); os.pread(f, 1, 0); "
    "os.preadv(f, [bytearray(1)], 0, os.RWF_NOWAIT)",
    "paging out": "mmap.mmap(-1, 4096, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS).madvise(21)",
    "the times of a device": "os.utime('/dev/null')",
    "a lock": "fcntl.flock(os.open('/usr/bin/env', 0), fcntl.LOCK_SH)",
    "a message in a lock": "fcntl.fcntl(os.open('/usr/bin/env', 0), 37, struct.pack('hhqqi4x', 0, 0, 42, 4242, 0))",
    "a hint on a file": "fcntl.fcntl(os.memfd_create('x'), 1036, struct.pack('Q', 2))",
    "a lease": "fcntl.fcntl(os.open(__file__, 0), 1024, fcntl.F_RDLCK)",
    "the size of a pipe": "fcntl.fcntl(1, 1031, 8192)",
    "the owner of signals": "fcntl.fcntl(0, fcntl.F_SETOWN, os.getpid())",
    "the signal of events": "fcntl.fcntl(0, 10, 18)",
    "signals by ioctl": "fcntl.ioctl(os.pipe()[0], 0x5452, struct.pack('i', 1))",
    "a question to a device": "fcntl.ioctl(os.open('/dev/urandom', 0), 0x80045200, bytes(4))",
    "which programs run": "libc.inotify_add_watch(libc.inotify_init1(0), b'/usr/bin', 32) > 0 or 1/0",
    "flushing the disks": "libc.syscall(162 if os.uname().machine == 'x86_64' else 81) == 0 or 1/0",
    "flushing a disk": "libc.syncfs(os.open('/usr', 0)) == 0 or 1/0",
    "flushing a file": "os.fsync(os.open('/usr/bin/env', 0))",
    "flushing the data of a file": "os.fdatasync(os.open('/usr/bin/env', 0))",
    "flushing a part of a file": "n = ctypes.c_long(0); "
    "libc.sync_file_range(os.open('/usr/bin/env', 0), n, n, 7) == 0 or 1/0",
    "flushing a mapped file": "m = libc.mmap; m.restype = ctypes.c_void_p; p = ctypes.c_void_p(m(0, 4096, 1, 1, "
    "os.open('/usr/bin/env', 0), ctypes.c_size_t(0))); libc.msync(p, 4096, 4) == 0 or 1/0",
    "memory in a pipe": "b = ctypes.create_string_buffer(1); v = (ctypes.c_size_t * 2)(ctypes.addressof(b), 1); "
    "libc.vmsplice(os.pipe()[1], v, 1, 0) == 1 or 1/0",
    "pages of a file in a pipe": "libc.splice(os.open('/usr/bin/env', 0), None, os.pipe()[1], None, 1, 0) == 1 or 1/0",
    "a file sent to a pipe": "os.sendfile(os.pipe()[1], os.open('/usr/bin/env', 0), 0, 1)",
    "rules of Landlock": "libc.syscall(444, struct.pack('Q', 1), ctypes.c_size_t(8), 0) >= 0 or 1/0",
    "signals that wait": "signal.pthread_sigmask(signal.SIG_BLOCK, [40]); "
    "[libc.sigqueue(os.getpid(), 40, 0) == 0 or 1/0 for _ in range(999)]",
    "the clock of its parent": "time.clock_gettime(~os.getppid() << 3 | 2)",
    "sleeping by the clock of its parent": "now = struct.pack('qq', 0, 1); "
    "libc.clock_nanosleep(~os.getppid() << 3 | 2, 1, now, None) == 0 or 1/0",
    "keys": "libc.syscall(248, b'user', b'x', b'x', 1, -3) >= 0 or 1/0",
    "a user namespace": "libc.unshare(0x10000000) == 0 or 1/0",
    "tracing the runner": "libc.ptrace(16, 1, 0, 0) == 0 or 1/0",
    "tracing its server": "libc.ptrace(16, os.getppid(), 0, 0) == 0 or 1/0",
    "the runner's memory": "open('/proc/1/mem', 'r+b')",
    "its server's memory": "open(f'/proc/{{os.getppid()}}/mem', 'r+b')",
    "the runner's files": "os.listdir('/proc/1/fd')",
    "its server's files": "os.listdir(f'/proc/{{os.getppid()}}/fd')",
    "the runner's limits": "resource.prlimit(1, resource.RLIMIT_CORE, (0, 0))",
    "slowing the runner": "os.setpriority(os.PRIO_PROCESS, 1, 19)",
    "slowing its session": "libc.prctl(4, 1, 0, 0, 0); open('/proc/self/autogroup', 'r+').write('5')",
    "the kernel's settings": "open('/proc/sys/kernel/core_pattern', 'w')",
    "a higher limit": "resource.setrlimit(resource.RLIMIT_NOFILE, (4096, 4096))",
    "being root": "os.setuid(0)",
    "a session of its own": "os.setsid()",
    "a group of its own": "os.setpgid(0, 0)",
    "a pair that sends to others": "socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)",
    "a pair of another family": "try: socket.socketpair(2, 1)\nexcept PermissionError: raise\nexcept OSError: pass",
    "a mount": "libc.mount(b'x', b'/box', b'tmpfs', 0, None) == 0 or 1/0",
    "the runner's end": "os.kill(1, 9)",
}
PROBE = """
import ctypes, fcntl, mmap, os, resource, signal, socket, struct, sys, time
libc = ctypes.CDLL(None)
try:
    exec(sys.argv[1])
    print("H", flush=True)
except Exception as e:
    print("S", repr(e))
"""
