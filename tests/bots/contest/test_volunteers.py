"""A contest that volunteers play in parts: the same bytes as in one piece, and forged parts are refused by name.

The commands of docs/how-to/hill.md are those of the last test.
"""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from bot_helpers import SAMPLES
from support.command import bjsim, refusal
from support.games import slow

from bjsim.bots.contest.config import Contest
from bjsim.bots.contest.entrants import gather
from bjsim.bots.contest.host import Host
from bjsim.bots.contest.play import journal
from bjsim.bots.contest.play.parts import PartError
from bjsim.bots.contest.volunteers import merge_parts, play_part
from bjsim.errors import InputError
from bjsim.sim.game.presets import load_rules

ARGV = "import sys\nprint('H' if int(sys.argv[1]) < 15 else 'S')\n"
LINE = (SAMPLES / "lim17_line.py").read_text()
RANDOM = "import os\nprint('H' if os.urandom(1)[0] % 2 and int(__import__('sys').argv[1]) < 21 else 'S')\n"
FAULTY = "import sys\nprint('H' if int(sys.argv[1]) < 12 else 'oops' if sys.argv[1] == '16' else 'S')\n"
RANGES = [(1, 2), (3, 5), (6, 6), (7, 8)]
Records = list[dict[str, Any]]
CONTEST = Contest(load_rules("cardshark"), seed=77, matches=8, sessions=2, hands=3, retire=0)


class Field:
    """A contest, and its four volunteers."""

    def __init__(self, folder: Path, contest: Contest = CONTEST, ranges: list[tuple[int, int]] = RANGES) -> None:
        self.folder, self.contest, self.bots = folder, contest, folder / "bots"
        self.bots.mkdir(parents=True)
        for name, text in (("argv.py", ARGV), ("line.py", LINE), ("faulty.py", FAULTY)):
            (self.bots / name).write_text(text)
        self.parts = [folder / f"part{first}.jsonl" for first, _ in ranges]
        for path, matches in zip(self.parts, ranges, strict=True):
            self.play(path, matches)

    def entrants(self) -> list[Any]:
        return gather(["optimal", "lim17", str(self.bots)], self.contest.rules)

    def play(self, path: Path, matches: tuple[int, int]) -> Path:
        play_part(self.contest, self.entrants(), matches, path, sandbox="off")
        return path

    def begin(self, name: str) -> Host:
        return Host.begin(self.folder / name, self.contest, self.entrants(), sandbox="off")

    def merge(self, name: str, parts: list[Path], share: float = 1.0) -> Any:
        host = self.begin(name)
        return merge_parts(host, parts, share, random.Random(1))

    def whole(self) -> bytes:
        """The journal of the contest in one piece, played once."""
        if not (self.folder / "whole").exists():
            self.begin("whole").run()
        return (self.folder / "whole" / journal.NAME).read_bytes()


@pytest.fixture(scope="module")
def field(tmp_path_factory: pytest.TempPathFactory) -> Field:
    return Field(tmp_path_factory.mktemp("field"))


def records_of(path: Path) -> Records:
    return [record for record, _, _ in journal.read_lines(path)]


def write(path: Path, records: Records) -> Path:
    """Write records with correct checksums, as a forger would."""
    crc, lines = 0, b""
    for record in records:
        line, crc = journal.encode_record(record, crc)
        lines += line
    path.write_bytes(lines)
    return path


def test_four_parts_are_the_whole_contest_byte_for_byte(field: Field) -> None:
    found = field.merge("merged", field.parts[::-1])
    merged, whole = (field.folder / "merged" / journal.NAME).read_bytes(), field.whole()
    assert merged == whole and found.missing is None and not found.random
    assert set(found.same) == {"optimal", "lim17", "argv", "line", "faulty"}
    assert found.rounds == sum(b'"record":"round"' in line for line in whole.splitlines())
    assert b'"kind":"bad-reply"' in whole  # faults are among what is merged
    assert bjsim("koth", "verify", field.folder / "merged").status == 0


@pytest.mark.parametrize("changes", [{"duplicate": True, "matches": 2}, slow({"against": ("hoyle",), "matches": 3})])
def test_other_schedules_are_divided_too(tmp_path: Path, changes: dict[str, Any]) -> None:
    values = {**CONTEST.to_dict(), **changes, "rules": CONTEST.rules}
    contest = Contest(**values)
    field = Field(tmp_path, contest, [(1, 1), (2, contest.matches)])
    field.merge("merged", field.parts, 0.1)
    assert (tmp_path / "merged" / journal.NAME).read_bytes() == field.whole()


