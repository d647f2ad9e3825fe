"""The protocol: the arguments of a bot, and the meaning of each reply."""

import random
from fractions import Fraction

import pytest
from bot_helpers import a_view
from hypothesis import given
from hypothesis import strategies as st
from support.games import ONE_HAND
from support.lines import Reader, parse_words

from bjsim.bots import line
from bjsim.bots.protocol import FAULTS, REPLY_LIMIT, Fault, Reply, classify_reply, make_argv, parse_reply
from bjsim.sim.game.actions import ATTACK, HIT, INSURANCE, Action, View, raise_by
from bjsim.sim.game.events import Acted, Dealt, HandEnded, Peeked, Revealed, Settled, Shuffled
from bjsim.sim.game.presets import named_rules
from bjsim.sim.game.round import Round
from bjsim.sim.game.rules import RULE_FIELDS, Rules, parse_field
from bjsim.sim.game.shoe import ScriptedShoe, Stream, open_shoe


def test_the_five_arguments_of_the_sample_call_in_cardshark():
    rules = named_rules("cardshark")
    view = View(rules, 0, "KJA", "K", "KQKJA3592A", 25, 145, "SHB")
    assert make_argv(view) == ["21", "KJA", "KQKJA3592A", "25", "145"]


@pytest.mark.parametrize(
    ("stdout", "action"),
    [
        (b"H", Action("H")),
        (b"S\n", Action("S")),
        (b"h\n", Action("H")),
        (b"  \t s \r\n", Action("S")),
        (b"D\n", Action("D")),
        (b"B 15", Action("B", 15)),
        (b"b\t15\n", Action("B", 15)),
        (b"B -5", Action("B", 5)),
        (b"B +5", Action("B", 5)),
        (b"B 0", Action("B", 0)),
        (b"B 190", Action("B", 190)),
        (b"B 107.14285714285714", Action("B", 107)),
        (b"B -107.9", Action("B", 107)),
        (b"B 190.99", Action("B", 190)),
        (b"B 0.5", Action("B", 0)),
        (b"B -.5", Action("B", 0)),
        (b"B 15.", Action("B", 15)),
        (b"H and here is why", Action("H")),
        (b"S\nH\n", Action("S")),
    ],
)
def test_moves(stdout, action):
    assert parse_reply(stdout, a_view()) == action


@pytest.mark.parametrize(
    ("stdout", "kind"),
    [
        (b"", "bad-reply"),
        (b"\n", "bad-reply"),
        (b"HIT", "bad-reply"),
        (b"'H'", "bad-reply"),
        (b"stand", "bad-reply"),
        (b"\xff\xfe\x00", "bad-reply"),
        (b"\x00H", "bad-reply"),
        ("Ｈ".encode(), "bad-reply"),
        (b"B", "bad-reply"),
        (b"B15", "bad-reply"),
        (b"B 107,1", "bad-reply"),
        (b"B 1.0.7", "bad-reply"),
        (b"B nan", "bad-reply"),
        (b"B inf", "bad-reply"),
        (b"B .", "bad-reply"),
        (b"B -.", "bad-reply"),
        (b"B 1e3", "bad-reply"),
        (b"B 191.0", "overbet"),
        (b"B 1e9", "bad-reply"),
        (b"B 1_0", "bad-reply"),
        ("B ٣".encode(), "bad-reply"),
        (b"B -", "bad-reply"),
        (b"B 191", "overbet"),
        (b"B -191", "overbet"),
        (b"B " + b"9" * 4000, "overbet"),
        (b"P", "bad-reply"),
        (b"R", "bad-reply"),
    ],
)
def test_bad_replies_have_names(stdout, kind):
    fault = parse_reply(stdout, a_view())
    assert isinstance(fault, Fault) and fault.kind == kind
    assert fault.stdout == stdout and fault.argv == tuple(make_argv(a_view()))


