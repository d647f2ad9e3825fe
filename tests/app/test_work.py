"""What the pages show of games in which one engine has no answer."""

from __future__ import annotations

import re
from types import SimpleNamespace

import pytest
from support.command import bjsim

from bjsim.app import pages, work
from bjsim.app.table_work import AskedPlay, play_report
from bjsim.app.work import (
    ChosenGame,
    all_changes,
    chart_report,
    deviation,
    game_details,
    game_report,
    hand_report,
    value_change,
)
from bjsim.errors import InputError
from bjsim.report.page import render_page, templates
from bjsim.strategies.evaluation.compare import solve
from bjsim.strategies.formats.files import WRITERS
from bjsim.strategies.solved import hands_of

SWITCH = ChosenGame("blackjack-switch", ())


def text(fragment: str) -> str:
    return re.sub(r"\s+", " ", re.sub("<[^>]*>", " ", fragment))


def test_a_game_whose_shoe_is_not_solved_is_shown_in_an_infinite_one_and_says_so() -> None:
    shown, infinite = text(game_report(SWITCH)), text(game_report(SWITCH._replace(settings=("decks=inf",))))
    for page in (shown, infinite):
        assert "−0.714599% of the bet, first round of an infinite shoe" in page
    assert "All values are for an infinite shoe, since exchange = 21" in shown
    assert "All values" not in infinite
    assert all_changes(SWITCH._replace(settings=("decks=inf",))) == "not known: one of these shoes is not solved"
    assert deviation(SWITCH) == "0.854929 bets" and "The closest decisions" in game_details(SWITCH)
    assert value_change(SWITCH, "hit_soft_17=false") == "+0.4013%"
    assert value_change(SWITCH, "decks=8").startswith("not known")


def test_no_rule_is_priced_by_an_infinite_shoe_less_a_finite_one(monkeypatch: pytest.MonkeyPatch) -> None:
    def solved(asked: ChosenGame) -> SimpleNamespace:  # the changed game is not solved
        return SimpleNamespace(rules=asked.rules(), value=0.5, refusal="no" * len(asked.settings))

    monkeypatch.setattr(work, "_solved", solved)
    priced = value_change(ChosenGame("european", ()), "no_hole_loses=busted-plus-one")
    assert priced == "not known: one of these shoes is not solved"


def test_a_rule_that_is_changed_may_be_changed_again() -> None:
    paid = value_change(ChosenGame("easy", ()), "blackjack_pays=6/5")
    back = value_change(ChosenGame("easy", ("blackjack_pays=6/5",)), "blackjack_pays=3/2")
    assert paid[0] == "-" and back == f"+{paid[1:]}"


def test_a_game_of_infinite_value_costs_no_sum() -> None:
    page = text(game_report(ChosenGame("blackjack-p", ("ten_probability=0.6",))))
    assert "∞" in page and "it – ." in page and "$inf" not in page


def test_two_hands_are_valued_as_dealt_and_exchanged() -> None:
    """The figures of `bjsim solve --hand`; cards that are gone would be ignored, and are refused."""
    assert "T6 and 92 against T" in hand_report(SWITCH, "T,6/9,2 v T")
    assert "-0.483769861" in hand_report(SWITCH, "T,6/9,2 v T")
    with pytest.raises(InputError, match="gone: two hands are valued in a full shoe"):
        hand_report(SWITCH, "T,6/9,2 v T", "5")


@pytest.mark.parametrize(
    ("preset", "hand", "why"),
    [
        (
            "vegas-s17",
            "16 v T",
            "only when the dealer goes over: 23 times in 100. A card breaks you 61 times in 100, and",
        ),
        ("vegas-s17", "T,T v 6", "Standing on 20 wins 0.703 of a bet on average. A card breaks you 92 times in 100."),
        ("vegas-s17", "A,7 v 9", "Standing on 18 loses 0.183 of a bet on average. No single card can break you."),
        ("vegas-s17", "8,8 v A", "Two hands that begin with 8 have −0.364 bets together; one hand of 16 has −0.514."),
        ("vegas-s17", "6,5 v 6", "Twice the bet on one card wins +0.683 bets on average."),
        ("atlantic-city", "T,6 v T", "Every other action loses more than half of the bet, the next best 0.53"),
        ("vegas-s17 decks=inf surrender=early", "T,6 v A", "half of the bet, the next best 0.666."),
        ("spanish-21", "T,6 v T", ""),  # it pays in other ways
    ],
)
def test_a_hand_has_a_reason(preset: str, hand: str, why: str) -> None:
    preset, *rules = preset.split()
    page = text(hand_report(ChosenGame(preset, tuple(rules)), hand))
    assert why in page and (why != "" or not re.search("Standing|breaks", page))


@pytest.mark.parametrize(
    ("rules", "breaks"),
    [((), 62), (("ten_probability=1/10",), 50), (("deck=spanish",), 58)],  # 8 of 13 ranks; tens and 4 of .1; 7 of 12
)
def test_a_card_breaks_as_often_as_the_shoe_says(rules: tuple[str, ...], breaks: int) -> None:
    page = text(hand_report(ChosenGame("vegas-s17", ("decks=inf", *rules)), "T,6 v T"))
    assert f"A card breaks you {breaks} times in 100" in page


def test_a_total_is_its_hands_with_high_cards_first() -> None:
    assert hands_of(16) == ["T,6", "9,7", "8,8"] and hands_of(4) == ["2,2"] and hands_of(20) == ["T,T"]
    assert hands_of(3) == hands_of(21) == []


