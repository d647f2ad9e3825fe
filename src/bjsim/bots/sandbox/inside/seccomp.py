"""A filter for system calls that no bot needs (seccomp, classic BPF).

It keeps a bot's processes in their process group, so that one signal ends them all, and from the other programs of the
machine. Where the box is of Landlock, it also refuses what Landlock leaves out. It refuses calls that

- leave the process group, or send a signal to the runner, to what started it (by its number, not by those of its
  threads, so that bjsim is safe only where the box keeps signals inside), or to a group;
- change the mode, the owner or the attributes of files, or read attributes;
- make sockets, and pairs of sockets that can send to any address or are not local, or give sockets larger buffers;
- inspect or slow down the runner;
- leave objects in the kernel that outlive a process, such as System V shared memory and message queues;
- hold memory that counts for no process: shared memory without a file, pages in pipes, and rules of Landlock;
- drop pages of files from the page cache or ask which pages are in it, because all boxes share the cache;
- set the times of the host's device nodes, or lock files under /usr, which all boxes share too;
- report what happens to files, or send a signal (SIGCONT, say) when something does;
- flush the host's disks or files;
- read the clocks of other processes, which add up what earlier moves took of them;
- create namespaces, in which the bot would be root and could mount a writable file system.

Source: the kernel's Documentation/userspace-api/seccomp_filter.rst; call numbers from asm/unistd.h.
"""

import ctypes
import errno
import os
import struct
from collections.abc import Iterable, Iterator, Sequence

# machine: (its number in the kernel, the column of its call numbers below)
MACHINES = {"x86_64": (0xC000003E, 0), "aarch64": (0xC00000B7, 1)}

DENIED = {
    # access to other processes
    "ptrace": (101, 117), "process_vm_readv": (310, 270), "process_vm_writev": (311, 271),
    "process_madvise": (440, 440), "kcmp": (312, 272), "pidfd_getfd": (438, 438),
    "setpriority": (141, 140), "ioprio_set": (251, 30), "sched_setparam": (142, 118),
    "sched_setscheduler": (144, 119), "sched_setattr": (314, 274), "sched_setaffinity": (203, 122),
    "migrate_pages": (256, 238), "move_pages": (279, 239),
    # objects that outlive a process
    "shmget": (29, 194), "msgget": (68, 186), "semget": (64, 190), "mq_open": (240, 180),
    "add_key": (248, 217), "request_key": (249, 218), "keyctl": (250, 219),
    # the page cache; asynchronous reads, like preadv2, can ask whether a page is in it
    "fadvise64": (221, 223), "readahead": (187, 213), "preadv2": (327, 286), "pwritev2": (328, 287),
    "cachestat": (451, 451), "mincore": (27, 232), "io_setup": (206, 0),
    # times of device nodes; ARM64 has only the first call
    "utimensat": (280, 88), "utime": (132, 88), "utimes": (235, 88), "futimesat": (261, 88),
    # a timer whose signal is SIGCONT would wake a resident bot between its moves
    "timer_create": (222, 107),
    # every program of the host opens files under /usr; ARM64 has only the second call
    "inotify_init": (253, 26), "inotify_init1": (294, 26),
    # locks, which all sandboxes see, and the host's disks
    "flock": (73, 32), "sync": (162, 81), "syncfs": (306, 267), "fsync": (74, 82), "fdatasync": (75, 83),
    "sync_file_range": (277, 84),
    # memory that counts for no process: one byte in a pipe keeps the whole large page that it is in
    "vmsplice": (278, 75), "splice": (275, 76), "sendfile": (40, 71), "landlock_create_ruleset": (444, 444),
    # leaving the process group; signals to what the filter cannot tell
    "setsid": (112, 157), "pidfd_send_signal": (424, 424),
    # leaving the namespaces, and parts of the kernel that bots do not need
    "unshare": (272, 97), "setns": (308, 268), "socket": (41, 198), "setsockopt": (54, 208),
    "syslog": (103, 116),
    "io_uring_setup": (425, 425), "bpf": (321, 280), "perf_event_open": (298, 241),
    "userfaultfd": (323, 282), "fanotify_init": (300, 262),
}  # fmt: skip
# Go locks its cache, and tools copy and sync files. A compiler's box can tell nothing to one where locks are refused.
COMPILERS = {"flock", "fsync", "fdatasync", "sendfile"}
# What Landlock leaves to a file's owner and readers, who may be the user of bjsim and of the bot.
OWNERS = {
    "chmod": (90, 53), "fchmod": (91, 52), "fchmodat": (268, 53), "fchmodat2": (452, 452),
    "chown": (92, 54), "lchown": (94, 54), "fchown": (93, 55), "fchownat": (260, 54),
    "setxattr": (188, 5), "lsetxattr": (189, 6), "fsetxattr": (190, 7), "setxattrat": (463, 463),
    "removexattr": (197, 14), "lremovexattr": (198, 15), "fremovexattr": (199, 16), "removexattrat": (466, 466),
    "getxattr": (191, 8), "lgetxattr": (192, 9), "getxattrat": (464, 464), "file_setattr": (469, 469),
    "listxattr": (194, 11), "llistxattr": (195, 12), "listxattrat": (465, 465),
}  # fmt: skip
CLONE, CLONE3, PRLIMIT, MMAP, MADVISE, MSYNC = (56, 220), (435, 435), (302, 261), (9, 222), (28, 233), (26, 227)
CLOCK_GETTIME, CLOCK_NANOSLEEP = (228, 113), (230, 115)
FCNTL, IOCTL, SOCKETPAIR, SETPGID, KILL = (72, 25), (16, 29), (53, 199), (109, 154), (62, 129)
TO_ONE = ((200, 130), (234, 131), (129, 138), (297, 240))  # tkill, tgkill, rt_sigqueueinfo, rt_tgsigqueueinfo

