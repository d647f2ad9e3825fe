"""What a contest keeps for authors: notes, stderr, and what the bots were asked, from a replay."""

import json
import re
from html import unescape

import pytest
from bot_helpers import line_bot, needs, needs_sandbox
from click.testing import CliRunner

from bjsim.bots.contest import journal
from bjsim.bots.contest.config import Contest
from bjsim.bots.contest.entrants import gather
from bjsim.bots.contest.host import Host
from bjsim.bots.contest.page import LOG_LENGTH, ContestReport, render_bot, render_index, write_results
from bjsim.bots.contest.replay import protocols, questions, verify
from bjsim.cli.koth import koth
from bjsim.sim.game.presets import load_rules

pytestmark = [needs(".py"), needs_sandbox]
CARDSHARK = load_rules("cardshark")
# Writes all lines that it reads to stderr, answers with a note, and makes a fault now and then, by what it has seen.
ECHO = line_bot(
    "'X' if sum('card' in s for s in seen) % 9 == 4 else 'H' if int(args[0]) < 15 else 'S', f'cards={len(seen)}'",
    setup="class Seen(list):\n    def append(self, text):\n"
    "        sys.stderr.write(text)\n        super().append(text)\nseen = Seen()",
    ready="ready 1 name=echo version=7",
)
LOG = journal.BotLog(0, 0, 0, 0, 2, 0.5, "", {})
ARGV = "import sys\nprint('score', sys.argv[1], file=sys.stderr)\nprint('H' if int(sys.argv[1]) < 15 else 'S')\n"


@pytest.fixture(scope="module")
def played(tmp_path_factory):
    """A contest of two line bots, a bot that is started for every move, and a strategy."""
    folder = tmp_path_factory.mktemp("played")
    (folder / "echo.py").write_text(ECHO)
    (folder / "argv.py").write_text(ARGV)
    bots = [str(folder / "echo.py"), f"again={folder / 'echo.py'}", str(folder / "argv.py"), "lim17"]
    contest = Contest(CARDSHARK, 7, matches=2, sessions=2, timeout=10.0, protocols=("argv", "line"))
    host = Host.begin(folder / "c", contest, gather(bots, CARDSHARK))
    host.run()
    return host


def test_the_page_has_no_control_characters_of_a_log(played, tmp_path):
    logs = journal.Logs(tmp_path)
    logs.add([LOG._replace(text="a</pre>\x1b[2J\x00\u202eb\nc" + "d" * LOG_LENGTH)])
    report = ContestReport(played.standings, played.page, logs, 0.0)
    page = render_bot(report, next(row for row in report.rows if row["number"] == 0))
    assert "<pre>a&lt;/pre&gt;\ufffd[2J\ufffd\ufffdb\ncd" in page and "the first 4096 characters" in page


def logs_of(folder, bot):
    return [log for log in journal.read_logs(folder) if log.bot == bot]


def sent(folder, match, bot):
    """All lines sent to the bot at the table, without the bank, from a replay."""
    header, *records = journal.read(folder)
    rounds = records[match]["rounds"]
    asked = questions(Contest.from_dict(header["contest"]), rounds, protocols(header))
    return [line for question in asked if question.bot == bot for line in (*question.sent, question.asked)]


def written(text):
    """The lines in a log of ECHO, without the bank, up to the last question."""
    lines = re.sub(r" bank-ms=\d+$", "", text, flags=re.M).splitlines()
    last = max(number for number, line in enumerate(lines) if line.startswith("move"))
    return [line for line in lines[: last + 1]]


def test_a_replay_gives_what_a_bot_was_sent(played):
    """The lines are those that the bot really read, faults of its own included."""
    for bot in (0, 1):
        for log in logs_of(played.folder, bot):
            asked = sent(played.folder, log.match, bot)
            asked[0] = re.sub(r" bank-ms=\d+", "", asked[0])
            assert asked == written(log.text) and any("fault bad-reply strikes=" in line for line in asked)
            assert log.text.endswith("bye\n") and log.ready == {"name": "echo", "version": "7"}


def test_the_argument_of_every_question_is_that_of_the_bot(played):
    scores = [log.text.split()[1::2] for log in logs_of(played.folder, 2)]
    assert scores == [[line.split()[0] for line in sent(played.folder, match, 2)] for match in (0, 1)]
    assert not any(log.ready for log in logs_of(played.folder, 2)) and not logs_of(played.folder, 3)


