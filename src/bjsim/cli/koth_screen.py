"""The standings of a contest in the terminal, live and at the end, and as JSON."""

from __future__ import annotations

import time
from contextlib import ExitStack
from typing import Any

from rich.console import Console

from bjsim.bots.contest.comparisons import describe_authors, describe_effect, describe_end, describe_lead
from bjsim.bots.contest.host import Host
from bjsim.bots.contest.journal import Timings
from bjsim.bots.contest.page import write_results
from bjsim.bots.contest.results import row_values
from bjsim.bots.contest.standings import Standings, make_marks
from bjsim.cli.options import counted
from bjsim.cli.render import standings_table
from bjsim.cli.waiting import Waiting, waiting

PAGE_EVERY = 20.0  # least seconds between two versions of the page during a contest
SHOW_EVERY = 0.25  # least seconds between two updates of the live standings
PAUSE = 10  # and the least pause, as a multiple of the time that a page or an update took


class ContestScreen:
    """The live standings."""

    def __init__(self, host: Host, console: Console) -> None:
        self.host = host
        self.opened = ExitStack()
        self.console = console
        self.line = Waiting()
        self.began = now = time.perf_counter()
        self.page_due, self.show_due = now + PAGE_EVERY, now
        self.rounds = host.standings.rounds
        self.moves = sum(host.timings.moves)

    def __enter__(self) -> ContestScreen:
        self.line = self.opened.enter_context(waiting("playing"))
        return self

    def __exit__(self, *exception: object) -> None:
        self.opened.close()

    def update(self, host: Host) -> None:
        """Write the page and update the live standings, if they are due; both take a while with many bots."""
        now = time.perf_counter()
        if now >= self.page_due:
            write_results(host.folder, host.standings, host.page, host.timings)
            self.page_due = next_due(now, PAGE_EVERY)
        if not self.console.is_terminal:
            return
        if now < self.show_due:
            return
        self.line.say(self.headline(now))
        with self.console.capture() as standings:
            self.console.print(fit_table(host.standings, host.timings, self.console.width, self.console.height))
        self.line.below = standings.get()
        self.line.draw()
        self.show_due = next_due(now, SHOW_EVERY)

    def headline(self, now: float) -> str:
        """Matches, speed and time left."""
        standings, contest = self.host.standings, self.host.contest
        total = standings.roster.total
        seconds = max(now - self.began, 1e-9)
        rounds = standings.rounds - self.rounds
        match = min(standings.matches + 1, total)  # the bots that are ahead may wait for others
        parts = [f"match {match} of {total}", f"{rounds / seconds:,.0f} rounds/s"]
        if any(self.host.timings.moves):
            parts.append(f"{(sum(self.host.timings.moves) - self.moves) / seconds:,.0f} moves/s")
        per_match = standings.rounds / max(standings.matches, 1)
        if rounds and standings.matches:
            left = (total * per_match - standings.rounds) * seconds / rounds
            parts.append(f"at most {min(left, contest.seconds - seconds):,.0f} s left")
        return "   ".join(parts)


def next_due(began: float, every: float) -> float:
    """When to repeat a task that took from `began` until now, so that it takes at most a tenth of the time."""
    now = time.perf_counter()
    return now + max(every, PAUSE * (now - began))


def fit_table(standings: Standings, timings: Timings, width: int, rows: int | None = None) -> Any:
    """The standings as a table for a screen of this width; only the first `rows`, if given."""
    languages = [bot["language"] for bot in standings.bots]
    shown = [(row_values(row, timings), languages[row.bot]) for row in standings.rows()[:rows]]
    return standings_table(shown, width, standings.contest.scored_by)


def report(console: Console, standings: Standings, timings: Timings) -> None:
    wide = console if console.is_terminal else Console(stderr=console.stderr, width=max(console.width, 140))
    wide.print(fit_table(standings, timings, wide.width))
    played = counted(standings.matches, "match")
    ended = describe_end(standings)
    text = f"{played}; ended: {ended}" if ended else f"{played} so far, not finished"
    for mark in make_marks(standings) if standings.contest.marks else ():
        score = "" if mark.score is None else f"  {mark.score:+.3f}"
        if mark.low is not None:
            score += f"  (95%: {mark.low:+.3f} to {mark.high:+.3f}, {mark.lowest} to {mark.highest})"
        console.print(f"mark {mark.mark or 'none':5} {mark.bot}{score}", highlight=False, markup=False)
    for row in standings.rows():
        if row.score.retired:
            console.print(f"{row.name} retired {row.score.retired}", highlight=False, markup=False)
    for group in standings.alike():
        *names, last = (standings.names[bot] for bot in group)
        console.print(f"{', '.join(names)} and {last} play identically", highlight=False, markup=False)
    for row in standings.former():
        matches = f"{row.score.matches} matches, {row.chips:.1f} chips"
        console.print(f"left: {row.name} ({row.left} after {matches})", highlight=False, markup=False)
    verdict = "\n".join(
        filter(None, [describe_lead(standings), describe_effect(standings), describe_authors(standings)])
    )
    console.print(f"{text}\n{verdict}", highlight=False, markup=False)


def standings_json(standings: Standings, timings: Timings) -> dict[str, object]:
    former = [{**row_values(row, timings), "left": row.left} for row in standings.former()]
    return {
        "matches": standings.matches,
        "ended": standings.end["reason"] if standings.end else None,
        "decided": standings.decided,
        "standings": [row_values(row, timings) for row in standings.rows()],
        "former": former,
    }
