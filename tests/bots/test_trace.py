"""`bjsim bot trace` and `bjsim bot ask`, and bots that say that they are random."""

import pytest
from bot_helpers import SAMPLES, line_bot, needs
from click.testing import CliRunner
from support.documents import ROOT, blocks

from bjsim.bots.check import check_match
from bjsim.bots.player import open_bot
from bjsim.cli.bot import bot as bot_command
from bjsim.cli.bot import must_pass
from bjsim.errors import InputError
from bjsim.sim.game.presets import named_rules

pytestmark = needs(".py")
OFF = ("--sandbox", "auto")


def run(*words):
    return CliRunner().invoke(bot_command, [*map(str, words), *OFF])


def test_a_trace_has_all_that_a_line_bot_reads_and_answers(tmp_path):
    """The bot writes what it reads to stderr."""
    echo = line_bot("'X' if n == 2 else 'S', n", work="n == 4 and sys.exit(3)", setup="""
class Seen(list):
    def append(self, text):
        sys.stderr.write(text)
        sys.stderr.flush()
seen = Seen()""")  # fmt: skip
    (tmp_path / "x.py").write_text(echo)
    done = run("trace", tmp_path / "x.py", "--rounds", "7", "--timeout", "9")
    lines, _, errors = done.output.partition("stderr:\n")
    lines = lines.splitlines()
    assert done.exit_code == 1 and errors.splitlines() == [line[2:] for line in lines if line.startswith("> ")]
    assert lines[0].startswith("> hello 1 ") and lines[1] == "< ready 1" and lines[-1] == "> bye"
    assert [line for line in lines if line.startswith("<")][:3] == ["< ready 1", "< S 1", "< X 2"]
    faults = [line for line in lines if line.startswith("!")]
    assert "'X' is not a move" in faults[0] and "exit status 3" in faults[1] and "resumed=1" in done.output


def test_a_bot_that_is_started_for_every_move_and_its_twin_are_asked_the_same():
    traces = []
    for name in ("lim17.py", "lim17_line.py"):
        done = run("trace", SAMPLES / name, "--rounds", "9", "--seed", "3", "--timeout", "9")
        assert done.exit_code == 0
        lines = [line.removeprefix("> move ").removeprefix("> ").split() for line in done.output.splitlines()]
        traces.append([line[:5] for line in lines if line[0].isdecimal() or (line[0] == "<" and line[1] != "ready")])
    assert traces[0] == traces[1] and len(traces[0]) > 10


def test_the_transcript_of_the_documentation():
    page = (ROOT / "docs" / "reference" / "line-protocol.md").read_text(encoding="utf-8")
    (block,) = [block.text for block in blocks("line-protocol.md", page) if block.text.startswith("> hello")]
    done = run("trace", SAMPLES / "lim17_line.py", "--rounds", "1", "--seed", "2", "--timeout", "2")
    assert done.output == block and "< H\n" in block


@pytest.mark.parametrize("name", ["lim17.py", "lim17_line.py"])
def test_one_question(name):
    done = run("ask", SAMPLES / name, "t24", "9", "--chips", "30", "--timeout", "9")
    assert done.exit_code == 0 and " 16 T24 9#T8" in done.output and " 10 20" in done.output
    assert "\n< H\n" in done.output and done.output.endswith(" ms\n")
    for words, error in (
        (("T6", "X"), "X is not a card; use A 2 3"),
        (("T", "9"), "give a hand of two or more cards"),
        (("T6", "99"), "give a hand of two or more cards"),
        (("TA", "9"), "cardshark: a bot is never asked with TA against 9"),
    ):
        caught = run("ask", SAMPLES / name, *words).exception
        assert isinstance(caught, InputError) and error in str(caught)


def test_a_faulty_answer_is_an_exit_status(tmp_path):
    (tmp_path / "x.py").write_text("print('X')")
    done = run("ask", tmp_path / "x.py", "T6", "9", "--timeout", "9")
    assert done.exit_code == 1 and "! bad-reply: 'X' is not a move" in done.output


RANDOM = "'HS'[os.urandom(1)[0] % 2]"  # at 25 decisions or more, so two matches agree once in 2**25


def test_a_line_bot_that_is_random_must_say_so(tmp_path):
    (tmp_path / "silent.py").write_text(line_bot(RANDOM))
    (tmp_path / "open.py").write_text(line_bot(RANDOM, ready="ready 1 random=1"))
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "bot.toml").write_text("random = true\n")
    (tmp_path / "folder" / "bot.py").write_text(line_bot(RANDOM))
    for name, declared in (("silent.py", False), ("open.py", True), ("folder", True)):
        with open_bot(tmp_path / name, sandbox="auto", timeout=9.0) as player:
            match = check_match(player, named_rules("cardshark"))
        assert match.random == declared and match.passed["deterministic"] is False
        assert ("deterministic" in must_pass(match)) != declared


@pytest.mark.parametrize("name", ["lim17.py", "lim17_line.py"])
def test_a_match_without_a_question_says_so(name):
    done = run("trace", SAMPLES / name, "--rounds", "1", "--seed", "55", "--timeout", "9")  # deals 21
    assert done.exit_code == 0 and done.output.endswith(
        "no move was asked in 1 round; try --seed 56 or more --rounds\n"
    )
    assert ("< ready 1" in done.output and "> bye" in done.output) == (name == "lim17_line.py")


def test_a_match_without_a_question_shows_a_bot_that_is_not_ready(tmp_path):
    (tmp_path / "x.py").write_text(line_bot(ready="hi"))
    done = run("trace", tmp_path / "x.py", "--rounds", "1")
    assert done.exit_code == 1 and "! not-ready: answered hello with 'hi'" in done.output


def test_every_line_of_an_answer_is_shown(tmp_path):
    (tmp_path / "x.py").write_text("print('T6')\nprint('H')\n")
    assert run("ask", tmp_path / "x.py", "T6", "T", "--timeout", "9").output.splitlines()[1:3] == ["< T6", "< H"]


def test_the_settings_of_a_contest_apply(tmp_path):
    """Its rules and timeout, which options override, and its protocols."""
    (tmp_path / "c.toml").write_text('rules = "vegas-s17"\ntimeout = 7.0\nprotocols = ["line"]\n')
    ask = ("ask", SAMPLES / "lim17_line.py", "T6", "T", "--config", tmp_path / "c.toml")
    assert "bank-ms=7000" in run(*ask).output and "rules name=vegas-s17" in run(*ask).output
    done = run(*ask, "--timeout", "3", "--rules", "cardshark")
    assert "bank-ms=3000" in done.output and "rules name=cardshark" in done.output
    done = run("check", SAMPLES / "lim17.py", "--config", tmp_path / "c.toml")
    assert isinstance(done.exception, InputError) and "this contest plays line" in str(done.exception)


def test_a_bot_of_five_arguments_is_not_asked_about_insurance(tmp_path):
    """Neither in a match nor in a check, whose situations are about hands: all seats decline."""
    game = ("--rules", "vegas-s17", "--set", "insurance=true", "--set", "decks=1", "--timeout", "9")
    done = run("trace", SAMPLES / "lim17.py", *game, "--rounds", "30")
    assert done.exit_code == 0 and " A#" in done.output and "!" not in done.output
    assert run("check", SAMPLES / "lim17.py", *game).exit_code == 0
    (tmp_path / "x.py").write_text(line_bot())
    assert " legal=SHD" in run("ask", tmp_path / "x.py", "T6", "A", *game).output
