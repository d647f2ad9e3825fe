"""The fork server for bots in Python: loads a program once, then forks a process for every move.

Usage: fork_server.py PROGRAM, started by `starters.py`. Moves arrive on descriptor 3 (arguments joined by NUL, one
write for each move); the wait status of each move's process is written to descriptor 4.

BJSIM_PREFORKED children are forked ahead of time, so that a move does not wait for the fork where a second core is
free. A pre-forked child has seen no earlier move, and the program has not run in it.

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


def take_move(claims: int) -> list[str]:
    """Wait for a move, write this process's pid to `claims`, and return the move's arguments."""
    frame = os.read(REQUESTS, FRAME)
    if not frame:
        os._exit(0)
    os.write(claims, os.getpid().to_bytes(4, sys.byteorder))
    os.close(claims)
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


def last_claim(claims: int) -> int:
    """The pid of the process that took the last move; 0 if none did."""
    try:
        return int.from_bytes(os.read(claims, 4), sys.byteorder)
    except BlockingIOError:
        return 0


def serve(count: int) -> list[str]:
    """Keep `count` pre-forked children waiting for moves, and report the end of each.

    Returns only in a child, with the arguments of its move.
    """
    children: set[int] = set()
    claims, claim_end = os.pipe()
    os.set_blocking(claims, False)
    while True:
        while len(children) < count:
            pid = os.fork()
            if pid == 0:
                os.close(STATUSES)
                os.close(claims)
                rehearse()
                return take_move(claim_end)
            children.add(pid)
        pid, status = os.waitpid(-1, 0)
        children.remove(pid)
        if last_claim(claims) != pid:
            os._exit(1)  # the bot killed a pre-forked child; the runner treats the server's exit as a crash
        os.write(STATUSES, status.to_bytes(4, sys.byteorder))


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
    count = int(os.environ.pop("BJSIM_PREFORKED"))
    module = Module("__main__")
    namespace = module.__dict__
    namespace.update(__file__=code.co_filename, __builtins__=__builtins__)
    sys.modules["__main__"] = module
    sys.argv[:] = [path]
    rehearse()
    gc.collect()
    gc.freeze()
    os.write(STATUSES, bytes(4))
    sys.argv += serve(count)
    sys.path.insert(0, os.path.dirname(code.co_filename))
    os._exit(finish(run(code, namespace)))


if __name__ == "__main__":
    main()
