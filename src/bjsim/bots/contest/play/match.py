"""Playing one table of a match: sittings of some hands each, chips carried along, broke bots sitting out.

Every deal becomes a record, a dict of plain JSON values that holds everything needed to deal it again. A match that
was cut short goes on from its records: its rounds are dealt again with the recorded moves, and then play goes on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from bjsim.bots.contest.config import HOUSE, Contest
from bjsim.bots.contest.luck.draw_log import DRAWS, DrawLogger
from bjsim.bots.contest.schedule.seating import TablePlan
from bjsim.bots.programs import is_bot, is_dead
from bjsim.bots.protocol import Fault, Reply, argv_of, classify_reply
from bjsim.errors import RunFailed
from bjsim.sim.game.actions import STAND, Action, Player, View
from bjsim.sim.game.random_stream import Stream
from bjsim.sim.game.round import Round, RoundResult
from bjsim.sim.game.rules import Rules
from bjsim.sim.game.shoe import ScriptedShoe, open_shoe

Record = dict[str, Any]
Timing = Callable[[int, float], None]  # (bot, seconds of a move)
_SHOWN = 400  # characters of a bot's output that a fault keeps


class ReplayMismatch(RunFailed):
    """A recorded round that comes out otherwise when it is dealt again."""


_NOTHING = Reply("exit", 0, 0, b"", b"")


@dataclass
class Chair:
    """A player at a table: asks it, keeps its moves and faults of this round, and counts its strikes.

    A fault never stops the contest: the bot stands. A bot out of strikes stands without being asked.
    """

    bot: int
    place: int
    player: Player
    strikes: int
    timing: Timing | None = None
    moves: list[str] = field(default_factory=list)
    faults: list[dict[str, Any]] = field(default_factory=list)
    seen: View | None = None  # last
    reply: Reply = _NOTHING  # to that, if it is a program

    @property
    def name(self) -> str:
        return self.player.name

    def decide(self, view: View) -> Action:
        action = self._ask(view) if self.strikes > 0 else STAND
        self.moves.append(str(action))
        return action

    def _ask(self, view: View) -> Action:
        self.seen = view
        if is_bot(self.player) or is_dead(self.player):
            self.reply = reply = self.player.ask(view)
            if self.timing and reply.cause != "start":
                self.timing(self.bot, reply.elapsed_ns / 1e9)
            move = classify_reply(reply, view)
            return self._fault(move) if isinstance(move, Fault) else move
        try:
            action: object = self.player.decide(view)
        except (Exception, SystemExit) as error:  # whatever a player in Python does wrong is its own affair
            return self._fault(Fault("crash", f"{type(error).__name__}: {error}", tuple(argv_of(view))))
        if isinstance(action, str):
            action = Action(action)
        if not isinstance(action, Action) or not isinstance(action.amount, int):
            return self._fault(Fault("bad-reply", f"{action!r} is no Action", tuple(argv_of(view))))
        if action.letter == "B" and not 0 <= action.amount <= view.chips:
            return self._fault(Fault("overbet", f"{action} with {view.chips} chips", tuple(argv_of(view))))
        if action.letter not in tuple(view.legal):
            return self._fault(Fault("bad-reply", f"{action} is not allowed here", tuple(argv_of(view))))
        return action

    def capped(self) -> None:
        """Count the fault of having moved as often as the rules allow."""
        detail = f"{len(self.moves)} moves with one hand, and no stand"
        told = argv_of(self.seen) if self.seen else ()
        self._fault(Fault("move-cap", detail, tuple(told), self.reply.stdout, self.reply.stderr))

    def _fault(self, fault: Fault) -> Action:
        self.strikes -= 1
        self.faults.append({
            "bot": self.bot, "place": self.place, "move": len(self.moves), "kind": fault.kind,
            "detail": _text(fault.detail.encode()), "argv": list(fault.argv),
            "stdout": _text(fault.stdout), "stderr": _text(fault.stderr),
        })  # fmt: skip
        return STAND


def _text(raw: bytes) -> str:
    text = raw.decode("utf-8", "backslashreplace")
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "…"


class Recorded:
    """Plays the moves of a record again."""

    def __init__(self, name: str, moves: Sequence[str]) -> None:
        self.name = name
        self.moves = iter(moves)

    def decide(self, view: View) -> Action:
        move = next(self.moves, None)
        if move is None:
            raise ReplayMismatch(f"{self.name} has no more recorded moves with {view.hand} against {view.dealer}")
        return Action(move[0], int(move[2:]) if len(move) > 1 else 0)


class TableDealer:
    """Deals the rounds of one table of a match, in order, to live players or from records. tracer: told of each."""

    def __init__(self, contest: Contest, plan: TablePlan, tracer: DrawLogger | None) -> None:
        self.contest = contest
        self.plan = plan
        self.tracer = tracer
        self.shoe = open_shoe(contest.rules, Stream(contest.seed, plan.table, plan.shoe))
        self.chips = [contest.rules.chips] * len(plan.bots)
        self.round = 0

    @property
    def over(self) -> bool:
        """Whether the match ends here: all hands are played, or nobody who is ranked can pay the buy-in."""
        return self.round >= self.contest.sittings * self.contest.hands or not any(
            self.plan.bots[place] != HOUSE for place in self.paying
        )

    @property
    def paying(self) -> list[int]:
        """Places of those who can pay the buy-in."""
        return [place for place, chips in enumerate(self.chips) if chips >= self.contest.rules.buy_in]

    def deal(self, players: Mapping[int, Player]) -> tuple[Record, RoundResult]:
        """Deal the next round. players: by place at the table. The record's moves and faults are left to the caller."""
        rules, places = self.contest.rules, self.paying
        before = [self.chips[place] for place in places]
        result = Round(rules, self.shoe, [players[place] for place in places], before).play()
        net = [whole_chips(profit, rules.buy_in) for profit in result.net]
        for place, won in zip(places, net, strict=True):
            self.chips[place] += won
        record: Record = {
            "record": "round",
            "match": self.plan.match,
            "table": self.plan.table,
            "shoe": self.plan.shoe,
            "sitting": self.round // self.contest.hands,
            "hand": self.round % self.contest.hands,
            "seats": [self.plan.bots[place] for place in places],
            "chips": before,
            "cards": "".join([event.detail for event in result.events if event.what in DRAWS]),
            "net": net,
        }
        if self.tracer:
            self.tracer.add(result.events, record["seats"])
        self.round += 1
        return record, result


