"""What a contest found: its standings as a report and as files, and the command that reproduces it."""

import csv
import io
import json
import os
import shlex
from collections.abc import Callable, Sequence
from functools import partial
from itertools import chain
from operator import itemgetter
from pathlib import Path
from typing import Any

from bjsim.asked.kinds import Flag
from bjsim.asked.signature import parameters
from bjsim.bots.contest import journal as journals
from bjsim.bots.contest.config import Contest
from bjsim.bots.contest.contest_tally import HEADINGS, StandingsRow
from bjsim.bots.contest.journal import Logs
from bjsim.bots.contest.standings import (
    DIGITS,
    Mark,
    Standings,
    describe_authors,
    describe_effect,
    describe_end,
    describe_lead,
    make_marks,
)
from bjsim.bots.protocol import printable
from bjsim.errors import InputError
from bjsim.files import replacing
from bjsim.report.parts import DataColumn, DataSeries, DataTable, Dots, Notes, Only, Report
from bjsim.sim.game.presets import PRESETS
from bjsim.sim.game.rules import Rules

IN_FILE = ("retire", "title", "lives")  # settings without an option


def published_sources(sources: Sequence[str]) -> list[str]:
    """The sources of the bots for publication; files are relative to the folder that holds them all.

    The page must not reveal other paths. A file starts with `./`, so that it cannot be mistaken for anything else.
    """
    files = [source for source in sources if os.path.isabs(source)]
    folder = os.path.commonpath([os.path.dirname(file) for file in files]) if files else ""
    return [f"./{os.path.relpath(source, folder)}" if os.path.isabs(source) else source for source in sources]


def contest_command(contest: Contest, names: Sequence[str], sources: Sequence[str]) -> str:
    """The POSIX shell command that reproduces a contest in the folder of the bots and any `settings_file`."""
    words = ["bjsim", "koth", "play"]
    if settings_file(contest):
        words += ["--config", "contest.toml"]
    if _is_preset(contest.rules):
        words += ["--rules", contest.rules.name]
    for name, kind, default, _ in parameters("bjsim.bots.contest.config:Contest"):
        value = getattr(contest, name)
        if name not in IN_FILE and (value != default or name == "matches"):
            words += [f"--{name}", *([] if isinstance(kind, Flag) else [kind.text(value)])]
    bots = [source if name == source else f"{name}={source}" for name, source in zip(names, sources, strict=True)]
    return shlex.join([*words, "--out", "again", "--", *bots])  # no name of a bot is parsed as an option


def again(standings: Standings) -> str:
    """The command that plays a contest again; "" until it is closed, as it has the seed, or if one is not enough."""
    if not standings.closed or standings.roster.left or any(standings.roster.joined):
        return ""
    return contest_command(
        standings.contest, standings.names, published_sources([bot["source"] for bot in standings.bots])
    )


def settings_file(contest: Contest) -> str:
    """The TOML file of what has no option: changed rules, and settings; "" if there is none."""
    others = {name: value for name in IN_FILE if (value := getattr(contest, name)) != getattr(Contest, name)}
    lines = [f"{name} = {_toml(value)}" for name, value in others.items()]
    if _is_preset(contest.rules):
        return "\n".join(lines)
    preset = contest.rules.name if contest.rules.name in PRESETS else "cardshark"
    base = PRESETS[preset].rules.to_dict()
    changed = {name: value for name, value in contest.rules.to_dict().items() if value != base[name]}
    return "\n".join(
        [
            *lines,
            "[rules]",
            f"preset = {_toml(preset)}",
            *(f"{name} = {_toml(value)}" for name, value in changed.items()),
        ]
    )


def _is_preset(rules: Rules) -> bool:
    return rules.name in PRESETS and rules == PRESETS[rules.name].rules


def _toml(value: object) -> str:
    """A number, boolean or string, which TOML and JSON write alike."""
    return json.dumps(value, ensure_ascii=False)


# --- The result files standings.json, standings.csv and marks.csv.


FORMULA = ("=", "+", "-", "@", "\t", "\r")  # first characters of a spreadsheet formula


def row_values(row: StandingsRow, logs: Logs | None = None) -> dict[str, Any]:
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
    ms = logs.ms_per_move(row.bot) if logs else None
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


