"""Measure the notebook of github.com/hhoppe/blackjack, the fastest open simulator: `python peer.py blackjack.py DECKS`.

Run by `speed.py --peer PYTHON FILE`, with an interpreter that has the notebook's packages. Prints rounds per second on
one core, the best of five runs after compilation.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from types import ModuleType
from typing import Any

ROUNDS = 1_500_000
END = "\ndef test_monte_carlo_house_edge_cpu"  # the notebook's own long runs begin after this


def main() -> None:
    """Run the notebook up to its simulator, and time that."""
    os.environ["EFFORT"] = "1"
    file, decks = Path(sys.argv[1]), float(sys.argv[2])
    sys.path.insert(0, str(file.parent))
    module = sys.modules["notebook"] = ModuleType("notebook")  # its dataclasses look themselves up by name
    notebook: dict[str, Any] = module.__dict__
    source = file.read_text(encoding="utf-8").split(END)[0]
    exec(compile(source, str(file), "exec"), notebook)
    number = decks if decks == float("inf") else int(decks)
    rules = notebook["Rules"](num_decks=number, hit_soft17=False, late_surrender=False)
    strategy = notebook["Strategy"]()
    play = notebook["monte_carlo_house_edge_cpu"]
    play(rules, strategy, 10_000, parallel=False, quiet=True)
    best = 0.0
    for _ in range(5):
        began = time.perf_counter()
        rounds = play(rules, strategy, ROUNDS, parallel=False, quiet=True)[1]
        best = max(best, rounds / (time.perf_counter() - began))
    print(best)


if __name__ == "__main__":
    main()
