"""docs/how-to/train-a-bot.md: train.py trains a network, its bot plays as it does, and enters a contest."""

from __future__ import annotations

import itertools
import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from bot_helpers import needs, needs_sandbox
from support.command import bjsim
from support.documents import ROOT, blocks

from bjsim.sim.game.actions import View
from bjsim.sim.game.presets import PRESETS
from bjsim.strategies.learning.observations import Encoder

pytest.importorskip("gymnasium", reason="needs the extra bjsim[gym]")
FULL = "1024, 3000, 48"
PAGE = "docs/how-to/train-a-bot.md"
MINE = [block for block in blocks(PAGE, (ROOT / PAGE).read_text("utf-8")) if Path(__file__).name in block.marker]
BLOCKS = {name: [block.text for block in MINE if block.language == name] for name in ("python", "toml", "sh")}


def train(folder: Path, sizes: str) -> float:
    """Run the page's Python in a folder, with these TABLES, STEPS and HIDDEN. Returns: the regret that it prints."""
    code = "\n".join(BLOCKS["python"])
    assert f"= {FULL}" in code
    (folder / "train.py").write_text(code.replace(f"= {FULL}", f"= {sizes}"))
    done = subprocess.run(
        [sys.executable, "train.py"], cwd=folder, env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    found = re.search(r"regret ([\d.]+);", done.stdout)
    assert found
    return float(found[1])


def estimate(weights: list[Any], observations: Any) -> Any:
    """Q of every action by the network, as the page describes it."""
    inputs = np.zeros((len(observations), len(weights[0])))
    for x, (points, soft, cards, *_, column, _) in zip(inputs, observations, strict=True):
        x[[points, 24 + column]] = 1
        x[22:24] = soft, cards == 2
    first, first_bias, second, second_bias = map(np.array, weights)
    return np.maximum(inputs @ first + first_bias, 0) @ second + second_bias


def check_answers(folder: Path) -> None:
    """The bot answers as the network does, where the network's two best actions are not the same."""
    encoder = Encoder(PRESETS["cardshark"].rules)
    views = []
    for cards, dealer in itertools.product(["93", "A5", "TQ", "KA", "AA", "42", "65", "8222", "A23", "9A4"], "29TKA"):
        legal = "SHD" if len(cards) == 2 else "SH"
        views.append(View(encoder.rules, 0, cards, dealer, dealer + "#" + cards, 10, 190, legal))
    lines = [f"move 0 {v.hand} {v.visible} 10 190 hand=0 hands=1 dealer={v.dealer} legal={v.legal}B" for v in views]
    text = "\n".join(["hello 1", "shuffle", *lines, "bye", ""])
    done = subprocess.run(
        [sys.executable, "network.py"], cwd=folder, input=text, capture_output=True, text=True, check=True
    )
    ready, *answers = done.stdout.splitlines()
    assert ready == "ready 1 name=network" and len(answers) == len(views)
    observations = np.array([encoder.observation(view) for view in views])
    masks = np.array([encoder.mask(view.legal) for view in views])
    weights = json.loads((folder / "network.py").read_text().split('"""')[1])
    q = np.where(masks, estimate(weights, observations), -np.inf)
    clear = np.diff(np.sort(q, axis=1)[:, -2:], axis=1)[:, 0] > 1e-4
    expected = np.array(list(encoder.letters))[q.argmax(axis=1)]
    assert clear.mean() > 0.9 and (np.array(answers) == expected)[clear].all()


@pytest.mark.slow
@needs(".py")
@needs_sandbox
def test_a_short_training_enters_a_contest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert 0 < train(tmp_path, "512, 400, 24") < 0.05
    check_answers(tmp_path)
    monkeypatch.chdir(tmp_path)
    assert "OPENBLAS_NUM_THREADS=1 python train.py\nbjsim bot check network.py" in BLOCKS["sh"][0]
    assert bjsim("bot", "check", "network.py").status == 0
    (tmp_path / "contest.toml").write_text(BLOCKS["toml"][0].replace("matches = 20", "matches = 2"))
    assert bjsim(*shlex.split(BLOCKS["sh"][1])[1:]).status == 0
    standings = json.loads((tmp_path / "contest" / "standings.json").read_text())
    assert len(standings) == 4
    assert not next(row for row in standings if "network" in row["bot"])["faults"]


@pytest.mark.slow
def test_the_whole_training_leaves_little_regret(tmp_path: Path) -> None:
    assert train(tmp_path, FULL) < 0.003
    check_answers(tmp_path)
