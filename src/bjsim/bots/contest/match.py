"""Play one table of a match: sessions of several rounds, with chips carried along; bots without chips sit out.

Every round becomes a record, a dict of JSON values with everything needed to replay it.
"""

import copy
from collections import Counter
from collections.abc import Callable, Container, Generator, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

from bjsim.bots.contest.config import HOUSE, Contest
from bjsim.bots.contest.journal import BotLog
from bjsim.bots.contest.luck import DrawLog, DrawLogger
from bjsim.bots.contest.schedule import TablePlan
from bjsim.bots.line import LOG_LIMIT, Transcript, parse_note
from bjsim.bots.protocol import FAULTS, Fault, Reply
from bjsim.bots.turn import Strikes, Turn, runs_program
from bjsim.errors import RunFailed, shorten
from bjsim.sim.game.actions import Action, Player, View
from bjsim.sim.game.events import Dealt, RoundResult
from bjsim.sim.game.round import Round, drive, legal_action
from bjsim.sim.game.rules import Rules
from bjsim.sim.game.shoe import ScriptedShoe, Stream, open_shoe

# --- A player at a table of a contest: its moves, its faults, and its strikes.


_MAX_OUTPUT = 400  # characters of a bot's output that a fault keeps


class ContestSeat:
    """A player at a table. Keeps the moves, notes and faults of the round.

    A fault never stops the contest: the bot stands. A bot without strikes left stands without being asked.
    """

    def __init__(self, bot: int, position: int, turn: Turn) -> None:
        self.bot, self.position, self.turn = bot, position, turn
        self.moves: list[str] = []
        self.notes: list[str] = []  # of a line bot, after each move
        self.faults: list[dict[str, Any]] = []
        self._timed, self._seconds = 0, 0.0  # moves of a program in the match, and their time
        self._noted = 0  # bytes of its notes in the match, of which LOG_LIMIT are kept
        self._errors = b""  # what it wrote to stderr in the match, LOG_LIMIT bytes at most, unless it is a line bot

    def move(self, view: View) -> Action:
        """The player's move, or a stand if it makes a fault or is not asked."""
        answer = self.turn.take(view)
        self.notes.append(self._keep(answer.reply) if answer.reply else "")
        if answer.fault:
            self._add_fault(answer.fault)
        self.moves.append(str(answer.action))
        return answer.action

    def _keep(self, reply: Reply) -> str:
        """Keep the time and the error output of a move; returns its note."""
        if reply.cause not in ("start", "not-ready"):
            self._timed += 1
            self._seconds += reply.elapsed_ns / 1e9
        if not self.turn.line:
            self._errors = (self._errors + reply.stderr)[:LOG_LIMIT]
            return ""
        note = parse_note(reply.stdout) if reply.cause == "exit" else ""
        self._noted += len(note.encode())
        return note if self._noted <= LOG_LIMIT else ""

    def log(self, plan: TablePlan) -> BotLog:
        """The moves of the bot at this table, what it wrote to stderr, and said of itself."""
        errors, ready = (line.log, line.ready) if (line := self.turn.line) else (self._errors, {})
        text = errors.decode("utf-8", "backslashreplace")
        return BotLog(self.bot, plan.match, plan.table, self.position, self._timed, self._seconds, text, ready)

    def exceed_move_cap(self) -> None:
        """Count the fault of using up all moves that the rules allow for a hand."""
        self._add_fault(self.turn.exceed_move_cap(f"{len(self.moves)} moves with one hand, and no stand"))

    def _add_fault(self, fault: Fault) -> None:
        found = fault.to_json()
        for key in ("detail", "stdout", "stderr"):
            found[key] = shorten(found[key], _MAX_OUTPUT)
        self.faults.append({"bot": self.bot, "place": self.position, "move": len(self.moves), **found})


Record = dict[str, Any]


class ReplayMismatch(RunFailed):
    """A replayed journal differs from its records."""


class RecordedMove(NamedTuple):
    seat: int
    view: View
    text: str  # such as `B 15`
    note: str  # that a line bot wrote after it
    fault: Mapping[str, Any] | None  # that a stand replaces, if it is one
    strikes: int  # that are left; a bot without any was not asked

    @property
    def own(self) -> bool:
        """Whether the bot made the move itself. Otherwise it is a stand, for a fault or without strikes left."""
        return self.strikes > 0 and not self.fault


