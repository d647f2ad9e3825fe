"""The compiled learner: plays episodes of a flat decision process and updates a table of Q(s, a).

Only `_draw` and `_draw_evenly` read the transition probabilities. An update sees the row played, the reward, the weight
and the next state.

The random stream is SplitMix64 (Steele, Lea and Flood 2014), with its state in a uint64 array of one element. Outcomes
are drawn from alias tables (Walker 1977; filled as in Vose 1991), with one number in [0, 1) for each draw.
"""

from typing import Any, NamedTuple

import numpy as np

from bjsim.arrays import Array

try:
    from bjsim.sim.engine.jit import compiled
except ImportError:  # without numba, Python plays the episodes

    def compiled(**options: Any) -> Any:  # type: ignore[misc]
        return np.errstate(over="ignore")  # the stream wraps around


Q_LEARNING, MONTE_CARLO = 0, 1
GOLDEN = 0.6180339887498949  # fractional parts of its multiples have low discrepancy in [0, 1)


class Sampler(NamedTuple):
    """A decision process for sampling: the arrays of the MDP model, with alias tables for its probabilities.

    keep, other (O,): alias tables over each row's outcomes. start_keep, start_other (S,): alias table over the states.
    """

    action_start: Array
    outcome_start: Array
    row_state: Array
    keep: Array
    other: Array
    next_state: Array
    reward: Array
    weight: Array
    start_keep: Array
    start_other: Array
    gamma: float


@compiled(inline="always")
def _uniform(stream: Array) -> float:
    """Draw a number in [0, 1) with 53 random bits."""
    stream[0] += np.uint64(0x9E3779B97F4A7C15)
    z = stream[0]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z ^= z >> np.uint64(31)
    return np.float64(z >> np.uint64(11)) * (1.0 / 9007199254740992.0)


@compiled(inline="always")
def _slot(keep: Array, other: Array, first: int, last: int, u: float) -> int:
    """Return the index in first .. last-1 that u in [0, 1) selects from the alias table in that range."""
    x = u * (last - first)
    index = first + int(x)
    return index if x - int(x) < keep[index] else other[index]


@compiled(inline="always")
def _draw(world: Sampler, row: int, stream: Array) -> int:
    return _slot(world.keep, world.other, world.outcome_start[row], world.outcome_start[row + 1], _uniform(stream))


@compiled(inline="always")
def _draw_evenly(world: Sampler, row: int, turn: Array) -> int:
    """Return the next outcome of the row's low-discrepancy sequence, which follows the row's probabilities in the
    long run; turn: float64 (A,)."""
    u = turn[row] + GOLDEN
    turn[row] = u - 1 if u >= 1 else u
    return _slot(world.keep, world.other, world.outcome_start[row], world.outcome_start[row + 1], turn[row])


@compiled(inline="always")
def _best_row(q: Array, first: int, last: int) -> int:
    best = first
    for row in range(first + 1, last):
        if q[row] > q[best]:
            best = row
    return best


@compiled(inline="always")
def _update_q(world: Sampler, outcome: int, row: int, power: int, q: Array, visits: Array) -> None:
    """Q-learning: move the row toward reward + gamma * weight * max Q of the next state."""
    state = world.next_state[outcome]
    first, last = world.action_start[state], world.action_start[state + 1]
    next_value = q[_best_row(q, first, last)] if first < last else 0.0
    _move(row, world.reward[outcome] + world.gamma * world.weight[outcome] * next_value, power, q, visits)


@compiled(inline="always")
def _move(row: int, target: float, power: int, q: Array, visits: Array) -> None:
    visits[row] += 1
    q[row] += (target - q[row]) * (power + 1) / (visits[row] + power)


