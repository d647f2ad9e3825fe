"""Luck adjustment: it is unbiased, exact in an infinite shoe, and reduces the variance of means."""

import random
import statistics
from dataclasses import replace
from itertools import islice, product

import numpy as np
import pytest
from support.matches import CARDSHARK

from bjsim.bots.contest.config import Contest, has_luck
from bjsim.bots.contest.luck import (
    DEALER_CARD,
    KINDS,
    MIN_SHOE,
    N_RANKS,
    OTHER_SEAT,
    OWN,
    REFERENCE,
    ContestLuckModel,
    DrawLog,
    DrawLogger,
    LuckAdjuster,
    OpponentModel,
    Stakes,
    StateIndex,
    evaluate,
    tabulate,
)
from bjsim.bots.contest.match import TableDealer, play_table
from bjsim.bots.contest.schedule import schedule
from bjsim.sim.game.actions import Action
from bjsim.sim.game.automaton import START, Decision
from bjsim.sim.game.cards import pair_code
from bjsim.sim.game.presets import load_rules
from bjsim.strategies.charts.chart import ACTIONS, Chart
from bjsim.strategies.exact.solver import Solver
from bjsim.strategies.players.catalogue import FunctionPlayer, find_player

VEGAS = load_rules("vegas-s17")
SIX = ["lim17", "optimal", "lim15", "hoyle", "lim19", "mimic"]
NOTHING_DECIDED = np.empty((0, 4), np.int64)


def logged(rules, players, matches, seed=6, duplicate=False):
    """For each match its profits by bot, and the draw logs of its tables."""
    contest = Contest(rules, seed=seed, duplicate=duplicate)
    index = StateIndex(rules)
    for tables in islice(schedule(len(players), duplicate), matches):
        net, logs = [0] * len(players), []
        for plan in tables:
            draw_logger = DrawLogger(index)
            for record in play_table(contest, plan, players.__getitem__, draw_logger).rounds:
                for bot, won in zip(record["seats"], record["net"], strict=True):
                    net[bot] += won
            logs.append(draw_logger.draw_log())
        yield net, logs


def adjusted(rules, players, matches, model=ContestLuckModel):
    """For each match and bot: profit, and luck by kind of draw; and the adjuster."""
    adjuster = LuckAdjuster(model(rules), [{}] * len(players), 1)
    played = logged(rules, players, matches)
    return [list(zip(net, adjuster.adjust(logs)["luck"], strict=True)) for net, logs in played], adjuster


def named(rules, names):
    return [find_player(name, rules) for name in names]


def z_score(values):
    """How many standard errors the mean is from 0."""
    sd = statistics.stdev(values)
    return statistics.mean(values) / (sd / len(values) ** 0.5) if sd else 0.0


# --- values


GAMES = {
    "cardshark": CARDSHARK,
    "both seen": CARDSHARK.replace(dealer_shows="both", deal="ddpp"),
    "naturals": CARDSHARK.replace(naturals="both", surrender=True, ties="push"),
    "21 is hit": CARDSHARK.replace(stand_on_21=False, hit_soft_17=True),
    "splits and a peek": VEGAS.replace(decks="inf", surrender=True),
    "bonuses": CARDSHARK.replace(bonuses="at-once", ties="push"),
    "a Charlie, a push with 22, surrender after a split": VEGAS.replace(
        decks="inf", surrender=True, surrender_after_split=True, charlie=5, dealer_22_pushes=True
    ),
    "doubles on any number of cards": VEGAS.replace(decks="inf", double_cards="any", double_after_split=False),
    "free bets": load_rules("free-bet-2012").replace(decks="inf"),
    "early surrender": VEGAS.replace(decks="inf", surrender="early"),
    "early surrender against an ace": VEGAS.replace(decks="inf", surrender="early-ace"),
    "no hole card": load_rules("european").replace(decks="inf"),
}


