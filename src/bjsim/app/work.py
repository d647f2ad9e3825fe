"""What worker processes compute for the pages: fragments of reports."""

import math
import re
import shlex
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache, partial
from typing import Any, NamedTuple

from bjsim.errors import InputError, shorten
from bjsim.report.page import page_body, render_page
from bjsim.report.parts import Code, DataColumn, DataTable, Folded, Notes, Report, Section, percent
from bjsim.sim.game.cards import RANKS
from bjsim.sim.game.events import game_text
from bjsim.sim.game.presets import PRESETS, the_rules
from bjsim.sim.game.rules import Rules
from bjsim.strategies.evaluation.compare import evaluate_chart, solve
from bjsim.strategies.evaluation.valued_chart import ValuedChart, best_title, game_lines, point_at_cells
from bjsim.strategies.formats.files import WRITERS, read_with_notes
from bjsim.strategies.shoe.solver import ShoeSolver, ShoeTables
from bjsim.strategies.sidebets.bets import built_in
from bjsim.strategies.sidebets.exact import sidebet
from bjsim.strategies.solved import describe_exchange, describe_hand, exceptions_parts, read_hand

BET, HOURLY = 25, 70  # dollars and hands an hour of a page that is first opened


def answered(job: Callable[..., str], arguments: Sequence[object]) -> tuple[int, str]:
    """The status and the text of the answer of a job."""
    try:
        return 200, job(*arguments)
    except InputError as error:
        return 422, str(error)


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
    """The value of a game, in money too, and its best chart: what is computed at once."""
    solution = solve(asked.rules())
    rules, value, valued = solution.rules, float(solution.value), ValuedChart.of_best(solution)
    deal = "an endless shoe" if rules.infinite or solution.refusal else f"{rules.decks} deck{'s' * (rules.decks != 1)}"
    game, *lines = game_lines(solution, game_text(rules))
    edge = f"{100 * abs(value):.3f}" if math.isfinite(value) else "∞"
    return render_page(
        "bjsim.app", "game_answer.html", title=best_title(rules), game=game, lines=lines, value=value,
        name="House edge" if value < 0 else "Player's edge", edge=edge, unit="%" * math.isfinite(value),
        exact=f"{percent(value, 6, unit='% of the bet').replace('-', '−')}, first round of {deal}",
        cost=f"{'costs' if value < 0 else 'pays'} you ${BET * HOURLY * abs(value):,.2f} an hour",
        bet=BET, hourly=HOURLY,
        compared=(asked.preset, _change(asked._replace(settings=()), asked)) if asked.settings else None,
        best=valued.part(), pointing=point_at_cells([rules]).lines[0], games=[rules], command=asked.command("solve"),
    )  # fmt: skip


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
    parts: list[Any] = [ValuedChart.of_best(solution).details()]
    if isinstance(solution, ShoeSolver):
        tables = ShoeTables(solution, "td-2c")
        parts += exceptions_parts(tables)
        parts.append(_as_printed(asked.command("solve", "--strategy", "td-2c")))
    bets = []
    for name, bet in built_in().items():
        with suppress(InputError):  # not in these decks
            bets.append((name, bet.about, sidebet(name, rules=rules)))
    parts += [
        Section("Side bets"),
        DataTable("sidebets", SIDE_BETS, bets),
        _as_printed(asked.command("sidebet", "NAME")),
    ]
    return page_body(Report("", [], parts))


SIDE_BETS = (
    DataColumn("", "side bet", lambda one: one[0], is_text=True),
    DataColumn("", "wins if", lambda one: one[1]),
    DataColumn("", "value", lambda one: float(one[2].ev), percent),
    DataColumn("", "sd", lambda one: one[2].sd, "{:.4f}".format),
    DataColumn("", "pays in", lambda one: float(one[2].hit_frequency), partial(percent, digits=2, sign="")),
)


def _as_printed(command: str) -> Notes:
    return Notes([f"As printed by: {command}"], "dim")


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
    rules, words, gone = asked.rules(), ["solve", "--hand", hand], gone.strip()
    cards, shown = read_hand(hand, rules)
    if "/" in cards and gone:
        raise InputError("gone: two hands are valued in a full shoe; leave out the cards that are gone")
    if "/" in cards:
        report = describe_exchange(rules, cards, shown)
    elif gone:
        left = cards_left(rules, gone)
        words += ["--shoe", ",".join(f"{card}={count}" for card, count in left.items())]
        report = describe_hand(ShoeSolver(rules, left), cards, shown, game_text(rules))
        report = replace(report, lines=[*report.lines, f"Gone besides: {gone}"])
    else:
        report = describe_hand(solve(rules), cards, shown, game_text(rules))
    return page_body(replace(report, command=asked.command(*words)))


def chart_report(asked: ChosenGame, text: str) -> str:
    """A pasted chart: what was understood, its wrong cells with their costs, and the best chart to copy."""
    read = read_with_notes(text, "chart.txt", asked.rules())
    evaluation = evaluate_chart(read.chart)
    report = evaluation.describe()
    texts = {}
    for name, write in WRITERS.items():
        with suppress(InputError):  # of a game that the form cannot express
            texts[name] = write(evaluation.best_chart)
    head, *rows = texts["csv"].replace(",", " | ").splitlines()
    texts["markdown"] = "\n".join(f"| {line} |" for line in (head, re.sub(r"[^|]+", "---", head), *rows))
    forms = [Folded(f"as text: {name}", False, [Code(text)]) for name, text in texts.items()]
    difference = f"{100 * float(evaluation.difference):.4f}%"
    notes = [Notes(read.notes, "dim")] if read.notes else []
    how = Notes(["Open a form, and click on its text to copy it. The page Game prints a pocket card."], "dim")
    after = [Section(f"The best chart, which is better by {difference} of the bet"), how, *forms]
    title, parts = f"Your chart in {evaluation.chart.rules.name}", [*notes, *report.parts, *after]
    return page_body(replace(report, title=title, parts=parts, command=asked.command("check", "chart.txt")))
