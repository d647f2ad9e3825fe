"""Matches: faults never stop a contest, broke bots sit out, and honest bots are not affected."""

from fractions import Fraction

import pytest
from bot_helpers import Scripted

from bjsim.bots.contest.config import HOUSE, ConfigError, Contest, load_config
from bjsim.bots.contest.entrants import EntrantError, gather
from bjsim.bots.contest.host import Host
from bjsim.bots.contest.match import play_table, whole_chips
from bjsim.bots.contest.results import row_values
from bjsim.bots.contest.schedule import TablePlan
from bjsim.sim.game.actions import HIT, Action, raise_by
from bjsim.sim.game.presets import load_rules
from bjsim.strategies.players.catalogue import find_player

CARDSHARK = load_rules("cardshark")


def make_match(*players, bots=None, **settings):
    contest = Contest(CARDSHARK, **settings)
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


def test_honest_bots_are_dealt_the_same_whether_a_hostile_one_crashes_or_stands():
    stands = make_match(HONEST, Scripted(Action("S")), HONEST)
    crashes = make_match(HONEST, Scripted(ValueError("x")), HONEST)
    keys = ("seats", "chips", "cards", "net", "moves")
    assert [[record[key] for key in keys] for record in stands] == [[r[key] for key in keys] for r in crashes]


def test_a_broke_bot_sits_out_and_chips_are_carried():
    all_in = Scripted(lambda view: raise_by(view.chips) if view.chips else HIT)
    records = make_match(HONEST, all_in)
    assert records[0]["chips"] == [200, 200]
    held = dict(enumerate([200, 200]))
    for record in records:
        assert record["seats"] == [bot for bot in (0, 1) if held[bot] >= 10]
        for bot, chips, net in zip(record["seats"], record["chips"], record["net"], strict=True):
            assert held[bot] == chips and net >= -chips
            held[bot] += net
    assert records[-1]["seats"] == [0]


def test_the_match_ends_when_all_are_broke_even_if_the_house_is_not():
    loses = Scripted(lambda view: raise_by(view.chips) if view.chips else HIT)
    records = make_match(loses, HONEST, bots=(0, HOUSE))
    assert len(records) < 25


def test_names_are_made_unique_and_may_be_given():
    entrants = gather(["lim17", "lim17", "mine=lim17"], CARDSHARK)
    assert [entrant.name for entrant in entrants] == ["lim17", "lim17-2", "mine"]
    assert len({entrant.sha256 for entrant in entrants}) == 1
    with pytest.raises(EntrantError, match="two bots or more"):
        gather(["lim17"], CARDSHARK)


def test_names_that_would_disturb_a_terminal_or_a_journal(tmp_path):
    entrants = gather(["\x1b[2J\nx=lim17", "\u202eab=lim17", "[/b]<i>=lim17"], CARDSHARK)
    assert [entrant.name for entrant in entrants] == ["\ufffd[2J\ufffdx", "\ufffdab", "[/b]<i>"]
    (file := tmp_path / "\udcff.py").write_text("print('S')")
    with pytest.raises(EntrantError, match="not valid UTF-8"):
        gather(["lim17", str(file)], CARDSHARK)


def test_a_contest_from_a_file(tmp_path):
    path = tmp_path / "contest.toml"
    rules = '[rules]\npreset = "cardshark"\nchips = 500\n'
    path.write_text(f'bots = ["lim17", "optimal"]\nmatches = 3\nuntil = 60\n{rules}')
    contest, bots = load_config(str(path))
    assert bots == ["lim17", "optimal"] and contest.matches == 3 and contest.rules.chips == 500
    assert contest.seconds == 60 and Contest.from_dict(contest.to_dict()) == contest
    for wrong, message in {
        "match = 3": "did you mean matches",
        "matches = -1": "matches = -1 is not accepted",
        'until = "never"': "decided, or a number",
        "bots = 3": "a list of names",
        "x": "TOML",
    }.items():
        path.write_text(wrong)
        with pytest.raises(ConfigError, match=message):
            load_config(str(path))


def test_a_move_cap_fault_keeps_the_last_request():
    fault = make_match(HONEST, Scripted(raise_by(0)))[0]["faults"][0]
    assert fault["kind"] == "move-cap" and fault["move"] == 100
    score, hand, visible, stake, chips = fault["argv"]
    assert visible[1] == "#" and set(hand) <= set(visible) and 2 <= int(score) <= 21
    assert (stake, chips) == ("10", "190")


def test_luck_adjusted_values_need_suitable_rules(tmp_path):
    """Under rules with splits there are none; under cardshark there are."""
    for name, known in (("blackjack-p", False), ("cardshark", True)):
        rules = load_rules(name)
        host = Host.begin(tmp_path / name, Contest(rules, matches=8), gather(["lim17", "optimal"], rules))
        for row in map(row_values, host.run().rows()):
            assert (row["luck_adjusted"] is not None) == (row["luck_adjusted_ci95"] is not None) == known
            assert row["per_hand"] is not None


@pytest.mark.parametrize(
    ("answer", "kind"),
    [(Action("SH"), "bad-reply"), (Action(""), "bad-reply"), (Action("B", 1.5), "bad-reply"), ("Q", "bad-reply"),  # type: ignore[arg-type]
     (Action("B", "3"), "bad-reply"), (None, "bad-reply"), (SystemExit(3), "crash")],  # type: ignore[arg-type]
)  # fmt: skip
def test_wrong_answers_of_python_players_are_faults(answer, kind):
    records = make_match(HONEST, Scripted(answer))
    assert len(records) == 25 and records[0]["faults"][0]["kind"] == kind


def test_a_player_may_answer_with_a_letter():
    assert make_match(HONEST, Scripted("S")) == make_match(HONEST, Scripted(Action("S")))


def test_half_a_chip_is_neither_paid_nor_taken():
    amounts = [(Fraction(-1, 2), 5, -2), (Fraction(1, 2), 5, 2), (Fraction(3, 2), 10, 15), (Fraction(-1), 10, -10)]
    assert all(whole_chips(bets, buy_in) == chips for bets, buy_in, chips in amounts)
