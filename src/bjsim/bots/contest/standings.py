"""The standings of a contest: ranks, intervals and differences, computed from its journal alone.

One score ranks the bots (`Contest.scored_by`) and separates any two of them, see `differences`. By the luck-adjusted
score, bots that are broke at the end of half of their matches rank behind the others: their mean is that of a lottery.
"""

import math
import time
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np

from bjsim.arguments import names_wrong_types
from bjsim.bots.contest.config import parse_marks
from bjsim.bots.contest.contest_tally import HEADINGS, BotDifference, ContestTally, StandingsRow
from bjsim.bots.contest.differences import MIN_BATCHES, Differences
from bjsim.bots.contest.journal import Logs
from bjsim.errors import InputError, printable
from bjsim.report.data import Described
from bjsim.report.parts import DataColumn, DataSeries, DataTable, Dots, Notes, Only, Report

DIGITS = 6  # of figures in files


@names_wrong_types
class Standings(ContestTally, Described):
    """The standings of a contest.

    Args:
        header: The header of the journal; every other record is then passed to `add` in order.

    Raises:
        InputError: It is no header.
    """

    def __init__(self, header: Mapping[str, Any]) -> None:
        if not header.keys() >= {"contest", "bots"}:
            raise InputError("header: it has no contest and no bots; give the first record of a journal")
        super().__init__(header)
        self._rows: list[StandingsRow] = []  # cached until they change
        self._differences: Differences | None = None

    def add(self, record: Mapping[str, Any]) -> None:
        """Count the next record.

        Args:
            record: The record.
        """
        super().add(record)
        if record["record"] in ("match", "change", "retire"):
            self._rows, self._differences = [], None

    @property
    def differences(self) -> Differences:
        """The differences of all pairs of bots."""
        if self._differences is None:
            alone = np.array([series.own is not None for series in self.roster.series_of])
            same_cards = alone[:, None] & alone if self.roster.tables > 1 else np.ones((len(alone), len(alone)), bool)
            histories = [score.history for score in self.scores]
            self._differences = Differences(histories, same_cards, self.planned, self.optimal_n)
        return self._differences

    def difference(self, one: int, other: int) -> BotDifference:
        """The lead of one bot over another.

        Args:
            one: Number of the first bot.
            other: Number of the second bot.

        Returns:
            The difference.
        """
        found, at = self.differences, (one, other)
        low, high, batches = float(found.low[at]), float(found.high[at]), int(found.batches[at])
        interval = (low, high) if math.isfinite(high - low) else None
        wanted = None if found.separated[at] else found.batches_to_separate(one, other)
        missing = (wanted - batches) * self.roster.batch_size if wanted else None
        return BotDifference(other, batches, float(found.mean[at]), interval, missing, found.e_value(one, other))

    @property
    def decided(self) -> bool:
        """Whether the leader is ahead of every other bot that can have a rank."""
        leader, *others = self.rivals or [0]
        enough = bool(self.rivals) and self.scores[leader].points.n >= MIN_BATCHES
        return enough and bool((self.differences.low[leader, others] > 0).all())

    def reason_to_end(self, began: float) -> str:
        """Why the contest ends now.

        Args:
            began: When play began, by `time.monotonic`.

        Returns:
            `decided`, `matches` or `time`; "" if it continues.
        """
        if self.contest.until == "decided" and (self.decided or not self.rivals):
            return "decided"
        if self.roster.finished:
            return "matches"
        return "time" if time.monotonic() - began >= self.contest.seconds else ""

    @property
    def over(self) -> str:
        """Why no match is left to play, as `reason_to_end`, also where a stop kept that from being recorded."""
        return str(self.end["reason"]) if self.end else self.reason_to_end(time.monotonic())

    def rows(self) -> list[StandingsRow]:
        """The rows of the standings. They change at the end of a match.

        Returns:
            A row for each bot, best first.
        """
        if self._rows:
            return self._rows
        order, ranked, rank = self.order(), self.ranked, 0
        first = len([bot for bot in self.rivals if bot in ranked])
        names = np.array([self.names[bot] for bot in ranked], object)
        ruined = np.array([self.ruined(bot) for bot in ranked], bool)  # who is apart from the others by that alone
        together = ~self.differences.separated[np.ix_(ranked, ranked)] & (ruined[:, None] == ruined)
        ranges = self.differences.rank_ranges(ranked[:first])
        ranges += [(first + best, first + worst) for best, worst in self.differences.rank_ranges(ranked[first:])]
        for index, bot in enumerate(order):
            if index in (0, first) or self.mean_score(bot) != self._rows[-1].points:
                rank = index + 1
            if index < len(ranked):  # the others come last
                together[index, index] = False
                # Bots that joined later have played fewer matches, and are compared over those only.
                range_ = min(rank, ranges[index][0]), max(rank, ranges[index][1])
                self._rows.append(self._row(bot, rank, tuple(names[together[index]]), range_))
            else:
                self._rows.append(self._row(bot, None))
        return self._rows

    def authors(self) -> list[tuple[str, StandingsRow, int]]:
        """The best bot of every author who is named.

        Returns:
            Authors with their best bot and the number of their bots, those with the best bots first.
        """
        by_author: dict[str, list[StandingsRow]] = {}
        for row in self.rows():
            if row.author:
                by_author.setdefault(row.author, []).append(row)
        return [(author, rows[0], len(rows)) for author, rows in by_author.items()]

    def __repr__(self) -> str:
        leader = f", {self.names[self.order()[0]]} leads" if self.matches else ""
        return f"Standings({len(self.roster.present)} bots, {self.matches} of {self.roster.total} matches{leader})"

    def describe(self, logs: Logs | None = None) -> Report:
        """The rows with marks, what became of bots, and what is decided.

        Args:
            logs: Times of moves.

        Returns:
            The report.
        """
        data = {
            "matches": self.matches,
            "ended": self.over or None,
            "decided": self.decided,
            "former": [{**row_values(row, logs), "left": row.left} for row in self.former()],
        }
        parts = [contest_table(self, logs), Notes(list(_said(self))), Only("page", lambda: [_scores(self)])]
        return Report(self.contest.heading, [], parts, [self.contest.rules], data=lambda: data)

    def former(self) -> list[StandingsRow]:
        """The rows of the bots that have left.

        Returns:
            A row for each, not ranked, in the order of the journal.
        """
        return [self._row(bot, None) for bot in sorted(self.roster.left)]

    def _row(
        self, bot: int, rank: int | None, ties: tuple[str, ...] = (), ranks: tuple[int, int] | None = None
    ) -> StandingsRow:
        score, roster, rules = self.scores[bot], self.roster, self.contest.rules
        chips_ci95 = points_ci95 = None
        if won := score.chips.student95:
            low = rules.chips + won[0]
            # With raises a bot's chips are 0 or more; without, bots double and split on credit.
            chips_ci95 = max(0.0, low) if rules.raises else low, rules.chips + won[1]
        if ends := score.points.student95:
            is_of_chips = self.contest.scored_by == "chips"
            points_ci95 = chips_ci95 if is_of_chips else (self._in_chips(ends[0]), self._in_chips(ends[1]))
        return StandingsRow(
            rank=rank,
            bot=bot,
            name=self.names[bot],
            chips=self.mean_chips(bot),
            chips_ci95=chips_ci95,
            points=self.mean_score(bot),
            points_ci95=points_ci95,
            score=score,
            tied_with=ties,
            rank_range=ranks,
            version=roster.versions[bot],
            age=roster.age(bot),
            left=roster.left.get(bot, ""),
            author=self.bots[bot].get("author", ""),
        )


