"""Rules as text: parsers of their values, words of the trade, and combinations that contradict each other.

Each parser takes a field's text and returns its value.

Raises: ValueError, KeyError or ZeroDivisionError for text that the field does not accept.
"""

import math
import re
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import field, fields
from fractions import Fraction
from functools import wraps
from html import escape
from typing import Any, NamedTuple, TypeVar

from bjsim.arguments import parse_fraction
from bjsim.errors import InputError, shorten, suggest
from bjsim.sim.game.cards import NORMAL_TENS, SPANISH_TENS

EARLY_SURRENDER = {"none": "", "late": "", "early": "AT", "early-ten": "T", "early-ace": "A"}  # kinds; against what


def whole(low: int, high: int) -> Callable[[str], int]:
    def parse(text: str) -> int:
        number = int(text)
        if not low <= number <= high:
            raise ValueError
        return number

    return parse


def amount(low: int, high: int) -> Callable[[str], int]:
    """A parser of integers from `low` to `high`, which may be written as 1e6 or 1M."""

    def parse(text: str) -> int:
        number = parse_fraction(text.removesuffix("M")) * (10**6 if text.endswith("M") else 1)
        return whole(low, high)(str(number))

    return parse


def or_inf(parse: Callable[[str], int]) -> Callable[[str], float]:
    return lambda text: math.inf if text in ("inf", "infinite") else parse(text)


def or_word(parse: Callable[[str], Any], *words: str) -> Callable[[str], Any]:
    return lambda text: text if text in words else parse(text)


