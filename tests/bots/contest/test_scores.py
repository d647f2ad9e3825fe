"""What ranks the bots: three scores, ruined bots behind the others, and sentences about ranked bots only."""

import itertools
import math
import random
import re
import shutil
import statistics

import pytest
from support.matches import match_of

from bjsim.bots.contest.config import SCORES, ConfigError, Contest
from bjsim.bots.contest.entrants import gather
from bjsim.bots.contest.host import Host
from bjsim.bots.contest.page import ContestReport, render_index
from bjsim.bots.contest.standings import Standings, describe_lead
from bjsim.sim.game.presets import load_rules
from bjsim.strategies.players.catalogue import player_names

CARDSHARK = load_rules("cardshark")
PLAYERS = """
from bjsim.sim.game.actions import HIT, STAND, raise_by

def points(hand):
    total = sum({"A": 1}.get(card, 10 if card in "TJQK" else int(card) if card.isdigit() else 1) for card in hand)
    return total + 10 if "A" in hand and total <= 11 else total

class Player:
    least, share = 20, 1

    @property
    def name(self):
        return type(self).__name__

    def decide(self, view):
        chips = int(view.chips * self.share)
        if points(view.hand) >= self.least and view.stake == view.rules.buy_in and chips:
            return raise_by(chips)
        return HIT if points(view.hand) < 17 else STAND

class AllOn20(Player):
    pass

class AllOn18(Player):
    least = 18

class AllOn12(Player):
    least = 12

class HalfOn20(Player):
    share = 0.5

class AllOn21(Player):
    least = 21

class Stands(Player):
    def decide(self, view):
        return STAND

class Hits(Player):
    def decide(self, view):
        return HIT

class Crashes(Player):
    def decide(self, view):
        return 1 / 0

class Stops(Player):
    def decide(self, view):
        raise SystemExit

class CrashesOn16(Player):
    def decide(self, view):
        return 1 / 0 if points(view.hand) == 16 else super().decide(view)
"""


def begun(names, rules=CARDSHARK, **settings):
    return Standings({"contest": Contest(rules, **settings).to_dict(), "bots": [{"name": name} for name in names]})


def add(standings, match, nets, **more):
    seats = list(range(len(nets)))
    standings.add(match_of(match, {"seats": seats, "net": nets, **more}))


def check_ranks(standings):
    """Every rank is in its range, ranges fit the table, and the sentence is about a bot with a rank."""
    rows = standings.rows()
    ranked = [row for row in rows if row.rank]
    assert rows[: len(ranked)] == ranked and [row.rank for row in ranked] == sorted(row.rank for row in ranked)
    for row in ranked:
        assert 1 <= row.rank_range[0] <= row.rank <= row.rank_range[1] <= len(ranked)
    lead = describe_lead(standings)
    assert not any(re.search(rf"\b{re.escape(row.name)}\b", lead) for row in rows if not row.rank), lead
    if standings.decided:
        assert lead.startswith(ranked[0].name)


@pytest.mark.parametrize("score", SCORES)
def test_ranks_follow_the_score_and_so_do_their_ranges(score):
    """Recomputed from the results; with all-in bots, bots that fail, and ties."""
    for seed in range(12):
        chance = random.Random(seed)
        standings, nets = begun("abcdef", score=score, seed=1), []
        start = CARDSHARK.chips
        for match in range(chance.choice([1, 9, 20])):
            plain = [round(chance.gauss(mean, 20)) for mean in (-30, 0, 5)]
            nets.append([*plain, plain[0], -start if chance.random() < 0.8 else 40 * start, -5])
            failed = [{"bot": 5, "kind": "start-failure", "move": 0, "detail": ""}]
            add(standings, match, nets[-1], faults=failed)
        check_ranks(standings)
        chips = [[start + net[bot] for net in nets] for bot in range(6)]
        value = math.log1p if score == "log" else float
        means = [statistics.fmean(map(value, each)) for each in chips]
        ruined = [score == "luck-adjusted" and 2 * each.count(0) >= len(nets) for each in chips]
        rows = {row.bot: row for row in standings.rows()}
        assert rows[5].rank is None
        for one, other in itertools.combinations(range(5), 2):
            keys = [(ruined[bot], round(-means[bot], 9)) for bot in (one, other)]
            ranks = [rows[bot].rank for bot in (one, other)]
            assert (keys[0] < keys[1], keys[0] == keys[1]) == (ranks[0] < ranks[1], ranks[0] == ranks[1])
        for bot in range(5):
            shown = math.expm1(means[bot]) if score == "log" else means[bot]
            assert rows[bot].points == pytest.approx(shown, rel=1e-6, abs=1e-4)


