"""One made-up report with every kind of part: what terminals, pages, pictures and programs get of it is the same."""

import json
import math
import random
import re
import sys
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from types import SimpleNamespace
from xml.etree import ElementTree

import pytest
from matplotlib.text import Text
from PIL import Image
from support.printed import printed

from bjsim.errors import InputError
from bjsim.report import parts
from bjsim.report.colours import ACTIONS
from bjsim.report.data import Described, data_frame, to_json
from bjsim.report.page import make_page, page_body
from bjsim.report.parts import (
    Axis,
    ChartGrid,
    Curves,
    DataColumn,
    Figures,
    Line,
    Notes,
    Only,
    Panel,
    Report,
    Section,
    Value,
)
from bjsim.report.picture import draw, make_figure
from bjsim.report.scales import find_ticks, padded, round_values, x_bounds, y_bounds
from bjsim.report.svg import draw_bars
from bjsim.strategies.results import AdjustedReturn, CutCardEffect

six = partial(parts.percent, digits=6)
COLUMNS = (
    DataColumn("name", "bot", lambda row: row[0], is_text=True),
    DataColumn("mean", "return", lambda row: row[1], parts.percent),
    DataColumn("", "95% interval", lambda row: row[2], parts.interval),
    DataColumn("ci95", "", lambda row: row[2]),
    DataColumn("exact", "exact", lambda row: row[3], six),
)
ROWS = [("lim17", -0.0577, (-0.07, -0.04), -0.061895), ("new <b>", 0.1, (-math.inf, math.inf), None)]
TABLE = parts.DataTable("bots", COLUMNS, ROWS, "Returns", listed=1)


@dataclass
class Cell:
    """A made-up cell."""

    code: str
    ev: dict
    other: str = ""
    cost: float = math.nan

    @property
    def margin(self):
        one, two = sorted(self.ev.values())[-2:]
        return two - one


CELLS = {
    ("16", "9"): Cell("S", {"S": -0.5412, "H": -0.509}, "H", 0.00045),
    ("16", "T"): Cell("Rh", {"R": -0.5, "H": -0.5398}),
    ("88", "9"): Cell("P", {"P": math.inf, "S": -0.4}, "Dh", 0.01234),
}
CHART = ChartGrid(
    ["9", "T"], {"hard": ["16"], "pairs": ["88"]}, CELLS, {"S": "S stand", "R": "surrender"}, ["88 is a pair"],
    across="dealer's card", numbers="costs", marked="differs from the best", means="best:",
)  # fmt: skip
CHANCES = parts.Chances(["9", "T"], {"bust": [0.23, 0.21], "17": [0.12, 0.11]})
BAND = {"anytime 95%": [(-0.2, 0.3), (-0.1, 0.2)], "95%": [(-math.inf, math.inf), (-0.05, 0.15)]}
LINES = [
    Line("return", [1000, 20_000], [0.02, 0.05], BAND),
    Line("adjusted", [1000, 20_000], [0.04, 0.05], {}, "adjusted"),
]
BELOW = Panel("magnified 20 times", LINES[1:], {"exact value": 0.045}, (0.03, 0.06))
CURVES = Curves(
    [Panel("lim17: +5%", LINES, {"exact value": 0.045}, (-0.3, 0.4), BELOW, marks={"N0": 5000})] * 2,
    Axis("hands", parts.short_count, is_log=True), Axis("return", six), [TABLE] * 2, TABLE,
)  # fmt: skip
SERIES = [parts.DataSeries("EV", [-0.01, 0.02], parts.percent, [0.001, 0.002], ["low", "high"])]
BARS = parts.Bars(["-1", "+1"], [*SERIES, parts.DataSeries("bet", [1.0, 8.0], str)], "true count")
DOTS = parts.Dots(["one game", "another"], SERIES, "value", ["6 decks", "8 decks"])
HEAT = parts.Heat(["60%"], ["1-4", "1-8"], [[10.5, 30.25]], [[0.01, None]], ("cut", "spread"), "SCORE")
FIGURES = Figures([Value("value", "the value", -0.0028, six), Value("hidden", "", 7), Value("", "only shown", None)])
GAME = SimpleNamespace(name="neller", to_dict=lambda: {"decks": "inf"})
REPORT = Report(
    "A <title>", ["the game & its rules"],
    [
        FIGURES, Section("Found"), TABLE, CHART, CHANCES, CURVES, BARS, DOTS, HEAT, Notes(["careful"], "warning"),
        Notes(["point at it"], "screen"), parts.Code("1 2\n3 4"), parts.ProgressBar(1, 4, "1 of 4"),
        Only("page", lambda: [Notes(["for a page"])]), Only("terminal", lambda: [Notes(["for a terminal"])]),
        parts.Beside([[Section("left", 3)], [Notes(["right"], "dim")]]),
        parts.Folded("more", False, [Notes(["folded"])]),
    ],
    [GAME], "bjsim run --bots lim17", lambda: {"seed": 1},
)  # fmt: skip


