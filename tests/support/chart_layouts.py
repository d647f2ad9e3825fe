"""Two charts in the layouts of programs, pages and spreadsheets: what strangers keep their charts in."""

from __future__ import annotations

import json

CARDS = [*"23456789", "10", "A"]
HARD = [str(total) for total in range(4, 21)]
SOFT = [f"A{card}" for card in range(2, 10)]
PAIRS = [*(f"{11 * card}" for card in range(2, 10)), "TT", "AA"]
ROWS = {"hard": HARD, "soft": SOFT, "pair": PAIRS}
COLUMN_WORDS = "Two Three Four Five Six Seven Eight Nine Ten Jack Queen King Ace"
WORDS = {"H": "hit", "S": "stand", "P": "split", "Dh": "double", "Ds": "double or stand", "Rh": "surrender"}

# The best chart of vegas-s17 with three wrong cells: 12 v 3 S, A7 v 9 S, 99 v 7 P.
_WRONG = """
4,5,6,7,8 H H H H H H H H H H
9 H Dh Dh Dh Dh H H H H H
10 Dh Dh Dh Dh Dh Dh Dh Dh H H
11 Dh Dh Dh Dh Dh Dh Dh Dh Dh H
12 H S S S S H H H H H
13,14,15,16 S S S S S H H H H H
17,18,19,20 S S S S S S S S S S
A2,A3 H H H Dh Dh H H H H H
A4,A5 H H Dh Dh Dh H H H H H
A6 H Dh Dh Dh Dh H H H H H
A7 S Ds Ds Ds Ds S S S H H
A8,A9 S S S S S S S S S S
22,33 P P P P P P H H H H
44 H H H P P H H H H H
55 Dh Dh Dh Dh Dh Dh Dh Dh H H
66 P P P P P H H H H H
77 P P P P P P H H H H
88 P P P P P P P P P P
99 P P P P P P P P S S
TT S S S S S S S S S S
AA P P P P P P P P P P
"""


def lines_of(chart: str) -> dict[str, list[str]]:
    return {row: codes for rows, *codes in map(str.split, chart.strip().splitlines()) for row in rows.split(",")}


LINES = lines_of(_WRONG)
# The chart of books: four to eight decks, soft 17 stood, doubling after splits, late surrender.
BOOK = LINES | lines_of("""
12 H H S S S H H H H H
15 S S S S S H H H Rh H
16 S S S S S H H Rh Rh Rh
A7 S Ds Ds Ds Ds S S H H H
99 P P P P P S P P S S
""")


def card_of(pair: str) -> str:
    return {"TT": "10", "AA": "A"}.get(pair, pair[0])


def total_of(soft: str) -> str:
    return str(11 + int(soft[1]))


def name_of(row: str) -> str:
    """A row with commas between its cards."""
    return row if row in HARD else f"A,{row[1]}" if row in SOFT else f"{card_of(row)},{card_of(row)}"


def bare_name(kind: str, row: str) -> str:
    """A row in its own section: a total, or the card of a pair."""
    return {"hard": row, "soft": total_of(row) if kind == "soft" else "", "pair": card_of(row)}[kind]


def quoted(text: str) -> str:
    return f'"{text}"' if "," in text else text


def table(head: list[str], rows: list[list[str]], separator: str = ",") -> str:
    return "".join(separator.join(map(quoted, row)) + "\n" for row in [head, *rows])


def decisions(record: str, lines: dict[str, list[str]], words: dict[str, str] | None = None) -> str:
    """A line for every cell, with the fields kind, row, name (with commas), own (in its section), card, code."""
    return "".join(
        record.format(
            kind=kind,
            name=name_of(row),
            own=bare_name(kind, row),
            card=card,
            number={"A": "11"}.get(card, card),
            code=(words or {}).get(code, code),
        )
        for kind, rows in ROWS.items()
        for row in rows
        for card, code in zip(CARDS, lines[row], strict=True)
    )


