"""Draw docs/explanation/luck.png: how the unadjusted and the luck-adjusted mean converge in a run of six decks.

python bench/luck_picture.py docs/explanation/luck.png

The hands are those of the table in README.md.
"""

from __future__ import annotations

import sys
from dataclasses import replace

import bjsim
from bjsim.report.picture import draw

HANDS, SEED = 1_000_000, 1


def main(path: str) -> None:
    """Play, and draw to `path`, as `bjsim run --plot` does."""
    result = bjsim.play("vegas-s17", "optimal", hands=HANDS, seed=SEED)
    command = f"bjsim run --rules vegas-s17 --bots optimal --hands {HANDS} --seed {SEED}"
    draw(replace(result.describe(), command=command), path)


if __name__ == "__main__":
    main(*sys.argv[1:])
