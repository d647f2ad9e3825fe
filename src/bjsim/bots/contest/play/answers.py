"""Asks the players of a contest again, and compares their answers with the moves in the journal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

from bjsim.bots.contest.config import HOUSE
from bjsim.bots.contest.entrants import IN_PROCESS, Entrant, bots_in_folder
from bjsim.bots.contest.play.match import Record, ReplayMismatch, TableDealer, replay_round
from bjsim.bots.contest.schedule.roster import Roster
from bjsim.bots.sandbox.languages import BuildError
from bjsim.bots.turn import Turn
from bjsim.sim.game.actions import View
from bjsim.strategies.players.catalogue import CATALOGUE

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
