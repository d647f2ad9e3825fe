"""A finite Markov decision process in flat arrays, which the solver solves and the learner samples.

Notation, after Puterman (1994), "Markov Decision Processes", sections 2.1 and 6.1. In state s the agent picks an
action a; the outcome o of (s, a) happens with probability p(o), pays r(o) and leads to s'(o). The value of a policy
is the expected sum of rewards, each discounted by gamma per step; gamma = 1 is the usual case here, since play ends.

    Q(s, a) = sum over outcomes o of (s, a) of  p(o) * (r(o) + gamma * w(o) * V(s'(o)))
    V(s)    = max over a of Q(s, a);   V = 0 in terminal states

The weight w(o), 1 by default, is the number of independent copies of the future that follow the outcome. As
expectation is linear, the two hands of a split are one outcome of weight 2, and a replayed tie of a doubled bet leads
back to the deal with weight 2. A weight below 1 is a discount of that transition only (White 2017, "Unifying Task
Specification in Reinforcement Learning").

Order of the arrays: states in any order; the actions of state s are the rows action_start[s] .. action_start[s+1]-1;
the outcomes of row a are outcome_start[a] .. outcome_start[a+1]-1. A row is thus one (state, action) pair.
"""

import json
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np

from bjsim.arrays import Array, Bools, Floats, Ints
from bjsim.errors import InputError
from bjsim.files import read_text

SUM_TOLERANCE = 1e-9  # for sums of probabilities: allows files with ten digits


class MDPError(InputError):
    """A decision process is invalid or has no solution. The message is one line and names the state."""


@dataclass(frozen=True, eq=False)
class FiniteMDP:
    """States, actions and outcomes in flat arrays, checked at construction.

    There are S states, A rows, each with an action, and O outcomes. `action_start`, intp (S+1,), is the first row
    of each state, `outcome_start`, intp (A+1,), the first outcome of each row. By outcome: `probability`,
    `reward` (in the unit of the values) and `weight`, float64 (O,), and `next_state`, int64 (O,). By state:
    `terminal`, bool (S,), true where play ends, and `start`, float64 (S,), the distribution of the first state.
    `gamma` is the discount factor, 0 < gamma <= 1. An MDPError names the state.
    """

    states: tuple[str, ...]
    actions: tuple[str, ...]
    action_start: Ints
    outcome_start: Ints
    probability: Floats
    next_state: Ints
    reward: Floats
    weight: Floats
    terminal: Bools
    start: Floats
    gamma: float = 1.0

    def __post_init__(self) -> None:
        self._check_shapes()
        if not 0 < self.gamma <= 1:
            raise MDPError(f"gamma = {self.gamma} is not accepted; use a number above 0, at most 1")
        self._check_states()
        self._check_outcomes()
        if not abs(self.start.sum() - 1) <= SUM_TOLERANCE or self.start.min() < 0:
            raise MDPError(f"start: probabilities must not be negative and must sum to 1, not {self.start.sum():.10g}")

    # --- sizes and indices

    @cached_property
    def row_state(self) -> Ints:
        """State of each row, int64 (A,)."""
        return np.repeat(np.arange(len(self.states)), np.diff(self.action_start))

    @cached_property
    def outcome_row(self) -> Ints:
        """Row of each outcome, int64 (O,)."""
        return np.repeat(np.arange(len(self.actions)), np.diff(self.outcome_start))

    @cached_property
    def expected_reward(self) -> Floats:
        """Expected reward of each row, float64 (A,)."""
        return np.asarray(np.add.reduceat(self.probability * self.reward, self.outcome_start[:-1]))

    @cached_property
    def factor(self) -> Floats:
        """The factor of the next state's value in each outcome, p * w * gamma, or 0 if it is terminal; float64 (O,)."""
        return np.asarray(self.gamma * self.probability * self.weight * ~self.terminal[self.next_state])

    @cached_property
    def index(self) -> dict[str, int]:
        return {name: i for i, name in enumerate(self.states)}

    def rows(self, state: str) -> range:
        """Return the rows of a state by its name; empty if it is terminal."""
        return range(self.action_start[self.index[state]], self.action_start[self.index[state] + 1])

    def row(self, state: str, action: str) -> int:
        for row in self.rows(state):
            if self.actions[row] == action:
                return row
        raise KeyError(f"state {state} has no action {action}")

    def describe(self, row: int) -> str:
        return f"state {self.states[self.row_state[row]]}, action {self.actions[row]}"

    # --- dynamic programming

    def backup(self, values: Floats) -> Floats:
        """Q(s, a) of every row, float64 (A,), from the values of the states, float64 (S,)."""
        ahead = np.add.reduceat(self.factor * values[self.next_state], self.outcome_start[:-1])
        return np.asarray(self.expected_reward + ahead)

    def best(self, q: Floats) -> Floats:
        """The maximum of q, (A,), in every state, float64 (S,); 0 in terminal states."""
        values = np.zeros(len(self.states))
        live = ~self.terminal
        values[live] = np.maximum.reduceat(q, self.action_start[:-1][live])
        return values

    def greedy(self, q: Floats) -> Ints:
        """The first row with the maximum q in every state, int64 (S,); -1 in terminal states."""
        top = np.flatnonzero(q >= self.best(q)[self.row_state])
        rows = np.full(len(self.states), -1, dtype=np.int64)
        rows[self.row_state[top][::-1]] = top[::-1]
        return rows

    def reachable(self) -> Bools:
        """Whether each state can be reached under some policy, bool (S,)."""
        seen = self.start > 0
        possible = self.probability > 0
        while True:
            fresh = possible & seen[self.row_state[self.outcome_row]] & ~seen[self.next_state]
            if not fresh.any():
                return seen
            seen[self.next_state[fresh]] = True

    # --- validation

    def _check_shapes(self) -> None:
        s, a, o = len(self.states), len(self.actions), len(self.probability)
        for name, size in (
            *(("action_start", s + 1), ("outcome_start", a + 1), ("terminal", s), ("start", s)),
            *(("next_state", o), ("reward", o), ("weight", o)),
        ):
            if getattr(self, name).shape != (size,):
                raise MDPError(f"{name} must have shape ({size},), not {getattr(self, name).shape}")
        if len(set(self.states)) != s:
            raise MDPError("states must have different names")
        for name, last in (("action_start", a), ("outcome_start", o)):
            starts = getattr(self, name)
            if starts[0] != 0 or starts[-1] != last or (np.diff(starts) < 0).any():
                raise MDPError(f"{name} must rise from 0 to {last}")

    def _check_states(self) -> None:
        can_act = np.diff(self.action_start) > 0
        for wrong, complaint in (
            (~can_act & ~self.terminal, "is not terminal and has no action"),
            (can_act & self.terminal, "is terminal and has actions"),
        ):
            if wrong.any():
                raise MDPError(f"state {self.states[np.flatnonzero(wrong)[0]]} {complaint}")
        if self.terminal.all():
            raise MDPError("every state is terminal, so there is nothing to decide")

    def _check_outcomes(self) -> None:
        empty = np.flatnonzero(np.diff(self.outcome_start) == 0)
        if empty.size:
            raise MDPError(f"{self.describe(empty[0])}: no outcome")
        p = self.probability
        for wrong, complaint in (
            ((self.next_state < 0) | (self.next_state >= len(self.states)), "leads to a state that does not exist"),
            (~(p >= 0), "a probability is negative or not a number"),
            (~np.isfinite(self.reward), "a reward is not a finite number"),
            (~((self.weight >= 0) & np.isfinite(self.weight)), "a weight is negative or not a finite number"),
        ):
            if wrong.any():
                raise MDPError(f"{self.describe(self.outcome_row[np.flatnonzero(wrong)[0]])}: {complaint}")
        total = np.add.reduceat(p, self.outcome_start[:-1])
        off = np.flatnonzero(~(np.abs(total - 1) <= SUM_TOLERANCE))
        if off.size:
            raise MDPError(f"{self.describe(off[0])}: probabilities sum to {total[off[0]]:.10g}, not to 1")


