"""What is asked, declared once: signatures, docstrings and the table of kinds agree with each other and with help."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
from decimal import Decimal
from importlib import import_module
from typing import Any

import click
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import bjsim
from bjsim.arguments import command_line
from bjsim.asked.kinds import KINDS, LEAST_SHARE, Count, Ending, Flag, Name, Number, Share, Written, kind_of
from bjsim.asked.signature import REQUIRED, parameters, said_of_arguments
from bjsim.cli.main import COMMANDS, cli
from bjsim.errors import InputError

TARGETS = (
    "bjsim.strategies.promotions.bank:bank",
    "bjsim.strategies.evaluation.known:known",
    "bjsim.strategies.sidebets.exact:sidebet",
    "bjsim.strategies.counting.request:CountRequest",
    "bjsim.api:learn",
    "bjsim.request:RunRequest",
    "bjsim.bots.seats:BotOptions",
    "bjsim.bots.contest.config:Contest",
)
TEXTS = {  # a text, what it stands for, and how that is written; of kinds that are not what any text is
    "bots": ("optimal, lim17", ["optimal", "lim17"], "optimal,lim17"),
    "shoe": ("a=4,T=16", {"A": 4, "T": 16}, "A=4,T=16"),
    "hands": ("10M", 10**7, "1e7"),
    "episodes": ("2e10", 2 * 10**10, "2e10"),
    "rounds": ("1.5e3", 1500, "1500"),
    "seed": (str(2**127 + 1), 2**127 + 1, str(2**127 + 1)),
    "until": ("0.01%", 0.0001, "0.01%"),
    "timeout": ("0.5", 0.5, "0.5"),
    "bankroll": ("$10,000", 10_000.0, "$10000"),
    "chip": ("0", 0.0, "0"),
    "unit": ("1,234,500.5", 1_234_500.5, "1234500.5"),
    "floor": ("$0", 0.0, "0"),
    "rebate": ("100%", 1.0, "100%"),
    "sandbox": ("auto", "auto", "auto"),
    "Contest.until": ("60", "60", "60"),
    "protocols": ("line, argv", ("argv", "line"), "argv,line"),
    "against": ("hoyle,lim17", ("hoyle", "lim17"), "hoyle,lim17"),
}
NUMBERS = (Count, Ending, Number, Share)
WRONG = {"bots": "a,,b", "against": "a,,b", "shoe": "A=x", "until": "5", "sandbox": "off"}  # others refuse `x`


@pytest.mark.parametrize("target", TARGETS)
def test_the_source_says_what_the_signature_is(target: str) -> None:
    module, _, name = target.partition(":")
    signature = inspect.signature(getattr(import_module(module), name))
    found = parameters(target)
    assert [each.name for each in found] == [each for each in signature.parameters if kind_of(name, each)]
    for each in found:
        default = signature.parameters[each.name].default
        default = None if "factory" in repr(default) else default  # made anew each time
        assert each.default == (REQUIRED if default is inspect.Parameter.empty else default)
        assert each.about.endswith(".") and len(each.about) < 250, each


@pytest.mark.parametrize(("called", "asked"), [(bjsim.play, bjsim.RunRequest), (bjsim.count, bjsim.CountRequest)])
def test_help_is_of_the_function_and_has_the_arguments_of_the_request(called: Any, asked: Any) -> None:
    about, given = inspect.getdoc(called) or "", inspect.getdoc(asked) or ""
    assert about.splitlines()[0] != given.splitlines()[0]
    assert said_of_arguments(about) == said_of_arguments(given) != {} and "Attributes:" not in about


def test_every_kind_is_used() -> None:
    used = {param.name for _, command in commands_of(cli) for param in command.params}
    assert {name.rpartition(".")[2] for name in KINDS} <= used


@pytest.mark.parametrize("name", TEXTS)
def test_a_text_is_read_and_written(name: str) -> None:
    text, value, written = TEXTS[name]
    kind = KINDS[name]
    found = kind.parse(name, text)
    assert found == value and kind.text(found) == written and kind.parse(name, written) == value
    assert type(kind.parse(name, written)) is type(found)  # money remains money


@pytest.mark.parametrize("name", [name for name, kind in KINDS.items() if type(kind) not in (Written, Flag, Name)])
def test_a_wrong_text_is_one_line_in_the_words_of_the_caller(name: str) -> None:
    for shell, said in ((True, "--" + name.replace("_", "-")), (False, name)):
        with command_line(shell), pytest.raises(InputError) as error:
            KINDS[name].parse(name, WRONG.get(name, "x"))
        assert str(error.value).startswith(said) and "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("until", "100%", "--until 100% is not accepted; use a percentage from 1e-10%, below 100%"),
        ("rebate", "101%", "--rebate 101% is not accepted; use a percentage from 1e-10%, up to 100%"),
        ("floor", "-1", "--floor '-1' is not accepted; use an amount from 0, such"),
        *(("bankroll", text, "use an amount above 0, such") for text in ("0", "1,5", "1,0005", "1.5,000", "10km", "k")),
    ],
)
def test_a_text_that_is_refused_is_told_what_is_not(name: str, text: str, said: str) -> None:
    with command_line(), pytest.raises(InputError, match=re.escape(said)):
        KINDS[name].parse(name, text)


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("ror", 1.0, "ror: 1.0 is not accepted; use a risk of ruin, such as 0.01"),
        ("trip", 0, "trip=0 is not accepted; use a number above 0"),
        ("leave_minutes", -1, "leave_minutes=-1 is not accepted; use a number from 0"),
        ("unit", -5, "unit=-5 is not accepted; use an amount above 0"),
    ],
)
def test_a_value_that_is_refused_is_told_what_is_not(name: str, value: float, said: str) -> None:
    with pytest.raises(InputError, match=f"^{re.escape(said)}"):
        KINDS[name].check(name, value)


def test_a_name_is_written_alike_wherever_it_is_asked() -> None:
    """An option has the metavar of its name's kind, but for what is another thing by the same name."""
    other = {("play", "bet"), ("compare", "decks"), ("koth play", "until"), ("play", "shoe"), ("play", "system")}
    for path, command in COMMANDS.items():
        context = click.Context(cli)
        found = cli.get_command(context, path)
        assert found
        for param in found.params if command else ():
            kind = KINDS.get(str(param.name))
            if isinstance(param, click.Option) and kind and not isinstance(kind, Flag):
                assert param.metavar == kind.metavar or (path, param.name) in other, (path, param.name)


