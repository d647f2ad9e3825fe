"""Luck-adjusted returns: the mean of the raw returns for any luck model, with a much smaller variance."""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.games import MANY, charts, random_chart, rules, slow
from support.tiny_shoe import TinyShoe
from support.watched import Watched

from bjsim.arrays import Array
from bjsim.sim.engine.array_cards import Segments
from bjsim.sim.engine.compiled_rules import compile_rules
from bjsim.sim.engine.kernels.arrays import STEP, Drift, Luck
from bjsim.sim.engine.lanes import Shoes
from bjsim.sim.engine.luck_values import STEEPEST, count_drift, with_forms
from bjsim.sim.engine.pack import for_kernel
from bjsim.sim.engine.play import Walkers, play_blocks
from bjsim.sim.engine.rounds import play_seats
from bjsim.sim.engine.row_values import RowValues, make_row_values
from bjsim.sim.engine.transitions import rank_probabilities
from bjsim.sim.game.presets import named_rules
from bjsim.sim.game.rules import Rules
from bjsim.sim.game.shoe import stream_key
from bjsim.sim.running.driver import Driver
from bjsim.sim.running.table import ReadableTable
from bjsim.sim.stats.estimate import RatioSums
from bjsim.sim.stats.luck_tally import LuckTally
from bjsim.sim.stats.tally import Tally
from bjsim.strategies.charts.chart import Chart, make_chart
from bjsim.strategies.exact.solver import Solver
from bjsim.strategies.exact.values import find_endless_split
from bjsim.strategies.experiment import make_experiment, make_results
from bjsim.strategies.results import BotResult

SIX = named_rules("vegas-s17")
MOST_ROWS = 50_000  # a hundred passes over more rows take minutes, and a gigabyte for each seat


def walkers(game: Rules, charts: list[Any]) -> Walkers:
    """What plays charts with luck."""
    table = ReadableTable(game, charts)
    return Walkers(compile_rules(game, [chart.policy for chart in charts]), table.play_round, game.unit)


def adjusted(
    played: Walkers,
    rounds: int,
    luck: Luck | None = None,
    drift: Drift | None = None,
    key: int = 1,
    seat: int = 0,
) -> LuckTally:
    """The luck-adjusted rounds of one block."""
    layout = played.layout._replace(luck=luck or played.layout.luck)
    keys, drift = [stream_key(key, 0, 0)], drift or played.drift
    (sums,) = play_blocks(played.compiled, layout, played.play_round, keys, [rounds], drift=drift).shoes
    shoes, *rest = sums[seat].tolist()
    return LuckTally(played.values[seat], played.rounds_in_shoe, RatioSums(int(shoes), *rest))


def luck_of(played: Walkers) -> Luck:
    assert played.layout.luck is not None
    return played.layout.luck


def without_slopes(luck: Luck) -> Luck:
    """The same of first order."""
    return with_forms(luck._replace(slopes=0 * luck.slopes, tilts=0 * luck.tilts))


def blind(luck: Luck) -> Luck:
    """The same, but no card has any luck."""
    nothing = {name: 0 * getattr(luck, name) for name in ("values", "chances", "pay")}
    return without_slopes(luck._replace(**nothing))


def no_drift(played: Walkers) -> Drift:
    """The same with no depths."""
    assert played.drift is not None
    return played.drift._replace(depths=0)


@cache
def six_decks() -> Walkers:
    return walkers(SIX, [Solver(SIX).chart])


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


def row_values(played: Walkers) -> list[RowValues]:
    """The values of the rows of every chart, not rounded."""
    assert played.unit is not None
    probabilities = rank_probabilities(played.compiled)
    return [make_row_values(table, probabilities, played.unit) for table in played.tables[0]]


