"""`bjsim play`: transcripts in pipes and pseudo-terminals, and answers of every kind."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from support.command import Outcome, bjsim, refusal
from support.games import slow
from support.pseudo_terminal import PseudoTerminal

from bjsim.sim.game.actions import ATTACK, EXCHANGE, INSURANCE, Action, View
from bjsim.sim.game.presets import PRESETS, load_rules
from bjsim.sim.game.round import Round
from bjsim.sim.game.shoe import Stream, open_shoe
from bjsim.sim.game.support import refusal as why_refused
from bjsim.strategies.players.catalogue import find_player
from bjsim.strategies.shoe.solver import ShoeSolver
from bjsim.table.words import LOSES, WINS, Narrator, keys, parse_action

COLOURS = {"win": WINS, "lose": LOSES}


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of this test's record, not that of the developer."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    return tmp_path


def play(answers: str, *args: object) -> Outcome:
    """A game whose answers, separated by blanks, come from a pipe; `.` is an empty line."""
    lines = "".join(f"{'' if word == '.' else word}\n" for word in answers.split(" "))
    game = () if "--rules" in args else ("--rules", "easy")
    return bjsim("play", *game, *args, stdin=lines.encode())


SPLITS = """\
easy, an infinite shoe, both dealer cards are shown, a scripted shoe. Type ? for help, q to quit.
Bet 1 to 200 chips, Enter for 10 > 

Round 1, your bet is 10 chips.
The dealer has T 6, 16.
You have 8 8, 16.
8 8, 16 against T 6: h hit, s stand, d double, p split, r surrender > p
You split 8 and 8.
Hand 1: you get 8: 8 8, 16.
Hand 1: 8 8, 16 against T 6: h hit, s stand, d double, p split > split
Hand 1: you split 8 and 8.
Hand 1: you get 2: 8 2, 10.
Hand 1: 8 2, 10 against T 6: h hit, s stand, d double > d
Hand 1: you double and get A: 8 2 A, soft 21.
Hand 2: you get T: 8 T, 18.
Hand 2: 8 T, 18 against T 6: h hit, s stand, d double > H
Hand 2: you hit and get 9: 8 T 9, 27, bust.
Hand 3: you get 3: 8 3, 11.
Hand 3: 8 3, 11 against T 6: h hit, s stand, d double > s
Hand 3: you stand on 11.
The dealer draws 2: T 6 2, 18.
Hand 1: you win 20 chips (21 against 18).
Hand 2: you lose 10 chips (bust).
Hand 3: you lose 10 chips (11 against 18).
You have 200 chips.
Bet 1 to 200 chips, Enter for 10 > 1

Round 2, your bet is 1 chip.
The dealer has T 7, 17.
You have T 6, 16.
T 6, 16 against T 7: h hit, s stand, d double, r surrender > r
You surrender.
You lose 0.5 chips (surrender).
You have 199.5 chips.
Bet 1 to 199 chips, Enter for 1 > 