@pytest.mark.parametrize(
    ("view", "kind"),
    [
        (a_view("K23", "SHB"), "late-double"),
        (a_view("K2", "SHB", stake=15, chips=185), "late-double"),
        (a_view("K2", "SHB", stake=10, chips=9), "overbet"),
        (a_view("K2", "SH", rules=named_rules("neller")), "bad-reply"),
        (
            a_view("K23", "SHB", stake=10, chips=9, rules=named_rules("cardshark").replace(double_cards="any")),
            "overbet",
        ),
        # not too late: the first move of a split hand, with chips or none, where only whole hands double; and insurance
        (a_view("83", "SH", rules=named_rules("downtown"))._replace(split=True), "bad-reply"),
        (a_view("83", "SH", chips=0, rules=named_rules("downtown"))._replace(split=True), "bad-reply"),
        (a_view("65", INSURANCE, rules=named_rules("vegas-s17")), "bad-reply"),
    ],
)
def test_a_double_that_is_refused(view, kind):
    assert parse_reply(b"D", view).kind == kind


def test_split_and_surrender_where_the_rules_have_them():
    view = a_view("88", "SHDPR", rules=named_rules("easy"))
    assert parse_reply(b"p", view) == Action("P")
    assert parse_reply(b"R", view) == Action("R")
    assert parse_reply(b"B 5", view).kind == "bad-reply"


@pytest.mark.parametrize(
    ("reply", "kind", "detail"),
    [
        (Reply("exit", 1, 10, b"H\n", b""), "crash", "exit status 1"),
        (Reply("exit", -11, 10, b"", b""), "crash", "SIGSEGV"),
        (Reply("exit", -63, 10, b"", b""), "crash", "signal 63"),
        (Reply("timeout", 0, 2_000_000_000, b"H\n", b""), "timeout", "used up its time"),
        (Reply("cpu", 0, 2_000_000_000, b"", b""), "timeout", "used up its time"),
        (Reply("memory", 0, 10, b"", b""), "crash", "memory"),
        (Reply("flood", 0, 10, b"H" * 4096, b""), "flood", "4096"),
        (Reply("start", 0, 0, b"", b"bad interpreter"), "start-failure", "bad interpreter"),
        (Reply("exit", 0, 10, b"", b"why"), "bad-reply", "nothing"),
    ],
)
def test_how_a_run_ended(reply, kind, detail):
    fault = classify_reply(reply, a_view())
    assert fault.kind == kind and detail in fault.detail and kind in FAULTS
    assert fault.stderr == reply.stderr and fault.argv


@given(st.binary(max_size=300), st.sampled_from(["SH", "SHB", "SHDB", "SHDPR"]), st.integers(0, 300))
def test_whatever_is_printed_gives_a_legal_action_or_a_fault(stdout, legal, chips):
    view = a_view(legal=legal, chips=chips)
    move = parse_reply(stdout, view)
    if isinstance(move, Fault):
        assert move.kind in FAULTS
    else:
        assert move.letter in legal and 0 <= move.amount <= chips
    assert len(line.parse_note(stdout)) <= line.NOTE_LIMIT


# --- The line protocol as text: what a bot receives is enough to know each view, and no more than a table shows.


class Asker:
    """A seat with random legal moves, which keeps the lines of its questions."""

    def __init__(self, chair, transcript, rng, reader):
        self.name, self.chair, self.transcript, self.rng, self.reader = "asker", chair, transcript, rng, reader
        self.seen = 0

    def decide(self, view):
        if view.legal == ATTACK:  # which programs are not asked
            return Action("S")
        self.transcript.update()
        if view.legal == INSURANCE:  # before there are hands to choose from
            return Action(self.rng.choice(INSURANCE))
        asked = line.move_line(view, self.transcript.hand_in_play[self.chair], 1873)
        for text in [*self.transcript.lines[self.seen :], asked]:
            if self.rng.random() < 0.2:
                self.reader.read(f"unknown {text}")
            self.reader.read(f"{text} unknown={self.rng.random()}")
        self.seen = len(self.transcript.lines)
        argv, keys, visible = self.reader.asked[-1]
        hand = int(keys["hand"])
        assert self.reader.hands[self.chair][hand].cards == view.hand == argv[1]
        assert visible == view.visible == argv[2]
        assert (keys["dealer"], keys["legal"], int(keys["hands"])) == (view.dealer, view.legal, view.hands)
        letter = self.rng.choice(view.legal)
        return raise_by(self.rng.randint(0, view.chips)) if letter == "B" else Action(letter)


