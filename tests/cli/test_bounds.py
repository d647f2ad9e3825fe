"""Inputs that used to hang, to fill the memory or to end in a traceback are refused in one line, at once.

A guard of many times what a command takes stops one that hangs again.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.command import bjsim, refusal
from support.matches import forged

from bjsim.bots.contest import journal
from bjsim.bots.contest.entrants import gather
from bjsim.bots.protocol import Fault
from bjsim.run_result import fault_lines
from bjsim.sim.game.presets import load_rules
from bjsim.strategies.formats.files import MAX_BYTES, read_chart
from bjsim.strategies.formats.lines import ChartError

GUARD_S = 60
HUGE = "1e99999999"


def guarded(*args: object, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run `bjsim ARGS` in a process of its own that ends after the guard at the latest."""
    command = [sys.executable, "-c", "from bjsim.cli.main import main; main()", *map(str, args)]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=GUARD_S)


def refused(*args: object) -> str:
    """What `bjsim ARGS` says in the one line with which it refuses its input."""
    done = guarded(*args)
    assert done.returncode == 2 and done.stderr.count("\n") == 1, done.stderr
    return done.stderr


# --- finding 10: charts


@pytest.mark.parametrize(
    "word", ["# (", "(", "&amp;", "9-", "2-A ", "otherwise ", "Stand on 17 or more against 2, 3, 4, ", "A,", "H ", "\r"]
)
def test_a_chart_is_read_in_linear_time(word: str) -> None:
    """Several expressions took time that grew with the square of a line's length: an hour for 1 MiB."""
    text = (word[:-1] + word[-1] * 60000 if word == "# (" else word * 60000)[:MAX_BYTES]
    code = (
        "import sys; from bjsim.sim.game.presets import load_rules\n"
        "from bjsim.strategies.formats.files import read_chart\n"
        "read_chart(sys.stdin.buffer.read(), 'x', load_rules('vegas-s17'))"
    )
    done = subprocess.run([sys.executable, "-c", code], input=text.encode(), capture_output=True, timeout=GUARD_S)
    assert b"ChartError: x, line " in done.stderr


def test_a_chart_larger_than_the_limit_is_refused_before_it_is_parsed(tmp_path: Path) -> None:
    with pytest.raises(ChartError, match="x is larger than 64 KiB"):
        read_chart(b"#" * (MAX_BYTES + 1), "x", load_rules("vegas-s17"))
    (tmp_path / "x").write_bytes(b"x" * 10**7)
    assert "larger than 64 KiB" in refusal("check", tmp_path / "x")
    assert "larger than 64 KiB" in bjsim("check", "-", stdin=b"x" * 10**7).err


