"""Side bets as data: what a bet looks at, its events in order, and what they pay; TOML files of bets."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import lru_cache
from pathlib import Path
from typing import Any

from bjsim.arguments import argument, exact_number
from bjsim.errors import InputError, shorten, suggest
from bjsim.files import read_toml
from bjsim.sim.game.cards import RANKS, TEN
from bjsim.strategies.sidebets.conditions import CONDITIONS, NEEDS

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
            name in ("cards", "straight") or (name == "ranks" and {*wanted} & {*"TJQKs"}) for name, wanted in asked
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
        by_cards = all(event.conditions.keys() == {"bust"} for event in self.events)
        extra: list[Event] = []
        for text, pay in pays.items():
            name = _key(str(text))
            number = re.fullmatch(r"(\d{1,2})( ?\+| or more)?( cards?)?( or more)?", name)
            if by_cards and number:
                name = str(int(number[1]))
            elif name not in known:
                names = ", ".join(event.name for event in self.events)
                hint = suggest(name, known)
                raise InputError(
                    f"{self.name} has no event {shorten(text)!r}; {hint + ' ' if hint else ''}events are {names}"
                )
            else:
                name = known[name].name
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
        if not title or not event or _key(title) in (_key(known.name) for known in events):
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
        hint = suggest(name, bets)
        raise InputError(
            f"no side bet is called {shorten(os.fspath(text))!r}; {hint + ' ' if hint else ''}"
            f"side bets are {', '.join(bets)}, or a file that ends in .toml"
        )
    return bets[name]
