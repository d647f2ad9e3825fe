"""Do two commits compute the same? Exact values, deviations, visits, charts and processes of random games.

python bench/same_results.py games GAMES.json 1000     # draws games once
PYTHONPATH=OLD/src python bench/same_results.py results GAMES.json old.pickle
PYTHONPATH=src     python bench/same_results.py results GAMES.json new.pickle
python bench/same_results.py compare old.pickle new.pickle
"""

from __future__ import annotations

import json
import math
import pickle
import random
import sys
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

PROCESSES = 25  # every this many games the decision process is compared too
FRACTIONS = 40  # and the value as a fraction


def draw_games(path: str, count: int) -> None:
    """Write the presets and random rules as JSON."""
    sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
    from hypothesis import given, settings
    from support.games import rules

    from bjsim.sim.game.presets import PRESETS, load_rules

    found = [load_rules(name).to_dict() for name in PRESETS]
    seen = set(map(str, found))

    @settings(derandomize=True, database=None, deadline=None, max_examples=3 * count)
    @given(rules())
    def collect(game: Any) -> None:
        if str(game.to_dict()) not in seen and len(seen) < count + len(PRESETS):
            seen.add(str(game.to_dict()))
            found.append(game.to_dict())

    collect()
    Path(path).write_text(json.dumps(found), "utf-8")


def make_chart(solver: Any, seed: int) -> Any:
    """The best chart with a tenth of its cells replaced by random codes."""
    from bjsim.strategies.charts.chart import CODES, Chart

    rng = random.Random(seed)
    cells = {cell: rng.choice(CODES) if rng.random() < 0.1 else code for cell, code in solver.chart.cells.items()}
    return Chart("mutant", solver.rules, cells)


def answers_of(chart: Any, column: str) -> Callable[[Any, str], str]:
    """What the chart answers against one column."""
    return lambda state, legal: str(chart.policy(state, column, legal))


def compute(rules: Any, number: int) -> dict[str, Any]:
    """Every exact result of one game, as plain values."""
    from bjsim.sim.game.automaton import Decision
    from bjsim.sim.values.backward import count_visits
    from bjsim.strategies.exact.solver import Solver
    from bjsim.strategies.exact.tables import Tables
    from bjsim.strategies.mdp.blackjack import GameProcess, game_mdp, measure_size

    solver = Solver(rules)
    chart = make_chart(solver, number)
    ev = solver.ev(chart.policy)
    tables = Tables(solver)
    results: dict[str, Any] = {
        "value": solver.value,
        "chart": dict(solver.chart.cells),
        "ev": (ev.net, ev.tied),
        "sd": solver.sd_of(chart),
        "best sd": solver.sd,
        "columns": {c.label: (c.probability, dict(c.probabilities)) for c in solver.columns.values() if c.label},
    }
    for name in ("stand", "hit", "double", "split", "optimal", "initial"):
        table = getattr(tables, name)()
        results[name] = {(str(y), str(x)): table[y, x] for y in table.ylabels for x in table.xlabels}
    results["resplit"] = {x: tables.resplit(2)[str(x), tables.columns[0]] for x in tables.resplit(2).ylabels}
    for label in solver.columns:
        if label:
            visits = count_visits(solver.states, answers_of(chart, label))
            decisions = {tuple(node): n for node, n in visits.items() if isinstance(node, Decision) and n}
            results[f"visits {label}"] = decisions
    if number % FRACTIONS == 0:
        exact = Solver(rules, Fraction)
        results["fraction"] = str(exact.value)
        results["fraction chart"] = str(exact.ev(chart.policy).net)
    if number % PROCESSES == 0:
        infinite = rules.replace(decks="inf")
        process, mdp = GameProcess(infinite), game_mdp(infinite)
        results["states"] = (len(mdp.states), sorted(map(str, mdp.states)), measure_size(rules).to_json())
        results["mdp"] = {
            (name, action): sorted(
                (str(o.next_state), o.probability, o.reward, o.weight) for o in process.outcomes(state, action)
            )
            for name, state in process.decisions.items()
            for action in process.actions(state)
        }
    return results


def write_results(games: str, path: str) -> None:
    """Compute all games and write the results."""
    import warnings

    from bjsim.sim.game.rules import Rules

    warnings.simplefilter("ignore")
    found = [Rules.from_dict(game) for game in json.loads(Path(games).read_text("utf-8"))]
    results = []
    for number, rules in enumerate(found):
        try:
            results.append(compute(rules, number))
        except Exception as error:  # both commits must fail alike
            results.append({"error": f"{type(error).__name__}: {error}"})
    Path(path).write_bytes(pickle.dumps(results))


def distance(one: Any, other: Any) -> float:
    """The greatest difference of two results; inf if they differ in kind."""
    if isinstance(one, dict) and isinstance(other, dict):
        if one.keys() != other.keys():
            return math.inf
        return max((distance(one[key], other[key]) for key in one), default=0.0)
    if isinstance(one, (tuple, list)) and isinstance(other, (tuple, list)):
        if len(one) != len(other):
            return math.inf
        return max(map(distance, one, other), default=0.0)
    if isinstance(one, float) and isinstance(other, float):
        if one == other or (math.isnan(one) and math.isnan(other)):
            return 0.0
        return abs(one - other) / max(1.0, abs(one))
    return 0.0 if one == other else math.inf


def compare(old: str, new: str) -> None:
    """Print, by kind of result, in how many games it is the same to the bit, and the greatest difference."""
    before, after = (pickle.loads(Path(path).read_bytes()) for path in (old, new))
    same, games, worst = Counter[str](), Counter[str](), dict[str, float]()
    for number, (one, other) in enumerate(zip(before, after, strict=True)):
        for name in sorted(one.keys() | other.keys()):
            kind, how_far = name.split()[0], distance(one.get(name), other.get(name))
            games[kind] += 1
            same[kind] += how_far == 0
            worst[kind] = max(worst.get(kind, 0.0), how_far)
            if how_far > 1e-12:
                print(f"game {number}: {name} differs by {how_far}")
    for kind, count in games.items():
        print(f"{kind:10} {same[kind]:6} of {count:6} the same to the bit; greatest difference {worst[kind]:.1e}")


if __name__ == "__main__":
    command, *arguments = sys.argv[1:]
    if command == "games":
        draw_games(arguments[0], int(arguments[1]))
    else:
        {"results": write_results, "compare": compare}[command](*arguments)
