"""Checkpoints: files from which a stopped run can be resumed."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bjsim.errors import InputError, naming
from bjsim.sim.running.experiment import Point, Progress
from bjsim.sim.stats.tally import Tally


@dataclass
class Checkpoint:
    """A file that a run leaves from time to time and can go on from; written atomically.

    Raises: InputError naming the file if it is damaged or belongs to another experiment.
    """

    path: Path
    what: Mapping[str, Any] = field(default_factory=dict)  # the experiment, to refuse another's file

    def save(self, progress: Progress) -> None:
        """Replace the file by what is known now."""
        data = {
            "experiment": self.what,
            "merged": progress.merged,
            "tallies": [tally.to_json() for tally in progress.tallies],
            "convergence": progress.convergence,
        }
        aside = self.path.with_name(self.path.name + ".new")
        with naming(aside), aside.open("w", encoding="utf-8") as file:
            json.dump(data, file)
            file.flush()
            os.fsync(file.fileno())
        aside.replace(self.path)

    def read(self) -> tuple[dict[str, Any], Progress]:
        """The experiment that the file is of, and what it knows."""
        try:
            data = json.loads(self.path.read_text(encoding="utf-8"))
            found = dict(data["experiment"])
            tallies = [Tally.from_json(tally) for tally in data["tallies"]]
            points = [[Point(n, m, tuple(c), tuple(a)) for n, m, c, a in seat] for seat in data["convergence"]]
            progress = Progress(tallies, points, int(data["merged"]))
        except OSError as error:
            raise InputError(f"cannot read the checkpoint {self.path}: {error.strerror}") from None
        except (ValueError, KeyError, TypeError, ArithmeticError, AttributeError, RecursionError):
            raise InputError(f"{self.path} is no checkpoint of bjsim, or is damaged") from None
        return found, progress

    def load(self) -> Progress:
        """What the file knows of this experiment."""
        found, progress = self.read()
        if found != json.loads(json.dumps(self.what)):
            other = [key for key in self.what if found.get(key) != json.loads(json.dumps(self.what[key]))]
            raise InputError(f"the checkpoint {self.path} is of another run: its {', '.join(other)} differ")
        return progress
