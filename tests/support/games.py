"""Random games for hypothesis: consistent `Rules`, and charts with random codes."""

from __future__ import annotations

import math
import random
from collections.abc import Iterable, Mapping
from fractions import Fraction
from functools import lru_cache
from typing import Any

import pytest
from hypothesis import strategies as st

from bjsim.sim.game.cards import NORMAL_TENS
from bjsim.sim.game.presets import PRESETS
from bjsim.sim.game.rules import Rules
from bjsim.sim.game.states import States
from bjsim.strategies.charts.chart import CODES, Chart, chart_rows, make_chart, splittable_rows

# Weights of the codes S H P Dh Ds Rh Rs Ph Pd Ps Rp in random charts: equal, and with various tendencies.
CODE_WEIGHTS = (
    (1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1),
    (4, 4, 34, 1, 1, 1, 0, 2, 2, 2, 1),
    (1, 12, 4, 1, 1, 0, 0, 1, 0, 0, 0),
    (12, 1, 4, 1, 1, 0, 1, 0, 0, 1, 0),
    (1, 2, 8, 6, 6, 0, 0, 0, 2, 0, 0),
    (2, 2, 8, 1, 1, 6, 6, 1, 1, 1, 6),
)


def slow(*values: object) -> Any:
    """Values of a case that only the whole test suite has."""
    return pytest.param(*values, marks=pytest.mark.slow)


# For a test of every game that takes long: games whose rounds differ most; the whole test suite has all of them.
UNLIKE = {
    "easy", "cardshark", "vegas-h17", "european", "super-fun-21", "free-bet", "double-attack", "blackjack-switch",
}  # fmt: skip


def few(names: Iterable[str], *values: object) -> list[Any]:
    """Each name with the values as parameters, of which those of presets that are like others are slow."""
    return [(slow if name in PRESETS and name not in UNLIKE else pytest.param)(name, *values) for name in names]


ONE_HAND = [name for name, preset in PRESETS.items() if preset.rules.bets == 1]  # of a seat
MANY = few(ONE_HAND)
ASKED = [name for name in ONE_HAND if not PRESETS[name].rules.attack]  # of which there are environments
SAFE_TENS = 45  # percent: above 50, unlimited splits of tens do not end, and near 50 rounds are very long


@st.composite  # type: ignore[arg-type]
def rules(draw: st.DrawFn, **fixed: object) -> Rules:
    """Consistent rules, with every kind of value for each field. `fixed` sets fields.

    Unlimited splits by value are drawn only with probabilities of tens at which rounds are short.
    """
    fields = {"name": "random", **_shoe_and_splits(draw, fixed)}
    fields |= _dealer(draw, fixed)
    fields |= _stakes(draw, fixed, fields)
    fields |= {"no_hole_loses": _no_hole_loses(fields, fixed)}
    fields |= _doubles_and_bonuses(draw, fixed)
    fields |= _rest(draw, fields)
    fields |= _free_bets({**fields, **fixed})
    fields |= {"attack": _attacks({**fields, **fixed})}
    fields |= _doubled_hands({**fields, **fixed})
    fields |= {"natural_beats_21": _natural_beats_21({**fields, **fixed})}
    if fields["bonuses"] == "spanish":  # many amounts, which compiled rules count for every seat
        fields |= {"seats": min(fields["seats"], 2), "ties": fields["ties"].replace("replay", "push")}
    return Rules().replace(**{**fields, **fixed})


def _shoe_and_splits(draw: st.DrawFn, fixed: Mapping[str, object]) -> dict[str, Any]:
    decks = draw(st.sampled_from([*range(1, 9), *[math.inf] * 6]))
    split_by = draw(st.sampled_from(["value", "value", "rank", "never"]))
    max_hands = draw(st.one_of(st.sampled_from([2, 3, 4]), st.integers(2, 16), st.just(math.inf)))
    resplit_aces = fixed.get("resplit_aces", draw(st.booleans()))
    aces = draw(st.sampled_from(["none", "none", 3, 4, 8, "inf"] if resplit_aces else ["none", 2]))
    ten = NORMAL_TENS
    if decks == math.inf and draw(st.booleans()):
        most = SAFE_TENS if (split_by, max_hands) == ("value", math.inf) else 98
        ten = Fraction(draw(st.integers(2, most)), 100)
    spanish = ten == NORMAL_TENS and draw(st.integers(0, 3)) == 0 and "ten_probability" not in fixed
    return {
        "decks": decks,
        "deck": "spanish" if spanish else "standard",
        "ten_probability": ten,
        "split_by": split_by,
        "max_hands": max_hands,
        "max_ace_hands": fixed.get("max_ace_hands", aces),
        "resplit_aces": resplit_aces,
    }


