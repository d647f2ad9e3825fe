"""The page of a counting run: one self-contained HTML file that computes any other bets in the browser."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence

import numpy as np

from bjsim.arrays import Floats
from bjsim.html_pages import render_page
from bjsim.sim.stats.intervals import Z95
from bjsim.strategies.counting.count_run import CountRun
from bjsim.strategies.counting.figures import Figure, Terms

DIGITS = 11  # significant digits of the numbers in the page


def render_count_page(run: CountRun, bets: Floats, figures: Sequence[Figure], terms: Terms, command: str = "") -> str:
    """Render the page of a run as HTML; `bets` are units per spot at each count, `command` reproduces the run."""
    played = bets[bets > 0]
    start = {
        "bankroll": _plain(terms.bankroll * (terms.unit or 1)),
        "unit": _plain(terms.unit or 1),
        "kelly": _plain(terms.kelly),
        "rounds_per_hour": _plain(terms.rounds_per_hour),
        "low": _plain(played.min()),
        "high": _plain(played.max()),
        "chip": _plain(min(1.0, played.min())),
    }
    return render_page(
        "bjsim.strategies.counting", "count.html", title=run.title, subtitle=run.description, command=command,
        count_name=run.count_name, rounds=run.rounds, seed=run.seed, start=start,
        games=[(run.game.rules.name, run.game.rules.to_dict())], rows=_rows(run, bets),
        several=bool((run.spots > 1).any()),
        results=[(one.key, _money(one.name) if "hour" in one.key else one.name, one.text) for one in figures
                 if one.key not in ("bankroll", "unit")],  # which can be changed
        data=json.dumps(_data(run, bets, terms), separators=(",", ":")).replace("<", "\\u003c"),
    )  # fmt: skip


def _rows(run: CountRun, bets: Floats) -> list[dict[str, str]]:
    table, halves = run.returns, run.returns.ev_half_widths()
    return [
        {
            "label": label, "share": f"{100 * table.shares[i]:.3f}%", "ev": f"{100 * table.ev[i]:+.3f}%",
            "half": f"{100 * halves[i]:.3f}%", "sd": f"{math.sqrt(table.var[i]):.4f}", "bet": _plain(bets[i]),
            "spots": str(run.spots[i]),
            "side": "gain" if table.ev[i] > 0 else "loss",
        }
        for i, label in enumerate(run.labels)
    ]  # fmt: skip


def _data(run: CountRun, bets: Floats, terms: Terms) -> dict[str, object]:
    table, size = run.returns, len(run.labels)
    error = np.zeros((4 * size, 4 * size) if (run.spots > 1).any() else (3 * size, 3 * size))
    if table.error is not None:
        known = slice(size, 2 * size) if len(table.error) == size else slice(len(table.error))
        error[known, known] = table.error[: len(error), : len(error)]
    cov = np.zeros(size) if table.cov is None else np.nan_to_num(table.cov)
    names = ("share", "ev", "var", "cov", "wagered", "bet", "spots", "count")
    columns = (table.shares, table.ev, table.var, cov, run.wagered, bets, run.spots, table.counts)
    return {
        "counts": [
            {"label": label} | {name: _rounded(column[i]) for name, column in zip(names, columns, strict=True)}
            for i, label in enumerate(run.labels)
        ],
        "error": [[_rounded(cell) for cell in line[: i + 1]] for i, line in enumerate(error)],
        "z": Z95,
        "trip_hours": terms.trip_hours,
    }


def _rounded(number: float) -> float:
    return float(f"{number:.{DIGITS}g}")


def _plain(number: float) -> str:
    return f"{number:.6f}".rstrip("0").rstrip(".")


def _money(name: str) -> str:
    """The name of a figure in the money of the bankroll; a unit has the value that the reader gives it."""
    return name.removesuffix(", units").removesuffix(", $")
