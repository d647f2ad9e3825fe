"""Answers that are known before a page asks for them: of usual games, and of pages as they are first opened."""

import itertools
from typing import Any
from urllib.parse import urlencode

from bjsim.app.controls import rule_controls
from bjsim.app.pages import HANDS
from bjsim.app.reports import answer
from bjsim.app.work import ChosenGame

READY = (  # games whose figures are there before they are asked for
    "vegas-s17", "vegas-h17", "two-deck", "single-deck", "atlantic-city", "downtown", "european", "double-exposure",
)  # fmt: skip
FIRST = ChosenGame(READY[0], ())  # of pages whose address says nothing
VARIED = {  # the usual rules of a table, and what they are in `FIRST`
    "decks": ("6", "1", "2", "8"),
    "hit_soft_17": ("false", "true"),
    "double_after_split": ("true", "false"),
    "surrender": ("none", "late"),
    "blackjack_pays": ("3/2", "6/5"),
}


def usual_games() -> list[ChosenGame]:
    """The usual presets, and the first with all combinations of usual rules."""
    found = [ChosenGame(name, ()) for name in READY]
    for values in itertools.product(*VARIED.values()):
        pairs = zip(VARIED.items(), values, strict=True)
        changed = tuple(f"{name}={value}" for (name, offered), value in pairs if value != offered[0])
        found += [ChosenGame(FIRST.preset, changed)] if changed else []
    return found


def game_key(game: ChosenGame) -> str:
    """What an address says of a game, in an order that scripts can find too."""
    return _plain(_pairs(game))


def known_answers(game: ChosenGame) -> dict[str, str]:
    """Answers about a game by their addresses, in the order of `game_key`; of the first game those of all pages."""
    found: dict[str, str] = {}
    asked: list[tuple[str, dict[str, str]]] = [("game", {}), ("deviation", {})]
    asked += [("compared", {})] if game.settings else []
    changes: dict[Any, Any] = VARIED
    if game == FIRST:
        asked += [("hand", {"hand": HANDS["one"], "gone": ""}), *((name, {}) for name in ("details", "run", "count"))]
        asked += [("indices", {})]
        changes = {rule["name"]: rule["usual"] for rule in rule_controls("game") if rule["changes"]}
    asked += [("change", {"to": f"{name}={value}"}) for name, values in changes.items() for value in values]
    for name, more in asked:
        pairs = [*_pairs(game), *more.items()]
        status, text = answer(name, urlencode(pairs))
        while status == 200 and "<progress" in text:  # a long computation, which is known when it is over
            status, text = answer(name, urlencode(pairs))
        if status == 200:
            found[f"{name}?{_plain(pairs)}"] = text
    return found


def _pairs(game: ChosenGame) -> list[tuple[str, str]]:
    return [("rules", game.preset), *(("set", setting) for setting in game.settings)]


def _plain(pairs: list[tuple[str, str]]) -> str:
    return "&".join(sorted("=".join(pair) for pair in pairs))
