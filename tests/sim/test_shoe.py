"""Shoes deal with the right probabilities, the same cards in both engines, and scripts are read or refused."""

from __future__ import annotations

import itertools
import math
import random
from collections import Counter
from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import count, islice
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from support.games import slow
from support.kernels import from_python
from support.statistics import chi_square_p, upper_gamma
from support.table import play_script

from bjsim.sim.engine.array_cards import Segments
from bjsim.sim.engine.compiled_rules import compile_rules
from bjsim.sim.engine.kernels import shoe as shoe_kernel
from bjsim.sim.engine.kernels.deal import LANES
from bjsim.sim.engine.rounds import make_cards, make_shoe, shoe_rules
from bjsim.sim.game.cards import rank_probabilities
from bjsim.sim.game.presets import named_rules
from bjsim.sim.game.rules import Rules
from bjsim.sim.game.shoe import (
    DeckShoe,
    InfiniteShoe,
    ScriptedShoe,
    ShoeError,
    Stream,
    open_shoe,
    rank_limits,
    stream_key,
)

draw, deal = from_python(shoe_kernel.draw), from_python(shoe_kernel.deal)
SHOES = {
    "infinite": Rules(),
    "infinite, few tens": Rules(ten_probability="1/10"),  # type: ignore[arg-type]
    "infinite, many tens": Rules(ten_probability="9/10"),  # type: ignore[arg-type]
    "infinite, Spanish": Rules(deck="spanish"),
    "one deck": Rules(decks=1),
    "five Spanish decks": Rules(decks=5, deck="spanish"),
    "six decks": Rules(decks=6),
    "eight decks": Rules(decks=8, cut="3/4"),  # type: ignore[arg-type]
}
STAND = lambda hand, column, legal: "S"  # noqa: E731
SURE = 1e-3  # probability that correct probabilities fail a test


def readable(game: Rules, key: tuple[int, int, int]) -> Iterator[int]:
    """Cards from the readable round's shoe, dealt to the last one."""
    shoe = open_shoe(game, Stream(*key))
    while True:
        yield shoe.draw()


def compiled(game: Rules, key: tuple[int, int, int]) -> Iterator[int]:
    """Cards from the compiled round's shoe."""
    shoe = make_shoe(compile_rules(game, [STAND]), stream_key(*key))
    while True:
        yield int(draw(shoe))


def arrays(game: Rules, key: tuple[int, int, int]) -> Iterator[int]:
    """Cards from many shoes in arrays."""
    segments = Segments(compile_rules(game, [STAND]), 240)
    yield from segments.read(np.array([stream_key(*key)], np.uint64), 0, 0)


def side_by_side(game: Rules, key: tuple[int, int, int], ranks: int = 13) -> Iterator[int]:
    """Cards from shoes that a kernel deals side by side, each in another lane."""
    rules = shoe_rules(compile_rules(game, [STAND]))
    cards, begin, gamma = make_cards(rules), *stream_key(*key)
    for number in count():
        lane = number % LANES
        first, gammas = np.full((2, LANES), [[7], [9]], np.uint64)
        first[lane], gammas[lane] = (begin + number * rules.words * gamma) % 2**64, gamma
        deal(rules, (0,) * ranks, cards, first, gammas, rules.size)
        yield from cards.reshape(-1, LANES)[: rules.size, lane].tolist()


ENGINES: dict[str, Callable[[Rules, tuple[int, int, int]], Iterator[int]]] = {
    "readable": readable,
    "compiled": compiled,
    "arrays": arrays,
    "side by side": side_by_side,
}
SLOW = {"readable", "compiled"}  # engines that deal a card at a time
DEALERS = [slow(name) if name in SLOW else name for name in ENGINES]


@pytest.mark.parametrize("shoe", SHOES)
def test_all_engines_draw_the_same_cards(shoe: str) -> None:
    key = (5, 1, 8)
    first, *others = (list(islice(draws(SHOES[shoe], key), 20_000)) for draws in ENGINES.values())
    assert others == [first] * 3
    assert list(islice(side_by_side(SHOES[shoe], key, 10), 3_000)) == np.minimum(first[:3_000], 9).tolist()


