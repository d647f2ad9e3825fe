"""Announce that numba compiles, which takes seconds, before it does."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

log = logging.getLogger("bjsim")

COMPILING = "compiling the round (once after install, up to a minute) …"


def in_notebook() -> bool:
    """Whether this process is the kernel of a notebook."""
    return "ipykernel" in sys.modules


def announce_compile(text: str = COMPILING) -> None:
    """Announce a compilation: in the log, and on stderr if that is a terminal or a notebook."""
    log.info(text)
    if sys.stderr is not None and (sys.stderr.isatty() or in_notebook()):
        print(text, file=sys.stderr, flush=True)


@contextmanager
def on_compile(notify: Callable[[], object]) -> Iterator[None]:
    """Within this context, call `notify` once, before numba first compiles a function instead of loading it."""
    seen: set[str] = set()

    def first(name: str) -> None:
        if not seen:
            seen.add(name)
            notify()

    with on_each_kernel(first):
        yield


@contextmanager
def on_each_kernel(notify: Callable[[str], object]) -> Iterator[None]:
    """Within this context, call `notify` with the name of each function before numba compiles it."""
    from numba.core.event import Event, Listener, install_listener

    class Compile(Listener):
        def on_start(self, event: Event) -> None:
            notify(event.data["dispatcher"].py_func.__name__)

        def on_end(self, event: Event) -> None:
            pass

    with install_listener("numba:compile", Compile()):  # type: ignore[no-untyped-call, unused-ignore]
        yield
