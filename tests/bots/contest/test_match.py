"""Matches: faults never stop a contest, broke bots sit out, and honest bots are not affected."""

import os
from fractions import Fraction

import pytest
from bot_helpers import COUNTS, Scripted, line_bot, needs_sandbox
from support.matches import CARDSHARK, begin, whole

from bjsim.bots.contest import host as hosts
from bjsim.bots.contest.config import HOUSE, Contest
from bjsim.bots.contest.entrants import gather
from bjsim.bots.contest.journal import encode_record
from bjsim.bots.contest.match import play_table, whole_chips
from bjsim.bots.contest.replay import verify
from bjsim.bots.contest.schedule import TablePlan
from bjsim.bots.contest.standings import row_values
from bjsim.errors import InputError
from bjsim.sim.game.actions import HIT, Action, raise_by
from bjsim.sim.game.presets import load_rules
from bjsim.strategies.players.catalogue import find_player


def make_match(*players, bots=None, rules=CARDSHARK, **settings):
    contest = Contest(rules, **settings)
    seats = bots or tuple(range(len(players)))
    plan = TablePlan(0, 0, 0, seats)
    return play_table(contest, plan, dict(zip(seats, players, strict=True)).__getitem__, None).rounds


HONEST = find_player("lim17", CARDSHARK)
WRONG = {
    "crash": ValueError("no idea"),
    "bad-reply": Action("P"),
    "overbet": raise_by(10**6),
    "move-cap": raise_by(0),
}


@pytest.mark.parametrize("kind", WRONG)
def test_a_fault_is_a_stand_and_after_ten_a_bot_is_not_asked(kind):
    records = make_match(HONEST, Scripted(WRONG[kind]))
    faults = [fault for record in records for fault in record.get("faults", ())]
    assert len(records) == 25
    assert len(faults) == 10 and {fault["kind"] for fault in faults} == {kind} and {f["bot"] for f in faults} == {1}
    assert all(record["moves"][1] in (["S"], []) for record in records[-10:])


class Remembers:
    name = "remembers"

    def __init__(self):
        self.seen = []

    def decide(self, view):
        self.seen.append(view.hand)
        return "S" if len(self.seen) % 3 else "H"


def test_the_memory_of_a_player_lasts_as_long_as_its_table():
    """In a duplicate contest it would meet each shoe again."""
    player = Remembers()
    first, second = make_match(player, HONEST), make_match(player, HONEST)
    assert first == second and not player.seen
    assert len({len(record["moves"][0]) for record in first}) > 1  # it has a memory at the table


def test_what_is_no_character_in_an_error_stops_no_contest():
    (record, *_) = make_match(HONEST, Scripted(ValueError("half \ud800 a letter")))
    assert record["faults"][0]["detail"] == r"ValueError: half \ud800 a letter"
    assert encode_record(record, 0)[0].endswith(b"\n")


def test_honest_bots_are_dealt_the_same_whether_a_hostile_one_crashes_or_stands():
    stands = make_match(HONEST, Scripted(Action("S")), HONEST)
    crashes = make_match(HONEST, Scripted(ValueError("x")), HONEST)
    keys = ("seats", "chips", "cards", "net", "moves")
    assert [[record[key] for key in keys] for record in stands] == [[r[key] for key in keys] for r in crashes]


@pytest.mark.parametrize("begins", [200, 20])
def test_a_broke_bot_sits_out_and_chips_are_carried(begins):
    """The buy-in of 10 is enough for a seat."""
    all_in = Scripted(lambda view: raise_by(view.chips) if view.chips else HIT)
    records = make_match(HONEST, all_in, rules=CARDSHARK.replace(chips=begins))
    assert records[0]["chips"] == [begins, begins] and (begins == 200 or any(10 in one["chips"] for one in records))
    held = dict(enumerate([begins, begins]))
    for record in records:
        assert record["seats"] == [bot for bot in (0, 1) if held[bot] >= 10]
        for bot, chips, net in zip(record["seats"], record["chips"], record["net"], strict=True):
            assert held[bot] == chips and net >= -chips
            held[bot] += net
    assert begins == 20 or records[-1]["seats"] == [0]


