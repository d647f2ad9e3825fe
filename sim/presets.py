"""The games that come with bjsim, as data: name, rules, where they come from, and what their source left open."""

from __future__ import annotations

import difflib
import math
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from bjsim.sim.rules import Rules, RulesError


@dataclass(frozen=True)
class Preset:
    """A named game: its rules, one line on what it is, and its source."""

    rules: Rules
    about: str
    source: str


def _preset(name: str, about: str, source: str, base: Rules | None = None, **fields: object) -> Preset:
    return Preset((base or Rules()).with_(name=name, **fields), about, source)


_EASY = _preset(
    "easy",
    "Easy Blackjack: both dealer cards are seen before the player acts; soft 17 is hit; surrender",
    "seeds 000 and 002 (ECE326 optimal strategy calculator)",
    deal="ddpp", hit_soft_17=True, dealer_shows="both", peek=True, surrender=True,
)  # fmt: skip
_BLACKJACK_P = _preset(
    "blackjack-p",
    "BlackJack(p): face cards have any probability p; endless resplits; the dealer does not peek",
    "seed 001 (Programming 101, assignment 3)",
    max_hands=math.inf, natural_beats_natural=True, split_tens_blackjack=True,
)  # fmt: skip
_CARDSHARK = _preset(
    "cardshark",
    "the code-golf KOTH: one deck for a table of four, chips, raises, ties lose, naturals are nothing special",
    "seed 003 (codegolf.stackexchange.com question 2698)",
    decks=1, naturals="none", ties="lose", split_by="never", raises=True, turns="round-robin", seats=4,
)  # fmt: skip
_NELLER = _preset(
    "neller",
    "even-money blackjack: hit or stand, ties are replayed, the player's natural wins at once",
    "seed 004 (Neller, CS 371 homework 10); after Hoyle's rules of games",
    blackjack_pays=1, naturals="player", ties="replay", double_on="never", split_by="never", stand_on_21=False,
)  # fmt: skip
_VEGAS = _preset(
    "vegas-s17",
    "Las Vegas Strip: dealer stands on soft 17, double any two and after splits, split to four hands",
    "Griffin, The Theory of Blackjack (1999), chapter 11; Wizard of Odds, blackjack appendix 1",
    decks=6, cut="3/4", peek=True,
)  # fmt: skip


def _variants() -> Iterable[Preset]:
    neller, vegas = _NELLER.rules, _VEGAS.rules
    source = f"{_NELLER.source}, variant"
    yield _preset(
        "neller-v1", "neller with a natural paid 3:2, bonuses for five and six cards, 7-7-7 and 8-7-6",
        f"{source} 1", neller, blackjack_pays="3/2", bonuses="win",
    )  # fmt: skip
    yield _preset(
        "neller-v2", "neller with one split of a pair of the same rank", f"{source} 2", neller,
        split_by="rank", max_hands=2, hit_split_aces=True,
    )  # fmt: skip
    yield _preset("neller-v3", "neller with doubling on the first two cards", f"{source} 3", neller, double_on="any")
    yield _preset(
        "vegas-h17", "downtown-style shoe game: as vegas-s17, but the dealer hits soft 17",
        "Wizard of Odds, blackjack rule variations", vegas, hit_soft_17=True,
    )  # fmt: skip
    yield _preset(
        "downtown", "Downtown Las Vegas: two decks, the dealer hits soft 17, no double after a split",
        "Griffin, The Theory of Blackjack (1999), chapter 11: 'northern Nevada and downtown' style rules", vegas,
        decks=2, hit_soft_17=True, double_after_split=False,
    )  # fmt: skip
    yield _preset(
        "atlantic-city", "Atlantic City: eight decks, stands on soft 17, double after splits, late surrender",
        "Wizard of Odds, Atlantic City blackjack", vegas, decks=8, surrender=True,
    )  # fmt: skip
    yield _preset(
        "european", "European: no hole card, a dealer's natural takes every bet; double on hard 9 to 11 only",
        "Wizard of Odds, European blackjack", vegas, deal="pdp", peek=False, double_on="9-11", max_hands=2,
    )  # fmt: skip


PRESETS = {p.rules.name: p for p in (_EASY, _BLACKJACK_P, _CARDSHARK, _NELLER, _VEGAS, *_variants())}


def named_rules(name: str) -> Rules:
    """The rules of the preset `name`. Raises: RulesError with the nearest name."""
    if name in PRESETS:
        return PRESETS[name].rules
    near = difflib.get_close_matches(name, PRESETS, 1)
    hint = f"did you mean {near[0]}?" if near else f"presets are {', '.join(PRESETS)}"
    raise RulesError(f"no rule set is called {name!r}; {hint}, or the name of a .toml file")


def load_rules(text: str) -> Rules:
    """The rules of a preset's name or of a TOML file of fields, which may start from `preset = "NAME"`.

    Raises: RulesError naming the file and the field.
    """
    path = Path(text)
    if path.suffix != ".toml":
        return named_rules(text)
    try:
        values = tomllib.loads(path.read_text(encoding="utf-8"))
        base = named_rules(str(values.pop("preset"))) if "preset" in values else Rules()
        return base.with_(**{"name": path.stem, **values})
    except OSError as error:
        raise RulesError(f"cannot read the rules file {text}: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise RulesError(f"{text} is no TOML: {error}") from None
    except RulesError as error:
        raise RulesError(f"{text}: {error}") from None
