"""Rounds of Blackjack Switch: two hands of a seat, whose second cards may be exchanged."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path

import pytest
from support.command import bjsim, refusal
from support.table import play_script
from support.tiny_shoe import TinyShoe, draws, less

from bjsim import bank, play
from bjsim.errors import InputError
from bjsim.sim.game.actions import EXCHANGE, INSURANCE, Action, View
from bjsim.sim.game.presets import named_rules
from bjsim.sim.game.round import Round
from bjsim.sim.game.rules import Rules
from bjsim.sim.game.shoe import ScriptedShoe, ShoeError
from bjsim.strategies.evaluation.coach import Coach
from bjsim.strategies.exact.solver import Solver
from bjsim.strategies.learning.observations import Encoder
from bjsim.strategies.mdp.blackjack import game_mdp
from bjsim.strategies.players.catalogue import as_player, find_player
from bjsim.strategies.shoe.exchange import exchange_values
from bjsim.strategies.shoe.players import CardPlayer, Perfect
from bjsim.strategies.shoe.present import action_values

GAME = named_rules("blackjack-switch")
INFINITE = GAME.replace(decks="inf")
TINY = {"A": 2, "6": 4, "T": 7}


@pytest.mark.parametrize(
    ("changes", "cards", "answers", "net"),
    [
        ({}, "T66 5TK 9K", "X, S, D", 3),  # 20 stands, 11 doubles to 20; the dealer busts
        ({}, "T66 5TK 6", "S, S, S", 0),  # a dealer's 22 pushes 15 and 16
        ({}, "T66 5TK J5", "S, H, S", -2),  # 25 loses at once; the dealer's 21 takes 16 too
        ({}, "A96 5TK 6", "X, S", 0),  # ace and ten after an exchange: a dealer's 22 pushes 21
        ({"exchange": "natural"}, "A96 5TK 6", "X, S", 1),  # as a natural it has won
        ({}, "A96 T5K 6", "S, S", 1),  # a dealt natural has won
        ({}, "A96 T5K 55", "X, D, S", -1),  # a natural given up for a double, which ties
        ({}, "AAT TKA", "", 0),  # two naturals tie with the dealer's, without an exchange
        ({}, "A9T TKA", "", -1),
        ({}, "99T KKA", "", -2),
        ({"surrender": "late"}, "T66 5TK 9K", "X, R, H, S", Fraction(1, 2)),
        ({"max_hands": 2}, "887 88K TTTT", "S, P, S, S, P, S, S", 4),  # each hand is split up to the limit
        ({"max_hands": 3}, "887 88K 8TTTTT", "S, P, P, S, S, S, P, S, S", 5),
        ({"insurance": True}, "99A 99K", "I", 2 - 2),  # insurance of both bets
        ({"insurance": True}, "99A 998", "I, S, S, S", -1 - 2),
    ],
)
def test_what_a_round_pays(changes: dict[str, object], cards: str, answers: str, net: object) -> None:
    result, _ = play_script(GAME.replace(**changes), cards, [answers])
    assert result.net == (net,)


def test_what_a_seat_sees() -> None:
    """The other hands at the exchange and later, and the number of hands of each bet on its own."""
    _, (player,) = play_script(GAME, "8T7 T8K TT2", ["X, P, S, S, H"])
    asked, pair, *_, last = player.views
    assert (asked.hand, asked.others, asked.legal, asked.visible) == ("8T", "T8", EXCHANGE, "7#8TT8")
    assert (asked.stake, asked.chips) == (10, 180)
    assert (pair.hand, pair.others, pair.hands, pair.pending) == ("88", "TT", 1, 0)
    assert "P" in pair.legal
    split = player.views[2]
    assert (split.hand, split.others, split.hands, split.pending) == ("8T", "8TT", 2, 1)
    assert (last.hand, last.others, last.hands, last.chips) == ("TT", "8T8T", 1, 170)


def test_every_seat_is_asked_before_the_first_hand_is_played() -> None:
    result, players = play_script(GAME, "6T T6 6 T5 5T K 8", ["S, S, S", "S, S, S"])
    assert [player.views[0].legal for player in players] == [EXCHANGE, EXCHANGE]
    assert result.net == (2, 2)


# --- a tiny shoe, dealt in every possible way


def tiny_best(game: Rules, cards: str) -> Callable[[str, str, str, str], tuple[str, dict[str, Fraction]]]:
    """The best action by (hand, dealer, the other hand as dealt, legal), and its value for each hole card."""
    return TinyShoe(game.replace(exchange="none"), cards).best


def tiny_values(game: Rules, cards: str, shown: str, hands: str) -> tuple[Fraction, Fraction]:
    """What both hands win if they are kept and if they are exchanged, times the chance that there is no natural."""
    shoe, best = TinyShoe(game.replace(exchange="none"), cards), tiny_best(game, cards)
    rest = less(cards, shown + hands)
    a, b, c, d = tuple(hands)

    def value(hand: str, other: str, exchanged: bool) -> Fraction:
        legal = shoe.legal(hand, "", 1)
        if exchanged and game.exchange == "21" and shoe.natural(hand):
            legal = "S"
        by_hole = best(hand, shown, other, legal)[1]
        return sum((Fraction(rest.count(hole), len(rest)) * won for hole, won in by_hole.items()), Fraction(0))

    return value(a + b, c + d, False) + value(c + d, a + b, False), value(a + d, c + b, True) + value(
        c + b, a + d, True
    )


def tiny_game(game: Rules, cards: str) -> Fraction:
    """The value of a bet, summed over the dealer's card and the four cards."""
    shoe, ev = TinyShoe(game.replace(exchange="none"), cards), Fraction(0)
    both = game.blackjack_pays if game.natural_beats_natural else Fraction(-(game.ties == "lose"))  # of two naturals
    for shown, p in draws(cards):
        rest = less(cards, shown)
        for hands, q in four_cards(rest):
            ev += p * q * max(tiny_values(game, cards, shown, hands))
            if game.insurance and shown == "A":
                ev += p * q * max(tiny_insurance(cards, shown + hands), Fraction(0))
            for hole, r in draws(less(rest, hands)) if game.peek else ():
                won = sum(both if shoe.natural(hand) else Fraction(-1) for hand in (hands[:2], hands[2:]))
                ev += p * q * r * won * shoe.dealer_natural(shown + hole)
    return ev / 2


