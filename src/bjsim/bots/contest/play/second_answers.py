"""Asks the bots of a part again: whole tables are played once more with the recorded cards and moves.

A line bot receives all lines of its match, so every kind of player can be compared: moves, notes and faults. One whose
answers vary when it is asked several times is random, and its moves cannot be verified.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from random import Random
from typing import NamedTuple

from bjsim.bots.contest.config import Contest
from bjsim.bots.contest.play.match import Record, TableDealer, capped_positions, replay_round, seat_line_bots
from bjsim.bots.contest.play.parts import ContestPart, PartError
from bjsim.bots.contest.play.seat import ContestSeat
from bjsim.bots.contest.schedule.seating import TablePlan
from bjsim.bots.turn import Strikes, Turn
from bjsim.sim.game.actions import Player

AGAIN = 10  # times that a table is played once more where an answer differs, since a bot may be random
SHOWN = 5  # different answers in a message

PlayerOf = Callable[[int], Player | None]


class SecondAnswer(NamedTuple):
    """What a bot did, and what it does when asked again: moves with notes and faults, as text."""

    where: str
    bot: int
    recorded: str
    again: str


class SecondAnswers:
    """Asks again in a sample of tables: a `share` of them, and at least one of each part.

    `chooses` draws the sample; those who play a part must not be able to predict it. `same` counts the rounds of
    each bot that were the same, `random` has those that answer at random.
    """

    def __init__(
        self, contest: Contest, player_of: PlayerOf, name_of: Callable[[int], str], share: float, chooses: Random
    ) -> None:
        self.contest, self.player_of, self.name_of = contest, player_of, name_of
        self.share, self.chooses = share, chooses
        self.same, self.random = Counter[int](), set[int]()

    def check(self, part: ContestPart) -> None:
        """Ask again in a part that `ContestPart.check` has verified. Raises: PartError, which shows what differs."""
        plans = [*part.tables()]
        chosen = [plan for plan in plans if self.chooses.random() < self.share] or [self.chooses.choice(plans)]
        wrong: list[SecondAnswer] = []
        for plan in chosen:
            rounds = part.rounds[plan.own, plan.match, plan.table]
            first = [*self._ask(plan, rounds)]
            different = {answer.bot for answer in first if answer.again != answer.recorded} - self.random
            for _ in range(AGAIN if different else 0):
                for one, two in zip(first, self._ask(plan, rounds), strict=True):
                    if one.again != two.again:
                        self.random.add(one.bot)
            wrong += [answer for answer in first if answer.again != answer.recorded]
            self.same.update(answer.bot for answer in first if answer.again == answer.recorded)
        wrong = [answer for answer in wrong if answer.bot not in self.random]
        if wrong:
            shown = [
                f"in {answer.where} {self.name_of(answer.bot)} plays {answer.again}, not {answer.recorded}"
                for answer in wrong[:SHOWN]
            ]
            more = f"; and {len(wrong) - SHOWN} more" if len(wrong) > SHOWN else ""
            raise PartError(f"{part.path} is refused: {'; '.join(shown)}{more}")

    def _ask(self, plan: TablePlan, rounds: Sequence[Record]) -> Iterator[SecondAnswer]:
        dealer = TableDealer(self.contest, plan, None)
        players = [self.player_of(bot) for bot in plan.bots]
        line_seats = seat_line_bots(dealer, players, resumed=False)
        seats = [
            ContestSeat(bot, position, Turn(player, line_seats.get(position), Strikes(self.contest.strikes)), None)
            for position, (bot, player) in enumerate(zip(plan.bots, players, strict=True))
        ]
        for record in rounds:
            positions = dealer.paying
            for seat in seats:
                seat.moves, seat.notes, seat.faults = [], [], []
            for move in replay_round(dealer, record):
                seats[positions[move.seat]].move(move.view)
            for position in capped_positions(record):
                seats[position].exceed_move_cap()
            notes = record.get("notes") or [[""] * len(moves) for moves in record["moves"]]
            where = f"match {plan.match + 1}, table {plan.table + 1}, round {dealer.round}"
            for number, position in enumerate(positions):
                seat, faults = seats[position], [f for f in record.get("faults", ()) if f["place"] == position]
                yield SecondAnswer(
                    where,
                    seat.bot,
                    _text(record["moves"][number], notes[number], faults),
                    _text(seat.moves, seat.notes, seat.faults),
                )
        for position, line_seat in line_seats.items():
            line_seat.leave(dealer.chips[position])


def _text(moves: Sequence[str], notes: Sequence[str], faults: Sequence[Record]) -> str:
    words = [f"{move} ({note})" if note else move for move, note in zip(moves, notes, strict=True)]
    return ", ".join([*words, *(f"a fault: {fault['kind']}" for fault in faults)]) or "nothing"
