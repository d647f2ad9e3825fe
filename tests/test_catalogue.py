"""docs/reference/catalogue.md lists every game and every strategy with its source, and no other."""

import re
import runpy

import pytest
from support.documents import ROOT

from bjsim.sim.game.presets import PRESETS
from bjsim.strategies.exact.solver import Solver
from bjsim.strategies.players.catalogue import BUILT_IN, CATALOGUE

HOOK = runpy.run_path(str(ROOT / ".ci" / "tables.py"))  # which puts the tables of the code into the page
PAGE = HOOK["on_page_markdown"]((ROOT / "docs" / "reference" / "catalogue.md").read_text(encoding="utf-8"))
GAMES, READINGS, STRATEGIES, _ = re.split("Readings chosen|## Strategies|## Charts", PAGE)


def rows(section):
    """The rows of the table in a section: name -> other cells."""
    cells = [line.strip("| ").split(" | ") for line in section.splitlines() if line.startswith("| `")]
    names = [row[0].strip("`") for row in cells]
    assert len(set(names)) == len(names), "duplicate name"
    return {name: row[1:] for name, row in zip(names, cells, strict=True)}


def test_every_game_is_listed_with_what_it_is_and_its_source():
    assert {name: (cells[0], cells[-1]) for name, cells in rows(GAMES).items()} == {
        name: (preset.about, preset.source) for name, preset in PRESETS.items()
    }


def test_every_strategy_is_listed_with_what_it_does_and_its_source():
    assert rows(STRATEGIES) == {
        name: [player.about, player.source] for name, player in (*CATALOGUE.items(), *BUILT_IN.items())
    }


@pytest.mark.parametrize("name", PRESETS)
def test_the_values_are_those_of_the_games(name):
    assert rows(GAMES)[name][1] == f"{100 * float(Solver(PRESETS[name].rules.replace(decks='inf')).value):+.6f}%"


def test_every_decision_is_listed():
    listed = re.findall(r"^\| `([\w-]+)` \| (.*) \|$", READINGS, re.MULTILINE)
    assert listed == [(name, decision) for name, preset in PRESETS.items() for decision in preset.decisions]


def test_every_one_cites_a_source():
    assert all(entry.source for entry in (*PRESETS.values(), *CATALOGUE.values(), *BUILT_IN.values()))
