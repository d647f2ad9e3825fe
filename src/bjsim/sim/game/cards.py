"""Cards: thirteen ranks, written `A23456789TJQK` and always in that order.

A card is written as its letter. Arrays and states use its rank index, 0 (ace) to 12 (king). Suits never matter.
"""

from collections.abc import Sequence
from fractions import Fraction

from bjsim.errors import InputError, shorten

RANKS = "A23456789TJQK"
HIDDEN = "#"
TEN = RANKS.index("T")  # the first of the ten-valued ranks
VALUES = (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 10, 10, 10)  # points by rank
DECKS = {"standard": (4,) * 13, "spanish": (*(4,) * TEN, 0, 4, 4, 4)}  # cards of each rank; a Spanish deck has no T
_LETTERS = {letter: rank for rank, letter in enumerate(RANKS)}
NORMAL_TENS = Fraction(4, 13)  # probability of a ten-valued card in a standard deck
SPANISH_TENS = Fraction(3, 12)


def parse_rank(card: object) -> int:
    """Return the rank index of a card: its letter, "10" or "1", or its points 1..10. Raises: InputError."""
    if isinstance(card, str) and card in _LETTERS:  # every decision of a chart asks for two or more
        return _LETTERS[card]
    text = shorten(card).upper()
    text = {"10": "T", "1": "A"}.get(text, text)
    if len(text) == 1 and text in RANKS:
        return RANKS.index(text)
    raise InputError(f"{shorten(card)!r} is not a card; cards are {' '.join(RANKS)}")


def parse_cards(cards: str) -> list[int]:
    """The rank indices of cards, a character for each. Raises: InputError; 16 is a total, not an ace and a six."""
    if "1" in cards:
        use = "write a character for each card, such as T6 (10 is T, an ace is A)"
        raise InputError(f"{shorten(cards)!r} is not accepted; {use}")
    return [parse_rank(card) for card in cards]


def rank_probabilities(ten_probability: Fraction, deck: str = "standard") -> tuple[Fraction, ...]:
    """Probabilities of the 13 ranks if the ten-valued cards together have `ten_probability`.

    Those of the deck have equal shares of it, and A, 2..9 equal shares of the rest. Source: [BlackJackP].
    """
    low, tens = (1 - ten_probability) / 9, DECKS[deck][TEN:]
    return (low,) * TEN + tuple(ten_probability * Fraction(count, sum(tens)) for count in tens)


def count_points(ranks: Sequence[int]) -> tuple[int, bool]:
    """Return the points of rank indices, above 21 for a bust, and whether an ace counts 11 (a soft hand)."""
    hard = sum([VALUES[rank] for rank in ranks])
    return (hard + 10, True) if 0 in ranks and hard <= 11 else (hard, False)


# --- A hand of cards: its points, score, softness, and its code in charts.


def soft_code(points: int) -> str:
    """Code of a soft hand below 21: `AA` for 12, `A2` for 13, ... `A9` for 20."""
    return "AA" if points == 12 else f"A{points - 11}"


def pair_code(rank: int) -> str:
    """Code of a pair: `AA`, `22` .. `99`, and `TT` for any two ten-valued cards."""
    return RANKS[min(rank, TEN)] * 2


class Hand:
    """The cards of one hand, in the order they were dealt.

    `Hand("A", "5", "5").code()` is "21", and so is `Hand("A55").code()`. Cards are A, 2 to 9, T, J, Q and K; points 1
    to 10 are accepted too. Hands of the same cards in the same order are equal.

    Args:
        cards: The cards, one by one or as one string.
        dealer: Whether this is the dealer's hand, which changes its code.

    Attributes:
        ranks: The ranks of the cards, as a tuple: 0 for an ace, 1 for a two, ... 12 for a king.

    Raises:
        ValueError: An argument is not a card; "16" is a total, not an ace and a six.

    Source: [Easy], "Hand class" and its glossary.
    """

    def __init__(self, *cards: object, dealer: bool = False) -> None:
        several = len(cards) == 1 and isinstance(cards[0], str) and cards[0] not in ("10", "1")
        self.ranks = tuple(parse_cards(str(cards[0])) if several else map(parse_rank, cards))
        self.dealer = dealer

    def __repr__(self) -> str:
        return f"Hand({', '.join(map(repr, self.cards))}{', dealer=True' if self.dealer else ''})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Hand) and (self.ranks, self.dealer) == (other.ranks, other.dealer)

    def __hash__(self) -> int:
        return hash((self.ranks, self.dealer))

    @property
    def cards(self) -> str:
        """The cards as one string of letters."""
        return "".join(RANKS[rank] for rank in self.ranks)

    @property
    def points(self) -> int:
        """The best total, above 21 for a bust. An ace counts 11 unless that busts the hand."""
        return count_points(self.ranks)[0]

    @property
    def soft(self) -> bool:
        """Whether an ace counts 11."""
        return count_points(self.ranks)[1]

    @property
    def score(self) -> int:
        """The points, or 0 for a bust."""
        return self.points if self.points <= 21 else 0

    @property
    def natural(self) -> bool:
        """Whether this is a blackjack: exactly an ace and a ten-valued card."""
        return len(self.ranks) == 2 and self.points == 21

    def code(self, nosplit: bool = False) -> str:
        """The hand's code in charts.

        A dealer's hand is never a pair, and from soft 18 on its code is its total.

        Args:
            nosplit: Whether to name a pair by its total: `88` is then `16`. `AA` remains, as it is also soft 12.

        Returns:
            `BJ` for a natural, a pair such as `88`, a soft hand such as `A6`, or the score.

        Examples:
            >>> [Hand(cards).code() for cards in ("A45", "AT", "88", "T6", "T67")]
            ['A9', 'BJ', '88', '16', '0']
            >>> Hand("88").code(nosplit=True), Hand("A7", dealer=True).code()
            ('16', '18')
        """
        points, soft = count_points(self.ranks)
        if self.natural:
            return "BJ"
        if points == 21:
            return "21"
        low, *rest = sorted(min(rank, TEN) for rank in self.ranks) or [0]
        if not nosplit and not self.dealer and rest == [low]:
            return pair_code(low)
        if soft and not (self.dealer and points >= 18):
            return soft_code(points)
        return str(self.score)
