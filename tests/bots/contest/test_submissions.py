"""Archives and folders of students become bots, whatever is in them."""

from __future__ import annotations

import csv
import io
import stat
import zipfile
from pathlib import Path

import pytest
from support.command import bjsim, refusal

from bjsim.bots.contest import entrants
from bjsim.bots.contest.entrants import gather
from bjsim.errors import InputError
from bjsim.sim.game.presets import load_rules

CARDSHARK = load_rules("cardshark")
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


def test_a_course_from_an_archive(tmp_path: Path) -> None:
    archive = pack(tmp_path / "hw.zip", {"ada/bot.py": BOT, "bob/bot.py": "print('H')"})
    words = ["--against", "hoyle", "--matches", 1, "--sandbox", "auto", "--out", tmp_path / "c"]
    assert bjsim("koth", "play", archive, *words).status == 0
    assert "ada" in (tmp_path / "c" / "standings.csv").read_text()
    assert "File exists" in refusal("koth", "add", tmp_path / "c", archive)


def test_every_student_is_in_the_marks(tmp_path: Path) -> None:
    """A row for each folder: with a mark, or with the reason why there is none; an archive in it is unpacked."""
    inner = io.BytesIO()
    with zipfile.ZipFile(inner, "w") as archive:
        archive.writestr("homework/bot.py", "print('H')")
    files = {"s1/erin.py": BOT, "s2/xenia.py": "print 'H'", "s3/a.py": BOT, "s3/b.py": BOT, "s4/essay.pdf": "no bot"}
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
    rows = {row["bot"]: row for row in csv.DictReader(io.StringIO((out / "marks.csv").read_text()))}
    assert rows.keys() == {f"s{number}" for number in range(1, 9)}
    marked = {name for name, row in rows.items() if row["mark"]}
    assert {"s1", "s5"} <= marked and not any(rows[name]["reason"] for name in marked)
    assert all(row["reason"] for name, row in rows.items() if name not in marked)
    assert "SyntaxError" in rows["s2"]["reason"] and "a.py, b.py" in rows["s3"]["reason"]
    assert (
        "has none" in rows["s4"]["reason"]
        and "has none" in rows["s8"]["reason"]
        and "cannot be unpacked" in rows["s6"]["reason"]
    )
