"""The pictures of `solve`, `check`, `compare` and `run`: their words, colours and scales, and refused files."""

import math
import re
from xml.etree import ElementTree

import pytest
from matplotlib.text import Text
from PIL import Image
from support.command import bjsim, refusal

from bjsim.api import play
from bjsim.cli import plots
from bjsim.cli.options import decimals
from bjsim.cli.pages import convergence_part
from bjsim.cli.plots import ACTION_COLOURS, hand_ticks, round_values, shared_scales, short_count
from bjsim.sim.game.events import game_text
from bjsim.sim.game.presets import named_rules
from bjsim.strategies.evaluation.compare import solve
from bjsim.strategies.evaluation.valued_chart import ValuedChart

COMMANDS = {
    "solve": ("solve", "value", "--rules", "blackjack-p"),
    "check": ("check", "hoyle", "--rules", "blackjack-p"),
    "compare": ("compare", "--rules", "neller,neller-v3"),
    "run": ("run", "--bots", "optimal,lim17", "--rules", "neller", "--hands", "20000", "--workers", "1"),
}


@pytest.fixture
def figures(monkeypatch):
    """The figures that commands draw, which are not saved."""
    drawn = []
    monkeypatch.setattr(plots, "save_figure", lambda figure, path: drawn.append(figure))
    return drawn


def words(figure):
    return [text.get_text() for text in figure.findobj(Text) if text.get_text()]


def test_a_png_is_small_and_keeps_the_colours(tmp_path):
    assert bjsim(*COMMANDS["check"], "--plot", tmp_path / "chart.png").status == 0
    assert 20_000 < (tmp_path / "chart.png").stat().st_size < 100_000
    found = {colour for _, colour in Image.open(tmp_path / "chart.png").convert("RGB").getcolors(1000)}
    for letter in "SHDP":
        colour = [int(ACTION_COLOURS[letter][place : place + 2], 16) for place in (1, 3, 5)]
        assert min(max(abs(a - b) for a, b in zip(colour, one, strict=True)) for one in found) <= 2, letter


def test_pictures_are_the_same_each_time(tmp_path):
    for name in ("one.svg", "two.svg", "one.png", "two.png"):
        assert bjsim(*COMMANDS["compare"], "--plot", tmp_path / name).status == 0
    data = (tmp_path / "one.svg").read_bytes()
    assert data == (tmp_path / "two.svg").read_bytes() and str(tmp_path).encode() not in data
    assert ElementTree.fromstring(data).tag.endswith("svg")
    assert (tmp_path / "one.png").read_bytes() == (tmp_path / "two.png").read_bytes()


def test_the_strategy_has_margins_and_outcomes(figures):
    data = bjsim("solve", "--rules", "blackjack-p", "--json", "-").json
    assert bjsim(*COMMANDS["solve"], "--plot", "x.png").status == 0
    texts = words(figures[0])
    assert "The best strategy in blackjack-p" in texts and "bjsim solve --rules blackjack-p" in texts
    assert "blackjack-p: infinite shoe, S17, naturals 3:2, DAS" in texts
    assert f"value of the chart {100 * data['value']:+.6f}% of the bet, exact" in texts
    tables = data["tables"]
    at = tables["hit"]["rows"].index("12"), tables["hit"]["columns"].index("4")
    margin = 100 * abs(tables["hit"]["cells"][at[0]][at[1]] - tables["stand"]["cells"][at[0]][at[1]])
    assert decimals(margin, 2) in texts  # 12 v 4, a close one
    busts = [f"{100 * outcomes['0']:.1f}" for outcomes in data["dealer"].values()]
    assert len(busts) == 10 and set(busts) <= set(texts)


def test_a_card_has_the_strategy_alone(figures, tmp_path):
    page = tmp_path / "card.html"
    assert bjsim(*COMMANDS["solve"], "--card", "--plot", "x.png", "--html", page).status == 0
    texts = words(figures[0])
    assert "A7" in texts and "Ds" in texts and any("--card" in text for text in texts)
    assert not [text for text in texts if re.fullmatch(r"<?\d*\.\d+", text) or "margin" in text or "dealer" in text]
    assert not re.search("<small>|the margin|closest decisions|final score", page.read_text())
    assert "add --plot FILE.png" in refusal("solve", "--card")


def test_wrong_cells_have_their_costs(figures):
    data = bjsim(*COMMANDS["check"], "--json", "-").json
    assert bjsim(*COMMANDS["check"], "--plot", "x.png").status == 0
    texts = words(figures[0])
    assert f"{len(data['cells'])} cells differ" in next(text for text in texts if "cells differ" in text)
    for cell in data["cells"]:
        assert f"{cell['chart']}→{cell['best']}" in texts
        assert decimals(100 * cell["cost"], 2 if cell["cost"] >= 0.00995 else 4) in texts


