"""Work in pieces: every result in the order of the jobs, whatever becomes of the workers."""

from __future__ import annotations

import os
import random
import signal
import struct
import threading
import time
from concurrent.futures import BrokenExecutor, Executor, Future, ThreadPoolExecutor
from contextlib import nullcontext
from itertools import count, islice
from multiprocessing.connection import Connection
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.mortal import die

from bjsim.errors import RunFailed
from bjsim.sim.running import pieces as module
from bjsim.sim.running.pieces import AHEAD, LOSSES, Pieces
from bjsim.sim.running.table import Backend
from bjsim.sim.running.workers import borrowed, local

SQUARES = [(job, job * job) for job in range(40)]


def called(job):
    return f"job {job}"


def square(job, seconds=0.0):
    time.sleep(seconds)
    return job * job


def dying(folder, job, times):
    for n in range(times):
        Path(folder, f"{job}-{n}").touch()
    return Pieces(local(2), iter(range(40)), lambda job: (die, job, str(folder)), called)


@pytest.mark.parametrize("workers", [1, 2, 5])
def test_results_are_in_the_order_of_the_jobs(workers):
    jobs = random.Random(1).sample(range(1000), 50)
    pieces = Pieces(local(workers), iter(jobs), lambda job: (square, job, 0.002 * (job % 3)), called)
    assert [*pieces.results()] == [(job, job * job) for job in jobs]
    assert not [*pieces.unmerged()]


@pytest.mark.parametrize("times", [1, 3])
def test_a_job_whose_worker_is_lost_is_played_again(tmp_path, times, caplog):
    assert [*dying(tmp_path, 7, times).results()] == SQUARES
    assert [record.message for record in caplog.records] == ["a worker was lost; what it had begun is played again"] * (
        times
    )


def test_a_job_that_kills_its_workers_is_named(tmp_path):
    results = dying(tmp_path, 7, 100).results()
    assert [*islice(results, 7)] == SQUARES[:7]
    with pytest.raises(RunFailed, match="job 7: its worker died twice with nothing else under way"):
        next(results)
    assert len(list(tmp_path.iterdir())) == 96, "four workers died"


def test_an_executor_that_replaces_its_workers_goes_on(tmp_path):
    """loky replaces a pool that broke when it is asked for one again; the lost jobs are submitted again."""
    loky = pytest.importorskip("loky", reason="loky is not installed")
    (tmp_path / "7-0").touch()
    backend = Backend(lambda: nullcontext(loky.get_reusable_executor(max_workers=2)), 4)
    try:
        assert [*Pieces(backend, iter(range(40)), lambda job: (die, job, str(tmp_path)), called).results()] == SQUARES
    finally:
        loky.get_reusable_executor().shutdown(kill_workers=True)
    assert not list(tmp_path.iterdir()), "a worker died"


class FakePool(Executor):
    """A pool whose jobs are done, or kill it, when the test waits for them."""

    def __init__(self):
        self.jobs, self.broken = {}, False

    def submit(self, fn, /, job):
        if self.broken:
            raise BrokenExecutor
        future = Future()
        future.set_running_or_notify_cancel()
        self.jobs[future] = job
        return future


@given(st.data(), st.integers(1, 4), st.none() | st.integers(0, 19))
def test_results_do_not_depend_on_losses_and_only_a_killer_is_blamed(data, workers, killer):
    """Any job may be done first, and workers killed from outside at any moment: three, or one beside a killer."""
    kills = data.draw(st.integers(0, 3 if killer is None else 1))
    pools, left = [], kills

    def open_pool():
        pools.append(FakePool())
        return nullcontext(pools[-1])

    def wait(futures, timeout, when):
        nonlocal left
        chosen = data.draw(st.sampled_from(sorted(futures, key=pools[-1].jobs.get)))
        outside = left > 0 and data.draw(st.booleans())
        left -= outside
        if outside or pools[-1].jobs[chosen] == killer:
            pools[-1].broken = True
            for future in futures:
                future.set_exception(BrokenExecutor())
            return set(futures), set()
        chosen.set_result(pools[-1].jobs[chosen] ** 2)
        return {chosen}, set(futures) - {chosen}

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "wait", wait)
        backend = Backend(open_pool, 2 * workers if workers > 1 else 1)
        found, error = [], ""
        try:
            found += Pieces(backend, iter(range(20)), lambda job: (square, job), called).results()
        except RunFailed as failed:
            error = str(failed)
    assert found == SQUARES[: len(found)]
    if killer is None:
        assert len(found) == 20 and not error and len(pools) == 1 + kills - left
    else:
        assert len(found) <= killer
        assert error == f"job {killer}: its worker died twice with nothing else under way"


