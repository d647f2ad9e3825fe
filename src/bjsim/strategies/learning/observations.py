"""Observations and action masks: what the environments show of a game."""

import hashlib
import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache, reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bjsim.arrays import Array
from bjsim.errors import InputError, shorten
from bjsim.sim.engine.compiled_rules import number_hands
from bjsim.sim.game.actions import ATTACK, EXCHANGE, INSURANCE, LETTERS, NAMES, SPLIT, View
from bjsim.sim.game.automaton import Decision, Finished
from bjsim.sim.game.cards import count_points, parse_rank
from bjsim.sim.game.hand_states import DEALER_NATURAL, ORIGINAL_BET, WHOLE, HandState
from bjsim.sim.game.presets import RulesLike, load_rules
from bjsim.sim.game.rules import Rules
from bjsim.sim.game.states import States
from bjsim.sim.game.support import need
from bjsim.strategies.charts.chart import CODES, INSURANCE_ROW, Chart, StatePlayer, actions_of
from bjsim.strategies.evaluation.compare import Evaluation, evaluate_chart
from bjsim.strategies.exact.solver import Solver
from bjsim.strategies.exact.values import Means
from bjsim.sums import add_up

MAX_HANDS = 9  # greatest number of hands in an observation, unless the rules set a smaller limit

Observation = NDArray[np.int64]
Mask = NDArray[np.int8]


class Encoder:
    """Encodes the decisions of a game as integers; `BlackjackEnv` describes them.

    `columns` has what the dealer may show, `letters` the letters of the actions by number, `sizes` the number of
    values of each feature; `most_hands` is the greatest number of hands in an observation.
    """

    def __init__(self, rules: Rules) -> None:
        need(rules, "environment")
        self.rules = rules
        self.states = States(rules)
        self.columns = self.states.columns
        self.letters = LETTERS + INSURANCE[0] * rules.insurance
        self.most_hands = int(min(rules.most_hands, MAX_HANDS))
        self._melds = {meld: i for i, meld in enumerate(sorted({hand.meld for hand in self.states.reachable()}))}
        cards = max(6, self.states.counted)
        kinds = 6 if rules.free_splits != "none" else 3 * (1 + rules.max_doubles * self.states.plays_doubled)
        sizes = [23, 2, cards + 1, 14, len(self._melds), kinds, len(self.columns) + 1, self.most_hands + 1]
        self.sizes = np.array(sizes, np.int64)
        self._masks: dict[str, Mask] = {}

    def features(self, state: HandState) -> tuple[int, ...]:
        """The features of a hand: all but what the dealer shows, and the number of hands."""
        pair = max(state.rank + 1, 0) if state.cards == 2 else 0
        meld = self._melds.get(state.meld, 0)  # a hand of one card may have none
        kind = state.split + 3 * ((state.risk == 0) + state.doubled)
        return state.points, int(state.soft), state.cards, pair, meld, kind

    def observation(self, view: View) -> Observation:
        state, column, legal = self.states.situation(view)
        shown = self.columns.index(column) if column in self.columns else len(self.columns)
        hands = 0 if legal == INSURANCE else min(view.hands, self.most_hands)
        return np.array((*self.features(state), shown, hands), np.int64)

    def mask(self, legal: str) -> Mask:
        """1 for each legal action, else 0; `legal` has their letters."""
        if legal not in self._masks:
            self._masks[legal] = np.array([letter in legal for letter in self.letters], np.int8)
        return self._masks[legal].copy()

    def spaces(self) -> tuple[Any, Any]:
        """The observation space and the action space."""
        from gymnasium import spaces

        return spaces.MultiDiscrete(self.sizes), spaces.Discrete(len(self.letters))


