"""Strange files and bots cause one line, no traceback, and no terminal control sequence or spreadsheet formula."""

import csv
import errno
import io
import json
import logging
import math
import multiprocessing
import os
import re
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from bot_helpers import needs
from support.command import bjsim, refusal
from support.games import slow
from support.matches import begin, lines_in
from support.mutations import mutations

from bjsim.bots.contest import journal
from bjsim.bots.contest.journal import _record_in as read_record
from bjsim.bots.contest.page import marks_csv, standings_csv
from bjsim.bots.contest.standings import Mark, Standings
from bjsim.bots.protocol import Fault
from bjsim.bots.sandbox.languages import BuildError
from bjsim.cli.main import PrintableFormatter, open_standard_streams, os_error_text
from bjsim.sim.game.presets import load_rules

ESCAPES = "\x1b]0;title\x07\x1b[2J"


# --- files of settings

HUGE = {"matches = 0x": 50_000, "seed = 0x": 33, "timeout = 0x": 5000, "until = 0x": 5000, "house = 0x": 5000,
        "matches = 1": 5000, "bots = [0x": 5000, "[rules]\nchips = 0x": 5000, "rules.preset = 0x": 5000}  # fmt: skip


@pytest.mark.parametrize(("start", "digits"), HUGE.items())
def test_numbers_of_thousands_of_digits_in_a_contest_file(tmp_path, start, digits):
    path = tmp_path / "contest.toml"
    path.write_text(start + "1" * digits + ("]" if "[0" in start else ""))
    said = refusal("koth", "play", "lim17", "optimal", "--config", path, "--out", tmp_path / "c")
    assert str(path) in said and "2^128" in said


@pytest.mark.parametrize("depth", [300, 5000])
@pytest.mark.parametrize("key", ["matches", "bots", "rules", "until", "house"])
def test_thousands_of_nested_lists_in_a_contest_file(tmp_path, key, depth):
    path = tmp_path / "contest.toml"
    path.write_text(f"{key} = " + "[" * depth + "]" * depth)
    assert str(path) in refusal("koth", "play", "lim17", "optimal", "--config", path, "--out", tmp_path / "c")


@pytest.mark.parametrize("text", ["chips = 0x" + "f" * 5000, "chips = " + "9" * 5000, "chips = " + "[" * 5000])
def test_the_same_in_a_file_of_rules(tmp_path, text):
    path = tmp_path / "rules.toml"
    path.write_text(text)
    assert str(path) in refusal("run", "--bots", "lim17", "--hands", 1, "--rules", path)


def test_a_message_is_not_longer_than_a_screen(tmp_path):
    path = tmp_path / "contest.toml"
    path.write_text(f'"{"x" * 60_000}" = 1')
    said = refusal("koth", "play", "lim17", "optimal", "--config", path)
    assert len(said) < 2000 and said.startswith(str(path)) and "timeout" in said


# --- journals with valid checksums that no contest wrote


def write(folder, *lines):
    """Write a journal of these records, or texts of records, with valid checksums."""
    crc, text = 0, b""
    for line in lines:
        if not isinstance(line, str):
            line = json.dumps({key: value for key, value in line.items() if key != "crc"})
        body = line[:-1].encode()
        crc = journal.zlib.crc32(body, crc)
        text += body + f'{journal._TAIL}{crc:08x}"}}\n'.encode()
    folder.mkdir(exist_ok=True)
    (folder / journal.NAME).write_bytes(text)


@pytest.fixture(scope="module")
def records(tmp_path_factory):
    """The records of a contest of one match."""
    folder = tmp_path_factory.mktemp("played")
    begin(folder, ["lim17", "optimal"], seed=1, matches=1).run()
    return lines_in(folder)


def without(record, *path):
    return changed(record, path, None, drop=True)


def changed(record, path, value, drop=False):
    """A copy of the record with the value at a path changed or removed."""
    record = inner = json.loads(json.dumps(record))
    for key in path[:-1]:
        inner = inner[key]
    if drop:
        del inner[path[-1]]
    else:
        inner[path[-1]] = value
    return record


