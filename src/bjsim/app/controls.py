"""The pages, and the rules of a game as controls of a form."""

from bjsim.sim.game.rule_text import written
from bjsim.sim.game.rules import RULE_FIELDS, Rules
from bjsim.strategies.evaluation.compare import WITHOUT_VALUE

PAGES = {
    "start": "Start",
    "game": "Game",
    "hand": "Hand",
    "chart": "Check",
    "count": "Count",
    "play": "Play",
    "run": "Run",
    "contest": "Contest",
}
MORE = ("run", "contest")  # pages at the end of the menu
WORDS = {  # what values of rules are called; those of the first rules are chips of a page
    "decks": {
        "1": "1 deck", "2": "2 decks", "4": "4 decks", "6": "6 decks", "8": "8 decks", "inf": "infinite shoe",
    },
    "hit_soft_17": {"false": "S17: stands on soft 17", "true": "H17: hits soft 17"},
    "double_after_split": {"true": "double after split", "false": "no double after split"},
    "surrender": {
        "none": "no surrender", "late": "late surrender", "early": "early surrender",
        "early-ten": "early surrender against a ten", "early-ace": "early surrender against an ace",
    },
    "blackjack_pays": {
        "3/2": "blackjack pays 3:2", "7/5": "blackjack pays 7:5", "6/5": "blackjack pays 6:5",
        "1": "blackjack pays 1:1", "2": "blackjack pays 2:1",
    },
    "double_on": {
        "any": "double on any total", "9-11": "double only on 9 to 11", "10-11": "double only on 10 and 11",
        "never": "no doubling",
    },
    "peek": {"true": "the dealer peeks", "false": "the dealer does not peek"},
    "max_hands": {"2": "split only once", "3": "split to 3 hands", "4": "split to 4 hands", "inf": "split endlessly"},
    "resplit_aces": {"true": "resplit aces", "false": "no resplit of aces"},
    "hit_split_aces": {"true": "hit split aces", "false": "one card on split aces"},
    "cut": {
        "1/2": "50% dealt", "3/5": "60% dealt", "2/3": "67% dealt", "3/4": "75% dealt", "4/5": "80% dealt",
        "5/6": "83% dealt", "0": "shuffled after every round",
    },
    "seats": {"1": "alone at the table", **{str(seats): f"{seats} seats" for seats in range(2, 8)}},
}  # fmt: skip
RARE = {  # values of usual rules that few tables have
    "blackjack_pays": ("1", "2"),
    "surrender": ("early-ten", "early-ace"),
    "double_on": ("never",),
    "max_hands": ("3", "inf"),
}
CHIPS = ("decks", "hit_soft_17", "double_after_split", "surrender", "blackjack_pays")
CHIPS_OF = {"count": ("cut", "seats")}  # chips of a page besides these
VALUES = {  # offered for other rules that accept more
    "max_ace_hands": ("none", "2", "4"),
    "charlie": ("none", "5", "6", "7"),
    "dealer_stands_on": ("17", "18"),
}
OPEN = {"decks", "cut", "blackjack_pays", "double_on", "max_hands", *VALUES}  # rules with values besides the offered


def rule_controls(page: str) -> list[dict[str, object]]:
    """The rules of a page with their meaning, what they accept, and the values that are offered, with their words."""
    chips = (*CHIPS, *CHIPS_OF.get(page, ()))
    return [
        {
            "name": field,
            "title": field.replace("_", " "),
            "meaning": metadata["meaning"],
            "accepts": metadata["accepts"],
            "values": (values := _offered(field, metadata["accepts"])),
            "is_open": field in OPEN or not values,
            "changes": field not in WITHOUT_VALUE,
            "is_chip": field in chips,
            "usual": [value for value in WORDS.get(field, ()) if value not in RARE.get(field, ())],
        }
        for field, metadata in {name: RULE_FIELDS[name] for name in (*chips, *RULE_FIELDS)}.items()
    ]


def rule_texts(rules: Rules) -> dict[str, str]:
    return {name: written(value) for name, value in rules.to_dict().items() if name in RULE_FIELDS}


def _offered(field: str, accepts: str) -> dict[str, str]:
    """The values that are offered, with what each is called."""
    if field in WORDS:
        return WORDS[field]
    words = accepts.replace(" or ", ", ").split(", ")
    closed = len(words) > 1 and all(word.replace("-", "").isalpha() or not word for word in words)
    return {
        value: {"true": "yes", "false": "no"}.get(value, value) for value in VALUES.get(field, words if closed else ())
    }
