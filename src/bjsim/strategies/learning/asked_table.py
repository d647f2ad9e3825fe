"""The hands of one seat as rows that ask at every decision, built from the automaton for environments that answer.

The round table of no chart at all would be large, so its parts are walked one after another: the deal, the seat's
hands, and the dealer's hand. The seat counts its hands and the pending ones; rows only know whether any is pending.
"""

from typing import NamedTuple

import numpy as np

from bjsim.arrays import Array
from bjsim.sim.engine.compiled_rules import Policy, compile_rules, number_hands
from bjsim.sim.engine.kernels.layout import CHOICE, NO_LIMIT, SPLIT, CompiledRules
from bjsim.sim.engine.round_table import explore
from bjsim.sim.engine.transitions import ASK, DEALER, OVER, Moves, State, Transitions
from bjsim.sim.game.actions import CODES, INSURANCE, ActionCode
from bjsim.sim.game.cards import RANKS
from bjsim.sim.game.hand_states import HandState
from bjsim.sim.game.states import States

WIDE_BITS = 4
WIDE = 1 << WIDE_BITS  # entries of a row: of ranks, or of actions
NEEDS = 3  # see `State.need`
ASKED = CODES | {INSURANCE[0]: int(ActionCode.INSURE)}  # codes of the actions that a seat is asked for


class AskedTable(NamedTuple):
    """The parts of a round; rows are named by the number of their first entry, and row 0 is the end of a part."""

    deal: Array  # the next row of the deal after a card; from the last card on, WIDE times the dealt hands' number
    dealt: Array  # row, states of the hand and the dealer, and shown column by the number of the dealt hands, (n, 4)
    after: Array  # the row of the seat's hands after a card or action, or -1 - e for split event e
    hand: Array  # state of the hand after the card
    payoff: Array  # payoff vector of the last hand, where entries end the seat's hands
    need: Array  # maximum of `CompiledRules.waits` over its bets
    first_ask: int  # the first row that asks
    legal: Array  # legal actions by row / WIDE, a bit for each; the seat's number of hands may forbid a split
    limit: Array  # A seat with this many hands cannot split the row's hand
    unasked: Array  # whether a row does not ask from there on
    insures: Array  # whether a row asks for insurance
    pending: Array  # whether a further hand is pending, 0 or 1
    peeked: Array  # whether a state of the dealer as dealt is a natural that has ended the round
    # what happens in a split: next row; row instead if more hands are pending, or -1; payoff vector; need; whether a
    # split; whether more hands are pending now, (e, 6)
    events: Array
    settled: Array  # row of the dealer by need and state of the dealer, (3, D)
    dealer: Array  # the row of the dealer after a card. Those of the first rows are WIDE times the dealer's outcome.
    codes: Array  # payoff codes by payoff vector and outcome, (V, O)


class HandTransitions(Transitions):
    """The automaton without the dealer's hand: rounds are over once the seat's hands are, and log 3 v + need.

    Splits have no limit here; the environment counts the hands and enforces the limit.
    """

    def __init__(self, compiled: CompiledRules) -> None:
        super().__init__(compiled._replace(hand_limit=np.full_like(compiled.hand_limit, NO_LIMIT)))

    def _settle(self, moves: Moves, at: Array, states: State, vector: Array) -> None:
        if (states.what == DEALER).all():
            super()._settle(moves, at, states, vector)
        else:
            moves.label[at] = NEEDS * vector + states.need

    def project(self, words: Array) -> Array:
        """The states without what hands do not depend on. Only an answer on insurance depends on the dealer."""
        states = self.unpack(np.maximum(words, 0))
        keeps = (states.what == ASK) & (states.step == 1)
        _, first, kind = np.unique(self.act, axis=2, return_index=True, return_inverse=True)
        projected = states._replace(
            column=np.where(keeps, states.column, first[kind.ravel()][states.column]),
            dealer=np.where(keeps, states.dealer, 0),
            shown=np.where(keeps, states.shown, 0),
            need=np.zeros_like(states.need),
            pending=np.minimum(states.pending, 1),
        )
        return np.where(words < 0, words, self.pack(projected))

    def settle_all(self) -> Moves:
        """What follows the seat's hands by need and the dealer's state."""
        dealers, shown = len(self.compiled.dealer_add), min(int(self.compiled.deal.sum()), 2)
        count = NEEDS * dealers
        states = self.unpack(np.repeat(self.start, count))._replace(
            what=np.full(count, DEALER),
            need=np.repeat(np.arange(NEEDS), dealers),
            dealer=np.tile(np.arange(dealers), NEEDS),
            hands=np.full(count, 2),  # so that ends have the dealer's outcome
            shown=np.full(count, shown),
        )
        moves = Moves(np.full(count, OVER), np.zeros(count, np.int64), np.zeros(count, np.bool_))
        self._settle(moves, np.arange(count), states, np.zeros(count, np.int64))
        return moves


