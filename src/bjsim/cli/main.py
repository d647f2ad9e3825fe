"""The `bjsim` command. Each subcommand is imported when it is called, which keeps `bjsim --help` fast."""

import errno
import gc
import io
import logging
import math
import os
import signal
import sys
import time
from importlib import import_module

import click

from bjsim import __version__
from bjsim.arguments import command_line
from bjsim.cli.waiting import moving
from bjsim.errors import InputError, RunFailed, one_line, printable_lines, suggest

COMMANDS = {
    "run": ("bjsim.cli.run:run", "Play strategies and bots; compare their returns with the exact values."),
    "play": ("bjsim.cli.play:play", "Play by hand in the terminal, with a coach or as a drill."),
    "solve": ("bjsim.cli.solve:solve", "Print the exact tables, strategy and value of a game."),
    "check": ("bjsim.cli.check:check", "Evaluate a strategy chart exactly, and price its wrong cells."),
    "compare": ("bjsim.cli.compare:compare", "Compare games: values, best charts, and the effect of a rule."),
    "count": ("bjsim.cli.count:count", "Find out how a card counter does in a game."),
    "sidebet": ("bjsim.cli.figures:sidebet", "Compute the exact figures of a side bet, or list the side bets."),
    "known": (
        "bjsim.cli.figures:known",
        "Compute the value of a game in which a card is known, such as the hole card.",
    ),
    "bank": ("bjsim.cli.figures:bank", "Compute the ruin of a bank under flat bets, or the best stops under a rebate."),
    "app": ("bjsim.cli.app:app", "Explore games, charts and hands in the browser."),
    "rules": ("bjsim.cli.rules:rules", "List the games, or explain every rule of one game."),
    "bot": ("bjsim.cli.bot:bot", "Create, check, ask, trace, compare or export a bot."),
    "koth": ("bjsim.cli.koth:koth", "Host a contest of bots; resume, show, verify or change one."),
    "replay": ("bjsim.cli.replay:replay", "Replay any round of a run, card by card."),
    "learn": ("bjsim.cli.learn:learn", "Learn a game, or any decision process, and evaluate the result."),
    "doctor": ("bjsim.cli.doctor:doctor", "Find out what is missing on this machine, and which command fixes it."),
    "warm": ("bjsim.cli.warm:warm", "Compile everything now, so that later commands start at once."),
}


NOT_MODELLED = {
    "team": "teams are not modelled; a big player bets at good counts alone: `bjsim count --ramp '0:0 2:12'`",
    "tournament": "tournaments of people are not modelled; `bjsim koth` hosts contests of bots",
}

PATIENCE = 3.0  # seconds after a Ctrl-C in which another is ignored


class LazyGroup(click.Group):
    """A group that lists its commands from a table and imports a command when it is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            if ctx.resilient_parsing:
                return None
            hint = NOT_MODELLED.get(cmd_name) or suggest(cmd_name, COMMANDS, "`bjsim --help` lists the commands")
            raise InputError(f"no command is called {cmd_name!r}; {hint}")
        module, _, name = COMMANDS[cmd_name][0].partition(":")
        command: click.Command = getattr(import_module(module), name)
        from bjsim.cli.options import take_once

        take_once(command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, about) for name, (_, about) in COMMANDS.items()])


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="bjsim")
def cli() -> None:
    """Simulate, solve and evaluate blackjack, and host contests of blackjack bots."""


def open_standard_streams() -> None:
    """Open the null device as stdin, stdout or stderr if the process was started without it.

    Otherwise the next open files would get descriptors 0 to 2, and a child process such as a sandbox would lose them.
    What an output stream cannot encode becomes a question mark.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)  # takes the lowest free descriptor
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115 - stays open until the process ends
    if isinstance(sys.stdout, io.TextIOWrapper) and sys.stdout.errors == "strict":
        sys.stdout.reconfigure(errors="replace")


