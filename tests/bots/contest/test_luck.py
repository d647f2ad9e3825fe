"""Luck: it cannot bias, it is exact where the game is the infinite shoe, and it makes means quiet."""

import random
import statistics
from itertools import islice

import pytest

from bjsim.bots.contest.config import Contest
from bjsim.bots.contest.luck import KINDS, REFERENCE, Luck, has_luck
from bjsim.bots.contest.match import play_table
from bjsim.bots.contest.schedule import schedule
from bjsim.bots.contest.student import t_half
from bjsim.sim.presets import load_rules
from bjsim.strategies.exact import Solver
from bjsim.strategies.players import find_player

CARDSHARK = load_rules("cardshark")


def played(rules, names, matches, luck, seed=6):
    """By bot and match: (profit, luck by kind) of the whole match, in chips."""
    contest = Contest(rules, seed=seed)
    players = [find_player(name, rules) for name in names]
    totals = {}
    for tables in islice(schedule(len(names)), matches):
        for plan in tables:
            for record in play_table(contest, plan, players.__getitem__, luck):
                for bot, net, parts in zip(record["seats"], record["net"], record["luck"], strict=True):
                    total = totals.setdefault((bot, plan.match), [0, [0.0] * len(KINDS)])
                    total[0] += net
                    total[1] = [a + b for a, b in zip(total[1], parts, strict=True)]
    return totals


def z_of(values):
    """How many standard errors the mean is from 0."""
    sd = statistics.stdev(values)
    return statistics.mean(values) / (sd / len(values) ** 0.5) if sd else 0.0


@pytest.mark.parametrize("deal", ["pdpd", "ddpp"])
def test_in_the_infinite_shoe_every_round_of_the_reference_chart_is_worth_the_same(deal):
    """Profit less luck is one constant: the exact value of the chart."""
    rules = CARDSHARK.with_(decks="inf", chips=10**6, deal=deal)
    chart = find_player(REFERENCE, rules)
    value = 10 * float(Solver(rules).worth(chart.letter).value)
    contest = Contest(rules)
    luck = Luck(rules)
    for plan in next(schedule(4)):
        for record in play_table(contest, plan, lambda bot: chart, luck):
            for net, parts in zip(record["net"], record["luck"], strict=True):
                assert net - sum(parts) == pytest.approx(value, abs=1e-5)


def agree(totals, names):
    """Raw and luck-adjusted means agree within 3 standard errors; returns the gains in variance."""
    gains = {}
    for bot, name in enumerate(names):
        mine = [total for (who, _), total in totals.items() if who == bot]
        assert abs(z_of([sum(parts) for _, parts in mine])) < 3, name
        adjusted = [net - sum(parts) for net, parts in mine]
        gains[name] = statistics.variance([net for net, _ in mine]) / statistics.variance(adjusted)
    return gains


def kinds_are_fair(totals, matches):
    by_match = [[0.0] * len(KINDS) for _ in range(matches)]
    for (_, match), (_, parts) in totals.items():
        by_match[match] = [a + b for a, b in zip(by_match[match], parts, strict=True)]
    for place, kind in enumerate(KINDS):
        assert abs(z_of([parts[place] for parts in by_match])) < 4, kind


SIX = ["lim17", "optimal", "lim15", "hoyle", "lim19", "mimic"]


def test_it_is_fair_and_quiet():
    """Wrong by chance in fewer than 2 of 100 seeds; the seed is fixed."""
    totals = played(CARDSHARK, SIX, 60, Luck(CARDSHARK))
    gains = agree(totals, SIX)
    kinds_are_fair(totals, 60)
    assert gains["optimal"] > 8 and gains["lim17"] > 5


@pytest.mark.slow
def test_six_players_over_two_thousand_matches():
    """As above, as often as the specification asks."""
    totals = played(CARDSHARK, SIX, 2000, Luck(CARDSHARK), seed=7)
    gains = agree(totals, SIX)
    kinds_are_fair(totals, 2000)
    assert gains["optimal"] > 10 and gains["lim17"] > 10
    short_runs_follow_student(totals, runs=200, matches=10)


def short_runs_follow_student(totals, runs, matches):
    """In runs of few matches the mean luck is as many standard errors from 0 as Student's t allows, not as the normal
    law does: of ten matches one in 300 is 4 away. (1,200 values; the shares' standard errors are below 0.01.)"""
    values = [
        z_of([sum(totals[bot, run * matches + match][1]) for match in range(matches)])
        for bot in range(len(SIX)) for run in range(runs)
    ]  # fmt: skip

    def share(bound):
        return statistics.mean(abs(value) > bound for value in values)

    assert abs(share(t_half(matches - 1)) - 0.05) < 0.025
    assert share(1.96) > 0.065  # negative control: the normal law's bound is passed too often
    assert share(4) < 0.01


class Noise(Luck):
    """Luck from worths that are random numbers."""

    def __init__(self, rules):
        super().__init__(rules)
        chance = random.Random(1)
        self.table = {}

        def after(*key):
            if key not in self.table:
                self.table[key] = tuple(chance.uniform(-1, 1) for _ in range(13))
            return self.table[key]

        self.after_card = self.after_dealer = after


def test_worths_that_are_noise_do_not_bias_either():
    names = ["lim17", "optimal", "lim15", "hoyle"]
    totals = played(CARDSHARK, names, 60, Noise(CARDSHARK))
    kinds_are_fair(totals, 60)
    assert max(agree(totals, names).values()) < 1  # and do not help


def test_a_wrong_law_of_cards_is_noticed():
    """Negative control: luck that believes tens to be twice as many as they are is not fair."""

    class ManyTens(Luck):
        def of_round(self, events, seats, left):
            return super().of_round(events, seats, [*left[:9], *(2 * n for n in left[9:])])

    with pytest.raises(AssertionError):
        kinds_are_fair(played(CARDSHARK, ["lim17", "optimal"], 60, ManyTens(CARDSHARK)), 60)


def test_where_hands_split_there_is_none():
    assert has_luck(CARDSHARK) and not has_luck(load_rules("vegas-s17"))
