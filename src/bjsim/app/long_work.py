"""Long computations of pages: each request advances one for a moment, and gets the results so far."""

import time
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from typing import Any, NamedTuple

from markupsafe import Markup

from bjsim.app.work import ChosenGame, TooEarly
from bjsim.arguments import MAX_HANDS, MAX_SEED, whole_number
from bjsim.asked.kinds import KINDS
from bjsim.errors import InputError, RunFailed, suggest
from bjsim.report.page import page_body, render_page
from bjsim.report.parts import Figures, Folded, Notes, ProgressBar, Report, Section
from bjsim.request import RunRequest
from bjsim.strategies.counting.count_run import CountRun
from bjsim.strategies.counting.departures import names_file
from bjsim.strategies.counting.indices import find_indices
from bjsim.strategies.counting.request import CountRequest, counted_blocks
from bjsim.strategies.counting.result import CountResult, other_bets, page_data
from bjsim.strategies.counting.system import built_in_systems
from bjsim.strategies.formats.files import read_with_notes
from bjsim.strategies.players.catalogue import BUILT_IN, CATALOGUE

MOMENT = 0.4  # seconds by which a request advances a computation
KEPT = 6  # computations in progress; beyond that, the least recently requested start over
SPREADS = ("1-4", "1-8", "1-12", "1-16")  # whose best ramps are compared with the bets
USUAL = 15  # true counts up to this one have rows of their own, whatever the bets
LEARNT = 10  # index plays that are shown first
PASTED = "chart.txt"  # what a command calls the pasted chart


class Computation:
    """A computation that advances with each request; what `begin` opens is closed with it."""

    def __init__(self, begin: Callable[[ExitStack], Iterator[Any]]) -> None:
        self.opened = ExitStack()
        self.latest: Any = None
        self.over = False
        self._steps = begin(self.opened)

    def advance(self) -> None:
        """Compute for a moment, at least until the next result."""
        began = now = time.perf_counter()
        while now - began <= MOMENT and not self.over:
            known = next(self._steps, None)
            self.over = known is None
            self.latest = self.latest if self.over else known  # which is false where no bet is settled
            now = time.perf_counter()


_kept: OrderedDict[object, Computation] = OrderedDict()


def advanced(key: object, begin: Callable[[ExitStack], Iterator[Any]]) -> Computation:
    """Start the computation with this key, or advance it. Raises: as the computation."""
    if key not in _kept:
        _kept[key] = Computation(begin)
        if len(_kept) > KEPT:
            _kept.popitem(last=False)[1].opened.close()
    _kept.move_to_end(key)
    try:
        _kept[key].advance()
    except BaseException:
        _kept.pop(key).opened.close()
        raise
    return _kept[key]


class AskedRun(NamedTuple):
    """A run as a page asks for it; a pasted `chart` plays too."""

    game: ChosenGame
    bots: str = "optimal"
    hands: str = "1e7"
    seed: str = "1"
    chart: str = ""

    def request(self) -> RunRequest:
        """The request. Raises: InputError: It is not accepted; files are not read, and programs not started."""
        rules, names = self.game.rules(), self._names()
        bots: list[Any] = [*names]
        if self.chart.strip():
            bots.append(read_with_notes(self.chart, PASTED, rules).chart)
        hands, seed = whole_number("hands", self.hands, 1, MAX_HANDS), whole_number("seed", self.seed, 0, MAX_SEED)
        return RunRequest(rules, bots, hands, seed=seed, workers=1)

    def command(self) -> str:
        """The command that gives the same figures."""
        bots = ",".join([*self._names(), *([PASTED] if self.chart.strip() else [])])
        words = ["run", "--bots", bots, "--hands", self.hands.strip(), "--seed", self.seed.strip()]
        return self.game.command(*words)

    def _names(self) -> list[str]:
        known = [*CATALOGUE, *BUILT_IN]
        names = [name.strip() for name in self.bots.split(",") if name.strip()]
        for name in names:
            if name not in known:
                raise InputError(f"no player is called {name[:40]!r}; {suggest(name, known, ', '.join(known))}")
        return names


def run_report(asked: AskedRun) -> str:
    """Advance a run: the returns so far with intervals and convergence, as in the page of `bjsim run --html`."""

    def begin(opened: ExitStack) -> Iterator[Any]:
        run = opened.enter_context(asked.request().open())
        began = time.perf_counter()
        for progress in run.steps():
            seconds = time.perf_counter() - began
            yield run.result(progress, seconds, False, "")

    try:
        run = advanced(asked, begin)
    except RunFailed as error:  # such as a round without an end
        raise InputError(str(error)) from None
    result, hands = run.latest, whole_number("hands", asked.hands)
    parts: list[Any] = []
    if not run.over:
        done = min(result.rounds / len(result.progress.tallies), hands)
        text = f"{done:,.0f} of {hands:,} hands"
        parts = [ProgressBar(done, hands, text)]
    report = result.published().describe()
    return page_body(replace(report, parts=[*parts, *report.parts], command=asked.command()))


