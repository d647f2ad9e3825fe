"""Card counting: systems, index plays, bet ramps, and the risk of a counted game.

| module | what |
|---|---|
| `chart_returns` | the returns of a chart by count, computed instead of played |
| `choices` | what each action of a chart gains in one shoe |
| `correlations` | betting and insurance correlation, playing efficiency |
| `count_difference` | differences between counting runs, on common cards |
| `count_returns` | the returns of a ramp from those of a unit by count; the best ramp |
| `count_run` | `CountRun`: the sums over a counter's rounds |
| `count_spread` | how often decisions are made at each count |
| `departures` | index plays over a chart, in text: another chart for every count |
| `indices` | index generation, for EV or risk-averse |
| `insurance` | exact thresholds of insurance |
| `ramp` | bet ramps: units and spots by count |
| `risk` | DI, SCORE, N0, ruin and certainty equivalent |
| `simulate` | plays a counter |
| `system` | `CountingSystem`: tags, initial count, divisor, rounding |
| `systems` | the built-in systems, and systems from TOML files |
| `table_count` | the count of a player at the table |
| `typical` | what a count says about the unseen cards |

Public names are imported when they are first used.
"""

from importlib import import_module

from bjsim.lazy_names import read_homes

_HOMES = read_homes(__file__)
__all__ = [*_HOMES]


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
