"""`bjsim count`: the table by count, the figures of the bets, stored runs, comparisons, the page, and errors."""

import json
import math
import re
from xml.etree import ElementTree

import pytest
from support.command import bjsim, on_screen, refusal
from support.printed import printed

from bjsim.strategies.counting.indices import short_counts
from bjsim.strategies.counting.result import CountComparison, CountResult

# Tables of games with few splits are made in less time: in a second with two hands at most, and soon without splits.
COUNT = ("count", "--rules", "vegas-s17", "--workers", "1", "--decks")
GAME = (*COUNT, "2", "--set", "max_hands=2")
BARE = (*COUNT, "2", "--set", "split_by=never", "--indices", "16vT S>=0, insurance I>=3")
KEYS = {
    "by_count", "ev_per_round", "ev_per_round_ci95", "sd_per_round", "n0", "score", "di", "ror", "iba", "tba", "rounds",
    "seconds", "variance_reduction",
}  # fmt: skip


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    """A short run: its folder, with `run.count`, `run.json`, the page and the picture, and what was printed."""
    folder = tmp_path_factory.mktemp("count")
    result = bjsim(
        *GAME, "--rounds", "2e5", "--checkpoint", folder / "run.count", "--json", folder / "run.json",
        "--html", folder / "run.html", "--plot", folder / "run.svg",
    )  # fmt: skip
    assert result.status == 0, result.err
    return folder, result.out


@pytest.mark.slow
def test_the_json_has_what_is_promised(stored):
    data = json.loads((stored[0] / "run.json").read_text())
    assert set(data) >= KEYS
    rows = data["by_count"]
    assert set(rows[0]) >= {"count", "share", "ev", "ev_ci95", "sd"}
    assert sum(row["share"] for row in rows) == pytest.approx(1)
    ev = sum(row["share"] * row["ev"] * row["bet"] for row in rows)
    assert ev == pytest.approx(data["ev_per_round"], rel=1e-9)
    assert data["score"] == pytest.approx((1000 * ev / data["sd_per_round"]) ** 2)
    assert data["n0"] == pytest.approx(1e6 / data["score"])
    assert data["ror"] == pytest.approx(math.exp(-2 * ev * 1000 / data["sd_per_round"] ** 2))
    assert data["variance_reduction"] > 500
    assert data["trip_ror_ci95"][0] >= 0 and data["ror_ci95"][0] < data["ror"] < data["ror_ci95"][1]
    assert data["rounds"] >= 200_000


def test_what_is_printed_is_in_the_json(stored):
    folder, out = stored
    data = json.loads((folder / "run.json").read_text())
    assert re.search(rf"EV per round, units +{data['ev_per_round']:.6f} ±", out)
    for row in data["by_count"]:
        cells = [row["label"], f"{100 * row['share']:.3f}%", f"{100 * row['ev']:+.3f}%", "±"]
        assert re.search(" +".join(map(re.escape, cells)), out)


def test_a_stored_run_is_the_same(stored):
    folder, _ = stored
    data = json.loads((folder / "run.json").read_text())
    again = bjsim("count", "--load", folder / "run.count", "--json", "-").json
    assert {**again, "seconds": 0} == {**data, "seconds": 0}


def test_the_optimal_ramp_is_better(stored):
    folder, _ = stored
    bank = ("--bankroll", "700", "--json", "-")
    plain = bjsim("count", "--load", folder / "run.count", *bank).json
    best = bjsim("count", "--load", folder / "run.count", "--optimal", "1-12", *bank).json
    assert best["ce_per_hour"] > plain["ce_per_hour"]
    assert all(1 <= row["bet"] <= 12 for row in best["by_count"])
    of_score = bjsim("count", "--load", folder / "run.count", "--optimal", "1-12", "--json", "-").json
    assert of_score["score"] > max(best["score"], plain["score"])
    watching = bjsim("count", "--load", folder / "run.count", "--optimal", "0-12", "--json", "-").json
    assert watching["played"] < 0.6 and watching["by_count"][0]["bet"] == 0


