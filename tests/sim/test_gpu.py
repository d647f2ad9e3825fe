"""The compiled round on a GPU: simulated everywhere, compiled to PTX where possible, and on a GPU if there is one.

numba selects simulation when it is imported, so the simulated tests run in a separate process.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace

import pytest
from numba import cuda, typeof
from support.command import refusal

from bjsim.sim.engine import gpu
from bjsim.sim.engine.compiled_rules import compile_rules
from bjsim.sim.game.presets import named_rules
from bjsim.sim.game.random_stream import stream_key
from bjsim.strategies.players.catalogue import CATALOGUE

CASES = Path(__file__).with_name("simulated_gpu.py")
AMPERE = (8, 0)  # compute capability


@pytest.mark.parametrize(
    "simulated",
    [
        pytest.param("1", id="simulator"),
        pytest.param("0", id="gpu", marks=pytest.mark.skipif(not cuda.is_available(), reason="there is no GPU here")),
    ],
)
def test_a_gpu_plays_what_a_cpu_plays(simulated: str) -> None:
    command = [sys.executable, "-W", "ignore", "-m", "pytest", "-q", "-p", "no:cacheprovider", str(CASES)]
    ran = subprocess.run(command, env=os.environ | {"NUMBA_ENABLE_CUDASIM": simulated}, capture_output=True, text=True)
    passed = re.search(r"(\d+) passed", ran.stdout)
    assert ran.returncode == 0 and passed and int(passed[1]) >= 30, ran.stdout + ran.stderr


def test_without_a_gpu_the_option_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cuda, "is_available", lambda: False)
    said = refusal("run", "--bots", "lim17", "--hands", 10, "--executor", "cuda")
    assert said == "--executor cuda needs an NVIDIA GPU and its driver; none was found"


@pytest.mark.skipif(find_spec("numba_cuda") is not None, reason="numba-cuda is installed")
def test_without_numba_cuda_the_option_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cuda, "is_available", lambda: True)
    assert "pip install 'bjsim[cuda]'" in refusal("run", "--bots", "lim17", "--hands", 10, "--executor", "cuda")


@pytest.mark.skipif(find_spec("numba_cuda") is None, reason="numba-cuda is not installed: pip install 'bjsim[cuda]'")
def test_the_kernel_compiles_for_a_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    """To PTX, by the same compiler as on a machine with a GPU; the test sets the compute capability."""
    monkeypatch.setattr("numba.cuda.dispatcher.get_current_device", lambda: SimpleNamespace(compute_capability=AMPERE))
    game = named_rules("vegas-s17")
    compiled = compile_rules(game, [CATALOGUE["lim17"].chart(game).policy])
    threads = gpu.threads_for(compiled, [stream_key(1, 0, 0)], [10])
    types = tuple(typeof(argument) for argument in (compiled, *threads))
    ptx, returned = cuda.compile_ptx(gpu.gpu_kernel(), types, cc=AMPERE)  # type: ignore[attr-defined]
    assert ".entry" in ptx and ".target sm_80" in ptx and str(returned) == "none"
