"""`bjsim compare` as its users call it, and the effects of single rules."""

import pytest
from support.command import bjsim, refusal

from bjsim.sim.game.presets import PRESETS
from bjsim.strategies.charts.chart import parse_row
from bjsim.strategies.comparison import change_texts
from bjsim.strategies.evaluation.compare import compare, solve

VEGAS = PRESETS["vegas-s17"].rules.replace(decks="inf")


def games(*args):
    return bjsim("compare", *args, "--json", "-").json["games"]


def test_presets_compared_with_the_first():
    vegas, h17, city, easy = games("--rules", "vegas-s17,vegas-h17,atlantic-city,easy", "--set", "decks=inf")
    assert vegas["value"] == pytest.approx(-0.00511734, abs=1e-8) and vegas["difference"] == 0
    assert h17["difference"] == pytest.approx(h17["value"] - vegas["value"])
    changed = [f"{change['row']} v {change['column']}" for change in h17["changes"]]
    assert changed == ["11 v A", "A4 v 4", "A7 v 2", "A8 v 6"]
    assert {change["after"] for change in city["changes"]} == {"Rh"}
    assert easy["changes"] is None  # its columns are the dealer's whole hands


def test_one_rule_at_three_values():
    results = games("--rules", "vegas-s17", "--set", "decks=inf", "--vary", "blackjack_pays=3/2,6/5,1")
    assert [one["name"] for one in results] == ["blackjack_pays=3/2", "blackjack_pays=6/5", "blackjack_pays=1"]
    # a natural is paid in 2/13 · 4/13 of the rounds, unless the dealer has one too
    paid = 8 / 169 * (1 - 8 / 169)
    assert results[1]["difference"] == pytest.approx(-0.3 * paid, rel=1e-9)
    assert results[2]["difference"] == pytest.approx(-0.5 * paid, rel=1e-9)
    assert results[1]["changes"] == []


def test_endless_resplitting_has_its_published_value():
    one, endless = compare([VEGAS, VEGAS.replace(max_hands="inf")])
    assert 100 * one.value == pytest.approx(-0.511734, abs=5e-7)
    assert 100 * endless.value == pytest.approx(-0.5093975, abs=5e-8)


def test_a_row_that_one_game_has_is_compared_with_its_total():
    """If the number of cards does not matter, fifteen in four cards is fifteen; without splits, 8-8 is sixteen."""
    one, two = games("--rules", "neller,neller-v1,neller-v2")[1:]
    changed = {(change["row"], change["column"]): (change["before"], change["after"]) for change in one["changes"]}
    assert changed["15/4", "2"] == ("S", "H") and changed["14:77", "4"] == ("S", "H") and ("15/3", "2") not in changed
    assert {"row": "88", "column": "6", "before": "S", "after": "P"} in two["changes"]
    assert {change["after"] for change in two["changes"]} == {"P"}


def test_what_a_third_card_leaves_of_a_code():
    """Doubling is for two cards, so eleven in three cards is hit in both games."""
    bonuses = VEGAS.replace(bonuses="win")
    (_, other) = compare([VEGAS, bonuses])
    rows = {change.row for change in other.changes}
    assert "11/3" not in rows and "AA/3" not in rows and "15/4" in rows


def test_a_changed_decision_on_insurance_is_listed():
    """It is taken where more than a third of the cards are tens."""
    offered = VEGAS.replace(insurance=True)
    never, always = compare([VEGAS, offered, offered.replace(ten_probability="2/5")])[1:]
    assert never.changes == ()
    assert always.changes[0] == ("insurance", "A", "S", "I")
    assert "insurance v A S → I" in change_texts(always)


def test_totals_that_only_one_game_has_and_an_infinite_value():
    hit_21 = VEGAS.replace(stand_on_21=False)
    assert compare([VEGAS, hit_21])[1].only == ("21", "A10")
    assert compare([PRESETS["neller"].rules, PRESETS["neller-v1"].rules])[1].only == ()
    endless = games("--rules", "blackjack-p", "--vary", "ten_probability=4/13,1/2")[1]
    assert endless["value"] == endless["difference"] == endless["sd"] == "inf"