def test_the_match_ends_when_all_are_broke_even_if_the_house_is_not():
    loses = Scripted(lambda view: raise_by(view.chips) if view.chips else HIT)
    records = make_match(loses, HONEST, bots=(0, HOUSE))
    assert len(records) < 25


def test_names_are_made_unique_and_may_be_given():
    entrants = gather(["lim17", "lim17", "mine=lim17"], CARDSHARK)
    assert [entrant.name for entrant in entrants] == ["lim17", "lim17-2", "mine"]
    assert len({entrant.sha256 for entrant in entrants}) == 1
    with pytest.raises(InputError, match="two bots or more"):
        gather(["lim17"], CARDSHARK)


def test_names_that_would_disturb_a_terminal_or_a_journal(tmp_path):
    entrants = gather(["\x1b[2J\nx=lim17", "\u202eab=lim17", "[/b]<i>=lim17"], CARDSHARK)
    assert [entrant.name for entrant in entrants] == ["\ufffd[2J\ufffdx", "\ufffdab", "[/b]<i>"]
    (file := tmp_path / "\udcff.py").write_text("print('S')")
    with pytest.raises(InputError, match="not valid UTF-8"):
        gather(["lim17", str(file)], CARDSHARK)
    (folder := tmp_path / "\udcff").mkdir()
    (folder / "x.py").write_text("def decide(view): return 'S'")
    with pytest.raises(InputError, match="not valid UTF-8"):
        gather(["lim17", f"{folder / 'x.py'}:decide"], CARDSHARK)


def test_a_move_cap_fault_keeps_the_last_request():
    fault = make_match(HONEST, Scripted(raise_by(0)))[0]["faults"][0]
    assert fault["kind"] == "move-cap" and fault["move"] == 100
    score, hand, visible, stake, chips = fault["argv"]
    assert visible[1] == "#" and set(hand) <= set(visible) and 2 <= int(score) <= 21
    assert (stake, chips) == ("10", "190")


def test_luck_adjusted_values_need_suitable_rules(tmp_path):
    """Under rules with splits there are none; under cardshark there are."""
    for name, known in (("blackjack-p", False), ("cardshark", True)):
        host = begin(tmp_path / name, ["lim17", "optimal"], rules=load_rules(name), matches=8)
        for row in map(row_values, host.run().rows()):
            assert (row["luck_adjusted"] is not None) == (row["luck_adjusted_ci95"] is not None) == known
            assert row["per_hand"] is not None


class Mute:
    def __repr__(self):
        raise RuntimeError

    class Error(Exception):
        def __str__(self):
            raise RuntimeError


@pytest.mark.parametrize(("answer", "kind", "detail"), [
    (Action("SH"), "bad-reply", "SH is not allowed here"), (Action(""), "bad-reply", " is not allowed here"),
    (Action("B", 1.5), "bad-reply", "is not an Action"), (Action("B", "3"), "bad-reply", "is not an Action"),  # type: ignore[arg-type]
    ("Q", "bad-reply", "Q is not allowed here"), (None, "bad-reply", "None is not an Action"),
    (Action("B", 191), "overbet", "B 191 with 190 chips"), (Action("B", -1), "overbet", "B -1 with 190 chips"),
    (Action("B", True), "bad-reply", "is not an Action"), (Action(5), "bad-reply", "is not an Action"),  # type: ignore[arg-type]
    pytest.param(10**5000, "bad-reply", "thousands of digits is not an Action", id="huge"),
    (Mute(), "bad-reply", "shown is not an Action"), (Action("B", 10**5000), "overbet", "with 190 chips"),
    (Mute.Error(), "crash", "that cannot be shown"),
    (KeyError("x"), "crash", "KeyError: 'x'"), (SystemExit(3), "crash", "SystemExit: 3"),
])  # fmt: skip
def test_wrong_answers_of_python_players_are_faults(answer, kind, detail):
    records = make_match(HONEST, Scripted(answer))
    fault = records[0]["faults"][0]
    assert len(records) == 25 and fault["kind"] == kind and fault["detail"].endswith(detail)


