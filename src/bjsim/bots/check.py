"""Check a bot before a contest: ask it twice in each of many situations, and play on where it raises."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations_with_replacement
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from bjsim.bots.export import SHOWN
from bjsim.bots.line import Transcript
from bjsim.bots.protocol import UNFLUSHED, Fault, find_failure, make_argv
from bjsim.bots.turn import Strikes, Turn
from bjsim.report.data import Described
from bjsim.report.parts import DataColumn, DataTable, Notes, Only, Report
from bjsim.sim.game.actions import ATTACK, HIT, INSURANCE, STAND, Action, IllegalAction, Player, View, raise_by
from bjsim.sim.game.cards import parse_rank
from bjsim.sim.game.events import RoundResult
from bjsim.sim.game.round import Round, ask_action, drive, legal_action
from bjsim.sim.game.rules import Rules
from bjsim.sim.game.shoe import ScriptedShoe, Stream, open_shoe
from bjsim.sim.game.states import States
from bjsim.strategies.evaluation.compare import Evaluation, best_chart, evaluate_chart
from bjsim.strategies.players.catalogue import CATALOGUE

if TYPE_CHECKING:
    from bjsim.bots.player import BotPlayer


OTHERS = "8"  # the rank of all other cards
ENOUGH = 3  # hands are no longer played on after this many with a fault: they are slow, and add nothing for the author


@dataclass(frozen=True)
class CheckedView:
    """A view that can occur in play."""

    view: View
    cards: str  # that the seat gets, in order
    shown: str
    before: tuple[Action, ...]  # its earlier moves with this hand
    chips: int  # before the round

    @property
    def poor(self) -> bool:
        return self.chips < self.view.rules.chips

    @property
    def row(self) -> str:
        """The hand, after a slash the moves before, and few chips: `T6`, `T24/H`, `T6/B 15`, `65, 5 chips`."""
        done = "/" + ",".join(map(str, self.before)) if self.before else ""
        return self.view.hand + done + (f", {self.view.chips} chips" if self.poor else "")


@dataclass(frozen=True)
class Trial:
    """The bot's two answers in one situation, with their times in milliseconds.

    `after` has its further moves with the hand, if played on, and `cap` the fault of too many, if it occurred.
    """

    situation: CheckedView
    moves: tuple[Action | Fault, Action | Fault]
    ms: tuple[float, float]
    after: tuple[Action | Fault, ...] = ()
    cap: Fault | None = None

    @property
    def deterministic(self) -> bool:
        """Whether both answers were the same. A bot may be random, so a difference is not a fault."""
        one, other = self.moves
        if _in_every_match(one) or _in_every_match(other):
            return True
        return one.kind == other.kind if isinstance(one, Fault) and isinstance(other, Fault) else one == other

    @property
    def text(self) -> str:
        """The first answer in a table, as LEGEND explains."""
        move = self.moves[0]
        if isinstance(move, Fault):
            return "!"
        return str(move).replace(" ", "") + ("!" if self.faults else "" if self.deterministic else "?")

    @property
    def style(self) -> str:
        return "red" if self.faults else "" if self.deterministic else "yellow"

    @property
    def faults(self) -> list[Fault]:
        one, other = self.moves
        moves = (one, *([] if one is other else [other]), *self.after, self.cap)
        return [move for move in moves if isinstance(move, Fault)]


def situation(
    rules: Rules, cards: str, shown: str, before: Sequence[Action] = (), chips: int | None = None
) -> CheckedView | None:
    """Play the first seat's hand up to one decision; return None if it does not occur.

    The readable round plays it, so the rules allow it. `cards` are those that the seat gets, in order; `before`
    are its moves before the decision; `chips` are by default those of the rules.
    """
    views: list[View] = []
    chips = chips or rules.chips
    if rules.deck == "spanish":  # without T
        cards, shown = cards.replace("T", "K"), shown.replace("T", "K")

    def stand(view: View) -> Action:
        views.append(view)
        return STAND

    with suppress(IllegalAction):  # a move before it
        play_hand(rules, cards, shown, chips, before, stand)
    occurs = views and chips >= rules.buy_in  # else the seat sits out
    return CheckedView(views[0], cards, shown, tuple(before), chips) if occurs else None


def play_hand(
    rules: Rules, cards: str, shown: str, chips: int, before: Sequence[Action], decide: Callable[[View], Action]
) -> RoundResult:
    """Play a round: the first seat makes the moves `before`, and then decides. It declines insurance; others stand."""
    own, dealer, left = list(cards), [shown, OTHERS], list(before)
    deck, others = [], rules.seats - 1
    for letter in rules.deal:
        deck += [own.pop(0), *OTHERS * others] if letter == "p" else [dealer.pop(0)]
    shoe = ScriptedShoe("".join([*deck, *own, *OTHERS * 20]))

    def answer(seat: int, view: View) -> Action:
        if seat or view.legal in (ATTACK, INSURANCE):
            return STAND
        return legal_action("the bot", left.pop(0), view) if left else decide(view)

    return drive(Round(rules, shoe, rules.seats, [chips, *[rules.chips] * others]).steps(), answer)


def situations(rules: Rules) -> Iterator[CheckedView]:
    """The situations to ask a bot in: hands of two cards against every card, then later moves, and few chips.

    Consecutive situations have different hands, so that a failure with one hand does not hide other results for long.
    """
    states, hands = States(rules), dict[str, str]()  # one for each row of a chart
    for one, other in combinations_with_replacement("AT98765432K", 2):
        if states.legal(hand := states.hand((parse_rank(one), parse_rank(other)))):
            hands.setdefault(states.rows_of(hand)[0], one + other)
    order = sorted(hands.values(), key=lambda hand: ("A" in hand, hand[0] == hand[1]))
    asked: list[tuple[Any, ...]] = [(hand, shown) for shown in SHOWN for hand in order]
    for shown in "27T":
        asked += [("T24", shown, [HIT]), ("22354", shown, [HIT, HIT, HIT]), ("A23", shown, [HIT])]
        if rules.raises:
            asked += [("T8", shown, [raise_by(rules.buy_in)]), ("65", shown, [raise_by(5)])]
            asked += [("65", shown, (), rules.buy_in + 5), ("T8", shown, (), rules.buy_in)]
    return filter(None, (situation(rules, *each) for each in asked))


def try_bot(player: BotPlayer, tried: Iterable[CheckedView], most: int) -> Iterator[Trial]:
    """Ask the bot twice in every situation; play on after a raise, as only then can it reach the move cap.

    Yield the answers in order. After `most` timeouts, or `most` faults of a kind without one good move, the bot is no
    longer asked, because that would take minutes or say nothing new, and there are fewer answers. A line bot is no
    longer asked once it is not ready, does not flush or writes lines unasked.
    """
    hands_with_faults = 0
    kinds: Counter[str] = Counter()
    for asked in tried:
        answer = _answer(player, asked, hands_with_faults < ENOUGH)
        hands_with_faults += any(isinstance(move, Fault) for move in (*answer.after, answer.cap))
        kinds.update(move.kind if isinstance(move, Fault) else "" for move in (*answer.moves, *answer.after))
        yield answer
        if any(map(_in_every_match, answer.faults)):
            return
        if kinds["timeout"] >= most or (not kinds[""] and max(kinds.values()) >= most):
            return


def price(rules: Rules, answers: Iterable[Trial]) -> Evaluation | None:
    """The exact value of the best chart with the bot's first answers to hands of two cards; a fault is a stand.

    Raises have no exact value, and are left out. None if the dealer shows two cards, of which not all are asked.
    """
    if rules.dealer_shows == "both":
        return None
    best = best_chart(rules)
    cells = dict(best.cells)
    for answer in answers:
        move, view = answer.moves[0], answer.situation.view
        letter = "S" if isinstance(move, Fault) else move.letter
        if answer.situation.before or answer.situation.poor or letter == "B":
            continue
        state, column, legal = best.states.situation(view)
        row = next((row for row in best.states.rows_of(state, "P" in legal) if (row, column) in cells), "")
        if row and (code := cells[row, column])[0] != letter:  # else the best code, which also says what is best later
            cells[row, column] = letter + ("s" if code.endswith(("S", "s")) else "h") if letter in "DR" else letter
    return evaluate_chart(replace(best, name="bot", cells=cells))


def _in_every_match(move: Action | Fault) -> bool:
    """Whether this is a fault of a line bot that hides all others, so that it is to be mended first."""
    return isinstance(move, Fault) and (move.kind in ("not-ready", "chatter") or UNFLUSHED in move.detail)


def _answer(player: BotPlayer, asked: CheckedView, play_on: bool) -> Trial:
    turn, moves, ms = Turn(player), list[Action | Fault](), list[float]()

    def ask(view: View) -> Action:
        action, fault, reply = turn.take(view)
        moves.append(fault or action)
        ms.append(reply.elapsed_ns / 1e6 if reply else 0.0)
        return action

    ask(asked.view)
    if not _in_every_match(moves[0]):
        ask(asked.view)
    answer = Trial(asked, (moves[0], moves[-1]), (ms[0], ms[-1]))
    raised = next((move for move in moves if isinstance(move, Action) and move.letter == "B"), None)
    if not play_on or raised is None:
        return answer
    moves.clear()
    rules, before = asked.view.rules, [*asked.before, raised]
    capped = 0 in play_hand(rules, asked.cards, asked.shown, asked.chips, before, ask).seats_at_move_cap
    cap = turn.exceed_move_cap(f"{rules.move_cap} moves with one hand, without standing") if capped else None
    return replace(answer, after=tuple(moves), cap=cap)


# --- Check a line bot in a match: it is ready, skips what it does not know, survives a cut, and ends with its input.


ROUNDS = 25
SEED = 1  # of the match; all checks deal the same cards
CHECKS = {
    "ready": "answers hello with `ready 1`, in time",
    "deterministic": "gives the same answers to the same lines",
    "unknown": "skips lines and keys that it does not know",
    "resumed": "gives the same answers when a new process takes over in the middle of the match",
    "ends": "ends by itself when its input does",
}


@dataclass(frozen=True)
class LineCheck:
    # by key of CHECKS; None if unknown, as its answers are random or its process had already ended
    passed: dict[str, bool | None]
    ready_ms: float | None  # from the start of the process to `ready`; None if it is not ready
    ms: float | None  # median of the time of an answer; None without answers
    faults: list[Fault]
    random: bool = False  # whether the bot says that it is: after `ready 1`, or in its `bot.toml`

    @property
    def failed(self) -> list[str]:
        """The checks that it does not pass; one that says that it is random need not be deterministic."""
        return [name for name, passed in self.passed.items() if passed is False and not self._excused(name)]

    def _excused(self, name: str) -> bool:
        return name == "deterministic" and self.random

    def notes(self, name: str) -> Notes:
        passed = self.passed[name]
        unknown = "not seen, as it had ended before" if name == "ends" else "not comparable: it is random"
        found = unknown if passed is None else "yes" if passed else "NO"
        excuse = ", and it says that it is random" if self._excused(name) else ""
        return Notes([f"{CHECKS[name]}: {found}{excuse}"], "red" if name in self.failed else "")


class _Match:
    """A match that the bot has played: its answers, with their times in ms, and whether it ended by itself at its end.

    cut: the number of answers before another process takes over. unknown: whether it is sent lines and keys that no
    version of the protocol has. Raises: SandboxClosed.
    """

    def __init__(self, bot: BotPlayer, rules: Rules, *, cut: int = -1, unknown: bool = False) -> None:
        transcript, self._cut = Transcript(rules), cut
        self.answers, self.ms = list[Action | Fault](), list[float]()
        self.seat = bot.join(transcript, 0, rules.seats, ROUNDS)
        self._turn = Turn(bot, self.seat)
        if unknown:  # a line that no version of the protocol has, and a key
            self.seat.dress = lambda text: ["weather 3 fine wind=5", f"{text} mood=good"]
        play_rounds(transcript, SEED, ROUNDS, self._answer)
        self.ended = self.seat.leave(rules.chips)
        self.moves = [*map(_move_text, self.answers)]

    def _answer(self, seat: int, view: View) -> Action:
        if seat:
            return STAND
        if len(self.answers) == self._cut:
            self.seat.replace_process()
        action, fault, reply = self._turn.take(view)
        self.answers.append(fault or action)
        if reply:  # it was asked
            self.ms.append(reply.elapsed_ns / 1e6)
        return action


def check_match(bot: BotPlayer, rules: Rules) -> LineCheck:
    """Play a match as it is, again, with unknown words, and with a cut in the middle. Raises: SandboxClosed."""
    plain, again, unknown = _Match(bot, rules), _Match(bot, rules), _Match(bot, rules, unknown=True)
    cut = _Match(bot, rules, cut=len(plain.answers) // 2)
    faults = [move for move in plain.answers if isinstance(move, Fault)]
    ready = not any(fault.kind in ("not-ready", "start-failure") for fault in faults)
    same = plain.moves == again.moves
    times = sorted(plain.ms)
    passed = {
        "ready": ready,
        "deterministic": same,
        "unknown": unknown.moves == plain.moves if same else None,
        "resumed": cut.moves == plain.moves if same else None,
        "ends": plain.ended,
    }
    random = bot.program.random or plain.seat.ready.get("random") == "1"
    return LineCheck(passed, plain.seat.ready_ms, times[len(times) // 2] if ready and times else None, faults, random)


def play_rounds(transcript: Transcript, seed: int, rounds: int, answer: Callable[[int, View], Action]) -> None:
    """Play the rounds of a match, whose chips are not carried from one to the next."""
    rules, shoe = transcript.rules, open_shoe(transcript.rules, Stream(seed))
    for _ in range(rounds):
        game = Round(rules, shoe, rules.seats)
        transcript.begin_round(range(rules.seats), [rules.chips] * rules.seats, game.events)
        drive(game.steps(), answer)


# --- Show what a bot receives and what it answers: in a whole match, or for one move.


Write = Callable[[str], None]


class TracedSeat:
    """A bot in the first seat of a match, written as lines: > to the bot, < from it, ! faults."""

    def __init__(
        self, bot: BotPlayer, transcript: Transcript, rounds: int, write: Write, strikes: int | None = None
    ) -> None:
        self.write = write
        self.faults = self.asked = 0
        self._errors = b""
        self._line = None
        if bot.protocol == "line":
            self._line = bot.join(transcript, 0, transcript.rules.seats, rounds)
            self._line.trace = write
            self._unready = self._line.start()  # a match without a question shows it too
        self._turn = Turn(bot, self._line, Strikes(strikes))

    def move(self, view: View) -> Action:
        """Ask the bot; a fault counts as a stand."""
        asked = self._turn.asks(view)
        self.asked += asked
        if asked and not self._line:
            self.write(f"> {' '.join(make_argv(view))}")
        action, fault, reply = self._turn.take(view)
        if reply and not self._line:
            self._errors += reply.stderr
            for text in reply.stdout.decode("utf-8", "backslashreplace").strip().split("\n"):
                self.write(f"< {text}")
        if fault:
            self.write(f"! {fault}")
            self.faults += 1
        return action

    def leave(self, chips: int | None = None) -> bytes:
        """End the match; returns what the bot wrote to stderr."""
        if not self._line:
            return self._errors
        if self._unready and not self.asked and (failure := find_failure(self._unready)):
            self.write(f"! {': '.join(failure)}")
            self.faults += 1
        self._line.leave(chips)
        return self._line.log


def trace_match(
    bot: BotPlayer, rules: Rules, others: Player, rounds: int, seed: int, write: Write, strikes: int | None = None
) -> TracedSeat:
    """Play a match with the bot in the first seat, and `others` in the rest; return its seat, still in the match."""
    transcript = Transcript(rules)
    seat = TracedSeat(bot, transcript, rounds, write, strikes)
    play_rounds(transcript, seed, rounds, lambda at, view: ask_action(others, view) if at else seat.move(view))
    return seat


# --- The result of `bjsim bot check`.


@dataclass(frozen=True)
class BotCheck(Described):
    """What was found: the answers in situations, their times, and the match of a line bot.

    It stopped asking early if there are fewer answers than situations `planned`; then nothing is `priced`. `hint` is
    for the author of a bot that is slow to start.
    """

    title: str
    bot: str
    language: str
    rules: Rules
    answers: Sequence[Trial]
    planned: int
    ms: Mapping[str, float | None]  # per move: `median` and `p99`
    match: LineCheck | None = None
    priced: Evaluation | None = None
    hint: str = ""

    @property
    def faults(self) -> Counter[str]:
        asked = (fault.kind for answer in self.answers for fault in answer.faults)
        return Counter([*asked, *(fault.kind for fault in (self.match.faults if self.match else ()))])

    @property
    def passed(self) -> bool:
        return not self.faults and not (self.match and self.match.failed)

    @property
    def deterministic(self) -> bool:
        """Whether it gave the same answer both times in every situation."""
        return all(answer.deterministic for answer in self.answers)

    def describe(self) -> Report:
        """The moves, their speed, faults and exact value, and the checks in a match."""
        rows: dict[str, dict[str, Trial]] = {}
        for answer in self.answers:
            rows.setdefault(answer.situation.row, {})[answer.situation.view.dealer] = answer
        dealer = dict.fromkeys(answer.situation.view.dealer for answer in self.answers)
        columns = [DataColumn("", "hand", itemgetter(0), is_text=True), *map(_column, dealer)]
        checks = [self.match.notes(name) for name in CHECKS] if self.match else []
        parts = [
            DataTable("", columns, list(rows.items()), "moves, by hand and dealer's card", turns=False),
            Notes([LEGEND]),
            Notes(self._speed()),
            *self._faults(),
            *self._value(),
            *checks,
            Notes(self._match_speed()),
        ]
        return Report(self.title, [], parts, [self.rules], data=self._data)

    def _speed(self) -> list[str]:
        lines, median, p99 = [], self.ms["median"], self.ms["p99"]
        if median is not None and p99 is not None:
            moves = sum(len(answer.moves) + len(answer.after) for answer in self.answers)
            speed = f"{median:.2f} ms per move (median), {p99:.2f} ms (99th percentile)"
            lines = [f"{moves:,} moves, {speed}", *filter(None, [self.hint])]
        return lines if self.deterministic else [*lines, "non-deterministic: two different moves in the same situation"]

    def _faults(self) -> list[Notes]:
        kinds = [f"{kind} {count}" for kind, count in self.faults.items()]
        untried = f"{self.planned - len(self.answers)} of {self.planned} situations not tried"
        stopped = [f"stopped asking after {' and '.join(kinds)}: {untried}"] if len(self.answers) < self.planned else []
        said = f"a contest would record faults: {', '.join(kinds)}" if kinds else "no faults"
        return [Notes(stopped), Notes([said], "red" if kinds else "green")]

    def _value(self) -> list[Any]:
        """The exact value of the moves with two cards, and that they are all the same, if so."""
        moves = {_move_text(answer.moves[0]) for answer in self.answers}
        same = len(moves) == 1 and isinstance(self.answers[0].moves[0], Action)
        warning = f"the same move everywhere ({min(moves, default='')}): does the bot read its arguments?"
        warnings = Notes([warning] if same else [], "warning")
        if (priced := self.priced) is None:
            both = "no exact value: the dealer's cards are both open, and not all pairs of them are asked"
            return [warnings, Notes([both] if self.rules.dealer_shows == "both" else [])]
        others = f"the best chart {float(priced.solution.value):+.4f}, lim17 {self._lim17:+.4f}"
        value = f"{priced.value:+.4f} bets a hand; {others}"
        lines = [f"its moves with two cards, and in the same rows later: {value}"]
        if dearest := max(priced.cells, key=lambda cell: cell.cost, default=None):
            what = f"{dearest.row} v {dearest.column}, {dearest.chart[0]}, best {dearest.best[0]}"
            lines.append(f"dearest mistake: {what}, {dearest.cost:.4f} bets a hand")
        return [
            warnings,
            Notes(lines),
            Only("page", lambda: priced.describe().parts),
        ]

    @cached_property
    def _lim17(self) -> float:
        return evaluate_chart(CATALOGUE["lim17"].chart(self.rules)).value

    def _match_speed(self) -> list[str]:
        if self.match is None or self.match.ready_ms is None or self.match.ms is None:
            return []
        return [f"ready in {self.match.ready_ms:.1f} ms, {self.match.ms:.3f} ms per answer (median)"]

    def _data(self) -> dict[str, Any]:
        found = {
            "bot": self.bot,
            "language": self.language,
            "rules": self.rules.to_dict(),
            "ms_per_move": self.ms,
            "deterministic": self.deterministic,
            "faults": self.faults,
            "untried": self.planned - len(self.answers),
            "answers": [
                {
                    "argv": make_argv(answer.situation.view),
                    "moves": [_move_text(move) for move in answer.moves],
                    "ms": answer.ms,
                    "after": [_move_text(move) for move in (*answer.after, answer.cap) if move],
                }
                for answer in self.answers
            ],
        }
        if match := self.match:
            found["match"] = {"ready_ms": match.ready_ms, "ms": match.ms, "random": match.random, **match.passed}
        return found


LEGEND = (
    "after a slash: earlier actions in the hand; !: a fault (after a move: later in the hand); "
    "?: a different move when asked a second time"
)


def _column(card: str) -> DataColumn:
    """The moves against a card of the dealer; a row is a hand with its answers by card."""
    return DataColumn(
        "",
        card,
        lambda row: row[1][card].text if card in row[1] else "",
        is_text=True,
        style=lambda row: row[1][card].style if card in row[1] else "",
    )


def _move_text(move: Action | Fault) -> str:
    return move.kind if isinstance(move, Fault) else str(move)