def test_the_page_and_the_picture(stored):
    folder, _ = stored
    page = (folder / "run.html").read_text()
    assert len(page) < 200_000
    assert "<pre>bjsim count --rules vegas-s17 --set max_hands=2 --decks 2 --rounds 200000" in page
    assert ElementTree.parse(folder / "run.svg").getroot().tag.endswith("svg")


@pytest.mark.slow
def test_spots_and_players(tmp_path):
    """A stored run keeps its spots."""
    words = ("--rounds", "5e4", "--players", "3", "--ramp", "0:1 1:2x2 3:6x3", "--checkpoint", tmp_path / "spots.count")
    data = bjsim(*GAME, *words, "--json", "-").json
    assert data["rules"]["seats"] == 3 and 4 < data["rounds_per_shoe"] < 9
    rows = {row["label"]: row for row in data["by_count"]}
    assert [rows[label]["spots"] for label in ("0", "+1", "+2", "+3")] == [1, 2, 2, 3]
    assert rows["0"]["cov"] is None and 0.4 < rows["+1"]["cov"] < 0.6
    variance = sum(
        row["share"] * row["spots"] * row["bet"] ** 2 * (row["sd"] ** 2 + (row["spots"] - 1) * (row["cov"] or 0))
        + row["share"] * (row["spots"] * row["bet"] * row["ev"]) ** 2
        for row in data["by_count"]
    )
    assert data["sd_per_round"] == pytest.approx(math.sqrt(variance - data["ev_per_round"] ** 2))
    load = ("count", "--load", tmp_path / "spots.count", "--json", "-")
    flat = bjsim(*load, "--ramp", "1").json
    assert [row["spots"] for row in flat["by_count"]] == [row["spots"] for row in data["by_count"]]
    assert flat["ev_per_round"] == pytest.approx(sum(row["share"] * row["spots"] * row["ev"] for row in rows.values()))
    assert bjsim(*load, "--ramp", "0:0 1:2x2 3:9x3").json["ev_per_round"] > flat["ev_per_round"]
    best = bjsim(*load, "--optimal", "1-6").json
    assert best["score"] > data["score"]
    assert "other spots than these bets: 1 from a count of 0, 2 from a count of 1, 3" in refusal(*load, "--ramp", "1x2")


def test_the_highest_bet_is_made_wherever_its_count_is(tmp_path):
    """KO in eight decks: the counts of the ramp are far above the usual ones. Bets that are never made are noted."""
    words = ("8", "--set", "split_by=never", "--system", "ko", "--indices", "none", "--rounds", "2e4")
    out = bjsim(*COUNT, *words, "--checkpoint", tmp_path / "run.count").out
    assert re.search(r"≥ \+7 .* 12 ", out) and "note:" not in out
    again = bjsim("count", "--load", tmp_path / "run.count", "--ramp", "0:1 9:30").out
    assert "note: never bet: 30; each row from ≤ -37 to ≥ +7 has one bet for all its counts" in again


def test_bets_by_a_side_count_of_aces(tmp_path):
    """Reports name the side count, and a stored run keeps it; the counts of the table are those of the bets."""
    (tmp_path / "mine.toml").write_text('system = "zen"\nside_aces = 1\n')
    words = ("--system", tmp_path / "mine.toml", "--rounds", "2e4", "--set", "split_by=never", "--indices", "none")
    played = bjsim(*GAME, *words, "--checkpoint", tmp_path / "run.count", "--json", tmp_path / "run.json")
    data = json.loads((tmp_path / "run.json").read_text())
    assert (data["system"], data["side_aces"]) == ("mine", 1.0)
    assert "true count for bets" in played.out and "Zen Count with a side count of aces" in played.out
    again = bjsim("count", "--load", tmp_path / "run.count", "--html", tmp_path / "run.html", "--json", "-").json
    assert {key: again[key] for key in data if key != "seconds"} == {key: data[key] for key in data if key != "seconds"}
    assert "By true count for bets" in (tmp_path / "run.html").read_text()