@pytest.mark.parametrize(
    ("names", "said"), [("blackjack-p,easy", "; other columns"), ("neller,neller-v3", "; 36 cells changed")]
)
def test_a_folded_chart_says_how_much_of_it_is_other(names, said, tmp_path):
    page = tmp_path / "x.html"
    assert bjsim("compare", "--rules", names, "--html", page).status == 0
    text = page.read_text(encoding="utf-8")
    assert text.count(said) == 1 and text.count("; other columns") + text.count(" cells changed") == 1


def test_what_is_shown():
    text = bjsim("compare", "--rules", "vegas-s17", "--set", "decks=inf", "--vary", "hit_soft_17=false,true").out
    assert "hit_soft_17=true" in text and "-0.219362%" in text
    assert "11 v A H → Dh, A4 v 4 H → Dh, A7 v 2 S → Ds, A8 v 6 S → Ds" in text


def test_neighbouring_columns_are_drawn_together():
    outcome = bjsim("compare", "--rules", "vegas-s17,atlantic-city", "--set", "max_hands=2")
    assert "15 v T H → Rh, 16 v 9, A H → Rh, 16 v T H → Rs" in outcome.out and outcome.err == ""
    assert "exact, of a freshly shuffled shoe; add --until 0.01% for the effect of the cut cards" in outcome.out
    assert "shuffled" not in bjsim("compare", "--rules", "neller,neller-v3").out


def test_decks_are_compared_exactly():
    """Fewer decks are better for the player, and eight are close to infinitely many."""
    compared = games("--rules", "european", "--vary", "decks=1,6,8,inf", "--set", "cut=0")
    values = [one["value"] for one in compared]
    assert values == sorted(values, reverse=True) and values[-1] == pytest.approx(-0.00769810, abs=1e-8)
    for one, decks in zip(compared, (1, 6, 8, "inf"), strict=True):
        rules = PRESETS["european"].rules.replace(decks=decks)
        assert one["value"] == pytest.approx(solve(rules).value, abs=1e-12)
        assert one["difference"] == pytest.approx(one["value"] - values[0]) and one["shoe"] == decks
        assert one["cut_card_effect"] is None


@pytest.mark.slow
def test_cuts_are_compared_by_playing():
    """The exact value does not depend on the cut; deep cuts cost a flat bettor more than fresh shoes."""
    fresh, deep = games("--rules", "european", "--set", "decks=1", "--vary", "cut=0,3/4", "--workers", "1")
    assert fresh["value"] == deep["value"] and deep["difference"] == 0 and fresh["cut_card_effect"] is None
    luck = fresh["in_its_shoe"]
    assert abs(luck["mean"] - fresh["value"]) < 4 * luck["se"] < 0.0002
    assert -0.002 < deep["cut_card_effect"]["ci95"][0] < deep["cut_card_effect"]["ci95"][1] < -0.0003


def test_varied_twice_is_a_grid():
    game = ("--rules", "vegas-s17", "--set", "decks=inf")
    grid = games(*game, "--vary", "blackjack_pays=3/2,6/5", "--vary", "hit_soft_17=false,true")
    assert [one["name"] for one in grid] == [
        f"blackjack_pays={pays}, hit_soft_17={hits}" for pays in ("3/2", "6/5") for hits in ("false", "true")
    ]
    both, *_ = games(*game, "--set", "blackjack_pays=6/5", "--vary", "hit_soft_17=true,false")
    assert grid[3]["value"] == both["value"] != grid[1]["value"]
    assert "--vary peek is given twice" in refusal("compare", "--vary", "peek=true", "--vary", "peek=false")


def test_bad_input_gets_one_line_and_status_2():
    assert refusal("compare").startswith("nothing to compare")
    assert "use 1 to 8, or inf" in refusal("compare", "--vary", "decks=1,99")
    assert "--vary takes one game, not 2" in refusal("compare", "--rules", "easy,neller", "--vary", "decks=1,2")
    assert "did you mean easy?" in refusal("compare", "--rules", "easy,eay")


