"""The readable round: views, legal actions and chips."""

from __future__ import annotations

from fractions import Fraction

import pytest
from support.table import Scripted, line, play_script

from bjsim.errors import InputError
from bjsim.sim.game.actions import Action, IllegalAction, View, raise_by
from bjsim.sim.game.events import Acted, Dealt, Shuffled
from bjsim.sim.game.presets import named_rules
from bjsim.sim.game.round import Round, drive
from bjsim.sim.game.rules import Rules
from bjsim.sim.game.shoe import DeckShoe, ScriptedShoe, Stream

EASY, CARDSHARK = (named_rules(name) for name in ("easy", "cardshark"))
VEGAS = named_rules("vegas-s17").replace(insurance=False)


def legal_letters(rules: Rules, cards: str, answers: str) -> list[str]:
    """The legal letters of a single seat at each of its decisions, sorted."""
    _, (player,) = play_script(rules, cards, [answers])
    return ["".join(sorted(view.legal)) for view in player.views]


def test_a_view_is_what_the_cardshark_protocol_tells() -> None:
    """Visible: the dealer's open card, `#`, then the open cards in the order they were dealt [CardShark]."""
    _, players = play_script(CARDSHARK.replace(seats=2), "5 9 T  6 7 7  2  9", ["B 15, H, S", "H, S"])
    first, second, third = players[0].views
    assert (first.hand, first.dealer, first.visible, first.stake, first.chips) == ("56", "T", "T#5967", 10, 190)
    assert (second.hand, second.visible, second.stake, second.chips) == ("56", "T#59672", 25, 175)
    assert (third.hand, third.visible, third.stake, third.chips) == ("569", "T#596729", 25, 175)
    assert [view.hand for view in players[1].views] == ["97", "972"]
    assert [view.visible for view in players[1].views] == ["T#5967", "T#596729"]
    assert [view.seat for player in players for view in player.views] == [0, 0, 0, 1, 1]


def test_both_dealer_cards_are_seen_where_the_rules_show_both() -> None:
    _, (player,) = play_script(EASY, "97 T6", ["R"])
    assert (player.views[0].dealer, player.views[0].visible) == ("97", "97T6")


