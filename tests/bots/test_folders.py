"""Folders as bots: their manifest, their limits, and that they play from read-only copies of their files."""

import os
import re
from contextlib import nullcontext
from pathlib import Path

import pytest
from bot_helpers import a_view, line_bot, needs, needs_sandbox
from support.command import bjsim, refusal
from support.matches import CARDSHARK, begin

from bjsim.bots.contest.entrants import gather, opened, read_unchanged
from bjsim.bots.player import open_bot
from bjsim.bots.sandbox import folders, restrictions
from bjsim.bots.sandbox.folders import read_bot
from bjsim.bots.sandbox.languages import BuildError, MissingToolchain
from bjsim.bots.sandbox.restrictions import make_box
from bjsim.bots.sandbox.session import SandboxError
from bjsim.bots.seats import ProgramFile, find_seated, is_program
from bjsim.errors import InputError
from bjsim.strategies.charts.chart import Chart
from bjsim.strategies.formats.files import format_text
from bjsim.strategies.players.catalogue import CATALOGUE


def folder(path, manifest="", **files):
    """A bot's folder. files: by name, with __ for a dot and ___ for a slash."""
    path.mkdir(parents=True, exist_ok=True)
    (path / "bot.toml").write_text(manifest)
    for name, content in files.items():
        file = path / name.replace("___", "/").replace("__", ".")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content)
    return path


def asked(path):
    with open_bot(path, sandbox="required", timeout=10.0) as player:
        reply = player.ask(a_view())
        return reply.stdout.decode().strip(), reply.stderr.decode(), player.program


PLAYS = {
    "modules and weights": (
        {"bot__py": "from tools.limit import limit\nprint('H' if limit() > 5 else 'S')",
         "tools___limit__py": "def limit(): return int(open('weights.txt').read())", "weights__txt": "17"}, ".py"),
    "a header": (
        {"bot__c": '#include <stdio.h>\n#include "limit.h"\nint main(void) { puts(LIMIT > 5 ? "H" : "S"); return 0; }',
         "limit__h": "#define LIMIT 17"}, ".c"),
    "commands": (
        {"one__c": '#include <stdio.h>\nint two(void);\nint main(void) { puts(two() > 1 ? "H" : "S"); return 0; }',
         "two__c": "int two(void) { return 2; }"}, ".c"),
    "a command alone": ({"play__sh": "test -r play.sh && echo H"}, ".py"),
}  # fmt: skip
MANIFESTS = {
    "commands": 'build = "cc one.c two.c -o $OUT/play"\nrun = "./play"',
    "a command alone": 'run = "sh play.sh"',
}


@needs_sandbox
@pytest.mark.parametrize("name", [pytest.param(name, marks=needs(ending)) for name, (_, ending) in PLAYS.items()])
def test_a_folder_plays(tmp_path, name):
    where = folder(tmp_path / "mine", MANIFESTS.get(name, ""), **PLAYS[name][0])
    move, errors, program = asked(where)
    assert (move, errors) == ("H", "") and program.protocol == "argv" and "bot.toml" not in program.files
    assert is_program(str(where)) and not is_program(str(tmp_path))


def test_what_linux_cannot_run_is_no_program(tmp_path):
    """On some disks all files are executable, charts too. A chart was started for every move, and stood."""
    chart, program = tmp_path / "mine", tmp_path / "program"
    for encoding in ("utf-8", "utf-16"):
        chart.write_text(format_text(CATALOGUE["hoyle"].chart(CARDSHARK)), encoding=encoding)
        chart.chmod(0o755)
        assert isinstance(find_seated(str(chart), CARDSHARK).player, Chart)
    for content, runs in ((b"#!/bin/sh\n", True), (b"\x7fELF\x02\x01\x01\0", True), (b"echo S\n", False)):
        program.write_bytes(content)
        program.chmod(0o755)
        assert is_program(str(program)) == runs
    program.chmod(0o644)
    assert not is_program(str(program))


@needs_sandbox
@needs(".py")
def test_a_folder_is_read_only_in_the_sandbox(tmp_path):
    source = "import os\ntry:\n    open('weights.txt', 'w')\nexcept OSError:\n    print('S')"
    where = folder(tmp_path / "mine", bot__py=source, weights__txt="17")
    assert asked(where)[0] == "S" and (where / "weights.txt").read_text() == "17"


