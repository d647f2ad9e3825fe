"""Games of unusual rules: a covering array, in which every possible pair of unusual values occurs, and random ones.

Nothing here knows how a game is computed. The tests that ask about these games compare answers that should be equal.
"""

from __future__ import annotations

import dataclasses
import itertools
import random
from collections.abc import Iterator, Mapping
from functools import cache, lru_cache

from bjsim.errors import InputError
from bjsim.sim.game.presets import named_rules
from bjsim.sim.game.rules import Rules, plain
from bjsim.strategies.shoe.game import make_game

Changes = Mapping[str, object]
UNUSUAL: dict[str, tuple[object, ...]] = {
    "hit_soft_17": (True,),
    "dealer_stands_on": (18,),
    "dealer_shows": ("both",),
    "dealer_22_pushes": (True,),
    "blackjack_pays": ("6/5", "1"),
    "naturals": ("player", "none"),
    "natural_beats_natural": (True,),
    "natural_beats_21": (False,),
    "no_hole_loses": ("original", "original-and-busted"),
    "ties": ("lose",),
    "double_on": ("10-11", "never"),
    "double_cards": ("any",),
    "double_after_split": (False,),
    "max_doubles": (2,),
    "free_doubles": ("9-11",),
    "free_double_cards": ("any",),
    "free_splits": ("A2356789",),
    "surrender": ("late", "early", "early-ten"),
    "surrender_cards": ("any",),
    "surrender_after_split": (True,),
    "surrender_after_double": (True,),
    "insurance": (True,),
    "attack": (True,),
    "split_by": ("rank", "never"),
    "max_hands": (2, "inf"),
    "max_ace_hands": (2,),
    "resplit_aces": (True,),
    "hit_split_aces": (True,),
    "split_tens_blackjack": (True,),
    "split_aces_blackjack": (True,),
    "stand_on_21": (False,),
    "bonuses": ("win", "at-once", "super-fun", "spanish"),
    "player_21_wins": (True,),
    "charlie": (5, 6),
}
MORE: dict[str, tuple[object, ...]] = {  # only in random games
    "double_on": ("9-11",),
    "max_doubles": (3,),
    "free_splits": ("A23456789T",),
    "charlie": (7,),
    "surrender": ("early-ace",),
    "no_hole_loses": ("busted-plus-one",),
    "ties": ("replay",),
    "deck": ("spanish",),
}
OF_SPLITS = ("max_hands", "max_ace_hands", "free_splits", "resplit_aces", "hit_split_aces", "double_after_split")
OF_NATURALS = ("split_tens_blackjack", "split_aces_blackjack")
UNMET: dict[tuple[str, object], tuple[str, ...]] = {  # by a value: rules that no hand can meet with it
    ("split_by", "never"): (*OF_SPLITS, *OF_NATURALS, "surrender_after_split"),
    ("double_on", "never"): ("max_doubles", "double_cards", "double_after_split", "surrender_after_double"),
    ("dealer_stands_on", 18): ("hit_soft_17",),
    ("naturals", "none"): (*OF_NATURALS, "blackjack_pays", "natural_beats_natural"),
    ("naturals", "player"): ("natural_beats_natural",),
    ("max_hands", 2): ("resplit_aces", "max_ace_hands"),
}
NEEDS: dict[str, tuple[str, object]] = {  # by a name: what another rule must be, and is if it is not drawn
    "free_double_cards": ("free_doubles", "9-11"),
    "surrender_cards": ("surrender", "late"),
    "surrender_after_split": ("surrender", "late"),
}
VALUES = [(name, value) for name, values in UNUSUAL.items() for value in values]
ALL_VALUES = VALUES + [(name, value) for name, values in MORE.items() for value in values]
SEED = 14
PLAIN = named_rules("vegas-s17").replace(insurance=False, max_hands=3, cut=1)
BASES = {"peek": PLAIN, "no peek": PLAIN.replace(peek=False, surrender="none")}


@lru_cache(maxsize=1 << 14)
def _rules(base: str, changes: frozenset[tuple[str, object]], finite: bool) -> Rules | None:
    fields = dict(changes)
    if "attack" in fields:
        fields["deal"] = "dppd"
    if fields.get("deck") == "spanish":
        fields["ten_probability"] = "1/4"
    for name, (needed, value) in NEEDS.items():
        if name in fields:
            fields.setdefault(needed, value)
    if any(name in fields for value in changes for name in UNMET.get(value, ())):
        return None
    try:
        rules = BASES[base].replace(**fields)
        if finite:
            make_game(rules)
    except InputError:
        return None
    return rules


