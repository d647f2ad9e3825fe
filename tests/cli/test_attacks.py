"""Attacks on a host who plays, reproduces or resumes a contest, by the author of a bot or of a directory."""

import hashlib
import importlib.util
import os
import py_compile
import re
import secrets
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from bot_helpers import needs_sandbox
from support.command import bjsim, refusal
from support.matches import CARDSHARK, begin, forged, rounds_in

from bjsim.bots.contest import journal
from bjsim.bots.contest.config import Contest
from bjsim.bots.contest.entrants import gather
from bjsim.bots.contest.page import contest_command, published_sources
from bjsim.cli.koth_play import play
from bjsim.errors import InputError
from bjsim.strategies.players.catalogue import find_player

STANDS = "print('S')"
READS = "try:\n    print(open('/etc/passwd').read() and '{}')\nexcept OSError:\n    print('{}')\n"  # a file of the host


def executable(path, text="#!/bin/sh\necho S\n"):
    path.write_text(text)
    path.chmod(0o755)
    return path


# --- the command on the page


@pytest.mark.parametrize(
    "name", ["--sandbox=off", "--out=x", "-h", "--", "a=b.py", "--config=a.py", "lim17", "optimal=lim17", "x y.py"]
)
def test_no_bots_file_turns_into_an_option_of_the_pages_command(tmp_path, monkeypatch, name):
    """Run where the bots are, the command plays the same files under the same names, in a sandbox."""
    field = tmp_path / "field"
    field.mkdir()
    executable(field / name)
    executable(field / "honest")
    entrants = gather([str(field)], CARDSHARK)
    names = [entrant.name for entrant in entrants]
    sources = published_sources([entrant.source for entrant in entrants])
    arguments = shlex.split(contest_command(Contest(CARDSHARK, matches=1), names, sources))
    assert arguments[:3] == ["bjsim", "koth", "play"]
    arguments = arguments[3:]
    written = arguments[arguments.index("--") + 1 :]
    assert len(written) == 2 and all(bot.partition("=")[2].startswith("./") for bot in written)
    options = play.make_context("koth", arguments).params
    assert options["sandbox"] == "required" and options["out"] == "again" and options["config_path"] is None
    monkeypatch.chdir(field)
    again = gather(options["bots"], CARDSHARK)
    assert [(bot.name, Path(bot.source)) for bot in again] == [
        (bot.name, field / Path(bot.source).name) for bot in entrants
    ]
    assert {Path(bot.source).name for bot in again} == {name, "honest"}
    assert not any(name.startswith("-") or "=" in name for name in names)


@needs_sandbox
def test_the_command_printed_for_a_bot_called_sandbox_off_plays_in_the_sandbox(tmp_path, monkeypatch):
    """The whole attack: the page is written, and its command is run unchanged."""
    field = tmp_path / "field"
    field.mkdir()
    executable(field / "--sandbox=off")
    (field / "probe.py").write_text(READS.format("S", "H"))
    monkeypatch.chdir(tmp_path)
    assert bjsim("koth", "play", "field", "--matches", 1, "--out", "c").status == 0
    assert bjsim("koth", "close", "c").status == 0
    command = (tmp_path / "c" / "index.html").read_text().partition('<pre id="again">')[2].partition("</pre>")[0]
    monkeypatch.chdir(field)
    assert bjsim(*shlex.split(command)[1:]).status == 0
    # a bot without chips sits out, so it is not in every round
    rounds = [r for r in rounds_in(Path("again")) if 1 in r["seats"]]
    moves = [r["moves"][r["seats"].index(1)] for r in rounds]
    assert moves and not any("S" in made[:1] for made in moves)  # it never read a file of the host


@pytest.mark.parametrize("name", ["\x1b[2Jx.py", "new\nline.py", "right\u202eleft.py", "evil.py:player"])
def test_files_whose_names_could_be_taken_for_something_else_are_left_out(tmp_path, caplog, name):
    field = tmp_path / "field"
    field.mkdir()
    executable(field / name)
    for honest in "ab":
        executable(field / honest)
    assert [entrant.name for entrant in gather([str(field)], CARDSHARK)] == ["a", "b"]
    assert "left out" in caplog.text and "rename it" in caplog.text and name not in caplog.text.replace(":", "")


