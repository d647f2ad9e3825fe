"""The files of a contest: self-contained pages, whose tables do not need JavaScript, and the tables of its results."""

import csv
import io
import json
import os
import re
import shlex
from collections import defaultdict, deque
from collections.abc import Callable, Container, Mapping, Sequence
from datetime import UTC, datetime
from functools import lru_cache, partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zlib import crc32

from bjsim.asked.kinds import Flag
from bjsim.asked.signature import parameters
from bjsim.bots.contest import journal as journals
from bjsim.bots.contest.config import Contest
from bjsim.bots.contest.contest_tally import HEADINGS, StandingsRow
from bjsim.bots.contest.differences import MIN_BATCHES
from bjsim.bots.contest.journal import BotLog, Logs, read_logs
from bjsim.bots.contest.page_data import HANDS, BotHands, BotMistakes, PageData
from bjsim.bots.contest.replay import Asked, protocol_of, questions, replay, round_number, shorten
from bjsim.bots.contest.standings import COMPARED, Mark, Standings, describe_end, describe_lead, make_marks, row_values
from bjsim.errors import InputError, printable_lines
from bjsim.files import make_folder, replacing
from bjsim.report import page as report_page
from bjsim.report.scales import round_values
from bjsim.sim.game.presets import PRESETS
from bjsim.sim.game.rules import Rules

if TYPE_CHECKING:
    from jinja2 import Environment

# --- The settings of a contest for its page, and the command that plays it again.


CONTEST = "bjsim.bots.contest.config:Contest"  # declares the settings


def published_sources(sources: Sequence[str]) -> list[str]:
    """The sources of the bots for publication; files are relative to the folder that holds them all.

    The page must not reveal other paths. A file starts with `./`, so that it cannot be mistaken for anything else.
    """
    files = [source for source in sources if os.path.isabs(source)]
    folders = defaultdict[str, list[str]](list)  # by drive, of which only Windows has several
    for file in files:
        folders[os.path.splitdrive(file)[0]].append(os.path.dirname(file))
    common = {drive: os.path.commonpath(each) for drive, each in folders.items()}
    published = {file: f"./{os.path.relpath(file, common[os.path.splitdrive(file)[0]])}" for file in files}
    return [published.get(source, source) for source in sources]


def contest_command(contest: Contest, names: Sequence[str], sources: Sequence[str]) -> str:
    """The POSIX shell command that reproduces a contest in the folder of the bots and any `settings_file`."""
    words = ["bjsim", "koth", "play"]
    if settings_file(contest):
        words += ["--config", "contest.toml"]
    if _is_preset(contest.rules):
        words += ["--rules", contest.rules.name]
    for name, kind, default, _ in parameters(CONTEST):
        value = getattr(contest, name)
        if value != default or name == "matches":
            words += ["--" + name.replace("_", "-"), *([] if isinstance(kind, Flag) else [kind.text(value)])]
    bots = [source if name == source else f"{name}={source}" for name, source in zip(names, sources, strict=True)]
    return shlex.join([*words, "--out", "again", "--", *bots])  # no name of a bot is parsed as an option


def again(standings: Standings) -> str:
    """The command that plays a contest again; "" until it is closed, as it has the seed, or if one is not enough."""
    if not standings.closed or standings.roster.left or any(standings.roster.joined):
        return ""
    return contest_command(
        standings.contest, standings.names, published_sources([bot["source"] for bot in standings.bots])
    )


def described_settings(standings: Standings) -> list[tuple[str, str, str]]:
    """The settings of a contest for its page: what each is called, its value, and what it means.

    The seed is left out until the contest is closed, and the host's folders always.
    """
    rows = []
    for name, kind, _, about in parameters(CONTEST):
        value = getattr(standings.contest, "scored_by" if name == "score" else name)
        if name in ("house", "against"):
            value = ",".join(map(os.path.basename, [value] if isinstance(value, str) else value))
        text = ("yes" if value else "no") if isinstance(kind, Flag) else value and kind.text(value)
        if name not in ("title", "marks") and (standings.closed or name != "seed"):
            rows.append((name, str(text) or "–", about))
    return rows


