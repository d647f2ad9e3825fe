"""Volunteers: they play some matches of a contest into a file, its part.

Parts are verified, asked again in a sample, and then counted as if the host had played them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from random import Random, SystemRandom
from typing import Any, NamedTuple

from bjsim.bots.contest.config import HOUSE, Contest
from bjsim.bots.contest.entrants import Entrant, EntrantError, opened
from bjsim.bots.contest.host import Host
from bjsim.bots.contest.play import admission
from bjsim.bots.contest.play import journal as journals
from bjsim.bots.contest.play.match import Record
from bjsim.bots.contest.play.parts import ContestPart, Key, PartRounds, disjoint, tables
from bjsim.bots.contest.play.second_answers import SecondAnswers
from bjsim.bots.contest.play.workers import Workers
from bjsim.bots.contest.schedule.roster import Roster
from bjsim.bots.contest.schedule.seating import TablePlan
from bjsim.errors import InputError

ASKED = 0.05  # share of the tables


def check_divisible(contest: Contest) -> None:
    """Check that the matches of a contest can be played apart. Raises: InputError."""
    for name, value, works in (
        ("retire", contest.retire, not contest.retire),
        ("lives", contest.lives, contest.lives == "match"),
        ("until", contest.until, contest.until in ("", "decided")),
    ):
        if not works:
            use = {"retire": "0", "lives": "match", "until": "decided, or leave it out"}[name]
            raise InputError(
                f"{name} = {value}: what volunteers play apart cannot depend on earlier matches; use {use}"
            )


def play_part(
    contest: Contest,
    entrants: Sequence[Entrant],
    matches: tuple[int, int],
    path: Path,
    workers: int = 1,
    sandbox: str = "required",
    on_round: Callable[[int], object] = lambda rounds: None,
) -> int:
    """Play the first to the last of `matches` (from 1) into a file, or continue it; return how many rounds."""
    check_divisible(contest)
    if not 1 <= matches[0] <= matches[1] <= contest.matches:
        raise InputError(f"matches {matches[0]}:{matches[1]} are not accepted; use 1:{contest.matches} or some of them")
    houses = admission.house_players(contest)
    admission.check_programs([*entrants, *houses], contest, sandbox)
    header = {**admission.make_header(contest, entrants, houses), "part": [*matches]}
    journal, before = journals.Journal.of_part(path, header)
    done = defaultdict[Key, list[Record]](list)
    for record in before:
        done[record.get("own"), record["match"], record["table"]].append(record)
    count = sum(map(len, done.values()))
    players = {**dict(enumerate(entrants)), **{HOUSE - n: house for n, house in enumerate(houses)}}

    def found(plan: TablePlan) -> list[Record]:
        return done[plan.own, plan.match, plan.table]

    try:
        with Workers(contest, players, workers, sandbox, found, journal.close, journal.sync) as played:
            for _, rounds in played.tables(tables(Roster(header), *matches)):
                for record, _ in rounds:
                    journal.append(record)
                    count += 1
                    on_round(count)
    finally:
        journal.sync()
        journal.close()
    return count


class Verified(NamedTuple):
    """What was confirmed: the `rounds` whose cards, bets and chips were replayed.

    `same` has, by name of a bot, the rounds in which it was asked again and answered the same, `random` the names
    of those that answer at random, `missing` the first match that no part has, from 1, or None.
    """

    rounds: int
    same: dict[str, int]
    random: list[str]
    missing: int | None


def merge_parts(
    host: Host,
    paths: Sequence[Path],
    share: float = ASKED,
    chooses: Random | None = None,
    on_part: Callable[[ContestPart], object] = lambda part: None,
    on_round: Callable[[Host], None] = lambda host: None,
) -> Verified:
    """Verify the parts of a contest, in any order, then count them as far as they follow one another.

    The resumed `host` is closed at the end. The bots are asked again in a `share` of the tables, chosen
    unpredictably by default. At an InputError, such as for a damaged or forged part, nothing is counted.
    """
    try:
        contest, header, roster = host.contest, next(journals.read(host.folder)), host.roster
        check_divisible(contest)
        if roster.left or len(roster.bots) > len(header["bots"]):
            raise EntrantError("bots have joined or left since the contest began, so volunteers cannot play it")
        parts = [ContestPart.read(path) for path in paths]
        disjoint(parts)
        for part in parts:
            on_part(part)
            part.check(header)
        with ExitStack() as stack:
            numbers = [*range(len(host.entrants)), *(HOUSE - n for n in range(len(contest.field)))]
            options: dict[str, Any] = {"sandbox": host.sandbox, "timeout": contest.timeout, "cold": contest.cold}
            entrants = [*host.entrants, *admission.house_players(contest)]
            players = dict(zip(numbers, stack.enter_context(opened(entrants, contest.rules, **options)), strict=True))

            def name_of(bot: int) -> str:
                return host.entrants[bot].name if bot > HOUSE else f"the house player {contest.field[HOUSE - bot]}"

            again = SecondAnswers(contest, players.get, name_of, share, chooses or SystemRandom())
            for part in parts:
                on_part(part)
                again.check(part)
        if not host.standings.end:
            adjusters = host.adjusters
            index = adjusters.luck_model.state_index if adjusters is not None else None
            host.count_rounds(PartRounds(contest, parts, index, host.rounds_of), on_round)
    finally:
        host.close()
    rounds = sum(len(table) for part in parts for table in part.rounds.values())
    same = {name_of(bot): count for bot, count in sorted(again.same.items())}
    missing = None if host.standings.end else host.roster.matches // host.roster.batch_size + 1
    return Verified(rounds, same, sorted(map(name_of, again.random)), missing)
