"""The page of one bot: its rank over time, its opponents, its faults and its hands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from bjsim.bots.contest.play.logs import BotLog, last_ready, read_logs
from bjsim.bots.contest.play.questions import Question
from bjsim.bots.contest.report.command import published_sources
from bjsim.bots.contest.report.comparisons import compare
from bjsim.bots.contest.report.drawings import draw_rank
from bjsim.bots.contest.report.page import Report
from bjsim.bots.contest.report.page_data import BotHands
from bjsim.bots.protocol import printable, printable_lines

LOGS_SHOWN = 5  # matches whose stderr is shown
LOG_LENGTH = 4096  # characters of each


def render_bot(report: Report, row: Mapping[str, Any]) -> str:
    """Render the page of a bot.

    Args:
        report: What the pages of the contest have in common.
        row: The bot's row, of `report.rows` or `report.former`.

    Returns:
        The page as HTML.
    """
    bot = row["number"]
    hands = report.data.hands.get(bot, BotHands())
    sources = published_sources([each["source"] for each in report.standings.bots])
    logs = read_logs(report.folder, bot) if report.folder else []
    swings = [record for _, _, record in hands.swings]
    opponents = [(other, compare(report.standings, bot, other["number"])) for other in report.rows]
    return report.render(
        "bot.html",
        row=row,
        bot={**report.standings.bots[bot], "source": sources[bot]},
        earlier=[each for each in report.former if each["lasting_name"] == row["bot"] and each is not row],
        style=report.styles[bot],
        rank=draw_rank(report.standings, bot),
        opponents=[(other, difference) for other, difference in opponents if difference],
        faults=[group for key, group in sorted(report.data.faults.items()) if key[0] == bot],
        swings=[describe_hand(report, record, bot) for record in swings],
        last=[describe_hand(report, record, bot, record not in swings) for record in hands.last],
        last_match=hands.match + 1,
        trace=describe_questions(report.questions(bot)),
        ready=last_ready(logs),
        logs=[(log, shorten(log)) for log in logs if log.text][-LOGS_SHOWN:],
        log_length=LOG_LENGTH,
    )


def shorten(log: BotLog) -> str:
    """The text of a log as the page shows it: its beginning, without control characters."""
    return printable_lines(log.text[:LOG_LENGTH])


def describe_questions(asked: Sequence[Question]) -> str:
    """What a bot was sent (>), what it answered (<) and its faults (!), as `bjsim koth trace` prints it."""
    lines: list[str] = []
    for question in asked:
        lines += [f"> {line}" for line in (*question.sent, question.asked)]
        lines += [f"< {question.answer}", *([f"! {question.fault}"] if question.fault else [])]
    return "\n".join(map(printable, lines))


def describe_hand(report: Report, record: Mapping[str, Any], bot: int, anchor: bool = True) -> dict[str, Any]:
    """A recorded round as the page of a bot shows it.

    Args:
        report: What the pages of the contest have in common.
        record: The record of the round.
        bot: Number of the bot.
        anchor: Whether links to the hand lead here.

    Returns:
        The replay, with `seat`, the bot's profit in chips `won`, the steps as `words`, and the `dealer` and `seats`
        at the end.
    """
    hand = report.replay(record)
    seat = record["seats"].index(bot)
    _, dealer, seats = hand["steps"][-1]
    return {**hand, "anchor": anchor, "seat": seat, "won": record["net"][seat], "dealer": dealer, "seats": seats,
            "words": [words for words, _, _ in hand["steps"]]}  # fmt: skip