Round 3, your bet is 1 chip.
The dealer has 9 8, 17.
You have A K, soft 21.
You have blackjack.
You win 1.5 chips (blackjack).
You have 201 chips.
The shoe is empty.
You played 3 rounds and won 1 chip: you have 201 chips.
"""
SCRIPT = "T688 8 2A T9 3 2 # splits\nT7T6  # surrender\n98AK  # blackjack\n"


def test_a_scripted_game(tmp_path: Path) -> None:
    """The manual mode of [Easy]'s first assignment: the dealer's two cards come first, and are seen."""
    (tmp_path / "shoe.txt").write_text(SCRIPT)
    outcome = play(". p split d H s 1 r .", "--shoe", tmp_path / "shoe.txt")
    assert outcome == Outcome(0, SPLITS, "")


def test_a_game_without_a_bet_to_ask_for() -> None:
    out = play("s h s", "--rules", "vegas-s17", "--bet", 10, "--shoe", "TA95 6 8").out
    assert out.splitlines()[1:] == [
        "",
        "Round 1, your bet is 10 chips.",
        "You have T 9, 19.",
        "The dealer has A #.",
        "T 9, 19 against A: i insurance, s no insurance > s",
        "The dealer checks for blackjack: no blackjack.",
        "T 9, 19 against A: h hit, s stand, d double > h",
        "You hit and get 6: T 9 6, 25, bust.",
        "The dealer turns over 5: A 5, soft 16.",
        "You lose 10 chips (bust).",
        "You have 190 chips.",
        "",
        "Round 2, your bet is 10 chips.",
        "You have 8, 8.",
        "This round does not count.",
        "You played 1 round and lost 10 chips: you have 190 chips.",
    ]


@pytest.mark.parametrize(
    ("rules", "shoe", "answers", "lines"),
    [
        (
            "vegas-s17", "TA9K", "s",
            ["The dealer turns over K: A K, blackjack.", "You lose 10 chips (19 against blackjack)."],
        ),
        ("vegas-s17", "TA9K", "i", ["You win 10 chips (insurance)."]),
        ("vegas-s17", "AKKA", "", ["You have blackjack.", "You get the bet back (blackjack)."]),
        ("vegas-s17", "A9KQ", "", ["You have blackjack.", "You win 15 chips (blackjack)."]),
        ("easy", "AKT9", "", ["The dealer has A K, blackjack.", "You lose 10 chips (19 against blackjack)."]),
        ("easy", "T8T8", "s", ["You get the bet back (18 against 18)."]),
        ("easy", "T7 AA 35", "p", [
            "Hand 1: you get 3: A 3, soft 14.", "Hand 1: you stand on 14: a split ace gets one card.",
            "Hand 2: you get 5: A 5, soft 16.", "Hand 2: you lose 10 chips (16 against 17).",
        ]),
        ("european", "T95 K", "s", ["The dealer has 9.", "The dealer draws K: 9 K, 19."]),
        ("european", "TTT A", "s", [
            "The dealer draws A: T A, blackjack.", "You lose 10 chips (20 against blackjack).",
        ]),
        ("blackjack-p", "TATK", "s", [
            "The dealer turns over K: A K, blackjack.", "You lose 10 chips (20 against blackjack).",
        ]),
        ("neller-v1 --set bonuses=at-once", "2T38 4 2 5", "h h h s", [
            "The dealer turns over 8: T 8, 18.", "You win 20 chips (16).",
        ]),
        ("neller", "TAT T", "s", ["You lose 10 chips (20 against 21)."]),
        ("neller", "T8T T 8", "s", ["You win 10 chips (20 against 18)."]),
        ("neller", "TTTT T8T9 ", "s s", [
            "You tie 20 against 20: 10 chips bet again.", "You have 200 chips.", "Round 2, your bet is 10 chips.",
        ]),
        ("spanish-21", "A46K 4", "h", ["You win 10 chips (21)."]),
        ("double-attack", "6KQ9K", "a s", [
            "No cards yet against 6: a attack, s no attack > a", "You attack with 20 chips.",
            "The dealer takes a card face down.", "You win 20 chips (20 against bust).",
        ]),
        ("free-bet", "6T595", "d", [
            "6 5, 11 against T: h hit, s stand, d free double > d", "You lose 10 chips (16 against 19).",
        ]),
        ("double-exposure", "A9T6", "s", ["The dealer has 9 6, 15."]),
        ("cardshark", "T9T7 6", "b20 s", ["You raise by 20 chips to 30.", "You win 30 chips (20 against bust)."]),
    ],
)  # fmt: skip
def test_what_is_printed(rules: str, shoe: str, answers: str, lines: list[str]) -> None:
    out = play(answers or ".", "--rules", *rules.split(), "--bet", 10, "--shoe", shoe).out
    assert [line for line in lines if line not in out.splitlines()] == [], out


def test_bots_at_the_table() -> None:
    out = play("s", "--shoe", "T6 T98 T7T 5 4", "--bots", "lim17,lim17", "--bet", 10).out
    for line in (
        "lim17 in seat 2 has 9 7, 16.",
        "lim17 in seat 2 hits and gets 5: 9 7 5, 21.",
        "lim17 in seat 3 has 8 T, 18.",
        "You have T T, 20.",
        "lim17 in seat 3 stands on 18.",
        "lim17 in seat 2 wins 10 chips (21 against 20).",
        "You get the bet back (20 against 20).",
    ):
        assert line in out.splitlines(), out


def test_the_same_seed_deals_the_same_cards() -> None:
    args = ("--rules", "vegas-h17", "--seed", 12)
    assert (
        play(". s . h s", *args).out == play(". s . h s", *args).out != play(". s . h s", *args[:2], "--seed", 13).out
    )
    shown = re.search(r"seed (\d+)", play("q").out)
    assert shown and play(". s", "--seed", shown[1]).status == 0  # a random seed is shown, and may be typed


def test_chips_limit_bets_doubles_and_splits() -> None:
    out = play("16 0 x 9 s", "--shoe", "T688T T688 T", "--chips", 15).out
    assert "16 is not a bet: type 1 to 15, Enter for 10, or q to quit." in out
    assert out.count("is not a bet") == 3
    assert "8 8, 16 against T 6: h hit, s stand, r surrender > s" in out  # six chips are left
    poor = play(". s", "--shoe", "TTT9 T6T9", "--chips", 10).out.splitlines()
    assert poor[-2:] == [
        "Your chips do not cover a bet of 1 chip.",
        "You played 1 round and lost 10 chips: you have 0 chips.",
    ]


def test_wrong_and_helpful_answers() -> None:
    out = play("? fold p ? q", "--shoe", "T6T9", "--bet", 10).out
    assert "h hit: takes a card" in out
    assert "fold is not a move here: h hit, s stand, d double, r surrender, q quit, ? help." in out
    assert "Split is not possible here: h hit, s stand, d double, r surrender." in out
    assert out.endswith("This round does not count.\nYou played 0 rounds and broke even: you have 200 chips.\n")


def test_insurance_is_asked_for_by_its_own_keys() -> None:
    view = View(load_rules("easy"), 0, "T9", "A", "A#T9", 10, 190, INSURANCE)
    assert keys(view).replace("\N{NO-BREAK SPACE}", " ") == "i insurance, s no insurance"
    assert [parse_action(word, view) for word in ("i", "Insurance", "yes", "n", "s")] == [Action("I")] * 3 + [
        Action("S")
    ] * 2


def test_the_coach_has_the_costs_of_the_solver() -> None:
    out = play("20 h s", "--rules", "vegas-s17", "--shoe", "T66T 5", "--coach").out
    rules = load_rules("vegas-s17")
    values = ShoeSolver(rules).hand_values("T6", "6")
    cost = values["S"] - values["H"]
    assert f"Coach: stand is best; hit costs {cost:.4f} bets ({20 * cost:.2f} chips)." in out
    assert "Coach: values are exact for a full shoe of 6 decks" in out


def test_without_rules_a_casino_game_is_dealt() -> None:
    assert bjsim("play", stdin=b"q\n").out.startswith("vegas-s17, 6 decks, seed ")
    assert "both dealer cards are shown" not in play("q", "--rules", "vegas-s17").out


@pytest.mark.parametrize(("rules", "hand"), [("vegas-s17", "T6"), ("vegas-h17", "88")])
def test_the_coach_tells_all_values(rules: str, hand: str) -> None:
    """The values of `bjsim solve --hand`, the best first, and what the others lose."""
    out = play("? q", "--rules", rules, "--bet", 10, "--coach", "--shoe", f"{hand[0]}T{hand[1]}9").out
    lines = out[out.index("Expected profit") :].splitlines()[1:]
    values = ShoeSolver(load_rules(rules)).hand_values(hand, "T")
    order = sorted(values, key=lambda letter: -values[letter])
    names = {"S": "stand", "H": "hit", "D": "double", "P": "split"}
    legal = [letter for letter in order if letter in ("SHDP" if hand == "88" else "SHD")]
    shown = [line.split() for line in lines[: len(legal)]]
    assert shown[0] == [names[legal[0]], f"{values[legal[0]]:.6f}", "best"]
    for letter, words in zip(legal[1:], shown[1:], strict=True):
        assert words == [names[letter], f"{values[letter]:.6f}", f"{values[legal[0]] - values[letter]:.6f}", "less"]
    assert not lines[len(legal)].startswith(" ")
    assert "Expected profit" not in play("? q", "--rules", rules, "--bet", 10, "--shoe", "TT69").out


def test_the_best_move_for_these_cards_and_that_of_the_chart() -> None:
    """Ten and two against a four: see `test_the_best_chart_is_right_even_where_a_hand_has_a_better_move`."""
    lines = play("? q", "--rules", "vegas-s17", "--bet", 10, "--shoe", "T42T", "--coach").out.splitlines()
    assert [line.split()[0] for line in lines if line.endswith(" best")] == ["hit"]
    assert [line.split()[0] for line in lines if line.endswith(", the best chart's move")] == ["stand"]


def test_every_mistake_is_listed_at_the_end() -> None:
    out = play("h s 20 h s q", "--rules", "vegas-s17", "--bet", 10, "--coach", "--shoe", "T66T5 5 T4TTT66T5 5").out
    missed = [line for line in out.splitlines() if line.startswith("Missed: ")]
    assert missed == ["Missed: 6 T, 16 against 6: stand, not hit: 0.5358 bets in 2 times."]


def test_a_drill() -> None:
    out = play(" ".join("s" * 30), "--drill", "--seed", 3, "--rounds", 20).out.splitlines()
    questions = [line for line in out if re.match(r"\d+\. You have", line)]
    right, wrong = (sum(line.startswith(word) for line in out) for word in ("Right, ", "Wrong: "))
    assert len(questions) == 20 == right + wrong and wrong > 3
    costs = [float(match[1]) for line in out if (match := re.search(r"stand costs ([\d.]+) bets", line))]
    score = next(line for line in out if " right (" in line)
    total = re.search(r"mistakes cost ([\d.]+) bets", score)
    assert score.startswith(f"{right} of 20 right ({right / 20:.0%})") and total
    assert float(total[1]) == pytest.approx(sum(costs), abs=0.0001 * len(costs))
    missed = [re.fullmatch(r"Missed: .*, not stand: [\d.]+ bets(?: in (\d+) times)?\.", line) for line in out]
    assert sum(int(match[1] or 1) for match in missed if match) == wrong


def test_a_drill_remembers(home: Path) -> None:
    drill = ("--rules", "vegas-s17", "--topic", "soft,pairs", "--seed", 4)
    assert "Missed: 9 9, 18 against 3: split, not stand: 0.1078 bets." in play("s q", *drill).out.splitlines()
    record = home / "bjsim" / "practice.json"
    assert list(json.loads(record.read_text()).values()) == [{"99 v 3": 4.0}]
    again = play("q", "--rules", "vegas-s17", "--drill", "--seed", 5).out
    assert "Due from earlier sessions: 99 v 3.\n\n1. You have 9 9, 18. The dealer shows 3: " in again
    assert "Due" not in play("q", *drill, "--no-record").out
    play("h q", "--rules", "vegas-s17", "--coach", "--bet", 10, "--shoe", "T66T9")
    assert "Due from earlier sessions: 99 v 3, 16 v 6." in play("q", "--rules", "vegas-s17", "--drill").out
    record.write_text("[")
    out = play("s q", *drill).out
    assert out.endswith(f"{record} is not a record of bjsim: it is renamed practice.broken, and a new one starts.\n")
    record.unlink()
    play("s q", *drill, "--no-record")
    assert not record.exists()


COUNTED = """\
You have 200 chips.
What is the running count? > 4
Wrong: the running count is +3.
What is the true count with 5.5 decks unseen, rounded down? > ?
Tags of Hi-Lo: A -1, 2 +1, 3 +1, 4 +1, 5 +1, 6 +1, 7 0, 8 0, 9 0, T -1; J, Q and K count as T.
What is the true count with 5.5 decks unseen, rounded down? > x
x is not a count: type a number such as -2, or q.
What is the true count with 5.5 decks unseen, rounded down? > 0
Right.
That was the last round.
You played 3 rounds and broke even: you have 200 chips.
Count: 1 of 2 counts right.
"""


def test_counting_is_asked_every_three_rounds() -> None:
    """0, +1 and +3, with the king of the second round, which is turned over when the cards are collected."""
    shoe = "T66T 5 K  5T4K 6 T  5465 T 2T"
    out = play(
        "h h h h 4 ? x 0", "--rules", "vegas-s17", "--bet", 10, "--rounds", 3, "--count", "hilo", "--shoe", shoe
    ).out
    assert out.endswith(COUNTED), out


@pytest.mark.parametrize(
    ("args", "expected"),
    [
        (("--bet", 300), "--bet 300 is more than the 200 chips; give --chips"),
        (("easy",), "unexpected argument easy; write --rules easy"),
        (("lim17",), "unexpected argument lim17"),
        (("--bots", "nosuch"), "no bot is called 'nosuch'"),
        (("--shoe", "gone.txt"), "no such file: gone.txt"),
        (("--shoe", "T6X"), "--shoe, line 1, column 3: 'X' is not a card; cards are A23456789TJQK"),
        (("--shoe", "# nothing"), "--shoe contains no cards"),
        (
            ("--drill", "--chips", 5),
            "--drill and --chips cannot be combined, as a drill asks for moves alone; leave out",
        ),
        (
            ("--topic", "soft", "--count", "hilo"),
            "--topic and --count cannot be combined, as a drill asks for moves alone",
        ),
        (("--count", "hilo"), "decks = inf: cards cannot be counted in an infinite shoe; use decks = 1 to 8"),
        (("--count", "high"), "no counting system is called 'high'"),
        (
            ("--topic", "soft,aces"),
            "--topic aces is not accepted; use hard, soft, pairs, doubles, surrender, close",
        ),
        (("--topic", "surrender", "--set", "surrender=none"), "easy has no decisions to drill on the topics surrender"),
        (("--bots", "a,b,c,d,e,f,g"), "--bots names 7 players; a table has 7 seats"),
        (
            ("--shoe", "T6T9", "--seed", 4),
            "--shoe and --seed cannot be combined, as the cards of --shoe are not shuffled",
        ),
    ],
)
def test_refusals(args: tuple[object, ...], expected: str) -> None:
    assert refusal("play", "--rules", "easy", *args).startswith(expected)


ANSWERS = st.lists(
    st.one_of(st.sampled_from([*"hsdprib?q", "b 20", "b -1", "5", "", "hit", "1e3", "²", "q "]), st.text(max_size=8)),
    max_size=25,
)


@pytest.mark.parametrize("games", [20, slow(200)])
@pytest.mark.slow
def test_no_answer_breaks_it(games: int) -> None:
    @settings(max_examples=games)
    @given(
        st.sampled_from(sorted(PRESETS)), st.integers(0, 10**6), ANSWERS.map("\n".join),
        st.sampled_from([
            (), ("--bet", "7"), ("--bots", "lim17"), ("--drill",), ("--coach",),
            ("--count", "omega2", "--decks", "6", "--bet", "7"),
        ]),
    )  # fmt: skip
    def check(rules: str, seed: int, answers: str, args: tuple[str, ...]) -> None:
        game = PRESETS[rules].rules
        assume("--count" not in args or not why_refused(game.replace(decks=6), "count"))
        given_bytes = answers.encode("utf-8", "surrogatepass")
        outcome = bjsim("play", "--rules", rules, "--seed", seed, *args, stdin=given_bytes)
        assert (outcome.status, outcome.err) == (0, "")
        assert "Traceback" not in outcome.out and outcome.out.count("You played") + ("--drill" in args) == 1

    check()


def test_a_game_in_a_terminal(tmp_path: Path) -> None:
    """The terminal echoes what is typed, so the transcript is the same as from a pipe."""
    (tmp_path / "shoe.txt").write_text(SCRIPT)
    words = ("play", "--rules", "easy", "--shoe", str(tmp_path / "shoe.txt"))
    game = PseudoTerminal(*words, columns=100, environment={"NO_COLOR": "1"})
    for word in ("", "p", "split", "d", "H", "s", "1", "r", ""):
        game.answer(f"{word}\n")
    assert game.finish()[1] == 0
    assert game.text == SPLITS


def test_a_window_that_changes_its_width() -> None:
    game = PseudoTerminal("play", "--rules", "easy", "--shoe", "T688 T6T9 8", columns=40)
    game.answer("\n")
    narrow = game.answer("?\n")
    assert max(map(len, narrow.split("\n"))) <= 40 and "\n8 8, 16 against T 6: h hit, s stand,\n  d double, p" in narrow
    game.resize(120)
    assert "r surrender > " in game.answer("s\n").split("\n")[-1] and "\x1b[" not in game.text
    game.answer("\n")
    game.answer("\x04")  # end of input
    last, status = game.finish()
    assert status == 0
    assert last.split("\n")[1:] == [
        "This round does not count.",
        "End of input.",
        "You played 1 round and won 10 chips: you have 210 chips.",
        "",
    ]


@pytest.mark.parametrize("where", ["bet", "hand"])
def test_an_interrupt_ends_with_a_summary(where: str) -> None:
    game = PseudoTerminal("play", "--rules", "easy", "--shoe", "T688 T6T9")
    if where == "hand":
        game.answer("\n")
    game.answer("\x03")
    last, status = game.finish(again="\x03")
    unfinished = ["This round does not count."] * (where == "hand")
    assert last.split("\n")[1:] == [*unfinished, "You played 0 rounds and broke even: you have 200 chips.", ""]
    assert status == 130


@pytest.mark.parametrize(("name", "value"), [("NO_COLOR", "1"), ("TERM", "dumb"), ("TERM", "xterm")])
def test_colour_only_where_it_is_wanted(name: str, value: str) -> None:
    game = PseudoTerminal("play", "--rules", "easy", "--shoe", "T7T6", "--bet", "10", environment={name: value})
    game.answer("s\n")
    assert ("\x1b[31mYou lose 10 chips (16 against 17).\x1b[0m" in game.finish()[0]) == (value == "xterm")
    assert ("\x1b" in game.text) == (value == "xterm")


def test_what_a_person_wins_or_loses_has_a_colour_and_nothing_else() -> None:
    rules, seen = load_rules("vegas-s17"), set[str]()
    shoe, others = open_shoe(rules, Stream(1, 0, 0)), [find_player("lim17", rules)] * 2
    for _ in range(12):
        game = Round(rules, shoe, 2)
        game.play(others)
        for line, colour in Narrator(["you", "Ann"], 10, True).narrate(game.events):
            verb = next((verb for verb in COLOURS if line.startswith(f"You {verb} ")), "")
            assert colour == COLOURS.get(verb), line
            seen.add(verb)
    assert seen == {"", *COLOURS}


def test_the_best_chart_is_right_even_where_a_hand_has_a_better_move() -> None:
    out = play(". s s", "--rules", "vegas-s17", "--shoe", "T42T 8 94 3T 8", "--coach").out
    assert re.search(
        r"\nCoach: right, the best chart says stand; with exactly these cards hit is better by 0\.00\d\d bets\.\n", out
    )
    assert "\nCoach: no mistakes in 1 decision.\n" in out


INSURANCE_GAME = """
Round 1, your bet is 10 chips.
You have T 9, 19.
The dealer has A #.
T 9, 19 against A: i insurance, s no insurance > i
Coach: no insurance is best; insurance costs 0.0388 bets (0.39 chips).
Coach: 1 mistake in 1 decision, 0.0388 bets lost.
You take insurance for 5 chips.
The dealer turns over K: A K, blackjack.
You lose 10 chips (19 against blackjack).
You win 10 chips (insurance).
You have 25 chips.
Bet 1 to 25 chips, Enter for 10 > 11