def test_programs_get_every_number_that_has_a_key():
    found = to_json(REPORT)
    assert json.loads(json.dumps(found)) == found == {
        "seed": 1,
        "value": -0.0028,
        "hidden": 7,
        "bots": [
            {"name": "lim17", "mean": -0.0577, "ci95": [-0.07, -0.04], "exact": -0.061895},
            {"name": "new <b>", "mean": 0.1, "ci95": ["-inf", "inf"], "exact": None},
        ],
    }  # fmt: skip


def test_a_part_is_made_only_where_it_is_shown():
    """Else a terminal would pay for the charts of the page, and every result for its data."""

    def costly():
        raise AssertionError

    for_page = replace(REPORT, parts=[Only("page", costly), FIGURES], data=costly)
    assert "the value" in printed(for_page)
    page_body(replace(REPORT, parts=[Only("terminal", costly)], data=costly))
    with pytest.raises(AssertionError):
        page_body(for_page)


@pytest.mark.parametrize("is_terminal", [True, False])
def test_a_terminal_shows_what_fits_there(is_terminal):
    text = printed(REPORT, 100, is_terminal)
    lines = [line.rstrip() for line in text.splitlines()]
    assert lines[:4] == ["the game & its rules", "the value   -0.280000%", "only shown  –", ""]
    assert "  lim17   -5.7700%   -7.0000% … -4.0000%   -6.189500%" in lines and "hidden" not in text
    assert lines.count("… and 1 more; --json lists them all") == 2  # the table, and that of the curves
    assert [lines[lines.index("      dealer's card") + n] for n in range(1, 6)] == [
        "hard  9  T", "   16 S! Rh", "pairs 9  T", "   88 P!", " S stand   surrender  ! differs from the best",
    ]  # fmt: skip
    assert "for a terminal" in lines and "right" in lines and "careful" in lines and "3 4" in lines
    assert not re.search("for a page|point at it|folded|A <title>|reproduce|bjsim run", text)


def test_a_page_shows_all_and_escapes_it():
    body = page_body(REPORT)
    text = re.sub(r"[ \n]+", " ", re.sub(r"<svg.*?</svg>|<[^>]*>", " ", body, flags=re.S))
    for each in (
        "A &lt;title&gt;", "the game &amp; its rules", "the value -0.280000%", "only shown –", "Found", "new &lt;b&gt;",
        "-7.0000%\u00a0… -4.0000%", "too few hands", "S→ H .0450", "P→ Dh 1.23", "surrender", "88 is a pair",
        "bust 23.0 21.0", "return, with its anytime 95% and 95% intervals", "exact value", "10.5 ± &lt; 0.1", "30.2",
        "careful", "point at it", "1 2 3 4", "1 of 4", "for a page", "left right", "more folded",
        "How to reproduce it bjsim run --bots lim17", "The rules: neller decks inf",
    ):  # fmt: skip
        assert each in text, each
    assert "for a terminal" not in text and body.count("<details") == 4
    assert 'data-ev="S-0.541200 H-0.509000"' in body and "P+Infinity" in body and 'data-cost="0.045000%"' in body
    assert body.count("polyline") == 2 * 3 and body.count("<rect") == 4 and body.count("<circle") == 2
    levels = list(map(int, re.findall(r"<h(\d)", body)))
    assert all(later <= level + 1 for level, later in pairwise(levels)), levels  # as screen readers expect
    page = make_page(REPORT)
    assert page.startswith("<!DOCTYPE html>") and "<title>A &lt;title&gt;</title>" in page and body in page
    assert not re.search(r"(?:src|href)=\"(?!data:)|url\(|@import", page)