def unusual_rules(base: str, changes: Changes, finite: bool = True) -> Rules | None:
    """The rules, or None where they contradict each other, or one is never met with another.

    If `finite`, None also where they have no exact value in a finite shoe.
    """
    return _rules(base, frozenset(changes.items()), finite)


def tell(rules: Rules) -> str:
    """The fields of a game that are not those of `PLAIN`, as `--set` takes them."""
    values = {each.name: getattr(rules, each.name) for each in dataclasses.fields(rules)}
    return " ".join(f"{name}={plain(value)}" for name, value in values.items() if value != getattr(PLAIN, name))


@cache
def covering_array() -> tuple[Rules, ...]:
    """Games in which every possible pair of unusual values occurs, with the decks of `PLAIN`."""
    return tuple(rules for rules, _ in _cover())


@cache
def chosen_games() -> tuple[Rules, ...]:
    """Some ten of them, in which every unusual value occurs.

    Those without attacks come first, as several front ends refuse attacks.
    """
    left, games = set(VALUES), _cover()
    chosen: list[Rules] = []
    for attack in (False, True):
        some = [(rules, values) for rules, values in games if rules.attack <= attack]
        while any(values & left for _, values in some):
            rules, values = max(some, key=lambda game: len(game[1] & left))
            chosen.append(rules)
            left -= values
    return tuple(chosen)


Value = tuple[str, object]


@cache
def _cover() -> list[tuple[Rules, set[Value]]]:
    """The games of the covering array with their unusual values, greedily.

    Each begins with a pair that is left, and takes the value that adds most of those that are left as long as one does;
    the best of some is kept. The seed is one with few games that are solved fast.
    """
    rng = random.Random(SEED)
    pairs = [frozenset(pair) for pair in itertools.combinations(VALUES, 2) if pair[0][0] != pair[1][0]]
    possible = {base: [pair for pair in pairs if unusual_rules(base, dict(pair))] for base in BASES}
    left = {base: dict.fromkeys(pairs) for base, pairs in possible.items()}
    games: list[tuple[Rules, set[Value]]] = []
    while any(left.values()):
        base = max(left, key=lambda name: len(left[name]))
        tried = [_fill(base, rng, set(possible[base]), left[base]) for _ in range(6)]
        chosen, found = max(tried, key=lambda game: len(game[1]))
        for pair in found:
            del left[base][pair]
        rules = unusual_rules(base, chosen)
        assert rules is not None
        games.append((rules, set(chosen.items())))
    return games


def _fill(
    base: str, rng: random.Random, possible: set[frozenset[Value]], left: Mapping[frozenset[Value], None]
) -> tuple[dict[str, object], set[frozenset[Value]]]:
    """The values of a game that begins with a pair that is left, and the pairs in it that are left."""
    chosen: dict[str, object] = dict(next(itertools.islice(left, rng.randrange(len(left)), None)))
    others = rng.sample(VALUES, len(VALUES))
    while True:
        more = {}
        for value in others:
            with_it = [frozenset([value, one]) for one in chosen.items()]
            if value[0] not in chosen and possible.issuperset(with_it):
                more[value] = sum(pair in left for pair in with_it)
        best = max(more, key=more.__getitem__, default=None)
        if best is None or not more[best]:
            return chosen, {frozenset(pair) for pair in itertools.combinations(chosen.items(), 2)} & left.keys()
        if unusual_rules(base, {**chosen, best[0]: best[1]}):
            chosen[best[0]] = best[1]
        else:
            others.remove(best)


def random_games(seed: int, most: int = 10, finite: bool = False) -> Iterator[Rules]:
    """Endless random games of one to `most` unusual values, with the decks of `PLAIN`."""
    rng = random.Random(seed)
    while True:
        base, wanted, chosen = rng.choice(list(BASES)), rng.randint(1, most), dict[str, object]()
        for name, value in rng.sample(ALL_VALUES, len(ALL_VALUES)):
            if len(chosen) < wanted and name not in chosen and unusual_rules(base, {**chosen, name: value}, finite):
                chosen[name] = value
        rules = unusual_rules(base, chosen, finite)
        assert rules is not None
        yield rules