class Stop:
    """Interrupts at a Ctrl-C, but not at one soon after it, which would interrupt the cleanup.

    A later one interrupts again, because Python loses the exception of a signal that arrives while it forks.
    """

    def __init__(self) -> None:
        self.last = -math.inf

    def __call__(self, *_: object) -> None:
        if time.monotonic() > self.last + PATIENCE:
            self.last = time.monotonic()
            raise KeyboardInterrupt


def main(args: list[str] | None = None) -> None:
    """Run the command line. Errors are one line on stderr; the exit status is 2 for bad input, 1 for a failed run."""
    open_standard_streams()
    if logging.lastResort:  # prints warnings, which may quote a bot, if no log is configured
        logging.lastResort.setFormatter(PrintableFormatter())
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # workers use every core; `count` took 1.3 times the CPU time
    gc.set_threshold(100_000)  # little of what start-up allocates is garbage; collecting it took 0.2 s
    # Ctrl-C, and what services and clusters send; see `bjsim.__main__`
    stops = [each for each in (signal.SIGINT, signal.SIGTERM) if signal.getsignal(each) is signal.SIG_DFL]
    stop = Stop()
    try:
        for each in stops:
            signal.signal(each, stop)
        _main(args)
    except (KeyboardInterrupt, Exception):  # beside click, or what a library makes of it: NumPy raises TypeErrors
        if stop.last == -math.inf:
            raise
        _fail("stopped", 130)
    finally:
        for each in stops:  # nothing is left to do but Python's own end, in which Ctrl-C would print a traceback
            signal.signal(each, signal.SIG_DFL)
        gc.freeze()  # skips the interpreter's final collection, which took 0.3 s


def _main(args: list[str] | None) -> None:
    try:
        with command_line(), moving():
            code = cli.main(args, prog_name="bjsim", standalone_mode=False)
            sys.stdout.flush()
        sys.exit(code if isinstance(code, int) else 0)
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message())
        sys.exit(0)
    except click.MissingParameter as error:
        _fail(f"{error.format_message().rstrip('.')}{_usage(error.ctx)}", 2)
    except click.ClickException as error:
        _fail(error.format_message(), 2)
    except InputError as error:
        _fail(str(error), 2)
    except RunFailed as error:
        _fail(str(error), 1)
    except click.Abort:
        _fail("stopped", 130)
    except OSError as error:
        try:
            sys.stdout.flush()
        except OSError:  # the interpreter must not try again at its exit
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if error.errno == errno.EPIPE:
            sys.exit(1)
        _fail(os_error_text(error), 2 if error.errno == errno.ENAMETOOLONG else 1)  # of what may be a file's name


def _usage(context: click.Context | None) -> str:
    """How the command of a context is written, with all that it needs, to be added to an error."""
    if not context:
        return ""
    options = [each for each in context.command.params if isinstance(each, click.Option) and each.required]
    words = [f"{each.opts[0]} {each.make_metavar(context)}" for each in options]
    words += context.command.collect_usage_pieces(context)[1:]  # the first is [OPTIONS]
    return f"; write: {context.command_path} {' '.join(words)}"


class PrintableFormatter(logging.Formatter):
    """Formats log records without control characters."""

    def format(self, record: logging.LogRecord) -> str:
        return printable_lines(super().format(record))


OS_ERRORS = {
    errno.ENOSPC: "the disk is full",
    errno.EAGAIN: "refused; the limit on processes may be reached (see `ulimit -u`)",
    errno.EMFILE: "too many open files (see `ulimit -n`)",
    errno.ENOMEM: "not enough memory",
    errno.ELOOP: "is a symbolic link, through which nothing is written",
}


def os_error_text(error: OSError) -> str:
    message = OS_ERRORS.get(error.errno or 0, error.strerror or str(error))
    return f"{error.filename}: {message}" if error.filename else message


def _fail(message: str, status: int) -> None:
    click.echo(f"bjsim: {one_line(' '.join(message.split()))}", err=True)
    sys.exit(status)