def settings_file(contest: Contest) -> str:
    """The TOML file of changed rules, which have no option; "" if there are none."""
    if _is_preset(contest.rules):
        return ""
    preset = contest.rules.name if contest.rules.name in PRESETS else "cardshark"
    base = PRESETS[preset].rules.to_dict()
    changed = {"preset": preset} | {name: to for name, to in contest.rules.to_dict().items() if to != base[name]}
    texts = {name: json.dumps(value, ensure_ascii=False) for name, value in changed.items()}  # as TOML writes them
    return "\n".join(["[rules]", *(f"{name} = {text}" for name, text in texts.items())])


def _is_preset(rules: Rules) -> bool:
    return rules.name in PRESETS and rules == PRESETS[rules.name].rules


# --- Colours and file names that belong to bots: rank and later bots change them only where two would look the same.


# Contrast of 3 with the paper; CIEDE2000 differences of 11 and more with normal sight and any colour blindness.
LIGHT = ("#4337b1", "#de6f16", "#16a67a", "#b16fe9", "#9b5937", "#2c7a85", "#4e4300", "#850064")
DARK = ("#5964de", "#e98500", "#2cbc9b", "#bc90ff", "#bc370b", "#64e9ff", "#dede59", "#855985")


def make_colours(names: Sequence[str], drawn: Sequence[int] = ()) -> list[int]:
    """Choose the colours of bots: indices of LIGHT and DARK by bot number. Versions of a bot share a name.

    A bot has the colour of its name's hash, or the next one that the other bots of its block of eight leave. Where
    bots that are drawn together (`drawn`, best first, eight at most) have the same one, the later of them gets the
    next that is free.
    """
    colours: dict[str, int] = {}
    free: set[int] = set()
    for name in dict.fromkeys(names):
        free = free or set(range(len(LIGHT)))
        colours[name] = _first_free(crc32(name.encode("utf-8", "replace")), free)
        free.remove(colours[name])
    free = set(range(len(LIGHT)))
    for bot in drawn:
        colours[names[bot]] = _first_free(colours[names[bot]], free)
        free.remove(colours[names[bot]])
    return [colours[name] for name in names]


def _first_free(wanted: int, free: set[int]) -> int:
    return next(c % len(LIGHT) for c in range(wanted, wanted + len(LIGHT)) if c % len(LIGHT) in free)


def make_slugs(names: Sequence[str], left: Container[int] = ()) -> list[str]:
    """Names for files and anchors, of small letters, digits and hyphens, none twice; bots that `left` come last."""
    slugs: dict[int, str] = {}
    for bot in sorted(range(len(names)), key=lambda bot: bot in left):
        slug = re.sub(r"[^a-z0-9]+", "-", names[bot].lower()).strip("-")[:40].rstrip("-")
        while not slug or slug in slugs.values():
            slug = f"{slug or 'bot'}-{bot + 1}"
        slugs[bot] = slug
    return [slugs[bot] for bot in range(len(names))]


# --- The drawings of a contest's pages, in percent of their width and height.


DRAWN = 60  # lines in a drawing, by rank
INTERVALS = 25  # intervals in a drawing
TOP = 5  # bots drawn in their colours; the others are grey
MARGIN = 0.25  # a scale is extended by this share for the outermost values; those farther out are cut off
GAP = 8.0  # least distance of two labels


def _scale(low: float, high: float, start: float = 0.0, end: float = 100.0) -> Any:
    """A function that maps low..high linearly to start..end."""
    span = (high - low) or 1.0
    return lambda value: round(start + (value - low) / span * (end - start), 2)