def _dealer(draw: st.DrawFn, fixed: Mapping[str, object]) -> dict[str, Any]:
    """Naturals, the hole card, and surrender, which depends on the peek."""
    deal = draw(st.sampled_from(["pdpd", "ddpp", "ppdd", "dpdp", "dppd", "pddp", "pdp", "ppd", "dpp"]))
    hole = deal.count("d") == 2
    naturals = fixed.get("naturals") or draw(st.sampled_from(["both", "both", "player", "none"]))
    kinds = ["none", "late", "early", "early-ten", "early-ace"]
    surrender = str(fixed.get("surrender") or draw(st.sampled_from(kinds)))
    early = surrender.startswith("early")
    peek = hole and naturals == "both" and (early or draw(st.booleans()))
    both = hole and (naturals != "both" or peek) and not early and draw(st.booleans())
    return {
        "deal": deal,
        "naturals": naturals,
        "surrender": "late" if early and not peek else surrender,
        "peek": peek,
        "dealer_shows": "both" if both else "up",
    }


def _stakes(draw: st.DrawFn, fixed: Mapping[str, object], drawn: Mapping[str, Any]) -> dict[str, Any]:
    """Ties, raises and chips. Raises need a limit of hands."""
    ties = fixed.get("ties") or draw(st.sampled_from(["push", "lose", "replay"]))
    limited = math.inf not in (drawn["max_hands"], drawn["max_ace_hands"]) and drawn["max_ace_hands"] != "inf"
    raises = limited and ties != "replay" and draw(st.booleans())
    buy_in = draw(st.integers(1, 20))
    return {"ties": ties, "raises": raises, "buy_in": buy_in, "chips": 40 * buy_in}


def _no_hole_loses(drawn: Mapping[str, Any], fixed: Mapping[str, object]) -> str:
    """What a dealer's natural takes without a peek; not drawn, so that other tests keep their games."""
    seen = fixed.get("peek", drawn["peek"]) or fixed.get("dealer_shows", drawn["dealer_shows"]) != "up"
    if drawn["naturals"] != "both" or seen:
        return "all"
    few = drawn["max_hands"] <= 4 and drawn["max_ace_hands"] in ("none", 2, 3, 4)  # hands
    return ["original", "all", "original", "busted-plus-one" if few else "all"][drawn["buy_in"] % 4]


def _free_bets(drawn: Mapping[str, Any]) -> dict[str, Any]:
    """What the house pays for; not drawn, so that other tests keep their games."""
    excluded = drawn["raises"] or drawn["ties"] == "replay" or drawn["surrender_after_split"]
    if excluded or drawn["no_hole_loses"] != "all":
        return {}
    kind, endless = drawn["move_cap"] % 4, math.inf in (drawn["max_hands"], drawn["max_ace_hands"])
    return {
        "free_doubles": ("none", "9-11", "none", f"{4 + drawn['move_cap'] % 9}-18")[kind],
        "free_double_cards": ("two", "any")[drawn["buy_in"] % 2],
        "free_splits": "none"
        if endless or drawn["max_ace_hands"] == "inf"
        else ("none", "A2356789", "T9A", "none")[kind],
    }


def _attacks(drawn: Mapping[str, Any]) -> bool:
    """Whether bets may be doubled before the deal; not drawn, so that other tests keep their games."""
    excluded = drawn["raises"] or drawn["ties"] == "replay" or drawn["dealer_shows"] == "both"
    return not excluded and drawn["deal"][0] == "d" and drawn["no_hole_loses"] == "all" and drawn["move_cap"] % 3 > 0


def _natural_beats_21(drawn: Mapping[str, Any]) -> bool:
    """Whether a drawn 21 loses to a dealer's natural; not drawn, so that other tests keep their games."""
    met = drawn["naturals"] == "both" and not drawn["peek"] and drawn["no_hole_loses"] == "all"
    return not met or drawn["move_cap"] % 2 == 1


