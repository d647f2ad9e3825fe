"""The driver: the same results on any workers, after lost workers, and after a stop and a resumption."""

import json
import logging
import math
import multiprocessing
import os
import signal
import threading
import time
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.mutations import mutations

from bjsim.errors import InputError, RunFailed
from bjsim.sim.game.presets import named_rules
from bjsim.sim.running.checkpoint import Checkpoint
from bjsim.sim.running.driver import Driver, _point
from bjsim.sim.running.experiment import Experiment, Point, half_width
from bjsim.sim.running.table import block_number, block_start
from bjsim.sim.running.workers import collect_logs, local
from bjsim.sim.stats.tally import Tally
from bjsim.strategies.exact.solver import Solver
from bjsim.strategies.experiment import make_experiment
from bjsim.strategies.players.catalogue import find_player

EASY = named_rules("easy")


def easy(hands=300_000, tables=1, precision=0.0):
    players = [find_player(bot, EASY) for bot in ("optimal", "lim17")]
    return make_experiment(EASY, players, hands, seed=3, tables=tables, precision=precision)


@given(st.integers(0, 10**9))
def test_blocks_lie_end_to_end(number):
    block = block_number(number)
    assert block_start(block) <= number < block_start(block + 1)


@given(st.integers(1, 10**7), st.integers(1, 9), st.integers(1, 3))
def test_jobs_play_every_round_once(hands, tables, groups):
    experiment = Experiment(EASY, [FakeTable()] * groups, hands, seed=1, tables=tables)
    played = {}
    for job in experiment.jobs():
        assert job.group == job.number // tables
        first, until = block_start(job.first), min(block_start(job.last + 1), experiment.until(job.number))
        assert played.get(job.number, 0) == first < until
        played[job.number] = until
    for group in range(groups):
        assert sum(played.get(group * tables + t, 0) for t in range(tables)) == hands


def test_workers_do_not_change_the_result():
    one = Driver(easy(tables=2), local(1)).run()
    two = Driver(easy(tables=2), local(2)).run()
    assert one.tallies == two.tallies
    assert one.convergence == two.convergence
    assert one.tallies[0].rounds == 300_000


def test_another_seed_gives_another_result():
    first, other = easy(), easy()
    other = Experiment(other.rules, other.groups, other.hands, seed=4)
    assert Driver(first).run().tallies != Driver(other).run().tallies


@dataclass(frozen=True)
class FakeTable:
    """Pays 1 in every round; the first process to play block 3 while `deaths` has files left dies of it."""

    deaths: Path | None = None

    seats = 1
    blocks_at_once = 32

    def play(self, seed, table, spans):
        if self.deaths and any(block == 3 for block, _ in spans):
            for file in self.deaths.iterdir():
                file.unlink()
                os.kill(os.getpid(), signal.SIGKILL)
        return [Tally(Fraction(1), {(1, 0): sum(rounds for _, rounds in spans)})]


class SlowTable(FakeTable):
    """So slow that one worker cannot finish all jobs before the other starts."""

    def play(self, seed, table, spans):
        time.sleep(0.05)
        return super().play(seed, table, spans)


def doomed(folder, deaths):
    for number in range(deaths):
        (folder / str(number)).touch()
    return Experiment(EASY, [FakeTable(folder)], 300_000, seed=1)


def test_blocks_of_a_lost_worker_are_played_again(tmp_path):
    progress = Driver(doomed(tmp_path, 2), local(2)).run()
    assert not list(tmp_path.iterdir()), "two workers died"
    assert progress.tallies == [Tally(Fraction(1), {(1, 0): 300_000})]
    assert [p.hands for p in progress.convergence[0]][-1] == 300_000


def test_a_block_that_kills_its_workers_is_named(tmp_path):
    with pytest.raises(RunFailed, match="table 0, blocks 3 to 3: its worker died twice with nothing else under way"):
        Driver(doomed(tmp_path, 50), local(2)).run()


def stop_after(merges):
    def stop(progress):
        if progress.merged >= merges:
            raise KeyboardInterrupt

    return stop


