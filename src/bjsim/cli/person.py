"""What a person at a table is asked and answers, and what the coach says to them; see `bjsim play`."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from bjsim.cli.narrator import format_cards, format_chips
from bjsim.cli.terminal import UNBROKEN, EndOfInput, Terminal
from bjsim.sim.game.actions import ATTACK, EXCHANGE, INSURANCE, NAMES, Action, View
from bjsim.sim.game.cards import RANKS
from bjsim.sim.game.seats import is_free

if TYPE_CHECKING:
    from bjsim.strategies.evaluation.coach import Coach, Judgement
    from bjsim.strategies.evaluation.drill import Record

STAKES = {"D": 1.0, "P": 1.0, "I": 0.5, "A": 1.0}  # further stakes that an action needs
Say = Callable[[str, str | None], object]  # takes a line and its colour
SYNONYMS = {"stay": "S", "card": "H", "dd": "D", "double down": "D", "surr": "R", "bet": "B"}
SYNONYMS |= dict.fromkeys(("exchange", "switch", "swap"), "X") | {"keep": "S"}
SYNONYMS |= dict.fromkeys(("insurance", "insure", "yes", "y"), "I") | dict.fromkeys(("no", "n"), "S")
ORDER = "XAIHSDPRB"  # in which moves are listed
QUIT = ("q", "quit", "exit")
HELP = ("?", "help")
RAISE = re.compile(r"(?:b|bet|raise)(?:\s*by)?\s*([0-9]{1,12})(?: chips?)?")
EXPLAINED = {
    "S": "takes no more cards",
    "H": "takes a card",
    "D": "doubles the bet and takes exactly one card",
    "P": "makes two hands of a pair, each with the same bet",
    "R": "gives up half of the bet",
    "B": "adds chips to the bet, such as b 20",
    "A": "doubles the bet before the cards are dealt",
    "X": "exchanges the second cards of both hands",
    "I": "bets half as much that the dealer has blackjack; pays 2:1",
}

DECLINED = {
    ATTACK: "leaves the bet as it is",
    INSURANCE: "leaves the bet as it is",
    EXCHANGE: "leaves the hands as they are",
}


def further_stake(letter: str, view: View) -> float:
    """The chips that an action needs."""
    bets = view.rules.bets if letter == "I" else 1
    return 0.0 if is_free(letter, view) else STAKES.get(letter, 0.0) * view.stake * bets


def describe_hand(view: View, hand_name: str = "") -> str:
    """What a person decides on: a hand, which may have a name, or the two hands of an exchange."""
    if "X" in view.legal:
        return f"{format_cards(view.hand)}, and {format_cards(view.others)}"
    return f"{hand_name}{format_cards(view.hand)}"


class PersonLeft(EndOfInput):
    """The person wants to stop."""


def keys(legal: str, free: Collection[str] = ()) -> str:
    """The keys of some actions in words: `h hit, s stand`. free: those that the house pays for."""
    letters = sorted(legal, key=ORDER.find)
    names = {letter: "free " * (letter in free) + move_name(letter, legal) for letter in letters}
    return ", ".join(f"{letter.lower()}{UNBROKEN}{name}" for letter, name in names.items())


def move_name(letter: str, legal: Collection[str]) -> str:
    """The name of an action among others, which show whether the question is about insurance."""
    if "A" in legal:
        return {"A": "attack", "S": "no attack"}[letter]
    if "X" in legal:
        return {"X": "exchange", "S": "keep"}[letter]
    return {"I": "insurance", "S": "no insurance"}[letter] if "I" in legal else NAMES.get(letter, "insurance")


def parse_action(text: str, view: View) -> Action | str:
    """The action that an answer names, or what is wrong with it."""
    text = text.lower()
    words = {**SYNONYMS, **{name: letter for letter, name in NAMES.items()}, **{key.lower(): key for key in ORDER}}
    raised = RAISE.fullmatch(text)
    letter = "B" if raised else words.get(text, "")
    if not letter:
        return f"{text[:20] or 'An empty line'} is not a move here: {keys(view.legal)}, q quit, ? help"
    if letter not in view.legal:
        name = NAMES.get(letter) or move_name(letter, letter)
        return f"{name.capitalize()} is not possible here: {keys(view.legal)}"
    if letter != "B":
        return Action(letter)
    if raised is None or int(raised[1]) > view.chips:
        return f"Raise by 0 to {format_chips(view.chips)}, such as b {min(view.stake, view.chips)}"
    return Action("B", int(raised[1]))


def ask_move(terminal: Terminal, question: str, view: View, explain: Callable[[], Sequence[str]] = tuple) -> Action:
    """Ask for a legal action until there is one. explain: further lines of help. Raises: EndOfInput."""
    while True:
        free = [letter for letter in view.legal if is_free(letter, view)]
        answer = terminal.ask(f"{question}: {keys(view.legal, free)}")
        if answer.lower() in QUIT:
            raise PersonLeft("left")
        if answer.lower() in HELP:
            for letter in sorted(view.legal, key=ORDER.find):
                meaning = DECLINED.get(view.legal, EXPLAINED["S"]) if letter == "S" else EXPLAINED[letter]
                terminal.say(f"  {letter.lower()} {move_name(letter, view.legal)}: {meaning}")
            terminal.say("  q quits. Cards are A 2 to 9 T J Q K; # is face down. An ace counts 11 if it can (soft).")
            for line in explain():
                terminal.say(line)
            continue
        action = parse_action(answer, view)
        if isinstance(action, Action):
            return action
        terminal.say(action + ".")


class CoachTally:
    """Counts decisions, mistakes and their costs; `record` notes them for later drills."""

    def __init__(self, coach: Coach, record: Record) -> None:
        self.coach = coach
        self.record = record
        self.decisions = 0
        self.misses: list[Judgement] = []

    def judge(self, view: View, action: Action) -> list[tuple[str, str | None]]:
        """The coach's comment on a decision, as lines with colours."""
        judgement = self.coach.judge(view, action)
        if judgement is None:
            return []
        self.decisions += 1
        if judgement.cell:
            self.record.note(judgement.cell, judgement.is_mistake)
        if not judgement.is_mistake:
            return [(f"Coach: {praise(judgement)}", "green")]
        self.misses.append(judgement)
        chips = judgement.cost * view.stake
        cost = format_bets(judgement.lost) + (f" ({chips:.2f} chips)" if 0.005 <= chips < math.inf else "")
        return [(f"Coach: {blame(judgement)} costs {cost}.", "yellow"), (f"Coach: {self.total()}.", None)]

    def explain(self, view: View) -> list[str]:
        valued = view.legal.replace("B", "")
        judgement = self.coach.judge(view, Action(valued[0])) if valued else None
        return value_table(judgement) if judgement else ["Coach: this hand has no exact values."]

    def total(self) -> str:
        if not self.decisions:
            return "no decisions judged"
        decisions = "1 decision" if self.decisions == 1 else f"{self.decisions} decisions"
        mistakes = "1 mistake" if len(self.misses) == 1 else f"{len(self.misses) or 'no'} mistakes"
        lost = f", {format_bets(sum(miss.lost for miss in self.misses))} lost" if self.misses else ""
        return f"{mistakes} in {decisions}{lost}"


