"""Index generation: the published indices, choices against single hands, and what cards are expected at counts."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from math import comb
from unittest.mock import Mock

import numpy as np
import pytest
from support.counters import simulate_count

from bjsim.errors import InputError
from bjsim.sim.game.presets import named_rules
from bjsim.strategies.charts.chart import Chart
from bjsim.strategies.counting import indices as generated
from bjsim.strategies.counting.departures import Departures, find_departures, names_sets, parse_departures
from bjsim.strategies.counting.indices import (
    ChoiceKey,
    Index,
    IndexScores,
    _insurance_curve,
    adapt_departures,
    find_choices,
    find_indices,
    generate_indices,
    price_of_risk,
    select_departures,
)
from bjsim.strategies.counting.ramp import Ramp, certainty_equivalent, score
from bjsim.strategies.counting.returns import (
    CountReturns,
    RampReturns,
    best_ramp,
    chart_returns,
    count_spread,
    highest_score,
    ramp_returns,
)
from bjsim.strategies.counting.system import IN_DECK, CountingSystem, find_system
from bjsim.strategies.counting.typical import expected_counts, remaining, typical_shoe
from bjsim.strategies.evaluation.compare import best_chart
from bjsim.strategies.formats.plays import Departure
from bjsim.strategies.players.catalogue import CATALOGUE
from bjsim.strategies.shoe.solver import ShoeSolver

RULES = named_rules("vegas-s17").replace(surrender=True)
HILO = find_system("hilo")
TAGS = [float(tag) for tag in HILO.tags]


def by_cell(indices: list[Index]) -> dict[tuple[str, str, str], Index]:
    return {(index.departure.row, index.departure.column, index.departure.action): index for index in indices}


def differences(indices: list[Index]) -> dict[str, Fraction]:
    """Our count less the published one, for those of the Illustrious 18 and the Fab 4 that differ."""
    found = by_cell(indices)
    counts = {play: found[play.row, play.column, play.action].departure for play in find_departures("i18+fab4")}
    assert all(ours.operator == play.operator for play, ours in counts.items())
    return {str(play): ours.count - play.count for play, ours in counts.items() if ours.count != play.count}


@pytest.fixture(scope="module")
def six() -> list[Index]:
    """Six decks, 75% dealt."""
    return generate_indices(RULES, HILO, limit=5)


@pytest.mark.slow
def test_the_published_indices_of_six_decks(six: list[Index]) -> None:
    """All 22 within 1. Three differ; 12v2 and TTv6 are those of later printings, 10vA is 3 in Cacarulo's set."""
    assert differences(six) == {"12v2 S>=3": 1, "TTv6 P>=4": 1, "10vA D>=4": -1}


def test_break_even_counts_of_six_decks(six: list[Index]) -> None:
    """The insurance index of six decks is 3.0; 12 against 4 is nearly a tie off the top."""
    found = by_cell(six)
    assert found["insurance", "", "I"].break_even == pytest.approx(3.0, abs=0.05)
    assert found["12", "4", "S"].break_even == pytest.approx(0.18, abs=0.1)
    assert found["16", "T", "S"].break_even == pytest.approx(0.3, abs=0.2)


def test_gains(six: list[Index]) -> None:
    """Those of a flat bet, positive and in descending order; insurance and 15vT R lead."""
    gains = [index.gain for index in six]
    assert gains == sorted(gains, reverse=True)
    assert gains[-1] > 0
    assert {index.departure.row for index in six[:2]} == {"insurance", "15"}
    assert sum(gains) == pytest.approx(0.0013, rel=0.2)


def test_the_generated_plays_are_nearly_the_best_chart_of_every_count(six: list[Index]) -> None:
    """In the composition of each count, half the unseen cards dealt: what departures save of the loss of the chart.

    At +4 the chart loses 0.3% of a bet, with departures less than 0.01%; exact values.
    """
    chart = ShoeSolver(RULES).chart
    plays = Departures(chart, select_departures(six, chart))
    assert len(plays.plays) > 60
    for count in (-4, 4):
        solver = ShoeSolver(RULES, typical_shoe(HILO, 6, 195, count + 0.4))
        best = solver.value
        played = replace(plays.chart_at(count), insurance="I" if plays.insured_at(count) else "S")
        fixed, varied = best - solver.value_of(chart), best - solver.value_of(played)
        assert fixed > 0.002
        assert 0 <= varied < 0.05 * fixed


