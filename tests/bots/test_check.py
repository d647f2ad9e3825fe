"""`bjsim bot`: check a bot, start one from a sample, export a chart as one, ask it, and trace a match."""

import json
import re
import shlex
from dataclasses import replace

import pytest
from bot_helpers import EACH_LANGUAGE, SAMPLES, a_view, line_bot, needs, needs_sandbox
from click.testing import CliRunner
from support.command import bjsim, refusal
from support.documents import ROOT, blocks
from support.games import ONE_HAND
from support.matches import CARDSHARK, begin, rounds_in
from support.printed import printed

from bjsim.bots.check import CHECKS, ENOUGH, BotCheck, Trial, check_match, price, situation, situations, try_bot
from bjsim.bots.line import Clock
from bjsim.bots.player import open_bot
from bjsim.bots.protocol import UNFLUSHED, Fault
from bjsim.bots.sandbox.languages import LANGUAGES
from bjsim.cli.bot import bot as command
from bjsim.cli.main import cli
from bjsim.errors import InputError
from bjsim.report.parts import Report
from bjsim.run_result import fault_lines
from bjsim.sim.game.actions import HIT, STAND, raise_by
from bjsim.sim.game.presets import named_rules
from bjsim.strategies.charts.chart import parse_row
from bjsim.strategies.evaluation.compare import best_chart, evaluate_chart
from bjsim.strategies.players.catalogue import CATALOGUE

pytestmark = needs(".py")


def run(*arguments):
    return CliRunner().invoke(command, [str(argument) for argument in arguments])


@needs(".c")
def test_what_the_documentation_tells_a_new_user_to_type(tmp_path, monkeypatch):
    """In an empty folder, with fewer hands, and with a longer timeout because the machine may be busy."""
    monkeypatch.chdir(tmp_path)
    text = (ROOT / "docs" / "how-to" / "bots.md").read_text(encoding="utf-8")
    printed = {}
    for line in re.findall(r"^    (bjsim .*)$", text, re.M):
        _, *words = shlex.split(line.replace("--hands 20000", "--hands 300"), comments=True)
        words += ["--sandbox", "auto"] * (words[1:2] == ["compare"])
        slow = ["--timeout", "20"] if words[0] == "run" or (words[1:] and words[1] in ("check", "ask", "trace")) else []
        if words[0] == "doctor":  # its status depends on this machine; tests/cli/test_doctor.py
            continue
        done = CliRunner().invoke(cli, [*words, *slow])
        assert done.exit_code == 0, (line, done.output)
        printed[" ".join(words[:3])] = done.output
    assert [*printed] == ["bot new mybot.c", "bot check mybot.c", "bot compare mybot.c", "run --rules cardshark",
                          "bot export optimal", "bot check best.py",
                          "bot ask mybot.c", "bot trace mybot.c"]  # fmt: skip
    assert sorted(path.name for path in tmp_path.iterdir()) == ["best.py", "mybot.c"]
    assert "no faults" in printed["bot check mybot.c"] and "no faults" in printed["bot check best.py"]
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
    assert situation(CARDSHARK, "T6", "7", chips=9) is None, "it sits out"
    assert situation(CARDSHARK, "T6", "7", [raise_by(6)], 15) is None, "it has five chips"


@pytest.mark.parametrize("preset", ONE_HAND)
def test_there_are_situations_under_all_rules(preset):
    """Only with cards of the deck."""
    rules = named_rules(preset)
    views = [found.view for found in situations(rules)]
    assert len(views) > 100
    assert {letter for view in views for letter in view.legal} >= {"S", "H"}
    assert ("T" in "".join(view.visible for view in views)) == (rules.deck == "standard")


@pytest.mark.parametrize("chips", [{}, {"buy_in": 2, "chips": 4}, {"buy_in": 9, "chips": 18}])
def test_no_situation_has_chips_that_the_seat_does_not_have(chips):
    rules = CARDSHARK.replace(**chips)
    found = list(situations(rules))
    assert found and all(one.view.stake + one.view.chips == one.chips >= rules.buy_in for one in found)


