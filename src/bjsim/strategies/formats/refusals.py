"""What is said of a file that is not read as a chart: what was seen, and the smallest chart that is read."""

from collections.abc import Sequence

from bjsim.strategies.formats.cells import Builder, GridRow
from bjsim.strategies.formats.lines import ChartError, TextLine, Token
from bjsim.strategies.formats.words import COLUMNS, parse_cards, parse_code, parse_hands

SMALLEST = ("hand 2-6 7-A", "4-11 H H", "12-16 S H", "17+ S S", "A2-A6 H H", "A7+ S S", "AA H H")
BOTH_CARDS = ("4-16 H H H", "17+ S S S", "A2-A6 H H H", "A7+ S S S", "AA H H H")


def refuse_header(builder: Builder, lines: Sequence[TextLine]) -> None:
    """Raise the error of a line that has some of the dealer's cards, but not all, if other lines are rows of codes."""
    rows = [line for line in lines if _is_row(line)]
    for fields in [line.fields for line in lines if rows and line not in rows and not line.heading]:
        shown = {card for token in fields for card in parse_cards(token.text) or ()}
        if builder.columns != COLUMNS and shown >= set(COLUMNS):
            raise shows_one_card(builder, fields[0])
        single = [at for at, token in enumerate(fields) if len(builder.cards(token.text) or ()) == 1]
        distinct = len({fields[at].text for at in single})
        if distinct > max(4, 0.6 * len(fields)) or (len(fields) - 1 <= len(single) == distinct > 1):
            raise _wrong_header(builder, fields[single[0] :])


def _is_row(line: TextLine) -> bool:
    codes = [parse_code(token.text) is not None for token in line.fields]
    return sum(codes) > 4 or (len(codes) > 2 and all(codes[1:]) and parse_hands(line.fields[0].text) is not None)


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


def not_understood(builder: Builder, lines: Sequence[TextLine], rows: Sequence[GridRow], more: str = "") -> ChartError:
    """The error for a file whose layout is not understood."""
    cards = f"the dealer's cards {' '.join(builder.columns)}"
    tokens = [token for line in lines for token in line.fields]
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


def shows_one_card(builder: Builder, place: Token) -> ChartError:
    why = "this chart is for games in which the dealer shows one card, such as vegas-s17"
    return builder.error(place, f"{why}; in {builder.states.rules.name} both are seen")


def _own_codes(lines: Sequence[TextLine]) -> list[Token]:
    """The first two codes of a file whose lines have ten or more short words of few kinds."""
    rows = [line.fields[-10:] for line in lines if len(line.fields) >= 10]
    cells = {token.text: token for row in rows for token in reversed(row)}
    few = len(rows) > 9 and 1 < len(cells) < 13 and all(len(text) < 4 for text in cells)
    return [*cells.values()][:2] if few else []


def smallest(builder: Builder) -> str:
    """The end of a message that shows the smallest chart that is read."""
    hard = [column for column in builder.columns if column.isdigit()]
    both = (f"hand {hard[0]}-{hard[-1]} AA A2-{builder.columns[-1]}", *BOTH_CARDS)
    chart = ", ".join(f'"{line}"' for line in (SMALLEST if builder.columns == COLUMNS else both))
    return f"; the smallest chart that is read has the lines {chart}"