def test_bots_share_their_scales(figures):
    data = bjsim(*COMMANDS["run"], "--seed", 3, "--json", "-").json
    assert bjsim(*COMMANDS["run"], "--seed", 3, "--adjust-luck", "--plot", "x.png").status == 0
    one, other = (axes for part in figures[0].subfigs for axes in part.axes)
    assert one.get_ylim() == other.get_ylim() and one.get_xlim() == other.get_xlim() == (1024, 20000)
    for bot, axes in zip(data["bots"], (one, other), strict=True):
        assert axes.get_title(loc="left").startswith(f"{bot['name']}: ")
        raw, adjusted, exact = axes.lines
        assert raw.get_ydata()[-1] == pytest.approx(100 * bot["mean"])
        assert adjusted.get_ydata()[-1] == pytest.approx(100 * bot["exact"], abs=1e-9)  # every round, without luck
        assert exact.get_ydata()[0] == pytest.approx(100 * bot["exact"])
        assert one.get_ylim()[0] < 100 * bot["exact"] < one.get_ylim()[1]
    texts = "\n".join(words(figures[0]))
    assert (
        "20,000 hands each, seed 3" in texts
        and "neller: infinite shoe" in texts
        and "exact value of a fresh shoe" not in texts
        and "luck-adjusted return" in texts
    )


def test_the_luck_adjusted_return_is_magnified(figures):
    game = ("--rules", "vegas-s17", "--hands", "20000", "--workers", "1", "--adjust-luck")
    assert bjsim("run", "--bots", "optimal,lim17", *game, "--plot", "x.png").status == 0
    data = bjsim("run", "--bots", "optimal,lim17", *game, "--json", "-").json["bots"]
    *panels, one, other = figures[0].subfigs[0].axes
    assert "exact value of a fresh shoe" in words(figures[0])
    assert len(panels) == 2 and panels[0].get_ylim() == panels[1].get_ylim()
    spans = [axes.get_ylim()[1] - axes.get_ylim()[0] for axes in (one, other)]
    assert spans[0] == pytest.approx(spans[1])
    factor = (panels[0].get_ylim()[1] - panels[0].get_ylim()[0]) / spans[0]
    shown = one.get_title(loc="left").split("magnified ")[1].removesuffix(" times").replace(",", "")
    assert float(shown) == pytest.approx(factor, rel=0.5) and factor > 20
    for bot, axes in zip(data, (one, other), strict=True):
        adjusted, exact = axes.lines
        low, high = axes.get_ylim()
        assert adjusted.get_ydata()[-1] == pytest.approx(100 * bot["luck_adjusted"]["mean"])
        assert low < adjusted.get_ydata()[-1] < high and low < exact.get_ydata()[0] < high


def test_games_have_their_values(figures):
    data = bjsim(*COMMANDS["compare"], "--json", "-").json["games"]
    assert bjsim(*COMMANDS["compare"], "--plot", "x.png").status == 0
    (axes,) = figures[0].subfigs[0].axes
    dots = [line.get_xdata()[0] for line in axes.lines if line.get_marker() == "o"]
    assert dots == pytest.approx([100 * game["value"] for game in data])
    texts = words(figures[0])
    assert f"{100 * data[1]['value']:+.4f}%  ({100 * data[1]['difference']:+.4f}%)" in texts
    assert {"neller", "neller-v3"} <= set(texts)


@pytest.mark.slow
def test_games_that_vary_are_drawn_with_the_played_effect_of_their_cut(figures, tmp_path):
    game = ("--rules", "vegas-s17", "--decks", 1, "--vary", "cut=40%,80%", "--until", "0.1%", "--workers", 1)
    page = tmp_path / "page.html"
    drawn = bjsim("compare", *game, "--plot", "x.png", "--html", page)
    assert drawn.status == 0
    effects = re.findall(r"[-+]0\.\d{4}% ± 0\.\d{4}%", drawn.out)[1::2]  # each follows its luck-adjusted return
    texts = words(figures[0])
    assert len(effects) == 2 and all(any(f"\ncut-card effect {each}" in text for text in texts) for each in effects)
    assert {"cut=40%", "cut=80%"} <= set(texts) and all(each in page.read_text("utf-8") for each in effects)


def test_infinite_values_are_drawn_without_a_dot(figures):
    game = ("--rules", "blackjack-p", "--set", "ten_probability=1/2")
    assert bjsim("solve", "value", *game, "--plot", "x.png").status == 0
    varied = ("--rules", "blackjack-p", "--vary", "ten_probability=1/2,4/13")
    assert bjsim("compare", *varied, "--plot", "x.png").status == 0
    assert "∞" in words(figures[0]) and any("value is infinite" in text for text in words(figures[0]))


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("option", ["--plot", "--html", "--json"])
def test_files_that_cannot_be_written_are_refused_before_any_work(command, option, tmp_path, monkeypatch):
    for module in ("cli.solve.Solver", "cli.check.evaluate_chart", "cli.compare.compare_games", "cli.run.RunRequest"):
        monkeypatch.setattr(f"bjsim.{module}", None)
    name = "none/x.png" if option == "--plot" else "none/x"
    assert refusal(*COMMANDS[command], option, tmp_path / name).endswith(f"there is no folder {tmp_path / 'none'}")
    if option == "--plot":
        assert "must end in .png or .svg" in refusal(*COMMANDS[command], option, tmp_path / "x.pdf")
    if option == "--html":
        assert "--html - is not accepted" in refusal(*COMMANDS[command], option, "-")


