"""The tables that `bjsim count` prints."""

import math
from collections.abc import Iterable, Sequence

from rich.console import Console
from rich.text import Text

from bjsim.cli.tables import Cell, Printed, print_table
from bjsim.strategies.counting.count_run import has_common_cards
from bjsim.strategies.counting.result import CountResult
from bjsim.strategies.counting.returns import Figure
from bjsim.strategies.tabular import percent

VARIED = {  # the figures of a line of `--vary`, with their headings
    "ev_per_round": "EV per round, units",
    "sd_per_round": "sd per round",
    "score": "SCORE",
    "n0": "N0, rounds",
    "ror": "risk of ruin",
}


def print_counts(console: Console, result: CountResult) -> None:
    run = result.run
    print_table(console, *count_rows(result))
    figures: list[list[Cell]] = [[figure.name, figure.text] for figure in result.figures]
    print_table(console, ["per round seen", "± half the 95% interval"], figures)
    text = f"{run.description}; {run.rounds:,} rounds, {run.rounds_per_shoe:.1f} in a shoe, "
    text += f"in {run.seconds:.1f} s, " if run.seconds else ""
    text += f"seed {run.seed}; variance reduction {run.variance_reduction(result.bets):,.0f}"
    console.print(text, style="dim", highlight=False, soft_wrap=not console.is_terminal)
    for note in result.notes:
        console.print(f"note: {note}", highlight=False, soft_wrap=not console.is_terminal)


def count_rows(result: CountResult) -> Printed:
    table, run = result.returns, result.run
    halves = table.ev_half_widths()
    rows: list[list[Cell]] = []
    for i, label in enumerate(run.labels):
        share, ev = f"{100 * table.shares[i]:.3f}%", f"{percent(table.ev[i], 3)} ± {100 * halves[i]:.3f}%"
        rows.append([label, share, ev, f"{math.sqrt(table.var[i]):.4f}", _bet(result, i)])
    headings = [run.count_name, "share", "EV per initial bet", "sd", "bet, units"]
    if unit := result.terms.unit:
        headings.append("bet, $")
        for row, bet in zip(rows, result.bets, strict=True):
            row.append(f"{bet * unit:,.2f}" if bet else "–")
    if table.cov is not None:
        headings.insert(4, "cov of two spots")
        for row, cov in zip(rows, table.cov, strict=True):
            row.insert(4, "–" if math.isnan(cov) else f"{cov:.4f}")
    return headings, rows


def other_bets(result: CountResult, spreads: Sequence[str]) -> Printed:
    """Headings and a row for the bets of a result and for the best ramps between others, on the same rounds."""
    games = [("these bets", result)]
    games += [(f"best {spread}", result.with_bets(optimal=spread)) for spread in spreads]
    columns = VARIED | {figure.key: figure.name for figure in result.figures if figure.key == "ev_per_hour"}
    return ["bets", *columns.values()], [_line(name, one.figures, columns) for name, one in games]


def _bet(result: CountResult, i: int) -> str:
    spots = f" x{result.run.spots[i]}" if result.run.spots[i] > 1 else ""
    return f"{result.bets[i]:g}{spots}" if result.bets[i] else "–"


def print_varied(console: Console, games: Sequence[tuple[str, CountResult]]) -> None:
    """Print a line for each game, and the differences to the first one."""
    *tables, notes = varied_tables(games)
    for headings, rows in tables:
        if rows:
            print_table(console, headings, rows, transpose=False)
    for note in notes:
        console.print(note, style="dim", highlight=False, soft_wrap=not console.is_terminal)


def varied_tables(games: Sequence[tuple[str, CountResult]]) -> tuple[Printed, Printed, list[str]]:
    """Headings and rows of the games, and of their differences to the first one; and what is said about them."""
    name, first = games[0]
    also = ("ev_per_hour", "unit", "bankroll") if first.terms.unit or first.terms.ror else ()
    columns = VARIED | {figure.key: figure.name for figure in first.figures if figure.key in also}
    headings = list(columns.values())
    values = ["", *headings], [_line(name, one.figures, columns) for name, one in games]
    rows = [_line(name, one.minus(first), columns) for name, one in games[1:]]
    others = [name for name, one in games[1:] if not has_common_cards(first.run, one.run)]
    text = "± half the 95% interval; differences are between games on the same shoes"
    text += f", except {' and '.join(others)}: other cards, independent" if others else ""
    same: dict[tuple[float, ...], list[str]] = {}
    for each, one in games:
        same.setdefault(tuple(figure.value for figure in one.figures), []).append(each)
    alike = [f"{' and '.join(each)} are played alike in this game" for each in same.values() if len(each) > 1]
    notes = ([text] if rows else []) + alike + [f"{name}: {one.run.description}" for name, one in games[:1]]
    notes += [f"note: {each}: {note}" for each, one in games for note in one.notes]
    return values, ([f"minus {name}", *headings], rows), notes


def _line(name: str, figures: Sequence[Figure], columns: Iterable[str]) -> list[Cell]:
    texts = {figure.key: figure.text for figure in figures}
    return [Text(name), *(texts.get(key, "–") for key in columns)]