def format_bets(amount: float) -> str:
    """An expected loss in initial bets; it is infinite where endless splits pay without limit."""
    if math.isinf(amount):
        return "infinitely many bets"
    return f"{amount:.4f} bets" if amount >= 0.00005 else f"{amount:.1e} bets"


def praise(judgement: Judgement) -> str:
    """The comment on a decision that is not a mistake."""
    action = move_name(judgement.action, judgement.values)
    if judgement.cost:
        best = move_name(judgement.best, judgement.values)
        better = f"with exactly these cards {best} is better by {format_bets(judgement.cost)}"
        return f"right, the best chart says {action}; {better}."
    if len(judgement.values) == 1:
        return f"right: {action} is the only option."
    if judgement.margin == 0:
        return "right, no move is better."
    return f"right, {action} is best by {format_bets(judgement.margin)}."


def blame(judgement: Judgement) -> str:
    """The comment on a mistake, before its cost."""
    best, taken = (move_name(letter, judgement.values) for letter in (judgement.best, judgement.action))
    return f"{best} is best; {taken}"


def value_table(judgement: Judgement) -> list[str]:
    """The value of every move and what it loses, as lines; the best move first."""
    values = judgement.values
    names = {letter: move_name(letter, values) for letter in sorted(values, key=lambda letter: -values[letter])}
    width = max(map(len, names.values()))
    lines = ["Expected profit in initial bets, with best play afterwards:"]
    for letter, name in names.items():
        cost = replace(judgement, action=letter).cost
        note = f"{cost:.6f} less" if cost else "best"
        chart = ", the best chart's move" if letter == judgement.chart and cost else ""
        lines.append(f"  {name:{width}} {values[letter]:10.6f}  {note}{chart}")
    return lines


def describe_misses(misses: Iterable[Judgement]) -> list[str]:
    """Every mistake with the right move and its cost, as lines; the costliest first."""
    found: dict[str, list[float]] = {}
    for miss in misses:
        best, taken = (move_name(letter, miss.values) for letter in (miss.best, miss.action))
        hand = describe_hand(miss.view)
        if "X" not in miss.values:
            hand = format_cards("".join(sorted(miss.view.hand, key=RANKS.index)))
        text = f"{hand} against {' '.join(miss.view.dealer)}: {best}, not {taken}"
        found.setdefault(text, []).append(miss.lost)
    return [
        f"Missed: {text}: {format_bets(sum(costs))}" + (f" in {len(costs)} times." if len(costs) > 1 else ".")
        for text, costs in sorted(found.items(), key=lambda item: -sum(item[1]))
    ]


def parse_bet(text: str, most: int, usual: int) -> int | str:
    """The bet that an answer names, or what is wrong with it."""
    number = text.lower().removesuffix("s").removesuffix("chip").strip()
    if number.isascii() and number.isdigit() and len(number) <= 12 and 1 <= int(number) <= most:
        return int(number)
    return f"{text.lower()[:20]} is not a bet: type 1 to {most}, Enter for {usual}, or q to quit"


def ask_bet(terminal: Terminal, most: int, usual: int) -> int:
    """Ask for a bet of at most so many chips until there is one. Raises: EndOfInput."""
    while True:
        limits = f"1 to {format_chips(most)}, Enter for {usual}" if most > 1 else "your last chip"
        answer = terminal.ask(f"Bet {limits}")
        if answer.lower() in QUIT:
            raise PersonLeft("left")
        if answer.lower() in HELP:
            terminal.say("Type a number of chips, Enter to bet as before, or q to quit.")
            continue
        bet = parse_bet(answer, most, usual) if answer else usual
        if isinstance(bet, int):
            return bet
        terminal.say(f"{bet}.")