def share(accepts: Callable[[Fraction], bool]) -> Callable[[str], Fraction]:
    """A parser of fractions and percentages that satisfy `accepts`."""

    def parse(text: str) -> Fraction:
        number = parse_fraction(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
        if not accepts(number):
            raise ValueError
        return number

    return parse


def cut(text: str) -> Fraction:
    """Parse the share of a shoe that is dealt; `csm`, a shuffling machine, deals every round from a fresh shoe."""
    return share(lambda x: 0 <= x <= 1)("0" if text.lower() == "csm" else text)


def odds(text: str) -> Fraction:
    """Parse odds above 0 and up to 100, such as 3:2."""
    number = parse_fraction(text.replace(":", "/"))
    if not 0 < number <= 100 or number.denominator > 1000:
        raise ValueError
    return number


def parse_flag(text: str) -> bool:
    return {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}[text.lower()]


def surrender(text: str) -> str:
    """Parse the kind of surrender; a truth value means late surrender or none."""
    return text if text in EARLY_SURRENDER else ("none", "late")[parse_flag(text)]


def ranks(text: str) -> str:
    """Parse different ranks, such as A2356789; their order does not matter."""
    given = text.upper()
    if not text or len(set(given)) < len(text) or set(given) - set("A23456789T"):
        raise ValueError
    return "".join(sorted(given, key="A23456789T".index))


def deal(text: str) -> str:
    """Parse the order of the deal, such as pdpd."""
    if set(text) - set("pd") or text.count("p") != 2 or text.count("d") not in (1, 2):
        raise ValueError
    return text


def totals(text: str) -> str:
    """Parse hard totals, such as 9-11."""
    low, high = map(int, text.split("-"))
    if not 4 <= low <= high <= 20:
        raise ValueError
    return f"{low}-{high}"


# --- Declarations of the fields of `Rules`, and how their values are written.


T = TypeVar("T")
WORDS: dict[str, dict[str, object]] = {  # what casinos and books write for rules
    "s17": {"hit_soft_17": False},
    "h17": {"hit_soft_17": True},
    "das": {"double_after_split": True},
    "ndas": {"double_after_split": False},
    "ls": {"surrender": "late"},
    "lsr": {"surrender": "late"},
    "es": {"surrender": "early"},
    "es10": {"surrender": "early-ten"},
    "rsa": {"resplit_aces": True},
    "nrsa": {"resplit_aces": False},
    "hsa": {"hit_split_aces": True},
    "enhc": {"deal": "pdp", "peek": False},
    "obo": {"no_hole_loses": "original", "peek": False},
    "bb+1": {"no_hole_loses": "busted-plus-one", "peek": False},
    "csm": {"cut": 0},
}
ALIASES = {"bj": "blackjack_pays", "pen": "cut", "penetration": "cut", "p": "ten_probability"}  # short names of fields

SIDE_BETS = re.compile(
    "21-3|perfect-pairs|lucky|royal-match|over-13|under-13|over-under|match-the-dealer|buster|side-bet"
)


class RulesError(InputError):
    """An inconsistent rule set, or an unknown field or value. The message names the field."""


def rule(default: Any, accepts: str, parse: Callable[[str], Any]) -> Any:
    """Declare a field with what it accepts and its parser; its meaning is in the docstring of `Rules`."""
    return field(default=default, metadata={"accepts": accepts, "parse": parse})


def flag(default: bool) -> Any:
    return rule(default, "true or false", parse_flag)


def choice(default: str, *values: str) -> Any:
    return rule(
        default, f"{', '.join(values[:-1])} or {values[-1]}", dict(zip(values, values, strict=True)).__getitem__
    )


def plain(value: object) -> object:
    """Convert a field's value to a plain JSON value: a fraction or `inf` becomes text."""
    if isinstance(value, Fraction) or value == math.inf:
        return str(value)
    return value


def written(value: object) -> str:
    """A field's value as options and rules files have it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def unknown_field(name: str, known: Iterable[str]) -> RulesError:
    """The error for a field that does not exist; it names the most similar one."""
    if refused := side_bet_error(name):
        return refused
    name = shorten(name)
    typed = name.lower()
    meant = [ALIASES[typed]] if typed in ALIASES else [*WORDS.get(typed, ())]
    hint = suggest(typed, (*known, *WORDS), "`bjsim rules --fields` lists all")
    return RulesError(f"no rule is called {name!r}; {f'did you mean {meant[0]}?' if meant else hint}")


def side_bet_error(name: str) -> RulesError | None:
    """The error for a side bet where rules are expected; None for other names."""
    if not SIDE_BETS.search(re.sub(r"[^a-z0-9]+", "-", name.lower())):
        return None
    return RulesError(f"{shorten(repr(name))} is a side bet, not a rule; `bjsim sidebet` lists those included")


def parse_word(text: str) -> dict[str, object] | None:
    """The rules that a word of the trade stands for: `h17`, `6:5` (a natural's pay), `75%` (the cut); None if none."""
    if text.endswith("%"):
        return {"cut": text}
    left, colon, right = text.partition(":")
    if colon and left.isdigit() and right.isdigit():
        return {"blackjack_pays": text}
    return WORDS.get(text.lower())


def expand_words(changes: Iterable[tuple[str, object]], known: Mapping[str, Mapping[str, Any]]) -> dict[str, object]:
    """Replace words of the trade by their fields; `known` are the fields with their metadata.

    A word in `changes` has a truth value; false is the opposite of a word for a flag. RulesError: a name is
    unknown, a value does not fit its word, or a field gets several values.
    """
    expanded: dict[str, object] = {}
    owners: dict[str, tuple[str, object]] = {}
    for name, value in changes:
        field = name.lower().replace("-", "_")
        field = ALIASES.get(field, field)
        is_field = field == "name" or field in known
        words = {field: value} if is_field else parse_word(name)
        if words is None:
            raise unknown_field(name, known)
        opposite = _opposite(words)
        try:
            meant = words if is_field or parse_flag(str(value).strip()) else opposite
        except KeyError:
            meant = None
        if meant is None:
            hint = "use true or false" if opposite else "use true"
            raise RulesError(f"{shorten(name)} = {shorten(value)} is not accepted; {hint}")
        for each in meant.keys() & expanded.keys():
            said: set[Any] = {str(values[each]).strip() for values in (expanded, meant)}
            with suppress(ValueError, KeyError, ZeroDivisionError):  # refused later
                said = {*map(known[each]["parse"], said)}
            if len(said) > 1:
                both = (n if v is True else f"{n}={shorten(v)}" for n, v in (owners[each], (name, value)))
                raise RulesError(f"{each} is given twice, as {' and as '.join(map(shorten, both))}")
        expanded |= meant
        owners |= dict.fromkeys(meant, (name, value))
    return expanded


def _opposite(fields: Mapping[str, object]) -> dict[str, object] | None:
    """The rules that a word excludes: no surrender, or the other value of a flag; None if there are several."""
    if "surrender" in fields:
        return {"surrender": "none"}
    flags: dict[str, object] = {name: not meant for name, meant in fields.items() if isinstance(meant, bool)}
    return flags if len(flags) == len(fields) == 1 else None


def name_unknown_fields(rules: type[T]) -> type[T]:
    """Let the constructor suggest a field for one that does not exist, and take words of the trade, as `replace`."""
    construct: Any = rules.__init__
    known = {each.name: each.metadata for each in fields(rules) if "parse" in each.metadata}  # type: ignore[arg-type]

    @wraps(construct)
    def init(self: T, /, *values: object, **named: object) -> None:
        construct(self, *values, **expand_words(named.items(), known))

    setattr(rules, "__init__", init)  # noqa: B010
    return rules


def html_table(title: str, rows: Iterable[tuple[str, object, str]]) -> str:
    """A table of fields as HTML. rows: name, value and meaning of each."""
    cells = "".join(
        f"<tr><th>{name}</th><td>{escape(str(plain(value)))}</td><td>{escape(meaning)}</td></tr>"
        for name, value, meaning in rows
    )
    return f"<table><caption>{escape(title)}</caption><tbody>{cells}</tbody></table>"


# --- Combinations of rules that contradict each other.


class Contradiction(NamedTuple):
    """A combination of values that is refused; `message` names the fields, with values as `{field}`."""

    fields: tuple[str, str]
    broken: Callable[[Any], bool]  # of a `Rules`, whose module imports this one
    message: str

    @property
    def text(self) -> str:
        """The message for any values."""
        return re.sub(r"\{\w+\}", "…", self.message)


CONTRADICTIONS = (
    Contradiction(
        ("ten_probability", "decks"),
        lambda r: r.deck == "standard" and r.decks != math.inf and r.ten_probability != NORMAL_TENS,
        "ten_probability = {ten_probability} needs decks = inf: a deck of cards has 4/13",
    ),
    Contradiction(
        ("ten_probability", "deck"),
        lambda r: r.deck == "spanish" and r.ten_probability != SPANISH_TENS,
        "ten_probability = {ten_probability} needs deck = standard: a Spanish deck has 1/4",
    ),
    Contradiction(
        ("dealer_shows", "deal"),
        lambda r: r.dealer_shows == "both" and r.deal.count("d") < 2,
        "dealer_shows = both needs two d in deal, not {deal}",
    ),
    Contradiction(
        ("peek", "deal"),
        lambda r: r.peek and r.deal.count("d") < 2,
        "peek = true needs a hole card: two d in deal, not {deal}",
    ),
    Contradiction(
        ("peek", "naturals"),
        lambda r: r.peek and r.naturals != "both",
        "peek = true needs naturals = both: with naturals = {naturals} there is nothing to peek for",
    ),
    Contradiction(
        ("natural_beats_21", "naturals"),
        lambda r: not r.natural_beats_21 and (r.naturals != "both" or r.peek or r.no_hole_loses != "all"),
        "natural_beats_21 = false needs naturals = both, peek = false and no_hole_loses = all",
    ),
    Contradiction(
        ("no_hole_loses", "dealer_shows"),
        lambda r: r.no_hole_loses != "all" and r.dealer_shows == "both",
        "no_hole_loses = {no_hole_loses} needs dealer_shows = up: no one plays on against a natural that all can see",
    ),
    Contradiction(
        ("dealer_shows", "peek"),
        lambda r: r.dealer_shows == "both" and r.naturals == "both" and not r.peek,
        "dealer_shows = both with naturals = both needs peek = true: a natural that all can see ends the round",
    ),
    Contradiction(
        ("no_hole_loses", "peek"),
        lambda r: r.no_hole_loses != "all" and r.peek,
        "no_hole_loses = {no_hole_loses} needs peek = false: with it, a dealer's natural takes one bet in any case",
    ),
    Contradiction(
        ("no_hole_loses", "naturals"),
        lambda r: r.no_hole_loses != "all" and r.naturals != "both",
        "no_hole_loses = {no_hole_loses} needs naturals = both: with naturals = {naturals} the dealer's is only a 21",
    ),
    Contradiction(
        ("no_hole_loses", "surrender_after_split"),
        lambda r: r.no_hole_loses == "original" and r.surrender_after_split,
        "no_hole_loses = {no_hole_loses} needs surrender_after_split = false: a natural takes one bet of split hands",
    ),
    Contradiction(
        ("no_hole_loses", "max_hands"),
        lambda r: r.no_hole_loses == "busted-plus-one" and r.most_hands == math.inf,
        "no_hole_loses = busted-plus-one needs a limit of hands, not max_hands = {max_hands} and "
        "max_ace_hands = {max_ace_hands}: what each loses depends on all before it",
    ),
    Contradiction(
        ("raises", "ties"),
        lambda r: r.raises and r.ties == "replay",
        "raises = true with ties = replay: a replayed bet would have to be raised again; use push or lose",
    ),
    Contradiction(
        ("surrender_after_split", "surrender"),
        lambda r: r.surrender_after_split and r.surrender != "late",
        "surrender_after_split = true needs surrender = late: with surrender = {surrender} no split hand may surrender",
    ),
    Contradiction(
        ("surrender_cards", "surrender"),
        lambda r: r.surrender_cards != "two" and r.surrender != "late",
        "surrender_cards = {surrender_cards} needs surrender = late, not {surrender}",
    ),
    Contradiction(
        ("surrender_after_double", "surrender"),
        lambda r: r.surrender_after_double and bool(EARLY_SURRENDER[r.surrender]),
        "surrender_after_double = true needs surrender = none or late, not {surrender}: it comes after the look",
    ),
    Contradiction(
        ("surrender_after_double", "no_hole_loses"),
        lambda r: r.surrender_after_double and r.no_hole_loses == "original",
        "surrender_after_double = true needs no_hole_loses other than original: a natural takes one bet of split hands",
    ),
    Contradiction(
        ("max_doubles", "raises"),
        lambda r: r.max_doubles > 1 and r.raises,
        "max_doubles = {max_doubles} needs raises = false, as no chips may be left to double again",
    ),
    Contradiction(
        ("surrender", "peek"),
        lambda r: bool(EARLY_SURRENDER[r.surrender]) and not r.peek,
        "surrender = {surrender} needs peek = true: without it, late surrender does the same",
    ),
    Contradiction(
        ("surrender", "dealer_shows"),
        lambda r: bool(EARLY_SURRENDER[r.surrender]) and r.dealer_shows == "both",
        "surrender = {surrender} needs dealer_shows = up: a natural that all can see ends the round",
    ),
    Contradiction(
        ("insurance", "dealer_shows"),
        lambda r: r.insurance and r.dealer_shows == "both",
        "insurance = true needs dealer_shows = up: nothing can be bet on a natural that all can see",
    ),
    Contradiction(
        ("insurance", "naturals"),
        lambda r: r.insurance and r.naturals != "both",
        "insurance = true needs naturals = both: with naturals = {naturals} the dealer's is only a 21",
    ),
    Contradiction(
        ("insurance", "raises"),
        lambda r: r.insurance and r.raises,
        "insurance = true needs raises = false: it is half of a bet in whole chips",
    ),
    *(
        Contradiction(
            (free, field),
            lambda r, free=free, field=field, value=value: (  # type: ignore[misc]
                getattr(r, free) != "none" and getattr(r, field) == value
            ),
            f"{free} = {{{free}}} with {field} = {{{field}}}: {reason}",
        )
        for free in ("free_doubles", "free_splits")
        for field, value, reason in (
            ("raises", True, "it is undefined who raises a bet of the house; use raises = false"),
            ("ties", "replay", "a bet of the house is not replayed; use push or lose"),
            ("no_hole_loses", "original", "it is undefined what a natural takes of free bets; use all"),
            ("no_hole_loses", "original-and-busted", "it is undefined what a natural takes of free bets; use all"),
            ("no_hole_loses", "busted-plus-one", "it is undefined what a natural takes of free bets; use all"),
            (
                "surrender_after_double",
                True,
                "half of a free bet cannot be given up; use surrender_after_double = false",
            ),
            ("max_doubles", 2, "the house pays for one double; use max_doubles = 1"),
            ("max_doubles", 3, "the house pays for one double; use max_doubles = 1"),
            ("surrender_after_split", True, "half of a free bet cannot be given up; use surrender_after_split = false"),
        )
    ),
    Contradiction(
        ("attack", "deal"),
        lambda r: r.attack and r.deal[0] != "d",
        "attack = true needs a deal that begins with the dealer's card, such as dppd, not {deal}",
    ),
    *(
        Contradiction(
            ("attack", field),
            lambda r, field=field, needed=needed: r.attack and getattr(r, field) != needed,  # type: ignore[misc]
            f"attack = true needs {field} = {str(needed).lower()}, not {{{field}}}: {reason}",
        )
        for field, needed, reason in (
            ("dealer_shows", "up", "the bet is doubled against one open card"),
            ("raises", False, "chips would have to last for doubled bets"),
            ("no_hole_loses", "all", "it is undefined whether the attack is part of the original bet"),
        )
    ),
    *(
        Contradiction(
            ("exchange", field),
            lambda r, field=field, value=value: r.exchange != "none" and getattr(r, field) == value,  # type: ignore[misc]
            f"exchange = {{exchange}} with {field} = {{{field}}}: {reason}",
        )
        for field, value, reason in (
            ("raises", True, "it is undefined which of two hands is raised; use raises = false"),
            ("ties", "replay", "it is undefined how one of two hands is replayed; use push or lose"),
            ("stand_on_21", False, "ace and ten after an exchange stand; use stand_on_21 = true"),
            ("attack", True, "two hands are not attacked; use attack = false"),
        )
    ),
    Contradiction(
        ("exchange", "surrender"),
        lambda r: r.exchange != "none" and bool(EARLY_SURRENDER[r.surrender]),
        "exchange = {exchange} needs surrender = none or late, not {surrender}: cards are exchanged after the look",
    ),
    Contradiction(
        ("exchange", "no_hole_loses"),
        lambda r: r.exchange != "none" and r.no_hole_loses != "all",
        "exchange = {exchange} needs no_hole_loses = all, not {no_hole_loses}: there are two original bets",
    ),
    Contradiction(
        ("attack", "ties"),
        lambda r: r.attack and r.ties == "replay",
        "attack = true with ties = replay: it is undefined whether the attack is replayed; use push or lose",
    ),
    Contradiction(
        ("free_splits", "max_hands"),
        lambda r: r.free_splits != "none" and r.most_hands == math.inf,
        "free_splits = {free_splits} needs a limit of hands, not max_hands = {max_hands} and "
        "max_ace_hands = {max_ace_hands}",
    ),
    Contradiction(
        ("max_ace_hands", "resplit_aces"),
        lambda r: r.max_ace_hands not in ("none", 2) and not r.resplit_aces,
        "max_ace_hands = {max_ace_hands} needs resplit_aces = true: with false, aces make two hands",
    ),
    Contradiction(
        ("max_ace_hands", "resplit_aces"),
        lambda r: r.max_ace_hands == 2 and r.resplit_aces,
        "max_ace_hands = 2 needs resplit_aces = false: with true, aces may make more hands",
    ),
    Contradiction(
        ("charlie", "bonuses"),
        lambda r: r.charlie != "none" and r.bonuses not in ("none", "super-fun"),
        "charlie = {charlie} with bonuses = {bonuses}: both say what a hand of many cards wins; set one to none",
    ),
    Contradiction(
        ("chips", "buy_in"),
        lambda r: r.chips < 2 * r.buy_in,
        "chips = {chips} must be at least twice the buy_in of {buy_in}",
    ),
    Contradiction(
        ("raises", "chips"),
        lambda r: r.raises and r.split_by != "never" and r.chips < 2 * r.buy_in * r.most_hands < math.inf,
        "raises = true needs chips to double every split hand: {chips} are fewer than twice the buy_in of {buy_in} for "
        "each of {most_hands} hands (max_hands, max_ace_hands); or split_by = never",
    ),
    Contradiction(
        ("raises", "max_hands"),
        lambda r: r.raises and r.split_by != "never" and r.most_hands == math.inf,
        "raises = true needs a limit of hands: no chips double every split hand with max_hands = {max_hands} and "
        "max_ace_hands = {max_ace_hands}; or split_by = never",
    ),
)


def find_contradictions(rules: Any) -> list[str]:
    values = {**vars(rules), "most_hands": rules.most_hands}
    return [each.message.format_map(values) for each in CONTRADICTIONS if each.broken(rules)]