@pytest.mark.parametrize("counts", [[0, 4, 4, 2, 0, 0, 2, 0, 0, 7, 0, 0, 0], [1] + [0] * 12, [3] * 9 + [0, 9, 1, 1]])
def test_all_engines_deal_a_depleted_shoe(counts: list[int]) -> None:
    """Shoes that have lost cards, one shoe after the other, to the last card."""
    size, key, number = sum(counts), (3, 4, 5), 6
    game = SimpleNamespace(shoe_size=size, cut_cards=size, shoe_counts=counts)
    readable_shoe = DeckShoe(game, Stream(*key))  # type: ignore[arg-type]
    expected = [[readable_shoe.draw() for _ in range(size)] for _ in range(number)]
    rules = compile_rules(Rules(decks=1), [STAND])
    rules = rules._replace(
        numbers=rules.numbers._replace(shoe_size=size, cut=size), above=size - np.cumsum(counts)[:-1],
    )  # fmt: skip
    keys = np.array([stream_key(*key)], np.uint64)
    assert Segments(rules, 0).cards(keys, 0, number).T.tolist() == expected
    one = make_shoe(rules, stream_key(*key))
    assert [[int(draw(one)) for _ in range(size)] for _ in range(number)] == expected


@pytest.mark.parametrize("shoe", [name for name, game in SHOES.items() if not game.infinite])
def test_any_shoe_of_any_block_is_dealt_again_alone(shoe: str) -> None:
    """Without the shoes before."""
    game, key = SHOES[shoe], (1, 2, 70_000)
    size, draws = game.shoe_size, readable(game, key)
    shoes = [list(islice(draws, size)) for _ in range(5)]
    segments = Segments(compile_rules(game, [STAND]), 0)
    keys = np.array([stream_key(*key), stream_key(*key)], np.uint64)
    assert segments.cards(keys, np.array([3, 1]), 2).T.tolist() == [shoes[k] for k in (3, 4, 1, 2)]


