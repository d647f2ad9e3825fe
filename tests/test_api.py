"""The public API: every name is typed, listed and importable, and the functions agree with the commands."""

from __future__ import annotations

import inspect
import json
import math
import pickle
import re
import subprocess
import sys
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from functools import cache
from importlib import import_module
from numbers import Number
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from small_mdps import CHAIN
from support.games import slow

import bjsim
from bjsim.errors import LONGEST_MESSAGE
from bjsim.lazy_names import read_homes
from bjsim.report.data import Described
from bjsim.strategies.exact.solver import Solver
from bjsim.strategies.mdp.model import mdp_from_dict


def test_every_name_of_the_stub_is_listed_and_loaded() -> None:
    """And no line of a stub is passed over: all but `gym` and `__version__` are imports with a name."""
    homes = read_homes(bjsim.__file__)
    stub = Path(bjsim.__file__).with_suffix(".pyi").read_text(encoding="utf-8")
    assert len(homes) == sum(name not in ("gym", "") for name in re.findall(r"import .* as (.*)", stub)) > 20
    assert [*homes] == [name for name in bjsim.__all__ if name != "__version__"]
    for name, home in homes.items():
        assert getattr(bjsim, name) is getattr(import_module(home), name)
    assert dir(bjsim) == sorted(bjsim.__all__)


WRONG: list[Any] = [
    None, math.nan, math.inf, -math.inf, True, False, -1, 0, 1, -1.5, 1.5, 10**30, 1e300, 10**400, 2**63, 3 + 4j,
    "", " ", "many", "\0", "a\0b", "1e400", "inf", "nan", "-3", ".", "/", "/nowhere/x", "x" * 5000, "9" * 5000,
    "é\udcff", b"bytes", [], [1], (), {}, {"a": 1}, set(), [None], [[]], ["lim17", 3], range(0), iter([]), type,
    np.int64(3), np.float64(2.5), np.nan, np.array([1, 2]), np.array(3), Decimal("1"), Decimal("NaN"), Decimal("sNaN"),
    Fraction(3, 2), Fraction(10**400), Path("a\0b"), Path("x" * 5000), bjsim.PRESETS["easy"], bjsim.BotOptions(),
]  # fmt: skip
PARAMETERS = [name for name in inspect.signature(bjsim.play).parameters]