@needs_sandbox
@needs(".py")
def test_a_folder_with_a_line_bot_plays_in_a_contest(tmp_path):
    manifest = 'name = "deep"\nauthor = "A. Author"\nversion = "7"\nprotocol = "line"\nrandom = false'
    where = folder(tmp_path / "all" / "mine", manifest, bot__py=line_bot().replace("bjsim: line 1", ""), data__txt="1")
    (tmp_path / "all" / "other.py").write_text("print('S')")
    entrants = gather([str(tmp_path / "all")], CARDSHARK)
    assert [(bot.name, bot.protocol, bot.language) for bot in entrants] == [
        ("deep", "line", "python"), ("other", "argv", "python"),
    ]  # fmt: skip
    standings = begin(tmp_path / "out", [tmp_path / "all"], seed=7, matches=1, sessions=1, timeout=10.0).run()
    assert standings.scores[0].started and not standings.scores[0].faults
    for entrant in entrants:
        read_unchanged(entrant, CARDSHARK)
    (where / "data.txt").write_text("2")
    with pytest.raises(InputError, match="has changed"):
        read_unchanged(entrants[0], CARDSHARK)


@pytest.mark.parametrize(
    ("manifest", "files", "why"),
    [
        ("nme = 'x'", {"bot__py": ""}, "unknown key 'nme'; the keys are name, author"),
        ("name = 1", {"bot__py": ""}, "name = 1 is not accepted; use text"),
        ("random = 1", {"bot__py": ""}, "random is not accepted; use true or false"),
        ("files = 'x'", {"bot__py": ""}, "files is not accepted; use a list"),
        ("files = ['../*']", {"bot__py": ""}, "leads out of the folder"),
        ("files = ['/etc/*']", {"bot__py": ""}, "bot.toml names /etc/*, which leads out of the folder"),
        ("files = ['../../../**/*']", {"bot__py": ""}, "names ../../../**/*, which leads out of the folder"),
        ("files = ['**/**/*']", {"bot__py": ""}, "files: '**/**/*' is not accepted; use ** at most once"),
        ("protocol = 'http'", {"bot__py": ""}, "protocol = 'http' is not accepted; use argv or line"),
        ("build = 'make'", {"bot__py": ""}, "build without run"),
        ("", {"main__py": ""}, "without it, one file must be called bot.py"),
        ("", {"bot__py": "", "bot__c": ""}, "one file must be called bot.py"),
        ("name = ", {"bot__py": ""}, "is not valid TOML"),
        ("run = '\"'", {"x": ""}, "run = '\"' is not accepted: No closing quotation"),
        ("run = '  '", {"x": ""}, "run = '  ' is not accepted; use a command, such as python3 play.py"),
        ('run = "x a\\u0000b"', {"x": ""}, "is not accepted; use a command"),
        (f"name = '{'x' * 41}'", {"bot__py": ""}, "name is not accepted; use at most 40 characters"),
        (f"run = 'sh {'é' * 998}'", {"bot__py": ""}, "run is not accepted; use at most 1000 characters"),
        (f"run = 'x'\nbuild = '{'x' * 10_001}'", {"bot__py": ""}, "build is not accepted; use at most 10000"),
        (f"author = '{'x' * 201}'", {"bot__py": ""}, "author is not accepted; use at most 200 characters"),
    ],
)
def test_a_wrong_manifest_is_refused_in_one_line(tmp_path, manifest, files, why):
    with pytest.raises(BuildError) as error:
        read_bot(folder(tmp_path / "mine", manifest, **files))
    assert why in str(error.value) and "\n" not in str(error.value)


def test_a_blank_name_is_that_of_the_folder(tmp_path):
    assert read_bot(folder(tmp_path / "mine", "name = ' '", bot__py="")).name == "mine"


def test_a_folder_is_named_where_it_is_the_current_one(tmp_path, monkeypatch):
    where = folder(tmp_path / "mine", bot__py="", sub___x__txt="")
    monkeypatch.chdir(where)
    assert read_bot(Path(".")).name == ProgramFile(".").name == "mine"
    monkeypatch.chdir(where / "sub")
    assert read_bot(Path("..")).name == "mine"


def test_the_main_file_is_not_in_a_folder_of_its_name(tmp_path):
    where = folder(tmp_path / "mine", bot__py="", bot__tests___x__py="")
    assert read_bot(where).main == "bot.py"


