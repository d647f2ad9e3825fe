"""The cards of a contest cannot be predicted, neither by a bot nor by a reader of the page."""

import hashlib
import json
import logging
import re

import numpy as np
import pytest
from support.command import bjsim, refusal
from support.matches import begin, rounds_in

from bjsim.arguments import MAX_SEED
from bjsim.bots.contest import journal
from bjsim.cli.koth_play import ContestScreen
from bjsim.sim.game.presets import load_rules
from bjsim.sim.game.shoe import Stream
from bjsim.sim.running.compiled_table import AdjustedTable, CompiledTable
from bjsim.sim.running.table import ReadableTable, Span
from bjsim.strategies.experiment import make_experiment
from bjsim.strategies.players.catalogue import find_player

MATCHES = 8

# Knows the first cards of every shoe of the seeds 1 to 20, and identifies its own shoe from the open cards in the order
# of the deal, the dealer's separately. Hits if it knows that the next card does no harm.
ORACLE = """
from bjsim.sim.game.cards import RANKS
from bjsim.sim.game.cards import Hand
from bjsim.sim.game.presets import load_rules
from bjsim.sim.game.shoe import open_shoe
from bjsim.sim.game.shoe import Stream

def first_cards(seed, match):
    shoe = open_shoe(load_rules("cardshark"), Stream(seed, 0, match))
    return "".join(RANKS[shoe.draw()] for _ in range(30))

KNOWN = [first_cards(seed, match) for seed in range(1, 21) for match in range(8)]

def decide(view):
    dealt, others = len(view.visible), view.visible.partition("#")[2]
    for cards in KNOWN:
        following = iter(cards[:dealt])
        if all(card in following for card in others) and Hand(*view.hand, cards[dealt]).points <= 21:
            return "H"
    return "S"
"""


def hits_of_the_oracle(tmp_path, *options):
    """How often it hits in a contest of four, and its mean number of chips."""
    (tmp_path / "oracle.py").write_text(ORACLE)
    bots = [f"oracle={tmp_path / 'oracle.py'}:decide", "optimal", "lim17", "kelly"]
    status, _, err = bjsim("koth", "play", *bots, "--matches", MATCHES, "--out", tmp_path / "c", *options)
    assert status == 0, err
    return sum("H" in r["moves"][r["seats"].index(0)] for r in rounds_in(tmp_path / "c") if 0 in r["seats"])


def test_an_oracle_for_small_seeds_cannot_predict_a_default_contest(tmp_path):
    """Error rate one in a million: 160 shoes, and 7 or more cards in the right order in each of 200 rounds."""
    assert hits_of_the_oracle(tmp_path) == 0


def test_the_oracle_knows_a_contest_whose_seed_is_small(tmp_path):
    """Negative control of the test before."""
    assert hits_of_the_oracle(tmp_path, "--seed", 13) > MATCHES / 2


def test_two_contests_without_a_seed_deal_different_cards(tmp_path):
    """Error rate 2^-128."""
    seeds = []
    for name in "ab":
        assert bjsim("koth", "play", "lim17", "optimal", "--matches", 1, "--out", tmp_path / name).status == 0
        seeds.append(next(journal.read(tmp_path / name))["contest"]["seed"])
    assert seeds[0] != seeds[1] and min(seeds) >= 2**64
    assert [record["cards"] for record in rounds_in(tmp_path / "a")] != [r["cards"] for r in rounds_in(tmp_path / "b")]
    config = tmp_path / "contest.toml"
    config.write_text('bots = ["lim17", "optimal"]\nmatches = 1\n')
    assert bjsim("koth", "play", "--config", config, "--out", tmp_path / "c").status == 0
    assert next(journal.read(tmp_path / "c"))["contest"]["seed"] not in seeds


@pytest.mark.parametrize("options", [[], ["--seed", 10**20 + 1]])
def test_the_seed_is_shown_when_the_contest_is_closed_and_not_before(tmp_path, monkeypatch, options):
    def stop_later(screen, host):
        if host.standings.matches == 2:
            raise KeyboardInterrupt

    folder = tmp_path / "c"
    with monkeypatch.context() as patch:
        patch.setattr(ContestScreen, "update", stop_later)
        status, out, err = bjsim("koth", "play", "lim17", "optimal", "--matches", 4, "--out", folder, *options)
    assert status == 130
    seed = str(next(journal.read(folder))["contest"]["seed"])
    files = [path for path in folder.rglob("*") if path.is_file() and path.name != journal.NAME]
    written = {path.name: path.read_text() for path in files}
    assert written.keys() >= {"index.html", "standings.csv", "standings.json"}
    assert not [name for name, text in written.items() if seed in text]
    assert seed not in out + err + bjsim("koth", "show", folder).out
    status, out, _ = bjsim("koth", "resume", folder)
    assert status == 0 and seed not in out + (folder / "index.html").read_text()
    assert f"seed {seed}" in bjsim("koth", "close", folder).out
    assert re.search(rf'<pre id="again">bjsim koth .*--seed {seed} ', (folder / "index.html").read_text())
    assert bjsim("koth", "verify", folder).status == 0


