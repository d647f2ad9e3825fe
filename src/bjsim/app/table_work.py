"""The page Play: a table and a drill whose answers the page keeps, so that a worker can take them up at any time."""

from collections import OrderedDict
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from bjsim.app.work import ChosenGame, ranked
from bjsim.arguments import MAX_SEED, whole_number
from bjsim.errors import InputError
from bjsim.report.page import render_page
from bjsim.sim.game.actions import Action, View
from bjsim.sim.game.cards import HIDDEN
from bjsim.sim.game.events import game_text
from bjsim.sim.game.shoe import Stream, open_shoe
from bjsim.strategies.counting.system import built_in_systems
from bjsim.strategies.evaluation.drill import TOPICS, Drill, Record, cell_name
from bjsim.table.card_table import (
    BetAsked,
    CardTable,
    CountAsked,
    MoveAsked,
    drill_summary,
    hire_coach,
    parse_count,
    practise_count,
    record_path,
)
from bjsim.table.words import (
    PERSON,
    blame,
    describe_hand,
    describe_misses,
    format_bets,
    format_cards,
    format_chips,
    move_names,
    parse_action,
    parse_bet,
    praise,
)

MOST_ANSWERS = 3000
KEPT = 6  # open tables; at others all answers are replayed first
LATE = "late"  # in place of a count that was not given in time


class AskedPlay(NamedTuple):
    """A table, or a drill, as a page asks for it; the seed is of the cards, or of the questions.

    `system` is the counting system to practise, empty for none; `drill` a topic or `all`, empty to play at a
    table. `due` has the cells that the page's own record calls weak, with commas. `answers` has one in each line;
    `new` is `yes` if the last is new, and so to be noted in the record. `hint` is `yes` for the values of the moves.
    """

    game: ChosenGame
    seed: str = "1"
    system: str = ""
    drill: str = ""
    due: str = ""
    answers: str = ""
    new: str = ""
    hint: str = ""


class PlayedTable:
    """A table at which a person plays through a page. Raises: InputError: The game, or the count, is not accepted."""

    def __init__(self, asked: AskedPlay) -> None:
        rules = asked.game.rules().replace(seats=1)
        if asked.system and asked.system not in built_in_systems():
            raise InputError(f"no counting system is called {asked.system[:40]!r}")
        self.answers: list[str] = []
        self.lines: list[tuple[str, str | None]] = []
        self.practice = practise_count(asked.system, rules, self._say) if asked.system else None
        self.tally = hire_coach(rules, None, self.practice)
        shoe = open_shoe(rules, Stream(whole_number("seed", asked.seed, 0, MAX_SEED)))
        self.table = CardTable(rules, shoe, [], rules.chips, None, None, self._say, self.tally, self.practice)
        self._steps = self.table.steps()
        self.question: BetAsked | MoveAsked | CountAsked | None = next(self._steps, None)

    def _say(self, line: str, colour: str | None) -> None:
        if line:
            self.lines.append((line, colour))

    def answer(self, word: str) -> None:
        """Answer the question. Raises: InputError: The answer is not accepted; nothing is changed."""
        answer: object = _parse(self.question, word)
        if isinstance(answer, str):
            raise InputError(answer.removesuffix(", q quit, ? help"))
        if isinstance(self.question, BetAsked):
            self.lines.clear()
        self.answers.append(word)
        try:
            self.question = self._steps.send(answer)
        except StopIteration:
            self.question = None


def _parse(question: object, word: str) -> object:
    """The answer to a question of a table, or as text what is wrong with it."""
    if isinstance(question, BetAsked):
        return parse_bet(word, *question)
    if isinstance(question, MoveAsked):
        return parse_action(word, question.view)
    if isinstance(question, CountAsked):
        return None if word == LATE else parse_count(word)
    return "the game is over; begin a new one"


_tables: OrderedDict[AskedPlay, PlayedTable] = OrderedDict()


def play_report(asked: AskedPlay) -> str:
    """A table or a drill after some answers, with the next question."""
    answers = asked.answers.split("\n") if asked.answers else []
    if len(answers) > MOST_ANSWERS:
        raise InputError(f"a session has at most {MOST_ANSWERS:,} answers; begin a new one")
    if asked.drill:
        return drill_report(asked, answers)
    key = asked._replace(answers="", new="", hint="")
    table = _tables.pop(key, None)
    if table is None or table.answers != answers[: len(table.answers)]:
        table = PlayedTable(key)
    _tables[key] = table
    while len(_tables) > KEPT:
        _tables.popitem(last=False)
    for number in range(len(table.answers), len(answers)):
        is_new = asked.new == "yes" and number == len(answers) - 1
        table.tally.record = Record(table.tally.coach.chart, record_path() if is_new else None)
        table.answer(answers[number])
    return _table_page(asked, table)


