"""Commands that compile nothing give the same results where numba is missing."""

from __future__ import annotations

import subprocess
import sys

import pytest

HIDDEN = "import sys; sys.modules['numba'] = None; from bjsim.cli.main import main; main()"
LONG = (  # as if so few hands paid for compiling
    "import sys; sys.modules['numba'] = None; from bjsim.sim.engine.play import THRESHOLDS; "
    "THRESHOLDS.update({name: one._replace(compiling=1) for name, one in THRESHOLDS.items()}); "
    "from bjsim.cli.main import main; main()"
)
SHOWN = "from bjsim.cli.main import main; main()"


def output(code: str, line: str) -> str:
    done = subprocess.run([sys.executable, "-c", code, *line.split()], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize(
    "line",
    [
        "run --bots optimal,lim17 --hands 20000 --seed 1 --workers 1 --json -",
        "run --rules vegas-s17 --bots hoyle --hands 5000 --seed 1 --workers 1 --no-adjust-luck --json -",
        "run --rules vegas-s17 --bots hoyle,lim17 --hands 5000 --seed 1 --workers 1 --json -",
        "check hoyle --rules vegas-s17 --json -",
        "solve --rules vegas-s17 --decks 1 --set max_hands=2 --json -",
        "learn --rules easy --episodes 1000 --seed 1 --json -",
    ],
)
def test_results_are_the_same_without_numba(line: str) -> None:
    def stable(text: str) -> list[str]:
        return [each for each in text.splitlines() if "second" not in each]

    assert stable(output(HIDDEN, line)) == stable(output(SHOWN, line))


def test_a_long_run_needs_no_numba() -> None:
    assert "20,000 rounds" in output(LONG, "run --bots lim17 --hands 20000 --seed 1 --workers 1")


def test_what_compiles_says_that_numba_is_missing() -> None:
    """It also shows that the tests above hide numba."""
    assert "numba is missing" in output(HIDDEN, "doctor --json -")
    done = subprocess.run([sys.executable, "-c", HIDDEN, "warm"], capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stderr) == (2, "bjsim: numba is missing, so nothing is compiled: pip install numba\n")
