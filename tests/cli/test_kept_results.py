"""What a command has found is shown, whatever then stops it or cannot be written, and no file destroys another."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import pytest
from support.command import bjsim, refusal

from bjsim.arguments import check_writable, short_names, without_folders
from bjsim.cli import compare
from bjsim.cli.run import play_on_screen
from bjsim.errors import InputError, RunFailed
from bjsim.files import replacing, write_file
from bjsim.request import RunRequest
from bjsim.run_result import RunResult
from bjsim.sim.running.compiled_table import CompiledTable
from bjsim.strategies.counting.count import count
from bjsim.strategies.counting.request import play_request
from bjsim.strategies.results import ExactReturn

RUN = ("run", "--bots", "lim17", "--hands", "1000", "--workers", "1")
COUNT = ("count", "--decks", "1", "--rounds", "2e3", "--indices", "none", "--workers", "1")
VALUE = "value of the chart"
CHECK = ("check", "hoyle", "--rules", "easy")
INDICES = ("count", "indices", "--rules", "vegas-s17", "--decks", "1", "--top", "1", "--save")
COMPARE = ("compare", "--rules", "european", "--set", "decks=1", "--vary", "cut=0,3/4")


@pytest.fixture
def disk_full(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(Path, "write_bytes", full)
    monkeypatch.setattr(os, "fsync", full)


@pytest.mark.usefixtures("disk_full")
@pytest.mark.parametrize(
    ("words", "shown"),
    [
        ((*RUN, "--json"), "lim17"),
        ((*CHECK, "--json"), VALUE),
        ((*CHECK, "--fix"), VALUE),
        pytest.param(INDICES, "gain in SCORE", marks=pytest.mark.slow),
    ],
    ids=["run", "check", "check_fix", "indices"],
)
def test_a_result_that_cannot_be_written_is_printed(tmp_path: Path, words: tuple[str, ...], shown: str) -> None:
    done = bjsim(*words, tmp_path / "x.txt")
    assert (done.status, done.err) == (2, f"bjsim: cannot write {tmp_path / 'x.txt'}: No space left on device\n")
    assert shown in done.out


@pytest.mark.usefixtures("disk_full")
@pytest.mark.parametrize(("words", "shown"), [(RUN, "lim17"), (COUNT, "EV by true count")], ids=["run", "count"])
def test_a_checkpoint_that_cannot_be_saved_costs_no_result(tmp_path: Path, words: tuple[str, ...], shown: str) -> None:
    done = bjsim(*words, "--checkpoint", tmp_path / "kept")
    said = "cannot save the checkpoint kept: No space left on device"
    assert (done.status, done.err) == (1, f"bjsim: {said}\n")
    assert shown in done.out and f"stopped: {said}\n" in done.out
    assert "biased" not in done.out and not [*tmp_path.iterdir()]


def interrupted(*_: object) -> list[ExactReturn]:
    raise KeyboardInterrupt


def test_an_interrupt_of_the_exact_values_leaves_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bjsim.run.exact_returns", interrupted)
    done = bjsim(*RUN)
    assert done.status == 130 and "lim17" in done.out and "no exact value: its computation was stopped" in done.out


def test_an_interrupt_of_a_comparison_leaves_the_exact_values(monkeypatch: pytest.MonkeyPatch) -> None:
    played: list[RunRequest] = []
    play = play_on_screen

    def stopped_at_second(request: RunRequest, quiet: bool) -> tuple[object, RunResult]:
        played.append(request)
        screen, result = play(request, quiet)
        return screen, replace(result, stopped=len(played) == 2)

    monkeypatch.setattr(compare, "play_on_screen", stopped_at_second)
    done = bjsim(*COMPARE, "--until", "1%")
    assert done.status == 130 and len(played) == 2
    assert "cut=0 " in done.out and "cut=3/4 " in done.out and "luck-adjusted" in done.out


# --- one file is not written over another


@pytest.mark.parametrize(
    "words",
    [
        (*RUN, "--resume", "kept", "--log", "kept"),
        (*RUN, "--resume", "kept", "--json", "./kept"),
        (*RUN, "--checkpoint", "new", "--log", "./new"),
        (*RUN, "--json", "x", "--html", "./x"),
        ("count", "--load", "kept", "--json", "link"),
        (*COUNT, "--resume", "kept", "--html", "link"),
    ],
    ids=lambda words: "_".join(words[-4:]).replace("/", ""),
)
def test_two_files_of_one_place_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("link").symlink_to("kept")
    begun = COUNT if words[0] == "count" else RUN
    assert bjsim(*begun, "--checkpoint", "kept").status == 0
    before = Path("kept").read_bytes()
    assert "two of the files are the same" in refusal(*words)
    assert Path("kept").read_bytes() == before and {path.name for path in tmp_path.iterdir()} == {"kept", "link"}


def test_processes_that_write_one_file_do_not_break_each_other(tmp_path: Path) -> None:
    path = tmp_path / "kept"
    with ExitStack() as first:
        first.enter_context(replacing(path)).write(b"first")
        with replacing(path) as second:
            second.write(b"second")
        assert path.read_bytes() == b"second"
    assert path.read_bytes() == b"first" and [*tmp_path.iterdir()] == [path]
    with pytest.raises(ZeroDivisionError), replacing(path) as third:
        third.write(bytes([1 // 0]))
    assert path.read_bytes() == b"first" and [*tmp_path.iterdir()] == [path]


def test_what_is_no_file_is_not_replaced(tmp_path: Path) -> None:
    """Root may put a file in the place of /dev/null."""
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match="not a regular file"), replacing(tmp_path / "pipe"):
        pass
    with pytest.raises(InputError, match="pipe: it is not a regular file"):  # before anything is played
        check_writable(tmp_path / "pipe", replaced=True)
    assert [path.name for path in tmp_path.iterdir()] == ["pipe"] and not (tmp_path / "pipe").is_file()


def unwritable(folder: Path) -> Callable[[object, int], bool]:
    return lambda path, mode: Path(str(path)) != folder  # root may write everywhere


@pytest.mark.parametrize("name", ["checkpoint", "resume"])
def test_a_checkpoint_in_a_folder_that_is_not_writable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    kept = tmp_path / "kept"
    if name == "resume":
        RunRequest("easy", "lim17", 1000, checkpoint=kept).play()
    monkeypatch.setattr(os, "access", unwritable(tmp_path))
    asked = {"checkpoint": None, "resume": None, name: kept}
    with pytest.raises(InputError, match=rf"{name}: cannot write .*kept: it is a folder or not writable"):
        RunRequest("easy", "lim17", 1000, checkpoint=asked["checkpoint"], resume=asked["resume"])


def test_a_run_compiles_for_the_hands_that_it_plays(monkeypatch: pytest.MonkeyPatch) -> None:
    """A precision that needs more hands than it may play is no reason to."""
    expected: list[float] = []
    monkeypatch.setattr(CompiledTable, "prepare", lambda table, rounds: expected.append(rounds))
    result = RunRequest("easy", "lim17", 1000, until=1e-5).play()
    assert result.rounds == 1000 and not (result.reached or result.biased) and 0 < max(expected) <= 1000


def test_a_page_names_players_as_they_are_and_files_without_folders(tmp_path: Path) -> None:
    (tmp_path / "y").touch()
    names = {f"{tmp_path}/a/b/x.csv": "a/b/x.csv", f"{tmp_path}/c/b/x.csv": "c/b/x.csv", f"{tmp_path}/y": "y"}
    names |= {"S17/H17 mix": "S17/H17 mix", "./": "./", ".": ".", "": "", "lim17": "lim17", "b/mine.py": "mine.py"}
    assert short_names([*names]) == names
    result = RunRequest("easy", ["lim16", "lim17"], 100).play()
    named = tuple(replace(one, name=name) for one, name in zip(result, names, strict=False))
    public = replace(result, results=named, missing=(f"{tmp_path}/y: no round was played",)).published()
    assert [one.name for one in public] == ["a/b/x.csv", "c/b/x.csv"] and public.missing == ("y: no round was played",)


def test_a_file_that_cannot_be_opened_is_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "old.txt"
    path.write_text("old")

    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "write_bytes", refuse)
    with pytest.raises(InputError, match=r"cannot write .*old\.txt: Permission denied"):
        write_file(str(path), b"new")
    assert path.read_text() == "old"


def test_a_count_that_could_not_be_saved_is_an_error_in_python(monkeypatch: pytest.MonkeyPatch) -> None:
    module = "bjsim.strategies.counting.count"
    monkeypatch.setattr(
        f"{module}.play_request", lambda request: replace(play_request(request), failure="the disk is full")
    )
    with pytest.raises(RunFailed, match="the disk is full"):
        count("vegas-s17", rounds=2000, indices="none", chart="hoyle", workers=1)


def test_a_printed_command_tells_files_apart_and_can_be_given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    chart = bjsim("solve", "--rules", "easy", "--format", "chart").out
    for name in ("a/x.csv", "b/x.csv", "lr=0.1/x.csv", "-my.csv"):
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).write_text(chart)
    for words, printed in (
        ("run --rules easy --hands 100 --bots {}/a/x.csv,{}/b/x.csv,lim17", "--bots a/x.csv,b/x.csv,lim17"),
        ("check --rules easy ./-my.csv", "bjsim check ./-my.csv"),
        ("check --rules easy {}/a/x.csv", "bjsim check x.csv"),
        ("run --rules easy --hands 100 --bots {}/lr=0.1/x.csv", "--bots x.csv"),
    ):
        assert bjsim(*words.format(tmp_path, tmp_path).split(), "--html", "p.html").status == 0
        page = Path("p.html").read_text()
        assert printed in page and str(tmp_path) not in page


def test_values_that_vary_are_published_without_folders() -> None:
    for folder in ("/srv/Jane Doe/", "D:\\games\\", "../", ""):
        assert without_folders(f"system=hilo,{folder}my.toml") == "system=hilo,my.toml"
    assert without_folders("system=1/2,ko") == "system=1/2,ko"
