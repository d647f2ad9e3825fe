"""The colours of pictures and pages differ for people with any kind of colour blindness."""

import re

import pytest
from support.colour_vision import VISIONS, ciede2000, contrast, smallest_difference

from bjsim.report.colours import ACTIONS, FULL, LINES, NIGHT
from bjsim.report.page import templates

APART = 20  # CIEDE2000
CELLS_APART = 15  # of cells, which have their letters too
RAW, ADJUSTED, EXACT = LINES["raw"], LINES["adjusted"], LINES["exact"]
PAPER = "#ffffff"  # of pictures
TOKENS = templates("bjsim.report").get_template("tokens.css").render()
TOKEN = {name: pair for name, *pair in re.findall(r"--([\w-]+): light-dark\((#\w+), (#\w+)\)", TOKENS)}
(DAY_PAPER, DARK_PAPER), (_, DARK_INK) = TOKEN["paper"], TOKEN["ink"]
READ = [  # what is read on what
    *(("ink", ground) for ground in ("paper", "raised", "sunken", "wash", "warn-wash", "loss-wash")),
    *((text, ground) for text in ("soft", "accent", "gain", "loss") for ground in ("paper", "raised", "sunken")),
    ("accent", "wash"), ("on-accent", "accent"), ("loss", "loss-wash"), ("warn", "warn-wash"),
    *(("cell-ink", letter) for letter in ACTIONS),
]  # fmt: skip
SEEN = [("edge", "paper"), ("edge", "raised"), ("focus", "paper"), *((f"{letter}-full", "paper") for letter in FULL)]
PUBLISHED = [  # from table 1 of [Sharma]: two colours in CIELAB, and their difference
    ((50, 2.6772, -79.7751), (50, 0, -82.7485), 2.0425),
    ((50, -1.3802, -84.2814), (50, 0, -82.7485), 1.0),
    ((50, 2.49, -0.001), (50, -2.49, 0.0011), 7.2195),
    ((50, -1, 2), (50, 0, 0), 2.3669),
    ((50, 2.5, 0), (73, 25, -18), 27.1492),
    ((50, 2.5, 0), (56, -27, -3), 31.903),
    ((60.2574, -34.0099, 36.2677), (60.4626, -34.1751, 39.4387), 1.2644),
]


def test_the_formula_gives_the_published_differences():
    for one, other, difference in PUBLISHED:
        assert ciede2000(one, other) == pytest.approx(difference, abs=5e-5)
        assert ciede2000(other, one) == pytest.approx(difference, abs=5e-5)


def test_no_vision_changes_grey():
    for matrix in VISIONS.values():
        assert matrix.sum(axis=1) == pytest.approx(1, abs=2e-6)


@pytest.mark.parametrize("vision", VISIONS)
def test_all_colours_of_a_group_are_apart(vision):
    assert min(smallest_difference(colours.values(), vision) for colours in (ACTIONS, NIGHT)) > CELLS_APART
    assert smallest_difference((RAW, ADJUSTED, EXACT, PAPER), vision) > APART
    assert smallest_difference((RAW, ADJUSTED, DARK_PAPER, DARK_INK), vision) > APART


@pytest.mark.parametrize("vision", VISIONS)
def test_no_filled_cell_looks_empty(vision):
    for colours, paper in ((ACTIONS, PAPER), (ACTIONS, DAY_PAPER), (NIGHT, DARK_PAPER)):
        assert min(smallest_difference((colour, paper), vision) for colour in colours.values()) > 9


@pytest.mark.parametrize("vision", ["protanopia", "deuteranopia"])
def test_red_and_green_are_not_apart(vision):
    """Negative control: the usual red and green of strategy cards."""
    assert smallest_difference(("#f0918a", "#a5d68c", "#8fbbe8", "#f6dc6f", "#d9d9d9"), vision) < APART / 2


@pytest.mark.parametrize(("pairs", "least"), [(READ, 4.5), (SEEN, 3)])
def test_pages_are_legible_by_day_and_by_night(pairs, least):
    """WCAG 2.2, AA: text, then borders of controls, bars and the ring of the focus."""
    for name, ground in pairs:
        for one, other in zip(TOKEN[name], TOKEN[ground], strict=True):
            assert contrast(one, other) >= least, (name, ground, one, other)
