"""A filter for system calls that no bot needs (seccomp, classic BPF).

The namespaces of the sandbox separate a bot from the host. This filter separates it from the other processes in the
sandbox, which have the same user, and removes ways to keep state between moves. It refuses calls that

- inspect or slow down the runner;
- leave objects in the kernel that outlive a process, such as System V shared memory and message queues;
- map shared memory without a file, because its pages count for no process once they are unmapped;
- drop pages of files from the page cache or ask which pages are in it, because all sandboxes share the cache;
- set the times of the host's device nodes, or lock files under /usr, which all sandboxes share too;
- report what happens to files, or send a signal (SIGCONT, say) when something does;
- flush the host's disks;
- create namespaces, in which the bot would be root and could mount a writable file system.

Source: the kernel's Documentation/userspace-api/seccomp_filter.rst; call numbers from asm/unistd.h.
"""

from __future__ import annotations

import errno
import platform
import struct
from collections.abc import Iterator

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
    "flock": (73, 32), "sync": (162, 81), "syncfs": (306, 267),
    # leaving the namespaces, and parts of the kernel that bots do not need
    "unshare": (272, 97), "setns": (308, 268), "socket": (41, 198), "syslog": (103, 116),
    "io_uring_setup": (425, 425), "bpf": (321, 280), "perf_event_open": (298, 241),
    "userfaultfd": (323, 282), "fanotify_init": (300, 262),
}  # fmt: skip
COMPILERS = {"flock"}  # go locks its cache; a compiler's sandbox can tell nothing to one where locks are refused
CLONE, CLONE3, PRLIMIT, MMAP, MADVISE = (56, 220), (435, 435), (302, 261), (9, 222), (28, 233)
FCNTL, IOCTL = (72, 25), (16, 29)

# Flags of clone: new namespaces of any kind; a child whose parent is the caller's parent.
NAMESPACES = 0x00020000 | 0x02000000 | 0x04000000 | 0x08000000 | 0x10000000 | 0x20000000 | 0x40000000
CLONE_PARENT = 0x00008000
MAP_SHARED, MAP_ANONYMOUS = 0x01, 0x20
MADV_COLD, MADV_PAGEOUT = 20, 21  # drop pages of files that the user owns from the page cache
# The commands of fcntl that are allowed: on descriptors and their flags; on the size of a pipe and the seals of memory.
# The others lock a file, leave a hint on it (F_SET_RW_HINT), or arrange for signals (F_SETOWN, F_SETSIG, F_NOTIFY).
F_SETFL, F_DUPFD_CLOEXEC, F_GET_SEALS = 4, 1030, 1034
SIGNALS = (0x5452, 0x8901, 0x8902)  # the commands of ioctl for signals: FIOASYNC, FIOSETOWN, SIOCSPGRP

LOAD, RETURN, IF_EQUAL, IF_AT_LEAST, IF_ANY_BIT = 0x20, 0x06, 0x15, 0x35, 0x45
# Offsets in struct seccomp_data of the kernel.
NUMBER, MACHINE, FIRST_ARGUMENT, SECOND_ARGUMENT, THIRD_ARGUMENT, FOURTH_ARGUMENT = 0, 4, 16, 24, 32, 40
ALLOW, KILL, ERROR = 0x7FFF0000, 0x80000000, 0x00050000
X32 = 0x40000000  # numbers of x86-64 calls with 32-bit pointers begin here


def supported() -> bool:
    """Whether the call numbers of this machine are known."""
    return platform.machine() in MACHINES


def filter_program(compiler: bool = False) -> bytes:
    """The filter, in the format of bubblewrap's `--seccomp`; a compiler may use the calls in COMPILERS too."""
    machine, column = MACHINES[platform.machine()]
    denied = [numbers[column] for name, numbers in DENIED.items() if not (compiler and name in COMPILERS)]
    return b"".join(struct.pack("<HBBI", *instruction) for instruction in _instructions(machine, column, denied))


def _instructions(machine: int, column: int, denied: list[int]) -> Iterator[tuple[int, int, int, int]]:
    """(operation, instructions to skip if true, if false, operand)."""
    yield LOAD, 0, 0, MACHINE
    yield IF_EQUAL, 1, 0, machine
    yield RETURN, 0, 0, KILL
    yield LOAD, 0, 0, NUMBER
    yield IF_AT_LEAST, 0, 1, X32
    yield RETURN, 0, 0, ERROR | errno.ENOSYS
    for number in denied:
        yield IF_EQUAL, 0, 1, number
        yield RETURN, 0, 0, ERROR | errno.EPERM
    # A filter cannot read the flags of clone3. The C library uses clone where clone3 is missing.
    yield IF_EQUAL, 0, 1, CLONE3[column]
    yield RETURN, 0, 0, ERROR | errno.ENOSYS
    yield IF_EQUAL, 0, 4, CLONE[column]
    yield LOAD, 0, 0, FIRST_ARGUMENT
    yield IF_ANY_BIT, 0, 1, NAMESPACES | CLONE_PARENT
    yield RETURN, 0, 0, ERROR | errno.EPERM
    yield RETURN, 0, 0, ALLOW
    yield IF_EQUAL, 0, 5, MMAP[column]
    yield LOAD, 0, 0, FOURTH_ARGUMENT
    yield IF_ANY_BIT, 0, 2, MAP_SHARED
    yield IF_ANY_BIT, 0, 1, MAP_ANONYMOUS
    yield RETURN, 0, 0, ERROR | errno.EPERM
    yield RETURN, 0, 0, ALLOW
    yield IF_EQUAL, 0, 5, MADVISE[column]
    yield LOAD, 0, 0, THIRD_ARGUMENT
    yield IF_EQUAL, 1, 0, MADV_COLD
    yield IF_EQUAL, 0, 1, MADV_PAGEOUT
    yield RETURN, 0, 0, ERROR | errno.EPERM
    yield RETURN, 0, 0, ALLOW
    yield IF_EQUAL, 0, 6, FCNTL[column]
    yield LOAD, 0, 0, SECOND_ARGUMENT
    yield IF_AT_LEAST, 0, 2, F_SETFL + 1
    yield IF_AT_LEAST, 0, 2, F_DUPFD_CLOEXEC
    yield IF_AT_LEAST, 1, 0, F_GET_SEALS + 1
    yield RETURN, 0, 0, ALLOW
    yield RETURN, 0, 0, ERROR | errno.EPERM
    yield IF_EQUAL, 0, 6, IOCTL[column]
    yield LOAD, 0, 0, SECOND_ARGUMENT
    for number, command in enumerate(SIGNALS):
        yield IF_EQUAL, len(SIGNALS) - number, 0, command
    yield RETURN, 0, 0, ALLOW
    yield RETURN, 0, 0, ERROR | errno.EPERM
    # A process may read and lower its own limits only.
    yield IF_EQUAL, 0, 3, PRLIMIT[column]
    yield LOAD, 0, 0, FIRST_ARGUMENT
    yield IF_EQUAL, 1, 0, 0
    yield RETURN, 0, 0, ERROR | errno.EPERM
    yield RETURN, 0, 0, ALLOW
