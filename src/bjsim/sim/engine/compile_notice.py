"""Announce that numba compiles, which takes seconds, before it does."""

import logging
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import cache

log = logging.getLogger("bjsim")

ONE_THREAD = sys.platform in ("emscripten", "wasi")  # in a browser there are no other threads, and no processes
COMPILING = "compiling the round (once after install, up to half a minute) …"


_begun: list[str] = []  # kernels that this process has begun to compile
_open: list[str] = []  # and not ended: those that the first of them calls are compiled within it
_told: list[Callable[[str], object]] = []  # of each of them before it is compiled


def compiling() -> str:
    """The kernel that is compiled now, in words; empty if none is."""
    return f"compiling kernel {len(_begun)}, {_begun[-1]} (once after install, up to half a minute)" if _open else ""


@cache
def follow_compiling() -> None:
    """Take notice, from now on, of what numba compiles."""
    from numba.core.event import Event, Listener, register

    class Follow(Listener):
        def on_start(self, event: Event) -> None:
            function = event.data["dispatcher"].py_func
            name = "" if function.__module__.split(".")[0] == "numba" else str(function.__name__).strip("_")
            _open.append(name)  # empty for a part of numba
            if name:
                _begun.append(name)
                for notify in tuple(_told):
                    notify(name)

        def on_end(self, event: Event) -> None:
            _open.pop()

    register("numba:compile", Follow())  # type: ignore[no-untyped-call, unused-ignore]


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
    _told.append(notify)
    try:
        yield
    finally:
        _told.remove(notify)