BAD = {
    "no seed": lambda all: [without(all[0], "contest", "seed"), *all[1:]],
    "no bots": lambda all: [without(all[0], "bots"), *all[1:]],
    "an empty list of bots": lambda all: [changed(all[0], ["bots"], []), *all[1:]],
    "bots that are numbers": lambda all: [changed(all[0], ["bots"], [1, 2]), *all[1:]],
    "a contest that is a list": lambda all: [changed(all[0], ["contest"], []), *all[1:]],
    "a seat 77": lambda all: [all[0], changed(all[1], ["seats"], [77, 1]), *all[2:]],
    "net 10^400": lambda all: [all[0], changed(all[1], ["net"], [10**400, 0]), *all[2:]],
    "net that is text": lambda all: [all[0], changed(all[1], ["net"], ["x", "y"]), *all[2:]],
    "a round without seats": lambda all: [all[0], without(all[1], "seats"), *all[2:]],
    "a fault of bot 77": lambda all: [all[0], changed(all[1], ["faults"], [{"bot": 77, "kind": "x"}]), *all[2:]],
    "a header that is a list": lambda all: ["[1]", *all[1:]],
    "a header that is a text": lambda all: ['"x"', *all[1:]],
    "no JSON": lambda all: ["{nothing}", *all[1:]],
    "no JSON later": lambda all: [all[0], "{nothing}"],
    "a record that is a list": lambda all: [all[0], "[1]"],
    "a record of no kind": lambda all: [all[0], "{}"],
    "100,000 brackets": lambda all: [all[0], "[" * 100_000 + "]" * 100_000],
    "100,000 brackets in a header": lambda all: ["[" * 100_000 + "]" * 100_000],
    "no cards": lambda all: [all[0], changed(all[1], ["cards"], ""), *all[2:]],
    "a number of 5,000 digits": lambda all: [all[0], '{"record": ' + "9" * 5000 + "}"],
    "an end of no kind": lambda all: [*all[:-1], changed(all[-1], ["reason"], "boredom")],
    "rules that are unknown": lambda all: [changed(all[0], ["contest", "rules"], {"x": 1}), *all[1:]],
}
NOT_SHOWN = {"no cards"}  # not read by the standings or by one hand
# One hand is played again, so that the net is not read, and nothing after the hand.
NOT_IN_A_HAND = {"net 10^400", "net that is text", "a fault of bot 77", "an end of no kind"}


@pytest.mark.parametrize("what", BAD)
@pytest.mark.parametrize("command", ["show", "show --hand 1.1.1", "verify", "resume"])
def test_a_journal_that_makes_no_sense_is_refused_in_one_line(tmp_path, records, what, command):
    """A part that a command does not read may have any content."""
    write(tmp_path / "c", *BAD[what](records))
    option, *more = command.split()
    status, _, err = bjsim("koth", option, tmp_path / "c", *more)
    assert status in (0, 1, 2) and err.count("\n") == (status != 0), err
    assert status or (option == "show" and (what in NOT_SHOWN or (more and what in NOT_IN_A_HAND)))


def test_every_value_of_a_record_has_its_type(records):
    """What fails only when a page is written, or a match is played, would stop a contest for good."""
    fault = {"bot": 0, "place": 0, "move": 1, **Fault("crash", "x", ("1", "2")).to_json()}
    round_ = {**records[1], "own": 1, "faults": [fault], "notes": [["a"]]}
    bot = {**records[0]["bots"][0], "version": 1, "author": "b"}
    change = {"record": "change", "leave": [0], "join": [bot], "matches": 9}
    retire = {"record": "retire", "bot": 0, "reason": "crash"}
    match = {key: value for key, value in records[-2].items() if key != "learned"}
    assert match["luck"] and records[-1]["record"] == "end"
    tried = 0
    for record in (round_, change, retire, match, records[-1]):
        read_record(json.dumps(record).encode(), Path("j"), 1)
        for path, wrong, changed in mutations(record):
            if "plays" not in path[:-1] and (path, wrong) != (("luck", 0, 0), -1):
                with pytest.raises(journal.JournalError, match="record 1 is not a contest record"):
                    read_record(json.dumps(changed).encode(), Path("j"), 1)
                tried += 1
    assert tried > 400


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no pipes with names")
@pytest.mark.parametrize("command", ["show", "verify", "resume"])
def test_a_pipe_is_no_journal(tmp_path, command):
    os.mkfifo(tmp_path / journal.NAME)
    assert f"{tmp_path / journal.NAME} is not a regular file" in refusal("koth", command, tmp_path)