def ask_everywhere(states: States, letters: str) -> CompiledRules:
    """Compile rules for a seat that is asked at every decision, and once about hands that can only stand.

    The numbers of choices are the legal actions, a bit for each; `letters` has the actions' letters by number.
    """
    compiled = compile_rules(states.rules, [_always(letter) for letter in letters], states)
    hands, columns = number_hands(states)[0], len(compiled.ended_column)
    codes = np.array([ASKED[letter] for letter in letters])[:, None, None]
    dealt = np.isin(np.arange(len(hands)), [hands.index(hand) for hand in states.starts])[:, None]
    chosen = compiled.act[:, 1] == codes
    shown, takes = chosen[..., :columns], chosen[..., :columns]
    early = compiled.ended_column >= 0  # a natural has ended the round, but the seat does not know it
    ended = chosen[..., compiled.ended_column] & early & (codes == ASKED["R"])
    shown = np.concatenate([shown, shown & early & dealt, chosen[..., -1:]], axis=2)
    takes = np.concatenate([takes, ended & dealt, chosen[..., -1:]], axis=2)
    stands = shown.any(axis=0) | dealt
    stands[:, -1] = shown[..., -1].any(axis=0)
    shown[0] = takes[0] = stands
    legal, bits = (shown << np.arange(len(letters))[:, None, None]).sum(axis=0), (takes << codes).sum(axis=0)
    act = np.where(bits > 0, CHOICE * (1 + legal) + bits, 0)
    return compiled._replace(
        act=np.stack([act, act])[None],
        ended_column=columns + np.arange(columns),
        numbers=compiled.numbers._replace(round_robin=0),
    )