@pytest.mark.parametrize("parameter", PARAMETERS)
def test_a_wrong_argument_is_an_input_error_that_names_it(
    parameter: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    refused = 0
    for value in WRONG:
        arguments: dict[str, Any] = {"rules": "easy", "bots": ["lim17"], "hands": 100} | {parameter: value}
        try:
            bjsim.play(**arguments)
        except bjsim.InputError as error:
            assert parameter in str(error), (value, error)
            assert "\n" not in str(error)
            refused += 1
    assert refused > len(WRONG) / 2


EASY = bjsim.load_rules("easy")
CALLS: dict[str, dict[str, Any]] = {  # arguments that are right, of every public name that works with what it is given
    "play": {"rules": "easy", "bots": ["lim17"], "hands": 100},
    "RunRequest": {"rules": "easy", "bots": ["lim17"], "hands": 100},
    "solve": {"rules": "easy"},
    "evaluate": {"chart": "hoyle", "rules": "easy"},
    "compare": {},
    "contest": {"bots": ["lim17"], "folder": "c"},  # too few: refused before anything is played
    "learn": {"game": mdp_from_dict(CHAIN), "episodes": 0},
    "count": {"rules": "easy", "rounds": 1000},  # an infinite shoe has no count
    "CountRequest": {"rules": "easy", "rounds": 1000},
    "known": {"rules": "easy", "what": "x"},
    "bank": {"rules": "easy", "bankroll": 10, "rounds": 5},
    "sidebet": {"bet": "21+3", "decks": 1},
    "load_rules": {"rules": "easy"},
    "find_player": {"name": "hoyle", "rules": EASY},
    "Rules": {}, "BotOptions": {}, "Hand": {},
    "Standings": {"header": {}},
    "Round": {"rules": EASY, "shoe": bjsim.ScriptedShoe("TTTT"), "seats": 1},
    "ScriptedShoe": {"text": "TT"},
    "Chart": {"name": "x", "rules": EASY, "cells": {}},
    "LabelledTable": {"celltype": str, "xlabels": ["a"], "ylabels": ["b"]},
}  # fmt: skip
HOLDERS = {  # values that only hold what they are given, and protocols
    "Action", "Player", "View", "Point", "Progress", "Tally", "RunResult", "CountComparison", "CountResult", "Figure",
    "Compared", "Evaluation", "KnownCards", "LearnedGame", "Study", "BankResult", "Bonus", "Rebate", "BotResult",
    "SideBet", "SideBetEvent", "Solution", "BjsimError", "InputError", "RunFailed",
}  # fmt: skip
OTHER_TYPES: list[Any] = [
    None, True, -1, 1.5, math.nan, math.inf, 10**5000, 3 + 4j, "", "x", "\0", "\ud800", "9" * 5000, b"b", [], [None],
    (1, 2), {}, {"a": 1}, {1}, range(3), iter([]), type, len, object(), np.int64(3), np.array([1, 2]), np.array([]),
    Decimal("sNaN"), Path("x"), bjsim.BotOptions(),
]  # fmt: skip


def test_every_public_name_is_tried_with_wrong_types() -> None:
    assert {name for name in bjsim.__all__ if callable(getattr(bjsim, name))} == CALLS.keys() | HOLDERS


@pytest.mark.parametrize("name", CALLS)
def test_a_wrong_type_anywhere_is_one_clear_error(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Or is accepted, as numpy's numbers are; 3,200 calls in all."""
    monkeypatch.chdir(tmp_path)
    function, refused = getattr(bjsim, name), 0
    parameters = inspect.signature(function).parameters.values()
    given = [each for each in parameters if each.kind is not each.VAR_KEYWORD]
    names = ["" if each.kind is each.VAR_POSITIONAL else each.name for each in given]
    for parameter in names:
        for value in OTHER_TYPES:
            if callable(value) and parameter.startswith("on_"):
                continue  # what the caller's own function raises is the caller's
            arguments = CALLS[name] | {parameter: value} if parameter else {}
            try:
                function(*[] if parameter else [value], **arguments)
            except bjsim.BjsimError as error:
                refused += 1
                assert str(error).isprintable() and 10 < len(str(error)) <= LONGEST_MESSAGE, (parameter, value)
    assert refused > len(names) * 5


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'paly'"):
        bjsim.paly  # type: ignore[attr-defined]  # noqa: B018


def test_importing_the_package_imports_no_array_library() -> None:
    code = "import sys, bjsim; print(sorted({'numpy', 'numba', 'rich', 'click'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "[]\n"


def test_all_errors_have_one_root() -> None:
    assert issubclass(bjsim.InputError, bjsim.BjsimError) and issubclass(bjsim.InputError, ValueError)
    assert issubclass(bjsim.RunFailed, bjsim.BjsimError) and issubclass(bjsim.RunFailed, RuntimeError)
    with pytest.raises(bjsim.BjsimError, match="no rule set is called 'no such game'"):
        bjsim.load_rules("no such game")


def test_solve_in_floats_and_in_fractions() -> None:
    assert bjsim.solve("easy").value == pytest.approx(0.116684704, abs=1e-9)
    exact = bjsim.solve("easy", exact=True).value
    one = bjsim.solve(bjsim.load_rules("vegas-s17").replace(decks=1))
    assert one.value_of("cdz-") == pytest.approx(0.00181934306, abs=5e-12)
    with pytest.raises(bjsim.InputError, match="decks = inf"):
        bjsim.solve("vegas-s17", exact=True)
    assert isinstance(exact, Fraction) and float(exact) == pytest.approx(
        bjsim.evaluate("optimal", "easy").best, abs=1e-15
    )


def test_a_chart_is_evaluated_by_name_by_file_and_as_it_is(tmp_path: Path) -> None:
    rules = bjsim.load_rules("easy")
    lim17 = bjsim.find_player("lim17", rules)
    assert isinstance(lim17, bjsim.Chart)
    by_name = bjsim.evaluate("lim17", "easy")
    assert by_name.value == bjsim.evaluate(lim17).value < by_name.best
    assert by_name.best == pytest.approx(float(Solver(rules).value))
    file = tmp_path / "mine.txt"
    file.write_text("not a chart\n", encoding="utf-8")
    with pytest.raises(bjsim.InputError, match=r"mine\.txt"):
        bjsim.evaluate(file, "easy")
    with pytest.raises(bjsim.InputError, match="rules"):
        bjsim.evaluate("lim17")


def test_games_are_compared_with_the_first() -> None:
    first, second = bjsim.compare("single-deck", bjsim.load_rules("single-deck").replace(blackjack_pays="6/5"))
    assert first.difference == 0 > second.difference
    with pytest.raises(bjsim.InputError, match="compare takes at least one game"):
        bjsim.compare()
    with pytest.raises(bjsim.InputError, match="rules: an int is not accepted"):
        bjsim.compare(17)  # type: ignore[arg-type]


def test_every_shoe_has_a_solution_with_the_same_names() -> None:
    """What `Solution` has takes the same first arguments in every shoe, and is a value in all of them or in none."""
    names = {name for name in dir(bjsim.Solution) if name[0] != "_"}
    assert names >= {"value", "value_of", "sd", "chart", "hand_values", "cell_values", "costs", "dealer", "refusal"}
    for rules in ("easy", "vegas-s17"):
        solution = bjsim.solve(rules)
        assert isinstance(solution, bjsim.Solution) and not callable(solution.value)
        for name in names:
            one, other = (inspect.getattr_static(kind, name) for kind in (bjsim.Solution, type(solution)))
            assert inspect.isfunction(one) == inspect.isfunction(other), name
            if inspect.isfunction(one):
                wanted, found = ([*inspect.signature(each).parameters] for each in (one, other))
                assert [name for name in found if name in wanted] == wanted, name


@pytest.mark.parametrize("rules", ["easy", "vegas-s17", slow("double-exposure")])
def test_a_solution_values_hands_cells_charts_and_the_dealer(rules: str) -> None:
    solution = bjsim.solve(rules)
    hoyle = bjsim.evaluate("hoyle", rules)
    assert hoyle.value == float(solution.value_of(hoyle.chart)) and list(hoyle.cells) == solution.costs(hoyle.chart)
    assert sum(cell.cost for cell in hoyle.cells) == pytest.approx(float(solution.value) - hoyle.value, abs=1e-12)
    for shown in solution.shown:
        assert sum(solution.dealer(shown).values()) == pytest.approx(1, abs=1e-12)
    for (_, column), values in solution.cell_values().items():
        assert values and column in solution.chart.states.columns
    with pytest.raises(bjsim.InputError, match="'x'"):
        solution.dealer("x")
    with pytest.raises(bjsim.InputError, match="hoyle"):
        solution.value_of("hoyle")


@pytest.mark.slow
def test_a_shoe_without_an_exact_value_is_solved_as_an_infinite_one() -> None:
    rules = bjsim.load_rules("easy").replace(decks=2, max_hands="inf", split_tens_blackjack=True)
    solution = bjsim.solve(rules)
    assert "TT is split" in solution.refusal and solution.infinite and solution.rules is rules
    assert solution.value == bjsim.solve(rules.replace(decks="inf")).value == bjsim.compare(rules)[0].value
    assert bjsim.evaluate("hoyle", rules).refusal == solution.refusal


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: bjsim.find_player("hoyle", "easy"), "rules: a str is not accepted"),  # type: ignore[arg-type]
        (lambda: bjsim.Chart("mine", None, {}), "rules: a NoneType is not accepted"),  # type: ignore[arg-type]
        (lambda: bjsim.Rules(foo=1), "no rule is called 'foo'"),  # type: ignore[call-arg]
        (lambda: bjsim.Rules(hit_soft17=True), "did you mean hit_soft_17?"),  # type: ignore[call-arg]
    ],
)
def test_public_classes_guard_their_arguments(make: Any, said: str) -> None:
    with pytest.raises(bjsim.InputError, match=re.escape(said)):
        make()