def test_the_journal_that_was_not_changed_is_accepted(tmp_path, records):
    """Negative control: journals written by `write` are valid otherwise."""
    write(tmp_path / "c", *records)
    for option in ("show", "verify", "resume"):
        assert bjsim("koth", option, tmp_path / "c").status == 0


LOG = json.dumps(journal.BotLog(0, 0, 0, 0, 1, math.inf, "", {})._asdict())


@pytest.mark.parametrize("line", ["[" * 100_000, LOG, LOG.replace("Infinity", '"1"'), "[1]", "{}"])
def test_logs_that_make_no_sense_are_passed_over(tmp_path, records, line):
    write(tmp_path / "c", *records)
    (tmp_path / "c" / journal.LOGS).write_text(line + "\n")
    assert bjsim("koth", "show", tmp_path / "c").status == 0


def test_a_checkpoint_of_100_000_brackets(tmp_path):
    (tmp_path / "kept").write_text("[" * 100_000)
    status, _, err = bjsim("run", "--bots", "lim17", "--hands", 10, "--resume", tmp_path / "kept")
    assert status == 2 and "is not a checkpoint of bjsim" in err and "Traceback" not in err


# --- terminals


@pytest.mark.parametrize(
    "arguments", [["show"], ["show", "--hand", "1.1.1"], ["show", "--json", "-"], ["resume"], ["verify"]]
)
def test_a_journal_cannot_steer_the_terminal_that_it_is_shown_on(tmp_path, arguments):
    begin(tmp_path / "p", ["a=hoyle", "b=hoyle"], seed=1, matches=1).run()  # as the luck model expects both to play
    header, first, *others = lines_in(tmp_path / "p")
    for number in (0, 1):
        for key in ("name", "language"):
            header = changed(header, ["bots", number, key], f"{ESCAPES}{number}")
    fault = {
        "bot": 0,
        "place": 0,
        "move": first["moves"][0].index("S"),
        "kind": ESCAPES if arguments[0] == "show" else "crash",  # the others replay it
        "detail": ESCAPES,
        "argv": [],
        "stdout": "",
        "stderr": "",
    }
    write(tmp_path / "c", header, first | {"faults": [fault]}, *others)
    status, out, err = bjsim("koth", arguments[0], tmp_path / "c", *arguments[1:])
    assert status == 0, err
    assert "\x1b" not in out + err and "\x07" not in out + err
    assert "]0;title" in out or arguments[0] == "verify"


def test_a_build_error_and_a_log_record_are_fit_to_be_printed():
    error = BuildError(f"x.c does not compile: {ESCAPES}", f"one\t{ESCAPES}\ntwo")
    assert "\x1b" not in str(error) + error.log and error.log.count("\n") == 1 and error.log.startswith("one     ")
    record = logging.LogRecord("bjsim", logging.WARNING, "", 0, "left out: %s", (ESCAPES,), None)
    assert "\x1b" not in PrintableFormatter().format(record)


@needs(".c")
@pytest.mark.parametrize("command", ["bot check", "koth play"])
def test_a_compilers_message_that_a_bot_wrote_does_not_steer_the_terminal(tmp_path, command):
    (tmp_path / "esc.c").write_text(f"#error {ESCAPES}\n")
    options = ["esc.c"] if command == "bot check" else ["esc.c", "lim17", "--matches", "1"]
    code = "from bjsim.cli.main import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", code, *command.split(), *options, "--sandbox", "auto"], cwd=tmp_path, capture_output=True
    )
    assert b"#error" in done.stdout + done.stderr
    assert b"\x1b" not in done.stdout + done.stderr and b"\x07" not in done.stdout + done.stderr