# --- The exact value of every action in every observation, as arrays that environments look up.
#
# The values are those of `Solver`: of the infinite shoe, whatever the game's own. They are expected profits of the hand
# in play, in initial bets, when best play follows. The profits of a round's hands add, so the other hands of a split
# can be left out, but for the room that a further split takes from them. The value of insurance is that of the
# insurance bet.
#
# Only splits are not valued as by `Means`, which splits every further pair. That is right wherever the first split is;
# after a wrong one, best play splits no more, so wrong splits have greater values here.


PAYOFF, LUCK_ADJUSTED = "payoff", "luck-adjusted"  # what an environment may reward


class DecisionValues:
    """Looks up the values of the actions of many decisions at once.

    `start` is the value of the game, in initial bets, and `number` the number of each state of a hand, as in
    `number_hands`; `peeked` is the column number of rounds that the dealer's natural has ended, `insurance` that
    of insurance offers. The game must have a finite value, and split hands that can be valued one by one.
    """

    def __init__(self, rules: Rules) -> None:
        encoder, self._solver = Encoder(rules), Solver(rules)
        states, self._letters = self._solver.states, encoder.letters
        if reason := self._solver.infinite_because:
            raise InputError(f"{rules.name} has no decision values: {reason}")
        if states.one_and_busted and rules.most_hands > 1:
            raise InputError(
                f"{rules.name} has no decision values: with no_hole_loses = busted-plus-one, what a split hand "
                "loses depends on the hands before it; accepted are all, original, or max_hands = 1"
            )
        self.start = float(self._solver.best_value)
        hands = number_hands(states)[0]
        self.number = {hand: number for number, hand in enumerate(hands)}
        labels = list(self._solver.columns)
        self.peeked, self.insurance = len(labels), len(labels) + 1
        self._split = encoder.letters.index(SPLIT.letter)
        self._table = np.full((len(hands), len(labels) + 2, len(encoder.letters)), -math.inf)
        for number, hand in enumerate(hands):
            if hand.cards > 1 and hand.points <= 21:
                self._fill(number, hand)
        self._pair, self._again = self._further_splits(hands)

    def look_up(self, hand: Array, column: Array, held: Array, pending: Array, mask: Array) -> tuple[Array, Array]:
        """Return the values of the legal actions, and these less that of the best, float64 (N, A).

        `hand` has the states of N hands by number; `column` the numbers of what the dealers show, or `peeked`, or
        `insurance`; `held` the numbers of hands of the seats; `pending` how many of these need their second card,
        besides the hand. `mask` is (N, A); results are -inf where an action is not legal.
        """
        _, columns, actions = self._table.shape
        values = self._table.reshape(-1, actions).take(hand * columns + column, axis=0)
        if len(self._again):
            again = np.flatnonzero((held > 1) & (self._pair.take(hand) >= 0))
            where = self._pair[hand[again]], column[again], pending[again], held[again]
            values[again, self._split] = self._again[where]
        values = np.where(mask, values, -math.inf)
        best = reduce(np.maximum, values.T)  # several times as fast as a maximum along the short axis
        best = np.where(best > -math.inf, best, 0.0)  # no action is legal once the round is over
        return values, values - best[:, None]

    def look_up_view(self, view: View, column: int, mask: Array) -> tuple[Array, Array]:
        """The same for one decision, as arrays over the actions."""
        hand = self.number[self._solver.states.situation(view).state]
        number, shown, held, pending = np.array([[hand], [column], [view.hands], [view.pending]])
        values, advantages = self.look_up(number, shown, held, pending, mask[None])
        return values[0], advantages[0]

    def _fill(self, number: int, hand: HandState) -> None:
        solver, states, table = self._solver, self._solver.states, self._table[number]
        whole = hand.split == WHOLE
        for i, (label, means) in enumerate(solver.best.items()):
            for letter in means.automaton.legal(hand) or "S":
                value = means.act(hand, letter) if letter != SPLIT.letter else _split(means, hand, 0, 1 if whole else 2)
                table[i, self._letters.index(letter)] = float(value)
            if whole and hand.cards == 2 and states.legal(hand) and (odds := float(solver.columns[label].natural_odds)):
                table[i] = (table[i] - odds) / (1 + odds)  # early surrender: the odds that a natural takes the bet
        if whole:
            profit, tied = states.settle(states.result(hand), 1, DEALER_NATURAL)
            table[self.peeked, 0] = float(profit) + tied * float(solver.tie_value)
        if INSURANCE[0] in self._letters:
            table[self.insurance, [0, -1]] = 0.0, (3 * float(solver.rules.ten_probability) - 1) / 2

    def _further_splits(self, hands: list[HandState]) -> tuple[Array, Array]:
        """The number of each pair of split hands, or -1; and the value of its split, by column, pending, held hands."""
        states = self._solver.states
        limits = {
            hand: int(limit)
            for hand in hands
            if hand.cards == 2 and hand.split != WHOLE and "P" in states.legal(hand)
            if 2 < (limit := states.hand_limit(states.split(hand))) < math.inf
        }
        most = max(limits.values(), default=0)
        again = np.full((len(limits), self.peeked, most, most + 1), -math.inf)
        for pair, (hand, limit) in enumerate(limits.items()):
            for i, means in enumerate(self._solver.best.values()):
                for held in range(2, limit):
                    again[pair, i, :held, held] = [float(_split(means, hand, pending, held)) for pending in range(held)]
        numbers = {hand: pair for pair, hand in enumerate(limits)}
        return np.array([numbers.get(hand, -1) for hand in hands]), again