@pytest.mark.slow
@pytest.mark.parametrize("decks", [4, 8])
def test_the_published_indices_of_other_decks(decks: int) -> None:
    """All 22 within 1."""
    found = differences(generate_indices(RULES.replace(decks=decks), HILO, limit=6))
    assert all(abs(difference) <= 1 for difference in found.values())


@pytest.mark.slow
def test_bets_timing_units_and_risk() -> None:
    """A ramp weights what happens at high counts; risk-averse doubles and splits need higher counts."""
    plain = by_cell(generate_indices(RULES, HILO, limit=6, ramp=Ramp.parse("1-12")))
    assert plain["insurance", "", "I"].gain_bets > 5 * plain["insurance", "", "I"].gain
    assert plain["12", "6", "S"].gain_bets < 1.5 * plain["12", "6", "S"].gain
    averse = by_cell(generate_indices(RULES, HILO, limit=7, risk_averse=True))  # insures from +3 on, so bets more
    for cell in (("TT", "5", "P"), ("TT", "6", "P"), ("9", "7", "D"), ("11", "A", "D")):
        assert averse[cell].break_even > plain[cell].break_even
    assert averse["14", "T", "R"].break_even < plain["14", "T", "R"].break_even
    ko = by_cell(generate_indices(RULES, find_system("ko"), limit=6))
    # The exact thresholds of KO (bjstrat.net, where the count is 4 lower): +1 insures with 172 to 288 cards unseen, +2
    # with 115 or more, +3 with 60 or more. From 312 to 78 cards, +2 is best on average.
    assert ko["insurance", "", "I"].departure.count == 2


def test_a_choice_of_one_hand_is_that_of_the_solver() -> None:
    """Pairs, whose cell is one hand, and a two-card 11: split or double against the best below, to 1e-12."""
    solver = ShoeSolver(RULES)
    choices = find_choices(solver, TAGS)
    for pair, column, action in (("88", "T", "P"), ("TT", "5", "P"), ("99", "7", "P"), ("88", "A", "R")):
        values = solver.hand_values(pair, column, solver.chart)
        below = max(values[letter] for letter in "SHDP".split(action)[0])
        assert choices[ChoiceKey(pair, column, action)].gain == pytest.approx(values[action] - below, abs=1e-12)
        assert (choices[ChoiceKey(pair, column, action)].cards) == pytest.approx(3)
    assert choices[ChoiceKey("88", "T", "P")].tags == pytest.approx(-1)


def test_the_weights_of_choices_are_visits() -> None:
    """A pair of tens against a five: (23 or 24 fives, then two tens) in six decks."""
    choice = find_choices(ShoeSolver(RULES), TAGS)[ChoiceKey("TT", "5", "P")]
    assert choice.weight == pytest.approx(
        24 / 312 * 96 / 311 * 95 / 310, rel=1e-8
    )  # with a trace of the hands that play does not reach
    assert choice.decided == choice.weight  # surrender is not better


@pytest.mark.slow
def test_mean_squares() -> None:
    """A double has about four times the mean square of a hit, .93; a surrender .25; split tens gain by products."""
    solver = ShoeSolver(RULES)
    choices, whole = find_choices(solver, TAGS, risk=True), find_choices(solver, TAGS, risk=True, products=True)
    assert choices[ChoiceKey("11", "6", "D")].risk == pytest.approx(3 * 0.93, abs=0.1)
    assert choices[ChoiceKey("16", "T", "R")].risk == pytest.approx(0.25 - 0.94, abs=0.02)
    tens = ChoiceKey("TT", "5", "P")
    assert whole[tens].risk > choices[tens].risk + 1
    assert whole[ChoiceKey("11", "6", "D")] == choices[ChoiceKey("11", "6", "D")]


