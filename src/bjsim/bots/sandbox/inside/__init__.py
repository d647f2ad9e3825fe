"""Programs that run inside the box, under the interpreter found there.

They import nothing but the standard library and, of the runner, each other.
"""

from pathlib import Path

FOLDER = Path(__file__).parent
RUNNER = ("seccomp.py", "landlock.py", "keeper.py", "streams.py", "starters.py", "runner.py", "main.py")
# The code that runs it; its arguments are the folder of the runner and the settings.
RUN = f"import sys; sys.path.append(sys.argv.pop(1)); from {__name__}.main import main; main()"


def source(name: str) -> bytes:
    return (FOLDER / name).read_bytes()


def runner_files() -> dict[str, bytes]:
    """The modules of the runner under their names in an otherwise empty bjsim: path -> content."""
    parts = __name__.split(".")
    packages = {"/".join([*parts[:depth], "__init__.py"]): b"" for depth in range(1, len(parts) + 1)}
    return packages | {"/".join([*parts, name]): source(name) for name in RUNNER}
