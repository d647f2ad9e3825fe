"""The decision process of a game against the exact solver, which computes the same values differently."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from support.games import ONE_HAND, few

from bjsim.errors import InputError
from bjsim.sim.game.presets import PRESETS
from bjsim.sim.game.rules import Rules, RulesError
from bjsim.strategies.exact.solver import Solver
from bjsim.strategies.mdp.blackjack import REASONS, GameProcess, find_reasons, game_mdp, measure_size, plain_size
from bjsim.strategies.mdp.model import FiniteMDP, build_mdp
from bjsim.strategies.mdp.solve import evaluate, start_value, value_iteration

NELLER = PRESETS["neller"].rules
GAMES = {
    **{name: PRESETS[name].rules.replace(decks="inf") for name in ONE_HAND},
    "p = 0.45": PRESETS["blackjack-p"].rules.replace(ten_probability="0.45"),
    "resplit aces": PRESETS["vegas-s17"].rules.replace(decks="inf", resplit_aces=True, hit_split_aces=True),
    "three hands": PRESETS["european"].rules.replace(decks="inf", max_hands=3, surrender=True, double_on="any"),
    "all variants": NELLER.replace(split_by="rank", max_hands=2, double_on="any", bonuses="win", blackjack_pays="3/2"),
    "at once": NELLER.replace(bonuses="at-once", ties="push"),
    "original bet": PRESETS["european"].rules.replace(decks="inf", no_hole_loses="original", surrender=True, charlie=6),
    "busted plus one": PRESETS["european"].rules.replace(
        decks="inf", no_hole_loses="busted-plus-one", surrender=True, surrender_after_split=True
    ),
    "original bet, endless": PRESETS["european"].rules.replace(decks="inf", no_hole_loses="original", max_hands="inf"),
    "two tenths": NELLER.replace(ten_probability="0.2", naturals="both", deal="ddpp"),
    "three aces": PRESETS["vegas-s17"].rules.replace(decks="inf", resplit_aces=True, max_ace_hands=3),
    "doubled with a bonus": PRESETS["vegas-s17"].rules.replace(
        decks="inf", peek=False, insurance=False, bonuses="win", double_cards="any", surrender_after_double=True
    ),
}


@pytest.mark.parametrize("name", few(GAMES))
def test_the_best_value_is_the_exact_solvers(name: str) -> None:
    mdp = game_mdp(GAMES[name])
    best = value_iteration(mdp, 1e-11)
    assert start_value(mdp, best.values) == pytest.approx(float(Solver(GAMES[name]).best_value), abs=1e-10)


def test_best_play_chooses_whether_to_split_again() -> None:
    """The own tens stand while the house's are split; a chart splits every pair again. Both by an own program."""
    rules = Rules(peek=True, ten_probability=Fraction(2, 5), free_splits="T")
    process = GameProcess(rules)
    mdp = build_mdp(process)
    assert start_value(mdp, value_iteration(mdp, 1e-12).values) == pytest.approx(0.086999, abs=1e-6)
    chart = process.policy(mdp, Solver(rules).chart.policy)
    assert start_value(mdp, evaluate(mdp, chart)) == pytest.approx(0.081812, abs=1e-6)
    assert {mdp.actions[row] for row in mdp.rows("again split T, 2 of 2 hands v 9")} == {"split again", "keep"}


def test_hands_that_double_free_have_names_of_their_own() -> None:
    """Two cards of 12 double at the house's cost, three at the player's."""
    mdp = game_mdp(Rules(free_doubles="12-15", double_cards="any", split_by="never"))
    assert {"12 (SHD) v 6", "12 (SHD, free to double) v 6"} <= set(mdp.states)


@pytest.mark.parametrize(
    "name", ["easy", "neller-v1", "neller-v2", "neller-v3", "vegas-s17", "blackjack-p", "busted plus one"]
)
def test_a_chart_has_the_exact_solvers_value(name: str) -> None:
    """The best chart without doubling or splitting, so that every state that it reaches matters."""
    rules = GAMES[name]
    chart = Solver(rules.replace(double_on="never", split_by="never")).chart
    process = GameProcess(rules)
    mdp = build_mdp(process)
    values = evaluate(mdp, process.policy(mdp, chart.policy))
    assert start_value(mdp, values) == pytest.approx(float(Solver(rules).ev(chart.policy).value), abs=1e-11)


