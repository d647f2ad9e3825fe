"""The mistakes of bots: their answers in the journal, judged by the exact solver."""

import pytest
from bot_helpers import Scripted
from support.matches import CARDSHARK, deal_of, match_of

from bjsim.bots.contest import page_data as module
from bjsim.bots.contest.config import Contest
from bjsim.bots.contest.match import play_table, recorded_round, replay_alone
from bjsim.bots.contest.page_data import Cell, MistakeLog, PageData
from bjsim.bots.contest.schedule import TablePlan
from bjsim.sim.game.actions import raise_by
from bjsim.sim.game.presets import load_rules
from bjsim.strategies.evaluation.coach import Coach
from bjsim.strategies.evaluation.compare import evaluate_chart
from bjsim.strategies.exact.solver import Solver
from bjsim.strategies.players.catalogue import find_player

ENDLESS = CARDSHARK.replace(decks="inf", chips=10**6)


def judge(contest, players, matches=1):
    """The data of a page after matches of these players at one table."""
    data = PageData(contest)
    for match in range(matches):
        plan = TablePlan(match, 0, match, tuple(range(len(players))))
        data.add(match_of(match, *play_table(contest, plan, players.__getitem__, None).rounds))
    return data


def record_of(cards, moves, stake_before=200, **more):
    """The record of a round of one seat. cards: in the order of the deal."""
    return {"seats": [0], "chips": [stake_before], "cards": cards, "moves": [moves], "spent": {}, **more}


def test_a_mistake_has_its_exact_cost():
    """Standing on 13 against 7, in an infinite shoe, costs the difference of the two exact values."""
    log = MistakeLog(Contest(ENDLESS))
    solver = Solver(ENDLESS)
    means, state = solver.best["7"], solver.chart.states.hand((9, 2))
    cost = float(means.act(state, "H") - means.act(state, "S"))
    assert 0.05 < cost < 0.5
    deal = deal_of("T3", "7T")
    for _ in range(9):
        log.add(record_of(deal, ["S"]))
    bot = log.bots[0]
    [(cell, mistake)] = bot.by_cell.items()
    assert cell == Cell("13", "7", "S", "H") and mistake.count == 9
    assert mistake.bets == pytest.approx(9 * cost) and mistake.chips == pytest.approx(90 * cost)
    assert bot.chips_per_hand == pytest.approx(10 * cost) and (bot.hands, bot.decisions) == (9, 9)


def test_a_stand_for_a_fault_costs_what_it_would_cost_as_an_answer():
    """It is no mistake, but it is paid; so is a stand of a bot that has no strikes left. A best one costs nothing."""
    own, faulty, spent, best = (MistakeLog(Contest(ENDLESS)) for _ in range(4))
    deal, fault = deal_of("T3", "7T"), {"bot": 0, "place": 0, "move": 0, "kind": "crash"}
    own.add(record_of(deal, ["S"]))
    faulty.add(record_of(deal, ["S"], faults=[fault]))
    spent.add(record_of(deal, ["S"], spent={0: Contest.strikes}))
    best.add(record_of(deal_of("T9", "7T"), ["S"], faults=[fault]))
    cost = own.bots[0].chips_per_hand
    assert cost > 0.5 and own.bots[0].fault_chips == 0
    for log in (faulty, spent):
        bot = log.bots[0]
        assert bot.fault_chips == pytest.approx(cost) and not bot.by_cell and (bot.hands, bot.decisions) == (1, 0)
    assert best.bots[0].fault_chips == 0


@pytest.mark.parametrize("waiting", [0, 1])
def test_a_pair_that_is_not_split_again_costs_what_it_costs_with_the_hands_that_wait(waiting):
    """While another hand waits for its second card, which may make a pair, a split takes room from it."""
    rules = load_rules("vegas-s17").replace(decks="inf", max_hands=3)
    log, deal = MistakeLog(Contest(rules)), deal_of("88", "6T", rules)
    record = record_of(deal + "8T5" if waiting else deal + "T8T", ["P", "S", "S"], chips=[10**6])
    log.add(record)
    [mistake] = log.bots[0].by_cell.values()
    views = [move.view for move in replay_alone(Contest(rules), recorded_round(rules, record), record)]
    [pair] = [view for view in views if view.hands == 2 and view.hand == "88"]
    values = Solver(rules).view_values(pair)
    assert pair.pending == waiting and mistake.bets == pytest.approx(values["P"] - values["S"], abs=1e-12)
    other = Solver(rules).view_values(pair._replace(pending=1 - waiting))
    assert abs(other["P"] - values["P"]) > 1e-4


def test_the_best_answer_costs_nothing_and_raises_are_not_judged():
    log = MistakeLog(Contest(ENDLESS))
    log.add(record_of(deal_of("TT", "7T"), ["S"]))
    log.add(record_of(deal_of("TT", "7T"), ["B 50", "S"]))
    assert not log.bots[0].by_cell and log.bots[0].decisions == 2