@pytest.mark.parametrize("decks", [1, 6, 8])
def test_three_cards_have_their_probability(decks: int) -> None:
    """The words that deal three given cards of a shoe of n are an interval, which has 2**55 / (n (n - 1) (n - 2)) of
    them but for less than one: a bias below 1e-8. The ends of the interval do deal these cards, its neighbours do not.
    """
    rules = Rules(decks=decks)
    size, rng = rules.shoe_size, random.Random(decks)
    tuples = size * (size - 1) * (size - 2)
    assert tuples / 2**55 < 1e-8
    deck = [rank for rank in reversed(range(13)) for _ in range(4 * decks)]
    for _ in range(40):
        places = [rng.randrange(size - i) for i in range(3)]
        number = (places[0] * (size - 1) + places[1]) * (size - 2) + places[2]
        first, last = -(-number * 2**55 // tuples), -(-(number + 1) * 2**55 // tuples) - 1
        left = deck.copy()
        cards = [left.pop(place) for place in places]
        for share in (first, last):
            words = SimpleNamespace(words=lambda begin, count, share=share: np.full(count, share << 9, np.uint64))
            shoe = DeckShoe(rules, words)  # type: ignore[arg-type]
            assert [shoe.draw() for _ in range(3)] == cards
        for share, change in ((first - 1, -1), (last + 1, 1)):
            if 0 <= number + change < tuples and 0 <= share < 2**55:
                index, share = divmod(share * size, 2**55)
                second, share = divmod(share * (size - 1), 2**55)
                assert (index * (size - 1) + second) * (size - 2) + (share * (size - 2) >> 55) == number + change


def pair_ps(shoes: np.ndarray, counts: list[int], places: list[tuple[int, int]]) -> list[float]:
    """P-values of the pairs of cards at places of whole shoes, (n, size), by value."""
    full = np.append(counts[:9], sum(counts[9:]))
    size = full.sum()
    both = (np.outer(full, full) - np.diag(full)) / (size * (size - 1))
    at = np.minimum(shoes, 9)
    pairs = [np.bincount(at[:, i] * 10 + at[:, j], minlength=100) for i, j in places]
    return [chi_square_p(seen.tolist(), both.ravel().tolist()) for seen in pairs]


@pytest.mark.parametrize(("decks", "number"), [(1, 100_000), (2, 60_000), slow(6, 200_000), slow(8, 200_000)])
def test_pairs_of_cards_are_those_of_a_shuffled_shoe(decks: int, number: int) -> None:
    """Chi-square over pairs: of one word, of two words, four apart in the middle, the first and the last; error rate
    .02% each. Every shoe is whole. Negative controls: cards that are put back, and shoes that begin with a rank."""
    game = Rules(decks=decks)
    size, counts = game.shoe_size, [*game.shoe_counts]
    keys = np.array([stream_key(8, 0, block) for block in range(4)], np.uint64)
    shoes = Segments(compile_rules(game, [STAND]), 0).cards(keys, 5, number // 4).T
    assert (np.sort(shoes, axis=1) == np.repeat(np.arange(13), 4 * decks)).all()
    places = [(0, 1), (2, 3), (size // 2, size // 2 + 4), (0, size - 1), (size - 2, size - 1)]
    assert min(pair_ps(shoes, counts, places)) > 2e-4
    replaced = np.random.default_rng(1).integers(0, 13, (number, size))
    assert decks > 1 or max(pair_ps(replaced, counts, places)) < 1e-6  # more decks would need more shoes
    assert pair_ps(shoes[shoes[:, 0] > 0], counts, [(0, 1)])[0] < 1e-9


@pytest.mark.parametrize("engine", DEALERS)
@pytest.mark.parametrize("shoe", [name for name, game in SHOES.items() if game.infinite])
def test_an_infinite_shoe_draws_by_its_distribution(shoe: str, engine: str) -> None:
    """Chi-square over ranks and over pairs of neighbouring cards; error rate 0.1% each.

    Negative control: probabilities with a tenth fewer tens must fail.
    """
    game = SHOES[shoe]
    cards = list(islice(ENGINES[engine](game, (9, 0, 0)), 120_000))
    probabilities = [float(p) for p in game.card_probabilities if p]
    ranks = [rank for rank, p in enumerate(game.card_probabilities) if p]
    assert set(cards) == set(ranks)
    cards = np.searchsorted(ranks, cards).tolist()
    counts = np.bincount(cards)
    assert chi_square_p(counts.tolist(), probabilities) > SURE
    pairs = np.bincount(np.array(cards[::2]) * len(ranks) + cards[1::2], minlength=len(ranks) ** 2)
    assert chi_square_p(pairs.tolist(), [p * q for p in probabilities for q in probabilities]) > SURE
    wrong = [float(p) for p in rank_probabilities(game.ten_probability * Fraction(9, 10), game.deck) if p]
    assert chi_square_p(counts.tolist(), wrong) < 1e-9


@pytest.mark.parametrize("engine", DEALERS)
@pytest.mark.parametrize(("shoe", "shuffles"), [("one deck", 2000), ("six decks", 400), ("five Spanish decks", 500)])
def test_a_shuffled_shoe_has_no_favourite_order(shoe: str, shuffles: int, engine: str) -> None:
    """Chi-square over the first, middle and last cards of each shoe, and over neighbours, which have equal ranks less
    often than in an infinite shoe; error rate 0.1% each. Negative control: an infinite shoe's neighbours."""
    game = SHOES[shoe]
    size, ranks = game.shoe_size, sum(map(bool, game.shoe_counts))
    shoes = np.array(list(islice(ENGINES[engine](game, (4, 0, 0)), shuffles * size))).reshape(shuffles, size)
    for place in (0, 1, size // 2, size - 1):
        counts = np.bincount(shoes[:, place], minlength=13)[np.array(game.shoe_counts) > 0]
        assert chi_square_p(counts.tolist(), [1 / ranks] * ranks) > SURE
    same = int((shoes[:, :-1:2] == shoes[:, 1::2]).sum())
    pairs = shuffles * size // 2
    equal = (size // ranks - 1) / (size - 1)
    assert chi_square_p([same, pairs - same], [equal, 1 - equal]) > SURE
    if game.decks == 1:
        assert chi_square_p([same, pairs - same], [1 / 13, 12 / 13]) < 1e-9


@pytest.mark.parametrize("engine", DEALERS)
@pytest.mark.parametrize("decks", range(1, 9))
def test_whole_decks_are_dealt_exactly(decks: int, engine: str) -> None:
    size = 52 * decks
    cards = list(islice(ENGINES[engine](Rules(decks=decks), (1, 2, 3)), 3 * size))
    for shoe in range(3):
        assert Counter(cards[shoe * size : (shoe + 1) * size]) == dict.fromkeys(range(13), 4 * decks)
    assert cards[:size] != cards[size : 2 * size]


@pytest.mark.parametrize(("cut", "dealt"), [("1", 52), ("3/4", 39), ("1/52", 1), ("1/100", 1), ("77/104", 39)])
def test_a_shoe_is_shuffled_before_the_round_after_the_cut(cut: str, dealt: int) -> None:
    shoe = DeckShoe(Rules(decks=1, cut=cut), Stream(1))  # type: ignore[arg-type]
    assert not shoe.begin_round()
    for _ in range(dealt - 1):
        shoe.draw()
    assert not shoe.begin_round()
    shoe.draw()
    assert shoe.begin_round()
    assert not shoe.begin_round()


def test_an_infinite_shoe_is_never_shuffled() -> None:
    shoe = InfiniteShoe(Rules(), Stream(1))
    for _ in range(500):
        shoe.draw()
    assert not shoe.begin_round()


def test_a_shuffle_in_the_middle_of_a_shoe_leaves_later_shuffles_as_they_were() -> None:
    """The cards of shuffle k depend only on k, not on how many cards earlier shoes dealt."""
    short, long = DeckShoe(Rules(decks=2, cut="1/104"), Stream(6)), DeckShoe(Rules(decks=2), Stream(6))  # type: ignore[arg-type]
    short.draw()
    assert short.begin_round()
    for _ in range(104):
        long.draw()
    assert long.begin_round()
    assert [short.draw() for _ in range(104)] == [long.draw() for _ in range(104)]


@pytest.mark.parametrize("ten", [Fraction(4, 13), Fraction(1, 10), Fraction(1, 10**6), Fraction(999, 1000)])
def test_the_limits_of_an_infinite_shoe_hold_the_distribution(ten: Fraction) -> None:
    """To within the precision of a limit, 32 bits."""
    limits = [1 << 32, *rank_limits(rank_probabilities(ten)), 0]
    shares = [Fraction(one - other, 1 << 32) for one, other in itertools.pairwise(limits)]
    assert max(abs(p - q) for p, q in zip(shares, rank_probabilities(ten), strict=True)) <= Fraction(1, 1 << 32)


def test_a_script_is_dealt_as_it_is_written() -> None:
    shoe = ScriptedShoe("A 2\n 3t # the rest is a comment: 99\n\n\tjQk\n#x\n9")
    assert shoe.left == 8
    assert [shoe.draw() for _ in range(8)] == [0, 1, 2, 9, 10, 11, 12, 8]
    assert shoe.left == 0
    assert not shoe.begin_round()


@pytest.mark.parametrize(
    ("text", "where", "what"),
    [
        ("A23\nT1K", "line 2, column 2", "'1'"),
        ("x", "line 1, column 1", "'x'"),
        ("A\n\n  0 # no card", "line 3, column 3", "'0'"),
        ("A, K", "line 1, column 2", "','"),
        ("10", "line 1, column 1", "'1'"),
        ("♠A", "line 1, column 1", "'♠'"),
    ],
)
def test_a_foreign_character_is_shown_by_line_and_column(text: str, where: str, what: str) -> None:
    with pytest.raises(ShoeError) as caught:
        ScriptedShoe(text, "mine.txt")
    assert str(caught.value) == f"mine.txt, {where}: {what} is not a card; cards are A23456789TJQK"


def test_a_script_that_runs_dry_in_the_middle_of_a_round() -> None:
    with pytest.raises(ShoeError, match="the scripted shoe runs out of cards during a round, after 5 cards"):
        play_script(named_rules("easy"), "T6 88 3", ["P, H"])


def test_a_script_file(tmp_path: Path) -> None:
    path = tmp_path / "shoe.txt"
    path.write_text("AK # natural\n", encoding="utf-8")
    assert ScriptedShoe.load(str(path)).cards == [0, 12]
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ShoeError, match="cannot read the scripted shoe"):
        ScriptedShoe.load(str(path))
    with pytest.raises(ShoeError, match=r"cannot read the scripted shoe .*none\.txt"):
        ScriptedShoe.load(str(tmp_path / "none.txt"))
    path.write_text("A\nB\n", encoding="utf-8")
    with pytest.raises(ShoeError, match=r"shoe\.txt, line 2, column 1"):
        ScriptedShoe.load(str(path))


@pytest.mark.parametrize(
    ("degrees", "statistic", "p"), [(12, 21.026, 0.05), (12, 32.909, 0.001), (1, 3.841, 0.05), (168, 215.0, 0.0085)]
)
def test_the_chi_square_test_itself(degrees: int, statistic: float, p: float) -> None:
    """Against published tables (for 168 degrees, the Wilson-Hilferty approximation)."""
    z = ((statistic / degrees) ** (1 / 3) - 1 + 2 / (9 * degrees)) / math.sqrt(2 / (9 * degrees))
    approximate = math.erfc(z / math.sqrt(2)) / 2
    assert upper_gamma(degrees / 2, statistic / 2) == pytest.approx(p if degrees < 100 else approximate, rel=0.02)
    assert chi_square_p([10, 0], [0.0, 1.0]) == 0
