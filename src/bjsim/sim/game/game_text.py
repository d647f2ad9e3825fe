"""A game in the words of the trade, for tables, pictures and pages."""

from __future__ import annotations

from bjsim.sim.game.presets import PRESETS
from bjsim.sim.game.rules import Rules

SAID = ("decks", "cut", "hit_soft_17", "dealer_shows", "blackjack_pays", "double_after_split", "double_on")


def game_text(rules: Rules, shoe: str | None = None) -> str:
    """A game with its shoe and the rules that matter most, in the words of the trade.

    Other rules that differ from the namesake preset's are listed. `shoe` is its cards, if not whole decks.
    """
    words = [f"shoe {shoe}" if shoe else _shoe(rules), "H17" if rules.hit_soft_17 else "S17"]
    if rules.dealer_shows == "both":
        words.append("both dealer's cards shown")
    if rules.naturals != "none":
        pays = rules.blackjack_pays
        words.append(f"naturals {pays.numerator}:{pays.denominator}")
    if rules.split_by != "never" and rules.double_on != "never":
        words.append("DAS" if rules.double_after_split else "no DAS")
    if rules.surrender != "none":
        words.append(f"{rules.surrender} surrender")
    if rules.double_on not in ("any", "never"):
        words.append(f"double {rules.double_on}")
    if rules.deal.count("d") == 1:
        words.append("no hole card")
    if preset := PRESETS.get(rules.name):
        usual = preset.rules.to_dict()
        changed = ((name, value) for name, value in rules.to_dict().items() if value != usual[name])
        words += [
            f"{name} = {value}"
            for name, value in changed
            if name not in SAID and (name != "surrender" or value == "none")
        ]
    return f"{rules.name}: {', '.join(words)}"


def _shoe(rules: Rules) -> str:
    if rules.infinite:
        return "infinite shoe"
    cut = "" if rules.cut == 1 else f" cut at {rules.cut}" if rules.cut else " for every round"
    return format_decks(rules) + cut


def format_decks(rules: Rules) -> str:
    """The size of a finite shoe in words."""
    return "1 deck" if rules.decks == 1 else f"{rules.decks} decks"
