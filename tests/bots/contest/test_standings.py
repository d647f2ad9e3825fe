"""Standings: intervals over matches, ties, and when a contest is decided."""

from __future__ import annotations

import itertools
import math
import random
import re
import statistics
from pathlib import Path

import pytest
from support.command import bjsim
from support.matches import CARDSHARK, begin, counted, deal_of, index_of, match_of

from bjsim.asked.kinds import KINDS
from bjsim.bots.contest.config import Contest
from bjsim.bots.contest.contest_tally import HEADINGS
from bjsim.bots.contest.differences import Ratio
from bjsim.bots.contest.entrants import IN_PROCESS, Entrant
from bjsim.bots.contest.page import standings_csv
from bjsim.bots.contest.standings import Standings, describe_authors, describe_lead, describe_pair, row_values
from bjsim.sim.game.presets import load_rules
from bjsim.sim.stats.student import anytime_t_half, t_half
from bjsim.strategies.players.catalogue import player_names


def test_the_anytime_interval_holds_from_the_first_values_on():
    """Normal values with unknown deviation, checked at every n from 3 on: at most 5% of 1000 runs may ever fail, so 75
    or more do with probability below 0.0005. The fixed-sample interval, checked like this, fails far more often."""
    chance = random.Random(4)
    failed = failed_fixed = 0
    for _ in range(1000):
        sums, hit, hit_fixed = Ratio(), False, False
        for n in range(1, 100):
            sums += Ratio.one(chance.gauss(0, 3), 1)
            if n > 2:
                hit |= abs(sums.mean) > anytime_t_half(n, sums.residuals, 30)
                hit_fixed |= abs(sums.mean) > t_half(n - 1) * sums.se
        failed += hit
        failed_fixed += hit_fixed
    assert failed < 75 < 200 < failed_fixed


def test_ratio_against_the_library():
    values = [3.0, 4.5, -1.0, 8.0, 2.25, 0.5, -3.0, 6.0]
    ratio = sum((Ratio.one(5 * value, 5) for value in values), Ratio())
    assert ratio.mean == pytest.approx(statistics.mean(values))
    assert ratio.se == pytest.approx(statistics.stdev(values) / 8**0.5)
    half = 2.364624 * statistics.stdev(values) / 8**0.5
    assert ratio.student95 == pytest.approx((ratio.mean - half, ratio.mean + half))
    assert Ratio.one(2.0, 1).se == 0


FAILED = {"kind": "start-failure", "move": 0, "detail": ""}


def begun(names, rules=CARDSHARK, **settings):
    """The standings of a contest before its first round."""
    contest = Contest(rules, **settings)
    return Standings({"contest": contest.to_dict(), "bots": [{"name": name} for name in names]})


def made_up(names, matches, advantage, seed=1, rules=CARDSHARK, **settings):
    """The standings of matches at one table in which bot b wins `advantage[b]` chips plus noise."""
    chance = random.Random(seed)
    nets = [[round(10 * (mean + chance.gauss(0, 2))) for mean in advantage] for _ in range(matches)]
    return played(begun(names, rules, matches=matches, **settings), nets)


def played(standings, nets, faults=(), **more):
    """The standings after matches at one table with these profits, and in each of them these faults."""
    for match, net in enumerate(nets, standings.matches):
        standings.add(match_of(match, {"seats": list(range(len(net))), "net": net, "faults": faults}, **more))
    return standings


def test_ties_and_decision():
    standings = made_up(["weak", "strong", "strong too"], 200, [-3, 3, 3])
    first, second, last = standings.rows()
    assert (first.tied_with, second.tied_with, last.tied_with) == ((second.name,), (first.name,), ())
    assert first.rank_range == second.rank_range == (1, 2) and (last.name, last.rank_range) == ("weak", (3, 3))
    assert not standings.decided
    standings = made_up(["weak", "best", "middle"], 200, [-3, 3, 0], seed=2)
    assert [row.name for row in standings.rows()] == ["best", "middle", "weak"]
    assert [(row.rank_range, row.tied_with) for row in standings.rows()] == [((n, n), ()) for n in (1, 2, 3)]
    assert standings.decided
    ahead = standings.difference(1, 0)
    assert ahead.interval[0] < 60 < ahead.interval[1] and ahead.separated
    for row in standings.rows():
        assert row.chips == pytest.approx(sum(row.chips_ci95) / 2)  # the interval is about the mean
    assert standings.difference(0, 1).mean == -ahead.mean


