"""`--sidebet` of `bjsim run` and `bjsim play`."""

from __future__ import annotations

import pytest
from support.command import bjsim, refusal

RUN = ("run", "--bots", "lim17", "--rules", "vegas-s17", "--hands", 2000)


def test_a_run() -> None:
    found = bjsim(*RUN, "--sidebet", "21+3", "--json", "-").json
    text = bjsim(*RUN, "--sidebet", "21+3").out
    (bet,) = found["sidebets"]
    assert (bet["bot"], bet["bet"], bet["rounds"]) == ("lim17", "21+3", 2000)
    assert f"lim17, 21+3: {100 * bet['mean']:+.4f}% in 2,000 bets" in text
    assert "exact -3.2386% in a fresh shoe" in text


def test_a_round_by_hand() -> None:
    cards = ("play", "--shoe", "7777T5", "--bet", 10, "--rounds", 1, "--sidebet", "lucky-lucky")
    text = bjsim(*cards, stdin=b"s\n").out
    assert "lucky-lucky: 7" in text
    assert "7-7-7, wins " in text
    assert "chips." in text


@pytest.mark.parametrize(
    ("args", "says"),
    [
        ("run --bots lim17 --hands 9 --sidebet none", "no side bet is called 'none'"),
        ("play --sidebet buster", "--sidebet: buster is not played by hand"),
        ("play --drill --sidebet 21+3", "--sidebet with --drill"),
        (
            "run --bots lim17 --hands 9 --sidebet 21+3 --shard 1/2 --checkpoint x",
            "--sidebet is not supported with shards",
        ),
    ],
)
def test_errors(args: str, says: str) -> None:
    assert says in refusal(*args.split())