def test_other_rules_are_distinguished() -> None:
    """Negative control: changing one rule changes the value by far more than the tolerance."""
    for changes in ({"hit_soft_17": True}, {"ties": "push"}, {"naturals": "both"}, {"blackjack_pays": "6/5"}):
        mdp = game_mdp(NELLER.replace(**changes))
        value = start_value(mdp, value_iteration(mdp, 1e-11).values)
        assert abs(value - float(Solver(NELLER).value)) > 1e-4


def states_named(mdp: FiniteMDP, start: str) -> list[str]:
    return [state for state in mdp.states if state.startswith(start)]


def test_neller_is_compact() -> None:
    """Hands: hard 4..21 and soft 12..21 against ten cards; results: 16 or less, and 17..21; the deal and the end."""
    mdp = game_mdp(NELLER)
    assert len(mdp.states) == (18 + 10) * 10 + 6 * 10 + 2
    assert len(states_named(mdp, "stand")) == 60
    assert {"A10 v 6", "4 v A", "21 v T", "stand 16 v 2", "deal", "end"} <= set(mdp.states)
    row = mdp.row("12 v 6", "H")
    outcomes = slice(mdp.outcome_start[row], mdp.outcome_start[row + 1])
    assert mdp.probability[outcomes].sum() == pytest.approx(1)
    assert sorted(mdp.probability[outcomes])[-1] == pytest.approx(4 / 13)  # any ten busts


def test_a_state_holds_no_more_than_the_rules_pay_for() -> None:
    """Doubling distinguishes two cards from more, splitting pairs (all tens alike), and bonuses count cards."""
    plain, one, two, three = (len(game_mdp(GAMES[name]).states) for name in GAMES if name.startswith("neller"))
    assert (plain, one, two, three) == (342, 1282, 542, 572)
    assert states_named(game_mdp(GAMES["neller-v2"]), "TT v 6") == ["TT v 6"]
    assert set(states_named(game_mdp(GAMES["neller-v3"]), "11")) >= {"11 (SHD) v 6", "11 (SH) v 6"}
    assert states_named(game_mdp(GAMES["neller-v1"]), "14:77 v 6")


def partition(mdp: FiniteMDP) -> list[int]:
    """The class of every state in the coarsest partition into equivalent states: those with the same actions, each with
    the same distribution of reward, weight and next class (Givan, Dean and Greig 2003, by refinement)."""
    now = [0] * len(mdp.states)
    while True:
        keys: dict[object, int] = {}
        finer = []
        for state in range(len(mdp.states)):
            actions = []
            for row in range(mdp.action_start[state], mdp.action_start[state + 1]):
                probabilities: dict[tuple[int, float, float], float] = {}
                for o in range(mdp.outcome_start[row], mdp.outcome_start[row + 1]):
                    key = now[mdp.next_state[o]], float(mdp.reward[o]), float(mdp.weight[o])
                    probabilities[key] = probabilities.get(key, 0.0) + float(mdp.probability[o])
                actions.append(
                    (mdp.actions[row], tuple(sorted((key, round(p, 12)) for key, p in probabilities.items())))
                )
            finer.append(keys.setdefault((now[state], tuple(sorted(actions))), len(keys)))
        if len(keys) == len(set(now)):
            return now
        now = finer


@pytest.mark.parametrize("name", ["neller", "neller-v1", "neller-v2", "neller-v3", "vegas-s17", "blackjack-p"])
def test_no_process_of_these_games_could_be_smaller(name: str) -> None:
    """No two of its states are equivalent, so it is as compact as [Neller] asks for."""
    mdp = game_mdp(GAMES[name])
    assert len(set(partition(mdp))) == len(mdp.states)


