"""Building a `FiniteMDP` from an object that lists its states, actions and outcomes, or from JSON.

The JSON format:

    {"gamma": 0.9,
     "start": "wait",                          or {"wait": 0.5, "go": 0.5}
     "terminal": ["end"],
     "states": {"wait": {"stay": [{"to": "wait", "p": 1, "reward": -1}],
                         "leave": [{"to": "end", "p": 1, "reward": 5, "weight": 1}]}}}

The defaults of `p` and `weight` are 1, that of `reward` is 0. `gamma` is 1 by default, and `start` the first state.
"""

from __future__ import annotations

import json
from collections.abc import Hashable, Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np

from bjsim.files import read_text
from bjsim.strategies.mdp.model import FiniteMDP, MDPError

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
        action_start=_starts(len(rows) for rows in table),
        outcome_start=_starts(len(row) for _, row in flat),
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
    except json.JSONDecodeError as error:
        raise MDPError(f"{file} is not valid JSON: {error}") from None
    except RecursionError:
        raise MDPError(f"{file} is not a decision process: its JSON is nested too deeply") from None
    except MDPError as error:
        raise MDPError(f"{file}: {error}") from None


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
    return float(value)


def _starts(sizes: Iterable[int]) -> np.ndarray[Any, np.dtype[np.int64]]:
    return np.cumsum([0, *sizes], dtype=np.int64)