def test_ramps_and_cuts_are_compared(tmp_path):
    words = ("--rounds", "5e4", "--vary", "ramp=1-4,1-8", "--vary", "cut=50%,70%", "--json", tmp_path / "games.json")
    out = bjsim(*GAME, *words).out
    games = json.loads((tmp_path / "games.json").read_text())["games"]
    names = [game["name"] for game in games]
    assert names == [f"ramp={ramp}, cut={cut}" for ramp in ("1-4", "1-8") for cut in ("50%", "70%")]
    scores = [game["score"] for game in games]
    assert scores[1] > scores[0] and scores[3] > scores[2] > scores[0]
    first, second, *_ = games
    assert "difference" not in first and second["difference"]["common_cards"]
    low, high = second["difference"]["score_ci95"]
    assert (low + high) / 2 == pytest.approx(second["score"] - first["score"])
    halves = [(game["score_ci95"][1] - game["score_ci95"][0]) / 2 for game in (first, second)]
    assert 0 < (high - low) / 2 < 0.95 * math.hypot(*halves)
    assert re.search(rf"minus {names[0]} .*(\n.*){{2}}{names[1]} +\+{second['difference']['ev_per_round']:.6f} ±", out)
    assert "differences are between games on the same shoes\n" in out


def test_differences_say_where_the_cards_are_others(stored):
    """A stored run does not tell what the shoes were."""
    one, two = (CountResult.load(stored[0] / "run.count") for _ in range(2))
    text = printed(CountComparison((("one", one), ("two", two))).describe())
    assert "the same shoes, except two: other cards, independent" in text


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--decks", "inf"), "--decks is given 2 times; give it once"),
        (("--system", "hilow"), "did you mean hilo"),
        (("--ramp", "1:x"), "ramp: '1:x' is not accepted"),
        (("--indices", "16vT Q>=0"), "16vT Q>=0"),
        (("--optimal", "12-1"), "12-1 is not accepted"),
        (("--optimal", "1-12x9"), "1-12x9 is not accepted"),
        (("--players", "6", "--ramp", "1-4x3"), "use at most 5 players"),
        (("--bankroll", "0,000"), "put $ between single quotes"),
        (("--until", "1"), "1 has no % sign"),
        (("--vary", "colour=red"), "no rule is called 'colour'"),
        (("--vary", "colour"), "such as cut=70%,80%, or vary system, ramp, optimal, indices, leave"),
        (("--vary", "das=true,false", "--vary", "double_after_split=true"), "is given twice, first as das"),
        (("--vary", "ls=true,early"), "ls = early is not accepted"),
        (("--vary", "cut=1/2", "--vary", "cut=3/4"), "--vary cut is given twice"),
        (("--vary", "cut=1/2,3/4", "--fan", "x.png"), "--vary and --fan cannot be combined"),
        (("--vary", "optimal=1-4,1-8", "--ramp", "1-4"), "--optimal and --ramp cannot be combined"),
        (("--ror", "1%", "--bankroll", "10k", "--unit", "10"), "leave out one of them, or --ror"),
        (("--ror", "1%", "--bankroll", "10k", "--ramp", "$10-$120"), "write --ramp in units"),
        (("--ror", "1%", "--ramp", "1", "--rounds", "1e4"), "these bets lose 0.0"),
        (("--bankroll", "$10,000"), "--bankroll $10,000: give --unit too"),
        (("--leave", "0"), "use a count below that of a fresh shoe, 0"),
        (("--leave", "low"), "--leave low is not accepted; use a whole count such as -1, or never"),
        (("--load", "none.count"), "--load and --rules cannot be combined, as the rounds have been played"),
        (("--optimal", "1-8", "--ramp", "1-4"), "--optimal and --ramp cannot be combined"),
        (("--chart", "perfect"), "is not a chart"),
        (("--chip", "5"), "give that too, such as 1-12, or chips in money: '$5'"),
        (("--optimal", "1-8", "--vary", "ramp=1-4,1-8"), "--optimal and --ramp cannot be combined"),
        (
            ("--set", "dealer_shows=both", "--set", "insurance=false"),
            "--indices i18 does not fit this game, which shows both cards; give --indices none or generate",
        ),
        (("indices",), "--rules comes before indices; write the options after it"),
        (("--ramp", ""), "it is empty"),
    ],
)
def test_errors_name_the_option(words, message):
    assert message in refusal(*GAME, *words)


