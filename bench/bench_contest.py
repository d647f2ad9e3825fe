"""The overhead of a contest: moves per second of `koth` on two workers, compared with the same number of bare moves.

The bare moves are calls of `bot.run` with a typical command line, by two threads with their own bots. Both are played
alternately, block by block, in one run, so that other load on the machine affects both. Starting the sandboxes is not
counted. A contest pins each worker and its bots to one processor; bare moves are not pinned, and the pinning gains more
than dealing, journal and luck cost. `pinned` are bare moves that are pinned too. Part of the overhead is the game
itself, so the readable round with four players that answer at once is timed as well.

On a busy machine the speeds of two runs differ by a third. The time of the workers within one run is therefore split as
well: into the time between a question and its answer, and the rest. The host's processor time, which both workers lose,
counts as overhead.
"""

import multiprocessing
import os
import statistics
import threading
import time
from contextlib import ExitStack
from pathlib import Path

import pytest

from bjsim.bots.contest import host as hosts
from bjsim.bots.contest.config import Contest
from bjsim.bots.contest.entrants import gather
from bjsim.bots.contest.host import Host
from bjsim.bots.player import BotPlayer, open_bot
from bjsim.bots.sandbox import restrictions
from bjsim.sim.game.actions import HIT, STAND
from bjsim.sim.game.presets import load_rules
from bjsim.sim.game.round import Round
from bjsim.sim.game.shoe import Stream, open_shoe
from bjsim.strategies.players.catalogue import FunctionPlayer

SAMPLES = Path(__file__).resolve().parents[1] / "src" / "bjsim" / "bots" / "samples"
ARGUMENTS = ["12", "K2", "9#K2A38", "10", "190"]
WORKERS = 2
BLOCKS = 4
MATCHES = {"lim17.c": 20, "lim17.py": 4}  # in a block

pytestmark = pytest.mark.skipif(bool(restrictions.find_obstacle()), reason=restrictions.find_obstacle() or "none")


class Taken:
    """Seconds that the workers of a contest took: `asking` their bots, and `all`.

    The workers are forked, and add to memory that they share with this process once per table.
    """

    def __init__(self, monkeypatch):
        self.asking, self.all = multiprocessing.Value("d"), multiprocessing.Value("d")
        self.asked = 0.0  # by this process, at this table
        run, play = BotPlayer.run, hosts.play_table

        def timed_run(*arguments):
            began = time.perf_counter()
            reply = run(*arguments)
            self.asked += time.perf_counter() - began
            return reply

        def timed_play(*arguments):
            began, self.asked = time.perf_counter(), 0.0
            table = play(*arguments)
            for total, seconds in ((self.all, time.perf_counter() - began), (self.asking, self.asked)):
                with total.get_lock():
                    total.value += seconds
            return table

        monkeypatch.setattr(BotPlayer, "run", timed_run)
        monkeypatch.setattr(hosts, "play_table", timed_play)


def added_within(folder, name, matches, monkeypatch):
    """The overhead of a contest relative to the time of its own moves, in one run."""
    with monkeypatch.context() as patches:
        taken = Taken(patches)
        _, host = contest_rate(folder, name, matches)
    return (taken.all.value - taken.asking.value + host) / (taken.asking.value - host)


def contest_rate(folder, name, matches):
    """Play a contest of eight copies.

    Returns: (moves per second after its first tenth, processor seconds of the host scaled to all moves).
    """
    rules = load_rules("cardshark")
    contest = Contest(rules, seed=1, matches=matches, timeout=10.0)
    bots = gather([f"bot{n}={SAMPLES / name}" for n in range(8)], rules)
    host = Host.begin(folder, contest, bots, WORKERS, "required")
    seen = []
    host.run(lambda host: seen.append((time.perf_counter(), time.process_time(), host.logs.moves.total())))
    (first, used, before), (last, spent, after) = seen[len(seen) // 10], seen[-1]
    assert not any(score.faults for score in host.standings.scores)
    return (after - before) / (last - first), (spent - used) * after / (after - before)


def bare_rate(name, moves, pinned):
    """Moves per second of `bot.run` alone, with a thread for each worker and four bots per thread."""
    cores = sorted(os.sched_getaffinity(0))
    ready = threading.Barrier(WORKERS + 1)

    def play(number):
        if pinned:
            os.sched_setaffinity(0, {cores[number % len(cores)]})
        with ExitStack() as stack:
            opened = [open_bot(SAMPLES / name, sandbox="required", timeout=10.0) for _ in range(4)]
            bots = [stack.enter_context(bot) for bot in opened]
            for bot in bots:
                bot.run(ARGUMENTS)
            ready.wait()
            for move in range(moves // WORKERS):
                bots[move % len(bots)].run(ARGUMENTS)
            ready.wait()

    threads = [threading.Thread(target=play, args=(number,)) for number in range(WORKERS)]
    for thread in threads:
        thread.start()
    ready.wait()
    began = time.perf_counter()
    ready.wait()
    seconds = time.perf_counter() - began
    for thread in threads:
        thread.join()
    return moves / seconds


def dealing_us():
    """Processor microseconds per move that the round takes without a bot, journal or luck."""
    rules = load_rules("cardshark")
    moves = [0]

    def decide(view):
        moves[0] += 1
        return HIT if len(view.hand) < 3 and "5" in view.hand + view.visible else STAND

    shoe = open_shoe(rules, Stream(1, 0, 0))
    players = [FunctionPlayer("quick", decide)] * 4
    began = time.process_time()
    for _ in range(1000):
        Round(rules, shoe, len(players)).play(players)
    return 1e6 * (time.process_time() - began) / moves[0]


@pytest.mark.parametrize("name", MATCHES)
def test_what_a_contest_adds(benchmark, capsys, tmp_path, monkeypatch, name):
    moves = 150 * MATCHES[name]
    rates = [
        (
            contest_rate(tmp_path / str(block), name, MATCHES[name])[0],
            bare_rate(name, moves, pinned=False),
            bare_rate(name, moves, pinned=True),
        )
        for block in range(BLOCKS)
    ]
    benchmark.pedantic(lambda: None)
    contest, bare, pinned = (statistics.median(column) for column in zip(*rates, strict=True))
    added, added_to_pinned = (statistics.median(rate[kind] / rate[0] - 1 for rate in rates) for kind in (1, 2))
    within = [added_within(tmp_path / f"w{n}", name, MATCHES[name], monkeypatch) for n in range(BLOCKS)]
    dealing = dealing_us()
    share = dealing * pinned / WORKERS / 1e6
    benchmark.extra_info.update({
        "dealing us/move": round(dealing),
        "contest moves/s": round(contest), "bare moves/s": round(bare), "pinned moves/s": round(pinned),
        "added": added, "added to pinned": added_to_pinned, "added within": statistics.median(within),
    })  # fmt: skip
    with capsys.disabled():
        print(f"\n{name}, moves/s on {WORKERS} workers: {contest:,.0f} contest, {bare:,.0f} bare, {pinned:,.0f} pinned")
        print(f"  a contest adds {added:+.0%} to the time of bare moves, {added_to_pinned:+.0%} to that of pinned ones")
        print(f"  within one run, it adds {', '.join(f'{part:+.0%}' for part in sorted(within))} to its own moves")
        print(f"  (of these {share:+.0%} are the round itself, {dealing:.0f} us a move)")
