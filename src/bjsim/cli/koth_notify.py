"""`--notify URL`: one JSON POST when a contest starts, gets a new leader, strikes a bot out, or ends."""

from __future__ import annotations

import contextlib
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import click

from bjsim.bots.contest.host import Host
from bjsim.errors import InputError

SHOWN = 5  # bots of the standings in a notification
LONGEST_NAME = 60
MOST_BYTES = 4000  # writes up to this size to a pipe are atomic
END_S = 6.0  # how long the last notifications are waited for
SENDER = Path(__file__).with_name("notify_sender.py")
MARKUP = r"[<>@&*~`|\[\]]|://"  # of chat services: a bot's name must neither ping people nor become a link


class WebAddress(click.ParamType):  # type: ignore[type-arg]
    """A URL of http or https."""

    name = "url"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        try:
            parts = urlsplit(value)
            accepted = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0  # or ValueError
            accepted = accepted and parts.username is None  # which would be taken for the host
        except ValueError:
            accepted = False
        if not accepted or " " in value or not value.isascii() or not value.isprintable():
            raise InputError(
                "--notify: the URL is not accepted; use one that begins with http:// or https://, without a user name"
            )
        return str(value)


class Notifier:
    """Notifies of a contest through a process of its own, so that the contest never waits."""

    def __init__(self, url: str, host: Host) -> None:
        self._leader = host.standings.order()[0] if host.standings.matches else None
        self._struck = {bot for bot, _ in host.standings.struck_out}
        self._matches = host.standings.matches
        # Isolated: Python would otherwise import `http` and others from the current folder, which may hold bots.
        self._sender = subprocess.Popen([sys.executable, "-I", SENDER], stdin=subprocess.PIPE, start_new_session=True)
        assert self._sender.stdin
        self._pipe = self._sender.stdin.fileno()
        os.set_blocking(self._pipe, False)
        self._write(url)  # not as an argument, which other users can see
        self._notify(host, "start", f"{len(host.present)} bots play {host.roster.total} matches")

    def update(self, host: Host) -> None:
        """Notify of a new leader, and of bots without strikes left, each once."""
        for bot, match in host.standings.struck_out:
            if bot not in self._struck:
                self._struck.add(bot)
                name = host.standings.names[bot][:LONGEST_NAME]
                self._notify(host, "struck out", f"{name} has no strikes left in match {match + 1}", name)
        if host.standings.matches == self._matches:
            return
        self._matches = host.standings.matches
        leader = host.standings.order()[0]
        if leader != self._leader:
            self._leader = leader
            name = host.standings.names[leader][:LONGEST_NAME]
            self._notify(host, "leader", f"{name} leads after match {self._matches}", name)

    def end(self, host: Host) -> None:
        """Notify of the end, and wait a moment until all has been sent."""
        self.update(host)
        if host.standings.end:
            name = host.standings.rows()[0].name[:LONGEST_NAME]
            self._notify(host, "end", f"{name} has won", name)
        assert self._sender.stdin
        self._sender.stdin.close()
        try:
            self._sender.wait(END_S)
        except subprocess.TimeoutExpired:
            self._sender.kill()
            self._sender.wait()

    def _notify(self, host: Host, event: str, words: str, bot: str | None = None) -> None:
        title = host.contest.title or f"{host.contest.rules.name} contest"
        text = re.sub(MARKUP, "·", f"{title}: {words}")
        rows = [
            {"rank": row.rank, "bot": row.name[:LONGEST_NAME], "chips": round(row.chips, 2)}
            for row in host.standings.rows()[:SHOWN]
        ]
        about = {"event": event, "contest": title, "bot": bot, "matches": host.standings.matches, "standings": rows}
        # Chat services show `text` (Slack, Mattermost) or `content` (Discord).
        self._write(json.dumps({**about, "text": text, "content": text, "allowed_mentions": {"parse": []}}))

    def _write(self, line: str) -> None:
        data = f"{line}\n".encode()
        if len(data) <= MOST_BYTES:
            with contextlib.suppress(OSError):  # the sender has too much to do, or has ended
                os.write(self._pipe, data)