def test_a_source_is_never_read_as_a_chart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Otherwise a comment of 64 KiB in a bot held up the whole contest."""

    def fail(*args: object) -> None:
        raise AssertionError("read as a chart")

    monkeypatch.setattr("bjsim.bots.contest.entrants.read_chart", fail)
    for ending in ("py", "c", "java", "lisp", "js", "go", "rs"):
        (tmp_path / f"x.{ending}").write_text("# (")
    assert len(gather([str(tmp_path)], load_rules("cardshark"))) == 7


# --- finding 10: numbers


def test_an_exponent_of_many_digits_is_refused(tmp_path: Path) -> None:
    (tmp_path / "r.toml").write_text(f'blackjack_pays = "{HUGE}"\n')
    (tmp_path / "c.toml").write_text(f'bots = ["lim13", "lim17"]\n[rules]\nblackjack_pays = "{HUGE}"\n')
    for given in (
        ["run", "--bots", "lim17", "--hands", 9, "--set", f"blackjack_pays={HUGE}"],
        ["run", "--bots", "lim17", "--hands", 9, "--set", "ten_probability=1e-9999999"],
        ["run", "--bots", "lim17", "--hands", 9, "--set", "cut=1e9_999_999"],
        ["run", "--bots", "lim17", "--hands", 9, "--rules", tmp_path / "r.toml"],
        ["compare", "--rules", "vegas-s17", "--vary", f"blackjack_pays={HUGE}"],
        ["koth", "play", "--config", tmp_path / "c.toml", "--out", tmp_path / "c"],
    ):
        assert "is not accepted; use" in refused(*given)


def test_a_journal_with_such_an_exponent_is_refused(tmp_path: Path) -> None:
    assert bjsim("koth", "play", "lim13", "lim17", "--matches", 1, "--out", tmp_path / "c").status == 0
    header = next(journal.read(tmp_path / "c"))
    header["contest"]["rules"]["blackjack_pays"] = HUGE
    forged(tmp_path / "c", [header])
    for command in ("show", "verify"):
        done = guarded("koth", command, tmp_path / "c")
        assert done.returncode and done.stderr.count("\n") == 1 and "blackjack_pays" in done.stderr


# --- finding 10: files of all kinds

READERS = {  # what reads a file, by the ending that it must have
    "": ("check", "run --hands 9 --bots", "run --hands 9 --bots lim17 --resume", "count --load", "learn --mdp",
         "replay --bots lim17 --shoe", "bot check", "koth play lim16"),
    "txt": ("check", "count --indices", "koth play lim16"),
    "toml": ("run --hands 9 --bots lim17 --rules", "count --system", "sidebet", "koth play --config"),
    "py": ("bot check", "koth play lim16"),
}  # fmt: skip


@pytest.fixture
def guard() -> Iterator[None]:
    """Ends what waits for ever."""
    signal.alarm(GUARD_S)
    yield
    signal.alarm(0)


@pytest.mark.parametrize(
    ("ending", "command"), [(e, command) for e, commands in READERS.items() for command in commands]
)
def test_a_file_is_regular_and_of_limited_size(tmp_path: Path, guard: None, ending: str, command: str) -> None:
    file = tmp_path / f"r.{ending}"
    os.mkfifo(file)
    pipe = refusal(*command.split(), file)
    file.unlink()
    file.symlink_to("/dev/zero")
    device = refusal(*command.split(), file)
    file.unlink()
    with file.open("wb") as opened:
        opened.truncate(2 << 30)
    large = refusal(*command.split(), file)
    assert "not a regular file" in pipe and ("not a regular file" in device or "symbolic link" in device)
    assert "larger than" in large


# --- finding 12


def test_a_name_of_rules_has_no_escapes(tmp_path: Path) -> None:
    file = tmp_path / "r.toml"
    for name in ("\\u001b]0;evil\\u0007\\u001b[2J", "right\\u202eleft", "x" * 101):
        file.write_text(f'name = "{name}"\n')
        for command in (["run", "--bots", "lim17", "--hands", 10], ["check", "optimal"], ["count"], ["play"]):
            said = refusal(*command, "--rules", file)
            assert "name = '" in said and "is not accepted; use one line of at most 100 characters" in said


def test_a_bound_is_told_with_both_limits() -> None:
    for value, limits in (
        ("move_cap=1000000000", "20 (no hand draws more cards) to 1000000"),
        ("buy_in=999999999999999999999", "1 to 1e9 chips"),
        ("chips=1e30", "twice the buy-in, to 1e12 chips"),
    ):
        assert limits in refusal("run", "--bots", "lim17", "--hands", 9, "--set", value)


@pytest.mark.parametrize("letter", ["a", "a "])
@pytest.mark.parametrize("option", ["--set", "--bots", "--hands", "--seed", "--rules"])
def test_an_error_does_not_repeat_a_long_value(option: str, letter: str) -> None:
    value = letter * 15000
    if option == "--set":
        value = f"move_cap={value}"
    given = ["run", "--bots", "lim17", option, value] if option != "--bots" else ["run", "--bots", value]
    assert len(refusal(*given)) <= 1500


def test_a_forge_reads_no_command_in_what_a_bot_wrote() -> None:
    """Finding 12: a runner strips blanks before it looks for `::commands`."""
    text = b"::add-mask::S\n::error title=x::y\n##[group]z\n"
    lines = fault_lines(Fault("crash", "exit status 1", ("a",), text, text).to_json()).splitlines()
    assert sum("::" in line for line in lines) == 4
    assert not any(line.strip().startswith(("::", "##")) for line in lines)


def test_a_journal_of_thousands_of_bots_is_refused_or_replayed_soon(tmp_path: Path) -> None:
    """Finding 10: the search for balanced pairings takes time that grows with the square of the bots."""
    assert bjsim("koth", "play", "lim13", "lim17", "--matches", 1, "--out", tmp_path / "c").status == 0
    records = list(journal.read(tmp_path / "c"))
    bots = records[0]["bots"]
    records[0]["bots"] = bots + [{**bots[0], "name": f"x{number}"} for number in range(2998)]
    forged(tmp_path / "c", records)
    done = guarded("koth", "verify", tmp_path / "c")
    assert done.returncode == 1 and "recorded seats" in done.stderr