def standings_table(rows: Sequence[dict[str, Any]], score: str = "chips") -> DataTable:
    """The standings by what ranks the bots, `score` as in `Contest`; `rows` are those of standings.json."""
    ranked = DataColumn("", f"{HEADINGS[score]} ± 95%", lambda row: row["rank"] and _interval("score", 1, row))
    chips = DataColumn("", "chips ± 95%", partial(_interval, "chips", 1))
    adjusted = DataColumn("", "luck-adjusted per hand ± 95%", partial(_interval, "luck_adjusted", 3))
    columns = [
        DataColumn("", "bot", itemgetter("bot"), is_text=True),
        DataColumn("", "rank", _rank),
        *([chips, adjusted] if score == "chips" else [ranked, chips]),
        DataColumn("", "broke/matches", lambda row: f"{row['broke']:,}/{row['matches']:,}"),
        DataColumn("", "faults", _faults, is_text=True, style=lambda row: "yellow"),
        DataColumn("", "ms per move", itemgetter("ms_per_move"), "{:.2f}".format),
        DataColumn("", "language", lambda row: row.get("language", ""), is_text=True),
    ]
    return DataTable("", columns, rows, turns=False)


def _interval(key: str, digits: int, row: dict[str, Any]) -> str | None:
    if row[key] is None:
        return None
    bounds, sign = row[f"{key}_ci95"], "+" if key == "luck_adjusted" else ""
    half = f"{(bounds[1] - bounds[0]) / 2:.{digits}f}" if bounds else "–"
    return f"{row[key]:{sign}.{digits}f} ± {half:>5}"


def _rank(row: dict[str, Any]) -> str | None:
    """The rank, with the range of those that the results leave open."""
    best, worst = row["rank_range"] or (row["rank"], row["rank"])
    return row["rank"] and (f"{row['rank']} ({best}–{worst})" if best < worst else str(row["rank"]))


def _faults(row: dict[str, Any]) -> str:
    return printable(", ".join(f"{kind} {count}" for kind, count in row["faults"].items()))


def contest_table(standings: Standings, logs: Logs, most: int | None = None) -> DataTable:
    """The standings of a contest, of its first `most` bots if that is given."""
    languages = [bot["language"] for bot in standings.bots]
    rows = [row_values(row, logs) | {"language": languages[row.bot]} for row in standings.rows()[:most]]
    return standings_table(rows, standings.contest.scored_by)


def describe_standings(standings: Standings, logs: Logs) -> Report:
    """The standings of a contest, with marks, what became of bots, and what is decided."""
    lines = []
    for mark in make_marks(standings) if standings.contest.marks else ():
        score = "" if mark.score is None else f"  {mark.score:+.3f}"
        if mark.low is not None:
            score += f"  (95%: {mark.low:+.3f} to {mark.high:+.3f}, {mark.lowest} to {mark.highest})"
        lines.append(f"mark {mark.mark or 'none':5} {mark.bot}{score}")
    lines += [f"{row.name} retired {row.score.retired}" for row in standings.rows() if row.score.retired]
    for group in standings.alike():
        *names, last = (standings.names[bot] for bot in group)
        lines.append(f"{', '.join(names)} and {last} play identically")
    for row in standings.former():
        lines.append(f"left: {row.name} ({row.left} after {row.score.matches} matches, {row.chips:.1f} chips)")
    ended, played = describe_end(standings), f"{standings.matches:,} match{'es' * (standings.matches != 1)}"
    lines.append(f"{played}; ended: {ended}" if ended else f"{played} so far, not finished")
    lines += filter(None, [describe_lead(standings), describe_effect(standings), describe_authors(standings)])

    def data() -> dict[str, Any]:
        return {
            "matches": standings.matches,
            "ended": standings.end["reason"] if standings.end else None,
            "decided": standings.decided,
            "standings": [row_values(row, logs) for row in standings.rows()],
            "former": [{**row_values(row, logs), "left": row.left} for row in standings.former()],
        }

    parts = [contest_table(standings, logs), Notes(lines), Only("page", lambda: [_scores(standings)])]
    return Report(standings.contest.heading, [], parts, [standings.contest.rules], data=data)


DRAWN = 25  # scores in a drawing


def _scores(standings: Standings) -> Dots:
    """The scores of the first bots with their intervals."""
    rows = standings.rows()[:DRAWN]
    halves = [(row.points_ci95[1] - row.points_ci95[0]) / 2 if row.points_ci95 else 0.0 for row in rows]
    name = f"{HEADINGS[standings.contest.scored_by]} per match, with 95% intervals"
    series = DataSeries(name, [row.points for row in rows], "{:g}".format, halves)
    return Dots([row.name for row in rows], [series], name)