def test_wrong_cells_that_cost_nothing_have_no_portion() -> None:
    game = ChosenGame("vegas-s17", ("decks=inf",))
    lines = WRITERS["csv"](solve(game.rules()).chart).splitlines()
    lines = [",".join([*line.split(",")[:7], *"SSSS"]) if line.startswith("4,") else line for line in lines]
    assert "4 wrong cells" in chart_report(game, "\n".join(lines))


def test_cells_of_infinite_cost_are_the_worst_ones() -> None:
    game = ChosenGame("blackjack-p", ("ten_probability=0.6",))
    page = chart_report(game, WRITERS["csv"](solve(game.rules()).chart).replace("P", "S"))
    head, cells = text(page).split("What each wrong cell costs")
    assert "gives away ∞ exact" in head and "the best +∞%" in head and "inf" not in head
    assert cells.split()[:7] == ["TT", "v", "2", "S", "→", "P", "−∞"]


def test_a_cell_that_gains_has_one_sign() -> None:
    cell = SimpleNamespace(row="16", column="T", chart="H", best="S")
    page = render_page(
        "bjsim.app", "chart_answer.html", title="", lost="1", unit="%", values=["1", "2"], tag="exact", first=8,
        cells=[(cell, 1.0), (cell, -0.5)],
    )  # fmt: skip
    assert re.findall(r'number">(.*?)</span>', page) == ["−1.0000%", "+0.5000%"]


def test_the_command_of_a_shoe_that_is_not_solved_is_of_the_infinite_one() -> None:
    page = game_report(ChosenGame("blackjack-switch", ("decks=6",)))
    [command] = re.findall(r"bjsim solve [^<]*", page)
    assert command == "bjsim solve --rules blackjack-switch --set decks=inf"
    assert "0.714599%" in page and "-0.00714598" in bjsim(*command.split()[1:2], "value", *command.split()[2:]).out


@pytest.mark.parametrize("preset", ["cardshark", "vegas-s17"])
def test_the_values_of_moves_are_shown_where_bets_are_raised_too(preset: str) -> None:
    asked = [AskedPlay(ChosenGame(preset, ()), seed=str(seed), answers="10", hint="yes") for seed in range(1, 6)]
    assert sum("What each move wins" in play_report(each) for each in asked) >= 3


@pytest.mark.parametrize(
    ("preset", "hand", "best", "named", "said"),
    [
        ("vegas-s17", "A,7 v 6", "D", "H", "with the freedom to draw again, by"),  # to stand is better than to draw
        ("atlantic-city", "T,5 v 9", "H", "S", "and that is still better, by"),  # to surrender is better than to stand
    ],
)
def test_a_reason_compares_the_actions_that_it_names(preset: str, hand: str, best: str, named: str, said: str) -> None:
    game = ChosenGame(preset, ())
    values = solve(game.rules()).hand_values(hand[:4:2], hand[-1])
    assert max(values, key=values.__getitem__) == best and sorted(values, key=values.__getitem__)[-2] != named
    gap = 100 * float(values[best] - values[named])
    assert f"{said} {gap:.2f}% of the bet" in text(hand_report(game, hand))


def test_a_king_is_a_ten_that_is_gone() -> None:
    pages = [text(hand_report(ChosenGame("single-deck", ()), hand)) for hand in ("K,6 v Q", "T,6 v T")]
    said = [re.findall(r"A card breaks you \d+ times", page) for page in pages]
    assert said[0] == said[1] == ["A card breaks you 59 times"]  # 29 of 49


def test_infinite_values_have_their_sign_on_every_page() -> None:
    game = ChosenGame("blackjack-p", ("ten_probability=0.6",))
    hand = text(hand_report(game, "T,T v 2").partition("<!-- rest -->")[0])
    assert "better than stand by ∞% of the bet" in hand and "Split +∞" in hand and "have +∞ bets together" in hand
    value = text(game_report(game).partition("Best play")[0])
    assert "+∞% of the bet, first round" in value
    assert not re.search(r"\binf\b", hand + value)


@pytest.mark.parametrize(("game", "tag"), [(SWITCH, "for an infinite shoe"), (ChosenGame("easy", ()), "exact")])
def test_only_the_values_of_the_game_itself_are_called_exact(game: ChosenGame, tag: str) -> None:
    shown = "T7" if game.preset == "easy" else "T"
    assert re.findall(r'class="tag[^>]*>(.*?)</span>', hand_report(game, f"T,6 v {shown}")) == [tag]


def test_what_templates_import_and_what_styles_define_is_used() -> None:
    env, named = templates("bjsim.app"), pages.assets()
    for name in env.list_templates():
        source = env.loader.get_source(env, name)[0] if env.loader else ""
        for names in re.findall(r"{% from .*? import (.*?) %}", source):
            for one in names.split(", "):
                assert len(re.findall(rf"\b{one.split()[-1]}\b", source)) > 1, (name, one)
    style = named["style.css"][0]
    for one in re.findall(r"(--[\w-]+):", style):
        assert re.search(rf"var\({one}[,)]", style), one


@pytest.mark.parametrize(
    "settings", [("decks=inf",), pytest.param(("hit_soft_17=true",), marks=pytest.mark.slow)], ids=["inf", "six"]
)
def test_a_game_has_the_solvers_value_and_deviation(settings: tuple[str, ...]) -> None:
    game = ChosenGame("vegas-s17", settings)
    solution = solve(game.rules())
    page = text(game_report(game))
    assert f"{100 * abs(float(solution.value)):.3f}%" in page.replace(" ", "").replace("\n", "")
    assert deviation(game) == f"{float(solution.sd):.6f} bets"
