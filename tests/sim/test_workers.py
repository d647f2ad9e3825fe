"""Results computed by a fork of this process, and pools of processes that are opened."""

import multiprocessing
import os
import signal
import sys
from concurrent import futures

import pytest

from bjsim.app.export import _each
from bjsim.bots.contest.config import Contest
from bjsim.bots.contest.host import Field, _open_pool
from bjsim.run import exact_ahead, forked
from bjsim.sim.game.presets import named_rules
from bjsim.sim.running.workers import can_fork, local

FIELD = Field(Contest(named_rules("cardshark")), {}, 0, "")
POOLS = {"run": lambda n: local(n).open_pool(), "contest": lambda n: _open_pool(FIELD._replace(workers=n), print)}


forks = pytest.mark.skipif(not can_fork(), reason="processes cannot be forked here")


@forks
def test_it_is_worked_out_by_another_process():
    ahead = forked(lambda: (os.getpid(), "done"))
    pid, what = ahead()
    assert pid != os.getpid() and what == "done"


def test_on_one_core_it_is_worked_out_here(monkeypatch):
    monkeypatch.setattr("bjsim.run.usable_cores", lambda: 1)
    monkeypatch.setattr("bjsim.run.is_fork_safe", lambda: True)
    monkeypatch.setattr("bjsim.run.forked", None)
    monkeypatch.setattr("bjsim.run.exact_returns", lambda experiment, players: os.getpid())
    assert exact_ahead(None, [], local(2))() == os.getpid()


@forks
def test_what_a_lost_process_leaves_out_is_worked_out_here():
    here = os.getpid()

    def work():
        if os.getpid() != here:
            os.kill(os.getpid(), signal.SIGKILL)
        return "done"

    assert forked(work)() == "done"


@forks
def test_what_the_work_raises_is_raised_where_its_result_is_asked_for():
    ahead = forked(lambda: 1 // 0)
    with pytest.raises(ZeroDivisionError):
        ahead()


@forks
@pytest.mark.parametrize(("call", "works"), [("fork", 1), ("fork", 2), ("pipe", 5), ("pipe", 6), ("pipe", 8)])
@pytest.mark.parametrize("pool", POOLS)
def test_no_worker_is_left_where_not_all_of_them_can_start(pool, call, works, monkeypatch):
    """Forked workers would wait for ever, and Python for them at its exit."""
    real, left, before = getattr(os, call), [None] * works, multiprocessing.active_children()

    def call_or_fail():
        if not left:
            raise OSError("no more")
        left.pop()
        return real()

    monkeypatch.setattr(os, call, call_or_fail)
    with pytest.raises(OSError, match="no more"), POOLS[pool](4):
        pass
    started = [each for each in multiprocessing.active_children() if each not in before]
    for each in started:
        each.join(10)
    ended = [each.exitcode is not None for each in started]
    for each in started:
        each.kill()
    assert all(ended)


def test_on_windows_a_pool_has_61_processes_at_most(monkeypatch):
    """Python refuses more there."""
    sizes = []

    class Pool(futures.ThreadPoolExecutor):
        def __init__(self, workers, *how):
            sizes.append(workers)
            super().__init__(1)

    monkeypatch.setattr(futures, "ProcessPoolExecutor", Pool)
    for platform in ("linux", "win32"):
        monkeypatch.setattr(sys, "platform", platform)
        for number in (7, 200):
            for opened in POOLS.values():
                with opened(number):
                    pass
            assert [*_each(str, [1, 2], number)] == ["1", "2"]
    assert sizes == [7] * 3 + [200] * 3 + [7] * 3 + [61] * 3