# --- standard streams that are closed


@needs_sandbox
@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
@pytest.mark.parametrize("command", ["run", "koth play"])
def test_a_closed_stream_neither_opens_the_sandbox_nor_stops_the_bots(tmp_path, command, closed):
    """Cron jobs and daemons start like this. The bot prints an invalid move if it can read a file of the host."""
    (tmp_path / "probe.py").write_text(READS.format("X", "S"))
    options = {
        "run": ["--rules", "cardshark", "--hands", "5", "--json", "out.json", "--timeout", "20", "--bots", "probe.py"],
        "koth play": ["probe.py", "lim17", "--matches", "1", "--timeout", "20", "--json", "out.json"],
    }[command]
    bjsim_here = f"{shlex.quote(sys.executable)} -c 'from bjsim.cli.main import main; main()' {command} "
    done = subprocess.run(
        ["/bin/sh", "-c", bjsim_here + shlex.join(options) + f" {closed}"], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert "without a sandbox" not in done.stderr
    assert '"faults": {}' in (tmp_path / "out.json").read_text()
    assert "bad-reply" not in (tmp_path / "out.json").read_text()


def test_what_is_started_with_a_process_without_streams_has_them():
    code = """if True:
        import os
        from bjsim.cli.main import open_standard_streams
        for number in range(3):
            os.close(number)
        open_standard_streams()
        os._exit(not all(map(os.get_inheritable, range(3))) or os.open(os.devnull, os.O_RDONLY) != 3)
    """
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


# --- contests from others


def foreign(folder, bots, source, digest=None, house=""):
    """A contest in progress, whose journal claims that the first bot, or the house, is at `source`."""
    begin(folder, bots, matches=1, house=house and "lim18").close()
    header = next(journal.read(folder))
    if house:
        header["contest"]["house"] = source  # the header's own entry of the house stays harmless
    else:
        header["bots"][0] |= {"source": source} | ({"sha256": digest} if digest else {})
    forged(folder, [header])


@pytest.fixture
def evil(tmp_path):
    """(file of a Python player that creates a marker file when it runs; the marker file)"""
    mark, file = tmp_path / "was here", tmp_path / "evil.py"
    file.write_text(f"open({str(mark)!r}, 'w')\ndef player(view):\n    return 'S'\n")
    return file, mark


@pytest.mark.parametrize("house", ["", "house"])
@pytest.mark.parametrize("trust", [[], ["--trust"]])
def test_resuming_a_foreign_folder_runs_none_of_its_code(tmp_path, evil, trust, house):
    """Without consent nothing runs; with it, nothing that differs from the journal."""
    file, mark = evil
    foreign(tmp_path / "c", ["lim17", "optimal"], f"{file}:player", "0" * 64, house)
    said = refusal("koth", "resume", tmp_path / "c", *trust)
    assert ("has changed since" if trust else "trust it only") in said and "evil.py" in said
    assert not mark.exists()


def test_a_module_that_a_foreign_folder_names_is_not_imported(tmp_path, evil, monkeypatch):
    _, mark = evil
    monkeypatch.syspath_prepend(tmp_path)
    foreign(tmp_path / "c", ["lim17", "optimal"], "evil:player")
    for command, said in (("resume", "trust it only"), ("close", "has not ended")):
        assert said in refusal("koth", command, tmp_path / "c")
        assert not mark.exists()


def test_a_replacement_in_a_foreign_folder_runs_none_of_its_code(tmp_path, evil):
    """`replace NAME` reads the source of the bot again, which the journal gives (finding 4a)."""
    file, mark = evil
    foreign(tmp_path / "c", ["lim17", "optimal"], f"{file}:player")
    before = (tmp_path / "c" / journal.NAME).read_bytes()
    for command, *bots in (("replace", "lim17"), ("drop", "lim17"), ("add", "lim12"), ("extend", "3")):
        assert "trust it only" in refusal("koth", command, tmp_path / "c", *bots)
        assert not mark.exists() and (tmp_path / "c" / journal.NAME).read_bytes() == before
    bjsim("koth", "replace", tmp_path / "c", "lim17", "--trust", "--no-play")
    assert mark.exists()


def test_a_foreign_folder_that_has_ended_runs_none_of_its_code(tmp_path, evil):
    """A contest goes on after its end when it is extended (finding 4b)."""
    file, mark = evil
    foreign(tmp_path / "c", ["lim17", "optimal"], f"{file}:player")
    forged(tmp_path / "c", [*journal.read(tmp_path / "c"), {"record": "end", "reason": "time", "matches": 1}])
    for words in (["resume", tmp_path / "c"], ["extend", tmp_path / "c", 1]):
        assert "trust it only" in refusal("koth", *words) and not mark.exists()
    assert bjsim("koth", "close", tmp_path / "c").status == 0 and not mark.exists()


@pytest.mark.parametrize("line", ["house = '{}:player'", "against = ['{}:player']", "bots = ['lim17', 'x={}:player']"])
def test_settings_of_others_run_none_of_their_code(tmp_path, evil, line):
    """A clone of a repository has a contest.toml, and a player in Python next to it."""
    file, mark = evil
    config, out = tmp_path / "contest.toml", tmp_path / "c"
    config.write_text(f"matches = 1\n{line.format(file.name)}\n")
    command = ["koth", "play", "--config", config, "--out", out, *["lim17", "lim16"][: 0 if "bots" in line else 2]]
    said = refusal(*command)
    assert f"{config} runs" in said and "evil.py:player in this process" in said and "--trust" in said
    if not line.startswith("house"):
        assert refusal(*command, "--house", "") == said
    assert not mark.exists() and not out.exists()
    assert bjsim(*command, "--trust").status == 0 and mark.exists()


def test_a_player_in_python_on_the_command_line_is_ones_own(tmp_path, evil):
    file, mark = evil
    config = tmp_path / "contest.toml"
    config.write_text("matches = 1\nhouse = 'evil.py:player'\nbots = ['evil.py:player']")
    options = ["--config", config, "--house", "lim18", "--out", tmp_path / "c"]
    assert bjsim("koth", "play", f"{file}:player", "lim16", *options).status == 0 and mark.exists()


LINKS = {  # what the command writes, and where a folder of others may have a link instead
    "logs.jsonl": "resume", "pages": "resume", "index.html": "resume",
    "index.html.new": "resume", "pages/x.html": "resume", "pages/x.html.new": "resume", "standings.json": "resume",
    "journal.jsonl.new": "close", "journal.jsonl": "resume",
}  # fmt: skip


@needs_sandbox
@pytest.mark.parametrize("name", LINKS)
def test_links_in_a_folder_of_others_are_not_written_through(tmp_path, name, monkeypatch):
    """To a file of the host, or to a folder with files of the same names; `.new` has a number that was guessed."""
    folder, own = tmp_path / "c", tmp_path / "own"
    (tmp_path / "x.py").write_text("import sys\nprint('e', file=sys.stderr)\nprint('S')\n")
    asked = ["--matches", "1", "--seed", "1", "--out", folder]
    assert bjsim("koth", "play", tmp_path / "x.py", "lim16", *asked).status == 0
    if LINKS[name] == "resume":
        bjsim("koth", "extend", folder, "1", "--no-play")
    monkeypatch.setattr(secrets, "token_hex", lambda _: "0")
    target = folder / name.replace(".new", ".0.new")
    if target.is_dir():
        target.rename(own)
    else:
        own.write_bytes(target.read_bytes() if target.exists() else b"precious")
        target.unlink(missing_ok=True)
    target.symlink_to(own)

    def content():
        return {file.name: file.read_bytes() for file in (own.iterdir() if own.is_dir() else [own])}

    before = content()
    done = bjsim("koth", LINKS[name], folder)
    assert content() == before
    assert (done.status == 0 and not target.is_symlink()) or re.search("is a symbolic link|File exists", done.err)


def test_ones_own_contest_with_a_player_in_python_is_resumed_by_the_command_that_is_printed(tmp_path, evil):
    file, mark = evil
    foreign(tmp_path / "c", ["lim17", "optimal"], f"{file}:player", hashlib.sha256(file.read_bytes()).hexdigest())
    status, out, err = bjsim("koth", "resume", tmp_path / "c", "--trust")
    assert status == 0 and mark.exists(), err
    command = next(line for line in out.splitlines() if line.startswith("to resume after a stop: "))
    assert command.endswith(" --trust")


def test_bytecode_next_to_a_players_file_is_not_run_instead(tmp_path, evil):
    """The host reviewed the source, whose hash is in the journal; bytecode must not replace it."""
    file, mark = evil
    honest = tmp_path / "honest.py"
    honest.write_text("def player(view):\n    return 'S'\n")
    cached = importlib.util.cache_from_source(str(honest))
    py_compile.compile(str(file), cached, invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH)
    find_player(f"{honest}:player", CARDSHARK)
    assert not mark.exists()


# --- files that are not bots


@pytest.fixture
def field(tmp_path):
    """A directory with two bots."""
    folder = tmp_path / "field"
    folder.mkdir()
    for name in ("a.py", "b.py"):
        (folder / name).write_text(STANDS)
    return folder


def left_out(field, caplog):
    """The messages about files left out; the bots must be those of `field`."""
    assert [entrant.name for entrant in gather([str(field)], CARDSHARK)] == ["a", "b"]
    said = [record.getMessage() for record in caplog.records]
    assert all(line.startswith("left out: ") for line in said) and all(map(str.isprintable, said))
    return " ".join(said)


@pytest.mark.parametrize("name", ["huge.py", "huge", "huge.txt"])
def test_a_huge_source_is_not_read(field, caplog, name):
    with (field / name).open("wb") as file:
        file.truncate(3 << 30)  # sparse: uses no space on disk
    if name == "huge":
        (field / name).chmod(0o755)
    assert "MiB" in left_out(field, caplog)
    commands = [["run", "--rules", "cardshark", "--hands", 1, "--bots", field / name], ["bot", "check", field / name]]
    for command in commands[: 1 if name == "huge.txt" else 2]:
        status, _, err = bjsim(*command)
        assert status and re.search("[KM]iB", err) and "Traceback" not in err


def test_sources_and_programs_may_be_so_large(field, caplog):
    (field / "c.py").write_bytes(b"print('S') #" + b"x" * ((1 << 20) - 12))
    executable(field / "d").write_bytes(b"\x7fELF" + bytes(2 << 20))
    assert [entrant.name for entrant in gather([str(field)], CARDSHARK)] == ["a", "b", "c", "d"] and not caplog.text


@pytest.mark.parametrize("to", ["/proc/self/environ", "/etc/passwd", "{folder}/plain"])
def test_symbolic_links_are_left_out(field, caplog, to):
    """They stopped the contest, and a compiler's error may quote the file that they point to."""
    (field.parent / "plain").write_text(STANDS)
    (field / "x.c").symlink_to(to.format(folder=field.parent))
    assert "x.c is a symbolic link" in left_out(field, caplog)
    with pytest.raises(InputError, match="symbolic link"):
        gather([str(field / "x.c"), "lim17"], CARDSHARK)


def test_a_folder_that_is_a_symbolic_link_holds_bots(field, tmp_path):
    (tmp_path / "link").symlink_to(field)
    sources = [entrant.source for entrant in gather([str(tmp_path / "link")], CARDSHARK)]
    assert sources == [str(field / "a.py"), str(field / "b.py")]


def test_a_file_name_that_is_not_utf_8_is_left_out(field, caplog):
    with open(os.fsencode(field) + b"/\xff\xfe.py", "w") as file:
        file.write(STANDS)
    assert "not valid UTF-8" in left_out(field, caplog)
