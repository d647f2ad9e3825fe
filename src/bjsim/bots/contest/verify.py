"""Verify a contest: replay its whole journal with the recorded moves."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from itertools import islice
from pathlib import Path
from typing import Any

from bjsim.bots.contest import journal as journals
from bjsim.bots.contest.config import HOUSE
from bjsim.bots.contest.entrants import IN_PROCESS, Entrant, bots_in_folder
from bjsim.bots.contest.luck.adjust import SeriesAdjusters, match_record
from bjsim.bots.contest.luck.draw_log import DrawLogger
from bjsim.bots.contest.match import Record, ReplayMismatch, TableDealer, replay_round
from bjsim.bots.contest.schedule import Owner, Roster, TablePlan
from bjsim.bots.contest.standings import Standings
from bjsim.bots.sandbox.languages import BuildError
from bjsim.bots.turn import Turn
from bjsim.errors import InputError
from bjsim.sim.game.actions import View
from bjsim.strategies.players.catalogue import CATALOGUE

# --- Asks the players of a contest again, and compares their answers with the moves in the journal.


AGAIN = 20  # times that a bot is asked whose answer differs, since it may be random
Ask = Callable[[View], str | None]


class Answers:
    """Asks again every strategy of the catalogue, and every program of a folder that is started for each move.

    Use it as a context manager. The bots of the folder are found by SHA-256. A program that answers the same
    question differently is not compared. `same` counts the moves that were made again, by name of the bot;
    `random` has bots that answer at random, `unasked` other bots that made moves.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder
        self._found: dict[str, Entrant] | None = None
        self._asks: dict[int, Ask | None] = {}
        self._stack = ExitStack()
        self.same: Counter[str] = Counter()
        self.random: set[str] = set()
        self.unasked: set[str] = set()

    def __enter__(self) -> Answers:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def replay(self, roster: Roster, dealer: TableDealer, record: Record) -> None:
        """Replay a round, and ask for its moves again. Raises: ReplayMismatch at another answer."""
        bots = [dealer.plan.bots[position] for position in dealer.paying]
        for move in replay_round(dealer, record):
            if move.own:
                self._compare(roster, bots[move.seat], move.view, move.text, record)

    def _compare(self, roster: Roster, bot: int, view: View, recorded: str, record: Record) -> None:
        name = roster.bots[bot]["name"] if bot > HOUSE else roster.contest.field[HOUSE - bot]
        if bot not in self._asks:
            self._asks[bot] = self._chart(roster, bot) or self._program(roster, bot)
        ask = self._asks[bot]
        answer = ask(view) if ask and name not in self.random else None
        if ask is None or answer is None:
            self.unasked.add(name)
        elif answer == recorded:
            self.same[name] += 1
        elif any(ask(view) != answer for _ in range(AGAIN)):
            self.random.add(name)
        else:
            where = f"match {record['match'] + 1}, table {record['table'] + 1}"
            raise ReplayMismatch(
                f"{where}: {name} plays {answer} with {view.hand} against {view.dealer}, but {recorded} is recorded"
            )

    def _chart(self, roster: Roster, bot: int) -> Ask | None:
        """How a strategy of the catalogue answers; None for other players."""
        source = roster.bots[bot]["source"] if bot > HOUSE else roster.contest.field[HOUSE - bot]
        if source not in CATALOGUE or (bot > HOUSE and roster.bots[bot]["language"] != IN_PROCESS):
            return None
        chart = CATALOGUE[source].chart(roster.contest.rules)
        return lambda view: str(chart.decide(view))

    def _program(self, roster: Roster, bot: int) -> Ask | None:
        """How a program of the folder answers; None for line bots, which remember, and for those that it lacks."""
        if self._folder is None or bot <= HOUSE:
            return None
        from bjsim.bots.player import open_bot

        if self._found is None:
            found = bots_in_folder(self._folder, roster.contest.rules)
            self._found = {entrant.sha256: entrant for entrant in found if entrant.timed and entrant.protocol == "argv"}
        entrant = self._found.get(roster.bots[bot]["sha256"])
        if entrant is None:
            return None
        try:
            player = open_bot(entrant.source, sandbox="required", timeout=roster.contest.timeout)
        except BuildError:
            return None
        self._stack.callback(player.close)
        turn = Turn(player)

        def ask(view: View) -> str | None:
            answer = turn.take(view)
            return str(answer.action) if answer.reply and not answer.fault else None

        return ask


LUCK_TOLERANCE = 2e-6  # chips


def verify(folder: Path, answers: Answers | None = None) -> tuple[int, Standings]:
    """Replay a contest with the recorded moves, and ask players again; return rounds confirmed and standings.

    `answers` asks only the strategies of the catalogue by default. A ReplayMismatch names the first difference.
    """
    number = -1
    try:
        for number, confirmed in enumerate(_confirmed(folder, answers or Answers())):  # noqa: B007 - the number is used after an error
            pass
    except InputError:
        raise
    except (LookupError, TypeError, ValueError) as error:  # a journal with correct CRCs, but invalid records
        raise ReplayMismatch(f"record {number + 1} is not valid: {type(error).__name__}: {error}") from None
    return confirmed


def _confirmed(folder: Path, answers: Answers) -> Iterator[tuple[int, Standings]]:
    """After the header and each record: rounds confirmed so far, and the standings."""
    records = journals.read(folder)
    replay = _ContestReplay(next(records), answers)
    yield replay.rounds, replay.standings
    for number, record in enumerate(records, 1):
        replay.confirm(number, record)
        yield replay.rounds, replay.standings


