"""A client of the public functions, as type checkers see it: sixty lines are right, and twelve wrong calls are found.

`play` and `count` have the parameters of their requests, which a checker must see although no signature is written.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

CLIENT = """
from collections.abc import Mapping

import bjsim


def brave(view: bjsim.View) -> str:
    return "H" if bjsim.Hand(*view.hand).points < 19 else "S"


def watch(progress: bjsim.Progress) -> None:
    print(progress.rounds)


rules: bjsim.Rules = bjsim.load_rules("vegas-s17").replace(decks=2)
played: bjsim.RunResult = bjsim.play(rules, ["optimal", brave], 1e4, seed=3, tables=2, on_progress=watch)
best: bjsim.BotResult = played[0]
low, high = best.point.ci95 or (0.0, 0.0)
alone: bjsim.RunResult = bjsim.play("easy", "lim17", until=0.001, workers=None)
[only] = alone
request = bjsim.RunRequest(rules, "lim17", 1000, adjust_luck=False, programs=bjsim.BotOptions(timeout=2))
again: bjsim.RunResult = request.play()
seed: int | None = request.seed

solution: bjsim.Solution = bjsim.solve(rules)
chart: bjsim.Chart = solution.chart
value: float = float(solution.value)
evaluation: bjsim.Evaluation = bjsim.evaluate(chart)
cost: float = evaluation.best - evaluation.value
games: list[bjsim.Compared] = bjsim.compare("easy", rules)
learned: bjsim.LearnedGame = bjsim.learn("neller", 20_000, algorithm="mc")

counted: bjsim.CountResult = bjsim.count(rules, "ko", "1-8", rounds=1e4, bankroll=500, kelly=0.5, adjust_luck=True)
score: bjsim.Figure = counted["score"]
spread: bjsim.CountResult = counted.with_bets(optimal=(1, 12))
games_of: bjsim.CountComparison = counted.vary(cut=["60%", "75%"])
asked = bjsim.CountRequest(rules, optimal="1-12", until=0.01)

bank: bjsim.BankResult = bjsim.bank(rules, 100, 500, goal=200, rebate="1/5")
rebate: bjsim.Rebate | None = bank.rebate
results: Mapping[float, float] = bank.results
known: bjsim.KnownCards = bjsim.known(rules, "hole", shoe={"A": 4, "T": 16})
bet: bjsim.SideBet = bjsim.sidebet("21+3", decks=6, pays={"flush": 5})
events: list[str] = [event.event for event in bet.events]

standings: bjsim.Standings = bjsim.contest(["lim17", "optimal"], "contest", rules="cardshark", matches=2)
ranks: list[str] = [row.name for row in standings.rows()]
presets: list[str] = [*bjsim.PRESETS]
player: bjsim.Player = bjsim.find_player("lim17", rules)
table = bjsim.Round(rules, bjsim.ScriptedShoe("T86955A9"), 1)
net: list[object] = [*table.play([player]).net]
labels = bjsim.LabelledTable(str, ["a", "b"], [1, 2])
labels[1, "a"] = "x"

for result in (played, best, evaluation, learned, counted, bank, known, bet):
    written: dict[str, object] = result.to_json()
    page: str = result._repr_html_()
try:
    bjsim.find_player("lim99", rules)
except bjsim.InputError as error:
    print(error)
"""
WRONG = (
    'bjsim.play("easy", ["lim17"], hands="many")',
    'bjsim.play("easy")',
    'bjsim.play("easy", ["lim17"], 10, hand=5)',
    'bjsim.play("easy", ["lim17"], 10, seed="x")',
    'bjsim.count("vegas-s17", rounds="1e6", round=2)',
    'bjsim.count("vegas-s17", "hilo", "1-12", "i18", "optimal")',
    'bjsim.bank("easy", 100)',
    'bjsim.known("easy", "hole", shoe=["A"])',
    'bjsim.BotOptions(cold="yes")',
    'bjsim.contest(["lim17", "hoyle"], "contest", match=2)',
    'bjsim.contest(["lim17", "hoyle"], "contest", duplicate="yes")',
    'bjsim.solve("easy").valeu',
)


@pytest.mark.slow
def test_a_client_is_typed_and_its_wrong_calls_are_found(tmp_path: Path) -> None:
    api = pytest.importorskip("mypy.api", reason="mypy is not installed")
    right = CLIENT.strip().splitlines()
    file = tmp_path / "client.py"
    file.write_text("\n".join([*right, *WRONG]) + "\n")
    out, problem, _ = api.run(["--strict", "--no-incremental", "--follow-imports=silent", str(file)])
    wrong = {int(line) for line in re.findall(r":(\d+): error:", out)}
    assert not problem and wrong == set(range(len(right) + 1, len(right) + len(WRONG) + 1))


@pytest.mark.parametrize("alias", ["play", "count"])
def test_a_function_of_a_request_has_its_signature(alias: str) -> None:
    import inspect

    import bjsim

    request = {"play": bjsim.RunRequest, "count": bjsim.CountRequest}[alias]
    function = getattr(bjsim, alias)
    assert inspect.signature(function).parameters == inspect.signature(request).parameters
    assert function.__name__ == alias


def test_the_settings_that_checkers_see_are_the_fields_of_a_contest() -> None:
    from dataclasses import fields

    from bjsim.bots.contest.config import SETTINGS, Contest

    assert [field.name for field in fields(Contest)] == ["rules", *SETTINGS]
