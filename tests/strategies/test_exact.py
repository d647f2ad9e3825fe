"""The exact solver: floats against fractions, optimality, the value of options, and games without a finite value."""

from __future__ import annotations

import itertools
import math
import random
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.brute import Brute
from support.games import few, random_chart, rules, slow

from bjsim.errors import InputError
from bjsim.sim.game.presets import PRESETS, named_rules
from bjsim.sim.game.rules import Rules
from bjsim.strategies.charts.chart import CODES, Chart
from bjsim.strategies.exact.solver import Solver
from bjsim.strategies.players.catalogue import CATALOGUE
from bjsim.strategies.shoe.solver import ShoeSolver

BLACKJACK_P = named_rules("blackjack-p")
PS = [Fraction(k, 100) for k in (5, 10, 20, 30, 32, 33, 40, 45)]


@pytest.fixture(scope="module")
def solvers() -> dict[str, Solver]:
    """A solver in floats for each preset; its shoe is infinite for any number of decks."""
    return {name: Solver(named_rules(name)) for name in PRESETS}


@pytest.mark.parametrize("name", few(PRESETS))
def test_floats_and_fractions_agree(solvers: dict[str, Solver], name: str) -> None:
    """The value of the game and of every action in every situation, and the charts."""
    rough, exact = solvers[name], Solver(named_rules(name), Fraction)
    assert isinstance(exact.value, Fraction)
    assert rough.value == pytest.approx(float(exact.value), abs=1e-12)
    assert rough.tie_value == pytest.approx(float(exact.tie_value), abs=1e-12)
    for column, means in rough.best.items():
        assert means.column.probabilities == pytest.approx(
            {o: float(p) for o, p in exact.columns[column].probabilities.items()}, abs=1e-12
        )
        for state in rough.situations.values():
            for letter in rough.states.legal(state):
                exactly = float(exact.best[column].act(state, letter))
                assert means.act(state, letter) == pytest.approx(exactly, abs=1e-12)
    differing = [place for place, code in rough.chart.cells.items() if exact.chart.cells[place] != code]
    for row, column in differing:  # only if two actions have the same value
        state, means = rough.situations[row], exact.best[column]
        evs = sorted((means.act(state, letter) for letter in exact.states.legal(state)), reverse=True)
        assert evs[0] == evs[1] or exact.chart.cells[row, column][0] == rough.chart.cells[row, column][0]


@pytest.mark.parametrize("name", PRESETS)
def test_the_best_chart_has_the_value_of_the_game(solvers: dict[str, Solver], name: str) -> None:
    """The limits of charts (they do not tell split hands apart) cost nothing in these games."""
    solver = solvers[name]
    assert solver.ev(solver.chart.policy).value == pytest.approx(solver.value, abs=1e-13)


@pytest.mark.parametrize("name", few(PRESETS))
def test_no_other_cell_is_better(solvers: dict[str, Solver], name: str) -> None:
    """15 cells of each game with another code: the value of the changed chart is never higher."""
    solver = solvers[name]
    rng = random.Random(name)
    worse = 0
    for place in rng.sample(sorted(solver.chart.cells), 15):
        code = rng.choice([code for code in CODES if code != solver.chart.cells[place]])
        changed = Chart("changed", solver.rules, {**solver.chart.cells, place: code})
        value = solver.ev(changed.policy).value
        assert value <= solver.value + 1e-14, (place, code)
        worse += value < solver.value - 1e-9
    assert worse >= 5


@pytest.mark.parametrize("name", few(PRESETS))
def test_no_named_or_random_strategy_is_better(solvers: dict[str, Solver], name: str) -> None:
    solver = solvers[name]
    charts = [CATALOGUE[other].chart(solver.rules) for other in ("lim15", "lim17", "mimic", "hoyle")]
    for chart in [*charts, random_chart(solver.rules, 1), random_chart(solver.rules, 2, 3)]:
        assert solver.ev(chart.policy).value < solver.value


@settings(max_examples=8)
@given(st.data())
def test_no_random_chart_is_better_in_random_games(data: st.DataObject) -> None:
    game = data.draw(rules(decks=math.inf, seats=1))
    solver = Solver(game)
    chart = random_chart(game, data.draw(st.integers(0, 2**32)), data.draw(st.integers(0, 5)))
    assert solver.ev(chart.policy).value <= solver.value + 1e-12