class TableDealer:
    """Deals the rounds of one table of a match in order, to live players or from records."""

    def __init__(self, contest: Contest, plan: TablePlan, draw_logger: DrawLogger | None) -> None:
        self.contest = contest
        self.plan = plan
        self.draw_logger = draw_logger
        self.shoe = open_shoe(contest.rules, Stream(contest.seed, plan.table, plan.shoe))
        self.chips = [contest.rules.chips] * len(plan.bots)
        self.strikes = [contest.strikes] * len(plan.bots)  # that are left, where rounds are replayed
        self.transcript: Transcript | None = None  # what line bots receive
        self.round = 0

    @property
    def draw_log(self) -> DrawLog | None:
        """The draws so far, if they are logged for the luck adjustment."""
        return self.draw_logger.draw_log() if self.draw_logger else None

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

    def deal(self) -> Round:
        positions = self.paying
        game = Round(self.contest.rules, self.shoe, len(positions), [self.chips[position] for position in positions])
        if self.transcript:
            self.transcript.begin_round(positions, list(self.chips), game.events)
        return game

    def settle(self, result: RoundResult) -> Record:
        """Pay a round; returns its record without moves and faults, which the caller adds."""
        positions, buy_in = self.paying, self.contest.rules.buy_in
        before = [self.chips[position] for position in positions]
        net = [whole_chips(profit, buy_in) for profit in result.net]
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
        if self.draw_logger:  # with the number of each bot in its series
            alone = self.plan.own is not None
            numbers = [HOUSE if bot < 0 else 0 if alone else bot for bot in record["seats"]]
            self.draw_logger.add(result.events, numbers)
        self.round += 1
        return record


def whole_chips(bets: Fraction, buy_in: int) -> int:
    """An amount of initial bets in chips, rounded towards 0."""
    return bets.numerator * buy_in if bets.denominator == 1 else int(bets * buy_in)


class FinishedTable(NamedTuple):
    """A table that was played: its rounds, the draws for the luck adjustment, and what programs wrote to stderr."""

    rounds: list[Record]
    draw_log: DrawLog | None
    logs: list[BotLog]


def play_table(
    contest: Contest, plan: TablePlan, player_of: Callable[[int], Player | None], draw_logger: DrawLogger | None
) -> FinishedTable:
    """Play one table of a match. `player_of` returns None for a bot that has retired, which stands."""
    dealer = TableDealer(contest, plan, draw_logger)
    seats = []
    for position, bot in enumerate(plan.bots):
        player, line = player_of(bot), None
        if not runs_program(player):
            player = copy.deepcopy(player)  # its memory does not outlast the table, see `Player`
        elif player.protocol == "line":
            dealer.transcript = dealer.transcript or Transcript(contest.rules)
            line = player.join(dealer.transcript, position, len(plan.bots), contest.sessions * contest.hands)
            line.stays = contest.lives == "contest"
        seats.append(ContestSeat(bot, position, Turn(player, line, Strikes(contest.strikes))))
    rounds = []
    while not dealer.over:
        rounds.append(_play_round(dealer, [seats[position] for position in dealer.paying]))
    for seat in seats:
        if seat.turn.line:
            seat.turn.line.leave(dealer.chips[seat.position])
    return FinishedTable(rounds, dealer.draw_log, [seat.log(plan) for seat in seats])


def _play_round(dealer: TableDealer, seats: Sequence[ContestSeat]) -> Record:
    """Play the next round. seats: those that pay the buy-in."""
    for seat in seats:
        seat.moves, seat.notes, seat.faults = [], [], []
    result = drive(dealer.deal().steps(), lambda seat, view: seats[seat].move(view))
    record = dealer.settle(result)
    for number in sorted(result.seats_at_move_cap):
        seats[number].exceed_move_cap()
    record["moves"] = [seat.moves for seat in seats]
    if faults := [fault for seat in seats for fault in seat.faults]:
        record["faults"] = faults
    if any(note for seat in seats for note in seat.notes):
        record["notes"] = [seat.notes for seat in seats]
    return record


