"""Checkpoints: files of what is known so far, from which a stopped run or count goes on.

Each has the request, how many jobs are merged and the sums over them, as JSON with a checksum.
"""

import hashlib
import json
import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bjsim.arguments import a_name, argument, check_writable, naming
from bjsim.errors import InputError, NotSaved
from bjsim.files import read_bytes, replacing

EVERY = 1.0  # seconds between two saves, at least
PAUSE = 10  # times as long as a save took, at least


@dataclass
class Checkpoint:
    """A file that is replaced whole. `request` is what its sums are of, in JSON values."""

    path: Path
    request: Mapping[str, Any] = field(default_factory=dict)

    def save(self, known: Mapping[str, Any]) -> None:
        """Write what is known. Raises: NotSaved."""
        data = {"request": self.request, **known}
        try:
            with replacing(self.path) as file:
                file.write(json.dumps({**data, "sha256": _checksum(data)}).encode())
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:  # the name alone, as a page may show it
            raise NotSaved(f"cannot save the checkpoint {self.path.name}: {error.strerror or error}") from None

    def read(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Read the request, and what is known of it. Raises: InputError: No checkpoint, or it is damaged."""
        with reading(self.path):
            known: dict[str, Any] = json.loads(read_bytes(self.path))
            if known.pop("sha256") != _checksum(known):
                raise ValueError("the checksum differs")
            return dict(known.pop("request")), known

    def load(self) -> dict[str, Any]:
        """Read what is known of this request. Raises: InputError: As `read`, or it is another request's file."""
        request, known = self.read()
        expected = json.loads(json.dumps(self.request))
        if request != expected:
            other = [key for key in expected if request.get(key) != expected[key]] or ["more fields"]
            raise InputError(f"the checkpoint {self.path} belongs to another run (different: {', '.join(other)})")
        return known


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Turn all errors of a stranger's file into one line that names it."""
    try:
        yield
    except OSError as error:
        raise InputError(f"cannot read the checkpoint {path}: {error.strerror or error}") from None
    except InputError as error:
        raise InputError(f"{path}: {error}") from None
    except Exception:  # there is no end to what may be wrong in a stranger's file
        raise InputError(f"{path} is not a checkpoint of bjsim, or is damaged") from None


@contextmanager
def keeping(
    checkpoint: Checkpoint | None, known: Callable[[], Mapping[str, Any] | None]
) -> Iterator[Callable[[], None]]:
    """Save what is known, if anything is: at the end, and before whenever the yielded function finds it due."""
    due = 0.0

    def save(last: bool = False) -> None:
        nonlocal due
        if checkpoint and (last or time.monotonic() > due) and (now := known()):
            began = time.monotonic()
            checkpoint.save(now)
            due = time.monotonic() + max(EVERY, PAUSE * (time.monotonic() - began))

    try:
        yield save
    except NotSaved:
        raise
    except BaseException:  # which is not to be hidden by a full disk
        with suppress(NotSaved):
            save(last=True)
        raise
    save(last=True)


def check_checkpoints(checkpoint: str | os.PathLike[str] | None, resume: str | os.PathLike[str] | None) -> None:
    """Check the files to keep what is known in, and to go on from. One that would be overwritten unread is refused."""
    for name, path in (("checkpoint", checkpoint), ("resume", resume)):
        if path is not None and (not str(a_name(name, path)) or "\0" in str(path)):
            raise InputError(f"{argument(name, str(path))} is not accepted; use the path of a file")
    if checkpoint and resume and os.fspath(checkpoint) != os.fspath(resume):
        asked = f"{argument('checkpoint', checkpoint)} with {argument('resume', resume)}"
        raise InputError(f"{asked}: a resumed run continues in the same file")
    with naming("checkpoint"):
        if checkpoint and not resume and Path(checkpoint).exists():
            raise InputError(f"{checkpoint} exists; resume it with {argument('resume', checkpoint)}, or remove it")
        check_writable(checkpoint, replaced=True)
    if resume:
        with naming("resume"):
            Checkpoint(Path(resume)).read()
            check_writable(resume, replaced=True)


def _checksum(data: Mapping[str, Any]) -> str:
    """The SHA-256 of JSON values, which finds damage; who changes a file on purpose can compute it too."""
    return hashlib.sha256(json.dumps(data).encode()).hexdigest()
