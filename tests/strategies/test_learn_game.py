"""Learned games against the exact solver, and their answers as text."""

from __future__ import annotations

import doctest
from dataclasses import replace
from pathlib import Path

import pytest

import bjsim
from bjsim.sim.game.presets import PRESETS
from bjsim.sim.game.rules import Rules
from bjsim.strategies.charts.chart import format_ranges
from bjsim.strategies.exact.solver import Solver
from bjsim.strategies.learning.learn import LearningPoint, Schedule, Study, study
from bjsim.strategies.learning.report import LearnedGame
from bjsim.strategies.mdp.blackjack import ATTACKS, GameProcess, MDPState
from bjsim.strategies.mdp.model import build_mdp

NELLER = ("neller", "neller-v1", "neller-v2", "neller-v3")


def learned(name: str, episodes: int, schedule: Schedule | None = None) -> LearnedGame:
    process = GameProcess(PRESETS[name].rules)
    return LearnedGame.of(process, study(build_mdp(process), episodes, schedule, seed=1))


@pytest.fixture(scope="module")
def games() -> dict[str, LearnedGame]:
    return {name: learned(name, 1_500_000) for name in NELLER}


@pytest.mark.parametrize("name", NELLER)
def test_a_game_is_learned(name: str, games: dict[str, LearnedGame]) -> None:
    """Fixed seed. The exact regret is under 0.0005, every mistake costs under 0.01, and the value agrees."""
    found = games[name]
    assert found.regret < (0.0001 if name == "neller-v2" else 0.0005)
    assert all(each.cost < 0.01 for each in found.disagreements)
    assert found.value_exact == pytest.approx(float(Solver(PRESETS[name].rules).value), abs=1e-9)
    assert abs(found.learned.value - (found.value_exact - found.regret)) < 4 * found.learned.value_se


def test_a_learned_chart_has_the_attacks_that_were_learned() -> None:
    """So few episodes learn them badly; the chart has them all the same, and they change its value."""
    process = GameProcess(PRESETS["double-attack"].rules.replace(decks="inf", cut=1))
    found = LearnedGame.of(process, study(build_mdp(process), 50_000, seed=1))
    learned_attacks = [card for card in process.columns if found.action(MDPState(ATTACKS, card)) == "A"]
    assert learned_attacks == list(found.chart.attack) != []
    timid = Solver(process.rules).value_of(replace(found.chart, attack=""))
    assert abs(found.chart_value - float(timid)) > 0.001


@pytest.mark.slow
@pytest.mark.parametrize("name", NELLER)
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_twenty_million_episodes_leave_negligible_regret(name: str, seed: int) -> None:
    found = study(build_mdp(GameProcess(PRESETS[name].rules)), 20_000_000, seed=seed)
    assert found.regret < 0.0005
    assert all(each.cost < 0.002 for each in found.disagreements)


@pytest.mark.parametrize("schedule", [Schedule("mc"), Schedule(draws="independent")])
def test_independent_draws_learn_it_too(schedule: Schedule) -> None:
    assert learned("neller", 1_500_000, schedule).regret < 0.002


def test_too_little_play_is_seen() -> None:
    """Negative control: after 3,000 episodes the same measures fail."""
    found = learned("neller", 3000)
    assert found.regret > 0.0005
    assert max(each.cost for each in found.disagreements) > 0.01
    assert found.curve[0].regret > found.regret


def test_disagreements_are_what_the_regret_is_made_of(games: dict[str, LearnedGame]) -> None:
    poor, good = learned("neller-v1", 20_000), games["neller-v1"]
    assert len(poor.disagreements) > len(good.disagreements)
    costs = [each.cost for each in poor.disagreements]
    assert costs == sorted(costs, reverse=True)
    for each in poor.disagreements:
        rows = {action: poor.best.q[poor.mdp.row(each.state, action)] for action in (each.learned, each.best)}
        assert rows[each.best] - rows[each.learned] == pytest.approx(each.cost)


@pytest.mark.parametrize("name", NELLER)
def test_the_learned_chart_has_the_value_of_the_learned_policy(name: str, games: dict[str, LearnedGame]) -> None:
    """By the exact solver, which does not use decision processes."""
    game = games[name]
    ev = float(Solver(game.rules).ev(game.chart.policy).value)
    assert ev == pytest.approx(game.value_exact - game.regret, abs=1e-6)


