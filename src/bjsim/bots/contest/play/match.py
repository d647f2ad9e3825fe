"""Play one table of a match: sessions of several rounds, with chips carried along; bots without chips sit out.

Every round becomes a record, a dict of JSON values with everything needed to replay it. An interrupted match continues
from its records: its rounds are replayed with the recorded moves, then play continues.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from bjsim.bots.contest.config import HOUSE, Contest
from bjsim.bots.contest.luck.draw_log import DrawLogger
from bjsim.bots.contest.schedule.seating import TablePlan
from bjsim.bots.programs import is_bot, is_unstartable
from bjsim.bots.protocol import Fault, Reply, classify_reply, make_argv
from bjsim.errors import RunFailed
from bjsim.sim.game.actions import STAND, Action, Player, View
from bjsim.sim.game.events import Dealt
from bjsim.sim.game.random_stream import Stream
from bjsim.sim.game.round import Round, RoundResult
from bjsim.sim.game.rules import Rules
from bjsim.sim.game.shoe import ScriptedShoe, open_shoe

Record = dict[str, Any]
OnMove = Callable[[int, float], None]  # (bot, seconds of a move)
_MAX_OUTPUT = 400  # characters of a bot's output that a fault keeps
_NO_REPLY = Reply("exit", 0, 0, b"", b"")


class ReplayMismatch(RunFailed):
    """A replayed journal differs from its records."""


@dataclass
class ContestSeat:
    """A player at a table. Asks it for moves, keeps the moves and faults of the round, and counts its strikes.

    A fault never stops the contest: the bot stands. A bot without strikes left stands without being asked.
    """

    bot: int
    position: int
    player: Player
    strikes: int
    on_move: OnMove | None = None
    moves: list[str] = field(default_factory=list)
    faults: list[dict[str, Any]] = field(default_factory=list)
    last_view: View | None = None
    last_reply: Reply = _NO_REPLY  # to the last view, if the player is a program

    @property
    def name(self) -> str:
        """The player's name."""
        return self.player.name

    def decide(self, view: View) -> Action:
        """The player's move, or a stand if it makes a fault or has no strikes left."""
        action = self._ask(view) if self.strikes > 0 else STAND
        self.moves.append(str(action))
        return action

    def _ask(self, view: View) -> Action:
        self.last_view = view
        if is_bot(self.player) or is_unstartable(self.player):
            self.last_reply = reply = self.player.ask(view)
            if self.on_move and reply.cause != "start":
                self.on_move(self.bot, reply.elapsed_ns / 1e9)
            move = classify_reply(reply, view)
            return self._fault(move) if isinstance(move, Fault) else move
        try:
            action: object = self.player.decide(view)
        except (Exception, SystemExit) as error:  # a Python player must not stop the contest
            return self._fault(Fault("crash", f"{type(error).__name__}: {error}", tuple(make_argv(view))))
        if isinstance(action, str):
            action = Action(action)
        if not isinstance(action, Action) or not isinstance(action.amount, int):
            return self._fault(Fault("bad-reply", f"{action!r} is not an Action", tuple(make_argv(view))))
        if action.letter == "B" and not 0 <= action.amount <= view.chips:
            return self._fault(Fault("overbet", f"{action} with {view.chips} chips", tuple(make_argv(view))))
        if action.letter not in tuple(view.legal):
            return self._fault(Fault("bad-reply", f"{action} is not allowed here", tuple(make_argv(view))))
        return action

    def exceed_move_cap(self) -> None:
        """Count the fault of using up all moves that the rules allow for a hand."""
        detail = f"{len(self.moves)} moves with one hand, and no stand"
        request = make_argv(self.last_view) if self.last_view else ()
        self._fault(Fault("move-cap", detail, tuple(request), self.last_reply.stdout, self.last_reply.stderr))

    def _fault(self, fault: Fault) -> Action:
        self.strikes -= 1
        self.faults.append({
            "bot": self.bot, "place": self.position, "move": len(self.moves), "kind": fault.kind,
            "detail": _text(fault.detail.encode()), "argv": list(fault.argv),
            "stdout": _text(fault.stdout), "stderr": _text(fault.stderr),
        })  # fmt: skip
        return STAND