def test_a_game_of_an_infinite_shoe_is_named_first():
    """It may have no index play for a dealer's ten."""
    assert "cannot be counted in an infinite shoe" in refusal("count", "--rules", "easy")
    assert "cannot be counted in an infinite shoe" in refusal("count", "indices", "--rules", "easy")
    assert "ties = replay" in refusal("count", "indices", "--rules", "neller", "--decks", "1")


def test_a_precision_is_reached(monkeypatch):
    """`--rounds` has a default, which is no maximum where `--until` is given alone."""
    monkeypatch.setattr("bjsim.strategies.counting.request.DEFAULT_ROUNDS", 1000)
    words = ("--until", "0.06%", "--json", "-")
    low, high = bjsim(*BARE, *words).json["ev_per_round_ci95"]
    assert high - low <= 2 * 0.0006
    low, high = bjsim(*BARE, *words, "--rounds", "1000").json["ev_per_round_ci95"]
    assert high - low > 2 * 0.0006  # of one block


def test_the_bets_of_indices_are_of_one_spot_and_one_kind():
    words = ("count", "indices", "--rules", "vegas-s17", "--optimal")
    assert "--ramp 0:0 2:1x2 has several spots" in refusal(*words[:-1], "--ramp", "0:0 2:1x2")
    assert "--optimal 1-12x2 has several spots" in refusal(*words, "1-12x2")
    assert "--optimal and --ramp cannot be combined" in refusal(*words, "1-12", "--ramp", "1-8")


def test_index_plays_are_saved_where_they_are_read():
    assert "files that end in .txt" in refusal("count", "indices", "--rules", "vegas-s17", "--save", "plays.idx")


def test_a_stored_run_that_is_not_there():
    assert "none.count" in refusal("count", "--load", "none.count")


def test_the_page_of_a_stored_run_has_its_command(stored, tmp_path):
    words = ("count", "--load", stored[0] / "run.count", "--ramp", "1-8", "--html", tmp_path / "again.html")
    assert bjsim(*words).status == 0
    assert "<pre>bjsim count --ramp 1-8 --load run.count</pre>" in (tmp_path / "again.html").read_text()


@pytest.mark.slow
def test_indices_are_computed_and_can_be_played(tmp_path):
    indices = tmp_path / "mine.txt"
    words = ("--rules", "vegas-s17", "--decks", "6", "--top", "12", "--save", indices, "--json", "-")
    found = bjsim("count", "indices", *words).json
    plays = {(play["row"], play["column"], play["action"]): play["count"] for play in found["indices"]}
    assert plays["16", "T", "S"] == 0 and plays["insurance", "", "I"] == 3  # [Schlesinger]
    assert plays["TT", "6", "P"] in (4, 5) and plays["12", "3", "S"] == 2
    first = found["indices"][0]
    ev, sd = found["ev_chart"], found["sd_chart"]
    assert found["score_chart"] == pytest.approx(1e6 * (ev / sd) ** 2) and found["score_all"] > 2 * found["score_chart"]
    assert first["gain_score"] == pytest.approx(1e6 * ((ev + first["gain_bets"]) ** 2 - ev**2) / sd**2)
    played = bjsim(*GAME, "--rounds", "5e4", "--indices", indices, "--json", "-").json
    assert "16vT S>=0" in played["index_plays"]


# --- goals and money