def test_one_decision_and_a_plain_chart_draw_nothing():
    assert "--format draws nothing" in refusal("solve", "--format", "csv", "--plot", "x.png")
    assert "--hand draws nothing" in refusal("solve", "--decks", 1, "--hand", "T,6 v T", "--html", "x.html")


def test_the_game_in_words():
    atlantic, european = named_rules("atlantic-city"), named_rules("european")
    assert game_text(atlantic.replace(cut=1)) == "atlantic-city: 8 decks, S17, naturals 3:2, DAS, late surrender"
    text = "european: 6 decks for every round, S17, naturals 3:2, DAS, double 9-11, no hole card"
    assert game_text(european.replace(cut=0)) == text
    changed = named_rules("vegas-s17").replace(decks=1, charlie=6, cut="1/2")
    once = "vegas-s17: infinite shoe, S17, naturals 3:2, DAS, late surrender"
    assert game_text(named_rules("vegas-s17").replace(decks="inf", ls=True, cut=1)) == once
    assert game_text(changed) == "vegas-s17: 1 deck cut at 1/2, S17, naturals 3:2, DAS, charlie = 6"
    assert game_text(changed, "A=4,T=16").startswith("vegas-s17: shoe A=4,T=16, S17")


def test_numbers_are_short():
    assert [decimals(x, 2) for x in (0, 0.001, 0.05, 0.999, 12)] == ["0", "<.01", ".05", "1.00", "12.00"]
    assert [short_count(x) for x in (100, 10_000, 2_500_000, 1e9)] == ["100", "10k", "2.5M", "1G"]
    for low, high in ((-12.7, 8.1), (-0.0031, 0.0017), (99.99, 100.02)):
        values = round_values(low, high)
        assert 3 <= len(values) <= 6 and low <= min(values) and max(values) <= high
        assert all(re.fullmatch(r"-?[\d.]+(e-\d+)?", f"{value:.6g}") for value in values)


def test_scales_without_an_exact_value_and_with_few_hands():
    from bjsim.cli.plots import Line, Panel

    line = Line([10], [4.0], [(-math.inf, math.inf)], [(-math.inf, math.inf)])
    scales = shared_scales([Panel("few", line, Line([], [], [], []), None)])
    assert scales.low < 4 < scales.high and math.isfinite(scales.low + scales.high) and scales.first < scales.last
    assert hand_ticks(scales) == [10, 11] and hand_ticks(scales._replace(last=1e4)) == [10, 100, 1000, 1e4]


def test_rows_for_counted_cards_are_explained():
    (note,) = plots.row_notes(ValuedChart.of_best(solve(named_rules("neller-v1"))))
    assert note.startswith("12/3 is 12 in 3 cards; 13:67 is 13 of 6 and 7. Other rows are for all other hands")
    assert plots.row_notes(ValuedChart.of_best(solve(named_rules("neller")))) == []


def test_pages_magnify_the_luck_adjusted_return_too():
    played = play("vegas-s17", ["optimal", "lim17"], hands=20_000, seed=1, workers=1)
    for drawing in convergence_part(played).panels:
        assert [kind for kind, _ in drawing["below"]["lines"]] == ["adjusted"]
        assert "magnified" in drawing["below"]["title"] and len(drawing["below"]["bands"]) == 1
    assert convergence_part(play("neller", "optimal", hands=1000, seed=1, workers=1)).panels[0]["below"] is None


@pytest.mark.slow
def test_one_line_identifies_the_game():
    """A game with late surrender is not called as the one without; no line says surrender twice."""
    game = ("--rules", "vegas-s17", "--decks", 2, "--set", "ls=true")
    line = "vegas-s17: 2 decks cut at 3/4, S17, naturals 3:2, DAS, late surrender"
    assert bjsim("check", "lim17", *game).out.count(f"\n{line}\n") == 1
    assert bjsim("run", "--bots", "lim17", *game, "--hands", "1e3", "--workers", 1).out.startswith(f"{line}; seed 1\n")
    assert bjsim("replay", "--bots", "lim17", *game).out.startswith(f"{line}; seed 1, table 1, round 1\n")
    assert line in bjsim("compare", "--rules", "vegas-s17,vegas-h17", *game[2:]).out.splitlines()
