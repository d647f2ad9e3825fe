"""Entrants: the files in a folder of bots, and bots that cannot be started."""

import json

import pytest
from bot_helpers import SAMPLES, needs

from bjsim.bots.contest.config import Contest
from bjsim.bots.contest.entrants import EntrantError, gather
from bjsim.bots.contest.host import Host
from bjsim.bots.contest.replay import verify
from bjsim.bots.sandbox import languages
from bjsim.sim.game.presets import load_rules

CARDSHARK = load_rules("cardshark")


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
    assert [entrant.name for entrant in gather([str(folder)], CARDSHARK)] == ["broken", "good"]
    assert "left out" in caplog.text and "README.md" in caplog.text
    with pytest.raises(EntrantError, match=r"README\.md"):  # explicitly named
        gather([str(folder / "README.md"), "lim17"], CARDSHARK)


def test_a_bot_that_cannot_be_loaded_does_not_stop_the_contest(folder, tmp_path, caplog):
    """It stands, its fault has the reason, and the others play as against one that only stands."""
    contest = Contest(CARDSHARK, matches=2, timeout=10.0)
    played = {}
    for name in ("broken", "stands"):
        host = Host.begin(tmp_path / name, contest, gather([str(folder), "hoyle"], CARDSHARK), 1, "auto")
        host.run()
        assert (host.logs.ms_per_move(0) is None) == (name == "broken")  # it made no move
        played[name] = [json.loads(line) for line in (tmp_path / name / "journal.jsonl").read_text().splitlines()]
        (folder / "broken.py").write_text("print('S')\n")
    assert "broken cannot be started and will stand on every hand: broken cannot be loaded: SyntaxError" in caplog.text
    faults = [fault for record in played["broken"] for fault in record.get("faults", ())]
    assert {(fault["bot"], fault["kind"]) for fault in faults} == {(0, "start-failure")} and len(faults) == 20
    assert all("SyntaxError" in fault["stderr"] and "print 'H'" in fault["stderr"] for fault in faults)
    assert all("\n" not in fault["detail"] for fault in faults)
    keys = ("seats", "chips", "cards", "net", "moves", "luck")
    both = [[[record.get(key) for key in keys] for record in records[1:]] for records in played.values()]
    assert both[0] == both[1]
    assert verify(tmp_path / "broken")[0] == 50


@needs(".c")
def test_a_bot_that_does_not_compile_does_not_stop_it_either(tmp_path):
    (tmp_path / "bad.c").write_text("int main( {")
    entrants = gather([str(tmp_path / "bad.c"), "lim17"], CARDSHARK)
    host = Host.begin(tmp_path / "out", Contest(CARDSHARK, matches=1), entrants, 1, "auto")
    assert host.run().scores[0].faults == {"start-failure": 10}


def test_a_missing_language_is_an_error_not_a_fault(tmp_path, monkeypatch):
    (tmp_path / "bot.lisp").write_text("(princ 1)")
    entrants = gather([str(tmp_path / "bot.lisp"), "lim17"], CARDSHARK)
    languages.find_tool.cache_clear()
    monkeypatch.setattr("shutil.which", lambda name: None)
    with pytest.raises(EntrantError, match="apt install sbcl"):
        Host.begin(tmp_path / "out", Contest(CARDSHARK, matches=1), entrants, 1, "auto").run()
    languages.find_tool.cache_clear()


def test_junk_in_a_folder_of_bots_does_not_stop_the_contest(folder, caplog):
    (folder / "notes.txt").write_text("remember to invite Bob")
    (folder / "empty.txt").write_text("")
    assert [entrant.name for entrant in gather([str(folder)], CARDSHARK)] == ["broken", "good"]
    assert "notes.txt" in caplog.text and "empty.txt" in caplog.text
    with pytest.raises(EntrantError, match="takes no name"):
        gather([f"mine={folder}", "lim17"], CARDSHARK)
    (folder / "x=y.py").write_text((folder / "good.py").read_text())
    assert gather([str(folder / "x=y.py"), "lim17"], CARDSHARK)[0].name == "x_y"  # NAME=SOURCE stays unambiguous


def test_a_bot_that_changes_after_it_was_named_does_not_play(folder, tmp_path):
    """The header of the journal has its hash."""
    host = Host.begin(tmp_path / "out", Contest(CARDSHARK, matches=1), gather([str(folder)], CARDSHARK), 1, "auto")
    (folder / "good.py").write_text("print('H')")
    with pytest.raises(EntrantError, match=r"good .* has changed"):
        host.run()


@pytest.mark.parametrize("method", ["bet", "observe"])
def test_a_player_that_a_contest_would_not_call_in_full_is_refused(tmp_path, method):
    """In `bjsim run` both methods are called; here a bet of 5 units would silently be one of 1."""
    (tmp_path / "player.py").write_text(
        f"class Heavy:\n    name = 'heavy'\n    def decide(self, view):\n        return 'S'\n"
        f"    def {method}(self, seen):\n        return 5\n"
    )
    player = f"{tmp_path / 'player.py'}:Heavy"
    with pytest.raises(EntrantError, match=f"has a method {method}, which contests do not call"):
        gather([player, "lim17"], CARDSHARK)
    with pytest.raises(EntrantError, match=f"has a method {method}"):
        Host.begin(tmp_path / "contest", Contest(CARDSHARK, house=player), gather(["optimal", "lim17"], CARDSHARK))
