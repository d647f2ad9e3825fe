"""Each restriction of the sandbox, removed on purpose: the attack that it prevents then succeeds.

These are the negative controls of `test_hostile.py`. An attack names all restrictions that stop it. Without all of them
it must succeed, or the attack would prove nothing; with any one of them it must fail, so each restriction works alone.
The bot's user and its lack of capabilities are never removed, because that would run attacks as root.
"""

import ctypes
import os
import socket
import tempfile
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from bot_helpers import BOX, PROBE, TRIES, change_inside, needs, needs_bubblewrap

from bjsim.bots.sandbox import restrictions
from bjsim.bots.sandbox.build import build
from bjsim.bots.sandbox.inside import seccomp
from bjsim.bots.sandbox.languages import ENDINGS, Program, find_binds, find_tool
from bjsim.bots.sandbox.session import Limits, SandboxSession

pytestmark = [needs_bubblewrap, needs(".py")]

_SCOPE = Path("/proc/sys/kernel/yama/ptrace_scope")
YAMA = _SCOPE.read_text().strip() if _SCOPE.exists() else "0"
DENIED = dict(seccomp.DENIED)
SPACES = ("user", "ipc", "pid", "net", "uts", "cgroup-try")  # the meaning of bubblewrap's --unshare-all


@dataclass
class Removal:
    """The changes that remove restrictions.

    options: old and new options of bubblewrap; calls: system calls that are no longer refused; inside: old and new text
    in the files that run in the sandbox; limits: other limits for a move.
    """

    options: list[tuple[list[str], list[str]]] = field(default_factory=list)
    calls: list[str] = field(default_factory=list)
    inside: list[tuple[str, str]] = field(default_factory=list)
    limits: dict[str, int] = field(default_factory=dict)


def option(old, new=""):
    return Removal(options=[(old.split(), new.split())])


def there_is(more):
    return option("--proc /proc", f"--proc /proc {more}")


def inside(old, new=""):
    return Removal(inside=[(old, new)])


RESTRICTIONS = {
    "network": option("--unshare-net"),
    "System V namespace": option("--unshare-ipc"),
    # Without a namespace of processes no process in the sandbox can be the first, and /proc is the host's.
    "processes": Removal([*option("--unshare-pid").options, *option("--as-pid-1").options,
                       *option("--proc /proc", "--ro-bind /proc /proc").options]),
    "name": Removal([*option("--unshare-uts").options, *option("--hostname box").options]),
    "environment": option("--clearenv"),
    "read-only": option("--remount-ro /"),
    "read-only /proc": option("--remount-ro /proc"),
    "apart": inside("counted and libc.unshare(CLONE_NEWUSER) == 0", "False"),
    "mode of files": option("--perms 0555", "--perms 0777"),
    "no /etc": there_is("--ro-bind /etc /etc"),
    "no other folder": there_is("--ro-bind {folder} {folder}"),
    "no /tmp": there_is("--dir /tmp"),
    "no /dev/shm": there_is("--dir /dev/shm"),
    "no /dev/zero": there_is("--dev-bind /dev/zero /dev/zero"),
    "dumpable runner": inside("    libc.prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)\n"),
    "dumpable server": inside("    _ctypes.call_function(PRCTL, (PR_SET_DUMPABLE, 0, 0, 0, 0))\n"),
    "NOFILE": inside("        (resource.RLIMIT_NOFILE, 64),\n"),
    "FSIZE": inside("        (resource.RLIMIT_FSIZE, files),\n"),
    "SIGPENDING": inside("        (resource.RLIMIT_SIGPENDING, SIGNALS),\n"),
    "DATA": inside("        (resource.RLIMIT_DATA, 2 * memory),\n"),
    "NPROC": Removal(limits={"processes": 1000}),
    "memory": inside("kib << 10 > self.memory", "False"),
    "clock": inside("now - self.started > limit_ns", "False"),
    "processor time": inside('ticks / os.sysconf("SC_CLK_TCK") + self.reaped_s > cpu_ns / 1e9', "False"),
    "output": Removal(limits={"output": 1 << 20}),
    "sweep": inside("cause = self._wait_for_rest(self.started)", "pass"),
    **{name: Removal(calls=[name]) for name in (
        "ptrace", "socket", "shmget", "msgget", "add_key", "unshare", "setpriority", "MMAP", "PRLIMIT", "MADVISE",
        "fadvise64", "preadv2", "utimensat", "flock", "inotify_init1", "sync", "syncfs", "FCNTL", "IOCTL", "setsid",
        "SETPGID", "KILL", "SOCKETPAIR", "fsync", "MSYNC", "vmsplice", "splice", "sendfile", "landlock_create_ruleset",
        "CLOCK_GETTIME", "CLOCK_NANOSLEEP", "sync_file_range", "fdatasync",
    )},
}  # fmt: skip


