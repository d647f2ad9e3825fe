"""Players that decide by the cards of a hand, in the compiled round; and the merging of states."""

from __future__ import annotations

import numpy as np
import pytest
from support.engines import differences, never, play_rounds
from support.games import ONE_HAND

from bjsim.sim.engine import compiled_rules
from bjsim.sim.engine.compiled_rules import compile_rules, merge_states
from bjsim.sim.engine.play import Walkers
from bjsim.sim.game.hand_states import HandState
from bjsim.sim.game.presets import named_rules
from bjsim.sim.game.shoe import stream_key
from bjsim.sim.game.states import CardStates
from bjsim.sim.running.table import Span
from bjsim.strategies.experiment import compile_players, make_table
from bjsim.strategies.players.catalogue import CATALOGUE
from bjsim.strategies.shoe.players import CardPlayer, TwoCardPlayer

KEY = (15, 0, 0)
ONE = named_rules("vegas-h17").replace(decks=1, surrender=True)
EVERY = [(name, (1, 8)[n % 2], player) for n, name in enumerate(ONE_HAND) for player in (TwoCardPlayer, CardPlayer)]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "decks", "player"), EVERY)
def test_both_engines_pay_the_same_in_every_preset(name: str, decks: int, player: type[TwoCardPlayer]) -> None:
    rules = named_rules(name).replace(decks=decks)
    seats = [player(rules)] * rules.seats
    assert differences(rules, seats, KEY, 20_000, compile_players(rules, seats)) == []


@pytest.mark.slow
def test_players_of_all_kinds_share_a_table() -> None:
    """A chart sees the plain state of a hand."""
    rules = ONE.replace(seats=3, dealer_shows="both", peek=True, max_hands=2, insurance=False)
    seats = [CardPlayer(rules), CATALOGUE["hoyle"].chart(rules), TwoCardPlayer(rules)]
    compiled = compile_players(rules, seats)
    assert differences(rules, seats, KEY, 500, compiled) == []
    assert differences(rules, [seats[1], seats[0], seats[2]], KEY, 100, compiled) != []  # negative control


def test_a_chart_is_played_alike_by_cards() -> None:
    rules = ONE.replace(decks=6, cut="3/4")
    chart = CATALOGUE["optimal"].chart(rules.replace(decks="inf", cut=1))
    plain, by_cards = compile_rules(rules, [chart.policy]), compile_rules(rules, [chart.policy], CardStates(rules))
    assert len(by_cards.add) < len(plain.add)
    traces = [play_rounds(compiled, stream_key(*KEY), 50_000, 50_000)[2] for compiled in (plain, by_cards)]
    assert (traces[0] == traces[1]).all()
    adjusted = [Walkers(compiled, never, rules.unit) for compiled in (plain, by_cards)]
    shoes = [one.play([stream_key(*KEY)], [50_000]).shoes[0] for one in adjusted]
    assert shoes[0] == pytest.approx(shoes[1], rel=1e-3)  # row values may round to another 1/1024


def test_merged_states_are_played_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same rounds with all 3,200 states of hands; and different ones with another player."""
    rules = ONE.replace(max_hands=2)  # of which a table is soon made
    players = [CardPlayer(rules), TwoCardPlayer(rules)]
    merged = [compile_players(rules, [player]) for player in players]
    monkeypatch.setattr(
        compiled_rules, "merge_states", lambda labels, after: (np.arange(len(after)), np.arange(len(after)))
    )
    whole = compile_players(rules, players[:1])
    assert len(merged[1].add) < len(merged[0].add) < 500 < 3000 < len(whole.add)
    cards, two_cards, every = (play_rounds(one, stream_key(*KEY), 50_000, 50_000)[2] for one in (*merged, whole))
    assert (cards == every).all()
    assert (two_cards != every).any()


def test_a_table_of_shoe_players_is_luck_adjusted() -> None:
    """Three standard deviations of the raw mean are about 100 of the adjusted one."""
    rules = named_rules("vegas-s17").replace(decks=2)
    (tally,) = make_table(rules, [CardPlayer(rules)], adjust_luck=True).play(1, 0, [Span(0, 1024)])
    assert tally.luck is not None and tally.luck.se < tally.se / 10


def test_states_tell_the_cards() -> None:
    states = CardStates(ONE)
    hand = HandState()
    for rank in (9, 12, 0):  # T, K, A
        hand = states.add(hand, rank)
    assert hand.held == (0, 9, 9)
    assert states.add(hand, 0).held == () != states.add(hand, 0)
    assert states.columns == (*"23456789TA",)
    both = CardStates(ONE.replace(dealer_shows="both", peek=True, insurance=False))
    assert len(both.columns) == 54 and both.column("KA") not in both.columns and both.column("6T") == "6T"


# --- merging


def random_automaton(states: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return rng.integers(0, 2, (states, 1)), rng.integers(0, states, (states, 2))


def outputs(labels: np.ndarray, after: np.ndarray, state: int, length: int) -> list[int]:
    """The labels after every word of at most this length."""
    at, seen = [state], [int(labels[state, 0])]
    for _ in range(length):
        at = [int(other) for one in at for other in after[one]]
        seen += [int(labels[one, 0]) for one in at]
    return seen


@pytest.mark.parametrize("seed", range(30))
def test_states_are_merged_if_no_word_tells_them_apart(seed: int) -> None:
    """If any word distinguishes two of n states, a word of fewer than n letters does."""
    labels, after = random_automaton(8, seed)
    after[5:] = after[:3]  # some are alike
    labels[5:] = labels[:3]
    first, number = merge_states(labels, after)
    reached = [state for state in range(8) if number[state] >= 0]
    words = {state: outputs(labels, after, state, 8) for state in reached}
    for one in reached:
        assert first[number[one]] in reached
        assert min(number[after[one]]) >= 0
        for other in reached:
            assert (number[one] == number[other]) == (words[one] == words[other])
    assert number[0] == 0 and sorted(set(number[reached])) == list(range(len(first)))