def test_an_error_cannot_steer_the_terminal(tmp_path):
    assert "\x1b" not in refusal("koth", "show", f"{tmp_path}/{ESCAPES}")


# --- tables


@pytest.mark.parametrize("name", ["=cmd|' /C calc'!A0", "@SUM(1+1)", '=HYPERLINK("http://x","y")', "+1", "-1", "\t=1"])
def test_no_name_becomes_a_formula_in_a_spreadsheet(tmp_path, records, name):
    write(tmp_path, changed(records[0], ["bots", 0, "name"], name), *records[1:])
    header, *others = journal.read(tmp_path)
    rows = list(csv.DictReader(io.StringIO(standings_csv(Standings(header).add_all(others)))))
    cells = [row["bot"] for row in rows]
    assert all(cell[0] not in "=+-@\t\r" for cell in cells) and "optimal" in cells
    assert not any(row["chips_ci95_low"].startswith("'") for row in rows)  # numbers stay numbers
    numbers = [row["luck_adjusted"] for row in rows]
    assert [float(number) for number in numbers] and any(number.startswith("-") for number in numbers)
    marks = [Mark(name, 1, 2, -0.5, None, None, "-", "", ""), Mark("lim17", 1, 2, 0.5, 0.25, 0.75, name, name, name)]
    below, above = csv.DictReader(io.StringIO(marks_csv(marks)))
    assert (below["bot"], below["score"], below["low"], below["mark"]) == (f"'{name}", "-0.5", "", "-")
    assert (above["bot"], above["mark"], above["sure"]) == ("lim17", f"'{name}", "yes")


# --- errors of the operating system


def test_a_full_disk_is_said_of_the_file(tmp_path, monkeypatch):
    def full(number):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    begin(tmp_path / "c", ["lim17", "optimal"], matches=1).close()
    monkeypatch.setattr(os, "fsync", full)
    status, _, err = bjsim("koth", "resume", tmp_path / "c")
    assert (status, err) == (1, f"bjsim: {tmp_path}/c/journal.jsonl: the disk is full\n")
    status, _, err = bjsim("run", "--bots", "lim17", "--hands", 1000, "--checkpoint", tmp_path / "kept")
    assert (status, err) == (1, "bjsim: cannot save the checkpoint kept: No space left on device\n")


@pytest.mark.parametrize(
    "words", ["sidebet insurance --json -", slow("solve stand"), slow("solve advantage"), slow("rules")]
)
@pytest.mark.parametrize(("output", "said"), [("/dev/full", "bjsim: the disk is full\n"), ("a closed pipe", "")])
def test_an_output_that_cannot_be_written_is_one_line(words, output, said):
    """Also what is so little that it is written at the end."""
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "wb") if output != "/dev/full" else open(output, "wb") as place:
        done = subprocess.run(
            [sys.executable, "-m", "bjsim", *words.split()], stdout=place, stderr=subprocess.PIPE, text=True
        )
    assert done.returncode == 1 and done.stderr.endswith(said) and "Traceback" not in done.stderr
    printed_all_the_same = done.stderr.removesuffix(said)
    assert ("standard deviation, bets" if "--json" in words else "") in printed_all_the_same
    assert bool(printed_all_the_same) == ("--json" in words)


