"""Luck-adjusted returns: the mean of the raw returns for any luck model, with a much smaller variance."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.games import FIXED, charts, random_chart, rules

from bjsim.sim.engine.compiled_rules import compile_rules
from bjsim.sim.engine.kernels.layout import CompiledRules, LuckModel
from bjsim.sim.engine.luck_model import make_luck_model
from bjsim.sim.engine.rounds import open_ledger, play_rounds, rounds_in_shoe
from bjsim.sim.game.presets import PRESETS, named_rules
from bjsim.sim.game.random_stream import stream_key
from bjsim.sim.game.rules import Rules
from bjsim.sim.running.compiled_table import find_walkers
from bjsim.sim.running.driver import Driver
from bjsim.sim.stats.estimate import RatioSums
from bjsim.sim.stats.luck_tally import LuckTally
from bjsim.sim.stats.tally import Tally
from bjsim.strategies.charts.chart import Chart, make_chart
from bjsim.strategies.exact.reach import find_endless_split
from bjsim.strategies.exact.solver import Solver
from bjsim.strategies.experiment import make_experiment, make_results
from bjsim.strategies.results import BotResult

SIX = named_rules("vegas-s17")


def adjusted(
    game: Rules,
    compiled: CompiledRules,
    luck_model: LuckModel,
    rounds: int,
    cards: float | None = None,
    key: int = 1,
    seat: int = 0,
) -> LuckTally:
    """The luck-adjusted rounds of one block."""
    cards = find_walkers(compiled).cards_in_round if cards is None else cards
    ledger = open_ledger(compiled, luck_model, float(game.unit), cards)
    play_rounds(compiled, stream_key(key, 0, 0), rounds, 0, luck_model, ledger)
    shoes, *sums = ledger.sums[seat].tolist()
    return LuckTally(
        float(luck_model.value[luck_model.chart[seat]]), rounds_in_shoe(compiled, cards), RatioSums(int(shoes), *sums)
    )


@cache
def six_decks() -> tuple[CompiledRules, LuckModel]:
    compiled = compile_rules(SIX, [Solver(SIX).chart.policy])
    return compiled, make_luck_model(SIX, compiled)


def z(one: LuckTally, other: LuckTally) -> float:
    """The difference of two means in standard errors, as if they were independent."""
    return (one.mean - other.mean) / math.hypot(one.se, other.se)


MORE = {  # rules that no preset has
    "insurance": SIX.replace(insurance=True, seats=3),
    "insurance, no hole card": SIX.replace(insurance=True, seats=2, peek=False, deal="pdp"),
    "original bet only": SIX.replace(seats=2, peek=False, deal="pdp", no_hole_loses="original", surrender="late"),
    "original bet only, endless splits": SIX.replace(peek=False, no_hole_loses="original", max_hands="inf"),
    "early surrender and insurance": SIX.replace(insurance=True, seats=3, surrender="early"),
}


@pytest.mark.parametrize("name", [*PRESETS, *MORE])
def test_in_an_infinite_shoe_every_round_comes_to_the_exact_value(name):
    """No luck is left, up to rounding, and the cards are those of a plain run."""
    game = (MORE.get(name) or named_rules(name)).replace(decks="inf", cut=1)
    seats = [
        replace(Solver(game).chart, insurance="I"),
        *(random_chart(game, seed, 1) for seed in range(1, game.seats)),
    ]
    compiled = compile_rules(game, [chart.policy for chart in seats])
    luck_model = make_luck_model(game, compiled)
    ledger = open_ledger(compiled, luck_model, float(game.unit), 0)
    counts, outside, _ = play_rounds(compiled, stream_key(2, 0, 0), 4000, 0, luck_model, ledger)
    plain = play_rounds(compiled, stream_key(2, 0, 0), 4000)
    assert (counts == plain[0]).all() and (outside == plain[1]).all()
    assert (ledger.sums[:, 0] == 4000).all()
    exact = [Solver(game).ev(chart.policy).value for chart in seats]
    assert luck_model.value[luck_model.chart] == pytest.approx(exact, abs=1e-12)
    assert np.abs(ledger.sums[:, 3]).max() < 1e-20  # squares of the rounds' deviations from the exact value


def test_a_wrong_payoff_breaks_the_certificate():
    """Negative control: the game pays 2:1 for a natural, and the luck model assumes 3:2."""
    game, other = (named_rules("easy").replace(blackjack_pays=pays) for pays in ("3/2", "2"))
    letter = Solver(game).chart.policy
    tally = adjusted(game, compile_rules(other, [letter]), make_luck_model(game, compile_rules(game, [letter])), 4000)
    assert tally.se > 1e-3


@pytest.mark.parametrize("games", [4, pytest.param(300, marks=pytest.mark.slow)])
def test_any_luck_model_leaves_the_mean_unchanged(games):
    """Random games: the means with values and slopes, with values alone, and without adjustment must agree.

    4.5 standard errors of the less precise mean are exceeded by chance in 7 of a million.
    """
    finite = 0

    @settings(FIXED, max_examples=games)
    @given(st.data())
    def check(data):
        nonlocal finite
        game = data.draw(rules())
        seats = data.draw(st.lists(charts(game), min_size=game.seats, max_size=game.seats))
        if any(find_endless_split(chart) for chart in seats):
            return
        compiled = compile_rules(game, [chart.policy for chart in seats])
        luck_model = make_luck_model(game, compiled)
        if not np.isfinite(luck_model.ev).all() or abs(luck_model.value).max() > 3:
            return
        flat = luck_model._replace(slopes=0 * luck_model.slopes, own=0 * luck_model.own)
        blind = flat._replace(ev=0 * luck_model.ev, start=0 * luck_model.start)
        for seat in (0, game.seats - 1):
            full, first, raw = (adjusted(game, compiled, one, 20_000, seat=seat) for one in (luck_model, flat, blind))
            assert abs(z(full, raw)) < 4.5 and abs(z(first, raw)) < 4.5
            if game.decks != math.inf:
                finite += 1
                assert abs(z(full, first)) < 4.5
                assert full.se < raw.se

    check()
    assert finite > games // 3


def test_random_beliefs_move_no_mean():
    """With values that are noise the mean stays the same, and the variance grows."""
    compiled, luck_model = six_decks()
    noise = np.random.default_rng(3)
    wild = luck_model._replace(
        ev=luck_model.ev + noise.normal(size=luck_model.ev.shape),
        slopes=noise.normal(size=luck_model.slopes.shape).astype(np.float32),
    )
    exact, random = (adjusted(SIX, compiled, one, 300_000) for one in (luck_model, wild))
    assert abs(z(random, exact)) < 4
    assert random.se > 100 * exact.se


def test_a_luck_model_of_a_wrong_shoe_is_biased():
    """Negative control: the luck model assumes one more ten and one fewer five in each deck."""
    compiled, luck_model = six_decks()
    full = luck_model.full.copy()
    full[[4, 9]] += -6, 6
    exact, wrong = (adjusted(SIX, compiled, one, 100_000) for one in (luck_model, luck_model._replace(full=full)))
    assert abs(z(wrong, exact)) > 10


KINDS = ("dealt", "hit", "double", "split", "dealer")


@pytest.mark.parametrize("kind", KINDS)
def test_luck_has_mean_0_in_every_kind_of_draw(kind):
    """300 blocks adjusted for one kind of draw only, minus the raw ones; 4 standard errors: 6 of 100,000."""
    compiled, luck_model = six_decks()
    nodes = np.unique(getattr(luck_model, kind))
    mask = np.zeros(len(luck_model.ev))
    mask[nodes[nodes > 0]] = 1
    alone = luck_model._replace(
        ev=luck_model.ev * mask[:, None],
        slopes=luck_model.slopes * mask[:, None, None].astype("f4"),
        own=luck_model.own * mask[:, None],
    )
    none = luck_model._replace(ev=0 * luck_model.ev, slopes=0 * luck_model.slopes, own=0 * luck_model.own)
    luck = np.array(
        [
            adjusted(SIX, compiled, none, 800, key=k).sums.y - adjusted(SIX, compiled, alone, 800, key=k).sums.y
            for k in range(300)
        ]
    )
    assert luck.std() > 0.5
    assert abs(luck.mean()) < 4 * luck.std() / math.sqrt(len(luck))


def test_the_drift_has_mean_0():
    """Blocks adjusted for the drift only, minus the raw ones; blocks end within a shoe."""
    compiled, luck_model = six_decks()
    cards = find_walkers(compiled).cards_in_round
    assert rounds_in_shoe(compiled, cards) == 43
    for rounds in (60, 400):
        without, with_it = (
            np.array([adjusted(SIX, compiled, luck_model, rounds, each, key).sums.y for key in range(3000)])
            for each in (0, cards)
        )
        drift = without - with_it
        assert drift.std() > 0.01
        assert abs(drift.mean()) < 4 * drift.std() / math.sqrt(len(drift))


def test_how_much_surer_it_is():
    """Variance reduction factors of more than 5,000 in six decks cut at 75%, and 300,000 in fresh shoes."""
    compiled, luck_model = six_decks()
    sd = Solver(SIX).sd
    assert (sd / math.sqrt(200_000) / adjusted(SIX, compiled, luck_model, 200_000).se) ** 2 > 5_000
    fresh = SIX.replace(cut="1/312")
    compiled = compile_rules(fresh, [Solver(SIX).chart.policy])
    assert (
        sd / math.sqrt(50_000) / adjusted(fresh, compiled, make_luck_model(fresh, compiled), 50_000).se
    ) ** 2 > 300_000


# --- against every round of one deck


def always_stand(game: Rules) -> Chart:
    return make_chart("stands", game, lambda row, column: "S")


def one_deck_value() -> float:
    """The exact return of a player who always stands, in rounds from a fresh deck, by enumeration.

    The dealer stands on every 17 and peeks, and naturals pay 3:2. Shares no code with bjsim.
    """

    @cache
    def dealer(points: int, soft: bool, deck: tuple[int, ...]) -> dict[int, float]:
        if points >= 17:
            return {points if points <= 21 else 0: 1.0}
        probabilities: dict[int, float] = {}
        for card in range(1, 11):
            if deck[card - 1]:
                for end, p in dealer(*total(points, soft, card), less(deck, card)).items():
                    probabilities[end] = probabilities.get(end, 0) + p * deck[card - 1] / sum(deck)
        return probabilities

    full = (*[4] * 9, 16)
    value = 0.0
    for one in range(1, 11):
        for two in range(one, 11):
            deck = less(less(full, one), two)
            if min(deck) < 0:
                continue
            ways = full[one - 1] * (full[two - 1] - (one == two)) * (1 + (one != two)) / (52 * 51)
            hand, natural = total(*total(0, False, one), two)[0], (one, two) == (1, 10)
            for up in range(1, 11):
                for hole in range(1, 11):
                    chance = ways * deck[up - 1] * (deck[hole - 1] - (up == hole)) / (50 * 49)
                    if {up, hole} == {1, 10}:
                        value -= 0 if natural else chance
                    elif natural:
                        value += 1.5 * chance
                    elif chance:
                        state = total(*total(0, False, up), hole)
                        probabilities = dealer(*state, less(less(deck, up), hole))
                        value += chance * sum(p * ((hand > end) - (hand < end)) for end, p in probabilities.items())
    return value


def total(points: int, soft: bool, card: int) -> tuple[int, bool]:
    points += card
    if card == 1 and points <= 11:
        return points + 10, True
    return (points - 10, False) if points > 21 and soft else (points, soft)


def less(deck: tuple[int, ...], card: int) -> tuple[int, ...]:
    return (*deck[: card - 1], deck[card - 1] - 1, *deck[card:])


def test_one_deck_agrees_with_every_round_there_is():
    """200,000 adjusted rounds are as precise as about 1e8 raw ones; 4 standard errors: 6 of 100,000."""
    game = SIX.replace(decks=1, cut="1/52")
    compiled = compile_rules(game, [always_stand(game).policy])
    tally = adjusted(game, compiled, make_luck_model(game, compiled), 200_000)
    assert tally.se < 4e-5
    assert abs(tally.mean - one_deck_value()) < 4 * tally.se


# --- the value object


def test_sums_merge_and_are_kept():
    compiled, luck_model = six_decks()
    one, two = (adjusted(SIX, compiled, luck_model, 3000, key=key) for key in (1, 2))
    both = one + two
    assert both.shoes == one.shoes + two.shoes and both.sums.b == 6000
    assert LuckTally() + one == one + LuckTally() == one
    assert LuckTally.from_json(both.to_json()) == both
    with pytest.raises(ValueError, match="do not add"):
        one + LuckTally(0.5, 43, RatioSums(1, 1.0, 1.0, 1.0, 1.0, 1.0))


def test_the_standard_error_is_that_of_a_ratio():
    """Of the ratio of sums y to sums b of independent units."""
    draw = np.random.default_rng(8)
    b = draw.integers(35, 50, 500).astype(float)
    y = 0.02 * b + draw.normal(size=500)
    tally = LuckTally(-0.005, 43, RatioSums(500, y.sum(), b.sum(), (y * y).sum(), (y * b).sum(), (b * b).sum()))
    ratio = y.sum() / b.sum()
    assert tally.mean == pytest.approx(ratio - 0.005)
    assert tally.se == pytest.approx(np.std(y - ratio * b) / b.mean() / math.sqrt(500))
    low, high = tally.ci95
    assert (high - low) / 2 == pytest.approx(1.96 * tally.se, rel=1e-4)
    assert tally.anytime_interval(10_000)[1] > high
    assert math.isinf(LuckTally(sums=RatioSums(n=50, y=1.0, b=50.0, yy=9.0, bb=50.0)).ci95[1])


def test_one_wrong_round_in_a_thousand_million_breaks_the_certificate():
    """A bias of the rounds is reported as a disagreement even if the raw mean does not show it."""
    game = named_rules("easy")
    exact = float(Solver(game).value)

    def result(shoes: int, **sums: float) -> BotResult:
        tally = Tally(game.unit, {(2, 0): 558_000, (-2, 0): 442_000}, LuckTally(exact, 1, RatioSums(shoes, **sums)))
        return BotResult("optimal", tally, [], 1, exact, 1.245)

    assert result(shoes=10**9, b=1e9).certified
    assert not result(shoes=10**9, b=1e9, y=0.5, yy=0.25).certified
    off = result(shoes=10**6, b=1e6, y=5000.0, yy=2500.0, yb=5000.0, bb=1e6)
    assert not off.certified and off.verdict == "disagrees"


@pytest.mark.parametrize(("max_hands", "left"), [(6, False), (7, True), ("inf", False)])
def test_in_an_infinite_shoe_no_luck_is_left_with_up_to_six_hands_or_any_number(max_hands: object, left: bool) -> None:
    """As stated in docs/explanation/luck.md; otherwise the mean is still right. Fixed seed, 4.5 standard errors."""
    game = SIX.replace(decks="inf", max_hands=max_hands)
    best = Solver(game).chart
    chart = Chart("splits tens", game, {place: "P" if place[0] == "TT" else code for place, code in best.cells.items()})
    experiment = make_experiment(game, [chart], 30_000, 1, adjust_luck=True)
    (result,) = make_results(experiment, [chart], Driver(experiment).run())
    assert result.adjusted and result.exact is not None and result.certified == (not left)
    if left:
        assert 0 < result.adjusted.se < 1e-3
        assert abs(result.adjusted.mean - result.exact) < 4.5 * result.adjusted.se