def _split(means: Means, pair: HandState, pending: int, held: int) -> Any:
    """What a split adds for a seat of `held` hands of which `pending` more need their second card, at best play.

    Every further pair is split, or none: whether that gains is the same for all of them.
    """
    automaton = means.automaton
    hand, later = automaton.split(pair), automaton.covered(pair)
    alone, others = (
        add_up(means.number(p) * means.value(after, False) for p, after in automaton.draws(one))
        for one in (hand, automaton.split(later))
    )
    before = max(means.waiting(later, pending, held), pending * others)
    if held > 1 or not automaton.original_only:
        return max(means.waiting(pair, pending + 2, held + 1), alone + (pending + 1) * others) - before
    return max(means.act(pair, SPLIT.letter), 2 * alone + means.leaf(Finished(ORIGINAL_BET)))


@lru_cache(maxsize=8)
def decision_values(rules: Rules) -> DecisionValues:
    """The values of a game, made once for all its environments."""
    return DecisionValues(rules)


def environment_values(rules: Rules, values: bool, reward: str) -> DecisionValues | None:
    """Return what an environment needs to give values or adjust rewards for luck; None if it does neither."""
    if reward not in (PAYOFF, LUCK_ADJUSTED):
        raise InputError(f"reward = {reward!r}; accepted are {PAYOFF} and {LUCK_ADJUSTED}")
    if reward == LUCK_ADJUSTED and rules.decks != math.inf:
        raise InputError(
            f"reward = {LUCK_ADJUSTED} needs decks = inf, as the values are those of an infinite shoe; "
            f"{rules.name} has decks = {rules.decks:g}"
        )
    return decision_values(rules) if values or reward == LUCK_ADJUSTED else None


# --- A policy over the observations of the environments as a player, which compiled rounds can play.


BatchPolicy = Callable[[Array, Array], Array]
SinglePolicy = Callable[[Array, Array], int]


