"""`bjsim`: the commands. Each is imported only when it is called, so that `bjsim --help` is quick."""

from __future__ import annotations

import errno
import gc
import logging
import os
import sys
from importlib import import_module
from typing import NoReturn

import click

from bjsim import __version__
from bjsim.arguments import command_line
from bjsim.errors import InputError, RunFailed

COMMANDS = {
    "run": ("bjsim.cli.run:run", "Play strategies and bots; compare their returns with the exact values."),
    "solve": ("bjsim.cli.solve:solve", "Print the exact tables, strategy and value of a game."),
    "check": ("bjsim.cli.check:check", "Say exactly what a strategy chart is worth, and what its wrong cells cost."),
    "compare": ("bjsim.cli.compare:compare", "Show what one rule is worth: values and charts of several games."),
    "rules": ("bjsim.cli.rules:rules", "List the games, or every rule of one with its meaning."),
    "bot": ("bjsim.cli.bot:bot", "Check, start or export a bot."),
    "koth": ("bjsim.cli.koth:koth", "Host a contest of bots; show one, or deal it again."),
    "replay": ("bjsim.cli.replay:replay", "Deal any round of a run again, card by card."),
    "learn": ("bjsim.cli.learn:learn", "Learn a game, or any decision process, and judge what was learned."),
    "warm": ("bjsim.cli.warm:warm", "Compile everything now, so that no later command waits for it."),
}


MOST_SAID = 2000  # letters of a message; what is wrong may be a name of a million


class LazyGroup(click.Group):
    """A group that knows its commands by name and one line of help, and imports the one that is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module, _, name = COMMANDS[cmd_name][0].partition(":")
        command: click.Command = getattr(import_module(module), name)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, about) for name, (_, about) in COMMANDS.items()])


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="bjsim")
def cli() -> None:
    """Simulate, solve and judge blackjack, and run contests of blackjack bots."""


def open_standard_streams() -> None:
    """Give a process that was started without stdin, stdout or stderr empty ones.

    Otherwise the next files opened get their numbers, and what is started with them, such as a sandbox, loses them.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)  # the lowest number that is free
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115 - for as long as we run


def main(args: list[str] | None = None) -> None:
    """The command line. Errors are one line on stderr; exit status 2 for bad input, 1 for a failed run."""
    open_standard_streams()
    if logging.lastResort:  # prints warnings, which may quote a bot, where no log is asked for
        logging.lastResort.setFormatter(PrintableFormatter())
    gc.set_threshold(100_000)  # hardly anything made at the start is garbage: looking for it took 0.2 s
    try:
        _main(args)
    finally:
        gc.freeze()  # the interpreter would look through everything once more at its end, for 0.3 s


def _main(args: list[str] | None) -> None:
    try:
        with command_line():
            code = cli.main(args, prog_name="bjsim", standalone_mode=False)
        sys.exit(code if isinstance(code, int) else 0)
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message())
        sys.exit(0)
    except click.ClickException as error:
        _fail(error.format_message(), 2)
    except InputError as error:
        _fail(str(error), 2)
    except RunFailed as error:
        _fail(str(error), 1)
    except click.Abort:
        _fail("stopped", 130)
    except OSError as error:
        if error.errno == errno.EPIPE:
            _leave_quietly()
        _fail(os_error_text(error), 1)


def _leave_quietly() -> NoReturn:
    """Whoever read our output has seen enough; nothing more is written, not even by the interpreter at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit(1)


class PrintableFormatter(logging.Formatter):
    """Formats log records as text that moves no terminal's cursor."""

    def format(self, record: logging.LogRecord) -> str:
        from bjsim.bots.protocol import printable_lines

        return printable_lines(super().format(record))


LACKING = {
    errno.ENOSPC: "a disk is full",
    errno.EAGAIN: "refused for now; perhaps no more processes can be started (see `ulimit -u`)",
    errno.EMFILE: "too many files are open (see `ulimit -n`)",
    errno.ENOMEM: "there is not enough memory",
}


def os_error_text(error: OSError) -> str:
    """What the system refused, in words."""
    what = LACKING.get(error.errno or 0, error.strerror or str(error))
    return f"{error.filename}: {what}" if error.filename else what


def _fail(message: str, status: int) -> None:
    from bjsim.bots.protocol import printable

    line = printable(" ".join(message.split()))
    click.echo(f"bjsim: {line if len(line) <= MOST_SAID else f'{line[:1500]} … {line[-400:]}'}", err=True)
    sys.exit(status)
