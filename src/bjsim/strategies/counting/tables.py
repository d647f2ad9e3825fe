"""Makes the table of a counter: compiled rules, luck model, counts and depth control."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from bjsim.errors import InputError
from bjsim.sim.engine.compiled_rules import compile_rules
from bjsim.sim.engine.count_luck import make_count_luck
from bjsim.sim.engine.count_rows import make_count_rows
from bjsim.sim.engine.counting_table import CountingTable
from bjsim.sim.engine.kernels.count_layout import Counter, CountLuck, DepthControl
from bjsim.sim.engine.kernels.layout import SPLIT, CompiledRules
from bjsim.sim.engine.round_table import tens_are_alike
from bjsim.sim.game.cards import TEN
from bjsim.sim.game.rules import Rules
from bjsim.strategies.charts.chart import Chart
from bjsim.strategies.counting.count_cells import CountCells, decision_counts, make_cells, whole_counts
from bjsim.strategies.counting.departures import Departures
from bjsim.strategies.counting.depths import DepthDistribution, depth_distribution
from bjsim.strategies.counting.ramp import ONE_SPOT, SpotSteps, spots_at
from bjsim.strategies.counting.system import CountingSystem
from bjsim.strategies.counting.typical import spread_tens

Array = np.ndarray[Any, Any]

TAIL = 1e-4  # share of the counts below the lowest bucket, and above the highest
MOST_BUCKETS = 41
RARE = 0.004  # share of a bucket below which it has no chart of its own in the luck model
APART = 0.025  # compositions no farther apart share a chart; that of neighbouring true counts is about 1/52
STEP = 2  # cards between the depths of the depth control
MOST_SPOTS = 7  # of a table
FARTHEST = 40  # from the count of a fresh shoe to one where the counter leaves


@dataclass(frozen=True)
class CountingGame:
    """A game, and how it is played by the count.

    Attributes:
        rules: All players but one of its seats play the chart, and act before the counter.
        counts: The lowest and the highest count with a bucket of its own; None: nearly all that occur.
        spots: The spots that the counter plays, see `Ramp.spots`.
        adjusted: Whether profits are luck-adjusted and depth-controlled.
        leave: The counter leaves before a round at this count or less, and begins a fresh shoe; None: never.
        span: Counts from the lowest to the highest of these have a bucket of their own unless very rare, see
            `Ramp.span`.
    """

    rules: Rules
    system: CountingSystem
    departures: Departures
    counts: tuple[int, int] | None = None
    spots: SpotSteps = ONE_SPOT
    adjusted: bool = True
    span: tuple[int, int] = (0, 0)
    leave: int | None = None

    def __post_init__(self) -> None:
        if self.rules.infinite:
            raise InputError("decks = inf: cards cannot be counted in an infinite shoe; use 1 to 8 decks")
        object.__setattr__(self, "system", self.system.replace(deck=self.rules.deck))
        if self.rules.ties == "replay":
            raise InputError("ties = replay is not supported with counting; use push or lose")
        if self.rules.raises:
            raise InputError("raises = true is not supported with counting; use false")
        if self.others + self.most_spots > MOST_SPOTS:
            raise InputError(
                f"seats = {self.rules.seats}: with {self.most_spots} spots of the counter, the table has room for "
                f"{MOST_SPOTS} spots, so use at most {MOST_SPOTS + 1 - self.most_spots} players"
            )
        decks = int(self.rules.decks)
        fresh = self.system.count(self.system.initial_count(decks), self.rules.shoe_size, decks)
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

    @property
    def hides(self) -> bool:
        """Whether the dealer has a hole card."""
        return self.rules.dealer_shows == "up" and self.rules.deal.count("d") == 2


class ReadyTable(NamedTuple):
    """A table ready to be played; `first` is the count of the first bucket.

    `expected` are exact expectations of the controls of a shoe, value and depths, (2, B).
    """

    table: CountingTable
    first: int
    expected: Array


@lru_cache(maxsize=2)  # some tens of megabytes each
def ready_table(game: CountingGame) -> ReadyTable:
    """Make the table of a game; the same game returns the same table."""
    rules, decks = game.rules.replace(insurance=False), int(game.rules.decks)  # which is taken by the count
    bets = game.system.scaled_bets(decks)
    distribution = depth_distribution(bets, decks, rules.cut_cards)
    buckets = game.counts or _usual_counts(whole_counts(decision_counts(bets, decks)), distribution, game.span)
    if game.leave is not None:
        buckets = game.leave, max(buckets[1], game.leave + 1)
    # With a side count of aces, the plays by the count for bets are a guess, for the luck model and the control alone.
    cells = make_cells(bets, game.departures, decks, buckets)
    decisions = make_cells(game.system.scaled(decks), game.departures, decks, buckets)
    charts = tuple(dict.fromkeys([*cells.charts, *[game.departures.base] * game.others]))
    compiled = compile_rules(rules, [chart.policy for chart in charts])
    share, composition = distribution.mean_by_bucket(cells.bucket, buckets[1] - buckets[0] + 1)
    plays = _play_of_buckets(cells, distribution, len(share))
    model, points = _model_points(compiled, rules.deck, cells.chart[plays], share, composition)
    counter = _make_counter(game, cells, decisions, charts, buckets[0], len(share))
    models = [_split_again(compiled, chart) for chart, _ in points if game.adjusted]
    act = np.concatenate([compiled.act, *models])
    points = [(len(compiled.act) + number, one) for number, (_, one) in enumerate(points)]
    made = make_count_rows(compiled._replace(act=act), game.others + game.most_spots)
    luck = make_count_luck(made, model, points, rules.unit, compiled.unshuffled) if game.adjusted else None
    insured = _insured_by_bucket(cells, distribution, share) if game.departures.insures else 0 * share
    control = _make_control(luck, composition, insured, _full_shoe(game))
    expected = distribution.expected_controls(cells.bucket, control.values, control.slopes, STEP)
    table = CountingTable(compiled, made, rules.unit, counter, control, luck)
    return ReadyTable(table, buckets[0], np.stack(expected).sum(axis=1))


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


def _play_of_buckets(cells: CountCells, distribution: DepthDistribution, buckets: int) -> Array:
    """The most frequent play of each bucket."""
    depths, plays = len(distribution.probability), len(cells.chart)
    number = cells.bucket[:depths] * plays + cells.play[:depths]
    weight = np.bincount(number.ravel(), distribution.probability.ravel(), buckets * plays)
    most: Array = weight.reshape(buckets, plays).argmax(axis=1)
    return most


def _insured_by_bucket(cells: CountCells, distribution: DepthDistribution, share: Array) -> Array:
    """How often insurance is taken when the dealer shows an ace, about, by the bucket before the round."""
    depths, ace = len(distribution.probability), cells.scaled.tags[0]
    insured = np.roll(cells.insures[cells.play], -ace, axis=1)[1 : depths + 1]
    weight = np.bincount(cells.bucket[:depths].ravel(), (distribution.probability * insured).ravel(), len(share))
    likely: Array = weight / np.maximum(share * depths, 1e-300)
    return likely


def _model_points(
    compiled: CompiledRules, deck: str, chart: Array, share: Array, composition: Array
) -> tuple[Array, list[tuple[int, Array]]]:
    """The luck model's chart by bucket, and what these charts are for; see `make_count_luck`.

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
        if not tens_are_alike(compiled):
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
    whole: Array = act[None]
    return whole