def test_both_cards_of_the_dealer_have_columns_and_no_value():
    """Of 23 columns ten are asked, so that the value would be largely that of the best chart."""
    rules = named_rules("easy")
    trials = [Trial(asked, (STAND, STAND), (0.25, 0.25)) for asked in situations(rules)]
    out = printed(BotCheck("a bot", "bot.py", "python", rules, trials, 9, {"median": 0.25, "p99": 1.5}).describe())
    assert "the same move everywhere (S)" in out and "no exact value: the dealer's cards are both open" in out
    assert price(rules, trials) is None and re.search(r"hand +28 +38 .* A8 ", out)
    assert len(re.findall(r"\bS\b", out)) == 1 + len(trials)


def test_a_bad_bot_is_shown_its_faults(tmp_path):
    path = tmp_path / "bad.py"
    path.write_text("import sys, random\nprint(random.choice('HS') if sys.argv[1] != '17' else 1 / 0)")
    done = run("check", path, "--json", tmp_path / "x.json", "--timeout", 20)
    assert done.exit_code == 1
    assert "crash" in done.output and "ZeroDivisionError" in done.output and "asked: 17 T7" in done.output
    assert "non-deterministic" in done.output
    data = json.loads((tmp_path / "x.json").read_text())
    assert data["faults"]["crash"] >= 20 and not data["deterministic"] and data["language"] == "python"
    assert ["crash", "crash"] in [answer["moves"] for answer in data["answers"]]


def tried(tmp_path, code, *options):
    """What `bjsim bot check` makes of a bot in Python: exit status, output and JSON."""
    path = tmp_path / "tried.py"
    path.write_text(f"import sys, time\nscore, stake, chips = (int(sys.argv[i]) for i in (1, 4, 5))\n{code}\n")
    done = run("check", path, "--json", tmp_path / "x.json", *options)
    return done.exit_code, done.output, json.loads((tmp_path / "x.json").read_text())


def test_a_bot_that_never_stands_meets_the_move_cap(tmp_path):
    status, output, data = tried(tmp_path, "print('B 0')", "--timeout", 20, "--set", "move_cap=20")
    assert status == 1 and "a contest would record faults: move-cap" in output and "20 moves with one hand" in output
    assert data["faults"] == {"move-cap": ENOUGH}
    assert data["answers"][0]["after"] == [*["B 0"] * 19, "move-cap"]
    assert [len(answer["after"]) for answer in data["answers"]] == [20] * ENOUGH + [0] * (281 - ENOUGH)


@pytest.mark.parametrize(
    ("code", "faults"),
    [
        ("print('S' if stake > 10 or not chips else 'B 15' if chips > 15 else 'B 1')", {}),  # raises once
        ("print('B 0' if score == 17 and stake == 22 else 'B 12' if score > 11 else 'H')", {"move-cap", "overbet"}),
        ("print('S' if chips < 30 else 'B 30' if stake < 40 else 1 / 0)", {"crash"}),
    ],
)
def test_a_hand_is_played_on_where_the_bot_raises(tmp_path, code, faults):
    """Faults that no single question finds: they come after the raise."""
    status, output, data = tried(tmp_path, code, "--timeout", 20)
    assert data["faults"].keys() == set(faults) and status == bool(faults), output
    assert faults or ["S"] in [answer["after"] for answer in data["answers"]]


@pytest.mark.parametrize(
    ("code", "kind"),
    [("1 / 0", "crash"), ("print('stand')", "bad-reply"), ("", "bad-reply"), ("time.sleep(60)", "timeout")],
)
def test_a_bot_without_a_good_move_is_soon_asked_no_more(tmp_path, code, kind):
    """One that fails sometimes is asked in all situations: see test_a_bad_bot_is_shown_its_faults."""
    hangs = "sleep" in code
    status, output, data = tried(tmp_path, code, "--timeout", 0.05 if hangs else 20)
    assert status == 1 and f"stopped asking after {kind} 10: 276 of 281 situations not tried" in output
    assert data["faults"] == {kind: 10} and data["untried"] == 276 and "same move everywhere" not in output
    assert ("'stand' is not a move; did you mean S?" in output) == ("stand" in code)
    if hangs:
        (tmp_path / "c.toml").write_text("strikes = 3\ntimeout = 0.05\n")
        status, output, data = tried(tmp_path, code, "--config", tmp_path / "c.toml")
        assert status == 1 and "after timeout 4: 279 of 281" in output, "each situation is asked twice"


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_a_bot_that_prints_much_is_cut_where_it_is_shown(stream):
    """The last lines stay, since a traceback has its error there; a line of any length is cut."""
    text = "first\n" + "S\n" * 400 + "ValueError: last\n"
    shown = fault_lines(Fault("flood", "", (), **{stream: text.encode()}).to_json()).splitlines()
    assert len(shown) < 20 and "  | first" in shown and "  | ValueError: last" in shown
    assert f"  | ... {len(text)} bytes in all ..." in shown
    assert max(map(len, fault_lines(Fault("flood", "", (), **{stream: b"x" * 4000}).to_json()).splitlines())) < 220


