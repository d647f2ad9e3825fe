"""Counting systems: published tags, initial counts, divisors and roundings, and files of one's own."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bjsim.errors import InputError
from bjsim.strategies.counting.system import (
    IN_DECK,
    CountingSystem,
    built_in_systems,
    find_system,
    load_system,
    parse_tags,
)
from bjsim.strategies.counting.tables import decision_counts, running_range

SYSTEMS = tuple(built_in_systems())
HALVES = "-1 1/2 1 1 3/2 1 1/2 0 -1/2 -1"


def test_the_systems_of_the_field_are_built_in() -> None:
    assert set(SYSTEMS) == {
        "hilo", "ko", "red7", "hiopt1", "hiopt2", "omega2", "zen", "halves", "uston-apc", "revere",
        "hiopt1-aces", "hiopt2-aces", "omega2-aces", "uston-apc-aces",
    }  # fmt: skip


def test_only_ko_and_red7_are_unbalanced() -> None:
    assert {name: system.imbalance for name, system in built_in_systems().items() if system.imbalance} == {
        "ko": 4, "red7": 2,
    }  # fmt: skip


def test_initial_counts_and_pivots() -> None:
    """KO: 0, -4, -20, -28 for 1, 2, 6, 8 decks."""
    assert [find_system("ko").initial_count(decks) for decks in (1, 2, 6, 8)] == [0, -4, -20, -28]
    assert {find_system("ko").pivot(decks) for decks in range(1, 9)} == {4}
    assert {find_system("red7").pivot(decks) for decks in range(1, 9)} == {0}


def test_running_and_true_count() -> None:
    """Hi-Lo, six decks: 20 small cards and 8 tens seen, 284 unseen: 12 / (284 / 52) = 2.197."""
    exact = find_system("hilo").replace(rounding="exact")
    running = exact.running_count("23456" * 4 + "TJQK" * 2, 6)
    assert running == 12
    assert exact.true_count(running, 284, 6) == Fraction(12 * 52, 284)
    assert find_system("hilo").count(running, 284, 6) == 2


def test_bets_by_a_side_count_of_aces() -> None:
    """Hi-Opt II, two decks, half dealt: running count +3 and 6 aces left where 4 are expected, 3 + 2 x 2 in a deck."""
    system = find_system("hiopt2-aces")
    assert (system.count(3, 52, 2), system.bet_count(3, 6, 52, 2), system.bet_count(3, 3, 52, 2)) == (3, 7, 1)
    assert system.bet_count(3, 6, 39, 2) == 12  # (3 + 2 x (6 - 3)) / (3/4)
    assert system.bet_count(0, 1, 13, 1) == 0  # below the least divisor, too, as many aces as expected change nothing
    assert system.replace(divisor="none").bet_count(3, 6, 52, 2) == 7
    assert find_system("hiopt2").bet_count(3, 6, 52, 2) == 3
    assert system.tags == find_system("hiopt2").tags and system.bet_tags == (-2, *system.tags[1:])
    assert system.full_title == "Hi-Opt II with a side count of aces"


def test_halves_are_exact() -> None:
    halves = find_system("halves")
    assert halves.scale == 2
    assert halves.scaled(6).tags == (-2, 1, 2, 2, 3, 2, 1, 0, -1, -2)
    assert halves.running_count("259", 6) == Fraction(3, 2)


@pytest.mark.parametrize(
    ("divisor", "rounding", "unseen", "cards"),
    [
        ("exact", "round", 137, 137), ("full", "round", 137, 156), ("full", "round", 130, 156),
        ("full", "down", 137, 104), ("full", "up", 105, 156), ("half", "round", 137, 130), ("half", "up", 131, 156),
        ("quarter", "round", 137, 143), ("quarter", "down", 142, 130),
        ("exact", "round", 3, 26), ("full", "down", 9, 26),
    ],
)  # fmt: skip
def test_divisors(divisor: str, rounding: str, unseen: int, cards: int) -> None:
    system = find_system("hilo").replace(divisor=divisor, divisor_rounding=rounding)
    assert system.divisor_cards(unseen) == cards


@pytest.mark.parametrize(
    ("rounding", "counts"),
    [("floor", (2, -3)), ("truncate", (2, -2)), ("round", (3, -3)), ("exact", (Fraction(5, 2), Fraction(-5, 2)))],
)
def test_roundings(rounding: str, counts: tuple[Fraction, Fraction]) -> None:
    system = find_system("hilo").replace(rounding=rounding)
    assert (system.true_count(5, 104, 6), system.true_count(-5, 104, 6)) == counts


def test_a_true_count_of_an_unbalanced_system_is_zero_off_the_top_and_on_average() -> None:
    """KO, six decks, half dealt with the average cards: RC = -20 + 12 = -8, (-8 + 20 - 4 x 3) / 3 = 0."""
    true_ko = find_system("ko").replace(divisor="exact")
    assert true_ko.true_count(-20, 312, 6) == 0
    assert true_ko.true_count(-8, 156, 6) == 0
    assert true_ko.true_count(4, 156, 6) == 4  # at the pivot, the true count is the imbalance
    assert find_system("ko").count(-8, 156, 6) == -8


def test_a_count_of_spanish_decks_is_zero_off_the_top_and_on_average() -> None:
    """Hi-Lo, a deck of 48: 20 low cards, 12 tens and 4 aces, so that the running count ends at 4 for each deck."""
    hilo = find_system("hilo").replace(deck="spanish")
    assert hilo.imbalance == 4
    assert hilo.true_count(0, 288, 6) == 0
    assert hilo.true_count(12, 144, 6) == 0  # three decks seen, 4 each
    assert hilo.true_count(24, 144, 6) == 4  # at the pivot, the true count is the imbalance
    assert [hilo.replace(divisor=name).divisor_cards(137) for name in ("full", "half", "quarter")] == [144, 144, 132]
    aces = hilo.replace(side_aces=1, rounding="exact")
    assert aces.bet_count(0, 24, 288, 6) == 0 and aces.bet_count(0, 25, 288, 6) == Fraction(1, 6)


@given(
    name=st.sampled_from(SYSTEMS),
    divisor=st.sampled_from(["exact", "quarter", "half", "full"]),
    divisor_rounding=st.sampled_from(["round", "up", "down"]),
    deck=st.sampled_from(["standard", "spanish"]),
    decks=st.integers(1, 8),
    data=st.data(),
)
def test_the_integers_for_compiled_code_say_the_same(
    name: str, divisor: str, divisor_rounding: str, deck: str, decks: int, data: st.DataObject
) -> None:
    system = find_system(name).replace(divisor=divisor, divisor_rounding=divisor_rounding, deck=deck)
    counts = [data.draw(st.integers(0, count * decks)) for count in IN_DECK[deck]]
    seen, scaled = sum(counts), system.scaled(decks)
    running = scaled.initial + sum(tag * count for tag, count in zip(scaled.tags, counts, strict=True))
    assert Fraction(running, system.scale) == system.running_count(counts, decks)
    tops, bottoms = np.broadcast_arrays(*decision_counts(scaled, decks))
    at = seen, running - running_range(scaled, decks)[0]
    unseen = {"standard": 52, "spanish": 48}[deck] * decks - seen
    exact = system.true_count(Fraction(running, system.scale), unseen, decks)
    assert Fraction(int(tops[at]), int(bottoms[at])) == exact


def test_every_card_seen_gives_the_pivot() -> None:
    for system in built_in_systems().values():
        for decks in (1, 6):
            assert system.running_count([count * decks for count in IN_DECK["standard"]], decks) == system.pivot(decks)


def test_a_file_of_ones_own(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(f'tags = "{HALVES}"\ndivisor = "half"\ntiming = "round"\n')
    mine = find_system(path)
    assert mine == load_system(str(path))
    assert (mine.name, mine.divisor, mine.timing, mine.tags[4]) == ("mine", "half", "round", Fraction(3, 2))
    path.write_text('system = "hilo"\nrounding = "truncate"\n')
    assert load_system(path) == find_system("hilo").replace(name="mine", rounding="truncate")
    path.write_text('system = "omega2"\nside_aces = 1.5\n')
    assert load_system(path) == find_system("omega2").replace(name="mine", side_aces=Fraction(3, 2))
    path.write_text("tags = [-1, 0.5, 1, 1, 1.5, 1, 0.5, 0, -0.5, -1]\n")
    assert load_system(path).tags == find_system("halves").tags


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("tags = [1, 2]", "tags: give 10 numbers"),
        ("", "tags are missing"),
        ('tags = "0 0 0 0 0 0 0 0 0 0"', "not all equal"),
        ('tags = "1e9999999 1 1 1 1 1 0 0 0 -1"', "use a number such as"),
        ('system = "hilo"\ndivisor = "third"', "use exact, quarter, half, full, none"),
        ('system = "hilo"\ndivizor = "half"', "did you mean divisor?"),
        ('system = "hilo"\nleast_divisor = 0', "least_divisor"),
        ('system = "hilo"\ntitle = 3', "title = 3"),
        ('system = "omega2"\nside_aces = -1', "side_aces = -1 is not accepted; use the weight of an ace"),
        ('system = "omega2"\nside_aces = true', "side_aces: 'True' is not accepted; use a number"),
        ('tags = "1 0 0 0 0 0 0 0 0 0"\nside_aces = 1', "side_aces = 1 is not accepted"),
        ('system = "mine.toml"', "system = 'mine.toml'"),
        ("tags = [", "not valid TOML"),
    ],
)
def test_wrong_files(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(text)
    with pytest.raises(InputError, match="mine") as error:
        load_system(path)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_names() -> None:
    assert find_system("HiLo").name == "hilo"
    with pytest.raises(InputError, match="did you mean hilo"):
        find_system("hi-lo")
    with pytest.raises(InputError, match="systems are hilo, ko"):
        find_system("xyz")
    with pytest.raises(InputError, match="cannot read"):
        find_system("missing.toml")


def test_wrong_arguments() -> None:
    with pytest.raises(InputError, match="10 counts"):
        find_system("hilo").running_count([1, 2], 6)
    with pytest.raises(InputError, match="not a card"):
        find_system("hilo").running_count("TX", 6)
    with pytest.raises(InputError, match="rounding = 'up'"):
        CountingSystem("mine", find_system("hilo").tags, rounding="up")


def test_tags_are_accepted_up_to_a_hundred() -> None:
    assert parse_tags("100 1 1 1 1 1 0 0 0 -100")[::9] == (100, -100)
    for tags in ("101 1 1 1 1 1 0 0 0 -1", "1 1 1 1 1 1 0 0 0 -101", "1 1 1 1 1 1 1 1 1 1"):
        with pytest.raises(InputError, match="from -100 to 100 and not all equal"):
            parse_tags(tags)