def test_a_risk_of_ruin_finds_the_unit_and_the_bankroll(stored):
    """The bank of a risk r is -ln r s^2 / 2 e; ten thousand over that bank is the unit."""
    load = ("count", "--load", stored[0] / "run.count", "--json", "-", "--ror", "1%")
    found = bjsim(*load, "--bankroll", "10k").json
    bank = -math.log(0.01) * found["sd_per_round"] ** 2 / (2 * found["ev_per_round"])
    assert found["ror"] == pytest.approx(0.01) and found["bankroll"] == pytest.approx(bank)
    assert found["unit"] == pytest.approx(10_000 / bank)
    back = bjsim(*load, "--unit", str(found["unit"]))
    assert back.json["bankroll"] == pytest.approx(bank) and back.json["unit"] == pytest.approx(found["unit"])
    assert re.search(r"bankroll for a risk of ruin of 1%, \$ +10,000 ±", back.err)
    best = bjsim(*load, "--bankroll", "$10,000", "--optimal", "1-12").json
    assert best["unit"] * best["ev_per_hour"] > found["unit"] * found["ev_per_hour"]  # a higher SCORE


def test_money(stored):
    """Bets in money of which the lowest is the unit; profits per hour and bets are then in money."""
    load = ("count", "--load", stored[0] / "run.count")
    units = bjsim(*load, "--bankroll", "1000", "--ramp", "1-12", "--json", "-").json
    for words in (("--ramp", "$10-$120"), ("--ramp", "1-12", "--unit", "$10")):
        played = bjsim(*load, "--bankroll", "10k", *words, "--json", "-")
        assert {**played.json, "unit": None, "seconds": 0} == {**units, "seconds": 0} and played.json["unit"] == 10
        assert re.search(rf"EV per hour, \$ +{1000 * units['ev_per_round']:.2f} ±", played.err)
        assert re.search(r"≥ .* 12 +120.00 ", played.err)


def test_units_are_compared():
    """The better game bears the larger unit at the same risk."""
    words = ("--rounds", "2e4", "--optimal", "1-8", "--ror", "5%", "--bankroll", "10k", "--vary", "cut=60%,75%")
    out = bjsim(*BARE, *words).out
    assert re.search(r"SCORE.* EV per hour, \$ .* unit for a risk of ruin of 5%, \$\s", out)
    better = next(line for line in out.splitlines() if re.match(r" +cut=75% +\+", line))
    assert re.search(r" – +\+\d\.\d\d ± ", better)  # profits per hour are in other units, so not subtracted
    difference = bjsim(*BARE, *words, "--json", "-").json["games"][1]["difference"]
    assert not difference.keys() & {"ev_per_hour", "sd_per_hour", "ce_per_hour"} and "unit" in difference


def test_optimal_bets_can_be_placed(stored):
    """Whole chips by default; half units where a limit is one; 0 does not round."""
    load = ("count", "--load", stored[0] / "run.count", "--json", "-", "--optimal")

    def bets(*words):
        return {row["bet"] for row in bjsim(*load, *words).json["by_count"]}

    assert all(bet % 1 == 0 for bet in bets("1-12")) and len(bets("1-12")) > 2
    assert all(bet % 0.5 == 0 for bet in bets("0.5-6")) and any(bet % 1 for bet in bets("0.5-6"))
    assert any(bet % 0.5 for bet in bets("1-12", "--chip", "0"))


