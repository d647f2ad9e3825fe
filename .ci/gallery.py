"""Run every command of docs/gallery.md, which draws its pictures in docs/gallery.

python .ci/gallery.py           all of them; `make docs` draws those that are not there
"""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "gallery.md"


def commands(text: str) -> list[list[str]]:
    """The words of every `bjsim` command in the code blocks of a page, without `bjsim`."""
    blocks = re.findall(r"^```sh\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    return [shlex.split(line)[1:] for block in blocks for line in block.splitlines() if line.startswith("bjsim ")]


def is_missing(words: list[str]) -> bool:
    """Whether a picture that the command draws is not there."""
    return any(word.startswith("docs/gallery/") and not Path(word).exists() for word in words)


def draw(every: bool) -> None:
    """Run all commands, or those with pictures that are missing, in the current folder."""
    from bjsim.cli.main import main

    Path("docs/gallery").mkdir(parents=True, exist_ok=True)
    for words in commands(PAGE.read_text(encoding="utf-8")):
        if not every and not is_missing(words):
            continue
        print("bjsim", *words, flush=True)
        try:
            main(words)
        except SystemExit as stop:
            if stop.code:
                sys.exit(stop.code)


def on_pre_build(**_: object) -> None:
    """The hook of mkdocs."""
    subprocess.run([sys.executable, __file__, "--missing"], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)


if __name__ == "__main__":
    os.chdir(ROOT)
    draw(every="--missing" not in sys.argv)
