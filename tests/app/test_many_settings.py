"""Thirty settings of each page: its figures in a browser are those of the command that it prints."""

import itertools
import json
import random
import re
import shlex
from html import unescape
from pathlib import Path
from urllib.parse import urlencode

import pytest
from app.served import Person, Served
from app.test_long_work import rows
from chromium import PROGRAM
from click.testing import CliRunner
from support.command import bjsim

from bjsim.app.table_work import AskedPlay, play_report
from bjsim.app.work import ChosenGame
from bjsim.cli.main import cli
from bjsim.strategies.evaluation.compare import in_its_shoe
from bjsim.strategies.formats.files import format_text

pytest.importorskip("starlette")
pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("chromium")]
READY = "report.ariaBusy === 'false' && report.querySelector('h1') && !report.querySelector('progress')"
SETTINGS = 30
CHANGES = {
    "hit_soft_17": ["true", "false"],
    "blackjack_pays": ["3/2", "6/5", "1"],
    "double_after_split": ["true", "false"],
    "double_on": ["any", "9-11", "10-11"],
    "max_hands": ["2", "3", "4"],
    "resplit_aces": ["true", "false"],
}


@pytest.fixture(scope="module")
def person(tmp_path_factory):
    if PROGRAM is None:
        pytest.skip("there is no Chromium")
    served = Served(home=tmp_path_factory.mktemp("home"))
    with Person(served) as opened:
        yield opened
    served.stop()


def shown(person, page, game, pasted="", **asked):
    """The report that a browser shows at an address, and what is pasted there."""
    query = urlencode([("rules", game.preset), *(("set", one) for one in game.settings), *asked.items()])
    person.open(f"{person.served.base}/{page}?{query}")
    if pasted:
        person.until("presets")
        person.run(
            f"{{ const box = at('text'); box.value = {json.dumps(pasted)}; box.dispatchEvent(new Event('paste')) }}"
        )
    person.until(READY, 120)
    return unescape(str(person.run("sessionStorage.clear(); at('main').innerHTML")))


def games(number, presets, seed):
    """Games of presets with up to three changes of rules, the same for a seed."""
    chosen, found = random.Random(seed), []
    for _ in range(number):
        names = chosen.sample(sorted(CHANGES), chosen.randrange(4))
        settings = tuple(f"{name}={chosen.choice(CHANGES[name])}" for name in names)
        found.append(ChosenGame(chosen.choice(presets), settings))
    return found


def command(page):
    return re.findall(r"<pre[^>]*>(bjsim .*)</pre>", unescape(page))[0]


def printed(page, *more):
    answer = CliRunner().invoke(cli, [*shlex.split(command(page))[1:], "--json", "-", *more], catch_exceptions=False)
    assert answer.exit_code == 0
    return json.loads(answer.stdout)


def figures(page):
    return dict(re.findall(r"<dt>(.*?)</dt><dd>(.*?)</dd>", page))


@pytest.mark.parametrize("game", games(SETTINGS, ["easy", "blackjack-p", "single-deck", "neller", "neller-v1"], 1))
def test_game(person, game):
    page = shown(person, "game", game)
    found = printed(page)
    assert f"{100 * found['value']:+.6f}% of the bet" in page.replace("−", "-")
    assert f'<dd class="value">{100 * abs(found["value"]):.3f}<small>%' in page
    if "sd" in found:
        person.until("parseFloat(at('deviation').textContent)", 120)
        assert person.text("#deviation") == f"{found['sd']:.6f} bets"


@pytest.mark.parametrize("game", games(SETTINGS, ["easy", "vegas-s17", "single-deck", "two-deck"], 2))
def test_hand(person, game):
    chosen = random.Random(str(game))
    dealer = "".join(chosen.choices("A23456789T", k=2 if game.preset == "easy" else 1))
    gone = "".join(chosen.sample("A23456789TJQK", chosen.randrange(5))) if game.preset != "easy" else ""
    hand = f"{''.join(chosen.choices('A23456789T', k=2))} v {dealer}"
    page = shown(person, "hand", game, hand=hand, gone=gone)
    assert ("--shoe" in command(page)) == bool(gone)
    found = printed(page)
    text = json.dumps(found)
    values = re.findall(r"<td>([+−-][0-9.]+|[+-]inf)</td>", page)
    assert values
    for value in values:
        number, digits = abs(float(value.replace("−", "-"))), len(value.partition(".")[2])
        near = 0.6 * 10.0**-digits
        assert any(abs(abs(float(each)) - number) < near for each in re.findall(r"-?[0-9.]+(?:e-?\d+)?", text)), value


