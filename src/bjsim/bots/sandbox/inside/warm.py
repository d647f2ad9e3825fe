"""A warm Python: loads a bot's program once, then forks a fresh process for every move. Started by `runner.py`.

Usage: warm.py PROGRAM. Descriptor 3 gives the moves (arguments joined by NUL, one write each), descriptor 4 takes how
each process ended. BJSIM_SPARES processes stand ready ahead of time, so that forking costs the move nothing where a
second processor is free. No spare has seen a move before it takes its own, and the program has run in none of them.
Nothing that the program says runs in the server: it is compiled there, and it chooses among the modules of PRELOADED.

A fork costs time for every page that the new process writes to, so this file imports as little as it can: `ast`,
`ctypes`, `signal` and `types` would bring dozens of modules with them.
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
PR_SET_PDEATHSIG, PR_SET_DUMPABLE, SIGKILL = 1, 4, 9
# Modules that a server imports ahead for a program that names them. None does anything when it is imported.
PRELOADED = frozenset(
    [
        "abc",
        "argparse",
        "array",
        "ast",
        "base64",
        "bisect",
        "cmath",
        "collections",
        "collections.abc",
        "contextlib",
        "copy",
        "csv",
        "ctypes",
        "dataclasses",
        "datetime",
        "decimal",
        "enum",
        "fractions",
        "functools",
        "gc",
        "getopt",
        "glob",
        "hashlib",
        "heapq",
        "inspect",
        "io",
        "itertools",
        "json",
        "json.decoder",
        "json.encoder",
        "logging",
        "math",
        "numbers",
        "operator",
        "os",
        "os.path",
        "pathlib",
        "pickle",
        "platform",
        "pprint",
        "queue",
        "random",
        "re",
        "resource",
        "secrets",
        "select",
        "shutil",
        "signal",
        "socket",
        "statistics",
        "string",
        "struct",
        "subprocess",
        "sys",
        "tempfile",
        "textwrap",
        "threading",
        "time",
        "traceback",
        "types",
        "typing",
        "warnings",
        "zlib",
    ]
)
Module = type(sys)
PRCTL = _ctypes.dlsym(_ctypes.dlopen(None, 0), "prctl")  # type: ignore[arg-type]
REHEARSAL = compile("import sys\nx = 'H' if int('17') < 17 else f'{17:d}'\nprint(end='')", "rehearsal", "exec")


def prctl(option: int, value: int) -> None:
    """Change an attribute of this process; see prctl(2)."""
    _ctypes.call_function(PRCTL, (option, value, 0, 0, 0))


def standard_imports(source: bytes) -> set[str]:
    """Modules of PRELOADED that the program seems to import. It is read by words, not parsed."""
    names: set[str] = set()
    for line in source.decode("utf-8", "replace").splitlines():
        first, _, rest = line.strip().partition(" ")
        if first == "import":
            names.update(name.split()[0] for name in rest.split(",") if name.split())
        elif first == "from":
            names.add(rest.split(" ")[0])
    return names & PRELOADED


def load(path: str) -> CodeType:
    """The compiled program, with what it imports of PRELOADED already imported.

    Raises: SyntaxError, or another error of the compiler.
    """
    with open(path, "rb") as file:
        source = file.read()
    code = compile(source, os.path.abspath(path), "exec", dont_inherit=True)
    for name in standard_imports(source):
        try:
            __import__(name)
        except Exception:
            continue  # the program's own import shows it
    return code


def take_move(took: int) -> list[str]:
    """Wait for a move, say on `took` that it is this process's, and return its arguments."""
    frame = os.read(REQUESTS, FRAME)
    if not frame:
        os._exit(0)
    os.write(took, os.getpid().to_bytes(4, sys.byteorder))
    os.close(took)
    os.close(REQUESTS)
    return frame.decode("utf-8", "surrogateescape").split("\0")


def run(code: CodeType, namespace: dict[str, object]) -> int:
    """Run the program as the interpreter would run it as a script; returns the exit status."""
    try:
        exec(code, namespace)
    except SystemExit as request:
        if request.code is None or isinstance(request.code, int):
            return (request.code or 0) & 0xFF
        print(request.code, file=sys.stderr)
        return 1
    except BaseException as error:
        assert error.__traceback__
        error.__traceback__ = error.__traceback__.tb_next  # the first frame is this function's
        sys.excepthook(type(error), error, error.__traceback__)
        return 1
    return 0


def rehearse() -> None:
    """Do what every bot does, so that the pages and caches this touches are warm, and leave no trace of it."""
    run(REHEARSAL, {})
    sys.stdout.flush()
    sys.stderr.flush()


def finish(status: int) -> int:
    """What the interpreter does at its end: wait for threads, call the exit handlers, flush."""
    if threading := sys.modules.get("threading"):
        threading._shutdown()
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):
            status = 120 if stream is sys.stdout else status
    return status


def taker_of(takers: int) -> int:
    """The process that took the last move; 0 if none has."""
    try:
        return int.from_bytes(os.read(takers, 4), sys.byteorder)
    except BlockingIOError:
        return 0


def serve(spares: int) -> list[str]:
    """Keep `spares` processes waiting for moves, and report the end of each. Returns in one of them, with its move."""
    waiting: set[int] = set()
    boxed = os.getppid() == 1  # then everything dies with the first process
    takers, took = os.pipe()
    os.set_blocking(takers, False)
    while True:
        while len(waiting) < spares:
            pid = os.fork()
            if pid == 0:
                if not boxed:
                    prctl(PR_SET_PDEATHSIG, SIGKILL)
                os.close(STATUSES)
                os.close(takers)
                rehearse()
                return take_move(took)
            waiting.add(pid)
        pid, status = os.waitpid(-1, 0)
        waiting.remove(pid)
        if taker_of(takers) != pid:
            os._exit(1)  # the bot has killed a spare; the runner takes the end of this server for a crash
        os.write(STATUSES, status.to_bytes(4, sys.byteorder))


def main() -> None:
    """Load, say so, serve."""
    prctl(PR_SET_DUMPABLE, 0)
    prctl(PR_SET_PDEATHSIG, SIGKILL)
    # What is imported here must find neither the program nor its name.
    path, folder = sys.argv[1], sys.path.pop(0)
    sys.argv[:] = [""]
    try:
        code = load(path)
    except Exception as error:
        error.__traceback__ = None  # of this file, which the author did not write
        sys.excepthook(type(error), error, None)
        sys.exit(1)
    spares = int(os.environ.pop("BJSIM_SPARES"))
    module = Module("__main__")
    namespace = module.__dict__
    namespace.update(__file__=code.co_filename, __builtins__=__builtins__)
    sys.modules["__main__"] = module
    sys.path.insert(0, folder)
    sys.argv[:] = [path]
    rehearse()
    gc.collect()
    gc.freeze()
    os.write(STATUSES, bytes(4))
    sys.argv += serve(spares)
    os._exit(finish(run(code, namespace)))


if __name__ == "__main__":
    main()
