"""The convergence of returns as lines on shared scales, for pictures and pages."""

import math
from collections.abc import Sequence
from typing import NamedTuple

from bjsim.sim.running.experiment import Point
from bjsim.strategies.results import BotResult
from bjsim.strategies.tabular import percent

LEAST = 1e-6  # percent of the bet: a smaller interval is that of rounding errors


class Line(NamedTuple):
    """A mean with its fixed-sample and anytime-valid 95% intervals, in percent of the bet, by number of rounds."""

    hands: list[int]
    mean: list[float]
    ci95: list[tuple[float, float]]
    anytime95: list[tuple[float, float]]


class Panel(NamedTuple):
    """The curves of one bot, in percent of the bet; `exact` is None if not known, or infinite."""

    title: str
    raw: Line
    adjusted: Line
    exact: float | None
    exact_name: str = ""


class Scales(NamedTuple):
    """Bounds that all panels share: hands, and returns in percent of the bet."""

    first: float
    last: float
    low: float
    high: float


def make_panels(results: Sequence[BotResult]) -> list[Panel]:
    panels = []
    for result in results:
        exact = None if result.exact is None or math.isinf(result.exact) else 100 * result.exact
        returned = f"{result.adjusted} luck-adjusted" if result.adjusted else percent(result.tally.mean)
        adjusted = [point.luck_adjusted for point in result.convergence if point.luck_adjusted]
        title, name = f"{result.name}: {returned}", exact_name(result.fresh)
        panels.append(Panel(title, _line(result.convergence), _line(adjusted), exact, name))
    return panels


def exact_name(fresh: bool) -> str:
    """The name of an exact value; fresh: whether every round is dealt from a fresh shoe, or an infinite one."""
    return "exact value" if fresh else "exact value of a fresh shoe"


def shared_scales(panels: Sequence[Panel]) -> Scales:
    """Scales for all panels; the first intervals, which are much wider than the rest, are cut off."""
    bounds: list[float] = []
    for panel in panels:
        later = panel.raw.anytime95[len(panel.raw.hands) // 4 :]
        centre = panel.raw.mean[-1] if panel.exact is None else panel.exact
        reach = [abs(edge - centre) for bounds95 in later for edge in bounds95 if math.isfinite(edge)]
        reach += [abs(mean - centre) for mean in panel.raw.mean[len(panel.raw.hands) // 4 :]]
        bounds += [centre - max(reach), centre + max(reach)]
    hands = [count for panel in panels for count in panel.raw.hands]
    low, high = min(bounds), max(bounds)
    margin = (high - low) * 0.04 or 1.0
    return Scales(min(hands), max(max(hands), 1.1 * min(hands)), low - margin, high + margin)


def magnified_scales(panels: Sequence[Panel]) -> list[tuple[float, float]] | None:
    """Bounds of the luck-adjusted return of each panel, all equally far apart; None if a panel has no such bounds."""
    bounds = []
    for panel in panels:
        intervals = panel.adjusted.ci95[len(panel.adjusted.hands) // 4 :]
        edges = [edge for interval95 in intervals for edge in interval95 if math.isfinite(edge)]
        if not edges:
            return None
        edges += [] if panel.exact is None else [panel.exact]
        bounds.append((min(edges), max(edges)))
    reach = 0.55 * max(high - low for low, high in bounds)
    return [((low + high) / 2 - reach, (low + high) / 2 + reach) for low, high in bounds] if reach > LEAST else None


def hand_ticks(scales: Scales) -> list[float]:
    """Labelled numbers of hands on a logarithmic scale: powers of ten, or the bounds if there are not two of them."""
    powers = range(math.ceil(math.log10(scales.first)), math.floor(math.log10(scales.last)) + 1)
    ticks = [10.0**power for power in powers]
    return ticks if len(ticks) > 1 else sorted({scales.first, scales.last})


def short_count(count: float) -> str:
    """A number of hands in few characters: `10k`, `2.5M`."""
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if count >= size:
            return f"{count / size:.3g}{letter}"
    return f"{count:.3g}"


def round_values(low: float, high: float, count: int = 5) -> list[float]:
    """Round numbers between two bounds, about `count` of them."""
    raw = (high - low) / count
    power = 10.0 ** math.floor(math.log10(raw))
    step = power * next((factor for factor in (1, 2, 5) if factor * power >= raw), 10)
    return [n * step for n in range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)]


def _line(points: Sequence[Point]) -> Line:
    return Line(
        [point.hands for point in points],
        [100 * point.mean for point in points],
        [(100 * low, 100 * high) for low, high in (point.ci95 for point in points)],
        [(100 * low, 100 * high) for low, high in (point.anytime95 for point in points)],
    )
