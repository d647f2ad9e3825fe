"""`CountCoach`: the cost of single decisions of a counter, by what the count says about the unseen cards."""

from collections.abc import Iterable, Sequence
from fractions import Fraction

from bjsim.errors import InputError
from bjsim.sim.game.actions import INSURANCE, Action, View
from bjsim.sim.game.cards import TEN, parse_rank
from bjsim.sim.game.events import Dealt, Event, Revealed, Settled, Shuffled, as_seen
from bjsim.sim.game.rules import Rules
from bjsim.strategies.counting.request import CountRequest
from bjsim.strategies.counting.system import CountingSystem
from bjsim.strategies.counting.typical import decks_to_count, expected_counts, remaining, spread_tens
from bjsim.strategies.evaluation.coach import Coach, Judgement
from bjsim.strategies.shoe.present import action_values, with_fresh_decks

# --- `TableCount`: the count of a player who sees the open cards of a table.


class TableCount:
    """Counts the cards of a shoe as they are shown. A hole card that is never turned over stays unseen.

    True counts are by unseen decks to the half deck, as players estimate them, unless the system says otherwise.
    """

    def __init__(self, system: CountingSystem, rules: Rules) -> None:
        self.decks = decks_to_count(rules)
        self.system = system.replace(deck=rules.deck, divisor="half" if system.divisor == "exact" else system.divisor)
        self._seen, self._hides = [0] * (TEN + 1), False
        self._before: Fraction | None = None  # the count before the round, while one is played

    @property
    def running(self) -> Fraction:
        return self.system.running_count(self._seen, self.decks)

    @property
    def true(self) -> Fraction:
        """The true count, rounded as the system says."""
        return self.system.true_count(self.running, self.unseen, self.decks)

    @property
    def decision(self) -> Fraction:
        """The count that decides, of this moment or before the round: the true count, or the running count."""
        if self._before is not None and self.system.timing == "round":
            return self._before
        return self.system.count(self.running, self.unseen, self.decks)

    @property
    def decks_unseen(self) -> Fraction:
        """The divisor of the true count, in decks."""
        return Fraction(self.system.divisor_cards(self.unseen), self.system.deck_size)

    def see(self, events: Iterable[Event]) -> None:
        for event in map(as_seen, events):
            if self._before is None and isinstance(event, Dealt):
                self._before = self.decision
            match event:
                case Settled():
                    self._before = None
                case Shuffled():
                    self._seen, self._hides = [0] * (TEN + 1), False
                case Dealt(face_down=True):
                    self._hides = True
                case Revealed() if not self._hides:
                    continue  # a card of the last shoe
                case Dealt(card=card) | Revealed(card):
                    self._seen[min(parse_rank(card), TEN)] += 1

    @property
    def unseen(self) -> int:
        return max(self.decks * self.system.deck_size - sum(self._seen), 0)


class CountCoach(Coach):
    """Judges decisions by their exact values for the composition of the unseen cards expected at the count.

    What is right is the best chart with the Illustrious 18 at the true count, or with all index plays that pay where
    the game lacks hands of these; another action is a mistake if it loses. The caller keeps `count` up to date. The
    shoe must be finite, and the game one that can be counted.
    """

    def __init__(self, count: TableCount, rules: Rules) -> None:
        super().__init__(rules)
        self.count = count
        request = CountRequest(rules, count.system, chart=self.chart)
        try:
            self.departures = request.departures()
        except InputError:  # the game lacks hands of the Illustrious 18
            self.departures = request.changed(indices="generate").departures()

    @property
    def basis(self) -> str:
        """What the values are for, in words."""
        return f"the unseen cards that are expected at the {self.count.system.full_title} count"

    def judge(self, view: View, action: Action) -> Judgement | None:
        """Compare a decision with the best one at the present count; None if it has no exact value."""
        unseen, count = self._expected(), self.count.decision
        if view.legal == INSURANCE:
            letter = "I" if self.departures.insured_at(count) else "S"
            return Judgement(view, action.letter, self._insurance_values(unseen), letter)
        chart = self.departures.chart_at(count)
        now = chart.states.situation(view)
        if action.letter not in now.legal:
            return None
        try:
            found = action_values(view, unseen)
        except InputError:
            return None
        values = {letter: float(value) / now.bets for letter, value in found.items()}  # of one of its bets
        letter = chart.policy(now.state, now.column, "".join(values))
        return Judgement(view, action.letter, values, letter if letter in values else action.letter)

    def _expected(self) -> Sequence[float]:
        """The expected number of unseen cards of each rank, the hole card among them."""
        count, unseen = self.count, max(self.count.unseen, 1)
        mean_tag = float(count.system.pivot(count.decks) - count.running) / unseen
        expected = expected_counts(count.system, remaining(count.decks, deck=count.system.deck), unseen, mean_tag)
        return with_fresh_decks(spread_tens(expected, count.system.deck).tolist(), count.system.deck)