def _doubles_and_bonuses(draw: st.DrawFn, fixed: Mapping[str, object]) -> dict[str, Any]:
    low = draw(st.integers(4, 20))
    bonuses = fixed.get("bonuses") or draw(st.sampled_from([*["none"] * 6, "win", "at-once", "spanish"]))
    return {
        "bonuses": bonuses,
        "charlie": draw(st.sampled_from(["none", "none", 5, 6, 7])) if bonuses == "none" else "none",
        "cut": Fraction(draw(st.integers(1, 20)), 20),
        "dealer_stands_on": draw(st.sampled_from([17, 17, 18])),
        "hit_soft_17": draw(st.booleans()),
        "blackjack_pays": draw(st.sampled_from([Fraction(3, 2), Fraction(6, 5), Fraction(1), Fraction(2)])),
        "natural_beats_natural": draw(st.booleans()),
        "double_on": draw(st.sampled_from(["any", "any", "never", f"{low}-{draw(st.integers(low, 20))}"])),
        "double_cards": draw(st.sampled_from(["two", "any"])),
        "double_after_split": draw(st.booleans()),
    }


def _rest(draw: st.DrawFn, drawn: Mapping[str, Any]) -> dict[str, Any]:
    """Fields that no other field depends on."""
    insurable = drawn["naturals"] == "both" and drawn["dealer_shows"] == "up" and not drawn["raises"]
    return {
        "insurance": insurable and draw(st.booleans()),
        "surrender_after_split": drawn["surrender"] == "late"
        and draw(st.booleans())
        and drawn["no_hole_loses"] != "original",
        "hit_split_aces": draw(st.booleans()),
        "split_tens_blackjack": draw(st.booleans()),
        "split_aces_blackjack": draw(st.booleans()),
        "stand_on_21": draw(st.booleans()),
        "player_21_wins": draw(st.integers(0, 3)) == 0,
        "dealer_22_pushes": draw(st.integers(0, 2)) == 0,
        "turns": draw(st.sampled_from(["in-turn", "round-robin"])),
        "move_cap": draw(st.integers(20, 200)),
        "seats": draw(st.sampled_from([1, 1, 1, 1, 2, 2, 3, 5, 7])),
    }


def _doubled_hands(drawn: Mapping[str, Any]) -> dict[str, Any]:
    """What hands may do that have doubled, and surrenders of many cards; not drawn, so that other games stay."""
    late, number = drawn["surrender"] == "late", drawn["move_cap"]
    free = {drawn.get("free_doubles", "none"), drawn.get("free_splits", "none")} != {"none"}
    return {
        "max_doubles": 1 if drawn["raises"] or free else 1 + number % 3,
        "surrender_cards": "any" if late and number % 5 < 2 else "two",
        "surrender_after_double": late and not free and drawn["no_hole_loses"] != "original" and number % 2 == 0,
        "bonuses": "super-fun" if drawn["bonuses"] == "none" and number % 7 < 2 else drawn["bonuses"],
    }


def splits_everything(game: Rules) -> Chart:
    """Splits every pair, doubles eleven, hits to 14."""

    def code(row: str, column: str) -> str:
        if row == "AA" or (len(row) == 2 and row[0] == row[1] and row != "11"):
            return "P"
        return "Dh" if row == "11" else "H" if row.isdigit() and int(row) < 14 else "S"

    return make_chart("splits everything", game, code)


def weighed(weights: int) -> tuple[int, ...]:
    """The weights of all codes: 1 of those that are not listed."""
    return CODE_WEIGHTS[weights] + (1,) * (len(CODES) - len(CODE_WEIGHTS[weights]))


def random_chart(game: Rules, seed: int, weights: int = 0) -> Chart:
    """A chart with a random code in every cell that the game can require, including counted cards and 21."""
    rng = random.Random(seed)
    cells = _cells(game)
    return Chart(
        f"random-{seed}", game, dict(zip(cells, rng.choices(CODES, weighed(weights), k=len(cells)), strict=True)),
        insurance="IS"[seed % 2], attack="2T7A53"[seed % 7 :] * game.attack,
    )  # fmt: skip


@lru_cache(maxsize=8)
def _cells(game: Rules) -> list[tuple[str, str]]:
    states = States(game)
    return [(row, column) for row in chart_rows(states) for column in states.columns]


def charts(game: Rules) -> st.SearchStrategy[Chart]:
    """Random charts for this game."""
    return st.builds(random_chart, st.just(game), st.integers(0, 2**32), st.integers(0, len(CODE_WEIGHTS) - 1))


def other_codes(
    states: States, cells: Iterable[tuple[str, str]], seed: int, share: float = 1
) -> dict[tuple[str, str], str]:
    """Any codes that the rows may have, for a share of some cells."""
    rng, pairs = random.Random(seed), splittable_rows(states)
    return {
        cell: rng.choice([code for code in CODES if "P" not in code.upper() or cell[0] in pairs])
        for cell in cells
        if rng.random() < share
    }