@pytest.mark.parametrize(("broke", "leads"), [(4, True), (5, False), (6, False)])
def test_half_of_the_matches_without_chips_make_a_lottery(broke, leads):
    """A bot that staked all on 20 led a contest in which it was broke in 5 of 10 matches."""
    standings = begun("ab", score="luck-adjusted")
    for match in range(10):
        add(standings, match, [-CARDSHARK.chips if match < broke else 5000, 7 + match])
    check_ranks(standings)
    assert (standings.rows()[0].name == "a") == leads


def test_a_bot_that_has_played_less_has_a_rank_within_its_range():
    """It is compared with the others over the matches that both have played, where it may be behind."""
    standings = begun("ab")
    for match in range(60):
        add(standings, match, [100 + match % 3, 50 + match % 2] if match < 30 else [-150, 50])
    standings._history[1] = standings._history[1][:30]
    assert standings.difference(0, 1).separated and standings.rows()[0].name == "b"
    check_ranks(standings)


@pytest.mark.parametrize(
    ("failing", "matches", "lead"),
    [
        ([0, 1], 2, "no bot can be ranked: none answers"),
        ([1], 9, "a is the only bot with a rank"),
        ([], 2, "not decided: bots are compared from 8 matches on"),
    ],
)
def test_no_sentence_is_about_a_bot_without_a_rank(failing, matches, lead):
    standings = begun("ab", until="decided", matches=100)
    for match in range(matches):
        faults = [{"bot": bot, "kind": "start-failure", "move": 0, "detail": ""} for bot in failing]
        add(standings, match, [match, -match], faults=faults)
    assert describe_lead(standings) == lead
    assert standings.reason_to_end(0.0) == ("decided" if failing else "")
    assert standings.decided == (failing == [1])


@pytest.mark.parametrize(
    ("rules", "settings", "message"),
    [
        (CARDSHARK, {"score": "median"}, "use luck-adjusted, chips or log"),
        (load_rules("vegas-s17"), {"score": "log"}, "needs rules with raises"),
        (CARDSHARK.replace(split_by="value", max_hands=16, chips=400), {"score": "luck-adjusted"}, "at most 8 hands"),
    ],
)
def test_a_score_that_cannot_be_computed_is_refused(rules, settings, message):
    with pytest.raises(ConfigError, match=message):
        Contest(rules, **settings)


def test_the_default_score_is_the_first_that_the_rules_allow():
    endless = CARDSHARK.replace(split_by="value", max_hands=16, chips=400)
    assert [Contest(rules).scored_by for rules in (CARDSHARK, endless)] == ["luck-adjusted", "chips"]
    header = {key: value for key, value in Contest(CARDSHARK).to_dict().items() if key != "score"}
    assert Contest.from_dict(header).scored_by == "chips"  # a contest from before there was a choice


GAMBLERS = {"AllOn20", "AllOn18", "AllOn12", "CrashesOn16"}
FAILING = {"Crashes", "Stops"}
OTHERS = ["HalfOn20", "AllOn21", "Stands", "Hits"]


def play(folder, names, seed, **settings):
    shutil.rmtree(folder / "contest", ignore_errors=True)
    contest = Contest(CARDSHARK, seed=seed, matches=12, **settings)
    entrants = gather([name if name in player_names() else f"{folder}/players.py:{name}" for name in names], CARDSHARK)
    host = Host.begin(folder / "contest", contest, entrants)
    return host, host.run()


@pytest.mark.parametrize("seed", range(10))
def test_no_lottery_leads_a_contest(tmp_path, seed):
    """Bots that stake all they have on good hands end nearly every match broke; their mean is the highest.

    Bots that never answer have no rank; one that crashes on every 16 gambles as the others do.
    """
    (tmp_path / "players.py").write_text(PLAYERS)
    chance = random.Random(seed)
    names = [
        *sorted(GAMBLERS | FAILING),
        *chance.sample(OTHERS, 2),
        *chance.sample(sorted({"optimal", "hoyle", "lim17", "mimic"}), 2),
    ]
    chance.shuffle(names)
    host, standings = play(tmp_path, names, seed)
    check_ranks(standings)
    rows = [row for row in standings.rows() if row.rank]
    ruined = {row.name for row in rows if row.score.ruined}
    assert ruined and ruined <= GAMBLERS | {"Hits"} and {row.name for row in rows[-len(ruined) :]} == ruined
    assert {row.name for row in standings.rows()[len(rows) :]} == FAILING
    for row in rows:  # the rule separates them from the others, whatever their scores
        assert not {row.name, *row.tied_with} & ruined or {row.name, *row.tied_with} <= ruined
    page = render_index(ContestReport(standings, host.page))
    for row in rows:
        assert not row.score.broke or f"broke in {row.score.broke} of 12</span>" in page


@pytest.mark.parametrize("seed", range(20))
def test_ranks_of_built_in_players_are_within_their_ranges(tmp_path, seed):
    _, standings = play(tmp_path, random.Random(seed).sample(["optimal", "hoyle", "lim17", "mimic", "lim15"], 4), seed)
    check_ranks(standings)
