"""Counted side bets: the best tags against all others, and gains against played rounds."""

from __future__ import annotations

from functools import cache
from itertools import product

import numpy as np
import pytest
from support.games import slow

from bjsim.errors import InputError
from bjsim.sim.game.presets import load_rules
from bjsim.sim.game.shoe import Stream, open_shoe, stream_key
from bjsim.sim.running.compiled_table import CompiledTable, find_walkers
from bjsim.sim.running.table import LARGEST_BLOCK
from bjsim.strategies.experiment import make_table
from bjsim.strategies.players.catalogue import find_player
from bjsim.strategies.sidebets.bets import KINDS, SuitedShoe, built_in, load_bet
from bjsim.strategies.sidebets.counted import best_tags, count_bet
from bjsim.strategies.sidebets.exact import CountedBet, Returns, sidebet

RULES = load_rules("vegas-s17")
BUSTER = {"3": 1, "4": 3, "5": 6, "6": 30, "7": 100, "8": 200}


@pytest.mark.parametrize("seed", range(5))
def test_no_tags_correlate_better(seed: int) -> None:
    """Against all tags of level 2 for five values."""
    rng = np.random.default_rng(seed)
    weights = np.array([4, 4, 4, 4, 16])
    effects = rng.normal(size=5)
    effects -= np.average(effects, weights=weights)
    every = np.array([tags for tags in product(range(-2, 3), repeat=5) if any(tags)])
    every = every[np.ptp(every, axis=1) > 0]

    def merits(tags: np.ndarray) -> np.ndarray:
        off = tags - (tags @ weights)[:, None] / weights.sum()
        return np.asarray(off @ (effects * weights) / np.sqrt(off**2 @ weights))

    best = merits(np.array([best_tags([*effects], [*weights.tolist()], 2)]))
    assert best[0] == pytest.approx(merits(every).max(), rel=1e-12)


@pytest.mark.parametrize("name", built_in())
def test_values_are_those_of_the_exact_figures(name: str) -> None:
    """In two shoes that lack single cards; the returns know classes of cards, the exact figures all kinds."""
    bet = load_bet(name).for_decks("2")
    returns, rng = Returns(bet, RULES), np.random.default_rng(3)
    for size in (0, 70):
        gone = rng.multivariate_hypergeometric([2] * 52, size, method="marginals")
        left = {kind: int(2 - out) for kind, out in zip(KINDS, gone, strict=True)}
        value = returns(returns.by_class(np.array([[*left.values()]], np.float64)))[0]
        pays = {event.name: event.pays for event in bet.events}
        if name == "buster":
            pays = dict(zip("345678", pays.values(), strict=True))
        assert value == pytest.approx(float(sidebet(name, shoe=left, pays=pays).ev), abs=1e-12)


def played_units(name: str, decks: int, cut: int, rounds: int, one_more: bool) -> tuple[float, float]:
    """The units that a bettor who sees the exact value wins in 100 played rounds, and their standard error."""
    shoes = played_shoes(decks, cut, rounds)
    returns = Returns(load_bet(name), RULES)
    left, number = (
        np.concatenate(part)
        for part in zip(
            *((shoe if one_more else shoe[:-1], [at] * (len(shoe) - (not one_more))) for at, shoe in enumerate(shoes)),
            strict=True,
        )
    )
    gains = returns(returns.by_class(left.astype(np.float64))).clip(0)
    wins, counts = np.bincount(number, gains), np.bincount(number)
    mean = wins.sum() / counts.sum()
    return 100 * mean, 100 * float((wins - mean * counts).std() / counts.mean() / len(wins) ** 0.5)