COUNT_TERMS = ("bankroll", "unit", "rounds_per_hour", "kelly")


class AskedCount(NamedTuple):
    """A counted game as a page asks for it; the fields but the game are those of `bjsim.count`, as texts."""

    game: ChosenGame
    system: str = "hilo"
    ramp: str = "1-12"
    optimal: str = ""
    indices: str = "i18"
    bankroll: str = "10000"
    unit: str = "10"
    rounds_per_hour: str = "100"
    kelly: str = "1"
    leave: str = ""
    leave_minutes: str = "5"
    rounds: str = "1e7"
    seed: str = "1"

    def request(self) -> CountRequest:
        """The request. Raises: InputError: It is not accepted; files are not read."""
        systems = built_in_systems()
        if self.system not in systems:
            raise InputError(f"no counting system is called {self.system[:40]!r}; systems are {', '.join(systems)}")
        if names_file(self.indices):
            raise InputError("indices: files are not read here; give names of sets, or the index plays themselves")
        names = (*COUNT_TERMS, "leave_minutes", "rounds", "seed")
        numbers: dict[str, Any] = {name: KINDS[name].parse(name, getattr(self, name).strip()) for name in names}
        optimal = self.optimal.strip() or None
        return CountRequest(
            self.game.rules(), self.system, None if optimal else self.ramp, self.indices, optimal=optimal,
            leave=self.leave.strip() or None, workers=1, **numbers,
        )  # fmt: skip

    def command(self, rounds: int) -> str:
        """The command that gives the same figures."""
        bets = ("--optimal", self.optimal.strip()) if self.optimal.strip() else ("--ramp", self.ramp.strip())
        words = ["--system", self.system, *bets, "--indices", self.indices.strip()]
        for name in (*COUNT_TERMS, *(("leave", "leave_minutes") if self.leave.strip() else ())):
            words += [f"--{name.replace('_', '-')}", getattr(self, name).strip()]
        return self.game.command("count", *words, "--rounds", str(rounds), "--seed", self.seed.strip())


def count_report(asked: AskedCount) -> str:
    """Advance a counted game, as `bjsim count` prints it. Other bets are computed from the same rounds."""
    request = asked.request()

    def begin(opened: ExitStack) -> Iterator[CountRun]:
        return counted_blocks(request)

    low, high = request.whole_span
    is_usual = request.counting.uses_true_count and -USUAL <= low <= high <= USUAL  # whose rows serve other bets too
    count = advanced((request.cards, (0, 0) if is_usual else (low, high)), begin)
    run: CountRun = count.latest
    try:
        result = CountResult.of(run, request)
    except InputError as error:  # counts with a bet may come in later rounds
        raise error if count.over else TooEarly(f"{error}; more rounds are being played") from None
    notes = ["± half the 95% interval; profits are luck-adjusted.", *result.notes]
    parts: list[Any] = [Section(f"EV by {run.count_name}"), result.table()]
    if not (run.spots > 1).any():
        parts += [Section("Other bets on the same rounds"), other_bets(result, SPREADS)]
    parts = [Folded("All figures, by count, and other bets", False, [Figures(result.figures), Notes(notes), *parts])]
    rest = Report("", [run.description], parts, [run.game.rules], asked.command(run.rounds))
    lost = 1 / result.terms.rounds_per_hour - 1 / request.terms.rounds_per_hour  # hours per round, in leaving shoes
    data = page_data(run, result.bets, result.terms) | {"rounds": run.rounds, "lost": lost}
    progress = None if count.over else (run.rounds, request.most_rounds)
    return render_page(
        "bjsim.app", "count_answer.html", title=run.title, data=data, name=run.count_name, progress=progress,
        figures={key: result[key] for key in ("ev_per_hour", "ror", "score", "n0_hours")}, rounds=run.rounds,
        left=100 * run.left_per_round * run.rounds_per_shoe, hourly=result.terms.rounds_per_hour,
        rest=Markup(page_body(rest)),
    )  # fmt: skip


def indices_report(asked: AskedCount) -> str:
    """The index plays of a counted game, as `bjsim count indices` prints them; none for bets on several spots."""
    request = asked.request()
    if request.limits or any(bet.spots > 1 for _, bet in request.bets.steps):
        return ""
    scores = find_indices(request.game, request.counting, request.bets)
    command = asked.game.command("count", "indices", "--system", asked.system, "--ramp", str(request.bets))
    gains = sorted(((str(one.departure), scores.gain(one)) for one in scores.found), key=lambda one: -one[1])
    return render_page(
        "bjsim.app", "indices.html", gains=gains[:LEARNT], all=Markup(page_body(Report("", [], [scores.table()]))),
        said=scores.describe().lines[-1], command=command,
    )  # fmt: skip