# Flags of clone: new namespaces of any kind; a child whose parent is the caller's parent.
NAMESPACES = 0x00020000 | 0x02000000 | 0x04000000 | 0x08000000 | 0x10000000 | 0x20000000 | 0x40000000
CLONE_PARENT = 0x00008000
SHARED_ANONYMOUS = 0x01 | 0x20
MS_SYNC = 4
MADV_COLD, MADV_PAGEOUT = 20, 21  # drop pages of files that the user owns from the page cache
AF_UNIX = 1  # a pair of another family can send to other programs (TIPC), and asking for one makes the kernel load it
DATAGRAMS = 0x02  # a bit of SOCK_DGRAM and SOCK_RAW, not of the kinds whose pairs send to each other only
# The commands of fcntl that are allowed: on descriptors, their flags, and the seals of memory; to ask for the size of
# a pipe. The others change this size, which the next move would see, lock a file, leave a hint on it (F_SET_RW_HINT),
# or arrange for signals (F_SETOWN, F_SETSIG, F_NOTIFY).
COMMANDS = (*range(5), 1030, *range(1032, 1035))
# The commands of ioctl that are allowed: FIONREAD, FIONBIO, FIONCLEX, FIOCLEX. Others arrange for signals, flush files,
# change flags of files, or ask a device or a file system; to these every file answers as a pipe does.
CONTROLS = (0x541B, 0x5421, 0x5450, 0x5451)

LOAD, RETURN, IF_EQUAL, IF_AT_LEAST, IF_ANY_BIT, AND = 0x20, 0x06, 0x15, 0x35, 0x45, 0x54
# Offsets in struct seccomp_data of the kernel.
NUMBER, MACHINE, FIRST, SECOND, THIRD, FOURTH = 0, 4, 16, 24, 32, 40
ALLOW, KILL_PROCESS, ERROR = 0x7FFF0000, 0x80000000, 0x00050000
CHECKED = -1  # not yet allowed: by this check, and left to the next one
REFUSE, MISSING, PRETEND = ERROR | errno.EPERM, ERROR | errno.ENOSYS, ERROR
X32 = 0x40000000  # numbers of x86-64 calls with 32-bit pointers begin here
NEGATIVE = 1 << 31
PR_SET_SECCOMP, PR_SET_NO_NEW_PRIVS, SECCOMP_MODE_FILTER = 22, 38, 2
Instruction = tuple[int, int, int, int]  # operation, instructions to skip if true, if false, operand


class Filter(ctypes.Structure):
    """What the kernel takes: the number of instructions, and where they are."""

    _fields_ = [("length", ctypes.c_ushort), ("program", ctypes.c_char_p)]


