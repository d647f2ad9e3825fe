"""`bjsim.play` and `RunRequest` do what `bjsim run` does: the same values, the same refusals, partial results."""

from __future__ import annotations

import logging
import pickle
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pytest
from bot_helpers import needs
from support.command import bjsim as command

import bjsim
from bjsim.bots.seats import BotOptions, check_needs, find_seated
from bjsim.sim.engine import compile_notice
from bjsim.sim.running.table import Need
from bjsim.sim.running.workers import FORKS, InlineExecutor, can_fork, find_backend

TIMES = ("seconds", "rounds_per_second")


def brave(view: bjsim.View) -> str:
    return "H" if bjsim.Hand(*view.hand).points < 19 else "S"


def without_times(data: dict[str, object]) -> dict[str, object]:
    return {key: value for key, value in data.items() if key not in TIMES}


@pytest.mark.parametrize(
    ("options", "arguments"),
    [
        (["--rules", "vegas-s17", "--until", "0.05%"], {"rules": "vegas-s17", "until": 0.0005}),
        (
            ["--rules", "vegas-s17", "--hands", "3e4", "--no-adjust-luck", "--tables", "3", "--seed", "9"],
            {"rules": "vegas-s17", "hands": 3e4, "adjust_luck": False, "tables": 3, "seed": 9},
        ),
    ],
)
def test_the_function_gives_what_the_command_writes(options: list[str], arguments: dict[str, object]) -> None:
    written = command("run", "--bots", "optimal,lim17", *options, "--json", "-").json
    result = bjsim.play(**({"rules": "easy", "bots": ["optimal", "lim17"]} | arguments))  # type: ignore[arg-type]
    assert without_times(result.to_json()) == without_times(written)


def test_a_result_is_a_sequence_of_results() -> None:
    result = bjsim.play("easy", ["optimal", "lim17"], 1000)
    assert [one.name for one in result] == ["optimal", "lim17"] and len(result) == 2
    assert result[1] is result.results[1] and result[-1:] == (result[1],)
    assert result.rounds == 2000 and result.seconds > 0 and not result.stopped
    copy = pickle.loads(pickle.dumps(result))
    assert copy == result and copy[0].tally == result[0].tally
    assert repr(result[1]).startswith("BotResult('lim17', 1,000 hands, mean ") and len(repr(result)) < 300
    for html in (result._repr_html_(), result[0]._repr_html_()):
        assert "<table" in html and '<th scope="row">optimal</th>' in html and "<script" not in html