Round 2, your bet is 11 chips.
You have 6 5, 11.
The dealer has A #.
6 5, 11 against A: i insurance, s no insurance > yes
Coach: no insurance is best; insurance costs 0.0340 bets (0.37 chips).
Coach: 2 mistakes in 2 decisions, 0.0728 bets lost.
You take insurance for 5.5 chips.
The dealer checks for blackjack: no blackjack.
6 5, 11 against A: h hit, s stand > h
Coach: right, hit is best by 0.8095 bets.
You hit and get T: 6 5 T, 21.
The dealer turns over 9: A 9, soft 20.
You win 11 chips (21 against 20).
You lose 5.5 chips (insurance).
You have 30.5 chips.
Bet 1 to 30 chips, Enter for 11 > 30

Round 3, your bet is 30 chips.
You have A K, soft 21.
The dealer has A #.
You have blackjack.
The dealer turns over K: A K, blackjack.
You get the bet back (blackjack).
You have 30.5 chips.
Bet 1 to 30 chips, Enter for 30 > 2

Round 4, your bet is 2 chips.
You have A K, soft 21.
The dealer has A #.
You have blackjack.
A K, soft 21 against A: i insurance, s no insurance > n
"""


def test_a_game_with_insurance() -> None:
    """The chips that it takes are not there for a double in round 2; in round 3 there are none for insurance."""
    rules = ("--rules", "vegas-s17", "--set", "insurance=true", "--coach", "--chips", 25)
    out = play("10 i 11 yes h 30 2 n", *rules, "--shoe", "TA9K 6A59 T AAKK AAKQ").out
    assert INSURANCE_GAME in out
    out = play("i", "--rules", "vegas-s17", "--set", "insurance=true", "--coach", "--bet", 18, "--shoe", "TA9K").out
    assert "insurance costs 0.0388 bets (0.70 chips)." in out  # always two decimals


@pytest.mark.parametrize("legal", [ATTACK, EXCHANGE, INSURANCE, "SH", "SHDP", "SHDPR"])
@pytest.mark.parametrize("game", ["easy", "free-bet"])
def test_a_move_is_named_by_its_key_and_by_its_words(game: str, legal: str) -> None:
    view = View(load_rules(game), 0, "55", "9", "9#55", 10, 90, legal)
    shown = [part.split("\N{NO-BREAK SPACE}") for part in keys(view).split(", ")]
    for key, words in shown:
        assert parse_action(key, view) == parse_action(words, view) == Action(key.upper())
    assert sorted(key.upper() for key, _ in shown) == sorted(legal)
    assert ("free double" in keys(view)) == (game == "free-bet" and "D" in legal)
    if "H" not in legal:  # a question of yes or no
        answered = [parse_action(word, view) for word in ("yes", "y", "no", "n")]
        assert answered == [Action(key) for key in (legal[0], legal[0], "S", "S")]