@pytest.mark.slow
def test_a_loop_over_decks_needs_no_cases() -> None:
    """mypy reads this too."""
    games = [bjsim.load_rules("vegas-s17").replace(decks=decks, max_hands=2) for decks in (1, 2, "inf")]
    solved = [bjsim.solve(game) for game in games]
    assert [f"{solver.value - solved[0].value:+.4f}" for solver in solved] == ["+0.0000", "-0.0035", "-0.0069"]
    for solver in solved:
        chart = solver.chart
        assert solver.value_of(chart) == pytest.approx(float(solver.value), abs=1e-12)
        assert 1.1 < solver.sd == pytest.approx(solver.sd_of(chart), abs=1e-12)
        values = solver.hand_values("88", "T")
        assert max(values, key=values.__getitem__) == "P" == chart.cells["88", "T"]


def test_intervals_have_the_same_shape() -> None:
    (result,) = bjsim.play("vegas-s17", "optimal", hands=50_000)
    adjusted, point = result.adjusted, result.point.luck_adjusted
    assert adjusted is not None and point is not None
    assert (adjusted.mean, adjusted.ci95, adjusted.anytime95) == (point.mean, point.ci95, point.anytime95)
    for low, high in (result.point.anytime95, adjusted.anytime95):
        assert low < adjusted.mean < high
    assert adjusted.gain == pytest.approx((result.tally.se / adjusted.se) ** 2)


