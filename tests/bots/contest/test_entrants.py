"""Entrants: the files in a folder of bots, and bots that cannot be started."""

from __future__ import annotations

import csv
import io
import json
import os
import stat
import struct
import time
import zipfile
from itertools import pairwise
from pathlib import Path

import pytest
from bot_helpers import SAMPLES, needs, needs_sandbox
from support.command import bjsim, refusal
from support.matches import CARDSHARK, CHART, begin, whole

from bjsim.bots import player
from bjsim.bots.contest import entrants
from bjsim.bots.contest import host as hosts
from bjsim.bots.contest.config import MANY, Contest, load_config, with_settings
from bjsim.bots.contest.entrants import bots_in_folder, gather, opened, read_unchanged
from bjsim.bots.contest.replay import verify
from bjsim.bots.sandbox import folders
from bjsim.bots.sandbox.folders import read_bot
from bjsim.bots.sandbox.languages import BuildError
from bjsim.errors import InputError
from bjsim.strategies.players.catalogue import CATALOGUE


@pytest.fixture
def folder(tmp_path):
    """A folder with a good bot, one that cannot be loaded, and another file."""
    folder = tmp_path / "bots"
    folder.mkdir()
    (folder / "good.py").write_text((SAMPLES / "lim17.py").read_text())
    (folder / "broken.py").write_text("print 'H'\n")
    (folder / "README.md").write_text("hello")
    return folder


def test_other_files_in_a_folder_are_left_out_and_named(folder, caplog):
    """Junk does not stop the contest, unless it is named itself."""
    (folder / "notes.txt").write_text("remember to invite Bob")
    (folder / "empty.txt").write_text("")
    assert names(gather([str(folder)], CARDSHARK)) == ["broken", "good"]
    assert all(f"{name}" in caplog.text for name in ("left out", "README.md", "notes.txt", "empty.txt"))
    for text, said in ((str(folder / "README.md"), r"README\.md"), (f"mine={folder}", "takes no name")):
        with pytest.raises(InputError, match=said):
            gather([text, "lim17"], CARDSHARK)
    (folder / "x=y.py").write_text((folder / "good.py").read_text())
    assert names(gather([str(folder / "x=y.py"), "lim17"], CARDSHARK))[0] == "x_y"  # NAME=SOURCE stays unambiguous


def test_a_bot_that_cannot_be_loaded_does_not_stop_the_contest(folder, tmp_path, caplog):
    """It stands, its fault has the reason, and the others play as against one that only stands."""
    played = {}
    for name in ("broken", "stands"):
        host = begin(tmp_path / name, [folder, "hoyle"], sandbox="auto", matches=2, timeout=10.0)
        host.run()
        assert (host.logs.ms_per_move(0) is None) == (name == "broken")  # it made no move
        played[name] = [json.loads(line) for line in whole(tmp_path / name).splitlines()]
        (folder / "broken.py").write_text("print('S')\n")
    assert "broken cannot be started and will stand on every hand: broken cannot be loaded: SyntaxError" in caplog.text
    faults = [fault for record in played["broken"] for fault in record.get("faults", ())]
    assert {(fault["bot"], fault["kind"]) for fault in faults} == {(0, "start-failure")} and len(faults) == 20
    assert all("SyntaxError" in fault["stderr"] and "print 'H'" in fault["stderr"] for fault in faults)
    assert all("\n" not in fault["detail"] for fault in faults)
    keys = ("seats", "chips", "cards", "net", "moves", "luck")
    both = [[[record.get(key) for key in keys] for record in records[1:]] for records in played.values()]
    assert both[0] == both[1]
    assert verify(tmp_path / "broken").rounds == 50


