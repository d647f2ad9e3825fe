"""The result of a counted game: its bets and their figures, as values, a table, JSON and a page."""

from __future__ import annotations

import json
import math
import os
import re
from bisect import bisect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bjsim.arguments import MAX_HANDS, without_folders
from bjsim.arrays import Floats
from bjsim.asked.kinds import Dollars
from bjsim.errors import InputError
from bjsim.report.data import Described, data_frame
from bjsim.report.page import render_page
from bjsim.report.parts import (
    Axis,
    Bars,
    Curves,
    DataColumn,
    DataSeries,
    DataTable,
    Dots,
    Figures,
    Heat,
    Line,
    Notes,
    Only,
    Panel,
    Report,
    Section,
    percent,
)
from bjsim.sim.game.events import game_text
from bjsim.sim.stats.estimate import Z95
from bjsim.strategies.counting.count_files import load_count_run, save_count_run
from bjsim.strategies.counting.count_run import CountRun, difference_error, has_common_cards
from bjsim.strategies.counting.departures import format_departures
from bjsim.strategies.counting.ramp import Bet, Ramp, bankroll_fan
from bjsim.strategies.counting.request import BETS, CountRequest, listed_axes, place_bets, play_apart, remarks
from bjsim.strategies.counting.returns import (
    CountReturns,
    Figure,
    Terms,
    find_figures,
    ramp_gradients,
    ramp_returns,
)

if TYPE_CHECKING:
    import pandas


Play = Callable[[CountRequest, str], CountRun]
CHIPS = (1, 5, 25, 100, 500, 1000, 5000, 25_000)  # that casinos have
# What a stored run may vary besides its bets: its chart and index plays stay, or are given.
SAME_PLAYS = {"chart", "indices", "cut", "seats", "insurance", "leave", "rounds", "until", "seed", "adjust_luck"}