def test_a_game_is_learned() -> None:
    """What is learned of a game has the names of what is learned of any process."""
    learned = bjsim.learn("neller", 200_000, seed=1)
    assert learned.rules.name == "neller"
    assert 0 <= learned.regret < 0.01
    study = bjsim.learn(learned.mdp, 200_000, seed=1)
    assert (study.regret, study.curve, study.disagreements) == (learned.regret, learned.curve, learned.disagreements)
    assert study.to_json().keys() <= learned.to_json().keys() and isinstance(learned, bjsim.Study)


def test_the_environments_are_imported_when_used_or_say_what_is_missing() -> None:
    code = "import sys, bjsim\nif {}: sys.modules['gymnasium'] = None\nprint(bjsim.gym.BlackjackEnv.__name__)"
    wrong = subprocess.run([sys.executable, "-c", code.format(1)], capture_output=True, text=True)
    assert "AttributeError: bjsim.gym: " in wrong.stderr and "pip install '.[gym]'" in wrong.stderr
    pytest.importorskip("gymnasium", reason="gymnasium is not installed")
    right = subprocess.run([sys.executable, "-c", code.format(0)], capture_output=True, text=True)
    assert right.stdout == "BlackjackEnv\n", right.stderr


@pytest.mark.parametrize(
    ("bots", "settings", "message"),
    [
        (["lim17", bjsim.find_player], {}, "bots: a function is not accepted; give a list of names, files or folders"),
        ("lim17", {}, "bots: a str is not accepted"),
        (["lim17", "lim16"], {"match": 3}, "unknown setting 'match'; did you mean matches?"),
        (["lim17", "lim16"], {"xyz": 3}, "unknown setting 'xyz'; the settings are bots, rules, seed"),
        (["lim17", "lim16"], {"workers": 0}, "workers: 0 is not accepted"),
        (["lim17", "lim16"], {"workers": 1.5}, "workers: 1.5 is not accepted"),
        (["lim17", "lim16"], {"sandbox": "off"}, "sandbox='off' is not accepted; use required, auto"),
    ],
)
def test_a_wrong_contest_is_an_input_error(bots: Any, settings: dict[str, Any], message: str, tmp_path: Path) -> None:
    with pytest.raises(bjsim.InputError, match=re.escape(message)):
        bjsim.contest(bots, tmp_path / "hill", **settings)
    assert not (tmp_path / "hill").exists()