@pytest.mark.usefixtures("nothing_installed")
def test_a_missing_language_is_an_error_not_a_fault(tmp_path):
    """Neither when the contest begins, nor when a worker opens the bots."""
    (tmp_path / "bot.lisp").write_text("(princ 1)")
    bots = [str(tmp_path / "bot.lisp"), "lim17"]
    with pytest.raises(InputError, match="apt install sbcl"):
        begin(tmp_path / "out", bots, sandbox="auto", matches=1)
    with pytest.raises(InputError, match="apt install sbcl"), opened(gather(bots, CARDSHARK), CARDSHARK):
        pass


@pytest.mark.parametrize("method", ["bet", "observe"])
def test_a_player_that_a_contest_would_not_call_in_full_is_refused(tmp_path, method):
    """In `bjsim run` both methods are called; here a bet of 5 units would silently be one of 1."""
    (tmp_path / "player.py").write_text(
        f"class Heavy:\n    name = 'heavy'\n    def decide(self, view):\n        return 'S'\n"
        f"    def {method}(self, seen):\n        return 5\n"
    )
    player = f"{tmp_path / 'player.py'}:Heavy"
    with pytest.raises(InputError, match=f"has a method {method}, which contests do not call"):
        gather([player, "lim17"], CARDSHARK)
    with pytest.raises(InputError, match=f"has a method {method}"):
        begin(tmp_path / "contest", ["optimal", "lim17"], house=player)


# --- What strangers may put into a folder of bots while a contest reads it, plays it, or watches it.


@pytest.fixture
def field(tmp_path):
    """A folder with two charts, so that no sandbox is needed."""
    folder = tmp_path / "field"
    folder.mkdir()
    for name in ("one", "two"):
        (folder / f"{name}.txt").write_text(CHART)
    return folder


def names(bots):
    return [bot.name for bot in bots]


# --- code of a bot never runs in the host (finding 2)


def test_a_file_that_vanishes_is_not_looked_for_as_a_python_object(field, tmp_path, monkeypatch, caplog):
    """Listed as a file called evil.py:x, it named an object in evil.py once it was gone, and the host ran that."""
    (field / "evil.py").write_text(f"open({str(tmp_path / 'PWNED')!r}, 'w')\nx = 1\n")
    (field / "evil.py:x").write_text(CHART)
    read = entrants._read_file

    def vanishes(file, *others):
        if file.name == "evil.py:x":
            file.unlink(missing_ok=True)
        return read(file, *others)

    monkeypatch.setattr(entrants, "_read_file", vanishes)
    assert names(gather([str(field)], CARDSHARK)) == ["evil", "one", "two"]
    assert not (tmp_path / "PWNED").exists() and "left out" in caplog.text
    gone = entrants.Entrant("gone", str(field / "evil.py:x"), "executable", "0" * 64)
    with pytest.raises(InputError, match="rename it"):
        read_unchanged(gone, CARDSHARK)
    assert not (tmp_path / "PWNED").exists()


def test_an_error_of_one_bot_leaves_it_out_of_the_folder(field, monkeypatch, caplog):
    def fails(content, name, rules):
        if name.endswith("two.txt"):
            raise RecursionError("deep")
        return CATALOGUE["hoyle"].chart(rules)

    monkeypatch.setattr(entrants, "read_chart", fails)
    (field / "pipe").mkdir()
    os.mkfifo(field / "pipe.txt")
    assert names(entrants.bots_in_folder(field, CARDSHARK)) == ["one"]
    assert "two.txt: RecursionError('deep')" in caplog.text and "pipe.txt: not a regular file" in caplog.text


# --- no file outside a bot's folder is read (finding 3)


@pytest.fixture
def spy(field):
    """A bot's folder, and the secret of another that its file data.txt must not become."""
    spy, secret = field / "spy", field.parent / "secret"
    (spy / "sub").mkdir(parents=True)
    secret.mkdir()
    (secret / "data.txt").write_text("seed")
    (spy / "bot.py").write_text("print('S')")
    (spy / "sub" / "data.txt").write_text("mine")
    (spy / "bot.toml").write_text("")
    return spy


