"""What strangers may put into a folder of bots while a contest reads it, plays it, or watches it."""

import os
import time
from itertools import pairwise
from pathlib import Path

import pytest
from bot_helpers import needs, needs_sandbox

from bjsim.bots import player
from bjsim.bots.contest import entrants, journal
from bjsim.bots.contest import host as hosts
from bjsim.bots.contest.config import Contest
from bjsim.bots.contest.entrants import EntrantError, check_unchanged, gather, opened
from bjsim.bots.contest.host import Host
from bjsim.bots.sandbox import folders
from bjsim.bots.sandbox.folders import read_bot
from bjsim.bots.sandbox.languages import BuildError
from bjsim.sim.game.presets import load_rules
from bjsim.strategies.formats.files import format_text
from bjsim.strategies.players.catalogue import CATALOGUE

CARDSHARK = load_rules("cardshark")
CHART = format_text(CATALOGUE["hoyle"].chart(CARDSHARK))


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
    read = entrants._bot_in_folder

    def vanishes(file, *others):
        if file.name == "evil.py:x":
            file.unlink()
        return read(file, *others)

    monkeypatch.setattr(entrants, "_bot_in_folder", vanishes)
    assert names(gather([str(field)], CARDSHARK)) == ["evil", "one", "two"]
    assert not (tmp_path / "PWNED").exists() and "left out" in caplog.text
    gone = entrants.Entrant("gone", str(field / "evil.py:x"), "executable", "0" * 64)
    with pytest.raises(EntrantError, match="rename it"):
        check_unchanged([gone], CARDSHARK)
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
    with pytest.raises(EntrantError, match="has changed"):
        check_unchanged(found, CARDSHARK)


# --- the turns of a shoe (finding 6)


def begin(folder, bots, count=1, **settings):
    settings = {"seed": 5, "matches": 12, "sessions": 2, "hands": 3, **settings}
    return Host.begin(folder, Contest(CARDSHARK, **settings), gather(bots, CARDSHARK), count)


@pytest.mark.parametrize("bots", [3, pytest.param(9, marks=pytest.mark.slow)])
def test_the_turns_of_a_shoe_are_played_one_after_the_other(tmp_path, monkeypatch, bots):
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
    field = [f"b{number}=lim{12 + number}" for number in range(bots)]
    journals = []
    for count in (1, 2, 3):
        times.write_text("")
        begin(tmp_path / str(count), field, count, duplicate=True).run()
        played = [tuple(map(int, line.split())) for line in times.read_text().splitlines()]
        assert len({each[4] for each in played}) == count  # all workers had something to play
        shoes = {}
        for table, shoe, start, end, _ in played:
            shoes.setdefault((table, shoe), []).append((start, end))
        assert any(len(spans) > 1 for spans in shoes.values())
        for spans in map(sorted, shoes.values()):
            assert all(before[1] <= after[0] for before, after in pairwise(spans))
        journals.append((tmp_path / str(count) / journal.NAME).read_bytes())
    assert journals[0] == journals[1] == journals[2]


@pytest.mark.slow
def test_a_course_in_duplicate_with_many_bots(tmp_path):
    """Every bot's table of a match is dealt the same shoe."""
    field = [f"b{number}=lim17" for number in range(200)]
    host = begin(tmp_path, field, 2, duplicate=True, against=("hoyle",), matches=4, sessions=1, hands=1)
    assert host.run().matches == 8  # every match is played once per seat: the bot's and the house player's


# --- a bot that changes while it plays (finding 10)


def test_a_contest_stops_when_a_bot_has_gone(field, tmp_path):
    host = begin(tmp_path / "two", [str(field / "one.txt"), str(field / "two.txt")], matches=2)
    (field / "two.txt").unlink()
    with pytest.raises(EntrantError, match=r"two .* cannot play any more: .*No such file"):
        host.run()


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
