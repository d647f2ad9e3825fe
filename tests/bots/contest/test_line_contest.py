"""Contests of line bots: who may play, the same chips as their argv twins, resumption, and a process for each match."""

import json
from collections import Counter

import pytest
from bot_helpers import SAMPLES, a_view, line_bot, needs, needs_sandbox, processes
from support.command import bjsim
from support.documents import ROOT, blocks
from support.matches import rounds_in

from bjsim.bots.contest import journal
from bjsim.bots.contest.config import ConfigError, Contest, load_config
from bjsim.bots.contest.entrants import EntrantError, gather
from bjsim.bots.contest.host import Host
from bjsim.bots.contest.journal import read_logs
from bjsim.bots.contest.page import ContestReport, render_index
from bjsim.bots.contest.replay import replay, verify
from bjsim.bots.line import Transcript
from bjsim.sim.game.presets import load_rules

pytestmark = [needs(".py"), needs_sandbox]
CARDSHARK = load_rules("cardshark")
# Plays by the number of cards it has seen in the match, which it builds from events, not from its own answers.
COUNTER = line_bot(
    "'H' if int(args[0]) < 12 + sum(1 for text in seen if text.startswith('card')) % 9 else 'S'", work="pass"
)


def begin(folder, bots, workers=1, **settings):
    settings = {"seed": 7, "matches": 2, "sessions": 2, "protocols": ("argv", "line"), **settings}
    return Host.begin(folder, Contest(CARDSHARK, **settings), gather(bots, CARDSHARK), workers, "required")


@pytest.fixture
def counter(tmp_path):
    (tmp_path / "counter.py").write_text(COUNTER)
    return str(tmp_path / "counter.py")


def test_line_bots_play_only_where_the_contest_says_so(tmp_path, counter):
    with pytest.raises(EntrantError, match=r"protocol line, and this contest plays argv; use --protocols"):
        begin(tmp_path / "a", [counter, "lim17"], protocols=("argv",))
    with pytest.raises(EntrantError, match="speaks the protocol argv, and this contest plays line"):
        begin(tmp_path / "a", [counter, str(SAMPLES / "lim17.py")], protocols=("line",))
    assert begin(tmp_path / "b", [counter, "lim17"], protocols=("line",)).entrants[0].protocol == "line"


def test_the_file_of_a_contest_names_its_protocols(tmp_path):
    file = tmp_path / "contest.toml"
    for text, accepted in (('["line", "argv"]', ("argv", "line")), ('["line"]', ("line",)), ('["argv"]', ("argv",))):
        file.write_text(f"protocols = {text}\n")
        contest = load_config(str(file))[0]
        assert contest.protocols == accepted
        assert Contest.from_dict(json.loads(json.dumps(contest.to_dict()))) == contest
    assert Contest(CARDSHARK).protocols == ("argv", "line")
    for wrong in ("[]", '"line"', '["pipe"]', "1", "[1]"):
        file.write_text(f"protocols = {wrong}\n")
        with pytest.raises(ConfigError, match=r'use \["argv"\], \["line"\] or both'):
            load_config(str(file))


def test_a_twin_in_the_line_protocol_plays_the_same_contest(tmp_path):
    (tmp_path / "twin.py").write_text(line_bot())
    for name, bot in (("argv", SAMPLES / "lim17.py"), ("line", tmp_path / "twin.py")):
        begin(tmp_path / name, [str(bot), str(bot), "optimal", "lim15"]).run()
    assert rounds_in(tmp_path / "argv") == rounds_in(tmp_path / "line") and len(rounds_in(tmp_path / "line")) == 20
    assert verify(tmp_path / "line")[0] == 20


def test_the_page_has_a_column_of_protocols_where_both_play(tmp_path, counter):
    both = begin(tmp_path / "a", [counter, str(SAMPLES / "lim17.py"), "lim17"], matches=1)
    both.run()
    page = render_index(ContestReport(both.standings, both.page))
    assert page.count('">line</td>') == 1 and page.count('">argv</td>') == 1
    only = begin(tmp_path / "b", ["lim17", "lim15"], matches=1, protocols=("argv",))
    only.run()
    assert ">protocol<" in page and ">protocol<" not in render_index(ContestReport(only.standings, only.page))


def test_workers_do_not_change_the_journal(tmp_path, counter):
    bots = [counter, counter, "lim17", "optimal", "hoyle", counter]
    before = processes()
    for name, workers in (("one", 1), ("three", 3)):
        begin(tmp_path / name, bots, workers).run()
    one, three = ((tmp_path / name / journal.NAME).read_bytes() for name in ("one", "three"))
    assert one == three and processes() == before