@pytest.mark.parametrize("part", ["sub", "sub/data.txt", "bot.toml"])
def test_a_link_that_is_exchanged_after_the_listing_is_not_followed(spy, monkeypatch, part):
    listed = folders.list_files

    def exchange(folder):
        found = listed(folder)
        (spy / part).rename(spy / "before")
        (spy / part).symlink_to(spy.parent.parent / "secret" / ("" if part == "sub" else "data.txt"))
        return found

    assert read_bot(spy).files["sub/data.txt"] == b"mine"
    if part == "bot.toml":
        exchange(spy)
    else:
        monkeypatch.setattr(folders, "list_files", exchange)
    with pytest.raises(BuildError, match=r"symbolic link|symbolic links|Not a directory"):
        read_bot(spy)


def test_a_file_that_is_exchanged_for_a_link_after_its_name_was_checked_is_left_out(field, monkeypatch, caplog):
    check = entrants.check_name

    def exchange(path):
        check(path)
        if path.name == "two.txt":
            path.unlink()
            path.symlink_to(field / "one.txt")

    monkeypatch.setattr(entrants, "check_name", exchange)
    assert names(gather([str(field), "lim17"], CARDSHARK)) == ["one", "lim17"]
    assert "two.txt: Too many levels of symbolic links" in caplog.text


@needs_sandbox
@needs(".py")
def test_a_bot_plays_the_content_that_was_checked(field, monkeypatch):
    """It is read once: what it is exchanged for after the check is not built."""
    bot = field / "a.py"
    bot.write_text("print('S')")
    build = player.build

    def exchange(source, **options):
        bot.write_text("print('H')")
        return build(source, **options)

    found = gather([str(bot), "lim17"], CARDSHARK)
    monkeypatch.setattr(player, "build", exchange)
    with opened(found, CARDSHARK, sandbox="required") as players:
        assert players[0].program.files["bot.py"] == b"print('S')"
    with pytest.raises(InputError, match="has changed"):
        read_unchanged(found[0], CARDSHARK)


# --- the turns of a shoe (finding 6)


NINE = [f"b{number}=lim{12 + number}" for number in range(9)]


def test_the_turns_of_a_shoe_are_one_job(tmp_path, monkeypatch):
    """Which one worker plays: a bot at one table could tell its process at another what it has seen."""
    jobs = []

    def results(self):
        jobs.extend(self.jobs)
        yield from ()

    monkeypatch.setattr(hosts.Pieces, "results", results)
    host = begin(tmp_path, NINE, duplicate=True, matches=2)
    assert not [*hosts.play_matches(hosts.Field(host.contest, {}, 2, "auto"), host.roster, host.close)]
    assert len(jobs) == 2 * 3  # two shoes for each of three tables
    for turns in jobs:
        assert len(turns) == 3 and len({(plan.table, plan.shoe) for plan in turns}) == 1
        assert [plan.match for plan in turns] == [3 * turns[0].shoe + turn for turn in range(3)]


@pytest.mark.slow
def test_the_turns_of_a_shoe_are_played_one_after_the_other(tmp_path, monkeypatch):
    """In a duplicate contest, by any number of workers; and the journal is the same."""
    times = tmp_path / "times"
    play = hosts.play_table

    def timed(contest, plan, *others):
        began = time.monotonic_ns()
        time.sleep(0.01)
        table = play(contest, plan, *others)
        with times.open("a") as file:
            file.write(f"{plan.table} {plan.shoe} {began} {time.monotonic_ns()} {os.getpid()}\n")
        return table

    monkeypatch.setattr(hosts, "play_table", timed)
    journals = []
    for count in (1, 2, 3):
        times.write_text("")
        begin(tmp_path / str(count), NINE, count, seed=5, matches=12, sessions=2, hands=3, duplicate=True).run()
        played = [tuple(map(int, line.split())) for line in times.read_text().splitlines()]
        assert len({each[4] for each in played}) == count  # all workers had something to play
        shoes = {}
        for table, shoe, start, end, _ in played:
            shoes.setdefault((table, shoe), []).append((start, end))
        assert any(len(spans) > 1 for spans in shoes.values())
        for spans in map(sorted, shoes.values()):
            assert all(before[1] <= after[0] for before, after in pairwise(spans))
        journals.append(whole(tmp_path / str(count)))
    assert journals[0] == journals[1] == journals[2]


