"""Rows of codes without names: how near to the best play they are in every order that charts have."""

from collections.abc import Iterator, Sequence
from functools import cache
from itertools import groupby, permutations, product

from bjsim.strategies.evaluation.compare import best_chart
from bjsim.strategies.formats import words
from bjsim.strategies.formats.cells import Builder, GridRow

NEAR = 0.12  # of the cells may differ from the best play where the order of columns or rows is guessed
Arranged = tuple[float, str, list[list[str]]]  # the share of wrong cells, the order of the cards, the hands of the rows


def arrangements(rows: Sequence[GridRow], builder: Builder, order: str, unlabelled: bool) -> Iterator[Arranged]:
    """Every arrangement of rows as hands, with the share of cells that are then not the best play."""
    best = best_chart(builder.states.rules).cells
    codes = [[(builder.code(cell.text) or "").replace("Y", "P") for cell in row.cells] for row in rows]

    @cache
    def wrong(at: int, name: str) -> int:
        """The number of cells of a row that are not the best play of a hand; N is every play but P."""
        both = [(best.get((name, card), code)[0], code[0]) for card, code in zip(order, codes[at], strict=True)]
        return sum(want != code and (code != "N" or want == "P") for want, code in both)

    blocks = [[*block] for _, block in groupby(range(len(rows)), key=lambda at: rows[at].section)]
    options = [
        sorted((sum(map(wrong, block, names)), names) for names in _labels(rows[block[0]].section, len(block)))[:2]
        for block in (blocks if unlabelled else [])
    ]
    for chosen in product(*options):
        given = [[name] for _, names in chosen for name in names] if unlabelled else [row.hands for row in rows]
        missed = [wrong(at, name) for at, group in enumerate(given) for name in group]
        yield sum(missed) / max(len(missed) * len(order), 1), order, given


def _labels(section: str | None, count: int) -> Iterator[list[str]]:
    """The names of the rows of charts, or of a section of a chart, that have so many."""
    hard = [[*map(str, range(low, high + 1))] for low in range(3, 10) for high in range(17, 22)]
    soft = [[f"A{card}" for card in range(low, high)] for low in (2, 3) for high in (9, 10, 11)]
    pairs = [f"{card}{card}" for card in "23456789T"]
    blocks = {
        words.HARD: hard,
        words.SOFT: [*soft, *(["AA", *names] for names in soft)],
        words.PAIRS: [[*pairs, "AA"], ["AA", *pairs]],
    }
    if section in blocks:
        yield from (names[::step] for names in blocks[section] for step in (1, -1) if len(names) == count)
        return
    for chosen in product([names for names in hard if len(names) > 15], soft[:3], blocks[words.PAIRS]):
        if sum(map(len, chosen)) == count:
            for order, step in product(permutations(chosen), (1, -1)):
                yield [name for block in order for name in block[::step]]