def _clip(values: Sequence[float], whole: Sequence[float]) -> tuple[float, float]:
    """Bounds of a drawing: of all `whole`, and of `values` but those far beyond the 5th or the 95th percentile."""
    ordered = sorted(values)
    last = int(0.95 * (len(ordered) - 1))
    low, high = min(ordered[-1 - last], *whole), max(ordered[last], *whole)
    margin = MARGIN * (high - low)
    inside = [*whole, *(value for value in ordered if low - margin <= value <= high + margin)]
    return min(inside), max(inside)


def draw_intervals(rows: Sequence[Mapping[str, Any]], start: float) -> dict[str, Any]:
    """The drawing of mean scores with 95% intervals for the first INTERVALS bots.

    Ticks, the position of `start` (the chips at the beginning of a match), whether there are `more` bots, whether
    intervals are `clipped`, and for each bot its mean, its interval and the sides where that is cut.
    """
    started = [row for row in rows if row["started"]] or rows[:1]
    drawn = started[:INTERVALS]
    bounds = [row["score_ci95"] or [row["score"]] * 2 for row in drawn]
    ends = [end for bound in bounds for end in bound]
    low, high = _clip(ends, [start, *(row["score"] for row in drawn if not row["ruined"])])
    x = _scale(low, high, 2, 98)
    inside = [[max(low, b[0]), min(high, b[1])] for b in bounds]
    return {
        "more": len(started) > len(drawn),
        "clipped": inside != bounds,
        "start": x(start),
        "ticks": [(x(tick), f"{tick:g}") for tick in round_values(low, high)],
        "rows": [
            {
                "x": x(min(high, max(low, row["score"]))),
                "low": x(b[0]),
                "width": round(x(b[1]) - x(b[0]), 2),
                "cut": ["left"] * (b[0] > whole[0]) + ["right"] * (b[1] < whole[1]),
            }
            for row, b, whole in zip(drawn, inside, bounds, strict=True)
        ],
    }


def draw_convergence(standings: Standings, colours: Sequence[int]) -> dict[str, Any] | None:
    """The drawing of mean scores against matches for the first DRAWN bots, by rank; None below two points.

    It has `cut`, the positions and values of the edges beyond which lines are cut off.
    """
    points = [point for point in standings.progress if point[0] * 20 >= standings.matches] or standings.progress
    if len(points) < 2:
        return None
    order = standings.order()[:DRAWN]
    values = [means[bot] for _, means in points for bot in order]
    low, high = _clip(values, [points[-1][1][bot] for bot in order if not standings.ruined(bot)] or values)
    x, y = _scale(points[0][0], points[-1][0]), _scale(low, high, 97, 3)
    heights = [[y(min(high, max(low, means[bot]))) for _, means in points] for bot in order]
    labels = _spread_labels([line[-1] for line in heights[:TOP]])
    lines = [
        {
            "name": standings.names[bot],
            "colour": colours[bot],
            "label": labels[index] if index < TOP and standings.scores[bot].started else None,
            "points": " ".join(f"{x(at)},{height}" for (at, _), height in zip(points, heights[index], strict=True)),
        }
        for index, bot in enumerate(order)
    ]
    return {
        "means": [(matches, [means[bot] for bot in order]) for matches, means in points],
        "lines": lines,
        "cut": [(y(edge), value) for edge, value in ((high, max(values)), (low, min(values))) if edge != value],
        "y_ticks": [(y(tick), f"{tick:g}") for tick in round_values(low, high)],
        "x_ticks": _match_ticks(points[0][0], points[-1][0]),
    }