def test_a_frame_needs_pandas(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(bjsim.InputError, match="pip install pandas"):
        bjsim.play("easy", ["optimal", "lim17"], 1000).to_frame()


def test_functions_play_under_their_own_names() -> None:
    [one, other] = bjsim.play("easy", [brave, "lim17"], 500)
    assert (one.name, other.name) == ("brave", "lim17") and one.exact is None
    assert bjsim.play("easy", brave, 500)[0].tally == bjsim.play("easy", [brave], 500, workers=2)[0].tally


def test_an_interrupt_leaves_what_is_known() -> None:
    def stop(progress: bjsim.Progress) -> None:
        if progress.rounds > 4000:
            raise KeyboardInterrupt

    result = bjsim.play("easy", ["optimal", "lim17"], 10**9, on_progress=stop)
    assert result.stopped and 4000 < result.rounds < 10**7 and result[0].tally.settled
    assert result.to_json()["stopped"] and repr(result).endswith("stopped)")


def test_a_run_goes_on_from_its_checkpoint(tmp_path: Path) -> None:
    whole, kept = bjsim.play("easy", brave, 3000), tmp_path / "kept"

    def stop(progress: bjsim.Progress) -> None:
        raise KeyboardInterrupt

    stopped = bjsim.play("easy", brave, 3000, checkpoint=kept, on_progress=stop)
    assert stopped.stopped and stopped.rounds < 3000
    with pytest.raises(bjsim.InputError, match="exists; resume it with resume="):
        bjsim.play("easy", brave, 3000, checkpoint=kept)
    with pytest.raises(bjsim.InputError, match="different: hands"):
        bjsim.play("easy", brave, 4000, resume=kept)
    assert bjsim.play("easy", brave, 3000, resume=kept)[0].tally == whole[0].tally
    again = bjsim.RunRequest("easy", brave, 3000, checkpoint=tmp_path / "again", on_progress=stop)
    rounds = [again.play().rounds for _ in range(5)]
    assert rounds == [1024, 2048, 3000, 3000, 3000] and again.play()[0].tally == whole[0].tally
    fresh = tmp_path / "fresh"
    seed = bjsim.play("easy", brave, 3000, seed=None, checkpoint=fresh, on_progress=stop).seed
    assert bjsim.play("easy", brave, 3000, seed=None, resume=fresh).seed == seed


@needs(".py")  # type: ignore[no-untyped-call, untyped-decorator]
def test_programs_play(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    file = tmp_path / "x.py"
    file.write_text("print('S')")
    options = BotOptions(sandbox="auto", timeout=20)
    result = bjsim.play("cardshark", [file, "lim17"], 50, seed=None, programs=options)
    bot, chart = result.to_json()["bots"]
    assert bot["name"] == "x.py" and bot["faults"] == {} and bot["ms_per_move"]["median"] > 0
    assert "faults" not in chart and result.seed >= 2**64
    assert not [record for record in caplog.records if record.levelno >= logging.WARNING]
    where = "is a program, which cannot travel to the workers of executor='ProcessPoolExecutor'"
    with ProcessPoolExecutor(1) as pool, pytest.raises(bjsim.InputError, match=where):
        bjsim.play("cardshark", file, 50, executor=pool)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"hands": None}, "give hands, such as 1e7, or until"),
        ({"hands": "many"}, "hands: many is not accepted"),
        ({"until": 5}, "until: 5 is not accepted; use a share of the bet"),
        ({"until": "1%"}, "until: 1% is not accepted"),
        ({"tables": None}, "tables: None is not accepted"),
        ({"executor": "dusk"}, "executor: a str is not accepted; give a concurrent.futures.Executor"),
        ({"seed": -1}, "seed: -1 is not accepted; use a whole number from 0 to 3e38"),
        ({"seed": object()}, "seed: an object is not accepted"),
        ({"executor": 5}, "executor: an int is not accepted"),
        ({"adjust_luck": "yes"}, "adjust_luck='yes' is not accepted"),
        ({"adjust_luck": True, "bots": brave}, "adjust_luck=True needs charts"),
        ({"checkpoint": "/nowhere/x"}, "cannot write /nowhere/x"),
        ({"checkpoint": 5}, "checkpoint: an int is not accepted"),
        ({"resume": "/nowhere/x"}, "cannot read the checkpoint /nowhere/x"),
        ({"programs": "off"}, "programs: a str is not accepted"),
        ({"on_progress": 3}, "on_progress: an int is not accepted"),
    ],
)
def test_what_is_not_accepted_is_named_as_it_was_given(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(bjsim.InputError) as caught:
        bjsim.play(**({"rules": "easy", "bots": "lim17", "hands": 10} | arguments))  # type: ignore[arg-type]
    assert message in str(caught.value) and "--" not in str(caught.value)


@pytest.mark.parametrize("values", [{"sandbox": "none"}, {"timeout": 0}, {"timeout": "x"}, {"strikes": 0}])
def test_options_of_programs_are_checked(values: dict[str, object]) -> None:
    with pytest.raises(bjsim.InputError, match=next(iter(values))):
        BotOptions(**values)  # type: ignore[arg-type]


def test_a_request_is_checked_once_and_played_any_number_of_times() -> None:
    request = bjsim.RunRequest("easy", (name for name in ("optimal", "lim17")), 1000, seed=3)  # type: ignore[arg-type]
    assert request.play()[0].tally == request.play()[0].tally
    assert (
        request == bjsim.RunRequest("easy", ("optimal", "lim17"), 1e3, seed=3) != bjsim.RunRequest("easy", "lim17", 1)
    )
    with pytest.raises(AttributeError):
        request.seed = 4  # type: ignore[misc]


# --- what players need, and what places offer


def test_needs() -> None:
    rules = bjsim.load_rules("easy")
    assert find_seated("lim17", rules).needs is Need.NOTHING
    assert find_seated(brave, rules).needs is Need.DECISIONS
    local = find_seated(lambda view: "S", rules)
    assert local.needs == Need.DECISIONS | Need.OBJECTS
    assert find_backend(None, 1).offers is Need.ANYTHING
    with ThreadPoolExecutor(1) as pool:
        check_needs([local], find_backend(pool), "pool", None)
    with ProcessPoolExecutor(1) as pool:
        place = find_backend(pool)
        with pytest.raises(bjsim.InputError, match="cannot be sent to a worker process"):
            check_needs([local], place, "pool", None)


class Elsewhere(InlineExecutor):
    """Its calls travel, as to the workers of loky, Dask and executorlib."""

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        return super().submit(*pickle.loads(pickle.dumps((fn, *args))), **kwargs)


EXECUTORS: dict[str, Callable[[], Executor]] = {
    "threads": lambda: ThreadPoolExecutor(1),
    "processes": lambda: ProcessPoolExecutor(1),
    "spawned": lambda: ProcessPoolExecutor(1, get_context("spawn")),
    "elsewhere": Elsewhere,
}
PLAYERS: dict[str, tuple[Any, str]] = {  # and why they cannot travel
    "chart": ("lim17", ""),
    "function": (brave, ""),
    "lambda": (lambda view: "S", "cannot be sent to a worker process"),
    "file": ("mine.py:Mine", "is a player from a file"),
    "program": ("bot.py", "is a program, which cannot travel"),
}


@pytest.mark.parametrize("player", PLAYERS)
@pytest.mark.parametrize("executor", EXECUTORS)
def test_an_executor_plays_the_same_or_refuses_what_cannot_travel(
    executor: str, player: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "mine.py").write_text("class Mine:\n    name = 'mine'\n    def decide(self, view): return 'S'\n")
    (tmp_path / "bot.py").write_text("print('S')")
    monkeypatch.chdir(tmp_path)
    bot, why = PLAYERS[player]
    with EXECUTORS[executor]() as pool:
        request = partial(bjsim.RunRequest, "easy" if player != "program" else "cardshark", bot, 50, executor=pool)
        if why and executor != "threads":
            with pytest.raises(bjsim.InputError, match=why):
                request()
        elif (player, executor) not in (("program", "threads"), ("function", "spawned")):  # others play these
            assert request().play()[0].tally == bjsim.play("easy", bot, 50)[0].tally


@pytest.mark.skipif(not can_fork(), reason="processes cannot be forked here")
def test_a_process_with_threads_is_not_forked(monkeypatch: pytest.MonkeyPatch) -> None:
    threads, others = threading.enumerate, {*threading.enumerate()} - {threading.current_thread()}  # of pytest-xdist
    monkeypatch.setattr(threading, "enumerate", lambda: [each for each in threads() if each not in others])
    assert find_backend(None, 2).offers == FORKS
    end = threading.Event()
    thread = threading.Thread(target=end.wait)
    thread.start()
    try:
        assert find_backend(None, 2).is_this_process
    finally:
        end.set()
        thread.join()
    assert not find_backend(None, 2).is_this_process


NO_FORK = """
import os, tempfile, threading, warnings
warnings.simplefilter("error")
import bjsim
alone = bjsim.play("easy", ["optimal", "lim17"], 3e5)
def forked(): raise AssertionError("forked")
os.register_at_fork(before=forked)
found = []
def work():
    found.append(bjsim.play("easy", ["optimal", "lim17"], 3e5, workers=2))
    with tempfile.TemporaryDirectory() as folder:
        bjsim.contest(["optimal", "lim17"], folder + "/contest", matches=2, workers=2, sandbox="auto")
thread = threading.Thread(target=work)
thread.start(), thread.join()
end = threading.Event()
threading.Thread(target=end.wait, daemon=True).start()
found.append(bjsim.play("easy", ["optimal", "lim17"], 3e5, workers=2))
end.set()
print([result.results == alone.results for result in found])
"""


@pytest.mark.slow
def test_a_thread_plays_the_same_without_a_fork() -> None:
    done = subprocess.run([sys.executable, "-c", NO_FORK], capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("[True, True]\n", "")


# --- compiling


def test_compiling_is_reported_in_the_log_and_to_listeners(
    caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with caplog.at_level(logging.INFO, logger="bjsim"):
        compile_notice.announce_compile()
    assert "compiling the round" in caplog.text and capsys.readouterr().err == ""
    monkeypatch.setitem(sys.modules, "ipykernel", sys)
    compile_notice.announce_compile()
    assert capsys.readouterr().err == f"{compile_notice.COMPILING}\n"
