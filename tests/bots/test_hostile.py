"""Hostile bots cause faults of their own and do not change anyone else's game.

Each hostile bot sits at a table of cardshark between others, one of them a bot in its own sandbox. The same rounds are
played with a scripted player in its seat, which makes the moves that the hostile bot's answers mean. The event logs
must be equal, and afterwards no process and no memory is in use.
"""

import mmap
import os
import socket
import time

import pytest
from bot_helpers import (
    BOX,
    BOXES,
    PROBE,
    TEST_BOTS,
    TRIES,
    Scripted,
    a_view,
    lim17,
    line_bot,
    needs,
    needs_bubblewrap,
    needs_landlock,
    play,
    processes,
    use_box,
)

from bjsim.bots.player import open_bot
from bjsim.bots.sandbox.session import Limits
from bjsim.sim.game.actions import STAND, raise_by
from bjsim.sim.game.presets import named_rules

STANDS = lambda view: STAND  # noqa: E731
LIMIT = Limits.memory


def tries(expression):
    """The source of a bot that hits if the expression can be evaluated, else stands."""
    return f"import ctypes, fcntl, mmap, os, signal, socket, sys\nlibc = ctypes.CDLL(None)\ntry:\n    {expression}\n" \
        "    print('H')\nexcept Exception:\n    print('S')\n"  # fmt: skip


def in_c(body, *headers):
    """A C program with this body of main."""
    headers = ("fcntl.h", "signal.h", "stdio.h", "string.h", "sys/mman.h", "unistd.h", *headers)
    return "#define _GNU_SOURCE\n" + "".join(f"#include <{h}>\n" for h in headers) + f"int main(void) {{ {body} }}\n"


