"""The files of a contest, its settings for a page, and the command that plays it again."""

import csv
import io
import json
import os
import shlex
from collections.abc import Callable, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from bjsim.asked.kinds import Flag
from bjsim.asked.signature import parameters
from bjsim.bots.contest import journal as journals
from bjsim.bots.contest.config import Contest
from bjsim.bots.contest.journal import Logs
from bjsim.bots.contest.standings import Mark, Standings, row_values
from bjsim.errors import InputError
from bjsim.files import replacing
from bjsim.sim.game.presets import PRESETS
from bjsim.sim.game.rules import Rules

CONTEST = "bjsim.bots.contest.config:Contest"  # declares the settings


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
        journal.close()


def _rename(record: dict[str, Any], name: Callable[[str], str]) -> None:
    """Name the sources in a header or a change anew. Other texts may look like paths: names are the choice of a bot."""
    bots = [*record.get("bots", ()), *record.get("join", ()), *record.get("against", ())]
    for bot in filter(None, [*bots, record.get("house")]):
        bot["source"] = name(bot["source"])
    if settings := record.get("contest"):
        settings["against"] = [*map(name, settings["against"])]
        settings["house"] = name(settings["house"])
