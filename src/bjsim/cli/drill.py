"""The drill of `bjsim play`: single decisions, with their costs."""

from __future__ import annotations

from bjsim.cli.narrator import format_cards
from bjsim.cli.person import ask_action, blame, format_bets, praise
from bjsim.cli.terminal import EndOfInput, Terminal
from bjsim.strategies.evaluation.drill import Drill

MISSED = 5  # cells in the summary


def run_drill(terminal: Terminal, drill: Drill, questions: int | None) -> None:
    """Ask until the person leaves, or for this many questions."""
    try:
        while questions is None or drill.asked < questions:
            ask_one(terminal, drill)
    except EndOfInput:
        pass


def ask_one(terminal: Terminal, drill: Drill) -> None:
    """Ask one question, and judge the answer."""
    exercise = drill.ask()
    view = exercise.view
    terminal.say("")
    dealer = ("both cards, " if len(view.dealer) > 1 else "") + " ".join(view.dealer)
    question = f"{drill.asked + 1}. You have {format_cards(view.hand)}. The dealer shows {dealer}"
    judgement = drill.answer(exercise, ask_action(terminal, question, view))
    if judgement.is_mistake:
        terminal.say(f"Wrong: {blame(judgement)} costs {format_bets(judgement.cost)}.", "yellow")
    else:
        said = praise(judgement)
        terminal.say(f"{said[0].upper()}{said[1:]}", "green")


def drill_summary(drill: Drill) -> list[str]:
    """The score, and what was missed most, in words."""
    asked, right = drill.asked, drill.right
    if not asked:
        return ["No questions answered."]
    mistakes = "mistake" if asked - right == 1 else "mistakes"
    lost = f"; the {mistakes} cost {format_bets(drill.lost)}" if right < asked else ""
    lines = [f"{right} of {asked} right ({right / asked:.0%}){lost}."]
    for (row, column), wrong, times in drill.most_missed(MISSED):
        lines.append(f"Missed: {row} against {column}, {wrong} of {times}.")
    return lines
