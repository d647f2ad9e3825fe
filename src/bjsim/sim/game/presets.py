"""The preset games: name, rules, source, and decisions where the source is silent. Also reads TOML rules files."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from bjsim.arguments import a_type
from bjsim.errors import suggest
from bjsim.sim.game.rule_fields import not_modelled
from bjsim.sim.game.rules import Rules, RulesError
from bjsim.toml_files import read_toml


@dataclass(frozen=True)
class Preset:
    """A named game.

    Attributes:
        rules: Its rules.
        about: A one-line description.
        source: Its source.
        decisions: Decisions where the source is silent.
    """

    rules: Rules
    about: str
    source: str
    decisions: tuple[str, ...] = ()


def _preset(
    name: str, about: str, source: str, base: Rules | None = None, decisions: tuple[str, ...] = (), **fields: object
) -> Preset:
    return Preset((base or Rules()).replace(name=name, **fields), about, source, decisions)


_EASY = _preset(
    "easy",
    "Easy Blackjack: both dealer cards are seen before the player acts; soft 17 is hit; surrender",
    "Optimal Strategy Calculator, an assignment of ECE326",
    decisions=(
        "a natural pays 3:2, a dealer's natural costs the bet, both push: from the assignment before it",
        "any two cards may double, after a split too; surrender gives back half and is never for a split hand",
        "a pair is split again whenever the limit of four hands allows, as in the source's split tables",
        "hitting 19 against 20 is -10/13 = -0.769, where the source prints -0.768",
    ),
    deal="ddpp", hit_soft_17=True, dealer_shows="both", peek=True, surrender=True,
)  # fmt: skip
_BLACKJACK_P = _preset(
    "blackjack-p",
    "BlackJack(p): face cards have any probability p; endless resplits; the dealer does not peek",
    "Programming 101, assignment 3: Blackjack",
    decisions=(
        'the dealer stands on soft 17 (hit_soft_17 = true hits it): the text says both "or soft 17, must hit" and that '
        "A,2,4 stands, and the sample output fits standing",
        "an ace drawn to a split ten is a blackjack (split_tens_blackjack = false makes it 21): the exception names "
        "aces only",
        "a dealer's blackjack takes doubled and split bets, since there is no peek",
    ),
    max_hands=math.inf, natural_beats_natural=True, split_tens_blackjack=True,
)  # fmt: skip
_CARDSHARK = _preset(
    "cardshark",
    "the code-golf KOTH: one deck for a table of four, chips, raises, ties lose, naturals are nothing special",
    "codegolf.stackexchange.com question 2698: a BlackJack KOTH contest",
    decisions=(
        "one move each, round and round (turns = in-turn finishes one bot before the next)",
        "the dealer stands on every 17 (dealer_stands_on = 18 draws until above 17): the source says both",
        "a bot is not asked again at 21 (stand_on_21 = false asks it)",
    ),
    decks=1, naturals="none", ties="lose", split_by="never", raises=True, turns="round-robin", seats=4,
)  # fmt: skip
_NELLER = _preset(
    "neller",
    "even-money blackjack: hit or stand, ties are replayed, the player's natural wins at once",
    "Neller, CS 371 homework 10; after Hoyle's rules of games",
    decisions=(
        "a dealer's natural is a 21 like any other (naturals = both with peek = true: it wins at once too; "
        "naturals = none: naturals are nothing special)",
        "a tied bet is replayed, so the value of the game is net / (1 - tied) (ties = push counts a tie as 0)",
        "a player may hit 21, since nothing forbids it",
    ),
    blackjack_pays=1, naturals="player", ties="replay", double_on="never", split_by="never", stand_on_21=False,
)  # fmt: skip
_VEGAS = _preset(
    "vegas-s17",
    "Las Vegas Strip: the dealer stands on soft 17, double any two cards and after a split, split to four hands",
    "the rule set 'Vegas Strip' (blackjack-player.org/vegas-strip-blackjack.htm), from six decks; Wizard of Odds, "
    "blackjack appendix 1, has its value in an infinite shoe: -0.511734%",
    decisions=("a quarter of the shoe is not dealt (cut)", "no insurance, here and in all casino presets"),
    decks=6, cut="3/4", peek=True,
)  # fmt: skip


def _variants() -> Iterable[Preset]:
    neller, vegas = _NELLER.rules, _VEGAS.rules
    source = f"{_NELLER.source}, variant"
    yield _preset(
        "neller-v1", "neller with a natural paid 3:2, bonuses for five and six cards, 7-7-7 and 8-7-6",
        f"{source} 1", neller,
        ("a bonus is paid when the hand beats the dealer (bonuses = at-once pays it as soon as the hand stands)",
         "six cards or more triple; suits do not matter to 7-7-7 and 8-7-6"),
        blackjack_pays="3/2", bonuses="win",
    )  # fmt: skip
    yield _preset(
        "neller-v2", "neller with one split of a pair of the same rank", f"{source} 2", neller,
        ("two jacks are a pair, a jack and a queen are not: the source's examples are 'two sixes or two jacks'",
         "each split hand is a separate game: aces play on, and an ace and a ten as its first two cards are a natural"),
        split_by="rank", max_hands=2, hit_split_aces=True, split_tens_blackjack=True, split_aces_blackjack=True,
    )  # fmt: skip
    yield _preset("neller-v3", "neller with doubling on the first two cards", f"{source} 3", neller, double_on="any")
    yield _VEGAS
    yield _preset(
        "vegas-h17", "Las Vegas Strip shoes of today: as vegas-s17, but the dealer hits soft 17",
        "Dalton, Blackjack Review, FAQ 'What is meant by the term Las Vegas rules?': the later custom of Strip shoes",
        vegas, hit_soft_17=True,
    )  # fmt: skip
    yield _preset(
        "downtown", "Downtown Las Vegas: two decks, the dealer hits soft 17, no double after a split",
        "Dalton, Blackjack Review, FAQ 'What is meant by the term Las Vegas rules?': those of Downtown, the Fremont's",
        vegas, ("two decks: the source names no number",), decks=2, hit_soft_17=True, double_after_split=False,
    )  # fmt: skip
    yield _preset(
        "atlantic-city", "Atlantic City: eight decks, stands on soft 17, double after a split, late surrender",
        "the rule set 'Atlantic City' (blackjack-player.org/atlantic-city-blackjack.htm)", vegas,
        decks=8, surrender=True,
    )  # fmt: skip
    yield _preset(
        "european", "European: no hole card, a dealer's natural takes every bet; double 9 to 11 only, split once",
        "the rule set 'European Blackjack' (nitrobetting.eu/casino/table-games/european-blackjack), six decks", vegas,
        ("only hard totals of 9 to 11 double (as rtgcasinogames.com/european-blackjack.html has it)",),
        deal="pdp", peek=False, double_on="9-11", max_hands=2,
    )  # fmt: skip


def _later() -> Iterable[Preset]:
    vegas = _VEGAS.rules
    yield _preset(
        "single-deck", "one deck as in Reno: the dealer hits soft 17, double 10 and 11 only, no double after a split",
        "thecolorofblackjack.com/solution_one.html: -0.02%, less 0.20% for soft 17 and 0.21% for the doubles: -0.43%; "
        "ours is -0.429% by the cards of the hand",
        vegas, ("half of the deck is not dealt (cut)",),
        decks=1, cut="1/2", hit_soft_17=True, double_on="10-11", double_after_split=False,
    )  # fmt: skip
    yield _preset(
        "two-deck", "two decks of the Strip: the dealer hits soft 17, double any two cards and after a split",
        "Wizard of Odds, blackjack appendix 9: -0.3797%; ours is -0.3802% by all cards of the round (cdp)",
        vegas, decks=2, hit_soft_17=True,
    )  # fmt: skip
    yield _preset(
        "double-exposure",
        "both dealer cards are open, ties lose, naturals pay 1:1 and beat the dealer's, double 9 to 11",
        "Wizard of Odds, Double Exposure, rules of the Stratosphere: -0.68%; ours is -0.77%",
        vegas, ("six decks, of which a quarter is not dealt (cut)", "a dealer's natural ends the round at once"),
        dealer_shows="both", ties="lose", blackjack_pays=1, natural_beats_natural=True, hit_soft_17=True,
        double_on="9-11",
    )  # fmt: skip
    yield _preset(
        "spanish-21", "decks without tens; 21 always wins, with bonuses; double any number of cards, also split aces",
        "the house edge in Wikipedia, Spanish 21: -0.78% with six decks; ours is -0.82% without the bonuses of suits",
        vegas, (
            "suits do not matter: 6-7-8 and 7-7-7 of one suit pay 3:2 like others, not 2:1 or 3:1; no super bonus",
            "no surrender after a double (rescue), and no redoubling",
        ),
        deck="spanish", hit_soft_17=True, natural_beats_natural=True, double_cards="any", surrender=True,
        resplit_aces=True, hit_split_aces=True, bonuses="spanish", player_21_wins=True,
    )  # fmt: skip


PRESETS = {p.rules.name: p for p in (_EASY, _BLACKJACK_P, _CARDSHARK, _NELLER, *_variants(), *_later())}
"""Every preset by name: its `rules`, `about` (a line), `source`, and `decisions` where the source is silent."""


def named_rules(name: str) -> Rules:
    """Return the rules of a preset. Raises: RulesError, with the most similar name."""
    if name in PRESETS:
        return PRESETS[name].rules
    if refused := not_modelled(name):
        raise refused
    hint = suggest(name, PRESETS, f"presets are {', '.join(PRESETS)}.")
    raise RulesError(f"no rule set is called {name!r}; {hint} A rules file must end in .toml")


def load_rules(text: str | os.PathLike[str]) -> Rules:
    """Load rules by a preset's name or from a TOML file.

    Args:
        text: A preset's name; or a path that ends in .toml, of a file with values by field. With `preset = "NAME"`,
            missing fields have the values of that preset.

    Returns:
        The rules.

    Raises:
        InputError: The name, the file or a field is not accepted. The message names it.
    """
    if not isinstance(text, str | os.PathLike):
        raise RulesError(f"rules: {a_type(text)} is not accepted; Rules, a preset's name or a TOML file")
    path = Path(text)
    if path.suffix != ".toml":
        return named_rules(os.fspath(text))
    try:
        values = read_toml(path)
        base = named_rules(str(values.pop("preset"))) if "preset" in values else Rules()
        return base.replace(**{"name": path.stem, **values})
    except OSError as error:
        raise RulesError(f"cannot read the rules file {text}: {error.strerror}") from None
    except RulesError as error:
        raise RulesError(f"{text}: {error}") from None
    except ValueError as error:
        raise RulesError(f"{text} {error}") from None