# name, source, rounds to play, kinds of faults (empty: all answers are moves), the equivalent scripted player. More is
# in TRIES, of which none may succeed, and wrong words are in test_protocol.py.
HOSTILE = [
    ("exits_1.py", "print('H', flush=True); raise SystemExit(1)", 3, {"crash"}, STANDS),
    ("segfaults.c", "int main(void) { *(volatile int *)0 = 1; return 0; }", 3, {"crash"}, STANDS),
    ("sleeps.py", "import time; time.sleep(1000)", 2, {"timeout"}, STANDS),
    ("prints.py", "while True: print('H')", 2, {"flood"}, STANDS),
    ("prints.c", '#include <stdio.h>\nint main(void) { for (;;) puts("S"); }', 2, {"flood"}, STANDS),
    ("prints_errors.py", "import sys\nwhile True: sys.stderr.write('x' * 99999)", 2, {"timeout"}, STANDS),
    ("rubbish.py", "import os; os.write(1, os.urandom(1000) + bytes([255]))", 3, {"bad-reply"}, STANDS),
    ("bets_0.py", "print('B 0')", 2, {"move-cap"}, lambda view: raise_by(0)),
    ("bets_minus_5.py", "import sys; print('B -5' if sys.argv[4] == '10' else 'S')", 3, set(),
     lambda view: raise_by(5) if view.stake == 10 else STAND),
    ("doubles_late.py", "import sys; print('D' if sys.argv[4] != '10' else 'B 1')", 3, {"late-double"},
     lambda view: raise_by(1) if view.stake == 10 else STAND),
    ("closes_stdout.py", "import os; os.close(1)", 3, {"bad-reply"}, STANDS),
    ("closes_stdout.c", "#include <unistd.h>\nint main(void) { close(1); close(2); return 0; }", 3, {"bad-reply"},
     STANDS),
    ("daemon.py", """
import os, time
if os.fork() == 0:
    try:
        os.setsid()
    except OSError:
        pass
    if os.fork() == 0:
        time.sleep(1000)  # holds the pipe
    os._exit(0)
print("S")
""", 3, {"orphan"}, STANDS),
    ("threads.py", "import threading, time\nthreading.Thread(target=time.sleep, args=(1000,)).start()\nprint('S')", 2,
     {"timeout"}, STANDS),
    ("fork_bomb.py", """
import os, time
for _ in range(8):
    try:
        os.fork()
    except OSError:
        pass
time.sleep(40)
""", 2, {"timeout", "crash"}, STANDS),
    ("fork_bomb.c", in_c("for (int i = 0; i < 8; i++) fork(); sleep(40);"), 2, {"timeout", "crash"}, STANDS),
    ("eats_memory.py", "x = []\nwhile True: x.append(bytearray(1 << 20))", 2, {"crash"}, STANDS),
    ("eats_memory.c", "#include <stdlib.h>\n#include <string.h>\n"
     "int main(void) { for (;;) { void *p = malloc(1 << 20); if (p) memset(p, 1, 1 << 20); } }", 2,
     {"crash"}, STANDS),
    # Released pages count for no process, but stay in memory as long as they are mapped.
    ("hides_memory.c", in_c("""
char *p = mmap(0, 1 << 30, 3, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
if (p == MAP_FAILED) p = mmap(0, 1 << 30, 3, MAP_SHARED | MAP_NORESERVE, open("/dev/zero", O_RDWR), 0);
if (p == MAP_FAILED) { puts("S"); return 0; }
for (size_t i = 0; i < 1 << 30; i += 1 << 20) { memset(p + i, 1, 1 << 20); madvise(p + i, 1 << 20, MADV_DONTNEED); }
puts("H");
"""), 2, set(), STANDS),
    ("eats_memory_by_page_tables.c", in_c("""
volatile char *p = mmap(0, 1UL << 40, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
for (size_t i = 0; i < 1UL << 40; i += 1 << 21) (void)p[i];
puts("H");
"""), 2, {"crash"}, STANDS),
    ("eats_memory_by_sockets.c", in_c("""
static char block[1 << 16];
int p[2], size = 1 << 22;
for (int i = 0; i < 5; i++) fork();
while (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, p) == 0)
    for (int i = 0; i < 2; i++) {
        if (setsockopt(p[i], SOL_SOCKET, SO_SNDBUF, &size, sizeof size) == 0) return 0;
        while (write(p[i], block, sizeof block) > 0) {}
    }
sleep(40);
""", "sys/socket.h"), 2, {"crash"}, STANDS),
    ("eats_memory_in_many.py", """
import os, time
for _ in range(20):
    if os.fork() == 0:
        x = bytearray(40 << 20)
        time.sleep(1000)
time.sleep(1000)
""", 2, {"crash"}, STANDS),
    ("eats_cpu.c", "int main(void) { for (volatile long i = 0;; i++); }", 2, {"timeout"}, STANDS),
    ("kills_its_parent.py", "import os, time; os.kill(os.getppid(), 9); time.sleep(9)", 3, {"crash"}, STANDS),
    ("kills_all.c", "#include <signal.h>\n#include <unistd.h>\n#include <stdio.h>\n"
     'int main(void) { kill(1, SIGKILL); kill(1, SIGINT); kill(-1, SIGKILL); puts("H"); sleep(9); }', 3, {"timeout"},
     STANDS),
    ("stops_its_parent.py", "import os; os.kill(os.getppid(), 19); print('H')", 2, {"timeout"}, STANDS),
    ("traps_sigterm.py", "import signal, time\nfor s in range(1, 65):\n    try: signal.signal(s, signal.SIG_IGN)\n"
     "    except (OSError, ValueError): pass\ntime.sleep(1000)", 2, {"timeout"}, STANDS),
    ("zombie.py", "import os, time\nif os.fork() == 0: os._exit(0)\ntime.sleep(0.05); print('S')", 3, set(), STANDS),
    ("ptraces_its_parent.c", in_c("""
puts(ptrace(PTRACE_ATTACH, getppid(), 0, 0) && ptrace(PTRACE_SEIZE, 1, 0, 0) ? "S" : "H");
""", "sys/ptrace.h"), 2, set(), STANDS),
    ("keeps_keys.py", tries("assert libc.syscall(250, 0, -3, 1) > 0"), 2, set(), STANDS),
    ("io_uring.py", tries("assert libc.syscall(425, 8, bytes(120)) > 0"), 2, set(), STANDS),
    ("memory_file.py", tries("os.truncate(os.memfd_create('x'), 1 << 30)"), 2, set(), STANDS),
    ("signals_the_runner.c", in_c("""
for (int s = 1; s < 65; s++) kill(1, s);
fcntl(1, F_SETOWN, 1); fcntl(1, F_SETSIG, SIGKILL); fcntl(1, F_SETFL, O_ASYNC | O_NONBLOCK);
puts("S");
"""), 3, set(), STANDS),
    ("stops_itself.py", "import os; print('H', flush=True); os.kill(os.getpid(), 19)", 2, {"timeout"}, STANDS),
    ("stops_all.c", in_c('puts("H"); kill(-1, SIGSTOP); pause();'), 2, {"timeout"}, STANDS),
    ("becomes_another_program.py", "import os; os.execv('/usr/bin/sleep', ['sleep', '99'])", 2, {"timeout"}, STANDS),
    ("huge_argv.py", tries("os.execv('/usr/bin/true', ['x' * 100000] * 100)"), 2, set(), STANDS),
    ("reopens_stdout.py", """
import os
again = os.open("/proc/self/fd/1", os.O_WRONLY)
os.close(1)
os.write(again, b"S")
""", 3, set(), STANDS),
    ("reads_its_own_pipe.py", "open('/proc/self/fd/1').read()", 2, {"timeout"}, STANDS),
    ("runs_from_the_sweep.c", in_c("""
for (int i = 0; i < 3; i++) fork();
if (setsid() < 0) setpgid(0, 0);
for (int i = 0; i < 30; i++) { if (fork() > 0) _exit(0); usleep(5000); }
sleep(40);
"""), 2, {"timeout", "crash", "bad-reply", "orphan"}, STANDS),
    ("inotify_storm.c", in_c("""
for (int i = 0; i < 64; i++) { int n = inotify_init(); inotify_add_watch(n, "/usr/bin", 0xfff); }
for (;;) close(open("/usr/bin/true", O_RDONLY));
""", "sys/inotify.h"), 2, {"timeout"}, STANDS),
    ("fills_pipes.c", in_c("""
static char block[1 << 16];
for (int p[2]; pipe2(p, O_NONBLOCK) == 0;) { fcntl(p[1], F_SETPIPE_SZ, 1 << 20);
    while (write(p[1], block, 65536) > 0) {} }
for (int i = 0; i < 8; i++) fork();
sleep(40);
"""), 2, {"timeout", "crash"}, STANDS),
    ("answers_twice.py", "import os; os.fork(); print('S')", 3, set(), STANDS),
]  # fmt: skip


