"""optimal, a chart for cardshark, as a bot: exact values of the finite shoe (bjsim.strategies.shoe).

Written by `bjsim bot export`. The arguments and the moves are described at the top of the sample lim17.py.
"""

import sys

# Moves against 23456789TA: FIRST on the first move; LATER on all others, and in place of a double that it cannot pay.
FIRST = {
    "hard 4": "HHHHHHHHHH",
    "hard 5": "HHHHHHHHHH",
    "hard 6": "HHHHHHHHHH",
    "hard 7": "HHHHHHHHHH",
    "hard 8": "HHHHHHHHHH",
    "hard 9": "HHDDDHHHHH",
    "hard 10": "DDDDDDDHHH",
    "hard 11": "DDDDDDDDHH",
    "hard 12": "SSSSSHHHHH",
    "hard 13": "SSSSSHHHHH",
    "hard 14": "SSSSSHHHHH",
    "hard 15": "SSSSSHHHSH",
    "hard 16": "SSSSSHHSSH",
    "hard 17": "SSSSSSSSSH",
    "hard 18": "SSSSSSSSSS",
    "hard 19": "SSSSSSSSSS",
    "hard 20": "SSSSSSSSSS",
    "soft 12": "HHHHDHHHHH",
    "soft 13": "HHHDDHHHHH",
    "soft 14": "HHHDDHHHHH",
    "soft 15": "HHHDDHHHHH",
    "soft 16": "HHHDDHHHHH",
    "soft 17": "HHDDDHHHHH",
    "soft 18": "SSDDDSHHHH",
    "soft 19": "SSSSSSSSSS",
    "soft 20": "SSSSSSSSSS",
}
LATER = {
    "hard 4": "HHHHHHHHHH",
    "hard 5": "HHHHHHHHHH",
    "hard 6": "HHHHHHHHHH",
    "hard 7": "HHHHHHHHHH",
    "hard 8": "HHHHHHHHHH",
    "hard 9": "HHHHHHHHHH",
    "hard 10": "HHHHHHHHHH",
    "hard 11": "HHHHHHHHHH",
    "hard 12": "SSSSSHHHHH",
    "hard 13": "SSSSSHHHHH",
    "hard 14": "SSSSSHHHHH",
    "hard 15": "SSSSSHHHSH",
    "hard 16": "SSSSSHHSSH",
    "hard 17": "SSSSSSSSSH",
    "hard 18": "SSSSSSSSSS",
    "hard 19": "SSSSSSSSSS",
    "hard 20": "SSSSSSSSSS",
    "soft 12": "HHHHHHHHHH",
    "soft 13": "HHHHHHHHHH",
    "soft 14": "HHHHHHHHHH",
    "soft 15": "HHHHHHHHHH",
    "soft 16": "HHHHHHHHHH",
    "soft 17": "HHHHHHHHHH",
    "soft 18": "SSSSSSHHHH",
    "soft 19": "SSSSSSSSSS",
    "soft 20": "SSSSSSSSSS",
}

score, hand, visible, stake, chips = int(sys.argv[1]), *sys.argv[2:4], int(sys.argv[4]), int(sys.argv[5])
low = sum(1 if card == "A" else int(card) if card in "23456789" else 10 for card in hand)
first = len(hand) == 2 and stake == 10
column = "23456789TA".index("T" if visible[0] in "JQK" else visible[0])
row = ("soft " if score != low else "hard ") + str(score)
move, later = (moves.get(row, "SSSSSSSSSS")[column] for moves in (FIRST if first else LATER, LATER))
print(later if move == "D" and chips < stake else move)
