"""Describe a recorded round step by step: each event, the request to each bot, and the table after it."""

import logging
import math
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from bjsim.bots.contest import journal as journals
from bjsim.bots.contest.config import HOUSE, Contest
from bjsim.bots.contest.entrants import IN_PROCESS, Entrant, bots_in_folder
from bjsim.bots.contest.luck import ChartChanges, SeriesAdjusters, draw_logger, known_plays
from bjsim.bots.contest.match import (
    Record,
    RecordedMove,
    ReplayMismatch,
    TableDealer,
    recorded_round,
    replay_alone,
    replay_round,
)
from bjsim.bots.contest.schedule import Roster, TablePlan
from bjsim.bots.contest.standings import Standings
from bjsim.bots.line import Clock, SeatLines, Transcript, hello_line, match_line, rules_line
from bjsim.bots.protocol import make_argv, need_programs
from bjsim.bots.sandbox.languages import BuildError
from bjsim.bots.turn import Turn, can_ask
from bjsim.errors import InputError, printable
from bjsim.sim.game.actions import ATTACK, INSURANCE, NAMES, Action, Player, View
from bjsim.sim.game.cards import HIDDEN, parse_rank
from bjsim.sim.game.events import (
    DEALER,
    Acted,
    Dealt,
    Event,
    HandEnded,
    InsuranceSettled,
    Insured,
    Peeked,
    Revealed,
    Settled,
    Shuffled,
)
from bjsim.sim.game.rules import Rules
from bjsim.sim.game.seats import Cards, PlayedHand, is_free
from bjsim.strategies.players.catalogue import BUILT_IN, CATALOGUE, find_player

# --- What the bots at a table were asked at every move. It is not stored: the rounds are replayed.


@dataclass(frozen=True)
class Asked:
    round: int  # from 0
    bot: int
    position: int
    # of a line bot: the lines sent to it since its last question, as to a process that lives for the whole match. A
    # process that replaces another also receives all earlier lines.
    sent: Sequence[str]
    # the line `move`, without the bank, which is not recorded; or the arguments of a bot that is started for every move
    asked: str
    answer: str  # its move and note; at a fault what it printed
    fault: str  # the kind of fault, and after a colon the details; empty without one

    @property
    def text(self) -> str:
        """The question as lines with `>`, its answer as one with `<`, and a fault as one with `!`."""
        lines = [*(f"> {line}" for line in (*self.sent, self.asked)), f"< {self.answer}"]
        return "\n".join(map(printable, [*lines, *([f"! {self.fault}"] if self.fault else [])]))


def questions(contest: Contest, records: Sequence[Record], protocols: Sequence[str]) -> Iterator[Asked]:
    """The questions to the programs at one table of a match, in the order of play; `records` are its rounds.

    `protocols` has, for each bot by its number, then for the house, `argv`, `line`, or "" for no program.
    """
    first = records[0]
    plan = TablePlan(first["match"], first["table"], first["shoe"], tuple(first["seats"]), first.get("own"))
    dealer, transcript = TableDealer(contest, plan, None), Transcript(contest.rules)
    dealer.transcript = transcript
    lines = [SeatLines(transcript, position) for position in range(len(plan.bots))]
    opening = [hello_line(Clock.within(contest.timeout)), rules_line(contest.rules)]
    rounds = contest.sessions * contest.hands
    for position, each in enumerate(lines):
        each.unsent = [*opening, match_line(len(lines), position, contest.rules.chips, rounds)]
    for record in records:
        number, positions = dealer.round, dealer.paying
        for move in replay_round(dealer, record):
            position, fault = positions[move.seat], move.fault
            bot = dealer.plan.bots[position]
            protocol = protocols[bot]
            if move.strikes > 0 and protocol and can_ask(move.view, protocol == "line"):
                argv = " ".join(make_argv(move.view))
                *sent, asked = lines[position].ask(move.view) if protocol == "line" else [argv]
                answer = fault["stdout"] if fault else f"{move.text} {move.note}"
                what = f"{fault['kind']}: {fault['detail']}" if fault else ""
                yield Asked(number, bot, position, sent, asked, answer.strip(), what)
            if fault:
                lines[position].report_fault(fault["kind"], move.strikes - 1)
        for fault in record.get("faults", ()):
            if fault["kind"] == "move-cap":  # which is known at the end of the round
                lines[fault["place"]].report_fault("move-cap", dealer.strikes[fault["place"]])


