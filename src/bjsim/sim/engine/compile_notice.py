"""Announce that numba compiles, which takes seconds, before it does."""

import logging
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import cache
from typing import Any

log = logging.getLogger("bjsim")

ONE_THREAD = sys.platform in ("emscripten", "wasi")  # in a browser there are no other threads, and no processes
COMPILING = "compiling the round (once after install, up to half a minute) …"


_begun: list[str] = []  # kernels that this process has begun to compile
_open: list[str] = []  # and not ended: those that the first of them calls are compiled within it


def compiling() -> str:
    """The kernel that is compiled now, in words; empty if none is."""
    return f"compiling kernel {len(_begun)}, {_begun[-1]} (once after install, up to half a minute)" if _open else ""


def follow_compiling() -> None:
    """Let `compiling` know, from now on, what numba compiles."""
    from numba.core.event import Event, Listener, register

    class Follow(Listener):
        def on_start(self, event: Event) -> None:
            _open.append(kernel_name(event))
            _begun.extend(filter(None, _open[-1:]))

        def on_end(self, event: Event) -> None:
            _open.pop()

    register("numba:compile", Follow())  # type: ignore[no-untyped-call, unused-ignore]


def kernel_name(event: Any) -> str:
    """The name of the function that is compiled; empty for a part of numba."""
    function = event.data["dispatcher"].py_func
    return "" if function.__module__.split(".")[0] == "numba" else str(function.__name__).strip("_")


def in_notebook() -> bool:
    return "ipykernel" in sys.modules


def announce_compile(text: str = COMPILING) -> None:
    """Announce a compilation: in the log, and on stderr if that is a terminal or a notebook."""
    log.info(text)
    if sys.stderr is not None and (sys.stderr.isatty() or in_notebook()):
        print(text, file=sys.stderr, flush=True)


def on_compile(notify: Callable[[], object]) -> AbstractContextManager[None]:
    """Within this context, call `notify` once, before numba first compiles a function instead of loading it."""
    once = cache(notify)
    return on_each_kernel(lambda name: once())


@contextmanager
def on_each_kernel(notify: Callable[[str], object]) -> Iterator[None]:
    """Within this context, call `notify` with the name of each function before numba compiles it."""
    try:
        from numba.core.event import Event, Listener, install_listener
    except ImportError:  # nothing is compiled
        yield
        return

    class Compile(Listener):
        def on_start(self, event: Event) -> None:
            if name := kernel_name(event):
                notify(name)

        def on_end(self, event: Event) -> None:
            pass

    with install_listener("numba:compile", Compile()):  # type: ignore[no-untyped-call, unused-ignore]
        yield