def draw_rank(standings: Standings, bot: int) -> dict[str, Any] | None:
    """The drawing of a bot's rank against matches, also as (matches, rank, mean score); None below two points."""

    def place(means: Sequence[float], number: int) -> tuple[bool, float]:
        return not standings.ruined(number), means[number]

    ranks = [
        (matches, 1 + sum(place(means, other) > place(means, bot) for other in standings.ranked), means[bot])
        for matches, means in standings.progress
    ]
    if len(ranks) < 2:
        return None
    last = max(2, len(standings.ranked), *(rank for _, rank, _ in ranks))
    x, y = _scale(ranks[0][0], ranks[-1][0]), _scale(1, last, 3, 97)
    return {
        "points": " ".join(f"{x(matches)},{y(rank)}" for matches, rank, _ in ranks),
        "ranks": ranks,
        "y_ticks": [(y(rank), rank) for rank in sorted({1, (last + 1) // 2, last})],
        "x_ticks": _match_ticks(ranks[0][0], ranks[-1][0]),
    }


def _match_ticks(first: int, last: int) -> list[tuple[float, str]]:
    """Ticks for matches: the first, the last, and round numbers that do not collide with them."""
    x = _scale(first, last)
    between = [int(tick) for tick in round_values(first, last) if tick == int(tick) and 8 < x(tick) < 90]
    return [(x(matches), f"{matches:,}") for matches in (first, *between, last)]


def _spread_labels(wanted: Sequence[float]) -> dict[int, float]:
    """The label positions, moved so that they do not overlap and stay within the drawing, by index."""
    downwards = sorted(range(len(wanted)), key=wanted.__getitem__)
    heights = sorted(wanted)
    for place in range(1, len(heights)):
        heights[place] = max(heights[place], heights[place - 1] + GAP)
    limit = 97.0
    for place in reversed(range(len(heights))):
        heights[place] = min(heights[place], limit)
        limit = heights[place] - GAP
    return dict(zip(downwards, heights, strict=True))


RELOAD = 20  # seconds between two reloads of a page while the contest is not over
LOG_LENGTH = 4096  # characters of stderr in a match that are shown


@lru_cache(maxsize=1)
def templates() -> "Environment":
    environment = report_page.templates("bjsim.bots.contest")
    environment.filters["signed"] = lambda value, digits=1: f"{value:+.{digits}f}"
    environment.filters["evidence"] = lambda e: f"{e:.2g}" if e < 10 else f"{e:,.0f}" if e < 1e6 else f"{e:.0e}"
    environment.filters["cards"] = lambda letters: ["10" if letter == "T" else letter for letter in letters]
    environment.globals |= {"light": LIGHT, "dark": DARK, "drawn": DRAWN, "top": TOP, "compared": COMPARED}
    environment.globals |= {"fewest": MIN_BATCHES, "judged": HANDS, "log_length": LOG_LENGTH}
    return environment


class ContestReport:
    """The common content of all pages of a contest at one moment. changed: in seconds since 1970."""

    def __init__(
        self, standings: Standings, data: PageData, logs: Logs | None = None, changed: float | None = None
    ) -> None:
        self.standings, self.data = standings, data
        # By bot number, as the slugs, colours and protocols; the last name is the house.
        self.names = standings.seat_names
        self.slugs = make_slugs(standings.names, standings.roster.left)
        sources = published_sources([bot["source"] for bot in standings.bots])
        self.bots = [{**bot, "source": source} for bot, source in zip(standings.bots, sources, strict=True)]
        self.rows = [  # of the standings, best first
            {**self._describe(row, logs), "top": place < TOP and row.score.started}
            for place, row in enumerate(standings.rows())
        ]
        top = [row["number"] for row in self.rows if row["top"]]
        self.colours = make_colours([bot["name"] for bot in standings.bots], top)  # versions of a bot share one
        self.former = [self._describe(row, logs) for row in standings.former()]
        self.changed = datetime.fromtimestamp(changed, UTC).strftime("%Y-%m-%d %H:%M") if changed else ""
        houses = [""] * (len(standings.seat_names) - len(standings.names))  # what they are asked is not shown
        asked = list(map(protocol_of, standings.bots))
        for bot, match in standings.roster.retired.items():
            if data.hands[bot].match >= match:  # from then on nothing
                asked[bot] = ""
        self.protocols = [*asked, *houses]  # empty for a player that is not a program
        self.logs = defaultdict[int, deque[BotLog]](partial(deque, maxlen=LOGS_SHOWN))  # the last of each bot
        self.ready: dict[int, dict[str, str]] = {}  # what a line bot last said of itself
        for log in read_logs(logs.folder) if logs else ():
            if log.text:
                self.logs[log.bot].append(log._replace(text=log.text[: LOG_LENGTH + 1]))
            self.ready[log.bot] = log.ready or self.ready.get(log.bot, {})
        self._questions: dict[tuple[int, int, int | None], list[Asked]] = {}
        self._replays: dict[tuple[int, int, str], dict[str, Any]] = {}

    def _describe(self, row: StandingsRow, logs: Logs | None) -> dict[str, Any]:
        return {
            **row_values(row, logs),
            "number": row.bot,
            "lasting_name": self.standings.bots[row.bot]["name"],
            "slug": self.slugs[row.bot],
            "left": row.left,
            "started": row.score.started,
            "ruined": self.standings.ruined(row.bot),
            "language": self.standings.bots[row.bot]["language"],
            "protocol": protocol_of(self.standings.bots[row.bot]),
        }

    def replay(self, record: Mapping[str, Any]) -> dict[str, Any]:
        """The replay of a record; several pages show the same rounds."""
        key = record["match"], record["table"], round_number(record, self.standings.contest)
        if key not in self._replays:
            self._replays[key] = replay(self.standings.contest, record, self.names)
        return self._replays[key]

    def questions(self, bot: int) -> list[Asked]:
        """The questions to a bot in its last match, if it is a program."""
        hands = self.data.hands
        if bot not in hands or not self.protocols[bot]:
            return []
        key = table_key(hands[bot].last[0])
        if key not in self._questions:
            seats = [seat for seat in hands[bot].last[0]["seats"] if seat >= 0 and hands[seat].match == key[0]]
            at_table = [last for last in (hands[seat].last for seat in seats) if table_key(last[0]) == key]
            longest = max(at_table, key=len)  # a broke bot sits out the rest of the match
            self._questions[key] = list(questions(self.standings.contest, longest, self.protocols))
        return [question for question in self._questions[key] if question.bot == bot]

    def render(self, template: str, **values: Any) -> str:
        contest = self.standings.contest
        scored = HEADINGS[contest.scored_by]
        leads = f"per cent of {scored} (the difference of 100 ln(chips + 1))"
        return (
            templates()
            .get_template(template)
            .render(
                report=self,
                standings=self.standings,
                contest=contest,
                rules=contest.rules,
                rows=self.rows,
                title=contest.heading,
                luck=self.standings.luck_adjusted,
                reload=0 if self.standings.over else RELOAD,
                round_number=lambda record: round_number(record, contest),
                scored=scored,
                leads=leads if contest.scored_by == "log" else scored,
                **values,
            )
        )


def format_swing(record: Mapping[str, Any], names: Sequence[str]) -> str:
    """The largest win or loss in a round, in words."""
    net = max(record["net"], key=abs)
    return f"{names[record['seats'][record['net'].index(net)]]} {net:+d}"


def replayed(data: PageData, swings: int) -> str:
    count, match = len(data.last), data.match + 1
    whole = "the only round" if count == 1 else f"all {count} rounds"
    last = whole if count == data.rounds else f"the first {count} of {data.rounds} rounds"
    largest = "hand with the largest swing" if swings == 1 else f"{swings} hands with the largest swings"
    return f"The {largest}, and {last} of the last match, match {match}."


def render_index(report: ContestReport) -> str:
    standings, data, contest = report.standings, report.data, report.standings.contest
    order = standings.ranked[:COMPARED]
    swings = [titled(report.replay(record), format_swing(record, report.names)) for _, _, record in data.swings]
    last = [titled(report.replay(record), "last match") for record in data.last]
    return report.render(
        "page.html",
        again=again(standings),
        settings=described_settings(standings),
        settings_file=settings_file(contest),
        lead=describe_lead(standings),
        ended=describe_end(standings),
        hill=bool(report.former or any(standings.roster.joined)),
        unstarted=not all(score.started for score in standings.scores),
        intervals=draw_intervals(report.rows, contest.rules.chips),
        convergence=draw_convergence(standings, report.colours),
        crosstable=[[None if one == other else standings.difference(one, other) for other in order] for one in order],
        faults=[group for _, group in sorted(data.faults.items())],
        replays=json.dumps(list(map(shorten, [*swings, *last])), separators=(",", ":")).replace("<", "\\u003c"),
        replayed=replayed(data, len(swings)),
        first_replay=swings[0] if swings else None,
    )


def titled(hand: Mapping[str, Any], label: str) -> dict[str, Any]:
    return {**hand, "title": f"{label}, hand {hand['hand']}"}


def table_key(record: Mapping[str, Any]) -> tuple[int, int, int | None]:
    """The key of a table: its match, its number and, of a match of a bot's own, that bot."""
    return record["match"], record["table"], record.get("own")


# --- The page of one bot: its mistakes, its rank over time, its opponents, its faults and its hands.


MISTAKES = 8  # mistakes shown, each with a hand
LOGS_SHOWN = 5  # matches whose stderr is shown


def render_bot(report: ContestReport, row: Mapping[str, Any]) -> str:
    """Render the page of a bot; `row` is its row of `report.rows` or `report.former`."""
    bot = row["number"]
    hands = report.data.hands.get(bot, BotHands())
    mistakes = report.data.mistakes.bots.get(bot, BotMistakes())
    costliest = mistakes.costliest(MISTAKES)
    swings = [record for _, _, record in hands.swings] if hands.raises else []
    faults = [group for key, group in sorted(report.data.faults.items()) if key[0] == bot]
    others = [other for other in report.rows if other["rank"] and other is not row]
    opponents = [(other, report.standings.difference(bot, other["number"])) for other in others]
    return report.render(
        "bot.html",
        row=row,
        bot=report.bots[bot],
        earlier=[each for each in report.former if each["lasting_name"] == row["bot"] and each is not row],
        colour=report.colours[bot],
        failure=report.data.failures.get(bot),
        mistakes=mistakes,
        costliest=costliest,
        rank=draw_rank(report.standings, bot),
        opponents=[(other, difference) for other, difference in opponents if difference.batches],
        faults=faults,
        hands=describe_hands(
            report,
            bot,
            {
                "The hands with these mistakes": [mistake.record for _, mistake in costliest],
                "The largest wins and losses": swings,
                f"The last match, match {hands.match + 1}": hands.last,
            },
        ),
        last_match=hands.match + 1,
        trace="\n".join(question.text for question in report.questions(bot)),
        ready=report.ready.get(bot, {}),
        logs=[(log, printable_lines(log.text[:LOG_LENGTH])) for log in report.logs[bot]],
    )


def describe_hands(
    report: ContestReport, bot: int, groups: Mapping[str, Sequence[Mapping[str, Any]]]
) -> list[tuple[str, list[dict[str, Any]]]]:
    """The recorded rounds that the page of a bot shows: titles of groups that are not empty, with replays.

    A replay also has the bot's `seat`, and `anchor`: whether links to the hand lead here.
    """
    shown: set[str] = set()
    described = []
    for title, records in groups.items():
        hands: dict[str, dict[str, Any]] = {}  # without a round that costs most by two mistakes twice
        for record in records:
            hand = report.replay(record)
            number = hand["hand"]
            hands[number] = {**hand, "anchor": number not in shown, "seat": record["seats"].index(bot)}
        shown |= hands.keys()
        if hands:
            described.append((title, list(hands.values())))
    return described


# --- The result files standings.json, standings.csv and marks.csv.


FORMULA = ("=", "+", "-", "@", "\t", "\r")  # first characters of a spreadsheet formula


def standings_json(standings: Standings, logs: Logs | None = None) -> str:
    """The text of standings.json: a list of rows, best first."""
    return json.dumps([row_values(row, logs) for row in standings.rows()], indent=1) + "\n"


def standings_csv(standings: Standings, logs: Logs | None = None) -> str:
    """The text of standings.csv: the same rows, with intervals as two columns and faults as a count."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    for number, row in enumerate(standings.rows()):
        flat: dict[str, Any] = {}
        for key, value in row_values(row, logs).items():
            match key:
                case "faults":
                    flat[key] = sum(value.values())
                case "rank_range":
                    flat[key] = "-".join(map(str, value or ()))
                case "tied_with":
                    flat[key] = "; ".join(value)
                case _ if key.endswith("_ci95"):
                    flat[f"{key}_low"], flat[f"{key}_high"] = value or ("", "")
                case _:
                    flat[key] = value
        if number == 0:
            writer.writerow(flat)
        writer.writerow(map(_as_text, flat.values()))
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


# --- Write all files that are computed from the journal of a contest.


def write_results(folder: Path, standings: Standings, page: PageData, logs: Logs) -> None:
    """Write standings.json, standings.csv, index.html, a page for each bot and, where there are marks, marks.csv."""
    write_atomically(folder / "standings.json", standings_json(standings, logs))
    write_atomically(folder / "standings.csv", standings_csv(standings, logs))
    if standings.contest.marks:
        faults = {bot: fault["detail"] for bot, fault in page.failures.items()}
        write_atomically(folder / "marks.csv", marks_csv(make_marks(standings, faults)))
    report = ContestReport(standings, page, logs, (folder / journals.NAME).stat().st_mtime)
    pages = folder / "pages"
    make_folder(pages)
    for row in (*report.former, *report.rows):
        write_atomically(pages / f"{row['slug']}.html", render_bot(report, row))
    write_atomically(folder / "index.html", render_index(report))


# --- Close a contest: no bot may join any more, and its journal, with the seed, may be published.


def close(folder: Path) -> None:
    """Close the contest in a folder, which must have ended. None of its bots is looked at: the folder may be foreign.

    Its journal is written once more, with the sources of the bots relative to the folder that holds them all: a
    closed contest is not resumed, and a published journal must not reveal the paths of the host.
    """
    journal, records = journals.Journal.reopen(folder)  # which no other process may write to meanwhile
    standings, texts = Standings(header := next(records)), dict[str, str]()
    for record in chain([header], records):
        if record is not header:
            standings.add(record)
        _rename(record, lambda text: texts.setdefault(text, text))
    if standings.closed:
        raise InputError(f"the contest in {folder} is closed already")
    ending = [] if standings.end else standings.retiring()  # which a stop may have kept from being recorded
    standings.add_all(ending)
    if not standings.over:
        raise InputError(f"the contest in {folder} has not ended; play it on with `bjsim koth resume`")
    if not standings.end:
        ending.append({"record": "end", "reason": standings.over, "matches": standings.matches})
    paths = [*filter(os.path.isabs, texts)]
    texts.update(zip(paths, published_sources(paths), strict=True))
    crc = 0
    with replacing(folder / journals.NAME) as file:
        for record in chain(journals.read(folder), ending, [{"record": "close"}]):
            _rename(record, texts.__getitem__)
            line, crc = journals.encode_record(record, crc)
            file.write(line)
        file.flush()
        os.fsync(file.fileno())
        if not hasattr(os, "fork"):
            journal.close()  # Windows cannot replace an open file
    journal.close()  # and with it the lock: no other process may write to the old file


def _rename(record: dict[str, Any], name: Callable[[str], str]) -> None:
    """Name the sources in a header or a change anew. Other texts may look like paths: names are the choice of a bot."""
    bots = [*record.get("bots", ()), *record.get("join", ()), *record.get("against", ())]
    for bot in filter(None, [*bots, record.get("house")]):
        bot["source"] = name(bot["source"])
    if settings := record.get("contest"):
        settings["against"] = [*map(name, settings["against"])]
        settings["house"] = name(settings["house"])