def half_sent(job, folder):
    """Die once in the middle of sending a result that does not fit into a pipe."""
    if job == 3 and (file := Path(folder, "once")).exists():
        file.unlink()

        def send_half(connection, data):
            connection._send(struct.pack("!i", len(data)) + bytes(data[: len(data) // 2]))
            os.kill(os.getpid(), signal.SIGKILL)

        Connection._send_bytes = send_half
    return b"x" * 1_000_000


def test_a_worker_that_is_killed_while_it_sends_hangs_nothing(tmp_path):
    (tmp_path / "once").touch()
    before = threading.enumerate()
    pieces = Pieces(local(2), iter(range(8)), lambda job: (half_sent, job, str(tmp_path)), called)
    assert [job for job, _ in pieces.results()] == [*range(8)]
    assert not (tmp_path / "once").exists() and threading.enumerate() == before


def length_soon(data):
    time.sleep(0.2)
    return len(data)


def test_a_pool_that_is_given_up_while_it_sends_jobs_hangs_nothing():
    """Jobs that do not fit into a pipe: on Python 3.11.2 a thread waited for ever for a worker to read them."""
    before = threading.enumerate()
    results = Pieces(local(2), iter(range(8)), lambda job: (length_soon, bytes(1_000_000)), called).results()
    assert next(results) == (0, 1_000_000)
    results.close()
    assert threading.enumerate() == before


def test_few_results_wait_while_the_first_job_takes_its_time():
    asked, started = count(), threading.Event()

    def wait_if_first(job):
        return started.wait(20) if job == 0 else job

    with ThreadPoolExecutor(2) as pool:
        jobs = (next(asked) for _ in range(500))
        results = Pieces(borrowed(pool, 2), jobs, lambda job: (wait_if_first, job), called).results()
        most = []
        threading.Timer(0.3, lambda: (most.append(next(asked)), started.set())).start()
        next(results)
        results.close()
    assert 4 < most[0] <= AHEAD * 4


def test_a_job_in_this_process_is_asked_for_when_the_one_before_is_merged():
    """The length of a job may depend on it."""
    merged = []
    jobs = (len(merged) for _ in range(9))
    for job, _ in Pieces(local(1), jobs, lambda job: (square, job), called).results():
        merged.append(job)
    assert merged == [*range(9)]


def test_the_error_of_a_job_is_not_held_up_by_an_earlier_job():
    started = threading.Event()

    def fail_or_wait(job):
        return started.wait(20) if job == 5 else 1 // (job - 6)

    with ThreadPoolExecutor(2) as pool, pytest.raises(ZeroDivisionError):
        try:
            for job, _ in Pieces(borrowed(pool, 2), count(), lambda job: (fail_or_wait, job), called).results():
                assert job < 5
        finally:
            started.set()


def test_an_executor_that_stays_broken_is_given_up():
    pool = FakePool()
    pool.broken = True
    with pytest.raises(RunFailed, match=f"workers were lost {LOSSES} times in a row, with nothing done between"):
        next(Pieces(borrowed(pool, 2), count(), lambda job: (square, job), called).results())


def test_what_is_done_but_not_in_its_turn_is_known_after_a_stop():
    started = threading.Event()

    def wait_if_first(job):
        return started.wait(20) if job == 1 else job

    with ThreadPoolExecutor(2) as pool:
        pieces = Pieces(borrowed(pool, 2), count(), lambda job: (wait_if_first, job), called)
        results = pieces.results()
        assert next(results) == (0, 0)
        threading.Timer(0.3, lambda: signal.raise_signal(signal.SIGINT)).start()
        with pytest.raises(KeyboardInterrupt):
            next(results)
        known = dict(pieces.unmerged())
        started.set()
    assert known.pop(1) is None
    assert known[2] == 2 and all(result in (None, job) for job, result in known.items())