@pytest.mark.parametrize("merges", [1, 4, 9, 13])
def test_a_stopped_run_resumes_to_the_same_result(tmp_path, merges):
    whole = Driver(easy()).run()
    checkpoint = Checkpoint(tmp_path / "run.json", {"seed": 3})
    driver = Driver(easy(), checkpoint=checkpoint, on_progress=stop_after(merges))
    with pytest.raises(KeyboardInterrupt):
        driver.run()
    assert 0 < driver.progress.rounds < whole.rounds
    again = Driver(easy(), checkpoint=checkpoint, resume=True).run()
    assert (again.tallies, again.convergence) == (whole.tallies, whole.convergence)


def test_every_value_of_a_checkpoint_has_its_type(tmp_path):
    rules = named_rules("vegas-s17")
    experiment = make_experiment(rules, [find_player("optimal", rules)], 3000, seed=1, adjust_luck=True)
    checkpoint = Checkpoint(tmp_path / "run.json")
    Driver(experiment, checkpoint=checkpoint).run()
    right, tried = checkpoint.load(), 0
    assert right["tallies"][0]["luck"]["shoes"]
    for path, wrong, changed in mutations(right):
        if wrong != -1 or path[-1] not in ("value", "y", "b", "yy", "yb", "bb"):
            checkpoint.load = lambda changed=changed: changed
            with pytest.raises(InputError, match="is not a checkpoint of bjsim, or is damaged"):
                Driver(experiment, checkpoint=checkpoint, resume=True)
            tried += 1
    assert tried > 200


@pytest.mark.parametrize("ends", ["at its end", "early"])
def test_no_thread_of_a_pool_is_left_when_a_run_has_ended(ends):
    """One that still closes its pipe while Python exits prints sixteen lines on stderr."""
    before = threading.enumerate()
    steps = Driver(easy(), local(2)).steps()
    next(steps)
    for _ in steps if ends == "at its end" else ():
        pass
    steps.close()
    assert threading.enumerate() == before


@pytest.fixture(params=["fork", "spawn"])
def start_method(request):
    """How multiprocessing starts processes where it is not said: since Python 3.14, not by a fork."""
    before = multiprocessing.get_start_method(allow_none=True)
    multiprocessing.set_start_method(request.param, force=True)
    yield request.param
    multiprocessing.set_start_method(before, force=True)


@pytest.mark.parametrize("level", [logging.NOTSET, logging.ERROR])
def test_a_log_leaves_the_logger_as_it_was(tmp_path, start_method, level):
    own, handler = logging.getLogger("bjsim"), logging.NullHandler()
    own.addHandler(handler)
    own.setLevel(level)
    try:
        before = own.level, own.propagate, [*own.handlers], threading.enumerate()
        for number in range(2):
            with collect_logs(tmp_path / str(number)):
                own.info("said")
            assert (own.level, own.propagate, own.handlers, threading.enumerate()) == before
            assert (tmp_path / str(number)).read_text().endswith("INFO said\n")
    finally:
        own.removeHandler(handler)
        own.setLevel(logging.NOTSET)


def test_one_log_holds_the_records_of_all_workers(tmp_path, start_method):
    path = tmp_path / "log"
    with collect_logs(str(path)):
        Driver(Experiment(EASY, [SlowTable()], 2_000_000, seed=3, tables=4), local(2)).run()
    lines = path.read_text().splitlines()
    workers = {line.split()[2] for line in lines}
    assert len(workers) == 2
    assert str(os.getpid()) not in workers
    blocks = sum(1 for _ in Experiment(EASY, [SlowTable()], 2_000_000, seed=3, tables=4).jobs())
    assert len(lines) == blocks, "a record for every job, none lost"


def precise(precision, hands=10**9, tables=1):
    return easy(hands, tables, precision)


