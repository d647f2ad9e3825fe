"""Bettor: hits below 17; otherwise raises, then stands. It raises more with a higher score and with fewer cards.

The arguments and the moves are described at the top of the sample lim17.py.
"""

import sys

score, stake, chips = int(sys.argv[1]), int(sys.argv[4]), int(sys.argv[5])
hand = sys.argv[2]
SHARE = {17: 0.0, 18: 0.1, 19: 0.25, 20: 0.5, 21: 0.6}  # score: share of its chips to raise with a hand of two cards

if score < 17:
    print("H")
elif stake > 10:  # it has raised already, because the initial bet is 10
    print("S")
else:
    amount = int(chips * SHARE[score] * 2 / len(hand))
    print(f"B {amount}" if amount else "S")