# --- Building a `FiniteMDP` from an object that lists its states, actions and outcomes, or from JSON.
#
# The JSON format:
#
#     {"gamma": 0.9,
#      "start": "wait",                          or {"wait": 0.5, "go": 0.5}
#      "terminal": ["end"],
#      "states": {"wait": {"stay": [{"to": "wait", "p": 1, "reward": -1}],
#                          "leave": [{"to": "end", "p": 1, "reward": 5, "weight": 1}]}}}
#
# The defaults of `p` and `weight` are 1, that of `reward` is 0. `gamma` is 1 by default, and `start` the first state.


S = TypeVar("S", bound=Hashable)


class Outcome(NamedTuple):
    """A possible outcome; `weight` independent copies of the future follow, see `bjsim.strategies.mdp.model`."""

    probability: float
    next_state: Any
    reward: float = 0.0
    weight: float = 1.0


class Process(Protocol[S]):
    """A process that `build_mdp` accepts; states are hashable, and their names are `str(state)`."""

    def start(self) -> Mapping[S, float]:
        """The distribution of the first state: state -> probability."""

    def terminal(self, state: S) -> bool:
        """Whether play ends here."""

    def actions(self, state: S) -> Iterable[str]:
        """The actions of a state that is not terminal."""

    def outcomes(self, state: S, action: str) -> Iterable[Outcome]:
        """The outcomes of an action; those with the same next state and reward need not be merged."""


