"""The page of a contest: one HTML file that needs nothing else, neither a network nor, for its tables, JavaScript."""

from __future__ import annotations

import json
import os
import shlex
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from fractions import Fraction
from heapq import nlargest
from typing import Any
from unicodedata import east_asian_width

from jinja2 import Environment, PackageLoader, select_autoescape

from bjsim.bots.contest.config import SETTINGS, Contest
from bjsim.bots.contest.luck import has_luck
from bjsim.bots.contest.match import Recorded
from bjsim.bots.contest.output import row_values
from bjsim.bots.contest.standings import Standings
from bjsim.bots.contest.timings import Timings
from bjsim.bots.protocol import argv_of
from bjsim.sim.cards import HIDDEN
from bjsim.sim.hand import Hand
from bjsim.sim.play import NAMES, Action, View
from bjsim.sim.presets import PRESETS
from bjsim.sim.round import DEALER, Event, Round
from bjsim.sim.rules import Rules
from bjsim.sim.shoe import ScriptedShoe

SWINGS = 12  # hands of the largest swings that can be replayed
LAST = 500  # rounds of the last match that can be replayed; of four bots they take 1 MB
FAULTS = 5  # of each kind and bot that are shown
WIDTH, ROW, PLOT = 520, 26, 240  # of the drawings
LABEL = 140  # of a name beside a drawing
DEFAULTS = {setting.name: setting.default for setting in fields(Contest)}
OPTIONS = ("matches", "seed", "until", "duplicate", "house", "timeout")  # settings that `bjsim koth` takes as options
COLOURS = ("#2f7fc1", "#d2691e", "#2a9461", "#b84592", "#8b7a12", "#7658d0", "#c43c35", "#6a7783")  # on white and black


class PageData:
    """What the page needs of the rounds; feed it every record, as the standings."""

    def __init__(self) -> None:
        self.last: list[dict[str, Any]] = []
        self.swings: list[tuple[int, int, dict[str, Any]]] = []  # (swing, -number, record)
        self.faults: dict[tuple[int, str], list[dict[str, Any]]] = {}
        self.match = -1  # the last one
        self.rounds = 0  # of the last match; the first of them are kept
        self._number = 0
        self._spent: Counter[int] = Counter()  # strikes in the last match, by bot

    def add(self, record: Mapping[str, Any]) -> None:
        """Look at one record."""
        if record["record"] != "round":
            return
        self._number += 1
        if record["match"] != self.match:
            self.match, self.rounds, self.last = record["match"], 0, []
            self._spent.clear()
        self.rounds += 1
        if len(self.last) < LAST:
            self.last.append(self._kept(record))
        swing = max(abs(net) for net in record["net"])
        if len(self.swings) < SWINGS or swing > self.swings[-1][0]:
            swings = [*self.swings, (swing, -self._number, self._kept(record))]
            self.swings = nlargest(SWINGS, swings, key=lambda s: s[:2])
        for fault in record.get("faults", ()):
            self._spent[fault["bot"]] += 1
            kept = self.faults.setdefault((fault["bot"], fault["kind"]), [])
            if len(kept) < FAULTS:
                kept.append({**fault, "where": place_of(record)})

    def _kept(self, record: Mapping[str, Any]) -> dict[str, Any]:
        """A record with the strikes spent before it: a bot that has none left is not asked."""
        return {**record, "spent": dict(self._spent)}


def place_of(record: Mapping[str, Any]) -> str:
    """Where a round stands, in words."""
    return (
        f"match {record['match'] + 1}, table {record['table'] + 1}, "
        f"sitting {record['sitting'] + 1}, hand {record['hand'] + 1}"
    )


def swing_of(record: Mapping[str, Any], names: Sequence[str]) -> str:
    """Who won or lost most in a round."""
    net = max(record["net"], key=abs)
    return f"{names[record['seats'][record['net'].index(net)]]} {net:+d}"


def replayed(data: PageData, swings: int) -> str:
    """Which hands can be replayed, in words."""
    kept, match = len(data.last), data.match + 1
    whole = f"all {kept} rounds" if kept == data.rounds else f"the first {kept} of {data.rounds} rounds"
    return f"The {swings} hands with the largest swings, and {whole} of the last match, match {match}."


