"""Standings: intervals over matches, ties, and when a contest is decided."""

import importlib.util
import random
import statistics
from pathlib import Path

import pytest
from support.matches import match_of

from bjsim.bots.contest.config import Contest
from bjsim.bots.contest.differences import Ratio
from bjsim.bots.contest.entrants import gather
from bjsim.bots.contest.host import Host
from bjsim.bots.contest.results import row_values, standings_csv
from bjsim.bots.contest.standings import Standings, describe_lead
from bjsim.sim.game.presets import load_rules
from bjsim.sim.stats.student import anytime_t_half, t_half, t_tail

CARDSHARK = load_rules("cardshark")
specification = importlib.util.spec_from_file_location("copies", Path(__file__).parents[3] / "bench" / "copies.py")
copies = importlib.util.module_from_spec(specification)  # type: ignore[arg-type]
specification.loader.exec_module(copies)  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("freedom", "t"), [(1, 12.7062), (2, 4.30265), (5, 2.57058), (24, 2.06390), (100, 1.98397), (5000, 1.96044)]
)
def test_student_t_matches_published_tables(freedom, t):
    assert t_half(freedom) == pytest.approx(t, abs=1e-4)
    assert freedom > 2000 or t_tail(t_half(freedom), freedom) == pytest.approx(0.05, abs=1e-9)


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