def test_the_progress_is_noted_after_powers_of_two_and_every_fiftieth_of_the_matches():
    standings = made_up(["one", "other"], 200, [0, 1])
    counts = [count for count, _ in standings.progress]
    assert counts == sorted({1, 2, *range(4, 201, 4)})
    short = made_up(["one", "other"], 60, [0, 1])
    assert [count for count, _ in short.progress] == [*range(1, 61)]
    assert standings.progress[-1][1] == [standings.mean_chips(0), standings.mean_chips(1)]


def test_equal_chips_share_a_rank_and_there_is_none_before_the_first_match():
    standings = begun("abcd")
    assert {row_values(row)["rank"] for row in standings.rows()} == {None}
    assert [line[0] for line in standings_csv(standings).splitlines()[1:]] == [","] * 4
    played(standings, [[0, 10, 0, -10]])
    assert [(row.rank, row.name) for row in standings.rows()] == [(1, "b"), (2, "a"), (2, "c"), (4, "d")]


@pytest.mark.parametrize("duplicate", [False, True])
def test_there_is_no_interval_from_fewer_than_eight_independent_groups(duplicate):
    """In a duplicate contest matches that share their shoes count as one."""
    each = 3 if duplicate else 1
    for groups, known in ((7, False), (8, True)):
        standings = made_up("abc", groups * each, [-1, 0, 1], duplicate=duplicate)
        for values in map(row_values, standings.rows()):
            assert [values[key] is not None for key in ("chips_ci95", "per_hand_ci95")] == [known, known]


@pytest.mark.parametrize("game", ["cardshark", "vegas-s17"])
def test_the_interval_of_chips_ends_at_zero_where_bots_raise(game):
    """With raises bots bet only what they hold; without, they double on credit."""
    rules = load_rules(game)
    standings = made_up("abc", 8, [-20 if rules.raises else -rules.chips / 10, 0, 0], seed=3, rules=rules)
    (low, high), won = standings.rows()[-1].chips_ci95, standings.scores[0].chips.student95
    inside = tuple(rules.chips + end for end in won)
    assert inside[0] < 0 < inside[1]
    assert (low, high) == ((0, inside[1]) if game == "cardshark" else inside)


@pytest.mark.parametrize("score", ["chips", "log", "luck-adjusted"])
def test_an_interval_that_is_cut_or_skewed_is_shown_with_both_ends(score):
    """Of a bot that stakes all it has. It was shown as half its width around the mean."""
    standings = played(begun("ab", score=score), [[5000 if match == 3 else -200, match % 2] for match in range(13)])
    rows = [row_values(row) for row in standings.rows()]
    shown = standings.describe()
    table, (scores,) = shown.parts[0], shown.parts[-1].make()
    heading = f"{HEADINGS[score]} ± 95%"
    texts = [next(column for column in table.columns if column.heading == heading).text(row) for row in table.rows]
    for number, (row, text) in enumerate(zip(rows, texts, strict=True)):
        value, (low, high) = row["score"], row["score_ci95"]
        wide, symmetric = row["bot"] == "a", f"{value:.1f} ± {(high - low) / 2:5.1f}"
        assert text == (f"{value:.1f}, 0.0 to {high:.1f}" if wide and score != "luck-adjusted" else symmetric)
        assert scores.series[0].interval(number) == pytest.approx((low, high), abs=1e-6)
        assert scores.series[0].texts[number].split() == text.split()
        assert (low == 0) == (wide and score != "luck-adjusted")