def test_counts_occur_as_in_shuffled_shoes() -> None:
    """Shares of the floored count at 24 depths, against 4,000 shuffles; within 4 standard errors by shoe and 0.3%."""
    spread = count_spread(HILO, 6, 0.75)
    assert spread.chance.sum() == pytest.approx(1)
    assert spread.chance @ spread.true == pytest.approx(0, abs=1e-9)
    generator = np.random.default_rng(11)
    shoe = np.repeat(np.array(TAGS), np.array(IN_DECK["standard"]) * 6)
    unseen = np.unique((312 - 234 * (np.arange(24) + 0.5) / 24).astype(int))
    running = np.cumsum(generator.permuted(np.tile(shoe, (4000, 1)), axis=1), axis=1)
    counts = np.floor(np.where(unseen == 312, 0, running[:, 311 - unseen]) * 52 / unseen + 1e-9)
    for count in range(-4, 5):
        shares = (counts == count).mean(axis=1)
        error = 4 * float(shares.std()) / 4000**0.5
        assert spread.chance[spread.count == count].sum() == pytest.approx(shares.mean(), abs=error + 0.003)


@pytest.mark.slow
def test_a_set_of_hilo_is_made_at_the_counts_of_another_system() -> None:
    """In one deck. Hi-Lo with all tags doubled has all counts doubled, apart from the rounding."""
    rules = named_rules("vegas-s17").replace(decks=1, cut="1/2")
    plays, chart = parse_departures("insurance I>=3, 16vT S>=0, 10vT D>=4, 13v2 S>=-1, 14vT R>=3"), best_chart(rules)
    hilo = {str(play).split(">")[0]: play.count for play in adapt_departures(plays, rules, HILO, chart)}
    twice = HILO.replace(tags=tuple(2 * tag for tag in HILO.tags), rounding="floor")
    other = {str(play).split(">")[0]: play.count for play in adapt_departures(plays, rules, twice, chart)}
    assert set(hilo) == set(other) == {"insurance I", "16vT S", "10vT D", "13v2 S"}, "there is no surrender"
    assert all(abs(other[play] - 2 * hilo[play]) <= 1 for play in hilo)
    assert other["insurance I"] > 2, "else the set was only copied"
    assert names_sets("i18+fab4") and not names_sets("16vT S>=0")


def test_insurance_has_an_index_where_it_is_offered() -> None:
    rules = named_rules("european").replace(decks=1)
    for game in (rules, rules.replace(insurance=False)):
        found = generate_indices(game, HILO, limit=2)
        assert any(one.departure.row == "insurance" for one in found) == game.insurance


def test_insurance_is_decided_with_an_ace_in_view() -> None:
    """Of three cards seen one is an ace, which counts -1 in Hi-Lo and 0 in Hi-Opt I; the others are any cards.

    The tags of any two cards are 0 on average, 8/52 in KO.
    """
    for name, tags in (("hilo", -1), ("hiopt1", 0), ("zen", -1), ("uston-apc", 0), ("ko", -1 + 8 / 52)):
        assert _insurance_curve(find_system(name), 1, 5).seen == pytest.approx((3, tags, 0))


def test_errors() -> None:
    with pytest.raises(InputError, match="decks = inf"):
        generate_indices(RULES.replace(decks="inf"), HILO)


def gain_in_score(index: Index, ramp: RampReturns) -> float:
    return IndexScores([index], (), ramp, HILO, Chart("none", RULES, {}), Ramp.parse("1-12"), "1-12").gain(index)


def test_the_gain_in_score() -> None:
    """e = .01 and s = 3 make SCORE 11.11; .001 more makes it 13.44. The SCORE of a losing game is 0."""
    index = Index(Departure("16", "T", "S", ">=", Fraction(0)), 0.1, 0.0005, 0.001)
    for ev, gain in ((0.01, 1e6 * (0.011**2 - 0.01**2) / 9), (-0.0004, 1e6 * 0.0006**2 / 9), (-0.002, 0)):
        assert gain_in_score(index, RampReturns(ev, 3.0, 1.0, 1.0)) == pytest.approx(gain)


@pytest.mark.parametrize("system", [HILO, find_system("zen")], ids=["hilo", "zen"])
def test_the_returns_of_a_chart_lie_between_those_of_its_shoes(system: CountingSystem) -> None:
    """EV and variance of a floored count, one half of a bet of doubles, by the solver of the shoes at both its ends."""
    rules = RULES.replace(surrender=False, split_by="never", decks=2)
    chart = ShoeSolver(rules).chart
    table = chart_returns(rules, system, chart)
    unseen = round(104 * (1 - 0.75 / 2))
    for count in (-3, 2, 5):
        low, high = (ShoeSolver(rules, typical_shoe(system, 2, unseen, count + end)) for end in (0, 1))
        at = int(np.searchsorted(table.counts, count))
        assert table.counts[at] == count
        assert low.value_of(chart) < table.ev[at] < high.value_of(chart)
        assert table.var[at] == pytest.approx(low.sd_of(chart) ** 2, rel=0.01)
    ramp = highest_score(table, 1, 8)
    assert {float(bet.units) for _, bet in ramp.steps} >= {1, 8} and len(ramp.steps) < 10


