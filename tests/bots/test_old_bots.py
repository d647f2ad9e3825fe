"""Bots in the style of 2011: a fixed limit, bets with a fraction, card counting in C before C99; and Python 2."""

from pathlib import Path

import pytest
from bot_helpers import a_view, needs
from support.command import bjsim

from bjsim.bots.player import open_bot
from bjsim.bots.protocol import Reply, classify_reply
from bjsim.bots.seats import BotOptions, ProgramFile
from bjsim.sim.game.presets import named_rules
from bjsim.sim.running.driver import Driver
from bjsim.strategies.experiment import make_experiment
from bjsim.strategies.players.catalogue import find_player

LIMIT = """
import sys

print("SH"[int(sys.argv[1]) <= 16])
"""
FRACTION = """
import sys

score, stake = int(sys.argv[1]), int(sys.argv[4])
if score <= 14:
    print("H")
elif stake > 10:
    print("S")
else:
    print("B", 150 * score / 21)
"""
COUNTER = r"""
/* Uses the mean of the unseen cards. It does not declare atoi, which compilers of the time accepted. */
#include <stdio.h>
#include <string.h>

static int points_of(char card, int ace)
{
    const char *low = strchr("123456789", card);
    return card == '#' ? 0 : card == 'A' ? ace : low ? card - '0' : 10;
}

int main(int argc, char **argv)
{
    int score = atoi(argv[1]), stake = atoi(argv[4]), chips = atoi(argv[5]);
    int ace = score > 10 ? 1 : 11, points = 0, cards = 0, backs = 0;
    const char *seen;

    for (seen = argv[3]; *seen; seen++) {
        if (cards == 0) {
            cards = 52;
            points += 4 * (44 + 40 + ace);
        }
        points -= points_of(*seen, ace);
        cards--;
        backs += *seen == '#';
    }
    if (chips > 0 && chips < 10)
        printf("B %d\n", chips);
    else if (strlen(argv[2]) == 2 && stake == 10 && chips >= 10 && (score == 10 || score == 11))
        puts("D");
    else
        puts(score + (double)points / (cards + backs) <= 21 || score <= 14 ? "H" : "S");
    return 0;
}
"""
PYTHON_2 = """
import sys
if int(sys.argv[1]) < 17:
    print "H"
else:
    print "S"
"""


def written(folder: Path, **sources: str) -> list[str]:
    """Write the bots' files and return their paths. `name_ending` is the file `name.ending`."""
    for name, source in sources.items():
        (folder / name.replace("_", ".")).write_text(source, encoding="utf-8")
    return [str(folder / name.replace("_", ".")) for name in sources]


@needs(".c")
@needs(".py")
@pytest.mark.parametrize("hands", [60, pytest.param(1500, marks=pytest.mark.slow)])
def test_they_play_without_a_fault(tmp_path: Path, hands: int) -> None:
    rules = named_rules("cardshark")
    names = written(tmp_path, limit_py=LIMIT, fraction_py=FRACTION, counter_c=COUNTER)
    options = BotOptions("auto", 60.0, False, None)
    programs = [ProgramFile(name).start(options) for name in names]
    try:
        progress = Driver(make_experiment(rules, [*programs, find_player("lim17", rules)], hands, 1)).run()
        assert [program.faults for program in programs] == [{}, {}, {}]
    finally:
        for program in programs:
            program.close()
    stakes = [{abs(net) for net, _ in tally.counts} for tally in progress.tallies]
    assert [tally.rounds for tally in progress.tallies] == [hands] * 4
    assert stakes[0] == stakes[3] == {10}, "the bot plays like lim17"
    assert stakes[1] <= {10, *(10 + 150 * score // 21 for score in range(15, 22))} and 10 + 142 in stakes[1]
    assert 20 in stakes[2], "it doubles"


@needs(".py")
def test_a_bot_in_python_2_gets_a_hint(tmp_path: Path) -> None:
    (path,) = written(tmp_path, old_py=PYTHON_2)
    checked = bjsim("bot", "check", path)
    assert checked.status == 1 and "it looks like Python 2" in checked.err
    with open_bot(Path(path), cold=True, sandbox="auto") as player:
        player.decide(a_view())
        (fault,) = player.first_faults()
    assert fault.kind == "crash" and "it looks like Python 2" in fault.detail


@pytest.mark.parametrize(
    ("said", "old"),
    [
        ("SyntaxError: Missing parentheses in call to 'print'. Did you mean print(...)?", True),
        ("NameError: name 'raw_input' is not defined", True),
        ("TypeError: unsupported operand type(s) for >>: 'builtin_function_or_method' and '_io.TextIOWrapper'", True),
        ("SyntaxError: multiple exception types must be parenthesized", True),
        ("SyntaxError: '(' was never closed", False),
        ("NameError: name 'score' is not defined", False),
        ("", False),
    ],
)
def test_python_2_is_known_by_what_python_3_says(said: str, old: bool) -> None:
    fault = classify_reply(Reply("exit", 1, 10, b"", said.encode()), a_view())
    assert ("it looks like Python 2" in fault.detail) == old  # type: ignore[union-attr]