@pytest.mark.parametrize("preset", sorted(ONE_HAND))
def test_the_lines_tell_each_view(preset):
    """From lines alone, with unknown lines and keys slipped in, a reader knows its hand and all visible cards."""
    rng = random.Random(17)
    rules = named_rules(preset).replace(seats=3)
    transcript, shoe = line.Transcript(rules), open_shoe(rules, Stream(3))
    chairs = [0, 2, 5]
    seats = [Asker(chair, transcript, rng, Reader()) for chair in chairs]
    for _ in range(60):
        game = Round(rules, shoe, len(seats))
        transcript.begin_round(chairs, [200] * 6, game.events)
        game.play(seats)
    assert sum(len(seat.reader.asked) for seat in seats) > 60
    transcript.update()
    assert all(len(text) < REPLY_LIMIT and text.isascii() and "  " not in text for text in transcript.lines)


def test_the_lines_of_a_round_of_the_specification():
    rules = named_rules("cardshark")
    events = [
        Shuffled(), Dealt("T"), Dealt("K", face_down=True), Dealt("A", 0), Dealt("9", 1, 1), Acted(0, 0, Action("H")),
        Acted(1, 0, raise_by(15)), HandEnded(1, 0, "bust"), Revealed("6"), Settled(1, 0, Fraction(-5, 2), Fraction(0)),
    ]  # fmt: skip
    transcript = line.Transcript(rules)
    transcript.begin_round([0, 2], [200, 180, 235], events)
    transcript.update()
    assert transcript.lines == [
        "shuffle", "round 1 in=0,2 chips=200,180,235", "card d T", "hidden d", "card 0.0 A", "card 2.1 9",
        "action 0.0 H", "action 2.0 B 15", "end 2.0 bust", "shown d 6", "paid 2.0 -25",
    ]  # fmt: skip
    assert transcript.hand_in_play[2] == 1 and transcript.hand_in_play[0] == 0


def test_a_fault_is_told_to_its_bot_alone():
    transcript = line.Transcript(Rules())
    faulty, other = line.SeatLines(transcript, 0), line.SeatLines(transcript, 1)
    faulty.report_fault("crash", 3)
    other.update()
    assert (faulty.unsent, other.unsent) == (["fault crash strikes=3"], [])


def test_a_hole_card_that_is_not_turned_over_is_never_shown():
    """Negative control: it is shown when it is turned over."""
    hidden = [Dealt("T"), Dealt("K", face_down=True), Peeked(False), Dealt("5", 0), HandEnded(0, 0, "bust")]
    for more, shown in (([], False), ([Revealed("K")], True)):
        transcript = line.Transcript(Rules())
        transcript.begin_round([0], [200], [*hidden, *more])
        transcript.update()
        assert any("K" in text for text in transcript.lines) == shown


class Hitter:
    """Hits, and keeps what it observes."""

    name = "hitter"

    def __init__(self):
        self.seen = []

    def observe(self, event):
        self.seen.append(event)

    def decide(self, view):
        return HIT