def test_a_client_is_told_how_to_give_its_executor() -> None:
    client = type("Client", (), {"get_executor": None})()
    with pytest.raises(bjsim.InputError, match=r"executor: a Client is not accepted; .*client\.get_executor\(\)$"):
        bjsim.play("easy", "lim17", 100, executor=client)


def test_an_error_of_what_is_called_back_is_no_wrong_argument(tmp_path: Path) -> None:
    """The settings of a contest are not named in its signature."""

    def fail(host: object) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        bjsim.contest(["optimal", "lim17"], tmp_path / "hill", matches=1, seed=1, on_match=fail)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: bjsim.learn("neller", 1.5), "episodes: 1.5 is not accepted"),  # type: ignore[call-overload]
        (lambda: bjsim.learn("neller", 1000, seed=-1), "seed: -1 is not accepted"),
        (lambda: bjsim.learn("neller", 1000, workers=0), "workers: 0 is not accepted"),
        (lambda: bjsim.solve("easy", exact="no"), "exact='no' is not accepted; use True or False"),  # type: ignore[arg-type]
        (lambda: bjsim.solve("easy").hand_values("16", "TT"), "'16' is not accepted; write a character for each card"),
        (lambda: bjsim.solve("easy").hand_values("T6", "16"), "'16' is not accepted; write a character for each card"),
        (lambda: bjsim.evaluate(bjsim.Chart("mine", EASY, {("16", "18"): "S"})), "chart mine has no cell for "),
        (lambda: bjsim.evaluate(bjsim.solve("easy").chart, "vegas-s17"), "chart optimal: '4' against '10' is no cell"),
        (lambda: bjsim.Chart("mine", EASY, {("foo", "18"): "S"}), "chart mine: 'foo' against '18' is no cell; columns"),
        (lambda: bjsim.Chart("mine", EASY, {("1010", "18"): "S"}), "chart mine: '1010' against '18' is no cell"),
        (lambda: bjsim.Chart("mine", EASY, {("88x2", "18"): "S"}), "chart mine: '88x2' against '18' is no cell"),
    ],
)
def test_a_wrong_value_is_named(call: Callable[[], object], said: str) -> None:
    with pytest.raises(bjsim.InputError, match=f"^{re.escape(said)}"):
        call()


def test_a_contest_is_hosted(tmp_path: Path) -> None:
    standings = bjsim.contest(["optimal", "lim17"], tmp_path / "hill", matches=2, seed=1)
    assert standings.matches == 2
    assert {file.name for file in (tmp_path / "hill").iterdir()} >= {"journal.jsonl", "standings.json", "index.html"}
    with pytest.raises(bjsim.InputError, match="a contest needs two bots or more, not 1"):
        bjsim.contest(["optimal"], tmp_path / "other")


def test_values_survive_pickling() -> None:
    solver = bjsim.solve("easy")
    assert pickle.loads(pickle.dumps(solver.rules)) == solver.rules
    assert pickle.loads(pickle.dumps(solver.chart)) == solver.chart
    assert pickle.loads(pickle.dumps(solver)).value == solver.value
    assert pickle.loads(pickle.dumps(bjsim.Hand("A5"))) == bjsim.Hand("A", 5)


def test_a_chart_cannot_be_changed() -> None:
    cells = dict(bjsim.solve("easy").chart.cells)
    chart = bjsim.Chart("mine", bjsim.load_rules("easy"), cells)
    cells["16", "18"] = "S"
    assert chart.cells["16", "18"] != "S"
    with pytest.raises(TypeError):
        chart.cells["16", "18"] = "S"  # type: ignore[index]
    assert chart == bjsim.Chart("mine", chart.rules, chart.cells) and len({chart, chart}) == 1


