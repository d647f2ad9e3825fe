"""The exact finite-shoe solver: values and best play in a shoe of real cards, drawn without replacement.

| module | what |
|---|---|
| `hands` | the cards in the shoe, the player's hands as multisets of card values, and the nodes that are evaluated |
| `dealer` | the dealer's final multisets, listed once per set of dealer rules; the distribution of the outcome |
| `passes` | passes over the nodes of one start: stand, double, hit; visits |
| `splits` | the value of a split as a linear form in the values of single split hands |
| `game` | legal actions, chart row and result of each node, all taken from `States` |
| `analysis` | the values of all nodes and of complete strategies, for one shoe |
| `charts` | the exact value of any chart, the best chart, two-card exceptions |
| `deviation` | the exact standard deviation of a round, splits included |
| `solver` | `ShoeSolver`, the public interface with the decisions of every strategy, and the tables of one shoe |
| `players` | players: the best chart with two-card exceptions, composition-dependent play, and `perfect` |
| `present` | one decision given the current composition |

Strategies, by increasing information:

| name | information used |
|---|---|
| `td` | the total, whether the hand is soft or a pair, and the dealer's upcard: a chart |
| `td-2c` | the same, with exceptions for hands of two cards as dealt |
| `cdz-` | all cards of the hand; split hands are played like the same hand before a split |
| `cdp1` | all cards; all split hands are played by one plan: the best for the first of two split hands |
| `cdp` | all cards; split hands are played by a plan for their final number n: the best if n pair cards are gone |

A split hand of `cdz-` that may not do the same, such as surrender, hits or stands, whichever is better. One with a bet
of the house is played by one plan, the best if no further pair card is gone; so in Free Bet Blackjack `td-2c`, whose
chart has rows for such hands, may exceed `cdz-` (by 7e-9 in eight decks).

The plan of `cdp` ignores what else n tells, that other second cards are no pair cards. It needs n before the first
split hand is played, so it can be played only where all split hands get their second cards first. At bjsim's table, as
in casinos, a split hand is finished before the next gets its second card: with resplits no player can play `cdp` there.
With `max_hands = 2` it equals `cdp1`.

Values are those of the first round from the given shoe. They are exact up to rounding in double precision (about
1e-14), except where `max_hands = inf`: then up to sixteen hands are followed, which changes the value of a game by
less than 1e-7, or the shoe is refused. The value of a hand does not depend on the order of other hands, because
unseen cards are exchangeable.
"""
