"""One turn of a bot: it is asked, judged, and given a stand and a strike for a fault. The bots are functions here."""

import pytest
from bot_helpers import Scripted, a_view

from bjsim.bots.player import unstartable
from bjsim.bots.protocol import Reply
from bjsim.bots.sandbox.languages import BuildError
from bjsim.bots.turn import Answer, Strikes, Turn
from bjsim.sim.game.actions import HIT, INSURANCE, STAND, Action
from bjsim.sim.running.table import Need


class Program:
    """A program whose reply is a function of the view."""

    name, needs = "program", Need.DECISIONS | Need.PROGRAMS

    def __init__(self, said):
        self.said, self.asked = said, []

    def ask(self, view):
        self.asked.append(view)
        return Reply("exit", 0, 10, self.said(view), b"")


class LineSeat(Program):
    """The seat of a line bot, which keeps the faults that are reported to it."""

    def __init__(self, said):
        super().__init__(said)
        self.reported = []

    def report_fault(self, kind, strikes):
        self.reported.append((kind, strikes))


def test_a_fault_is_a_stand_and_a_strike_and_who_is_out_is_not_asked():
    program = Program(lambda view: b"X" if len(view.hand) == 2 else b"H")
    turn = Turn(program, strikes=Strikes(2))
    assert turn.take(a_view("K23")) == Answer(HIT, None, Reply("exit", 0, 10, b"H", b""))
    for left in (1, 0):
        action, fault, reply = turn.take(a_view("K2"))
        assert action == STAND and fault.kind == "bad-reply" and reply.stdout == b"X" and turn.strikes.left == left
    assert turn.strikes.out and turn.take(a_view("K23")) == Answer(STAND) and len(program.asked) == 3
    assert turn.strikes.faults == {"bad-reply": 2} and len(turn.strikes.kept) == 2


def test_without_a_limit_a_bot_is_always_asked():
    turn = Turn(Program(lambda view: b""))
    assert [turn.take(a_view()).fault.kind for _ in range(30)] == ["bad-reply"] * 30
    assert turn.strikes.left is None and not turn.strikes.out and len(turn.strikes.kept) == 20


def test_only_five_arguments_cannot_ask_about_insurance():
    view = a_view(legal=INSURANCE)
    program, line = Program(lambda view: b"I"), LineSeat(lambda view: b"I")
    assert Turn(program).take(view) == Answer(STAND) and not program.asked
    assert Turn(program, line).take(view).action == Action("I") == Turn(Scripted("I")).take(view).action
    assert line.asked == [view] and not program.asked


def test_a_line_bot_is_notified_of_its_faults():
    line = LineSeat(lambda view: b"B 0" if len(view.hand) == 2 else b"P")
    turn = Turn(Program(None), line, Strikes(5))
    turn.take(a_view("K23"))
    turn.take(a_view("K2"))
    fault = turn.exceed_move_cap("too many")
    assert line.reported == [("bad-reply", 4), ("move-cap", 3)]
    assert (fault.detail, fault.stdout, fault.argv) == ("too many", b"B 0", ("12", "K2", "9#K2A38", "10", "190"))


@pytest.mark.parametrize(("answer", "kind", "detail"), [
    (Action("P"), "bad-reply", "P is not allowed here"), ("Q", "bad-reply", "Q is not allowed here"),
    (None, "bad-reply", "None is not an Action"), (Action("B", 191), "overbet", "B 191 with 190 chips"),
    (Action("B", -1), "overbet", "B -1 with 190 chips"), (KeyError("x"), "crash", "KeyError: 'x'"),
    (SystemExit(3), "crash", "SystemExit: 3"),
])  # fmt: skip
def test_a_player_in_this_process_is_judged_too(answer, kind, detail):
    action, fault, reply = Turn(Scripted(answer)).take(a_view())
    assert (action, fault.kind, fault.detail, reply) == (STAND, kind, detail, None)


def test_a_retired_bot_and_one_that_cannot_be_started_stand():
    assert Turn(None).take(a_view()) == Answer(STAND)
    action, fault, _ = Turn(unstartable("x.c", BuildError("x.c does not compile"))).take(a_view())
    assert (action, fault.kind, fault.detail) == (STAND, "start-failure", "x.c does not compile")