def whole_chips(bets: Fraction, buy_in: int) -> int:
    """An amount of initial bets in chips; half a chip is neither paid nor taken."""
    return bets.numerator * buy_in if bets.denominator == 1 else int(bets * buy_in)


def play_table(
    contest: Contest, plan: TablePlan, player_of: Callable[[int], Player], tracer: DrawLogger | None,
    done: Sequence[Record] = (), timing: Timing | None = None,
) -> Iterator[Record]:  # fmt: skip
    """Play one table of a match; yields a record for each round.

    player_of: the player with a bot's number. tracer: a fresh one, told of every round, or None. done: the records of
    the rounds already played, which are dealt again and not yielded. Raises: NotTheSame if they come out otherwise.
    """
    dealer = TableDealer(contest, plan, tracer)
    chairs = {place: Chair(bot, place, player_of(bot), contest.strikes, timing) for place, bot in enumerate(plan.bots)}
    for record in done:
        deal_again(dealer, record)
        for fault in record.get("faults", ()):
            chairs[fault["place"]].strikes -= 1
    while not dealer.over:
        places = dealer.paying
        for chair in chairs.values():
            chair.moves, chair.faults = [], []
        record, result = dealer.deal(chairs)
        capped = {event.seat for event in result.events if event.what == "end" and event.detail == "move-cap"}
        for seat in sorted(capped):
            chairs[places[seat]].capped()
        record["moves"] = [chairs[place].moves for place in places]
        faults = [fault for place in places for fault in chairs[place].faults]
        if faults:
            record["faults"] = faults
        yield record


def deal_again(dealer: TableDealer, record: Record) -> RoundResult:
    """Deal the next round as its record says. Raises: NotTheSame naming what is different."""
    where = f"match {record['match'] + 1}, table {record['table'] + 1}, round {dealer.round + 1}"
    expected = [dealer.plan.bots[place] for place in dealer.paying]
    if record["seats"] != expected:
        raise ReplayMismatch(f"{where}: recorded at the table are {record['seats']}, dealt again {expected}")
    players = {
        place: Recorded(f"bot {bot}", moves)
        for place, bot, moves in zip(dealer.paying, record["seats"], record["moves"], strict=True)
    }
    again, result = dealer.deal(players)
    for player in players.values():
        if next(player.moves, None) is not None:
            raise ReplayMismatch(f"{where}: {player.name} has more recorded moves than it was asked for")
    for key, value in again.items():
        if record.get(key) != value:
            raise ReplayMismatch(f"{where}: {key} is recorded as {record.get(key)}, dealt again it is {value}")
    return result


def events_of(rules: Rules, record: Mapping[str, Any], players: Sequence[Player] = ()) -> RoundResult:
    """What happened in a recorded round, from the record alone. players: who plays its moves, where that matters."""
    players = players or [
        Recorded(f"bot {bot}", moves) for bot, moves in zip(record["seats"], record["moves"], strict=True)
    ]
    return Round(rules, ScriptedShoe(record["cards"], "the record"), players, record["chips"]).play()