def test_a_part_that_was_killed_goes_on_and_the_host_plays_what_is_missing(field: Field, tmp_path: Path) -> None:
    killed = tmp_path / "killed.jsonl"
    killed.write_bytes(field.parts[1].read_bytes()[:-777])
    with pytest.raises(PartError, match=r"killed.jsonl is refused: match 5, table 2 (stops before|is missing)"):
        field.merge("killed", [field.parts[0], killed])
    field.play(killed, RANGES[1])
    assert killed.read_bytes() == field.parts[1].read_bytes()
    found = field.merge("first", [field.parts[0], killed, field.parts[3]], 0.01)
    assert found.missing == 6
    host = Host.resume(field.folder / "first", sandbox="off")
    host.run()
    assert (field.folder / "first" / journal.NAME).read_bytes() == field.whole()


def test_who_answers_at_random_is_named_and_not_refused(tmp_path: Path) -> None:
    field = Field(tmp_path, CONTEST, [])
    (field.bots / "dice.py").write_text(RANDOM)
    part = field.play(tmp_path / "part.jsonl", (1, 8))
    found = field.merge("merged", [part])
    assert found.random == ["dice"] and "argv" in found.same


def a_round(records: Records, bot: int, letter: str = "") -> tuple[dict[str, Any], int]:
    """The first round in which a bot made a move, perhaps this one, and its seat."""
    for record in records[1:]:
        if bot in record["seats"]:
            seat = record["seats"].index(bot)
            if record["moves"][seat] and (not letter or letter in record["moves"][seat]):
                return record, seat
    raise AssertionError("no such round")


def change_card(records: Records) -> None:
    cards = records[3]["cards"]
    records[3]["cards"] = ("5" if cards[0] != "5" else "6") + cards[1:]


def add_fault(records: Records, of: int, **changes: Any) -> None:
    record, seat = a_round(records, of, "S")
    fault = {"bot": of, "place": seat, "move": record["moves"][seat].index("S"), "kind": "timeout", "detail": ""}
    record["faults"] = [*record.get("faults", ()), fault | {"argv": [], "stdout": "", "stderr": ""} | changes]


def drop_faults(records: Records) -> None:
    for record in records[1:]:
        record.pop("faults", None)


def set_move(records: Records) -> None:
    record, seat = a_round(records, 0, "H")
    record["moves"][seat][record["moves"][seat].index("H")] = "S"


def extra_note(records: Records) -> None:
    record, seat = a_round(records, 0)
    record["notes"] = [[""] * len(moves) for moves in record["moves"]]
    record["notes"][seat][0] = "I am the king"


FORGERIES: dict[str, Callable[[Records], object]] = {
    "a card": change_card,
    "a card more": lambda records: records[2].update(cards=records[2]["cards"] + "A"),
    "a card less": lambda records: records[2].update(cards=records[2]["cards"][:-1]),
    "two cards exchanged": lambda records: records[4].update(cards=records[4]["cards"][::-1]),
    "the profit": lambda records: records[1]["net"].__setitem__(0, records[1]["net"][0] + 10),
    "the chips": lambda records: records[1]["chips"].__setitem__(0, 1000),
    "the seats": lambda records: records[1]["seats"].reverse(),
    "the shoe": lambda records: records[1].update(shoe=5),
    "an answer": set_move,
    "an answer more": lambda records: a_round(records, 0)[0]["moves"][0].append("S"),
    "rounds exchanged": lambda records: records.__setitem__(slice(1, 3), records[2:0:-1]),
    "a round left out": lambda records: records.pop(3),
    "the first round left out": lambda records: records.pop(1),
    "the last round left out": lambda records: records.pop(),
    "a round twice": lambda records: records.insert(2, copy.deepcopy(records[1])),
    "a match left out": lambda records: records.__delitem__(
        slice(1, next(n for n, record in enumerate(records[1:], 1) if record["match"] != 2))
    ),
    "matches of its own choice": lambda records: records[0].update(part=[3, 4]),
    "a time limit exceeded": lambda records: add_fault(records, 0),
    "a fault of another bot": lambda records: add_fault(records, 0, bot=1),
    "a fault of no move": lambda records: add_fault(records, 0, move=7),
    "faults forgiven": drop_faults,
    "a note": extra_note,
    "another seed": lambda records: records[0]["contest"].update(seed=78),
    "another bot in the header": lambda records: records[0]["bots"][0].update(sha256="0" * 64),
    "a word more": lambda records: records[1].update(comment="x"),
}


