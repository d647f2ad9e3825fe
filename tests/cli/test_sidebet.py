"""`bjsim sidebet`: what it prints and writes, and its one-line errors."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.command import bjsim, refusal


def test_the_list_and_the_json(tmp_path: Path) -> None:
    page, data = tmp_path / "bets.html", tmp_path / "bets.json"
    assert "lucky-lucky" in bjsim("sidebet", "--html", page, "--json", data).out
    assert "lucky-lucky" in page.read_text() and "straight flush" in json.loads(data.read_text())["21+3"]["events"]
    assert "needs the name of a bet" in refusal("sidebet", "--plot", tmp_path / "bets.png")
    found = bjsim("sidebet", "Perfect Pairs", "--decks", 6, "--json", "-").json
    assert [*found] == ["bet", "removal", "ev", "sd", "hit_frequency", "events"]
    assert found["bet"] == "perfect-pairs"
    assert found["events"][0] == {"event": "perfect", "pays": 25, "probability": 5 / 311}
    assert found["ev"] == pytest.approx(sum(e["probability"] * (e["pays"] + 1) for e in found["events"]) - 1)
    assert "-6.109325%" in bjsim("sidebet", "perfect-pairs").out


def test_a_pay_table_omits_events() -> None:
    """The hands of an omitted event fall to a later one."""
    found = bjsim("sidebet", "21+3", "--pays", "three of a kind=30,flush=5", "--decks", 6, "--json", "-").json
    assert [event["event"] for event in found["events"]] == ["trips", "flush"]
    assert found["events"][0]["probability"] == pytest.approx((1040 + 25272) / 5013320)


def test_shoes() -> None:
    whole = bjsim("sidebet", "21+3", "--decks", 2, "--json", "-").json
    cards = ",".join(f"{rank}=8" for rank in "A23456789TJQK")
    assert bjsim("sidebet", "21+3", "--shoe", cards, "--json", "-").json == whole
    tens = ",".join([*(f"{rank}=8" for rank in "A23456789"), "T=32"])
    assert bjsim("sidebet", "21+3", "--shoe", tens, "--json", "-").json == whole
    spanish = bjsim("sidebet", "match-the-dealer", "--rules", "spanish-21", "--json", "-").json
    assert spanish == bjsim("sidebet", "match-the-dealer", "--decks", 6, "--deck", "spanish", "--json", "-").json


def test_a_bet_from_a_file(tmp_path: Path) -> None:
    file = tmp_path / "sevens.toml"
    file.write_text(
        'looks_at = "player and upcard"\naces = "1"\n[[events]]\nname = "three sevens"\npays = 100\nranks = "777"\n',
        encoding="utf-8",
    )
    page = tmp_path / "page.html"
    found = bjsim("sidebet", file, "--decks", "inf", "--json", "-", "--html", page).json
    assert found["events"] == [{"event": "three sevens", "pays": 100, "probability": pytest.approx(1 / 13**3)}]
    assert "bjsim sidebet sevens.toml" in page.read_text() and str(tmp_path) not in page.read_text()


@pytest.mark.parametrize("name", ["suited trips", "suited-trips", "Suited_Trips", "suited - trips"])
def test_an_event_is_found_however_its_words_are_joined(name: str) -> None:
    found = bjsim("sidebet", "21+3", "--pays", f"{name}=100", "--json", "-").json
    assert [event["event"] for event in found["events"]] == ["suited trips"]


@pytest.mark.parametrize(
    ("args", "says"),
    [
        ("21+4", "did you mean 21+3? A file of one must end in .toml"),
        ("21+3 --decks 0", "--decks: 0 is not accepted; use a whole number from 1 to 1000, or inf"),
        ("21+3 --pays flash=5", "did you mean flush? events are suited trips, straight flush, trips, straight, flush"),
        ("21+3 --pays flush=5,flush=6", "--pays: flush is given twice"),
        ("21+3 --pays trips=5,three_of_a_kind=6", "is given twice"),
        ("21+3 --pays flush", "write EVENT=PAYS"),
        ("21+3 --pays flush=-1", "use a number from 0 to 1000000"),
        ("buster --pays 3=1,40=2", "can never happen: a bust has 3 to 12 cards"),
        (
            "match-the-dealer --decks 3",
            "no pay table for 3 decks, only for 2, 4, 5, 6, 8, spanish 6, spanish 8; give --pays",
        ),
        ("21+3 --shoe A=3", "Ah=3"),
        ("21+3 --shoe Z=3", "Z is not a card"),
        ("21+3 --shoe Ah=1,Ad=1", "needs at least 3 cards; there are 2"),
        ("21+3 --shoe A=4 --decks 2", "leave out --decks"),
        ("insurance --shoe K=4", "and an A"),
        ("buster --shoe A=2,2=7", "shoe: buster needs cards of at least 17 points"),
        ("--rules european", "sidebet needs the name of a bet"),
        ("--decks 5", "sidebet needs the name of a bet"),
        ("gone.toml", "cannot read the side bet gone.toml"),
    ],
)
def test_errors(args: str, says: str) -> None:
    assert says in refusal("sidebet", *args.split())


def test_a_shoe_of_just_enough_points_for_the_dealer_is_valued() -> None:
    """Seven twos and a three are 17, so the dealer never busts."""
    assert "value, of the bet         -100.000000%" in bjsim("sidebet", "buster", "--shoe", "2=7,3=1").out


X = 'looks_at = "player"\nevents = [{name="x", pays=1, total="20"'


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('looks_at = "moon"', "looks_at moon is not accepted; use player"),
        ('looks_at = "player"', "events are needed"),
        ('looks_at = "player"\nevents = [{name="x", pays=1, moon=1}]', "no condition is called moon; use suited"),
        ('looks_at = "player"\nevents = [{name="x", pays=1, total="30"}]', "'x' can never happen"),
        (
            'looks_at = "player"\nevents = [{name="x", pays=1, total="20"}, {name="y", pays=1, ranks="KQ"}]',
            "'y' can never happen: x, which it overlaps, come",
        ),
        (f"{X}, aliases=3}}]", "x: aliases 3 are not accepted; write a list of names"),
        (f"{X}}}]\ntables = 3", 'write [tables] and 8 = { "x" = 5 }'),
        (f"{X}}}]\n[tables]\n6 = 3", 'write [tables] and 8 = { "x" = 5 }'),
        ('looks_at = "player"\nevents = [' + 101 * '{name="x", pays=1, total="20"},' + "]", "use up to 100"),
    ],
)
def test_wrong_files(tmp_path: Path, text: str, says: str) -> None:
    (tmp_path / "mine.toml").write_text(text, encoding="utf-8")
    assert says in refusal("sidebet", tmp_path / "mine.toml")
