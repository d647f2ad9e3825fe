"""What numba compiles takes seconds: saying so, and having a folder to keep it in."""

from __future__ import annotations

import atexit
import logging
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

log = logging.getLogger("bjsim")


def ensure_cache() -> None:
    """Have numba keep compiled code in a temporary folder, with a warning, where it finds no other that it can write.

    Call this before a function with `cache=True` is declared: numba looks for a folder then, and fails without one.
    """
    import numba

    try:
        numba.njit(cache=True)(_anything)
    except RuntimeError:
        config: Any = numba.config
        config.CACHE_DIR = os.environ["NUMBA_CACHE_DIR"] = tempfile.mkdtemp(prefix="bjsim-numba-")
        atexit.register(_remove, config.CACHE_DIR, os.getpid())
        log.warning(
            "no folder to keep compiled code in, so every run compiles anew, which takes some seconds; "
            "set NUMBA_CACHE_DIR to a folder that you can write"
        )


def _remove(folder: str, owner: int) -> None:
    if os.getpid() == owner:  # not where a forked process ends
        shutil.rmtree(folder, ignore_errors=True)


def _anything() -> None:
    """numba looks for a folder for the sake of this function."""


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
