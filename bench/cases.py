"""The measurements of `speed.py`: rounds, runs, start-up, memory, and other simulators."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import numpy as np
from measure import TURNS, Measured, duration, in_turn, reference_seconds, speed

from bjsim.sim.engine.compiled_rules import compile_rules
from bjsim.sim.engine.counting import pays, play_units
from bjsim.sim.engine.counts import CountingTable, CountSums
from bjsim.sim.engine.play import play_blocks
from bjsim.sim.game.presets import PRESETS, named_rules
from bjsim.sim.game.rules import Rules
from bjsim.sim.game.shoe import stream_key
from bjsim.sim.running.compiled_table import AdjustedTable, CompiledTable, find_walkers
from bjsim.sim.running.driver import Driver
from bjsim.sim.running.experiment import Experiment
from bjsim.sim.running.table import LARGEST_BLOCK, ReadableTable, Span
from bjsim.sim.running.workers import local, usable_cores
from bjsim.strategies.charts.chart import Chart
from bjsim.strategies.counting.departures import Departures, find_departures
from bjsim.strategies.counting.system import find_system
from bjsim.strategies.counting.tables import CountingGame, ready_table
from bjsim.strategies.exact.solver import Solver
from bjsim.strategies.experiment import make_experiment
from bjsim.strategies.players.catalogue import as_player

HERE = Path(__file__).parent
OTHERS = HERE.parent / ".benchmarks" / "latest.json"  # earlier results of pytest-benchmark
BJSIM = str(Path(sys.executable).with_name("bjsim"))
WITHOUT_LUCK = "--no-adjust-luck"


def compiled(rules: Rules) -> CompiledTable:
    """The compiled table of the best chart in every seat, with its kernel, as in a long run."""
    chart = Solver(rules.replace(decks="inf")).chart
    readable = ReadableTable(rules, [chart] * rules.seats)
    table = CompiledTable(compile_rules(rules, [chart.policy] * rules.seats), readable)
    table.prepare(math.inf)
    return table


def solved(name: str) -> Chart:
    """The best chart of a preset, computed anew."""
    return Solver(named_rules(name)).chart


def rounds_of_one_core() -> Iterator[Measured]:
    """Every preset with its own shoe and seats, and with one seat and an infinite or six-deck shoe."""
    for name in PRESETS:
        rules = named_rules(name)
        if rules.bets > 1:  # plays readable rounds
            continue
        games = {f"{name}, as it is": rules}
        games |= {f"{name}, 1 seat, decks = {d}": rules.replace(seats=1, decks=d) for d in ("6", "inf")}
        seen: list[Rules] = []
        for label, game in games.items():
            if game in seen:
                continue
            seen.append(game)
            table = compiled(game)
            spans = [Span(20 + i, LARGEST_BLOCK) for i in range(16)]
            rounds = len(spans) * LARGEST_BLOCK * game.seats
            yield speed(label, rounds, partial(table.play, 1, 0, spans))


def rounds_by_arrays() -> Iterator[Measured]:
    """The walker of short runs, which compiles nothing."""
    keys, rounds = [stream_key(1, 0, block) for block in range(20, 28)], [LARGEST_BLOCK] * 8
    for decks in ("inf", "8", "6", "2", "1"):
        rules = named_rules("vegas-s17").replace(decks=decks)
        (table,) = make_experiment(rules, [solved("vegas-s17")], 1, 1, 1, not rules.infinite).groups
        assert isinstance(table, CompiledTable)
        walkers = find_walkers(table.compiled, table.readable.play_round)
        play = partial(play_blocks, table.compiled, walkers.layout, walkers.play_round, keys, rounds)
        yield speed(f"by arrays, decks = {decks}", sum(rounds), play, 2)
        if isinstance(table, AdjustedTable):
            adjusted = table.walkers
            luck = partial(
                play_blocks, table.compiled, adjusted.layout, walkers.play_round, keys, rounds, drift=adjusted.drift
            )
            yield speed(f"by arrays, decks = {decks}, luck-adjusted", sum(rounds), luck, 2)


def run(experiment: Experiment, workers: int) -> None:
    """Play an experiment from its beginning."""
    Driver(experiment, local(workers)).run()


def rounds_of_all_cores() -> Iterator[Measured]:
    """The driver with one worker and with one per core."""
    for name in ("easy", "vegas-s17"):
        rules = named_rules(name)
        experiment = Experiment(rules, [compiled(rules)], 100_000_000, seed=1)
        for workers in sorted({1, usable_cores()}):
            work = partial(run, experiment, workers)
            yield speed(f"{name}, {workers} worker{'s' * (workers > 1)}", experiment.hands, work, turns=2)


def luck_and_counting() -> Iterator[Measured]:
    """Luck-adjusted rounds, and those of a card counter with the Illustrious 18, luck-adjusted and as they were."""
    for name in ("vegas-s17", "single-deck"):
        rules = named_rules(name)
        chart = Solver(rules.replace(decks="inf")).chart
        (table,) = make_experiment(rules, [chart], 1, 1, 1, True).groups
        assert isinstance(table, AdjustedTable)
        table.prepare(math.inf)
        yield speed(f"{name}, luck-adjusted", 1 << 20, partial(table.play, 1, 0, [Span(0, 1 << 20)]))
        departures, shoes = Departures(chart, find_departures("i18")), 12_000 * 52 // rules.cut_cards
        for adjusted in (True, False):
            counting = ready_table(CountingGame(rules, find_system("hilo"), departures, adjusted=adjusted)).table

            assert pays(counting, 10**9)  # compiles the kernel

            def work(table: CountingTable = counting, shoes: int = shoes) -> CountSums:
                return play_units(table, np.array([stream_key(1, 0, 0)], np.uint64), shoes, shoes, kernel=True)[0][0]

            words = "luck-adjusted" if adjusted else "not luck-adjusted"
            yield speed(f"{name}, Hi-Lo with I18, {words}", int(work().raw[:, 0].sum()), work)


def readable_and_solver() -> Iterator[Measured]:
    """The readable round, and the exact solver."""
    for name in PRESETS:
        rules = named_rules(name)
        table = ReadableTable(rules, [as_player("optimal", rules.replace(decks="inf"))] * rules.seats)
        yield speed(f"readable, {name}", 1000 * rules.seats, partial(table.play, 1, 0, [Span(0, 1000)]), 2)
        yield duration(f"value and chart, {name}", partial(solved, name), 3)


def command(*arguments: str, cache: str | None = None) -> subprocess.CompletedProcess[str]:
    """Run bjsim as a user does."""
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    if cache:
        environment["NUMBA_CACHE_DIR"] = cache
    return subprocess.run([BJSIM, *arguments], capture_output=True, text=True, check=True, env=environment)


def precision() -> Iterator[Measured]:
    """Seconds on one core to a 95% interval of plus or minus 0.01% and 0.001%, raw and luck-adjusted.

    Extrapolated from a run of some seconds: from its speed and standard error, which falls with the root of the rounds.
    """
    for name in ("vegas-s17", "downtown", "atlantic-city", "single-deck"):
        for raw in (True, False):
            arguments = ["run", "--rules", name, "--bots", "optimal", "--workers", "1", "--json", "-"]
            plain = min(reference_seconds() for _ in range(TURNS))
            done = command(*arguments, "--hands", "2e7" if raw else "4e6", *([WITHOUT_LUCK] if raw else []))
            report = json.loads(done.stdout)
            se = report["bots"][0]["se"] if raw else report["bots"][0]["luck_adjusted"]["se"]
            kind = "raw" if raw else "luck-adjusted"
            for half, words in ((1e-4, "0.01%"), (1e-5, "0.001%")):
                seconds = report["seconds"] * (1.96 * se / half) ** 2
                yield Measured(f"{name} to ±{words}, {kind}", f"{seconds:,.2f} s", plain / seconds)


def start_up() -> Iterator[Measured]:
    """Whole processes: help, the first command of the README, and the first run after an installation."""
    yield duration("bjsim --help", lambda: command("--help"), 3)
    run = ("run", "--bots", "optimal,lim17", "--hands", "1e7")
    yield duration("bjsim run --bots optimal,lim17 --hands 1e7", lambda: command(*run), 3)
    with tempfile.TemporaryDirectory() as cache:
        plain = min(reference_seconds() for _ in range(TURNS))
        began = time.perf_counter()
        command(*run, cache=cache)
        seconds = time.perf_counter() - began
    yield Measured("the same, compiling first", f"{seconds:.1f} s", plain / seconds)


def scale() -> Iterator[Measured]:
    """How the speed changes with seats, decks, tables and workers, and its slope: the power of that number."""
    vegas = named_rules("vegas-s17")
    tables = {f"{n} seats": compiled(vegas.replace(seats=n)) for n in (2, 4, 7)}
    tables |= {f"{n} decks": compiled(vegas.replace(decks=n)) for n in (1, 2, 4, 8)}
    found: dict[str, list[tuple[int, float, float]]] = {}

    def note(kind: str, n: int, rounds: int, work: Callable[[], object]) -> Measured:
        measured = speed(f"vegas-s17, {n} {kind}", rounds, work, turns=3)
        found.setdefault(kind, []).append((n, measured.ratio, measured.by_memory))
        return measured

    for label, table in tables.items():
        number, kind = label.split()
        spans = [Span(20 + i, LARGEST_BLOCK) for i in range(8)]
        rounds = len(spans) * LARGEST_BLOCK * table.seats
        yield note(kind, int(number), rounds, partial(table.play, 1, 0, spans))
    table = compiled(vegas)
    for n in (1, 16, 256):
        experiment = Experiment(vegas, [table], 16_000_000, seed=1, tables=n)
        yield note("tables", n, 16_000_000, partial(run, experiment, 1))
    experiment = Experiment(vegas, [table], 64_000_000, seed=1)
    for n in (1, 2, 4, 8, 16):
        if n <= usable_cores():
            yield note("workers", n, 64_000_000, partial(run, experiment, n))
    for kind, points in found.items():
        numbers, ratios, _ = np.log(np.array(points)).T
        if len(points) > 1:
            slope = float(np.polyfit(numbers, ratios, 1)[0])
            yield Measured(f"vegas-s17, slope by {kind}", f"{slope:+.2f}", 2**slope)


def peer() -> Iterator[Measured]:
    """Gymnasium's blackjack, with a player that stands on 17: the only peer that pip installs."""
    import gymnasium

    table = gymnasium.make("Blackjack-v1")

    def play(rounds: int = 2000) -> None:
        for _ in range(rounds):
            (points, _, _), _ = table.reset()
            over = False
            while not over:
                (points, _, _), _, over, _, _ = table.step(int(points < 17))

    yield speed("Gymnasium's Blackjack-v1", 2000, play)


