"""Count how often a contest that is checked after every round separates two copies of one bot.

python bench/copies.py --first 1 --contests 100 --hands 20000 [--duplicate]

At most 5 of 100 are allowed, whatever the number of checks. Each contest has its own seed and is played in this
process, luck-adjusted. In a duplicate contest two deterministic copies never differ, so the copies are of a bot that
tosses a coin on 12 to 16.
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Callable, Sequence

from bjsim.bots.contest.config import Contest
from bjsim.bots.contest.luck import ContestLuckModel, DrawLogger, LuckAdjuster
from bjsim.bots.contest.match import play_table
from bjsim.bots.contest.schedule import schedule
from bjsim.bots.contest.standings import Standings
from bjsim.sim.game.actions import Player, View
from bjsim.sim.game.cards import Hand
from bjsim.sim.game.presets import load_rules
from bjsim.strategies.players.catalogue import FunctionPlayer, find_player

RULES = load_rules("cardshark")


def waverer(seed: str) -> Player:
    """A bot that tosses a coin on 12 to 16."""
    coin = random.Random(seed)

    def decide(view: View) -> str:
        points = Hand(*view.hand).points
        return "H" if points < 12 or (points < 17 and coin.random() < 0.5) else "S"

    return FunctionPlayer("waverer", decide)


def play_contest(
    seed: int, players: Sequence[Player], hands: int, duplicate: bool, look: Callable[[Standings], None]
) -> Standings:
    """Play until every player has been dealt this many hands; call `look` after every match."""
    contest = Contest(RULES, seed=seed, matches=hands, duplicate=duplicate)
    bots = [{"name": player.name} for player in players]
    standings = Standings({"contest": contest.to_dict(), "bots": bots})
    adjuster = LuckAdjuster(ContestLuckModel(RULES), bots, standings.roster.batch_size)
    for tables in schedule(len(players), duplicate):
        logs, rounds = [], []
        for plan in tables:
            draw_logger = DrawLogger(adjuster.luck_model.state_index)
            rounds += play_table(contest, plan, players.__getitem__, draw_logger).rounds
            logs.append(draw_logger.draw_log())
        standings.add({"record": "match", "match": tables[0].match, **adjuster.adjust(logs), "rounds": rounds})
        look(standings)
        if min(score.hands for score in standings.scores) >= hands:
            break
    return standings


def separated(seed: int, hands: int, duplicate: bool, names: Sequence[str] = ()) -> int:
    """Number of hands after which the contest separates the first two players; 0 if never."""
    if names:
        players = [find_player(name, RULES) for name in names]
    elif duplicate:
        players = [waverer(f"{seed} {number}") for number in range(2)]
    else:
        players = [find_player("lim17", RULES)] * 2
    found = [0]

    def look(standings: Standings) -> None:
        if not found[0] and standings.difference(0, 1).separated:
            found[0] = standings.rounds

    play_contest(seed, players, hands, duplicate, look)
    return found[0]


def main() -> None:
    """Play, and print the count."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--first", type=int, default=1, help="seed of the first contest")
    parser.add_argument("--contests", type=int, default=10)
    parser.add_argument("--hands", type=int, default=20_000)
    parser.add_argument("--duplicate", action="store_true")
    options = parser.parse_args()
    began = time.perf_counter()
    apart = {}
    for seed in range(options.first, options.first + options.contests):
        if rounds := separated(seed, options.hands, options.duplicate):
            apart[seed] = rounds
    print(
        f"{len(apart)} of {options.contests} contests to {options.hands} hands (seeds {options.first} to {seed}) "
        f"separated two copies: seed -> rounds {apart}; {time.perf_counter() - began:.0f} s"
    )


if __name__ == "__main__":
    main()
