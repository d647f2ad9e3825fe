"""Contests of line bots: who may play, the same chips as their argv twins, resumption, and a process for each match."""

import json
import re
from collections import Counter
from html import unescape

import pytest
from bot_helpers import COUNTS, SAMPLES, a_view, line_bot, needs, needs_sandbox, processes
from click.testing import CliRunner
from support.command import bjsim
from support.documents import ROOT, blocks
from support.matches import CARDSHARK, index_of, placed, rounds_in, whole
from support.matches import begin as begin_contest

from bjsim.bots.contest import journal
from bjsim.bots.contest.config import Contest
from bjsim.bots.contest.host import Host
from bjsim.bots.contest.journal import read_logs
from bjsim.bots.contest.page import LOG_LENGTH, ContestReport, render_bot, write_results
from bjsim.bots.contest.replay import protocols, questions, replay, verify
from bjsim.bots.line import Transcript
from bjsim.cli.koth import koth
from bjsim.errors import InputError
from bjsim.sim.game.presets import load_rules

pytestmark = [needs(".py"), needs_sandbox]


def begin(folder, bots, **settings):
    return begin_contest(folder, bots, **{"seed": 7, "matches": 2, "sessions": 2, **settings})


@pytest.fixture
def counter(tmp_path):
    (tmp_path / "counter.py").write_text(line_bot(COUNTS))
    return tmp_path / "counter.py"


def test_line_bots_play_only_where_the_contest_says_so(tmp_path, counter):
    with pytest.raises(InputError, match=r"protocol line, and this contest plays argv; use --protocols"):
        begin(tmp_path / "a", [counter, "lim17"], protocols=("argv",))
    with pytest.raises(InputError, match="speaks the protocol argv, and this contest plays line"):
        begin(tmp_path / "a", [counter, SAMPLES / "lim17.py"], protocols=("line",))
    assert begin(tmp_path / "b", [counter, "lim17"], protocols=("line",)).entrants[0].protocol == "line"


def test_the_page_has_a_column_of_protocols_where_both_play(tmp_path, counter):
    both = begin(tmp_path / "a", [counter, SAMPLES / "lim17.py", "lim17"], matches=1)
    page = index_of(both.run(), both.page)
    assert page.count('">line</td>') == 1 and page.count('">argv</td>') == 1
    only = begin(tmp_path / "b", ["lim17", "lim15"], matches=1, protocols=("argv",))
    assert ">protocol<" in page and ">protocol<" not in index_of(only.run(), only.page)


def test_every_turn_of_a_duplicate_contest_has_a_process_of_its_own(tmp_path):
    """A process that lived on would know the shoe: this bot hits if it has seen more than one match."""
    (tmp_path / "x.py").write_text(line_bot("'H' if sum('match' in text for text in seen) > 1 else 'S'"))
    bots = [tmp_path / "x.py", "lim17", "lim15", "lim19"]
    begin(tmp_path / "a", bots, matches=1, sessions=1, duplicate=True).run()
    played = rounds_in(tmp_path / "a")
    moves = [record["moves"][record["seats"].index(0)] for record in played if 0 in record["seats"]]
    assert len({(record["match"], record["table"]) for record in played}) == 4
    assert {move for hand in moves for move in hand} == {"S"}


LIFE = line_bot(
    "'H' if int(args[0]) < 15 else 'S'", ready="ready 1 name=life", end="sys.stderr.write('end\\n')", setup="""
class Seen(list):
    def append(self, text):
        sys.stderr.write(text if text.split()[0] in ('hello', 'rules', 'match', 'over', 'bye') else '')
seen = Seen()""")  # fmt: skip


def test_a_process_may_live_for_the_contest(tmp_path):
    """It sees every match, and answers as its twin whose processes live for a match."""
    (tmp_path / "x.py").write_text(LIFE)
    bots = [tmp_path / "x.py", f"again={tmp_path / 'x.py'}", "lim17"]
    before = processes()
    received = {}
    for lives in ("match", "contest"):
        host = begin(tmp_path / lives, bots, matches=3, sessions=1, lives=lives)
        host.run()
        texts = "".join(log.text for log in read_logs(tmp_path / lives) if log.bot == 0)
        received[lives] = [line.split()[0] for line in texts.splitlines()]
    assert rounds_in(tmp_path / "match") == rounds_in(tmp_path / "contest") and processes() == before
    assert received["match"] == ["hello", "rules", "match", "over", "bye", "end"] * 3
    assert received["contest"][:6] == ["hello", "rules", "match", "over", "match", "over"]
    assert "another number of workers may change the results" in index_of(host.standings, host.page)


def test_a_process_is_notified_that_the_contest_has_ended(tmp_path, bot):
    player = bot("x.py", LIFE, timeout=10.0)
    for _ in range(2):
        seat = player.join(Transcript(CARDSHARK), 0, 1)
        seat.stays = True
        assert seat.ask(a_view()).stdout == b"H" and not seat.leave(200)
    (session,) = player._sessions
    said = []
    finish = session.finish
    session.finish = lambda text: said.append((text, finish(text)))
    player.close()
    ((text, reply),) = said
    assert text == b"over 200\nbye\n" and reply.cause == "exit" and reply.stderr.endswith(b"bye\nend\n")


def test_the_house_sits_in_several_seats(tmp_path, counter):
    begin(tmp_path / "a", ["lim17", "lim15"], house=str(counter), matches=1).run()
    assert verify(tmp_path / "a").rounds == 10