def _full_shoe(game: CountingGame) -> Array:
    """Cards of each value, A, 2..9, T, in a full shoe."""
    return np.array(game.system.in_deck, float) * int(game.rules.decks)


def _make_control(luck: CountLuck | None, composition: Array, insures: Array, full: Array) -> DepthControl:
    """The first-order values of rounds, insurance included; 0 without luck adjustment."""
    ace, ten = composition[:, 0], composition[:, TEN]
    if luck is None:
        return DepthControl(STEP, 0 * composition, 0 * ace, full)
    values = luck.start[luck.model, 0] - insures * ace * (1.5 * ten)
    slopes = luck.start[luck.model, 1 : TEN + 2].copy()
    slopes[:, 0] += insures * (1.5 * ten - 0.5)
    slopes[:, TEN] += insures * 1.5 * ace
    return DepthControl(STEP, slopes, values, full)


def _insurable(decisions: CountCells, game: CountingGame) -> Array:
    """Whether insurance can be taken after an ace and two more cards, or by the count before the round."""
    insured = decisions.insures[decisions.play] * game.departures.insures
    if game.system.timing == "round":
        return insured
    tags, columns = decisions.scaled.tags, insured.shape[1]
    sums = {tags[0] + one + two for one in tags for two in tags}
    reach = max(map(abs, sums))
    after = np.pad(insured[3:], ((0, 3), (reach, reach)))
    found: Array = np.any([after[:, reach + change : reach + change + columns] for change in sums], axis=0)
    return found


def _make_counter(
    game: CountingGame, bets: CountCells, decisions: CountCells, charts: Sequence[Chart], first: int, number: int
) -> Counter:
    rules = game.rules
    return Counter(
        tags=decisions.rank_tags(),
        initial=decisions.scaled.initial,
        lowest=decisions.lowest,
        cells=decisions.play.astype(np.uint16),
        lowest_bet=bets.lowest,
        buckets=bets.bucket.astype(np.uint16),
        side_aces=bets.scaled.side_aces,
        chart=decisions.chart,
        insures=np.asarray(decisions.insures * game.departures.insures, np.int64),
        insurable=_insurable(decisions, game) > 0,
        full=_full_shoe(game),
        spots=np.array([spots_at(game.spots, first + bucket) for bucket in range(number)]),
        leave=-1 if game.leave is None else 0,
        seat=game.others,
        other=charts.index(game.departures.base) if game.others else 0,
        before_round=int(game.system.timing == "round"),
        after=rules.deal[rules.deal.rindex("d") :].count("p") if game.hides else -1,
        ace=game.departures.base.states.columns.index("A") if game.departures.insures else -1,
    )
