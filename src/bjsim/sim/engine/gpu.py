"""The compiled round on a GPU: the kernels of `engine/kernels`, compiled for CUDA, with a thread for each block.

The Python bodies of the kernels are compiled a second time, with their only CPU-specific function, `high_and_low`,
replaced. This module has no rules and draws no cards, so a GPU gives the same results as a CPU, bit for bit.

Import this module only where a GPU is requested: it imports numba.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from importlib.util import find_spec
from types import FunctionType
from typing import Any, NamedTuple

import numba.cuda
import numpy as np

from bjsim.arguments import argument
from bjsim.errors import EndlessSplitting, InputError
from bjsim.sim.engine.kernels import counter, luck, shoe, words
from bjsim.sim.engine.kernels import play as round_kernel
from bjsim.sim.engine.kernels.layout import CompiledRules, Counts, Seats, ShoeArrays
from bjsim.sim.engine.kernels.play import RAN_AWAY, play
from bjsim.sim.engine.rounds import ENDLESS, make_counts, make_seats, make_shoe

Array = np.ndarray[Any, Any]
cuda: Any = numba.cuda  # has hardly any type annotations

MODULES = (words, shoe, luck, counter, round_kernel)  # the kernels of a round; their function names are unique
THREADS = 64  # of a CUDA block: few, as each takes many registers
MEMORY = 1 << 30  # bytes, for all threads of a launch


def simulated() -> bool:
    """Whether numba simulates a GPU, which the environment variable NUMBA_ENABLE_CUDASIM=1 selects."""
    return bool(vars(numba.config)["ENABLE_CUDASIM"])


def need_gpu() -> None:
    """Check that there is a GPU, and a compiler for it. Raises: InputError."""
    if not cuda.is_available():
        raise InputError(f"{argument('executor', 'cuda')} needs an NVIDIA GPU and its driver; none was found")
    if not simulated() and find_spec("numba_cuda") is None:
        raise InputError(f"{argument('executor', 'cuda')} needs the package numba-cuda: pip install 'bjsim[cuda]'")


def high_and_low(word: Any, number: Any) -> Any:
    """The high and low 64 bits of the product of a 64-bit word and a number below 2**32."""
    lower = (word & np.uint64(0xFFFFFFFF)) * number
    upper = (word >> np.uint64(32)) * number
    return (upper + (lower >> np.uint64(32))) >> np.uint64(32), word * number


def play_thread(compiled: Any, rounds: Any, shoes: Any, seats: Any, counts: Any, overflow: Any) -> None:
    """Play `rounds[thread]` rounds in each GPU thread; see `Threads` for the arguments."""
    i = cuda.grid(1)
    if i < len(rounds):
        shoe = ShoeArrays(
            shoes.cards[:, i], shoes.key[:, i], shoes.read[:, i], shoes.ready[:, i], shoes.chunk[:, i],
            shoes.before[:, i], shoes.size, shoes.normal_tens, compiled.unshuffled, compiled.threshold, compiled.other,
        )  # fmt: skip
        own = Seats(
            seats.hand[:, i], seats.split_hand[:, i], seats.pending[:, i], seats.held[:, i], seats.acting[:, i],
            seats.payoff[:, :, i],
        )  # fmt: skip
        counted = Counts(counts.dense[:, :, :, i], counts.overflow[:, :, i], counts.trace[:, :, i])
        overflow[i] = play(compiled, shoe, rounds[i], own, counted, None, None)


@lru_cache(maxsize=1)
def gpu_functions() -> dict[str, dict[str, Any]]:
    """The kernels' module namespaces, with the compiled functions replaced by device functions that call each other."""
    spaces = {module.__name__: dict(vars(module)) for module in MODULES}
    on_gpu = {"high_and_low": cuda.jit(device=True)(high_and_low)}
    for module, space in spaces.items():
        for name, value in space.items():
            if hasattr(value, "py_func") and value.__module__ == module:
                on_gpu[name] = cuda.jit(device=True)(FunctionType(value.py_func.__code__, space, name))
    for space in spaces.values():
        space.update((name, on_gpu[name]) for name in space.keys() & on_gpu.keys())
    return spaces


def gpu_kernel() -> Any:
    """`play_thread` with these device functions, before compilation."""
    space = globals() | {"play": gpu_functions()[round_kernel.__name__]["play"]}
    return FunctionType(play_thread.__code__, space, play_thread.__name__)


@lru_cache(maxsize=1)
def _launcher() -> Any:
    return cuda.jit(gpu_kernel())


class Threads(NamedTuple):
    """The arguments of `play` for T threads.

    The last index of every array is the thread, so that neighbouring threads, which run in lockstep, access
    neighbouring addresses. overflow (T,): the return values of `play`.
    """

    rounds: Array
    shoes: ShoeArrays
    seats: Seats
    counts: Counts
    overflow: Array


def each_array(change: Callable[[Array], Any], value: Any) -> Any:
    """Apply `change` to every array in a nested tuple of arrays and numbers."""
    if isinstance(value, tuple):
        return type(value)(*(each_array(change, item) for item in value))
    return change(value) if isinstance(value, np.ndarray) else value


def threads_for(compiled: CompiledRules, keys: Sequence[tuple[int, int]], rounds: Sequence[int]) -> Threads:
    """Make the initial arrays, with a thread for each key."""
    one = make_shoe(compiled, (0, 0)), make_seats(compiled), make_counts(compiled, max(rounds), 0)
    shoes, seats, counts = (each_array(lambda array: np.stack([array] * len(keys), axis=-1), item) for item in one)
    return Threads(
        rounds=np.array(rounds, np.int64),
        shoes=shoes._replace(key=np.ascontiguousarray(np.array(keys, np.uint64).T)),
        seats=seats,
        counts=counts,
        overflow=np.zeros(len(keys), np.int64),
    )


def play_on_gpu(
    compiled: CompiledRules, keys: Sequence[tuple[int, int]], rounds: Sequence[int]
) -> tuple[Array, list[Array]]:
    """Play blocks on the GPU, in several launches if memory is short.

    Args:
        compiled: The compiled rules.
        keys: The key of each block's random stream.
        rounds: The number of rounds of each block.

    Returns:
        Counts, int64 (blocks, seats, ties + 1, 2 width + 1), and for each block the payoffs outside that window, as in
        `play_rounds`.

    Raises:
        EndlessSplitting: A seat reached the limit on hands.
    """
    sizes: list[int] = []
    each_array(lambda array: sizes.append(array.nbytes), threads_for(compiled, keys[:1], [max(rounds)]))
    most = max(MEMORY // sum(sizes), 1)
    counts, outside = [], []
    for first in range(0, len(keys), most):
        threads = threads_for(compiled, keys[first : first + most], rounds[first : first + most])
        on_gpu = each_array(cuda.to_device, threads)
        blocks = -(-len(threads.rounds) // THREADS)
        _launcher()[blocks, THREADS](each_array(cuda.to_device, compiled), *on_gpu)
        overflow = on_gpu.overflow.copy_to_host()
        if (overflow == RAN_AWAY).any():
            raise EndlessSplitting(ENDLESS)
        counts.append(np.moveaxis(on_gpu.counts.dense.copy_to_host(), -1, 0))
        rare = on_gpu.counts.overflow.copy_to_host() if overflow.any() else threads.counts.overflow
        outside += [rare[:n, :, i] for i, n in enumerate(overflow.tolist())]
    return np.concatenate(counts), outside
