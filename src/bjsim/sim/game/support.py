"""What a game is made of, and which front ends play it: the one place of refusals.

`need` refuses, `bjsim rules NAME` prints, and the table in docs/how-to/casino-games.md is held to this one.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from math import inf

from bjsim.sim.game.rule_text import EARLY_SURRENDER, RulesError, plain
from bjsim.sim.game.rules import Rules


@dataclass(frozen=True)
class Trait:
    """Something that a game is made of."""

    field: str  # the rule that says so
    has: Callable[[Rules], bool]
    use: str  # a game without it
    about: str = ""  # in a list of what a game is made of; empty where all games have it, or its opposite


def gives_up_to_natural(rules: Rules) -> bool:
    """Whether a hand may surrender to a dealer's natural, before the look or where there is none."""
    return bool(EARLY_SURRENDER[rules.surrender]) or (rules.surrender == "late" and not rules.peek)


def lost_together(rules: Rules) -> bool:
    """Whether what a dealer's natural takes of a seat depends on how its hands were played."""
    wins_at_once = rules.charlie != "none" or rules.player_21_wins or rules.scheme.at_once
    wins_split = rules.natural_beats_natural and (rules.split_tens_blackjack or rules.split_aces_blackjack)
    varies = wins_at_once or wins_split or rules.surrender_cards == "any"
    return rules.no_hole_loses == "busted-plus-one" or (rules.no_hole_loses == "original" and varies)


UNSOLVED = "no_hole_loses = all, or decks = inf"
TRAITS = {
    "infinite": Trait("decks", lambda r: r.infinite, "decks = 1 to 8", "an infinite shoe"),
    "finite": Trait("decks", lambda r: not r.infinite, "decks = inf", "a finite shoe"),
    "two hands": Trait("exchange", lambda r: r.bets > 1, "exchange = none", "two hands of a seat"),
    "attack": Trait("attack", lambda r: r.attack, "attack = false", "bets doubled before the deal"),
    "raises": Trait("raises", lambda r: r.raises, "raises = false", "raises"),
    "no raises": Trait("raises", lambda r: not r.raises, "raises = true"),
    "replay": Trait("ties", lambda r: r.ties == "replay", "ties = push or lose", "replayed ties"),
    "replay after a natural": Trait(
        "ties",
        lambda r: r.ties == "replay" and r.naturals == "both" and (r.insurance or gives_up_to_natural(r)),
        "ties = push or lose",
    ),
    "lost together": Trait("no_hole_loses", lost_together, UNSOLVED, "what hands lose together to a natural"),
    "unsolved shoe": Trait("no_hole_loses", lambda r: lost_together(r) and not r.infinite, UNSOLVED),
    "endless aces": Trait("max_ace_hands", lambda r: r.most_hands == inf > r.max_hands, "max_ace_hands = 3 to 16"),
    "endless hands": Trait("max_hands", lambda r: r.most_hands == inf, "max_hands = 2 to 16", "splits without a limit"),
    "drawn 21 ties": Trait("natural_beats_21", lambda r: not r.natural_beats_21, "natural_beats_21 = true"),
    "no hole card": Trait("deal", lambda r: r.deal.count("d") < 2, "deal = pdpd", "no hole card"),
    "both open": Trait("dealer_shows", lambda r: r.dealer_shows == "both", "dealer_shows = up", "both cards seen"),
    "splits": Trait("split_by", lambda r: r.split_by != "never", "split_by = never", "splits"),
    "free doubles": Trait(
        "free_doubles", lambda r: r.free_doubles != "none", "free_doubles = none", "doubles for which the house pays"
    ),
    "free splits": Trait(
        "free_splits", lambda r: r.free_splits != "none", "free_splits = none", "splits for which the house pays"
    ),
    "doubles again": Trait("max_doubles", lambda r: r.max_doubles > 1, "max_doubles = 1", "hands that double again"),
    "rescue": Trait(
        "surrender_after_double", lambda r: r.surrender_after_double, "surrender_after_double = false", "rescue"
    ),
    "late surrender": Trait("surrender_cards", lambda r: r.surrender_cards != "two", "surrender_cards = two"),
    "doubles or gives up": Trait(
        "surrender", lambda r: r.surrender != "none" and r.double_cards == "any", "surrender = none"
    ),
    "bonuses": Trait("bonuses", lambda r: r.bonuses != "none", "bonuses = none", "bonuses by cards"),
    "charlie": Trait("charlie", lambda r: r.charlie != "none", "charlie = none", "a win by the number of cards"),
}
NO_VALUE = "what hands lose to a natural has no exact value in a finite shoe"
KNOWN = {
    "two hands": "have no values for known cards",
    "attack": "known cards are not valued where bets are doubled before the deal",
    "unsolved shoe": NO_VALUE,
}
SEES = "a bot does not see enough to follow a chart for it"


