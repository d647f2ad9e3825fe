"""The command line, called in this process."""

from __future__ import annotations

import io
import json
import os
import re
import sys
from contextlib import redirect_stderr, redirect_stdout
from typing import Any, NamedTuple
from unittest import mock

from bjsim.cli.main import main


class Outcome(NamedTuple):
    """The outcome of a command."""

    status: object
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The output of `--json -`."""
        assert self.status == 0, self.err
        return json.loads(self.out)


def bjsim(*args: object, stdin: bytes = b"") -> Outcome:
    """Run `bjsim ARGS`."""
    out, err = io.StringIO(), io.StringIO()
    given = io.TextIOWrapper(io.BytesIO(stdin))
    with redirect_stdout(out), redirect_stderr(err), mock.patch.object(sys, "stdin", given):
        try:
            main([str(arg) for arg in args])
        except SystemExit as stop:
            return Outcome(stop.code, out.getvalue(), err.getvalue())
    raise AssertionError("main() ends with SystemExit")


class _Screen(io.StringIO):
    def isatty(self) -> bool:
        return True


def on_screen(width: int, *args: object) -> list[str]:
    """The lines that `bjsim ARGS` leaves on a terminal of this width, without colours and progress."""
    screen = _Screen()
    terminal = {"COLUMNS": str(width), "TERM": "xterm"}
    with mock.patch.dict(os.environ, terminal), redirect_stdout(screen), redirect_stderr(io.StringIO()):
        try:
            main([str(arg) for arg in args])
        except SystemExit as stop:
            assert not stop.code
    text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", screen.getvalue())
    return [line.rpartition("\r")[2] for line in text.split("\n")]


def refusal(*args: object, stdin: bytes = b"") -> str:
    """The one-line error of a command that refuses its input, with status 2 and nothing on stdout."""
    status, out, err = bjsim(*args, stdin=stdin)
    assert (status, out) == (2, ""), err
    assert err.count("\n") == 1 and err.startswith("bjsim: ")
    return err.removeprefix("bjsim: ").strip()
