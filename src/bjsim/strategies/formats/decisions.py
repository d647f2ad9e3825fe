"""A list of decisions: a hand, a dealer's card or several, and an action in every line, in any order of the columns.

Lines of hand, dealer's card, usable ace and action are the policies of reinforcement learners, as in Gymnasium; there,
pairs are played as their totals, and hands that are no decision may be in the list or not.
"""

import re
from collections.abc import Callable, Sequence

from bjsim.strategies.formats import words
from bjsim.strategies.formats.cells import Builder, GridRow
from bjsim.strategies.formats.lines import TextLine, Token
from bjsim.strategies.formats.words import COLUMNS, parse_cards, parse_code

ROLES = {
    "dealer": r"deal|up ?card|against|\bvs?\b|shows|house|\bopen|face",
    "code": r"action|move|decision|play$|best|^do$|code|answer|optimal|what",
    "ace": r"soft$|\bace\b|usable",
    "kind": r"type|kind|section|categor|group",
    "hand": r"player|hand|total|sum|score|have|you|cards|(?<!is )pair|soft|hard",
}
FLAGS = {"0": False, "1": True, "FALSE": False, "TRUE": True, "NO": False, "YES": True, "N": False, "Y": True}
LEARNED = {"0": "S", "1": "H"}  # the actions of Gymnasium
BOTH = r"(?i)(.+?)\s*(?:\bvs?\.?\s*|(?<=[\dTA])vs?\.?|against|[_|:-])\s*(\w+)"  # 16v10
BETWEEN = ("v", "vs", "vs.", "against", "->", "=>", "→")  # hard 16 vs 10 -> hit
FEWEST = 20  # lines of a list whose columns have no names
Hands = Callable[[str, str | None], list[str] | None]


def _parts(fields: Sequence[Token]) -> list[Token]:
    """The fields of a line without brackets; a hand and a card in one field, such as `16v10` or `A,7_5`, are two."""
    fields = [token._replace(text=token.text.strip("()' ")) for token in fields if token.text.lower() not in BETWEEN]
    while fields and not fields[-1].text:
        fields.pop()
    if len(fields) == 2:
        for at, other in ((0, 1), (1, 0)):
            both = re.fullmatch(BOTH, fields[at].text)
            if parse_code(fields[other].text) and both and parse_cards(both[2]):
                return [fields[at]._replace(text=both[1]), fields[at]._replace(text=both[2]), fields[other]]
    return fields


def _named(fields: Sequence[Token]) -> dict[str, int]:
    """The places of the roles that the names of columns say; none if the line has a number or a code."""
    names = [token.text for token in fields]
    entries = any(re.search(r"\d", name) or (parse_code(name) and len(name) < 3) for name in names)
    return {} if entries or len(names) < 3 else words.find_columns(names, ROLES)


def find_roles(lines: Sequence[TextLine], builder: Builder) -> dict[str, int]:
    """The places of the dealer's card, the hand, the action and what else a list of decisions has; none if it is none.

    They are found by the names of the columns, else by what is in them.
    """
    records = [fields for line in lines if len(fields := _parts(line.fields)) > 2]
    widths = [len(fields) for fields in records]
    width = max(sorted(set(widths)), key=widths.count, default=0)
    rows = [fields for fields in records if len(fields) == width]
    for head in rows:
        named = _named(head)
        if named.keys() >= {"dealer", "hand", "code"} and any(_is_decision(fields, named) for fields in rows):
            for place, token in enumerate(head):
                values = {fields[place].text.upper() for fields in rows if fields is not head}
                if place not in named.values() and len(values) > 1 and values <= FLAGS.keys():
                    raise builder.error(token, f"the column {token} says yes or no to something unknown; leave it out")
            return named
    return _unnamed(rows, builder) if len(rows) >= FEWEST and width <= 8 else {}


def _is_decision(fields: Sequence[Token], roles: dict[str, int]) -> bool:
    dealer, move = fields[roles["dealer"]].text, fields[roles["code"]].text
    return parse_cards(dealer) is not None and (parse_code(move) is not None or move in LEARNED)


def _unnamed(rows: Sequence[list[Token]], builder: Builder) -> dict[str, int]:
    columns = [[token.text for token in column] for column in zip(*rows, strict=True)]

    def fits(test: Callable[[str], object]) -> list[int]:
        return [at for at, column in enumerate(columns) if sum(map(bool, map(test, column))) > 0.9 * len(rows)]

    kinds = fits(words.section_column)
    aces = [] if kinds else fits(lambda text: text.upper() in ("TRUE", "FALSE"))
    if len(columns) == 4 and not kinds and not aces:
        aces = [2] if 2 in fits(lambda text: text in ("0", "1")) else []
    codes = [at for at in fits(builder.code) if at not in kinds + aces]
    codes = codes or [at for at in fits(LEARNED.get) if aces and at == len(columns) - 1]
    left = [at for at in range(len(columns)) if at not in kinds + aces + codes]
    dealer = []
    for at in left:
        cards = [parse_cards(text) or [] for text in {*columns[at]} - {"0"}]  # 0: of all indices
        if all(cards) and {card for some in cards for card in some} == set(COLUMNS):
            dealer.append(at)
    if len(codes) != 1 or len(left) != 2 or len(kinds + aces) > 1 or not dealer:
        return {}
    if len(dealer) > 1:
        first = rows[0][dealer[0]]
        raise builder.error(first, "two columns may be the dealer's card; name them, such as hand,dealer,action")
    roles = {"dealer": dealer[0], "hand": next(at for at in left if at not in dealer), "code": codes[0]}
    return roles | dict.fromkeys(["kind"] * bool(kinds) + ["ace"] * bool(aces), (kinds + aces or [0])[0])


