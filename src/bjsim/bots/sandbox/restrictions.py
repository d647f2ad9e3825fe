"""The box of a bot: what its programs can reach, by bubblewrap or else by Landlock, and what holds on this machine."""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

from bjsim.bots.sandbox.inside import landlock, seccomp

Files = Mapping[str, bytes]
BOT_FOLDER = "/box"  # the bot's files in the sandbox, and the working directory
RUNNER_FOLDER = "/run"  # not the bot's folder, so that none of its files can replace the runner
SANDBOX_USER = 65534
LONGEST_NAME = 1000  # bytes of a file's name with its folders; Linux takes paths of 4,095
LONGEST_PART = 255  # bytes of the name of a file or folder: what Linux takes
ENVIRONMENT = {
    "PATH": "/usr/local/bin:/usr/bin:/bin",
    "HOME": "/nonexistent",
    "LANG": "C.UTF-8",
    "PYTHONHASHSEED": "0",  # makes the order of sets in Python the same in every run
    "PYTHONDONTWRITEBYTECODE": "1",
    "OPENSSL_CONF": "/dev/null",  # Node.js ends if its settings are there, but cannot be read
    "LD_BIND_NOW": "1",  # a fork server resolves symbols once, not each forked process again
}
PROCESSES = 32  # of a bot, threads included
PROGRAMS = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64")
# Files that interpreters need besides: the library cache, and the settings of Debian's Java.
SETTINGS = ("/etc/ld.so.cache", "/etc/alternatives", *map(str, sorted(Path("/etc").glob("java-*"))))
DEVICES = ("null", "full", "random", "urandom")  # not zero: mapped, it is shared memory that counts for no process
MIN_LINUX = (5, 14)  # the first to count processes per user namespace, so that a limit holds for one bot
UNREAD = (1 << 31) - 1  # an access time to come, which reading does not change: a bot's next move would see it
BUBBLEWRAP, LANDLOCK, GROUP = "bubblewrap", "Landlock", "none"  # kinds of boxes
ALONE = ["--unshare-all", "--new-session", "--die-with-parent", "--as-pid-1", "--cap-drop", "ALL", "--clearenv"]


def readable(path: str) -> bool:
    """Whether the sandbox's user can read the program or folder `path`, and all folders above it."""
    if os.geteuid() != 0:
        return os.access(path, os.R_OK | os.X_OK)
    resolved = Path(path).resolve()
    if not resolved.exists() or not resolved.stat().st_mode & 0o004:
        return False
    return all(folder.stat().st_mode & 0o001 for folder in (resolved, *resolved.parents))


def check_names(names: Iterable[str]) -> None:
    """Raises: ValueError for a file name that leads out of its folder, is that of another file's, or is too long."""
    known = set(names)
    for name in known:
        if "\0" in name or not {"", ".", ".."}.isdisjoint(name.split("/")):
            raise ValueError(f"{name!r} is not a plain file name")
        if len(os.fsencode(name)) > LONGEST_NAME:
            raise ValueError(f"the file name {name[:40]}... has more than {LONGEST_NAME} bytes")
        if any(len(os.fsencode(part)) > LONGEST_PART for part in name.split("/")):
            raise ValueError(f"a part of the file name {name[:40]}... has more than {LONGEST_PART} bytes")
        if clash := known.intersection(map(str, PurePosixPath(name).parents)):
            raise ValueError(f"{clash.pop()} is both a file and the folder of {name}")


@dataclass
class Box:
    """A place for a bot's files, and what its programs can do there."""

    prefix: list[str]  # the words before the command line of the runner
    runner_folder: str  # where the runner's package is
    settings: dict[str, Any]  # the runner's settings of the box; see `inside/main.py`
    popen: dict[str, Any]  # arguments for Popen
    descriptors: list[int] = field(default_factory=list)  # what only the start of the program needs
    folder: str = ""  # with the files, on this machine; "" if they are in memory

    def started(self) -> None:
        """Release what only the start of the program needed."""
        while self.descriptors:
            os.close(self.descriptors.pop())

    def close(self) -> None:
        self.started()
        if self.folder:
            shutil.rmtree(self.folder, ignore_errors=True)


