"""What is said of a file that is not read as a chart: what was seen, and the smallest chart that is read."""

import re
from collections.abc import Sequence

from bjsim.strategies.formats.cells import Builder, GridRow
from bjsim.strategies.formats.lines import ChartError, TextLine, Token
from bjsim.strategies.formats.words import COLUMNS, parse_cards, parse_code

PROGRAM = r"\b(if|elif|else|return|for|in)\b|==|\):"  # what a line of a program has, and no header
SMALLEST = ("hand 2-6 7-A", "4-11 H H", "12-16 S H", "17+ S S", "A2-A6 H H", "A7+ S S", "AA H H")
BOTH_CARDS = ("4-16 H H H", "17+ S S S", "A2-A6 H H H", "A7+ S S S", "AA H H H")


def refuse_headers(builder: Builder, lines: Sequence[TextLine]) -> None:
    """Raise the error of a line that has some of the dealer's cards, but not all."""
    for line in lines:
        for fields in line.fields.values():
            shown = {card for token in fields for card in parse_cards(token.text) or ()}
            if builder.columns != COLUMNS and shown >= set(COLUMNS):
                raise shows_one_card(builder, fields[0])
        for fields in line.fields.values():
            single = [at for at, token in enumerate(fields) if len(builder.cards(token.text) or ()) == 1]
            distinct = len({fields[at].text for at in single})
            enough = distinct > max(4, 0.6 * len(fields)) or (len(fields) - 1 <= len(single) == distinct > 1)
            if (
                re.search(PROGRAM, line.text) is None
                and enough
                and not any(parse_code(token.text) for token in fields)
                and not line.heading
            ):
                raise _wrong_header(builder, fields[single[0] :])


def _wrong_header(builder: Builder, fields: Sequence[Token]) -> ChartError:
    seen: set[str] = set()
    for token in fields:
        cards = builder.cards(token.text)
        if not cards:
            problem = f"unknown dealer's card {token}" if token.text else "the dealer's card is missing"
            return builder.error(token, f"{problem}; the first line has {' '.join(builder.columns)}")
        if seen & set(cards):
            return builder.error(token, f"duplicate column {token}")
        seen |= set(cards)
    end = fields[-1]._replace(column=fields[-1].column + len(fields[-1].text))
    missing = [card for card in builder.columns if card not in seen]
    return builder.error(end, f"the dealer's cards {' '.join(missing)} are missing")


def shows_one_card(builder: Builder, place: Token) -> ChartError:
    why = "this chart is for games in which the dealer shows one card, such as vegas-s17"
    return builder.error(place, f"{why}; in {builder.states.rules.name} both are seen")


def not_understood(builder: Builder, lines: Sequence[TextLine], rows: Sequence[GridRow], more: str = "") -> ChartError:
    """The error for a file whose layout is not understood."""
    cards = f"the dealer's cards {' '.join(builder.columns)}"
    tokens = [token for line in lines for fields in line.fields.values() for token in fields]
    codes = [token for token in tokens if parse_code(token.text)]
    if rows:
        first, seen = rows[0].cells[0], f"{len(rows)} lines have ten codes, but none has {cards}{more}"
    elif len(codes) > 20:
        first, seen = codes[0], f"no line has {cards}, and the codes are not in lines of ten"
    elif own := _own_codes(lines):
        first, seen = own[0], f"{own[0]} and {own[1]} are not codes; add lines that say what they mean: {own[0]} = hit"
    else:
        first, seen = tokens[0], f"this is no chart: no line has {cards}"
    return builder.error(first, seen + smallest(builder))


def _own_codes(lines: Sequence[TextLine]) -> list[Token]:
    """The first two codes of a file whose lines have ten or more short words of few kinds."""
    rows = [fields[-10:] for line in lines for fields in line.fields.values() if len(fields) >= 10]
    cells = {token.text: token for row in rows for token in reversed(row)}
    few = len(rows) > 9 and 1 < len(cells) < 13 and all(len(text) < 4 for text in cells)
    return [*cells.values()][:2] if few else []


def smallest(builder: Builder) -> str:
    """The end of a message that shows the smallest chart that is read."""
    return "; the smallest chart that is read has the lines " + ", ".join(
        f'"{line}"' for line in _lines(builder.columns)
    )


def _lines(columns: Sequence[str]) -> tuple[str, ...]:
    hard = [column for column in columns if column.isdigit()]
    return SMALLEST if columns == COLUMNS else (f"hand {hard[0]}-{hard[-1]} AA A2-{columns[-1]}", *BOTH_CARDS)