def test_failure_to_start_a_process_is_reported(tmp_path, monkeypatch):
    def refuse(*_):
        raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN))

    monkeypatch.setattr(os, "fork", refuse)
    multiprocessing.active_children()
    status, _, err = bjsim("koth", "play", "lim17", "optimal", "--out", tmp_path / "c")
    assert status == 1 and err == "bjsim: refused; the limit on processes may be reached (see `ulimit -u`)\n"
    assert bjsim("run", "--bots", "lim17", "--hands", 10, "--workers", 1).status == 0  # which needs none


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (OSError(errno.ENOSPC, "x"), "the disk is full"),
        (OSError(errno.EMFILE, "x", "some/file"), "some/file: too many open files (see `ulimit -n`)"),
        (PermissionError(errno.EACCES, "Permission denied", "some/file"), "some/file: Permission denied"),
        (OSError("something else"), "something else"),
    ],
)
def test_errors_of_the_system_are_put_in_words(error, said):
    assert os_error_text(error) == said


@pytest.mark.parametrize(
    ("name", "said"), [("", "'' is not a file name"), ("a:b.py", "has a colon"), ("/", "'/' is not a")]
)
def test_names_of_new_bots_that_no_contest_would_accept(tmp_path, monkeypatch, name, said):
    monkeypatch.chdir(tmp_path)
    assert said in refusal("bot", "new", name) and not any(tmp_path.iterdir())


def test_the_command_for_a_new_bot_can_be_typed_as_it_is_printed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert "bjsim bot check ./-x.py\n" in bjsim("bot", "new", "--", "-x.py").out
    assert "bjsim bot check 'a b.py'\n" in bjsim("bot", "new", "a b.py").out


# --- a stream that cannot show every character, and Ctrl-C at any moment


@pytest.mark.parametrize(("encoding", "shown"), [("ascii", "? ? ? S"), ("latin1", "± ? ? S"), ("utf-8", "± … ≥ S")])
def test_what_a_stream_cannot_encode_is_replaced(monkeypatch, encoding, shown):
    stream = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    monkeypatch.setattr(sys, "stdout", stream)
    open_standard_streams()
    stream.write("± … ≥ S")
    stream.flush()
    assert stream.buffer.getvalue().decode(encoding) == shown


INTERRUPTED = """
import atexit, os, signal, sys
from bjsim.__main__ import main
moment = sys.argv.pop(1)
class Finder:
    def find_spec(name, *_):
        if name == moment:
            sys.meta_path.remove(Finder)
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Finder)
if moment == "the end":
    atexit.register(os.kill, os.getpid(), signal.SIGINT)
main()
"""


@pytest.mark.parametrize(
    ("moment", "command", "status", "said"),
    [
        ("bjsim.cli.main", "rules", -signal.SIGINT, ""),
        ("bjsim.cli.rules", "rules", 130, "bjsim: stopped"),
        ("the end", "--version", -signal.SIGINT, ""),
    ],
)
def test_ctrl_c_at_any_moment_prints_no_traceback(moment, command, status, said):
    command = [sys.executable, "-c", INTERRUPTED, moment, command]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stderr.strip()) == (status, said)


