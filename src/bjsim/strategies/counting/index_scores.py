"""What index plays add to the SCORE of a counter's bets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass

from bjsim.strategies.counting.count_returns import RampReturns
from bjsim.strategies.counting.departures import Departure
from bjsim.strategies.counting.indices import Index
from bjsim.strategies.counting.ramp import Ramp
from bjsim.strategies.counting.risk import score
from bjsim.sums import add_up


@dataclass(frozen=True)
class IndexScores:
    """The index plays `found`, those `played` as a chart can combine them, and the `ramp` without any."""

    found: Sequence[Index]
    played: Sequence[Departure]
    ramp: RampReturns

    def gain(self, index: Index) -> float:
        """What an index play adds to the SCORE of the chart alone."""
        return index.score_gain(self.ramp.ev, self.ramp.sd)

    @property
    def scores(self) -> tuple[float, float]:
        """The SCORE with the chart alone, and with all index plays that it can combine; their gains in EV add up."""
        gained = add_up(index.gain_bets for index in self.found if index.departure in self.played)
        return score(self.ramp.ev, self.ramp.sd), score(self.ramp.ev + gained, self.ramp.sd)

    @property
    def text(self) -> str:
        alone, together = self.scores
        return f"SCORE of these bets, computed: {alone:.2f} with the chart alone, {together:.2f} with these index plays"

    def to_json(self, bets: Ramp) -> dict[str, object]:
        alone, together = self.scores
        return {
            "indices": [self._index_json(index) for index in self.found],
            "bets": [{"count": float(count), "units": float(bet.units)} for count, bet in bets.steps],
            "ev_chart": self.ramp.ev,
            "sd_chart": self.ramp.sd,
            "score_chart": alone,
            "score_all": together,
        }

    def _index_json(self, index: Index) -> dict[str, object]:
        play = index.departure
        gains = {"gain": index.gain, "gain_bets": index.gain_bets, "gain_score": self.gain(index)}
        what = {"play": str(play), **asdict(play), "count": float(play.count)}
        return {**what, "break_even": index.break_even, **gains}