def protocol_of(bot: Mapping[str, Any]) -> str:
    """The protocol of a bot in the journal; empty for a player that is not a program."""
    entrant = Entrant.from_dict(bot)
    return entrant.protocol if entrant.timed else ""


def protocols(header: Mapping[str, Any]) -> list[str]:
    """The protocol of each bot and, at the end, of house players; empty for a player that is not a program."""
    houses = header["against"] or [header["house"]]
    return [protocol_of(bot) if bot else "" for bot in [*header["bots"], *reversed(houses)]]


FINISHED = 17  # at fewer points the dealer has not played


def round_number(record: Mapping[str, Any], contest: Contest) -> str:
    """The number of a round in its match and at its table, as in `--hand MATCH.TABLE.ROUND`.

    In a match of a bot's own, the bot's number follows, from 1.
    """
    number = f"{record['match'] + 1}.{record['table'] + 1}.{record['session'] * contest.hands + record['hand'] + 1}"
    return f"{number}.{record['own'] + 1}" if "own" in record else number


def replay(contest: Contest, record: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    """Replay a recorded round step by step; `names` are by bot number, the last is the house.

    The result has `hand` (the number of the round), `names` by seat, `net` chips by seat, and `steps`: a line of
    text, the dealer's open cards after it, for each seat its chips and its hands, each as cards, stake, last
    status and total, and the dealer's total.
    """
    game = recorded_round(contest.rules, record)
    moves = [move for move in replay_alone(contest, game, record) if move.view.legal not in (ATTACK, INSURANCE)]
    table = _TableState(contest.rules, record, names, moves)
    return {
        "hand": round_number(record, contest),
        "names": [seat.name for seat in table.seats],
        "steps": [table.step(event) for event in game.events],
        "net": record["net"],
    }


def shorten(hand: Mapping[str, Any]) -> dict[str, Any]:
    """A replay with 0 for every seat that a step does not change, which halves the page of a long match."""
    steps: list[list[Any]] = []
    before: list[Any] = [None] * len(hand["names"])
    for text, dealer, seats, points in hand["steps"]:
        changed = [0 if seat == old else seat for seat, old in zip(seats, before, strict=True)]
        steps.append([text, dealer, changed, points])
        before = seats
    return {**hand, "steps": steps}


class _ReplayHand(PlayedHand):
    """A hand of a replay; `status` is what happened to it last."""

    status = ""


@dataclass
class _ReplaySeat:
    name: str
    chips: int  # that are not staked, but for what it has won
    hands: list[_ReplayHand]
    moves: Iterator[RecordedMove]
    won: Fraction = Fraction(0)  # by paid hands; half chips are not paid, as in `whole_chips`

    def stake(self, hand: _ReplayHand, chips: int, free: int = 0) -> None:
        hand.stake += chips
        hand.free += free
        self.chips -= chips - free

    def win(self, won: Fraction) -> int:
        """Add a profit; returns it in whole chips."""
        before, self.won = int(self.won), self.won + won
        return int(self.won) - before


class _TableState:
    """The table during a replay: each event changes it and is described in words."""

    def __init__(
        self, rules: Rules, record: Mapping[str, Any], names: Sequence[str], moves: Sequence[RecordedMove]
    ) -> None:
        self.rules, self.dealer, self.hidden = rules, Cards(), False
        self.seats = [
            _ReplaySeat(
                names[bot],
                chips - rules.buy_in,
                [_ReplayHand(rules.buy_in)],
                iter([move for move in moves if move.seat == number]),
            )
            for number, (bot, chips) in enumerate(zip(record["seats"], record["chips"], strict=True))
        ]

    def step(self, event: Event) -> list[Any]:
        text = self._happen(event)
        seats = [
            [seat.chips + int(seat.won), [[hand.letters, hand.stake, hand.status, hand.points] for hand in seat.hands]]
            for seat in self.seats
        ]
        return [text, self.dealer.letters + (HIDDEN if self.hidden else ""), seats, self.dealer.points]

    def _happen(self, event: Event) -> str:
        match event:
            case Shuffled():
                return "The shoe is shuffled."
            case Dealt(face_down=True):
                self.hidden = True
                return "The dealer takes the hole card."
            case Dealt(card) if event.seat == DEALER:
                self.dealer.take(parse_rank(card))
                return f"The dealer takes {card}: {self.dealer.points}."
            case Peeked(natural):
                if not natural:
                    return "The dealer checks the hole card: no natural."
                return "The dealer has a natural: the round ends."
            case Revealed(card):
                self.hidden = False
                self.dealer.take(parse_rank(card))
                return f"The dealer reveals {card}: {self.dealer.points}."
        seat = self.seats[event.seat]
        if isinstance(event, Insured):
            return f"{seat.name} takes insurance."
        if isinstance(event, InsuranceSettled):
            chips = seat.win(event.net * self.rules.buy_in)
            return f"{seat.name} {'wins' if chips > 0 else 'loses'} {abs(chips)} chips by insurance."
        hand = seat.hands[event.hand]
        name = f"{seat.name} (hand {event.hand + 1})" if len(seat.hands) > 1 else seat.name
        match event:
            case Dealt(card):
                hand.take(parse_rank(card))
                return f"{name} gets {card}: {hand.points}."
            case Acted(action=action):
                return self._answer(seat, event.hand, name, action)
            case HandEnded(ending=ending):
                hand.status = hand.ending = ending
                return f"{name}: {ending}."
            case Settled(net=net):
                return self._pay(seat, hand, name, net * self.rules.buy_in)

    def _answer(self, seat: _ReplaySeat, index: int, name: str, action: Action) -> str:
        hand, letter = seat.hands[index], action.letter
        if letter == "A":
            seat.stake(hand, hand.stake)
            return f"{name} doubles its bet against the dealer's open card."
        move = next(seat.moves)
        hand.status = str(action)
        if move.strikes <= 0:
            return f"{name} is out of strikes, is not asked and stands."
        amount = f" by {action.amount}" if letter == "B" else ""
        by_house = hand.stake * is_free(letter, move.view)
        if letter in "BD":
            seat.stake(hand, action.amount if letter == "B" else hand.stake, by_house)
        elif letter == "P":
            seat.chips -= hand.stake - by_house
            seat.hands[index : index + 1] = [
                _ReplayHand(hand.stake, [rank], free=free)
                for free, rank in zip((hand.free, by_house), hand.ranks, strict=True)
            ]
            for each in seat.hands[index : index + 2]:
                each.status = hand.status
        more = f" Its note: {move.note}" if move.note else ""
        if move.fault:
            more = f" (fault, {move.fault['kind']}: {move.fault['detail']})"
        request = " ".join(make_argv(move.view))
        return f"{name} receives “{request}” and answers {action}: {NAMES[letter]}{amount}.{more}"

    def _pay(self, seat: _ReplaySeat, hand: _ReplayHand, name: str, won: Fraction) -> str:
        chips = seat.win(won)
        seat.chips += hand.stake - hand.free
        verb = "wins" if chips > 0 else "loses" if chips < 0 else "pushes"
        reason = self._reason(hand, verb)
        hand.status = f"{chips:+d} ({reason})"
        if not chips:
            return f"{name} neither wins nor loses ({reason})."
        return f"{name} {verb} {abs(chips)} chips ({reason})."

    def _reason(self, hand: _ReplayHand, verb: str) -> str:
        """Why a hand wins or loses: `bust 24`, `ties 20: loses`, `18 against 20`."""
        own, dealer = hand.points, self.dealer.points
        if hand.ending in ("bust", "charlie"):
            return f"{hand.ending} {own}"
        if hand.ending in ("surrendered", "natural"):
            return hand.ending
        if self.rules.naturals == "both" and self.dealer.natural:
            return f"{own} against a natural"
        if dealer < FINISHED:
            return str(own)  # it was certain before the dealer's cards were
        if dealer == own:
            return f"ties {own}: {verb}"
        return f"{own} against {dealer}{', bust' if dealer > 21 else ''}"


# --- Verify a contest: replay its whole journal with the recorded moves, and ask the players again.


AGAIN = 20  # times that a bot is asked whose answer differs, since it may be random
logger = logging.getLogger(__name__)
Ask = Callable[[View], str | None]


class Answers(ExitStack):
    """Asks again every strategy of the catalogue, and every program of a folder that is started for each move.

    Use it as a context manager, which closes the programs. The bots of the folder are found by SHA-256. A program that
    answers the same question differently is not compared.
    """

    def __init__(self, folder: Path | None = None) -> None:
        super().__init__()
        self._folder = folder
        self._found: dict[str, Entrant] | None = None
        self._asks: dict[int, Ask | None] = {}
        self.same: Counter[int] = Counter()  # moves that were made again, by bot
        self.random: set[int] = set()  # bots that answer at random
        self.unasked: set[int] = set()  # bots with moves that were not compared

    def replay(self, roster: Roster, dealer: TableDealer, record: Record) -> None:
        """Replay a round, and ask for its moves again. Raises: ReplayMismatch at another answer."""
        bots = [dealer.plan.bots[position] for position in dealer.paying]
        for move in replay_round(dealer, record):
            if not move.own and move.text != "S":
                raise ReplayMismatch(f"{_where(record)}: a stand is due, but {move.text} is recorded")
            if move.strikes > 0:
                self._compare(roster, bots[move.seat], move, record)

    def _compare(self, roster: Roster, bot: int, move: RecordedMove, record: Record) -> None:
        if bot > HOUSE:
            about = roster.bots[bot]
        else:
            house = roster.contest.field[HOUSE - bot]
            about = {"name": house, "source": house, "language": IN_PROCESS, "sha256": ""}
        view, recorded = move.view, move.fault["kind"] if move.fault else move.text
        if bot not in self._asks:
            self._asks[bot] = self._find(about, roster.contest)
        ask = self._asks[bot]
        lost = move.fault and protocol_of(about)  # a program may fail once; a strategy never does
        answer = ask(view) if ask and not lost and bot not in self.random else None
        if ask is None or answer is None:
            self.unasked.add(bot)
        elif answer == recorded:
            if can_ask(view, line=False) or not protocol_of(about):  # a program is not asked about insurance
                self.same[bot] += 1
        elif any(ask(view) != answer for _ in range(AGAIN)):
            self.random.add(bot)
        else:
            played = f"{about['name']} plays {answer} with {view.hand} against {view.dealer}"
            raise ReplayMismatch(f"{_where(record)}: {played}, but {recorded} is recorded")

    def _find(self, about: Mapping[str, Any], contest: Contest) -> Ask | None:
        """How a named strategy, or a program of the folder, answers.

        None for line bots, which remember, and for players that are neither.
        """
        if named := named_strategy(about, contest.rules):
            decide = named[0].decide
            return lambda view: str(decide(view))
        if self._found is None:
            found = bots_in_folder(self._folder, contest.rules) if self._folder else []
            self._found = {entrant.sha256: entrant for entrant in found if entrant.timed and entrant.protocol == "argv"}
        entrant = self._found.get(about["sha256"])
        if not entrant or not protocol_of(about):  # a file may hold a Python player too
            return None
        need_programs(entrant.source)
        from bjsim.bots.player import open_bot
        from bjsim.bots.sandbox.session import SandboxError, choose_box

        choose_box("required")  # a missing sandbox is not the bot's fault
        try:
            player = open_bot(entrant.source, sandbox="required", timeout=contest.timeout)
        except (BuildError, SandboxError) as error:
            logger.warning("%s is not asked again: %s", about["name"], error)
            return None
        self.callback(player.close)
        turn = Turn(player)

        def ask(view: View) -> str | None:
            answer = turn.take(view)
            return None if answer.fault else str(answer.action)

        return ask


def _where(record: Record) -> str:
    return f"match {record['match'] + 1}, table {record['table'] + 1}"


LUCK_TOLERANCE = 2e-6  # chips


def verify(folder: Path, answers: Answers | None = None) -> Standings:
    """Replay a contest with the recorded moves, and ask players again; return the standings.

    `answers` asks only the named strategies by default. A match that is not finished is left out. A
    ReplayMismatch names the first difference.
    """
    number, records = 0, journals.read(folder)
    try:
        replay = _ContestReplay(next(records), answers or Answers())
        for record in records:
            number = replay.number = replay.number + 1
            replay.confirm(record)
    except InputError:
        raise
    except (LookupError, TypeError, ValueError) as error:  # a journal with correct CRCs, but invalid records
        raise ReplayMismatch(f"record {number} is not valid: {type(error).__name__}: {error}") from None
    return replay.standings


class _ContestReplay:
    """Replays the records of a journal in order; `number` is that of the record in its file."""

    def __init__(self, header: dict[str, Any], answers: Answers) -> None:
        self.answers, self.number = answers, 0
        self.standings = Standings(header)
        self.roster = self.standings.roster
        self.adjusters = SeriesAdjusters(self.roster)
        check_plays(header["bots"], self.roster.contest.rules)

    def confirm(self, record: Record) -> None:
        kind = record["record"]
        if kind in ("match", "end") and self.standings.retiring():
            raise ReplayMismatch(f"record {self.number} follows a match after which a bot retires")
        if self.standings.closed or (self.standings.end and kind not in ("change", "close")):
            raise ReplayMismatch(f"record {self.number} follows the end")
        if kind == "match":
            self._match(record)
        elif kind == "change":
            check_change(record, self.number, self.roster)
            check_plays(record["join"], self.roster.contest.rules)
        elif kind == "retire":
            if record not in self.standings.retiring():
                raise ReplayMismatch(f"record {self.number} retires a bot that still answers: {record}")
        elif kind != "close" or not self.standings.end:
            check_end(record, self.number, self.standings)
        self.standings.add(record)

    def _match(self, record: Record) -> None:
        match, own, contest = record["match"], record.get("own"), self.standings.contest
        series = self.roster.series.get(own)
        if series not in self.roster.playing or match != series.played:
            raise ReplayMismatch(f"record {self.number} is of match {match + 1}, which is not the next")
        dealers = {
            plan.table: TableDealer(contest, plan, draw_logger(contest.rules))
            for plan in self.roster.tables_of(series, match)
        }
        for dealer in dealers.values():
            for position, bot in enumerate(dealer.plan.bots):
                dealer.strikes[position] *= bot not in self.roster.retired  # which is not asked
        for played in record["rounds"]:
            if played["table"] not in dealers or played.get("own") != own:
                raise ReplayMismatch(f"record {self.number}: match {match + 1} has no table {played['table'] + 1}")
            self.answers.replay(self.roster, dealers[played["table"]], played)
            self.number += 1
        if unfinished := [table + 1 for table, dealer in dealers.items() if not dealer.over]:
            raise ReplayMismatch(f"match {match + 1} ends before its table {unfinished[0]}")
        if not same_luck(self.adjusters.record(match, own, [dealer.draw_log for dealer in dealers.values()]), record):
            raise ReplayMismatch(f"the recorded luck of match {match + 1} differs")


def check_plays(bots: Iterable[Mapping[str, Any]], rules: Rules) -> None:
    """Check the plays of programs and named strategies that luck is computed from. Raises: ReplayMismatch."""
    for bot in bots:
        named = named_strategy(bot, rules)
        own = named[1] if named else {}
        if (named or bot["language"] != IN_PROCESS) and bot.get("plays", {}) != own:
            raise ReplayMismatch(f"the plays that the journal gives {bot['name']} are not its own")


def named_strategy(about: Mapping[str, Any], rules: Rules) -> tuple[Player, ChartChanges] | None:
    """The strategy of bjsim that a bot is, and its plays, or None: others may have changed, or are code."""
    is_named = about["language"] == IN_PROCESS and about["source"] in {"basic", *CATALOGUE, *BUILT_IN}
    return _named(about["source"], rules) if is_named else None


@lru_cache(maxsize=64)  # thousands of bots may be the same
def _named(source: str, rules: Rules) -> tuple[Player, ChartChanges]:
    player = find_player(source, rules)
    return player, known_plays(player, rules)


def check_change(record: Record, number: int, roster: Roster) -> None:
    """Check that the bots and matches may change so. Raises: ReplayMismatch."""
    try:
        possible = record == roster.change(record["leave"], record["join"], record.get("matches"))
    except InputError:
        possible = False
    if not possible:
        raise ReplayMismatch(f"record {number} is not a possible change: {record}")


def check_end(record: Record, number: int, standings: Standings) -> None:
    """Raise ReplayMismatch if a contest cannot end with this record; its playing time cannot be checked."""
    limit = "time" if standings.contest.seconds < math.inf else ""
    end = {"record": "end", "reason": standings.reason_to_end(time.monotonic()) or limit, "matches": standings.matches}
    if record != end:
        raise ReplayMismatch(f"record {number} cannot follow after {standings.matches} matches: {record}")


def same_luck(one: Record, other: Record) -> bool:
    """Whether two records of a match agree in its luck, up to rounding.

    Another processor may add the same numbers in another order.
    """
    sums, others = (np.array(record.get("luck", [])) for record in (one, other))
    close = sums.shape == others.shape and bool((abs(sums - others) <= LUCK_TOLERANCE).all())
    return close and one.get("learned") == other.get("learned")