def tiny_insurance(cards: str, gone: str) -> Fraction:
    """What insurance of both bets wins: half of each, 2:1 if the hole card is a ten."""
    rest = less(cards, gone)
    return Fraction(3 * rest.count("T"), len(rest)) - 1


def four_cards(cards: str, dealt: str = "") -> Iterator[tuple[str, Fraction]]:
    if len(dealt) == 4:
        yield dealt, Fraction(1)
        return
    for card, p in draws(cards):
        for hands, q in four_cards(less(cards, card), dealt + card):
            yield hands, p * q


class TinyPlayer:
    """Plays each hand its best for its cards, the dealer's, and those of the other hand as dealt."""

    name = "tiny"

    def __init__(self, game: Rules, cards: str) -> None:
        self.game, self.cards, self.best = game, cards, tiny_best(game, cards)

    def decide(self, view: View) -> Action:
        if view.legal == INSURANCE:
            return Action("I" if tiny_insurance(self.cards, view.dealer + view.hand + view.others) > 0 else "S")
        if view.legal == EXCHANGE:
            keep, exchange = tiny_values(self.game, self.cards, view.dealer, view.hand + view.others)
            return Action("X" if exchange > keep else "S")
        hand = "".join(sorted(view.hand, key="A6T".index))
        return Action(self.best(hand, view.dealer, view.others[:2], view.legal)[0])


def all_rounds(game: Rules, cards: str, player: TinyPlayer, dealt: str = "") -> Fraction:
    """What a bet wins in the mean of all rounds that begin with some cards."""
    try:
        return Round(game, ScriptedShoe(dealt), 1).play([player]).net[0] / 2
    except ShoeError:
        left = less(cards, dealt)
        return sum((p * all_rounds(game, cards, player, dealt + card) for card, p in draws(left)), Fraction(0))


@pytest.mark.slow
@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"exchange": "natural", "hit_soft_17": False},
        {"peek": False},
        {"natural_beats_natural": True},
        {"ties": "lose", "insurance": True},
    ],
)
def test_every_round_of_a_tiny_shoe(changes: dict[str, object]) -> None:
    """The readable round against a program that shares nothing with it."""
    game = GAME.replace(decks=1, split_by="never", **changes)
    cards = "".join(card * number for card, number in TINY.items())
    assert all_rounds(game, cards, TinyPlayer(game, cards)) == tiny_game(game, cards)


# --- simulation


@pytest.mark.slow
def test_a_simulation_agrees_with_the_exact_value_of_a_bet() -> None:
    """The best chart and another one, both with the best exchange."""
    for bot in play(INFINITE, bots=["optimal", "hoyle"], hands=20_000, seed=32, workers=1).results:
        assert bot.z is not None and abs(bot.z) < 4
        assert bot.tally.sd == pytest.approx(bot.exact_sd, rel=0.03)


def test_a_wrong_exchange_is_no_part_of_the_exact_value() -> None:
    """A negative control: a player that never exchanges loses ten times as much, with the best chart."""
    chart = Solver(INFINITE).chart

    def keep(view: View) -> Action:
        return Action("S") if view.legal == EXCHANGE else chart.decide(view)

    kept, best = (play(INFINITE, bots=[bot], hands=1500, seed=1, workers=1)[0] for bot in (keep, chart))  # same cards
    assert best.tally.mean - kept.tally.mean > 0.05