def test_hands_are_equal_by_their_cards() -> None:
    assert bjsim.Hand("AT") == bjsim.Hand("A", "10") != bjsim.Hand("TA")
    assert bjsim.Hand("AT") != bjsim.Hand("AT", dealer=True)
    assert bjsim.Hand("10").cards == "T"


DESCRIBED = (
    "RunResult", "BotResult", "LearnedGame", "Study", "Evaluation", "SideBet", "BankResult", "CountResult",
    "CountComparison", "KnownCards", "Standings",
)  # fmt: skip


def contest_of_two() -> bjsim.Standings:
    with TemporaryDirectory() as folder:
        return bjsim.contest(["optimal", "lim17"], Path(folder) / "contest", matches=9, seed=1)


@cache
def results() -> dict[str, Described]:
    """A result of every public kind that describes itself, by the name of its class."""
    run, learned = bjsim.play("easy", ["optimal", "lim17"], hands=2000), bjsim.learn("neller", 2000)
    counted = bjsim.count("single-deck", indices="none", rounds=2000)
    found = [
        run,
        run[0],
        learned,
        bjsim.learn(learned.mdp, 2000),
        bjsim.evaluate("mimic", "easy"),
        bjsim.sidebet("lucky-ladies", decks=2),
        bjsim.bank("easy", 10, 20, rebate="1/5"),
        counted,
        counted.vary(seed=[1, 2]),
        bjsim.known("easy"),
        contest_of_two(),
    ]
    return {type(each).__name__: each for each in found}


@pytest.mark.slow
def test_there_is_a_result_of_every_kind() -> None:
    public = {name: getattr(bjsim, name) for name in bjsim.__all__}
    kinds = {name for name, one in public.items() if isinstance(one, type) and issubclass(one, Described)}
    assert kinds == results().keys() == set(DESCRIBED)