class PolicyPlayer(StatePlayer):
    """A policy as a player: it is asked once about every decision of the game, in one batch.

    The policy should be a function of its arguments: the answers of a random one are a sample. A hand is shown as
    the only one of its seat, a split hand as one of two, and a pair that the limit of hands keeps from being split
    with as many hands as the limit. As in the environments, an answer that is not legal stands; `illegal` counts them.

    With `batched`, `policy` is a function of observations, int64 (n, 8), and action masks, int8 (n, actions), to n
    actions; else of one observation and mask to one action. See `BlackjackEnv`.
    """

    def __init__(
        self, rules: RulesLike, policy: BatchPolicy | SinglePolicy, *, batched: bool = True, name: str = "policy"
    ) -> None:
        encoder = Encoder(load_rules(rules))
        self.name, self.rules, self.states = name, encoder.rules, encoder.states
        decisions = list(_decisions(encoder))
        observations = np.array([_observation(encoder, *decision) for decision in decisions], np.int64)
        masks = np.array([encoder.mask(legal) for _, _, legal in decisions])
        actions = _ask(policy, observations, masks, batched)
        letters = [encoder.letters[action] for action in actions]
        self._answers = {
            decision: letter if letter in decision[2] else "S"
            for decision, letter in zip(decisions, letters, strict=True)
        }
        self.digest = hashlib.sha256(repr(sorted(map(repr, self._answers.items()))).encode()).hexdigest()
        self.illegal = sum(letter not in legal for (*_, legal), letter in zip(decisions, letters, strict=True))

    def policy(self, state: HandState, column: str, legal: str) -> str:
        if legal != INSURANCE or state.cards:
            full = self.states.against(column).legal(state)
            usual = (
                legal if (state, column, legal) in self._answers else full if "P" in legal else full.replace("P", "")
            )
            answer = self._answers[state, column, usual]
            return answer if answer in legal else "S"  # chips may not suffice for it
        answers = {answer for (_, _, asked), answer in self._answers.items() if asked == INSURANCE}
        if len(answers) > 1:  # a solver asks before the hand is known, as its cards say nothing about the dealer's
            raise InputError(f"{self.name} insures some hands and not others; judge_policy makes a chart of it")
        return answers.pop()


def _decisions(encoder: Encoder) -> Iterator[tuple[HandState, str, str]]:
    for state in encoder.states.reachable():
        for decision in (Decision(state), Decision(state, False))[: 1 + ("P" in encoder.states.legal(state))]:
            for column in encoder.columns:
                if letters := decision.legal(encoder.states.against(column)):
                    yield state, column, letters
    if encoder.rules.insurance:
        yield from ((state, "A", INSURANCE) for state in encoder.states.starts)


def _observation(encoder: Encoder, state: HandState, column: str, legal: str) -> tuple[int, ...]:
    hands = 2 if state.split != WHOLE else 1
    if legal == INSURANCE:
        hands = 0
    elif "P" in encoder.states.legal(state) and "P" not in legal:
        hands = int(min(encoder.rules.hand_limit(aces=state.rank == 0), encoder.most_hands))
    return *encoder.features(state), encoder.columns.index(column), hands


def _ask(policy: BatchPolicy | SinglePolicy, observations: Array, masks: Array, batched: bool) -> Array:
    if batched:
        actions = np.asarray(policy(observations, masks))
    else:
        actions = np.array([policy(*question) for question in zip(observations, masks, strict=True)])
    if actions.shape != (len(observations),) or actions.dtype.kind not in "iu":
        raise InputError(
            f"the policy returned {actions.dtype} {actions.shape} for {len(observations)} observations; accepted are "
            f"integers ({len(observations)},)"
        )
    number = masks.shape[1]
    if actions.min() < 0 or actions.max() >= number:
        wrong = actions[(actions < 0) | (actions >= number)][0]
        raise InputError(f"the policy returned the action {wrong}; accepted are 0 to {number - 1}")
    return actions


# --- Decisions as text for a language model: a prompt in plain English, and the action that an answer names.
#
# An answer is not guessed at: one that names two actions, or says what not to do, is an error. If it states its action,
# as in `Action: hit`, only that counts.


