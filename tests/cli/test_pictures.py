"""The pictures of `solve`, `check`, `compare` and `run`: their words, colours and scales, and refused files."""

import re

import pytest
from matplotlib.text import Text
from support.command import bjsim, refusal

from bjsim.report import picture
from bjsim.report.parts import DataSeries, Dots, Heat, Report, decimals
from bjsim.request import play
from bjsim.sim.game.events import game_text
from bjsim.sim.game.presets import named_rules
from bjsim.strategies.evaluation.compare import solve
from bjsim.strategies.evaluation.valued_chart import ValuedChart
from bjsim.strategies.results import convergence_parts

COMMANDS = {
    "solve": ("solve", "value", "--rules", "blackjack-p"),
    "check": ("check", "hoyle", "--rules", "blackjack-p"),
    "compare": ("compare", "--rules", "neller,neller-v3"),
    "run": ("run", "--bots", "optimal,lim17", "--rules", "neller", "--hands", "20000", "--workers", "1"),
}
EXPECTED = {
    "solve": ("The best strategy in blackjack-p", "blackjack-p: infinite shoe, S17", "value of the chart: -0.286891%",
              "bjsim solve --rules blackjack-p"),
    "check": ("hoyle in blackjack-p", "value of the chart: ", "wrong cells: ", "bjsim check hoyle --rules blackjack-p"),
    "compare": ("2 games compared", "neller-v3", "-4.4858%", "bjsim compare --rules neller,neller-v3"),
    "run": ("The returns of 2 bots", "20,000 hands each, seed 1", "neller: infinite shoe", "exact value",
            "bjsim run --bots optimal,lim17"),
}  # fmt: skip


@pytest.fixture
def figures(monkeypatch):
    """The figures that commands draw, which are not saved."""
    drawn = []
    monkeypatch.setattr(picture, "save_figure", lambda figure, path: drawn.append(figure))
    return drawn


def words(figure):
    return [text.get_text() for text in figure.findobj(Text) if text.get_text()]


@pytest.mark.parametrize("command", COMMANDS)
def test_a_picture_has_the_title_the_game_the_figures_and_the_command(command, figures):
    """As the page of the report; tests/cli/test_report.py has all parts of pictures."""
    assert bjsim(*COMMANDS[command], "--plot", "x.png").status == 0
    text = "\n".join(words(figures[0]))
    for each in EXPECTED[command]:
        assert each in text


def test_the_strategy_has_margins_outcomes_and_the_closest_decisions(figures):
    data = bjsim("solve", "--rules", "blackjack-p", "--json", "-").json
    assert bjsim(*COMMANDS["solve"], "--plot", "x.png").status == 0
    texts, tables = words(figures[0]), data["tables"]
    at = tables["hit"]["rows"].index("12"), tables["hit"]["columns"].index("4")
    margin = 100 * abs(tables["hit"]["cells"][at[0]][at[1]] - tables["stand"]["cells"][at[0]][at[1]])
    assert decimals(margin, 2) in texts  # 12 v 4, a close one
    busts = [f"{100 * outcomes['0']:.1f}" for outcomes in data["dealer"].values()]
    assert len(busts) == 10 and set(busts) <= set(texts)
    assert any(text.startswith("12 v 4  ") and f"{margin:.4f}%" in text for text in texts)


@pytest.mark.parametrize("grid", [False, True], ids=["dots", "heat"])
def test_dollars_are_no_mathematics(grid, tmp_path):
    """A bot may be called $_$, which is no formula; two amounts of money are none either."""
    names = ["$_$", "ramp=$10-$120"]
    series = [DataSeries(name, [1.0, 2.0], str, [0.1, 0.2], names) for name in names]
    heat = Heat(names, names, [[1.0, 2.0]] * 2, [[0.1, 0.2]] * 2, ("ramp", "name"), "SCORE")
    part = heat if grid else Dots(names, series, "chips", names)
    file = tmp_path / "x.svg"
    picture.draw(Report("two names", [], [part]), str(file))
    assert "<!-- $_$ -->" in file.read_text() and "<!-- ramp=$10-$120 -->" in file.read_text()


def test_a_card_has_the_strategy_alone(figures, tmp_path):
    page = tmp_path / "card.html"
    assert bjsim(*COMMANDS["solve"], "--card", "--plot", "x.png", "--html", page).status == 0
    texts = words(figures[0])
    assert "A7" in texts and "Ds" in texts and not any("--card" in text for text in texts)
    assert not [text for text in texts if re.fullmatch(r"<?\d*\.\d+", text) or "margin" in text or "dealer" in text]
    assert not re.search("<small>|the margin|closest decisions|final score", page.read_text())
    assert "add --plot FILE.png" in refusal("solve", "--card")


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
    assert "--format and --plot cannot be combined" in refusal("solve", "--format", "csv", "--plot", "x.png")
    done = bjsim("solve", "--hand", "T,6 v T,7", "--plot", "x.png")
    assert done.status == 2 and "there is nothing to draw" in done.err and "hit" in done.out.lower()