def supported() -> bool:
    """Whether this kernel has such filters, and the call numbers of this machine are known."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, None, 0, 0)  # it looks for a filter there only if it has filters
    return os.uname().machine in MACHINES and ctypes.get_errno() == errno.EFAULT


def enter(group: int, guarded: Sequence[int], compiler: bool, owners: int) -> None:
    """Put this thread, and all that it starts, under the filter.

    group: the process group that they cannot leave. guarded: processes and threads that they cannot signal. compiler:
    whether they may use the calls in COMPILERS too. owners: what becomes of the calls in OWNERS.
    """
    load(_instructions(group, guarded, compiler, owners))


def load(instructions: Iterable[Instruction]) -> None:
    """Put this thread under a filter, for good."""
    program = b"".join(struct.pack("<HBBI", *each) for each in instructions)
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    loaded = Filter(len(program) // 8, program)
    if libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.byref(loaded), 0, 0):
        raise OSError(ctypes.get_errno(), "the kernel refuses the filter of system calls")


def _instructions(group: int, guarded: Sequence[int], compiler: bool, owners: int) -> Iterator[Instruction]:
    machine, column = MACHINES[os.uname().machine]
    yield LOAD, 0, 0, MACHINE
    yield IF_EQUAL, 1, 0, machine
    yield RETURN, 0, 0, KILL_PROCESS
    yield LOAD, 0, 0, NUMBER
    yield IF_AT_LEAST, 0, 1, X32
    yield RETURN, 0, 0, MISSING
    verdicts = [(name, numbers, REFUSE) for name, numbers in DENIED.items()]
    verdicts += [(name, numbers, owners) for name, numbers in OWNERS.items()]
    # A filter cannot read the flags of clone3. The C library uses clone where clone3 is missing.
    verdicts += [("clone3", CLONE3, MISSING)]
    for name, numbers, verdict in verdicts:
        if not (compiler and name in COMPILERS):
            yield IF_EQUAL, 0, 1, numbers[column]
            yield RETURN, 0, 0, verdict
    targets = [(IF_EQUAL, pid) for pid in guarded]
    checks = [
        (CLONE, FIRST, [(IF_ANY_BIT, NAMESPACES | CLONE_PARENT)]),
        (SOCKETPAIR, SECOND, [(IF_ANY_BIT, DATAGRAMS)]),
        (MADVISE, THIRD, [(IF_EQUAL, MADV_COLD), (IF_EQUAL, MADV_PAGEOUT)]),
        (MSYNC, THIRD, [(IF_ANY_BIT, MS_SYNC)]),
        (CLOCK_GETTIME, FIRST, [(IF_AT_LEAST, NEGATIVE)]),  # the numbers of clocks of processes
        (CLOCK_NANOSLEEP, FIRST, [(IF_AT_LEAST, NEGATIVE)]),
        (KILL, FIRST, [(IF_AT_LEAST, NEGATIVE), *targets]),  # its own group is 0
        *((call, FIRST, targets) for call in TO_ONE),
    ]
    yield from _check(SOCKETPAIR[column], FIRST, [(IF_EQUAL, AF_UNIX)], CHECKED, REFUSE)
    for call, argument, tests in checks:
        yield from _check(call[column], argument, tests, REFUSE, ALLOW)
    yield from _check(MMAP[column], FOURTH, [(IF_EQUAL, SHARED_ANONYMOUS)], REFUSE, ALLOW, SHARED_ANONYMOUS)
    yield from _check(FCNTL[column], SECOND, [(IF_EQUAL, command) for command in COMMANDS], ALLOW, REFUSE)
    yield from _check(IOCTL[column], SECOND, [(IF_EQUAL, command) for command in CONTROLS], ALLOW, ERROR | errno.ENOTTY)
    # A process may read and lower its own limits only, and join only the group that it is in.
    yield from _check(PRLIMIT[column], FIRST, [(IF_EQUAL, 0)], ALLOW, REFUSE)
    yield from _check(SETPGID[column], SECOND, [(IF_EQUAL, group)], ALLOW, REFUSE)
    yield RETURN, 0, 0, ALLOW


def _check(
    call: int, argument: int, tests: Sequence[tuple[int, int]], found: int, otherwise: int, mask: int = 0xFFFFFFFF
) -> Iterator[Instruction]:
    """Return `found` from a call whose argument, under the mask, passes one of the tests, else `otherwise`."""
    count = len(tests)
    yield IF_EQUAL, 0, count + 4, call
    yield LOAD, 0, 0, argument
    yield AND, 0, 0, mask
    for place, (test, operand) in enumerate(tests):
        yield test, count - place, 0, operand
    yield RETURN, 0, 0, otherwise
    yield (LOAD, 0, 0, NUMBER) if found == CHECKED else (RETURN, 0, 0, found)