def test_what_a_removal_replaces_is_there() -> None:
    """Else it removes nothing, and the attack that it should let through proves nothing."""
    texts = "".join(path.read_text() for path in sorted(Path(seccomp.__file__).parent.glob("*.py")))
    assert [old for each in RESTRICTIONS.values() for old, _ in each.inside if old not in texts] == []


HUNDREDS = """
for _ in range(300):
    if os.fork() == 0:
        time.sleep(9)
"""
ORPHANS = """
processes = len([*filter(str.isdigit, os.listdir("/proc"))])
if os.fork() == 0:
    time.sleep(20)
assert processes > 8, processes
"""

# attack: (code, the restrictions that stop it)
STOPPED_BY = {
    "a socket": (TRIES, "socket"),
    "an internet connection": (TRIES, "socket", "network"),
    "the host's users": (TRIES, "no /etc"),
    "another bot's code": (TRIES, "no other folder"),
    "temporary files": (TRIES, "no /tmp", "read-only"),
    "its own folder": (TRIES, "read-only"),
    "its own file": (TRIES, "mode of files", "read-only"),
    "replacing its own file": (TRIES, "read-only"),
    "shared memory files": (TRIES, "no /dev/shm", "read-only"),
    "shared memory without a file": (TRIES, "MMAP"),
    "shared memory of a device": (TRIES, "no /dev/zero"),
    "memory files": (TRIES, "FSIZE"),
    "System V shared memory": (TRIES, "shmget"),
    "message queues": (TRIES, "msgget"),
    "clearing the page cache": (TRIES, "fadvise64"),
    "reading the page cache": (TRIES, "preadv2"),
    "paging out": (TRIES, "MADVISE"),
    "the times of a device": (TRIES, "utimensat"),
    "a lock": (TRIES, "flock"),
    "a message in a lock": (TRIES, "FCNTL"),
    "a hint on a file": (TRIES, "FCNTL"),
    "a lease": (TRIES, "FCNTL"),
    "the size of a pipe": (TRIES, "FCNTL"),
    "the owner of signals": (TRIES, "FCNTL"),
    "the signal of events": (TRIES, "FCNTL"),
    "signals by ioctl": (TRIES, "IOCTL"),
    "a question to a device": (TRIES, "IOCTL"),
    "which programs run": (TRIES, "inotify_init1"),
    "flushing the disks": (TRIES, "sync"),
    "flushing a disk": (TRIES, "syncfs"),
    "flushing a file": (TRIES, "fsync"),
    "flushing the data of a file": (TRIES, "fdatasync"),
    "flushing a part of a file": (TRIES, "sync_file_range"),
    "flushing a mapped file": (TRIES, "MSYNC"),
    "memory in a pipe": (TRIES, "vmsplice"),
    "pages of a file in a pipe": (TRIES, "splice"),
    "a file sent to a pipe": (TRIES, "sendfile"),
    "rules of Landlock": (TRIES, "landlock_create_ruleset"),
    "signals that wait": (TRIES, "SIGPENDING"),
    "the clock of its parent": (TRIES, "CLOCK_GETTIME"),
    "sleeping by the clock of its parent": (TRIES, "CLOCK_NANOSLEEP"),
    "keys": (TRIES, "add_key"),
    "a user namespace": (TRIES, "unshare", "apart"),
    "a session of its own": (TRIES, "setsid"),
    "a group of its own": (TRIES, "SETPGID"),
    "a pair that sends to others": (TRIES, "SOCKETPAIR"),
    "a pair of another family": (TRIES, "SOCKETPAIR"),
    "the runner's memory": (TRIES, "dumpable runner", "apart", "read-only /proc"),
    "the runner's files": (TRIES, "dumpable runner"),
    "its server's memory": (TRIES, "dumpable server", "read-only /proc"),
    "its server's files": (TRIES, "dumpable server"),
    "the runner's limits": (TRIES, "PRLIMIT"),
    "slowing the runner": (TRIES, "setpriority"),
    "slowing its session": (TRIES, "read-only /proc"),
    "a higher limit": (TRIES, "NOFILE"),
    "tracing the runner": ("assert libc.ptrace(0x4206, 1, 0, 0) == 0", "ptrace", "dumpable runner", "apart"),
    "the host's System V memory": ("assert libc.shmget({key}, 0, 0) >= 0", "shmget", "System V namespace"),
    "the host's processes": ("assert open('/proc/{pid}/cmdline').read() == {cmdline!r}", "processes"),
    "the runner's end": ("[os.kill(pid, 9) for pid in (1, 2, 3)]", "KILL"),
    "the host's name": ("assert os.uname().nodename == {name!r}", "name"),
    "the host's environment": ("os.environ['BJSIM_SECRET']", "environment"),
    "hundreds of processes": (HUNDREDS, "NPROC"),
    "asking for memory": ("mmap.mmap(-1, 150 << 20, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)", "DATA"),
    "holding memory": ("x = b'1' * (80 << 20); time.sleep(0.1)", "memory"),
    "sleeping": ("time.sleep(0.7)", "clock"),
    "computing": ("while time.process_time() < 0.7: pass", "clock", "processor time"),
    "printing": ("print('H' * 5000)", "output"),
    "staying": (ORPHANS, "sweep"),
}