def test_no_two_rows_of_the_table_have_one_name():
    """Hands with few chips were named as those with many."""
    cells = [(asked.row, asked.view.dealer) for asked in situations(CARDSHARK)]
    assert len(set(cells)) == len(cells) and {("65, 5 chips", "7"), ("T8, 0 chips", "7")} < set(cells)


def test_the_author_sees_a_fault_at_once(tmp_path, monkeypatch):
    """Before the bot is asked in the next situation."""
    shown = []
    monkeypatch.setattr("bjsim.cli.bot.fault_lines", lambda fault: shown.append(fault["kind"]) or "")

    def asked(player, situations, timeouts):
        for answer in try_bot(player, situations, timeouts):
            before = list(shown)
            yield answer
            assert before or shown == ["bad-reply"]

    monkeypatch.setattr("bjsim.cli.bot.try_bot", asked)
    tried(tmp_path, "print('X')", "--timeout", 20)
    assert shown == ["bad-reply"]


@needs(".c")
def test_a_broken_bot_fails_and_a_file_that_is_not_a_bot_is_bad_input(tmp_path):
    (tmp_path / "bad.c").write_text("int main(void) { return x; }")
    (tmp_path / "bad.py").write_text("print(")
    (tmp_path / "bot.txt").write_text("hit me")
    for name, status, out, err in (
        ("bad.c", 1, "undeclared", "bad does not compile: "),
        ("bad.py", 1, "SyntaxError", "bad cannot be loaded: SyntaxError"),
        ("none.c", 2, "", "none.c: No such file or directory"),
        ("none", 2, "", "none: No such file or directory"),
        ("bot.txt", 2, "", "neither a file that ends in .py"),
    ):
        done = bjsim("bot", "check", tmp_path / name)
        assert done.status == status and out in done.out, done
        assert err in done.err and done.err.startswith("bjsim: ") and done.err.count("\n") == 1
        assert bool(done.out) == (status == 1)
    assert "^" in bjsim("bot", "check", tmp_path / "bad.c").out


@pytest.mark.usefixtures("nothing_installed")
def test_a_missing_compiler_is_not_a_fault_of_the_bot(tmp_path):
    (tmp_path / "x.lisp").write_text("(print 1)")
    said = refusal("bot", "check", tmp_path / "x.lisp")
    assert re.search("a bot in lisp needs sbcl .*apt install sbcl", said)


def test_what_is_no_chart_is_refused(tmp_path):
    (tmp_path / "mine.py").write_text("def decide(view): return 'S'")
    done = run("export", f"{tmp_path / 'mine.py'}:decide")
    assert "is not a chart" in str(done.exception)


def test_what_a_bot_prints_cannot_move_the_cursor(tmp_path):
    status, output, _ = tried(tmp_path, "print('\\x1b[2J\\x1b[31mEVIL')", "--timeout", 20)
    assert status == 1 and "EVIL" in output and "\x1b" not in output


@pytest.mark.parametrize(
    ("name", "protocol", "slow"),
    [("x.java", "argv", True), ("x.js", "argv", True), ("x.java", "line", False), ("x.c", "argv", False)],
)
def test_an_author_learns_that_starting_for_each_move_is_slow(tmp_path, name, protocol, slow):
    done = run("new", tmp_path / name, "--protocol", protocol)
    assert ("plays about 150 times as many hands a second" in done.output) == slow


def test_a_language_without_a_starter_is_refused(tmp_path):
    message = refusal("bot", "new", tmp_path / "x.rb")
    assert "no starter for .rb; languages are python (.py), c (.c)" in message and not list(tmp_path.iterdir())