def walk_rounds(values: RowValues, rounds: int) -> Array:
    """Rounds from an infinite shoe, card by card: their payoffs less the luck of all cards, (rounds,)."""
    moves, results, rng = values.moves, [], np.random.default_rng(4)
    shares, whole = moves.weights[0], values.with_ends
    for _ in range(rounds):
        row, luck, logged = 0, 0.0, np.zeros(values.hand_pay.shape[1])
        while True:
            after = whole[moves.place[row]]
            paid = logged + values.hand_pay[moves.hand[row]]
            value = after + (paid * values.outcomes.chances[values.outcomes.after[row]]).sum(axis=1)
            card = rng.choice(len(shares), p=shares)
            luck += value[card] - shares @ value
            if moves.place[row, card] >= len(moves.place):
                break
            row, logged = int(moves.place[row, card]), paid[card]
        results.append(value[card] - luck)
    return np.array(results)


@pytest.mark.parametrize("name", [*MANY, slow("insurance"), *list(MORE)[1:]])
def test_in_an_infinite_shoe_every_round_comes_to_the_exact_value(name):
    """The value of every chart's row 0 is the exact solver's, and a round's payoff less its luck is that value."""
    game = (MORE.get(name) or named_rules(name)).replace(decks="inf", cut=1)
    seats = [
        replace(Solver(game).chart, insurance="I"),
        *(random_chart(game, seed, 1) for seed in range(1, game.seats)),
    ]
    played = walkers(game, seats)
    exact = [Solver(game).ev(chart.policy).value for chart in seats]
    # Probabilities are rounded to 2**-32, and about one split in 10**9 does not fit in the round table.
    rounded = game.deck != "standard" or math.isinf(game.most_hands)
    assert played.values == pytest.approx(exact, abs=1e-9 if rounded else 1e-12)
    for values in row_values(played):
        assert values.value in played.values
        assert walk_rounds(values, 200) == pytest.approx(values.value, abs=1e-12)


def test_a_wrong_payoff_breaks_the_certificate():
    """Negative control: the game pays 2:1 for a natural, and the values are for 3:2."""
    easy = named_rules("easy")
    (values,) = row_values(walkers(easy.replace(blackjack_pays="3/2"), [Solver(easy).chart]))
    assert (values.end_pay == 1.5).any()
    wrong = values._replace(end_pay=np.where(values.end_pay == 1.5, 2.0, values.end_pay))
    assert walk_rounds(values, 400) == pytest.approx(values.value, abs=1e-12)
    assert abs(walk_rounds(wrong, 400) - values.value).max() > 1e-3


@pytest.mark.parametrize("games", [2, slow(12)])
def test_any_luck_tables_leave_the_mean_unchanged(games):
    """Random games: the means with values and slopes, with values alone, and without adjustment must agree.

    4.5 standard errors of the less precise mean are exceeded by chance in 7 of a million.
    """
    finite = 0

    @settings(max_examples=games)
    @given(st.data())
    def check(data):
        nonlocal finite
        game = data.draw(rules().filter(lambda game: not game.infinite))
        seats = data.draw(st.lists(charts(game), min_size=game.seats, max_size=game.seats))
        if any(find_endless_split(chart) for chart in seats):
            return
        played = walkers(game, seats)
        if played.rows > MOST_ROWS:
            return
        if not max(map(abs, played.values)) <= 3:
            return
        luck = luck_of(played)
        for seat in (0, game.seats - 1):
            full, first, raw = (
                adjusted(played, 20_000, one, drift, seat=seat)
                for one, drift in ((luck, None), (without_slopes(luck), None), (blind(luck), no_drift(played)))
            )
            assert abs(z(full, raw)) < 4.5 and abs(z(first, raw)) < 4.5 and abs(z(full, first)) < 4.5
            assert full.se < raw.se
            finite += 1

    check()
    assert finite > games // 3