# What others do too: in another language, at another file, by another number.
ALIKE = {
    "prints.py", "closes_stdout.py", "fork_bomb.py", "eats_memory.py", "exits_1.py", "sleeps.py",
    "eats_memory_in_many.py", "stops_all.c", "threads.py", "stops_itself.py", "becomes_another_program.py",
    "reads_its_own_pipe.py",
}  # fmt: skip


def fits(name):
    marks = [needs(name[name.rindex(".") :]), *([pytest.mark.slow] if name in ALIKE else [])]
    return pytest.param(*next(case for case in HOSTILE if case[0] == name), id=name, marks=marks)


@pytest.mark.parametrize(
    "box",
    [
        pytest.param(BOX, id="best"),
        pytest.param("Landlock", marks=[needs_landlock, pytest.mark.slow], id="in Landlock"),
        pytest.param("none", marks=pytest.mark.slow, id="without a box"),
    ],
)
@pytest.mark.parametrize(("name", "source", "rounds", "kinds", "equivalent"), [fits(case[0]) for case in HOSTILE])
def test_a_hostile_bot_harms_itself_only(bot, monkeypatch, name, source, rounds, kinds, equivalent, box):
    if box == "none" and name == "hides_memory.c":
        pytest.skip("this is refused in a box only")
    use_box(box, monkeypatch)
    before = processes()
    rules = named_rules("cardshark").replace(move_cap=20)

    def played_with_it():
        hostile = bot(name, source, timeout=10.0 if "memory" in name else 0.5)
        neighbour = open_bot(TEST_BOTS / "bettor.py", sandbox="required")
        with hostile, neighbour, hostile.take_seat(rules, 1, 4) as seated:
            with_it = play([neighbour, seated, Scripted(lim17), neighbour], rounds, rules)
            faults = set(hostile.faults)
            without = play([neighbour, Scripted(equivalent), Scripted(lim17), neighbour], rounds, rules)
            assert with_it == without
            assert not neighbour.faults
            assert faults <= kinds and bool(faults) == bool(kinds), hostile.first_faults
        assert processes() == before

    assert not keeps_memory(played_with_it)