@settings(max_examples=12)
@given(rules(decks=math.inf, seats=1, resplit_aces=False, hit_split_aces=False))
def test_the_best_chart_has_the_value_of_random_games(game: Rules) -> None:
    """A split that is right once is right again, and so are the fallbacks of surrender and doubling. (A chart has one
    row for a pair of aces and for a soft 12, so games in which split aces play on are left out. So are those in which
    other hands may double later than split hands, as one row has both: a hand may be hit for that double; those in
    which hands win at once against a natural that takes less from split hands; those in which it takes busted bets and
    one more, which split hands play differently; and those with a charlie in which hands double more than once, as rows
    of doubled hands do not count their cards.)"""
    if game.charlie != "none":
        game = game.replace(max_doubles=1)
    if (game.charlie, game.bonuses, game.player_21_wins) != ("none", "none", False):
        game = game.replace(no_hole_loses="all")
    if game.no_hole_loses == "busted-plus-one":
        game = game.replace(no_hole_loses="all")
    if game.double_cards == "any":
        game = game.replace(double_after_split=True)
    solver = Solver(game)
    assert solver.ev(solver.chart.policy).value == pytest.approx(solver.value, abs=1e-12)


FREEDOM: dict[str, list[object]] = {  # field: values, each at least as good for the player as the one before
    "surrender": ["none", "late", "early-ten", "early"],
    "surrender_after_split": [False, True],
    "double_on": ["never", "11-11", "9-11", "4-20", "any"],
    "double_cards": ["two", "any"],
    "player_21_wins": [False, True],
    "double_after_split": [False, True],
    "max_hands": [2, 3, 4, 8, 16, "inf"],
    "max_ace_hands": [3, 4, 8, 16, "inf"],
    "resplit_aces": [False, True],
    "hit_split_aces": [False, True],
    "split_tens_blackjack": [False, True],
    "split_aces_blackjack": [False, True],
    "stand_on_21": [True, False],
    "blackjack_pays": [1, "6/5", "3/2", 2],
    "ties": ["lose", "push"],
    "bonuses": ["none", "win", "at-once"],
    "dealer_22_pushes": [True, False],
    "charlie": ["none", 7, 6, 5],
    "natural_beats_natural": [False, True],
    "no_hole_loses": ["all", "busted-plus-one", "original"],
    "free_doubles": ["none", "9-11", "5-18"],
    "free_double_cards": ["two", "any"],
    "free_splits": ["none", "A2356789", "A23456789T"],
}


NEEDED: dict[str, dict[str, object]] = {
    "max_hands": {"no_hole_loses": "all", "free_splits": "none"},
    "max_ace_hands": {"resplit_aces": True, "no_hole_loses": "all", "free_splits": "none"},
    "free_doubles": {"no_hole_loses": "all", "surrender_after_split": False},
    "free_double_cards": {"free_doubles": "9-11", "no_hole_loses": "all", "surrender_after_split": False},
    "free_splits": {"max_hands": 4, "max_ace_hands": "none", "no_hole_loses": "all", "surrender_after_split": False},
    "resplit_aces": {"max_ace_hands": "none", "max_hands": 4},
    "surrender": {"surrender_after_split": False, "peek": True, "deal": "pdpd"},
    "surrender_after_split": {
        "surrender": "late",
        "no_hole_loses": "all",
        "free_splits": "none",
        "free_doubles": "none",
    },
    "no_hole_loses": {  # `original` is taken even if all hands of a split are naturals
        "split_tens_blackjack": False,
        "split_aces_blackjack": False,
        "attack": False,
        "free_splits": "none",
        "free_doubles": "none",
        "peek": False,
        "surrender": "none",
        "player_21_wins": False,
        "natural_beats_21": True,
        "max_hands": 3,
    },
}


@pytest.mark.parametrize("games", [1, slow(3)])
@pytest.mark.parametrize("field", FREEDOM)
def test_more_freedom_and_better_pay_never_cost(field: str, games: int) -> None:
    fixed = {"ties": "push", "naturals": "both", "raises": False, "ten_probability": "4/13", "dealer_shows": "up"}
    if field in ("surrender", "free_doubles", "free_splits"):
        fixed |= {"max_doubles": 1, "surrender_after_double": False}  # these need some of their values
    fixed |= NEEDED.get(field, {})

    @settings(max_examples=games)
    @given(rules(decks=math.inf, seats=1, bonuses="none", charlie="none", **fixed))
    def check(game: Rules) -> None:
        values = [Solver(game.replace(**{field: value})).value for value in FREEDOM[field]]
        assert all(after >= before - 1e-13 for before, after in itertools.pairwise(values)), values

    check()


