"""Write docs/reference/agreement.md: every published figure of docs/reference/published.toml next to ours.

python .ci/agreement.py [--check]      --check compares the page instead of writing it; exit status 1 if it differs
"""

from __future__ import annotations

import math
import sys
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from bjsim.sim.game.hand_states import DEALER_NATURAL, HandState
from bjsim.sim.game.presets import PRESETS, named_rules
from bjsim.sim.game.rules import Rules
from bjsim.sim.running.table import Span
from bjsim.strategies.charts.chart import Chart
from bjsim.strategies.exact.solver import Solver
from bjsim.strategies.experiment import make_table
from bjsim.strategies.shoe.solver import ShoeSolver

sys.path.insert(0, str(Path(__file__).parent))
from agreement_bets import QUANTITIES as OF_BETS
from split_approximation import approximate_value, value_term_by_term

DATA = Path(__file__).parent.parent / "docs/reference/published.toml"
PAGE = DATA.with_name("agreement.md")
RULES: dict[str, dict[str, object]] = {  # words of published.toml -> rules
    "h17": {"hit_soft_17": True}, "ndas": {"double_after_split": False}, "ls": {"surrender": "late"},
    "es": {"surrender": "early"},
    "rsa": {"resplit_aces": True}, "hsa": {"hit_split_aces": True}, "enhc": {"deal": "pdp", "peek": False},
    "6:5": {"blackjack_pays": "6/5"}, "d9": {"double_on": "9-11"}, "d10": {"double_on": "10-11"},
    "s17": {"hit_soft_17": False}, "no-surrender": {"surrender": False}, "one-card": {"hit_split_aces": False},
    "redouble": {"max_doubles": 3},
    "split2": {"max_hands": 2}, "endless": {"max_hands": math.inf}, "push": {"ties": "push"},
    "charlie5": {"charlie": 5}, "charlie6": {"charlie": 6},
    "insurance": {"insurance": True},
    "toy": {"naturals": "none", "double_on": "never", "split_by": "never", "stand_on_21": False, "peek": False},
}  # fmt: skip
ROUNDS = 1_200_000  # of each simulation with a cut card
DEPLETED = [0, 4, 4, 2, 0, 0, 2, 0, 0, 7]
RANKS = "A23456789T"


def parse_rules(words: str) -> Rules:
    """Return the rules that words such as `6 h17 ls` describe."""
    rules = named_rules("vegas-s17").replace(insurance=False)  # the published games leave it out
    for word in words.split():
        if word in PRESETS:
            rules = named_rules(word).replace(insurance=False)
        elif word in RULES:
            rules = rules.replace(**RULES[word])
        else:
            rules = rules.replace(decks=word)
    return rules


@lru_cache(maxsize=8)
def shoe(rules: Rules) -> ShoeSolver:
    """Return the solver of a full shoe."""
    return ShoeSolver(rules)


def values(rules: Rules, strategies: str) -> list[float]:
    """Return the values of strategies, in per cent."""
    return [100 * shoe(rules).value_of(strategy) for strategy in strategies.split()]


def effect(rules: Rules, word: str) -> list[float]:
    """Return the gain in the CDZ- value from the change that a word names."""
    return [values(rules.replace(**RULES[word]), "cdz-")[0] - values(rules, "cdz-")[0]]


def effect_by_upcard(rules: Rules, what: str) -> list[float]:
    """Return the gain in the CDZ- value from a change against one upcard only, for words such as `es v T`."""
    word, _, card = what.split()
    changed, plain = (shoe(each).by_upcard("cdz-")[card] for each in (rules.replace(**RULES[word]), rules))
    tens = 4 if card == "T" else 1
    return [100 * (changed - plain) * tens / 13]


def naturals_pushed(rules: Rules) -> list[float]:
    """Return the value if two naturals push where other ties lose: no decision depends on it."""
    both = [values(rules.replace(natural_beats_natural=wins), "td")[0] for wins in (False, True)]
    return [sum(both) / 2]


def by_upcard(rules: Rules, strategy: str) -> list[float]:
    """Return the value by upcard, 2 to A, in per cent."""
    found = shoe(rules).by_upcard(strategy)
    return [100 * found[column] for column in "23456789TA"]


def hand(rules: Rules, what: str, composition: list[int] | None = None) -> list[float]:
    """Return the values of actions, for words such as `T6 v T SH`."""
    cards, _, shown, letters = what.split()
    found = (ShoeSolver(rules, composition) if composition else shoe(rules)).hand_values(cards, shown)
    return [found[letter] for letter in letters]


def split(rules: Rules, what: str, strategy: str = "cdp") -> list[float]:
    """Return the value of splitting, for words such as `88 v T`."""
    cards, _, shown = what.split()
    return [shoe(rules).hand_values(cards, shown, strategy)["P"]]


