"""What worker processes compute for the pages, as fragments of reports, and the processes."""

from __future__ import annotations

import asyncio
import shlex
import signal
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from multiprocessing import get_context
from typing import NamedTuple

from bjsim.cli.check import cell_table, cost_lines
from bjsim.cli.check_page import report_check
from bjsim.cli.options import the_rules
from bjsim.cli.pages import render_report, rules_part
from bjsim.cli.solve import find_tables
from bjsim.cli.solve_page import report_solved
from bjsim.cli.solve_shoe import InShoe, read_hand
from bjsim.errors import InputError, shorten
from bjsim.report import Code, Figures, Notes, Report, Section, TextTable
from bjsim.sim.game.actions import NAMES
from bjsim.sim.game.game_text import game_text
from bjsim.sim.game.presets import PRESETS
from bjsim.sim.game.rules import Rules
from bjsim.strategies.evaluation.best import in_its_shoe
from bjsim.strategies.evaluation.evaluate import evaluate_chart
from bjsim.strategies.formats.files import WRITERS, detect_format, read_with_notes
from bjsim.strategies.tabular import percent

SECONDS = 60  # a job may take
WAITING = 8  # jobs of a pool in progress or waiting


class ChosenGame(NamedTuple):
    """A game as an address holds it: a preset and changes of its rules."""

    preset: str
    settings: tuple[str, ...]

    def rules(self) -> Rules:
        """The game. Raises: InputError: It is not accepted; files are not read."""
        if self.preset not in PRESETS:
            raise InputError(f"no game is called {shorten(self.preset)}")
        return the_rules(self.preset, self.settings)

    def command(self, *words: str) -> str:
        """The command line of `bjsim` with these words for this game."""
        given = [word for setting in self.settings for word in ("--set", setting)]
        return shlex.join(["bjsim", *words, "--rules", self.preset, *given])


def game_report(asked: ChosenGame) -> str:
    """The report of a game, as `bjsim solve --html` has it, with the standard deviation."""
    rules = asked.rules()
    tables = find_tables(rules, (), False, InShoe(None, None, None))
    report = report_solved(tables, game_text(rules, None), asked.command("solve"))
    with suppress(InputError):  # a game may have no exact one
        deviation = ("standard deviation of a round", f"{tables.solution.sd:.6f} bets")
        report = report._replace(parts=[Figures([*report.parts[0].entries, deviation]), *report.parts[1:]])
    return _fragment(report)


def value_change(asked: ChosenGame, setting: str) -> str:
    """What one more change of a rule costs or gains, in percent of the bet; text if the change is not accepted."""
    changed = asked._replace(settings=(*asked.settings, setting)).rules()
    return f"{100 * float(in_its_shoe(changed).value - in_its_shoe(asked.rules()).value):+.4f}%"


def hand_report(asked: ChosenGame, hand: str) -> str:
    """The values of every action of a hand, as `bjsim solve --hand` prints them."""
    rules = asked.rules()
    cards, shown = read_hand(hand, rules)
    values = find_tables(rules, (), False, InShoe(None, None, hand)).hand_values(cards, shown)
    letters = [letter for letter in "SHDPR" if all(letter in ev for ev in values.values())]
    rows = [
        [name, *(f"{float(ev[letter]):+.9f}" for letter in letters), NAMES[max(letters, key=ev.__getitem__)]]
        for name, ev in values.items()
    ]
    headings = ["followed by", *(NAMES[letter] for letter in letters), "best"]
    parts = [
        Notes(["Expected profit in initial bets, given that no natural of the dealer has ended the round."]),
        TextTable("values", headings, rows),
    ]
    command = asked.command("solve", "--hand", hand)
    return _fragment(Report(f"{cards} against {shown}", [game_text(rules)], command, rules_part([rules]), parts))


def chart_report(asked: ChosenGame, text: str) -> str:
    """A pasted chart: what was understood, its wrong cells with their costs, and the best chart to copy."""
    read = read_with_notes(text, "chart.txt", asked.rules())
    evaluation = evaluate_chart(read.chart)
    command = asked.command("check", "chart.txt", "--hands", "0")
    report = report_check(
        evaluation, None, [], cell_table(evaluation, evaluation.cells), cost_lines(evaluation), command
    )
    corrected = WRITERS[detect_format(text)](evaluation.best_chart)
    difference = percent(evaluation.difference, 4)
    notes = [Notes(read.notes, small=True)] if read.notes else []
    after = [Section(f"The best chart, which is better by {difference} of the bet"), Code(corrected)]
    return _fragment(report._replace(parts=[*notes, *report.parts, *after]))


def _fragment(report: Report) -> str:
    return render_report(report).partition("<main>")[2].partition("</main>")[0]


def _answer(job: Callable[..., str], arguments: Sequence[object]) -> tuple[int, str]:
    try:
        return 200, job(*arguments)
    except InputError as error:
        return 422, str(error)


def _start() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C ends the server, which ends its workers


class JobProcess:
    """A worker process with a bounded queue. One that is killed, or takes too long, is replaced."""

    def __init__(self) -> None:
        self._waiting = 0
        self._pool = self._new()

    def _new(self) -> ProcessPoolExecutor:
        return ProcessPoolExecutor(1, mp_context=get_context("spawn"), initializer=_start)

    async def run(self, job: Callable[..., str], *arguments: object) -> tuple[int, str]:
        """Run a job. Returns: the status and the text of the answer."""
        if self._waiting >= WAITING:
            return 503, "too much is asked at once; try again in a moment"
        self._waiting += 1
        pool = self._pool
        try:
            future = pool.submit(_answer, job, arguments)
            return await asyncio.wait_for(asyncio.wrap_future(future), SECONDS)
        except TimeoutError:
            self._replace(pool)
            return 503, f"stopped: it took more than {SECONDS} s"
        except BrokenProcessPool:
            self._replace(pool)
            return 503, "the process that computes was ended; a new one is there, so try again"
        finally:
            self._waiting -= 1

    def _replace(self, pool: ProcessPoolExecutor) -> None:
        if pool is self._pool:
            self.close()
            self._pool = self._new()

    def close(self) -> None:
        """End the process, whatever it computes."""
        for process in list((self._pool._processes or {}).values()):
            process.kill()
        self._pool.shutdown(wait=False, cancel_futures=True)
