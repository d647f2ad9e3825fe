"""The plot of `bjsim learn`: the value of the learned policy and its regret against the number of episodes."""

from collections.abc import Sequence
from math import isfinite

from bjsim.cli.colours import ADJUSTED, EXACT, RAW
from bjsim.cli.plots import add_legend, framed, save_figure
from bjsim.strategies.learning.learn import Study

FLOOR = 1e-7  # smaller regrets are hollow markers here


def plot_studies(studies: Sequence[Study], title: str, path: str, command: str) -> None:
    """Plot the greedy policy's exact value, and its regret on a logarithmic axis, for each algorithm."""
    first = studies[0]
    lines = f"{title}\n{first.episodes:,} episodes, seed {first.seed}"
    figure, above, below = framed(7.2, 5.4, lines, command)
    value, regret = above.subplots(2, 1, sharex=True, height_ratios=(2, 3))
    for study, colour, marker in zip(studies, (RAW, ADJUSTED), "os", strict=False):
        points = [point for point in study.curve if isfinite(point.regret)]
        episodes, regrets = [point.episodes for point in points], [point.regret for point in points]
        name = f"{study.schedule.algorithm}, {study.schedule.draws} draws"
        value.plot(episodes, [study.value_exact - lost for lost in regrets], color=colour, marker=marker, ms=3.5)
        regret.plot(episodes, [max(lost, FLOOR) for lost in regrets], color=colour, marker=marker, ms=3.5, label=name)
        small = [point.episodes for point in points if point.regret <= FLOOR]
        regret.plot(small, [FLOOR] * len(small), marker, ms=4.5, mec=colour, mfc="white", ls="")
    value.axhline(first.value_exact, color=EXACT, lw=1, ls="--", label=f"exact optimum, {first.value_exact:+.4f}")
    regret.axhline(FLOOR, color=EXACT, lw=0.5, ls=":", label=f"regret {FLOOR:g} or less")
    value.set(ylabel="value of the policy")
    regret.set(xscale="log", yscale="log", xlabel="episodes", ylabel="exact regret per episode", ylim=(FLOOR / 2, None))
    for axes in (value, regret):
        axes.grid(alpha=0.3)
    add_legend(below, [regret, value])
    save_figure(figure, path)
