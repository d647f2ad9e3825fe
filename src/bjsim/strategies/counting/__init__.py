"""Card counting: systems, index plays, bet ramps, and the risk of a counted game.

| module | what |
|---|---|
| `chart_returns` | the returns of a chart by count, computed instead of played |
| `choices` | what each action of a chart gains in one shoe |
| `correlations` | betting and insurance correlation, playing efficiency |
| `count_difference` | differences between counting runs, on common cards |
| `count_returns` | the returns of a ramp from those of a unit by count; the best ramp |
| `count_run` | `CountRun`: what a counter's rounds came to |
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
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bjsim.strategies.counting.correlations import betting_correlation as betting_correlation
    from bjsim.strategies.counting.correlations import effects_of_removal as effects_of_removal
    from bjsim.strategies.counting.correlations import insurance_correlation as insurance_correlation
    from bjsim.strategies.counting.correlations import playing_efficiency as playing_efficiency
    from bjsim.strategies.counting.count_files import load_count_run as load_count_run
    from bjsim.strategies.counting.count_files import save_count_run as save_count_run
    from bjsim.strategies.counting.count_returns import CountReturns as CountReturns
    from bjsim.strategies.counting.count_returns import RampReturns as RampReturns
    from bjsim.strategies.counting.count_returns import best_ramp as best_ramp
    from bjsim.strategies.counting.count_returns import kelly_ramp as kelly_ramp
    from bjsim.strategies.counting.count_returns import ramp_returns as ramp_returns
    from bjsim.strategies.counting.count_run import CountRun as CountRun
    from bjsim.strategies.counting.departures import Departure as Departure
    from bjsim.strategies.counting.departures import Departures as Departures
    from bjsim.strategies.counting.departures import find_departures as find_departures
    from bjsim.strategies.counting.departures import parse_departures as parse_departures
    from bjsim.strategies.counting.indices import Index as Index
    from bjsim.strategies.counting.indices import generate_departures as generate_departures
    from bjsim.strategies.counting.indices import generate_indices as generate_indices
    from bjsim.strategies.counting.insurance import insurance_threshold as insurance_threshold
    from bjsim.strategies.counting.insurance import insurance_value as insurance_value
    from bjsim.strategies.counting.ramp import Bet as Bet
    from bjsim.strategies.counting.ramp import Ramp as Ramp
    from bjsim.strategies.counting.simulate import simulate_count as simulate_count
    from bjsim.strategies.counting.system import CountingSystem as CountingSystem
    from bjsim.strategies.counting.systems import find_system as find_system
    from bjsim.strategies.counting.systems import load_system as load_system

_MODULES = {
    "Bet": "ramp",
    "CountReturns": "count_returns",
    "CountRun": "count_run",
    "CountingSystem": "system",
    "Departure": "departures",
    "Departures": "departures",
    "Index": "indices",
    "Ramp": "ramp",
    "RampReturns": "count_returns",
    "best_ramp": "count_returns",
    "betting_correlation": "correlations",
    "effects_of_removal": "correlations",
    "find_departures": "departures",
    "find_system": "systems",
    "generate_departures": "indices",
    "generate_indices": "indices",
    "insurance_correlation": "correlations",
    "insurance_threshold": "insurance",
    "insurance_value": "insurance",
    "kelly_ramp": "count_returns",
    "load_count_run": "count_files",
    "load_system": "systems",
    "parse_departures": "departures",
    "playing_efficiency": "correlations",
    "ramp_returns": "count_returns",
    "save_count_run": "count_files",
    "simulate_count": "simulate",
}
__all__ = list(_MODULES)


def __getattr__(name: str) -> object:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
