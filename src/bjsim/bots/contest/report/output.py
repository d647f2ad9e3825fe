"""What a contest leaves beside its journal: standings.json and standings.csv."""

from __future__ import annotations

import csv
import io
import json
import os
from pathlib import Path
from typing import Any

from bjsim.bots.contest.play.timings import Timings
from bjsim.bots.contest.scoring.standings import Standings, StandingsRow
from bjsim.errors import naming

DIGITS = 6
FORMULA = ("=", "+", "-", "@", "\t", "\r")  # what a formula in a spreadsheet begins with


def row_values(row: StandingsRow, timings: Timings | None = None) -> dict[str, Any]:
    """One line of standings.json. rank: None for a bot without one; chips: per match; luck_adjusted: profit minus
    luck, chips per hand, and None where the luck is not known: under rules with splits or a peek, and before the first
    match has ended."""
    score = row.score
    ms = timings.ms_per_move(row.bot) if timings else None
    return {
        "rank": row.rank,
        "bot": row.name,
        "group": row.groups,
        "matches": score.matches,
        "hands": score.hands,
        "chips": _round(row.chips),
        "chips_ci95": _bounds(row.chips_ci95),
        "per_hand": _round(score.raw.mean),
        "per_hand_ci95": _bounds(score.raw.ci95),
        "luck_adjusted": _round(score.adjusted.mean) if score.adjusted.n else None,
        "luck_adjusted_ci95": _bounds(score.adjusted.ci95),
        "broke": score.broke,
        "faults": dict(sorted(score.faults.items())),
        "ms_per_move": None if ms is None else round(ms, 3),
    }


def standings_json(standings: Standings, timings: Timings | None = None) -> str:
    """standings.json: a list, best first."""
    return json.dumps([row_values(row, timings) for row in standings.rows()], indent=1) + "\n"


def standings_csv(standings: Standings, timings: Timings | None = None) -> str:
    """standings.csv: the same, intervals as two columns and faults as their number."""
    text = io.StringIO()
    writer = None
    for row in standings.rows():
        flat: dict[str, Any] = {}
        for key, value in row_values(row, timings).items():
            if key.endswith("_ci95"):
                flat[f"{key}_low"], flat[f"{key}_high"] = value or ("", "")
            else:
                flat[key] = sum(value.values()) if key == "faults" else value
        if writer is None:
            writer = csv.DictWriter(text, list(flat), lineterminator="\n")
            writer.writeheader()
        writer.writerow({key: _no_formula(value) for key, value in flat.items()})
    return text.getvalue()


def _no_formula(value: object) -> object:
    """The value, as text that a spreadsheet shows where it would work it out."""
    return f"'{value}" if isinstance(value, str) and value.startswith(FORMULA) else value


def write_whole(path: Path, text: str) -> None:
    """Write a file so that whoever reads it sees the old one or the whole new one."""
    fresh = path.with_name(path.name + ".new")
    with naming(fresh):
        fresh.write_text(text, encoding="utf-8")
    os.replace(fresh, path)


def write_standings(folder: Path, standings: Standings, timings: Timings | None = None) -> None:
    """Write standings.json and standings.csv into the contest's folder."""
    write_whole(folder / "standings.json", standings_json(standings, timings))
    write_whole(folder / "standings.csv", standings_csv(standings, timings))


def _round(value: float) -> float:
    return round(value, DIGITS)


def _bounds(bounds: tuple[float, float] | None) -> list[float] | None:
    return [_round(bound) for bound in bounds] if bounds else None