class _ContestReplay:
    """Replays the records of a journal in order."""

    def __init__(self, header: dict[str, Any], answers: Answers) -> None:
        self.answers = answers
        self.standings = Standings(header)
        self.rounds = 0
        self.roster = self.standings.roster
        self.adjusters = SeriesAdjusters(self.roster) if self.standings.luck_adjusted else None
        self._founders = self.roster.founders_matches()
        self._shared: list[TablePlan] = []  # the founders' current match
        self._shared_match = -1
        self._tables: dict[Owner, list[TableDealer]] = {}  # of the unfinished match of each series

    def confirm(self, number: int, record: Record) -> None:
        kind = record["record"]
        if self.standings.closed or (self.standings.end and kind not in ("change", "close")):
            raise ReplayMismatch(f"record {number} follows the end")
        if kind == "round":
            self._round(number, record)
        elif kind == "match":
            self._match(number, record)
        elif kind == "change":
            check_change(record, number, self.roster)
            for owner in self.roster.voided(record):
                self._tables.pop(owner, None)
        elif kind == "retire":
            if record not in self.standings.retiring():
                raise ReplayMismatch(f"record {number} retires a bot that still answers: {record}")
        elif kind != "close" or not self.standings.end:
            check_end(record, number, self.standings, bool(self._tables))
        self.standings.add(record)

    def _round(self, number: int, record: Record) -> None:
        owner = record.get("own")
        if owner not in self._tables:
            self._tables[owner] = self._open(number, owner)
        dealer = next((dealer for dealer in self._tables[owner] if dealer.plan.table == record["table"]), None)
        if dealer is None:
            raise ReplayMismatch(f"record {number}: match {record['match'] + 1} has no table {record['table'] + 1}")
        if (dealer.plan.match, dealer.plan.shoe) != (record["match"], record["shoe"]):
            raise ReplayMismatch(f"record {number} belongs to match {record['match'] + 1}, not {dealer.plan.match + 1}")
        self.answers.replay(self.roster, dealer, record)
        self.rounds += 1

    def _open(self, number: int, owner: Owner) -> list[TableDealer]:
        contest, roster = self.standings.contest, self.roster
        if owner not in roster.series():
            raise ReplayMismatch(f"record {number}: bot {owner} has no matches of its own")
        match = roster.played[owner]
        if owner is not None:
            plans = roster.own_match(owner, match)
        else:
            if match > self._shared_match:  # otherwise it is played again, because a founder has left
                self._shared = next(islice(self._founders, match - self._shared_match - 1, None))
                self._shared_match = match
            plans = roster.without_left(self._shared)
        index = self.adjusters.luck_model.state_index if self.adjusters is not None else None
        return [TableDealer(contest, plan, DrawLogger(contest.rules, index) if index else None) for plan in plans]

    def _match(self, number: int, record: Record) -> None:
        owner = record.get("own")
        tables = self._tables.pop(owner, None)
        if not tables or record["match"] != self.roster.played[owner]:
            raise ReplayMismatch(f"record {number} ends match {record['match'] + 1}, which is not being played")
        if unfinished := [dealer.plan.table + 1 for dealer in tables if not dealer.over]:
            raise ReplayMismatch(f"match {record['match'] + 1} ends before its table {unfinished[0]}")
        logs = [dealer.draw_logger.draw_log() for dealer in tables if dealer.draw_logger]
        adjuster = self.adjusters[owner] if self.adjusters is not None else None
        if not same_luck(match_record(record["match"], adjuster, logs, owner), record):
            raise ReplayMismatch(f"the recorded luck of match {record['match'] + 1} differs")


def check_change(record: Record, number: int, roster: Roster) -> None:
    """Check that the bots and matches may change so. Raises: ReplayMismatch."""
    leave = record["leave"]
    staying = {roster.bots[bot]["name"] for bot in roster.present if bot not in leave}
    names = [bot["name"] for bot in record["join"]]
    versions = [bot["version"] == roster.version_of(bot["name"]) for bot in record["join"]]
    if (
        not set(leave) <= set(roster.present)
        or len({*leave}) < len(leave)
        or len(staying | set(names)) < len(staying) + len(names)
        or not all(versions)
        or record.get("matches", roster.contest.matches) < roster.contest.matches
    ):
        raise ReplayMismatch(f"record {number} is not a possible change: {record}")


def check_end(record: Record, number: int, standings: Standings, playing: bool) -> None:
    """Raise ReplayMismatch if a contest cannot end with this record; its playing time cannot be checked.

    A match can be unfinished (`playing`) only if bots that joined are behind.
    """
    contest, roster = standings.contest, standings.roster
    ends = {
        "decided": contest.until == "decided" and standings.decided,
        "matches": roster.finished,
        "time": contest.seconds < math.inf,
    }
    unfinished = playing and len(roster.bots) == roster.founders
    if record["record"] != "end" or unfinished or record["matches"] != standings.matches or not ends[record["reason"]]:
        raise ReplayMismatch(f"record {number} cannot follow after {standings.matches} matches: {record}")


def same_luck(one: Record, other: Record) -> bool:
    """Whether two records of a match agree in its luck, up to rounding.

    Another processor may add the same numbers in another order.
    """
    sums, others = one.get("luck", []), other.get("luck", [])
    return (
        one.get("learned") == other.get("learned")
        and len(sums) == len(others)
        and all(
            len(a) == len(b) and all(abs(x - y) <= LUCK_TOLERANCE for x, y in zip(a, b, strict=True))
            for a, b in zip(sums, others, strict=True)
        )
    )
