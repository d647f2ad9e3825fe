"""What pages can ask for: reports by name, the worker that makes each, and what it is given."""

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar
from urllib.parse import parse_qs

from bjsim.app.long_work import AskedCount, AskedRun, count_report, indices_report, run_report
from bjsim.app.table_work import AskedPlay, play_report
from bjsim.app.work import (
    ChosenGame,
    all_changes,
    answered,
    chart_report,
    deviation,
    game_details,
    game_report,
    hand_report,
    value_change,
)

Asked = TypeVar("Asked", AskedRun, AskedCount, AskedPlay)
Query = dict[str, list[str]]  # the values of each name in an address


class ReportJob(NamedTuple):
    """How a report is made by `worker`, an attribute of the laboratory, with the function `make`.

    `arguments` gives what that is given, from the address and the text that was posted. A `kept` report depends on
    nothing else.
    """

    worker: str
    make: Callable[..., str]
    arguments: Callable[[Query, str], tuple[object, ...]]
    posted: bool = False
    kept: bool = False


def parse_query(text: str) -> Query:
    return parse_qs(text, keep_blank_values=True)


def asked_game(query: Query, text: str = "") -> tuple[ChosenGame]:
    return (ChosenGame(_value(query, "rules", "vegas-s17"), tuple(query.get("set", []))),)


def _value(query: Query, name: str, otherwise: str = "") -> str:
    return query.get(name, [otherwise])[-1]


def _values(*names: str) -> Callable[[Query, str], tuple[object, ...]]:
    return lambda query, text: (*asked_game(query), *(_value(query, name) for name in names))


def _asked(kind: type[Asked], query: Query) -> Asked:
    given: Any = {name: _value(query, name) for name in query if name in kind._field_defaults}
    return kind(*asked_game(query))._replace(**given)


REPORTS = {
    "game": ReportJob("now", game_report, asked_game, kept=True),
    "details": ReportJob("later", game_details, asked_game, kept=True),
    "compared": ReportJob("later", all_changes, asked_game, kept=True),
    "change": ReportJob("later", value_change, _values("to"), kept=True),
    "deviation": ReportJob("later", deviation, asked_game, kept=True),
    "hand": ReportJob("now", hand_report, _values("hand", "gone")),
    "chart": ReportJob("now", chart_report, lambda query, text: (*asked_game(query), text), True),
    "run": ReportJob("long", run_report, lambda query, text: (_asked(AskedRun, query)._replace(chart=text),), True),
    "count": ReportJob("long", count_report, lambda query, text: (_asked(AskedCount, query),)),
    "play": ReportJob("now", play_report, lambda query, text: (_asked(AskedPlay, query)._replace(answers=text),), True),
    "indices": ReportJob("later", indices_report, lambda query, text: (_asked(AskedCount, query),)),
}


def answer(name: str, query: str, text: str = "") -> tuple[int, str]:
    """The status and the text of a report, computed in this process."""
    job = REPORTS[name]
    return answered(job.make, job.arguments(parse_query(query), text))