def describe_pair(standings: Standings) -> Report:
    """Which of two bots is better, by how many chips per match, and whether that is decided."""
    first, second = sorted((0, 1), key=lambda bot: standings.difference(bot, 1 - bot).mean, reverse=True)
    lead = standings.difference(first, second)
    names = [standings.bots[bot]["name"] for bot in (first, second)]
    played = f"{standings.matches:,} match{'es' * (standings.matches != 1)}"
    parts: list[Any] = []
    if lead.interval is None:
        failed = next((row.name for row in standings.rows() if not row.score.started), "")
        why = f"{failed} does not answer" if failed else "too few for an interval; allow more with --matches"
        said = f"not decided after {played}, {why}"
    else:
        figures = f"{lead.mean:+.2f} chips per match, 95%: {lead.interval[0]:+.2f} to {lead.interval[1]:+.2f}"
        ahead, undecided = f"{names[0]} is ahead of {names[1]}", f"{names[0]} against {names[1]} {figures}"
        said = f"{ahead} after {played}: {figures}" if lead.separated else f"not decided after {played}: {undecided}"
        half = (lead.interval[1] - lead.interval[0]) / 2
        series = DataSeries("chips per match", [lead.mean], "{:+g}".format, [half])
        parts = [Only("page", lambda: [Dots([names[0]], [series], f"chips per match more than {names[1]}")])]
    data = {
        "bots": names,
        "matches": standings.matches,
        "difference": lead.mean,
        "anytime95": lead.interval,
        "decided": lead.separated,
    }
    return Report(f"{names[0]} against {names[1]}", [said], parts, [standings.contest.rules], data=lambda: data)


def standings_json(standings: Standings, logs: Logs | None = None) -> str:
    """The text of standings.json: a list of rows, best first."""
    return json.dumps([row_values(row, logs) for row in standings.rows()], indent=1) + "\n"


def standings_csv(standings: Standings, logs: Logs | None = None) -> str:
    """The text of standings.csv: the same rows, with intervals as two columns and faults as a count."""
    text = io.StringIO()
    writer = None
    for row in standings.rows():
        flat: dict[str, Any] = {}
        for key, value in row_values(row, logs).items():
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


def write_standings(folder: Path, standings: Standings, logs: Logs | None = None) -> None:
    write_atomically(folder / "standings.json", standings_json(standings, logs))
    write_atomically(folder / "standings.csv", standings_csv(standings, logs))


def _round(value: float) -> float:
    return round(value, DIGITS)


def _bounds(bounds: tuple[float, float] | None) -> list[float] | None:
    return [_round(bound) for bound in bounds] if bounds else None


# --- Close a contest: no bot may join any more, and its journal, with the seed, may be published.


NAMING = ("header", "change")  # records with the sources of bots


def close(folder: Path) -> None:
    """Close the contest in a folder, which must have ended.

    Its journal is written once more, with the sources of the bots relative to the folder that holds them all: a
    closed contest is not resumed, and a published journal must not reveal the paths of the host.
    """
    journal, records = journals.Journal.reopen(folder)  # which no other process may write to meanwhile
    texts: set[str] = set()
    last: dict[str, Any] = {}
    for last in records:
        if last["record"] in NAMING:
            _renamed(last, texts.add)
    if last["record"] == "close":
        raise InputError(f"the contest in {folder} is closed already")
    if last["record"] != "end":
        raise InputError(f"the contest in {folder} has not ended; play it on with `bjsim koth resume`")
    paths = [*filter(os.path.isabs, texts)]
    names = dict(zip(paths, published_sources(paths), strict=True))
    crc = 0
    with replacing(folder / journals.NAME) as file:
        for record in chain(journals.read(folder), [{"record": "close"}]):
            if record["record"] in NAMING:
                record = _renamed(record, lambda text: names.get(text, text))
            line, crc = journals.encode_record(record, crc)
            file.write(line)
        file.flush()
        os.fsync(file.fileno())
        journal.close()


def _renamed(value: Any, name: Callable[[str], object]) -> Any:
    if isinstance(value, dict):
        return {key: _renamed(part, name) for key, part in value.items()}
    if isinstance(value, list):
        return [_renamed(part, name) for part in value]
    return name(value) if isinstance(value, str) else value
