"""Comparisons of bots in words and numbers: who leads, by how much, and which bots are not separated yet."""

from collections.abc import Sequence
from typing import Any

from bjsim.bots.contest.contest_tally import BotDifference, Score
from bjsim.bots.contest.differences import MIN_BATCHES
from bjsim.bots.contest.standings import Standings
from bjsim.sim.stats.estimate import Z95

HANDS_FOR_ONE_SD = 2 * Z95**2  # of each of two bots, to see a difference of one standard deviation of a hand
COMPARED = 10  # bots that are compared with each other; the page of a bot compares it with all others


def describe_lead(standings: Standings) -> str:
    """Who wins, or what a decision would take, as a clause without a full stop. It is about ranked bots only."""
    if not standings.rivals:
        return "no bot can be ranked: none answers"
    leader, *rivals = standings.rivals
    name = standings.names[leader]
    if len(standings.ranked) == 1 and not rivals:
        return f"{name} is the only bot with a rank"
    differences = [standings.difference(leader, rival) for rival in rivals]
    if any(difference.batches < MIN_BATCHES for difference in differences):
        return f"not decided: bots are compared from {MIN_BATCHES * standings.batch_size} matches on"
    if close := [difference for difference in differences if not difference.separated]:
        text = f"not decided: {name} leads, but is not separated from {_names(standings, close)}{_more(close)}"
    else:
        text = f"{name} is ahead of every other bot (95%)"
    richest = max(standings.ranked, key=standings.mean_chips)
    score = standings.scores[richest]
    if score.ruined and not standings.scores[leader].ruined:
        return f"{text}; {standings.names[richest]} holds the most chips, but broke in {describe_broke(score)} matches"
    if standings.contest.scored_by == "luck-adjusted" and standings.difference(leader, richest).separated:
        return f"{text}; {standings.names[richest]} holds the most chips, but by luck"
    return text


def describe_end(standings: Standings) -> str:
    """Why the contest has ended, as a clause; "" if it has not."""
    decided = "the leader is ahead of all others" if standings.decided else "no bot answers"
    reasons = {"matches": "all matches have been played", "decided": decided, "time": "the time limit was reached"}
    return reasons.get(standings.over, "")


def describe_broke(score: Score) -> str:
    return f"{score.broke:,} of {score.matches:,}"


def describe_effect(standings: Standings) -> str:
    """The lead of the first bot over the second per hand, and the hands that it takes, as a clause; "" if unknown."""
    first, second = [*standings.rivals, None, None][:2]
    if second is None or first is None:
        return ""
    found = standings.difference(first, second)
    if found.batches < MIN_BATCHES or not found.effect:
        return ""
    names = f"{standings.names[first]} and {standings.names[second]}"
    hands = HANDS_FOR_ONE_SD / found.effect**2
    return (
        f"{names}: the lead per hand is {found.effect:+.3f} sd of a hand, which about {float(f'{hands:.2g}'):,.0f} "
        "hands of each would show without luck adjustment"
    )


def format_e(value: float) -> str:
    return f"{value:.2g}" if value < 10 else f"{value:,.0f}" if value < 1e6 else f"{value:.0e}"


def describe_authors(standings: Standings) -> str:
    """The best bot of every author, as a clause without a full stop; "" if no author is named."""
    best = [
        f"{author}: {row.name}{f' (rank {row.rank}, of {count} bots)' if row.rank else ''}"
        for author, row, count in standings.authors()
    ]
    return f"the best bot of each author: {'; '.join(best)}" if best else ""


def _names(standings: Standings, differences: Sequence[BotDifference]) -> str:
    names = [standings.names[difference.other] for difference in differences]
    return f"{', '.join(names[:3])} and {len(names) - 3} others" if len(names) > 4 else ", ".join(names)


def _more(close: Sequence[BotDifference]) -> str:
    missing = [difference.missing for difference in close]
    known = [matches for matches in missing if matches]
    if len(known) < len(missing):
        return "; no number of matches is in sight that would separate them"
    return f"; about {max(known):,} more matches would separate them"


def crosstable(standings: Standings) -> list[list[dict[str, Any] | None]]:
    """The differences of the first COMPARED bots by rank, a row per bot, with a `compare` against each other."""
    order = standings.ranked[:COMPARED]
    return [[compare(standings, one, other) for other in order] for one in order]


def compare(standings: Standings, one: int, other: int) -> dict[str, Any] | None:
    """The difference of two bots; None if one has not played a batch.

    Mean, batches, half-width of the interval, separation, `verdict`, the matches still `missing` for one, e-value
    and effect.
    """
    difference = standings.difference(one, other)
    if one == other or not difference.batches:
        return None
    low, high = difference.interval or (0.0, 0.0)
    return {
        "mean": difference.mean,
        "batches": difference.batches,
        "separated": difference.separated,
        "half": max(high - difference.mean, difference.mean - low) if difference.interval else None,
        "verdict": ("ahead" if low > 0 else "behind") if difference.separated else "open",
        "missing": difference.missing,
        "e_value": difference.e_value,
        "effect": difference.effect,
    }