@pytest.mark.parametrize("seed", range(20))
def test_a_short_chart_loses_no_cell(seed):
    """What its rows stand for, each with the cells of the first, is the whole chart; they could not be fewer."""
    chosen = random.Random(seed)
    rows, columns = [str(n) for n in range(chosen.randrange(1, 9))], "23"
    cells = {
        (row, column): Cell(chosen.choice("SH"), {}, chosen.choice(["", "", "R"]))
        for row in rows
        for column in columns
        if chosen.random() < 0.9
    }
    groups = ChartGrid(columns, {"hard": rows}, cells, {}).groups("hard")
    assert [row for group in groups for row in group] == rows
    alike = [[str([cells.get((row, column)) for column in columns]) for row in group] for group in groups]
    assert all(len(set(group)) == 1 for group in alike) and all(one[0] != other[0] for one, other in pairwise(alike))


def test_a_band_without_bounds_is_not_drawn():
    body = page_body(replace(REPORT, parts=[CURVES]))
    counts = [len(points.split()) for points in re.findall(r'<polygon class="raw" points="([^"]*)"', body)]
    assert counts == [4, 2, 4, 2]  # there and back; the second band is known at one end


def drawn(part, *others):
    figure = make_figure(replace(REPORT, parts=[FIGURES, part, *others]))
    return figure, [text.get_text() for text in figure.findobj(Text) if text.get_text()]


def test_a_picture_of_a_chart_has_its_codes_costs_and_chances():
    _, words = drawn(CHART, CHANCES)
    assert {"A <title>", "the game & its rules", "the value: -0.280000%; only shown: –"} <= set(words)
    for each in ("16", "S→H", ".0450", "Rh", "P→Dh", "1.23", "bust", "23.0", "88 is a pair", "bjsim run --bots lim17"):
        assert each in words, each
    assert (
        "∞" in drawn(CHART._replace(numbers="margins"))[1] and ".0450" not in drawn(CHART._replace(numbers="none"))[1]
    )
    assert "≥4" in drawn(CHART._replace(labels={("16", "9"): "≥4"}))[1]


def test_a_picture_of_curves_shares_its_scales():
    figure, words = drawn(CURVES)
    above, other, below, _ = figure.subfigs[0].axes
    assert above.get_xlim() == other.get_xlim() == (1000, 20_000) and above.get_ylim() == (-0.3, 0.4)
    assert [list(line.get_ydata()) for line in above.lines] == [[0.02, 0.05], [0.04, 0.05], [0.045] * 2, [0, 1]]
    assert below.get_ylim() == (0.03, 0.06) and len(below.lines) == 2
    titles = {axes.get_title(loc="left") for axes in figure.subfigs[0].axes}
    assert titles == {"lim17: +5%", "magnified 20 times"}
    assert {"return", "adjusted", "exact value", "N0", "anytime 95% interval", "hands"} <= set(words)


