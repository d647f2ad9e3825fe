"""`bjsim bot`: a bot is tried before a contest, started from a sample, made of a chart."""

import json
import re
import shlex
from pathlib import Path

import pytest
from bot_helpers import SAMPLES, needs
from click.testing import CliRunner

from bjsim.bots.check import situation, situations
from bjsim.cli.bot import bot as command
from bjsim.cli.main import cli
from bjsim.sim.play import HIT, raise_by
from bjsim.sim.presets import PRESETS, named_rules

CARDSHARK = named_rules("cardshark")


def run(*arguments):
    return CliRunner().invoke(command, [str(argument) for argument in arguments])


@needs(".c")
@needs(".py")
def test_what_the_documentation_tells_a_new_user_to_type(tmp_path, monkeypatch):
    """In an empty folder; with fewer hands, and more time for a move, since the machine may be busy."""
    monkeypatch.chdir(tmp_path)
    text = (Path(__file__).parents[2] / "docs" / "bots.md").read_text(encoding="utf-8")
    printed = {}
    for line in re.findall(r"^    (bjsim .*)$", text, re.M):
        _, *words = shlex.split(line.replace("--hands 20000", "--hands 300"), comments=True)
        slow = ["--timeout", "20"] if words[:2] in (["bot", "check"], ["run", "--rules"]) else []
        done = CliRunner().invoke(cli, [*words, *slow])
        assert done.exit_code == 0, (line, done.output)
        printed[" ".join(words[:3])] = done.output
    assert [*printed] == ["bot new mybot", "bot check mybot.c", "run --rules cardshark", "bot export optimal",
                          "bot check best.py"]  # fmt: skip
    assert sorted(path.name for path in tmp_path.iterdir()) == ["best.py", "mybot.c"]
    assert "no fault" in printed["bot check mybot.c"] and "no fault" in printed["bot check best.py"]
    assert re.search(r"mybot\.c +300 .*\n(.*\n)*.*mybot\.c .* none", printed["run --rules cardshark"])


def test_a_situation_is_dealt_by_the_round():
    view = situation(CARDSHARK, "T6", "7").view
    assert (view.hand, view.dealer, view.stake, view.chips, view.legal) == ("T6", "7", 10, 190, "SHDB")
    assert view.visible == "7#T8886888"
    later = situation(CARDSHARK, "T24", "7", [HIT])
    assert later.view.hand == "T24" and "D" not in later.view.legal and later.row == "T24/H"
    raised = situation(CARDSHARK, "T6", "7", [raise_by(15)])
    assert (raised.view.stake, raised.view.chips, raised.row) == (25, 175, "T6/B 15")
    poor = situation(CARDSHARK, "T6", "7", chips=15)
    assert poor.view.chips == 5 and "D" not in poor.view.legal
    assert situation(named_rules("easy"), "AT", "7") is None


@pytest.mark.parametrize("preset", PRESETS)
def test_there_are_situations_under_all_rules(preset):
    views = [found.view for found in situations(named_rules(preset))]
    assert len(views) > 100
    assert {letter for view in views for letter in view.legal} >= {"S", "H"}


@needs(".c")
def test_a_good_bot_passes():
    done = run("check", SAMPLES / "lim17.c", "--timeout", 20)
    assert done.exit_code == 0, done.output
    assert "no fault" in done.output and "ms per move" in done.output and "T6" in done.output


@needs(".py")
def test_a_bad_bot_is_shown_its_faults(tmp_path):
    path = tmp_path / "bad.py"
    path.write_text("import sys, random\nprint(random.choice('HS') if sys.argv[1] != '17' else 1 / 0)")
    done = run("check", path, "--json", tmp_path / "x.json", "--timeout", 20)
    assert done.exit_code == 1
    assert "crash" in done.output and "ZeroDivisionError" in done.output and "asked: 17 T7" in done.output
    assert "not steady" in done.output
    data = json.loads((tmp_path / "x.json").read_text())
    assert data["faults"]["crash"] >= 20 and not data["steady"] and data["language"] == "python"
    assert ["crash", "crash"] in [answer["moves"] for answer in data["answers"]]
    assert run("check", path, "--strikes", 1000, "--timeout", 20).exit_code == 0


@needs(".c")
def test_what_the_compiler_says_is_shown_whole(tmp_path):
    path = tmp_path / "bad.c"
    path.write_text("int main(void) { return x; }")
    done = run("check", path)
    assert done.exit_code != 0 and "undeclared" in done.output and "^" in done.output


@pytest.mark.parametrize(
    ("language", "ending"), [("python", ".py"), ("c", ".c"), ("c++", ".cpp"), ("java", ".java"), ("lisp", ".lisp")]
)
def test_a_new_bot_is_a_bot_with_a_comment(tmp_path, language, ending, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run("new", "mine", "--language", language).exit_code == 0
    text = (tmp_path / f"mine{ending}").read_text()
    assert "VISIBLE" in text and "B 15" in text
    again = run("new", f"mine{ending}", "--language", language)
    assert again.exit_code != 0 and "exists already" in str(again.exception)


@needs(".py")
def test_a_chart_becomes_a_bot_that_passes(tmp_path):
    path = tmp_path / "best.py"
    assert run("export", "optimal", "--output", path).exit_code == 0
    assert path.read_text() == run("export", "optimal", "--rules", "cardshark").output
    assert run("check", path, "--timeout", 20).exit_code == 0


def test_what_is_no_chart_is_refused(tmp_path):
    (tmp_path / "mine.py").write_text("def decide(view): return 'S'")
    done = run("export", f"{tmp_path / 'mine.py'}:decide")
    assert "is no chart" in str(done.exception)