def _table_page(asked: AskedPlay, open_table: PlayedTable) -> str:
    table, question, tally = open_table.table, open_table.question, open_table.tally
    seen, hands = table.narrator, []
    noted = tally.record.noted if asked.new == "yes" else []
    active = question.hand if isinstance(question, MoveAsked) else -1
    if seen and open_table.answers:
        for number, (cards, stake) in enumerate(zip(seen.hands[PERSON], seen.stakes[PERSON], strict=True)):
            name = f"Hand {number + 1}" if len(seen.hands[PERSON]) > 1 else "You"
            hands.append((name, cards, _total(cards), format_chips(stake), number == active))
    dealer = seen.dealer + HIDDEN * seen.hidden if seen and open_table.answers else ""
    figures = [("chips", format_chips(table.holds[PERSON])), ("rounds", f"{table.played:,}"), ("coach", tally.total())]
    if open_table.practice:
        figures.append(("count", open_table.practice.total()))
    words = ["play", "--seed", asked.seed, "--coach", *(["--count", asked.system] if asked.system else [])]
    hint = None
    if asked.hint and isinstance(question, MoveAsked):
        hint = tally.coach.judge(question.view, Action(question.view.legal.replace("B", "")[0]))
    basis = f"Values are exact for {tally.coach.basis}; costs are in initial bets."
    notes = [basis, *describe_misses(tally.misses), tally.record.problem]
    if open_table.practice:
        notes.append(open_table.practice.tags())
    return _page(
        asked.game.rules(), asked.game.command(*words), dealer=dealer, dealer_total=_total(dealer.replace(HIDDEN, "")),
        hands=hands, lines=open_table.lines, bars=hint and ranked(hint.values), figures=figures, notes=notes,
        noted=noted, **_question_parts(question, table),
    )  # fmt: skip


def _question_parts(question: object, table: CardTable) -> dict[str, Any]:
    if isinstance(question, MoveAsked):
        hand, view = describe_hand(question.view, question.hand_name), question.view
        return {"text": f"{hand} against {' '.join(view.dealer)}", "moves": _moves(view), "hints": True}
    if isinstance(question, BetAsked):
        return {
            "text": f"Your bet, 1 to {format_chips(question.most)}",
            "field": question.usual,
            "go": "Deal",
            "digits": True,
        }
    if isinstance(question, CountAsked):
        return {"text": question.text, "field": "", "go": "Answer", "timed": True}
    return {"text": table.summary()}


def _moves(view: View) -> list[tuple[str, str, str]]:
    """Key, answer and name of the possible moves."""
    raised = f"b {min(view.stake, view.chips)}"
    names = move_names(view).items()
    return [(letter.lower(), raised if letter == "B" else letter.lower(), name) for letter, name in names]


def _total(cards: str) -> str:
    return format_cards(cards).partition(", ")[2] if cards else ""


@lru_cache(maxsize=KEPT)
def _drill(game: ChosenGame, topic: str, seed: str, due: str) -> Drill:
    tally = hire_coach(game.rules(), record_path())
    known = {cell_name(cell) for cell in tally.coach.chart.cells}
    for name in due.split(","):
        if name in known:
            tally.record.expect(name)
    topics = () if topic == "all" else (topic,)
    return Drill(tally.coach, whole_number("seed", seed, 0, MAX_SEED), topics, tally.record)


def drill_report(asked: AskedPlay, answers: Sequence[str]) -> str:
    """A drill after some answers, such as `T6 7 h`, with the next question."""
    if asked.drill not in (*TOPICS, "all"):
        raise InputError(f"no topic is called {asked.drill[:40]!r}; topics are all, {', '.join(TOPICS)}")
    if asked.system:
        raise InputError("a drill asks for moves alone; set the count drill to none")
    drill = _drill(asked.game, asked.drill, asked.seed, asked.due)
    known = {(each.view.hand, each.view.dealer): each for each in drill.exercises}
    said: list[tuple[str, str]] = []
    bars: list[Any] = []  # of a mistake
    drill.asked, drill.misses = 0, []
    for number, answer in enumerate(answers):
        hand, dealer, letter = [*answer.split(" "), "", ""][:3]
        exercise = known.get((hand, dealer))
        action = parse_action(letter, exercise.view) if exercise else ""
        if exercise is None or isinstance(action, str):
            raise InputError(f"{answer[:40]} is not an answer of this drill; begin a new one")
        if asked.new == "yes" and number == len(answers) - 1:
            judgement = drill.answer(exercise, action)
        else:
            found = drill.coach.judge(exercise.view, action)
            assert found is not None
            judgement, drill.asked = found, drill.asked + 1
            drill.misses += [found] if found.is_mistake else []
        asked_for = f"{format_cards(hand)} against {' '.join(dealer)}"
        said, bars = [(f"{asked_for}: {praise(judgement)}", "green")], []
        if judgement.is_mistake:
            said = [(f"{asked_for}: {blame(judgement)} costs {format_bets(judgement.cost)}.", "yellow")]
            bars = ranked(judgement.values)
    view = drill.asked_after(len(answers)).view
    score, *missed = drill_summary(drill)
    words = ["play", "--drill", "--seed", asked.seed, *([] if asked.drill == "all" else ["--topic", asked.drill])]
    moves = [(key, f"{view.hand} {view.dealer} {answer}", name) for key, answer, name in _moves(view)]
    notes = [f"Due from earlier sessions: {', '.join(drill.due)}."] if drill.due else []
    dealer = view.dealer if len(view.dealer) > 1 else view.dealer + HIDDEN
    noted = drill.record.noted[-1:] if asked.new == "yes" else []
    return _page(
        asked.game.rules(), asked.game.command(*words), dealer=dealer, dealer_total="", lines=said, bars=bars,
        hands=[("You", view.hand, _total(view.hand), "", True)], figures=[("score", score)], noted=noted,
        notes=[*notes, *missed, drill.record.problem], moves=moves,
        text=f"{format_cards(view.hand)} against {' '.join(view.dealer)}",
    )  # fmt: skip


def _page(rules: Any, command: str, **values: Any) -> str:
    return render_page("bjsim.app", "table.html", game=game_text(rules), command=command, **values)