def test_pictures_of_bars_dots_and_a_heat_map_have_their_values():
    figure, words = drawn(BARS)
    heights = [bar.get_height() for axes in figure.subfigs[0].axes for bar in axes.patches]
    assert heights == [-0.01, 0.02, 1, 8] and {"-1", "+1", "low", "high", "true count", "EV", "bet"} <= set(words)
    figure, words = drawn(DOTS)
    (axes,) = figure.subfigs[0].axes
    dots = [line.get_xdata()[0] for line in axes.lines if line.get_marker() == "o"]
    assert dots == [-0.01, 0.02] and {"one game", "8 decks", "high", "value"} <= set(words)
    assert {"10.5", "30.2", "± < 0.1", "60%", "1-8", "cut", "spread", "SCORE"} <= set(drawn(HEAT)[1])
    skewed = DOTS._replace(series=[SERIES[0]._replace(halves=[(0.001, 0.003), (0.0, 0.0)])])
    (axes,) = drawn(skewed)[0].subfigs[0].axes
    assert [bar.get_segments()[0][:, 0].round(3).tolist() for bar in axes.collections] == [[-0.011, -0.007]]
    found = re.findall(
        r'class="whisker" x1="([^"]+)" x2="([^"]+)".*?cx="([^"]+)"', page_body(replace(REPORT, parts=[skewed])), re.S
    )
    left, right, dot = map(float, found[0])
    assert (right - dot) == pytest.approx(3 * (dot - left), abs=0.3) and len({*found[1]}) == 1
    infinite = DOTS._replace(series=[parts.DataSeries("value", [math.inf, 0.02], parts.percent)])
    assert len([line for line in drawn(infinite)[0].subfigs[0].axes[0].lines if line.get_marker() == "o"]) == 1
    assert "<circle" in page_body(replace(REPORT, parts=[infinite]))


def test_the_words_beside_bars_are_within_the_picture():
    name = "change in the return when one card is removed, % of the bet"
    figure, _ = drawn(BARS._replace(series=[BARS.series[0]._replace(name=name)]))
    figure.draw_without_rendering()
    words = figure.subfigs[0].axes[0].yaxis.label.get_window_extent()
    assert words.x0 >= 0 and 0 <= words.y0 < words.y1 <= figure.bbox.y1


def test_pictures_are_small_and_the_same_each_time(tmp_path):
    for name in ("one.svg", "two.svg", "one.png", "two.png"):
        draw(replace(REPORT, parts=[CHART]), str(tmp_path / name))
    data = (tmp_path / "one.svg").read_bytes()
    assert data == (tmp_path / "two.svg").read_bytes() and str(tmp_path).encode() not in data
    assert ElementTree.fromstring(data).tag.endswith("svg")
    assert (tmp_path / "one.png").read_bytes() == (tmp_path / "two.png").read_bytes()
    found = {colour for _, colour in Image.open(tmp_path / "one.png").convert("RGB").getcolors(1000)}
    for letter in "SHDPR":
        colour = [int(ACTIONS[letter][place : place + 2], 16) for place in (1, 3, 5)]
        assert min(max(abs(a - b) for a, b in zip(colour, one, strict=True)) for one in found) <= 2, letter
    with pytest.raises(InputError, match="nothing to draw"):
        draw(replace(REPORT, parts=[TABLE]), str(tmp_path / "x.png"))


class Found(Described):
    """A made-up result."""

    def describe(self):
        return REPORT


def test_a_result_follows_from_its_description():
    found = Found()
    assert found.to_json() == to_json(REPORT) and found.published() is found
    html = found._repr_html_()
    assert "-0.280000%" in html and "<table" in html and "<style" not in html and "polyline" not in html


