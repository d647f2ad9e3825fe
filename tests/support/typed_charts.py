"""The chart `BOOK` of `chart_layouts` in the styles of books and pages, typed by hand."""

from __future__ import annotations

import re

from bjsim.sim.game.presets import PRESETS
from bjsim.strategies.evaluation.compare import evaluate_chart
from bjsim.strategies.formats.files import read_chart
from support.chart_layouts import BOOK
from support.printed import printed

RULES = PRESETS["vegas-s17"].rules.replace(decks=6, surrender=True)
OWN = "".join(
    f"{row:>3}{''.join(f' {code:>2}' for code in codes)}\n" for row, codes in {"": [*"23456789TA"], **BOOK}.items()
)

STYLES = {
    "tabs, a title, ranges": """
4 to 8 decks, dealer stands on soft 17
Dealer's card\t2\t3\t4\t5\t6\t7\t8\t9\t10\tA
Hard
4-8\tH\tH\tH\tH\tH\tH\tH\tH\tH\tH
9\tH\tDh\tDh\tDh\tDh\tH\tH\tH\tH\tH
10\tDh\tDh\tDh\tDh\tDh\tDh\tDh\tDh\tH\tH
11\tDh\tDh\tDh\tDh\tDh\tDh\tDh\tDh\tDh\tH
12\tH\tH\tS\tS\tS\tH\tH\tH\tH\tH
13\tS\tS\tS\tS\tS\tH\tH\tH\tH\tH
14\tS\tS\tS\tS\tS\tH\tH\tH\tH\tH
15\tS\tS\tS\tS\tS\tH\tH\tH\tRh\tH
16\tS\tS\tS\tS\tS\tH\tH\tRh\tRh\tRh
17\tS\tS\tS\tS\tS\tS\tS\tS\tS\tS
18+\tS\tS\tS\tS\tS\tS\tS\tS\tS\tS
Soft
13\tH\tH\tH\tDh\tDh\tH\tH\tH\tH\tH
14\tH\tH\tH\tDh\tDh\tH\tH\tH\tH\tH
15\tH\tH\tDh\tDh\tDh\tH\tH\tH\tH\tH
16\tH\tH\tDh\tDh\tDh\tH\tH\tH\tH\tH
17\tH\tDh\tDh\tDh\tDh\tH\tH\tH\tH\tH
18\tS\tDs\tDs\tDs\tDs\tS\tS\tH\tH\tH
19+\tS\tS\tS\tS\tS\tS\tS\tS\tS\tS
Pairs
2,2\tPh\tPh\tP\tP\tP\tP\tH\tH\tH\tH
3,3\tPh\tPh\tP\tP\tP\tP\tH\tH\tH\tH
4,4\tH\tH\tH\tPh\tPh\tH\tH\tH\tH\tH
6,6\tPh\tP\tP\tP\tP\tH\tH\tH\tH\tH
7,7\tP\tP\tP\tP\tP\tP\tH\tH\tH\tH
8,8\tP\tP\tP\tP\tP\tP\tP\tP\tP\tP
9,9\tP\tP\tP\tP\tP\tS\tP\tP\tS\tS
A,A\tP\tP\tP\tP\tP\tP\tP\tP\tP\tP
Key: H = hit, S = stand, Ph = split if a split hand may double, else hit
""",
    "en dashes, SP and U, a key below": """
Player hand  2 3 4 5 6 7 8 9 10 A
Hard totals
18–21  S S S S S S S S S S
17  S S S S S S S S S S
16  S S S S S H H U/H U/H U/H
15  S S S S S H H H Uh H
13–14  S S S S S H H H H H
12  H H S S S H H H H H
11  Dh Dh Dh Dh Dh Dh Dh Dh Dh H
10  Dh Dh Dh Dh Dh Dh Dh Dh H H
9  H Dh Dh Dh Dh H H H H H
5–8  H H H H H H H H H H
Soft totals
A,8–A,9  S S S S S S S S S S
A,7  S Ds Ds Ds Ds S S H H H
A,6  H Dh Dh Dh Dh H H H H H
A,4–A,5  H H Dh Dh Dh H H H H H
A,2–A,3  H H H Dh Dh H H H H H
Pairs
A,A  SP SP SP SP SP SP SP SP SP SP
10,10  S S S S S S S S S S
9,9  SP SP SP SP SP S SP SP S S
8,8  SP SP SP SP SP SP SP SP SP SP
7,7  SP SP SP SP SP SP H H H H
6,6  SP SP SP SP SP H H H H H
5,5  Dh Dh Dh Dh Dh Dh Dh Dh H H
4,4  H H H SP SP H H H H H
2,2–3,3  SP SP SP SP SP SP H H H H

S = stand
Uh = surrender if allowed, otherwise hit
""",
    "words in every row": """
                2  3  4  5  6  7  8  9  10 Ace
Hard 5-8        H  H  H  H  H  H  H  H  H  H
Hard 9          H  D  D  D  D  H  H  H  H  H
Hard 10         D  D  D  D  D  D  D  D  H  H
Hard 11         D  D  D  D  D  D  D  D  D  H
Hard 12         H  H  S  S  S  H  H  H  H  H
Hard 13 to 14   S  S  S  S  S  H  H  H  H  H
Hard 15         S  S  S  S  S  H  H  H  R  H
Hard 16         S  S  S  S  S  H  H  R  R  R
Hard 17-20      S  S  S  S  S  S  S  S  S  S
Soft 13-14      H  H  H  D  D  H  H  H  H  H
Soft 15-16      H  H  D  D  D  H  H  H  H  H
Soft 17         H  D  D  D  D  H  H  H  H  H
Soft 18         S  D  D  D  D  S  S  H  H  H
Soft 19-20      S  S  S  S  S  S  S  S  S  S
Pair 2,2        P  P  P  P  P  P  H  H  H  H
Pair 3,3        P  P  P  P  P  P  H  H  H  H
Pair 4,4        H  H  H  P  P  H  H  H  H  H
Pair 5,5        D  D  D  D  D  D  D  D  H  H
Pair 6,6        P  P  P  P  P  H  H  H  H  H
Pair 7,7        P  P  P  P  P  P  H  H  H  H
Pair 8,8        P  P  P  P  P  P  P  P  P  P
Pair 9,9        P  P  P  P  P  S  P  P  S  S
Pair of tens    S  S  S  S  S  S  S  S  S  S
Pair of Aces    P  P  P  P  P  P  P  P  P  P
""",
    "CSV with ranges and commas in hands": """
Hand,2,3,4,5,6,7,8,9,10,A
5-8,H,H,H,H,H,H,H,H,H,H
9,H,Dh,Dh,Dh,Dh,H,H,H,H,H
10,Dh,Dh,Dh,Dh,Dh,Dh,Dh,Dh,H,H
11,Dh,Dh,Dh,Dh,Dh,Dh,Dh,Dh,Dh,H
12,H,H,S,S,S,H,H,H,H,H
13-14,S,S,S,S,S,H,H,H,H,H
15,S,S,S,S,S,H,H,H,Rh,H
16,S,S,S,S,S,H,H,Rh,Rh,Rh
17-20,S,S,S,S,S,S,S,S,S,S
"A,2-A,3",H,H,H,Dh,Dh,H,H,H,H,H
"A,4-A,5",H,H,Dh,Dh,Dh,H,H,H,H,H
"A,6",H,Dh,Dh,Dh,Dh,H,H,H,H,H
"A,7",S,Ds,Ds,Ds,Ds,S,S,H,H,H
"A,8-A,9",S,S,S,S,S,S,S,S,S,S
"2,2-3,3",P,P,P,P,P,P,H,H,H,H
"4,4",H,H,H,P,P,H,H,H,H,H
"5,5",Dh,Dh,Dh,Dh,Dh,Dh,Dh,Dh,H,H
"6,6",P,P,P,P,P,H,H,H,H,H
"7,7",P,P,P,P,P,P,H,H,H,H
"8,8",P,P,P,P,P,P,P,P,P,P
"9,9",P,P,P,P,P,S,P,P,S,S
"10,10",S,S,S,S,S,S,S,S,S,S
"A,A",P,P,P,P,P,P,P,P,P,P
""",
    "pairs and surrenders as tables of their own": """
Hard totals ; 2;3;4;5;6;7;8;9;10;A
8 or less ; H;H;H;H;H;H;H;H;H;H
9 ; H;D;D;D;D;H;H;H;H;H
10 ; D;D;D;D;D;D;D;D;H;H
11 ; D;D;D;D;D;D;D;D;D;H
12 ; H;H;S;S;S;H;H;H;H;H
13-16 ; S;S;S;S;S;H;H;H;H;H
17 or more ; S;S;S;S;S;S;S;S;S;S
Soft totals ; 2;3;4;5;6;7;8;9;10;A
A,2-A,3 ; H;H;H;D;D;H;H;H;H;H
A,4-A,5 ; H;H;D;D;D;H;H;H;H;H
A,6 ; H;D;D;D;D;H;H;H;H;H
A,7 ; S;Ds;Ds;Ds;Ds;S;S;H;H;H
A,8-A,9 ; S;S;S;S;S;S;S;S;S;S
Pair splitting ; 2;3;4;5;6;7;8;9;10;A
A,A ; Y;Y;Y;Y;Y;Y;Y;Y;Y;Y
T,T ; N;N;N;N;N;N;N;N;N;N
9,9 ; Y;Y;Y;Y;Y;N;Y;Y;N;N
8,8 ; Y;Y;Y;Y;Y;Y;Y;Y;Y;Y
7,7 ; Y;Y;Y;Y;Y;Y;N;N;N;N
6,6 ; Y/N;Y;Y;Y;Y;N;N;N;N;N
5,5 ; N;N;N;N;N;N;N;N;N;N
4,4 ; N;N;N;Y/N;Y/N;N;N;N;N;N
3,3 ; Y/N;Y/N;Y;Y;Y;Y;N;N;N;N
2,2 ; Y/N;Y/N;Y;Y;Y;Y;N;N;N;N
Late surrender ; 2;3;4;5;6;7;8;9;10;A
16 ; ; ; ; ; ; ; ;SUR;SUR;SUR
15 ; ; ; ; ; ; ; ; ;SUR;
""",
}