@pytest.mark.parametrize("preset", ["cardshark", "vegas-h17"])
def test_the_moves_asked_are_priced_exactly(preset):
    """A chart's own answers cost nothing beyond rounding, and those of lim17 what lim17 costs; wrong ones are all seen.

    Under cardshark the best chart has the value -0.1211 bets a hand and lim17 -0.1824 (`bjsim check`)."""
    rules = named_rules(preset)

    def priced(decide):
        return price(rules, [Trial(asked, (decide(asked.view),) * 2, (0.0, 0.0)) for asked in situations(rules)])

    best, lim17 = best_chart(rules), CATALOGUE["lim17"].chart(rules)
    found = priced(best.decide)
    assert found.value == pytest.approx(float(found.solution.value), abs=1e-12) and not found.cells
    whole, asked = evaluate_chart(lim17).value, priced(lim17.decide).value
    assert whole == pytest.approx(asked, abs=1e-12) and asked < found.value
    assert preset != "cardshark" or (whole, found.value) == pytest.approx((-0.1824, -0.1211), abs=5e-5)
    stands, hits = priced(lambda view: STAND), priced(lambda view: HIT)
    assert hits.value < stands.value < asked
    wrong = priced(lambda view: HIT if best.decide(view) == STAND else STAND)
    unseen = {row for row, _ in best.cells if parse_row(row).fresh} - {cell.row for cell in wrong.cells}
    assert unseen == ({"4", "20"} if rules.split_by != "never" else set()), "pairs that may not be split any more"
    assert priced(lambda view: Fault("crash", "")).value == stands.value  # a contest takes a fault for a stand


@pytest.mark.parametrize(("move", "said"), [("S", True), ("H", True), ("lim17", False)])
def test_the_same_move_everywhere_is_noticed(tmp_path, move, said):
    bot = tmp_path / "bot.py"
    bot.write_text((SAMPLES / "lim17.py").read_text() if move == "lim17" else f"print('{move}')")
    output = run("check", bot, "--timeout", 20).output
    assert (f"the same move everywhere ({move})" in output) == said
    assert "the best chart -0.1211, lim17 -0.1824" in output
    dearest = {"S": "11 v T, S, best H, 0.0079", "H": "20 v T, H, best S, 0.0587", "lim17": "16 v 5, H, best S, 0.0037"}
    assert f"dearest mistake: {dearest[move]} bets a hand" in output


@pytest.mark.parametrize("same", [True, False])
def test_what_a_check_says_of_moves_and_their_speed(same):
    """Of made-up answers: one move everywhere or two, and two different ones in a situation."""
    rules = named_rules("cardshark")
    trials = [Trial(asked, (STAND, STAND), (0.25, 0.25)) for asked in situations(rules)]
    if not same:
        trials[0] = Trial(trials[0].situation, (HIT, STAND), (0.25, 0.25))
    found = BotCheck("a bot", "bot.py", "python", rules, trials, len(trials), {"median": 0.25, "p99": 1.5})
    out = printed(replace(found, priced=price(rules, trials)).describe())
    assert ("the same move everywhere (S)" in out) == same and ("two different moves" in out) != same
    assert f"{2 * len(trials)} moves, 0.25 ms per move (median), 1.50 ms (99th percentile)" in out


def test_the_check_is_a_page_and_a_picture_without_a_folder(tmp_path):
    """The picture is the chart of the moves; a bot that is asked no more has none."""
    page, picture, failing = tmp_path / "x.html", tmp_path / "x.svg", tmp_path / "bad.py"
    done = bjsim("bot", "check", SAMPLES / "lim17.py", "--timeout", 20, "--html", page, "--plot", picture)
    assert done.status == 0 and picture.stat().st_size > 1000
    text = page.read_text()
    assert "-0.1824 bets a hand" in text and "Framed: differs from the best chart" in text
    assert "bjsim bot check lim17.py --timeout 20<" in text and str(SAMPLES) not in text
    failing.write_text("1 / 0")
    checked = run("check", failing, "--plot", tmp_path / "none.svg", "--html", page)
    assert checked.exit_code == 1 and "none.svg is not drawn: there is no exact value" in checked.output
    assert not (tmp_path / "none.svg").exists() and "276 of 281 situations not tried" in page.read_text()


