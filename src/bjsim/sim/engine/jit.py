"""The decorator of all compiled functions: `numba.njit` with a disk cache that detects edits in other files.

numba stamps a cached function with the state of its own file only, so that an edited callee or constant in another file
would go undetected. Here the stamp is a hash of the contents of all kernel modules and of the function's own file.
"""

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

from bjsim.sim.engine.compile_notice import follow_compiling
from bjsim.sim.game import actions

log = logging.getLogger("bjsim")
F = TypeVar("F", bound=Callable[..., Any])

KERNELS = Path(__file__).with_name("kernels")
NO_FOLDER = (
    "no writable folder for the cache of compiled code, so the next run must compile it again; "
    "set NUMBA_CACHE_DIR to a writable folder"
)

follow_compiling()


def compiled(**options: Any) -> Callable[[F], F]:
    """Make a decorator that compiles a function on its first call and caches the result on disk.

    numba chooses the folder: NUMBA_CACHE_DIR, `__pycache__` next to the source, or the user's cache folder.
    If none is writable, a temporary folder is used, which lasts as long as this process, and a warning is
    logged.
    """

    def decorate(function: F) -> F:
        dispatcher: Any = numba.njit(**options)(function)
        with suppress(OSError):  # without even a temporary folder, numba compiles in memory
            dispatcher._cache = _Cache(function)  # type: ignore[no-untyped-call, unused-ignore]
            dispatcher._cache.alone = not options.get("_nrt", True)
        return dispatcher  # type: ignore[no-any-return]

    return decorate


def inner(**options: Any) -> Callable[[F], F]:
    """Make a decorator for functions that only compiled functions call: a call from Python is a TypeError.

    The code by which Python would call them is left out, which takes longer to compile than the function itself if its
    arguments are many arrays. They are cached as parts of their callers only.
    """
    alone: dict[str, Any] = {"_nrt": False, "no_cfunc_wrapper": True, "no_cpython_wrapper": True}

    def decorate(function: F) -> F:
        dispatcher: Any = numba.njit(**alone, **options)(function)

        def refuse(*arguments: Any) -> None:
            raise TypeError(f"only compiled functions call {function.__name__}")

        dispatcher._compile_for_args = refuse
        dispatcher._insert = lambda *overload: None  # nor is it found by the types of arguments
        return dispatcher  # type: ignore[no-any-return]

    return decorate


def is_cached(kernel: Any, nones: int = 0) -> bool:
    """Whether a kernel's code is in memory or on disk, so that its first call need not compile it.

    `nones`: of its arguments so many are None.
    """
    found = list(kernel.overloads)
    with suppress(AttributeError, ImportError):  # numba unpickles even a stale index, which may name a lost class
        found += [key[0] for key in kernel._cache._cache_file._load_index()]
    return any(list(arguments).count(numba.types.none) == nones for arguments in found)


@lru_cache
def source_stamp(file: str, kernels: Path = KERNELS) -> str:
    """Hash the contents of a file, of this module, of the action codes and of all modules in the folder `kernels`."""
    digest = hashlib.sha256()
    for path in (Path(file), Path(__file__), Path(actions.__file__), *sorted(kernels.glob("*.py"))):
        content = path.read_bytes()
        digest.update(b"%s %d\n" % (path.name.encode(), len(content)))
        digest.update(content)
    return digest.hexdigest()


class _CacheImpl(caching.CompileResultCacheImpl):
    """Finds the folder as numba does, or makes a temporary one, and stamps the cached functions."""

    def __init__(self, function: Callable[..., Any]) -> None:
        try:
            super().__init__(function)  # type: ignore[no-untyped-call, unused-ignore]
        except RuntimeError:  # there is no writable folder
            _use_temporary_folder()
            super().__init__(function)  # type: ignore[no-untyped-call, unused-ignore]
        self._locator.get_source_stamp = partial(source_stamp, inspect.getfile(function))


class _Cache(caching.FunctionCache):
    _impl_class = _CacheImpl

    alone = False  # whether the code makes no arrays, for which numba's runtime must be there

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        try:
            if not self.alone:
                return super().load_overload(sig, target_context)  # type: ignore[no-untyped-call, unused-ignore]
            # Without numba's runtime, and without what it compiles with, which take half a second to load.
            with self._guard_against_spurious_io_errors():  # type: ignore[no-untyped-call, unused-ignore]
                return self._load_overload(sig, target_context)  # type: ignore[no-untyped-call, unused-ignore]
        except (AttributeError, ImportError):  # numba unpickles even a stale index, and this one names a lost class
            self.flush()  # type: ignore[no-untyped-call, unused-ignore]
        return None


@lru_cache(maxsize=1)
def _use_temporary_folder() -> None:
    """Set a temporary cache folder for this process and its children. Raises: OSError."""
    _warn()
    folder = tempfile.mkdtemp(prefix="bjsim-")
    os.environ["NUMBA_CACHE_DIR"] = vars(numba.config)["CACHE_DIR"] = folder
    atexit.register(_remove, folder, os.getpid())


def is_cache_temporary() -> bool:
    """Whether compiled code is lost when this process ends."""
    return bool(_use_temporary_folder.cache_info().currsize)


def _remove(folder: str, process: int) -> None:
    """Remove the temporary folder when the process that made it exits, but not when a fork of it does."""
    if os.getpid() == process:
        shutil.rmtree(folder, ignore_errors=True)


@lru_cache(maxsize=1)
def _warn() -> None:
    log.warning(NO_FOLDER)