def rules_list(lines: dict[str, list[str]]) -> str:
    """A table of rules with ranges of upcards, in Markdown."""
    out = []
    words = {**WORDS, "Dh": "Double, else hit", "Ds": "Double, else stand"}
    for kind, title in (("hard", "Hard hands"), ("soft", "Soft hands"), ("pair", "Pairs")):
        out += [f"### {title}", "", "| You have | Dealer shows | Do |", "|---|---|---|"]
        for row in ROWS[kind]:
            for code in dict.fromkeys(lines[row]):
                cards = [card for card, other in zip(CARDS, lines[row], strict=True) if other == code]
                out.append(f"| {bare_name(kind, row)} | {spans(cards)} | {words[code]} |")
        out.append("")
    return "\n".join(out)


def spans(cards: list[str]) -> str:
    """Cards with ranges of two or more: `2-6, 10, A`."""
    runs: list[list[str]] = []
    for card in cards:
        last = runs[-1][-1] if runs else ""
        if last and CARDS.index(card) == CARDS.index(last) + 1 and card != "A":
            runs[-1].append(card)
        else:
            runs.append([card])
    return ", ".join(run[0] if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs)


def html_page(lines: dict[str, list[str]]) -> str:
    out = ["<html><head><title>Basic strategy</title><style>td.h{color:red}</style></head><body>", "<table border=1>"]
    out += ["<tr><th></th><th colspan=10>Dealer's upcard</th></tr>"]
    out += ["<tr><th>Player</th>" + "".join(f"<th>{card}</th>" for card in CARDS) + "</tr>"]
    for kind, title in (("hard", "Hard totals"), ("soft", "Soft totals"), ("pair", "Pairs")):
        out.append(f'<tr><td colspan="11"><b>{title}</b></td></tr>')
        for row in ROWS[kind]:
            cells = "".join(f'<td class="{code.lower()}">{code}</td>' for code in lines[row])
            out.append(f"<tr><td>{name_of(row)}</td>{cells}</tr>")
    return "\n".join([*out, "</table><p>H = hit &amp; so on</p></body></html>"])


def program(lines: dict[str, list[str]], begin: str, entry: str, end: str, names: dict[str, str] | None = None) -> str:
    """Brackets for every section; an entry has its name and a list of quoted codes."""
    out = []
    for kind, rows in ROWS.items():
        out.append(begin.format((names or {}).get(kind, kind)))
        for row in rows:
            codes = ", ".join(f'"{code}"' for code in lines[row])
            out.append(entry.format(name=bare_name(kind, row), codes=codes))
        out.append(end)
    return "\n".join(out)