@pytest.mark.parametrize(
    ("seed", "program", "warned"),
    [(2698, True, True), (2**40 - 1, True, True), (2**40, True, False), (2698, False, False)],
)
def test_a_seed_that_programs_can_guess_is_warned_of(tmp_path, caplog, seed, program, warned):
    (tmp_path / "bot.py").write_text("print('S')")
    bots = [str(tmp_path / "bot.py") if program else "lim18", "lim17"]
    begin(tmp_path / "c", bots, sandbox="auto", seed=seed)
    assert ("play without a seed" in caplog.text) == warned


def test_a_house_player_that_is_a_program_could_guess_too(tmp_path, caplog):
    (tmp_path / "bot.py").write_text("print('S')")
    begin(tmp_path / "c", ["lim17", "lim18"], sandbox="auto", seed=1, house=str(tmp_path / "bot.py"))
    assert "play without a seed" in caplog.text


# --- seeds beyond 10^15


@pytest.mark.parametrize("seed", [10**15 + 1, 2**64 + 1, MAX_SEED])
def test_seeds_of_any_size_up_to_128_bits_are_accepted(tmp_path, seed):
    assert (
        bjsim("koth", "play", "lim17", "optimal", "--matches", 1, "--seed", seed, "--out", tmp_path / "c").status == 0
    )
    assert next(journal.read(tmp_path / "c"))["contest"]["seed"] == seed  # to the last digit
    assert bjsim("koth", "verify", tmp_path / "c").status == 0
    assert bjsim("run", "--bots", "lim17", "--hands", 10, "--seed", seed, "--json", "-").json["seed"] == seed


def test_larger_seeds_are_refused(tmp_path):
    assert "a whole number from 0 to" in refusal(
        "koth", "play", "lim17", "lim18", "--seed", MAX_SEED + 1, "--out", tmp_path
    )
    assert "a whole number from 0 to" in refusal("run", "--bots", "lim17", "--hands", 1, "--seed", "9" * 5000)


def test_every_bit_of_a_large_seed_matters_and_all_engines_take_it():
    words = {Stream(MAX_SEED ^ bit).words(0, 4).tobytes() for bit in (0, 1, 1 << 32, 1 << 64, 1 << 127)}
    assert len(words) == 5
    easy = load_rules("easy")
    chart = find_player("lim17", easy)
    (table,) = make_experiment(easy, [chart], 100, MAX_SEED, adjust_luck=False).groups
    (adjusted,) = make_experiment(easy, [chart], 100, MAX_SEED, adjust_luck=True).groups
    assert isinstance(table, CompiledTable) and isinstance(adjusted, AdjustedTable)
    spans = [Span(0, 100)]
    compiled, readable = (each.play(MAX_SEED, 0, spans)[0] for each in (table, ReadableTable(easy, [chart])))
    assert compiled == readable
    assert np.isclose(adjusted.play(MAX_SEED, 0, spans)[0].mean, compiled.mean)


# --- bjsim run


@pytest.fixture
def program(tmp_path):
    """The options of a short run of a program, and a directory."""
    (tmp_path / "bot.py").write_text("print('S')")
    options = ["--rules", "cardshark", "--sandbox", "auto", "--timeout", 20, "--bots", tmp_path / "bot.py"]
    return [*options, "--json", "-"], tmp_path


def test_a_run_of_programs_without_a_seed_draws_one_and_says_which(program):
    options, _ = program
    first, second = (bjsim("run", "--hands", 10, *options) for _ in range(2))
    seed = first.json["seed"]
    assert seed != second.json["seed"] and min(seed, second.json["seed"]) >= 2**64
    assert f"seed {seed}" in first.err
    again = bjsim("run", "--hands", 10, *options, "--seed", seed).json
    assert [bot["mean"] for bot in again["bots"]] == [bot["mean"] for bot in first.json["bots"]]


def test_a_run_without_programs_has_the_seed_1():
    assert bjsim("run", "--bots", "lim17", "--hands", 10, "--json", "-").json["seed"] == 1


def test_a_resumed_run_of_programs_keeps_its_seed(program):
    options, folder = program
    kept = folder / "kept"
    first = bjsim("run", "--hands", 300, *options, "--checkpoint", kept).json
    assert json.loads(kept.read_text())["request"]["seed"] == first["seed"]
    assert bjsim("run", "--hands", 300, *options, "--resume", kept).json["seed"] == first["seed"]
    content = json.loads(kept.read_text())
    del content["sha256"]
    content["request"]["seed"] = -1  # a stranger's
    content["sha256"] = hashlib.sha256(json.dumps(content).encode()).hexdigest()
    kept.write_text(json.dumps(content))
    status, _, err = bjsim("run", "--hands", 300, *options, "--resume", kept)
    assert status == 2 and "different: seed" in err and "Traceback" not in err


def test_a_small_seed_of_a_run_is_warned_of_where_programs_play(program, caplog):
    options, _ = program
    with caplog.at_level(logging.WARNING):
        assert bjsim("run", "--hands", 10, "--bots", "lim17", "--seed", 1).status == 0
        assert "play without a seed" not in caplog.text
        assert bjsim("run", "--hands", 10, *options, "--seed", 1).status == 0
    assert "play without a seed" in caplog.text