def replay_round(dealer: TableDealer, record: Record) -> Iterator[RecordedMove]:
    """Replay the next round from its record, stopping before every move; a ReplayMismatch names a difference."""
    where = f"match {record['match'] + 1}, table {record['table'] + 1}, round {dealer.round + 1}"
    if dealer.over:
        raise ReplayMismatch(f"{where} follows the last one")
    positions, faults = dealer.paying, record.get("faults", ())
    expected = [dealer.plan.bots[position] for position in positions]
    if record["seats"] != expected:
        raise ReplayMismatch(f"{where}: recorded seats {record['seats']}, replayed {expected}")
    caps = {(fault["place"], fault["move"]) for fault in faults if fault["kind"] == "move-cap"}
    own = [_faults_of(position, faults) for position in positions]
    possible = all(dealer.plan.bots[fault["place"]] == fault["bot"] and fault["kind"] in FAULTS for fault in faults)
    possible = possible and len(caps) + sum(map(len, own)) == len(faults)
    strikes = [dealer.strikes[position] for position in positions]
    result = yield from _recorded_moves(dealer.deal(), record, own, strikes, where)
    if not possible or any(own) or caps != {(positions[n], len(record["moves"][n])) for n in result.seats_at_move_cap}:
        raise ReplayMismatch(f"{where}: its faults are not possible")
    for fault in faults:
        dealer.strikes[fault["place"]] -= 1
    for key, value in dealer.settle(result).items():
        if record.get(key) != value:
            raise ReplayMismatch(f"{where}: recorded {key} {record.get(key)}, replayed {value}")


def replay_alone(contest: Contest, game: Round, record: Mapping[str, Any]) -> Iterator[RecordedMove]:
    """Replay a round without the others of its match, stopping before every move.

    `game` is as `recorded_round` makes it; `record` is as `with_spent` completes it, or has all seats of its table.
    """
    places, spent = record.get("places", range(len(record["seats"]))), record.get("spent", {})
    own = [_faults_of(place, record.get("faults", ())) for place in places]
    return _recorded_moves(game, record, own, [contest.strikes - spent.get(place, 0) for place in places])


def with_spent(contest: Contest, rounds: Iterable[Record], retired: Container[int]) -> Iterator[Record]:
    """The rounds of a match with the `places` of their seats at the table, and the strikes `spent` before by place.

    A house player may have several places, so its number is not enough. Bots that have `retired` have no strikes left.
    """
    table, places, spent = -1, list[int](), Counter[int]()
    for record in rounds:
        if record["table"] != table:
            table, places = record["table"], [*range(len(record["seats"]))]
            spent = Counter({place: contest.strikes for place in places if record["seats"][place] in retired})
        yield {**record, "places": places, "spent": dict(spent)}
        spent.update(fault["place"] for fault in record.get("faults", ()))
        after = zip(places, record["chips"], record["net"], strict=True)
        places = [place for place, chips, net in after if chips + net >= contest.rules.buy_in]


def _faults_of(place: int, faults: Iterable[Mapping[str, Any]]) -> dict[int, Mapping[str, Any]]:
    """The faults of a place that a stand replaces, by number of the move."""
    return {fault["move"]: fault for fault in faults if fault["place"] == place and fault["kind"] != "move-cap"}


def _recorded_moves(
    game: Round,
    record: Mapping[str, Any],
    faults: Sequence[dict[int, Mapping[str, Any]]],
    strikes: list[int],
    where: str = "the round",
) -> Generator[RecordedMove, None, RoundResult]:
    """Play a round with its recorded moves. faults: of each seat, by number of the move; those found are removed."""
    names = [f"bot {bot}" for bot in record["seats"]]
    notes = record.get("notes") or [[""] * len(moves) for moves in record["moves"]]
    left = [list(enumerate(zip(*each, strict=True)))[::-1] for each in zip(record["moves"], notes, strict=True)]
    steps = game.steps()
    try:
        seat, view = next(steps)
        while left[seat]:
            number, (move, note) = left[seat].pop()
            fault = faults[seat].pop(number, None) if strikes[seat] > 0 else None
            yield RecordedMove(seat, view, move, note, fault, strikes[seat])
            strikes[seat] -= fault is not None
            action = Action(move[0], int(move[2:]) if len(move) > 1 else 0)
            seat, view = steps.send(legal_action(names[seat], action, view))
    except StopIteration as end:
        result: RoundResult = end.value
    else:
        raise ReplayMismatch(f"{names[seat]} has no more recorded moves with {view.hand} against {view.dealer}")
    if more := [name for name, rest in zip(names, left, strict=True) if rest]:
        raise ReplayMismatch(f"{where}: {more[0]} has more recorded moves than decisions")
    return result


def recorded_round(rules: Rules, record: Mapping[str, Any]) -> Round:
    return Round(rules, ScriptedShoe(record["cards"], "the record"), len(record["seats"]), record["chips"])