def evs_by(index, chart):
    return evaluate(index, tabulate(index, chart.policy))


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("name", ["optimal", "lim19"])
def test_values_match_the_solver(game, name):
    """For the whole round, and for every hand against every upcard."""
    rules = GAMES[game]
    chart = find_player(name, rules)
    index = StateIndex(rules)
    evs = evs_by(index, chart)
    solver = Solver(rules)
    assert evs[index.number_of[START], 0] == pytest.approx(float(solver.ev(chart.policy).value), abs=1e-12)
    if rules.dealer_shows == "both":
        return
    for up in range(N_RANKS):
        column = solver.columns[index.dealers.columns[1 + up]]
        means = solver.means(column, 0.0, chart.policy)
        peeked = 1 - float(column.probability) / float(dict(solver.states.ranks)[up]) if rules.peek else 0.0
        for hand in map(solver.states.reached, solver.states.starts):
            number = (1 + up) * len(index.hands) + index.number_of[hand]
            ended = -1.0 if isinstance(hand, Decision) else 0.0  # against a natural, which ties with a natural
            assert evs[number, 0] == pytest.approx((1 - peeked) * means.at(hand) + peeked * ended, abs=1e-12)


def test_slopes_are_the_solvers():
    """A slightly higher probability of ten-valued cards: by the derivatives, and solved numerically."""
    rules = CARDSHARK.replace(decks="inf")
    chart = find_player("optimal", rules)
    index = StateIndex(rules)
    slopes = evs_by(index, chart)[index.number_of[START], 1:]
    step = 1e-4
    low, high = (
        float(Solver(rules.replace(ten_probability=4 / 13 + tilt)).ev(chart.policy).value) for tilt in (-step, step)
    )
    assert slopes[-1] - slopes[:-1].mean() == pytest.approx((high - low) / (2 * step), abs=1e-5)


DEALT = {
    "pdpd": CARDSHARK.replace(deal="pdpd"),
    "ddpp": CARDSHARK.replace(deal="ddpp"),
    "splits": VEGAS.replace(seats=4),
    "more tens": CARDSHARK.replace(decks="inf", ten_probability="1/2"),
}


@pytest.mark.parametrize("deal", DEALT)
@pytest.mark.parametrize("name", [REFERENCE, "lim19"])
def test_in_the_infinite_shoe_profit_minus_luck_is_the_value_of_the_chart(deal, name):
    """In every round, exactly, if the chart is known; also if it splits whenever it may.

    With more tens, luck was the difference from a mean over the cards of a normal deck: that decided ranks.
    """
    splits = deal == "splits"
    rules = DEALT[deal].replace(decks="inf", chips=10**6)
    chart = find_player(name, rules)
    if splits and name != REFERENCE:
        pairs = {pair_code(rank) for rank in range(N_RANKS)}
        chart = Chart(name, rules, {cell: "P" if cell[0] in pairs else code for cell, code in chart.cells.items()})
    check_luck(rules, chart, 4 if splits else 1)


def test_a_double_that_the_house_pays_for_can_lose_the_own_bet_alone():
    """It lost twice as much in the luck of the dealer's cards, so profit minus luck was not the value of the chart."""
    rules = VEGAS.replace(seats=4, decks="inf", free_doubles="9-11", chips=10**6)
    decisions = check_luck(rules, find_player("optimal", rules), 1)
    assert (decisions[:, -1] == ord("D")).sum() > 10


def check_luck(rules, chart, matches):
    """Profit minus luck is the value of the chart, exactly. Returns: the decisions of the last match."""
    value = 10 * float(Solver(rules).ev(chart.policy).value)
    luck = ContestLuckModel(rules)
    evs = luck.evaluate(tabulate(luck.state_index, chart.policy))
    for net, (log,) in logged(rules, [chart] * 4, matches):
        for won, parts in zip(net, luck.luck_by_bot([log], np.array([evs] * 5)), strict=False):
            assert won - sum(parts) == pytest.approx(25 * value, abs=1e-4)
    return log.decisions


# --- it is unbiased


