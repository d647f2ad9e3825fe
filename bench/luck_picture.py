"""Draw docs/explanation/luck.png: how the unadjusted and the luck-adjusted mean converge in a run of six decks.

python bench/luck_picture.py docs/explanation/luck.png
"""

from __future__ import annotations

import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

from bjsim.sim.game.presets import named_rules
from bjsim.sim.running.driver import Driver
from bjsim.sim.running.experiment import Progress
from bjsim.strategies.experiment import make_experiment
from bjsim.strategies.players.find import find_player

HANDS, SEED = 2_000_000, 2


def main(path: str) -> None:
    """Play, and draw to `path`."""
    rules = named_rules("vegas-s17")
    rows: list[tuple[int, float, float, float, float]] = []

    def note(progress: Progress) -> None:
        tally = progress.tallies[0]
        rows.append((tally.rounds, tally.mean, 1.96 * tally.se, tally.luck.mean, 1.96 * tally.luck.se))

    experiment = make_experiment(rules, [find_player("optimal", rules)], HANDS, SEED)
    Driver(experiment, on_progress=note).run()
    hands, raw, raw_half, adjusted, half = ([row[i] for row in rows] for i in range(5))
    figure, axes = plt.subplots(figsize=(8, 4.2), layout="constrained")
    for mean, wide, colour, label in (
        (raw, raw_half, "tab:gray", "what was won"),
        (adjusted, half, "tab:green", "the same, less the luck"),
    ):
        low, high = ([100 * (m + sign * w) for m, w in zip(mean, wide, strict=True)] for sign in (-1, 1))
        axes.fill_between(hands, low, high, color=colour, alpha=0.25, linewidth=0)
        axes.plot(hands, [100 * m for m in mean], color=colour, marker="o", markersize=3, label=label)
    axes.set(xscale="log", xlabel="hands", ylabel="return, % of the bet", ylim=(-4, 4))
    axes.set_title(f"vegas-s17, best chart, six decks cut at 75%, seed {SEED}: mean and 95% interval", fontsize=10)
    axes.grid(alpha=0.3)
    axes.legend()
    figure.savefig(path, dpi=110)


if __name__ == "__main__":
    main(*sys.argv[1:])
