"""Runs and counts that go on while a page asks: their figures are those of the command that they print."""

import json
import re
import shlex
from html import unescape
from types import SimpleNamespace

import pytest
from click.testing import CliRunner

pytest.importorskip("starlette")

from bjsim.app import long_work
from bjsim.app.long_work import AskedCount, AskedRun, count_report, indices_report, run_report
from bjsim.app.reports import REPORTS
from bjsim.app.work import ChosenGame, answered
from bjsim.cli.main import cli
from bjsim.errors import InputError
from bjsim.report.parts import Notes
from bjsim.strategies.counting.ramp import Ramp

EASY, SIX = ChosenGame("easy", ()), ChosenGame("vegas-s17", ("cut=60%", "max_hands=2"))


@pytest.fixture(autouse=True)
def afresh(monkeypatch):
    monkeypatch.setattr(long_work, "_kept", long_work.OrderedDict())


@pytest.fixture
def shortest(monkeypatch):
    monkeypatch.setattr(long_work, "MOMENT", 0)  # one merge for each request


def printed(page):
    [command] = re.findall(r"<pre[^>]*>(bjsim .*)</pre>", unescape(page))
    answer = CliRunner().invoke(cli, [*shlex.split(command)[1:], "--json", "-"], catch_exceptions=False)
    return json.loads(answer.stdout)


def rows(page, name):
    table = re.search(rf'<table id="found-{name}">(.*?)</table>', page, re.S)[1]
    return [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row) for row in table.split("<tr>")[1:]]


def pages(report, asked):
    page = ""
    while not page or "<progress" in page:
        page = report(asked)
        yield page


def test_a_run_that_goes_on_has_the_figures_of_as_many_hands(shortest):
    asked = AskedRun(EASY, "optimal", "1e5")
    found = list(pages(run_report, asked))
    assert len(found) > 5
    page = found[3]
    done = int(re.search(r"([\d,]+) of 100,000 hands", page)[1].replace(",", ""))
    heading, row = rows(page, "bots")
    [bot] = json.loads(
        CliRunner().invoke(cli, ["run", "--bots", "optimal", "--hands", str(done), "--json", "-"]).stdout
    )["bots"]
    cells = dict(zip(heading, row, strict=True))
    assert cells["return"].replace("−", "-") == f"{100 * bot['mean']:+.4f}%"
    assert cells["95% interval"].replace("−", "-").split("\xa0")[0] == f"{100 * bot['ci95'][0]:+.4f}%"


def test_a_pasted_chart_plays(tmp_path):
    chart = CliRunner().invoke(cli, ["solve", "--rules", "easy", "--format", "csv"]).stdout
    *_, page = pages(run_report, AskedRun(EASY, "", "5000", chart=chart))
    assert "--bots chart.txt" in page
    _, row = rows(page, "bots")
    _, best = rows([*pages(run_report, AskedRun(EASY, "optimal", "5000"))][-1], "bots")
    assert row[1:3] == best[1:3]


@pytest.mark.parametrize(
    "name", ["./bot.py", "/bin/true", "os:getcwd", "bot.py:player", "chart.txt", "tests", "nosuch", "opt\0imal"]
)
def test_no_program_and_no_file_plays(name):
    with pytest.raises(InputError, match="no player is called"):
        run_report(AskedRun(EASY, name))


@pytest.mark.parametrize(
    "changes",
    [{"hands": "0"}, {"hands": "1e99"}, {"hands": "many"}, {"seed": "-1"}, {"bots": ""}, {"bots": "lim17," * 999 + "x"},
     {"chart": "<b>" * 99}],
)  # fmt: skip
def test_a_wrong_run_is_refused_in_a_line(changes):
    with pytest.raises(InputError) as refused:
        run_report(AskedRun(EASY)._replace(**changes))
    assert "\n" not in str(refused.value) and len(str(refused.value)) < 500


def test_only_few_runs_are_kept():
    for seed in range(long_work.KEPT + 3):
        run_report(AskedRun(EASY, "lim17", "2000", str(seed)))
    assert len(long_work._kept) == long_work.KEPT


def test_a_count_that_goes_on_has_the_figures_of_its_command(shortest):
    asked = AskedCount(SIX, "ko", "1-8", indices="none", bankroll="500", rounds="100000", seed="3")
    page = count_report(asked)
    assert "<progress" in page
    figures = printed(page)
    found = dict(re.findall(r"<dt>(.*?)</dt><dd>(.*?)</dd>", page))
    half = (figures["ev_per_round_ci95"][1] - figures["ev_per_round_ci95"][0]) / 2
    assert found["EV per round, units"] == f"{figures['ev_per_round']:,.6f} ± {half:,.6f}"
    assert found["SCORE"].startswith(f"{figures['score']:,.3f} ± ")
    later = count_report(asked)
    widths = [float(re.search(r"<dt>EV per round, units</dt><dd>.*?± (.*?)</dd>", one)[1]) for one in (page, later)]
    assert widths[1] < widths[0]