def make_box(kind: str, files: Files, runner: Files, binds: Iterable[str] = (), scratch: bool = False) -> Box:
    """Make a box with files (plain name -> content), which can be executed, and those of the runner (path -> content).

    A bot has no network and can write nothing. It can read and run its files, /usr, and `binds`, folders of the host.
    scratch: whether it has a folder that it can write to, "$TMP". Raises: ValueError for a name of a file.
    """
    check_names(files)
    settings: dict[str, Any] = {"user": None, "folder": "", "rules": [], "disk": False}
    settings |= {"scratch": "/tmp" if scratch else None, "counted": _linux() >= MIN_LINUX}
    if kind == BUBBLEWRAP:
        return _in_bubblewrap(files, runner, binds, settings)
    return _in_folder(kind, files, runner, binds, settings)


def _in_bubblewrap(files: Files, runner: Files, binds: Iterable[str], settings: dict[str, Any]) -> Box:
    """All files of the bot are in memory. There are no other processes and no other files."""
    descriptors: list[int] = []

    def descriptor(content: bytes) -> str:
        descriptors.append(os.memfd_create("box"))
        with open(descriptors[-1], "wb", closefd=False) as file:
            file.write(content)
        os.lseek(descriptors[-1], 0, os.SEEK_SET)
        return str(descriptors[-1])

    user = str(SANDBOX_USER)
    prefix = ["bwrap", *ALONE, "--uid", user, "--gid", user, "--hostname", "box", *_folders(binds)]
    prefix += ["--proc", "/proc", "--remount-ro", "/proc"]  # else a bot could write the priority of its session there
    for device in DEVICES:
        prefix += ["--dev-bind", f"/dev/{device}", f"/dev/{device}"]
    try:
        for mode, folder, contents in (("0555", BOT_FOLDER, files), ("0444", RUNNER_FOLDER, runner)):
            for name, content in contents.items():
                prefix += ["--perms", mode, "--file", descriptor(content), f"{folder}/{name}"]
    except OSError:
        for each in descriptors:
            os.close(each)
        raise
    if settings["scratch"]:
        prefix += ["--tmpfs", "/tmp"]
    prefix += ["--dir", BOT_FOLDER, "--remount-ro", "/", "--chdir", BOT_FOLDER]
    for variable in _environment(settings["scratch"]).items():
        prefix += ["--setenv", *variable]
    popen: dict[str, Any] = {"pass_fds": descriptors}
    if os.geteuid() == 0:  # limits on processes do not apply to root
        popen |= {"user": SANDBOX_USER, "group": SANDBOX_USER, "extra_groups": []}
    return Box([*prefix, "--"], RUNNER_FOLDER, settings, popen, descriptors)


def _in_folder(kind: str, files: Files, runner: Files, binds: Iterable[str], settings: dict[str, Any]) -> Box:
    """The files are copies in a temporary folder, which the keeper removes."""
    folder = Path(tempfile.mkdtemp(prefix="bjsim-bot-"))
    bot, scratch = f"{folder}{BOT_FOLDER}", f"{folder}/tmp"
    settings |= {"folder": str(folder), "user": SANDBOX_USER if os.geteuid() == 0 else None}
    contents = {f"{BOT_FOLDER}/{name}": content for name, content in files.items()}
    contents |= {f"{RUNNER_FOLDER}/{name}": content for name, content in runner.items()}
    try:
        Path(bot).mkdir()
        for name, content in contents.items():
            path = Path(f"{folder}{name}")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        for path in (folder, *folder.rglob("*")):
            path.chmod(0o755 if path.is_dir() else 0o555)
            os.utime(path, (UNREAD, 0))
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    if settings["scratch"]:
        settings |= {"scratch": scratch, "disk": True}
        os.mkdir(scratch)
        if os.geteuid() == 0:
            os.chown(scratch, SANDBOX_USER, SANDBOX_USER)
    if kind == LANDLOCK:
        allowed = dict.fromkeys([*PROGRAMS, *binds, bot], landlock.RUNNING) | dict.fromkeys(SETTINGS, landlock.READING)
        allowed |= {f"/dev/{device}": landlock.DEVICE for device in DEVICES}
        settings["rules"] = [*allowed.items(), *([(scratch, landlock.WRITING)] if settings["scratch"] else [])]
    popen = {"cwd": bot, "env": _environment(settings["scratch"])}
    return Box([], f"{folder}{RUNNER_FOLDER}", settings, popen, folder=str(folder))