def test_a_mistake_with_a_raised_stake_costs_more_chips():
    """It costs as many bets; the hand that it links to is the one that cost most."""
    log = MistakeLog(Contest(ENDLESS))
    small, large = record_of(deal_of("T6", "7T"), ["S"]), record_of(deal_of("T6", "7T"), ["B 40", "S"])
    for record in (small, large, small):
        log.add(record)
    [mistake] = log.bots[0].by_cell.values()
    assert mistake.chips == pytest.approx(mistake.bets / 3 * (10 + 50 + 10)) and mistake.record is large


def test_only_the_moves_of_a_bot_are_judged():
    """Not the stand for a fault, nor those after the last strike."""
    faults = [{"bot": 0, "place": 0, "move": move, "kind": "crash"} for move in (1, 3)]
    record = record_of(deal_of("222222", "7T"), ["H", "H", "H", "H", "S"], faults=faults)

    def own(strikes, spent=0):
        game, spending = recorded_round(CARDSHARK, record), {**record, "spent": {0: spent}}
        moves = enumerate(replay_alone(Contest(CARDSHARK, strikes=strikes), game, spending))
        return {number for number, move in moves if move.own}

    assert (own(strikes=5), own(strikes=2)) == ({0, 2, 4}, {0, 2})
    assert (own(strikes=2, spent=1), own(strikes=2, spent=2)) == ({0}, set())

    data = judge(Contest(CARDSHARK, strikes=2), [Scripted(RuntimeError("on purpose")), find_player("lim17", CARDSHARK)])
    assert data.mistakes.bots[0].decisions == 0 < data.mistakes.bots[1].decisions
    assert not data.mistakes.bots[0].by_cell


@pytest.mark.parametrize(("chart", "rules"), [("lim14", ENDLESS), ("lim19", CARDSHARK.replace(chips=10**6))])
def test_the_mistakes_of_a_chart_add_up_to_what_it_loses(chart, rules, monkeypatch):
    """The exact loss of the chart is their expectation.

    Fixed seed; the limit is three standard errors (error rate 0.3%). A finite shoe is not always full, which changes
    the costs little. Negative control: the loss of another chart is farther away.
    """
    monkeypatch.setattr(module, "HANDS", 4000)
    player = find_player(chart, rules)
    data = judge(Contest(rules, hands=40, seed=4), [player], matches=20)
    bot = data.mistakes.bots[0]
    lost, other = (10 * evaluate_chart(find_player(name, rules)).difference for name in (chart, "lim17"))
    assert bot.hands == 4000 and bot.chips_per_hand == pytest.approx(lost, abs=0.1)
    assert bot.chips_per_hand != pytest.approx(other, abs=0.1)
    assert bot.chips_per_hand == pytest.approx(sum(each.chips for _, each in bot.costliest(10**3)) / 4000)
    assert {cell.answer for cell in bot.by_cell} <= {"H", "S"}  # and the best is often a double
    best = judge(Contest(rules, hands=40, seed=4), [find_player("optimal", rules)]).mistakes.bots[0]
    assert best.decisions > 100 and not best.by_cell


@pytest.mark.parametrize("game", ["vegas-s17", "blackjack-p", "european", "spanish-21"])
def test_games_with_splits_have_mistakes_too(game):
    """A bot splits whenever possible, and takes insurance."""
    rules = load_rules(game).replace(chips=10**6)
    odd = Scripted(lambda view: next(letter for letter in "IPS" if letter in view.legal))
    data = judge(Contest(rules, hands=40, seed=1), [odd, find_player("optimal", rules)])
    cells = data.mistakes.bots[0].by_cell
    assert any(cell.answer == "P" and cell.row == "TT" for cell in cells)
    assert any(cell.row == "insurance" for cell in cells) == rules.insurance
    assert not data.mistakes.bots[1].by_cell


def test_a_long_journal_is_judged_in_part():
    judged = []
    log = MistakeLog(Contest(ENDLESS))
    log._judge = lambda *situation: judged.append(situation)
    for _ in range(module.HANDS + 20):
        log.add(record_of(deal_of("T6", "7T"), ["S"]))
    assert log.bots[0].hands == len(judged) == module.HANDS


def test_a_situation_is_judged_once(monkeypatch):
    views = []
    real = Coach.judge
    monkeypatch.setattr(Coach, "judge", lambda self, view, action: views.append(view) or real(self, view, action))
    log = MistakeLog(Contest(ENDLESS))
    for hand in ("T6", "6T", "JK6", "K6", "6Q", "T6"):
        log.add(record_of(deal_of(hand[-2:], "7T"), ["S"]))
    assert log.bots[0].decisions == 6 and len(views) == 1


def test_raises_are_noticed():
    raiser = Scripted(lambda view: raise_by(5) if view.stake == 10 else "S")
    data = judge(Contest(CARDSHARK), [raiser, find_player("lim17", CARDSHARK)])
    assert data.hands[0].raises and not data.hands[1].raises