CARDS = {"A": "ace", "T": "10", "J": "jack", "Q": "queen", "K": "king"}
WORDS = {  # not `stands` and `hits`, which the dealer does
    "S": r"stand(?:ing)?|stick(?:ing)?|stay(?:ing)?",
    "H": r"hit(?:ting)?",
    "D": r"doubl(?:e|ing)(?![- ]check)",
    "P": r"split(?:ting)?",
    "R": r"surrender(?:ing)?",
    "I": r"insur(?:e|ing|ance)",
}
INSURANCE_WORDS = {"S": rf"declin(?:e|ing)|no|{WORDS['S']}", "I": rf"yes|{WORDS['I']}"}
NEGATION = re.compile(r"\b(?:not|never|cannot|avoid|instead of|rather than|dont|\w+n't)\b")
STATED = re.compile(r"\b(?:action|answer|decision|move)\W*(?::|=|\bis\b)|\\boxed\{|<(?:action|answer)>")
ENDS = re.compile(r"[.;(}<\n]|\b(?:because|since)\b")  # of what is stated


def write_prompt(view: View) -> str:
    """Describe a decision in plain English, in a few short sentences, and ask for one word."""
    names = list(_choices(view).values())
    hand = f"You hold {_cards(view.hand)}."
    if view.split:
        hand += f" The hand comes from a split; you have {view.hands} hands."
        hand += " The house put up the bet on this one." if view.free else ""
    if view.doubled:
        hand += f" It has doubled; its stake is {2**view.doubled} bets."
    choice = " or ".join(filter(None, [", ".join(names[:-1]), names[-1]]))
    return f"{hand} The dealer shows {_cards(view.dealer)}. You may {choice}. Answer with one word."


def _choices(view: View) -> dict[str, str]:
    """The names of the actions that are asked for, by letter. How much to raise is not."""
    if view.legal in (ATTACK, EXCHANGE):
        raise InputError(f"attacks and exchanges have no prompt; the legal actions are {view.legal}")
    names = NAMES | {"I": "insure"} | ({"S": "decline"} if view.legal == INSURANCE else {})
    return {letter: names[letter] for letter in view.legal if letter != "B"}


def parse_answer(answer: str, view: View) -> int:
    """Return the number of the action that an answer names, in words or as a single letter.

    `answer` is such as `H`, `I would hit.`, or any reasoning that ends with `Action: double`, where the last
    action stated like this counts. No action, several, a negated or an illegal one is an InputError.
    """
    text = answer.lower().replace("\u2019", "'")
    if stated := [match.end() for match in STATED.finditer(text)]:
        text = ENDS.split(text[stated[-1] :].lstrip(), maxsplit=1)[0]
    words = INSURANCE_WORDS if view.legal == INSURANCE else WORDS
    text = text.replace("no insurance", "decline")
    found = {letter for letter, pattern in words.items() if re.search(rf"\b(?:{pattern})\b", text)}
    alone = re.sub(r"[\W_]", "", text).upper()
    if len(alone) == 1 and alone in (INSURANCE if words is INSURANCE_WORDS else LETTERS):
        found = {alone}
    choices = _choices(view)
    if NEGATION.search(text):
        problem = "says what not to do"
    elif len(found) != 1:
        problem = "names several actions" if found else "names no action"
    elif not found <= choices.keys():
        problem = f"is not legal here ({(NAMES | {'I': 'insure'})[min(found)]})"
    else:
        return (LETTERS + INSURANCE[0]).index(min(found))
    raise InputError(f"the answer {shorten(answer)!r} {problem}; accepted is one of {', '.join(choices.values())}")


def _cards(letters: str) -> str:
    """Cards in words, with their points if there are several: `10 and 6 (hard 16)`."""
    names = [CARDS.get(letter, letter) for letter in letters]
    if len(names) == 1:
        return f"{'an' if letters in 'A8' else 'a'} {names[0]}"
    points, soft = count_points([parse_rank(letter) for letter in letters])
    return f"{', '.join(names[:-1])} and {names[-1]} ({'soft' if soft else 'hard'} {points})"


