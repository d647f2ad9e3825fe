"""Verify a contest: replay its whole journal with the recorded moves."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

from bjsim.bots.contest.config import Contest
from bjsim.bots.contest.luck.adjust import make_adjuster, match_record
from bjsim.bots.contest.luck.draw_log import DrawLogger
from bjsim.bots.contest.play import journal as journals
from bjsim.bots.contest.play.match import Record, ReplayMismatch, TableDealer, replay_round
from bjsim.bots.contest.schedule.seating import schedule
from bjsim.bots.contest.scoring.standings import Standings
from bjsim.errors import InputError

LUCK_TOLERANCE = 2e-6  # chips


def verify(folder: Path) -> tuple[int, Standings]:
    """Replay the journal of a contest with the recorded moves.

    Args:
        folder: The contest's folder.

    Returns:
        The number of rounds confirmed, and the standings.

    Raises:
        JournalError: The journal is missing or damaged.
        ReplayMismatch: A round or record differs. The message names the first one.
    """
    number = -1
    try:
        for number, confirmed in enumerate(_confirmed(folder)):  # noqa: B007 - the number is used after an error
            pass
    except InputError:
        raise
    except (LookupError, TypeError, ValueError) as error:  # a journal with correct CRCs, but invalid records
        raise ReplayMismatch(f"record {number + 1} is not valid: {type(error).__name__}: {error}") from None
    return confirmed


def _confirmed(folder: Path) -> Iterator[tuple[int, Standings]]:
    """After the header and each record: rounds confirmed so far, and the standings."""
    records = journals.read(folder)
    header = next(records, None)
    if header is None:
        raise journals.JournalError(f"the journal in {folder} is empty")
    contest = Contest.from_dict(header["contest"])
    standings = Standings(header)
    adjuster = make_adjuster(contest, len(header["bots"])) if standings.luck_adjusted else None
    plans = schedule(len(header["bots"]), contest.duplicate, bool(contest.house))
    tables: list[TableDealer] = []
    rounds = 0
    yield rounds, standings
    for number, record in enumerate(records, 1):
        if standings.end:
            raise ReplayMismatch(f"record {number} follows the end")
        if record["record"] == "round":
            if not tables:
                index = adjuster.luck_model.state_index if adjuster else None
                tables = [
                    TableDealer(contest, plan, DrawLogger(contest.rules, index) if index else None)
                    for plan in next(plans)
                ]
            dealer = tables[record["table"]]
            if (dealer.plan.match, dealer.plan.shoe) != (record["match"], record["shoe"]):
                raise ReplayMismatch(
                    f"record {number} belongs to match {record['match'] + 1}, not {dealer.plan.match + 1}"
                )
            replay_round(dealer, record)
            rounds += 1
        elif record["record"] == "match":
            if not tables or record["match"] != standings.matches:
                raise ReplayMismatch(f"record {number} ends match {record['match'] + 1}, which is not being played")
            if unfinished := [dealer.plan.table + 1 for dealer in tables if not dealer.over]:
                raise ReplayMismatch(f"match {record['match'] + 1} ends before its table {unfinished[0]}")
            logs = [dealer.draw_logger.draw_log() for dealer in tables if dealer.draw_logger]
            if not same_luck(match_record(record["match"], adjuster, logs), record):
                raise ReplayMismatch(f"the recorded luck of match {record['match'] + 1} differs")
            tables = []
        else:
            check_end(record, number, standings, bool(tables))
        standings.add(record)
        yield rounds, standings


def check_end(record: Record, number: int, standings: Standings, playing: bool) -> None:
    """Check that a contest may end with this record; its playing time cannot be checked.

    Args:
        record: The record.
        number: Its number in the journal.
        standings: The standings before it.
        playing: Whether a match is unfinished.

    Raises:
        ReplayMismatch: The contest cannot end here.
    """
    contest = standings.contest
    ends = {
        "decided": contest.until == "decided" and standings.decided,
        "matches": standings.matches >= contest.matches,
        "time": contest.seconds < math.inf,
    }
    if record["record"] != "end" or playing or record["matches"] != standings.matches or not ends[record["reason"]]:
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