def noisy(luck: Luck, scale: float) -> Luck:
    """The same with values that are noise, but for the last rows, which are of rounds that have ended."""
    noise, outcomes = np.random.default_rng(3), luck.chances.shape[1]

    def wild(name: str, certain: int = 0) -> Array:
        known = getattr(luck, name)
        kept = np.arange(len(known)).reshape(-1, *[1] * (known.ndim - 1)) >= len(known) - certain
        drawn = noise.normal(size=known.shape, scale=scale).round().clip(-STEEPEST, STEEPEST)
        return np.where(kept, known, drawn)

    kept = {"values": 0, "slopes": luck.places - len(luck.after), "chances": outcomes, "tilts": outcomes, "pay": 0}
    drawn: dict[str, Any] = {name: wild(name, certain) for name, certain in kept.items()}
    beliefs = luck._replace(**drawn)
    beliefs.pay[0] = 0  # of no hand
    return with_forms(beliefs)


def test_random_beliefs_move_no_mean():
    """With values that are noise the mean stays the same, and the variance grows."""
    beliefs = noisy(luck_of(six_decks()), 1000)
    exact, random = (adjusted(six_decks(), 300_000, one) for one in (None, beliefs))
    assert abs(z(random, exact)) < 4
    assert random.se > 100 * exact.se


@pytest.mark.parametrize(
    ("scale", "least", "most"), [(500, 0.05, 1.0), (3000, 0.0, 0.9), (10_000, 0.0, 0.05), (0, 0.0, 0.9)]
)
def test_beliefs_of_any_size_are_the_same_in_arrays_and_kernel(scale: int, least: float, most: float) -> None:
    """To the bit, in the largest shoe, where forms that do not fit into the kernel's numbers are not used.

    The last beliefs are that values are 0 or 14 bets: sums would exceed 32 bits, though no number exceeds 16.
    """
    played = walkers(SIX.replace(decks=8), [Solver(SIX).chart])
    luck = luck_of(played)
    if scale:
        luck = noisy(luck, scale)
    else:
        values = np.random.default_rng(4).choice([0.0, 14_000.0], len(luck.values))
        luck = with_forms(luck._replace(values=values, slopes=0 * luck.slopes))
    layout = played.layout._replace(luck=luck)
    packed = for_kernel(layout)
    assert packed is not None
    assert least <= (luck.slow[: luck.frequent] < 2).mean() <= most
    keys, rounds = [stream_key(6, 0, block) for block in range(2)], [400, 400]
    arrays = play_blocks(played.compiled, layout, played.play_round, keys, rounds, drift=played.drift)
    kernel = play_seats(played.compiled, packed, keys, rounds, played.drift)
    assert all((one == two).all() for one, two in zip(arrays.shoes, kernel.shoes, strict=True))


def test_luck_in_a_wrong_shoe_is_biased():
    """Negative control: luck is counted for one more ten and one fewer five in each deck, without the drift."""
    luck = luck_of(six_decks())
    full = luck.full.copy()
    full[[4, 9]] += -6, 6
    drift = no_drift(six_decks())
    exact, wrong = (adjusted(six_decks(), 100_000, one, drift) for one in (luck, luck._replace(full=full)))
    assert abs(z(wrong, exact)) > 10


def watch(seats: int, full: Array | None = None) -> dict[str, float]:
    """The mean luck of each kind of draw in standard errors; draws are uncorrelated. `full`: of a shoe."""
    played = walkers(SIX.replace(seats=seats, decks=2), [Solver(SIX).chart] * seats)
    compiled, layout = played.compiled, played.layout
    cards = Segments(compiled, 0).cards(np.array([stream_key(4, 0, 0)], np.uint64), 0, 2002)
    if full is not None:
        layout = layout._replace(luck=luck_of(played)._replace(full=full))
    return Watched(layout, Shoes(cards, compiled.numbers.cut), 2000).check()


@pytest.mark.parametrize("seats", [1, slow(3)])
def test_luck_has_mean_0_in_every_kind_of_draw(seats: int) -> None:
    """And the luck of a round is the sum of that of its draws. 4 standard errors: 6 of 100,000."""
    found = watch(seats)
    kinds = {"first card", "later card", "may end a split hand", "after a split hand"}
    assert set(found) == kinds | ({"others' card"} if seats > 1 else set())
    assert max(map(abs, found.values())) < 4