class Decisions:
    """Collects the cells of the lines of a list into rows."""

    def __init__(self, builder: Builder, hands: Hands, roles: dict[str, int], lines: Sequence[TextLine]) -> None:
        self.builder, self.hands, self.roles = builder, hands, roles
        records = [_parts(line.fields) for line in lines if not line.heading]
        self.widths = [len(fields) for fields in records if not _named(fields)]
        self.usual = max(self.widths, key=self.widths.count, default=0)
        self.named: str | None = None  # the section that the name of the column of hands says
        self.found: dict[tuple[str | None, str], tuple[Token, list[str], dict[str, Token]]] = {}

    def take(self, line: TextLine, section: str | None) -> list[GridRow] | None:
        """Take the decision, or the names of the columns, that a line has; None if it has neither."""
        fields = _parts(line.fields)
        named, digits = _named(fields), re.search(r"\d", line.text)
        if named.keys() >= {"dealer", "hand"}:
            if named.keys() >= {"code"} and len(fields) in self.widths:
                self.roles, self.named = named, words.find_section(fields[named["hand"]].text)
        elif len(fields) <= max(self.roles.values()) or (len(fields) != self.usual and not digits):
            if len(fields) > 2 and digits and not words.find_title(line.text):
                need = ",".join(sorted(self.roles, key=self.roles.__getitem__))
                raise self.builder.error(fields[0], f"{len(fields)} fields; write {need}")
            return None
        elif any(set(token.text) - set("-:= ") for token in fields):
            self._take(fields, line.section or section)
        return []

    def _take(self, fields: list[Token], section: str | None) -> None:
        hand, dealer, move = (fields[self.roles[role]] for role in ("hand", "dealer", "code"))
        section = self._section(fields) or section or self.named
        learned = "ace" in self.roles
        code = LEARNED.get(move.text, move.text) if learned else move.text
        cards = list(COLUMNS) if dealer.text.upper() in ("ANY", "ALL", "*") else parse_cards(dealer.text)
        hands = self.hands(hand.text, section)
        if learned and hand.text.isdigit() and not (12 if section == words.SOFT else 4) <= int(hand.text) <= 21:
            hands = []
        moves = "0 (stand) or 1 (hit)" if learned else "hit, stand, double, split"
        self._check(dealer, bool(cards) or dealer.text == "0", "dealer's card", "1 (an ace) to 10")
        self._check(hand, hands is not None, "hand", "a total of 4 to 21, or cards such as A,7")
        self._check(move, self.builder.code(code) is not None, "action", moves)
        self.builder.learned |= learned
        _, _, cells = self.found.setdefault((section, " ".join(hands or ())), (hand, hands or [], {}))
        for card in cards or ():
            other = cells.setdefault(card, move._replace(text=code))
            if hands and self.builder.code(other.text) != self.builder.code(code):
                where = f"{other} in line {other.line}"
                raise self.builder.error(move, f"{hand} against {card} is {code} here, but {where}; keep one")

    def _section(self, fields: list[Token]) -> str | None:
        """The section that the columns beside the hand say."""
        if "ace" in self.roles:
            flag = fields[self.roles["ace"]]
            self._check(flag, flag.text.upper() in FLAGS, "usable ace", "0 or 1")
            return words.SOFT if FLAGS[flag.text.upper()] else words.HARD
        kind = fields[self.roles["kind"]] if "kind" in self.roles else Token(1, 1, "")
        section = words.section_column(kind.text)
        self._check(kind, section is not None or not kind.text, "kind of hand", "hard, soft or pair")
        return section

    def _check(self, token: Token, known: bool, what: str, hint: str) -> None:
        if not known:
            raise self.builder.error(token, f"unknown {what} {token}; use {hint}")

    def rows(self) -> list[GridRow]:
        named = {name: cells for (_, name), (_, _, cells) in self.found.items()}
        high = [token for name in ("19", "20") for token in named.get(name, {}).values()]
        if self.builder.learned and sum(token.text == "H" for token in high) > len(high) / 2:
            why = "hard 19 and 20 hit here, as 0 is read as stand and 1 as hit; write stand and hit instead"
            raise self.builder.error(high[0], why)
        few = sum(len(cells) for _, _, cells in self.found.values()) < 4 * len(self.found)
        plays = "; a list of index plays is for `bjsim count --indices`" * (few and not self.builder.learned)
        rows = []
        for (section, _), (hand, hands, cells) in self.found.items():
            if hands and (missing := [card for card in COLUMNS if card not in cells]):
                what = " ".join(filter(None, (section, *hands)))
                raise self.builder.error(hand, f"no line for {what} against {' '.join(missing)}{plays}")
            if hands:
                rows.append(GridRow(section, hand, hands, [cells[card] for card in COLUMNS]))
        return rows