@pytest.mark.parametrize("alpha", [0.05, 1e-4])
@pytest.mark.parametrize("n", [200, 2000])
def test_the_anytime_interval_is_narrowest_where_it_should_be(n, alpha):
    """Those that are narrowest after 30% fewer or 40% more values are wider after n."""
    widths = [anytime_t_half(n, n - 1.0, optimal, alpha) for optimal in (n * 7 // 10, n, n * 14 // 10)]
    assert widths[1] == min(widths)


def test_ratio_against_the_library():
    values = [3.0, 4.5, -1.0, 8.0, 2.25, 0.5, -3.0, 6.0]
    ratio = sum((Ratio.one(5 * value, 5) for value in values), Ratio())
    assert ratio.mean == pytest.approx(statistics.mean(values))
    assert ratio.se == pytest.approx(statistics.stdev(values) / 8**0.5)
    half = 2.364624 * statistics.stdev(values) / 8**0.5
    assert ratio.student95 == pytest.approx((ratio.mean - half, ratio.mean + half))
    assert Ratio.one(2.0, 1).se == 0


def begun(names, rules=CARDSHARK, **settings):
    """The standings of a contest before its first round."""
    contest = Contest(rules, **settings)
    return Standings({"contest": contest.to_dict(), "bots": [{"name": name} for name in names]})


def made_up(names, matches, advantage, seed=1, rules=CARDSHARK, **settings):
    """The standings of matches at one table in which bot b wins `advantage[b]` chips plus noise."""
    standings = begun(names, rules, matches=matches, **settings)
    chance = random.Random(seed)
    decided = 0
    for match in range(matches):
        net = [round(10 * (mean + chance.gauss(0, 2))) for mean in advantage]
        standings.add(match_of(match, {"seats": list(range(len(names))), "net": net}))
        decided += standings.decided
    return standings, decided


def test_ties_and_decision():
    standings, _ = made_up(["weak", "strong", "strong too"], 200, [-3, 3, 3])
    first, second, last = standings.rows()
    assert (first.tied_with, second.tied_with, last.tied_with) == ((second.name,), (first.name,), ())
    assert first.rank_range == second.rank_range == (1, 2) and (last.name, last.rank_range) == ("weak", (3, 3))
    assert not standings.decided
    standings, _ = made_up(["weak", "best", "middle"], 200, [-3, 3, 0], seed=2)
    assert [row.name for row in standings.rows()] == ["best", "middle", "weak"]
    assert [(row.rank_range, row.tied_with) for row in standings.rows()] == [((n, n), ()) for n in (1, 2, 3)]
    assert standings.decided
    ahead = standings.difference(1, 0)
    assert ahead.interval[0] < 60 < ahead.interval[1] and ahead.separated
    for row in standings.rows():
        assert row.chips == pytest.approx(sum(row.chips_ci95) / 2)  # the interval is about the mean
    assert standings.difference(0, 1).mean == -ahead.mean


def test_the_progress_is_noted_after_powers_of_two_and_every_fiftieth_of_the_matches():
    standings, _ = made_up(["one", "other"], 200, [0, 1])
    counts = [count for count, _ in standings.progress]
    assert counts == sorted({1, 2, *range(4, 201, 4)})
    short, _ = made_up(["one", "other"], 60, [0, 1])
    assert [count for count, _ in short.progress] == [*range(1, 61)]
    assert standings.progress[-1][1] == [standings.mean_chips(0), standings.mean_chips(1)]


def test_equal_chips_share_a_rank_and_there_is_none_before_the_first_match():
    standings = begun("abcd")
    assert {row_values(row)["rank"] for row in standings.rows()} == {None}
    assert [line[0] for line in standings_csv(standings).splitlines()[1:]] == [","] * 4
    standings.add(match_of(0, {"seats": [0, 1, 2, 3], "net": [0, 10, 0, -10]}))
    assert [(row.rank, row.name) for row in standings.rows()] == [(1, "b"), (2, "a"), (2, "c"), (4, "d")]


@pytest.mark.parametrize("duplicate", [False, True])
def test_there_is_no_interval_from_fewer_than_eight_independent_groups(duplicate):
    """In a duplicate contest matches that share their shoes count as one."""
    each = 3 if duplicate else 1
    for groups, known in ((7, False), (8, True)):
        standings, _ = made_up("abc", groups * each, [-1, 0, 1], duplicate=duplicate)
        for values in map(row_values, standings.rows()):
            assert [values[key] is not None for key in ("chips_ci95", "per_hand_ci95")] == [known, known]


@pytest.mark.parametrize("game", ["cardshark", "vegas-s17"])
def test_the_interval_of_chips_ends_at_zero_where_bots_raise(game):
    """With raises bots bet only what they hold; without, they double on credit."""
    rules = load_rules(game)
    standings, _ = made_up("abc", 8, [-20 if rules.raises else -rules.chips / 10, 0, 0], seed=3, rules=rules)
    (low, high), won = standings.rows()[-1].chips_ci95, standings.scores[0].chips.student95
    inside = tuple(rules.chips + end for end in won)
    assert inside[0] < 0 < inside[1]
    assert (low, high) == ((0, inside[1]) if game == "cardshark" else inside)


def test_a_bot_that_cannot_be_started_is_listed_last_without_a_rank():
    """It won by standing, but never answered. A bot that answers after failed starts is ranked."""
    failure = {"kind": "start-failure", "move": 0}
    standings = begun(["dead", "limping", "sound"], strikes=2)
    for match in range(3):
        rounds = []
        for hand in range(4):
            faults = [{**failure, "bot": 0}] * (hand < 2) + [{**failure, "bot": 1}] * (hand == match == 0)
            rounds.append({
                "seats": [0, 1, 2], "net": [10, 0, -10], "moves": [["S"], ["S"], ["H", "S"]], "faults": faults
            })  # fmt: skip
        standings.add(match_of(match, *rounds))
    assert [(row.rank, row.name, row.tied_with) for row in standings.rows()] == [
        (1, "limping", ("sound",)), (2, "sound", ("limping",)), (None, "dead", ())
    ]  # fmt: skip


@pytest.mark.slow
def test_equal_bots_watched_after_every_match_are_rarely_separated():
    """At 5% allowed, 200 contests give 22 or more false decisions with probability below 0.0005."""
    wrong = sum(made_up("abc", 100, [0, 0, 0], seed=seed)[1] > 0 for seed in range(200))
    assert wrong < 22


def test_unequal_bots_are_separated():
    """Negative control of the test above."""
    assert all(made_up("abc", 100, [0, 0, 4], seed=seed)[1] > 0 for seed in range(20))


def make_contest(tmp_path, bots, **settings):
    host = Host.begin(tmp_path, Contest(CARDSHARK, **settings), gather(bots, CARDSHARK))
    return host.run()


def lim17_against_optimal(folder, seed):
    """The separated bot and the decided leader ("" for none) of a duplicate contest of at most 1,000 hands each."""
    standings = make_contest(folder, ["lim17", "optimal"], duplicate=True, until="decided", matches=19, seed=seed)
    assert all(score.hands < 1000 for score in standings.scores)
    difference = standings.difference(0, 1)
    ahead = standings.names[difference.mean < 0] if difference.separated else ""
    return ahead, standings.names[standings.order()[0]] if standings.end["reason"] == "decided" else ""


def test_duplicate_decides_between_lim17_and_optimal_in_under_1000_hands(tmp_path):
    assert lim17_against_optimal(tmp_path, seed=1) == ("optimal", "optimal")


@pytest.mark.slow
def test_duplicate_decides_between_them_and_never_wrongly(tmp_path):
    """The luck-adjusted difference is separated in all of 20 contests: its standard deviation is 7 chips per match, and
    its mean is 15. The contest is decided only when the better bot also holds the most chips, which happens after 1,000
    hands in 3 of 100 contests (seeds 1001 to 1100), so in 4 or more of 20 with probability below 0.003."""
    found = [lim17_against_optimal(tmp_path / str(seed), seed) for seed in range(1, 21)]
    assert [ahead for ahead, _ in found] == ["optimal"] * 20
    decided = [leader for _, leader in found]
    assert decided.count("optimal") >= 17 and "lim17" not in decided


def test_it_ends_with_the_match_in_which_the_time_limit_is_reached(tmp_path):
    standings = make_contest(tmp_path, ["lim17", "optimal"], until="0.05", matches=10**5)
    assert standings.end["reason"] == "time" and standings.matches >= 1
    assert standings.rounds == 25 * standings.matches


def test_two_copies_in_duplicate_are_never_separated(tmp_path):
    """They play the same hands in turn, so their difference is exactly 0."""
    standings = make_contest(tmp_path, ["lim17", "lim17"], duplicate=True, until="decided", matches=15)
    assert standings.end["reason"] == "matches"
    assert standings.difference(0, 1).interval == (0.0, 0.0)


@pytest.mark.slow
@pytest.mark.parametrize("duplicate", [False, True])
def test_two_copies_are_not_separated(duplicate):
    """In 95 of 100 real contests of 1,000 hands, checked after every round. bench/copies.py plays 20,000 hands, which
    takes half an hour: 1 of 100 is separated (seeds 3001 to 3100), in duplicate 3 (4001 to 4100). With normal values
    the error rate is 3.6% in those 800 matches and 1.6% in these 40 (20,000 simulations), so 6 or more errors occur
    here with probability 0.006."""
    errors = [seed for seed in range(100) if copies.separated(seed, 1000, duplicate)]
    assert len(errors) <= 5, errors


@pytest.mark.slow
def test_two_that_differ_are_separated():
    """Negative control of the test above."""
    assert all(copies.separated(seed, 2000, True, ["lim17", "optimal"]) for seed in range(10))


@pytest.mark.parametrize(("lead", "separated"), [(0, False), (1, True)])
def test_bots_that_always_score_alike_are_not_separated(lead, separated):
    """Copies in a duplicate contest: the interval of their difference is the single point 0."""
    standings = begun(["one", "other"], matches=60)
    for match in range(60):
        net = [10 * (match % 7) + lead, 10 * (match % 7)]
        standings.add(match_of(match, {"seats": [0, 1], "net": net}))
    difference = standings.difference(0, 1)
    assert difference.mean == lead and difference.interval is not None
    assert difference.separated == separated == standings.difference(1, 0).separated


def test_the_faults_of_all_rounds_and_matches_count():
    standings = begun(["faulty", "other"], matches=3, strikes=3)
    fault = {"bot": 0, "kind": "timeout", "place": 0, "move": 1}
    for match, faults in enumerate(([1, 1, 1, 1], [2, 0, 0], [2, 1, 0])):
        standings.add(match_of(match, *({"seats": [0, 1], "net": [0, 0], "faults": [fault] * n} for n in faults)))
    assert standings.scores[0].faults == {"timeout": 9} and not standings.scores[1].faults


def test_house_players_have_names():
    """Their numbers are negative, and count from the end of the names."""
    assert begun(["one", "other"]).seat_names[-1] == "house"
    names = begun(["one", "other"], against=("lim17", "hoyle")).seat_names
    assert (names[-1], names[-2], names[:2]) == ("house (lim17)", "house (hoyle)", ["one", "other"])


def test_the_columns_of_a_frame_are_rounded_values():
    standings, _ = made_up(["one", "other"], 20, [0, 1])
    rows, columns = standings.rows(), standings._columns()
    assert columns["luck-adjusted"] == [round(row.score.adjusted.mean, 4) for row in rows]
    assert columns["95% interval"] == [tuple(round(end, 4) for end in row.score.adjusted.student95) for row in rows]
    assert made_up(["one", "other"], 0, [0, 1])[0]._columns()["luck-adjusted"] == [None, None]


def test_standings_are_short_in_a_prompt_and_a_table_in_a_notebook():
    standings, _ = made_up(["weak", "best", "<b>"], 20, [-3, 3, 0], seed=2)
    assert repr(standings) == "Standings(3 bots, 20 of 20 matches, best leads)"
    assert repr(begun("ab", matches=5)) == "Standings(2 bots, 0 of 5 matches)"
    table = standings._repr_html_()
    assert table.count("<tr>") == 4 and "&lt;b&gt;" in table and "<b>" not in table
    pytest.importorskip("pandas", reason="to_frame needs pandas")
    frame = standings.to_frame()
    assert list(frame["bot"]) == ["best", "<b>", "weak"] and list(frame["rank"]) == [1, 2, 3]
    assert standings.difference(1, 0).separated and "weak" not in frame["not separated from"][0]


def test_who_leads_and_what_a_decision_would_take():
    standings, _ = made_up(["weak", "best"], 7, [-9, 9])
    assert describe_lead(standings) == "not decided: bots are compared from 8 matches on"
    standings, _ = made_up(["weak", "best"], 20, [-9, 9])
    assert describe_lead(standings) == "best is ahead of every other bot (95%)"
    standings, _ = made_up(["one", "other", "weak"], 40, [0.1, 0, -9], seed=3)
    first, second = (row.name for row in standings.rows()[:2])
    missing = standings.difference(*standings.order()[:2]).missing
    lead = f"not decided: {first} leads, but is not separated from {second}"
    assert describe_lead(standings) == f"{lead}; about {missing:,} more matches would separate them"
    copies = begun("abcdef", matches=8)
    for match in range(8):
        copies.add(match_of(match, {"seats": [*range(6)], "net": [0] * 6}))
    lead = "not decided: a leads, but is not separated from b, c, d and 2 others"
    assert describe_lead(copies) == f"{lead}; no number of matches is in sight that would separate them"


def test_a_leader_by_luck_is_called_that():
    """Bot 0 wins 50 chips a match, all of them luck; bot 1 wins 30 without luck."""
    standings = begun(["lucky", "good"], matches=10)
    for match in range(10):
        net = [50 + match % 3, 30 + match % 2]
        standings.add(match_of(match, {"seats": [0, 1], "net": net}, luck=[[50.0], [0.0]]))
    assert describe_lead(standings) == "good is ahead of every other bot (95%); lucky holds the most chips, but by luck"
    assert [row.name for row in standings.rows()] == ["good", "lucky"]