def infinite_hand(rules: Rules, what: str) -> list[float]:
    """Return values in the infinite shoe, for words such as `16 S v 23` (columns) or `18 S v 16` (Easy Blackjack)."""
    points, letter, _, columns = what.split()
    solver = Solver(rules)
    state = HandState(int(points), False, 2)
    return [solver.best[column].act(state, letter) for column in ([columns] if columns in solver.best else columns)]


def dealer(rules: Rules, what: str) -> list[float]:
    """Return the dealer's distribution against one upcard, or the chance of a bust against several."""
    *bust, columns = what.split()
    if bust:
        return [shoe(rules).dealer(column)[0] for column in columns]
    found = shoe(rules).dealer(columns)
    return [found[outcome] for outcome in (17, 18, 19, 20, 21, 22, 0)]


def exceptions(rules: Rules) -> str:
    """Return the two-card exceptions as text, the largest gain last."""
    found = sorted(shoe(rules).exceptions, key=lambda exception: (exception.column == "T", exception.column))
    return ", ".join(f"{e.cards} v {e.column}: {e.action}" for e in found)


def effects_of_removal(rules: Rules, surrender: str) -> list[float]:
    """Return the changes in the CDZ- value when one card is removed, in .001%, with decisions optimized anew.

    surrender: The upcards against which a hand may be surrendered.
    """

    def value(counts: list[int]) -> float:
        without, with_it = (ShoeSolver(rules.replace(surrender=late), counts) for late in (False, True))
        ev = without.by_upcard("cdz-") | {up: v for up, v in with_it.by_upcard("cdz-").items() if up in surrender}
        return sum(counts[RANKS.index(up)] * v for up, v in ev.items()) / sum(counts)

    full = [4 * int(rules.decks)] * 9 + [16 * int(rules.decks)]
    whole = value(full)
    return [1e5 * (value([n - (i == card) for i, n in enumerate(full)]) - whole) for card in range(len(RANKS))]


@lru_cache(maxsize=32)
def with_cut_card(rules: Rules, cards: int) -> float:
    """Return the luck-adjusted mean of the best chart with a cut card after `cards` cards, in per cent."""
    chart = shoe(rules).chart
    rules = rules.replace(cut=f"{cards}/{52 * int(rules.decks)}")
    (tally,) = make_table(rules, [chart], adjust_luck=True).play(1, 0, [Span(0, ROUNDS)])
    assert tally.luck.se < 3e-5, tally.luck.se
    return 100 * tally.luck.mean


def split_aces_not_doubled(rules: Rules, strategy: str) -> list[float]:
    """Return the value, in per cent, if split aces may be hit but not doubled."""
    solver, other = shoe(rules), shoe(rules.replace(double_after_split=False))
    aces, ev = solver.shoe.layout.pairs, solver.value_of(strategy)
    for start, play in solver.plays(strategy).items():
        for node, weight in zip(*solver.shoe.dealt(start), strict=True):
            if node == aces:
                lost = play.value[aces] - other.plays(strategy)[start].value[aces]
                ev -= float(solver.shoe.chance[start] * weight * lost)
    return [100 * ev]


def variance_of_one_chart(rules: Rules) -> float:
    """Return the variance of the best chart of six decks with double after a split, which never stands on 16 v T."""
    best = shoe(rules.replace(decks=6, double_after_split=True)).chart
    code = "Rh" if rules.surrender != "none" else "H"
    return shoe(rules).sd_of(Chart("one chart", rules, {**best.cells, ("16", "T"): code})) ** 2


def cost_of_6_to_5(rules: Rules) -> float:
    """Return what a natural paid 6:5 costs, in per cent."""
    return values(rules, "cdz-")[0] - values(rules.replace(blackjack_pays="6/5"), "cdz-")[0]


QUANTITIES: dict[str, Callable[[Rules, str], list[float] | str]] = {
    "infinite": lambda rules, _: [100 * float(Solver(rules.replace(decks="inf")).value)],
    "infinite hand": infinite_hand,
    "value": values,
    "two values": values,
    "effect": effect,
    "effect by upcard": effect_by_upcard,
    "value, tied naturals pushed": lambda rules, _: naturals_pushed(rules),
    "value, splits approximated": lambda rules, _: [100 * approximate_value(shoe(rules))],
    "value, term by term": lambda rules, _: [100 * value_term_by_term(shoe(rules))],
    "by upcard": by_upcard,
    "hand": hand,
    "depleted hand": lambda rules, what: hand(rules, what, DEPLETED),
    "split": split,
    "split cdp1": lambda rules, what: split(rules, what, "cdp1"),
    "value, split aces not doubled": split_aces_not_doubled,
    "dealer": dealer,
    "td below cdz-": lambda rules, _: [values(rules, "cdz-")[0] - values(rules, "td")[0]],
    "cost of 6:5": lambda rules, _: [cost_of_6_to_5(rules)],
    "insurance": lambda rules, _: [3 * shoe(rules).dealer("A")[DEALER_NATURAL] - 1],
    "exceptions": lambda rules, _: exceptions(rules),
    "effects of removal": effects_of_removal,
    "variance": lambda rules, strategy: [shoe(rules).sd_of(strategy) ** 2],
    "variance of one chart": lambda rules, _: [variance_of_one_chart(rules)],
    "cut card": lambda rules, cards: [with_cut_card(rules, int(cards))],
    "cost of a cut card": lambda rules, cards: [values(rules, "td")[0] - with_cut_card(rules, int(cards))],
    **OF_BETS,
}