def test_a_split_hand_says_so_and_how_many_hands_there_are() -> None:
    _, (player,) = play_script(VEGAS, "8 7 8 T  8  2 T  3 T  5 T", ["P, P, D, D, H"])
    assert [(view.hand, view.split, view.hands) for view in player.views] == [
        ("88", False, 1), ("88", True, 2), ("82", True, 3), ("83", True, 3), ("85", True, 3),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("rules", "cards", "answers", "offered"),
    [
        (EASY, "98 T6", "S", ["DHRS"]),
        (EASY, "T7 88 9T", "P, S, S", ["DHPRS", "DHS", "DHS"]),
        (EASY, "T7 KJ 99", "P, S, S", ["DHPRS", "DHS", "DHS"]),
        (EASY, "T7 34 2", "H, S", ["DHRS", "HS"]),
        (VEGAS, "8 7 3 T", "S", ["DHS"]),
        (VEGAS.replace(double_on="9-11"), "8 7 4 T", "S", ["HS"]),
        (VEGAS.replace(double_on="9-11"), "8 7 3 T", "S", ["DHS"]),
        (VEGAS.replace(double_on="9-11"), "9 7 A T", "S", ["HS"]),
        (VEGAS.replace(double_on="19-20"), "9 7 A T", "S", ["HS"]),
        (VEGAS.replace(double_on="never"), "8 7 3 T", "S", ["HS"]),
        (VEGAS.replace(double_after_split=False), "8 7 8 T 3 2", "P, S, S", ["DHPS", "HS", "HS"]),
        (VEGAS.replace(split_by="never"), "8 7 8 T", "S", ["DHS"]),
        (VEGAS.replace(split_by="rank"), "K 7 Q T", "S", ["DHS"]),
        (VEGAS.replace(split_by="rank"), "K 7 K T 9 9", "P, S, S", ["DHPS", "DHS", "DHS"]),
        (VEGAS.replace(max_hands=2), "8 7 8 T 8 8", "P, S, S", ["DHPS", "DHS", "DHS"]),
        (VEGAS.replace(resplit_aces=True), "A 7 A T A 2 3 4", "P, P", ["DHPS", "PS"]),
        (VEGAS.replace(resplit_aces=True), "A 7 A T A 2", "P, S", ["DHPS", "PS"]),
        (VEGAS.replace(resplit_aces=True, max_hands=2), "A 7 A T A 2", "P", ["DHPS"]),
        (VEGAS.replace(hit_split_aces=True), "A 7 A T A 2", "P, S, S", ["DHPS", "DHS", "DHS"]),
        (VEGAS.replace(surrender=True), "8 7 8 T 3 2", "P, S, S", ["DHPRS", "DHS", "DHS"]),
        (VEGAS.replace(stand_on_21=False), "8 7 3 T T", "H, S", ["DHS", "HS"]),
        (VEGAS.replace(stand_on_21=False, naturals="none", peek=False, insurance=False), "A 7 T T", "S", ["DHS"]),
        (VEGAS.replace(stand_on_21=False), "T 7 T T A 9", "P, S, S", ["DHPS", "DHS", "DHS"]),
        (VEGAS.replace(stand_on_21=False, split_tens_blackjack=True), "T 7 T T A 9", "P, S", ["DHPS", "DHS"]),
        (VEGAS.replace(hit_split_aces=True, stand_on_21=False), "A 7 A T T 2", "P, S, S", ["DHPS", "DHS", "DHS"]),
        (
            VEGAS.replace(hit_split_aces=True, stand_on_21=False, split_aces_blackjack=True),
            "A 7 A T T 2",
            "P, S",
            ["DHPS", "DHS"],
        ),
        (CARDSHARK.replace(seats=1), "8 T 3 7", "S", ["BDHS"]),
        (CARDSHARK.replace(seats=1), "8 T 3 7", "B 0, S", ["BDHS", "BHS"]),
        (CARDSHARK.replace(seats=1, chips=25), "8 T 3 7", "B 6, S", ["BDHS", "BHS"]),
        (CARDSHARK.replace(seats=1, chips=20), "8 T 3 7", "S", ["BDHS"]),
    ],
)
def test_what_may_be_done(rules: Rules, cards: str, answers: str, offered: list[str]) -> None:
    assert legal_letters(rules, cards, answers) == offered


@pytest.mark.parametrize(
    ("kind", "hole", "net", "acted"),
    [
        ("early", "T", ["-1/2", "-1", "-1"], "R"),  # a natural: of the first actions only the surrender counts
        ("early", "9", ["-1/2", "1", "-1"], "RHS"),  # none: the others are done now
        ("early-ace", "T", ["-1/2", "-1", "-1"], "R"),
        ("early-ten", "T", ["-1", "-1", "-1"], ""),  # no seat is asked
        ("late", "T", ["-1", "-1", "-1"], ""),
    ],
)
def test_early_surrender_comes_before_the_look(kind: str, hole: str, net: list[str], acted: str) -> None:
    """Every seat is asked once for its first action, with all choices."""
    game = VEGAS.replace(surrender=kind, seats=3)
    seats = [Scripted(answer) for answer in "RHS"]
    result = Round(game, ScriptedShoe(f"T 5 T A 6 6 8 {hole} T"), len(seats)).play(seats)
    assert [str(profit) for profit in result.net] == net
    assert "".join(event.action.letter for event in result.events if isinstance(event, Acted)) == acted
    if acted:
        assert [[view.legal for view in seat.views] for seat in seats] == [["SHDR"]] * 3


def test_doubling_needs_the_chips_for_it() -> None:
    views: list[View] = []

    class Stands:
        name = "stands"

        def decide(self, view: View) -> Action:
            views.append(view)
            return Action("S")

    Round(CARDSHARK.replace(seats=2), ScriptedShoe("4 4 T 5 5 7"), 2, [19, 20]).play([Stands(), Stands()])
    assert [(view.chips, "D" in view.legal) for view in views] == [(9, False), (10, True)]


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (Action("P"), "answered P with 83 against T; allowed were S, H, D, B"),
        (Action("R"), "answered R with 83 against T"),
        (Action(""), "answered  with 83 against T"),
        (Action("SH"), "answered SH with 83 against T"),
        (Action("X"), "answered X with 83 against T"),
        (raise_by(191), "answered B 191 with 83 against T; allowed were S, H, D, B, B up to 190"),
        (raise_by(-1), "answered B -1"),
        (Action("B", True), "answered Action.*True.* with 83; an Action or its letter"),
        (Action(5), "answered Action.*5.* with 83; an Action or its letter"),  # type: ignore[arg-type]
    ],
)
def test_a_wrong_answer_is_refused_in_words(answer: Action, message: str) -> None:
    class Wrong:
        name = "wrong"

        def decide(self, view: View) -> Action:
            return answer

    with pytest.raises(IllegalAction, match=f"wrong {message}"):
        Round(CARDSHARK.replace(seats=1), ScriptedShoe("8 T 3 7"), 1).play([Wrong()])