@pytest.mark.slow
def test_insurance_adds_to_the_score_what_play_says() -> None:
    """Bets of 1 to 12; the chart with and without one index play, on the same cards; three standard errors.

    Played, 4 million rounds each: see the tolerance. The SCORE of the chart alone is computed within 5%.
    """
    rules, bets = named_rules("vegas-s17"), Ramp.parse("1-12")
    chart = best_chart(rules)
    found = by_cell(generate_indices(rules, HILO, ramp=bets))

    def returns(table: CountReturns) -> RampReturns:
        return ramp_returns(table, bets.units(table.counts))

    computed = returns(chart_returns(rules, HILO, chart))
    alone = returns(simulate_count(rules, HILO, Departures(chart, ()), 4e6, seed=3).returns)
    assert score(computed.ev, computed.sd) == pytest.approx(score(alone.ev, alone.sd), rel=0.05)
    for cell in (("insurance", "", "I"), ("12", "3", "S")):
        index = found[cell]
        played = returns(simulate_count(rules, HILO, Departures(chart, (index.departure,)), 4e6, seed=3).returns)
        gain = score(played.ev, played.sd) - score(alone.ev, alone.sd)
        error = math.hypot(alone.half_width(score), played.half_width(score)) / 1.96
        assert abs(gain_in_score(index, computed) - gain) < 3 * error < 0.3 * gain


@pytest.mark.slow
def test_gains_are_those_of_play() -> None:
    """Hi-Lo with all generated plays against the chart alone: the sum of gains, within 4% flat, 2% of 1 to 12 units.

    Luck-adjusted, 2 million rounds each; the differences have standard errors of 0.7% and 1% of themselves.
    """
    rules, bets = named_rules("vegas-s17"), Ramp.parse("1-12")
    chart = ShoeSolver(rules).chart
    indices = generate_indices(rules, HILO, ramp=bets)
    plays = select_departures(indices, chart)
    found = by_cell(indices)
    runs = [simulate_count(rules, HILO, Departures(chart, some), 2e6, seed=3) for some in ((), plays)]
    for ramp, rel in ((Ramp.parse("1"), 0.04), (bets, 0.02)):
        own = [found[play.row, play.column, play.action] for play in plays]
        gain = sum(index.gain if ramp != bets else index.gain_bets for index in own)
        fixed, varied = (ramp_returns(run.returns, ramp.units(run.counts)) for run in runs)
        assert varied.ev - fixed.ev == pytest.approx(gain, rel=rel)
        half = sum(returns.half_width(lambda ev, sd: ev) ** 2 for returns in (fixed, varied)) ** 0.5
        assert half < 0.025 * gain


@pytest.mark.slow
def test_ko_is_worth_as_much_as_hilo() -> None:
    """[QFIT]: KO has 100.8% of Hi-Lo's SCORE, with twenty index plays each, at optimal bets of 1 to 15 units.

    Our ratio has a standard error of .35%; of 4e7 rounds it is 100.5%. Without index plays it is 97.8%, the negative
    control.
    """
    rules = named_rules("vegas-s17").replace(decks=6, cut="3/4")
    chart, scores = best_chart(rules), {}
    for system in (HILO.replace(divisor="half"), find_system("ko")):
        found = generate_indices(rules, system, ramp=Ramp.parse("1-15"))[:20]
        for plays in ((), select_departures(found, chart)):
            table = simulate_count(rules, system, Departures(chart, plays), 8e6, seed=5).returns
            ramp = ramp_returns(table, best_ramp(table, 1, 15))
            scores[system.name, bool(plays)] = score(ramp.ev, ramp.sd)
    assert scores["ko", True] / scores["hilo", True] == pytest.approx(1.008, abs=0.012)
    assert scores["ko", False] / scores["hilo", False] < 0.99