@pytest.mark.parametrize("bets", [("--ramp", "1-12"), ("--optimal", "1-12"), ("--ramp", "0:0 1:1 2:4 3:8")])
@pytest.mark.parametrize("chip", [1, 5])
def test_bets_in_chips_are_whole_and_have_a_risk_of_their_own(stored, bets, chip):
    """Recomputed from the table by count: bets of the unit that was found, rounded, and exp(-2 ev bank / sd^2)."""
    load = ("count", "--load", stored[0] / "run.count", *bets, "--ror", "1%", "--bankroll", "10k", "--json", "-")
    found, rounded = bjsim(*load).json, bjsim(*load, "--chip", f"${chip}").json
    assert rounded["unit"] == chip and found["ror"] == pytest.approx(0.01)
    ev = square = 0.0
    for before, after in zip(found["by_count"], rounded["by_count"], strict=True):
        money, exact = after["bet"] * chip, before["bet"] * found["unit"]
        assert after["bet"] % 1 == 0 and (money == 0) == (exact == 0)
        assert abs(money - exact) <= chip / 2 or money == chip
        ev += after["share"] * after["bet"] * after["ev"]
        square += after["share"] * after["bet"] ** 2 * (after["sd"] ** 2 + after["ev"] ** 2)
    assert rounded["ev_per_round"] == pytest.approx(ev) and rounded["ev_per_round"] > 0
    risk = math.exp(-2 * ev * (10_000 / chip) / (square - ev**2))
    assert rounded["ror"] == pytest.approx(risk, rel=1e-6) and abs(rounded["ror"] - 0.01) > 1e-5


def test_chips_that_exist_are_named_where_a_unit_is_found(stored):
    load = ("count", "--load", stored[0] / "run.count", "--ror", "1%", "--bankroll")
    out = bjsim(*load, "10k").out
    unit = float(re.search(r"unit for a risk of ruin of 1%, \$ +([\d.]+)", out)[1])
    below, above = map(int, re.findall(r"\$(\d+): [\d.]+% ±", out))
    assert below < unit < above and (below, above) in {(1, 5), (5, 25)}
    assert "with bets in chips of" not in bjsim(*load, "1000m").out  # a unit above all chips
    assert "before the bets were rounded, the risk of ruin was 1.0000%" in bjsim(*load, "10k", "--chip", "$5").out
    varied = bjsim(
        *BARE, "--rounds", "2e4", "--unit", "10", "--chip", "$25", "--vary", "cut=60%,75%", "--json", "-"
    ).json
    assert [game["unit"] for game in varied["games"]] == [25, 25]
    assert "needs the money of a unit" in refusal("count", "--load", stored[0] / "run.count", "--chip", "$5")
    assert "leaves none" in refusal("count", "--load", stored[0] / "run.count", "--leave-minutes", 9)


def test_a_kelly_fraction_that_raises_the_risk_of_ruin_is_noted(stored):
    load = ("count", "--load", stored[0] / "run.count", "--bankroll", "300", "--kelly", "0.2", "--optimal")
    assert "note: with a Kelly fraction of 0.2 the risk of ruin is" in bjsim(*load, "1-12").out
    assert "note:" not in bjsim(*load, "0-12").out


# --- games compared


@pytest.mark.slow
def test_index_plays_that_a_game_cannot_play_are_counted():
    words = ("--rounds", "2e4", "--vary", "indices=i18,i18+fab4")
    out = bjsim(*GAME, *words).out
    assert "indices=i18 and indices=i18+fab4 are played alike in this game" in out
    one = bjsim(*GAME, "--rounds", "2e4", "--indices", "i18+fab4").out
    assert "vegas-s17: 2 decks" in one and "Hi-Lo, 18 of 22 index plays apply" in one
    surrender = bjsim(*GAME, "--rounds", "2e4", "--indices", "i18+fab4", "--set", "ls=true").out
    assert "Hi-Lo, 22 index plays;" in surrender and "late surrender" in surrender


@pytest.mark.slow
def test_short_names_of_rules_vary():
    def figures(name):
        words = ("6", "--set", "max_hands=2", "--indices", "none", "--rounds", "2e4", "--vary", f"{name}=true,false")
        return re.findall(r"\d\.\d{4}", bjsim(*COUNT, *words).out)

    assert figures("das") == figures("double_after_split") != figures("h17")


