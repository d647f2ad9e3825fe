"""One question has one answer in every front end: what the best chart of a game of unusual rules returns."""

from __future__ import annotations

import dataclasses
import itertools
import math
from itertools import islice

import pytest
from support.fronts import best_of_all, differences
from support.unusual import MORE, UNUSUAL, chosen_games, covering_array, random_games, tell, unusual_rules

from bjsim.errors import InputError
from bjsim.sim.game.rules import Rules
from bjsim.strategies.charts.chart import Chart
from bjsim.strategies.evaluation.compare import Evaluation, evaluate_chart

SHOES = ("inf", "inf", 1, 2, 8)
ASKED_ELSEWHERE = {"decks", "deal", "ten_probability", "peek", "exchange"}  # in all of these games, or by test_switch
NO_VALUE_DEPENDS_ON = {"name", "cut", "raises", "buy_in", "chips", "turns", "move_cap", "seats"}


def all_differences(rules: Rules) -> list[str]:
    wrong, refused = differences(rules)
    if rules.infinite:
        best = dict(best_of_all(rules))
        wrong += [f"best play, {name} {value}" for name, value in best.items() if not abs(value - best["solve"]) < 1e-9]
    return [f"{tell(rules)}: {each}" for each in (*wrong, *(text for text in refused if not in_words(text)))]


def no_deviation(*arguments: object) -> float:
    raise InputError("sd: it is not asked for; use decks = inf")


def in_words(refusal: str) -> bool:
    """Whether a refusal is one line that says what would be accepted."""
    return "\n" not in refusal and any(word in refusal for word in ("; ", " needs ", " is not ", " are not "))


def test_every_rule_is_asked_about() -> None:
    """A new field has to be in the nets, or here, with the reason."""
    assert {each.name for each in dataclasses.fields(Rules)} == {
        *UNUSUAL,
        *MORE,
        *ASKED_ELSEWHERE,
        *NO_VALUE_DEPENDS_ON,
    }


def test_some_games_have_one_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten games in which every unusual value occurs.

    Those with a Charlie and a limit of hands are in finite shoes, as best play of an infinite one takes long there.
    """
    monkeypatch.setattr("bjsim.strategies.shoe.solver.round_sd", no_deviation)  # takes long, and no value needs it
    monkeypatch.setattr("bjsim.strategies.exact.solver.Solver.sd_of", lambda *_: math.nan)
    finite = [rules for rules in chosen_games() if rules.max_hands < math.inf and rules.charlie != "none"]
    shoes = dict(zip(finite, itertools.cycle((2, 8, 1)), strict=False))
    games = [rules.replace(decks=shoes.get(rules, "inf")) for rules in chosen_games()]
    assert {rules.infinite for rules in games} == {True, False}
    assert [each for rules in games for each in all_differences(rules)] == []


@pytest.mark.slow
@pytest.mark.parametrize("part", range(7))
def test_the_covering_array_has_one_answer(part: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """In one shoe each. The deviation in a finite one, which takes most of the time, is asked in random games only."""
    monkeypatch.setattr("bjsim.strategies.shoe.solver.round_sd", no_deviation)
    games = [rules.replace(decks=("inf", 2)[n % 2]) for n, rules in enumerate(covering_array()[part::7])]
    assert [each for rules in games for each in all_differences(rules)] == []


@pytest.mark.slow
@pytest.mark.parametrize("name", [*UNUSUAL, *MORE])
def test_every_unusual_value_has_one_answer(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bjsim.strategies.shoe.solver.round_sd", no_deviation)  # as above
    found = []
    for value in (*UNUSUAL.get(name, ()), *MORE.get(name, ())):
        for base, decks in (("peek", "inf"), ("no peek", 2)):
            if rules := unusual_rules(base, {name: value}, finite=False):
                found += all_differences(rules.replace(decks=decks))
    assert found == []


@pytest.mark.slow
@pytest.mark.parametrize("part", range(3))
def test_random_games_have_one_answer(part: int) -> None:
    """30 games of one to ten unusual values."""
    games = islice(random_games(480 + part), 10)
    assert [each for n, rules in enumerate(games) for each in all_differences(rules.replace(decks=SHOES[n % 5]))] == []


def test_a_wrong_answer_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """The fault that these tests were made for: a chart that is evaluated without its attacks."""

    def forgetful(chart: Chart) -> Evaluation:
        return evaluate_chart(dataclasses.replace(chart, attack="") if chart.source else chart)

    attack = next(rules for rules in chosen_games() if rules.attack).replace(decks="inf")
    monkeypatch.setattr("bjsim.api.evaluate_chart", forgetful)
    assert all_differences(attack)