def test_a_resumed_contest_ends_with_the_same_journal(tmp_path, counter):
    """The bot plays by all cards of the match that was begun, and is played anew. One of the bots makes faults."""
    (tmp_path / "faulty.py").write_text(
        COUNTER.replace("pass", "sum('card' in s for s in seen) % 7 == 3 and print('S')")
    )
    bots = [counter, str(tmp_path / "faulty.py"), "lim17"]
    begin(tmp_path / "whole", bots).run()
    begin(tmp_path / "cut", bots)
    text = (tmp_path / "whole" / journal.NAME).read_bytes()
    lines = text.splitlines(keepends=True)
    header, kept = (tmp_path / "cut" / journal.NAME), b"".join(lines[:8])
    header.write_bytes(kept)
    Host.resume(tmp_path / "cut").run()
    assert header.read_bytes() == text and b"chatter" in text


def test_every_turn_of_a_duplicate_contest_has_a_process_of_its_own(tmp_path):
    """A process that lived on would know the shoe: this bot hits if it has seen more than one match."""
    (tmp_path / "x.py").write_text(line_bot("'H' if sum('match' in text for text in seen) > 1 else 'S'"))
    bots = [str(tmp_path / "x.py"), "lim17", "lim15", "lim19"]
    begin(tmp_path / "a", bots, matches=4, sessions=1, duplicate=True).run()
    played = rounds_in(tmp_path / "a")
    moves = [record["moves"][record["seats"].index(0)] for record in played if 0 in record["seats"]]
    assert len({(record["match"], record["table"]) for record in played}) >= 4
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
    bots = [str(tmp_path / "x.py"), f"again={tmp_path / 'x.py'}", "lim17"]
    before = processes()
    received = {}
    for lives in ("match", "contest"):
        host = begin(tmp_path / lives, bots, matches=3, lives=lives)
        host.run()
        texts = "".join(log.text for log in read_logs(tmp_path / lives) if log.bot == 0)
        received[lives] = [line.split()[0] for line in texts.splitlines()]
    assert rounds_in(tmp_path / "match") == rounds_in(tmp_path / "contest") and processes() == before
    assert received["match"] == ["hello", "rules", "match", "over", "bye", "end"] * 3
    assert received["contest"][:6] == ["hello", "rules", "match", "over", "match", "over"]
    assert "another number of workers may change the results" in render_index(ContestReport(host.standings, host.page))


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


def test_lives_is_checked(tmp_path):
    assert Contest(CARDSHARK).lives == "match"
    twice = {"lives": "contest", "duplicate": True}
    for settings, error in (({"lives": "long"}, "use match or contest"), (twice, "would meet a shoe again")):
        with pytest.raises(ConfigError, match=error):
            Contest(CARDSHARK, **settings)


def test_the_house_sits_in_several_seats(tmp_path, counter):
    host = begin(tmp_path / "a", ["lim17", "lim15"], house=counter, matches=1)
    host.run()
    assert verify(tmp_path / "a")[0] == 10


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
    contest = Contest(rules, seed=3, matches=2, hands=20, sessions=1, protocols=("argv", "line"))
    Host.begin(tmp_path / "a", contest, gather(bots, rules), 1, "required").run()
    assert verify(tmp_path / "a")[0] == 40
    played, text = rounds_in(tmp_path / "a"), []
    assert not any("faults" in record for record in played)
    first = {name: Counter() for name in range(4)}
    for record in played:
        hand = replay(contest, record, [*bots, "house"])
        text += [step[0] for step in hand["steps"]]
        for bot, moves in zip(record["seats"], record["moves"], strict=True):
            first[bot][moves[0] if moves else ""] += 1
    assert first[0]["I"] >= 2 and len([bot for bot in range(1, 4) if not first[bot]["I"]]) == 3
    taken = sum("insurer.py takes insurance" in step for step in text)
    assert taken == first[0]["I"] == sum("by insurance" in step for step in text)
    lines = (tmp_path / "a" / journal.NAME).read_bytes().splitlines(keepends=True)
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / journal.NAME).write_bytes(b"".join(lines[:30]))
    Host.resume(tmp_path / "b").run()
    assert (tmp_path / "b" / journal.NAME).read_bytes() == b"".join(lines)


def test_the_bot_of_the_page(tmp_path):
    """The bot in docs/how-to/bots.md plays without faults."""
    page = (ROOT / "docs" / "how-to" / "bots.md").read_text(encoding="utf-8")
    (bot,) = [block.text for block in blocks("bots.md", page) if "bjsim: line 1" in block.text]
    assert len(bot.splitlines()) <= 20
    (tmp_path / "counter.py").write_text(bot)
    host = begin(tmp_path / "a", [str(tmp_path / "counter.py"), "lim17"], matches=1)
    host.run()
    assert not host.standings.scores[0].faults and host.standings.scores[0].started
