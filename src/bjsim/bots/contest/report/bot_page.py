"""The page of one bot: its mistakes, its rank over time, its opponents, its faults and its hands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from bjsim.bots.contest.play.logs import BotLog, last_ready, read_logs
from bjsim.bots.contest.report.command import published_sources
from bjsim.bots.contest.report.comparisons import compare
from bjsim.bots.contest.report.drawings import draw_rank
from bjsim.bots.contest.report.mistakes import HANDS, BotMistakes
from bjsim.bots.contest.report.page import ContestReport
from bjsim.bots.contest.report.page_data import BotHands
from bjsim.bots.protocol import printable_lines

MISTAKES = 8  # mistakes shown, each with a hand
LOGS_SHOWN = 5  # matches whose stderr is shown
LOG_LENGTH = 4096  # characters of each


def render_bot(report: ContestReport, row: Mapping[str, Any]) -> str:
    """Render the page of a bot; `row` is its row of `report.rows` or `report.former`."""
    bot = row["number"]
    hands = report.data.hands.get(bot, BotHands())
    sources = published_sources([each["source"] for each in report.standings.bots])
    logs = read_logs(report.folder, bot) if report.folder else []
    mistakes = report.data.mistakes.bots.get(bot, BotMistakes())
    costliest = mistakes.costliest(MISTAKES)
    swings = [record for _, _, record in hands.swings] if hands.raises else []
    faults = [group for key, group in sorted(report.data.faults.items()) if key[0] == bot]
    opponents = [(other, compare(report.standings, bot, other["number"])) for other in report.rows if other["rank"]]
    return report.render(
        "bot.html",
        row=row,
        bot={**report.standings.bots[bot], "source": sources[bot]},
        earlier=[each for each in report.former if each["lasting_name"] == row["bot"] and each is not row],
        colour=report.colours[bot],
        failure=faults[0].shown[0] if faults else None,
        mistakes=mistakes,
        costliest=costliest,
        judged=HANDS,
        rank=draw_rank(report.standings, bot),
        opponents=[(other, difference) for other, difference in opponents if difference],
        faults=faults,
        hands=describe_hands(
            report,
            bot,
            {
                "The hands with these mistakes": [mistake.record for _, mistake in costliest],
                "The largest wins and losses": swings,
                f"The last match, match {hands.match + 1}": hands.last,
            },
        ),
        last_match=hands.match + 1,
        trace="\n".join(question.text for question in report.questions(bot)),
        ready=last_ready(logs),
        logs=[(log, shorten_log(log)) for log in logs if log.text][-LOGS_SHOWN:],
        log_length=LOG_LENGTH,
    )


def shorten_log(log: BotLog) -> str:
    """The text of a log as the page shows it: its beginning, without control characters."""
    return printable_lines(log.text[:LOG_LENGTH])


def describe_hands(
    report: ContestReport, bot: int, groups: Mapping[str, Sequence[Mapping[str, Any]]]
) -> list[tuple[str, list[dict[str, Any]]]]:
    """The recorded rounds that the page of a bot shows: titles of groups that are not empty, with replays.

    A replay also has `anchor` (whether links to the hand lead here), `seat`, the bot's profit in chips `won`, the
    steps as `words`, and the `dealer`, its `points` and the `seats` at the end.
    """
    shown: set[str] = set()
    described = []
    for title, records in groups.items():
        hands: dict[str, dict[str, Any]] = {}  # without a round that costs most by two mistakes twice
        for record in records:
            hand = report.replay(record)
            seat, anchor = record["seats"].index(bot), hand["hand"] not in shown
            _, dealer, seats, points = hand["steps"][-1]
            hands[hand["hand"]] = {
                **hand,
                "anchor": anchor,
                "seat": seat,
                "won": record["net"][seat],
                "dealer": dealer,
                "seats": seats,
                "points": points,
                "words": [words for words, *_ in hand["steps"]],
            }
        shown |= hands.keys()
        if hands:
            described.append((title, list(hands.values())))
    return described