# --- Marks for a course: thresholds of the luck-adjusted score, with what the interval says about each mark.


NONE = "-"  # the mark below all thresholds


class Mark(NamedTuple):
    """The mark of a bot; the columns of marks.csv."""

    bot: str
    version: int
    matches: int
    score: float | None  # luck-adjusted profit in chips per hand, else profit; None without a rank
    low: float | None  # end of its 95% interval, as `high`; None while there are too few matches
    high: float | None
    mark: str  # NONE below all thresholds; "" without a rank
    lowest: str  # the mark of `low`, as `highest` of `high`
    highest: str
    reason: str = ""  # why there is no rank

    @property
    def sure(self) -> bool:
        return bool(self.lowest) and self.lowest == self.highest


def make_marks(standings: Standings, faults: Mapping[int, str] | None = None) -> list[Mark]:
    """The marks of the bots, best score first, unranked and students without a bot last.

    faults: the text of one fault by bot.
    Each name has one row: that of a bot that takes part, else of the last that has left, else of a student without one.
    """
    thresholds = parse_marks(standings.contest.marks)
    limits, names = [limit for limit, _ in thresholds], [NONE, *(name for _, name in thresholds)]

    def mark(score: float) -> str:
        return names[bisect_right(limits, score)]

    found = []
    for row in standings.rows():
        ratio = row.score.adjusted if standings.luck_adjusted else row.score.raw
        about = (row.name, row.version, row.score.matches)
        if row.rank is None or not ratio.n:
            reason = (faults or {}).get(row.bot) or row.score.retired or "not played yet"
            found.append(Mark(*about, None, None, None, "", "", "", reason))
            continue
        low, high = (round(end, DIGITS) for end in ratio.student95) if ratio.student95 else (None, None)
        ends = ("", "") if low is None or high is None else (mark(low), mark(high))
        score = round(ratio.mean, DIGITS)
        found.append(Mark(*about, score, low, high, mark(score), *ends))
    gone = {standings.bots[row.bot]["name"]: (row.version, row.score.matches, row.left) for row in standings.former()}
    gone = {name: (1, 0, why) for name, why in standings.left_out.items()} | gone
    present = {standings.bots[row.bot]["name"] for row in standings.rows()}
    for name, (version, matches, why) in gone.items():
        if name not in present:
            found.append(Mark(name, version, matches, None, None, None, "", "", "", why))
    return sorted(found, key=lambda each: (each.score is None, -(each.score or 0)))