LOW, MIDDLE, TENS, ACES = 20, 12, 16, 4  # cards of a deck, by their tags +1, 0 and -1


def exact_tens(decks: int, unseen: int, tag_sum: int) -> float:
    """The expected number of tens among `unseen` cards whose Hi-Lo tags have this sum, over all draws."""
    high, ways, drawn = (TENS + ACES) * decks, 0, 0
    for lows in range(LOW * decks + 1):
        highs = lows - tag_sum
        if 0 <= highs <= high and 0 <= unseen - lows - highs <= MIDDLE * decks:
            way = comb(LOW * decks, lows) * comb(MIDDLE * decks, unseen - lows - highs) * comb(high, highs)
            ways, drawn = ways + way, drawn + way * highs
    return drawn / ways * TENS / (TENS + ACES)


def test_the_line_is_close_to_the_exact_expectation() -> None:
    """Six decks, half unseen, true counts to +5: tens within 0.1%; without the count they would be 12% off."""
    for running in (0, 6, 15):
        line = expected_counts(HILO, remaining(6), 156, -running / 156)
        assert line.sum() == pytest.approx(156)
        assert line[-1] == pytest.approx(exact_tens(6, 156, -running), rel=1e-3)
    assert line[-1] > 48 * 1.12


def test_the_counts_that_are_sought_are_as_large_as_the_tags() -> None:
    """Hi-Lo with all tags times 4, and a tenth of them: the same plays, insurance among them."""
    rules = named_rules("vegas-s17").replace(decks=1, cut="1/2", split_by="never")
    exact = HILO.replace(rounding="exact")
    hilo = by_cell(generate_indices(rules, exact, limit=4))
    assert hilo["insurance", "", "I"].break_even > 1, "four times that is above the limit"
    for factor in (Fraction(4), Fraction(1, 10)):
        scaled = exact.replace(tags=tuple(factor * tag for tag in HILO.tags))
        found = by_cell(generate_indices(rules, scaled, limit=4))
        assert found.keys() >= {cell for cell, one in hilo.items() if one.gain > 1e-5}
        assert found["insurance", "", "I"].break_even == pytest.approx(factor * hilo["insurance", "", "I"].break_even)


@pytest.mark.parametrize("kelly", [0.1, 0.5, 1, 2])
def test_the_price_of_risk_is_that_of_every_kelly_bettor(kelly: float) -> None:
    """With the bet that is best for a bank, an action that gains a little more raises the certainty equivalent."""
    ev, variance, bank, square = 0.02, 1.3, 400, 1e-6
    bet = kelly * bank * ev / variance

    def equivalent(gain: float = 0, square: float = 0) -> float:
        return certainty_equivalent(bet * (ev + gain), bet * math.sqrt(variance + square), bank, kelly)

    assert equivalent() > max(certainty_equivalent(b * ev, b * variance**0.5, bank, kelly) for b in (bet / 2, bet * 2))
    price = square * price_of_risk(ev, variance)
    assert equivalent(1.01 * price, square) > equivalent() > equivalent(0.99 * price, square)
    assert price_of_risk(-ev, variance) == 0


def test_the_best_ramp_bets_at_its_own_counts() -> None:
    """In tenths, which are no exact fractions: .3 had the bet of .2."""
    counts = np.array([0.1, 0.2, 0.3, 0.6, 0.7, 1.2, 1 / 3])
    counts.sort()
    table = CountReturns(counts, np.full(7, 1 / 7), np.arange(7) / 100, np.ones(7))
    assert highest_score(table, 1, 8).units(counts) == pytest.approx(best_ramp(table, 1, 8))


def test_bets_at_none_of_the_counts_are_refused_before_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    counts = np.array([-2.0, 0.0, 3.0])
    table = CountReturns(counts, np.full(3, 1 / 3), counts / 200, np.ones(3))
    monkeypatch.setattr(generated, "best_chart", CATALOGUE["lim17"].chart)
    monkeypatch.setattr(generated, "chart_returns", lambda *_: table)
    monkeypatch.setattr(generated, "generate_indices", Mock(side_effect=AssertionError))
    with pytest.raises(InputError, match="ramp='0:0 4:5' has no bet at the counts of this game, -2 to 3; bet at one"):
        find_indices(RULES, HILO, Ramp.parse("0:0 4:5"))