FILES = {"--json", "--plot", "--html"}
WITHOUT = {  # commands that write none of these files, and why
    "play": "a person plays; --log keeps the rounds",
    "replay": "shows one round",
    "rules": "says what rules are; --toml writes them",
    "bot ask": "shows one answer",
    "bot trace": "shows what a bot is sent and answers",
    "bot export": "writes a program",
    "bot new": "writes a program",
    "koth new": "writes a folder",
    "koth trace": "shows what a bot is sent and answers",
    "koth verify": "says that all is right, or what is not",
    **dict.fromkeys(("koth resume", "koth add", "koth replace", "koth drop"), "`koth show` writes what was found"),
    **dict.fromkeys(("koth extend", "koth sync", "koth close"), "`koth show` writes what was found"),
    "doctor": "tells what this machine has, to programs too",
    "warm": "compiles",
    "app": "serves pages, or writes a site",
}


def test_what_computes_is_json_a_picture_and_a_page() -> None:
    commands = dict(commands_of(cli))
    assert commands.keys() >= WITHOUT.keys()
    for path, command in commands.items():
        names = FILES & {option for param in command.params for option in param.opts}
        assert names == (FILES if path not in WITHOUT else {"--json"} if path == "doctor" else set()), path


def commands_of(group: click.Group, before: str = "") -> list[tuple[str, click.Command]]:
    """Commands with what is typed for them; groups only where they do something themselves."""
    found: list[tuple[str, click.Command]] = []
    for name in group.list_commands(context := click.Context(group)):
        command, path = group.get_command(context, name), f"{before}{name}"
        assert command
        inner = commands_of(command, f"{path} ") if isinstance(command, click.Group) else []
        found += [*inner, *([(path, command)] if not inner or command.params else [])]
    return found


@pytest.mark.parametrize("command", ["bank", "known", "sidebet"])
def test_help_of_what_only_computes_does_not_wait_for_numpy(command: str) -> None:
    code = (
        "import sys\nfrom bjsim.cli.main import main\ntry:\n    main([sys.argv[1], '--help'])\n"
        "except SystemExit:\n    sys.exit('numpy' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code, command], stdout=subprocess.DEVNULL).returncode == 0


@pytest.mark.parametrize("name", [name for name, kind in KINDS.items() if isinstance(kind, NUMBERS)])
@pytest.mark.parametrize("sign", [1, -1])
def test_a_number_that_no_float_can_hold_is_refused(name: str, sign: int) -> None:
    with pytest.raises(InputError, match=f"^{name.rpartition('.')[2]}.* is not accepted; use "):
        KINDS[name].check(name.rpartition(".")[2], sign * 10**400)


@given(st.integers(1, 10**12 - 1), st.integers(0, 10))
def test_a_share_of_many_digits_keeps_them(digits: int, places: int) -> None:
    """Which a command under a page needs, to stop at the same round."""
    kind = KINDS["until"]
    text = f"{Decimal(digits).scaleb(-13 + places)}%"
    assume(LEAST_SHARE <= float(text[:-1]) / 100 < 1)
    found = kind.parse("until", text)
    assert kind.parse("until", kind.text(found)) == found