@pytest.mark.parametrize("tables", [1, pytest.param(3, marks=pytest.mark.slow)])
def test_a_run_stops_at_the_precision_asked_for_whatever_plays_it(tables):
    one = Driver(precise(0.004, tables=tables)).run()
    two = Driver(precise(0.004, tables=tables), local(2)).run()
    assert one.tallies == two.tallies and one.convergence == two.convergence
    experiment = precise(0.004, tables=tables)
    assert max(half_width(tally, experiment.optimal_n) for tally in one.tallies) <= 0.004
    for tally, points in zip(one.tallies, one.convergence, strict=True):
        assert points[-1].hands == tally.rounds
    before = [points[-2].anytime95 for points in one.convergence]
    assert max((high - low) / 2 for low, high in before) > 0.004


def test_a_precision_out_of_reach_plays_all_hands():
    progress = Driver(precise(0.0001, hands=5000)).run()
    assert [tally.rounds for tally in progress.tallies] == [5000, 5000]


def test_a_run_that_reached_its_precision_has_nothing_to_resume(tmp_path):
    checkpoint = Checkpoint(tmp_path / "run.json")
    first = Driver(precise(0.01), checkpoint=checkpoint).run()
    again = Driver(precise(0.01), checkpoint=checkpoint, resume=True).run()
    assert again.tallies == first.tallies and again.merged == first.merged
    further = Driver(precise(0.005), checkpoint=checkpoint, resume=True).run()
    assert further.tallies == Driver(precise(0.005)).run().tallies


def test_a_stopped_run_keeps_its_luck_to_the_bit(tmp_path):
    """Stopped after three merges and resumed; luck sums are floats, so the order of merging matters."""
    game = named_rules("vegas-s17")

    def six_decks():
        return make_experiment(game, [find_player("optimal", game)], 60_000, seed=5, tables=2)

    def stop(progress):
        if progress.merged == 3:
            raise KeyboardInterrupt

    file = tmp_path / "checkpoint"
    with pytest.raises(KeyboardInterrupt):
        Driver(six_decks(), checkpoint=Checkpoint(file), on_progress=stop).run()
    again = Driver(six_decks(), checkpoint=Checkpoint(file), resume=True).run()
    whole = Driver(six_decks(), local(2)).run()
    assert again.tallies == whole.tallies and again.convergence == whole.convergence
    luck, points = whole.tallies[0].luck, [point.luck_adjusted for point in whole.convergence[0]]
    assert luck.shoes > 1000 and points[-1][:3] == (60_000, luck.mean, luck.ci95)
    assert all(point is None for point in (one.luck_adjusted for one in Driver(easy(5000)).run().convergence[0]))


def test_points_survive_a_checkpoint():
    adjusted = Point(10, 0.25, (0.0, 0.5), (-math.inf, math.inf))
    for point in (Point(10, -0.5, (-1.0, 0.0), (-math.inf, math.inf), adjusted), adjusted):
        assert _point(*json.loads(json.dumps(point))) == point


@pytest.mark.parametrize(("decks", "precision"), [(1, 4e-4), (6, 6e-5), ("inf", 1e-2)])
def test_a_run_to_a_precision_takes_about_as_long_as_expected(decks, precision):
    """The variance of luck-adjusted returns is 48 times as large in one deck as in six; inf is not adjusted.

    The interval is looked at after 1, 2, 4, .. blocks, so that a run may take twice as long as it needs.
    """
    rules = named_rules("vegas-s17").replace(decks=decks)
    chart = Solver(rules.replace(decks="inf")).chart
    experiment = make_experiment(rules, [chart], 10**7, seed=3, precision=precision)
    progress = Driver(experiment).run()
    assert half_width(progress.tallies[0], experiment.optimal_n) <= precision
    assert 0.4 < progress.rounds / experiment.target_n < 3


def test_the_pilot_is_no_part_of_the_run():
    """The same rounds have the same results with a precision, for which other rounds are played first, and without."""
    rules = named_rules("vegas-s17").replace(decks=2)
    chart = Solver(rules.replace(decks="inf")).chart
    with_pilot, without = (make_experiment(rules, [chart], 3000, seed=3, precision=each) for each in (1e-9, 0.0))
    assert Driver(with_pilot).run().tallies == Driver(without).run().tallies
