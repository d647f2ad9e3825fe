"""What all tests share."""

from __future__ import annotations

import signal


def pytest_configure() -> None:
    """Heed Ctrl-C: a script's background jobs ignore it, and so would the commands that tests start."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
