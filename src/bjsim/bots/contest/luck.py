"""Luck adjustment: the change in each seat's expected value that every card caused, compared with the mean over cards.

Before each draw the luck model knows the hands, the dealer's cards (including the hole card as soon as it is dealt) and
the cards left in the shoe, and so the exact distribution of the next card. The luck of the draw is

    current stake * (V(card drawn) - sum over r of p(r) V(r)),

where V(r) is the value of the hand after card r has left the shoe. Its expectation is 0 for any V and any bot, so
profit minus luck has the same mean as the profit and a much smaller variance. V is the exact expected value in an
infinite shoe for a seat that plays by a chart, corrected to first order for the composition of the remaining shoe.

The chart of a bot starts as its own, which the journal records as `plays`, or for a program as a fixed reference, and
is updated after each shoe from the bot's decisions (its opponent model). A shoe is therefore always adjusted with
charts that were fixed before it was dealt. A duplicate contest plays each shoe several times: such a batch of matches
is adjusted with the same charts, from earlier batches. A bot's values are recomputed after each of the first batches
and then less and less often, because most changes come early.

Measured (duplicate, 400 matches, seed 5, lim17 and optimal): the variance of a bot's total falls by factors of 50 and
28. The standard deviation of their difference is 6.6 chips per match; it is 14.8 without derivatives and opponent
models, 11.5 with opponent models only, 12.7 with derivatives only, and 40.9 without luck adjustment.

Method: advantage sums, as in Burch et al., "AIVAT" (AAAI 2018).
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from bjsim.arrays import Floats, Ints
from bjsim.bots.contest.config import HOUSE, has_luck
from bjsim.bots.contest.schedule import Roster
from bjsim.sim.game.actions import Action
from bjsim.sim.game.automaton import DOUBLE, START, Automaton, Decision, Draw, Finished, Node, PendingHands
from bjsim.sim.game.cards import RANKS, TEN
from bjsim.sim.game.events import DEALER, Acted, Dealt, Event, HandEnded, Shuffled
from bjsim.sim.game.hand_states import BUST, SURRENDERED, HandState
from bjsim.sim.game.rules import Rules
from bjsim.sim.values.slopes import DealerIndex, Slopes
from bjsim.strategies.charts.chart import CODES, Chart
from bjsim.strategies.exact.values import Policy
from bjsim.strategies.players.catalogue import CATALOGUE
from bjsim.sums import add_up

# --- The states of a contest hand are numbered, so that their values under a chart, with their slopes, fit into arrays.
#
# A state is a node of the automaton and the dealer's hand. Values are per chip staked in an infinite shoe, computed by
# the backward pass of `bjsim.sim.values.slopes`. A state has the value V + sum over q of g(q) c(q) in a shoe of
# composition c, to first order.


N_RANKS = TEN + 1  # ranks with different values: all ten-valued cards count as one
SETTLED = (Finished(BUST), Finished(SURRENDERED))  # hands that do not depend on the dealer's cards
NOTHING = 0  # the number of an absent hand
NO_HAND = -1  # that of a hand whose result no card can change


class StateIndex:
    """The numbers of hands and dealers under one set of rules; a state is dealer * len(hands) + hand.

    Insurance is not valued, nor what a hand may do once it has doubled, nor that a dealer's natural may take less
    than all bets, nor that two ten-valued cards may not be a pair: luck has the mean 0 with any values. `rules` must
    limit the number of hands.
    """

    def __init__(self, rules: Rules) -> None:
        self.rules = rules = rules.replace(no_hole_loses="all", surrender_after_double=False, max_doubles=1)
        self.automaton = automaton = Automaton(rules)
        self.hands: list[Node | None] = [None]  # the first is NOTHING
        self.number_of: dict[Node | None, int] = {None: NOTHING}
        self.surrendered = self._number(Finished(SURRENDERED))
        self._number(START)
        rows, doubled = [[[NOTHING, NOTHING]] * N_RANKS], [[NOTHING] * N_RANKS]
        for hand in self.hands:  # grows during the iteration
            if hand is None:
                continue
            rows.append([self._follow(hand, rank) for rank in range(N_RANKS)])
            doubled.append([self._double(hand, rank) for rank in range(N_RANKS)])
            if isinstance(hand, Decision):
                self._number(Finished(automaton.result(hand.state)))
                if "P" in hand.legal(automaton):
                    first = automaton.split(hand.state)
                    for split_hand in dict.fromkeys((first, automaton.covered(first))):
                        self._add_split_hands(split_hand)
        # (hands, N_RANKS, 2): the hand after one more card, and those of a split that then still wait, or NOTHING.
        self.after = np.array(rows)
        self.doubled = np.array(doubled)  # (hands, N_RANKS): the finished hand after that card
        ends = [Finished(automaton.result(hand.state)) if isinstance(hand, Decision) else hand for hand in self.hands]
        self.stood = [NO_HAND if end in SETTLED else self.number_of[end] for end in ends]
        self.columns = automaton.columns  # of the chart, and the first index of an action table
        self.legal = [  # the codes of the legal actions by column
            {column: hand.legal(automaton.against(column)) for column in self.columns}
            if isinstance(hand, Decision)
            else {}
            for hand in self.hands
        ]
        probabilities = [float(p) for p in rules.card_probabilities]
        tens = add_up(probabilities[N_RANKS - 1 :])
        self.dealers = DealerIndex(automaton, np.array([*probabilities[: N_RANKS - 1], tens]))
        # Plain lists are faster for single lookups.
        self.after_list: list[list[list[int]]] = self.after.tolist()
        self.dealer_after_list: list[list[int]] = self.dealers.after.tolist()

    def _number(self, hand: Node) -> int:
        if hand not in self.number_of:
            self.number_of[hand] = len(self.hands)
            self.hands.append(hand)
        return self.number_of[hand]

    def _add_split_hands(self, one_card: HandState) -> None:
        """Split hands with every second card, and before it, also where a bot does not split again."""
        for rank in range(N_RANKS):
            for may_split in (True, False):
                self._number(self.automaton.reached(self.automaton.add(one_card, rank), may_split))
        for node in self.automaton.all_pending(one_card):
            self._number(node)

    def _follow(self, hand: Node, rank: int) -> list[int]:
        if isinstance(hand, Finished):
            return [self.number_of[hand], NOTHING]
        node = self.automaton.move(hand.state, "H") if isinstance(hand, Decision) else hand
        first, *rest = map(self._number, self.automaton.follow(node, rank))
        return [first, *(rest or [NOTHING])]

    def _double(self, hand: Node, rank: int) -> int:
        if not isinstance(hand, Decision):
            return NOTHING
        doubling = self.automaton.bare(self.automaton.doubling(hand.state))
        (after,) = self.automaton.follow(Draw(doubling, DOUBLE), rank)
        assert isinstance(after, Finished)
        return self._number(after._replace(stake=1))  # its stake is counted in chips


# --- Expected values of all states under a chart.


ActionTable = npt.NDArray[np.bytes_]


class _TableValues(Slopes):
    def __init__(self, index: StateIndex, actions: ActionTable) -> None:
        super().__init__(index.automaton, index.dealers)
        self.number_of = index.number_of
        shown = index.dealers.columns[index.dealers.acting]
        self.actions = actions[[index.columns.index(label) if label else 0 for label in shown]]

    def letters(self, node: Decision) -> ActionTable:
        return self.actions[:, self.number_of[node]]


def tabulate(index: StateIndex, policy: Policy) -> ActionTable:
    """(columns, hands) S1: the action of a policy in every state; "" where it has no choice.

    Hands that may double differ from hands of the same total that may not, so a policy can hit one and double the
    other.
    """
    actions = np.full((len(index.columns), len(index.hands)), b"", "S1")
    for number, hand in enumerate(index.hands):
        if isinstance(hand, Decision):
            actions[:, number] = [policy(hand.state, *each) for each in index.legal[number].items()]
    return actions


def evaluate(index: StateIndex, actions: ActionTable) -> Floats:
    """(states, 1 + N_RANKS): values and slopes if the seat plays by this action table from each state on."""
    dealers, values = index.dealers, _TableValues(index, actions)
    evs = np.zeros((len(dealers.hands), len(index.hands), 1 + len(dealers.probabilities)))
    for number, hand in enumerate(index.hands):
        if isinstance(hand, Finished):
            evs[:, number] = values.settled(hand)
        elif hand is not None:
            evs[dealers.acting, number] = values.at(hand)
    evs[: dealers.acting.stop] = dealers.before_acting(evs[dealers.acting])
    return evs.reshape(-1, evs.shape[-1])


# --- The draws and decisions of a table as integer arrays, to compute luck and opponent models.
#
# Every draw changes the composition of the shoe, and so affects the expected value of every hand in play.


KINDS = ("first", "second", "upcard", "hole", "hit", "double", "dealer")
DEALER_KINDS = tuple(map(KINDS.index, ("upcard", "hole", "dealer")))
FIRST, SECOND, HIT, DOUBLED = map(KINDS.index, ("first", "second", "hit", "double"))
OTHER_SEAT, OWN, OWN_LAST, DEALER_CARD = range(4)  # who receives a card, from a hand's point of view
RANK = {code: min(rank, N_RANKS - 1) for rank, code in enumerate(RANKS)}
DRAW_COLUMNS = 2 + N_RANKS


class Stakes(NamedTuple):
    """Who had what at stake in each draw: a row for each draw and each hand that it affects, as int64 columns."""

    draw: Ints  # its row number
    bot: Ints
    chips: Ints
    dealer: Ints  # a number in the state index, as of the hand, before the draw
    hand: Ints
    recipient: Ints  # OTHER_SEAT, OWN, OWN_LAST or DEALER_CARD


class DrawLog(NamedTuple):
    """The rounds of one table of a match, as int64 arrays."""

    draws: Ints  # a row per draw: rank, kind, cards of each rank left before it (0 in an infinite shoe)
    stakes: Ints  # the rows of `Stakes`
    decisions: Ints  # a row per decision: bot, hand, dealer, character code of the action


@dataclass(eq=False)
class _Hand:
    """A hand in play; split hands of a seat that wait for their second card are one, which is in several places."""

    bot: int
    number: int  # in the state index; NO_HAND once no card can change its result
    chips: int  # the stake, of each if several wait
    kind: int = FIRST  # of the next draw
    doubled: int = NOTHING  # the finished hand that it is if it ends after its double: the house may have paid for that


class _Round:
    """The hands of a round, by seat."""

    def __init__(self, index: StateIndex, bots: Sequence[int]) -> None:
        self.index = index
        self.dealer = self.dealer_cards = 0  # the state of the dealer's hand, and how many cards it has
        self.seats = [[_Hand(bot, index.number_of[START], index.rules.buy_in)] for bot in bots]

    def draw(self, seat: int, place: int, rank: int) -> None:
        hand = self.seats[seat][place]
        node, number_of, automaton = self.index.hands[hand.number], self.index.number_of, self.index.automaton
        if isinstance(node, PendingHands):
            limit = automaton.hand_limit(node.split_hand)
            after = number_of[automaton.reached(automaton.add(node.split_hand, rank), node.hands < limit)]
            self.seats[seat][place] = _Hand(hand.bot, after, hand.chips, HIT)
            if node.pending > 1:
                rest = automaton.covered(node.split_hand)
                hand.number = number_of[node._replace(split_hand=rest, pending=node.pending - 1)]
        else:
            if hand.kind == DOUBLED:
                hand.doubled = int(self.index.doubled[hand.number, rank])
            hand.number = self.index.after_list[hand.number][rank][0]
            hand.kind = SECOND if hand.kind == FIRST else HIT

    def split(self, seat: int, place: int) -> None:
        hands = self.seats[seat]
        pair = hands[place]
        node = self.index.hands[pair.number]
        assert isinstance(node, Decision)
        pair.kind = SECOND
        hands.insert(place, pair)
        hands[:] = [pair if hand.kind == SECOND else hand for hand in hands]
        pending = PendingHands(self.index.automaton.split(node.state), hands.count(pair), len(hands))
        pair.number = self.index.number_of[pending]


class DrawLogger:
    """Writes the draw log of a table, round after round."""

    def __init__(self, state_index: StateIndex) -> None:
        self.state_index = state_index
        counts = state_index.rules.shoe_counts  # 0 in an infinite shoe
        self.deck = [*counts[: N_RANKS - 1], sum(counts[N_RANKS - 1 :])]
        self._left = list(self.deck)
        self._draws: list[int] = []
        self._stakes: list[int] = []
        self._decisions: list[int] = []

    def add(self, events: Sequence[Event], bots: Sequence[int]) -> None:
        table = _Round(self.state_index, bots)
        for event in events:
            match event:
                case Dealt(card, seat, place):
                    self._log_draw(table, seat, place, RANK[card])
                case Acted(seat, place, action):
                    self._log_action(table, seat, place, action)
                case HandEnded(seat, place):
                    hand = table.seats[seat][place]
                    hand.number = self.state_index.stood[hand.doubled or hand.number]
                case Shuffled():
                    self._left = list(self.deck)

    def _log_draw(self, table: _Round, seat: int, place: int, rank: int) -> None:
        taker = None if seat == DEALER else table.seats[seat][place]
        kind = taker.kind if taker else DEALER_KINDS[min(table.dealer_cards, 2)]
        others, own = (OTHER_SEAT, OWN_LAST if kind == DOUBLED else OWN) if taker else (DEALER_CARD, DEALER_CARD)
        number = len(self._draws) // DRAW_COLUMNS
        self._draws += (rank, kind, *self._left)
        for hand in dict.fromkeys(chain.from_iterable(table.seats)):
            if hand.number != NO_HAND:
                recipient = own if hand is taker else others
                self._stakes += (number, hand.bot, hand.chips, table.dealer, hand.number, recipient)
        if taker:
            table.draw(seat, place, rank)
        else:
            table.dealer = self.state_index.dealer_after_list[table.dealer][rank]
            table.dealer_cards += 1
        if not self.state_index.rules.infinite:
            self._left[rank] -= 1

    def _log_action(self, table: _Round, seat: int, place: int, action: Action) -> None:
        hand = table.seats[seat][place]
        if action.letter in "AB":
            hand.chips += action.amount if action.letter == "B" else hand.chips
            return
        self._decisions += (hand.bot, hand.number, table.dealer, ord(action.letter))
        if action.letter == "D":
            hand.chips *= 2
            hand.kind = DOUBLED
        elif action.letter == "R":
            hand.number, hand.doubled = self.state_index.surrendered, NOTHING
        elif action.letter == "P":
            table.split(seat, place)

    def draw_log(self) -> DrawLog:
        columns = ((self._draws, DRAW_COLUMNS), (self._stakes, len(Stakes._fields)), (self._decisions, 4))
        return DrawLog(*(np.array(numbers, np.int64).reshape(-1, width) for numbers, width in columns))


# --- The luck in these logs, and the charts that it is computed with.


REFERENCE = "hoyle"  # the initial chart of every bot: neither the most cautious nor the boldest strategy
DIGITS = 6  # decimals of a chip in records
RARER = 4  # values are recomputed after 1, 2, 3, 4, 6, 8, 11, ... batches
MIN_SHOE = 4  # cards needed for the rest of a round: a smaller shoe is topped up with the proportions of a fresh one
RANK_NUMBERS = np.arange(N_RANKS)


class ContestLuckModel:
    """Computes the luck in draw logs under one set of rules."""

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        self.state_index = StateIndex(rules)
        self.reference = CATALOGUE[REFERENCE].chart(rules)
        self.reference_actions = tabulate(self.state_index, self.reference.policy)

    @cached_property
    def reference_evs(self) -> Floats:
        return self.evaluate(self.reference_actions)

    def evaluate(self, actions: ActionTable) -> Floats:
        """The values of all states: (states, 1 + N_RANKS), a constant, and a coefficient for the share of each rank."""
        evs = evaluate(self.state_index, actions)
        if self.rules.infinite:
            evs[:, 1:] = 0
        return evs

    def luck_by_bot(self, logs: Sequence[DrawLog], evs: Floats) -> Floats:
        """The luck of every bot in the logs of a match's tables: float64 (bots, kinds), chips by kind of draw.

        `evs` are the results of `evaluate` by bot, float64 (bots, states, 1 + N_RANKS); the last is the house.
        """
        luck = np.zeros(len(evs) * len(KINDS))
        # A card to another seat changes only the composition of the shoe, so a cheaper formula is enough.
        for log in logs:
            other = log.stakes[:, -1] == OTHER_SEAT
            for selected, ev_of in ((~other, self._ev_after_card), (other, self._ev_after_removal)):
                rows = Stakes(*log.stakes[selected].T)
                draw = log.draws[rows.draw]
                rank, kind, left = draw[:, 0], draw[:, 1], draw[:, 2:].astype(float)
                if self.rules.infinite:
                    left = np.broadcast_to(self.state_index.dealers.probabilities, left.shape)
                count = left.sum(axis=1)
                added = np.maximum(0, MIN_SHOE - (count - 1))
                shoe = left + added[:, None] * self.state_index.dealers.probabilities
                ev = ev_of(rows, evs, shoe, (count - 1 + added)[:, None])
                expected = np.einsum("nr,nr->n", left, ev) / count
                change = rows.chips * (ev[np.arange(len(rank)), rank] - expected)
                luck += np.bincount(rows.bot % len(evs) * len(KINDS) + kind, weights=change, minlength=len(luck))
        return luck.reshape(len(evs), len(KINDS))

    def _ev_after_card(self, rows: Stakes, evs: Floats, shoe: Floats, size: Floats) -> Floats:
        """(rows, N_RANKS): the value of the seat's hand after each card has left the shoe.

        shoe: (rows, N_RANKS), cards of each rank before the draw; size: (rows, 1), number of cards after it.
        """
        first, rest = self._states_after(rows)
        after = evs[rows.bot[:, None], first]  # (rows, card, constant and coefficients)
        split = np.flatnonzero((rest % len(self.state_index.hands)).any(axis=1))
        after[split] += evs[rows.bot[split, None], rest[split]]
        shares = np.concatenate((np.ones_like(size), shoe / size), axis=1)
        ev: Floats = np.einsum("nrk,nk->nr", after, shares) - after[:, RANK_NUMBERS, 1 + RANK_NUMBERS] / size
        return ev

    def _ev_after_removal(self, rows: Stakes, evs: Floats, shoe: Floats, size: Floats) -> Floats:
        """The same for a card to another seat, without the terms that do not depend on the card."""
        ev: Floats = -evs[rows.bot, rows.dealer * len(self.state_index.hands) + rows.hand, 1:] / size
        return ev

    def _states_after(self, rows: Stakes) -> tuple[Ints, Ints]:
        """(rows, N_RANKS): the states after each card, as in `StateIndex.after`."""
        index = self.state_index
        dealer = np.repeat(rows.dealer[:, None], N_RANKS, axis=1)
        hand = np.repeat(rows.hand[:, None], N_RANKS, axis=1)
        rest = np.full_like(hand, NOTHING)
        selected = rows.recipient == OWN
        hand[selected], rest[selected] = np.moveaxis(index.after[rows.hand[selected]], 2, 0)
        selected = rows.recipient == OWN_LAST
        hand[selected] = index.doubled[rows.hand[selected]]
        selected = rows.recipient == DEALER_CARD
        dealer[selected] = index.dealers.after[rows.dealer[selected]]
        return dealer * len(index.hands) + hand, dealer * len(index.hands) + rest


ChartChanges = dict[str, str]  # "16 T" -> code, for every changed cell


class OpponentModel:
    """One bot's strategy: the reference chart, with the bot's last observed action in every cell it has met."""

    def __init__(self, luck_model: ContestLuckModel) -> None:
        self.state_index = state_index = luck_model.state_index
        self.actions = luck_model.reference_actions.copy()  # at first of the reference chart, then the current ones
        self.cells = dict(luck_model.reference.cells)  # the codes of the chart
        self._chart = Chart.following(luck_model.reference.name, state_index.rules, self.cells)
        columns = state_index.columns
        self._column_of = np.array([columns.index(c) if c in columns else -1 for c in state_index.dealers.columns])
        self._rows: list[str] = []  # the chart row of each hand, "" if it has none
        self._hands: dict[str, list[int]] = defaultdict(list)  # the hands of each row
        for number, hand in enumerate(state_index.hands):
            splits = isinstance(hand, Decision) and "P" in hand.legal(state_index.automaton)
            rows = state_index.automaton.rows_of(hand.state, splits) if isinstance(hand, Decision) else ()
            self._rows.append(next((row for row in rows if (row, columns[0]) in self.cells), ""))
            self._hands[self._rows[-1]].append(number)

    def observe_all(self, decisions: Ints) -> ChartChanges:
        """Update the chart from `decisions`, and return the changed cells.

        They are int64 (n, 3) in the order they were made: hand, dealer, character code of the action.
        """
        hands, dealers, actions = decisions.T
        expected = self.actions[self._column_of[dealers], hands]
        if (expected.view(np.uint8) == actions).all():
            return {}
        changes: ChartChanges = {}
        for hand, dealer, action in decisions.tolist():
            row, column = self._rows[hand], self.state_index.dealers.columns[dealer]
            if not row:  # for example a 21 that may be hit: the reference chart has no such cell
                continue
            current = self.cells[row, column]
            code = self._updated(current, chr(action), self.state_index.legal[hand][column])
            if code != current:
                self._write(row, column, code)
                changes[f"{row} {column}"] = code
        return changes

    @staticmethod
    def _updated(current: str, action: str, legal: str) -> str:
        """The code of a cell after an action. It keeps the other action of the current one if a code names both."""
        alone = code = action
        if action in "DR":
            alone, code = f"{action}h", action + current[-1].lower()
        elif current[0] in "DR" and current[0] not in legal:
            code = current[0] + action.lower()
        return code if code in CODES else alone

    def apply(self, changes: ChartChanges) -> None:
        for cell, code in changes.items():
            row, _, column = cell.partition(" ")
            self._write(row, column, code)

    def _write(self, row: str, column: str, code: str) -> None:
        self.cells[row, column] = code
        for number in self._hands[row]:
            hand = self.state_index.hands[number]
            assert isinstance(hand, Decision)
            action = self._chart.policy(hand.state, column, self.state_index.legal[number][column])
            self.actions[self.state_index.columns.index(column), number] = action.encode()


class LuckAdjuster:
    """Computes the luck of a contest match by match, and keeps an opponent model of every bot.

    Each `batch_size` matches share their shoes, and are adjusted with the same charts.
    """

    def __init__(self, luck_model: ContestLuckModel, bots: Sequence[Mapping[str, Any]], batch_size: int) -> None:
        self.luck_model = luck_model
        self.batch_size = batch_size
        players = [*range(len(bots)), HOUSE]
        self.opponent_models = {bot: OpponentModel(luck_model) for bot in players}
        self._evs = np.array([luck_model.reference_evs] * len(players))
        self._changed: set[int] = set()  # bots whose values are out of date
        self._matches = 0
        self._next_update = 1  # in batches
        for bot, about in enumerate(bots):
            if plays := about.get("plays"):
                self.opponent_models[bot].apply(plays)
                self._changed.add(bot)
        self._update_values()

    def adjust(self, logs: Sequence[DrawLog]) -> dict[str, Any]:
        """Return a match's `luck` (chips by bot and kind), and the model cells that it changes (`learned`)."""
        luck = self.luck_model.luck_by_bot(logs, self._evs)[:-1]
        changes: dict[int, ChartChanges] = defaultdict(dict)
        for log in logs:
            for bot in dict.fromkeys(log.decisions[:, 0].tolist()):
                observed = log.decisions[log.decisions[:, 0] == bot, 1:]
                changes[bot].update(self.opponent_models[bot].observe_all(observed))
        learned = {str(bot): cells for bot, cells in sorted(changes.items()) if cells}
        self._finish_match(learned)
        return {"luck": luck.round(DIGITS).tolist(), "learned": learned}

    def restore(self, record: Mapping[str, Any]) -> None:
        """Update the opponent models from the record of an adjusted match."""
        for bot, cells in record["learned"].items():
            self.opponent_models[int(bot)].apply(cells)
        self._finish_match(record["learned"])

    def _finish_match(self, learned: Mapping[str, ChartChanges]) -> None:
        """Count a match; recompute values at the end of some batches."""
        self._changed |= {int(bot) for bot in learned}
        self._matches += 1
        if self._matches == self._next_update * self.batch_size:
            self._next_update += 1 + self._next_update // RARER
            self._update_values()

    def _update_values(self) -> None:
        cache: dict[bytes, Floats] = {}
        for bot in sorted(self._changed):
            actions = self.opponent_models[bot].actions
            if (key := actions.tobytes()) not in cache:
                cache[key] = self.luck_model.evaluate(actions)
            self._evs[bot] = cache[key]
        self._changed.clear()


