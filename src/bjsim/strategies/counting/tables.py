"""Makes the table of a counter: compiled rules, luck model, counts and depth control."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from math import floor
from typing import NamedTuple

import numpy as np

from bjsim.arrays import Array
from bjsim.errors import InputError
from bjsim.sim.engine.compiled_rules import Policy, compile_rules
from bjsim.sim.engine.counting import play_units
from bjsim.sim.engine.counts import CountingTable, KnownControls
from bjsim.sim.engine.kernels.arrays import PAIRS, ROUNDS, SCALE, SQUARES, Counter, DepthControl, WalkedTable
from bjsim.sim.engine.kernels.layout import SPLIT, CompiledRules
from bjsim.sim.engine.luck_values import Model, full_shoe, make_luck, solve_models
from bjsim.sim.engine.pack import make_count_table, make_deal, pack_moves
from bjsim.sim.engine.play import PILOT_TABLE
from bjsim.sim.engine.round_table import count_ranks
from bjsim.sim.game.actions import INSURANCE
from bjsim.sim.game.cards import RANKS, TEN
from bjsim.sim.game.hand_states import HandState
from bjsim.sim.game.rules import Rules
from bjsim.sim.game.shoe import stream_key
from bjsim.sim.game.support import need
from bjsim.strategies.charts.chart import Chart
from bjsim.strategies.counting.departures import Departures
from bjsim.strategies.counting.ramp import MAX_SPOTS, ONE_SPOT, SpotSteps, spots_at
from bjsim.strategies.counting.system import CountingSystem, ScaledCount
from bjsim.strategies.counting.typical import DepthDistribution, depth_distribution, spread_tens

# --- Counts as tables: the bucket, the current chart and insurance by the number of cards seen and the running count.
#
# Everything that a counter does is a function of these two numbers, whatever the system divides by and how it rounds,
# so that compiled code needs no division, and exact expectations are sums over the same table.


Play = tuple[Chart, bool]  # and whether insurance is taken
MOST_COUNTS = 20_000  # running counts; tables of depths by count take some hundreds of megabytes for as many
Ratio = tuple[Array, Array]  # counts as numerators and positive denominators, int64


def running_range(scaled: ScaledCount, decks: int) -> tuple[int, int]:
    sums = [tag * in_deck * decks for tag, in_deck in zip(scaled.tags, scaled.system.in_deck, strict=True)]
    return scaled.initial + sum(min(one, 0) for one in sums), scaled.initial + sum(max(one, 0) for one in sums)


def check_counts(system: CountingSystem, decks: int) -> None:
    """Raise InputError if tables of depths by running count would not fit into memory."""
    for scaled in (system.scaled(decks), system.scaled(decks, for_bets=True)):
        low, high = running_range(scaled, decks)
        if high - low > MOST_COUNTS:
            many = f"{high - low:,} running counts in {decks} decks"
            raise InputError(f"tags: {many} are too many; use at most {MOST_COUNTS:,}, of simpler fractions")


def decision_counts(scaled: ScaledCount, decks: int) -> Ratio:
    """The count for decisions, rounded as the system says, by cards seen and running count."""
    system, deck, scale = scaled.system, scaled.system.deck_size, scaled.system.scale
    size = deck * decks
    low, high = running_range(scaled, decks)
    running, unseen = np.arange(low, high + 1)[None, :], size - np.arange(size + 1)[:, None]
    expected = system.in_deck[0] * scaled.side_aces * unseen  # of the aces; all is times the cards of a deck
    if not system.uses_true_count:
        return deck * running - expected, np.array(deck * scale)
    divisor = np.array([[system.divisor_cards(cards)] for cards in range(size, -1, -1)])
    top = deck * (running - int(scale * system.pivot(decks))) - expected + int(scale * system.imbalance) * divisor
    bottom = scale * divisor
    if system.rounding == "exact":
        return top, bottom
    floor, truncate = top // bottom, np.sign(top) * (abs(top) // bottom)
    nearest = np.sign(top) * ((2 * abs(top) + bottom) // (2 * bottom))
    return {"floor": floor, "truncate": truncate, "round": nearest}[system.rounding], np.array(1)


def number_plays(departures: Departures, counts: Ratio) -> tuple[Array, list[Play]]:
    """The number of the play at each count, and the plays, of which no two are the same."""
    limits = sorted({play.count for play in departures.plays})
    between = [limits[0] - 1 if limits else Fraction(0)]  # below the first limit, at it, after it and so on
    for limit, after in zip(limits, [*limits[1:], *(one + 2 for one in limits[-1:])], strict=True):
        between += [limit, (limit + after) / 2]
    place = np.zeros(np.broadcast_shapes(counts[0].shape, counts[1].shape), np.int64)
    for limit in limits:
        left, right = counts[0] * limit.denominator, counts[1] * limit.numerator
        place += (left >= right).astype(np.int64) + (left > right)
    plays = [(departures.chart_at(count), departures.insured_at(count)) for count in between]
    different = list(dict.fromkeys(plays))
    return np.array([different.index(play) for play in plays])[place], different


TAIL = 1e-4  # share of the counts below the lowest bucket, and above the highest
MOST_BUCKETS = 41
RARE = 0.004  # share of a bucket below which it has no chart of its own in the luck model
APART = 0.025  # compositions no farther apart share a chart; that of neighbouring true counts is about 1/52
STEP = 2  # cards between the depths of the depth control
FREQUENT = 1 << 12  # rows for which the luck model has forms
PILOT = 1 << 17  # cards from which the factors of controls come
SHARP = 1.03  # of rounds to depths: errors are least between 1.02 and 1.06
FARTHEST = 40  # from the count of a fresh shoe to one where the counter leaves


@dataclass(frozen=True)
class CountingGame:
    """A game, and how it is played by the count."""

    rules: Rules  # all players but one of its seats play the chart, and act before the counter
    system: CountingSystem
    departures: Departures
    # the lowest and the highest count with a bucket of its own; None: nearly all that occur
    counts: tuple[int, int] | None = None
    spots: SpotSteps = ONE_SPOT  # the spots that the counter plays, see `Ramp.spots`
    adjusted: bool = True  # whether profits are luck-adjusted and depth-controlled
    # counts from the lowest to the highest of these have a bucket of their own unless very rare, see `Ramp.span`
    span: tuple[int, int] = (0, 0)
    # the counter leaves before a round at this count or less, and begins a fresh shoe; None: never
    leave: int | None = None

    def __post_init__(self) -> None:
        need(self.rules, "count")
        object.__setattr__(self, "system", self.system.replace(deck=self.rules.deck))
        if self.others + self.most_spots > MAX_SPOTS:
            raise InputError(
                f"seats = {self.rules.seats}: with {self.most_spots} spots of the counter, the table has room for "
                f"{MAX_SPOTS} spots, so use at most {MAX_SPOTS + 1 - self.most_spots} players"
            )
        decks = int(self.rules.decks)
        check_counts(self.system, decks)
        fresh = floor(self.system.count(self.system.initial_count(decks), self.rules.shoe_size, decks))
        if self.leave is not None and not fresh - FARTHEST <= self.leave < fresh:
            raise InputError(
                f"leave = {self.leave} is not accepted; use a count below that of a fresh shoe, {fresh}, and not "
                f"below {fresh - FARTHEST}"
            )

    @property
    def most_spots(self) -> int:
        return max(spots for _, spots in self.spots)

    @property
    def others(self) -> int:
        return self.rules.seats - 1


class ReadyTable(NamedTuple):
    """A table ready to be played; `first` is the count of the first bucket."""

    table: CountingTable
    first: int


@lru_cache(maxsize=2)  # some tens of megabytes each
def ready_table(game: CountingGame) -> ReadyTable:
    """Make the table of a game; the same game returns the same table."""
    rules, decks = game.rules, int(game.rules.decks)
    bets, own = (game.system.scaled(decks, for_bets) for for_bets in (True, False))
    counts = decision_counts(bets, decks)
    whole = np.floor_divide(*counts)
    distribution = depth_distribution(bets, decks, rules.cut_cards)
    low, high = game.counts or _usual_counts(whole, distribution, game.span)
    if game.leave is not None:
        low, high = game.leave, max(high, game.leave + 1)
    # The outer buckets include all counts beyond them.
    bucket, buckets = np.clip(whole, low, high) - low, range(low, high + 1)
    # With a side count of aces, the plays by the count for bets are a guess, for the luck model and the control alone.
    guess, played = number_plays(game.departures, counts)
    cells = number_plays(game.departures, decision_counts(own, decks))[0] if bets.side_aces else guess
    plays = list(dict.fromkeys([*played, *[(game.departures.base, False)] * game.others]))
    compiled = compile_rules(rules, [_policy(*play) for play in plays])
    share, composition = distribution.mean_by_bucket(bucket, len(buckets))
    usual = _play_of_buckets(bucket, guess, distribution, len(buckets))
    model, points = _model_points(compiled, rules.deck, usual, share, composition)
    models = [_split_again(compiled, chart) for chart, _ in points if game.adjusted]
    act = np.concatenate([compiled.act, *models])
    points = [(len(compiled.act) + number, one) for number, (_, one) in enumerate(points)]
    seats = game.others + game.most_spots
    made, answers = make_count_table(compiled._replace(act=act))
    layout = WalkedTable(
        moves=pack_moves([made], np.zeros(seats, np.int64), answers),
        deal=make_deal(compiled, seats, hides=rules.dealer_shows == "up" and rules.deal.count("d") == 2),
        counter=_make_count(game, bets, own, buckets, bucket, cells, plays),
    )
    solved = solve_models(made, answers, points, rules.unit) if game.adjusted else []
    if solved:
        charts = np.array([chart for chart, _ in points])
        layout = layout._replace(luck=make_luck([[one] for one in solved], model, charts, compiled, FREQUENT))
    control = _make_control(solved, model, len(buckets), full_shoe(compiled, TEN + 1))
    table = CountingTable(compiled, layout, control)
    if solved:
        expected = distribution.expected_controls(bucket, control.values, control.slopes / SCALE, STEP)
        table = replace(table, known=_find_known(table, np.stack(expected).sum(axis=1)))
    return ReadyTable(table, low)


def _policy(chart: Chart, insured: bool) -> Policy:
    """A chart, but insurance is taken or not."""

    def policy(hand: HandState, column: str, legal: str) -> str:
        if legal == INSURANCE:
            return "I" if insured else "S"
        return chart.policy(hand, column, legal)

    return policy


def _usual_counts(counts: Array, distribution: DepthDistribution, span: tuple[int, int]) -> tuple[int, int]:
    """The range of counts outside which few depths are; of a long range the middle, and the part in `span`."""
    counts = counts[: len(distribution.probability)]
    lowest = int(counts.min())
    share = np.bincount((counts - lowest).ravel(), distribution.probability.ravel())
    below = np.cumsum(share) / share.sum()
    low, high = (lowest + int(np.searchsorted(below, limit)) for limit in (TAIL, 1 - TAIL))
    middle = lowest + int(np.searchsorted(below, 0.5))
    reach = MOST_BUCKETS // 2
    return max(low, min(middle - reach, span[0])), min(max(high, low), max(middle + reach, span[1]))


def _play_of_buckets(bucket: Array, play: Array, distribution: DepthDistribution, buckets: int) -> Array:
    """The most frequent play of each bucket."""
    depths, plays = len(distribution.probability), int(play.max()) + 1
    number = bucket[:depths] * plays + play[:depths]
    weight = np.bincount(number.ravel(), distribution.probability.ravel(), buckets * plays)
    return np.asarray(weight.reshape(buckets, plays).argmax(axis=1))


def _model_points(
    compiled: CompiledRules, deck: str, chart: Array, share: Array, composition: Array
) -> tuple[Array, list[tuple[int, Array]]]:
    """The luck model's chart by bucket, and what these charts are for; see `make_luck`.

    Buckets that few rounds visit borrow the nearest chart.
    """
    usual = np.flatnonzero(share >= min(RARE, share.max()))
    groups: list[list[int]] = []
    for b in usual.tolist():
        if not groups or np.abs(composition[b] - composition[groups[-1][0]]).sum() > APART:
            groups.append([])
        groups[-1].append(b)
    points = []
    for group in groups:
        mean = share[group] @ composition[group] / (share[group] @ composition[group]).sum()
        if count_ranks(compiled.add, compiled.dealer_add) == len(RANKS):  # tens differ
            mean = spread_tens(mean, deck)
        points.append((int(chart[max(group, key=lambda b: share[b])]), mean))
    number = np.repeat(np.arange(len(groups)), [len(group) for group in groups])
    nearest = number[np.abs(np.arange(len(share))[:, None] - usual).argmin(axis=1)]
    return nearest, points


def _split_again(compiled: CompiledRules, chart: int) -> Array:
    """The chart, but one that splits a pair splits it again against every card, (1, 2, S, C).

    The luck model plays so. Rounds are valued better where the counter splits a pair that the model does not.
    """
    act, hands = compiled.act[chart].copy(), np.unique(compiled.add[compiled.split_to])
    columns = slice(len(compiled.ended_column))
    again = hands[(act[1, hands, columns] == SPLIT).any(axis=1)]
    act[1, again, columns] = np.where(act[1, again, columns] > 0, SPLIT, 0)
    return np.asarray(act[None])


def _make_control(solved: Sequence[Model], model: Array, buckets: int, full: Array) -> DepthControl:
    """The first-order values of rounds by bucket; 0 without luck adjustment."""
    if not solved:
        return DepthControl(STEP, np.zeros((buckets, len(full))), np.zeros(buckets), full)
    values = np.array([one.value for one in solved])
    slopes = np.array([one.slopes[0, : TEN + 1] for one in solved])
    return DepthControl(STEP, slopes[model], values[model], full)


def _find_known(table: CountingTable, expected: Array) -> KnownControls:
    """Find the factors of controls in shoes that no run plays; `expected` is as in `KnownControls`."""
    plain, count = replace(table, layout=table.layout._replace(luck=None)), table.count
    shoes = -(-PILOT // table.compiled.numbers.cut)
    [(sums, _)] = play_units(plain, np.array([stream_key(0, PILOT_TABLE, 0)], np.uint64), shoes, shoes)
    rounds, squares, pairs = sums.raw[:, [ROUNDS, SQUARES, PAIRS]].T
    # All depths are followed by as many rounds, unless these take more cards or the counter leaves.
    alike = count.spots if count.leave < 0 else np.arange(len(rounds))
    played, depths = np.bincount(alike, rounds), np.bincount(alike, shoes * expected[1])
    square = squares.sum() / (rounds @ count.spots)
    product = pairs.sum() / max(rounds @ (count.spots * (count.spots - 1)), 1)
    return KnownControls(
        expected=expected,
        rounds=SHARP * (played / np.maximum(depths, 1e-9))[alike],
        moments=np.stack([np.full(len(rounds), square), np.where(count.spots > 1, product, 0.0)]),
    )


def _make_count(
    game: CountingGame,
    bets: ScaledCount,
    own: ScaledCount,
    buckets: range,
    bucket: Array,
    cells: Array,
    plays: Sequence[Play],
) -> Counter:
    """The count of `bets` and its buckets, and the `own` one for decisions, whose cells are numbers of `plays`."""
    decks = int(game.rules.decks)
    return Counter(
        tags=np.array([own.tags[min(rank, TEN)] for rank in range(len(RANKS))], np.int64),
        initial=own.initial,
        lowest=running_range(own, decks)[0],
        cells=cells.astype(np.uint16),
        lowest_bet=running_range(bets, decks)[0],
        buckets=bucket.astype(np.uint16),
        side_aces=bets.side_aces,
        aces=game.rules.shoe_counts[0],
        chart=np.arange(len(plays)),
        spots=np.array([spots_at(game.spots, count) for count in buckets]),
        leave=-1 if game.leave is None else 0,
        seat=game.others,
        other=plays.index((game.departures.base, False)) if game.others else 0,
        before_round=game.system.timing == "round",
        bet=float(game.rules.unit),
    )