# --- The samples in the line protocol pass `bjsim bot check`, play as their argv twins, and each check fails a bad bot.


@needs_sandbox
@pytest.mark.parametrize("ending", EACH_LANGUAGE)
def test_a_sample_passes_all_checks(bot, ending):
    player = bot(f"x{ending}", (SAMPLES / f"lim17_line{ending}").read_text(), timeout=10.0)
    for rules in (CARDSHARK, named_rules("vegas-s17")):  # which asks about insurance
        found = check_match(player, rules)
        assert found.passed == dict.fromkeys(CHECKS, True) and not found.faults and found.ms and found.ready_ms


@needs_sandbox
@pytest.mark.parametrize("ending", EACH_LANGUAGE)
def test_a_sample_and_its_argv_twin_play_the_same_contest(tmp_path, ending):
    played = []
    for name in ("lim17", "lim17_line"):
        bots = [SAMPLES / f"{name}{ending}", "lim15", "optimal"]
        begin(tmp_path / name, bots, seed=7, matches=1, sessions=1, timeout=10.0).run()
        played.append(rounds_in(tmp_path / name))
    assert played[0] == played[1] and len(played[0]) == 5 and not any("faults" in record for record in played[0])


BAD = {
    "ready": line_bot(ready="hi"),
    "deterministic": line_bot("'HS'[os.urandom(1)[0] % 2]"),
    "unknown": line_bot(work="args[-1].startswith('bank-ms') or sys.exit(1)"),
    "resumed": line_bot("'H' if n < 9 and int(args[0]) < 15 else 'S'"),
    "ends": line_bot(end="time.sleep(60)"),
}


@needs_sandbox
@pytest.mark.parametrize("check", CHECKS)
def test_each_check_fails_a_bad_bot(bot, check):
    """Negative control of the checks."""
    passed = check_match(bot("x.py", BAD[check], timeout=10.0), CARDSHARK).passed
    failed = {name for name, good in passed.items() if good is False}
    assert failed == {check}
    assert (passed["resumed"] is None) == (check == "deterministic")


@needs_sandbox
def test_a_bot_that_has_ended_at_the_last_question_is_not_said_to_stay(bot, monkeypatch):
    monkeypatch.setattr("bjsim.bots.check.ROUNDS", 2)
    check = check_match(bot("x.py", line_bot(work="sys.exit(1)"), timeout=10.0), CARDSHARK)
    assert check.passed["ends"] is None and {fault.kind for fault in check.faults} == {"crash"}
    assert "not seen, as it had ended before" in printed(Report("", [], [check.notes("ends")], []))


@needs_sandbox
def test_questions_that_are_not_asked_take_no_time(bot):
    """In double-attack the bet against each card of the dealer, which no program is asked about.

    Three of four answers take 4 ms. With 0 ms for each of these questions the median would be below.
    """
    check = check_match(
        bot("x.py", line_bot("'S'", work="time.sleep(0.004 * (n % 4 > 0))"), timeout=10.0), named_rules("double-attack")
    )
    assert check.ms >= 4 and not check.faults


@pytest.mark.slow
@needs_sandbox
def test_the_command_shows_the_match(tmp_path):
    (tmp_path / "good.py").write_text(line_bot())
    done = run("check", tmp_path / "good.py", "--json", tmp_path / "x.json")
    assert done.exit_code == 0, done.output
    assert all(f"{meaning}: yes" in done.output for meaning in CHECKS.values()) and "ms per answer" in done.output
    assert json.loads((tmp_path / "x.json").read_text())["match"]["resumed"] is True
    (tmp_path / "bad.py").write_text(BAD["resumed"])
    done = run("check", tmp_path / "bad.py")
    assert done.exit_code == 1 and f"{CHECKS['resumed']}: NO" in done.output


@pytest.mark.parametrize(("language", "ending"), [(row.name, row.endings[0]) for row in LANGUAGES])
def test_a_new_line_bot_has_the_language_of_its_name(tmp_path, monkeypatch, language, ending):
    monkeypatch.chdir(tmp_path)
    assert run("new", f"mine{ending}", "--protocol", "line").exit_code == 0
    assert (tmp_path / f"mine{ending}").read_text() == (SAMPLES / f"lim17_line{ending}").read_text()
    assert run("new", "other", "--language", language).exit_code == 0
    assert (tmp_path / f"other{ending}").read_text() == (SAMPLES / f"lim17{ending}").read_text()
    assert "bjsim: line 1" not in (text := (tmp_path / f"other{ending}").read_text())
    assert "VISIBLE" in text and "B 15" in text
    again = run("new", f"mine{ending}", "--language", language)
    assert again.exit_code != 0 and "already exists" in str(again.exception)


