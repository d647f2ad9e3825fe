"""The decorator of every compiled function: `numba.njit` with a disk cache that notices edits in other files.

numba stamps a cached function with its own file only, so an edited callee or constant in another file would go
unnoticed. Here the stamp is a hash over the contents of all kernel modules and of the function's own file.
"""

from __future__ import annotations

import atexit
import hashlib
import inspect
import logging
import os
import shutil
import tempfile
from collections.abc import Callable
from contextlib import suppress
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, TypeVar

import numba
from numba.core import caching

log = logging.getLogger("bjsim")
F = TypeVar("F", bound=Callable[..., Any])

KERNELS = Path(__file__).with_name("kernels")
NO_PLACE = (
    "no writable folder to keep compiled code in, so it will be compiled again in the next run; "
    "set NUMBA_CACHE_DIR to a folder that you can write to"
)


def compiled(**options: Any) -> Callable[[F], F]:
    """A decorator that compiles a function on its first call and caches the result on disk.

    The folder is numba's choice: NUMBA_CACHE_DIR, `__pycache__` next to the source, or the user's cache folder. Where
    none of them can be written, it is a temporary folder that lasts as long as this process, and a warning is logged.

    Args:
        options: options of `numba.njit` other than `cache`.
    """

    def decorate(function: F) -> F:
        dispatcher: Any = numba.njit(**options)(function)
        with suppress(OSError):  # not even a temporary folder can be made, so numba compiles in memory
            dispatcher._cache = _Cache(function)  # type: ignore[no-untyped-call, unused-ignore]
        return dispatcher  # type: ignore[no-any-return]

    return decorate


@lru_cache
def source_stamp(file: str, kernels: Path = KERNELS) -> str:
    """A hash over the contents of a file, of this one and of all modules in the folder `kernels`."""
    digest = hashlib.sha256()
    for path in (Path(file), Path(__file__), *sorted(kernels.glob("*.py"))):
        content = path.read_bytes()
        digest.update(b"%s %d\n" % (path.name.encode(), len(content)))
        digest.update(content)
    return digest.hexdigest()


class _CacheImpl(caching.CompileResultCacheImpl):
    """Finds the folder as numba does, or makes a temporary one; stamps what is kept there."""

    def __init__(self, function: Callable[..., Any]) -> None:
        try:
            super().__init__(function)  # type: ignore[no-untyped-call, unused-ignore]
        except RuntimeError:  # there is no folder that can be written to
            _use_temporary_folder()
            super().__init__(function)  # type: ignore[no-untyped-call, unused-ignore]
        self._locator.get_source_stamp = partial(source_stamp, inspect.getfile(function))


class _Cache(caching.FunctionCache):
    _impl_class = _CacheImpl

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        try:
            return super().load_overload(sig, target_context)  # type: ignore[no-untyped-call, unused-ignore]
        except (AttributeError, ImportError):  # numba reads all of an index, stale or not; this one names a lost class
            self.flush()  # type: ignore[no-untyped-call, unused-ignore]
            return None


@lru_cache(maxsize=1)
def _use_temporary_folder() -> None:
    """Keep compiled code in a temporary folder, in this process and its children. Raises: OSError."""
    _warn()
    folder = tempfile.mkdtemp(prefix="bjsim-")
    os.environ["NUMBA_CACHE_DIR"] = vars(numba.config)["CACHE_DIR"] = folder
    atexit.register(_remove, folder, os.getpid())


def _remove(folder: str, process: int) -> None:
    """Remove the temporary folder at the end of the process that made it, and not at that of a fork."""
    if os.getpid() == process:
        shutil.rmtree(folder, ignore_errors=True)


@lru_cache(maxsize=1)
def _warn() -> None:
    log.warning(NO_PLACE)