def render_page(standings: Standings, data: PageData, timings: Timings | None = None) -> str:
    """The page as HTML."""
    environment = Environment(
        loader=PackageLoader("bjsim.bots.contest"), autoescape=select_autoescape(default=True),
        trim_blocks=True, lstrip_blocks=True,
    )  # fmt: skip
    environment.filters["signed"] = lambda value, digits=1: f"{value:+.{digits}f}"
    contest, names = standings.contest, [*standings.names, "house"]
    rules, sources = contest.rules, sources_of([bot["source"] for bot in standings.bots])
    rows = [
        {**row_values(row, timings), "number": row.bot, "language": standings.bots[row.bot]["language"]}
        for row in standings.rows()
    ]
    swings = [replay(contest, record, names, swing_of(record, names)) for _, _, record in data.swings]
    last = [replay(contest, record, names, "last match") for record in data.last]
    return environment.get_template("page.html").render(
        contest=contest,
        rules=rules,
        rule_rows=rules.to_dict(),
        luck=has_luck(rules),
        bots=[{**bot, "source": source} for bot, source in zip(standings.bots, sources, strict=True)],
        again=command_again(contest, standings.names, sources),
        again_file=file_again(contest),
        versions=standings.versions,
        standings=standings,
        rows=rows,
        names=names,
        leader=names[standings.order()[0]],
        intervals=intervals_drawn(rows),
        convergence=convergence_drawn(standings),
        crosstable=crosstable(standings),
        faults=[{**fault, "name": names[bot]} for (bot, _), kept in sorted(data.faults.items()) for fault in kept],
        replays=json.dumps(list(map(shortened, [*swings, *last])), separators=(",", ":")).replace("<", "\\u003c"),
        replayed=replayed(data, len(swings)),
        first_replay=swings[0] if swings else None,
    )


# --- drawings


def _scale(low: float, high: float, start: float, end: float) -> Any:
    span = (high - low) or 1.0
    return lambda value: round(start + (value - low) / span * (end - start), 1)