def used_memory():
    """Bytes used by programs and by the kernel's tables for them, on the whole machine.

    What is left free says less: a virtual machine may be given memory as it takes it.
    """
    held = ("AnonPages", "Shmem", "PageTables", "KernelStack", "SUnreclaim")
    with open("/proc/meminfo") as file:
        return sum(int(line.split()[1]) << 10 for line in file if line.split(":")[0] in held)


def keeps_memory(action, limit=LIMIT, patience=5.0, used=used_memory):
    """Whether an action leaves more memory in use, by `limit` bytes or more, each of three times.

    Other programs of the machine take memory too, which one measurement cannot tell from the action's; but what a bot
    leaves behind, it leaves every time. patience: seconds for the kernel to have its memory back.
    """
    for _ in range(3):
        memory = used()
        action()
        deadline = time.monotonic() + patience
        while (lost := used() - memory) >= limit and time.monotonic() < deadline:
            time.sleep(0.1)
        if lost < limit:
            return False
    return True


@pytest.mark.parametrize(("taken", "kept"), [((64, 64, 64), True), ((64, 0, 64), False), ((64, 63, 64), False)])
def test_memory_that_is_kept_each_time_is_seen(taken, kept):
    """Negative control of `keeps_memory`, on a machine that only this test uses."""
    held, takes = [1000], iter(taken)

    def take():
        held[0] += next(takes)

    assert keeps_memory(take, limit=64, patience=0, used=lambda: held[0]) is kept