def test_a_chart_with_fewer_cells_than_states_has_a_value_of_its_own() -> None:
    """A learned policy may do other things with three cards than with two, where a chart has one cell."""
    process = GameProcess(PRESETS["super-fun-21"].rules.replace(decks="inf"))
    game = LearnedGame.of(process, study(build_mdp(process), 300_000, seed=2))
    assert game.chart_value == pytest.approx(float(Solver(game.rules).ev(game.chart.policy).value), abs=1e-12)
    assert game.chart_value < game.value_exact - game.regret - 1e-4
    assert game.to_json()["value_chart"] == game.chart_value


def test_the_seeds_questions_are_answered(games: dict[str, LearnedGame]) -> None:
    plain = games["neller"].answers()
    assert plain["Does it match the strategy of Hoyle?"][1:] == [
        "stands where Hoyle hits: 12 against 4-6",
        "hits where Hoyle stands: A7 against 9-A",
    ]
    assert plain["Can the payout be learned?"][0].startswith("yes: the mean return of 150,000 episodes")
    assert "Which pairs does it split?" not in plain and "What does it double?" not in plain
    assert "AA against 2-A" in games["neller-v2"].answers()["Which pairs does it split?"]
    assert "11 against 2-9" in games["neller-v3"].answers()["What does it double?"]
    bonuses = games["neller-v1"].answers()["Do the bonuses change the strategy?"]
    assert any("A8/4 against 2-A" in line for line in bonuses)
    larger = games["neller-v1"].answers()["How much larger must the representation be?"]
    assert larger[0].startswith("3.75 times: 1,282 states, where hit or stand alone needs 342")
    assert "number of cards" in larger[1] and "How much larger must the representation be?" not in plain


def test_json_has_what_was_asked_for(games: dict[str, LearnedGame]) -> None:
    data = games["neller-v1"].to_json()
    wanted = "states episodes gamma regret value_exact value_learned value_learned_ci95 disagreements curve seconds"
    assert set(wanted.split()) <= set(data)
    assert data["states"] == 1282 and data["gamma"] == 1.0
    assert isinstance(data["curve"], list) and set(data["curve"][0]) == {"episodes", "regret"}
    low, high = games["neller-v1"].learned.value_ci95
    assert data["value_learned_ci95"] == [low, high] and low < high


def test_points_are_reported_during_learning() -> None:
    seen: list[LearningPoint] = []
    found: Study = study(build_mdp(GameProcess(PRESETS["neller"].rules)), 20_000, on_point=seen.append)
    assert tuple(seen) == found.curve
    assert seen[-1].episodes == 18_000


def test_the_page_for_students_is_a_doctest() -> None:
    pytest.importorskip("gymnasium", reason="needs the extra bjsim[gym]")
    page = Path(__file__).parents[2] / "docs" / "explanation" / "learning.md"
    results = doctest.testfile(str(page), module_relative=False)
    assert results.attempted >= 8 and results.failed == 0


def test_runs_of_cards_are_drawn_together() -> None:
    order = [*"23456789TA"]
    assert format_ranges(order, set("2345T")) == "2-5, T"
    assert format_ranges(order, set("9TA")) == "9-A"
    assert format_ranges(order, set("7")) == "7"
    assert format_ranges(order, set("24")) == "2, 4"


@pytest.mark.parametrize(
    "rules", [PRESETS["blackjack-p"].rules, PRESETS["vegas-s17"].rules.replace(decks="inf", max_hands="inf")]
)
def test_a_chart_learned_without_a_limit_of_hands_can_be_played(rules: Rules) -> None:
    """Twos are then never a hard 4, but charts have that row: the best of what is not a split."""
    process = GameProcess(rules)
    found = LearnedGame.of(process, study(build_mdp(process), 20_000, seed=1))
    assert "P" in found.chart.table["22"].values() and "4" in found.chart.table
    assert found.chart_value == pytest.approx(found.value_exact - found.regret, abs=0.003)
    assert bjsim.play(rules, found.chart, hands=100)[0].exact == found.chart_value
