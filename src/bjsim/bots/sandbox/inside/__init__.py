"""Programs that run inside the sandbox, under the interpreter found there. They import nothing from bjsim."""

from pathlib import Path

FOLDER = Path(__file__).parent


def source(name: str) -> bytes:
    """The content of the file `name` in this folder."""
    return (FOLDER / name).read_bytes()
