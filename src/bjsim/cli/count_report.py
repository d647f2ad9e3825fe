"""What `bjsim count` prints and writes: tables, JSON, a picture and a page."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

from rich.console import Console
from rich.text import Text

from bjsim.cli.captions import game_text
from bjsim.cli.count_request import CountResult, find_differences
from bjsim.cli.options import counted
from bjsim.cli.render import percent
from bjsim.cli.tables import Cell, print_table
from bjsim.strategies.counting.count_difference import has_common_cards
from bjsim.strategies.counting.departed_cells import playable
from bjsim.strategies.counting.figures import Figure
from bjsim.strategies.counting.page import CountPage

VARIED = {  # the figures of a line of `--vary`, with their headings
    "ev_per_round": "EV per round, units", "sd_per_round": "sd per round", "score": "SCORE", "n0": "N0, rounds",
    "ror": "risk of ruin",
}  # fmt: skip
PROBABILITIES = ("ror", "trip_ror")  # figures whose intervals end at 0 and 1


def print_counts(console: Console, result: CountResult) -> None:
    """Print the table by count, then the figures."""
    table, run = result.table, result.run
    halves = table.ev_half_widths()
    rows: list[list[Cell]] = [
        [
            run.labels[i], f"{100 * table.shares[i]:.3f}%", f"{percent(table.ev[i], 3)} ± {100 * halves[i]:.3f}%",
            f"{math.sqrt(table.var[i]):.4f}", _bet(result, i),
        ]
        for i in range(len(run.labels))
    ]  # fmt: skip
    headings = [count_name(result), "share", "EV per initial bet", "sd", "bet, units"]
    if unit := result.terms.unit:
        headings.append("bet, $")
        for row, bet in zip(rows, result.bets, strict=True):
            row.append(f"{bet * unit:,.2f}" if bet else "–")
    if table.cov is not None:
        headings.insert(4, "cov of two spots")
        for row, cov in zip(rows, table.cov, strict=True):
            row.insert(4, "–" if math.isnan(cov) else f"{cov:.4f}")
    print_table(console, headings, rows)
    figures: list[list[Cell]] = [[figure.name, figure.text] for figure in result.figures]
    print_table(console, ["per round seen", "± half the 95% interval"], figures)
    text = f"{describe(result)}; {run.rounds:,} rounds, {run.rounds_per_shoe:.1f} in a shoe, in {run.seconds:.1f} s, "
    text += f"seed {run.seed}; variance reduction {run.variance_reduction(result.bets):,.0f}"
    console.print(text, style="dim", highlight=False, soft_wrap=True)
    for note in result.notes:
        console.print(f"note: {note}", highlight=False, soft_wrap=True)


def count_name(result: CountResult) -> str:
    """The count by which bets are made, in words."""
    system = result.run.game.system
    return ("true count" if system.uses_true_count else "running count") + (" for bets" if system.side_aces else "")


def _bet(result: CountResult, i: int) -> str:
    spots = f" x{result.run.spots[i]}" if result.run.spots[i] > 1 else ""
    return f"{result.bets[i]:g}{spots}" if result.bets[i] else "–"


def describe(result: CountResult) -> str:
    """The game and the play, in words."""
    game = result.run.game
    number, fit = len(game.departures.plays), playable(game.departures, game.can_insure)
    count = counted(number, "index play") if number else "no index plays"
    if fit < number:
        count = f"{fit} of {number} index plays apply"
    words = [game.system.full_title, count]
    if game.leave is not None:
        words.append(f"leaves at {game.leave} or below for a fresh shoe")
    if not game.adjusted:
        words.append("not luck-adjusted")
    return f"{game_text(game.rules)}; {', '.join(words)}"


def print_varied(console: Console, games: Sequence[tuple[str, CountResult]]) -> None:
    """Print a line for each game, and the differences to the first one."""
    *tables, notes = varied_tables(games)
    for headings, rows in tables:
        if rows:
            print_table(console, headings, rows, transpose=False)
    for note in notes:
        console.print(note, style="dim", highlight=False, soft_wrap=True)


Rows = tuple[list[str], list[list[Cell]]]


def varied_tables(games: Sequence[tuple[str, CountResult]]) -> tuple[Rows, Rows, list[str]]:
    """Headings and rows of the games, and of their differences to the first one; and what is said about them."""
    name, first = games[0]
    also = ("ev_per_hour", "unit", "bankroll") if first.terms.unit or first.terms.ror else ()
    columns = VARIED | {figure.key: figure.name for figure in first.figures if figure.key in also}
    headings = list(columns.values())
    values = ["", *headings], [_line(name, one.figures, columns) for name, one in games]
    rows = [_line(name, find_differences(first, one), columns) for name, one in games[1:]]
    others = [name for name, one in games[1:] if not has_common_cards(first.run, one.run)]
    text = "± half the 95% interval; differences are between games on the same shoes"
    text += f", except {' and '.join(others)}: other cards, independent" if others else ""
    same: dict[tuple[float, ...], list[str]] = {}
    for each, one in games:
        same.setdefault(tuple(figure.value for figure in one.figures), []).append(each)
    alike = [f"{' and '.join(each)} are played alike in this game" for each in same.values() if len(each) > 1]
    notes = ([text] if rows else []) + alike + [f"{name}: {describe(one)}" for name, one in games[:1]]
    notes += [f"note: {each}: {note}" for each, one in games for note in one.notes]
    return values, ([f"minus {name}", *headings], rows), notes


def _line(name: str, figures: Sequence[Figure], columns: Iterable[str]) -> list[Cell]:
    texts = {figure.key: figure.text for figure in figures}
    return [Text(name), *(texts.get(key, "–") for key in columns)]


def varied_json(games: Sequence[tuple[str, CountResult]]) -> dict[str, object]:
    """The games as JSON, each but the first with the differences of its figures to the first one."""
    first = games[0][1]
    found = [{"name": name} | count_json(one) for name, one in games]
    for game, (_, one) in zip(found[1:], games[1:], strict=True):
        common = {"common_cards": has_common_cards(first.run, one.run)}
        game["difference"] = common | _figures_json(find_differences(first, one))
    return {"games": found}


def _figures_json(figures: Sequence[Figure], ends: Mapping[str, tuple[float, float]] = {}) -> dict[str, object]:
    """Figures by key; the interval of a figure has its name and `_ci95`. ends: limits of intervals, by key."""
    found: dict[str, object] = {}
    for figure in figures:
        found[figure.key] = figure.value
        if figure.half is not None:
            low, high = ends.get(figure.key, (-math.inf, math.inf))
            found[f"{figure.key}_ci95"] = [max(figure.value - figure.half, low), min(figure.value + figure.half, high)]
    return found


def count_json(result: CountResult) -> dict[str, object]:
    """The result as JSON; the interval of a figure has its name and `_ci95`."""
    table, run = result.table, result.run
    halves = table.ev_half_widths()
    rows = [
        {
            "count": float(table.counts[i]), "label": run.labels[i], "share": float(table.shares[i]),
            "ev": float(table.ev[i]), "ev_ci95": [float(table.ev[i] - halves[i]), float(table.ev[i] + halves[i])],
            "sd": math.sqrt(table.var[i]), "bet": float(result.bets[i]), "spots": int(run.spots[i]),
            "cov": None if table.cov is None or run.spots[i] == 1 else float(table.cov[i]),
        }
        for i in range(len(run.labels))
    ]  # fmt: skip
    figures = _figures_json(result.figures, dict.fromkeys(PROBABILITIES, (0.0, 1.0)))
    game = run.game
    return {
        "by_count": rows, **figures, "rounds": run.rounds, "rounds_per_shoe": run.rounds_per_shoe,
        "seconds": run.seconds, "seed": run.seed,
        "variance_reduction": run.variance_reduction(result.bets), "rules": game.rules.to_dict(),
        "system": game.system.name, "side_aces": float(game.system.side_aces), "adjusted": game.adjusted,
        "leave": game.leave,
        "bankroll": result.terms.bankroll, "unit": result.terms.unit,
        "index_plays": [str(play) for play in game.departures.plays],
    }  # fmt: skip


def count_page(result: CountResult, command: str) -> CountPage:
    """The page of a result."""
    run = result.run
    return CountPage(
        title=f"{run.game.system.full_title} in {run.game.rules.name}", subtitle=describe(result),
        command=command, rules=run.game.rules, count_name=count_name(result), labels=run.labels, rounds=run.rounds,
        seed=run.seed, returns=result.table, wagered=run.wagered, bets=result.bets, spots=run.spots,
        figures=result.figures, terms=result.terms,
    )  # fmt: skip