def test_states_that_are_alike_are_found() -> None:
    """Negative control: in easy the dealer's 10 and 11 lead to the same scores against a hand that stands on 16."""
    mdp = game_mdp(GAMES["easy"])
    classes = partition(mdp)
    assert len(set(classes)) < len(mdp.states)
    assert classes[mdp.index["stand 16 v 10"]] == classes[mdp.index["stand 16 v 11"]]


@pytest.mark.parametrize("name", few(GAMES))
def test_the_size_is_that_of_the_process(name: str) -> None:
    size, mdp = measure_size(GAMES[name]), game_mdp(GAMES[name])
    assert size.states == len(mdp.states)
    assert size.decisions == len(set(GameProcess(GAMES[name]).decisions) & set(mdp.index))


def test_the_reasons_say_what_a_game_would_need_without_them() -> None:
    (bonuses,) = find_reasons(GAMES["neller-v1"])
    assert "number of cards" in bonuses.why and bonuses.without.states == 342
    assert find_reasons(GAMES["neller"]) == []
    assert len(find_reasons(GAMES["easy"])) == 4
    assert plain_size(GAMES["easy"]).states == 322  # a 21 stands by itself


def test_ties_and_doubled_ties_lead_back_to_the_deal_with_their_stake() -> None:
    mdp = game_mdp(GAMES["neller-v3"])
    row = mdp.row("stand 18 v 6", "dealer plays")
    outcomes = range(mdp.outcome_start[row], mdp.outcome_start[row + 1])
    tie = next(o for o in outcomes if mdp.states[mdp.next_state[o]] == "deal")
    assert (mdp.reward[tie], mdp.weight[tie]) == (0, 1)
    double = mdp.row("11 (SHD) v 6", "D")
    weights = mdp.weight[mdp.outcome_start[double] : mdp.outcome_start[double + 1]]
    assert (weights == 2).all()


def test_what_cannot_be_a_finite_process_is_refused() -> None:
    with pytest.raises(RulesError, match="decks = 6"):
        game_mdp(PRESETS["vegas-s17"].rules)
    endless = PRESETS["blackjack-p"].rules.replace(ten_probability="0.7")
    assert Solver(endless).value == math.inf
    with pytest.raises(InputError, match="resplitting TT against 2 pays without limit"):
        game_mdp(endless)


def test_rules_are_not_changed_by_their_name() -> None:
    assert game_mdp(Rules(name="x")).states == game_mdp(Rules()).states


@pytest.mark.parametrize(
    "changes",
    [
        {"free_splits": "A2356789", "max_hands": 2},  # a pair of the seat's own hand and one of the house's
        {"stand_on_21": False, "max_doubles": 2, "bonuses": "at-once"},  # 7-7-7, 8-7-6 and any other 21, doubled
    ],
)
def test_classes_have_names_of_their_own(changes: dict[str, object]) -> None:
    names = [each.name for each in GameProcess(Rules(**changes)).equivalence.classes]  # type: ignore[arg-type]
    assert len(names) == len(set(names))


@pytest.mark.parametrize("name", [name for name, preset in PRESETS.items() if preset.rules.bets == 1])
def test_a_plain_game_only_hits_and_stands(name: str) -> None:
    """Free doubles, insurance and attacks stayed in it."""
    rules = PRESETS[name].rules.replace(decks="inf")
    plain = rules.replace(**{name: value for values, _ in REASONS for name, value in values.items()})
    process = GameProcess(plain)
    assert {letter for state in process.decisions.values() for letter in process.legal(state)} == {"S", "H"}
    assert measure_size(plain) == plain_size(rules) and plain_size(rules).offers == 0


def test_reasons_are_those_of_the_game() -> None:
    """Super Fun 21 has no bonus for 7-7-7, and any hand of it may surrender."""
    told = " ".join(reason.why for reason in find_reasons(PRESETS["super-fun-21"].rules))
    assert "may win a bonus" in told and "which hands may surrender" in told
    assert "7-7-7" not in told and "initial" not in told