# --- Comparisons of bots in words and numbers: who leads, by how much, and which bots are not separated yet.


COMPARED = 10  # bots that are compared with each other; the page of a bot compares it with all others


def describe_lead(standings: Standings) -> str:
    """Who wins, or what a decision would take, as a clause without a full stop. It is about ranked bots only."""
    if not standings.rivals:
        return "no bot can be ranked: none answers"
    leader, *rivals = standings.rivals
    name = standings.names[leader]
    if len(standings.ranked) == 1 and not rivals:
        return f"{name} is the only bot with a rank"
    differences = [standings.difference(leader, rival) for rival in rivals]
    too_few = not standings.ranked or standings.scores[leader].points.n < MIN_BATCHES
    if too_few or any(difference.batches < MIN_BATCHES for difference in differences):
        return f"not decided: bots are compared from {MIN_BATCHES * standings.roster.batch_size} matches on"
    if better := [difference for difference in differences if difference.verdict == "behind"]:
        text = (
            f"not decided: {name} leads, but is behind {_names(standings, better)} in the matches that both have played"
        )
    elif close := [difference for difference in differences if not difference.separated]:
        text = f"not decided: {name} leads, but is not separated from {_names(standings, close)}{_more(close)}"
    else:
        text = f"{name} is ahead of every other bot (95%)"
    richest = max(standings.ranked, key=standings.mean_chips)
    score = standings.scores[richest]
    if score.ruined and not standings.scores[leader].ruined:
        broke = f"{score.broke:,} of {score.matches:,}"
        return f"{text}; {standings.names[richest]} holds the most chips, but broke in {broke} matches"
    if standings.contest.scored_by == "luck-adjusted" and standings.difference(leader, richest).verdict == "ahead":
        return f"{text}; {standings.names[richest]} holds the most chips, but by luck"
    return text


def describe_end(standings: Standings) -> str:
    """Why the contest has ended, as a clause; "" if it has not."""
    decided = "the leader is ahead of all others" if standings.decided else "no bot answers"
    reasons = {"matches": "all matches have been played", "decided": decided, "time": "the time limit was reached"}
    return reasons.get(standings.over, "")


def describe_authors(standings: Standings) -> str:
    """The best bot of every author, as a clause without a full stop; "" if no author is named."""
    best = []
    for author, row, count in standings.authors():
        bots = f", of {count} bots" if count > 1 else ""
        best.append(f"{author}: {row.name}{f' (rank {row.rank}{bots})' if row.rank else ''}")
    return f"the best bot of each author: {'; '.join(best)}" if best else ""


