"""What worker processes compute for the pages: fragments of reports."""

import math
import re
import shlex
from contextlib import suppress
from functools import lru_cache
from typing import Any, NamedTuple

from bjsim.cli.check import cell_table, cost_lines, report_check
from bjsim.cli.options import the_rules
from bjsim.cli.pages import render_report, rules_part
from bjsim.cli.solve import (
    best_letters,
    details_part,
    exceptions_part,
    game_lines,
    legal_letters,
    read_hand,
    report_best,
    value_figure,
)
from bjsim.errors import InputError, shorten
from bjsim.report import Code, Figures, Folded, Notes, Report, Section, TextTable
from bjsim.sim.game.actions import NAMES
from bjsim.sim.game.cards import RANKS
from bjsim.sim.game.events import game_text
from bjsim.sim.game.presets import PRESETS
from bjsim.sim.game.rules import Rules
from bjsim.strategies.evaluation.compare import evaluate_chart, solve
from bjsim.strategies.evaluation.valued_chart import ValuedChart
from bjsim.strategies.formats.files import WRITERS, read_with_notes
from bjsim.strategies.shoe.exchange import exchange_values
from bjsim.strategies.shoe.solver import ShoeSolver, ShoeTables
from bjsim.strategies.sidebets.bets import built_in
from bjsim.strategies.sidebets.exact import sidebet
from bjsim.strategies.tabular import percent

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
    solution = solve(asked.rules())
    chart, game = ValuedChart.of_best(solution), game_text(solution.rules)
    report = report_best(solution, chart, value_figure(solution), game, asked.command("solve"))
    change = "unchanged"
    if asked.settings:
        change = _change(asked._replace(settings=()), asked)
    more = [(f"compared with {asked.preset}", change), ("standard deviation of a round", "…")]  # the page asks for it
    return fragment(report._replace(parts=[Figures([*report.parts[0].entries, *more]), *report.parts[1:]]))


def deviation(asked: ChosenGame) -> str:
    """The standard deviation of a round, as text."""
    try:
        return f"{solve(asked.rules()).sd:.6f} bets"
    except InputError:
        return "not computed exactly"


def game_details(asked: ChosenGame) -> str:
    """What follows the best chart: the closest decisions, the dealer's outcomes, exceptions and side bets."""
    rules = asked.rules()
    solution = solve(rules)
    parts: list[Any] = [details_part(ValuedChart.of_best(solution))]
    if isinstance(solution, ShoeSolver):
        tables = ShoeTables(solution, "td-2c")
        parts += exceptions_part(tables)
        parts.append(_as_printed(asked.command("solve", "--strategy", "td-2c")))
    rows = []
    for name, bet in built_in().items():
        try:
            found = sidebet(name, rules=rules)
        except InputError:
            continue  # not in these decks
        rows.append(
            [
                name,
                bet.about,
                percent(float(found.ev), 4),
                f"{found.sd:.4f}",
                f"{100 * float(found.hit_frequency):.2f}%",
            ]
        )
    parts += [
        Section("Side bets"),
        TextTable("sidebets", ["side bet", "wins if", "value", "sd", "pays in"], rows),
        _as_printed(asked.command("sidebet", "NAME")),
    ]
    return fragment(Report("", [], "", [], parts))


def _as_printed(command: str) -> Notes:
    return Notes([f"As printed by: {command}"], small=True)


@lru_cache(maxsize=256)
def _value(asked: ChosenGame) -> tuple[float, bool]:
    """The value of a game, and whether it is that of an infinite shoe in place of its own."""
    solution = solve(asked.rules())
    return float(solution.value), bool(solution.refusal)


def _change(first: ChosenGame, second: ChosenGame) -> str:
    (one, infinite), (other, also) = _value(first), _value(second)
    if (infinite or also) and first.rules().decks != second.rules().decks:
        return "not known: one of these shoes is not solved"
    return percent(other - one, 4) if math.isfinite(other - one) else "infinite"


def value_change(asked: ChosenGame, setting: str) -> str:
    """What one more change of a rule costs or gains, in percent of the bet; text if the change is not accepted."""
    return _change(asked, asked._replace(settings=(*asked.settings, setting)))


def cards_left(rules: Rules, gone: str) -> dict[str, int]:
    """The cards of a shoe without those that are gone. Raises: InputError: They are not in it."""
    if rules.infinite:
        raise InputError("no card is ever gone from an infinite shoe; choose 1 to 8 decks")
    counts = dict(zip(RANKS, map(int, rules.shoe_counts), strict=True))
    names = {}
    if rules.split_by != "rank":
        names = dict.fromkeys("JQK", "T")
        counts["T"] += sum(counts.pop(card) for card in names)
    for card in re.sub(r"[\s,]", "", gone.upper().replace("10", "T")):
        card = names.get(card, card)
        if not counts.get(card):
            raise InputError(f"gone: {card!r} is not in the shoe, or no more of them are; write cards such as 5 5 6 T")
        counts[card] -= 1
    return counts