@compiled(nogil=True)
def learn_episodes(
    world: Sampler, method: int, power: int, explore_start: float, explore_action: float, longest: int,
    episodes: int, stream: Array, turn: Array, q: Array, visits: Array,
) -> int:  # fmt: skip
    """Play episodes and learn from each one, from its last step to its first; return how many were cut.

    `method` is Q_LEARNING or MONTE_CARLO; the learning rate of visit n of a row is (power + 1) / (n + power). The
    first (state, action) of an episode is a uniformly drawn row with probability `explore_start`, and the action
    of any other step is uniformly drawn with probability `explore_action`; an episode is cut after `longest`
    steps.

    With A rows (state-action pairs), these arrays are updated in place: `stream`, the state of the random stream,
    uint64 (1,); `turn`, the position of each row's low-discrepancy sequence, float64 (A,), or empty (0,) for
    independent draws; the values `q`, float64 (A,); and `visits`, the updates of each row, int64 (A,).
    """
    starts, rows = world.action_start, len(q)
    path_row, path_outcome = np.empty(longest, np.int64), np.empty(longest, np.int64)
    path_free = np.empty(longest, np.bool_)
    cut = 0
    for _ in range(episodes):
        row, state = -1, 0
        if _uniform(stream) < explore_start:
            row = int(_uniform(stream) * rows)
            state = world.row_state[row]
        else:
            state = _slot(world.start_keep, world.start_other, 0, len(world.start_keep), _uniform(stream))
        length = 0
        while starts[state] < starts[state + 1] and length < longest:
            free = row >= 0  # an exploring start has already chosen the action
            if not free:
                row = _best_row(q, starts[state], starts[state + 1])
                if explore_action > 0 and _uniform(stream) < explore_action:
                    chosen = starts[state] + int(_uniform(stream) * (starts[state + 1] - starts[state]))
                    free, row = chosen != row, chosen
            outcome = _draw_evenly(world, row, turn) if len(turn) else _draw(world, row, stream)
            path_row[length], path_outcome[length], path_free[length] = row, outcome, free
            length += 1
            state, row = world.next_state[outcome], -1
        ended = starts[state] == starts[state + 1]
        cut += not ended
        if method == Q_LEARNING:
            for i in range(length - 1, -1, -1):
                _update_q(world, path_outcome[i], path_row[i], power, q, visits)
        elif ended or world.gamma < 1:
            total = 0.0
            for i in range(length - 1, -1, -1):
                outcome = path_outcome[i]
                total = world.reward[outcome] + world.gamma * world.weight[outcome] * total
                _move(path_row[i], total, power, q, visits)
                if path_free[i]:
                    break  # the greedy policy does not take this action, so earlier steps cannot learn from it
    return cut


@compiled(nogil=True)
def play_episodes(
    world: Sampler, policy: Array, longest: int, episodes: int, stream: Array
) -> tuple[float, float, int]:
    """Play a policy with independent draws and without learning.

    `policy` has the row to play in each state, int64 (S,); `stream`, the state of the random stream, uint64 (1,),
    is updated in place. The result is the sum of the returns, that of their squares, and the number of episodes
    cut at `longest` steps.
    """
    starts = world.action_start
    total = squares = 0.0
    cut = 0
    for _ in range(episodes):
        state = _slot(world.start_keep, world.start_other, 0, len(world.start_keep), _uniform(stream))
        episode_return, factor, length = 0.0, 1.0, 0
        while starts[state] < starts[state + 1] and length < longest:
            outcome = _draw(world, policy[state], stream)
            episode_return += factor * world.reward[outcome]
            factor *= world.gamma * world.weight[outcome]
            state = world.next_state[outcome]
            length += 1
        cut += starts[state] < starts[state + 1]
        total += episode_return
        squares += episode_return * episode_return
    return total, squares, cut


@compiled()
def alias_tables(start: Array, probabilities: Array, keep: Array, other: Array) -> None:
    """Fill alias tables so that `_slot` draws from the normalized probabilities of each run.

    `start` has the bounds of the k runs start[i] .. start[i+1]-1, int64 (k+1,); `probabilities` are nonnegative
    weights, float64 (n,), with a positive sum in each run. Outputs are `keep`, float64 (n,), and `other`, int64
    (n,).
    """
    small, large = np.empty(len(probabilities), np.int64), np.empty(len(probabilities), np.int64)
    for run in range(len(start) - 1):
        first, last = start[run], start[run + 1]
        scale = (last - first) / probabilities[first:last].sum()
        n_small = n_large = 0
        for i in range(first, last):
            keep[i], other[i] = probabilities[i] * scale, i
            if keep[i] < 1:
                small[n_small] = i
                n_small += 1
            else:
                large[n_large] = i
                n_large += 1
        while n_small and n_large:
            n_small -= 1
            i, j = small[n_small], large[n_large - 1]
            other[i] = j
            keep[j] -= 1 - keep[i]
            if keep[j] < 1:
                n_large -= 1
                small[n_small] = j
                n_small += 1
        for k in range(n_large):
            keep[large[k]] = 1.0
        for k in range(n_small):
            keep[small[k]] = 1.0
