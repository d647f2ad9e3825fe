"""The result of a counted game: its bets and their figures, as values, a table, JSON and a page."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bjsim.arrays import Floats
from bjsim.errors import InputError
from bjsim.html_pages import render_page
from bjsim.json_values import json_object
from bjsim.sim.stats.estimate import Z95
from bjsim.strategies.counting.count_files import load_count_run, save_count_run
from bjsim.strategies.counting.count_run import CountRun, difference_error, has_common_cards
from bjsim.strategies.counting.request import BETS, CountRequest, listed_axes, place_bets, play_apart, remarks
from bjsim.strategies.counting.returns import (
    CountReturns,
    Figure,
    Terms,
    figures_json,
    find_figures,
    ramp_gradients,
    ramp_returns,
)
from bjsim.strategies.tabular import data_frame, html_table

if TYPE_CHECKING:
    import pandas


Play = Callable[[CountRequest, str], CountRun]


@dataclass(frozen=True, eq=False, repr=False)
class CountResult:
    """A counted game with its bets: `result["score"]` is one of their figures.

    Attributes:
        request: What was asked for.
        run: The rounds; the figures of any other bets follow from them.
        bets: Units bet on each spot, by count.
        figures: Profit, spread and risk per round seen, with intervals.
        terms: Bankroll, rounds per hour, Kelly fraction and the length of a trip.
        notes: Remarks about the bets.
    """

    request: CountRequest
    run: CountRun
    bets: NDArray[np.float64]
    figures: tuple[Figure, ...]
    terms: Terms
    notes: tuple[str, ...] = ()

    @staticmethod
    def of(run: CountRun, request: CountRequest) -> CountResult:
        """Compute the figures of a run for the bets of a request.

        Args:
            run: The run.
            request: The request.

        Returns:
            The result.

        Raises:
            InputError: If the bets do not fit the run.
        """
        table, bets = run.returns, place_bets(run, request)
        ramp = ramp_returns(table, bets, run.spots)
        terms = request.terms.leaving(run.left_per_round).reached(ramp)
        wagered = float(table.shares @ (bets * run.spots * run.wagered))
        figures = tuple(find_figures(ramp, terms, wagered))
        return CountResult(request, run, bets, figures, terms, remarks(run, request, bets, ramp))

    @staticmethod
    def load(path: str | os.PathLike[str], **bets: Any) -> CountResult:
        """Read a stored run, and compute the figures of bets on its spots.

        Args:
            path: A file that `save` wrote, or the checkpoint of a count.
            **bets: As for `bjsim.count`: `ramp` or `optimal` and `chip`, `bankroll`, `unit`, `ror`, `kelly`,
                `rounds_per_hour`, `trip`.

        Returns:
            The result.

        Raises:
            InputError: If the file is no counting run, or the bets are not accepted.
        """
        run = load_count_run(path)
        game, plays = run.game, run.game.departures
        request = CountRequest(
            game.rules, game.system, indices=plays.text or "none", chart=plays.base, leave=game.leave,
            rounds=run.rounds, seed=run.seed, adjust_luck=game.adjusted, **_only_bets(bets),
        )  # fmt: skip
        return CountResult.of(run, request)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the run to a file; the bets are not stored.

        Args:
            path: The file.

        Raises:
            InputError: If the file cannot be written.
        """
        save_count_run(self.run, path)

    def with_bets(self, **bets: Any) -> CountResult:
        """The figures of other bets, without playing again.

        Args:
            **bets: As for `load`; the others stay, but `ramp` replaces `optimal`.

        Returns:
            The result of the same rounds.

        Raises:
            InputError: If the bets are not accepted, or are on other spots than were played.
        """
        return CountResult.of(self.run, self.request.changed(**_only_bets(bets)))

    def vary(self, **values: Sequence[object]) -> CountComparison:
        """Play this game again with every combination of other values, on the same shoes where decks allow.

        Args:
            **values: Lists of values of rules, such as `cut=["60%", "75%"]`, or of parameters of `bjsim.count`, such as
                `system=["hilo", "ko"]`. Games that differ in bets on the same spots alone are played once.

        Returns:
            The games.

        Raises:
            InputError: If a value is not accepted.
        """
        return CountComparison.of(self.request.varied(listed_axes(values)))

    def __getitem__(self, key: str) -> Figure:
        found = {figure.key: figure for figure in self.figures}
        if key not in found:
            raise KeyError(f"{key}; figures are {', '.join(found)}")
        return found[key]

    def __repr__(self) -> str:
        return f"CountResult({self.run.title}, {self.run.rounds:,} rounds, SCORE {self['score'].text})"

    def _repr_html_(self) -> str:
        return html_table(
            ["per round seen", "95%"], [(one.name, one.text) for one in self.figures], self.run.description
        )

    @property
    def returns(self) -> CountReturns:
        """The returns of a unit by count."""
        return self.run.returns

    @property
    def by_count(self) -> list[dict[str, Any]]:
        """The rows of the table: count, label, share of rounds, EV with its interval, sd, bet, spots and covariance."""
        table, run, halves = self.returns, self.run, self.returns.ev_half_widths()
        return [
            {
                "count": float(table.counts[i]), "label": run.labels[i], "share": float(table.shares[i]),
                "ev": float(table.ev[i]), "ev_ci95": [float(table.ev[i] - halves[i]), float(table.ev[i] + halves[i])],
                "sd": math.sqrt(table.var[i]), "bet": float(self.bets[i]), "spots": int(run.spots[i]),
                "cov": None if table.cov is None or run.spots[i] == 1 else float(table.cov[i]),
            }
            for i in range(len(run.labels))
        ]  # fmt: skip

    def minus(self, first: CountResult) -> list[Figure]:
        """The figures of this game less those of another.

        Args:
            first: The other game.

        Returns:
            The differences of the figures that have intervals in both games.
        """

        def slopes(result: CountResult, gradient: NDArray[np.float64]) -> NDArray[np.float64]:
            return gradient @ ramp_gradients(result.returns, result.bets, result.run.spots)

        pairs = zip(first.figures, self.figures, strict=True)
        return [
            two.minus(
                one, difference_error(first.run, slopes(first, one.gradient), self.run, slopes(self, two.gradient))
            )
            for one, two in pairs
            if one.gradient is not None and two.gradient is not None
        ]

    def to_json(self) -> dict[str, Any]:
        """The result as `bjsim count --json` writes it.

        Returns:
            JSON values; the interval of a figure has its name and `_ci95`.
        """
        run, game = self.run, self.run.game
        return json_object({
            "by_count": self.by_count, **figures_json(self.figures), "rounds": run.rounds,
            "rounds_per_shoe": run.rounds_per_shoe, "seconds": run.seconds, "seed": run.seed,
            "variance_reduction": run.variance_reduction(self.bets), "rules": game.rules.to_dict(),
            "system": game.system.name, "side_aces": float(game.system.side_aces), "adjusted": game.adjusted,
            "leave": game.leave, "bankroll": self.terms.bankroll, "unit": self.terms.unit,
            "rounds_per_hour": self.terms.rounds_per_hour, "index_plays": [str(play) for play in game.departures.plays],
            **({"stopped": True} if run.stopped else {}),
        })  # fmt: skip

    def to_frame(self) -> pandas.DataFrame:
        """The table by count as a data frame.

        Returns:
            A row for each count; its columns are those of `by_count`.

        Raises:
            InputError: If pandas is not installed.
        """
        rows = self.by_count
        return data_frame({column: [row[column] for row in rows] for column in rows[0]})

    def to_html(self, command: str = "") -> str:
        """A self-contained page that computes other bets in the browser.

        Args:
            command: The command that reproduces the run, which the page shows.

        Returns:
            The page.
        """
        return render_count_page(self.run, self.bets, self.figures, self.terms, command)


