"""What worker processes compute for the pages: fragments of reports."""

import math
import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache, partial
from typing import Any, NamedTuple

from markupsafe import Markup

from bjsim.errors import InputError, shorten
from bjsim.report.page import page_body, render_page
from bjsim.report.parts import Code, DataColumn, DataTable, Folded, Notes, Report, Section, percent, typeset
from bjsim.sim.game.actions import LETTERS
from bjsim.sim.game.cards import RANKS
from bjsim.sim.game.events import format_decks, game_text
from bjsim.sim.game.presets import PRESETS, the_rules
from bjsim.sim.game.rules import Rules
from bjsim.strategies.evaluation.compare import Evaluation, difference, evaluate_chart, solve
from bjsim.strategies.evaluation.valued_chart import ValuedChart, best_title, game_lines, point_at_cells
from bjsim.strategies.formats.files import WRITERS, read_with_notes
from bjsim.strategies.shoe.solver import ShoeSolver, ShoeTables
from bjsim.strategies.sidebets.bets import built_in
from bjsim.strategies.sidebets.exact import sidebet
from bjsim.strategies.solution import Solution
from bjsim.strategies.solved import describe_exchange, describe_hand, exceptions_parts, hands_of, read_hand
from bjsim.table.words import format_cards, move_name, reason

BET, HOURLY = 25, 70  # dollars and hands an hour of a page that is first opened
FIRST_CELLS = 8  # wrong cells that a page shows first


class TooEarly(InputError):
    """What is asked needs more rounds than have been played so far; more are being played."""


def answered(job: Callable[..., str], arguments: Sequence[object]) -> tuple[int, str]:
    """The status and the text of the answer of a job."""
    try:
        return 200, job(*arguments)
    except InputError as error:
        return 425 if isinstance(error, TooEarly) else 422, str(error)


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

    def solved_as(self, solution: Solution) -> "ChosenGame":
        """The game whose values these are: that of an infinite shoe, where its own is not solved."""
        if not solution.refusal:
            return self
        kept = (one for one in self.settings if one.partition("=")[0] != "decks")
        return self._replace(settings=(*kept, "decks=inf"))


def exactness(refusal: str) -> str:
    """What a figure is, where `refusal` says why the game is not solved in its own shoe."""
    return "for an infinite shoe" if refusal else "exact"


