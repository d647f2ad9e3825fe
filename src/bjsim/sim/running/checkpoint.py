"""Checkpoints: files that a stopped run resumes from."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bjsim.errors import InputError
from bjsim.files import read_bytes, replacing
from bjsim.json_values import is_like
from bjsim.sim.running.experiment import Point, Progress
from bjsim.sim.stats.tally import Tally

_LUCK = {"value": 0.0, "rounds_in_shoe": 0, "shoes": 0, "y": 0.0, "b": 0.0, "yy": 0.0, "yb": 0.0, "bb": 0.0}
_DATA = {
    "experiment": {},
    "merged": 0,
    "tallies": [{"unit": "", "counts": [[0]], "luck": _LUCK}],
    "convergence": [[None]],
}


@dataclass
class Checkpoint:
    """A file with the progress of a run, replaced atomically; `description` is to refuse another experiment."""

    path: Path
    description: Mapping[str, Any] = field(default_factory=dict)

    def save(self, progress: Progress) -> None:
        data = {
            "experiment": self.description,
            "merged": progress.merged,
            "tallies": [tally.to_json() for tally in progress.tallies],
            "convergence": progress.convergence,
        }
        write_checked(self.path, data)

    def read(self) -> tuple[dict[str, Any], Progress]:
        """Read the experiment's description and the progress; InputError: no checkpoint, or it is damaged."""
        try:
            data = read_checked(self.path)
            if not is_like(data, _DATA):
                raise ValueError("a value of another type")
            experiment = data["experiment"]
            tallies = [Tally.from_json(tally) for tally in data["tallies"]]
            points = [[Point.from_list(point) for point in seat] for seat in data["convergence"]]
            progress = Progress(tallies, points, data["merged"])
        except OSError as error:
            raise InputError(f"cannot read the checkpoint {self.path}: {error.strerror}") from None
        except (ValueError, KeyError, TypeError, ArithmeticError, AttributeError, RecursionError):
            raise InputError(f"{self.path} is not a checkpoint of bjsim, or is damaged") from None
        return experiment, progress

    def load(self) -> Progress:
        """Read the progress of this experiment; InputError as for `read`, or of another experiment's file."""
        experiment, progress = self.read()
        expected = json.loads(json.dumps(self.description))
        if experiment != expected:
            other = [key for key in expected if experiment.get(key) != expected[key]]
            raise InputError(f"the checkpoint {self.path} belongs to another run (different: {', '.join(other)})")
        return progress


def write_checked(path: Path, data: Mapping[str, Any]) -> None:
    """Replace a file atomically by JSON values with their checksum; InputError if it cannot be written."""
    with replacing(path) as file:
        file.write(json.dumps({**data, "sha256": _checksum(data)}).encode())
        file.flush()
        os.fsync(file.fileno())


def read_checked(path: Path) -> dict[str, Any]:
    """Read what `write_checked` wrote; OSError: unreadable. ValueError: damaged.

    A file of another kind raises this, a TypeError, KeyError or AttributeError.
    """
    data: dict[str, Any] = json.loads(read_bytes(path))
    if data.pop("sha256") != _checksum(data):
        raise ValueError("the checksum differs")
    return data


def _checksum(data: Mapping[str, Any]) -> str:
    """The SHA-256 of JSON values, which finds damage; who changes a file on purpose can compute it too."""
    return hashlib.sha256(json.dumps(data).encode()).hexdigest()