def test_games_in_their_own_shoes():
    """Until ± 0.05%: a fresh shoe for every round returns more than one dealt to three quarters (0.018%, too little to
    be seen here), and two decks more than six (0.19%, eight times the interval)."""
    words = ("--set", "max_hands=2", "--vary", "decks=2,6,inf", "--until", "0.05%", "--workers", "1")
    two, six, endless = games("--rules", "vegas-s17", *words)
    assert endless["in_its_shoe"] is None
    for game in (two, six):
        low, high = game["in_its_shoe"]["ci95"]
        assert low < game["in_its_shoe"]["mean"] < high and high - low < 0.001
    assert two["in_its_shoe"]["ci95"][0] > six["in_its_shoe"]["ci95"][1]
    assert endless["cut_card_effect"] is None and two["cut_card_effect"]["ci95"][1] < 0
    assert two["difference"] == 0 > six["difference"] > endless["difference"]


def test_a_precision_is_read_as_in_run():
    assert "such as 0.001%" in refusal("compare", "--vary", "decks=2,6", "--until", "none")


def test_a_precision_is_refused_where_nothing_is_played():
    refused = refusal("compare", "--rules", "easy,neller", "--until", "0.1%")
    assert refused == "--until is for finite shoes, and these are infinite; leave it out, or give --decks 1 to 8"


def test_vary_takes_the_words_of_the_trade():
    assert (
        games("--rules", "vegas-s17", "--decks", "inf", "--vary", "das=true,false")[1]["difference"]
        == (games("--rules", "vegas-s17", "--decks", "inf", "--vary", "double_after_split=true,false")[1]["difference"])
    )
    assert refusal("compare", "--rules", "vegas-s17", "--vary", "bj=3:2,foo").startswith("blackjack_pays = foo is not")
    twice = refusal("compare", "--vary", "das=true,false", "--vary", "double_after_split=true")
    assert twice.startswith("--vary double_after_split is given twice, first as das; give all its values at once")


@pytest.mark.parametrize(
    "command",
    [
        ("check", "lim17"),
        ("compare", "--vary", "bj=3:2,1"),
        ("run", "--bots", "lim17", "--hands", "1000", "--workers", "1"),
        pytest.param(("learn", "--episodes", "1000"), marks=pytest.mark.slow),
    ],
)
def test_every_command_that_computes_takes_the_probability_of_a_ten(command):
    game = ("--rules", "blackjack-p", "--json", "-")
    option = bjsim(*command, *game, "--ten-probability", "0.4").json
    setting = bjsim(*command, *game, "--set", "p=0.4").json
    plain = bjsim(*command, *game).json
    assert value_text(option) == value_text(setting) != value_text(plain)


def value_text(result):
    """A result without its times."""
    return {key: value for key, value in result.items() if "second" not in key and "time" not in key}


def test_cuts_of_a_game_without_luck_are_not_played():
    """A raw return as precise as that would take weeks."""
    done = bjsim("compare", "--rules", "blackjack-switch", "--vary", "cut=1/2,3/4")
    assert done.status == 0 and "luck-adjusted" not in done.out


def test_names_of_many_rules_are_their_values():
    rules = ("surrender_after_double", "natural_beats_natural", "double_after_split", "hit_split_aces")
    found = games(*(word for rule in rules for word in ("--vary", f"{rule}=true,false")), "--decks", "inf")
    assert len({game["name"] for game in found}) == 16 and found[1]["name"] == "true, true, true, false"


def test_changes_of_games_of_one_name(tmp_path):
    for folder, rule in (("a", "hit_soft_17=true"), ("b", 'surrender="late"')):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "g.toml").write_text(f'preset="vegas-s17"\n{rule}\n')
    names = f"vegas-s17,{tmp_path / 'a/g.toml'},{tmp_path / 'b/g.toml'}"
    lines = bjsim("compare", "--decks", "inf", "--rules", names).out.splitlines()
    assert len([line for line in lines if line.startswith("g: ") and "→" in line]) == 2


@pytest.mark.parametrize("other", ["free-bet", "vegas-h17"])
def test_a_change_is_one_of_what_the_chart_does(other):
    """A row that the first chart lacks, such as that of a free 11, is played by its total; two cards may double."""
    first, second = (solve(PRESETS[name].rules.replace(decks="inf")).chart for name in ("vegas-s17", other))
    changes = compare([first.rules, second.rules])[1].changes
    assert changes
    for change in changes:
        total = parse_row(change.row).total if "/" in change.row else change.row
        assert change.after != first.cells.get((total, change.column)), change
