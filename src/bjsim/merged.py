"""The result of a run that was played in shards."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence

from bjsim.errors import InputError
from bjsim.request import RunRequest
from bjsim.run_result import RunResult
from bjsim.sim.game.rules import Rules
from bjsim.sim.running.shards import Part, join_parts


def merge_parts(paths: Sequence[str | os.PathLike[str]]) -> RunResult:
    """Merge the parts of a run that was played in shards, given in any order.

    The result is the same to the bit as if the run had not been divided, but for `seconds`, those of all
    shards together. InputError names a part that is missing, given twice, of another run or damaged.
    """
    if not paths:
        raise InputError("no part to merge; give the files of all shards")
    parts = [Part.read(path) for path in paths]
    join_parts(parts)
    whole = parts[0].description
    request = RunRequest(
        Rules.from_dict(whole["rules"]),
        [bot for bot, _ in whole["bots"]],
        **{name: whole[name] for name in ("hands", "seed", "tables", "adjust_luck")},
        workers=1,
    )
    with request.open() as run:
        again = json.loads(json.dumps(request.identity(run.players)))
        if again != whole:
            other = [key for key in again if again[key] != whole.get(key)]
            raise InputError(f"{parts[0].path} was played by others than are here now (different: {', '.join(other)})")
        return run.merge(parts)