def test_run_plays_line_bots_and_their_twins_to_the_same_chips(tmp_path):
    (tmp_path / "twin.py").write_text(line_bot())
    played = []
    for bot in (tmp_path / "twin.py", SAMPLES / "lim17.py"):
        bots = f"{bot},lim15,{bot},optimal"
        done = bjsim("run", "--rules", "cardshark", "--bots", bots, "--hands", "100", "--seed", "5", "--json", "-")
        played.append([(row["mean"], row.get("faults")) for row in json.loads(done.out)["bots"]])
    assert played[0] == played[1] and not played[0][0][1]


INSURER = line_bot(answer="'I' if 'legal=IS' in line else 'H' if int(args[0]) < 17 else 'S'")


def test_line_bots_and_players_of_bjsim_are_offered_insurance(tmp_path):
    """argv bots decline without being asked; the journal verifies, resumes, and each round has a replay."""
    (tmp_path / "insurer.py").write_text(INSURER)
    bots = [str(tmp_path / "insurer.py"), str(SAMPLES / "lim17.py"), "lim17", "optimal"]
    rules = load_rules("vegas-s17").replace(insurance=True, decks=1, seats=4)
    host = begin(tmp_path / "a", bots, rules=rules, seed=3, hands=20, sessions=1)
    host.run()
    assert verify(tmp_path / "a").rounds == 40
    played, told = rounds_in(tmp_path / "a"), []
    assert not any("faults" in record for record in played)
    first = {name: Counter() for name in range(4)}
    for record in played:
        hand = replay(host.contest, record, [*bots, "house"])
        told += [step[0] for step in hand["steps"]]
        for bot, moves in zip(record["seats"], record["moves"], strict=True):
            first[bot][moves[0] if moves else ""] += 1
    assert first[0]["I"] >= 2 and len([bot for bot in range(1, 4) if not first[bot]["I"]]) == 3
    taken = sum("insurer.py takes insurance" in step for step in told)
    assert taken == first[0]["I"] == sum("by insurance" in step for step in told)
    text = whole(tmp_path / "a")
    Host.resume(placed(tmp_path / "b", b"".join(text.splitlines(keepends=True)[:30]))).run()
    assert whole(tmp_path / "b") == text


@pytest.mark.parametrize("rules", ["cardshark", "vegas-s17"])
def test_the_bot_of_the_page(tmp_path, rules):
    """The bot in docs/how-to/bots.md plays without faults."""
    page = (ROOT / "docs" / "how-to" / "bots.md").read_text(encoding="utf-8")
    (bot,) = [block.text for block in blocks("bots.md", page) if "bjsim: line 1" in block.text]
    assert len(bot.splitlines()) <= 20
    (tmp_path / "counter.py").write_text(bot)
    host = begin(tmp_path / "a", [tmp_path / "counter.py", "lim17"], rules=load_rules(rules), matches=1)
    host.run()
    assert not host.standings.scores[0].faults and host.standings.scores[0].started


# --- What a contest keeps for authors: notes, stderr, and what the bots were asked, from a replay.


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
    bots = [folder / "echo.py", f"again={folder / 'echo.py'}", folder / "argv.py", "lim17"]
    host = begin(folder / "c", bots, timeout=10.0)
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
        logs = logs_of(played.folder, bot)
        assert logs
        for log in logs:
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
    assert verify(played.folder).rounds == 20
    note = next(filter(None, notes))
    assert f"Its note: {note}" in index_of(played.standings, played.page)


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
    assert journal.Logs(tmp_path).moves == again.moves  # also after the half of a line


def test_what_a_bot_says_of_itself_is_in_the_limit_of_its_log(tmp_path, monkeypatch):
    monkeypatch.setattr(journal, "MOST", 1000)
    logs = journal.Logs(tmp_path)
    for match in range(4):
        logs.add([LOG._replace(match=match, text="", ready={"name": "x" * 596})])
    assert [bool(each.ready) for each in journal.read_logs(tmp_path)] == [True, True, False, False]


@needs_sandbox
def test_the_notes_of_a_match_are_limited(tmp_path, monkeypatch):
    """Of a bot that raises by nothing ninety times in each hand, and says much each time."""
    monkeypatch.setattr("bjsim.bots.contest.match.LOG_LIMIT", 1000)
    (tmp_path / "bots").mkdir()
    (tmp_path / "bots" / "talks.py").write_text(line_bot("'S ' + 'x' * 190"))
    begin(tmp_path / "c", [tmp_path / "bots" / "talks.py", "lim17"], seed=1, matches=2, timeout=10.0).run()
    for match in (0, 1):
        rounds = [each for each in rounds_in(tmp_path / "c") if each["match"] == match]
        notes = [note for each in rounds for seat in each.get("notes", ()) for note in seat if note]
        assert 3 < len(notes) < 6 and sum(map(len, notes)) <= 1000


@needs_sandbox
def test_a_line_bot_that_cannot_be_started_has_no_rank_where_insurance_is_offered(tmp_path):
    """Its first stand, about insurance, seemed to be an answer."""
    (tmp_path / "broken.py").write_text("# bjsim: line 1\nthis is (\n")
    rules = load_rules("vegas-s17")
    standings = begin(tmp_path / "c", [tmp_path / "broken.py", "lim17"], rules=rules, seed=1, matches=8).run()
    assert {row.name: row.rank for row in standings.rows()} == {"broken": None, "lim17": 1}
    assert "start-failure" in standings.scores[0].retired
    assert "SyntaxError" in next(logs.text for logs in read_logs(tmp_path / "c") if logs.bot == 0)


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