# --- a bot that changes while it plays (finding 10)


def test_a_contest_stops_when_a_bot_has_changed_or_gone(field, tmp_path):
    """The header of the journal has its hash."""
    bots = [field / "one.txt", field / "two.txt"]
    changed, gone = (begin(tmp_path / name, bots, matches=2) for name in ("changed", "gone"))
    (field / "two.txt").write_text(CHART.replace(" S", " H", 1))
    with pytest.raises(InputError, match=r"two .* has changed"):
        changed.run()
    (field / "two.txt").unlink()
    with pytest.raises(InputError, match=r"two .* cannot play any more: .*No such file"):
        gone.run()


# --- names (finding 12)


def test_a_manifest_does_not_take_the_name_of_a_strategy(spy, caplog):
    (spy / "bot.toml").write_text("name = 'lim17'")
    assert names(gather([str(spy.parent), "lim17"], CARDSHARK)) == ["one", "two", "lim17"]
    assert "the name lim17 in its bot.toml is that of a strategy; choose another" in caplog.text
    assert names(gather([f"mine={spy}", "lim17"], CARDSHARK)) == ["mine", "lim17"]


def test_long_names_are_cut(field):
    for letter in "ab":
        (field / f"{'x' * 200}{letter}.txt").write_text(CHART)
    assert names(gather([str(field)], CARDSHARK)) == ["one", "two", "x" * 40, f"{'x' * 40}-2"]
    assert Path(gather([str(field)], CARDSHARK)[3].source).name == f"{'x' * 200}b.txt"


# --- Archives and folders of students become bots, whatever is in them.


BOT = "print('S')"


def pack(path: Path, files: dict[str, str], **modes: int) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in files.items():
            info = zipfile.ZipInfo(name)
            info.external_attr = modes.get(name.rpartition("/")[2].partition(".")[0], stat.S_IFREG | 0o644) << 16
            archive.writestr(info, text)
    return path