def test_a_player_may_answer_with_a_letter():
    assert make_match(HONEST, Scripted("S")) == make_match(HONEST, Scripted(Action("S")))


def test_half_a_chip_is_neither_paid_nor_taken():
    amounts = [(Fraction(-1, 2), 5, -2), (Fraction(1, 2), 5, 2), (Fraction(3, 2), 10, 15), (Fraction(-1), 10, -10)]
    assert all(whole_chips(bets, buy_in) == chips for bets, buy_in, chips in amounts)


# --- A contest with hostile programs ends, and does not change the results of honest bots.


PROGRAMS = {
    "crashes": ("raise SystemExit(3)", "crash"),
    "hangs": ("while True: pass", "timeout"),
    "floods": ("print('H' * 10**6)", "flood"),
    "babbles": ("print('\\x1b[2J<script>alert(1)</script>')", "bad-reply"),
    "bets": ("print('B', 10**9)", "overbet"),
    "says-nothing": ("", "bad-reply"),
    "asks-forever": ("print('B 0')", "move-cap"),
}


def played(folder, bots, workers=1):
    rules = CARDSHARK.replace(move_cap=20)
    return begin(folder, bots, workers, "auto", rules, matches=1, sessions=2, strikes=2, timeout=0.3).run()


def test_it_ends_and_honest_bots_do_not_notice(tmp_path):
    """They play as among bots that only stand."""
    found = {}
    for name in ("hostile", "stands"):
        (tmp_path / name).mkdir()
        for bot, (program, _) in PROGRAMS.items():
            (tmp_path / name / f"{bot}.py").write_text(program if name == "hostile" else "print('S')")
        found[name] = played(tmp_path / f"{name} played", ["lim17", "optimal", tmp_path / name])
    hostile, stands = found.values()
    assert [score.faults for score in hostile.scores[2:]] == [{PROGRAMS[bot][1]: 2} for bot in sorted(PROGRAMS)]
    assert not any(score.faults for score in stands.scores)
    assert hostile.scores[:2] == stands.scores[:2]
    assert verify(tmp_path / "hostile played").rounds == hostile.rounds


@needs_sandbox  # without it the bot's error message names its folder
def test_workers_do_not_change_the_journal_of_programs(tmp_path):
    (tmp_path / "hits.py").write_text("import sys; print('H' if int(sys.argv[1]) < 16 else 'S')")
    (tmp_path / "crashes.py").write_text("import sys; print('S' if int(sys.argv[1]) > 15 else 1 / 0)")
    (tmp_path / "counts.py").write_text(line_bot(COUNTS))
    programs = [tmp_path / f"{name}.py" for name in ("hits", "crashes", "counts")]
    bots = [*programs, "lim17", "optimal", "hoyle"]
    played(tmp_path / "one", bots)
    played(tmp_path / "three", bots, workers=3)
    assert whole(tmp_path / "one") == whole(tmp_path / "three") and b"ZeroDivisionError" in whole(tmp_path / "one")


def test_two_contests_do_not_share_a_core(monkeypatch):
    """All began at the first one: on an idle machine bots of two contests had timeouts."""
    cores = []
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: {*range(8)}, raising=False)
    monkeypatch.setattr(os, "sched_setaffinity", lambda process, chosen: cores.extend(chosen))
    for parent in (7, 8):
        monkeypatch.setattr(os, "getppid", lambda parent=parent: parent)
        for number in range(2):
            hosts._pin_to_core(number, 2)
    assert len({*cores[:2]}) == 2 and cores[0] != cores[2]
