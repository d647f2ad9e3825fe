"""Scales and ticks of drawings, for pages and pictures alike."""

import math
from collections.abc import Iterable

from bjsim.report.parts import Axis, Curves, Panel


def round_values(low: float, high: float, count: int = 5) -> list[float]:
    """Round numbers between two bounds, about `count` of them."""
    raw = (high - low) / count or 1.0
    power = 10.0 ** math.floor(math.log10(raw))
    step = power * next((factor for factor in (1, 2, 5) if factor * power >= raw), 10)
    return [n * step for n in range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)]


def find_ticks(axis: Axis, low: float, high: float, count: int = 5) -> list[float]:
    """The values to label; on a logarithmic scale powers of ten, or the bounds if there are not two of them."""
    if not axis.is_log:
        return round_values(low, high, count)
    powers = [10.0**n for n in range(math.ceil(math.log10(low)), math.floor(math.log10(high)) + 1)]
    return powers if len(powers) > 1 else sorted({low, high})


def x_bounds(part: Curves) -> tuple[float, float]:
    """The bounds of x, which all panels share."""
    known = [value for panel in part.panels for line in panel.lines for value in line.x]
    low, high = min(known), max(known)
    return low, max(high, 1.1 * low if part.x.is_log else low + 1e-9)


def y_bounds(panel: Panel) -> tuple[float, float]:
    """The bounds of a panel: its limits, else those of its lines, their bands and its levels."""
    if panel.limits:
        return panel.limits
    bands = [band for line in panel.lines for band in line.bands.values()]
    known = [value for line in panel.lines for value in line.y] + [
        end for band in bands for ends in band for end in ends
    ]
    finite = [*filter(math.isfinite, known), *panel.levels.values()]
    return (min(finite) / 2, 2 * max(finite)) if panel.y and panel.y.is_log else padded(finite)


def padded(values: Iterable[float], share: float = 0.05) -> tuple[float, float]:
    """The bounds of values with a margin on both sides, a share of their span."""
    known = [*values] or [0.0]
    low, high = min(known), max(known)
    margin = share * (high - low) or 1.0
    return low - margin, high + margin
