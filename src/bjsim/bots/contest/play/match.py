"""Play one table of a match: sessions of several rounds, with chips carried along; bots without chips sit out.

Every round becomes a record, a dict of JSON values with everything needed to replay it. An interrupted match continues
from its records: its rounds are replayed with the recorded moves, then play continues.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any

from bjsim.bots.contest.config import HOUSE, Contest
from bjsim.bots.contest.luck.draw_log import DrawLogger
from bjsim.bots.contest.play.logs import BotLog
from bjsim.bots.contest.play.seat import ContestSeat, OnMove
from bjsim.bots.contest.schedule.seating import TablePlan
from bjsim.bots.line import Transcript
from bjsim.bots.programs import is_bot
from bjsim.errors import RunFailed
from bjsim.sim.game.actions import Action, Player, View
from bjsim.sim.game.events import Dealt
from bjsim.sim.game.random_stream import Stream
from bjsim.sim.game.round import Round, RoundResult
from bjsim.sim.game.rules import Rules
from bjsim.sim.game.shoe import ScriptedShoe, open_shoe

if TYPE_CHECKING:
    from bjsim.bots.resident import LineSeat

Record = dict[str, Any]


class ReplayMismatch(RunFailed):
    """A replayed journal differs from its records."""


class RecordedPlayer:
    """Replays the moves of a record. before_move: called with the view and the number of every move."""

    def __init__(self, name: str, moves: Sequence[str], before_move: Callable[[View, int], None] | None = None) -> None:
        self.name = name
        self.moves = iter(moves)
        self._before_move, self._number = before_move, 0

    def decide(self, view: View) -> Action:
        """The next recorded move."""
        if self._before_move:
            self._before_move(view, self._number)
        self._number += 1
        move = next(self.moves, None)
        if move is None:
            raise ReplayMismatch(f"{self.name} has no more recorded moves with {view.hand} against {view.dealer}")
        return Action(move[0], int(move[2:]) if len(move) > 1 else 0)


RETIRED = RecordedPlayer("retired", ())  # in the seat of a bot without strikes, so it is never asked


class TableDealer:
    """Deals the rounds of one table of a match in order, to live players or from records.

    Args:
        contest: The contest.
        plan: The table.
        draw_logger: Logs every round, or None.
    """

    def __init__(self, contest: Contest, plan: TablePlan, draw_logger: DrawLogger | None) -> None:
        self.contest = contest
        self.plan = plan
        self.draw_logger = draw_logger
        self.shoe = open_shoe(contest.rules, Stream(contest.seed, plan.table, plan.shoe))
        self.chips = [contest.rules.chips] * len(plan.bots)
        self.transcript: Transcript | None = None  # what line bots receive
        self.round = 0

    @property
    def over(self) -> bool:
        """Whether all rounds have been played, or no ranked bot can pay the buy-in."""
        return self.round >= self.contest.sessions * self.contest.hands or not any(
            self.plan.bots[position] >= 0 for position in self.paying
        )

    @property
    def paying(self) -> list[int]:
        """Positions at the table of the players that can pay the buy-in."""
        return [position for position, chips in enumerate(self.chips) if chips >= self.contest.rules.buy_in]

    def deal(self, players: Mapping[int, Player]) -> tuple[Record, RoundResult]:
        """Deal the next round.

        Args:
            players: Players by position at the table.

        Returns:
            The record without moves and faults, which the caller adds, and the result of the round.
        """
        rules, positions = self.contest.rules, self.paying
        before = [self.chips[position] for position in positions]
        game = Round(rules, self.shoe, len(positions), before)
        if self.transcript:
            self.transcript.begin_round(positions, list(self.chips), game.events)
        result = game.play([players[position] for position in positions])
        net = [whole_chips(profit, rules.buy_in) for profit in result.net]
        for position, profit in zip(positions, net, strict=True):
            self.chips[position] += profit
        record: Record = {
            "record": "round",
            "match": self.plan.match,
            "table": self.plan.table,
            **({} if self.plan.own is None else {"own": self.plan.own}),
            "shoe": self.plan.shoe,
            "session": self.round // self.contest.hands,
            "hand": self.round % self.contest.hands,
            "seats": [self.plan.bots[position] for position in positions],
            "chips": before,
            "cards": "".join([event.card for event in result.events if isinstance(event, Dealt)]),
            "net": net,
        }
        if self.draw_logger:
            self.draw_logger.add(result.events, [self._number_in_series(bot) for bot in record["seats"]])
        self.round += 1
        return record, result

    def _number_in_series(self, bot: int) -> int:
        """The number of a bot among those of its series, for the luck adjustment; HOUSE for house players."""
        return HOUSE if bot < 0 else bot if self.plan.own is None else 0


def whole_chips(bets: Fraction, buy_in: int) -> int:
    """An amount of initial bets in chips, rounded towards 0."""
    return bets.numerator * buy_in if bets.denominator == 1 else int(bets * buy_in)


def play_table(
    contest: Contest, plan: TablePlan, player_of: Callable[[int], Player | None], draw_logger: DrawLogger | None,
    done: Sequence[Record] = (), on_move: OnMove | None = None, on_log: Callable[[BotLog], None] | None = None,
) -> Iterator[Record]:  # fmt: skip
    """Play one table of a match.

    Args:
        contest: The contest.
        plan: The table.
        player_of: Returns the player with a bot's number; None for a bot that has retired, which stands.
        draw_logger: A new logger for every round of the table, or None.
        done: Records of the rounds already played, which are replayed and not yielded.
        on_move: Called with the bot and the seconds of every move of a program.
        on_log: Called at the end with what each bot wrote to stderr.

    Returns:
        An iterator of the records of the rounds.

    Raises:
        ReplayMismatch: A replayed round differs from its record.
    """
    dealer = TableDealer(contest, plan, draw_logger)
    seats = {
        position: ContestSeat(bot, position, player or RETIRED, contest.strikes if player else 0, on_move)
        for position, (bot, player) in enumerate((bot, player_of(bot)) for bot in plan.bots)
    }
    line_seats = _seat_line_bots(dealer, list(seats.values()), bool(done))
    for record in done:
        _restore_round(dealer, record, seats)
    while not dealer.over:
        positions = dealer.paying
        for seat in seats.values():
            seat.moves, seat.notes, seat.faults = [], [], []
        record, result = dealer.deal(seats)
        for number in sorted(result.seats_at_move_cap):
            seats[positions[number]].exceed_move_cap()
        record["moves"] = [seats[position].moves for position in positions]
        faults = [fault for position in positions for fault in seats[position].faults]
        if faults:
            record["faults"] = faults
        if any(note for position in positions for note in seats[position].notes):
            record["notes"] = [seats[position].notes for position in positions]
        yield record
    for position, line_seat in line_seats.items():
        line_seat.leave(dealer.chips[position])
    for seat in seats.values():
        if on_log:
            on_log(seat.log(plan))


def _restore_round(dealer: TableDealer, record: Record, seats: Mapping[int, ContestSeat]) -> None:
    """Replay a round that was played before the contest was stopped, and the faults in it."""
    faults = {(fault["place"], fault["move"]): fault["kind"] for fault in record.get("faults", ())}

    def restore_fault(position: int, _: View | None, move: int) -> None:
        if (kind := faults.pop((position, move), None)) is not None:
            seat = seats[position]
            seat.strikes -= 1
            if seat.line:
                seat.line.report_fault(kind, seat.strikes)
                if kind == "timeout":
                    seat.line.bank = 0.0

    replay_round(dealer, record, restore_fault)
    for position, move in list(faults):  # those of too many moves are known at the end of the round
        restore_fault(position, None, move)


def _seat_line_bots(dealer: TableDealer, seats: Sequence[ContestSeat], resumed: bool) -> dict[int, LineSeat]:
    """Let line bots join the table; returns their seats by position. resumed: whether rounds have been played."""
    rounds = dealer.contest.sessions * dealer.contest.hands
    joined: dict[int, LineSeat] = {}
    for seat in seats:
        if is_bot(seat.player) and seat.player.program.protocol == "line":
            dealer.transcript = dealer.transcript or Transcript(dealer.contest.rules)
            seat.line = seat.player.join(dealer.transcript, seat.position, len(seats), rounds, resumed)
            seat.line.stays = dealer.contest.lives == "contest"
            joined[seat.position] = seat.line
    return joined


def replay_round(
    dealer: TableDealer, record: Record, before_move: Callable[[int, View, int], None] | None = None
) -> RoundResult:
    """Replay the next round from its record.

    Args:
        dealer: The dealer of the table.
        record: The record of the round.
        before_move: Called with the position at the table, the view, and the number of every move in the round.

    Returns:
        The result of the round.

    Raises:
        ReplayMismatch: The round differs from its record. The message names the difference.
    """
    where = f"match {record['match'] + 1}, table {record['table'] + 1}, round {dealer.round + 1}"
    expected = [dealer.plan.bots[position] for position in dealer.paying]
    if record["seats"] != expected:
        raise ReplayMismatch(f"{where}: recorded seats {record['seats']}, replayed {expected}")
    players = {
        position: RecordedPlayer(f"bot {bot}", moves, partial(before_move, position) if before_move else None)
        for position, bot, moves in zip(dealer.paying, record["seats"], record["moves"], strict=True)
    }
    replayed, result = dealer.deal(players)
    for player in players.values():
        if next(player.moves, None) is not None:
            raise ReplayMismatch(f"{where}: {player.name} has more recorded moves than decisions")
    for key, value in replayed.items():
        if record.get(key) != value:
            raise ReplayMismatch(f"{where}: recorded {key} {record.get(key)}, replayed {value}")
    return result


def replay_record(rules: Rules, record: Mapping[str, Any], players: Sequence[Player] = ()) -> RoundResult:
    """Replay a recorded round from its record alone.

    Args:
        rules: The rules of the contest.
        record: The record of the round.
        players: Players that make the recorded moves; by default one RecordedPlayer per seat.

    Returns:
        The result of the round, with its events.
    """
    players = players or [
        RecordedPlayer(f"bot {bot}", moves) for bot, moves in zip(record["seats"], record["moves"], strict=True)
    ]
    return Round(rules, ScriptedShoe(record["cards"], "the record"), len(players), record["chips"]).play(players)