@pytest.mark.parametrize("field", FREEDOM)
def test_the_rules_have_a_value(field: str) -> None:
    """Negative control: a game in which the limit matters."""
    game = named_rules("vegas-s17").replace(
        decks="inf", peek=False, split_tens_blackjack=field != "split_tens_blackjack", ten_probability="2/5",
        resplit_aces=field in ("max_hands", "max_ace_hands"), stand_on_21=field != "stand_on_21",
        surrender=field == "surrender_after_split",
    )  # fmt: skip
    if field == "surrender":
        game = game.replace(peek=True)
    if field == "free_double_cards":
        game = game.replace(free_doubles="9-11")
    if field == "stand_on_21":
        game = game.replace(
            naturals="none", insurance=False, bonuses="at-once"
        )  # then a soft 21 may go on to five cards
    values = [Solver(game.replace(**{field: value})).value for value in FREEDOM[field]]
    assert values[-1] > values[0] + 1e-7


def test_effects_of_rules_match_published_ones() -> None:
    """Signs that every book gives: hitting soft 17 and paying 6:5 cost, surrender and peeking help."""
    vegas = Solver(named_rules("vegas-s17")).value
    h17 = Solver(named_rules("vegas-h17")).value
    assert -0.0025 < h17 - vegas < -0.0019
    assert -0.0145 < Solver(named_rules("vegas-s17").replace(blackjack_pays="6/5")).value - vegas < -0.0130
    assert 0.0005 < Solver(named_rules("atlantic-city")).value - vegas < 0.0012
    assert -0.0016 < Solver(named_rules("vegas-s17").replace(peek=False)).value - vegas < -0.0008


# --- ties that are replayed


@pytest.mark.parametrize("name", ["neller", "neller-v1", "neller-v2", "neller-v3"])
def test_a_replayed_tie_has_the_value_of_the_game(solvers: dict[str, Solver], name: str) -> None:
    """The fixed point: with the tie value V the best play of a round has the value V, and V = net / (1 - tied)."""
    solver = solvers[name]
    states = solver.states
    value = sum(
        column.probability * float(p) * solver.best[label].value(start)
        for label, column in solver.columns.items()
        for start, p in states.starts.items()
    )
    assert solver.tie_value == pytest.approx(solver.value, abs=1e-14)
    assert value == pytest.approx(solver.value, abs=1e-13)
    ev = solver.ev(solver.chart.policy)
    assert 0.05 < ev.tied < 0.15
    assert ev.value == pytest.approx(ev.net / (1 - ev.tied), abs=1e-15)


def test_a_tie_that_is_replayed_is_not_a_push(solvers: dict[str, Solver]) -> None:
    """With a push the same play wins `net` per round, which is closer to 0 than the value with replays."""
    neller = solvers["neller"]
    push = Solver(neller.rules.replace(ties="push"))
    assert push.value == pytest.approx(push.ev(neller.chart.policy).net, abs=1e-3)
    assert neller.value < push.value < 0
    assert neller.ev(neller.chart.policy).tied > 0 == push.ev(push.chart.policy).tied


def test_a_dealers_natural_at_once_changes_nothing_where_stakes_are_fixed() -> None:
    """In neller the only actions are hit and stand, so the time at which the dealer's natural shows does not matter."""
    fixed, doubling = (named_rules(name).replace(naturals="both") for name in ("neller", "neller-v3"))
    assert Solver(fixed).value == pytest.approx(Solver(fixed.replace(peek=True)).value, abs=1e-12)
    assert Solver(doubling).value < Solver(doubling.replace(peek=True)).value


# --- BlackJack(p)


@pytest.fixture(scope="module")
def sweep() -> dict[Fraction, Solver]:
    return {p: Solver(BLACKJACK_P.replace(ten_probability=p)) for p in PS}


