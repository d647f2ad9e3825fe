"""A reader of the line protocol: what a bot knows of the table from the lines alone."""

from __future__ import annotations

from dataclasses import dataclass

from bjsim.sim.game.actions import View
from bjsim.sim.game.cards import Hand, parse_rank
from bjsim.sim.game.rules import Rules, parse_field


def parse_words(text: str) -> tuple[list[str], dict[str, str]]:
    """The fixed words of a line, and its keys."""
    words = text.split()
    return [word for word in words if "=" not in word], dict(word.split("=", 1) for word in words if "=" in word)


@dataclass
class ReadHand:
    """A hand as its lines tell it: its cards, and where its bets come from, in first bets."""

    cards: str = ""
    split: bool = False
    doubled: int = 0
    free: int = 0  # what the house put up


class Reader:
    """What a bot knows. It skips lines and keys that it does not know."""

    def __init__(self) -> None:
        self.rules = Rules()
        self.hands: dict[int, list[ReadHand]] = {}
        self.dealer, self.hidden, self.cards = "", 0, ""
        self.asked: list[tuple[list[str], dict[str, str], str]] = []

    def read(self, text: str) -> None:
        words, keys = parse_words(text)
        match words:
            case ["rules"]:
                fields = {name: parse_field(name, value) for name, value in keys.items() if name != "name"}
                self.rules = Rules().replace(**fields)
            case ["round", _]:
                self.hands, self.dealer, self.hidden, self.cards = {}, "", 0, ""
            case ["card", "d", card]:
                self.dealer += card
            case ["hidden", "d"]:
                self.hidden += 1
            case ["shown", "d", card]:
                self.dealer, self.hidden = self.dealer + card, 0
            case ["card", at, card]:
                seat, number = map(int, at.split("."))
                self.hands.setdefault(seat, [ReadHand()])[number].cards += card
                self.cards += card
            case ["action", at, ("D" | "P") as letter]:
                seat, number = map(int, at.split("."))
                hand, hands = self.hands[seat][number], self.hands[seat]
                if letter == "D":
                    cards = Hand(*hand.cards)
                    by_house = self.rules.doubles_free(cards.points, cards.soft, first=len(hand.cards) == 2)
                    hand.free += by_house * 2**hand.doubled
                    hand.doubled += 1
                else:
                    one, other = hand.cards[0], hand.cards[1]
                    free = int(self.rules.splits_free(parse_rank(one)))
                    hands[number : number + 1] = ReadHand(one, True, free=hand.free), ReadHand(other, True, free=free)
            case ["move", *argv]:
                self.asked.append((argv, keys, self.dealer + "#" * self.hidden + self.cards))

    def view(self, chair: int) -> View:
        """The last question as the players of bjsim are asked it."""
        (_, cards, visible, stake, chips), keys, _ = self.asked[-1]
        hand, hands = self.hands[chair][int(keys["hand"])], int(keys["hands"])
        pending = hands - int(keys["hand"]) - 1
        return View(
            self.rules, chair, cards, keys["dealer"], visible, int(stake), int(chips), keys["legal"],
            hand.split, hands, pending, hand.free == 2**hand.doubled, hand.doubled,
        )  # fmt: skip