def test_notes_are_in_the_journal_and_in_the_replays(played):
    _, records, *_ = journal.read(played.folder)
    records = records["rounds"]
    notes = [note for record in records for seat in record["notes"] for note in seat]
    moves = [move for record in records for seat in record["moves"] for move in seat]
    assert len(notes) == len(moves) and sum(note.startswith("cards=") for note in notes) > 10
    assert verify(played.folder)[0] == 20
    note = next(filter(None, notes))
    assert f"Its note: {note}" in render_index(ContestReport(played.standings, played.page))


def test_the_commands_print_it(played):
    folder = str(played.folder)
    done = CliRunner().invoke(koth, ["show", folder, "--hand", "2.1.3", "--asked"])
    assert done.exit_code == 0 and "> move " in done.output and "echo (seat " in done.output, done.output
    assert done.output == CliRunner().invoke(koth, ["show", folder, "--hand", "2.1.3", "--asked"]).output
    done = CliRunner().invoke(koth, ["trace", folder, "2.1", "--bot", "again"])
    lines = done.output.partition("stderr:\n")[0].splitlines()
    assert lines[0].startswith("> hello 1 ") and "! bad-reply: 'X' is not a move" in done.output
    assert sum(line.startswith("< ") for line in lines) == sum(line.startswith("> move") for line in lines) > 10
    for words, error in (
        (["show", folder, "--asked"], "--asked needs --hand"),
        (["trace", folder, "3.1", "--bot", "echo"], "has no match 3 with a table 1"),
        (["trace", folder, "2", "--bot", "echo"], "2 is not accepted; write MATCH.TABLE, such as 3.1"),
        (["trace", folder, "2.1", "--bot", "x"], "--bot x: table 2.1 has "),
        (["trace", folder, "2.1", "--bot", "lim17"], "it is not a program"),
    ):
        assert error in str(CliRunner().invoke(koth, words).exception), words


def test_logs_are_limited_and_bad_lines_are_skipped(tmp_path, monkeypatch):
    monkeypatch.setattr(journal, "MOST", 1000)
    log, logs = LOG._replace(text="x" * 400), journal.Logs(tmp_path)
    logs.add(log._replace(match=match) for match in (1, 2, 3, 4))
    logs.add([log._replace(bot=-1), log._replace(bot=1, text="", moves=0), log._replace(bot=2)])
    found = list(journal.read_logs(tmp_path))
    assert [(each.bot, each.match, len(each.text)) for each in found] == [
        (0, 1, 400), (0, 2, 400), (0, 3, 400), (0, 4, 0), (2, 0, 400)
    ]  # fmt: skip
    with (tmp_path / journal.LOGS).open("a") as file:
        file.write('{"match": 1}\n[]\nnonsense\n' + json.dumps(log._asdict() | {"ready": []}) + "\n" + '{"match":')
    again = journal.Logs(tmp_path)
    assert (again.moves, again.seconds) == (logs.moves, logs.seconds) == ({0: 8, 2: 2}, {0: 2.0, 2: 0.5})
    again.add([log])
    assert again.ms_per_move(0) == 250 and logs.ms_per_move(1) is None


def test_the_page_of_a_bot_has_its_trace_its_notes_and_its_stderr(played):
    """The trace is that of `koth trace` for its last match, and what a bot wrote is text."""
    write_results(played.folder, played.standings, played.page, played.logs)
    pages = {name: (played.folder / "pages" / f"{name}.html").read_text("utf-8") for name in ("echo", "argv", "lim17")}
    for name in ("echo", "argv"):
        trace = unescape(re.search(r'id="trace-details".*?<pre>(.*?)</pre>', pages[name], re.S)[1])
        printed = CliRunner().invoke(koth, ["trace", str(played.folder), "2.1", "--bot", name]).output
        assert trace and printed.startswith(trace + "\n")
        log = unescape(re.search(r'id="stderr-2-1-1">.*?<pre>(.*?)</pre>', pages[name], re.S)[1])
        bot = played.standings.names.index(name)
        kept = next(each.text for each in logs_of(played.folder, bot) if each.match == 1)
        assert log == kept[:4096]
    assert "Its note: cards=" in pages["echo"] and "<dt>version, as it says</dt><dd>7</dd>" in pages["echo"]
    assert "trace-details" not in pages["lim17"] and "stderr-title" not in pages["lim17"]
