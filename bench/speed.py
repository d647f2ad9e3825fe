"""The table of `make bench`: the speed of everything, relative to the plain kernel of `reference.py`.

Machines differ, and the speed of one machine changes from minute to minute, so every measurement alternates with the
plain kernel, and their ratio is what counts: speeds as multiples of the plain kernel's, and the time that it needs
for a million rounds as a multiple of other times (so more is better in both). `recorded.json` contains earlier
ratios; those that fell by more than a fifth are listed at the end, unless a second reference, which feels the speed of
memory, fell as much. `--record` writes the new ones there.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import cases
from measure import reference_seconds
from rich.console import Console
from rich.table import Table

HERE = Path(__file__).parent
RECORDED = HERE / "recorded.json"
SLOWER = 0.8
PARTS = {
    "rounds": cases.rounds_of_one_core,
    "arrays": cases.rounds_by_arrays,
    "cores": cases.rounds_of_all_cores,
    "luck": cases.luck_and_counting,
    "precision": cases.precision,
    "start-up": cases.start_up,
    "readable": cases.readable_and_solver,
    "scale": cases.scale,
    "peer": cases.peer,
    "others": cases.other_ratios,
}


def slower(now: dict[str, list[float]], recorded: dict[str, list[float]]) -> list[str]:
    """Describe what fell by more than a fifth in its ratio to both references, or to the one that was recorded."""
    found = []
    for what in now.keys() & recorded.keys():
        left = max(new / old for new, old in zip(now[what], recorded[what], strict=False) if new and old)
        if left < SLOWER:
            found.append(
                f"SLOWER: {what}: ratio {now[what][0]:.3g}, recorded {recorded[what][0]:.3g}; "
                f"slower by at least {1 - left:.0%}"
            )
    return sorted(found)


def main() -> None:
    """Measure, print, compare."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("parts", nargs="*", choices=[*PARTS, "memory", []], help="parts to measure; all by default")
    parser.add_argument("--record", action="store_true", help="record the ratios for later comparison")
    parser.add_argument("--peer", nargs=2, metavar=("PYTHON", "FILE"), help="an interpreter with the packages of FILE, "
                        "the blackjack.py of github.com/hhoppe/blackjack, to measure next to bjsim")  # fmt: skip
    options = parser.parse_args()
    console = Console(width=110)
    reference_seconds()  # compiles
    rows: list[tuple[str, str, str]] = []
    now: dict[str, list[float]] = {}
    for part in options.parts or PARTS:
        if part in PARTS:
            for what, value, ratio, by_memory in PARTS[part]():
                now[what] = [round(ratio, 5), round(by_memory, 5)]
                rows.append((what, value, f"{ratio:.3g}"))
                console.print(f"{what}: {value}", style="dim", highlight=False)
    if options.peer:
        rows += [(what, value, f"{ratio:.3g}") for what, value, ratio, _ in cases.notebook(*options.peer)]
    if not options.parts or "memory" in options.parts:
        rows += [(what, value, "") for what, value in cases.memory()]
    grid = Table("what", "measured", "ratio")
    for row in rows:
        grid.add_row(*row)
    console.print(grid)
    recorded = json.loads(RECORDED.read_text(encoding="utf-8")) if RECORDED.exists() else {}
    found = slower(now, recorded)
    for line in found:
        console.print(line, style="bold red")
    compared = len(set(now) & set(recorded))
    if not compared:
        console.print("no recorded ratios to compare with; `python bench/speed.py --record` records them")
    elif not found:
        console.print(f"nothing fell by more than a fifth of its recorded ratio ({compared} compared)")
    if options.record:
        RECORDED.write_text(json.dumps({**recorded, **now}, indent=1) + "\n")


if __name__ == "__main__":
    main()
