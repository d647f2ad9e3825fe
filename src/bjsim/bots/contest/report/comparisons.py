"""Comparisons of bots: who is tied with whom, and by how much one leads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from bjsim.bots.contest.scoring.standings import Standings

NAMES = 30  # characters of names in a list of ties; longer ones are replaced by ranks
COMPARED = 10  # bots that are compared with each other; the page of a bot compares it with all others


def describe_ties(standings: Standings, rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """The bots with which each bot is tied: those from which no interval separates it.

    Args:
        standings: The standings.
        rows: The rows of the standings, best first.

    Returns:
        A text for each row: names, ranks, all, or none; "" where nothing is known.
    """
    separated = {pair for pair in standings.compared_pairs() if standings.difference(*pair).separated}
    ranked = [row for row in rows if row["rank"]]
    texts = []
    for row in rows:
        one = row["number"]
        ties = [
            other for other in ranked
            if other is not row and (min(one, other["number"]), max(one, other["number"])) not in separated
        ]  # fmt: skip
        names, ranks = ", ".join(other["bot"] for other in ties), sorted({other["rank"] for other in ties})
        if not row["rank"]:
            texts.append("")
        elif len(ties) <= 2 and len(names) <= NAMES:
            texts.append(names or "none")
        elif len(ties) == len(ranked) - 1:
            texts.append("all")
        else:
            texts.append(f"{'ranks' if len(ranks) > 1 else 'rank'} {_join_ranks(ranks)}")
    return texts


def _join_ranks(ranks: Sequence[int]) -> str:
    """Ranks as numbers and ranges."""
    runs: list[list[int]] = []
    for rank in ranks:
        if runs and rank == runs[-1][-1] + 1:
            runs[-1].append(rank)
        else:
            runs.append([rank])
    return ", ".join(f"{run[0]} to {run[-1]}" if len(run) > 2 else ", ".join(map(str, run)) for run in runs)


def crosstable(standings: Standings) -> list[list[dict[str, Any] | None]]:
    """The differences of all pairs of the first COMPARED bots by rank.

    Args:
        standings: The standings.

    Returns:
        A row per bot, with a `compare` against each other bot.
    """
    order = standings.order()[:COMPARED]
    return [[compare(standings, one, other) for other in order] for one in order]


def compare(standings: Standings, one: int, other: int) -> dict[str, Any] | None:
    """The difference of two bots.

    Args:
        standings: The standings.
        one: Number of the first bot.
        other: Number of the second bot.

    Returns:
        Mean, batches, half-width of the interval, separation, and `verdict`; None where they did not meet.
    """
    difference = standings.difference(one, other)
    if one == other or not difference.batches:
        return None
    low, high = difference.interval or (0.0, 0.0)
    return {
        "mean": difference.mean, "batches": difference.batches, "separated": difference.separated,
        "half": (high - low) / 2 if difference.interval else None,
        "verdict": ("ahead" if difference.mean > 0 else "behind") if difference.separated else "open",
    }  # fmt: skip
