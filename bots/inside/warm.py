"""A warm Python: loads a bot's program once, then forks a fresh process for every move. Started by `runner.py`.

Usage: warm.py PROGRAM. Descriptor 3 gives the moves (arguments joined by NUL, one write each), descriptor 4 takes how
each process ended. BJSIM_SPARES processes stand ready ahead of time, so that forking costs the move nothing where a
second processor is free. No spare has seen a move before it takes its own, and the program has run in none of them.
"""

from __future__ import annotations

import ast
import atexit
import ctypes
import gc
import os
import signal
import struct
import sys
import types
from importlib import import_module

STATUS = struct.Struct("<i")
REQUESTS, STATUSES = 3, 4
FRAME = 4096
PR_SET_PDEATHSIG, PR_SET_DUMPABLE = 1, 4
WITH_EFFECTS = {"__main__", "antigravity", "idlelib", "this", "turtledemo"}  # importing these does something

prctl = ctypes.CDLL(None).prctl
rehearsal = compile(
    "import sys\nx = 'H' if int('17') < 17 else f'{17:d}'\nprint(end='')", "rehearsal", "exec"
)


def standard_imports(source: bytes) -> list[str]:
    """Modules of the standard library that the program imports when it starts."""
    names: list[str] = []
    for node in ast.parse(source).body:
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names.append(node.module)
    known = set(sys.stdlib_module_names) - WITH_EFFECTS
    return [name for name in names if name.partition(".")[0] in known]


def load(path: str) -> types.CodeType:
    """The compiled program, with what it imports from the standard library already imported.

    Raises: SyntaxError, or another error of the compiler.
    """
    with open(path, "rb") as file:
        source = file.read()
    code = compile(source, path, "exec", dont_inherit=True)
    for name in standard_imports(source):
        try:
            import_module(name)
        except Exception:
            continue  # the program's own import shows it
    return code


def rehearse() -> None:
    """Do what every bot does, so that the pages and caches this touches are warm, and leave no trace of it."""
    exec(rehearsal, types.ModuleType("__main__").__dict__)
    sys.stdout.flush()


def take_move() -> list[str]:
    """Wait for a move and return its arguments; ends the process when there are no more."""
    frame = os.read(REQUESTS, FRAME)
    if not frame:
        os._exit(0)
    os.close(REQUESTS)
    os.close(STATUSES)
    return os.fsdecode(frame).split("\0")


def run(code: types.CodeType, arguments: list[str]) -> int:
    """Run the program as the interpreter would run it as a script; returns the exit status."""
    module = types.ModuleType("__main__")
    module.__dict__.update(__file__=code.co_filename, __builtins__=__builtins__)
    sys.modules["__main__"] = module
    sys.argv[:] = [code.co_filename, *arguments]
    try:
        exec(code, module.__dict__)
    except SystemExit as request:
        if request.code is None or isinstance(request.code, int):
            return (request.code or 0) & 0xFF
        print(request.code, file=sys.stderr)
        return 1
    except BaseException as error:
        # The first frame is this function's.
        sys.excepthook(type(error), error, error.__traceback__ and error.__traceback__.tb_next)
        return 1
    return 0


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


def serve(spares: int) -> None:
    """Keep `spares` processes waiting for moves, and report the end of each. Returns in a spare only."""
    waiting = set()
    while True:
        while len(waiting) < spares:
            pid = os.fork()
            if pid == 0:
                prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
                rehearse()
                return
            waiting.add(pid)
        pid, status = os.waitpid(-1, 0)
        waiting.remove(pid)
        os.write(STATUSES, STATUS.pack(status))


def main() -> None:
    """Load, say so, serve."""
    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)
    prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    try:
        code = load(sys.argv[1])
    except Exception as error:
        sys.excepthook(type(error), error, None)
        sys.exit(1)
    rehearse()
    gc.collect()
    gc.freeze()
    gc.disable()
    os.write(STATUSES, STATUS.pack(0))
    serve(int(os.environ.pop("BJSIM_SPARES")))
    arguments = take_move()
    prctl(PR_SET_DUMPABLE, 1, 0, 0, 0)
    gc.enable()
    os._exit(finish(run(code, arguments)))


if __name__ == "__main__":
    main()
