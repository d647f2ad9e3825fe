"""Restrictions on a bot's process: bubblewrap's command line, the replacement without it, and whether it works here."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path, PurePosixPath
from typing import Any

from bjsim.bots.sandbox import seccomp

Files = Mapping[str, bytes]
BOT_FOLDER = "/box"  # the bot's files in the sandbox, and the working directory
RUNNER_FOLDER = "/run"  # not the bot's folder, so that none of its files can replace the runner
SANDBOX_USER = 65534
LONGEST_NAME = 1000  # bytes of a file's name with its folders; Linux takes paths of 4,095
ENVIRONMENT = {
    "PATH": "/usr/local/bin:/usr/bin:/bin",
    "HOME": "/nonexistent",
    "LANG": "C.UTF-8",
    "PYTHONHASHSEED": "0",  # makes the order of sets in Python the same in every run
    "PYTHONDONTWRITEBYTECODE": "1",
    "LD_BIND_NOW": "1",  # a fork server resolves symbols once, not each forked process again
}
# Files that interpreters need besides /usr: the library cache, and the settings of Debian's Java.
SETTINGS = ("/etc/ld.so.cache", "/etc/alternatives", *map(str, sorted(Path("/etc").glob("java-*"))))
DEVICES = ("null", "full", "random", "urandom")  # not zero: mapped, it is shared memory that counts for no process
MIN_LINUX = (5, 14)  # the first to count processes per user namespace, so that a limit holds for one sandbox


def identity() -> dict[str, Any]:
    """Arguments for Popen that give up root, which limits on processes do not apply to. Empty for any other user."""
    return {"user": SANDBOX_USER, "group": SANDBOX_USER, "extra_groups": []} if os.geteuid() == 0 else {}


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
            raise ValueError(f"{name!r} is not a plain name for a file in a sandbox")
        if len(os.fsencode(name)) > LONGEST_NAME:
            raise ValueError(f"the file name {name[:40]}... has more than {LONGEST_NAME} bytes")
        if clash := known.intersection(map(str, PurePosixPath(name).parents)):
            raise ValueError(f"{clash.pop()} is both a file and the folder of {name}")


ALONE = ["--unshare-all", "--new-session", "--die-with-parent", "--as-pid-1", "--cap-drop", "ALL", "--clearenv"]


class Restrictions(ABC):
    """A restricted environment with some files, to run a program in. A context manager, which calls `close`.

    `popen` has arguments for Popen; `runner_folder` is where the runner's package is in this environment.
    """

    popen: dict[str, Any]
    runner_folder: str

    @abstractmethod
    def command(self, program: Sequence[str]) -> list[str]:
        """The command line that runs `program` in the folder of the files."""

    @abstractmethod
    def opened(self) -> None:
        """Release what only the start of the program needed."""

    @abstractmethod
    def close(self) -> None:
        """Release all resources."""

    def __enter__(self) -> Restrictions:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Sandbox(Restrictions):
    """A bubblewrap sandbox: no network, no other processes, no files of the host but programs, nothing writable.

    `files` (plain name -> content) are executable and read-only; the runner's are path -> content. `binds` are
    folders of the host besides /usr that can be read. `scratch`, for a compiler, adds a writable folder in memory,
    "$TMP".
    """

    runner_folder = RUNNER_FOLDER

    def __init__(
        self, files: Files, runner: Files | None = None, binds: Iterable[str] = (), scratch: bool = False
    ) -> None:
        check_names(files)
        self.descriptors: list[int] = []
        self.options = [*ALONE, "--uid", str(SANDBOX_USER), "--gid", str(SANDBOX_USER), "--hostname", "box"]
        self.options += ["--seccomp", self._descriptor(seccomp.filter_program(scratch))]
        self.options += [*_folders(binds), "--proc", "/proc"]
        for device in DEVICES:
            self.options += ["--dev-bind", f"/dev/{device}", f"/dev/{device}"]
        for name, content in files.items():
            self.options += ["--perms", "0555", "--file", self._descriptor(content), f"{BOT_FOLDER}/{name}"]
        for name, content in (runner or {}).items():
            self.options += ["--perms", "0444", "--file", self._descriptor(content), f"{RUNNER_FOLDER}/{name}"]
        if scratch:
            self.options += ["--tmpfs", "/tmp", "--setenv", "TMP", "/tmp"]
        self.options += ["--dir", BOT_FOLDER, "--remount-ro", "/", "--chdir", BOT_FOLDER]
        self.popen = {"pass_fds": self.descriptors, **identity()}

    def command(self, program: Sequence[str]) -> list[str]:
        variables = [word for item in ENVIRONMENT.items() for word in ("--setenv", *item)]
        return ["bwrap", *self.options, *variables, "--", *program]

    def opened(self) -> None:
        self.close()  # bubblewrap has copied the files

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


class Unsandboxed(Restrictions):
    """No sandbox: a temporary folder with copies of the files. Only its user and its limits restrict the program.

    Arguments and errors are those of `Sandbox`.
    """

    def __init__(
        self, files: Files, runner: Files | None = None, binds: Iterable[str] = (), scratch: bool = False
    ) -> None:
        check_names(files)
        self.folder = Path(tempfile.mkdtemp(prefix="bjsim-bot-"))
        self.runner_folder = str(self.folder / "run")
        contents = {f"box/{name}": content for name, content in files.items()}
        contents |= {f"run/{name}": content for name, content in (runner or {}).items()}
        for name, content in contents.items():
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
            path.chmod(0o555)
        (self.folder / "box").mkdir(exist_ok=True)
        for folder in (self.folder, *filter(Path.is_dir, self.folder.rglob("*"))):
            folder.chmod(0o755)
        if scratch:
            (self.folder / "tmp").mkdir()
            if os.geteuid() == 0:
                os.chown(self.folder / "tmp", SANDBOX_USER, SANDBOX_USER)
        environment = {**ENVIRONMENT, "TMP": str(self.folder / "tmp")}
        self.popen = {"cwd": self.folder / "box", "env": environment, **identity()}

    def command(self, program: Sequence[str]) -> list[str]:
        return list(program)

    def opened(self) -> None:
        """Nothing to release: the program needs its folder while it runs."""

    def close(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)


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
def find_obstacle() -> str:
    """One line on why the sandbox does not work on this machine; empty if it works."""
    if sys.platform != "linux":
        return "the sandbox needs Linux"
    release = os.uname().release
    if tuple(int("".join(filter(str.isdigit, part)) or 0) for part in release.split(".")[:2]) < MIN_LINUX:
        return f"the sandbox needs Linux {MIN_LINUX[0]}.{MIN_LINUX[1]} or newer; this is {release}"
    if not seccomp.supported():
        return f"the sandbox supports only {', '.join(seccomp.MACHINES)}"
    if not shutil.which("bwrap"):
        return "bubblewrap is not installed (on Debian and Ubuntu: apt install bubblewrap)"
    with Sandbox({}) as sandbox:
        done = subprocess.run(sandbox.command(["/usr/bin/true"]), capture_output=True, text=True, **sandbox.popen)
    return f"bubblewrap does not work here: {done.stderr.strip()}; bjsim doctor names a fix" if done.returncode else ""