def test_luck_of_a_shoe_with_more_aces_is_noticed() -> None:
    """Negative control."""
    full = luck_of(walkers(SIX.replace(decks=2), [Solver(SIX).chart])).full.copy()
    full[[0, 5]] += 3, -3
    assert abs(watch(1, full)["first card"]) > 6


def shuffled(decks: int, shoes: int) -> Array:
    """Shuffled shoes, rank indices, (cards, shoes)."""
    cards = np.repeat(np.arange(13, dtype=np.uint8), 4 * decks)[:, None].repeat(shoes, axis=1)
    return np.random.default_rng(6).permuted(cards, axis=0)


@pytest.mark.parametrize("decks", [1, 6])
def test_the_drift_has_mean_0(decks):
    """At any number of depths, with its second order; and not 0 for shoes that lack a ten. 4 standard errors."""
    played = walkers(SIX.replace(decks=decks), [Solver(SIX).chart])
    of, full = played.drift, luck_of(played).full
    cards = shuffled(decks, 20_000)
    for depths in (1, of.depths // 2, of.depths):
        (drift,) = count_drift(of, full, cards, np.full(20_000, depths))
        assert drift.std() > 1e-4
        assert abs(drift.mean()) < 4 * drift.std() / math.sqrt(20_000)
    cards[np.argmax(cards == 9, axis=0), np.arange(20_000)] = 4  # negative control
    (drift,) = count_drift(of, full, cards, np.full(20_000, of.depths))
    assert abs(drift.mean()) > 10 * drift.std() / math.sqrt(20_000)


def test_the_second_order_of_the_drift_is_what_its_shoe_leaves_on_average():
    """The sums by depth against 20,000 shuffles; 4.5 standard errors for each of them."""
    drift, full = six_decks().drift, luck_of(six_decks()).full
    cards, curvature = np.minimum(shuffled(6, 20_000), 9), drift.curvature[0]
    counts, before = np.repeat(full[:, None], 20_000, axis=1), 0.0
    for depth in range(8):
        for card in cards[STEP * depth : STEP * (depth + 1)]:
            counts[card, np.arange(20_000)] -= 1
        left = 312 - STEP * (depth + 1)
        found = np.einsum("qn,qs,sn->n", counts, curvature, counts) / left**2
        expected = drift.expected[0, depth + 1] - before - drift.slopes[0] @ full / 312
        assert abs(found.mean() - expected) < 4.5 * found.std() / math.sqrt(20_000) + 1e-9
        before = drift.expected[0, depth + 1]


@pytest.mark.parametrize(
    ("name", "decks", "seats", "cut"),
    [
        ("vegas-s17", 6, 1, "3/4"), ("cardshark", 1, 2, 1), ("neller-v1", 2, 1, "3/4"), ("easy", 1, 1, "1/52"),
        ("pontoon", 8, 1, "3/4"),
        slow("vegas-s17", 1, 3, "1/2"),
        slow("cardshark", 1, 4, 1),
        slow("blackjack-p", 2, 1, "3/4"),
    ],
)  # fmt: skip
def test_arrays_and_kernel_count_the_same_luck(name: str, decks: int, seats: int, cut: object) -> None:
    """All sums over shoes are equal to the bit, and so are those of blocks played together and one by one."""
    game = named_rules(name).replace(decks=decks, seats=seats, cut=cut)
    charts = [Solver(game).chart, *(random_chart(game, seed, 1) for seed in range(1, seats))]
    played = walkers(game, charts)
    game_and_rows = played.compiled, played.layout, played.play_round
    keys, rounds = [stream_key(5, 0, block) for block in range(4)], [700, 1, 90, 90]
    arrays = play_blocks(*game_and_rows, keys, rounds, drift=played.drift)
    assert played.packed is not None
    kernel = play_seats(played.compiled, played.packed, keys, rounds, played.drift)
    assert (kernel.counts == arrays.counts).all() and kernel.counts.sum() == 881 * seats
    assert all((one == two).all() for one, two in zip(arrays.shoes, kernel.shoes, strict=True))
    alone = play_blocks(*game_and_rows, keys[2:3], rounds[2:3], drift=played.drift).shoes
    assert (alone[0] == arrays.shoes[2]).all()


@pytest.mark.parametrize(
    ("decks", "seats", "rounds", "least"),
    [
        (6, 1, 200_000, 40_000),
        slow(8, 1, 200_000, 65_000),
        slow(2, 1, 200_000, 4200),
        (1, 1, 200_000, 800),
        (6, 4, 50_000, 15_000),
    ],
)
def test_how_much_surer_it_is(decks: int, seats: int, rounds: float, least: int) -> None:
    """The variance is cut by these factors, published in docs/explanation/performance.md."""
    game = SIX.replace(decks=decks, seats=seats)
    played = walkers(game, [Solver(SIX).chart] * seats)
    assert (Solver(SIX).sd / math.sqrt(rounds) / adjusted(played, int(rounds)).se) ** 2 > least


def test_how_much_surer_fresh_shoes_are():
    fresh = walkers(SIX.replace(cut="1/312"), [Solver(SIX).chart])
    assert (Solver(SIX).sd / math.sqrt(50_000) / adjusted(fresh, 50_000).se) ** 2 > 300_000


def test_threads_count_the_luck_of_their_own_blocks() -> None:
    """Threads of a notebook share a table: its working memory must not be shared."""
    played = six_decks()
    compiled, packed, drift = played.compiled, played.packed, played.drift
    assert packed is not None

    def play(block: int) -> Array:
        return play_seats(compiled, packed, [stream_key(1, 0, block)], [20_000], drift).shoes[0]

    alone = [play(block) for block in range(8)]
    with ThreadPoolExecutor(4) as threads:
        together = list(threads.map(play, range(8)))
    assert all((one == two).all() for one, two in zip(alone, together, strict=True))


# --- against every round of one deck


def test_one_deck_agrees_with_every_round_there_is():
    """200,000 adjusted rounds are as precise as about 1e8 raw ones; 4 standard errors: 6 of 100,000."""
    game = SIX.replace(decks=1, cut="1/52")
    stand = make_chart("stands", game, lambda row, column: "S")
    tally = adjusted(walkers(game, [stand]), 200_000)
    value = float(TinyShoe(game, "A23456789TTTT" * 4).value(lambda *_: "S"))
    assert tally.se < 4e-5
    assert abs(tally.mean - value) < 4 * tally.se


# --- the value object


def test_sums_merge_and_are_kept():
    one, two = (adjusted(six_decks(), 3000, key=key) for key in (1, 2))
    both = one + two
    assert both.shoes == one.shoes + two.shoes and both.sums.b == 6000
    assert LuckTally() + one == one + LuckTally() == one
    assert LuckTally.from_json(both.to_json()) == both
    assert both.variance_reduction(30 * both.se) == pytest.approx(900)
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


@pytest.mark.parametrize("max_hands", [7, slow("inf")])
def test_in_an_infinite_shoe_no_luck_is_left(max_hands: object) -> None:
    """As stated in docs/explanation/luck.md, even for a chart that splits tens."""
    game = SIX.replace(decks="inf", max_hands=max_hands)
    best = Solver(game).chart
    chart = Chart("splits tens", game, {place: "P" if place[0] == "TT" else code for place, code in best.cells.items()})
    experiment = make_experiment(game, [chart], 3000, 1, adjust_luck=True)
    (result,) = make_results(experiment, [chart], Driver(experiment).run())
    assert result.adjusted and result.exact is not None and result.certified
    assert result.verdict == "every round agrees with the exact value"
    assert result.adjusted.se == 0