def test_the_game_in_words():
    atlantic, european = named_rules("atlantic-city"), named_rules("european")
    assert game_text(atlantic.replace(cut=1)) == "atlantic-city: 8 decks, S17, naturals 3:2, DAS, late surrender"
    text = "european: 6 decks for every round, S17, naturals 3:2, DAS, double 9-11, no hole card"
    assert game_text(european.replace(cut=0)) == text
    changed = named_rules("vegas-s17").replace(decks=1, charlie=6, cut="1/2")
    once = "vegas-s17: infinite shoe, S17, naturals 3:2, DAS, late surrender"
    assert game_text(named_rules("vegas-s17").replace(decks="inf", ls=True, cut=1)) == once
    assert game_text(changed) == "vegas-s17: 1 deck cut at 1/2, S17, naturals 3:2, DAS, charlie = 6"
    assert game_text(european.replace(double_on="never")).endswith("naturals 3:2, no hole card, double_on = never")
    assert game_text(european.replace(double_on="any")).endswith("naturals 3:2, DAS, no hole card, double_on = any")
    assert game_text(named_rules("easy").replace(dealer_shows="up")).endswith(", dealer_shows = up")
    assert game_text(named_rules("easy").replace(stand_on_21=False)).endswith(", stand_on_21 = false")
    for name in ("mine", "vegas-s17"):
        drawing = game_text(named_rules("vegas-s17").replace(dealer_stands_on=18, cut=1, name=name))
        assert drawing == f"{name}: 6 decks, dealer stands on 18, naturals 3:2, DAS"
    assert game_text(changed, "A=4,T=16").startswith("vegas-s17: shoe A=4,T=16, S17")


def test_rows_for_counted_cards_are_explained():
    (note,) = ValuedChart.of_best(solve(named_rules("neller-v1"))).row_notes()
    assert note.startswith("12/3 is 12 in 3 cards; 13:67 is 13 of 6 and 7. Other rows are for all other hands")
    assert ValuedChart.of_best(solve(named_rules("neller"))).row_notes() == []
    (note,) = ValuedChart.of_best(solve(named_rules("free-bet").replace(decks="inf"))).row_notes()
    assert re.fullmatch(r"(\d+)/free is \1 with a bet of the house. Other rows are for .*", note)


def test_the_luck_adjusted_return_is_magnified():
    played = play("vegas-s17", ["optimal", "lim17"], hands=20_000, seed=1, workers=1)
    (curves,) = convergence_parts(played)
    first, second = (panel.limits for panel in curves.panels)
    below = [panel.below for panel in curves.panels]
    spans = [panel.limits[1] - panel.limits[0] for panel in below]
    assert first == second and spans[0] == pytest.approx(spans[1])
    factor = (first[1] - first[0]) / spans[0]
    shown = below[0].title.split("magnified ")[1].removesuffix(" times").replace(",", "")
    assert float(shown) == pytest.approx(factor, rel=0.5) and factor > 20
    for bot, panel, small in zip(played, curves.panels, below, strict=True):
        raw, adjusted = panel.lines
        assert (raw.y[-1], adjusted.y[-1]) == (bot.tally.mean, bot.adjusted.mean)
        (line,), (exact,) = small.lines, small.levels.values()
        assert line.colour == "adjusted" and [*line.bands] == ["95%"] and exact == bot.exact
        assert small.limits[0] < min(line.y[-1], exact) < max(line.y[-1], exact) < small.limits[1]
    assert [*panel.levels] == ["exact value of a fresh shoe"]
    certified = play("neller", "optimal", hands=1000, seed=1, workers=1, adjust_luck=True)
    assert convergence_parts(certified)[0].panels[0].below is None  # every round returned the exact value


@pytest.mark.slow
def test_one_line_identifies_the_game():
    """A game with late surrender is not called as the one without; no line says surrender twice."""
    game = ("--rules", "vegas-s17", "--decks", 2, "--set", "ls=true")
    line = "vegas-s17: 2 decks cut at 3/4, S17, naturals 3:2, DAS, late surrender"
    assert bjsim("check", "lim17", *game).out.splitlines().count(line) == 1
    assert bjsim("run", "--bots", "lim17", *game, "--hands", "1e3", "--workers", 1).out.startswith(f"{line}; seed 1\n")
    assert bjsim("replay", "--bots", "lim17", *game).out.startswith(f"{line}; seed 1, table 1, round 1\n")
    assert line in bjsim("compare", "--rules", "vegas-s17,vegas-h17", *game[2:]).out.splitlines()