class SeriesAdjusters(dict[int | None, LuckAdjuster]):
    """The luck adjuster of each series of a contest, made when it is first asked for.

    Under rules without luck they add nothing to the journal, and tables have no draw logs.
    """

    def __init__(self, roster: Roster) -> None:
        self._roster = roster

    def __missing__(self, own: int | None) -> LuckAdjuster:
        roster = self._roster
        bots = [roster.bots[bot] for bot in roster.series[own].bots]
        model = luck_model(roster.contest.rules)
        assert model
        adjuster = self[own] = LuckAdjuster(model, bots, roster.batch_size)
        return adjuster

    def record(self, match: int, own: int | None, logs: Sequence[DrawLog | None]) -> dict[str, Any]:
        """The journal record of a finished match, with its luck. logs: of its tables."""
        luck = self[own].adjust([log for log in logs if log]) if any(logs) else {}
        return {"record": "match", "match": match, **({} if own is None else {"own": own}), **luck}

    def restore(self, record: Mapping[str, Any]) -> None:
        """Learn from a record of the journal, if it is of a match."""
        if record["record"] == "match" and luck_model(self._roster.contest.rules):
            self[record.get("own")].restore(record)


@lru_cache(maxsize=1)
def luck_model(rules: Rules) -> ContestLuckModel | None:
    """The luck model of these rules; None if luck cannot be computed under them."""
    return ContestLuckModel(rules) if has_luck(rules) else None


def draw_logger(rules: Rules) -> DrawLogger | None:
    """What writes the draw log of a table; None if luck cannot be computed under these rules."""
    return DrawLogger(model.state_index) if (model := luck_model(rules)) else None


def known_plays(player: object, rules: Rules) -> ChartChanges:
    """The cells, as of `OpponentModel.apply`, where a player's chart is known to differ from the reference."""
    cells = getattr(getattr(player, "chart", player), "cells", {}) if has_luck(rules) else {}
    reference = CATALOGUE[REFERENCE].chart(rules).cells if cells else {}
    return {
        f"{row} {column}": cells[row, column]
        for (row, column), code in reference.items()
        if cells.get((row, column), code) != code
    }