# Limits for an attack: wide ones, so that no other restriction stops it first, or narrow ones, to save time.
LIMITS = {
    "hundreds of processes": {"memory": 16 << 30},
    "staying": {"memory": 16 << 30},
    "sleeping": {"timeout": 0.35},
    "computing": {"timeout": 0.35},
}

MOVES = {"staying": 12}


@pytest.fixture
def host(tmp_path, monkeypatch):
    """Objects of the host for a bot to find, under the names that the attacks use."""
    monkeypatch.setenv("BJSIM_SECRET", "1")
    libc = ctypes.CDLL(None)
    with tempfile.TemporaryDirectory() as folder, socket.create_server(("127.0.0.1", 0)) as server:
        os.chmod(folder, 0o755)
        other = Path(folder) / "other.py"
        other.write_text("secret = 1")
        key = int.from_bytes(os.urandom(3), "big") | 1 << 28
        segment = libc.shmget(key, 4096, 0o1666)
        assert segment >= 0
        yield {
            "port": server.getsockname()[1], "folder": folder, "other": str(other), "key": key, "pid": os.getpid(),
            "cmdline": Path("/proc/self/cmdline").read_text(), "name": os.uname().nodename,
        }  # fmt: skip
        libc.shmctl(segment, 0, None)


def allow(folder, calls):
    """Let the filter in this folder allow these calls."""
    with (folder / "seccomp.py").open("a") as file:
        for call in calls:
            file.write(f"del DENIED[{call!r}]\n" if call in DENIED else f"{call} = (0xFFFF, 0xFFFF)  # no number\n")


def remove(names, what, patch, tmp_path, host):
    """Remove these restrictions from all sessions opened from now on. Returns: the limits for the attack."""
    removals = [RESTRICTIONS[name] for name in names]

    def change(name, text):
        for old, new in [change for removal in removals for change in removal.inside]:
            text = text.replace(old, new)
        return text

    change_inside(tmp_path, patch, change)
    allow(tmp_path, [call for removal in removals for call in removal.calls])
    whole = restrictions._in_bubblewrap

    def in_bubblewrap(*arguments):
        box = whole(*arguments)
        line = " ".join([*box.prefix, ""])
        line = line.replace("--unshare-all ", "".join(f"--unshare-{space} " for space in SPACES))
        for old, new in [change for removal in removals for change in removal.options]:
            old, new = (" ".join([*words, ""]).format(**host) for words in (old, new))
            assert old in line
            line = line.replace(old, new)
        box.prefix = line.split()
        return box

    patch.setattr(restrictions, "_in_bubblewrap", in_bubblewrap)
    more = {limit: value for removal in removals for limit, value in removal.limits.items()}
    return Limits(**{"timeout": 10.0, "memory": 64 << 20, **more, **LIMITS.get(what, {})})


def cases():
    """Every attack without its restrictions, and with each one alone; fast with the first of them."""
    for what, (_, *names) in STOPPED_BY.items():
        for kept in [None, *names]:
            marks = [pytest.mark.slow] if kept in names[1:] else []
            yield pytest.param(what, kept, id=f"{what}-{'only ' + kept if kept else 'no restriction'}", marks=marks)