@pytest.mark.parametrize("name", FORGERIES)
@pytest.mark.slow_cases("a note", "a time limit exceeded", "faults forgiven")
def test_a_forged_part_is_refused_by_name(field: Field, tmp_path: Path, name: str) -> None:
    records = records_of(field.parts[1])
    FORGERIES[name](records)
    assert records != records_of(field.parts[1])
    forged = write(tmp_path / "mallory.jsonl", records)
    with pytest.raises(InputError, match=r"mallory\.jsonl is (refused|of another contest|not a part)"):
        field.merge(f"forged {name}", [field.parts[0], forged, *field.parts[2:]])
    assert not any(record["record"] == "round" for record in journal.read(field.folder / f"forged {name}"))


@pytest.mark.parametrize(
    ("bot", "file", "text"),
    [("argv", "argv.py", ARGV.replace("15", "13")), ("line", "line.py", LINE.replace("17", "14"))],
)
def test_a_replaced_bot_is_found_and_its_answers_are_shown(
    field: Field, tmp_path: Path, bot: str, file: str, text: str
) -> None:
    """The volunteer plays with another program, and writes the header of the honest one."""
    assert text not in (ARGV, LINE)
    other = Field(tmp_path, CONTEST, [])
    (other.bots / file).write_text(text)
    records = records_of(other.play(tmp_path / "played.jsonl", RANGES[1]))
    assert records[1:] != records_of(field.parts[1])[1:]
    records[0] = records_of(field.parts[1])[0]
    forged = write(tmp_path / "mallory.jsonl", records)
    with pytest.raises(PartError, match=rf"mallory.jsonl is refused: in match \d, table \d, round \d {bot} plays H"):
        field.merge(f"replaced {bot}", [field.parts[0], forged])


def test_parts_that_do_not_fit_are_refused_by_name(field: Field, tmp_path: Path) -> None:
    both = field.play(tmp_path / "both.jsonl", (2, 3))
    with pytest.raises(PartError, match=r"part1.jsonl and .*both.jsonl both have match 2"):
        field.merge("both", [both, field.parts[0]])
    (tmp_path / "text.jsonl").write_text("a text\n")
    with pytest.raises(InputError, match=r"text.jsonl is damaged"):
        field.merge("text", [tmp_path / "text.jsonl"])
    with pytest.raises(InputError, match="another contest, or has other matches"):
        field.play(field.parts[0], (1, 3))
    with pytest.raises(InputError, match="matches 8:9 are not accepted; use 1:8"):
        field.play(tmp_path / "nine.jsonl", (8, 9))
    for name, value in (("retire", 3), ("lives", "contest"), ("until", "60")):
        contest = Contest(**{**CONTEST.to_dict(), "rules": CONTEST.rules, name: value})
        with pytest.raises(InputError, match=f"{name} = {value}: what volunteers play apart"):
            play_part(contest, field.entrants(), (1, 1), tmp_path / "x.jsonl", sandbox="off")


def test_on_the_command_line(tmp_path: Path) -> None:
    config, contest = tmp_path / "contest.toml", tmp_path / "contest"
    config.write_text('seed = 5\nmatches = 4\nretire = 0\nbots = ["optimal", "lim17"]\n')
    play = ("koth", "play", "--config", config)
    assert "commitment" in bjsim(*play, "--no-play", "--out", contest).out
    assert "rounds of matches 1 to 3" in bjsim(*play, "--matches", "1:3", "--part", tmp_path / "a").out
    bjsim(*play, "--matches", "4:4", "--part", tmp_path / "b")
    said = bjsim("koth", "merge", contest, tmp_path / "a")
    assert said.status == 0 and "every card and chip is correct" in said.out
    assert "match 4 is in no part" in said.out and "asked again: optimal, the same in" in said.out
    assert bjsim("koth", "merge", contest, tmp_path / "a", tmp_path / "b", "--ask", "100%").status == 0
    bjsim(*play, "--out", tmp_path / "whole")
    assert (contest / journal.NAME).read_bytes() == (tmp_path / "whole" / journal.NAME).read_bytes()
    one, two = (json.loads((folder / "standings.json").read_text()) for folder in (contest, tmp_path / "whole"))
    assert one == two
    for wrong, message in (
        ([*play, "--matches", "1:2"], "give --part FILE too"),
        ([*play, "--part", tmp_path / "c"], "needs the matches to play"),
        ([*play, "--matches", "3:2", "--part", tmp_path / "c"], "such as 1:50"),
        (["koth", "play", "optimal", "lim17", "--matches", "1:2", "--part", tmp_path / "c"], "needs the seed"),
        (["koth", "merge", contest, config], "damaged"),
    ):
        assert message in refusal(*wrong)
