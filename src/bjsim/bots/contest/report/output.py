"""The result files standings.json, standings.csv and marks.csv."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bjsim.bots.contest.play.timings import Timings
from bjsim.bots.contest.scoring.marks import Mark
from bjsim.bots.contest.scoring.score import StandingsRow
from bjsim.bots.contest.scoring.standings import Standings
from bjsim.files import replacing

DIGITS = 6
FORMULA = ("=", "+", "-", "@", "\t", "\r")  # first characters of a spreadsheet formula


def row_values(row: StandingsRow, timings: Timings | None = None) -> dict[str, Any]:
    """One row of standings.json.

    `score` is what ranks the bots, and `chips` what they hold, both in chips per match, `per_hand` the profit in chips
    per hand, `luck_adjusted` profit minus luck in chips per hand: None before the first match has ended, and under
    rules without luck adjustment (splits without a limit).
    `rank_range` is the best and the worst rank that the bot may deserve, for all bots together with a probability
    of 95%. `effect` is its luck-adjusted lead over the leader per hand, in standard deviations of a hand. `tied_with`
    names the bots that it is not separated from. `retired` says when and why the bot is not asked any more, or "".
    `age` is the number of matches that the contest has played since this version joined.
    """
    score = row.score
    ms = timings.ms_per_move(row.bot) if timings else None
    return {
        "rank": row.rank,
        "rank_range": list(row.rank_range) if row.rank_range else None,
        "bot": row.name,
        "author": row.author,
        "tied_with": list(row.tied_with),
        "effect": None if row.effect is None else _round(row.effect),
        "matches": score.matches,
        "hands": score.hands,
        "score": _round(row.points),
        "score_ci95": _bounds(row.points_ci95),
        "chips": _round(row.chips),
        "chips_ci95": _bounds(row.chips_ci95),
        "per_hand": _round(score.raw.mean),
        "per_hand_ci95": _bounds(score.raw.student95),
        "luck_adjusted": _round(score.adjusted.mean) if score.adjusted.n else None,
        "luck_adjusted_ci95": _bounds(score.adjusted.student95),
        "broke": score.broke,
        "retired": score.retired,
        "version": row.version,
        "age": row.age,
        "faults": dict(sorted(score.faults.items())),
        "ms_per_move": None if ms is None else round(ms, 3),
    }


def standings_json(standings: Standings, timings: Timings | None = None) -> str:
    """The text of standings.json: a list of rows, best first."""
    return json.dumps([row_values(row, timings) for row in standings.rows()], indent=1) + "\n"


def standings_csv(standings: Standings, timings: Timings | None = None) -> str:
    """The text of standings.csv: the same rows, with intervals as two columns and faults as a count."""
    text = io.StringIO()
    writer = None
    for row in standings.rows():
        flat: dict[str, Any] = {}
        for key, value in row_values(row, timings).items():
            if key.endswith("_ci95"):
                flat[f"{key}_low"], flat[f"{key}_high"] = value or ("", "")
            else:
                flat[key] = sum(value.values()) if key == "faults" else value
                if key == "rank_range":
                    flat[key] = "-".join(map(str, value or ()))
                if key == "tied_with":
                    flat[key] = "; ".join(value)
        if writer is None:
            writer = csv.DictWriter(text, list(flat), lineterminator="\n")
            writer.writeheader()
        writer.writerow({key: _as_text(value) for key, value in flat.items()})
    return text.getvalue()


def marks_csv(marks: Sequence[Mark]) -> str:
    """The text of marks.csv, with a last column that says whether the whole interval has the same mark."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([*Mark._fields, "sure"])
    for mark in marks:
        writer.writerow([*map(_as_text, mark), "yes" if mark.sure else "no"])
    return text.getvalue()


def _as_text(value: object) -> object:
    """Quote a value that a spreadsheet would evaluate as a formula. A lone sign, such as the lowest mark, is text."""
    is_formula = isinstance(value, str) and len(value) > 1 and value.startswith(FORMULA)
    return f"'{value}" if is_formula else value


def write_atomically(path: Path, text: str) -> None:
    """Write a file atomically: readers see the old or the new content."""
    with replacing(path) as file:
        file.write(text.encode())


def write_standings(folder: Path, standings: Standings, timings: Timings | None = None) -> None:
    write_atomically(folder / "standings.json", standings_json(standings, timings))
    write_atomically(folder / "standings.csv", standings_csv(standings, timings))


def _round(value: float) -> float:
    return round(value, DIGITS)


def _bounds(bounds: tuple[float, float] | None) -> list[float] | None:
    return [_round(bound) for bound in bounds] if bounds else None