def test_limits_and_links(tmp_path, monkeypatch):
    where = folder(tmp_path / "mine", bot__py="x" * 60, data__txt="y" * 60)
    monkeypatch.setattr(folders, "MAX_FOLDER", 119)
    with pytest.raises(BuildError, match="files of more than 0 MiB"):
        read_bot(where)
    monkeypatch.setattr(folders, "MAX_FOLDER", 120)
    assert set(read_bot(where).files) == {"bot.py", "data.txt"}
    monkeypatch.setattr(folders, "MAX_FILES", 1)
    with pytest.raises(BuildError, match="more than 1 files"):
        read_bot(where)
    (where / "bot.toml").write_text("files = ['bot.py']")
    assert set(read_bot(where).files) == {"bot.py"}
    monkeypatch.undo()
    (where / ".hidden").write_text("x")
    (where / "bot.toml").write_text("files = ['bot.py', '.*']")
    assert set(read_bot(where).files) == {"bot.py"}
    os.symlink("/etc/hostname", where / "link.txt")
    with pytest.raises(BuildError, match="symbolic link"):
        read_bot(folder(where))


@pytest.mark.parametrize(
    ("pattern", "named"),
    [
        ("**/*", "bot.py a.txt x/a.txt x/y/a.txt x/y/b.txt"),
        ("*.txt", "bot.py a.txt"),
        ("**/a.txt", "bot.py a.txt x/a.txt x/y/a.txt"),
        ("./x/*/b.txt", "bot.py x/y/b.txt"),
        ("x/**/[!a].*", "bot.py x/y/b.txt"),
        ("x", "bot.py"),
        ("x/y/**", "bot.py x/y/a.txt x/y/b.txt"),
    ],
)
def test_what_a_pattern_names(tmp_path, pattern, named):
    files = {"a__txt": "", "x___a__txt": "", "x___y___a__txt": "", "x___y___b__txt": ""}
    where = folder(tmp_path / "mine", f"files = ['bot.py', '{pattern}']", bot__py="", **files)
    assert set(read_bot(where).files) == set(named.split())


def test_a_manifest_of_three_gigabytes_is_not_read(tmp_path):
    where = folder(tmp_path / "mine", bot__py="")
    os.truncate(where / "bot.toml", 3 << 30)
    with pytest.raises(BuildError, match="larger than 64 KiB"):
        read_bot(where)
    (where / "bot.toml").unlink()
    (where / "bot.toml").symlink_to("/dev/zero")
    assert not is_program(str(where))  # without reading it


def test_a_tree_is_listed_once_with_limits(tmp_path, monkeypatch):
    """Patterns with several ** took minutes in a folder 60 deep, and .. listed the tree of the host."""
    monkeypatch.setattr(folders, "MAX_ENTRIES", 60)
    where = folder(tmp_path / "mine", "files = ['bot.py']", bot__py="")
    deepest = where.joinpath(*"x" * 16)
    deepest.mkdir(parents=True)
    (deepest / "a").write_text("")
    assert set(read_bot(where).files) == {"bot.py"}
    (deepest / "x").mkdir()
    with pytest.raises(BuildError, match="more than 16 folders inside each other"):
        read_bot(where)
    (deepest / "x").rmdir()
    for number in range(60):
        (where / f"{number}.txt").write_text("")
    with pytest.raises(BuildError, match="more than 60 files"):
        read_bot(where)


def test_a_folder_whose_name_is_not_utf_8(tmp_path):
    where = folder(tmp_path / "mine", bot__py="")
    os.mkdir(os.fsencode(where) + b"/\xff")
    with open(os.fsencode(where) + b"/\xff/x.txt", "w"):
        pass
    with pytest.raises(BuildError, match="is not UTF-8; rename it"):
        read_bot(where)


@needs_sandbox
@needs(".py")
def test_the_longest_that_is_accepted_opens(tmp_path):
    """The sandbox's command line can hold it; a longer path is the bot's fault."""
    run, build = "sh play.sh " + "é" * 989, "exit 1 #" + "\U0001f0a1" * 9992
    for manifest, why in ((f"run = '{run}'", ""), (f"run = '{run}'\nbuild = '{build}'", "does not compile: status 1")):
        where = folder(tmp_path / "mine", manifest, play__sh="echo H")
        if not why:
            assert asked(where)[:2] == ("H", "")
        else:
            with pytest.raises(BuildError, match=why):
                open_bot(where, sandbox="required")
    deep = where.joinpath(*["x" * 250] * 4)
    deep.mkdir(parents=True)
    (deep / "a").write_text("")
    (where / "bot.toml").write_text(f"run = '{run}'")
    with pytest.raises(BuildError, match=r"mine cannot be loaded: the file name x+\.\.\. has more than 1000 bytes"):
        open_bot(where, sandbox="required")