@pytest.mark.parametrize(("what", "kept"), list(cases()))
def test_an_attack_succeeds_only_without_restrictions(tmp_path, monkeypatch, host, what, kept):
    code, *names = STOPPED_BY[what]
    if what in ("tracing the runner", "the runner's memory", "its server's memory") and kept is None and YAMA != "0":
        pytest.skip(f"the kernel's kernel.yama.ptrace_scope = {YAMA} is a further restriction")
    if what == "slowing its session" and not os.path.exists("/proc/self/autogroup"):
        pytest.skip("this kernel has no autogroups")
    removed = [name for name in names if name != kept]
    limits = remove(removed, what, monkeypatch, tmp_path, host)
    (tmp_path / "probe.py").write_text(PROBE)
    program = build(tmp_path / "probe.py", box=BOX)
    with closing(SandboxSession(program, limits, box=BOX)) as opened:
        for _ in range(MOVES.get(what, 1)):
            reply = opened.ask([(code[what] if code is TRIES else code).format(**host)])
    succeeded = reply.cause in ("exit", "orphan") and reply.status == 0 and reply.stdout.startswith(b"H")
    collapsed = reply.cause == "start"  # the sandbox ended with its runner
    assert (succeeded or collapsed) == (kept is None), reply


@pytest.mark.parametrize("compiler", [False, True])
def test_what_programs_need_of_files_is_allowed(compiler):
    """Flags, the size of a pipe, how much is in it, and sealed memory; and for a compiler the lock that go needs."""
    code = """import fcntl, os
fcntl.fcntl(1, fcntl.F_SETFL, fcntl.fcntl(1, fcntl.F_GETFL) | os.O_NONBLOCK | os.O_ASYNC)
read, write = os.pipe()
fcntl.fcntl(write, 1032), fcntl.fcntl(fcntl.fcntl(read, fcntl.F_DUPFD_CLOEXEC, 9), fcntl.F_SETFD, 0)
[fcntl.ioctl(read, command, bytes(4)) for command in (0x541B, 0x5421, 0x5450, 0x5451)], os.isatty(read) and 1 / 0
memory = os.memfd_create("x", os.MFD_ALLOW_SEALING)
fcntl.fcntl(memory, fcntl.F_ADD_SEALS, fcntl.F_SEAL_SHRINK), fcntl.fcntl(memory, fcntl.F_GET_SEALS)
try:
    fcntl.flock(memory, fcntl.LOCK_EX)
    print("locked")
except PermissionError:
    print("refused")"""
    python = find_tool(ENDINGS[".py"])
    program = Program("x", "python", {"x.py": code.encode()}, (python, "x.py"), binds=find_binds(python))
    with closing(SandboxSession(program, Limits(timeout=10.0), box=BOX, scratch=compiler)) as opened:
        reply = opened.ask([])
    assert (reply.stdout, reply.stderr) == (b"locked\n" if compiler else b"refused\n", b"")


def test_every_restriction_is_tested():
    assert {name for _, *names in STOPPED_BY.values() for name in names} == set(RESTRICTIONS)


def refused(folder):
    """The calls of `seccomp.DENIED` that fail with EPERM in a bot, with zeros as arguments."""
    column = seccomp.MACHINES[os.uname().machine][1]
    numbers = {name: numbers[column] for name, numbers in {**DENIED, **seccomp.OWNERS}.items()}
    (folder / "calls.py").write_text(f"""
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
for name, number in {numbers}.items():
    if libc.syscall(number, 0, 0, 0, 0, 0, 0) < 0 and ctypes.get_errno() == 1:
        print(name)
""")
    with closing(SandboxSession(build(folder / "calls.py", box=BOX), Limits(timeout=10.0), box=BOX)) as opened:
        reply = opened.ask(["12"])
    assert (reply.cause, reply.status) == ("exit", 0)
    return set(reply.stdout.decode().split())


def test_the_filter_is_what_refuses_system_calls(tmp_path, monkeypatch):
    assert refused(tmp_path) == {*DENIED, *seccomp.OWNERS}
    change_inside(tmp_path, monkeypatch)
    allow(tmp_path, DENIED)
    with (tmp_path / "seccomp.py").open("a") as file:
        file.write("OWNERS.clear()\n")
    assert refused(tmp_path) <= {"bpf", "fanotify_init", "fchmod", "perf_event_open", "syslog", "userfaultfd"}, (
        "these need privileges"
    )
