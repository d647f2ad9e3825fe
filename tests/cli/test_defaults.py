"""One default game for all commands of casino games, and words that newcomers type."""

from __future__ import annotations

from pathlib import Path

import click
import pytest
from support.command import bjsim

import bjsim as package
from bjsim.cli.main import COMMANDS, cli
from bjsim.cli.options import _sources

HOMEWORK = {"run", "solve", "learn", "check", "replay"}


def commands() -> dict[str, click.Command]:
    context = click.Context(cli)
    found = {name: command for name in COMMANDS if (command := cli.get_command(context, name))}
    count = found["count"]
    assert isinstance(count, click.Group)
    return found | {f"count {name}": one for name, one in count.commands.items()}


def test_games_of_casinos_are_the_default_but_where_an_assignment_describes_the_command() -> None:
    defaults = {
        name: option.default
        for name, command in commands().items()
        for option in command.params
        if option.opts[:1] == ["--rules"] and option.default
    }
    assert {"known", "bank", "compare", "count", "count indices", "play"} <= set(defaults)
    assert defaults == {name: "easy" if name in HOMEWORK else "vegas-s17" for name in defaults}


def test_basic_strategy_is_the_best_chart() -> None:
    rules = package.load_rules("vegas-s17")
    assert package.evaluate("basic", rules).value == package.evaluate("optimal", rules).value


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("team", "no command is called 'team'; teams are not modelled; a big player bets at good counts alone"),
        ("tournament", "tournaments of people are not modelled; `bjsim koth` hosts contests of bots"),
        ("sovle", "no command is called 'sovle'; did you mean solve?"),
        ("solve --hand|16 v 10|--decks inf --rules vegas-s17", "16 is a total: write its cards, such as T,6 v T"),
        (
            "rules vegas-s17 --set cut=often",
            "cut = often is not accepted; use 0 to 1, such as 3/4 or 75%, or csm for 0",
        ),
    ],
)
def test_what_is_said_to_words_that_are_not_accepted(words: str, message: str) -> None:
    given = [word for part in words.split("|") for word in ([part] if " v " in part else part.split())]
    outcome = bjsim(*given)
    assert outcome.status and message in outcome.err


def test_sentences_are_wrapped_between_words() -> None:
    """A terminal cuts what is printed with soft wrapping inside numbers; only the legend of a chart is printed so."""
    folder = Path(package.__file__).parent
    files = [path for part in ("cli", "report") for path in (folder / part).glob("*.py")]
    lines = [line.strip() for path in files for line in path.read_text().splitlines()]
    assert [line for line in lines if "soft_wrap=True" in line] == ["console.print(text, soft_wrap=True)"]


def test_a_shuffling_machine_is_a_cut() -> None:
    assert package.Rules(decks=6, cut="csm").cut == 0  # type: ignore[arg-type]


def test_a_command_keeps_the_counts_of_index_plays_and_no_folders() -> None:
    """`16vT S>=1/2` was shortened to `2`, as if it were a path."""
    [indices] = [one for one in commands()["count"].params if one.name == "indices"]
    kept = "16vT S>=1/2,15vT S>=7/2"
    found = [_sources(indices, text) for text in (kept, "home/me/plays.txt", "i18")]
    assert found == [[], [("", "home/me/plays.txt")], []]


def test_a_command_keeps_commas_of_names_and_splits_lists() -> None:
    """Half of a folder's name was taken for a file's."""
    found = commands()
    [chart] = [one for one in found["check"].params if one.name == "chart"]
    [rules] = [one for one in found["run"].params if one.name == "rules_name"]
    [bots] = [one for one in found["run"].params if one.name == "bots"]
    assert _sources(chart, "Smith, John/basic.csv") == [("", "Smith, John/basic.csv")]
    assert _sources(rules, "a,b/h.toml") == [("", "a,b/h.toml")]
    assert _sources(bots, "a/x.csv,me=b/y.csv") == [("", "a/x.csv"), ("me=", "b/y.csv")]
