"""Reports and their parts as a terminal or a pipe gets them."""

import io
from typing import Any

from rich.console import Console

from bjsim.report.parts import Report
from bjsim.report.terminal import print_part, print_report


def printed(shown: Any, width: int = 200, is_terminal: bool = False) -> str:
    """What is printed of a report or a part, without colours."""
    console = Console(file=(text := io.StringIO()), width=width, force_terminal=is_terminal, color_system=None)
    if isinstance(shown, Report):
        print_report(console, shown)
    else:
        print_part(shown, console)
    return text.getvalue()