def build_mdp(process: Process[S], gamma: float = 1.0) -> FiniteMDP:
    """Enumerate the reachable states of a process; `gamma` is the discount factor, 0 < gamma <= 1."""
    start = dict(process.start())
    if not start:
        raise MDPError("start: no state is named")
    order = list(start)
    index = {state: i for i, state in enumerate(order)}
    table: list[list[tuple[str, list[Outcome]]]] = []
    for state in order:  # grows during the loop
        rows = []
        if not process.terminal(state):
            rows = [(action, list(process.outcomes(state, action))) for action in process.actions(state)]
        for _, outcomes in rows:
            for outcome in outcomes:
                if outcome.next_state not in index:
                    index[outcome.next_state] = len(order)
                    order.append(outcome.next_state)
        table.append(rows)
    flat = [rows for state_rows in table for rows in state_rows]
    outcomes = [outcome for _, row in flat for outcome in row]
    probabilities = np.zeros(len(order))
    for state, probability in start.items():
        probabilities[index[state]] = float(probability)
    return FiniteMDP(
        states=tuple(str(state) for state in order),
        actions=tuple(action for action, _ in flat),
        action_start=starts(len(rows) for rows in table),
        outcome_start=starts(len(row) for _, row in flat),
        probability=np.array([float(o.probability) for o in outcomes]),
        next_state=np.array([index[o.next_state] for o in outcomes], dtype=np.int64),
        reward=np.array([float(o.reward) for o in outcomes]),
        weight=np.array([float(o.weight) for o in outcomes]),
        terminal=np.array([process.terminal(state) for state in order]),
        start=probabilities,
        gamma=gamma,
    )


def read_mdp(file: str | Path) -> FiniteMDP:
    """Read a decision process from a JSON file; an error names the file and the state."""
    try:
        return mdp_from_dict(json.loads(read_text(file), object_pairs_hook=_unique_keys))
    except OSError as error:
        raise MDPError(f"cannot read {file}: {error.strerror}") from None
    except RecursionError:
        raise MDPError(f"{file} is not a decision process: its JSON is nested too deeply") from None
    except MDPError as error:
        raise MDPError(f"{file}: {error}") from None
    except ValueError as error:  # also of a number of thousands of digits
        raise MDPError(f"{file} is not valid JSON: {error}") from None


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A JSON object as a dict; refuses duplicate keys; Python would keep only the last."""
    unique: dict[str, Any] = {}
    for name, value in pairs:
        if name in unique:
            raise MDPError(f"duplicate key {name!r} in an object")
        unique[name] = value
    return unique


def mdp_from_dict(data: Any) -> FiniteMDP:
    """Make a decision process from parsed JSON in the format above; an error names the state."""
    if not isinstance(data, dict) or not isinstance(data.get("states"), dict):
        raise MDPError('expected an object with "states": {STATE: {ACTION: [{"to": STATE, "p": ..., "reward": ...}]}}')
    unknown = set(data) - {"gamma", "start", "terminal", "states"}
    if unknown:
        raise MDPError(f"unknown key {sorted(unknown)[0]!r}; keys are gamma, start, terminal, states")
    process = _Parsed(data)
    return build_mdp(process, _number(data.get("gamma", 1), "gamma"))


class _Parsed:
    """The JSON format as a `Process` of names."""

    def __init__(self, data: dict[str, Any]) -> None:
        self.states: dict[str, Any] = data["states"]
        ends = data.get("terminal", [])
        if not isinstance(ends, list):
            raise MDPError('terminal: expected a list of states, such as ["end"]')
        self.ends = set(map(str, ends))
        first = data.get("start", next(iter(self.states), ""))
        self.first: dict[str, Any] = first if isinstance(first, dict) else {str(first): 1}

    def start(self) -> dict[str, float]:
        return {state: _number(p, "start") for state, p in self.first.items()}

    def terminal(self, state: str) -> bool:
        if state not in self.states and state not in self.ends:
            raise MDPError(f'unknown state {state!r}; it is neither in "states" nor in "terminal"')
        if state in self.ends and self.states.get(state):
            raise MDPError(f"state {state} is terminal and has actions")
        return state in self.ends

    def actions(self, state: str) -> list[str]:
        if not isinstance(self.states[state], dict):
            raise MDPError(f"state {state}: expected {{ACTION: [outcomes]}}")
        return list(self.states[state])

    def outcomes(self, state: str, action: str) -> list[Outcome]:
        where = f"state {state}, action {action}"
        rows = self.states[state][action]
        if not isinstance(rows, list):
            raise MDPError(f"{where}: expected a list of outcomes")
        return [self._outcome(row, where) for row in rows]

    def _outcome(self, row: Any, where: str) -> Outcome:
        if not isinstance(row, dict) or not isinstance(row.get("to"), str):
            raise MDPError(f'{where}: an outcome needs "to": STATE, "p" and "reward"')
        unknown = set(row) - {"to", "p", "reward", "weight"}
        if unknown:
            raise MDPError(f"{where}: unknown key {sorted(unknown)[0]!r}; keys are to, p, reward, weight")
        numbers = (_number(row.get(key, default), f"{where}: {key}") for key, default in _DEFAULTS)
        probability, reward, weight = numbers
        return Outcome(probability, row["to"], reward, weight)


_DEFAULTS = (("p", 1), ("reward", 0), ("weight", 1))


def _number(value: Any, where: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise MDPError(f"{where} = {value!r} is not a number")
    if isinstance(value, int) and abs(value) > 1e308:
        raise MDPError(f"{where}: the number has too many digits")
    return float(value)


def starts(sizes: Iterable[int]) -> Array:
    """Where each of consecutive groups of these sizes begins, and where the last one ends, intp."""
    return np.cumsum([0, *sizes], dtype=np.intp)
