"""A contest's settings from a file: how long it goes on, and where the files that it names are."""

import pytest

from bjsim.bots.contest.config import MANY, ConfigError, Contest, load_config, with_settings
from bjsim.bots.contest.entrants import gather
from bjsim.sim.game.presets import load_rules

CARDSHARK = load_rules("cardshark")


@pytest.mark.parametrize(
    ("text", "given", "matches"),
    [
        ("", {}, 25),
        ("", {"until": "decided"}, MANY),
        ("until = 'decided'", {}, MANY),
        ("until = 'decided'", {"matches": 7}, 7),
        ("until = 'decided'\nmatches = 7", {}, 7),
        ("until = 'decided'\nmatches = 25", {}, 25),
        ("matches = 7", {"until": "decided"}, 7),
        ("matches = 7", {"until": "decided", "matches": 9}, 9),
        ("until = 'decided'", {"until": "60"}, 25),
    ],
)
def test_until_it_is_decided_unless_matches_are_given(tmp_path, text, given, matches):
    path = tmp_path / "contest.toml"
    path.write_text(text)
    contest, bots = load_config(str(path), given)
    assert (contest.matches, bots) == (matches, [])
    if not text:
        assert with_settings(Contest(CARDSHARK), given) == contest


def test_what_is_wrong_is_said_of_the_file_or_of_the_option_where_it_is(tmp_path):
    path = tmp_path / "contest.toml"
    path.write_text("hands = 0")
    with pytest.raises(ConfigError, match=r"contest\.toml: hands = 0"):
        load_config(str(path), {"hands": 3})
    path.write_text("hands = 3")
    with pytest.raises(ConfigError, match=r"^hands = 0"):
        load_config(str(path), {"hands": 0})


@pytest.fixture
def apart(tmp_path, monkeypatch):
    """A contest's folder, a=b, with bots and rules in it; another is the current one, with some called the same."""
    for folder in ("a=b", "here"):
        (tmp_path / folder / "bots").mkdir(parents=True)
        for name in ("both.py", "bots/one.py", "bots/two.py"):
            (tmp_path / folder / name).write_text(f"print('S')  # {folder}")
    (tmp_path / "here" / "only.py").write_text("print('S')")
    (tmp_path / "a=b" / "own.py").write_text("def decide(view): return 'S'")
    (tmp_path / "a=b" / "poor.toml").write_text("preset = 'cardshark'\nchips = 50")
    monkeypatch.chdir(tmp_path / "here")
    return tmp_path / "a=b"


def test_bots_are_looked_for_beside_the_file(apart):
    here = str(apart.parent / "here")
    listed = ["bots", "both.py", "x=both.py", "only.py", "lim17", "y=optimal", "own.py:decide", here + "/only.py"]
    (apart / "contest.toml").write_text(f"bots = {listed}\nrules = 'poor.toml'\nhouse = 'both.py'")
    contest, bots = load_config("../a=b/contest.toml")
    assert contest.rules.chips == 50 and contest.house == "../a=b/both.py"
    found = [(entrant.name, entrant.source) for entrant in gather(bots, CARDSHARK)]
    assert found == [
        ("one", str(apart / "bots" / "one.py")), ("two", str(apart / "bots" / "two.py")),
        ("both", str(apart / "both.py")), ("x", str(apart / "both.py")), ("only", here + "/only.py"),
        ("lim17", "lim17"), ("y", "optimal"), ("../a_b/own.py:decide", f"{apart / 'own.py'}:decide"),
        ("only-2", here + "/only.py"),
    ]  # fmt: skip


def test_a_name_is_a_strategys_unless_a_bot_beside_the_file_is_called_so(apart):
    (apart / "optimal").mkdir()
    (apart / "optimal" / "mine.py").write_text("print('S')")
    (apart / "contest.toml").write_text("bots = ['optimal', 'lim17', '']\nrules = 'cardshark'")
    (apart / "cardshark").mkdir()
    contest, bots = load_config(str(apart / "contest.toml"))
    assert contest.rules.name == "cardshark"
    assert bots == [f"={apart / 'optimal'}", "lim17", ""]
