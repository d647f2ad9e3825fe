"""A notice that numba is about to compile, which takes seconds."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def on_compile(notify: Callable[[], object]) -> Iterator[None]:
    """Within this context, call `notify` once, before numba first compiles a function instead of loading it from disk.

    Args:
        notify: A function without arguments.
    """
    from numba.core.event import Event, Listener, install_listener

    class Notifier(Listener):
        notified = False

        def on_start(self, event: Event) -> None:
            if not self.notified:
                self.notified = True
                notify()

        def on_end(self, event: Event) -> None:
            pass

    with install_listener("numba:compile", Notifier()):  # type: ignore[no-untyped-call, unused-ignore]
        yield