@pytest.mark.slow
@pytest.mark.parametrize("name", DESCRIBED)
def test_a_result_is_a_line_a_page_json_and_a_frame(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The frame has flat columns, which polars and Parquet files take."""
    monkeypatch.setitem(sys.modules, "pandas", SimpleNamespace(DataFrame=lambda columns, index: columns))
    result = results()[name]
    assert repr(result).startswith(f"{name}(") and len(repr(result)) < 120 and "\n" not in repr(result)
    assert re.search("<(table|svg|dl)", result._repr_html_())
    assert json.loads(json.dumps(result.to_json(), allow_nan=False))
    frame: Any = result.to_frame()
    assert frame and len({len(column) for column in frame.values()}) == 1
    for heading, column in frame.items():
        kinds = {bool if each is None else type(each) for each in column}
        assert all(kind in (str, int, float, bool) or issubclass(kind, Number) for kind in kinds), (heading, kinds)


def test_values_are_short_in_a_prompt_and_tables_in_a_notebook() -> None:
    solver, changed = bjsim.solve("vegas-s17"), bjsim.compare("single-deck", "easy")[1]
    run, learned, evaluation = (results()[name] for name in ("RunResult", "LearnedGame", "Evaluation"))
    assert isinstance(run, bjsim.RunResult) and isinstance(learned, bjsim.LearnedGame)
    assert repr(solver.rules).startswith("Rules('vegas-s17', decks=6") and len(repr(solver.rules)) < 300
    for value in (*run, run[0].tally, run.progress, changed, solver):
        assert len(repr(value)) < 120 and "\n" not in repr(value)
    assert repr(evaluation) == "Evaluation('mimic', easy, value -0.058916, best +0.116685, 350 wrong cells)"
    assert repr(run) == "RunResult(easy, seed 1, 2 bots, 4,000 rounds)"
    assert "<td>S</td>" in evaluation._repr_html_() and learned._repr_html_() == learned.chart._repr_html_()
    assert repr(solver.chart) == f"Chart('optimal', vegas-s17, {len(solver.chart.cells)} cells)"
    for value in (solver.rules, solver.chart):
        assert value._repr_html_().startswith("<table>")
    named = bjsim.Chart("<b>", solver.rules, solver.chart.cells)
    assert "&lt;b&gt;" in named._repr_html_()
    table = bjsim.LabelledTable(str, "ab", [1, 2])
    table[1, "a"] = "x"
    assert repr(table) == "LabelledTable(str, 2 rows, 2 columns)"
    assert "<td>x</td><td>--</td>" in table._repr_html_()
    other = bjsim.LabelledTable(str, "ab", [1, 2])
    assert table != other
    other[1, "a"] = "x"
    assert table == other


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda api: api.count("vegas-s17", decks=6), "load_rules(NAME).replace(decks=...)"),
        (lambda api: api.count("vegas-s17", round=6), "did you mean rounds?"),
        (lambda api: api.play("easy", "lim17", seeds=2), "did you mean seed?"),
        (lambda api: api.bank("easy", 10, 10, floors=1), "did you mean floor?"),
        (lambda api: api.contest(["lim17"], "c", match=4), "did you mean matches?"),
        (lambda api: api.Chart("x", chart=2), "no argument is called 'chart'; accepted are name, rules"),
        (lambda api: api.compare(["easy", "neller"]), "write compare(*games)"),
    ],
)
def test_an_argument_that_does_not_exist_is_one_clear_error(call: Callable[[Any], object], says: str) -> None:
    with pytest.raises(bjsim.InputError) as caught:
        call(bjsim)
    assert says in str(caught.value)


@pytest.mark.parametrize("name", sorted(name for name in CALLS if not isinstance(getattr(bjsim, name), type)))
def test_a_function_is_called_by_its_own_name(name: str) -> None:
    """In Python's own error too, and its signature says what it returns."""
    function = getattr(bjsim, name)
    assert inspect.signature(function).return_annotation not in (None, "None", inspect.Signature.empty)
    needed = [one for one in inspect.signature(function).parameters.values() if one.kind <= one.POSITIONAL_OR_KEYWORD]
    if any(one.default is one.empty for one in needed):
        with pytest.raises(TypeError, match=rf"^{name}\(\) missing"):
            function()


def test_an_interval_is_two_columns_of_a_frame(monkeypatch: pytest.MonkeyPatch) -> None:
    """A column of pairs is refused by polars, Parquet files and databases."""
    monkeypatch.setitem(sys.modules, "pandas", SimpleNamespace(DataFrame=lambda columns, index: columns))
    result = bjsim.play("easy", ["lim17", "optimal"], hands=1000)
    frame: Any = result.to_frame()
    assert not any(isinstance(value, tuple | list) for column in frame.values() for value in column)
    for at, one in enumerate(result):
        assert (frame["ci95_low"][at], frame["ci95_high"][at]) == tuple(one.point.ci95)
    assert {"anytime95_low", "anytime95_high"} < frame.keys() and "ci95" not in frame


def test_frames_need_pandas_and_say_so(monkeypatch: pytest.MonkeyPatch) -> None:
    chart = bjsim.solve("easy").chart
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(bjsim.InputError, match="pip install pandas"):
        chart.to_frame()


def test_a_chart_as_a_frame(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", SimpleNamespace(DataFrame=lambda columns, index: (columns, index)))
    chart = bjsim.solve("easy").chart
    columns, index = chart.to_frame()
    assert columns["18"][index.index("16")] == chart.cells["16", "18"]


def test_bots_of_a_contest_may_be_a_generator(tmp_path: Path) -> None:
    bots: Any = (name for name in ("optimal", "lim17"))
    assert bjsim.contest(bots, tmp_path / "hill", matches=1, seed=1).matches == 1


@pytest.mark.parametrize(
    "call",
    [
        lambda: bjsim.Rules(self=1),  # type: ignore[call-arg]
        lambda: bjsim.Rules.from_dict({"self": 1}),
        lambda: bjsim.load_rules("cardshark").replace(self=1),
    ],
)
def test_no_rule_is_called_as_an_argument_of_python_is(call: Callable[[], object]) -> None:
    with pytest.raises(bjsim.InputError, match="no rule is called 'self'"):
        call()
