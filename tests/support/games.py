"""Random games for hypothesis: consistent `Rules`, and charts with random codes."""

from __future__ import annotations

import math
import random
from fractions import Fraction
from functools import lru_cache
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from bjsim.sim.game.cards import NORMAL_TENS
from bjsim.sim.game.rules import Rules
from bjsim.sim.game.states import States
from bjsim.strategies.charts.chart import CODES, Chart, chart_rows

# The same examples everywhere, so that failures of continuous integration can be reproduced locally.
FIXED = settings(
    derandomize=True, deadline=None, database=None, suppress_health_check=[HealthCheck.too_slow], print_blob=False
)

# Weights of the codes S H P Dh Ds Rh Rs Ph Pd Ps Rp in random charts: equal, and with various tendencies.
CODE_WEIGHTS = (
    (1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1),
    (4, 4, 34, 1, 1, 1, 0, 2, 2, 2, 1),
    (1, 12, 4, 1, 1, 0, 0, 1, 0, 0, 0),
    (12, 1, 4, 1, 1, 0, 1, 0, 0, 1, 0),
    (1, 2, 8, 6, 6, 0, 0, 0, 2, 0, 0),
    (2, 2, 8, 1, 1, 6, 6, 1, 1, 1, 6),
)
SAFE_TENS = 45  # percent: above 50, unlimited splits of tens do not end, and near 50 rounds are very long


@st.composite  # type: ignore[arg-type]
def rules(draw: st.DrawFn, **fixed: object) -> Rules:
    """Consistent rules, with every kind of value for each field. `fixed` sets fields.

    Unlimited splits by value are drawn only with probabilities of tens at which rounds are short.
    """
    decks = draw(st.sampled_from([*range(1, 9), *[math.inf] * 6]))
    split_by = draw(st.sampled_from(["value", "value", "rank", "never"]))
    max_hands = draw(st.one_of(st.sampled_from([2, 3, 4]), st.integers(2, 16), st.just(math.inf)))
    resplit_aces = fixed.get("resplit_aces", draw(st.booleans()))
    aces = (
        draw(st.sampled_from(["none", "none", 3, 4, 8, "inf"])) if resplit_aces else draw(st.sampled_from(["none", 2]))
    )
    max_ace_hands = fixed.get("max_ace_hands", aces)
    ten = NORMAL_TENS
    if decks == math.inf and draw(st.booleans()):
        most = SAFE_TENS if (split_by, max_hands) == ("value", math.inf) else 98
        ten = Fraction(draw(st.integers(2, most)), 100)
    spanish = ten == NORMAL_TENS and draw(st.integers(0, 3)) == 0 and "ten_probability" not in fixed
    deck = "spanish" if spanish else "standard"
    deal = draw(st.sampled_from(["pdpd", "ddpp", "ppdd", "dpdp", "dppd", "pddp", "pdp", "ppd", "dpp"]))
    hole = deal.count("d") == 2
    naturals = fixed.get("naturals") or draw(st.sampled_from(["both", "both", "player", "none"]))
    kinds = ["none", "late", "early", "early-ten", "early-ace"]
    surrender = str(fixed.get("surrender") or draw(st.sampled_from(kinds)))
    early = surrender.startswith("early")
    peek = hole and naturals == "both" and (early or draw(st.booleans()))
    both = hole and (naturals != "both" or peek) and not early and draw(st.booleans())
    if early and not peek:
        surrender = "late"
    ties = fixed.get("ties") or draw(st.sampled_from(["push", "lose", "replay"]))
    raises = (
        math.inf not in (max_hands, max_ace_hands)
        and max_ace_hands != "inf"
        and ties != "replay"
        and draw(st.booleans())
    )
    buy_in = draw(st.integers(1, 20))
    unseen = naturals == "both" and not fixed.get("peek", peek) and fixed.get("dealer_shows", both) in ("up", False)
    few = max_hands <= 4 and max_ace_hands in ("none", 2, 3, 4)  # hands
    loses = ["original", "all", "original", "busted-plus-one" if few else "all"]
    no_hole = loses[buy_in % 4] if unseen else "all"  # not drawn, so that other tests keep their games
    low = draw(st.integers(4, 20))
    bonuses = fixed.get("bonuses") or draw(
        st.sampled_from(["none", "none", "none", "none", "none", "none", "win", "at-once", "spanish"])
    )
    charlie = draw(st.sampled_from(["none", "none", 5, 6, 7])) if bonuses == "none" else "none"
    fields: dict[str, Any] = {
        "name": "random",
        "decks": decks,
        "deck": deck,
        "ten_probability": ten,
        "cut": Fraction(draw(st.integers(1, 20)), 20),
        "deal": deal,
        "dealer_stands_on": draw(st.sampled_from([17, 17, 18])),
        "hit_soft_17": draw(st.booleans()),
        "dealer_shows": "both" if both else "up",
        "peek": peek,
        "blackjack_pays": draw(st.sampled_from([Fraction(3, 2), Fraction(6, 5), Fraction(1), Fraction(2)])),
        "naturals": naturals,
        "natural_beats_natural": draw(st.booleans()),
        "no_hole_loses": no_hole,
        "ties": ties,
        "double_on": draw(st.sampled_from(["any", "any", "never", f"{low}-{draw(st.integers(low, 20))}"])),
        "double_cards": draw(st.sampled_from(["two", "any"])),
        "double_after_split": draw(st.booleans()),
        "surrender": surrender,
        "insurance": naturals == "both" and not both and not raises and draw(st.booleans()),
        "surrender_after_split": surrender == "late" and draw(st.booleans()) and no_hole != "original",
        "split_by": split_by,
        "max_hands": max_hands,
        "max_ace_hands": max_ace_hands,
        "resplit_aces": resplit_aces,
        "hit_split_aces": draw(st.booleans()),
        "split_tens_blackjack": draw(st.booleans()),
        "split_aces_blackjack": draw(st.booleans()),
        "stand_on_21": draw(st.booleans()),
        "bonuses": bonuses,
        "charlie": charlie,
        "player_21_wins": draw(st.integers(0, 3)) == 0,
        "dealer_22_pushes": draw(st.integers(0, 2)) == 0,
        "raises": raises,
        "buy_in": buy_in,
        "chips": 40 * buy_in,
        "turns": draw(st.sampled_from(["in-turn", "round-robin"])),
        "move_cap": draw(st.integers(20, 200)),
        "seats": draw(st.sampled_from([1, 1, 1, 1, 2, 2, 3, 5, 7])),
    }
    return Rules().replace(**{**fields, **fixed})


def random_chart(game: Rules, seed: int, weights: int = 0) -> Chart:
    """A chart with a random code in every cell that the game can require, including counted cards and 21."""
    rng = random.Random(seed)
    cells = _cells(game)
    return Chart(
        f"random-{seed}", game, dict(zip(cells, rng.choices(CODES, CODE_WEIGHTS[weights], k=len(cells)), strict=True)),
        insurance="IS"[seed % 2],
    )  # fmt: skip


@lru_cache(maxsize=8)
def _cells(game: Rules) -> list[tuple[str, str]]:
    states = States(game)
    return [(row, column) for row in chart_rows(states) for column in states.columns]


def charts(game: Rules) -> st.SearchStrategy[Chart]:
    """Random charts for this game."""
    return st.builds(random_chart, st.just(game), st.integers(0, 2**32), st.integers(0, len(CODE_WEIGHTS) - 1))
