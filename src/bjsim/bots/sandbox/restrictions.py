"""The walls of a box: bubblewrap's command line, what serves without it, and whether it works on this machine."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from bjsim.bots.sandbox import seccomp

INSIDE = "/box"  # where the bot's files lie, and the working directory
RUNNER = "/run/runner.py"  # out of the bot's folder, so that none of its files can take its place
NOBODY = 65534
ENVIRONMENT = {
    "PATH": "/usr/local/bin:/usr/bin:/bin",
    "HOME": "/nonexistent",
    "LANG": "C.UTF-8",
    "PYTHONHASHSEED": "0",  # a bot in Python that walks over a set does so in the same order in every run
    "PYTHONDONTWRITEBYTECODE": "1",
    "LD_BIND_NOW": "1",  # symbols are looked up once in a warm server, not again in every process it forks
}
# What an interpreter needs beside /usr: where libraries are, and Debian's Java reads its settings here.
SETTINGS = ("/etc/ld.so.cache", "/etc/alternatives", *map(str, sorted(Path("/etc").glob("java-*"))))
DEVICES = ("null", "full", "random", "urandom")  # not zero: mapped, it is shared memory that counts as nobody's
OLDEST = (5, 14)  # Linux counts processes per user namespace since then, so that a limit holds for one box


def identity() -> dict[str, Any]:
    """Arguments for Popen that give up root: limits on processes do not hold for it. Empty for any other user."""
    return {"user": NOBODY, "group": NOBODY, "extra_groups": []} if os.geteuid() == 0 else {}


def readable(path: str) -> bool:
    """Whether the user in the box can read the program or folder `path` and all folders above it."""
    if os.geteuid() != 0:
        return os.access(path, os.R_OK | os.X_OK)
    resolved = Path(path).resolve()
    if not resolved.exists() or not resolved.stat().st_mode & 0o004:
        return False
    return all(folder.stat().st_mode & 0o001 for folder in (resolved, *resolved.parents))


def check_names(names: Iterable[str]) -> None:
    """Raises: ValueError for a file's name that leads out of the folder it belongs in."""
    for name in names:
        if "\0" in name or not {"", ".", ".."}.isdisjoint(name.split("/")):
            raise ValueError(f"{name!r} is not accepted as the name of a file in a box; it takes plain names")


class Restrictions(ABC):
    """A place with some files in it to run a program in. A context: what it holds is given back at its end.

    popen: arguments for Popen. runner: the path that the resident runner has there.
    """

    popen: dict[str, Any]
    runner: str

    @abstractmethod
    def command(self, program: Sequence[str]) -> list[str]:
        """The whole command line that runs `program` there, in the folder of the files."""

    @abstractmethod
    def opened(self) -> None:
        """The program has started: give back what only its start needed."""

    @abstractmethod
    def close(self) -> None:
        """Give back what is held."""

    def __enter__(self) -> Restrictions:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Sandbox(Restrictions):
    """Bubblewrap's: no network, no other processes, none of the host's files but programs, nothing to write to.

    files: name -> content, all of them executable and, like all else, read-only. runner: the resident runner's source.
    binds: folders of the host, beside /usr, that can be read. scratch: whether there is a folder to write to, for
    compilers; its name is in "$TMP".
    Raises: ValueError for a file's name that is not a plain one.
    """

    runner = RUNNER

    def __init__(
        self, files: Mapping[str, bytes], runner: bytes = b"", binds: Iterable[str] = (), scratch: bool = False
    ) -> None:
        check_names(files)
        self.descriptors: list[int] = []
        self.options = [
            "--unshare-all", "--new-session", "--die-with-parent", "--as-pid-1", "--cap-drop", "ALL",
            "--uid", str(NOBODY), "--gid", str(NOBODY), "--hostname", "box", "--clearenv",
            "--seccomp", self._descriptor(seccomp.filter_program()),
            *_folders(binds), "--proc", "/proc",
        ]  # fmt: skip
        for device in DEVICES:
            self.options += ["--dev-bind", f"/dev/{device}", f"/dev/{device}"]
        for name, content in files.items():
            self.options += ["--perms", "0555", "--file", self._descriptor(content), f"{INSIDE}/{name}"]
        self.options += ["--perms", "0444", "--file", self._descriptor(runner), RUNNER]
        if scratch:
            self.options += ["--tmpfs", "/tmp", "--setenv", "TMP", "/tmp"]
        self.options += ["--dir", INSIDE, "--remount-ro", "/", "--chdir", INSIDE]
        self.popen = {"pass_fds": self.descriptors, **identity()}

    def command(self, program: Sequence[str]) -> list[str]:
        variables = [word for item in ENVIRONMENT.items() for word in ("--setenv", *item)]
        return ["bwrap", *self.options, *variables, "--", *program]

    def opened(self) -> None:
        self.close()  # bubblewrap has copied them

    def close(self) -> None:
        for descriptor in self.descriptors:
            os.close(descriptor)
        self.descriptors = []

    def _descriptor(self, content: bytes) -> str:
        descriptor = os.memfd_create("box")
        self.descriptors.append(descriptor)
        with open(descriptor, "wb", closefd=False) as file:
            file.write(content)
        os.lseek(descriptor, 0, os.SEEK_SET)
        return str(descriptor)


