"""`bjsim run`, `solve` and `replay` as their users call them."""

import subprocess
import sys
import time

import pytest
from support.command import bjsim, refusal

from bjsim.cli.main import Stop
from bjsim.sim.game.presets import load_rules
from bjsim.strategies.players.catalogue import find_player
from bjsim.strategies.shoe.solver import ShoeSolver


def result(*args):
    """The JSON that `bjsim run ... --json -` prints."""
    return bjsim("run", *args, "--json", "-").json


def test_the_json_has_what_is_promised():
    data = result("--bots", "optimal,lim17", "--hands", "1e5", "--seed", "7")
    assert data["rules"]["name"] == "easy" and data["seed"] == 7 and data["rounds"] == 200_000
    optimal, lim17 = data["bots"]
    assert optimal["name"] == "optimal" and optimal["hands"] == 100_000
    assert optimal["ci95"][0] < optimal["mean"] < optimal["ci95"][1]
    assert optimal["anytime95"][0] < optimal["ci95"][0]
    assert optimal["exact"] == pytest.approx(0.116684704)
    assert sum(optimal["payoffs"].values()) == 100_000
    assert float(min(optimal["payoffs"], key=float)) < -2
    assert lim17["convergence"][-1]["hands"] == 100_000
    assert set(lim17["payoffs"]) == {"-1.0", "0.0", "1.0", "1.5"}


def test_a_second_ctrl_c_is_ignored_only_at_first(monkeypatch):
    """Python loses the exception of a signal that arrives while it forks; Ctrl-C must then work again."""
    monkeypatch.setattr("bjsim.cli.main.PATIENCE", 0.05)
    stop = Stop()
    with pytest.raises(KeyboardInterrupt):
        stop()
    stop()
    time.sleep(0.06)
    with pytest.raises(KeyboardInterrupt):
        stop()


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["--bots", "lim17,", "--hands", "9"], "has an empty name; write names with one comma between two, as in A,B"),
        (["--bots", "lim17", "--hands", "-1"], "-1 is not accepted"),
        (["--bots", "lim17", "--hands", "nan"], "nan is not accepted"),
        (["--bots", "lim17", "--hands", "1e30"], "1e30 is not accepted"),
        (["--bots", "lim17", "--hands", "2.5"], "2.5 is not accepted"),
        (["--bots", "lim17", "--hands", "9", "--set", "peek=maybe"], "peek = maybe is not accepted; use true or false"),
        (["--bots", "lim17", "--hands", "9", "--decks", "9"], "use 1 to 8, or inf"),
        (["--bots", "lim17", "--hands", "9", "--set", "deal=pdp"], "dealer_shows = both needs two d in deal"),
        (["--bots", "nowhere:thing", "--hands", "9"], "cannot load nowhere"),
        (["--bots", "json:thing", "--hands", "9"], "json has no 'thing'"),
        (["--bots", "lim17", "--hands", "9", "--log", "/nowhere/x"], "cannot write the log /nowhere/x"),
        (["--bots", "./optimal", "--hands", "9"], "no such file: ./optimal"),
        (["--bots", "lim17", "--hands", "9", "--rules", "vegas-h"], "did you mean vegas-h17? A rules file must end in"),
        (["--bots", "lim17", "--hands", "9", "--set", "das=some"], "das = some is not accepted; use true or false"),
        (["--bots", "lim17", "--hands", "9", "--set", "h71"], "such as peek=true; did you mean h17?"),
        (["--bots", "lim17", "--hands", "9", "--set", "9:0"], "blackjack_pays = 9:0 is not accepted"),
        (["--bots", "lim17", "--hands", "9", "--set", "surrender=always"], "none, late, early, early-ten or early-ace"),
        (["--bots", "lim17", "--hands", "9", "--seed", "-1"], "--seed: -1 is not accepted; use a whole number"),
        (["--bots", "lim17", "--hands", "9", "--tables", "0"], "--tables: 0 is not accepted; use a whole number"),
    ],
)  # fmt: skip
def test_bad_input_is_one_line_and_status_2(args, message):
    assert message in refusal("run", *args)


def test_a_chart_file_plays(tmp_path):
    status, chart, _ = bjsim("solve", "strategy")
    assert status == 0
    file = tmp_path / "mine.txt"
    file.write_text(chart.split("\n", 1)[1])
    [bot] = result("--bots", str(file), "--hands", "1000")["bots"]
    assert bot["exact"] == pytest.approx(0.116684704)


def test_python_players_play(tmp_path):
    file = tmp_path / "player.py"
    file.write_text("def never_bust(view):\n    from bjsim import Hand\n"
                    "    return 'H' if Hand(*view.hand).points < 12 else 'S'\n")  # fmt: skip
    [bot] = result("--bots", f"{file}:never_bust", "--hands", "2000")["bots"]
    assert bot["hands"] == 2000 and bot["exact"] is None and bot["mean"] < 0


