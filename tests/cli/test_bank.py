"""`bjsim bank`: what it prints and writes, and its one-line errors."""

from __future__ import annotations

import pytest
from support.command import bjsim, refusal

GAME = ("bank", "--rules", "vegas-s17", "--decks", "inf")


def test_the_text_and_the_json() -> None:
    terms = ("--bankroll", 40, "--bet", 2, "--rounds", 500, "--goal", 80)
    found = bjsim(*GAME, *terms, "--json", "-").json
    lines = [line.split("  ") for line in bjsim(*GAME, *terms).out.splitlines()]
    said = {line[0]: line[-1].strip() for line in lines}
    assert float(said["profit of a round"]) == pytest.approx(found["ev"], rel=1e-5)  # an amount, whatever the bet
    assert said["ruin within them"] == f"{100 * found['ruin']:.4f}%"
    assert said["goal within them"] == f"{100 * found['goal']:.4f}%"
    assert sum(each["probability"] for each in found["results"]) == pytest.approx(1)
    assert found["mean"] == pytest.approx(500 * found["ev"])
    assert found["rebate"] is None


def test_amounts_are_written_as_for_a_counter() -> None:
    plain = bjsim(*GAME, "--bankroll", 10_000, "--bet", 100, "--rounds", 5).out
    assert bjsim(*GAME, "--bankroll", "$10k", "--bet", "$100", "--rounds", 5).out == plain


def test_a_rebate() -> None:
    terms = ("--bankroll", 1000, "--bet", 100, "--rounds", 300, "--floor", 200)
    found = bjsim(*GAME, *terms, "--rebate", "20%", "--rebate-from", 500, "--json", "-").json["rebate"]
    text = bjsim(*GAME, *terms, "--rebate", "20%", "--rebate-from", 500).out
    assert f"best to stop below 200, and at {found['stop_at']:,g} or more" in text
    assert "it is best not to play" in bjsim(*GAME, *terms, "--rebate", "0.1%").out


@pytest.mark.parametrize(
    ("args", "says"),
    [
        ("--bankroll 10.3 --rounds 5", "--bankroll: 10.3 is not a multiple of 0.5"),
        ("--bankroll 10 --rounds 5 --goal 5", "--bankroll: 10 is not between --floor and --goal"),
        ("--bankroll 10 --rounds 5 --rebate-from 5", "--rebate-from needs --rebate"),
        ("--bankroll 10 --rounds 5 --rebate 120%", "120% is not accepted; use a percentage"),
        ("--bankroll 10 --rounds 5 --rebate 20", "20 has no % sign; write 20%"),
        ("--bankroll ten --rounds 5", "'ten' is not accepted; use an amount above 0, such as 10000 or 10k"),
        ("--bankroll 10 --rounds 5 --set max_hands=inf", "max_hands = inf: without a limit"),
        ("--bankroll 10 --rounds 5 --set ties=replay", "ties = replay: a tied bet is replayed"),
    ],
)
def test_errors(args: str, says: str) -> None:
    assert says in refusal(*GAME, *args.split())
