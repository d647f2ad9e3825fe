"""Say that numba compiles, which takes seconds, before it does."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def on_compile(say: Callable[[], object]) -> Iterator[None]:
    """Within this context, `say` is called before numba first compiles a function instead of loading it from disk."""
    from numba.core.event import Event, Listener, install_listener

    class Teller(Listener):
        told = False

        def on_start(self, event: Event) -> None:
            if not self.told:
                self.told = True
                say()

        def on_end(self, event: Event) -> None:
            pass

    with install_listener("numba:compile", Teller()):  # type: ignore[no-untyped-call, unused-ignore]
        yield
