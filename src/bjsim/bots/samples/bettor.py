"""A bettor: stands on 17 and raises before it does, the more the better its score is and the fewer cards it took.

What it is told, and what it may answer, is written at the top of lim17.py.
"""

import sys

score, stake, chips = int(sys.argv[1]), int(sys.argv[4]), int(sys.argv[5])
hand = sys.argv[2]
SHARE = {17: 0.0, 18: 0.1, 19: 0.25, 20: 0.5, 21: 0.6}  # of its chips, for a score of two cards

if score < 17:
    print("H")
elif stake > 10:  # it has raised already: the first stake is 10
    print("S")
else:
    chips_on_top = int(chips * SHARE[score] * 2 / len(hand))
    print(f"B {chips_on_top}" if chips_on_top else "S")