def test_ctrl_c_is_told_as_such_where_a_library_made_another_error_of_it():
    program = """
import os, signal, bjsim.cli.rules
from bjsim.__main__ import main
def interrupt(**_):
    try:
        os.kill(os.getpid(), signal.SIGINT)
    except KeyboardInterrupt:
        raise TypeError from None
bjsim.cli.rules.rules.callback = interrupt
main()
"""
    done = subprocess.run([sys.executable, "-c", program, "rules"], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (130, "bjsim: stopped\n")


def test_a_refusal_to_import_is_one_line(tmp_path):
    (tmp_path / ".numba_config.yaml").touch()
    code = "from bjsim.__main__ import main; main()"
    done = subprocess.run([sys.executable, "-c", code, "rules"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 2 and done.stderr.startswith("bjsim: the current folder has") and not done.stdout
    assert done.stderr.count("\n") == 1


def test_the_name_of_a_file_that_no_file_can_have_is_bad_input():
    assert "name too long" in refusal("run", "--hands", 9, "--bots", "9" * 5000)


@pytest.mark.parametrize(("option", "name"), [("--html", "page.html"), ("--plot", "x.svg"), ("--plot", "x.png")])
def test_a_disk_that_is_full_leaves_no_half_file(tmp_path, monkeypatch, option, name):
    def fill(path, data):
        with path.open("wb") as file:
            file.write(data[:9])
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(Path, "write_bytes", fill)
    done = bjsim("solve", "--rules", "easy", option, tmp_path / name)
    assert (done.status, done.err) == (2, f"bjsim: cannot write {tmp_path}/{name}: No space left on device\n")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("words", ["bot ask", "bot ask x.py T6", "bot new", "koth show", "koth add", "koth extend x"])
def test_a_missing_argument_is_shown_where_it_belongs(words):
    said = refusal(*words.split())
    assert re.search(rf"Missing argument '[A-Z.]+'; write: bjsim {' '.join(words.split()[:2])} [A-Z]+", said), said
    assert "OPTIONS" not in said


# --- names and texts that a part of the way does not bear


def test_a_name_is_no_markup_and_comes_back_from_a_file(tmp_path):
    odd = "🂡 a[/b] [new] \\x :bug:"
    assert odd in bjsim("learn", "--rules", "neller", "--set", f"name={odd}", "--episodes", 1000).out
    (tmp_path / "g.toml").write_text(bjsim("rules", "easy", "--set", f"name={odd}", "--toml").out, encoding="utf-8")
    assert load_rules(tmp_path / "g.toml").name == odd


def test_a_file_whose_name_is_not_utf8_is_published(tmp_path):
    chart = os.fsdecode(os.fsencode(tmp_path) + b"/b\xe4st.txt")
    Path(chart).write_text(bjsim("solve", "--rules", "vegas-s17", "--decks", "inf", "--format", "chart").out)
    done = bjsim("check", chart, "--rules", "vegas-s17", "--decks", "inf", "--html", tmp_path / "x.html")
    assert done.status == 0 and "b?st.txt" in (tmp_path / "x.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("count", ["²", "9" * 5000])
def test_counts_of_cards_are_digits(count):
    assert "write CARD=COUNT" in refusal("solve", "--rules", "vegas-s17", "--shoe", f"A={count}")


def test_cards_of_a_thousand_letters_are_no_file(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.StringIO("h\n" * 300))
    done = bjsim("play", "--rules", "vegas-s17", "--bet", 10, "--shoe", "T6T9" * 70)
    assert done.status == 0 and "You played" in done.out, done


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("solve --rules blackjack-switch --decks inf --exact --hand 'T,5/6,T v 6'", "two hands have no fractions"),
        ("solve --rules vegas-s17 --hand 'T,6 v T' --card --html x.html", "leave out TABLE, --format, --strategy and"),
        (
            "count --decks 1 --chart hoyle --cut 0 --rounds 2e3 --optimal 1-12",
            "--optimal: no count of this game is",
        ),
        ("count --decks 1 --chart hoyle --cut 0 --rounds 2e3 --ramp 1-12 --ror 1%", "--ror 1%: these bets lose"),
        ("solve --rules easy --format chart --exact", "--format and --exact cannot be combined"),
        ("app --export site --no-browser", "--export and --no-browser cannot be combined"),
        (
            "play --bots lim17,lim17,lim17,lim17,lim17,lim17,lim17",
            "--bots names 7 players; a table has 7 seats, and one",
        ),
        ("learn --algorithm mc --draws even", "--draws even needs --algorithm q: a return"),
        ("learn --mdp p.json --json p.json", "two of the files are the same"),
        ("solve value --rules vegas-s17 --shoe A=4,1=4,2=4,T=16", "shoe: 1 is given twice"),
        ("replay --bots x.py", "--bots x.py: rounds of programs are not replayed"),
        ("count --system wide.toml --indices none", "running counts in 6 decks are too many"),
        ("sidebet bust.toml --shoe T=20", "needs an upcard A, and the shoe has none"),
        ("count --system wide.toml", "running counts in 6 decks are too many"),
        ("count indices --system wide.toml", "running counts in 6 decks are too many"),
        (
            "count --rules double-exposure --decks 8 --set surrender=late --indices fab4",
            "--indices fab4 does not fit this game, which shows both cards",
        ),
        ("run --bots lim17 --until 1e-11%", "use a percentage from 1e-10%"),
        ("sidebet 21+3 --deck spanish --shoe A=4", "--shoe names all cards; leave out --deck"),
        ("solve value --rules easy --json out --html out", "two of the files are the same"),
        ("check x.csv --json - --fix -", "two of the files are the same"),
        ("count indices --save - --json -", "--save - is not accepted; give a file's name"),
        ("compare --decks 8 --vary decks=1,2", "--vary decks is given twice"),
        ("compare --set das=no --vary double_after_split=no,yes", "is given twice, first as das"),
        ("count --decks 1 --system ko --vary system=hilo,zen", "--vary system is given twice"),
        ("sidebet escapes.toml --decks 6", "an event needs a name of its own"),
        ("solve value --rules easy --exact --shoe A=4,2=4,T=16", "leave out --shoe"),
    ],
)
def test_what_is_refused_is_named_as_it_was_given(tmp_path, monkeypatch, words, said):
    monkeypatch.chdir(tmp_path)
    Path("x.py").write_text("print('S')\n")
    Path("wide.toml").write_text('tags = "1/60 -1 100 -100 50 -50 25 -25 10 -10"\n')
    Path("bust.toml").write_text(
        'looks_at = "dealer\'s hand"\nupcard = "A"\nevents = [{name = "bust", pays = 3, bust = "3+"}]\n'
    )
    Path("escapes.toml").write_text('looks_at = "player"\nevents = [{name = "\\u001b[2Jx", pays = 1, total = "20"}]\n')
    Path("x.csv").write_text(bjsim("solve", "--rules", "vegas-s17", "--decks", "inf", "--format", "csv").out)
    assert said in refusal(*shlex.split(words))


def test_the_smallest_shoe_of_a_side_bet_has_a_page(tmp_path):
    """No card can be removed from it."""
    done = bjsim("sidebet", "21+3", "--shoe", "As=1,2s=1,3s=1", "--html", tmp_path / "x.html")
    assert done.status == 0 and "straight" in (tmp_path / "x.html").read_text(encoding="utf-8")


def test_thousands_are_exact():
    words = ("bank", "--rules", "vegas-s17", "--bankroll", "500", "--rounds", "20", "--goal")
    assert bjsim(*words, "1.005k").out == bjsim(*words, "1005").out


def test_too_few_episodes_have_no_mean():
    done = bjsim("learn", "--rules", "neller", "--episodes", 10, "--json", "-")
    assert "too few episodes to say" in done.out and "nan" not in done.out


def test_a_page_has_no_folders_of_what_was_varied(tmp_path):
    (tmp_path / "my.toml").write_text('tags = "1 1 1 1 1 1 0 0 0 -1"\ninitial = "0"\n')
    varied = f"system=hilo,{tmp_path}/my.toml"
    done = bjsim(
        "count", "--decks", 1, "--rounds", 2e3, "--vary", varied, "--indices", "none", "--html", tmp_path / "p.html"
    )
    page = (tmp_path / "p.html").read_text(encoding="utf-8")
    assert done.status == 0 and "my.toml" in page and str(tmp_path) not in page


def test_an_empty_name_of_a_file_is_refused_before_anything_is_played():
    for option in ("--json", "--html", "--plot"):
        assert bjsim("run", "--bots", "lim17", "--hands", 10, option, "").status == 2


def test_a_bot_that_cannot_be_replaced_is_kept(tmp_path, monkeypatch):
    (tmp_path / "my.py").write_text("mine")
    monkeypatch.setattr(os, "access", lambda path, mode: False)  # root may write to all files
    assert bjsim("bot", "export", "optimal", "--output", tmp_path / "my.py").status == 2
    assert (tmp_path / "my.py").read_text() == "mine"


def test_a_name_beside_what_varies_is_a_name():
    done = bjsim("compare", "--set", "name=Mine", "--decks", "inf", "--vary", "das=true,false")
    assert done.status == 0