def test_a_bot_that_cannot_be_started_is_listed_last_without_a_rank():
    """It won by standing, but never answered. A bot that answers after failed starts is ranked."""
    standings = begun(["dead", "limping", "sound"], strikes=2)
    for match in range(3):
        rounds = []
        for hand in range(4):
            faults = [{"bot": 0, **FAILED}] * (hand < 2) + [{"bot": 1, **FAILED}] * (hand == match == 0)
            rounds.append({
                "seats": [0, 1, 2], "net": [10, 0, -10], "moves": [["S"], ["S"], ["H", "S"]], "faults": faults
            })  # fmt: skip
        standings.add(match_of(match, *rounds))
    assert [(row.rank, row.name, row.tied_with) for row in standings.rows()] == [
        (1, "limping", ("sound",)), (2, "sound", ("limping",)), (None, "dead", ())
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("game", "protocol", "dealer", "moves", "failed", "answered"),
    [
        ("vegas-s17", "argv", "A9", "SS", [1], False),  # it is not asked about insurance
        ("vegas-s17", "argv", "A9", "SS", [], True),
        ("vegas-s17", "argv", "AT", "S", [], False),  # nor about anything else: a natural
        ("vegas-s17", "argv", "9A", "S", [0], False),
        ("vegas-s17", "argv", "9A", "S", [], True),
        ("vegas-s17", "line", "A9", "SS", [1], True),
        ("vegas-s17", "", "A9", "SS", [1], True),  # in this process
        ("vegas-s17", "line", "A9", "SS", [0, 1], False),
        ("vegas-s17", "line", "AT", "S", [], True),
        ("double-attack", "line", "97", "SS", [1], False),  # no program is asked about an attack
        ("double-attack", "line", "97", "SS", [], True),
    ],
)
def test_a_stand_that_nobody_asked_for_is_no_answer(game, protocol, dealer, moves, failed, answered):
    """A program that crashed at each move had a rank after an ace, and did not retire."""
    rules = load_rules(game)
    bot = Entrant("bot", "bot.py", "python" if protocol else IN_PROCESS, "", protocol or "argv")
    standings = Standings({"contest": Contest(rules).to_dict(), "bots": [bot.to_dict()]})
    faults = [{**FAILED, "bot": 0, "move": move} for move in failed]
    cards = deal_of("T6", dealer, rules)
    standings.add(match_of(0, {"seats": [0], "net": [0], "cards": cards, "moves": [[*moves]], "faults": faults}))
    assert standings.scores[0].answered == answered


def lim17_against_optimal(folder, seed):
    """The separated bot and the decided leader ("" for none) of a duplicate contest of at most 1,000 hands each."""
    standings = begin(folder, ["lim17", "optimal"], duplicate=True, until="decided", matches=19, seed=seed).run()
    assert all(score.hands < 1000 for score in standings.scores)
    difference = standings.difference(0, 1)
    ahead = standings.names[difference.mean < 0] if difference.separated else ""
    return ahead, standings.names[standings.order()[0]] if standings.end["reason"] == "decided" else ""


@pytest.mark.parametrize("contests", [1, pytest.param(20, marks=pytest.mark.slow)])
def test_duplicate_decides_between_them_in_under_1000_hands_and_never_wrongly(tmp_path, contests):
    """The luck-adjusted difference is separated in all of 20 contests: its standard deviation is 7 chips per match, and
    its mean is 15. The contest is decided only when the better bot also holds the most chips, which happens after 1,000
    hands in 3 of 100 contests (seeds 1001 to 1100), so in 4 or more of 20 with probability below 0.003."""
    found = [lim17_against_optimal(tmp_path / str(seed), seed) for seed in range(1, contests + 1)]
    assert [ahead for ahead, _ in found] == ["optimal"] * contests
    decided = [leader for _, leader in found]
    assert decided.count("optimal") >= 0.85 * contests and "lim17" not in decided


def test_it_ends_with_the_match_in_which_the_time_limit_is_reached(tmp_path):
    standings = begin(tmp_path, ["lim17", "optimal"], until="0.05", matches=10**5).run()
    assert standings.end["reason"] == "time" and standings.matches >= 1
    assert standings.rounds == 25 * standings.matches


def test_two_copies_in_duplicate_are_never_separated(tmp_path):
    """They play the same hands in turn, so their difference is exactly 0."""
    standings = begin(tmp_path, ["lim17", "lim17"], duplicate=True, until="decided", matches=15).run()
    assert standings.end["reason"] == "matches"
    assert standings.difference(0, 1).interval == (0.0, 0.0)


def test_the_faults_of_all_rounds_and_matches_count():
    standings = begun(["faulty", "other"], matches=3, strikes=3)
    fault = {"bot": 0, "kind": "timeout", "place": 0, "move": 1}
    for match, faults in enumerate(([1, 1, 1, 1], [2, 0, 0], [2, 1, 0])):
        standings.add(match_of(match, *({"seats": [0, 1], "net": [0, 0], "faults": [fault] * n} for n in faults)))
    assert standings.scores[0].faults == {"timeout": 9} and not standings.scores[1].faults


def test_only_matches_in_a_row_without_an_answer_retire_a_bot():
    standings = begun(["faulty", "other"], matches=9, strikes=2, retire=2)
    found = [played(standings, [[0, 0]], [{"bot": 0, **FAILED}] * faults).retiring() for faults in (2, 0, 2, 2)]
    assert found == [[], [], [], [{"record": "retire", "bot": 0, "reason": "start-failure"}]]


def test_house_players_have_names():
    """Their numbers are negative, and count from the end of the names."""
    assert begun(["one", "other"]).seat_names[-1] == "house"
    names = begun(["one", "other"], against=("lim17", "hoyle")).seat_names
    assert (names[-1], names[-2], names[:2]) == ("house (lim17)", "house (hoyle)", ["one", "other"])


