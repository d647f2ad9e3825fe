"""A line that moves while a command works: what it does, for how long, and about how much longer."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, Task, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.text import Text

from bjsim.sim.engine.compile_notice import on_compile

COMPILING = "compiling (once after install, up to a minute)"


class TimeLeft(TimeRemainingColumn):
    """About how much longer, in words, once it is known."""

    def render(self, task: Task) -> Text:
        """Render the column."""
        return Text(f"{super().render(task)} left" if task.time_remaining else "", style="progress.remaining")


class Waiting:
    """The line. progress: of one task."""

    def __init__(self, progress: Progress) -> None:
        self.progress = progress
        self.task = progress.add_task("", total=None)

    def say(self, what: str, done: float = 0, total: float | None = None) -> None:
        """Show what is done now, and how much of it, if that is known."""
        self.progress.update(self.task, description=what, completed=done, total=total)


@contextmanager
def waiting(what: str) -> Iterator[Waiting]:
    """Show a line on stderr, if that is a terminal, until the context ends. what: What is done at first."""
    console, process = Console(stderr=True), os.getpid()
    columns = SpinnerColumn(), TextColumn("{task.description}"), BarColumn(20), TimeElapsedColumn()
    bar = Progress(*columns, TimeLeft(), console=console, transient=True, disable=not console.is_terminal)
    with bar:
        line = Waiting(bar)
        line.say(what)

        def compiles() -> None:
            if os.getpid() == process:  # a forked worker would wait for a lock that stays taken
                line.say(COMPILING)

        with on_compile(compiles):
            yield line
