"""What worker processes compute for the pages: fragments of reports."""

from __future__ import annotations

import math
import shlex
from typing import NamedTuple

from bjsim.cli.check import cell_table, cost_lines
from bjsim.cli.check_page import report_check
from bjsim.cli.options import the_rules
from bjsim.cli.pages import render_report, rules_part
from bjsim.cli.solve_page import details_part, report_best, value_figure
from bjsim.cli.solve_shoe import best_letters, legal_letters, read_hand
from bjsim.errors import InputError, shorten
from bjsim.report import Code, Figures, Notes, Report, Section, TextTable
from bjsim.sim.game.actions import NAMES
from bjsim.sim.game.game_text import game_text
from bjsim.sim.game.presets import PRESETS
from bjsim.sim.game.rules import Rules
from bjsim.strategies.evaluation.best import in_its_shoe
from bjsim.strategies.evaluation.evaluate import evaluate_chart
from bjsim.strategies.evaluation.valued_chart import ValuedChart
from bjsim.strategies.formats.files import WRITERS, detect_format, read_with_notes
from bjsim.strategies.tabular import percent

DEVIATION = "standard deviation of a round"
STRATEGIES_NOTE = (
    "td plays by a chart of totals; td-2c has exceptions for two cards; cdz-, cdp1 and cdp use all cards of the hand, "
    "and differ in what they know after a split."
)


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
        given = [word for setting in self.settings for word in ("--set", setting)]
        return shlex.join(["bjsim", *words, "--rules", self.preset, *given])


def game_report(asked: ChosenGame) -> str:
    """The value and the best chart of a game, as `bjsim solve --html` has them: what is computed at once."""
    solution = in_its_shoe(asked.rules())
    chart, game = ValuedChart.of_best(solution), game_text(solution.rules)
    report = report_best(solution, chart, value_figure(solution), game, asked.command("solve"))
    deviation = (DEVIATION, "…")  # filled in with the details
    return fragment(report._replace(parts=[Figures([*report.parts[0].entries, deviation]), *report.parts[1:]]))


def game_details(asked: ChosenGame) -> str:
    """What is computed after the best chart: the standard deviation, the closest decisions, the dealer's outcomes."""
    solution = in_its_shoe(asked.rules())
    try:
        deviation = f"{solution.sd:.6f} bets"
    except InputError:
        deviation = "not computed exactly"
    parts = [Figures([(DEVIATION, deviation)]), details_part(ValuedChart.of_best(solution))]
    return fragment(Report("", [], "", [], parts))


def value_change(asked: ChosenGame, setting: str) -> str:
    """What one more change of a rule costs or gains, in percent of the bet; text if the change is not accepted."""
    changed = asked._replace(settings=(*asked.settings, setting)).rules()
    difference = float(in_its_shoe(changed).value) - float(in_its_shoe(asked.rules()).value)
    if not math.isfinite(difference):
        raise InputError("the value is infinite")
    return percent(difference, 4)


def hand_report(asked: ChosenGame, hand: str) -> str:
    """The values of every action of a hand, as `bjsim solve --hand` prints them."""
    rules = asked.rules()
    cards, shown = read_hand(hand, rules)
    values = in_its_shoe(rules).values_by_strategy(cards, shown)
    letters, best = legal_letters(values), best_letters(values)
    rows = [
        [name, NAMES[best[name]], *(f"{float(ev[letter]):+.9f}" for letter in letters)] for name, ev in values.items()
    ]
    headings = ["followed by", "best", *(NAMES[letter] for letter in letters)]
    first = next(iter(values))
    profit = float(values[first][best[first]])
    parts = [
        Figures([("best action", f"{NAMES[best[first]]} ({profit:+.6f})")]),
        Notes(["Expected profit in initial bets, given that no natural of the dealer has ended the round."]),
        TextTable("values", headings, rows),
        Notes([] if asked.rules().infinite else [STRATEGIES_NOTE], small=True),
    ]
    command = asked.command("solve", "--hand", hand)
    return fragment(Report(f"{cards} against {shown}", [game_text(rules)], command, rules_part([rules]), parts))


def chart_report(asked: ChosenGame, text: str) -> str:
    """A pasted chart: what was understood, its wrong cells with their costs, and the best chart to copy."""
    read = read_with_notes(text, "chart.txt", asked.rules())
    evaluation = evaluate_chart(read.chart)
    command = asked.command("check", "chart.txt", "--hands", "0")
    report = report_check(
        evaluation, None, [], cell_table(evaluation, evaluation.cells), cost_lines(evaluation), command
    )
    corrected = WRITERS[detect_format(text)](evaluation.best_chart)
    difference = f"{100 * float(evaluation.difference):.4f}%"
    notes = [Notes(read.notes, small=True)] if read.notes else []
    after = [Section(f"The best chart, which is better by {difference} of the bet"), Code(corrected)]
    return fragment(
        report._replace(title=f"Your chart in {evaluation.chart.rules.name}", parts=[*notes, *report.parts, *after])
    )


def fragment(report: Report) -> str:
    return render_report(report).partition("<main>")[2].partition("</main>")[0]