def as_markdown(text: str) -> str:
    """The same lines as a table of Markdown."""
    lines = [line for line in text.strip().splitlines() if "," not in line.split("\t")[0] or "\t" in line]
    rows = ["| " + line.replace("\t", " | ") + " |" for line in lines]
    return "\n".join([rows[0], "|---" * 11 + "|", *rows[1:]])


STYLES["Markdown"] = as_markdown(STYLES["tabs, a title, ranges"])
STYLES["upper case, Ace first"] = "\n".join(
    " ".join([*words[:-10], words[-1], *words[-10:-1]]).upper()
    for words in (line.split() for line in OWN.splitlines())
    if len(words) >= 10
)
STYLES["its own layout with other names"] = (
    re.sub(r"\bA(\d)", r"A,\1", OWN).replace(" TT ", " 10,10 ").replace(" T ", " 10 ").replace(" 22 ", " 2,2 ")
)

TYPED = {
    "a framed table of words": """
┌──────┬────────┬────────┬────────┬────────┬────────┬────────┬────────┬────────┬────────┬────────┐
│ Hard │   2    │   3    │   4    │   5    │   6    │   7    │   8    │   9    │   10   │  Ace   │
├──────┼────────┼────────┼────────┼────────┼────────┼────────┼────────┼────────┼────────┼────────┤
│ 5-8  │ Hit    │ Hit    │ Hit    │ Hit    │ Hit    │ Hit    │ Hit    │ Hit    │ Hit    │ Hit    │
│ 9    │ Hit    │ Double │ Double │ Double │ Double │ Hit    │ Hit    │ Hit    │ Hit    │ Hit    │
│ 10   │ Double │ Double │ Double │ Double │ Double │ Double │ Double │ Double │ Hit    │ Hit    │
│ 11   │ Double │ Double │ Double │ Double │ Double │ Double │ Double │ Double │ Double │ Hit    │
│ 12   │ Hit    │ Hit    │ Stand  │ Stand  │ Stand  │ Hit    │ Hit    │ Hit    │ Hit    │ Hit    │
│13-14 │ Stand  │ Stand  │ Stand  │ Stand  │ Stand  │ Hit    │ Hit    │ Hit    │ Hit    │ Hit    │
│ 15   │ Stand  │ Stand  │ Stand  │ Stand  │ Stand  │ Hit    │ Hit    │ Hit    │ Surr.* │ Hit    │
│ 16   │ Stand  │ Stand  │ Stand  │ Stand  │ Stand  │ Hit    │ Hit    │ Surr.* │ Surr.* │ Surr.* │
│ 17+  │ Stand  │ Stand  │ Stand  │ Stand  │ Stand  │ Stand  │ Stand  │ Stand  │ Stand  │ Stand  │
├──────┼────────┼────────┼────────┼────────┼────────┼────────┼────────┼────────┼────────┼────────┤
│ Soft │   2    │   3    │   4    │   5    │   6    │   7    │   8    │   9    │   10   │  Ace   │
│ 2-3  │ Hit    │ Hit    │ Hit    │ Double │ Double │ Hit    │ Hit    │ Hit    │ Hit    │ Hit    │
│ 4-5  │ Hit    │ Hit    │ Double │ Double │ Double │ Hit    │ Hit    │ Hit    │ Hit    │ Hit    │
│ 6    │ Hit    │ Double │ Double │ Double │ Double │ Hit    │ Hit    │ Hit    │ Hit    │ Hit    │
│ 7    │ Stand  │ Double │ Double │ Double │ Double │ Stand  │ Stand  │ Hit    │ Hit    │ Hit    │
│ 8-9  │ Stand  │ Stand  │ Stand  │ Stand  │ Stand  │ Stand  │ Stand  │ Stand  │ Stand  │ Stand  │
├──────┼────────┼────────┼────────┼────────┼────────┼────────┼────────┼────────┼────────┼────────┤
│ Pairs│   2    │   3    │   4    │   5    │   6    │   7    │   8    │   9    │   10   │  Ace   │
│ 2-3  │ Split  │ Split  │ Split  │ Split  │ Split  │ Split  │ Hit    │ Hit    │ Hit    │ Hit    │
│ 4    │ Hit    │ Hit    │ Hit    │ Split  │ Split  │ Hit    │ Hit    │ Hit    │ Hit    │ Hit    │
│ 6    │ Split  │ Split  │ Split  │ Split  │ Split  │ Hit    │ Hit    │ Hit    │ Hit    │ Hit    │
│ 7    │ Split  │ Split  │ Split  │ Split  │ Split  │ Split  │ Hit    │ Hit    │ Hit    │ Hit    │
│ 8    │ Split  │ Split  │ Split  │ Split  │ Split  │ Split  │ Split  │ Split  │ Split  │ Split  │
│ 9    │ Split  │ Split  │ Split  │ Split  │ Split  │ Stand  │ Split  │ Split  │ Stand  │ Stand  │
│ A    │ Split  │ Split  │ Split  │ Split  │ Split  │ Split  │ Split  │ Split  │ Split  │ Split  │
└──────┴────────┴────────┴────────┴────────┴────────┴────────┴────────┴────────┴────────┴────────┘
""",
    "a spreadsheet with a column of sections and commas at the end": """
Basic strategy,,,,,,,,,,,,
,,2,3,4,5,6,7,8,9,10,A,
Hard,8 or less,H,H,H,H,H,H,H,H,H,H,
,9,H,D,D,D,D,H,H,H,H,H,
,10,D,D,D,D,D,D,D,D,H,H,
,11,D,D,D,D,D,D,D,D,D,H,
,12,H,H,S,S,S,H,H,H,H,H,
,13,S,S,S,S,S,H,H,H,H,H,
,14,S,S,S,S,S,H,H,H,H,H,
,15,S,S,S,S,S,H,H,H,R,H,
,16,S,S,S,S,S,H,H,R,R,R,
,17 or more,S,S,S,S,S,S,S,S,S,S,
Soft,13,H,H,H,D,D,H,H,H,H,H,
,14,H,H,H,D,D,H,H,H,H,H,
,15,H,H,D,D,D,H,H,H,H,H,
,16,H,H,D,D,D,H,H,H,H,H,
,17,H,D,D,D,D,H,H,H,H,H,
,18,S,DS,DS,DS,DS,S,S,H,H,H,
,19 or more,S,S,S,S,S,S,S,S,S,S,
Pair,"2,2",P,P,P,P,P,P,H,H,H,H,
,"3,3",P,P,P,P,P,P,H,H,H,H,
,"4,4",H,H,H,P,P,H,H,H,H,H,
,"6,6",P,P,P,P,P,H,H,H,H,H,
,"7,7",P,P,P,P,P,P,H,H,H,H,
,"8,8",P,P,P,P,P,P,P,P,P,P,
,"9,9",P,P,P,P,P,S,P,P,S,S,
,"A,A",P,P,P,P,P,P,P,P,P,P,
""",
    "letters without blanks": """
      23456789TA
H5-8  HHHHHHHHHH
H9    HDDDDHHHHH
H10   DDDDDDDDHH
H11   DDDDDDDDDH
H12   HHSSSHHHHH
H13   SSSSSHHHHH
H14   SSSSSHHHHH
H15   SSSSSHHHRH
H16   SSSSSHHRRR
H17+  SSSSSSSSSS
S13   HHHDDHHHHH
S14   HHHDDHHHHH
S15   HHDDDHHHHH
S16   HHDDDHHHHH
S17   HDDDDHHHHH
S18   SDDDDSSHHH
S19+  SSSSSSSSSS
22    PPPPPPHHHH
33    PPPPPPHHHH
44    HHHPPHHHHH
66    PPPPPHHHHH
77    PPPPPPHHHH
88    PPPPPPPPPP
99    PPPPPSPPSS
AA    PPPPPPPPPP
""",
    "LaTeX": r"""
\begin{tabular}{l|cccccccccc}
Player & 2 & 3 & 4 & 5 & 6 & 7 & 8 & 9 & T & A \\ \hline
A, A & P & P & P & P & P & P & P & P & P & P \\
9, 9 & P & P & P & P & P & S & P & P & S & S \\
8, 8 & P & P & P & P & P & P & P & P & P & P \\
7, 7 & P & P & P & P & P & P & H & H & H & H \\
6, 6 & P & P & P & P & P & H & H & H & H & H \\
4, 4 & H & H & H & P & P & H & H & H & H & H \\
2, 2 and 3, 3 & P & P & P & P & P & P & H & H & H & H \\ \hline
A, 8 to A, 9 & S & S & S & S & S & S & S & S & S & S \\
A, 7 & S & Ds & Ds & Ds & Ds & S & S & H & H & H \\
A, 6 & H & Dh & Dh & Dh & Dh & H & H & H & H & H \\
A, 4 to A, 5 & H & H & Dh & Dh & Dh & H & H & H & H & H \\
A, 2 to A, 3 & H & H & H & Dh & Dh & H & H & H & H & H \\ \hline
$\ge 17$ & S & S & S & S & S & S & S & S & S & S \\
16 & S & S & S & S & S & H & H & Rh & Rh & Rh \\
15 & S & S & S & S & S & H & H & H & Rh & H \\
13 to 14 & S & S & S & S & S & H & H & H & H & H \\
12 & H & H & S & S & S & H & H & H & H & H \\
11 & Dh & Dh & Dh & Dh & Dh & Dh & Dh & Dh & Dh & H \\
10 & Dh & Dh & Dh & Dh & Dh & Dh & Dh & Dh & H & H \\
9 & H & Dh & Dh & Dh & Dh & H & H & H & H & H \\
$\le 8$ & H & H & H & H & H & H & H & H & H & H \\
\end{tabular}
""",
    "groups of columns, and a picture in each of its own": """
Player's hand | 2 3 4 5 6 | 7 8 9 | 10 J Q K | A
--------------+-----------+-------+----------+--
Hard 4-8      | H H H H H | H H H | H  H H H | H
Hard 9        | H D D D D | H H H | H  H H H | H
Hard 10       | D D D D D | D D D | H  H H H | H
Hard 11       | D D D D D | D D D | D  D D D | H
Hard 12       | H H S S S | H H H | H  H H H | H
Hard 13, 14   | S S S S S | H H H | H  H H H | H
Hard 15       | S S S S S | H H H | R  R R R | H
Hard 16       | S S S S S | H H R | R  R R R | R
Hard 17 & up  | S S S S S | S S S | S  S S S | S
Soft 13, 14   | H H H D D | H H H | H  H H H | H
Soft 15, 16   | H H D D D | H H H | H  H H H | H
Soft 17       | H D D D D | H H H | H  H H H | H
Soft 18       | S D D D D | S S H | H  H H H | H
Soft 19 & up  | S S S S S | S S S | S  S S S | S
Pair of 2s    | P P P P P | P H H | H  H H H | H
Pair of 3s    | P P P P P | P H H | H  H H H | H
Pair of 4s    | H H H P P | H H H | H  H H H | H
Pair of 6s    | P P P P P | H H H | H  H H H | H
Pair of 7s    | P P P P P | P H H | H  H H H | H
Pair of 8s    | P P P P P | P P P | P  P P P | P
Pair of 9s    | P P P P P | S P P | S  S S S | S
Aces          | P P P P P | P P P | P  P P P | P
""",
    "the output of bjsim check": printed(evaluate_chart(read_chart(OWN, "own", RULES.replace(decks="inf"))).describe()),
    "Markdown with headings and codes in two words": """
# Blackjack strategy

## Hard hands (no pairs)

| You | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9 | 10–K | A |
|:---:|---|---|---|---|---|---|---|---|---|---|
| **≤8** | H | H | H | H | H | H | H | H | H | H |
| **9** | H | double or hit | double or hit | double or hit | double or hit | H | H | H | H | H |
| **10** | `D/H` | `D/H` | `D/H` | `D/H` | `D/H` | `D/H` | `D/H` | `D/H` | H | H |
| **11** | `D/H` | `D/H` | `D/H` | `D/H` | `D/H` | `D/H` | `D/H` | `D/H` | `D/H` | H |
| **12** | H | H | S | S | S | H | H | H | H | H |
| **13 – 14** | S | S | S | S | S | H | H | H | H | H |
| **15** | S | S | S | S | S | H | H | H | surrender, else hit | H |
| **16** | S | S | S | S | S | H | H | SUR/H | SUR/H | SUR/H |
| **17 and above** | S | S | S | S | S | S | S | S | S | S |

## Soft hands

| You | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9 | 10–K | A |
|:---:|---|---|---|---|---|---|---|---|---|---|
| A + 2, A + 3 | H | H | H | D | D | H | H | H | H | H |
| A + 4, A + 5 | H | H | D | D | D | H | H | H | H | H |
| A + 6 | H | D | D | D | D | H | H | H | H | H |
| A + 7 | S | D/S | D/S | D/S | D/S | S | S | H | H | H |
| A + 8, A + 9 | S | S | S | S | S | S | S | S | S | S |

## Splitting

| Pair of | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9 | 10–K | A |
|:---:|---|---|---|---|---|---|---|---|---|---|
| twos, threes | ✓ | ✓ | ✓ | ✓ | ✓ | ✓ | ✗ | ✗ | ✗ | ✗ |
| fours | ✗ | ✗ | ✗ | ✓ | ✓ | ✗ | ✗ | ✗ | ✗ | ✗ |
| sixes | ✓ | ✓ | ✓ | ✓ | ✓ | ✗ | ✗ | ✗ | ✗ | ✗ |
| sevens | ✓ | ✓ | ✓ | ✓ | ✓ | ✓ | ✗ | ✗ | ✗ | ✗ |
| eights, aces | ✓ | ✓ | ✓ | ✓ | ✓ | ✓ | ✓ | ✓ | ✓ | ✓ |
| nines | ✓ | ✓ | ✓ | ✓ | ✓ | ✗ | ✓ | ✓ | ✗ | ✗ |
""",
}
