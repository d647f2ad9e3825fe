"""Side bets as data: what a bet looks at, its events in order, and what they pay; TOML files of bets."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import lru_cache, reduce
from operator import and_, attrgetter, or_
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bjsim.arguments import argument, exact_number, whole_number
from bjsim.errors import InputError, shorten, suggest
from bjsim.files import read_toml
from bjsim.report.parts import DataColumn, DataTable, Report
from bjsim.sim.game.cards import DECKS, RANKS, TEN, VALUES
from bjsim.strategies.formats.words import parse_cards

# --- Shoes in which suits matter: the count of each of the 52 kinds of card.


SUITS = "shdc"
KINDS = tuple(rank + suit for rank in RANKS for suit in SUITS)
MOST_DECKS, MOST_CARDS = 1000, 1_000_000


class SuitedShoe(NamedTuple):
    """The cards in a shoe.

    `counts` has the count of each kind, in the order of `KINDS`: As, Ah, Ad, Ac, 2s, ... Kc. `replaced` is whether
    each card is drawn with replacement, as from infinitely many decks. `decks` is their number in words, such as
    `6`, `spanish 8` or `inf`; empty for other cards.
    """

    counts: tuple[int, ...]
    replaced: bool = False
    decks: str = ""

    @staticmethod
    def whole(decks: object, deck: str = "standard") -> SuitedShoe:
        """Return whole decks, `standard`, or `spanish` without the cards of rank T; `decks` may be inf."""
        if deck not in DECKS:
            raise InputError(f"{argument('deck')}: {shorten(deck)} is not accepted; use {' or '.join(DECKS)}")
        replaced = str(decks).strip().lower() in ("inf", "infinity")
        try:
            number = 1 if replaced else whole_number(argument("decks"), decks, 1, MOST_DECKS)
        except InputError as error:
            raise InputError(f"{error}, or inf") from None
        counts = tuple(number * held // len(SUITS) for held in DECKS[deck] for _ in SUITS)
        name = "inf" if replaced else str(number)
        return SuitedShoe(counts, replaced, name if deck == "standard" else f"{deck} {name}")

    @staticmethod
    def of(cards: Mapping[str, int], by: str) -> SuitedShoe:
        """Return the shoe with these cards, by kind (`Ah`) or by rank (`A`); omitted ones are not in it.

        Cards of a rank are spread evenly over its suits; `T` without J, Q and K means all ten-valued cards. `by`
        is what the bet looks at, suits, ranks or values: it has to be known how many of each there are, else an
        InputError says so.
        """
        counts = [0] * len(KINDS)
        named = [str(card).strip().upper() for card in cards]
        all_tens = "T" in named and not any(card[:1] in ("J", "Q", "K") for card in named)
        seen: set[int] = set()
        for card, count in zip(named, cards.values(), strict=True):
            found = [k for k, kind in enumerate(KINDS) if card in (kind.upper(), kind[0])]
            if card == "T" and all_tens:
                found = [*range(len(SUITS) * TEN, len(KINDS))]
            if not found:
                raise InputError(f"shoe: {shorten(card)} is not a card; write a rank of {RANKS}, or a kind such as Ah")
            if seen & {*found}:
                raise InputError(f"shoe: the {card} is given twice")
            seen |= {*found}
            each, rest = divmod(whole_number(f"shoe: {card}", count, 0, MOST_CARDS), len(found))
            ranks = len(found) > len(SUITS)
            if rest and (by == "suits" or (by == "ranks" and ranks)):
                example = "J=, Q= and K= too" if ranks else f"{card}h={count} and so on"
                raise InputError(f"shoe: {card}={count} are not as many of each kind; name them: {example}")
            for place, kind in enumerate(found):
                counts[kind] = each + (place < rest)
        return SuitedShoe(tuple(counts))

    @property
    def size(self) -> int:
        return sum(self.counts)

    @property
    def values(self) -> tuple[int, ...]:
        """The count of each value: A, 2..9 and all ten-valued cards."""
        return self.of_suits(SUITS)

    def without(self, kind: int) -> SuitedShoe:
        """Return the shoe without one card of a kind, a place in `KINDS`."""
        return self._replace(counts=(*self.counts[:kind], self.counts[kind] - 1, *self.counts[kind + 1 :]))

    def of_suits(self, suits: str) -> tuple[int, ...]:
        """The count of each value in these suits."""
        wanted = [SUITS.index(suit) for suit in suits]
        held = [sum(self.counts[first + suit] for suit in wanted) for first in range(0, len(KINDS), len(SUITS))]
        return (*held[:TEN], sum(held[TEN:]))


# --- The conditions that events of side bets may have, over all hands of two or three cards at once.


Mask = NDArray[np.bool_]


class CardGrid:
    """All ordered hands of so many cards, with an axis of 52 kinds for each card."""

    def __init__(self, cards: int) -> None:
        self.cards = cards
        kinds = np.indices((len(KINDS),) * cards, dtype=np.int64, sparse=True)
        self.ranks = [kind // len(SUITS) for kind in kinds]
        self.suits = [kind % len(SUITS) for kind in kinds]
        self.shape = (len(KINDS),) * cards


@lru_cache(maxsize=4)
def all_hands(cards: int) -> CardGrid:
    return CardGrid(cards)


def number_range(text: object, what: str, most: int) -> tuple[int, int]:
    """The least and the greatest number of `20`, `14+` or `12-`. Raises: InputError."""
    match = re.fullmatch(r"(\d{1,3})([+-]?)", str(text).strip())
    if not match:
        raise InputError(f"{what} {shorten(text)} is not accepted; write a number such as 20, 14+ or 12-")
    number, sign = int(match[1]), match[2]
    return 0 if sign == "-" else number, most if sign == "+" else number


def upcard_values(text: object) -> list[int]:
    """The values, 0 for an ace to 9 for a ten, of upcards such as `A`, `2-6` or `7+`."""
    cards = parse_cards(str(text))
    if not cards:
        raise InputError(f"upcard {shorten(text)} is not accepted; write a card or several, such as A, 2-6 or 9,10")
    return [RANKS.index(card) for card in cards]


def _suited(hands: CardGrid, wanted: object, aces: str) -> Mask:
    suited: Mask = reduce(and_, [hands.suits[0] == suit for suit in hands.suits]) == switch("suited", wanted)
    return suited


def _one_colour(hands: CardGrid, wanted: object, aces: str) -> Mask:
    red = [(suit == SUITS.index("h")) | (suit == SUITS.index("d")) for suit in hands.suits]
    one: Mask = reduce(and_, [red[0] == each for each in red]) == switch("one_colour", wanted)
    return one


def _ranks(hands: CardGrid, wanted: object, aces: str) -> Mask:
    if wanted == "same":
        same: Mask = reduce(and_, [hands.ranks[0] == rank for rank in hands.ranks])
        return same
    letters = str(wanted).upper().replace("-", "")
    if len(letters) != hands.cards or not set(letters) <= set(RANKS):
        raise InputError(f"ranks {shorten(wanted)} is not accepted; write same, or {hands.cards} ranks of {RANKS}")
    return _multiset(hands.ranks, [RANKS.index(letter) for letter in letters])


def _cards(hands: CardGrid, wanted: object, aces: str) -> Mask:
    words = [word.capitalize() for word in re.findall(r"..", str(wanted).replace(" ", ""))]
    if len(words) != hands.cards or not set(words) <= set(KINDS):
        raise InputError(f"cards {shorten(wanted)} is not accepted; write {hands.cards} cards such as QhQh")
    kinds = [len(SUITS) * rank + suit for rank, suit in zip(hands.ranks, hands.suits, strict=True)]
    return _multiset(kinds, [KINDS.index(word) for word in words])


def _multiset(held: list[Any], wanted: list[int]) -> Mask:
    weights = {kind: 8**place for place, kind in enumerate(sorted({*wanted}))}
    lookup = np.full(len(KINDS), 8 ** len(weights), np.int64)
    lookup[[*weights]] = [*weights.values()]
    found: Mask = sum(lookup[card] for card in held) == sum(int(lookup[kind]) for kind in wanted)
    return found


def _straight(hands: CardGrid, wanted: object, aces: str) -> Mask:
    ranks = len(RANKS)
    rows = [sum(1 << (low + step) % ranks for step in range(hands.cards)) for low in range(ranks - hands.cards + 2)]
    is_row = np.zeros(1 << ranks, np.bool_)
    is_row[rows] = True
    held = np.zeros(hands.shape, np.int64)
    for rank in hands.ranks:
        held = held | (1 << rank)
    row: Mask = is_row[held] == switch("straight", wanted)
    return row


def _total(hands: CardGrid, wanted: object, aces: str) -> Mask:
    low, high = number_range(wanted, "total", 31)
    hard = sum((np.array(VALUES)[rank] for rank in hands.ranks), np.zeros(hands.shape, np.int64))
    soft = reduce(or_, [rank == 0 for rank in hands.ranks]) & (aces == "1 or 11")
    within: Mask = ((low <= hard) & (hard <= high)) | (soft & (low <= hard + 10) & (hard + 10 <= high))
    return within


def _natural(hands: CardGrid, wanted: object, aces: str) -> Mask:
    natural: Mask = (_total(hands, 21, "1 or 11") & (hands.cards == 2)) == switch("natural", wanted)
    return natural


def switch(name: str, wanted: object) -> bool:
    if not isinstance(wanted, bool):
        raise InputError(f"{name} {shorten(wanted)} is not accepted; write true or false")
    return wanted


CONDITIONS: dict[str, Callable[[CardGrid, object, str], Mask]] = {
    "suited": _suited,
    "one_colour": _one_colour,
    "ranks": _ranks,
    "cards": _cards,
    "straight": _straight,
    "total": _total,
    "natural": _natural,
}
NEEDS = {"suited": "suits", "one_colour": "suits", "cards": "suits", "ranks": "ranks", "straight": "ranks"}


FINISHED, EACH, WITH_NATURAL = "dealer's hand", "each card against the upcard", "player and dealer's natural"
BUST = "dealer's bust"  # another name of the dealer's finished hand
LOOKS_AT = ("player", "player and upcard", EACH, WITH_NATURAL, "dealer", FINISHED, BUST)
OF_HANDS = ("bust", "total", "upcard", "suited", "one_colour")  # conditions of the dealer's finished hand
FIELDS = ("about", "looks_at", "aces", "upcard", "events", "tables")
TEXTS = {"about": "", "aces": "1 or 11", "upcard": ""}  # fields with their defaults
MOST_PAYS, MOST_EVENTS = 1_000_000, 100


@dataclass(frozen=True)
class Event:
    """What a bet pays for; `pays` is for a bet of one, besides the bet itself."""

    name: str
    pays: Fraction
    conditions: Mapping[str, object]
    aliases: tuple[str, ...] = ()


@dataclass(frozen=True)
class BetRules:
    """A side bet; a hand takes the first of `events` that it fulfils.

    `looks_at` is one of `LOOKS_AT`; aces count `1` or `1 or 11` in totals; the bet is offered against upcards of
    the rank `upcard`, all if empty; `tables` has what events pay by decks, where that differs.
    """

    name: str
    looks_at: str
    events: tuple[Event, ...]
    about: str = ""
    aces: str = "1 or 11"
    upcard: str = ""
    tables: Mapping[str, Mapping[str, Fraction]] = field(default_factory=dict)

    @property
    def needs(self) -> str:
        """What of a card the bet looks at: suits, ranks or values."""
        found = {NEEDS.get(name, "values") for event in self.events for name in event.conditions}
        return next(each for each in ("suits", "ranks", "values") if each in found or each == "values")

    @property
    def letters(self) -> str:
        """The ranks that the bet tells apart: all 13, or those of the ten values."""
        asked = [(name, str(wanted)) for event in self.events for name, wanted in event.conditions.items()]
        tens = any(
            name in ("cards", "straight") or (name == "ranks" and (wanted == "same" or {*wanted.upper()} & {*"TJQK"}))
            for name, wanted in asked
        )
        return RANKS if tens else RANKS[: TEN + 1]

    def for_decks(self, decks: str) -> BetRules:
        """The bet with the pay table of these decks. Raises: InputError: It has tables for others only."""
        if not self.tables:
            return self
        if decks not in self.tables:
            here = f"{decks} decks" if decks else "a shoe of single cards"
            known = ", ".join(self.tables)
            raise InputError(f"{self.name} has no pay table for {here}, only for {known}; give {argument('pays')}")
        return self.with_pays(self.tables[decks])

    def with_pays(self, pays: Mapping[str, object]) -> BetRules:
        """Return the bet with another pay table: what each event pays to one, by its name or an alias.

        Events that the table omits are not paid; their hands fall to later events. The greatest number of cards of
        a dealer's bust includes larger ones.
        """
        table: dict[str, Fraction] = {}
        known = {_key(alias): event for event in self.events for alias in (event.name, *event.aliases)}
        by_cards = all(
            event.conditions.keys() == {"bust"} and _cards_of(event.name) == str(event.conditions["bust"]).rstrip("+ ")
            for event in self.events
        )
        extra: list[Event] = []
        for text, pay in pays.items():
            key = _key(str(text))
            name = known[key].name if key in known else key
            if by_cards and _cards_of(name):
                name = _cards_of(name)
            elif key not in known:
                names = ", ".join(event.name for event in self.events)
                hint = suggest(key, known)
                raise InputError(
                    f"{self.name} has no event {shorten(text)!r}; {hint + ' ' if hint else ''}events are {names}"
                )
            if name in table:
                raise InputError(f"{argument('pays')}: {text} is given twice")
            table[name] = read_pay(str(text), pay)
        if by_cards:
            sizes = sorted(map(int, table))
            extra = [
                Event(
                    f"{n} {'or more cards' if n == sizes[-1] else 'cards'}",
                    table[str(n)],
                    {"bust": f"{n}{'+' * (n == sizes[-1])}"},
                )
                for n in sizes
            ]
        events = extra or [replace(event, pays=table[event.name]) for event in self.events if event.name in table]
        if not events:
            raise InputError(f"{argument('pays')} is empty; write EVENT=PAYS, such as {self.events[0].name}=5")
        return replace(self, events=tuple(events), tables={})


def _plain(name: str) -> str:
    return re.sub(r"[\s_]+", " ", name.strip().lower())


def _key(name: str) -> str:
    """A name as it is looked up: hyphens are spaces too."""
    return _plain(name.replace("-", " "))


def _cards_of(name: str) -> str:
    """The number in `8 or more cards`; empty if the name gives no number of cards."""
    match = re.fullmatch(r"0*(\d{1,2})( ?\+| or more)?( cards?)?( or more)?", _key(name))
    return match[1] if match else ""


def read_pay(event: str, pay: object) -> Fraction:
    """What an event pays to one. Raises: InputError: It is no number from 0 to a million."""
    return exact_number(f"{shorten(event)} pays", pay, MOST_PAYS, f"a number from 0 to {MOST_PAYS}, to one")


def read_pays(text: str) -> dict[str, str]:
    """Parse `flush=5,straight=10`. Raises: InputError: A part cannot be parsed, or is given twice."""
    pays: dict[str, str] = {}
    for part in text.split(","):
        name, equals, pay = part.partition("=")
        if not equals or not name.strip():
            raise InputError(f"{argument('pays')}: {part.strip()!r} is not accepted; write EVENT=PAYS,EVENT=PAYS")
        if name.strip() in pays:
            raise InputError(f"{argument('pays')}: {name.strip()} is given twice")
        pays[name.strip()] = pay.strip()
    return pays


def make_bet(name: str, values: Mapping[str, Any]) -> BetRules:
    """Make a bet from a table of a TOML file."""
    for key in values:
        if key not in FIELDS:
            raise InputError(f"{name}: there is no field {shorten(key)}; fields are {', '.join(FIELDS)}")
    looks_at = values.get("looks_at")
    for key, accepted in {"looks_at": LOOKS_AT, "aces": ("1", "1 or 11"), "upcard": tuple("A23456789T")}.items():
        if (key == "looks_at" or key in values) and values.get(key) not in accepted:
            raise InputError(f"{name}: {key} {shorten(values.get(key))} is not accepted; use {', '.join(accepted)}")
    looks_at = FINISHED if looks_at == BUST else looks_at
    if "upcard" in values and looks_at not in ("dealer", FINISHED):
        raise InputError(f"{name}: upcard needs looks_at = dealer, or {FINISHED}")
    more = {WITH_NATURAL: ["dealer_natural"], "player": []}.get(str(looks_at), ["upcard"])
    allowed = OF_HANDS if looks_at == FINISHED else (*CONDITIONS, *more)
    listed = values.get("events")
    if not isinstance(listed, list) or not listed or not all(isinstance(each, dict) for each in listed):
        raise InputError(f"{name}: events are needed, each with a name, pays and conditions: {', '.join(allowed)}")
    if len(listed) > MOST_EVENTS:
        raise InputError(f"{name}: {len(listed)} events are too many; use up to {MOST_EVENTS}")
    events: list[Event] = []
    for each in listed:
        event = dict(each)
        title, pays, aliases = _plain(str(event.pop("name", ""))), event.pop("pays", None), event.pop("aliases", [])
        for condition in event:
            if condition not in allowed:
                raise InputError(
                    f"{name}: {title}: no condition is called {shorten(condition)}; use {', '.join(allowed)}"
                )
        if not title or not title.isprintable() or not event or _key(title) in (_key(known.name) for known in events):
            raise InputError(f"{name}: an event needs a name of its own, and a condition: {', '.join(allowed)}")
        if not isinstance(aliases, list):
            raise InputError(f"{name}: {title}: aliases {shorten(aliases)} are not accepted; write a list of names")
        events.append(Event(title, read_pay(title, pays), event, tuple(map(str, aliases))))
    about, aces, upcard = (str(values.get(key, default)) for key, default in TEXTS.items())
    tables = values.get("tables", {})
    if not isinstance(tables, dict) or not all(isinstance(table, dict) for table in tables.values()):
        raise InputError(f'{name}: tables have pays by decks; write [tables] and 8 = {{ "{events[0].name}" = 5 }}')
    read = {decks: {event: read_pay(event, pay) for event, pay in table.items()} for decks, table in tables.items()}
    return BetRules(name, str(looks_at), tuple(events), about, aces, upcard, read)


@lru_cache(maxsize=1)
def built_in() -> Mapping[str, BetRules]:
    return {name: make_bet(name, values) for name, values in read_toml(Path(__file__).with_name("bets.toml")).items()}


def list_bets() -> Report:
    """The side bets that are included, by name, with their events."""
    bets = [*built_in().values()]
    data = {bet.name: {"about": bet.about, "events": [event.name for event in bet.events]} for bet in bets}
    columns = [
        DataColumn("", "bet", attrgetter("name"), is_text=True),
        DataColumn("", "wins if", attrgetter("about"), is_text=True),
    ]
    return Report("Side bets", [], [DataTable("", columns, bets)], data=lambda: data)


def load_bet(text: str | os.PathLike[str] | BetRules) -> BetRules:
    """Load a side bet: one that is included, by name, one in a TOML file, by path, or a bet as it is."""
    if isinstance(text, BetRules):
        return text
    if not isinstance(text, str | os.PathLike):
        raise InputError(f"{argument('bet')}: {shorten(text)!r} is not accepted; give a bet's name or a TOML file")
    path = Path(text)
    if path.suffix == ".toml":
        try:
            return make_bet(path.stem, read_toml(path))
        except OSError as error:
            raise InputError(f"cannot read the side bet {text}: {error.strerror}") from None
        except InputError:
            raise
        except ValueError as error:
            raise InputError(f"{text} {error}") from None
    bets, name = built_in(), re.sub(r"[\s_-]+", "-", os.fspath(text).strip().lower())
    if name not in bets:
        hint = suggest(name, bets, f"side bets are {', '.join(bets)}.")
        called = shorten(os.fspath(text))
        raise InputError(f"no side bet is called {called!r}; {hint} A file of one must end in .toml")
    return bets[name]
