"""The page of a counting run: one self-contained HTML file that computes any other bets in the browser."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bjsim.html_pages import render_page
from bjsim.sim.game.rules import Rules
from bjsim.strategies.counting.count_returns import Z95, CountReturns
from bjsim.strategies.counting.figures import Figure, Terms

DIGITS = 11  # significant digits of the numbers in the page


@dataclass(frozen=True)
class CountPage:
    """What the page shows.

    Attributes:
        title: The heading.
        subtitle: The game, the counting system, the index plays and the bets, in words.
        command: The command that reproduces the run.
        rules: The game.
        count_name: The name of the count by which bets are made, such as "true count" or "running count for bets".
        labels: The label of each count, such as "≤ -5".
        rounds: Rounds seen.
        seed: Random seed.
        returns: The returns of a unit by count, with their errors.
        wagered: Money bet per initial bet at each count, doubles and splits included.
        bets: Units bet on each spot at each count.
        spots: Spots played at each count.
        figures: The figures of these bets.
        terms: Bankroll, rounds per hour, Kelly fraction and the length of a trip.
    """

    title: str
    subtitle: str
    command: str
    rules: Rules
    count_name: str
    labels: Sequence[str]
    rounds: int
    seed: int
    returns: CountReturns
    wagered: NDArray[np.float64]
    bets: NDArray[np.float64]
    spots: NDArray[np.int64]
    figures: Sequence[Figure]
    terms: Terms

    def render(self) -> str:
        """Render the page as HTML."""
        played = self.bets[self.bets > 0]
        start = {
            "bankroll": _plain(self.terms.bankroll * (self.terms.unit or 1)),
            "unit": _plain(self.terms.unit or 1), "kelly": _plain(self.terms.kelly),
            "rounds_per_hour": _plain(self.terms.rounds_per_hour), "low": _plain(played.min()),
            "high": _plain(played.max()), "chip": _plain(min(1.0, played.min())),
        }  # fmt: skip
        return render_page(
            "bjsim.strategies.counting", "count.html", title=self.title, subtitle=self.subtitle, command=self.command,
            count_name=self.count_name, rounds=self.rounds, seed=self.seed, start=start,
            games=[(self.rules.name, self.rules.to_dict())], rows=self._rows(), several=bool((self.spots > 1).any()),
            results=[(one.key, _money(one.name) if "hour" in one.key else one.name, one.text) for one in self.figures
                     if one.key not in ("bankroll", "unit")],  # which can be changed
            data=json.dumps(self._data(), separators=(",", ":")).replace("<", "\\u003c"),
        )  # fmt: skip

    def _rows(self) -> list[dict[str, str]]:
        table = self.returns
        halves = table.ev_half_widths()
        return [
            {
                "label": self.labels[i], "share": f"{100 * table.shares[i]:.3f}%", "ev": f"{100 * table.ev[i]:+.3f}%",
                "half": f"{100 * halves[i]:.3f}%", "sd": f"{math.sqrt(table.var[i]):.4f}", "bet": _plain(self.bets[i]),
                "spots": str(self.spots[i]),
                "side": "gain" if table.ev[i] > 0 else "loss",
            }
            for i in range(len(self.labels))
        ]  # fmt: skip

    def _data(self) -> dict[str, object]:
        table, size = self.returns, len(self.labels)
        error = np.zeros((4 * size, 4 * size) if (self.spots > 1).any() else (3 * size, 3 * size))
        if table.error is not None:
            known = slice(size, 2 * size) if len(table.error) == size else slice(len(table.error))
            error[known, known] = table.error[: len(error), : len(error)]
        cov = np.zeros(size) if table.cov is None else np.nan_to_num(table.cov)
        names = ("share", "ev", "var", "cov", "wagered", "bet", "spots", "count")
        columns = (table.shares, table.ev, table.var, cov, self.wagered, self.bets, self.spots, table.counts)
        return {
            "counts": [
                {"label": label} | {name: _rounded(column[i]) for name, column in zip(names, columns, strict=True)}
                for i, label in enumerate(self.labels)
            ],
            "error": [[_rounded(cell) for cell in line[: i + 1]] for i, line in enumerate(error)],
            "z": Z95,
            "trip_hours": self.terms.trip_hours,
        }


def _rounded(number: float) -> float:
    return float(f"{number:.{DIGITS}g}")


def _plain(number: float) -> str:
    return f"{number:.6f}".rstrip("0").rstrip(".")


def _money(name: str) -> str:
    """The name of a figure in the money of the bankroll; a unit has the value that the reader gives it."""
    return name.removesuffix(", units").removesuffix(", $")