def test_the_best_bot_of_each_author_is_said():
    """With the number of bots of an author who has several."""
    standings = made_up("abc", 20, [0, 9, -9])
    assert describe_authors(standings) == ""
    for bot, author in zip(standings.bots, ["Eve", "Ann", "Eve"], strict=True):
        bot["author"] = author
    standings._rows = []
    said = "the best bot of each author: Ann: b (rank 1); Eve: a (rank 2, of 2 bots)"
    assert describe_authors(standings) == said


def test_standings_are_short_in_a_prompt_and_a_table_in_a_notebook():
    standings = made_up(["weak", "best", "<b>"], 20, [-3, 3, 0], seed=2)
    assert repr(standings) == "Standings(3 bots, 20 of 20 matches, best leads)"
    assert repr(begun("ab", matches=5)) == "Standings(2 bots, 0 of 5 matches)"
    table = standings._repr_html_()
    assert table.count("<tr>") == 4 and "&lt;b&gt;" in table and "<b>" not in table
    rows = standings.to_json()["standings"]
    assert [(row["bot"], row["rank"], row["rank_range"]) for row in rows] == [
        ("best", 1, [1, 1]), ("<b>", 2, [2, 2]), ("weak", 3, [3, 3])
    ]  # fmt: skip
    assert standings.difference(1, 0).separated


def test_who_leads_and_what_a_decision_would_take():
    standings = made_up(["weak", "best"], 7, [-9, 9])
    assert describe_lead(standings) == "not decided: bots are compared from 8 matches on"
    assert not standings.decided and standings.reason_to_end(0.0) == "matches"
    assert describe_lead(begun("a", against=("hoyle",))) == describe_lead(standings)
    one_broke = played(begun("ab"), [[0, -CARDSHARK.chips]])
    assert describe_lead(one_broke) == describe_lead(standings) and not one_broke.decided
    halfway = played(begun("ab", duplicate=True), [[0, 0]], [{"bot": 1, **FAILED}])  # through a batch
    assert describe_lead(halfway) == "not decided: bots are compared from 16 matches on"
    standings = made_up(["weak", "best"], 20, [-9, 9])
    assert describe_lead(standings) == "best is ahead of every other bot (95%)"
    standings = made_up(["one", "other", "weak"], 40, [0.1, 0, -9], seed=3)
    first, second = (row.name for row in standings.rows()[:2])
    missing = standings.difference(*standings.order()[:2]).missing
    lead = f"not decided: {first} leads, but is not separated from {second}"
    assert describe_lead(standings) == f"{lead}; about {missing:,} more matches would separate them"
    copies = played(begun("abcdef", matches=8), [[0] * 6] * 8)
    lead = "not decided: a leads, but is not separated from b, c, d and 2 others"
    assert describe_lead(copies) == f"{lead}; no number of matches is in sight that would separate them"


def test_bots_that_have_left_still_count_in_the_error():
    """Of 16 equal bots all but the best and the worst leave, which were then called separated."""
    standings = made_up([f"b{n}" for n in range(16)], 10, [0] * 16)
    best, *others, worst = standings.order()
    before = standings.difference(best, worst)
    standings.add({"record": "change", "leave": others, "join": []})
    assert standings.difference(best, worst) == before and not before.separated
    assert "is not separated from" in describe_lead(standings)


def test_a_leader_by_luck_is_called_that():
    """Bot 0 wins 50 chips a match, all of them luck; bot 1 wins 30 without luck."""
    nets = [[50 + match % 3, 30 + match % 2] for match in range(10)]
    standings = played(begun(["lucky", "good"], matches=10), nets, luck=[[50.0], [0.0]])
    assert describe_lead(standings) == "good is ahead of every other bot (95%); lucky holds the most chips, but by luck"
    assert [row.name for row in standings.rows()] == ["good", "lucky"]


# --- E-values of pairs.


@pytest.fixture(scope="module")
def standings(tmp_path_factory: pytest.TempPathFactory) -> tuple[Standings, Path]:
    """A contest of 40 matches in which lim20 is clearly worse than the others."""
    folder = tmp_path_factory.mktemp("contest") / "c"
    words = ["koth", "play", "optimal", "hoyle", "lim20", "--matches", 40, "--seed", 3, "--out", folder]
    assert bjsim(*words).status == 0
    return counted(folder)[0], folder