def test_the_memory_of_this_machine_is_read():
    """192 MiB more are seen in one of ten tries, because other programs use memory meanwhile."""

    def keep():
        with mmap.mmap(-1, 192 << 20, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS) as kept:
            before = used_memory()
            kept[:: mmap.PAGESIZE] = bytes(len(kept) // mmap.PAGESIZE)
            return used_memory() - before

    assert any(128 << 20 < keep() < 256 << 20 for _ in range(10))


@needs(".py")
@pytest.mark.parametrize("cold", [False, True], ids=["fork", "exec"])
@pytest.mark.parametrize("box", BOXES[:2])
def test_nothing_escapes(bot, tmp_path, box, cold):
    other = tmp_path / "other.py"
    other.write_text("secret = 1")
    player = bot("probe.py", PROBE, box=box, cold=cold, timeout=10.0)
    through = []
    with socket.create_server(("127.0.0.1", 0)) as server:
        for what, expression in TRIES.items():
            code = expression.format(port=server.getsockname()[1], here=os.getcwd(), other=str(other))
            reply = player.run([code])
            assert reply.status == 0 and reply.stdout[:1] in (b"H", b"S"), (what, reply)
            if reply.stdout.startswith(b"H"):
                through.append(what)
    assert not through
    assert player.program.files["bot.py"] == (tmp_path / "probe.py").read_bytes()


@needs(".py")
def test_the_tries_get_through_where_there_is_no_box(bot):
    """Negative control of test_nothing_escapes; see also test_restrictions.py."""
    player = bot("probe.py", PROBE, box="none", timeout=10.0)
    for what in ("the host's users", "shared memory files", "shared memory of a device"):
        assert player.run([TRIES[what]]).stdout == b"H\n", what


@needs(".py")
@needs_bubblewrap
def test_it_sees_no_process_but_its_own(bot):
    player = bot("ps.py", "import os; print('S', *filter(str.isdigit, os.listdir('/proc')))", timeout=5.0)
    seen = player.ask(a_view()).stdout.split()[1:]
    # The keeper, the leader of the group, the runner, the fork server and the bot.
    assert b"1" in seen and len(seen) <= 5


@needs(".py")
@pytest.mark.parametrize("cold", [False, True], ids=["fork", "exec"])
def test_it_keeps_nothing_between_moves(bot, cold):
    source = "import sys, random, os\nseen = sys.modules.setdefault('seen', [])\nseen.append(1)\n"
    source += "print('S', len(seen), random.random(), os.environ.setdefault('X', '0'))\nos.environ['X'] = '1'\n"
    player = bot("keeps.py", source, cold=cold, timeout=5.0)
    replies = [player.ask(a_view()).stdout.split() for _ in range(6)]
    assert {(length, variable) for _, length, _, variable in replies} == {(b"1", b"0")}
    assert len({number for _, _, number, _ in replies}) == 6


MARKS = """
marks = [fcntl.fcntl(fd, command) for fd in (0, 1, 2) for command in (fcntl.F_GETFL, 1032)[: 1 + fd]]
def leave_marks():
    for fd in (0, 1, 2):
        fcntl.fcntl(fd, fcntl.F_SETFL, os.O_APPEND | os.O_NONBLOCK | (os.O_DIRECT if fd else 0))
        try: fcntl.fcntl(fd, 1031, 8192)
        except OSError: pass
"""


@needs(".py")
@pytest.mark.parametrize("cold", [False, True], ids=["fork", "exec"])
@pytest.mark.parametrize("protocol", ["argv", "line"])
def test_it_leaves_no_mark_at_its_streams(bot, protocol, cold):
    """Their flags and sizes belong to no process, so the next one found them: of a move, or of a match."""
    source = f"import fcntl, os\n{MARKS}\nprint('S', *marks)\nleave_marks()"
    if protocol == "line":
        source = "import fcntl\n" + line_bot("'S', *marks", setup=MARKS, end="leave_marks()")
    player = bot("marks.py", source, cold=cold, timeout=9.0)
    replies = [player.ask(a_view()) for _ in range(3)]
    assert {reply.cause for reply in replies} == {"exit"} and len({reply.stdout for reply in replies}) == 1


@needs(".py")
def test_it_does_not_see_when_an_earlier_move_wrote(bot):
    """By the times of a pipe, which Linux keeps until 6.14."""
    source = "import os, sys; print(os.fstat(2).st_mtime); sys.argv[1] == '1' and os.write(2, b'x')"
    player, began = bot("writes.py", source, timeout=9.0), time.time()
    player.run(["1"])
    ended = time.time()
    time.sleep(0.05)
    assert not began <= float(player.run(["2"]).stdout) <= ended


@needs(".py")
@pytest.mark.parametrize("cold", [False, True], ids=["fork", "exec"])
def test_all_that_it_writes_belongs_to_the_move(bot, cold):
    """Also where each write has to be read by itself."""
    source = "import fcntl, os\nfcntl.fcntl(1, fcntl.F_SETFL, os.O_DIRECT)\nfor _ in range(9): os.write(1, b'S')"
    player = bot("packets.py", source, cold=cold, timeout=9.0)
    assert [player.run(["12"]).stdout for _ in range(2)] == [b"S" * 9] * 2


@pytest.mark.slow
@needs(".py")
@pytest.mark.parametrize("after", [False, True], ids=["in its move", "after it"])
@pytest.mark.parametrize("box", BOXES[:2])
def test_no_process_of_a_move_reaches_that_of_the_next(bot, box, after):
    """Stops would be counted in the switches of a process that waits for its move, and there it could read them."""
    source = f"""
import os, resource, signal, sys, time
print("S", resource.getrusage(resource.RUSAGE_SELF).ru_nvcsw, flush=True)
if sys.argv[1] == "mark" and not ({after} and os.fork()):
    time.sleep(0.02)
    others = {{*range(max(2, os.getpid() - 4), os.getpid() + 5)}} - {{os.getpid(), os.getppid()}}
    for _ in range(60):
        for pid in others:
            try:
                os.kill(pid, signal.SIGSTOP), os.kill(pid, signal.SIGCONT)
            except OSError:
                pass
        time.sleep(0.0001)
"""
    player = bot("marks.py", source, box=box, timeout=5.0)
    switches = [int(player.run([word]).stdout.split()[1]) for word in ("look", "mark", "look", "look") * 3]
    assert max(switches) < 25, switches


@needs(".py")
@needs_bubblewrap
def test_killing_all_that_it_sees_does_not_shift_the_moves(bot):
    """Every answer belongs to the move that was asked, not to an earlier one."""
    source = """
import os, sys
for pid in filter(str.isdigit, os.listdir("/proc")):
    if int(pid) not in (os.getpid(), os.getppid()):
        try:
            os.kill(int(pid), 9)
        except PermissionError:
            continue
print("S", sys.argv[1])
"""
    player = bot("kills.py", source, timeout=5.0)
    replies = [(number, player.run([str(number)])) for number in range(40)]
    answered = [(number, reply) for number, reply in replies if reply.cause == "exit" and reply.status == 0]
    assert answered and all(reply.stdout == b"S %d\n" % number for number, reply in answered)
    assert {reply.status for _, reply in replies} <= {0, -9}
