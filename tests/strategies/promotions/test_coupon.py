"""Coupons: against distributions of profits, worked split hands, and rounds that are played."""

from __future__ import annotations

import numpy as np
import pytest

import bjsim
from bjsim.errors import InputError
from bjsim.sim.game.actions import Action
from bjsim.sim.game.events import Settled
from bjsim.sim.game.shoe import Unshuffled
from bjsim.strategies.exact.payoffs import round_payoffs
from bjsim.strategies.promotions.coupon import COUPONS

H17 = bjsim.load_rules("vegas-h17").replace(resplit_aces=True)
PLAIN = H17.replace(double_on="never", split_by="never")
KEPT = {"match": lambda x: x + (x > 0), "free-bet": lambda x: max(x, 0), "non-negotiable": lambda x: max(x, 0)}


@pytest.mark.parametrize("kind", COUPONS)
@pytest.mark.parametrize("after", [None, 0, 0.5])
def test_without_doubles_and_splits_a_coupon_changes_the_profit_of_a_round(kind: str, after: float | None) -> None:
    """The value is a + b v with v the coupon that comes back, by the chart of the game and by the best one."""
    solver = bjsim.Solver(PLAIN)
    found = bjsim.coupon(kind, PLAIN, after_push=after)
    for chart, value in ((solver.chart, found.by_game_chart), (found.chart, found.value)):
        paid = {float(x): p for x, p in round_payoffs(solver, chart).items()}
        once = sum(p * KEPT[kind](x) for x, p in paid.items())
        won = sum(p for x, p in paid.items() if x > 0) * (kind == "non-negotiable")
        if after is None:
            assert value == pytest.approx(once / (1 - won - paid[0.0]))
        else:
            assert value == pytest.approx((once + after * paid[0.0]) / (1 - won))


@pytest.mark.parametrize("kind", COUPONS)
def test_no_other_code_in_any_cell_is_better(kind: str) -> None:
    """Some cells, changed alone, of a game in which profits of rounds give the value."""
    found = bjsim.coupon(kind, PLAIN, after_push=0.3)
    solver = bjsim.Solver(PLAIN)
    assert found.value >= found.by_game_chart - 1e-15
    for place, (cell, code) in enumerate(found.chart.cells.items()):
        if place % 40 == 0 and code in "SH":
            other = {**found.chart.cells, cell: "S" if code == "H" else "H"}
            chart = bjsim.Chart("other", PLAIN, other)
            paid = {float(x): p for x, p in round_payoffs(solver, chart).items()}
            won = sum(p for x, p in paid.items() if x > 0) * (kind == "non-negotiable")
            once = sum(p * KEPT[kind](x) for x, p in paid.items()) + 0.3 * paid[0.0]
            assert once / (1 - won) <= found.value + 1e-12


def test_split_aces_carry_one_coupon() -> None:
    """One card each and no resplit: the second hand is ordinary, so the pair is worth a win of one hand more."""
    game = H17.replace(resplit_aces=False)
    solver, found = bjsim.Solver(game), bjsim.coupon("match", game, after_push=0.4)
    for column in ("2", "7", "T", "A"):
        dealer = solver.dealer(column)
        more = ordinary = 0.0
        for rank, p in enumerate(game.card_probabilities):
            score = 12 if rank == 0 else min(rank + 12, 21)
            win = sum(q for outcome, q in dealer.items() if outcome < score)
            push = dealer.get(score, 0)
            ordinary += float(p) * (2 * win + push - 1)
            more += float(p) * (win + 0.4 * push)
        assert found.hands["AA", column]["P"] == pytest.approx(2 * ordinary + more)


def test_many_hands_are_almost_endless() -> None:
    """Two ways to compute a split."""
    eight, endless = (bjsim.coupon("match", H17.replace(max_hands=n)).hands for n in (10, "inf"))
    for cell, values in eight.items():
        assert values == pytest.approx(endless[cell], abs=3e-6)


def test_the_published_plays() -> None:
    found = bjsim.coupon("match", H17, after_push="1/2")
    assert [found.chart.cells[cell] for cell in (("99", "A"), ("11", "A"), ("A8", "6"))] == ["P", "H", "S"]
    assert {("22", "8"), ("33", "8"), ("77", "8"), ("A7", "2")} <= set(found.changes)
    assert found.hands["99", "A"]["P"] - found.hands["99", "A"]["S"] == pytest.approx(0.028, abs=5e-4)


class Cards(Unshuffled):
    """An infinite shoe."""

    def __init__(self) -> None:
        weights = [float(p) for p in H17.card_probabilities]
        self.cards = np.random.default_rng(3).choice(13, size=1_200_000, p=weights).tolist()

    def draw(self) -> int:
        return int(self.cards.pop())


@pytest.mark.slow
@pytest.mark.parametrize("kind", COUPONS)
def test_rounds_played_with_a_coupon(kind: str) -> None:
    """In the readable round, splits and doubles included; the first hand carries the coupon. 4 standard errors."""
    found, best = bjsim.coupon(kind, H17, after_push=0.25), bjsim.Solver(H17).chart
    back = found.value if kind == "non-negotiable" else 0.0
    shoe, paid = Cards(), []
    while len(shoe.cards) > 1_000:
        asked = bjsim.Round(H17, shoe, 1).steps()
        try:
            question = next(asked)
            while True:
                view = question.view
                chart = found.chart if view.pending == view.hands - 1 else best
                state, column = chart.find_state(view.hand, view.split), chart.states.column(view.dealer)
                question = asked.send(Action(chart.policy(state, column, view.legal)))
        except StopIteration as end:
            nets = [float(event.net) for event in end.value.events if isinstance(event, Settled)]
            first = KEPT[kind](nets[0]) if nets[0] >= -1 else nets[0] + (kind != "match")
            paid.append(first + sum(nets[1:]) + 0.25 * (nets[0] == 0) + back * (nets[0] > 0))
    mean, error = float(np.mean(paid)), float(np.std(paid)) / len(paid) ** 0.5
    assert error < 0.0035
    assert abs(mean - found.value) < 4 * error


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"kind": "voucher"}, "kind: 'voucher' is not accepted; use match, free-bet, non-negotiable"),
        ({"after_push": 2}, "after_push: 2 is not accepted; use a value from 0 to 1"),
        ({"rules": "blackjack-switch"}, "exchange = 21: two hands of a seat have no coupons; use exchange = none"),
        ({"rules": "neller"}, "ties: where ties are replayed, a coupon never comes back"),
    ],
)
def test_errors(arguments: dict[str, object], says: str) -> None:
    with pytest.raises(InputError, match=says):
        bjsim.coupon(**{"kind": "match", **arguments})  # type: ignore[arg-type]
