"""Counter: knows every card that has left the shoe, and raises the more the better its hand. It lives for a match.

bjsim: line 1

The lines are described at the top of lim17_line.py and on the page "Line protocol". Its state, the cards not seen since
the last shuffle, is built from lines that tell what happened, so it is right in a process that takes over in the middle
of a match, too. The note after its move is the Hi-Lo count.
"""

import sys
from functools import cache

POINTS = {**{str(number): number for number in range(2, 10)}, **dict.fromkeys("TJQK", 10), "A": 11}
BOLD = 1.0  # raises this share of its chips, times its expected profit per chip (1.0 is Kelly's bet)


def add(total: int, soft: int, points: int) -> tuple[int, int]:
    """The total and the soft aces of a hand after a card."""
    total, soft = total + points, soft + (points == 11)
    while total > 21 and soft:
        total, soft = total - 10, soft - 1
    return total, soft


def choose(hand: str, dealer: str, unseen: dict[str, int], stake: int, chips: int, legal: str) -> tuple[str, int]:
    """The best move, as if unseen cards were drawn with replacement, and the chips to raise before a stand."""
    number = sum(unseen.values())
    cards = [(POINTS[card], count / number) for card, count in unseen.items() if count]

    @cache
    def beaten(total: int, soft: int, score: int) -> float:
        """The probability that the dealer ends below a score, or above 21."""
        if total >= 17:
            return float(total < score or total > 21)
        return sum(p * beaten(*add(total, soft, points), score) for points, p in cards)

    @cache
    def raised(total: int) -> tuple[float, int]:
        """The expected profit per chip after a stand, and the chips to raise before it."""
        if total > 21:
            return -1.0, 0
        edge = 2 * beaten(*add(0, 0, POINTS[dealer]), total) - 1
        return edge, max(0, min(chips, int(BOLD * edge * chips)))

    def stand(total: int) -> float:
        edge, more = raised(total)
        return edge * (stake + more)

    @cache
    def best(total: int, soft: int) -> float:
        return stand(total) if total > 20 else max(stand(total), hit(total, soft))

    def hit(total: int, soft: int) -> float:
        return sum(p * best(*add(total, soft, points)) for points, p in cards)

    total = soft = 0
    for card in hand:
        total, soft = add(total, soft, POINTS[card])
    values = {"S": stand(total)}
    if "H" in legal:  # not where insurance is offered, which is declined
        values["H"] = hit(total, soft)
    if "D" in legal:  # one more card, and no raise
        values["D"] = sum(p * 2 * stake * raised(add(total, soft, points)[0])[0] for points, p in cards)
    move = max(values, key=values.__getitem__)
    return move, raised(total)[1]


def fresh(rules: dict[str, str]) -> dict[str, int]:
    """The cards of a fresh shoe; of one deck if it is infinite."""
    tens = {"T": 0} if rules.get("deck") == "spanish" else {}
    return {**dict.fromkeys(POINTS, 4 * int(rules.get("decks", 1))), **tens}


rules: dict[str, str] = {}
unseen: dict[str, int] = {}  # cards of the shoe that have not been seen
hidden = False  # whether the face-down card is from this shoe
for line in sys.stdin:
    word, *words = line.split() or [""]
    keys = dict(each.split("=", 1) for each in words if "=" in each)
    if word in ("match", "shuffle"):
        unseen, hidden = fresh(rules), False
    if word == "hello":
        print("ready 1 name=counter", flush=True)
    elif word == "rules":
        rules = keys
    elif word == "hidden":
        hidden = True
    elif "decks" in rules and (word == "card" or (word == "shown" and hidden)):
        unseen[words[1]] -= 1
    elif word == "move":
        (hand, visible), stake, chips, legal = words[1:3], int(words[3]), int(words[4]), keys["legal"]
        raises = chips if "B" in legal and stake == int(rules.get("buy_in", 10)) else 0
        left = unseen if any(unseen.values()) else fresh(rules)  # which the next card is from
        move, amount = choose(hand, visible[0], left, stake, raises, legal)
        low, high = (sum(unseen[card] for card in cards) for cards in ("23456", "TJQKA"))
        print(f"B {amount}" if move == "S" and amount else move, f"count={high - low:+d}", flush=True)
