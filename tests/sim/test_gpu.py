"""The compiled round on a GPU: on numba's simulator everywhere, compiled to PTX where that is possible, on a GPU if any.

numba must be told to simulate before it is imported, so what is simulated is tested in a process of its own.
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

from bjsim.sim import gpu
from bjsim.sim.plan import compile_plan
from bjsim.sim.presets import named_rules
from bjsim.sim.stream import stream_key
from bjsim.strategies.named import CATALOGUE

CASES = Path(__file__).with_name("simulated_gpu.py")
AMPERE = (8, 0)  # compute capability
REGISTERS = 255  # that a thread can have


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