@needs_sandbox
@pytest.mark.parametrize("made", ["mkdir -p $OUT/a; echo x > $OUT/a/b", "exit 0"])
def test_files_that_cannot_lie_beside_each_other_are_the_bots_fault(tmp_path, made):
    """bwrap could not make the folder, and no other bot could play, at every resume again."""
    where = folder(tmp_path / "clash", f'run = "sh a"\nbuild = "{made}"', a="echo S")
    standings = begin(tmp_path / "out", [where, "lim17"], seed=7, matches=1, sessions=1, timeout=10.0).run()
    assert standings.scores[0].faults.keys() == {"start-failure"} and standings.scores[1].matches == 1
    with pytest.raises(BuildError, match="a is both a file and the folder of a/b" if "/b" in made else "compile"):
        open_bot(where, sandbox="required")


def test_a_command_that_is_not_installed_is_named(tmp_path):
    where = folder(tmp_path / "mine", 'run = "no-such-interpreter bot.x"', bot__x="")
    found = read_bot(where)
    with pytest.raises(MissingToolchain, match="mine runs no-such-interpreter, which is not installed"):
        found.language.make_program(found.name, found.files)
    assert "mine runs no-such-interpreter" in refusal("bot", "check", where)  # not a fault of the bot


@needs_sandbox
@needs(".py")
def test_bot_check_takes_a_folder(tmp_path):
    where = folder(tmp_path / "mine", bot__py="import sys\nprint('H' if int(sys.argv[1]) < 17 else 'S')")
    done = bjsim("bot", "check", str(where))
    assert "no faults" in done.out


@needs_sandbox
@pytest.mark.parametrize("error", [SandboxError("it does not open"), OSError(36, "it does not open")])
@pytest.mark.parametrize("all_fail", [False, True])
def test_a_session_that_does_not_open_is_the_bots_own_fault_unless_no_other_opens(
    tmp_path, monkeypatch, caplog, error, all_fail
):
    def fails(kind, files, *rest):
        if files or all_fail:
            raise error
        return make_box(kind, files, *rest)

    monkeypatch.setattr(restrictions, "make_box", fails)
    found = gather([str(folder(tmp_path / "bad", 'run = "./x"', x="#!/bin/sh")), "lim17"], CARDSHARK)
    refuses = pytest.raises(InputError, match="bad cannot play: ") if all_fail else nullcontext()
    with refuses, opened(found, CARDSHARK, sandbox="required") as [player, _]:
        assert b"it does not open" in player.ask(a_view()).stderr
    said = re.search("bad cannot be started and will stand on every hand: .*it does not open", caplog.text)
    assert bool(said) == (not all_fail)


@needs_sandbox
@pytest.mark.parametrize("error", [SandboxError("it does not open"), OSError(11, "it does not open")])
def test_a_bot_is_asked_once_more_before_it_is_blamed(tmp_path, monkeypatch, caplog, error):
    """A moment of trouble of the machine would have been its fault for the whole contest, in one of the workers."""
    troubles = [error]

    def fails_once(kind, files, *rest):
        if files and troubles:
            raise troubles.pop()
        return make_box(kind, files, *rest)

    monkeypatch.setattr(restrictions, "make_box", fails_once)
    found = gather([str(folder(tmp_path / "bot", 'run = "./x"', x="#!/bin/sh\necho S")), "lim17"], CARDSHARK)
    with opened(found, CARDSHARK, sandbox="required") as [player, _]:
        assert player.ask(a_view()).stdout == b"S\n" and not caplog.text


@needs_sandbox
def test_a_submission_does_not_stop_a_contest_by_the_names_of_what_it_makes(tmp_path, caplog):
    build = r"""printf '1 %0300d\\nx' 0; exit 0"""
    evil = folder(tmp_path / "evil", f'run = "./bot"\nbuild = """{build}"""')
    with opened(gather([str(evil), "lim17"], CARDSHARK), CARDSHARK, sandbox="required"):
        assert "evil cannot be loaded: a part of the file name 0000" in caplog.text
