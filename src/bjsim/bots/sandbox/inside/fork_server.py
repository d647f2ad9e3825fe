"""The fork server for bots in Python: loads a program once, then forks a process for every move.

Usage: fork_server.py PROGRAM, started by `starters.py`. Moves arrive on descriptor 3 (arguments joined by NUL, one
write for each move); the wait status of each move's process is written to descriptor 4. After a move one more byte
arrives, and the process of the next move is forked, so that the move does not wait for it. It has seen no earlier move,
not even a process of one, whose signals it would find counted.

None of the bot's code runs in the server. The server only compiles the program, and imports modules of the standard
library that the program names. It never looks for a module in the bot's folder: this file is in a folder of its own,
and only a move's process adds the bot's.

Forking costs time for every page that the child writes to. So this file imports as little as possible: `ast`, `ctypes`,
`signal` and `types` would each import dozens of modules.
"""

from __future__ import annotations

import _ctypes
import atexit
import gc
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import CodeType

REQUESTS, STATUSES, FRAME = 3, 4, 4096
PR_SET_DUMPABLE = 4
# Importing these modules has no visible effect. Python 3.9 has no list of them.
STANDARD: frozenset[str] = getattr(sys, "stdlib_module_names", frozenset()) - {"antigravity", "this"}
Module = type(sys)
PRCTL = _ctypes.dlsym(_ctypes.dlopen(None, 0), "prctl")  # type: ignore[arg-type]
REHEARSAL = compile("import sys\nx = 'H' if int('17') < 17 else f'{17:d}'\nprint(end='')", "rehearsal", "exec")


def standard_imports(source: bytes, folder: str) -> set[str]:
    """Standard modules that the program seems to import, without those of which its folder has one of the same name.

    The source is split into words, not parsed. Of `a.b` only `a` is named: importing `unittest.__main__` runs a test.
    """
    names: set[str] = set()
    for line in source.decode("utf-8", "replace").splitlines():
        first, _, rest = line.strip().partition(" ")
        if first == "import":
            names.update(part.split()[0] for part in rest.split(",") if part.split())
        elif first == "from":
            names.add(rest.split(" ")[0])
    own = {name.partition(".")[0] for name in os.listdir(folder)}
    return {name.partition(".")[0] for name in names} & STANDARD - own


def load(path: str) -> CodeType:
    """Compile the program, passing on its errors, and import the standard modules that it names."""
    with open(path, "rb") as file:
        source = file.read()
    path = os.path.abspath(path)
    code = compile(source, path, "exec", dont_inherit=True)
    for name in standard_imports(source, os.path.dirname(path)):
        try:
            __import__(name)
        except Exception:
            continue  # the program's own import raises it again
    return code


def take_move() -> list[str]:
    """Wait for a move, and return its arguments."""
    frame = os.read(REQUESTS, FRAME)
    if not frame:
        os._exit(0)
    os.close(REQUESTS)
    return frame.decode("utf-8", "surrogateescape").split("\0")


def run(code: CodeType, namespace: dict[str, object]) -> int:
    """Run the program as the interpreter runs a script; returns the exit status."""
    try:
        exec(code, namespace)
    except SystemExit as request:
        if request.code is None or isinstance(request.code, int):
            return (request.code or 0) & 0xFF
        print(request.code, file=sys.stderr)
        return 1
    except BaseException as error:
        assert error.__traceback__
        error.__traceback__ = error.__traceback__.tb_next  # without the frame of this function
        sys.excepthook(type(error), error, error.__traceback__)
        return 1
    return 0


def rehearse() -> None:
    """Do what every bot does, so that pages and caches are filled before the fork, without visible effects."""
    run(REHEARSAL, {})
    sys.stdout.flush()
    sys.stderr.flush()


def finish(status: int) -> int:
    """Do what the interpreter does at exit: wait for threads, call the exit handlers, flush."""
    if threading := sys.modules.get("threading"):
        threading._shutdown()
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):
            status = 120 if stream is sys.stdout else status
    return status


def serve() -> list[str]:
    """Fork a process for each move, and report its end. Returns only in such a process, with the move's arguments."""
    while (pid := os.fork()) != 0:
        status = os.waitpid(pid, 0)[1]
        os.write(STATUSES, status.to_bytes(4, sys.byteorder))
        if not os.read(REQUESTS, 1):
            os._exit(0)
    os.close(STATUSES)
    rehearse()
    return take_move()


def main() -> None:
    """Load the program, report that it is ready, and serve moves."""
    _ctypes.call_function(PRCTL, (PR_SET_DUMPABLE, 0, 0, 0, 0))
    path = sys.argv[1]
    # Modules that are imported here must not find the program's name.
    sys.argv[:] = [""]
    del sys.path[0]
    try:
        code = load(path)
    except Exception as error:
        error.__traceback__ = None  # it has only lines of this file
        sys.excepthook(type(error), error, None)
        sys.exit(1)
    module = Module("__main__")
    namespace = module.__dict__
    namespace.update(__file__=code.co_filename, __builtins__=__builtins__)
    sys.modules["__main__"] = module
    sys.argv[:] = [path]
    rehearse()
    gc.collect()
    gc.freeze()
    os.write(STATUSES, bytes(4))
    sys.argv += serve()
    sys.path.insert(0, os.path.dirname(code.co_filename))
    os._exit(finish(run(code, namespace)))


if __name__ == "__main__":
    main()
