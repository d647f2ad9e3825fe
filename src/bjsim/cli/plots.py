"""Plots. matplotlib is imported only when a plot is requested."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bjsim.errors import InputError
from bjsim.strategies.results import BotResult


def check_picture(path: str) -> str:
    """Return the path if its ending is that of a picture. Raises: InputError."""
    if Path(path).suffix.lower() not in (".png", ".svg"):
        raise InputError(f"--plot {path} is not accepted; the file must end in .png or .svg")
    return path


def new_figure(width: float, height: float) -> Any:
    """An empty figure that needs no display. width, height: inches."""
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


def save_figure(figure: Any, path: str) -> None:
    """Write the figure. Raises: InputError."""
    try:
        figure.savefig(path, dpi=150)
    except OSError as error:
        raise InputError(f"cannot write {path}: {error.strerror}") from None


def plot_convergence(results: Sequence[BotResult], path: str) -> None:
    """Plot mean and both 95% intervals against hands, with the exact value as a line; one panel for each bot."""
    columns = min(len(results), 2)
    rows = -(-len(results) // columns)
    figure = new_figure(6.4 * columns, 3.8 * rows)
    for number, result in enumerate(results, 1):
        axes = figure.add_subplot(rows, columns, number)
        hands = [point.hands for point in result.convergence]
        for name, shade in (("anytime95", 0.18), ("ci95", 0.35)):
            low = [100 * getattr(point, name)[0] for point in result.convergence]
            high = [100 * getattr(point, name)[1] for point in result.convergence]
            label = "anytime 95% interval" if name == "anytime95" else "95% interval"
            axes.fill_between(hands, low, high, alpha=shade, color="C0", lw=0, label=label)
        axes.plot(hands, [100 * point.mean for point in result.convergence], color="C0", marker=".", label="mean")
        if result.exact is not None:
            label = "exact value" if result.fresh else "exact value of a fresh shoe"
            axes.axhline(100 * result.exact, color="black", lw=1, ls="--", label=label)
        # leave out the first intervals, which are much wider than the rest
        centre = 100 * (result.tally.mean if result.exact is None else result.exact)
        reach = max(abs(100 * edge - centre) for edge in result.convergence[len(hands) // 4].anytime95)
        axes.set(xscale="log", xlabel="hands", ylabel="return, % of the bet", title=result.name)
        axes.set_ylim(centre - reach, centre + reach)
        axes.legend(fontsize="small")
        axes.grid(alpha=0.3)
    save_figure(figure, path)