def test_a_raised_stake_wins_and_loses_by_the_chip() -> None:
    one = CARDSHARK.replace(seats=1)
    assert play_script(one, "9 T T 8", ["B 3, B 4, S"])[0].net == (Fraction(17, 10),)
    assert play_script(one, "9 T T 9", ["B 3, S"])[0].net == (Fraction(-13, 10),)
    assert play_script(one, "5 T 6 7 T", ["D"])[0].net == (Fraction(2),)


def test_at_the_move_cap_a_hand_stands() -> None:
    one = CARDSHARK.replace(seats=1, move_cap=20)
    result, _ = play_script(one, "5 T 6 7", [",".join(["B 1"] * 20)])
    assert result.net == (Fraction(-3),)
    assert [line(event) for event in result.events][-4:-2] == ["0.0 action B 1", "0.0 end move-cap"]


@pytest.mark.parametrize(("card", "profit"), [("T", Fraction(29, 10)), ("9", Fraction(-29, 10))])
def test_a_hand_may_bust_or_reach_21_on_its_last_move(card: str, profit: Fraction) -> None:
    """A bust loses even if the move cap ends the hand at the same time."""
    one = CARDSHARK.replace(seats=1, move_cap=20)
    cards = "5 T 6 7 " + card if card == "T" else "6 T 7 7 " + card
    result, _ = play_script(one, cards, [",".join(["B 1"] * 19 + ["H"])])
    assert result.net == (profit,)


def test_a_round_that_needs_more_cards_than_a_deck_goes_on_with_a_fresh_one() -> None:
    """Seven seats that hit exhaust the deck; each deck has every rank four times, and a shuffle before it."""

    class Recording(DeckShoe):
        drawn: list[int]

        def draw(self) -> int:
            self.drawn.append(super().draw())
            return self.drawn[-1]

    class Greedy:
        name = "greedy"

        def decide(self, view: View) -> Action:
            return Action("H")

    rules = Rules(decks=1, seats=7, stand_on_21=False, split_by="never", naturals="none")
    shoe = Recording(rules, Stream(5))
    shoe.drawn = []
    events = [event for _ in range(12) for event in Round(rules, shoe, 7).play([Greedy()] * 7).events]
    cards = "".join("-" if isinstance(event, Shuffled) else "c" * isinstance(event, Dealt) for event in events)
    shoes = cards.split("-")
    assert len(shoes) >= 6 and {len(cards) for cards in shoes[:-1]} == {52}
    decks = [shoe.drawn[i : i + 52] for i in range(0, len(shoe.drawn) - 51, 52)]
    assert len(decks) >= 5
    assert all(sorted(deck) == sorted(list(range(13)) * 4) for deck in decks)


@pytest.mark.parametrize("raises", [16, 17])
def test_the_last_move_may_complete_a_charlie(raises: int) -> None:
    rules = named_rules("cardshark").replace(charlie=5, move_cap=20, seats=1)
    moves = iter([Action("B", 0)] * raises + [Action("H")] * 3)
    result = drive(Round(rules, ScriptedShoe("2T2T223"), 1).steps(), lambda seat, view: next(moves))
    assert result.net == (1,) and not result.seats_at_move_cap


@pytest.mark.parametrize("chips", [[200], []])
def test_every_seat_has_chips(chips: list[int]) -> None:
    with pytest.raises(InputError, match=f"chips: those of {len(chips)} seats are given, and there are 4"):
        Round(CARDSHARK, ScriptedShoe("T" * 20), 4, chips)