def render(lines: dict[str, list[str]]) -> dict[str, str]:
    """The chart in every layout. Names of hands, cards and codes differ from layout to layout."""
    jqk = ["Hand", *COLUMN_WORDS.split()]
    with_tens = [[row, *codes[:8], *[codes[8]] * 4, codes[9]] for row, codes in lines.items()]
    body = [[row, *codes] for row, codes in lines.items()]
    own = {"Ds": "T", "Dh": "D", "Rh": "X"}
    kinds = [(kind, row) for kind, rows in ROWS.items() for row in rows]
    sections = {kind: {bare_name(kind, row): lines[row] for row in rows} for kind, rows in ROWS.items()}
    every = ["hand", *CARDS]
    letters = {"Dh": "D", "Ds": "D", "Rh": "R"}
    digits = {"H": "0", "S": "1", "P": "2", "Dh": "3", "Ds": "4", "Rh": "5"}
    return {
        "words for cards, and columns of jacks, queens and kings": table(jqk, with_tens, ";").replace("\n", "\r"),
        "hands that are never asked": table(
            ["total", *CARDS[:-1], "11"],
            [[total, *["H"] * 10] for total in "23"] + body + [[row, *["S"] * 10] for row in ("21", "AT")],
        ),
        "a line for every decision": "Kind,Player,Upcard,Move\n" + decisions("{kind},{own},{card},{code}\n", lines),
        "decisions without names": decisions("{own} {kind} {card} {code}\n", lines),
        "decisions, the action first": "action\tdealer\thand\n" + decisions("{code}\t{card}\t{name}\n", lines),
        "a hand and a card in one field": decisions('"{kind} {own} vs {card}": "{code}",\n', lines),
        "JSON of maps": json.dumps(
            {
                kind: {name: dict(zip(CARDS, codes, strict=True)) for name, codes in some.items()}
                for kind, some in sections.items()
            },
            indent=1,
        ),
        "JSON of lists": json.dumps({f"{kind}_totals": some for kind, some in sections.items()}),
        "JSON by dealer's card": json.dumps(
            {
                kind: {card: {name: codes[at] for name, codes in some.items()} for at, card in enumerate(CARDS)}
                for kind, some in sections.items()
            }
        ),
        "JSON of records": json.dumps(
            [
                {"type": kind, "player": bare_name(kind, row), "dealer": card, "action": WORDS[code]}
                for kind, row in kinds
                for card, code in zip(CARDS, lines[row], strict=True)
            ]
        ),
        "a list of lists": json.dumps([every, *body]),
        "Python": program(lines, "{0} = {{", "    '{name}': [{codes}],", "}}".replace("}}", "}")),
        "Python, keys of three": "S = {\n" + decisions('    ("{kind}", "{own}", {number}): "{code}",\n', lines) + "}\n",
        "JavaScript": program(
            lines, "export const {0} = {{", "  '{name}': [{codes}],  // as always", "};", {"hard": "hardHands"}
        ),
        "Java": program(lines, "private static final String[][] {0} = {{", '  {{"{name}", {codes}}},', "};"),
        "arrays without labels": program(lines, "String[][] {0}Hands = {{", "  {{{codes}}},", "};"),
        "C, comments as labels": program(lines, "char *{0}[][10] = {{", "  {{{codes}}}, /* {name} */", "};"),
        "SQL": "CREATE TABLE s (k TEXT, p TEXT, d TEXT, a TEXT);\n"
        + decisions("INSERT INTO s VALUES ('{kind}', '{own}', '{card}', '{code}');\n", lines),
        "TOML": "dealer = [2, 3, 4, 5, 6, 7, 8, 9, 10, 'A']\n\n"
        + program(lines, "[{0}]", "{name} = [{codes}]", "", {"pair": "pairs"}),
        "HTML": html_page(lines),
        "bare codes": table(lines["4"], [lines[row] for row in [*HARD[1:], *SOFT, *PAIRS]]),
        "bare codes, the ace first": "".join(
            "\t".join([codes[-1], *codes[:-1]]) + "\n" for codes in (lines[row] for row in [*HARD, *SOFT, *PAIRS])
        ),
        "own codes with a key": "".join(
            ",".join([*(own.get(code, code) for code in lines[row]), kind + bare_name(kind, row)]) + "\n"
            for kind, row in kinds
        ).replace("pair", "split")
        + "\n2,3,4,5,6,7,8,9,10,11,upcard\n\nKey:\nH = hit,\nD = double else hit,\nT = double else stand,\n"
        "X = surrender else hit\n",
        "digits with a key": "0 = hit, 1 = stand, 2 = split, 3 = double/hit, 4 = double/stand, 5 = surrender/hit\n"
        + table(every, [[row, *(digits[code] for code in codes)] for row, codes in lines.items()]),
        "pairs by their totals": table(
            ["kind", "total", *CARDS],
            [
                [kind, str(2 * int(card_of(row).replace("A", "1"))) if kind == "pair" else bare_name(kind, row)]
                + lines[row]
                for kind, row in kinds
            ],
        ),
        "a list of rules": rules_list(lines),
        "prose first": "Six decks, the dealer stands on soft 17. You may double after a split; no surrender.\n\n"
        + "\n".join("| " + " | ".join(row) + " |" for row in [["", *CARDS], ["---"] * 11, *body]),
        "labels on the right": table([*CARDS, "Hand"], [[*codes, row] for row, codes in lines.items()], " "),
        "a list": "".join(f"{': '.join([row[0], ' '.join(row[1:])])}\n" for row in [["Dealer", *CARDS], *body]).replace(
            "\n", "\n- ", len(body)
        ),
        "colons and commas": f"x {' '.join(CARDS)}\n" + "".join(f"{row}: {', '.join(line)}\n" for row, *line in body),
        "a list for every hand": "".join(f"{row!r}: {line},\n" for row, *line in [["", *CARDS], *body]),
        "a sentence for every decision": decisions("{kind} {own} vs {card} -> {code}\n", lines),
        "letters": "Hand 23456789TA\n"
        + "".join(f"{row} {''.join(letters.get(code, code) for code in codes)}\n" for row, codes in lines.items()),
    }