def test_a_data_frame_has_two_columns_for_an_interval(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", SimpleNamespace(DataFrame=lambda columns, index: (columns, index)))
    columns, _ = Found().to_frame()
    assert list(columns) == ["name", "mean", "ci95_low", "ci95_high", "exact"] and columns["mean"] == [-0.0577, 0.1]
    assert data_frame({"a": [1, 2]}, ["x", "y"]) == ({"a": [1, 2]}, ["x", "y"])


def test_a_record_is_an_object_in_data_and_a_column_for_each_field_of_a_frame(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", SimpleNamespace(DataFrame=lambda columns, index: columns))
    adjusted = AdjustedReturn(-0.01, 0.001, (-0.02, 0.0), (-0.03, 0.01), 30.0, 9)
    columns = [parts.DataColumn("luck_adjusted", "", lambda row: row), parts.DataColumn("faults", "", lambda row: {})]
    columns.append(parts.DataColumn("effect", "", lambda row: row and CutCardEffect(0.1, (0.0, 0.2))))
    found = Found()
    found.describe = lambda: replace(REPORT, parts=[parts.DataTable("bots", columns, [adjusted, None])])
    assert found.to_json()["bots"][0]["luck_adjusted"]["anytime95"] == [-0.03, 0.01]
    frame = found.to_frame()
    assert frame["luck_adjusted_mean"] == [-0.01, None] and frame["luck_adjusted_ci95_low"] == [-0.02, None]
    assert frame["effect_mean"] == [0.1, None] and frame["effect_ci95_high"] == [0.2, None]
    assert not {"luck_adjusted", "faults", "effect_low"} & frame.keys()


def test_an_adjusted_return_is_printed_with_half_its_interval():
    adjusted = AdjustedReturn(-0.01, 0.001, (-0.012, -0.008), (-0.03, 0.01), 30.0, 9)
    assert str(adjusted) == "-1.0000% ± 0.2000%"
    assert str(adjusted._replace(ci95=(-math.inf, math.inf))) == "-1.0000%, too few shoes"


def test_numbers_are_short_and_never_minus_zero():
    assert [parts.decimals(x, 2) for x in (0, 0.001, 0.05, 0.999, 12, math.inf)] == [
        "0",
        "<.01",
        ".05",
        "1.00",
        "12.00",
        "∞",
    ]
    counts = (100, 999.9, 10_000, 999_999, 2_500_000, 1e9)
    assert [parts.short_count(x) for x in counts] == ["100", "1k", "10k", "1M", "2.5M", "1G"]
    assert [parts.percent(x, sign=sign) for x in (-1e-9, 0.0) for sign in ("+", "")] == ["+0.0000%", "0.0000%"] * 2
    assert parts.percent(-0.12345, 1) == "-12.3%" and parts.percent(math.inf) == "+inf%"
    assert [round_values(0, high) for high in (4, 9, 24)] == [[0, 1, 2, 3, 4], [0, 2, 4, 6, 8], [0, 5, 10, 15, 20]]
    for low, high in ((-12.7, 8.1), (-0.0031, 0.0017), (99.99, 100.02)):
        values = round_values(low, high)
        assert 3 <= len(values) <= 6 and low <= min(values) and max(values) <= high
        assert all(re.fullmatch(r"-?[\d.]+(e-\d+)?", f"{value:.6g}") for value in values)


def test_scales_of_few_points():
    line = Line("few", [10], [4.0], {"95%": [(-math.inf, math.inf)]})
    curves = Curves([Panel("few", [line])], Axis(is_log=True), Axis())
    assert y_bounds(curves.panels[0]) == (3, 5) and x_bounds(curves) == (10, 11)
    assert find_ticks(curves.x, 10, 11) == [10, 11] and find_ticks(curves.x, 10, 1e4) == [10, 100, 1000, 1e4]
    assert padded([0, 1], 0.1) == (-0.1, 1.1)


def test_a_warning_is_no_small_print():
    page = make_page(Report("", [], [Notes(["biased"], "warning"), Notes(["as usual"], "dim")]))
    assert '<p class="notice warn">biased</p>' in page and '<p class="note">as usual</p>' in page
    assert "\n.notice.warn {" in page


@pytest.mark.parametrize(("halves", "colours"), [((), ["grey", "grey"]), ((0.1, 0.1), ["gain", "loss"])])
def test_only_bars_with_intervals_are_gains_and_losses(halves, colours):
    bars = draw_bars(["0", "1"], parts.DataSeries("", [0.5, -0.5], str, halves, colour="grey"))
    assert re.findall(r'<rect class="(\w+)"', bars) == colours
    assert "\nrect.grey { fill: " in make_page(Report("", [], []))