def test_no_pair_that_the_results_choose_has_an_e_value(standings: tuple[Standings, Path]) -> None:
    """Among ten equal bots some pair has e >= 20 in every third contest: it is evidence for a pair named before."""
    _, folder = standings
    assert "e_value" not in (folder / "standings.json").read_text() + (folder / "standings.csv").read_text()
    assert "e-value" not in bjsim("koth", "show", folder).out
    for page in (folder / "index.html", *(folder / "pages").glob("*.html")):
        text = page.read_text()
        assert text.count("e-value") == text.count('title="e-value') + text.count("named before"), (
            "only with its condition"
        )


# --- What ranks the bots: three scores, ruined bots behind the others, and sentences about ranked bots only.


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


@pytest.mark.parametrize("score", KINDS["score"].known())
def test_ranks_follow_the_score_and_so_do_their_ranges(score):
    """Recomputed from the results; with all-in bots, bots that fail, and ties."""
    for seed in range(12):
        chance = random.Random(seed)
        standings, nets = begun("abcdef", score=score, seed=1), []
        start = CARDSHARK.chips
        for _ in range(chance.choice([1, 9, 20])):
            plain = [round(chance.gauss(mean, 20)) for mean in (-30, 0, 5)]
            nets.append([*plain, plain[0], -start if chance.random() < 0.8 else 40 * start, -5])
        check_ranks(played(standings, nets, [{"bot": 5, **FAILED}]))
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
    played(standings, [[-CARDSHARK.chips if match < broke else 5000, 7 + match] for match in range(10)])
    check_ranks(standings)
    assert (standings.rows()[0].name == "a") == bool(standings.rows()[0].tied_with) == leads
    pair = describe_pair(standings)
    ahead = f"b is ahead of a after 10 matches: a broke in {broke} of them"
    assert (pair.lines == [ahead]) == pair.data()["decided"] == standings.decided == (not leads)


def test_a_bot_that_has_played_less_has_a_rank_within_its_range():
    """It is compared with the others over the matches that both have played, where it may be behind."""
    standings = played(begun("ab"), [[100 + match % 3, 50 + match % 2] for match in range(30)] + [[-150, 50]] * 30)
    standings.scores[1].history = standings.scores[1].history[:30]
    assert standings.difference(0, 1).separated and standings.rows()[0].name == "b"
    check_ranks(standings)
    lead = "not decided: b leads, but is behind a in the matches that both have played"
    assert not standings.decided and describe_lead(standings) == lead


@pytest.mark.parametrize(
    ("failing", "matches", "lead"),
    [
        ([0, 1], 2, "no bot can be ranked: none answers"),
        ([1], 9, "a is the only bot with a rank"),
    ],
)
def test_no_sentence_is_about_a_bot_without_a_rank(failing, matches, lead):
    standings = begun("ab", until="decided", matches=100)
    played(standings, [[match, -match] for match in range(matches)], [{"bot": bot, **FAILED} for bot in failing])
    assert describe_lead(standings) == lead
    assert standings.reason_to_end(0.0) == "decided"
    assert standings.decided == (failing == [1])


def test_the_default_score_is_the_first_that_the_rules_allow():
    endless = CARDSHARK.replace(split_by="value", max_hands=16, chips=400)
    assert [Contest(rules).scored_by for rules in (CARDSHARK, endless)] == ["luck-adjusted", "chips"]
    header = {key: value for key, value in Contest(CARDSHARK).to_dict().items() if key != "score"}
    assert Contest.from_dict(header).scored_by == "chips"  # a contest from before there was a choice


GAMBLERS = {"AllOn20", "AllOn18", "AllOn12", "CrashesOn16"}
FAILING = {"Crashes", "Stops"}
OTHERS = ["HalfOn20", "AllOn21", "Stands", "Hits"]


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
    bots = [name if name in player_names() else f"{tmp_path}/players.py:{name}" for name in names]
    host = begin(tmp_path / "contest", bots, seed=seed, matches=12)
    standings = host.run()
    check_ranks(standings)
    rows = [row for row in standings.rows() if row.rank]
    ruined = {row.name for row in rows if row.score.ruined}
    assert ruined and ruined <= GAMBLERS | {"Hits"} and {row.name for row in rows[-len(ruined) :]} == ruined
    assert {row.name for row in standings.rows()[len(rows) :]} == FAILING
    for row in rows:  # the rule separates them from the others, whatever their scores
        assert not {row.name, *row.tied_with} & ruined or {row.name, *row.tied_with} <= ruined
    page = index_of(standings, host.page)
    for row in rows:
        assert not row.score.broke or f"broke in {row.score.broke} of 12</span>" in page