def _text(raw: bytes) -> str:
    """A bot's output as text, shortened."""
    text = raw.decode("utf-8", "backslashreplace")
    return text if len(text) <= _MAX_OUTPUT else text[:_MAX_OUTPUT] + "…"


class RecordedPlayer:
    """Replays the moves of a record."""

    def __init__(self, name: str, moves: Sequence[str]) -> None:
        self.name = name
        self.moves = iter(moves)

    def decide(self, view: View) -> Action:
        """The next recorded move."""
        move = next(self.moves, None)
        if move is None:
            raise ReplayMismatch(f"{self.name} has no more recorded moves with {view.hand} against {view.dealer}")
        return Action(move[0], int(move[2:]) if len(move) > 1 else 0)


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
        self.round = 0

    @property
    def over(self) -> bool:
        """Whether all rounds have been played, or no ranked bot can pay the buy-in."""
        return self.round >= self.contest.sittings * self.contest.hands or not any(
            self.plan.bots[position] != HOUSE for position in self.paying
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
        result = Round(rules, self.shoe, [players[position] for position in positions], before).play()
        net = [whole_chips(profit, rules.buy_in) for profit in result.net]
        for position, profit in zip(positions, net, strict=True):
            self.chips[position] += profit
        record: Record = {
            "record": "round",
            "match": self.plan.match,
            "table": self.plan.table,
            "shoe": self.plan.shoe,
            "sitting": self.round // self.contest.hands,
            "hand": self.round % self.contest.hands,
            "seats": [self.plan.bots[position] for position in positions],
            "chips": before,
            "cards": "".join([event.card for event in result.events if isinstance(event, Dealt)]),
            "net": net,
        }
        if self.draw_logger:
            self.draw_logger.add(result.events, record["seats"])
        self.round += 1
        return record, result


def whole_chips(bets: Fraction, buy_in: int) -> int:
    """An amount of initial bets in chips, rounded towards 0."""
    return bets.numerator * buy_in if bets.denominator == 1 else int(bets * buy_in)


def play_table(
    contest: Contest, plan: TablePlan, player_of: Callable[[int], Player], draw_logger: DrawLogger | None,
    done: Sequence[Record] = (), on_move: OnMove | None = None,
) -> Iterator[Record]:  # fmt: skip
    """Play one table of a match.

    Args:
        contest: The contest.
        plan: The table.
        player_of: Returns the player with a bot's number.
        draw_logger: A new logger for every round of the table, or None.
        done: Records of the rounds already played, which are replayed and not yielded.
        on_move: Called with the bot and the seconds of every move of a program.

    Returns:
        An iterator of the records of the rounds.

    Raises:
        ReplayMismatch: A replayed round differs from its record.
    """
    dealer = TableDealer(contest, plan, draw_logger)
    seats = {
        position: ContestSeat(bot, position, player_of(bot), contest.strikes, on_move)
        for position, bot in enumerate(plan.bots)
    }
    for record in done:
        replay_round(dealer, record)
        for fault in record.get("faults", ()):
            seats[fault["place"]].strikes -= 1
    while not dealer.over:
        positions = dealer.paying
        for seat in seats.values():
            seat.moves, seat.faults = [], []
        record, result = dealer.deal(seats)
        for number in sorted(result.seats_at_move_cap):
            seats[positions[number]].exceed_move_cap()
        record["moves"] = [seats[position].moves for position in positions]
        faults = [fault for position in positions for fault in seats[position].faults]
        if faults:
            record["faults"] = faults
        yield record


def replay_round(dealer: TableDealer, record: Record) -> RoundResult:
    """Replay the next round from its record.

    Args:
        dealer: The dealer of the table.
        record: The record of the round.

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
        position: RecordedPlayer(f"bot {bot}", moves)
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
    return Round(rules, ScriptedShoe(record["cards"], "the record"), players, record["chips"]).play()