@dataclass(frozen=True, eq=False, repr=False)
class CountResult(Described):
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
            game.rules, game.system, indices=format_departures(plays.plays) or "none", chart=plays.base,
            leave=game.leave, rounds=min(run.rounds, MAX_HANDS), seed=run.seed, adjust_luck=game.adjusted,
            **_only_bets(bets),
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
            **bets: As for `load`; the others stay, but `ramp` and `optimal` replace one another.

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
        requests, others = self.request.varied(listed_axes(values)), values.keys() - SAME_PLAYS - set(BETS)
        is_stored = self.request.chart is self.run.game.departures.base  # how it was found is not in the file
        if is_stored and others and not {"chart", "indices"} <= values.keys():
            raise InputError(
                f"{min(others)}: a stored run has the chart and the index plays of its own game; give them for the "
                "others too, such as chart=['optimal'], indices=['i18']"
            )
        return CountComparison.of(requests)

    def __getitem__(self, key: str) -> Figure:
        found = {figure.key: figure for figure in self.figures}
        if key not in found:
            raise KeyError(f"{key}; figures are {', '.join(found)}")
        return found[key]

    def __repr__(self) -> str:
        return f"CountResult({self.run.title}, {self.run.rounds:,} rounds, SCORE {self['score'].text})"

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
            The differences of the figures that have intervals in both games, and are in the same money.
        """

        def slopes(result: CountResult, gradient: NDArray[np.float64]) -> NDArray[np.float64]:
            return gradient @ ramp_gradients(result.returns, result.bets, result.run.spots)

        known = {one.key: one for one in first.figures}  # which figures there are depends on the terms
        pairs = [(known[two.key], two) for two in self.figures if two.key in known]
        return [
            two.minus(
                one, difference_error(first.run, slopes(first, one.gradient), self.run, slopes(self, two.gradient))
            )
            for one, two in pairs
            if one.gradient is not None and two.gradient is not None and one.form == two.form
        ]

    def describe(self) -> Report:
        """EV by count with the bets, and the figures of these."""
        run, name = self.run, self.run.count_name
        text = f"{run.description}; {run.rounds:,} rounds, {run.rounds_per_shoe:.1f} in a shoe, "
        text += f"in {run.seconds:.1f} s, " if run.seconds else ""
        text += f"seed {run.seed}; variance reduction {run.variance_reduction(self.bets):,.0f}"
        parts = [
            Section(f"EV by {name}"),
            Only("page", lambda: [self.bars()]),
            self.table(),
            Section("Per round seen"),
            Figures(self.figures, f"± half the 95% interval; risks for a bankroll of {self.terms.bankroll:,.6g} units"),
            Notes([text], "dim"),
            Notes([f"note: {note}" for note in self.notes]),
            Notes([f"stopped: {run.failure or 'results so far'}"] if run.stopped else [], "warning"),
        ]
        lines = [self.summary, f"{run.rounds:,} rounds, seed {run.seed}"]
        return Report(run.description, lines, parts, [run.game.rules], data=self._data)

    @property
    def summary(self) -> str:
        """The most important figures in a line."""
        found = [self[key] for key in ("ev_per_hour", "score", "ror")]
        return "; ".join(f"{one.name.replace(', ', ' in ')}: {one.text}" for one in found)

    def table(self) -> DataTable:
        """The table by count.

        Returns:
            The part of a report.
        """
        unit = self.terms.unit

        def ev(row: Any) -> str:
            return f"{percent(row['ev'], 3)} ± {percent(row['ev_ci95'][1] - row['ev'], 3, '')}"

        def bet(row: Any) -> str | None:
            return f"{row['bet']:g}" + f" x{row['spots']}" * (row["spots"] > 1) if row["bet"] else None

        rows = self.by_count
        columns = [
            DataColumn("", self.run.count_name, lambda row: row["label"]),
            DataColumn("", "share", lambda row: row["share"], partial(percent, digits=3, sign="")),
            DataColumn("", "EV per initial bet", ev),
            DataColumn("", "sd", lambda row: row["sd"], "{:.4f}".format),
            *(
                []
                if self.returns.cov is None
                else [DataColumn("", "cov of two spots", lambda row: row["cov"], "{:.4f}".format)]
            ),
            DataColumn("", "bet, units", bet),
            *([DataColumn("", "bet, $", lambda row: row["bet"] * unit or None, "{:,.2f}".format)] if unit else []),
            *(DataColumn(key, "", itemgetter(key)) for key in rows[0]),
        ]
        return DataTable("by_count", columns, rows)

    def bars(self) -> Bars:
        """EV with its interval, the share of rounds and the bet, by count; labels are short.

        Returns:
            The part of a report.
        """
        labels = [label.replace("≤ ", "≤").replace("≥ ", "≥").replace(" to ", "…") for label in self.run.labels]
        table, bets = self.returns, self.bets.tolist()
        texts = [f"{bet:g}" if bet else "–" for bet in bets]
        series = [
            DataSeries(
                "EV, % of the bet", table.ev.tolist(), lambda ev: f"{100 * ev:g}", table.ev_half_widths().tolist()
            ),
            DataSeries("share of rounds, %", table.shares.tolist(), lambda share: f"{100 * share:g}", colour="grey"),
            DataSeries("bet, units", bets, "{:g}".format, texts=texts),
        ]
        return Bars(labels, series, self.run.count_name)

    def describe_fan(self) -> Report:
        """The bankroll over time, and the share of players who have lost it.

        Returns:
            The report, which is a picture.
        """
        terms, ev, sd = self.terms, self["ev_per_round"].value, self["sd_per_round"].value
        fan = bankroll_fan(ev, sd, terms.bankroll, terms.rounds_per_hour)
        unit, sign = terms.unit or 1.0, "$" if terms.unit else ""
        low, middle, high = ([unit * value for value in line] for line in fan.quantiles)
        bank = f"${terms.bankroll * unit:,.0f}, a unit of ${unit:,.2f}" if sign else f"{terms.bankroll:,.0f} units"
        marks = {f"N0: {fan.n0_hours:,.0f} hours": fan.n0_hours} if fan.n0_hours <= fan.hours[-1] else {}
        share = Axis("ruined", lambda value: percent(value, 1, ""))
        ruin = {f"risk of ruin: {fan.ruin:.2%}": fan.ruin}
        lost = Line("players who lost it", fan.hours, fan.lost, colour="adjusted")
        ruined = Panel("ruined", [lost], ruin, (0, 1.15 * max(fan.ruin, 1e-6)), y=share, marks=marks)
        band = {"5% to 95% of the players": list(zip(low, high, strict=True))}
        line = Line("median", fan.hours, middle, band)
        start = {"at the beginning": unit * terms.bankroll}
        ends = ", ".join(
            f"{name} {sign}{line[-1]:,.0f}" for name, line in (("5%", low), ("50%", middle), ("95%", high))
        )
        panel = Panel(f"at the end: {ends}", [line], start, (0, 1.04 * max(high)), ruined, marks=marks)
        money = Axis(f"bankroll, {sign or 'units'}", lambda value: f"{sign}{value:,.0f}")
        title = f"A bankroll of {bank}, over {fan.hours[-1]:,.0f} hours"
        curves = Curves([panel], Axis("hours of play", "{:,.0f}".format), money)
        return Report(title, [self.run.description, self.summary], [curves])

    def _data(self) -> dict[str, Any]:
        run, game = self.run, self.run.game
        return {
            "rounds": run.rounds, "rounds_per_shoe": run.rounds_per_shoe, "seconds": run.seconds, "seed": run.seed,
            "variance_reduction": run.variance_reduction(self.bets), "rules": game.rules.to_dict(),
            "system": game.system.name, "side_aces": float(game.system.side_aces), "adjusted": game.adjusted,
            "leave": game.leave, "bankroll": self.terms.bankroll, "unit": self.terms.unit,
            "rounds_per_hour": self.terms.rounds_per_hour, "index_plays": [str(play) for play in game.departures.plays],
            **({"stopped": True} if run.stopped else {}),
        }  # fmt: skip

    def to_html(self, command: str = "") -> str:
        """A self-contained page that computes other bets in the browser.

        Args:
            command: The command that reproduces the run, which the page shows.

        Returns:
            The page.
        """
        run, terms, played = self.run, self.terms, self.bets[self.bets > 0]
        return render_page(
            "bjsim.strategies.counting", "count.html", title=run.title, subtitle=run.description, command=command,
            count_name=run.count_name, rounds=min(run.rounds, MAX_HANDS), seed=run.seed, terms=terms,
            low=played.min(), high=played.max(), plain=_plain,
            games=[run.game.rules], rows=self.by_count, halves=self.returns.ev_half_widths(),
            several=bool((run.spots > 1).any()),
            results=[(one.key, _money(one.name) if "hour" in one.key else one.name, one.text) for one in self.figures
                     if one.key not in ("bankroll", "unit")],  # which can be changed
            data=json.dumps(page_data(run, self.bets, terms), separators=(",", ":")).replace("<", "\\u003c"),
        )  # fmt: skip


def _only_bets(given: dict[str, Any]) -> dict[str, Any]:
    if unknown := given.keys() - set(BETS):
        raise InputError(f"{min(unknown)}: it is no bet, and needs another run; bets are {', '.join(BETS)}")
    return given


def in_chips(result: CountResult, chip: float | None) -> CountResult:
    """The same rounds with bets in whole chips, if `chip` is money, and the risk that these bets have.

    A unit computed from a risk of ruin is rarely a whole number of chips, so a note gives the risk with common chips.
    """
    if isinstance(chip, Dollars):
        found = _bet_in_chips(result, chip)
        note = f"before the bets were rounded, the risk of ruin was {result['ror'].text}"
        return replace(found, notes=(*found.notes, note))
    unit = result.terms.unit
    if result.terms.money is None or unit is None or unit > CHIPS[-1]:
        return result
    above = bisect(CHIPS, unit)
    rounded = [(money, _bet_in_chips(result, money)) for money in CHIPS[max(0, above - 1) : above + 1]]
    risks = [f"${money}: {one['ror'].text}, {one['ev_per_hour'].text} $ an hour" for money, one in rounded]
    note = f"risk of ruin and profit with bets in chips of {'; '.join(risks)} (--chip '$5')"
    return replace(result, notes=(*result.notes, note))


def _bet_in_chips(result: CountResult, chip: float) -> CountResult:
    """The same rounds and bank with bets of whole chips of this money, at least one."""
    terms, run = result.terms, result.run
    assert terms.unit is not None
    chips = [max(1, int(bet * terms.unit / chip + 0.5)) if bet else 0 for bet in result.bets.tolist()]
    steps = zip(run.returns.counts.tolist(), chips, run.spots.tolist(), strict=True)
    ramp = Ramp(tuple((Fraction(count), Bet(Fraction(bet), spots)) for count, bet, spots in steps))
    return result.with_bets(ramp=ramp, unit=chip, ror=None, bankroll=terms.bankroll * terms.unit)


@dataclass(frozen=True, eq=False, repr=False)
class CountComparison(Described):
    """Counted games that differ in what was varied.

    Attributes:
        games: The results with their names; differences are those to the first.
        left_out: The names of games whose bets have no figures, each with the reason.
    """

    games: tuple[tuple[str, CountResult], ...]
    left_out: tuple[tuple[str, str], ...] = ()

    @staticmethod
    def of(requests: Sequence[tuple[str, CountRequest]], play: Play = play_apart) -> CountComparison:
        """Play games; those that differ only in bets on the same spots share a run.

        Args:
            requests: The games with their names.
            play: Plays one of them, given its request and a label.

        Returns:
            The results.

        Raises:
            InputError: If a game is not accepted, before any is played; or if no game has figures.
        """
        for one in {one.cards: one for _, one in reversed(requests)}.values():
            _ = one.counting_game  # kept for the play
        runs: dict[object, CountRun] = {}
        for number, (name, one) in enumerate(requests, 1):
            if one.cards not in runs:
                runs[one.cards] = play(one, f"{number} of {len(requests)}: {name}, ")
        games, left_out = [], []
        for name, one in requests:
            try:
                games.append((name, CountResult.of(runs[one.cards], one)))
            except InputError as error:
                left_out.append((name, str(error)))
        if not games:
            raise InputError(": ".join(left_out[0]))
        return CountComparison(tuple(games), tuple(left_out))

    def published(self) -> CountComparison:
        """The comparison with names of files in place of paths.

        Returns:
            The same figures.
        """
        games = tuple((without_folders(name), one) for name, one in self.games)
        return replace(self, games=games, left_out=tuple((without_folders(name), why) for name, why in self.left_out))

    def __repr__(self) -> str:
        scores = (f"{name}: SCORE {one['score'].text}" for name, one in self.games)
        return f"CountComparison({'; '.join(scores)})"

    @property
    def differences(self) -> list[list[Figure]]:
        """The figures of each game but the first, less those of the first."""
        return [one.minus(self.games[0][1]) for _, one in self.games[1:]]

    def describe(self) -> Report:
        """The figures of the games, and their differences to those of the first."""
        name, first = self.games[0]
        also = ("ev_per_hour", "unit", "bankroll") if first.terms.unit or first.terms.ror else ()
        columns = VARIED | {figure.key: figure.name for figure in first.figures if figure.key in also}
        games = [(each, one.figures) for each, one in self.games]
        minus = list(zip((each for each, _ in self.games[1:]), self.differences, strict=True))
        parts: list[Any] = [
            Section("The games"),
            Only("page", lambda: [self._scores()]),
            figures_table(columns, games),
            *([Section("Differences from the first game")] if minus else []),
            figures_table(columns, minus, f"minus {name}"),
            Notes(self._notes(), "dim"),
        ]
        rounds = max(one.run.rounds for _, one in self.games)
        lines = [self._common(), f"up to {rounds:,} rounds, seed {first.run.seed}"]
        rules = list(dict.fromkeys(one.run.game.rules for _, one in self.games))
        return Report(f"{len(self.games)} counted games compared", lines, parts, rules, data=self._data)

    def _common(self) -> str:
        """What is the same in all games, in words: those that differ are named by what varies."""
        texts = {one.run.description for _, one in self.games}
        rules = {game_text(one.run.game.rules) for _, one in self.games}
        first = f"the first game: {self.games[0][1].run.description}"
        return texts.pop() if len(texts) == 1 else rules.pop() if len(rules) == 1 else first

    def _notes(self) -> list[str]:
        name, first = self.games[0]
        others = [each for each, one in self.games[1:] if not has_common_cards(first.run, one.run)]
        text = "± half the 95% interval; differences are between games on the same shoes"
        text += f", except {' and '.join(others)}: other cards, independent" if others else ""
        same: dict[tuple[float, ...], list[str]] = {}
        for each, one in self.games:
            same.setdefault(tuple(figure.value for figure in one.figures), []).append(each)
        alike = [f"{' and '.join(each)} are played alike in this game" for each in same.values() if len(each) > 1]
        notes = [f"note: {each}: {note}" for each, one in self.games for note in one.notes]
        notes += [f"left out: {name}: {why}" for name, why in self.left_out]
        return [*([text] if self.games[1:] else []), *alike, f"{name}: {first.run.description}", *notes]

    def _scores(self) -> Heat | Dots:
        """The SCORE of the games: as a heat map of two things that vary, else as dots."""
        scores = {name: one["score"] for name, one in self.games}
        points = [tuple(re.split(r", (?=[^\s,=<>]+=)", name)) for name in scores]  # values may have commas
        if len({len(point) for point in points}) > 1:  # of values that have commas
            points = [(name,) for name in scores]
        rows, columns = (list(dict.fromkeys(point[-1 - axis] for point in points)) for axis in (0, 1 % len(points[0])))
        is_grid = len(points[0]) == 2 and min(len(rows), len(columns)) > 1 and len(rows) * len(columns) == len(points)
        if not is_grid:
            halves = [score.half or 0.0 for score in scores.values()]
            values, texts = [score.value for score in scores.values()], [score.text for score in scores.values()]
            return Dots([*scores], [DataSeries("SCORE", values, "{:g}".format, halves, texts)], "SCORE, 95% interval")
        cells = [[scores[f"{column}, {row}"] for column in columns] for row in rows]
        across, down = (text.partition("=")[0] for text in (columns[0], rows[0]))
        return Heat(
            [text.partition("=")[2] for text in rows],
            [text.partition("=")[2] for text in columns],
            [[one.value for one in line] for line in cells],
            [[one.half for one in line] for line in cells],
            (NAMES.get(down, down), NAMES.get(across, across)),
            "SCORE",
        )

    def _data(self) -> dict[str, Any]:
        first = self.games[0][1]
        found = [{"name": name} | one.to_json() for name, one in self.games]
        for game, (_, one), figures in zip(found[1:], self.games[1:], self.differences, strict=True):
            game["difference"] = {"common_cards": has_common_cards(first.run, one.run)} | _by_key(figures)
        return {"games": found} | ({"left_out": dict(self.left_out)} if self.left_out else {})

    def to_frame(self) -> pandas.DataFrame:
        """The figures as a data frame.

        Returns:
            A row for each game, and a column for each figure and each interval.

        Raises:
            InputError: If pandas is not installed.
        """
        rows = [_by_key(one.figures) for _, one in self.games]
        keys = dict.fromkeys(key for row in rows for key in row)
        return data_frame({key: [row.get(key) for row in rows] for key in keys}, [name for name, _ in self.games])


def _by_key(figures: Sequence[Figure]) -> dict[str, Any]:
    return {key: value for figure in figures for key, value in figure.data().items()}


VARIED = {  # the figures of a line of `--vary`, with their headings
    "ev_per_round": "EV per round, units",
    "sd_per_round": "sd per round",
    "score": "SCORE",
    "n0": "N0, rounds",
    "ror": "risk of ruin",
}
NAMES = {
    "cut": "share of the shoe that is dealt",
    "ramp": "spread, units",
    "optimal": "spread of the optimal ramp, units",
    "system": "counting system",
    "indices": "index plays",
    "leave": "leaves at",
    "ls": "late surrender",
    "h17": "the dealer hits soft 17",
    "das": "double after a split",
    "bj": "a natural pays",
}


def figures_table(
    headings: Mapping[str, str], rows: Sequence[tuple[str, Sequence[Figure]]], first: str = ""
) -> DataTable:
    """A table with a line of figures for each name; `first` is the heading of the names."""

    def text(key: str) -> Callable[[tuple[str, Sequence[Figure]]], str | None]:
        return lambda row: next((figure.text for figure in row[1] if figure.key == key), None)

    columns = [DataColumn("", heading, text(key)) for key, heading in headings.items()]
    return DataTable("", [DataColumn("", first, lambda row: row[0], is_text=True), *columns], rows, turns=False)


def other_bets(result: CountResult, spreads: Sequence[str]) -> DataTable:
    """A line for the bets of a result and for the best ramps between others, on the same rounds."""
    games = [("these bets", result.figures)]
    games += [(f"best {spread}", result.with_bets(optimal=spread).figures) for spread in spreads]
    hourly = {figure.key: figure.name for figure in result.figures if figure.key == "ev_per_hour"}
    return figures_table(VARIED | hourly, games, "bets")._replace(key="ramps")


# --- The page of a counting run: one self-contained HTML file that computes any other bets in the browser.


DIGITS = 11  # significant digits of the numbers in the page


def page_data(run: CountRun, bets: Floats, terms: Terms) -> dict[str, object]:
    """What a page computes the figures of any bets from: returns by count with their errors."""
    table = run.returns
    assert table.error is not None
    cov = np.zeros(len(run.labels)) if table.cov is None else np.nan_to_num(table.cov)
    names = ("share", "ev", "var", "cov", "wagered", "bet", "spots", "count")
    columns = (table.shares, table.ev, table.var, cov, run.wagered, bets, run.spots, table.counts)
    return {
        "counts": [
            {"label": label} | {name: _rounded(column[i]) for name, column in zip(names, columns, strict=True)}
            for i, label in enumerate(run.labels)
        ],
        "error": [[_rounded(cell) for cell in line[: i + 1]] for i, line in enumerate(table.error)],
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