def test_leaving_a_shoe_costs_the_time_that_the_command_says():
    asked = AskedCount(ChosenGame("single-deck", ()), indices="none", leave="-1", leave_minutes="2", rounds="20000")
    page = count_report(asked)
    figures = printed(page)
    found = dict(re.findall(r"<dt>(.*?)</dt><dd>(.*?)</dd>", page))
    assert found["EV per hour, $"].startswith(f"{10 * figures['ev_per_hour']:,.2f} ± ")  # a unit is $10
    left, hourly = map(int, re.search(r"You leave (\d+) of 100 shoes, so (\d+) rounds an hour remain", page).groups())
    assert 50 < left < 90 and 30 < hourly < 70
    assert "You leave" not in count_report(asked._replace(leave=""))


def test_other_bets_are_computed_from_the_same_rounds():
    asked = AskedCount(SIX, "hilo", "1-8", indices="none", rounds="20000")
    first = count_report(asked)
    [kept] = long_work._kept
    other = asked._replace(ramp="1-6", bankroll="2k")
    page = count_report(other)
    assert [*long_work._kept] == [kept]
    figures = printed(page)
    assert re.search(r"<dt>SCORE</dt><dd>(.*?) ±", page)[1] == f"{figures['score']:,.3f}"
    _, own, *others = rows(first, "ramps")
    assert own[0] == "these bets" and [row[0] for row in others] == [f"best {one}" for one in long_work.SPREADS]


def test_counts_that_are_too_rare_so_far_may_come_later(shortest):
    asked = AskedCount(SIX, "hilo", "0:0 60:1", indices="none", rounds="60000")  # more than one block
    answers = [answered(count_report, [asked]) for _ in range(5)]
    assert all(re.match(r"ramp\b.* has no bet ", text) for _, text in answers)
    (early, more), (late, why) = answers[0], answers[-1]
    assert early == 425 and more.endswith("; more rounds are being played")
    assert late == 422 and why.endswith("; bet at one of them")


@pytest.mark.parametrize(
    "changes",
    [{"system": "x.toml"}, {"system": "/etc/passwd"}, {"indices": "/etc/x.txt"}, {"indices": "x"}, {"ramp": "x"},
     {"optimal": "9-1"}, {"bankroll": "0"}, {"bankroll": "x"},
     {"rounds": "1e99"}, {"seed": "x"}, {"game": EASY}, {"rounds_per_hour": "1k"}],
)  # fmt: skip
def test_a_wrong_count_is_refused_in_a_line(changes):
    with pytest.raises(InputError) as refused:
        count_report(AskedCount(SIX, rounds="1000")._replace(**changes))
    assert "\n" not in str(refused.value)
    assert not long_work._kept


@pytest.mark.parametrize("asked", [AskedCount(SIX, ramp="0:1 2:4x2"), AskedCount(SIX, optimal="1-8")])
def test_indices_are_for_one_spot_and_the_bets_that_are_given(asked):
    assert indices_report(asked) == ""


def test_indices_for_bets_in_money_are_those_of_their_units(monkeypatch):
    empty = SimpleNamespace(found=[], table=lambda: Notes([]), describe=lambda: SimpleNamespace(lines=[""]))
    found = {}
    monkeypatch.setattr(long_work, "find_indices", lambda game, counting, ramp: found.setdefault(ramp, empty))
    page = indices_report(AskedCount(SIX, ramp="$25-$100", unit="25"))
    assert [*found] == [Ramp.parse("1-4")] and "--ramp '1:1 2:2 3:4'" in unescape(page)


def test_amounts_are_read_as_the_command_reads_them():
    asked = AskedCount(SIX, bankroll="$1.5k", unit="5", leave="-1", leave_minutes="0")
    request = asked.request()
    assert (request.bankroll, request.unit, request.leave_minutes) == (1500, 5, 0)
    assert "--bankroll '$1.5k'" in asked.command(1000) and "--leave-minutes 0" in asked.command(1000)
    with pytest.raises(InputError, match="bankroll 'ten' is not accepted; use an amount above 0"):
        asked._replace(bankroll="ten").request()


def test_no_part_of_a_long_address_is_lost():
    plays = ", ".join(f"{total}v{card} S>={card}" for card in range(2, 10) for total in range(12, 17)) + ", 16vT S>=9"
    [asked] = REPORTS["count"].arguments({"indices": [4 * " " + plays * 3]}, "")
    assert asked.indices.endswith("16vT S>=9") and len(asked.indices) > 1000


def test_index_plays_that_add_no_score_are_listed(monkeypatch):
    """As of bets that lose whatever is played, whose SCORE is 0."""
    plays = [SimpleNamespace(departure=f"16vT S>={count}") for count in (0, 1)]
    scores = SimpleNamespace(
        found=plays, gain=lambda play: 0.0, table=lambda: Notes([]), describe=lambda: SimpleNamespace(lines=[""])
    )
    monkeypatch.setattr(long_work, "find_indices", lambda *asked: scores)
    page = indices_report(AskedCount(SIX, ramp="1"))
    assert re.findall(r'width="(.*?)".*?number">(.*?)<', page) == [("0.0", "+0.00")] * 2


def test_a_run_whose_rounds_all_tied_has_no_return_yet():
    pages = [run_report(AskedRun(ChosenGame("neller", ()), "lim17", "1", seed)) for seed in ("4", "5")]
    assert ["no return yet" in page for page in pages] == [True, False]
