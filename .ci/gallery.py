"""Run every command of docs/gallery.md, which draws its pictures and writes its pages.

python .ci/gallery.py
"""

from __future__ import annotations

import os
import re
import shlex
import sys
from pathlib import Path

from bjsim.cli.main import main

ROOT = Path(__file__).resolve().parents[1]


def commands(text: str) -> list[list[str]]:
    """The words of every `bjsim` command in the code blocks of a page, without `bjsim`."""
    blocks = re.findall(r"^```sh\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    return [shlex.split(line)[1:] for block in blocks for line in block.splitlines() if line.startswith("bjsim ")]


def run_all() -> None:
    """Run them in the root of the repository."""
    os.chdir(ROOT)
    for words in commands((ROOT / "docs" / "gallery.md").read_text(encoding="utf-8")):
        print("bjsim", *words, flush=True)
        try:
            main(words)
        except SystemExit as stop:
            if stop.code:
                sys.exit(stop.code)


if __name__ == "__main__":
    run_all()