@dataclass(frozen=True)
class Figure:
    """One published figure, or a row of them, next to ours."""

    rules: str
    what: str
    published: str
    ours: str
    differences: tuple[float, ...]  # 0 where ours agrees

    @property
    def worst(self) -> float:
        """The largest difference."""
        return max(map(abs, self.differences), default=0.0)


def parse_number(text: str) -> tuple[float, int]:
    """Return a published number and its decimals; a fraction is exact."""
    if "/" in text:
        above, below = text.split("/")
        return int(above) / int(below), 15
    return float(text), len(text.partition(".")[2])


def compare(words: str, what: str, published: str, quantity: str, precision: float | None) -> Figure:
    """Compute one figure."""
    found = QUANTITIES[quantity](parse_rules(words), what)
    if isinstance(found, str):
        extra = set(found.split(", ")) ^ set(published.split(", "))
        return Figure(words, what, published, found, (float(len(extra)),))
    ours, differences = [], []
    for text, value in zip(published.split(), found, strict=True):
        number, decimals = parse_number(text)
        allowed = 0.501 * 10.0**-decimals if precision is None else precision
        differences.append(value - number if abs(value - number) > allowed else 0.0)
        ours.append(f"{value:.{min(decimals + (precision is not None), 13)}f}")
    return Figure(words, what, published, " ".join(ours), tuple(differences))


def figures(group: dict[str, object]) -> list[Figure]:
    """Compute the figures of one group. Raises: ValueError: A difference without a reason, or beyond `within`."""
    found = []
    for words, what, published in group["figures"]:  # type: ignore[attr-defined]
        words = f"{words} {group.get('rules', '')}".strip()
        figure = compare(words, what, published, str(group["quantity"]), group.get("precision"))  # type: ignore[arg-type]
        if figure.worst and ("why" not in group or figure.worst > float(group.get("within", math.inf))):  # type: ignore[arg-type]
            raise ValueError(f"{group['title']}: {figure}")
        found.append(figure)
    return found


def section(group: dict[str, object], found: list[Figure]) -> str:
    """Return the section of one group."""
    lines = [f"## {group['title']} · [{group['source']}](sources.md)", ""]
    if "precision" in group:
        lines[0] += f" ±{group['precision']:g}"
    columns = {
        "rules": [figure.rules for figure in found],
        "figure": [figure.what for figure in found],
        "published": [figure.published for figure in found],
        "ours": [figure.ours if figure.worst else "=" for figure in found],
    }
    same = [name for name in ("rules", "figure") if len(found) > 1 and len(set(columns[name])) == 1]
    if words := "; ".join(f"{name}: {value}" for name in same if (value := columns.pop(name)[0])):
        lines += [words, ""]  # what is the same in all rows is said once
    if set(columns["ours"]) == {"="}:
        del columns["ours"]
    lines += ["| " + " | ".join(columns) + " |", "|---" * len(columns) + "|"]
    lines += ["| " + " | ".join(row) + " |" for row in zip(*columns.values(), strict=True)]
    if "ours" in columns:
        lines += ["", str(group["why"])]
    return "\n".join(lines) + "\n"


INTRODUCTION = """# Agreement with published figures

`make agreement` computes this page from `docs/reference/published.toml`; a test fails if they differ.

A figure without ours, or with =, agrees: ours rounds to the published digits, or lies within the precision after ±.
Where it differs, the reason is below. Figures are percentages of the initial bet; values of hands are in bets.

Rules are those of `vegas-s17`, or of the preset named, with the number of decks that stands first, changed by the
[usual abbreviations](rules.md#abbreviations) and by: `split2` one split, `d9`, `d10` double 9-11, 10-11 only,
`one-card` one card to split aces, `redouble` three doubles of a hand, `toy` naturals are not special, no doubles or
splits, 21 may be hit. Strategies: `td` the best chart, `cdz-`, `cdp1`, `cdp` by the [cards of the hand](glossary.md).
"""


def main(words: list[str]) -> int:
    """Write the page, or check it."""
    groups = tomllib.loads(DATA.read_text(encoding="utf-8"))["group"]
    text = "\n".join([INTRODUCTION, *(section(group, figures(group)) for group in groups)])
    if "--check" not in words:
        PAGE.write_text(text, encoding="utf-8")
    return int(PAGE.read_text(encoding="utf-8") != text)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