def notebook(python: str, file: str) -> Iterator[Measured]:
    """The same game by github.com/hhoppe/blackjack, in turn with bjsim; the last figure is bjsim's ratio to it."""
    for decks in ("inf", "8", "6", "2", "1"):
        table = compiled(named_rules("vegas-s17").replace(decks=decks))
        spans = [Span(20 + i, LARGEST_BLOCK) for i in range(16)]
        mine: list[float] = []
        peers: list[float] = []
        for _ in range(2):
            peer_command = [python, str(HERE / "peer.py"), file, decks]
            done = subprocess.run(peer_command, capture_output=True, text=True, check=True)
            peers.append(float(done.stdout.split()[-1]))
            mine.append(len(spans) * LARGEST_BLOCK / in_turn(partial(table.play, 1, 0, spans)).work)
        value = f"{max(mine):,.0f} and {max(peers):,.0f} rounds/s"
        yield Measured(f"bjsim and hhoppe/blackjack, decks = {decks}", value, max(mine) / max(peers))


def memory() -> Iterator[tuple[str, str]]:
    """Peak memory of the largest process of a short and a long run."""
    measure = "import resource, subprocess, sys; subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, check=True)\n"
    measure += "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024)"
    for hands in ("1e7", "1e9"):
        run = [sys.executable, "-c", measure, BJSIM, "run", "--bots", "lim17", "--hands", hands]
        done = subprocess.run(run, capture_output=True, text=True, check=True)
        yield f"memory of {hands} hands", f"{float(done.stdout):,.0f} MB"


def other_ratios() -> Iterator[Measured]:
    """Ratios from the benchmarks of bots and contests."""
    if OTHERS.exists():
        for found in json.loads(OTHERS.read_text(encoding="utf-8"))["benchmarks"]:
            for what, ratio in found["extra_info"].items():
                if what.startswith("times "):
                    yield Measured(f"{found['name']}: {what}", f"{ratio}", float(ratio))
