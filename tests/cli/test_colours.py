"""The colours of pictures and pages differ for people with any kind of colour blindness."""

import pytest
from support.colour_vision import VISIONS, ciede2000, contrast, smallest_difference

from bjsim.report.colours import ACTIONS, LINES

APART = 20  # CIEDE2000
RAW, ADJUSTED, EXACT = LINES["raw"], LINES["adjusted"], LINES["exact"]
PAPER, DARK_PAPER, DARK_INK = "#ffffff", "#14181c", "#e6e9ec"  # of pictures and pages; see report/templates/style.css
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
    assert smallest_difference(ACTIONS.values(), vision) > APART
    assert smallest_difference((RAW, ADJUSTED, EXACT, PAPER), vision) > APART
    assert smallest_difference((RAW, ADJUSTED, DARK_PAPER, DARK_INK), vision) > APART


@pytest.mark.parametrize("vision", VISIONS)
def test_no_filled_cell_looks_empty(vision):
    assert min(smallest_difference((colour, PAPER), vision) for colour in ACTIONS.values()) > 15


@pytest.mark.parametrize("vision", ["protanopia", "deuteranopia"])
def test_red_and_green_are_not_apart(vision):
    """Negative control: the usual red and green of strategy cards."""
    assert smallest_difference(("#f0918a", "#a5d68c", "#8fbbe8", "#f6dc6f", "#d9d9d9"), vision) < APART / 2


def test_black_text_is_legible_on_all_of_them():
    assert min(contrast(colour, "#000000") for colour in ACTIONS.values()) > 4.5  # WCAG 2, AA