@dataclass(frozen=True)
class FrontEnd:
    """What one front end cannot play."""

    title: str
    refuses: dict[str, str]  # why, by trait, in the order of complaint
    partly: dict[str, str] = field(default_factory=dict)  # how it plays games with a trait, if not as all others
    use: dict[str, str] = field(default_factory=dict)  # what helps here by trait, if not what the trait says


FRONT_ENDS = {
    "run": FrontEnd("bjsim run", {}, {"two hands": "in the readable round"}),
    "compiled": FrontEnd("compiled rounds", {"two hands": "are played in the readable round only"}),
    "luck": FrontEnd("luck-adjusted returns", {"two hands": "have no luck-adjusted returns"}),
    "count": FrontEnd(
        "bjsim count",
        {
            "infinite": "cards cannot be counted in an infinite shoe",
            "attack": "a counter is not asked between the dealer's card and its own",
            "two hands": "are not counted",
            "replay": "bets of a counter are settled in their round",
            "raises": "a counter bets before the deal",
        },
    ),
    "learn": FrontEnd("bjsim learn", {"finite": "its states are too many to learn", "two hands": "are not learned"}),
    "environment": FrontEnd(
        "environments",
        {"two hands": "are not shown by environments", "attack": "environments do not ask before the deal"},
    ),
    "bots": FrontEnd("bots", {"two hands": "have no protocol for programs"}, {"attack": "without attacks"}),
    "contest": FrontEnd(
        "contests",
        {"two hands": "are not played in contests", "replay": "a contest settles every bet in its round"},
        {"attack": "without attacks"},
    ),
    "known": FrontEnd("known cards", KNOWN),
    "upcard": FrontEnd("bjsim known up", KNOWN | {"both open": "both of the dealer's cards are seen"}),
    "hole card": FrontEnd(
        "bjsim known hole",
        KNOWN
        | {
            "both open": "both of the dealer's cards are seen",
            "no hole card": "the dealer has no hole card",
            "drawn 21 ties": "hands against a natural that is known are not valued",
            "replay after a natural": "what insuring or surrendering to a natural adds to a tied bet is not valued",
        },
    ),
    "bank": FrontEnd(
        "bjsim bank",
        {
            "two hands": "are not covered by the distribution of profits",
            "replay": "a tied bet is replayed, so a single round has no profit distribution",
            **dict.fromkeys(("endless aces", "endless hands"), "without a limit of hands, profits have no bound"),
            "unsolved shoe": NO_VALUE,
        },
    ),
    "shoe": FrontEnd(
        "charts of finite shoes",
        {
            "two hands": "have a chart in an infinite shoe only",
            "lost together": NO_VALUE,
        },
        use={"two hands": "decks = inf"},
    ),
    "perfect": FrontEnd(
        "perfect",
        {
            "infinite": "perfect counts the visible cards, which carry no information in an infinite shoe",
            "two hands": "are not played by perfect",
            "unsolved shoe": NO_VALUE,
        },
    ),
    **{
        name: FrontEnd(
            name,
            {
                "infinite": f"{name} needs a finite shoe",
                "two hands": f"are not played by {name}",
                "unsolved shoe": NO_VALUE,
            },
        )
        for name in ("optimal-2c", "optimal-cd")
    },
    "kelly": FrontEnd("kelly", {"no raises": "kelly raises its stake"}),
    "export": FrontEnd(
        "bjsim bot export",
        dict.fromkeys(("splits", "bonuses", "charlie", "free doubles", "doubles again", "late surrender"), SEES)
        | dict.fromkeys(("rescue", "attack", "both open"), SEES)
        | {"doubles or gives up": f"with double_cards = any, {SEES}"},
    ),
}


def made_of(rules: Rules) -> list[str]:
    """What a game is made of, in words."""
    return [trait.about for trait in TRAITS.values() if trait.about and trait.has(rules)]


def refusal(rules: Rules, front_end: str) -> str:
    """Why a front end does not play a game, as a sentence in terms of its rules; empty if it does."""
    asked = FRONT_ENDS[front_end]
    for name, why in asked.refuses.items():
        trait = TRAITS[name]
        if trait.has(rules):
            value = str(plain(getattr(rules, trait.field))).removesuffix(".0").lower()
            why = f"two hands of a seat {why}" if name == "two hands" else why
            return f"{trait.field} = {value}: {why}; use {asked.use.get(name, trait.use)}"
    return ""


def need(rules: Rules, front_end: str) -> None:
    """Raises: RulesError: The front end does not play this game; the message says what it plays."""
    if said := refusal(rules, front_end):
        raise RulesError(said)


def remarks(rules: Rules, front_end: str) -> list[str]:
    """How a front end that plays a game differs from others there."""
    return [how for name, how in FRONT_ENDS[front_end].partly.items() if TRAITS[name].has(rules)]