def game_report(asked: ChosenGame) -> str:
    """The value of a game, in money too, and its best chart: what is computed at once."""
    solution = solve(asked.rules())
    rules, value, valued = solution.rules, float(solution.value), ValuedChart.of_best(solution)
    deal = "an infinite shoe" if rules.infinite or solution.refusal else format_decks(rules)
    game, *lines = game_lines(solution, game_text(rules))
    known = math.isfinite(value)
    edge = f"{100 * abs(value):.3f}" if known else "∞"
    return render_page(
        "bjsim.app", "game_answer.html", title=best_title(rules), game=game, lines=lines, value=value,
        name="House edge" if value < 0 else "Player's edge", edge=edge, unit="%" * known,
        exact=f"{typeset(percent(value, 6, unit='% of the bet'))}, first round of {deal}",
        cost=f"{'costs' if value < 0 else 'pays'} you ${BET * HOURLY * abs(value):,.2f} an hour" if known else "–",
        tag=exactness(solution.refusal),
        bet=BET, hourly=HOURLY, preset=asked.preset if asked.settings else "",
        best=valued.part(), pointing=point_at_cells(solution).lines[0], games=[rules],
        command=asked.solved_as(solution).command("solve"),
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


@lru_cache(maxsize=2)  # the same game comes with many changes
def _solved(asked: ChosenGame) -> Solution:
    return solve(asked.rules())


def _change(first: ChosenGame, second: ChosenGame) -> str:
    change = difference(_solved(first), _solved(second))
    if math.isnan(change):
        return "not known: one of these shoes is not solved"
    return percent(change, 4) if math.isfinite(change) else "infinite"


def all_changes(asked: ChosenGame) -> str:
    """What all changes of a preset's rules cost or gain together, as `value_change`."""
    return _change(asked._replace(settings=()), asked)


def value_change(asked: ChosenGame, setting: str) -> str:
    """What one more change of a rule costs or gains, in percent of the bet; text if the change is not accepted."""
    kept = (one for one in asked.settings if one.partition("=")[0] != setting.partition("=")[0])
    return _change(asked, asked._replace(settings=(*kept, setting)))


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
    """The values of every action of a hand with other cards `gone`, as `bjsim solve --hand` prints them.

    Of a total such as `16 v T` it is the first hand, and the others can be chosen.
    """
    rules, gone = asked.rules(), gone.strip()
    total = re.fullmatch(r"\s*(\d{1,2})(\s+(?:v|vs|against)\.?\s+.*)", hand, re.IGNORECASE)
    choices = [pair + total[2] for pair in hands_of(int(total[1]))] if total else []
    hand = choices[0] if choices else hand
    words = ["solve", "--hand", hand]
    cards, shown = read_hand(hand, rules)
    if "/" in cards:
        if gone:
            raise InputError("gone: two hands are valued in a full shoe; leave out the cards that are gone")
        exchange = replace(describe_exchange(rules, cards, shown), command=asked.command(*words))
        return f'<section class="answer">{page_body(exchange)}</section>'
    weights = dict(zip(RANKS, map(float, rules.card_probabilities), strict=True))
    if gone or not rules.infinite:
        left = cards_left(rules, gone)
        seen = cards + shown if rules.split_by == "rank" else re.sub("[JQK]", "T", cards + shown)
        weights = {card: max(count - seen.count(card), 0) for card, count in left.items()}
    if gone:
        words += ["--shoe", ",".join(f"{card}={count}" for card, count in left.items())]
    solution: Solution = ShoeSolver(rules, left) if gone else solve(rules)
    command = asked.solved_as(solution).command(*words)
    report = describe_hand(solution, cards, shown, game_text(rules))
    if gone:
        report = replace(report, lines=[*report.lines, f"Gone besides: {gone}"])
    first, *_ = solution.values_by_strategy(cards, shown).values()
    values = {letter: float(value) for letter, value in first.items()}
    folded = [Folded("All digits, and other strategies afterwards", False, report.parts)]
    return render_page(
        "bjsim.app", "hand_answer.html", cards=cards, shown=shown, total=format_cards(cards).partition(", ")[2],
        bars=ranked(values), choices=choices, chosen=hand, why=reason(cards, values, rules, weights),
        title=report.title, tag=exactness(solution.refusal),
        rest=Markup(page_body(replace(report, title="", parts=folded, command=command))),
    )  # fmt: skip


def ranked(values: Mapping[str, float]) -> list[tuple[str, str, float, float, float]]:
    """Actions by value: letter, name, value, and where the bar from zero begins and how long it is, in percent."""
    low, high = min(0.0, *values.values()), max(0.0, *values.values())
    if not math.isfinite(high - low) or high == low:
        low, high = -1.0, 1.0

    def place(value: float) -> float:
        return 100 * (min(max(value, low), high) - low) / (high - low)

    zero = place(0)
    return [
        (letter, move_name(letter, values), value, min(zero, place(value)), abs(place(value) - zero))
        for letter, value in sorted(values.items(), key=lambda item: (-item[1], LETTERS.find(item[0])))
    ]


FEW = 3  # notes that are not folded


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
    better = f"{100 * float(evaluation.difference):.4f}%"
    notes: list[Any] = [Notes(read.notes, "dim")] if read.notes else []
    if len(read.notes) > FEW:
        notes = [Folded(f"{len(read.notes)} notes on how it was read", False, notes)]
    how = Notes(["Open a form, and click on its text to copy it. The page Game prints a pocket card."], "dim")
    after = [Section(f"The best chart, which is better by {better} of the bet"), how, *forms]
    figures, *others = report.parts
    parts = [*notes, *others, *after, Folded("All figures", False, [figures])]
    rest = replace(report, title="", parts=parts, command=asked.command("check", "chart.txt"))
    return _what_it_costs(evaluation) + page_body(rest)


def _what_it_costs(evaluation: Evaluation) -> str:
    """What a chart gives away, in percent, in money, and by cell; and the row that costs most."""
    lost, cells = float(evaluation.difference), evaluation.cells
    by_row: dict[str, float] = {}
    for cell in cells:
        by_row[cell.row] = by_row.get(cell.row, 0.0) + float(cell.cost)
    row, in_all = max(by_row, key=by_row.__getitem__, default=""), sum(by_row.values())
    is_known = math.isfinite(lost)
    return render_page(
        "bjsim.app", "chart_answer.html", title=f"Your chart in {evaluation.chart.rules.name}",
        lost=f"{100 * lost:.4f}" if is_known else "∞", unit="%" * is_known,
        values=[typeset(percent(float(value), 4)) for value in (evaluation.value, evaluation.best)],
        cells=[(cell, 100 * float(cell.cost)) for cell in cells], first=FIRST_CELLS,
        money=f"{lost * BET * HOURLY:,.2f}" if is_known else "", bet=BET, hourly=HOURLY, row=row,
        portion=round(100 * by_row[row] / in_all) if is_known and in_all > 0 and len(cells) > 2 else 0,
        tag=exactness(evaluation.refusal),
    )  # fmt: skip
