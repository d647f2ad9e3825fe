"""The pages, and the rules of a game as controls of a form."""

from bjsim.sim.game.rules import RULE_FIELDS, Rules

PAGES = {
    "start": "Start",
    "game": "Game",
    "chart": "Chart",
    "hand": "Hand",
    "run": "Run",
    "count": "Count",
    "play": "Play",
    "contest": "Contest",
}
VALUES = {  # offered for rules that accept more
    "decks": "1 2 4 6 8 inf",
    "blackjack_pays": "3/2 7/5 6/5 1 2",
    "double_on": "any 9-11 10-11 never",
    "surrender": "none late early early-ten early-ace",
    "max_hands": "2 3 4 inf",
    "max_ace_hands": "none 2 4",
    "charlie": "none 5 6 7",
    "dealer_stands_on": "17 18",
}
USUAL = [
    "decks",
    "hit_soft_17",
    "blackjack_pays",
    "double_on",
    "double_after_split",
    "surrender",
    "peek",
    "max_hands",
    "resplit_aces",
]
USUAL_OF = {"count": ["cut", "seats"]}  # usual rules of a page besides these
WITHOUT_VALUE = {"cut", "raises", "buy_in", "chips", "turns", "move_cap", "seats"}  # change no exact value


def rule_controls(page: str) -> list[dict[str, object]]:
    """The rules of a page with their meaning, what they accept, and the values that are offered."""
    return [
        {
            "name": field,
            "meaning": metadata["meaning"],
            "accepts": metadata["accepts"],
            "values": _offered(field, metadata["accepts"]),
            "closed": field not in VALUES,
            "changes": field not in WITHOUT_VALUE,
            "usual": field in [*USUAL, *USUAL_OF.get(page, [])],
        }
        for field, metadata in RULE_FIELDS.items()
    ]


def rule_texts(rules: Rules) -> dict[str, str]:
    return {
        name: str(value).lower() if isinstance(value, bool) else str(value)
        for name, value in rules.to_dict().items()
        if name in RULE_FIELDS
    }


def _offered(field: str, accepts: str) -> list[str]:
    if field in VALUES:
        return VALUES[field].split()
    words = accepts.replace(" or ", ", ").split(", ")
    return words if all(word.replace("-", "").isalpha() or not word for word in words) and len(words) > 1 else []