def _ticks(low: float, high: float, count: int = 5) -> list[float]:
    """Round numbers between the bounds."""
    span = (high - low) or 1.0
    step = 10.0 ** len(str(int(span / count))) / 10 if span >= count else 1.0
    while span / step > count:
        step *= 2 if str(step)[0] in "15" else 2.5
    first = int(low // step)
    return [n * step for n in range(first, first + count * 3) if low <= n * step <= high]


def fitted(name: str, width: float = LABEL) -> str:
    """The name, cut where it would be wider than `width` in the drawings' type of 14 units."""
    if sum(map(_width, name)) <= width:
        return name
    while sum(map(_width, name)) > width - _width("…"):
        name = name[:-1]
    return name + "…"


def _width(letter: str) -> float:
    """About how wide a letter is at most, of most sans-serif types."""
    return 14 if letter in "MWmw@%—" or east_asian_width(letter) in "WF" else 9.5 if letter.isupper() else 8.5


def intervals_drawn(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Means and 95% intervals of chips, as places in a drawing, best first."""
    bounds = [row["chips_ci95"] or [row["chips"]] * 2 for row in rows]
    low, high = min(b[0] for b in bounds), max(b[1] for b in bounds)
    x = _scale(low, high, LABEL + 10, WIDTH - 20)
    return {
        "width": WIDTH,
        "height": ROW * len(rows) + 30,
        "ticks": [(x(tick), f"{tick:g}") for tick in _ticks(low, high)],
        "rows": [
            {"name": fitted(row["bot"]), "y": ROW * place + 16, "x": x(row["chips"]), "low": x(b[0]), "high": x(b[1])}
            for place, (row, b) in enumerate(zip(rows, bounds, strict=True))
        ],
    }


def convergence_drawn(standings: Standings) -> dict[str, Any] | None:
    """How the mean chips of every bot went, as polylines; the order is that of the ranks."""
    points = [point for point in standings.progress if point[0] * 20 >= standings.matches] or standings.progress
    if len(points) < 2:
        return None
    values = [value for _, means in points for value in means]
    low, high = min(values), max(values)
    x = _scale(points[0][0], points[-1][0], 60, WIDTH - LABEL - 10)
    y = _scale(low, high, PLOT - 30, 10)
    order = standings.order()
    heights = _apart([float(y(points[-1][1][bot])) for bot in order], PLOT - 30)
    lines = [
        {
            "name": fitted(standings.names[bot]),
            "colour": COLOURS[place % len(COLOURS)],
            "dashes": "7 3" if place // len(COLOURS) % 2 else "none",
            "label": height + 4,
            "points": " ".join(f"{x(matches)},{y(means[bot])}" for matches, means in points),
        }
        for place, (bot, height) in enumerate(zip(order, heights, strict=True))
    ]
    return {
        "names": [standings.names[bot] for bot in order],
        "means": [(matches, [means[bot] for bot in order]) for matches, means in points],
        "width": WIDTH,
        "height": max(PLOT, int(heights[-1]) + 12),
        "bottom": PLOT - 30,
        "lines": lines,
        "label_x": WIDTH - LABEL,
        "y_ticks": [(y(tick), f"{tick:g}") for tick in _ticks(low, high)],
        "x_ticks": [(x(points[0][0]), points[0][0]), (x(points[-1][0]), points[-1][0])],
    }


def _apart(heights: list[float], bottom: float, gap: float = 15) -> list[float]:
    """The heights of labels, top first, moved so that none stands upon another, and above `bottom` if they fit."""
    for place in range(1, len(heights)):
        heights[place] = max(heights[place], heights[place - 1] + gap)
    limit = max(bottom, gap * len(heights))
    for place in reversed(range(len(heights))):
        heights[place] = min(heights[place], limit)
        limit = heights[place] - gap
    return heights


def crosstable(standings: Standings) -> list[list[dict[str, Any] | None]]:
    """For every pair of bots by rank: how far the first is ahead, and whether they are separated."""
    order = standings.order()
    table: list[list[dict[str, Any] | None]] = []
    for one in order:
        line: list[dict[str, Any] | None] = []
        for other in order:
            difference = standings.difference(one, other)
            if one == other or not difference.units:
                line.append(None)
                continue
            line.append({
                "mean": difference.mean, "units": difference.units,
                "interval": difference.interval, "separated": difference.separated,
            })  # fmt: skip
        table.append(line)
    return table


# --- to repeat it


def sources_of(sources: Sequence[str]) -> list[str]:
    """Where the bots come from. Of a file that is its place in the folder that holds them all; where that folder lies
    is nobody else's affair, and the page is there to be published."""
    files = [source for source in sources if os.path.isabs(source)]
    folder = os.path.commonpath([os.path.dirname(file) for file in files]) if files else ""
    return [os.path.relpath(source, folder) if os.path.isabs(source) else source for source in sources]


def command_again(contest: Contest, names: Sequence[str], sources: Sequence[str]) -> str:
    """The command that plays the contest again, where the bots' files are and the file of `file_again`, if any."""
    words = ["bjsim", "koth"]
    words += [source if name == source else f"{name}={source}" for name, source in zip(names, sources, strict=True)]
    if file_again(contest):
        words += ["--config", "contest.toml"]
    if _is_preset(contest.rules):
        words += ["--rules", contest.rules.name]
    for name in OPTIONS:
        value = getattr(contest, name)
        if name == "duplicate":
            words += ["--duplicate"] if value else []
        elif value != DEFAULTS[name] or name in ("matches", "seed"):
            words += [f"--{name}", str(value)]
    return shlex.join([*words, "--out", "again"])


def file_again(contest: Contest) -> str:
    """What no option of the command says, as the TOML file of a contest; "" for nothing."""
    values = {name: getattr(contest, name) for name in SETTINGS if name not in OPTIONS}
    lines = [f"{name} = {_toml(value)}" for name, value in values.items() if value != DEFAULTS[name]]
    if not _is_preset(contest.rules):
        preset = contest.rules.name if contest.rules.name in PRESETS else "cardshark"
        base = PRESETS[preset].rules.to_dict()
        changed = {name: value for name, value in contest.rules.to_dict().items() if value != base[name]}
        lines += ["[rules]", f"preset = {_toml(preset)}", *(f"{name} = {_toml(changed[name])}" for name in changed)]
    return "\n".join(lines)


def _is_preset(rules: Rules) -> bool:
    return rules.name in PRESETS and rules == PRESETS[rules.name].rules


def _toml(value: object) -> str:
    """A number, a flag or a text, which TOML writes as JSON does."""
    return json.dumps(value, ensure_ascii=False)


# --- replays


class Listener(Recorded):
    """Plays the moves of a record again, and notes what it is told before each."""

    def __init__(self, name: str, moves: Sequence[str]) -> None:
        super().__init__(name, moves)
        self.told: list[list[str]] = []

    def decide(self, view: View) -> Action:
        self.told.append(argv_of(view))
        return super().decide(view)


def replay(contest: Contest, record: Mapping[str, Any], names: Sequence[str], why: str) -> dict[str, Any]:
    """A round step by step: each step is a line of text, and after it the dealer's cards and every seat as its chips
    and its hands, of each the cards, the stake and what was last said."""
    listeners = [Listener(names[bot], moves) for bot, moves in zip(record["seats"], record["moves"], strict=True)]
    shoe = ScriptedShoe(record["cards"], "the record")
    events = Round(contest.rules, shoe, listeners, record["chips"]).play().events
    table = _Table(contest, record, listeners)
    return {
        "title": f"{why}: {place_of(record)}",
        "names": [seat.name for seat in table.seats],
        "steps": [[table.step(event), table.dealer_shown, table.seats_shown] for event in events],
        "net": record["net"],
    }


def shortened(hand: Mapping[str, Any]) -> dict[str, Any]:
    """A replay with 0 for every seat that a step leaves as it was: the page of a long match is half as large."""
    steps: list[list[Any]] = []
    before: list[Any] = [None] * len(hand["names"])
    for text, dealer, seats in hand["steps"]:
        steps.append([text, dealer, [0 if seat == old else seat for seat, old in zip(seats, before, strict=True)]])
        before = seats
    return {**hand, "steps": steps}


@dataclass
class _Hand:
    stake: int
    cards: str = ""
    said: str = ""
    paid: bool = False

    @property
    def points(self) -> int:
        return Hand(*self.cards).points


@dataclass
class _Seat:
    """A seat of a replay. held: chips before the round; won: of the hands paid so far; strikes: how many are left."""

    name: str
    held: int
    hands: list[_Hand]
    told: list[list[str]]
    faults: dict[int, Mapping[str, Any]]
    strikes: int
    won: Fraction = Fraction(0)
    moves: int = 0

    @property
    def chips(self) -> int:
        """What it holds beside its stakes. Half a chip is not paid, as in `whole_chips`."""
        return self.held + int(self.won) - sum(hand.stake for hand in self.hands if not hand.paid)


class _Table:
    """The table of a replay: an event changes it and is put into words."""

    def __init__(self, contest: Contest, record: Mapping[str, Any], listeners: Sequence[Listener]) -> None:
        self.buy_in = contest.rules.buy_in
        self.dealer = self.hole = ""
        faults = record.get("faults", ())
        self.seats = [
            _Seat(
                listener.name, held, [_Hand(self.buy_in)], listener.told,
                {fault["move"]: fault for fault in faults if fault["bot"] == bot},
                contest.strikes - record.get("spent", {}).get(bot, 0),
            )
            for bot, held, listener in zip(record["seats"], record["chips"], listeners, strict=True)
        ]  # fmt: skip

    @property
    def dealer_shown(self) -> str:
        return self.dealer + (HIDDEN if self.hole else "")

    @property
    def seats_shown(self) -> list[list[Any]]:
        return [[seat.chips, [[hand.cards, hand.stake, hand.said] for hand in seat.hands]] for seat in self.seats]

    def step(self, event: Event) -> str:
        """Change the table as the event says; returns the event in words."""
        if event.seat == DEALER:
            return self._dealer_step(event)
        seat = self.seats[event.seat]
        hand = seat.hands[event.hand]
        who = f"{seat.name} (hand {event.hand + 1})" if len(seat.hands) > 1 else seat.name
        if event.what == "card":
            hand.cards += event.detail
            return f"{who} gets {event.detail}: {hand.points}."
        if event.what == "action":
            return self._answer(seat, event.hand, who, event.detail)
        if event.what == "end":
            hand.said = event.detail
            return f"{who}: {event.detail}."
        return self._pay(seat, hand, who, Fraction(event.detail) * self.buy_in)

    def _dealer_step(self, event: Event) -> str:
        if event.what == "shuffle":
            return "The shoe is shuffled."
        if event.what == "hidden":
            self.hole = event.detail
            return "The dealer takes a card face down."
        if event.what == "peek" and event.detail == "none":
            return "The dealer looks at the card face down: no natural."
        if event.what == "peek":  # the round ends here, so that no event shows the card
            self._turn_over()
            return f"The dealer has a natural, {self.dealer}: nobody acts."
        if event.what == "shown":
            self._turn_over()
            return f"The dealer turns over {event.detail}: {Hand(*self.dealer).points}."
        self.dealer += event.detail
        return f"The dealer takes {event.detail}: {Hand(*self.dealer).points}."

    def _turn_over(self) -> None:
        self.dealer += self.hole
        self.hole = ""

    def _answer(self, seat: _Seat, place: int, who: str, answer: str) -> str:
        hand = seat.hands[place]
        told, fault = " ".join(seat.told[seat.moves]), seat.faults.get(seat.moves)
        asked = seat.strikes > 0
        seat.moves += 1
        seat.strikes -= fault is not None
        hand.said = answer
        if not asked:
            return f"{who} is out of strikes, is not asked and stands."
        amount = ""
        if answer[0] == "B":
            amount = f" by {answer[2:]}"
            hand.stake += int(answer[2:])
        elif answer == "D":
            hand.stake *= 2
        elif answer == "P":
            seat.hands[place : place + 1] = [_Hand(hand.stake, card, answer) for card in hand.cards]
        wrong = f" (fault, {fault['kind']}: {fault['detail']})" if fault else ""
        return f"{who} is told “{told}” and answers {answer}: {NAMES[answer[0]]}{amount}.{wrong}"

    def _pay(self, seat: _Seat, hand: _Hand, who: str, won: Fraction) -> str:
        chips = int(seat.won + won) - int(seat.won)
        seat.won += won
        hand.paid = True
        hand.said = f"{chips:+d}"
        if not chips:
            return f"{who} neither wins nor loses."
        return f"{who} {'wins' if chips > 0 else 'loses'} {abs(chips)} chips."