def test_a_player_that_breaks_the_rules_fails_the_run(tmp_path):
    file = tmp_path / "player.py"
    file.write_text("def splits(view):\n    return 'P'\n")
    status, _, err = bjsim("run", "--bots", f"{file}:splits", "--hands", "100")
    assert status == 1
    assert "answered P with" in err and err.count("\n") == 1


def test_solve_prints_the_seeds_formats():
    status, out, _ = bjsim("solve", "advantage")
    assert (status, out) == (0, "Player Advantage: 11.6685%\n")
    _, out, _ = bjsim("solve", "dealer")
    assert "Dealer 16\n 0: 0.615385  17: 0.076923  18: 0.076923  19: 0.076923  20: 0.076923  21: 0.076923\n" in out
    _, out, _ = bjsim("solve", "advantage", "--exact")
    assert out == "Player Advantage: 139150394466997881620002431578/1192533292512492016559195008117\n"


def test_solve_json():
    data = bjsim("solve", "stand", "--json", "-").json
    stand = data["tables"]["stand"]
    assert stand["cells"][stand["rows"].index("18")][stand["columns"].index("16")] == pytest.approx(6 / 13)
    assert data["dealer"]["17"] == {"17": 1.0}
    assert data["advantage"] == pytest.approx(0.1166847)
    assert data["sd"] == pytest.approx(1.245307, abs=1e-6)


def test_replay_repeats_a_round_of_a_run(tmp_path):
    """The payoffs of the first rounds, replayed one by one, equal those that the run counted."""
    run = result("--bots", "optimal", "--hands", "40", "--rules", "vegas-h17", "--seed", "2")
    payoffs = {}
    for number in range(1, 41):
        status, out, _ = bjsim("replay", "--bots", "optimal", "--rules", "vegas-h17", "--seed", 2, "--round", number)
        assert status == 0
        from fractions import Fraction

        net = str(float(Fraction(out.splitlines()[-1].split()[-2])))
        payoffs[net] = payoffs.get(net, 0) + 1
    assert payoffs == run["bots"][0]["payoffs"]


@pytest.mark.parametrize(
    ("script", "message"),
    [
        ("T6 9X", "line 1, column 5: 'X' is not a card"),
        ("T6\n98 # a comment\n1", "line 3, column 1: '1' is not a card"),
        ("T6 98 T6", "runs out of cards during a round, after 6 cards"),
    ],
)
def test_a_bad_scripted_shoe_is_one_line(tmp_path, script, message):
    file = tmp_path / "shoe"
    file.write_text(script)
    status, _, err = bjsim("replay", "--bots", "optimal", "--shoe", file)  # earlier rounds are printed
    assert status == 2 and message in err and err.count("\n") == 1


def test_a_scripted_shoe_is_dealt_dealer_first(tmp_path):
    file = tmp_path / "shoe"
    file.write_text("T7 T9  # dealer 17, player 19: stands and wins\n")
    _, out, _ = bjsim("replay", "--bots", "optimal", "--shoe", file)
    assert out.splitlines()[-1] == "optimal (seat 1): +1 bet"


def test_the_plot_is_written(tmp_path):
    for name in ("plot.svg", "plot.png"):
        assert bjsim("run", "--bots", "lim17", "--hands", "1e4", "--plot", tmp_path / name)[0] == 0
        assert (tmp_path / name).stat().st_size > 5000


def test_help_imports_nothing_heavy():
    code = ("import sys\nfrom bjsim.cli.main import main\ntry: main(['--help'])\nexcept SystemExit: pass\n"
            "print([m for m in ('numpy', 'numba', 'rich', 'matplotlib') if m in sys.modules])")  # fmt: skip
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert out.splitlines()[-1] == "[]"


def test_shell_completion_knows_bots_and_rules():
    from bjsim.cli.run import run

    bots, rules = (next(p for p in run.params if p.name == name) for name in ("bots", "rules_name"))
    ctx = run.make_context("run", ["--bots", "x", "--hands", "1"])
    assert [item.value for item in bots.type.shell_complete(ctx, bots, "optimal,mi")] == ["optimal,mimic"]
    assert [item.value for item in rules.type.shell_complete(ctx, rules, "veg")] == ["vegas-s17", "vegas-h17"]


def test_a_run_plays_until_it_is_precise():
    data = result("--rules", "vegas-s17", "--bots", "optimal", "--until", "0.02%")
    low, high = data["bots"][0]["luck_adjusted"]["anytime95"]
    assert data["reached"] is True and high - low <= 2 * data["until"] == pytest.approx(0.0004)
    assert data["rounds"] < 1e6  # without the adjustment it takes 2e8
    short = result("--bots", "lim17", "--until", "0.1%", "--hands", "5e4")
    assert short["reached"] is False and short["rounds"] == 50_000


