"""The exact finite-shoe solver: values and best play in a shoe of real cards, drawn without replacement.

| module | what |
|---|---|
| `composition` | which cards are in the shoe; chances of a pair where only equal ranks split |
| `hands` | the player's hands as multisets of card values, and the nodes at which they are valued |
| `dealer` | the dealer's final multisets, listed once for each dealer's rules |
| `kernel` | the compiled passes: the dealer's distribution by the cards gone; stand, double, hit; visits |
| `splits` | the value of a split as a linear form in the values of single split hands |
| `game` | what `States` makes of each node: legal actions, chart row, result; the rules are not told again here |
| `analysis` | the values of all nodes, and of whole strategies, for one shoe |
| `charts` | the exact value of any chart, the best chart, two-card exceptions |
| `deviation` | the exact standard deviation of a round, splits included |
| `solver` | `ShoeSolver`, the public face |
| `costs` | what each wrong cell of a chart costs |
| `players` | the best chart with two-card exceptions, and play by all cards, as players |
| `present` | one decision on the present composition, and the player `perfect` |

What a player may use, from least to most:

| name | the player knows |
|---|---|
| `td` | the total, soft or pair, and what the dealer shows: a chart |
| `td-2c` | the same, and the two cards of the hand as dealt, where they say otherwise than the chart |
| `cdz-` | all cards of the hand; split hands are played as before the split |
| `cdp1` | all cards; split hands are played as is best for the first of two split hands |
| `cdp` | all cards; split hands are played as is best for the number of hands that the split came to |

Values are those of the first round from the given shoe. All are exact up to rounding in double precision (about
1e-14); one hand's value does not depend on the order in which other hands take their cards, since cards that nobody
has seen are exchangeable.
"""