@pytest.mark.parametrize("p", PS, ids=float)
def test_policies_for_other_probabilities_are_sensible(sweep: dict[Fraction, Solver], p: Fraction) -> None:
    """Codes are valid; no chart hits hard 18 or more, or soft 19 or more, or stands on 8 or less, or doubles hard 13 or
    more, or hits a total above one that stands; the value of standing rises with the total, and a hit of 11 or less
    never loses against standing."""
    solver = sweep[p]
    cells = solver.chart.cells
    assert "resplitting" not in solver.infinite_because
    assert math.isfinite(solver.value) and -0.05 < solver.value < 0.2
    for column, means in solver.best.items():
        for row in ("18", "19", "20"):
            assert cells[row, column] == "S"
        assert cells["A8", column] in ("S", "Ds") and cells["A9", column] in ("S", "Ds")
        for points in range(5, 9):
            assert cells[str(points), column] in ("H", "Dh")
        assert cells["TT", column] in ("S", "P")
        assert not any(cells[str(points), column].startswith("D") for points in range(13, 20))
        assert all(cells[str(n), column] != "S" or cells[str(n + 1), column] == "S" for n in range(12, 17))
        stands = [means.act(solver.situations[str(points)], "S") for points in range(12, 21)]
        assert stands == sorted(stands)
        for points in range(5, 12):
            state = solver.situations[str(points)]
            assert means.act(state, "H") > means.act(state, "S")
    assert cells["88", "6"] == "P"
    for state in solver.states.reachable():
        legal = solver.states.legal(state)
        for column in solver.states.columns:
            assert not legal or solver.chart.policy(state, column, legal) in legal


def test_first_actions_are_the_best_by_brute_force(sweep: dict[Fraction, Solver]) -> None:
    """Every two cards that are not a pair, against four open cards, for every p."""
    for p, solver in sweep.items():
        for up, column in ((1, "A"), (2, "2"), (6, "6"), (10, "T")):
            brute = Brute(p, up)
            for one in range(1, 11):
                for other in range(one + 1, 11):
                    if (one, other) == (1, 10):
                        continue
                    ev = {"S": brute.stand((one, other)), "H": brute.hit((one, other))}
                    ev["D"] = brute.double((one, other))
                    row = f"A{other}" if one == 1 else str(one + other)
                    assert ev[solver.chart.cells[row, column][0]] == pytest.approx(max(ev.values()), abs=1e-12)


def test_the_value_is_continuous_in_p() -> None:
    """Between 0.30 and 0.34 it rises by less than 0.001 for each 0.001 of p, without a jump anywhere."""
    values = [Solver(BLACKJACK_P.replace(ten_probability=Fraction(k, 1000))).value for k in range(300, 341, 2)]
    steps = [after - before for before, after in itertools.pairwise(values)]
    assert all(0 < step < 0.002 for step in steps)


@pytest.mark.parametrize("p", [Fraction(1, 2), Fraction(6, 10), Fraction(9, 10), Fraction(97, 100)])
def test_endless_splits_of_tens_have_an_unbounded_value(p: Fraction) -> None:
    """From p = 1/2 on each split hand becomes two more on average, without end: the value is infinite where one split
    gains, by brute force, and finite against all other cards."""
    solver = Solver(BLACKJACK_P.replace(ten_probability=p))
    gains = []
    for up, column in enumerate("A23456789T", 1):
        brute = Brute(p, up)
        half = sum(q * brute.first(tuple(sorted((10, card)))) for card, q in brute.card_probabilities.items())
        gains += [column] * (2 * half > brute.stand((10, 10)))
    infinite = [column for column, means in solver.best.items() if means.value(solver.situations["TT"]) == math.inf]
    assert set(infinite) == set(gains)
    assert {solver.chart.cells["TT", column] for column in gains} == {"P"}
    assert 0 < len(infinite) < 10
    assert solver.value == math.inf
    assert f"resplitting TT against {infinite[0]} " in solver.infinite_because
    assert all(math.isfinite(solver.best[column].act(solver.situations["20"], "S")) for column in solver.columns)


def test_an_infinite_value_over_fractions() -> None:
    solver = Solver(BLACKJACK_P.replace(ten_probability="1/2"), Fraction)
    assert solver.value == math.inf
    assert "resplitting TT against 2 " in solver.infinite_because


def test_games_with_a_limit_are_finite_at_any_p() -> None:
    for p in ("1/100", "1/2", "99/100"):
        solver = Solver(BLACKJACK_P.replace(ten_probability=p, max_hands=16))
        assert math.isfinite(solver.value)
        assert "resplitting" not in solver.infinite_because


@pytest.mark.parametrize("cards", ["", "T", "TT2"])
@pytest.mark.parametrize("solver", [Solver, ShoeSolver])
def test_what_is_no_hand_is_refused(solver: type[Solver] | type[ShoeSolver], cards: str) -> None:
    """No cards at all were answered with a sentence about values to unpack."""
    with pytest.raises(
        InputError, match=f"^{f'{cards} is not a hand' if cards else 'there are no cards'} to decide on; give two"
    ):
        solver(named_rules("vegas-s17").replace(decks=1)).hand_values(cards, "6")