def test_charts_exchange_as_is_best() -> None:
    for chart in (find_player("hoyle", INFINITE), as_player(Solver(GAME.replace(decks="inf")).chart, INFINITE)):
        for hand, others, letter in (("T5", "6T", "X"), ("TA", "AT", "S"), ("88", "88", "S")):
            view = View(INFINITE, 0, hand, "6", "6#", 10, 180, EXCHANGE, others=others)
            assert chart.decide(view) == Action(letter)


def test_two_bets_make_one_return() -> None:
    """Half of what both hands win, so in steps of a half."""
    run = play(GAME, bots="lim17", hands=200, seed=5, workers=1).results[0]
    assert GAME.unit == Fraction(1, 2)
    assert {"-0.5", "0.0", "0.5", "1.5"} & set(run.tally.payoffs) and run.tally.unit == GAME.unit


# --- by hand


@pytest.mark.parametrize("decks", [6, "inf"])
def test_the_coach_values_an_exchange(decks: object) -> None:
    game = GAME.replace(decks=decks)
    coach = Coach(game)
    judged = coach.judge(View(game, 0, "T5", "6", "6#T65T", 10, 180, EXCHANGE, others="6T"), Action("S"))
    assert judged is not None and judged.best == judged.chart == "X" and judged.is_mistake
    values = exchange_values(game, "T5", "6T", "6")
    assert judged.cost == judged.lost == values["X"] - values["S"]


def test_the_coach_knows_all_cards_of_the_seat() -> None:
    coach = Coach(GAME)
    view = View(GAME, 0, "T6", "T", "T#T6A555", 10, 180, "SHD", others="A555")
    judged = coach.judge(view, Action("S"))
    unseen = [24] * 13
    for rank in (0, 4, 4, 4, 5, 9, 9):
        unseen[rank] -= 1
    plain = GAME.replace(exchange="none")
    assert judged is not None and judged.values == action_values(View.alone(plain, "T6", "T", "SHD"), unseen)
    assert coach.basis == "a full shoe of 6 decks without your cards and the dealer's"


def test_a_round_by_hand() -> None:
    told = bjsim("play", "--rules", "blackjack-switch", "--coach", "--shoe", "T66 5TK 9K", "--bet", 10, "--no-record",
                 stdin=b"switch\ns\nd\n").out.splitlines()  # fmt: skip
    assert "Round 1, your bets are two of 10 chips." in told
    assert "Hand 1: you have T 5, 15." in told and "Hand 2: you have 6 T, 16." in told
    assert "You exchange 5 and T: T T, 20, and 6 5, 11." in told
    assert any(line.startswith("Coach: right, exchange is best by ") for line in told)
    assert told[-3:-1] == ["The shoe is empty.", "You played 1 round and won 30 chips: you have 230 chips."]


def test_a_person_needs_chips_for_two_bets() -> None:
    assert refusal("play", "--rules", "blackjack-switch", "--bet", 101) == (
        "--bet 101 on each of two hands is more than the 200 chips; give --chips"
    )
    out = bjsim("play", "--rules", "blackjack-switch", "--chips", 21, "--shoe", "TT6 9", "--no-record", stdin=b"\n").out
    assert "Bet 1 to 10 chips" in out


# --- what is refused


def test_what_does_not_know_two_hands_says_so(tmp_path: Path) -> None:
    program = tmp_path / "bot.py"
    program.write_text("print('S')\n", encoding="utf-8")
    cases: list[tuple[str, Callable[[], object]]] = [
        ("are not played by perfect", lambda: Perfect(GAME)),
        ("are not played by optimal-cd", lambda: CardPlayer(GAME)),
        ("are not shown by environments", lambda: Encoder(INFINITE)),
        ("are not learned", lambda: game_mdp(INFINITE)),
        ("have no protocol for programs", lambda: play(GAME, bots=str(program), hands=10)),
        ("are not covered by the distribution of profits", lambda: bank(INFINITE, 1000, 500, bet=10, goal=1500)),
    ]
    for why, refused in cases:
        with pytest.raises(InputError, match=f"exchange = 21: two hands of a seat {why}; use exchange = none$"):
            refused()


@pytest.mark.parametrize(
    ("command", "why"),
    [
        (("count",), "are not counted"),
        (("play", "--count", "hilo"), "are not counted"),
        (("run", "--bots", "lim17", "--hands", 100, "--adjust-luck"), "have no luck-adjusted returns"),
        (("known", "first"), "have no values for known cards"),
        (("bot", "ask", "bot.py", "T6", "9"), "have no protocol for programs"),
        (("bot", "export", "hoyle"), "have no protocol for programs"),
        (("koth", "play", "optimal", "lim17"), "are not played in contests"),
    ],
)
def test_commands_refuse_two_hands_in_one_line(command: tuple[object, ...], why: str) -> None:
    assert refusal(*command, "--rules", "blackjack-switch").endswith(
        f"exchange = 21: two hands of a seat {why}; use exchange = none"
    )
