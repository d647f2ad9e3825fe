"""The compiled round on a GPU: the very functions of `kernel.py`, compiled for CUDA, one thread to a block of rounds.

No rule is written here, and no card is drawn: the Python bodies of `kernel.py` are compiled a second time, with the one
thing in them that is made for CPUs, `high_and_low`, replaced. So a GPU plays what a CPU plays, to the bit.

Import this module only where a GPU is asked for: it imports numba.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from importlib.util import find_spec
from types import FunctionType
from typing import Any, NamedTuple

import numba.cuda
import numpy as np

from bjsim.errors import EndlessSplitting, InputError
from bjsim.sim import kernel
from bjsim.sim.engine.plan import NO_LIMIT, Numbers, Plan
from bjsim.sim.kernel import BUFFER, KEPT, RAN_AWAY, play

Array = np.ndarray[Any, Any]
cuda: Any = numba.cuda  # carries hardly any types

THREADS = 64  # of a CUDA block: few, as each of them takes many registers
MEMORY = 1 << 30  # bytes that the threads of one launch may take together


def simulated() -> bool:
    """Whether numba simulates a GPU, as the environment variable NUMBA_ENABLE_CUDASIM=1 bids it."""
    return bool(vars(numba.config)["ENABLE_CUDASIM"])


def need_gpu() -> None:
    """Raises: InputError where there is no GPU, or nothing to compile for it."""
    if not cuda.is_available():
        raise InputError("--executor cuda needs an NVIDIA GPU and its driver, and finds none")
    if not simulated() and find_spec("numba_cuda") is None:
        raise InputError("--executor cuda needs the package numba-cuda: pip install 'bjsim[cuda]'")


def high_and_low(word: Any, number: Any) -> Any:
    """The high and the low 64 bits of the product of a 64-bit word and a number below 2**32."""
    lower = (word & np.uint64(0xFFFFFFFF)) * number
    upper = (word >> np.uint64(32)) * number
    return (upper + (lower >> np.uint64(32))) >> np.uint64(32), word * number


def play_thread(
    add: Any, act: Any, half: Any, result: Any, pay: Any, waits: Any, dealer_add: Any, dealer_done: Any,
    dealer_out: Any, column: Any, deal: Any, numbers: Any, threshold: Any, other: Any,
    rounds: Any, keys: Any, buffers: Any, at: Any, seat: Any, payoff: Any, counts: Any, trace: Any, outside: Any,
    strays: Any,
) -> None:  # fmt: skip
    """What a thread of the GPU does: play `rounds[thread]` rounds. See `Threads`; the first fourteen are the plan."""
    i = cuda.grid(1)
    if i < len(rounds):
        strays[i] = play(
            add, act, half, result, pay, waits, dealer_add, dealer_done, dealer_out, column, deal, numbers, threshold,
            other, rounds[i], keys[:, i], buffers[:, i], at[:, i], seat[:, :, i], payoff[:, :, i], counts[:, :, :, i],
            trace, outside[:, :, i], None, None,
        )  # fmt: skip


@lru_cache(maxsize=1)
def gpu_functions() -> dict[str, Any]:
    """The namespace of `kernel.py` on a GPU: its compiled functions as device functions that call each other."""
    space: dict[str, Any] = dict(vars(kernel))
    for name, value in vars(kernel).items():
        if hasattr(value, "py_func"):
            space[name] = cuda.jit(device=True)(FunctionType(value.py_func.__code__, space, name))
    space["high_and_low"] = cuda.jit(device=True)(high_and_low)
    return space


def gpu_kernel() -> Any:
    """`play_thread` over those functions, not compiled yet."""
    return FunctionType(play_thread.__code__, gpu_functions() | {"cuda": cuda}, play_thread.__name__)


@lru_cache(maxsize=1)
def _launcher() -> Any:
    return cuda.jit(gpu_kernel())


class Threads(NamedTuple):
    """The arrays of `kernel.play` for T threads, in its order. The last index is the thread: then neighbouring threads,
    which run in step, reach for neighbouring places.

    rounds (T,); keys (2, T); buffers (cards, T); at (4, T); seat (seats, 5, T); payoff (seats, O, T); counts (seats,
    ties + 1, 2 width + 1, T); trace (0, seats + 1), for none is kept; outside (n, 2, T); strays (T,), what `play`
    returned.
    """

    rounds: Array
    keys: Array
    buffers: Array
    at: Array
    seat: Array
    payoff: Array
    counts: Array
    trace: Array
    outside: Array
    strays: Array


def threads_for(plan: Plan, keys: Sequence[tuple[int, int]], rounds: Sequence[int]) -> Threads:
    """The arrays with which as many threads as there are keys begin."""
    numbers = Numbers(*plan.numbers.tolist())
    seats, outcomes, threads = len(plan.act), plan.pay.shape[2], len(keys)
    size = 52 * numbers.decks
    strays = max(rounds) * seats if numbers.max_hands == NO_LIMIT else 0
    return Threads(
        rounds=np.array(rounds, np.int64),
        keys=np.ascontiguousarray(np.array(keys, np.uint64).T),
        buffers=np.zeros((size or KEPT + BUFFER, threads), np.uint8),
        at=np.ascontiguousarray(np.tile(np.array([[size], [size], [-1], [0]], np.int64), threads)),
        seat=np.zeros((seats, 5, threads), np.int64),
        payoff=np.zeros((seats, outcomes, threads), np.int64),
        counts=np.zeros((seats, numbers.ties + 1, 2 * numbers.width + 1, threads), np.int64),
        trace=np.zeros((0, seats + 1), np.int64),
        outside=np.zeros((strays, 2, threads), np.int64),
        strays=np.zeros(threads, np.int64),
    )


def play_on_gpu(plan: Plan, keys: Sequence[tuple[int, int]], rounds: Sequence[int]) -> tuple[Array, list[Array]]:
    """Play `rounds[i]` rounds from the beginning of the stream `keys[i]`, for all i, on the GPU.

    Returns: for each i, what `kernel.play_rounds` calls counts and outside. Raises: EndlessSplitting.
    """
    one = threads_for(plan, keys[:1], [max(rounds)])
    most = max(MEMORY // sum(array.nbytes for array in one), 1)
    counts, outside = [], []
    for first in range(0, len(keys), most):
        threads = threads_for(plan, keys[first : first + most], rounds[first : first + most])
        on_gpu: Any = Threads(*(cuda.to_device(array) for array in threads))
        blocks = -(-len(threads.rounds) // THREADS)
        _launcher()[blocks, THREADS](*(cuda.to_device(array) for array in plan), *on_gpu)
        strays = on_gpu.strays.copy_to_host()
        if (strays == RAN_AWAY).any():
            raise EndlessSplitting(kernel._RAN_AWAY)
        counts.append(np.moveaxis(on_gpu.counts.copy_to_host(), -1, 0))
        rare = on_gpu.outside.copy_to_host() if strays.any() else threads.outside
        outside += [rare[:n, :, i] for i, n in enumerate(strays.tolist())]
    return np.concatenate(counts), outside
