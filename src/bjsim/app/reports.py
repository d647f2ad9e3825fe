"""What pages can ask for: reports by name, the worker that makes each, and what it is given."""

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

from starlette.requests import Request

from bjsim.app.long_work import AskedCount, AskedRun, count_report, indices_report, run_report
from bjsim.app.table_work import AskedPlay, play_report
from bjsim.app.work import (
    ChosenGame,
    chart_report,
    deviation,
    game_details,
    game_report,
    hand_report,
    value_change,
)

Asked = TypeVar("Asked", AskedRun, AskedCount, AskedPlay)
LONGEST = 1000  # characters of a value


class ReportJob(NamedTuple):
    """How a report is made by `worker`, an attribute of the laboratory, with the function `make`.

    `arguments` gives what that is given, from a request and the text that was posted. A `kept` report depends on
    nothing else.
    """

    worker: str
    make: Callable[..., str]
    arguments: Callable[[Request, str], tuple[object, ...]]
    posted: bool = False
    kept: bool = False


def asked_game(request: Request, text: str = "") -> tuple[ChosenGame]:
    query = request.query_params
    return (ChosenGame(query.get("rules", "vegas-s17")[:LONGEST], tuple(query.getlist("set")[:60])),)


def _values(*names: str) -> Callable[[Request, str], tuple[object, ...]]:
    return lambda request, text: (
        *asked_game(request),
        *(request.query_params.get(name, "")[:LONGEST] for name in names),
    )


def _asked(kind: type[Asked], request: Request) -> Asked:
    given: Any = {name: text[:LONGEST] for name, text in request.query_params.items() if name in kind._field_defaults}
    return kind(*asked_game(request))._replace(**given)


REPORTS = {
    "game": ReportJob("now", game_report, asked_game, kept=True),
    "details": ReportJob("later", game_details, asked_game, kept=True),
    "change": ReportJob("later", value_change, _values("to"), kept=True),
    "deviation": ReportJob("later", deviation, asked_game, kept=True),
    "hand": ReportJob("now", hand_report, _values("hand", "gone")),
    "chart": ReportJob("now", chart_report, lambda request, text: (*asked_game(request), text), True),
    "run": ReportJob("long", run_report, lambda request, text: (_asked(AskedRun, request)._replace(chart=text),), True),
    "count": ReportJob("long", count_report, lambda request, text: (_asked(AskedCount, request),)),
    "play": ReportJob(
        "now", play_report, lambda request, text: (_asked(AskedPlay, request)._replace(answers=text),), True
    ),
    "indices": ReportJob("later", indices_report, lambda request, text: (_asked(AskedCount, request),)),
}