def _names(standings: Standings, differences: Sequence[BotDifference]) -> str:
    names = [standings.names[difference.other] for difference in differences]
    return f"{', '.join(names[:3])} and {len(names) - 3} others" if len(names) > 4 else ", ".join(names)


def _more(close: Sequence[BotDifference]) -> str:
    missing = [difference.missing for difference in close]
    known = [matches for matches in missing if matches]
    if len(known) < len(missing):
        return "; no number of matches is in sight that would separate them"
    return f"; about {_matches(max(known), ' more')} would separate them"


def _matches(number: int, more: str = "") -> str:
    return f"{number:,}{more} match{'es' * (number != 1)}"


# --- The standings as a table, a drawing, JSON values and sentences.


def row_values(row: StandingsRow, logs: Logs | None = None) -> dict[str, Any]:
    """One row of standings.json: what `StandingsRow` and `Score` describe.

    `score` and `chips` are in chips per match, `per_hand` and `luck_adjusted` per hand. The last is None before the
    first match has ended, and under rules without luck adjustment (splits without a limit).
    """
    score = row.score
    ms = logs.ms_per_move(row.bot) if logs else None
    return {
        "rank": row.rank,
        "rank_range": list(row.rank_range) if row.rank_range else None,
        "bot": row.name,
        "author": row.author,
        "tied_with": list(row.tied_with),
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


def standings_table(rows: Sequence[dict[str, Any]], score: str = "chips") -> DataTable:
    """The standings by what ranks the bots, `score` as in `Contest`; `rows` are those of standings.json."""
    ranked = DataColumn("", f"{HEADINGS[score]} ± 95%", lambda row: row["rank"] and _interval("score", 1, row))
    chips = DataColumn("", "chips ± 95%", partial(_interval, "chips", 1))
    adjusted = DataColumn("", "luck-adjusted per hand ± 95%", partial(_interval, "luck_adjusted", 3))
    columns = [
        *(DataColumn(key, "", itemgetter(key)) for key in next(iter(rows), {}) if key != "language"),
        DataColumn("", "bot", itemgetter("bot"), is_text=True),
        DataColumn("", "rank", _rank),
        *([chips, adjusted] if score == "chips" else [ranked, chips]),
        DataColumn("", "broke/matches", lambda row: f"{row['broke']:,}/{row['matches']:,}"),
        DataColumn("", "faults", _faults, is_text=True, style=lambda row: "yellow"),
        DataColumn("", "ms per move", itemgetter("ms_per_move"), "{:.2f}".format),
        DataColumn("", "language", lambda row: row.get("language", ""), is_text=True),
    ]
    return DataTable("standings", columns, rows, turns=False)


def _interval(key: str, digits: int, row: dict[str, Any]) -> str | None:
    if row[key] is None:
        return None
    text = _with_interval(row[key], row[f"{key}_ci95"], digits, "+" if key == "luck_adjusted" else "")
    value, plus, half = text.partition(" ± ")
    return f"{value} ± {half or '–':>5}" if plus or not row[f"{key}_ci95"] else text


def _with_interval(value: float, bounds: Sequence[float] | None, digits: int, sign: str = "") -> str:
    """A value with half its interval, or with both ends of one that is cut or skewed."""
    text, (low, high) = f"{value:{sign}.{digits}f}", bounds or (value, value)
    if abs(low + high - 2 * value) >= 10**-digits:
        return f"{text}, {low:{sign}.{digits}f} to {high:{sign}.{digits}f}"
    return f"{text} ± {(high - low) / 2:.{digits}f}" if bounds else text


def _rank(row: dict[str, Any]) -> str | None:
    """The rank, with the range of those that the results leave open."""
    best, worst = row["rank_range"] or (row["rank"], row["rank"])
    return row["rank"] and (f"{row['rank']} ({best}–{worst})" if best < worst else str(row["rank"]))


def _faults(row: dict[str, Any]) -> str:
    return printable(", ".join(f"{kind} {count}" for kind, count in row["faults"].items()))


def contest_table(standings: Standings, logs: Logs | None, most: int | None = None) -> DataTable:
    """The standings of a contest, of its first `most` bots if that is given."""
    languages = [bot.get("language", "") for bot in standings.bots]
    rows = [row_values(row, logs) | {"language": languages[row.bot]} for row in standings.rows()[:most]]
    return standings_table(rows, standings.contest.scored_by)


DRAWN = 25  # scores in a drawing


def _scores(standings: Standings) -> Dots:
    """The scores of the first bots with their intervals."""
    rows = standings.rows()[:DRAWN]
    intervals = [row.points_ci95 or (row.points, row.points) for row in rows]
    halves = [(row.points - low, high - row.points) for row, (low, high) in zip(rows, intervals, strict=True)]
    name = f"{HEADINGS[standings.contest.scored_by]} per match, with 95% intervals"
    texts = [_with_interval(row.points, row.points_ci95, 1) for row in rows]
    series = DataSeries(name, [row.points for row in rows], "{:g}".format, halves, texts)
    return Dots([row.name for row in rows], [series], name)


def _said(standings: Standings) -> Iterator[str]:
    """Marks, what became of bots, and what is decided, as lines."""
    for mark in make_marks(standings) if standings.contest.marks else ():
        score = "" if mark.score is None else f"  {mark.score:+.3f}"
        if mark.low is not None:
            score += f"  (95%: {mark.low:+.3f} to {mark.high:+.3f}, {mark.lowest} to {mark.highest})"
        yield f"mark {mark.mark or 'none':5} {mark.bot}{score}"
    yield from (f"{row.name} retired {row.score.retired}" for row in standings.rows() if row.score.retired)
    for row in standings.former():
        played = _matches(row.score.matches)
        yield f"left: {row.name} ({row.left} after {played}, {row.chips:.1f} chips)"
    ended, played = describe_end(standings), _matches(standings.matches)
    yield f"{played}; ended: {ended}" if ended else f"{played} so far, not finished"
    yield from filter(None, [describe_lead(standings), describe_authors(standings)])


def describe_pair(standings: Standings) -> Report:
    """Which of two bots is better, by how many chips per match, and whether that is decided."""
    apart = standings.ruined(0) != standings.ruined(1)  # which decides, whatever the difference is
    ruin = apart and standings.decided and len(standings.ranked) == 2
    by_mean = sorted((0, 1), key=lambda bot: standings.difference(bot, 1 - bot).mean, reverse=True)
    first, second = standings.ranked if ruin else by_mean
    lead = standings.difference(first, second)
    names = [standings.bots[bot]["name"] for bot in (first, second)]
    played = _matches(standings.matches)
    unit = f"{'per cent of ' * (standings.contest.scored_by == 'log')}chips per match"
    parts: list[Any] = []
    if lead.interval is None:
        failed = next((row.name for row in standings.rows() if not row.score.started), "")
        why = f"{failed} does not answer" if failed else "too few for an interval; allow more with --matches"
        said = f"not decided after {played}, {why}"
    else:
        figures = f"{lead.mean:+.2f} {unit}, 95%: {lead.interval[0]:+.2f} to {lead.interval[1]:+.2f}"
        ahead, undecided = f"{names[0]} is ahead of {names[1]}", f"{names[0]} against {names[1]} {figures}"
        said = f"{ahead} after {played}: {figures}" if lead.separated else f"not decided after {played}: {undecided}"
        half = lead.mean - lead.interval[0], lead.interval[1] - lead.mean
        series = DataSeries(unit, [lead.mean], "{:+g}".format, [half])
        parts = [Only("page", lambda: [Dots([names[0]], [series], f"{unit} more than {names[1]}")])]
    if ruin:
        broke = standings.scores[second].broke
        said = f"{names[0]} is ahead of {names[1]} after {played}: {names[1]} broke in {broke:,} of them"
    data = {
        "bots": names,
        "matches": standings.matches,
        "difference": lead.mean,
        "anytime95": lead.interval,
        "decided": ruin or lead.separated,
    }
    return Report(f"{names[0]} against {names[1]}", [said], parts, [standings.contest.rules], data=lambda: data)


def _round(value: float) -> float:
    return round(value, DIGITS)


def _bounds(bounds: tuple[float, float] | None) -> list[float] | None:
    return [_round(bound) for bound in bounds] if bounds else None
