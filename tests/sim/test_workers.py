"""Results computed by a fork of this process."""

import os
import signal

import pytest

from bjsim.sim.running import workers
from bjsim.sim.running.workers import ForkedResult


@pytest.mark.skipif(workers.usable_cores() < 2, reason="one core: nothing is done ahead")
def test_it_is_worked_out_by_another_process():
    ahead = ForkedResult(lambda: (os.getpid(), "done"))
    pid, what = ahead.result()
    assert pid != os.getpid() and what == "done"


def test_on_one_core_it_is_worked_out_here(monkeypatch):
    monkeypatch.setattr(workers, "usable_cores", lambda: 1)
    assert ForkedResult(os.getpid).result() == os.getpid()


def test_what_a_lost_process_leaves_out_is_worked_out_here():
    here = os.getpid()

    def work():
        if os.getpid() != here:
            os.kill(os.getpid(), signal.SIGKILL)
        return "done"

    assert ForkedResult(work).result() == "done"


def test_what_the_work_raises_is_raised_where_its_result_is_asked_for():
    ahead = ForkedResult(lambda: 1 // 0)
    with pytest.raises(ZeroDivisionError):
        ahead.result()