def test_all_see_the_hole_card_when_the_cards_are_collected():
    """After a natural that a peek finds, and where all hands have bust: a line bot and an observer see it alike."""
    for cards, hole in (("9A7K", "K"), ("9678T", "8")):
        rules = named_rules("vegas-s17").replace(insurance=False)
        transcript, game, player = line.Transcript(rules), Round(rules, ScriptedShoe(cards), 1), Hitter()
        transcript.begin_round([0], [200], game.events)
        result = game.play([player])
        transcript.update()
        assert player.seen.count(Revealed(hole)) == 1 and result.events.count(Revealed(hole)) == 1
        assert transcript.lines.count(f"shown d {hole}") == 1
        assert transcript.lines == [
            transcript.lines[0],
            *(line.event_line(event, [0], rules.buy_in) for event in player.seen),
        ]


def test_replayed_ties_and_parts_of_chips_are_sent():
    assert line.event_line(Settled(0, 1, Fraction(0), Fraction(2)), [3], 10) == "paid 3.1 0 tied=20"
    assert line.event_line(Settled(0, 0, Fraction(3, 2), Fraction(0)), [3], 5) == "paid 3.0 15/2"


@pytest.mark.parametrize("preset", sorted(ONE_HAND))
def test_rules_make_the_round_trip(preset):
    rules = named_rules(preset)
    words, keys = parse_words(line.rules_line(rules))
    assert words == ["rules"] and len(line.rules_line(rules)) < REPLY_LIMIT
    received = {name: parse_field(name, value) for name, value in keys.items() if name != "name"}
    assert Rules().replace(**received) == rules and set(received) <= set(RULE_FIELDS)


def test_custom_rules_with_a_strange_name_fit_a_line():
    text = line.rules_line(Rules(name="ü b=c " * 16))
    assert text.isascii() and "\n" not in text and len(text) < 200


def test_the_other_lines_of_the_specification():
    assert line.hello_line(line.Clock()) == "hello 1 load-ms=10000 move-ms=200 bank-ms=2000"
    assert line.match_line(4, 2, 200, 25) == "match seats=4 seat=2 rounds=25 chips=200"
    assert line.match_line(4, 2, 200, resumed=True) == "match seats=4 seat=2 chips=200 resumed=1"
    lines = line.SeatLines(line.Transcript(Rules()), 0)
    lines.report_fault("timeout", 9)
    lines.report_fault("crash", None)
    assert lines.unsent == ["fault timeout strikes=9", "fault crash"]
    assert line.as_bytes(["over 235", line.BYE]) == b"over 235\nbye\n"
    view = a_view(hand="T6", stake=10, chips=190)
    asked = "move 16 T6 9#T6A38 10 190 hand=0 hands=1 dealer=9 legal=SHDB bank-ms=1873"
    assert line.move_line(view, 0, 1873) == asked
    assert {"chatter", "not-ready"} <= set(FAULTS)


@pytest.mark.parametrize(
    ("answer", "move", "note"),
    [
        (b"H count=+4, 16 v T", Action("H"), "count=+4, 16 v T"),
        (b"H\r", Action("H"), ""),
        (b"b 15 big\r", raise_by(15), "big"),
        (b"B 15", raise_by(15), ""),
        (b"S " + b"x" * 999, Action("S"), "x" * 200),
        (b"S \xff", Action("S"), "\N{REPLACEMENT CHARACTER}"),
    ],
)
def test_answers(answer, move, note):
    assert (parse_reply(answer, a_view()), line.parse_note(answer)) == (move, note)


@pytest.mark.parametrize(
    ("answer", "keys"),
    [
        (b"ready 1", {}),
        (b"ready 1 name=counter version=7 shiny new=\r", {"name": "counter", "version": "7", "new": ""}),
        (b"ready 2", None),
        (b"H", None),
        (b"", None),
        (b"ready", None),
    ],
)
def test_the_answer_to_hello(answer, keys):
    assert line.parse_ready(answer) == keys


@given(st.sampled_from("SHD") | st.integers(0, 190).map("B {}".format), st.text("ab =,+", max_size=199))
def test_moves_and_notes_make_the_round_trip(move, note):
    answer = f"{move} {note}".encode()
    parsed, said = parse_reply(answer, a_view()), line.parse_note(answer)
    assert str(parsed) == move and said == note.strip()
