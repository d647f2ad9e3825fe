"""Side bets next to simulated games: the cards are those of the game, and the results the exact values."""

from __future__ import annotations

from collections import Counter
from itertools import islice

import numpy as np
import pytest

import bjsim
from bjsim.errors import InputError
from bjsim.sim.game.events import Dealt
from bjsim.sim.running.compiled_table import CompiledTable
from bjsim.sim.running.readable_table import ReadableTable
from bjsim.strategies.experiment import make_experiment
from bjsim.strategies.players.find import find_player
from bjsim.strategies.sidebets.bets import built_in
from bjsim.strategies.sidebets.by_hand import BetByHand
from bjsim.strategies.sidebets.exact import sidebet
from bjsim.strategies.sidebets.played import PlayedBet, check_bet, deal_blocks, play_bet

S17 = bjsim.load_rules("vegas-s17")
GAMES = [
    S17.replace(decks="inf"),
    S17.replace(decks=1, cut="0.9"),
    S17.replace(seats=3, decks=2, cut=1),
    S17.replace(decks=6, deal="ppdd", cut="1/4"),
    bjsim.load_rules("spanish-21").replace(seats=2),
]


@pytest.mark.parametrize("game", GAMES, ids=str)
@pytest.mark.slow_cases("spanish-21")
def test_the_cards_are_those_of_the_readable_round(game: bjsim.Rules) -> None:
    """Rank by rank, for every round of a block; and each shoe has every card as often as it should."""
    players = [find_player("lim16", game)] * game.seats
    experiment = make_experiment(game, players, 700, 5)
    (table,) = experiment.groups
    assert isinstance(table, CompiledTable)
    ((trace, deal),) = deal_blocks(experiment, 0, table, 700, 0)
    readable = ReadableTable(game, players).results(5, 0, 0)
    for number, played in enumerate(islice(readable, 700)):
        dealt = [event.card for event in played.events if isinstance(event, Dealt)]
        kinds = deal.kinds[deal.start[number] : deal.end[number]]
        assert "".join("A23456789TJQK"[kind // 4] for kind in kinds) == "".join(dealt)
    assert len(trace) == 700
    size = game.shoe_size
    for first in range(0, len(deal.kinds) if size else 0, size or 1):
        counts = Counter(deal.kinds[first : first + size].tolist())
        assert set(counts.values()) == {int(game.decks)}


def test_suits_of_an_infinite_shoe_are_equally_likely() -> None:
    experiment = make_experiment(GAMES[0], [find_player("lim16", GAMES[0])], 60_000, 1)
    counts = np.zeros(4)
    for _, deal in deal_blocks(experiment, 0, experiment.groups[0], 60_000, 0):  # type: ignore[arg-type]
        counts += np.bincount(deal.kinds % 4, minlength=4)
    n = counts.sum()
    assert np.abs(counts - n / 4).max() < 4 * (n * 3 / 16) ** 0.5


@pytest.mark.slow
@pytest.mark.parametrize("decks", [*"12345678", "inf", "spanish"])
def test_a_million_rounds_agree_with_the_exact_values(decks: str) -> None:
    """All bets on the same cards; 4 standard errors."""
    game = bjsim.load_rules("spanish-21") if decks == "spanish" else S17.replace(decks=decks, cut="1/2")
    if decks == "1":
        game = game.replace(cut=0)  # a cut card costs over-13 half a per cent here
    experiment = make_experiment(game, [find_player("optimal", game)], 1_000_000, 11)
    bets = {}
    for name, bet in built_in().items():
        if not bet.tables or (f"spanish {game.decks}" if decks == "spanish" else decks) in bet.tables:
            bets[name] = check_bet(name, game)
    assert len(bets) >= 9
    sums = {name: np.zeros(3) for name in bets}
    for _, deal in deal_blocks(experiment, 0, experiment.groups[0], 1_000_000, 24):  # type: ignore[arg-type]
        for name, (deals, _) in bets.items():
            profit, offered = deals.profits(deal, 1, 0)
            sums[name] += offered.sum(), profit[offered].sum(), profit[offered] @ profit[offered]
    for name, (_, figures) in bets.items():
        n, total, square = sums[name]
        error = (square / n - (total / n) ** 2) ** 0.5 / n**0.5
        assert abs(total / n - float(figures.ev)) < 4 * error, name
        assert error == pytest.approx(figures.sd / n**0.5, rel=0.25), name


def test_another_number_of_decks_does_not_agree() -> None:
    """Negative control."""
    game = S17.replace(decks=1)
    (played,) = bjsim.play(game, "lim17", hands=100_000, seed=1, sidebet="perfect-pairs").sidebets
    assert abs(played.z) < 4
    assert abs(played.mean - float(sidebet("perfect-pairs", 2).ev)) > 10 * played.se


@pytest.mark.parametrize("decks", ["inf", 2])
def test_the_main_game_does_not_change_by_a_bit(decks: object) -> None:
    game = S17.replace(decks=decks, seats=2)
    plain = bjsim.play(game, ["lim16", "lim15"], hands=10_000, seed=4, tables=2)
    beside = bjsim.play(game, ["lim16", "lim15"], hands=10_000, seed=4, tables=2, sidebet="buster")
    assert beside.progress.tallies == plain.progress.tallies
    assert [bet.bot for bet in beside.sidebets] == ["lim16", "lim15"]
    assert {bet.rounds for bet in beside.sidebets} == {10_000}
    assert beside.sidebets[0].mean == beside.sidebets[1].mean  # on the dealer
    assert "sidebets" not in plain.to_json()
    assert beside.to_json()["sidebets"][0]["bet"] == "buster"


def test_common_cards_and_readable_tables_are_dealt_too() -> None:
    def stand(view: bjsim.View) -> str:
        return "S"

    both = bjsim.play(S17, ["optimal", "lim15"], hands=5_000, seed=4, common_cards=True, sidebet="over-13").sidebets
    assert both[0].mean == pytest.approx(both[1].mean, abs=0.05)
    slow = bjsim.play(S17, stand, hands=3_000, seed=4, sidebet="over-13").sidebets[0]
    assert abs(slow.z) < 4


def test_the_covariance_is_that_of_the_bets_by_round() -> None:
    """Insurance and a dealer who peeks: the bet wins when the game is lost, unless the player has a natural."""
    (found,) = bjsim.play(S17.replace(decks="inf"), "optimal", hands=200_000, seed=2, sidebet="insurance").sidebets
    natural = 4 / 13
    lost = -1 + 2 / 13 * natural  # given a dealer's natural
    rest = bjsim.known(S17.replace(decks="inf"), "up").values["A"]
    mean = (rest - natural * lost) / (1 - natural)
    assert found.covariance == pytest.approx(3 * natural * (1 - natural) * (lost - mean), abs=0.03)


def test_a_bet_by_hand_agrees_with_the_exact_value() -> None:
    """Suits drawn as the cards come, in one deck, with the cards of rounds in between."""
    for name in ("perfect-pairs", "lucky-ladies", "insurance"):
        game = S17.replace(decks=1, cut="1/2")
        bet, profits = BetByHand(name, game, 9), []
        for played in islice(ReadableTable(game, [find_player("lim16", game)]).results(3, 0, 0), 6_000):
            if settled := bet.settle(played.events):
                profits.append(float(settled.profit))
        exact = sidebet(name, 1)
        error = exact.sd / len(profits) ** 0.5
        assert abs(np.mean(profits) - float(exact.ev)) < 4 * error


@pytest.mark.parametrize(
    ("game", "bet", "says"),
    [
        (S17, "22+3", "no side bet is called '22+3'"),
        (S17.replace(decks="inf"), "match-the-dealer", "has no pay table for inf decks"),
        (S17.replace(peek=False, deal="pdp"), "buster", "sidebet: buster needs a hole card, which vegas-s17 does not"),
        (bjsim.load_rules("blackjack-p").replace(ten_probability="0.3"), "21+3", "sidebet needs decks of cards"),
    ],
)
def test_errors(game: bjsim.Rules, bet: str, says: str) -> None:
    with pytest.raises(InputError, match=says.replace("+", "\\+")):
        bjsim.play(game, "lim17", hands=100, sidebet=bet)


def test_a_result_without_a_spread_has_no_z() -> None:
    assert PlayedBet("a", "b", 3, -1.0, 0.0, -0.5, 0.0).z == 0
    experiment = make_experiment(S17, [find_player("lim17", S17)], 10, 1)
    assert play_bet("insurance", experiment, ["lim17"], [0])[0].rounds == 0