def _only_bets(given: dict[str, Any]) -> dict[str, Any]:
    if unknown := given.keys() - set(BETS):
        raise InputError(f"{min(unknown)}: it is no bet, and needs another run; bets are {', '.join(BETS)}")
    return given


@dataclass(frozen=True, eq=False, repr=False)
class CountComparison:
    """Counted games that differ in what was varied.

    Attributes:
        games: The results with their names; differences are those to the first.
    """

    games: tuple[tuple[str, CountResult], ...]

    @staticmethod
    def of(requests: Sequence[tuple[str, CountRequest]], play: Play = play_apart) -> CountComparison:
        """Play games; those that differ only in bets on the same spots share a run.

        Args:
            requests: The games with their names.
            play: Plays one of them, given its request and a label.

        Returns:
            The results.
        """
        runs: dict[object, CountRun] = {}
        games = []
        for number, (name, one) in enumerate(requests, 1):
            if one.cards not in runs:
                runs[one.cards] = play(one, f"{number} of {len(requests)}: {name}, ")
            games.append((name, CountResult.of(runs[one.cards], one)))
        return CountComparison(tuple(games))

    def __repr__(self) -> str:
        scores = (f"{name}: SCORE {one['score'].text}" for name, one in self.games)
        return f"CountComparison({'; '.join(scores)})"

    @property
    def differences(self) -> list[list[Figure]]:
        """The figures of each game but the first, less those of the first."""
        return [one.minus(self.games[0][1]) for _, one in self.games[1:]]

    def to_json(self) -> dict[str, Any]:
        """The games as `bjsim count --vary --json` writes them.

        Returns:
            JSON values; each game but the first has the differences of its figures to the first.
        """
        first = self.games[0][1]
        found = [{"name": name} | one.to_json() for name, one in self.games]
        for game, (_, one), figures in zip(found[1:], self.games[1:], self.differences, strict=True):
            game["difference"] = {"common_cards": has_common_cards(first.run, one.run)} | json_object(
                figures_json(figures)
            )
        return {"games": found}

    def to_frame(self) -> pandas.DataFrame:
        """The figures as a data frame.

        Returns:
            A row for each game, and a column for each figure and each interval.

        Raises:
            InputError: If pandas is not installed.
        """
        rows = [figures_json(one.figures) for _, one in self.games]
        return data_frame({key: [row.get(key) for row in rows] for key in rows[0]}, [name for name, _ in self.games])


# --- The page of a counting run: one self-contained HTML file that computes any other bets in the browser.


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