def test_a_new_bot_without_an_ending_is_in_python(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert "wrote mine.py" in run("new", "mine").output
    assert "wrote my.c.py" in run("new", "my.c", "--language", "python").output


def unflushed(ready):
    """A bot whose answers stay in its buffer; its `ready` too, unless it is flushed."""
    source = line_bot().replace(", flush=True", "")
    return source.replace("print('ready 1')", "print('ready 1', flush=True)") if ready else source


@pytest.mark.parametrize("ready", [False, True])
def test_a_bot_that_does_not_flush_is_told_so_at_its_first_fault(tmp_path, monkeypatch, ready):
    monkeypatch.setattr(Clock, "within", lambda timeout: Clock(load=20_000 if ready else 1000, move=100, bank=500))
    (tmp_path / "x.py").write_text(unflushed(ready))
    done = run("check", tmp_path / "x.py", "--sandbox", "auto")
    kind = "timeout" if ready else "not-ready"
    assert done.exit_code == 1 and UNFLUSHED in done.output
    assert f"faults: {kind} 1\n" in done.output and "280 of 281 situations not tried" in done.output
    assert CHECKS["ends"] not in done.output


def test_a_bot_that_can_never_be_ready_is_waited_for_once(bot, monkeypatch):
    """In a contest each match would cost the time to load again."""
    monkeypatch.setattr(Clock, "within", lambda timeout: Clock(load=500))
    player = bot("x.py", unflushed(ready=False))
    first = player.ask(a_view())
    monkeypatch.setattr("bjsim.bots.player.BotPlayer.take", None)
    assert first.cause == "not-ready" and player.ask(a_view()) is first


def test_a_chatterer_has_one_fault(tmp_path):
    (tmp_path / "x.py").write_text(line_bot("'S', flush=True); print('debug'"))
    done = run("check", tmp_path / "x.py", "--timeout", "9", "--sandbox", "auto")
    assert done.exit_code == 1 and "faults: chatter 1\n" in done.output
    assert "not-ready" not in done.output and "non-deterministic" not in done.output


# --- `bjsim bot trace` and `bjsim bot ask`, and bots that say that they are random.


def unboxed(*words):
    return run(*words, "--sandbox", "auto")


def test_a_trace_has_all_that_a_line_bot_reads_and_answers(tmp_path):
    """The bot writes what it reads to stderr."""
    echo = line_bot("'X' if n == 2 else 'S', n", work="n == 4 and sys.exit(3)", setup="""
class Seen(list):
    def append(self, text):
        sys.stderr.write(text)
        sys.stderr.flush()
seen = Seen()""")  # fmt: skip
    (tmp_path / "x.py").write_text(echo)
    done = unboxed("trace", tmp_path / "x.py", "--rounds", "7", "--timeout", "9")
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
        done = unboxed("trace", SAMPLES / name, "--rounds", "9", "--seed", "3", "--timeout", "9")
        assert done.exit_code == 0
        lines = [line.removeprefix("> move ").removeprefix("> ").split() for line in done.output.splitlines()]
        traces.append([line[:5] for line in lines if line[0].isdecimal() or (line[0] == "<" and line[1] != "ready")])
    assert traces[0] == traces[1] and len(traces[0]) > 10


def test_the_transcript_of_the_documentation():
    page = (ROOT / "docs" / "reference" / "line-protocol.md").read_text(encoding="utf-8")
    (block,) = [block.text for block in blocks("line-protocol.md", page) if block.text.startswith("> hello")]
    done = unboxed("trace", SAMPLES / "lim17_line.py", "--rounds", "1", "--seed", "2", "--timeout", "2")
    assert done.output == block and "< H\n" in block


@pytest.mark.parametrize("name", ["lim17.py", "lim17_line.py"])
def test_one_question(name):
    done = unboxed("ask", SAMPLES / name, "t24", "9", "--chips", "30", "--timeout", "9")
    assert done.exit_code == 0 and " 16 T24 9#T8" in done.output and " 10 20" in done.output
    assert "\n< H\n" in done.output and done.output.endswith(" ms\n")
    for words, error in (
        (("T6", "X"), "X is not a card; use A 2 3"),
        (("T", "9"), "give a hand of two or more cards"),
        (("T6", "99"), "give a hand of two or more cards"),
        (("TA", "9"), "cardshark: a bot is never asked with TA against 9"),
    ):
        caught = unboxed("ask", SAMPLES / name, *words).exception
        assert isinstance(caught, InputError) and error in str(caught)


def test_a_faulty_answer_is_an_exit_status(tmp_path):
    (tmp_path / "x.py").write_text("print('X')")
    done = unboxed("ask", tmp_path / "x.py", "T6", "9", "--timeout", "9")
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
            match = check_match(player, CARDSHARK)
        assert match.random == declared and match.passed["deterministic"] is False
        assert ("deterministic" in match.failed) != declared


@pytest.mark.parametrize("name", ["lim17.py", "lim17_line.py"])
def test_a_match_without_a_question_says_so(name):
    done = unboxed("trace", SAMPLES / name, "--rounds", "1", "--seed", "55", "--timeout", "9")  # deals 21
    assert done.exit_code == 0 and done.output.endswith(
        "no move was asked in 1 round; try --seed 56 or more --rounds\n"
    )
    assert ("< ready 1" in done.output and "> bye" in done.output) == (name == "lim17_line.py")


def test_a_match_without_a_question_shows_a_bot_that_is_not_ready(tmp_path):
    (tmp_path / "x.py").write_text(line_bot(ready="hi"))
    done = unboxed("trace", tmp_path / "x.py", "--rounds", "1")
    assert done.exit_code == 1 and "! not-ready: answered hello with 'hi'" in done.output


def test_a_match_without_a_question_shows_a_bot_that_does_not_start(tmp_path):
    """By its fault, with the reason, as after a question: it was `! start: `."""
    (tmp_path / "bot.toml").write_text('run = "./missing"\nprotocol = "line"\n')
    for seed in ("55", "2"):  # the first deals 21
        done = unboxed("trace", tmp_path, "--rounds", "1", "--seed", seed, "--timeout", "9")
        assert done.exit_code == 1 and "! start-failure: No such file or directory\n" in done.output


def test_every_line_of_an_answer_is_shown(tmp_path):
    (tmp_path / "x.py").write_text("print('T6')\nprint('H')\n")
    assert unboxed("ask", tmp_path / "x.py", "T6", "T", "--timeout", "9").output.splitlines()[1:3] == ["< T6", "< H"]


def test_the_settings_of_a_contest_apply(tmp_path):
    """Its rules and timeout, which options override, and its protocols."""
    (tmp_path / "c.toml").write_text('rules = "vegas-s17"\ntimeout = 7.0\nprotocols = ["line"]\n')
    ask = ("ask", SAMPLES / "lim17_line.py", "T6", "T", "--config", tmp_path / "c.toml")
    assert "bank-ms=7000" in unboxed(*ask).output and "rules name=vegas-s17" in unboxed(*ask).output
    done = unboxed(*ask, "--timeout", "3", "--rules", "cardshark")
    assert "bank-ms=3000" in done.output and "rules name=cardshark" in done.output
    done = unboxed("check", SAMPLES / "lim17.py", "--config", tmp_path / "c.toml")
    assert isinstance(done.exception, InputError) and "this contest plays line" in str(done.exception)


def test_a_bot_of_five_arguments_is_not_asked_about_insurance(tmp_path):
    """Neither in a match nor in a check, whose situations are about hands: all seats decline."""
    game = ("--rules", "vegas-s17", "--set", "insurance=true", "--set", "decks=1", "--timeout", "9")
    done = unboxed("trace", SAMPLES / "lim17.py", *game, "--rounds", "30")
    assert done.exit_code == 0 and " A#" in done.output and "!" not in done.output
    assert unboxed("check", SAMPLES / "lim17.py", *game).exit_code == 0
    (tmp_path / "x.py").write_text(line_bot())
    assert " legal=SHD" in unboxed("ask", tmp_path / "x.py", "T6", "A", *game).output