def _environment(scratch: str | None) -> dict[str, str]:
    return ENVIRONMENT | ({"TMP": scratch, "TMPDIR": scratch} if scratch else {})


def _folders(binds: Iterable[str]) -> list[str]:
    options = []
    for name in PROGRAMS:
        if os.path.islink(name):
            options += ["--symlink", os.readlink(name), name]
        else:
            options += ["--ro-bind-try", name, name]
    for name in (*SETTINGS, *binds):
        options += ["--ro-bind-try", name, name]
    return options


class Held(NamedTuple):
    """What holds for the bots of this machine: the kind of their box, one line about it, and what keeps it from more.

    whole: whether a bot can hurt nothing but itself.
    """

    kind: str
    whole: bool
    says: str
    obstacle: str = ""


def _linux() -> tuple[int, ...]:
    return tuple(int("".join(filter(str.isdigit, part)) or 0) for part in os.uname().release.split(".")[:2])


@lru_cache(maxsize=1)
def find_box() -> Held:
    """The best box of this machine; of the kind "" where programs cannot be bots."""
    if not seccomp.supported():
        where = f"its kernel has no seccomp filters for {' or '.join(seccomp.MACHINES)}"
        return Held("", False, f"programs cannot be bots on this machine: {where}")
    more = f"cannot use the network, are limited to {PROCESSES} processes, and end with bjsim"
    inside = "they can read programs and their own files, write nothing, " + more
    if not (obstacle := find_obstacle()):
        return Held(BUBBLEWRAP, True, f"bots run in a bubblewrap sandbox: {inside}")
    others = f"the programs of user {SANDBOX_USER}" if os.geteuid() == 0 else "your programs"
    version = landlock.version()
    if version >= landlock.WHOLE:
        return Held(LANDLOCK, True, f"bots run in a Landlock sandbox: {inside}")
    obstacle += "; from Linux 6.12 on, Landlock does instead"
    if version:
        return Held(LANDLOCK, False, f"bots can signal {others}; otherwise {inside}", obstacle)
    files = "read and write files that all users can" if os.geteuid() == 0 else "read and delete your files"
    says = f"there is no sandbox for files here: bots can {files}, and signal {others}; they {more}"
    return Held(GROUP, False, says, obstacle)


def find_obstacle() -> str:
    """One line on why bubblewrap does not work on this machine; empty if it works."""
    if _linux() < MIN_LINUX:
        return f"bubblewrap needs Linux {MIN_LINUX[0]}.{MIN_LINUX[1]} or newer here; this is {os.uname().release}"
    if not shutil.which("bwrap"):
        return "bubblewrap is not installed (on Debian and Ubuntu: apt install bubblewrap)"
    box = make_box(BUBBLEWRAP, {}, {})
    done = subprocess.run([*box.prefix, "/usr/bin/true"], capture_output=True, text=True, **box.popen)
    box.close()
    return f"bubblewrap does not work here: {done.stderr.strip()}; bjsim doctor names a fix" if done.returncode else ""


# --- The command that makes the better box work.

# Settings of Linux that forbid user namespaces, which bubblewrap needs, and the values that allow them.
KERNEL_SETTINGS = {
    "kernel.apparmor_restrict_unprivileged_userns": ("1", "0"),  # Ubuntu, from 23.10 on
    "kernel.unprivileged_userns_clone": ("0", "1"),  # Debian, until 11
    "user.max_user_namespaces": ("0", "15000"),
}


def install_command(package: str) -> str:
    command = f"sudo apt install {package}"
    return command if shutil.which("apt") or shutil.which("apt-get") else f"on Debian and Ubuntu: {command}"


def find_sandbox_fix(root: Path = Path("/")) -> str:
    """The command that makes the sandbox work, or what to do instead; "" if unknown, as outside Linux."""
    if sys.platform != "linux":
        return ""
    if not shutil.which("bwrap"):
        return install_command("bubblewrap")
    for name, (bad, good) in KERNEL_SETTINGS.items():
        setting = root / "proc/sys" / name.replace(".", "/")
        if setting.is_file() and setting.read_text().strip() == bad:
            return f"sudo sysctl -w {name}={good}"
    return ""