@cache
def played_shoes(decks: int, cut: int, rounds: int) -> list[np.ndarray]:
    """Whole shoes, each with the cards left before its rounds and after the last, by kind; best play."""
    game = RULES.replace(decks=decks, cut=f"{cut}/{52 * decks}")
    table = make_table(game, [find_player("optimal", game)])
    rng, found = np.random.default_rng(1), list[np.ndarray]()
    assert isinstance(table, CompiledTable)
    walkers = find_walkers(table.compiled, table.readable.play_round)
    for block in range(rounds // LARGEST_BLOCK):
        (trace,) = walkers.trace(stream_key(1, 0, block), LARGEST_BLOCK).traces
        shoe, shoes, suits = open_shoe(game, Stream(1, 0, block)), list[list[np.ndarray]](), list[list[int]]()
        for used in np.diff(trace[:, -1], prepend=0).tolist():
            if shoe.begin_round() or not shoes:
                suits = [rng.permutation(np.repeat(range(4), decks)).tolist() for _ in range(13)]
                shoes.append([np.full(52, decks)])
            left = shoes[-1][-1].copy()
            for _ in range(used):
                rank = shoe.draw()
                left[4 * rank + suits[rank].pop()] -= 1
            shoes[-1].append(left)
        found += map(np.array, shoes[:-1])
    return found


@pytest.mark.parametrize(
    ("name", "decks", "cut", "rounds"),
    [("over-13", 2, 75, 200_000), slow("lucky-lucky", 2, 75, 700_000)],
)
@pytest.mark.parametrize("one_more", [False, True])
def test_gains_agree_with_played_rounds(name: str, decks: int, cut: int, rounds: int, one_more: bool) -> None:
    """Within four standard errors and 3%, as compositions in play are not quite random; see the page on side bets."""
    found = count_bet(load_bet(name), SuitedShoe.whole(decks), RULES, cut, one_more=one_more)
    mean, error = played_units(name, decks, cut, rounds, one_more)
    assert abs(found.units - mean) < 4 * np.hypot(error, found.half_width / 1.96) + 0.03 * mean
    other = count_bet(load_bet(name), SuitedShoe.whole(decks), RULES, cut, one_more=not one_more)
    assert abs(other.units - mean) > 4 * error + 0.03 * mean  # negative control


def test_tags_gain_less_than_the_exact_value_and_more_than_wrong_ones() -> None:
    """The gap to the wrong tags is over ten half-widths; the seed is fixed."""
    bet, shoe = load_bet("over-13"), SuitedShoe.whole(6)
    good, bad = (
        count_bet(bet, shoe, RULES, 260, rounds=5000, level=2),
        count_bet(bet, shoe, RULES, 260, rounds=5000, tags=[0, 1, -1, 1, -1, 1, -1, 1, -1, 0]),
    )
    assert bad.units + good.half_width < good.units <= good.perfect


def test_tags_by_rank_tell_kings_from_tens() -> None:
    """discountgambling.net: a count of queens and kings gains about 85% of what the exact value of Royal Match does.

    Ten tags gain 35%; tens and jacks alone, a negative control, less than queens and kings do.
    """
    bet, shoe = load_bet("royal-match").with_pays({"royal": 75, "suited": 2}), SuitedShoe.whole(6)

    def gain(**what: object) -> float:
        found = count_bet(bet, shoe, RULES, 260, rounds=20_000, **what)  # type: ignore[arg-type]
        return found.units / found.perfect

    zeros = (0,) * 9
    assert gain(tags=(*zeros, 0, 0, -1, -1)) == pytest.approx(0.84, abs=0.02)
    assert count_bet(bet, shoe, RULES, 260, rounds=2000, level=2).tags == (*zeros, 0, 0, -1, -1)
    assert gain(tags=(*zeros, -1)) == pytest.approx(0.35, abs=0.03)
    assert gain(tags=(*zeros, -1, -1, 0, 0)) < 0.3
    with pytest.raises(InputError, match="over-13 takes all tens alike; give ten tags"):
        count_bet(load_bet("over-13"), shoe, RULES, 260, tags=(*zeros, 0, 0, -1, -1))


def test_intervals_cover() -> None:
    """Of 40 intervals, 95% cover on average; the seeds are fixed."""
    bet, shoe = load_bet("over-13"), SuitedShoe.whole(2)
    true = count_bet(bet, shoe, RULES, 75, seed=99).units
    found = [count_bet(bet, shoe, RULES, 75, seed=seed, rounds=20_000) for seed in range(40)]
    assert sum(abs(each.units - true) < each.half_width for each in found) >= 33
    assert sum(abs(each.units - true) < each.half_width / 4 for each in found) < 33  # negative control


TWO_DECKS = (2, 75, 5, (16.83, 7.30, 1.228), 2)


@pytest.mark.parametrize(
    ("decks", "cut", "trigger", "published", "level", "sample"),
    [
        (*TWO_DECKS, {"rounds": 10_000, "seed": 2}),
        slow(*TWO_DECKS, {}),
        slow(6, 260, 4, (13.29, 5.28, 0.702), 3, {}),
    ],
    ids=["two decks, few rounds", "two decks", "six decks"],
)
def test_the_published_count_of_buster(
    decks: int, cut: int, trigger: int, published: tuple[float, ...], level: int, sample: dict[str, int]
) -> None:
    """The published figures within 3%, and tags that gain 3% more: both counts see the same rounds; fixed seeds."""
    bet, game = load_bet("buster").with_pays(BUSTER), load_rules("vegas-h17")

    def count(**what: object) -> CountedBet:
        return count_bet(bet, SuitedShoe.whole(decks), game, cut, one_more=True, **sample, **what)  # type: ignore[arg-type]

    theirs = count(tags=(-2, -3, -2, 0, 0, 0, 1, 1, 1, 1), trigger=trigger)
    figures = (100 * theirs.share, 100 * theirs.edge, theirs.units)
    assert figures == pytest.approx(published, rel=0.03)
    assert count(level=level).units > theirs.units * 1.03


@pytest.mark.parametrize(("what", "named"), [({"level": 2}, "level"), ({"tags": (1,) * 10}, "tags")])
def test_one_tag_for_all_cards_counts_nothing(what: dict[str, object], named: str) -> None:
    """Every card changes the return of Match the Dealer alike."""
    with pytest.raises(InputError, match=f"{named}: with one tag for all cards match-the-dealer cannot be counted"):
        count_bet(load_bet("match-the-dealer"), SuitedShoe.whole(6), RULES, 234, **what)  # type: ignore[arg-type]