class NoSandbox(Restrictions):
    """A folder of the host's with copies of the files: all that keeps the program in is its user and its limits.

    Raises: ValueError for a file's name that is not a plain one.
    """

    def __init__(
        self, files: Mapping[str, bytes], runner: bytes = b"", binds: Iterable[str] = (), scratch: bool = False
    ) -> None:
        check_names(files)
        self.folder = Path(tempfile.mkdtemp(prefix="bjsim-bot-"))
        self.runner = str(self.folder / "run" / "runner.py")
        for path, content in {**{Path("box", name): files[name] for name in files}, Path(self.runner): runner}.items():
            path = self.folder / path
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
            path.chmod(0o555)
        (self.folder / "box").mkdir(exist_ok=True)
        for folder in (self.folder, *filter(Path.is_dir, self.folder.rglob("*"))):
            folder.chmod(0o755)
        if scratch:
            (self.folder / "tmp").mkdir()
            if os.geteuid() == 0:
                os.chown(self.folder / "tmp", NOBODY, NOBODY)
        environment = {**ENVIRONMENT, "TMP": str(self.folder / "tmp")}
        self.popen = {"cwd": self.folder / "box", "env": environment, **identity()}

    def command(self, program: Sequence[str]) -> list[str]:
        return list(program)

    def opened(self) -> None:
        """All of it is needed as long as the program runs."""

    def close(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)


def open_restrictions(
    sandboxed: bool, files: Mapping[str, bytes], runner: bytes, binds: Iterable[str] = (), scratch: bool = False
) -> Restrictions:
    """The place to run a program in."""
    return (Sandbox if sandboxed else NoSandbox)(files, runner, binds, scratch)


def _folders(binds: Iterable[str]) -> list[str]:
    options = ["--ro-bind", "/usr", "/usr"]
    for name in ("/bin", "/sbin", "/lib", "/lib32", "/lib64"):
        if os.path.islink(name):
            options += ["--symlink", os.readlink(name), name]
        else:
            options += ["--ro-bind-try", name, name]
    for name in (*SETTINGS, *binds):
        options += ["--ro-bind-try", name, name]
    return options


@lru_cache(maxsize=1)
def trouble() -> str:
    """Why the sandbox cannot be used on this machine, in one line; empty when it can."""
    if sys.platform != "linux":
        return "the sandbox needs Linux"
    release = os.uname().release
    if tuple(int("".join(filter(str.isdigit, part)) or 0) for part in release.split(".")[:2]) < OLDEST:
        return f"the sandbox needs Linux {OLDEST[0]}.{OLDEST[1]} or newer; this is {release}"
    if not seccomp.supported():
        return f"the sandbox knows the system calls of {', '.join(seccomp.MACHINES)} only"
    if not shutil.which("bwrap"):
        return "bubblewrap is not installed (on Debian and Ubuntu: apt install bubblewrap)"
    with Sandbox({}) as walls:
        done = subprocess.run(walls.command(["/usr/bin/true"]), capture_output=True, text=True, **walls.popen)
    return f"bubblewrap does not work here: {done.stderr.strip()}" if done.returncode else ""
