"""The plot of `bjsim learn`: the regret against the number of episodes."""

from __future__ import annotations

from bjsim.cli.colours import RAW
from bjsim.cli.plots import new_figure, save_figure
from bjsim.strategies.learning.study import Study


def plot_regret(study: Study, title: str, path: str, command: str) -> None:
    """Plot the exact regret of the greedy policy against episodes, on logarithmic axes.

    Regrets too small for the axis are hollow dots at the bottom.

    Args:
        study: What was learned.
        title: The game or file that was learned.
        path: The file.
        command: The command that makes the picture.

    Raises:
        InputError: The file cannot be written.
    """
    floor = 1e-7
    episodes = [point.episodes for point in study.curve]
    regrets = [max(point.regret, floor) for point in study.curve]
    figure = new_figure(6.4, 4.2)
    axes = figure.add_subplot()
    label = f"{study.schedule.algorithm}, {study.schedule.draws} draws"
    axes.plot(episodes, regrets, marker=".", color=RAW, label=label)
    small = [point.episodes for point in study.curve if point.regret <= floor]
    axes.plot(small, [floor] * len(small), "o", ms=4, mec=RAW, mfc="white", ls="")
    axes.set(xscale="log", yscale="log", xlabel="episodes", ylabel="exact regret per episode")
    axes.set_ylim(bottom=floor / 2)
    axes.axhline(floor, color="black", lw=0.5, ls=":", label=f"{floor:g} or less")
    axes.set_title(f"{title}\n{study.episodes:,} episodes, seed {study.seed}", size="medium", loc="left")
    figure.supxlabel(command, fontsize=7, color="#5a636e", family="monospace", x=0.01, ha="left")
    axes.legend(fontsize="small")
    axes.grid(alpha=0.3)
    save_figure(figure, path)
