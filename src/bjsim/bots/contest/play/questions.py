"""What the bots at a table were asked at every move. It is not stored: the rounds are replayed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bjsim.bots.contest.config import Contest
from bjsim.bots.contest.entrants import Entrant
from bjsim.bots.contest.play.match import Record, TableDealer, capped_positions, replay_round
from bjsim.bots.contest.schedule.seating import TablePlan
from bjsim.bots.line import Clock, Transcript, fault_line, hello_line, match_line, move_line, rules_line
from bjsim.bots.protocol import make_argv, printable
from bjsim.bots.turn import can_ask
from bjsim.sim.game.actions import View


@dataclass(frozen=True)
class Asked:
    """A question to a bot, and its answer; `round` counts from 0.

    Attributes:
        sent: Of a line bot: the lines sent to it since its last question, as to a process that lives for the whole
            match. A process that replaces another also receives all earlier lines.
        asked: The line `move`, without the bank, which is not recorded; or the arguments of a bot that is started
            for every move.
        answer: Its move and note; at a fault what it printed.
        fault: The kind of fault, and after a colon the details; empty without one.
    """

    round: int
    bot: int
    position: int
    sent: Sequence[str]
    asked: str
    answer: str
    fault: str

    @property
    def text(self) -> str:
        """The question as lines with `>`, its answer as one with `<`, and a fault as one with `!`."""
        lines = [*(f"> {line}" for line in (*self.sent, self.asked)), f"< {self.answer}"]
        return "\n".join(map(printable, [*lines, *([f"! {self.fault}"] if self.fault else [])]))


def questions(contest: Contest, records: Iterable[Record], protocols: Sequence[str]) -> Iterator[Asked]:
    """The questions to the programs at one table of a match, in the order of play; `records` are its rounds.

    `protocols` has, for each bot by its number, then for the house, `argv`, `line`, or "" for no program.
    """
    table: _Table | None = None
    for record in records:
        table = table or _Table(contest, record, protocols)
        yield from table.replay(record)


class _Table:
    """Replays the rounds of a table, and keeps the lines for its line bots. first: the record of its first round."""

    def __init__(self, contest: Contest, first: Record, protocols: Sequence[str]) -> None:
        plan = TablePlan(first["match"], first["table"], first["shoe"], tuple(first["seats"]), first.get("own"))
        self.contest, self.protocols = contest, protocols
        self.dealer = TableDealer(contest, plan, None)
        self.dealer.transcript = self.transcript = Transcript(contest.rules)
        rounds, seats = contest.sessions * contest.hands, len(plan.bots)
        opening = [hello_line(Clock.within(contest.timeout)), rules_line(contest.rules)]
        self.unsent = {
            position: [*opening, match_line(seats, position, contest.rules.chips, rounds)] for position in range(seats)
        }
        self.seen = dict.fromkeys(range(seats), 0)  # lines of the transcript

    def replay(self, record: Record) -> Iterator[Asked]:
        number, positions = self.dealer.round, self.dealer.paying
        for move in replay_round(self.dealer, record):
            position, fault = positions[move.seat], move.fault
            bot = self.dealer.plan.bots[position]
            protocol = self.protocols[bot]
            if move.strikes > 0 and protocol and can_ask(move.view, protocol == "line"):
                sent, asked = self._ask(position, move.view)
                answer = fault["stdout"] if fault else f"{move.text} {move.note}"
                what = f"{fault['kind']}: {fault['detail']}" if fault else ""
                yield Asked(number, bot, position, sent, asked, answer.strip(), what)
            if fault:
                self._add_fault(position, fault["kind"], move.strikes - 1)
        for position in capped_positions(record):
            self._add_fault(position, "move-cap", self.dealer.strikes[position])

    def _ask(self, position: int, view: View) -> tuple[list[str], str]:
        if self.protocols[self.dealer.plan.bots[position]] != "line":
            return [], " ".join(make_argv(view))
        self._copy_lines(position)
        sent, self.unsent[position] = self.unsent[position], []
        return sent, move_line(view, self.transcript.hand_in_play(position))

    def _copy_lines(self, position: int) -> None:
        self.transcript.update()
        self.unsent[position] += self.transcript.lines[self.seen[position] :]
        self.seen[position] = len(self.transcript.lines)

    def _add_fault(self, position: int, kind: str, strikes: int) -> None:
        self._copy_lines(position)
        self.unsent[position].append(fault_line(kind, strikes))


def protocol_of(bot: Mapping[str, Any]) -> str:
    """The protocol of a bot in the journal's header; empty for a player that is not a program."""
    entrant = Entrant.from_dict(bot)
    return entrant.protocol if entrant.timed else ""


def protocols(header: Mapping[str, Any]) -> list[str]:
    """The protocol of each bot and, at the end, of house players; empty for a player that is not a program."""
    houses = header["against"] or [header["house"]]
    return [protocol_of(bot) if bot else "" for bot in [*header["bots"], *reversed(houses)]]
