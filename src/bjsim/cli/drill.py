"""The drill of `bjsim play`: single decisions, with their costs."""

from bjsim.cli.narrator import format_cards
from bjsim.cli.person import ask_move, blame, describe_misses, format_bets, praise, value_table
from bjsim.cli.terminal import EndOfInput, Terminal
from bjsim.strategies.evaluation.drill import Drill


def run_drill(terminal: Terminal, drill: Drill, questions: int | None) -> None:
    """Ask until the person leaves, or for this many questions."""
    if drill.due:
        terminal.say(f"Due from earlier sessions: {', '.join(drill.due)}.")
    try:
        while questions is None or drill.asked < questions:
            ask_one(terminal, drill)
    except EndOfInput:
        pass


def ask_one(terminal: Terminal, drill: Drill) -> None:
    exercise = drill.ask()
    view = exercise.view
    terminal.say("")
    dealer = ("both cards, " if len(view.dealer) > 1 else "") + " ".join(view.dealer)
    question = f"{drill.asked + 1}. You have {format_cards(view.hand)}. The dealer shows {dealer}"
    judgement = drill.answer(exercise, ask_move(terminal, question, view))
    if judgement.is_mistake:
        terminal.say(f"Wrong: {blame(judgement)} costs {format_bets(judgement.cost)}.", "yellow")
        for line in value_table(judgement):
            terminal.say(line)
    else:
        said = praise(judgement)
        terminal.say(f"{said[0].upper()}{said[1:]}", "green")


def drill_summary(drill: Drill) -> list[str]:
    asked, misses = drill.asked, drill.misses
    if not asked:
        return ["No questions answered."]
    right = asked - len(misses)
    lost = format_bets(sum(miss.lost for miss in misses))
    cost = f"; the {'mistake' if len(misses) == 1 else 'mistakes'} cost {lost}" if misses else ""
    return [f"{right} of {asked} right ({right / asked:.0%}){cost}.", *describe_misses(misses)]