def test_games_compared_have_a_picture_and_a_page(tmp_path):
    words = ("--rounds", "2e4", "--vary", "optimal=1-4,1-8", "--vary", "cut=50%,70%")
    drawn = bjsim(*BARE, *words, "--plot", tmp_path / "heat.svg", "--html", tmp_path / "games.html")
    assert drawn.status == 0, drawn.err
    assert ElementTree.parse(tmp_path / "heat.svg").getroot().tag.endswith("svg")
    page = (tmp_path / "games.html").read_text()
    assert page.count("<tr>") == 3 + 2 + 4 + 3 and 'class="heat"' in page
    assert "optimal=1-8, cut=70%" in page and "--vary optimal=1-4,1-8 --vary cut=50%,70%</pre>" in page


def test_leaving_pays_more_per_round(tmp_path):
    words = ("--rounds", "1e5", "--vary", "leave=never,-1", "--json", tmp_path / "games.json", "--optimal", "1-8")
    assert "leave=-1" in bjsim(*BARE, *words, "--plot", tmp_path / "dots.svg").out
    stays, leaves = json.loads((tmp_path / "games.json").read_text())["games"]
    assert (stays["leave"], leaves["leave"]) == (None, -1) and leaves["by_count"][0]["label"] == "0"
    assert leaves["ev_per_round"] > stays["ev_per_round"] and leaves["rounds_per_shoe"] < stays["rounds_per_shoe"] / 2


def test_the_bankroll_over_time_is_drawn(stored):
    words = ("count", "--load", stored[0] / "run.count", "--unit", "10", "--bankroll", "10k")
    assert bjsim(*words, "--fan", stored[0] / "fan.svg").status == 0
    assert ElementTree.parse(stored[0] / "fan.svg").getroot().tag.endswith("svg")
    assert "--fan fan.pdf is not accepted; the file must end in .png or .svg" in refusal(*words, "--fan", "fan.pdf")


@pytest.mark.slow
def test_the_index_chart_is_drawn(tmp_path):
    words = ("--rules", "vegas-s17", "--set", "max_hands=2", "--limit", "1", "--plot", tmp_path / "indices.svg")
    assert bjsim("count", "indices", *words).status == 0
    assert ElementTree.parse(tmp_path / "indices.svg").getroot().tag.endswith("svg")
    assert short_counts("H", [("S", ">= 4")]) == "≥+4" and short_counts("S", [("H", "< 0")]) == "<0"
    assert short_counts("Rh", [("H", "< 0"), ("Rs", ">= 4")]) == "<0 S≥+4"
    assert short_counts("H", [("Rh", ">= 3"), ("S", "< -1")]) == "≥+3 S<-1"


def test_a_line_moves_while_a_game_is_played(monkeypatch):
    """On a terminal: what is done, then the rounds out of those to come; nothing in a pipe."""
    said = []
    monkeypatch.setattr("bjsim.cli.waiting.Waiting.say", lambda line, *what: said.append(what))
    assert bjsim(*BARE, "--rounds", "1e5", "--vary", "ramp=1-4,1-8").err == ""
    assert said[0] == ("1 of 2: ramp=1-4, preparing the table",)
    (what, done, total), *_ = [words for words in said if len(words) == 3]
    assert what == "1 of 2: ramp=1-4, rounds" and 10_000 < done < total == 100_000
    assert not any("2 of 2" in words[0] for words in said)  # ramps share a run


def test_lines_fit_80_columns(stored):
    lines = on_screen(80, "count", "--load", stored[0] / "run.count", "--unit", "10", "--optimal", "1-12")
    tables = [line for line in lines if "%" in line and "index plays" not in line]
    assert len(tables) > 20 and max(map(len, lines[: lines.index(tables[-1])])) <= 80


@pytest.mark.parametrize("words", [(), ("--vary", "ramp=$5-$60,1-12"), ("--ror", "1%")])
def test_chips_without_a_unit_are_refused_before_play(words, monkeypatch):
    monkeypatch.setattr("bjsim.cli.count.play_request", None)
    assert "--chip $5 needs the money of a unit" in refusal("count", "--rules", "vegas-s17", "--chip", "$5", *words)