def hand_report(asked: ChosenGame, hand: str, gone: str = "") -> str:
    """The values of every action of a hand with other cards `gone`, as `bjsim solve --hand` prints them."""
    rules, words = asked.rules(), ["solve", "--hand", hand]
    cards, shown = read_hand(hand, rules)
    if "/" in cards:
        if gone.strip():
            raise InputError("gone: two hands are valued in a full shoe; leave out the cards that are gone")
        return _exchange_report(asked, hand, cards, shown)
    solution = solve(rules)
    if gone.strip():
        left = cards_left(rules, gone)
        solution = ShoeSolver(rules, left)
        words += ["--shoe", ",".join(f"{card}={count}" for card, count in left.items())]
    values = solution.values_by_strategy(cards, shown)
    letters, best = legal_letters(values), best_letters(values)
    rows = [
        [name, NAMES[best[name]], *(f"{float(ev[letter]):+.9f}" for letter in letters)] for name, ev in values.items()
    ]
    headings = ["followed by", "best", *(NAMES[letter] for letter in letters)]
    first = next(iter(values))
    profit = float(values[first][best[first]])
    own = sorted(letters, key=lambda letter: -values[first][letter])
    moves = [[NAMES[one], f"{float(values[first][one]):+.6f}"] for one in own]
    table = TextTable("values", headings, rows)
    parts: list[Any] = [
        Figures([("best action", f"{NAMES[best[first]]} ({profit:+.6f})")]),
        Notes(["Expected profit in initial bets, given that no natural of the dealer has ended the round."]),
        TextTable("moves", ["action", "expected profit"], moves),
        Folded("all digits, and other strategies afterwards", False, [table]),
        Notes([] if rules.infinite else [STRATEGIES_NOTE], small=True),
    ]
    lines = [*game_lines(solution, game_text(rules)), *([f"Gone besides: {gone.strip()}"] if gone.strip() else [])]
    return fragment(Report(f"{cards} against {shown}", lines, asked.command(*words), rules_part([rules]), parts))


def _exchange_report(asked: ChosenGame, hand: str, cards: str, shown: str) -> str:
    """What two hands win as dealt, and with their second cards exchanged."""
    one, other = cards.split("/", 1)
    values = exchange_values(asked.rules(), one, other, shown)
    best = "exchange" if values["X"] > values["S"] else "keep"
    named = [("keep", values["S"]), ("exchange", values["X"])]
    parts = [
        Figures([("best action", f"{best} ({max(values.values()):+.6f})")]),
        TextTable("values", ["second cards", "expected profit of both hands"], [[k, f"{v:+.9f}"] for k, v in named]),
    ]
    lines, command = [game_text(asked.rules())], asked.command("solve", "--hand", hand)
    return fragment(Report(f"{one} and {other} against {shown}", lines, command, rules_part([asked.rules()]), parts))


def chart_report(asked: ChosenGame, text: str) -> str:
    """A pasted chart: what was understood, its wrong cells with their costs, and the best chart to copy."""
    read = read_with_notes(text, "chart.txt", asked.rules())
    evaluation = evaluate_chart(read.chart)
    command = asked.command("check", "chart.txt")
    report = report_check(evaluation, cell_table(evaluation, evaluation.cells), cost_lines(evaluation), command)
    texts = {}
    for name, write in WRITERS.items():
        with suppress(InputError):  # of a game that the form cannot express
            texts[name] = write(evaluation.best_chart)
    head, *rows = texts["csv"].replace(",", " | ").splitlines()
    texts["markdown"] = "\n".join(f"| {line} |" for line in (head, re.sub(r"[^|]+", "---", head), *rows))
    forms = [Folded(f"as text: {name}", False, [Code(text)]) for name, text in texts.items()]
    difference = f"{100 * float(evaluation.difference):.4f}%"
    notes = [Notes(read.notes, small=True)] if read.notes else []
    how = Notes(["Open a form, and click on its text to copy it. The page Game prints a pocket card."], small=True)
    after = [Section(f"The best chart, which is better by {difference} of the bet"), how, *forms]
    return fragment(
        report._replace(title=f"Your chart in {evaluation.chart.rules.name}", parts=[*notes, *report.parts, *after])
    )


def fragment(report: Report) -> str:
    return render_report(report).partition("<main>")[2].partition("</main>")[0]