def make_asked_table(rules: CompiledRules, states: States, letters: str) -> AskedTable:
    """Make the table of the rules of `ask_everywhere`; `letters` has the actions' letters by number."""
    transitions = HandTransitions(rules)
    deal, dealt = _deal(transitions)
    fresh = np.unique(transitions.project(dealt))
    # The automaton includes a pair of tens, which a Spanish deck lacks and which ends as soon as it is dealt.
    words, cells = _explore(transitions, fresh[fresh >= 0], letters)
    asks = np.argsort(transitions.asks(words), kind="stable")  # rows that ask are the last
    words, cells = words[asks], cells[:, asks]
    hands, first_ask = transitions.unpack(words), 1 + int((~transitions.asks(words)).sum())
    legal = np.where(hands.what == ASK, transitions.choices(words) // CHOICE - 1, 0)
    by_word = np.argsort(words)

    def row_of(word: Array) -> Array:
        place = np.searchsorted(words, np.maximum(word, 0), sorter=by_word).clip(max=len(words) - 1)
        return np.where(word < 0, 0, WIDE * (1 + by_word[place]))

    after, pending, label, need, splits = cells
    rare, over = (pending != OVER) | (splits > 0) | ((label > 0) & (after != OVER)), after == OVER
    vector = np.where(over, label // NEEDS, label)
    events = [row_of(after), np.where(pending == OVER, -1, row_of(pending)), vector, need, splits > 0, splits == 2]
    followed = row_of(after)
    followed[rare] = -1 - np.arange(rare.sum())
    hand = np.zeros_like(after)
    hand[: first_ask - 1, : len(RANKS)] = rules.add[hands.hand[: first_ask - 1]]
    insures = (hands.what == ASK) & (hands.step == 1)
    begins, columns = transitions.unpack(dealt), len(rules.ended_column)
    ended = columns if states.rules.dealer_shows == "both" else begins.column - columns
    shown = np.where(begins.column < columns, begins.column, ended)
    table = AskedTable(
        deal=deal,
        dealt=np.stack([row_of(transitions.project(dealt)), begins.hand, begins.dealer, shown], axis=1),
        after=_flat(followed),
        hand=_flat(hand),
        payoff=_flat(np.where(over, vector, 0)),
        need=_flat(need),
        first_ask=WIDE * first_ask,
        legal=np.insert(legal, 0, 0).astype(np.uint8),
        limit=np.insert(rules.hand_limit[hands.hand], 0, 0),
        unasked=np.insert((hands.hands > 1) & (legal == 1 | 1 << letters.index("P")), 0, False),
        insures=np.insert(insures, 0, False),
        pending=np.insert(hands.pending, 0, 0),
        peeked=rules.dealer_out == rules.numbers.ending_outcome,
        events=np.stack([np.broadcast_to(each, rare.shape)[rare] for each in events], axis=1).astype(np.int64),
        **_dealer(transitions),
    )
    return _skip_stands(table)


def _skip_stands(table: AskedTable) -> AskedTable:
    """After an answer on insurance, hands that can only stand do."""
    rows = np.flatnonzero(table.insures)[:, None] * WIDE + np.arange(WIDE)
    to = table.after[rows]
    rows, to = rows[table.legal[to // WIDE] == 1], to[table.legal[to // WIDE] == 1]
    for field in (table.after, table.payoff, table.need):
        field[rows] = field[to]
    return table


def _flat(entries: Array) -> Array:
    """Entries by row and card, (n, WIDE), after those of row 0."""
    return np.concatenate([np.zeros(WIDE, np.int64), entries.ravel()])


def _draw(transitions: Transitions, words: Array) -> Moves:
    """What follows a card of each rank, by state and rank."""
    return transitions.follow(np.repeat(words, len(RANKS)), np.tile(np.arange(len(RANKS)), len(words)))


def _deal(transitions: Transitions) -> tuple[Array, Array]:
    words, rows, begin = transitions.start, [], 0
    for _ in transitions.compiled.deal:
        to = _draw(transitions, words).word
        begin += len(words)
        words, number = np.unique(to, return_inverse=True)
        rows.append(np.zeros((len(number) // len(RANKS), WIDE), np.int64))
        rows[-1][:, : len(RANKS)] = WIDE * (begin + number.reshape(-1, len(RANKS)))
    rows[-1] -= WIDE * begin
    return np.concatenate(rows).ravel(), words


def _explore(transitions: HandTransitions, fresh: Array, letters: str) -> tuple[Array, Array]:
    """Return all states of the seat's hands, ascending, (n,), and their entries, (5, n, WIDE).

    These are the next state, or OVER; the state if more hands are pending, or OVER; the label; the need; and 1 for
    a split, 2 for one while a hand is pending.
    """
    codes = np.array([ASKED[letter] for letter in letters])
    found = []

    def follow(fresh: Array) -> Array:
        asks, chart = transitions.asks(fresh), transitions.choices(fresh)
        legal = (chart[:, None] >> codes & 1 > 0) & asks[:, None]
        cards = np.tile(np.arange(WIDE), (len(fresh), 1)).clip(max=len(RANKS) - 1)
        actions = np.where(legal, codes, codes[0])
        cards[asks, : len(codes)], cards[asks, len(codes) :] = actions[asks], codes[0]
        moves = transitions.follow(np.repeat(fresh, WIDE), cards.ravel())
        before, states = transitions.unpack(np.repeat(fresh, WIDE)), transitions.unpack(np.maximum(moves.word, 0))
        splits = np.repeat(asks, WIDE) & (cards.ravel() == SPLIT)
        goes_on = moves.word >= 0
        after = transitions.project(moves.word)
        pops = goes_on & (before.pending == 1) & (states.pending == 0)
        another = transitions.pack(states._replace(pending=np.ones_like(after)))
        pending = np.where(pops, transitions.project(another), OVER)
        need = np.where(goes_on, states.need, moves.label % NEEDS)
        entries = np.stack([after, pending, moves.label, need, splits * (1 + (states.pending == 2))])
        found.append((fresh, entries.reshape(len(entries), -1, WIDE)))
        return np.concatenate([after, pending])

    explore(fresh, follow)
    words, entries = np.concatenate([each[0] for each in found]), np.concatenate([each[1] for each in found], axis=1)
    order = np.argsort(words)
    return words[order], entries[:, order]


def _dealer(transitions: HandTransitions) -> dict[str, Array]:
    codes, settled = transitions.vectors.codes, transitions.settle_all()
    words = explore(np.unique(settled.word[settled.word >= 0]), lambda fresh: _draw(transitions, fresh).word)

    def row_of(moves: Moves) -> Array:
        outcome = transitions.ends(np.maximum(moves.label, len(codes)))[:, 1]
        rows = len(codes[0]) + np.searchsorted(words, moves.word)
        return WIDE * np.where(moves.word < 0, outcome, rows)

    rows = np.zeros((len(codes[0]) + len(words), WIDE), np.int64)
    rows[len(codes[0]) :, : len(RANKS)] = row_of(_draw(transitions, words)).reshape(-1, len(RANKS))
    return {"settled": row_of(settled).reshape(NEEDS, -1), "dealer": rows.ravel(), "codes": codes}


def _always(letter: str) -> Policy:
    def policy(state: HandState, column: str, legal: str) -> str:
        return letter if letter in legal else INSURANCE[1]

    return policy
