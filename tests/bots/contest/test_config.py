"""Contest settings from a file: the number of matches, and where the named files are looked up."""

import pytest

from bjsim.bots.contest.config import MANY, ConfigError, Contest, load_config, with_settings
from bjsim.bots.contest.entrants import gather
from bjsim.sim.game.presets import load_rules

CARDSHARK = load_rules("cardshark")


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
    with pytest.raises(ConfigError, match=r"contest\.toml: hands = 0"):
        load_config(str(path), {"hands": 3})
    path.write_text("hands = 3")
    with pytest.raises(ConfigError, match=r"^hands = 0"):
        load_config(str(path), {"hands": 0})


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A contest's folder, a=b, with bots and rules; the current folder is another one with some of the same names."""
    for name in ("a=b", "here"):
        (tmp_path / name / "bots").mkdir(parents=True)
        for bot in ("both.py", "bots/one.py", "bots/two.py"):
            (tmp_path / name / bot).write_text(f"print('S')  # {name}")
    (tmp_path / "here" / "only.py").write_text("print('S')")
    (tmp_path / "a=b" / "own.py").write_text("def decide(view): return 'S'")
    (tmp_path / "a=b" / "poor.toml").write_text("preset = 'cardshark'\nchips = 50")
    monkeypatch.chdir(tmp_path / "here")
    return tmp_path / "a=b"


def test_bots_are_looked_up_in_the_folder_of_the_file(folder):
    here = str(folder.parent / "here")
    listed = ["bots", "both.py", "x=both.py", "only.py", "lim17", "y=optimal", "own.py:decide", here + "/only.py"]
    (folder / "contest.toml").write_text(f"bots = {listed}\nrules = 'poor.toml'\nhouse = 'both.py'")
    contest, bots = load_config("../a=b/contest.toml")
    assert contest.rules.chips == 50 and contest.house == "../a=b/both.py"
    found = [(entrant.name, entrant.source) for entrant in gather(bots, CARDSHARK)]
    assert found == [
        ("one", str(folder / "bots" / "one.py")), ("two", str(folder / "bots" / "two.py")),
        ("both", str(folder / "both.py")), ("x", str(folder / "both.py")), ("only", here + "/only.py"),
        ("lim17", "lim17"), ("y", "optimal"), ("../a_b/own.py:decide", f"{folder / 'own.py'}:decide"),
        ("only-2", here + "/only.py"),
    ]  # fmt: skip


def test_a_file_next_to_the_config_takes_precedence_over_a_strategy(folder):
    (folder / "optimal").mkdir()
    (folder / "optimal" / "mine.py").write_text("print('S')")
    (folder / "contest.toml").write_text("bots = ['optimal', 'lim17', '']\nrules = 'cardshark'")
    (folder / "cardshark").mkdir()
    contest, bots = load_config(str(folder / "contest.toml"))
    assert contest.rules.name == "cardshark"
    assert bots == [f"={folder / 'optimal'}", "lim17", ""]


@pytest.mark.parametrize("title", [3, "two\nlines", "x" * 201])
def test_a_title_is_one_short_line(title):
    assert Contest(CARDSHARK, title="Autumn 2026 – the hill").title.endswith("hill")
    with pytest.raises(ConfigError, match="at most 200 characters"):
        Contest(CARDSHARK, title=title)