@pytest.mark.parametrize("text", ["abc", "0%", "-1%", "200%", "nan"])
def test_a_precision_is_a_share_of_the_bet(text):
    assert "such as 0.001%" in refusal("run", "--bots", "lim17", "--until", text)


@pytest.mark.parametrize(
    ("text", "readings"), [("0.01", "0.01% or, if that is a fraction, 1%"),
                           ("1e-5", "1e-5% or, if that is a fraction, 0.001%"), ("5", "5%")]
)  # fmt: skip
def test_a_precision_without_its_sign_is_refused_with_both_readings(text, readings):
    said = refusal("run", "--bots", "lim17", "--until", text)
    assert said.endswith(f"{text} has no % sign; write {readings}")


@pytest.mark.slow
def test_where_rounds_share_a_shoe_the_exact_value_is_that_of_a_fresh_one():
    """A cut card shifts the mean, which a z would take for an error."""
    asked = ("--bots", "optimal,lim17", "--rules", "vegas-s17", "--decks", "1", "--hands", "2e4")
    for more in ((), ("--no-adjust-luck",)):
        for bot in result(*asked, *more)["bots"]:
            strategy = find_player(bot["name"], load_rules("vegas-s17").replace(decks=1))
            assert bot["exact"] == pytest.approx(ShoeSolver(strategy.rules).value_of(strategy), abs=1e-12)
            assert bot["exact_sd"] is None and bot["z"] is None  # nothing is judged by them
            if more:
                assert bot["verdict"] == "not compared: several rounds share a shoe" and bot["cut_card_effect"] is None
            else:
                assert bot["verdict"] == "consistent with the luck-adjusted return"
                effect, luck = bot["cut_card_effect"], bot["luck_adjusted"]
                assert effect["mean"] == pytest.approx(luck["mean"] - bot["exact"])
                assert effect["ci95"] == pytest.approx([bound - bot["exact"] for bound in luck["ci95"]])
        rows = [line.split()[:1] for line in bjsim("run", *asked, *more)[1].splitlines()]
        assert ["exact,"] in rows and ["z"] not in rows
    [bot] = result("--bots", "optimal", "--hands", "1e4")["bots"]
    assert bot["cut_card_effect"] is None and abs(bot["z"]) < 5


def test_hands_may_be_in_millions():
    assert result("--bots", "lim17", "--hands", "0.002M")["rounds"] == 2000


SIX_DECKS = ("--bots", "optimal,lim17", "--rules", "vegas-s17", "--hands", "4e4", "--tables", "3")


def test_luck_is_reported_in_finite_shoes_and_depends_on_no_worker():
    one, two = (result(*SIX_DECKS, "--workers", workers)["bots"] for workers in (1, 2))
    assert one == two
    for bot in one:
        luck = bot["luck_adjusted"]
        assert luck["gain"] > 2000 and bot["verdict"] == "consistent with the luck-adjusted return"
        assert abs(luck["mean"] - bot["mean"]) < 4 * bot["se"]
        assert luck["anytime95"][0] < luck["ci95"][0] < luck["mean"] < luck["ci95"][1] < luck["anytime95"][1]
    raw = result(*SIX_DECKS, "--no-adjust-luck")["bots"]
    assert [bot["luck_adjusted"] for bot in raw] == [None, None]
    assert [bot["payoffs"] for bot in raw] == [bot["payoffs"] for bot in one]


def test_the_report_shows_the_effect_of_luck_adjustment():
    six, infinite = (bjsim("run", *SIX_DECKS, *more)[1] for more in ((), ("--decks", "inf", "--adjust-luck")))
    assert "luck adjustment cuts the variance" in six and six.count("less the exact value of a fresh shoe") == 2
    assert "every round returned the exact value -0.511734%" in infinite


def test_luck_is_reported_of_charts_only():
    said = refusal("run", "--bots", "optimal,random:Random", "--hands", 10, "--adjust-luck")
    assert "needs charts, whose states have exact values" in said


@pytest.mark.parametrize(("bets", "said"), [("    def bet(self, view): return 5\n", True), ("", False)])
def test_the_return_of_a_player_that_bets_is_in_units(tmp_path, bets, said):
    """Five units a round are no return of five times the bet."""
    file = tmp_path / "mine.py"
    file.write_text(f"class Heavy:\n    name = 'heavy'\n{bets}    def decide(self, view): return 'S'\n")
    out = bjsim("run", "--bots", f"{file}:Heavy", "--rules", "vegas-s17", "--hands", 100, "--seed", 1)[1]
    assert (
        "heavy: the return is the profit of a round in units, not a share of the money bet" in " ".join(out.split())
    ) is said