# --- Judges any policy over the observations of the environments: its chart, with the exact value and regret.


@dataclass(frozen=True)
class JudgedPolicy:
    """A policy as a chart, compared with the best one, with the cost of every wrong cell.

    `exceptions` has decisions in which the policy plays differently from its chart, such as `A7 v 9 (split hand)`:
    a chart has one cell for all hands of a row. `illegal` decisions have an answer that is not legal, and stand.
    """

    evaluation: Evaluation
    exceptions: tuple[str, ...]
    illegal: int = 0

    @property
    def chart(self) -> Chart:
        return self.evaluation.chart

    @property
    def value(self) -> float:
        """The exact value of the chart, in initial bets per settled bet."""
        return self.evaluation.value

    @property
    def regret(self) -> float:
        """The value of the best chart less that of this one."""
        return self.evaluation.difference


def judge_policy(
    rules: RulesLike, policy: BatchPolicy | SinglePolicy, *, batched: bool = True, name: str = "policy"
) -> JudgedPolicy:
    """Turn a policy into a chart, compute its exact value and regret, and list where the two differ.

    `policy` maps observations and action masks to actions, all at once if `batched`; see `PolicyPlayer`.
    """
    player = PolicyPlayer(rules, policy, batched=batched, name=name)
    states, rows = player.states, _rows(player.states)
    insured = 0.0
    if player.rules.insurance:
        insured = add_up(float(p) for state, p in states.starts.items() if player.policy(state, "A", INSURANCE) == "I")
    cells = {(row, column): _best_code(player, rows[row], column) for row in rows for column in states.columns}
    chart = Chart(name, player.rules, cells, "made from a policy", "I" if insured > 0.5 else "S")
    return JudgedPolicy(evaluate_chart(chart), _exceptions(player, chart, rows), player.illegal)


def _exceptions(player: PolicyPlayer, chart: Chart, rows: dict[str, list[Decision]]) -> tuple[str, ...]:
    found = []
    for row, decisions in rows.items():
        for column in player.states.columns:
            for decision in decisions:
                question = decision.state, column, decision.legal(player.states.against(column))
                if player.policy(*question) != chart.policy(*question):
                    found.append(f"{row} v {column}{_kind(decision)}")
    for state in player.states.starts if player.rules.insurance else ():
        if player.policy(state, "A", INSURANCE) != chart.insurance:
            found.append(f"{INSURANCE_ROW} with {player.states.rows_of(state)[0]}")
    return tuple(dict.fromkeys(found))


def _kind(decision: Decision) -> str:
    return " (split hand)" if decision.state.split else "" if decision.state.cards == 2 else " (more cards)"


def _rows(states: States) -> dict[str, list[Decision]]:
    """The decisions that are looked up in each row of a chart, those with the most choice first."""
    rows: dict[str, list[Decision]] = {}
    for state in states.reachable():
        for decision in (Decision(state), Decision(state, False))[: 1 + ("P" in states.legal(state))]:
            if decision.legal(states):
                rows.setdefault(states.rows_of(state, decision.may_split)[0], []).append(decision)
    for decisions in rows.values():
        decisions.sort(key=lambda decision: (decision.state.split != WHOLE, -len(decision.legal(states))))
    return rows


def _best_code(player: PolicyPlayer, decisions: list[Decision], column: str) -> str:
    """The code that plays the first decision of a row as the policy does, and most of the others."""
    legal = [decision.legal(player.states.against(column)) for decision in decisions]
    wanted = [
        player.policy(decision.state, column, letters) for decision, letters in zip(decisions, legal, strict=True)
    ]

    def agreement(code: str) -> tuple[bool, int]:
        actions = actions_of(code, player.rules)
        taken = [next((action for action in actions if action in letters), "H") for letters in legal]
        return taken[0] == wanted[0], sum(one == other for one, other in zip(taken, wanted, strict=True))

    return max(CODES, key=agreement)