@pytest.mark.parametrize("game", games(SETTINGS, ["easy", "blackjack-p", "single-deck", "vegas-s17"], 5))
def test_chart(person, game, tmp_path, monkeypatch):
    """The best chart with some stands and hits exchanged: its values, all wrong cells, and the chart to copy."""
    chosen, best = random.Random(str(game)), format_text(in_its_shoe(game.rules()).chart)
    moves, insurance = re.fullmatch(r"(.*?)(insurance.*)?", best, re.S).groups("")
    text = (
        re.sub(r"\b[HS]\b", lambda code: chosen.choice("HS") if chosen.random() < 0.1 else code[0], moves) + insurance
    )
    monkeypatch.chdir(tmp_path)
    Path("chart.txt").write_text(text)
    page = shown(person, "chart", game, pasted=text)
    found, said = printed(page), figures(page)
    for name, key in (("value of the chart", "value"), ("value of the best chart", "best")):
        assert said[name].replace("−", "-") == f"{100 * found[key]:+.6f}% of the bet"
    assert said["difference"] == f"{100 * found['difference']:.6f}% of the bet"
    wrong = rows(page, "cells")[1:]
    for row, cell in zip(wrong, found["cells"], strict=True):
        assert row[:5] == [cell["row"], cell["column"], cell["chart"], cell["best"], f"{100 * cell['cost']:.6f}%"]
    corrected = re.search(r"The best chart, which.*?<pre[^>]*>(.*?)</pre>", unescape(page), re.S)
    assert corrected and corrected[1].strip() == best.strip()


@pytest.mark.parametrize("game", games(SETTINGS, ["easy", "blackjack-p", "neller", "neller-v1", "vegas-s17"], 3))
def test_run(person, game):
    chosen = random.Random(str(game))
    names = ",".join(chosen.sample(["optimal", "mimic", "lim15", "lim17"], 2))
    hands, seed = chosen.randrange(500, 6000), chosen.randrange(99)
    page = shown(person, "run", game, bots=names, hands=hands, seed=seed)
    heading, *found = rows(page, "bots")
    for row, bot in zip(found, printed(page)["bots"], strict=True):
        cells = dict(zip(heading, row, strict=True))
        assert cells["hands"] == f"{bot['hands']:,}"
        assert cells["return"].replace("−", "-") == f"{100 * bot['mean']:+.4f}%"
        for name, key in (("95% interval", "ci95"), ("anytime 95%", "anytime95")):
            low, high = cells[name].replace("−", "-").replace("\xa0", " ").split(" … ")
            assert [low, high] == [f"{100 * edge:+.4f}%" for edge in bot[key]]


@pytest.mark.parametrize("system", ["hilo", "ko", "hiopt1", "zen", "omega2"])
def test_count(person, system):
    """Five bets on the rounds of one game; each of their commands plays them again."""
    ramps = [("1-4", ""), ("1-8", ""), ("0:1 1:2 3:6", ""), ("1-12", "1-6"), ("1-12", "1-10")]
    settings = list(itertools.product(ramps, [2000, 5000, 10000, "20k"]))
    for (ramp, optimal), bank in random.Random(system).sample(settings, 5):
        asked = {"system": system, "ramp": ramp, "optimal": optimal, "indices": "none", "rounds": 20000, "seed": 4}
        page = shown(person, "count", ChosenGame("single-deck", ()), bankroll=bank, **asked)
        found, said = printed(page), figures(page)
        for name, key, form in (
            ("EV per round, units", "ev_per_round", ",.6f"),
            ("SCORE", "score", ",.3f"),
            ("DI", "di", ",.3f"),
            ("N0, rounds", "n0", ",.0f"),
        ):
            assert said[name].partition(" ± ")[0] == format(found[key], form), (key, command(page))
        hour, ruin, score, _ = re.findall(
            r'<dd class="value">(.*?)</dd>', page
        )  # as the script of the page computes them
        assert hour.replace("−", "-").replace("$", "") == f"{10 * found['ev_per_hour']:,.2f}"  # in units of $10
        assert score == f"{found['score']:,.1f}"
        assert ruin in (f"{100 * found['ror']:.1f}%", f"{100 * found['ror']:.2f}%", "< 0.01%")


@pytest.mark.parametrize("game", games(SETTINGS, ["easy", "vegas-s17", "two-deck"], 4))
def test_play(game, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    chosen = random.Random(str(game))
    asked, answers, lines = AskedPlay(game, str(chosen.randrange(999))), [], []
    for _ in range(8):
        page = play_report(asked._replace(answers="\n".join(answers)))
        moves = re.findall(r'data-word="(.*?)"', page)
        if not moves:
            lines += re.findall(r"<p[^>]*>(.*?)</p>", page.partition('role="log"')[2].partition("</div>")[0])
        answers.append(chosen.choice(moves) if moves else "5")
    typed = "".join(f"{answer}\n" for answer in answers)
    out = bjsim(*shlex.split(command(page))[1:], stdin=typed.encode()).out
    said = [line for line in out.splitlines() if line and not re.search(r" > \S*$", line)]
    assert said[2 : 2 + len(lines)] == [unescape(line) for line in lines]