def test_an_archive_with_a_folder_for_each_student(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    moodle = "_1234_assignsubmission_file"
    archive = pack(tmp_path / "hw1.zip", {
        f"Ada Lovelace{moodle}/bot.py": BOT, f"Ada Lovelace{moodle}/readme.txt": "see bot.py",
        f"Bob{moodle}/deep/bot.toml": "", f"Bob{moodle}/deep/bot.py": BOT, f"Bob{moodle}/deep/tables.py": "x = 1",
        f"Carol{moodle}/a.py": BOT, f"Carol{moodle}/b.c": BOT, f"Dan{moodle}/essay.pdf": "no bot",
        f"__MACOSX/Ada Lovelace{moodle}/._bot.py": "x", "erin.py": BOT, ".DS_Store": "x",
    })  # fmt: skip
    found = {bot.name: bot for bot in gather([str(archive)], CARDSHARK)}
    assert found.keys() == {"Ada Lovelace", "Bob", "erin"} and {bot.language for bot in found.values()} == {"python"}
    assert found["Ada Lovelace"].source == str(tmp_path / "hw1" / f"Ada Lovelace{moodle}" / "bot.py")
    assert (
        "should have one bot, and has a.py, b.c" in caplog.text and "should have one bot, and has none" in caplog.text
    )
    assert [bot.name for bot in gather([str(tmp_path / "hw1")], CARDSHARK)] == ["Ada Lovelace", "Bob", "erin"]
    with pytest.raises(InputError, match="File exists; give or remove that folder"):
        gather([str(archive)], CARDSHARK)
    with pytest.raises(InputError, match="takes no name"):
        gather([f"mine={archive.rename(tmp_path / 'hw2.zip')}"], CARDSHARK)
    assert not (tmp_path / "hw2").exists()  # the corrected command unpacks it


def placed(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


@pytest.mark.parametrize(("course", "moodle"), [(False, "_assignsubmission_file"), (True, "")])
def test_a_bot_is_named_after_its_student_and_nobody_is_lost(tmp_path: Path, course: bool, moodle: str) -> None:
    """Whatever name a bot gives itself; and two students may have the same name, which the platform numbers."""
    ann, zed, amy1, amy2 = (f"{name}{moodle}" for name in ("Ann_1", "Zed_2", "Amy_3", "Amy_4"))
    folder = placed(tmp_path / "hw", {
        f"{ann}/bot.toml": "name = 'Zed'", f"{ann}/bot.py": BOT, f"{zed}/b.py": BOT, f"{amy1}/a.txt": "",
        f"{amy2}/bot.toml": "foo = 1",
    })  # fmt: skip
    if moodle:  # the other half of a submission
        placed(folder, {"Zed_2_assignsubmission_onlinetext/text.html": "see the file"})
    left: dict[str, str] = {}
    found = gather([str(folder)], CARDSHARK, left_out=left, course=course)
    assert names(found) == (["Ann_1", "Zed_2"] if course else ["Ann", "Zed"])
    assert left == {
        "Amy_3": f"the folder {amy1} should have one bot, and has none",
        "Amy_4": left["Amy_4"],
    } and left["Amy_4"].startswith(f"{amy2}/bot.toml has an unknown key 'foo'")
    assert names(gather([str(folder / ann)], CARDSHARK, 1, course=True)) == ["Ann" if moodle else "Ann_1"]


def test_a_newer_archive_of_a_student_is_played(tmp_path: Path) -> None:
    """And not what its earlier version has left."""
    (tmp_path / "hw" / "Ann").mkdir(parents=True)
    for text in ("print('S')", "print('H')"):
        pack(tmp_path / "hw" / "Ann" / "bot.zip", {"bot.toml": "", "bot.py": text})
        (bot,) = gather([str(tmp_path / "hw")], CARDSHARK, 1)
        assert bot.name == "Ann" and read_bot(Path(bot.source)).files == {"bot.py": text.encode()}


def test_a_student_cannot_fill_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An archive is as large as a bot, only one is unpacked, and one without a bot leaves nothing behind."""
    monkeypatch.setattr(entrants, "MAX_FOLDER", 9000)
    monkeypatch.setattr(entrants, "MOST_OF_A_STUDENT", 2)
    for student, files in {
        "large": {"pad.bin": "9" * 9001}, "deep": {"a/" * 40 + "pad.bin": ""}, "none": {"pad.bin": ""},
        "three": {"pad.bin": "", "b.bin": "", "c.bin": ""}, "many": {"bot.py": "", "pad.bin": ""},
    }.items():  # fmt: skip
        (tmp_path / "hw" / student).mkdir(parents=True)
        for number in range(2 if student == "many" else 1):
            pack(tmp_path / "hw" / student / f"{number}.zip", files)
    left: dict[str, str] = {}
    assert bots_in_folder(tmp_path / "hw", CARDSHARK, left) == []
    assert all("it has more than 2 files or" in left[student] for student in ("large", "deep", "three"))
    assert left["many"].endswith("has 0.zip, 1.zip")
    assert left["none"].endswith("has none") and not list(tmp_path.rglob("pad.bin"))


@pytest.mark.parametrize(
    "name",
    [
        "../evil.py",
        "a/../../evil.py",
        "/tmp/evil.py",
        "a\\..\\evil.py",
        "C:/evil.py",
        "a/./b.py",
        "a//b.py",
        "../evil/",
    ],
)
def test_no_name_leads_out_of_the_folder(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match="leads out of its folder"):
        entrants.unpack(pack(tmp_path / "x.zip", {"good.py": BOT, name: BOT}))
    assert [path.name for path in tmp_path.rglob("*")] == ["x.zip"]


def test_folders_in_each_other_without_end(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"x.zip cannot be unpacked: the name a/a/[a/]+... in it has more than 1000"):
        entrants.unpack(pack(tmp_path / "x.zip", {"a/" * 1500 + "bot.py": BOT}))
    assert [path.name for path in tmp_path.rglob("*")] == ["x.zip"]


def test_links_are_left_out_and_execution_is_kept(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    files = {"a/link.py": "/etc/passwd", "a/pipe.py": "", "a/tool": "#!/bin/sh", "a/plain.py": BOT}
    modes = {"link": stat.S_IFLNK | 0o777, "pipe": stat.S_IFIFO | 0o644, "tool": stat.S_IFREG | 0o755}
    folder = entrants.unpack(pack(tmp_path / "x.zip", files, **modes))
    assert {path.name: path.stat().st_mode & 0o777 for path in (folder / "a").iterdir()} == {
        "tool": 0o755,
        "plain.py": 0o644,
    }
    assert caplog.text.count("is no regular file") == 2


def test_archives_are_bounded_also_if_their_sizes_are_false(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    archive = pack(tmp_path / "x.zip", {"a.py": "x" * 5000, "b.py": "x" * 5000})
    monkeypatch.setattr(entrants, "MOST_BYTES", 9000)
    with pytest.raises(InputError, match="has more than"):
        entrants.unpack(archive)
    content = archive.read_bytes()
    archive.write_bytes(content.replace((5000).to_bytes(4, "little"), (40).to_bytes(4, "little")))
    with pytest.raises(InputError, match="cannot be unpacked"):
        entrants.unpack(archive)
    monkeypatch.setattr(entrants, "MOST_FILES", 1)
    with pytest.raises(InputError, match="more than 1 files"):
        entrants.unpack(archive)
    (tmp_path / "y.zip").write_bytes(content[:-30])
    with pytest.raises(InputError, match=r"y.zip cannot be unpacked: File is not a zip file"):
        entrants.unpack(tmp_path / "y.zip")
    assert {path.name for path in tmp_path.rglob("*")} == {"x.zip", "y.zip"}


def test_an_archive_of_many_names_is_refused_before_they_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A few compressed megabytes of an archive of archives were gigabytes of names in memory."""
    entry = struct.pack("<4s4B4HL2L5H2L", b"PK\1\2", 20, 0, 20, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0) + b"a"
    many = 30_000
    end = struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, many, many, len(entry) * many, 0, 0)
    (tmp_path / "x.zip").write_bytes(entry * many + end)
    (tmp_path / "y.zip").write_bytes(bytes(5000))
    monkeypatch.setattr(entrants, "MAX_FOLDER", 2000)
    monkeypatch.setattr(zipfile, "ZipFile", None)
    for name in "xy":
        with pytest.raises(InputError, match="more than 1,000 files or 0 MiB"):
            entrants.unpack(tmp_path / f"{name}.zip", student=True)
    monkeypatch.setattr(entrants, "MAX_FOLDER", 1 << 26)
    with pytest.raises(InputError, match="more than 1,000 files or 64 MiB"):
        entrants.unpack(tmp_path / "x.zip", student=True)


def test_every_student_is_in_the_marks(tmp_path: Path) -> None:
    """A row for each folder: with a mark, or with the reason why there is none; an archive in it is unpacked."""
    inner = io.BytesIO()
    with zipfile.ZipFile(inner, "w") as archive:
        archive.writestr("homework/bot.py", "print('H')")
    files = {"s1/erin.py": BOT, "s2/xenia.py": "print 'H'", "s3/a.py": BOT, "s3/b.py": BOT, "s4/essay.pdf": "no bot"}
    files |= {"s0/bot.toml": "name = 's9'", "s0/bot.py": BOT}
    archive_of_all = pack(tmp_path / "course.zip", files)
    with zipfile.ZipFile(archive_of_all, "a") as archive:
        archive.writestr("s5/bot.zip", inner.getvalue())
        archive.writestr("s6/broken.zip", b"PK")
        archive.writestr("s7/evil.py", b"\xff\xfe")
        archive.mkdir("s8")
    out = tmp_path / "grade"
    bjsim(
        "koth", "play", archive_of_all, "--against", "lim17", "--marks", "-5:pass", "--matches", 1, "--out", out,
        "--sandbox", "auto",
    )  # fmt: skip
    assert "File exists" in refusal("koth", "add", out, archive_of_all)
    rows = {row["bot"]: row for row in csv.DictReader(io.StringIO((out / "marks.csv").read_text()))}
    assert rows.keys() == {f"s{number}" for number in range(9)}
    marked = {name for name, row in rows.items() if row["mark"]}
    assert {"s1", "s5"} <= marked and not any(rows[name]["reason"] for name in marked)
    assert all(row["reason"] for name, row in rows.items() if name not in marked)
    assert "SyntaxError" in rows["s2"]["reason"] and "a.py, b.py" in rows["s3"]["reason"]
    assert (
        "has none" in rows["s4"]["reason"]
        and "has none" in rows["s8"]["reason"]
        and "cannot be unpacked" in rows["s6"]["reason"]
    )


# --- Contest settings from a file: the number of matches, and where the named files are looked up.


@pytest.mark.parametrize(
    ("text", "given", "matches"),
    [
        ("", {}, 0),
        ("", {"until": "decided"}, MANY),
        ("until = 'decided'", {}, MANY),
        ("until = 'decided'", {"matches": 7}, 7),
        ("until = 'decided'\nmatches = 7", {}, 7),
        ("until = 'decided'\nmatches = 25", {}, 25),
        ("matches = 7", {"until": "decided"}, 7),
        ("matches = 7", {"until": "decided", "matches": 9}, 9),
        ("until = 'decided'", {"until": "60"}, 0),
    ],
)
def test_until_it_is_decided_unless_matches_are_given(tmp_path, text, given, matches):
    path = tmp_path / "contest.toml"
    path.write_text(text)
    contest, bots = load_config(str(path), given)
    assert (contest.matches, bots) == (matches, [])
    if not text:
        assert with_settings(Contest(CARDSHARK), given) == contest


def test_errors_name_the_file_only_if_it_holds_the_wrong_value(tmp_path):
    path = tmp_path / "contest.toml"
    path.write_text("hands = 0")
    with pytest.raises(InputError, match=r"contest\.toml: hands: 0"):
        load_config(str(path), {"hands": 3})
    path.write_text("hands = 3")
    with pytest.raises(InputError, match=r"^hands: 0"):
        load_config(str(path), {"hands": 0})


@pytest.fixture
def two_folders(tmp_path, monkeypatch):
    """A contest's folder, a=b, with bots and rules; the current folder is another one with some of the same names."""
    for name in ("a=b", "here"):
        (tmp_path / name / "bots").mkdir(parents=True)
        (tmp_path / name / "c=d").mkdir()
        for bot in ("both.py", "bots/one.py", "bots/two.py", "c=d/x.py"):
            (tmp_path / name / bot).write_text(f"print('S')  # {name}")
    (tmp_path / "here" / "only.py").write_text("print('S')")
    (tmp_path / "a=b" / "own.py").write_text("def decide(view): return 'S'")
    (tmp_path / "a=b" / "poor.toml").write_text("preset = 'cardshark'\nchips = 50")
    monkeypatch.chdir(tmp_path / "here")
    return tmp_path / "a=b"


def test_bots_are_looked_up_in_the_folder_of_the_file(two_folders):
    here = str(two_folders.parent / "here")
    listed = ["bots", "both.py", "x=both.py", "only.py", "lim17", "y=optimal", "own.py:decide", here + "/only.py"]
    listed.append("c=d/x.py")
    (two_folders / "contest.toml").write_text(f"bots = {listed}\nrules = 'poor.toml'\nhouse = 'both.py'")
    contest, bots = load_config("../a=b/contest.toml")
    assert contest.rules.chips == 50 and contest.house == "../a=b/both.py"
    found = [(entrant.name, entrant.source) for entrant in gather(bots, CARDSHARK)]
    assert found == [
        ("one", str(two_folders / "bots" / "one.py")), ("two", str(two_folders / "bots" / "two.py")),
        ("both", str(two_folders / "both.py")), ("x", str(two_folders / "both.py")), ("only", here + "/only.py"),
        ("lim17", "lim17"), ("y", "optimal"), ("own.py:decide", f"{two_folders / 'own.py'}:decide"),
        ("only-2", here + "/only.py"), ("x-2", str(two_folders / "c=d" / "x.py")),
    ]  # fmt: skip


def test_a_file_next_to_the_config_takes_precedence_over_a_strategy(two_folders):
    (two_folders / "optimal").mkdir()
    (two_folders / "optimal" / "mine.py").write_text("print('S')")
    (two_folders / "contest.toml").write_text("bots = ['optimal', 'lim17', '']\nrules = 'cardshark'")
    (two_folders / "cardshark").mkdir()
    contest, bots = load_config(str(two_folders / "contest.toml"))
    assert contest.rules.name == "cardshark"
    assert bots == [f"={two_folders / 'optimal'}", "lim17", ""]


def test_a_contest_from_a_file(tmp_path):
    path = tmp_path / "contest.toml"
    rules = '[rules]\npreset = "cardshark"\nchips = 500\n'
    settings = 'matches = 3\nuntil = 60\ntitle = "Autumn 2026 – the hill"\nprotocols = ["line", "argv"]'
    path.write_text(f'bots = ["lim17", "optimal"]\n{settings}\n{rules}')
    contest, bots = load_config(str(path))
    assert bots == ["lim17", "optimal"] and contest.matches == 3 and contest.rules.chips == 500
    assert contest.seconds == 60 and contest.protocols == ("argv", "line") and contest.title.endswith("– the hill")
    assert Contest.from_dict(json.loads(json.dumps(contest.to_dict()))) == contest
    default = Contest(CARDSHARK)
    assert (default.protocols, default.lives, default.scored_by) == (("argv", "line"), "match", "luck-adjusted")


BOTH = "use argv, line or both, as a list"


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ("match = 3", "did you mean matches"),
        ("matches = -1", "matches: -1 is not accepted"),
        ("until = 'never'", "decided, or a number"),
        ("bots = 3", "a list of names"),
        ("x", "TOML"),
        ("title = 3", "title: an int is not accepted; use a text"),
        ('title = "two\\nlines"', "at most 200 characters"),
        (f"title = '{'x' * 201}'", "at most 200 characters"),
        ("protocols = []", BOTH),
        ("protocols = 'line'", BOTH),
        ("protocols = ['pipe']", BOTH),
        ("protocols = 1", BOTH),
        ("protocols = [1]", BOTH),
        ("lives = 'long'", "use match, contest"),
        ("lives = 'contest'\nduplicate = true", "would meet a shoe again"),
        ("score = 'median'", "use luck-adjusted, chips, log"),
        ("score = 'log'\nrules = 'vegas-s17'", "needs rules with raises"),
        ("score = 'luck-adjusted'\nrules = {split_by = 'value', max_hands = 16, chips = 400}", "at most 8 hands"),
    ],
)
def test_a_wrong_setting_is_refused_by_the_name_of_its_file(tmp_path, wrong, message):
    path = tmp_path / "contest.toml"
    path.write_text(wrong)
    with pytest.raises(InputError, match=rf"(?s)contest\.toml.*{message}"):
        load_config(str(path))