def mean_luck(luck, log, evs, missing_tens=0):
    """The largest absolute mean of a draw's luck over all cards, for every hand: exactly 0.

    missing_tens: number of tens that the luck model does not count.
    """
    worst = 0.0
    for number in range(0, len(log.draws), max(1, len(log.draws) // 50)):
        _, kind, *left = log.draws[number]
        left = np.array(left)
        believed = left - missing_tens * (np.arange(N_RANKS) == N_RANKS - 1)
        if believed.min() < 0 or not believed.any():
            continue
        for stake in stakes_alone(log, number):
            mean = 0.0
            for rank in np.flatnonzero(left):
                row = DrawLog(np.array([[rank, kind, *believed]]), stake, NOTHING_DECIDED)
                mean += left[rank] / left.sum() * luck.luck_by_bot([row], evs[None]).sum()
            worst = max(worst, abs(mean))
    return worst


def stakes_alone(log, number):
    """What each hand has at stake in a draw, alone and as that of bot 0."""
    for stake in log.stakes[log.stakes[:, 0] == number]:
        yield np.array([[0, 0, *stake[2:]]])


def test_the_mean_luck_of_every_draw_over_all_cards_is_zero():
    """Exact for any values, including random ones. Negative control: a wrong distribution of cards."""
    luck = ContestLuckModel(CARDSHARK)
    evs = luck.evaluate(luck.reference_actions)
    random = np.random.default_rng(1).uniform(-1, 1, evs.shape)
    for _, (log,) in logged(CARDSHARK, named(CARDSHARK, SIX[:4]), 1):
        kinds = {(int(kind), int(recipient)) for kind, recipient in zip(*kinds_and_recipients(log), strict=True)}
        assert {OWN, DEALER_CARD} < {recipient for _, recipient in kinds} and len({kind for kind, _ in kinds}) >= 6
        assert mean_luck(luck, log, evs) < 1e-9
        assert mean_luck(luck, log, random) < 1e-9
        assert mean_luck(luck, log, evs, missing_tens=1) > 0.05


def test_a_card_to_another_seat_is_worth_what_its_removal_changes_of_the_hand():
    """The value of the own hand after each card, by its constant and its coefficients, less their mean."""
    luck = ContestLuckModel(CARDSHARK)
    index, checked = luck.state_index, 0
    random = np.random.default_rng(2).uniform(-1, 1, (len(index.dealers.hands), len(index.hands), 1 + N_RANKS))
    for _, (log,) in logged(CARDSHARK, named(CARDSHARK, SIX[:4]), 1):
        for number in np.flatnonzero(log.draws[:, 2:].sum(axis=1) > MIN_SHOE)[::7]:
            draw = log.draws[number : number + 1]
            for stake in stakes_alone(log, number):
                _, _, chips, dealer, hand, recipient = map(int, stake[0])
                if recipient != OTHER_SEAT:
                    continue
                rank, left = draw[0, 0], draw[0, 2:]
                after = (left - np.eye(N_RANKS)) / (left.sum() - 1)  # shares, by the card that leaves
                values = random[dealer, hand, 0] + after @ random[dealer, hand, 1:]
                wanted = chips * (values[rank] - left @ values / left.sum())
                row = DrawLog(draw, stake, NOTHING_DECIDED)
                found = luck.luck_by_bot([row], random.reshape(1, -1, 1 + N_RANKS)).sum()
                assert found == pytest.approx(wanted, abs=1e-9)
                checked += 1
    assert checked > 30


class CountingShoe:
    """A shoe of one deck that records the remaining cards of each rank before every draw."""

    def __init__(self, shoe):
        self.shoe, self.left, self.noted = shoe, [], []

    def begin_round(self):
        shuffled = self.shoe.begin_round()
        if shuffled:
            self.left = []
        return shuffled

    def replenish(self):
        return self.shoe.replenish()

    def draw(self):
        self.left = self.left or sorted([*range(N_RANKS - 1), *[N_RANKS - 1] * 4] * 4)
        rank = self.shoe.draw()
        self.noted.append([min(rank, N_RANKS - 1), *(self.left.count(r) for r in range(N_RANKS))])
        self.left.remove(min(rank, N_RANKS - 1))
        return rank


@pytest.mark.parametrize("cut", ["3/4", "1"])
def test_the_distribution_of_every_draw_is_that_of_the_shoe(cut):
    """Also when the deck runs out in the middle of a round."""
    rules = CARDSHARK.replace(cut=cut)
    contest = Contest(rules, seed=17)
    [plan] = next(schedule(4, duplicate=False))
    draw_logger = DrawLogger(StateIndex(rules))
    dealer = TableDealer(contest, plan, draw_logger)
    dealer.shoe = shoe = CountingShoe(dealer.shoe)
    players = named(rules, ["lim17", "hoyle", "optimal", "lim19"])
    while not dealer.over:
        seats = [players[position] for position in dealer.paying]
        dealer.settle(dealer.deal().play(seats))
    draws = draw_logger.draw_log().draws
    assert np.delete(draws, 1, axis=1).tolist() == shoe.noted
    assert len(shoe.noted) > 300 and draws[:, 2:].sum(axis=1).min() == 1


def kinds_and_recipients(log):
    stakes = Stakes(*log.stakes.T)
    return log.draws[stakes.draw, 1], stakes.recipient


def test_a_match_is_adjusted_with_charts_from_before_its_shoes():
    """The charts for a match do not depend on it, nor on others that share its shoes."""
    luck = ContestLuckModel(CARDSHARK)
    first, second, third = (logs for _, logs in logged(CARDSHARK, named(CARDSHARK, SIX[:2]), 3, duplicate=True))
    unit, fresh, hasty = (
        LuckAdjuster(luck, [{}] * 2, 2),
        LuckAdjuster(luck, [{}] * 2, 2),
        LuckAdjuster(luck, [{}] * 2, 1),
    )
    assert unit.adjust(first)["learned"] and hasty.adjust(first)["learned"]
    alone = fresh.adjust(second)["luck"]
    assert unit.adjust(second)["luck"] == alone
    assert hasty.adjust(second)["luck"] != alone  # negative control: it has seen the same cards before
    assert unit.adjust(third)["luck"] != LuckAdjuster(luck, [{}] * 2, 2).adjust(third)["luck"]  # it has learned
    blind = [log._replace(decisions=NOTHING_DECIDED) for log in first]
    assert (
        LuckAdjuster(luck, [{}] * 2, 1).adjust(blind)["luck"] == LuckAdjuster(luck, [{}] * 2, 1).adjust(first)["luck"]
    )


def test_opponent_models_are_restored_from_records():
    luck = ContestLuckModel(CARDSHARK)
    adjuster, follower = LuckAdjuster(luck, [{}] * 4, 1), LuckAdjuster(luck, [{}] * 4, 1)
    for _, logs in logged(CARDSHARK, named(CARDSHARK, SIX[:4]), 3):
        record = adjuster.adjust(logs)
        follower.restore(record)
    *_, (_, logs) = logged(CARDSHARK, named(CARDSHARK, SIX[:4]), 4)
    assert adjuster.adjust(logs) == follower.adjust(logs)


def test_every_action_leaves_a_code_in_a_cell():
    for current, action, others in product(ACTIONS, "SHDPR", ("SH", "SHD", "SHP", "SHDP", "SHDPR")):
        assert action in ACTIONS[OpponentModel._updated(current, action, others + action)]


@pytest.mark.parametrize("game", ["splits and a peek", "free bets", "early surrender"])
def test_a_bot_that_plays_at_random_has_a_model(game):
    """One that split a pair and doubled it another time ended the contest, which could not be resumed."""
    rules, chance = GAMES[game], random.Random(4)
    player = FunctionPlayer("random", lambda view: Action(chance.choice(view.legal)))
    model = OpponentModel(ContestLuckModel(rules))
    before = dict(model.cells)
    for _, logs in logged(rules, [player] * 4, 12):
        for log in logs:
            model.observe_all(log.decisions[:, 1:])
    assert {*model.cells.values()} <= {*ACTIONS} and len({*model.cells.items()} - {*before.items()}) > 100


@pytest.mark.slow
def test_the_opponent_model_approaches_the_chart_of_the_bot():
    """After 200 shoes the cells that a bot meets often are its own."""
    rules = CARDSHARK.replace(surrender=True)
    players = named(rules, ["optimal", "lim17"])
    _, adjuster = adjusted(rules, players, 150)
    for bot, player in enumerate(players):
        cells = adjuster.opponent_models[bot].cells
        differ = [cell for cell, code in player.cells.items() if cells[cell][0] != code[0]]
        assert len(differ) < 0.1 * len(player.cells), differ
    assert len([c for c in players[0].cells if adjuster.opponent_models[1].cells[c] != players[0].cells[c]]) > 50


# --- it is unbiased and reduces variance, in play


def agree(matches, names):
    """Raw and luck-adjusted means agree within 3 standard errors; returns variance reduction factors."""
    factors = {}
    for bot, name in enumerate(names):
        mine = [match[bot] for match in matches]
        assert abs(z_score([sum(parts) for _, parts in mine])) < 3, name
        adjusted = [net - sum(parts) for net, parts in mine]
        factors[name] = statistics.variance([net for net, _ in mine]) / statistics.variance(adjusted)
    return factors


def kinds_are_unbiased(matches):
    for place, kind in enumerate(KINDS):
        assert abs(z_score([sum(parts[place] for _, parts in match) for match in matches])) < 4, kind


def test_it_is_unbiased_and_reduces_variance():
    """Fixed seed; fewer than 2 of 100 seeds would fail by chance."""
    matches, _ = adjusted(CARDSHARK, named(CARDSHARK, SIX), 60)
    factors = agree(matches, SIX)
    kinds_are_unbiased(matches)
    assert factors["optimal"] > 12 and factors["lim17"] > 12


def test_a_wrong_distribution_of_cards_is_detected():
    """Negative control: luck computed with twice as many tens is biased."""

    class ManyTens(ContestLuckModel):
        def luck_by_bot(self, logs, evs):
            return super().luck_by_bot([many_tens(log) for log in logs], evs)

    def many_tens(log):
        draws = log.draws.copy()
        draws[:, -1] *= 2
        return log._replace(draws=draws)

    matches, _ = adjusted(CARDSHARK, named(CARDSHARK, ["lim17", "optimal"]), 60, ManyTens)
    with pytest.raises(AssertionError):
        kinds_are_unbiased(matches)


@pytest.mark.slow
def test_a_bot_that_raises_and_plays_inconsistently_is_adjusted_without_bias():
    """Raises change the stake within a hand, and the opponent model of an inconsistent bot is always wrong.

    Its variance is reduced 2.12-fold in 1,500 matches; that of 150 differs from this by 10%.
    """
    turn = iter(range(10**6))

    def inconsistent(view):
        if view.stake == 10 and view.chips > 20 and next(turn) % 3 == 0:
            return Action("B", 20)
        return Action("SH"[next(turn) * 7 % 5 % 2] if len(view.hand) < 4 else "S")

    names = ["inconsistent", "optimal"]
    players = [FunctionPlayer("inconsistent", inconsistent), find_player("optimal", CARDSHARK)]
    matches, _ = adjusted(CARDSHARK, players, 200)
    kinds_are_unbiased(matches)
    assert agree(matches, names)["inconsistent"] > 1.6


def test_splits_and_peeks_are_adjusted_without_bias():
    """Fixed seed; fewer than 3 of 100 seeds would fail by chance. The specification requires a factor of 10."""
    names = ["lim17", "optimal", "lim15", "hoyle"]
    rules = VEGAS.replace(seats=4)
    matches, _ = adjusted(rules, named(rules, names), 60)
    kinds_are_unbiased(matches)
    assert min(agree(matches, names).values()) > 10


@pytest.mark.parametrize(
    "fields",
    [
        {"no_hole_loses": "original", "insurance": True},
        {"no_hole_loses": "busted-plus-one", "surrender": "late", "surrender_after_split": True},
    ],
)
def test_what_is_not_valued_moves_no_mean(fields):
    """Insurance, and what a dealer's natural leaves to a seat."""
    names = ["lim17", "optimal", "lim15", "hoyle"]
    rules = load_rules("european").replace(decks=1, seats=4, max_hands=3, double_on="any", **fields)
    players = named(rules, names)
    players[0] = replace(players[0], insurance="I" if rules.insurance else "S")
    matches, _ = adjusted(rules, players, 24)
    kinds_are_unbiased(matches)
    assert min(agree(matches, names).values()) > 5


def test_there_is_no_luck_adjustment_of_endless_splits():
    assert has_luck(CARDSHARK) and has_luck(VEGAS) and not has_luck(VEGAS.replace(max_hands="inf"))
