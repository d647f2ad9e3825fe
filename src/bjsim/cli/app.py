"""`bjsim app`: starts the server, and opens its page."""

import shlex
import socket
import webbrowser
from pathlib import Path

import click

from bjsim.asked.kinds import Count
from bjsim.bots.contest.journal import find_journal
from bjsim.cli.asked import ask
from bjsim.cli.options import refuse_together
from bjsim.cli.waiting import waiting
from bjsim.errors import InputError


@click.command()
@ask("port", "Port of 127.0.0.1.", 0, "a free one", Count(low=0, most=65535, example="8021"))
@click.option(
    "--contest",
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="Show the contest in this folder too, while it is played.",
)
@click.option(
    "--export",
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="Write the pages to this folder, as a site that needs no server of ours.",
)
@click.option(
    "--pyodide",
    metavar="DIR|URL",
    default="",
    help="Python of an exported site: files to copy, or where they are.  [default: a public server]",
)
@click.option("--no-browser", is_flag=True, help="Print the address only; open no browser.")
def app(port: int, contest: Path | None, export: Path | None, pyodide: str, no_browser: bool) -> None:
    """Explore games, charts, hands, runs and counts in the browser, and play there.

    The page is served to this machine alone. The address has a secret in it; Ctrl-C ends the server. With --export no
    server is started: the pages become files that any file server can host, and compute in the reader's browser.
    """
    refuse_together("export", "contest", "port", "no_browser", why=", as an exported site needs no server")
    if export:
        from bjsim.app.export import export_site
        from bjsim.sim.running.workers import usable_cores

        with waiting("solving the usual games") as line:
            for done, games in export_site(export, pyodide, processes=usable_cores()):
                line.say("solving the usual games", done, games)
        click.echo(f"the site is in {export}; to try it: python -m http.server --directory {shlex.quote(str(export))}")
        return
    if pyodide:
        raise InputError("--pyodide needs --export DIR")
    try:
        from bjsim.app.server import Laboratory, serve
    except ModuleNotFoundError as error:
        missing = f"the extra 'app' is missing ({error.name}); in a checkout of bjsim, run: pip install '.[app]'"
        raise InputError(missing) from None
    if contest:
        find_journal(contest)
    listening = socket.socket()
    alone = getattr(socket, "SO_EXCLUSIVEADDRUSE", socket.SO_REUSEADDR)  # Windows would share a port that is in use
    listening.setsockopt(socket.SOL_SOCKET, alone, 1)
    try:
        listening.bind(("127.0.0.1", port))
        listening.listen()  # a browser that is opened at once waits for the server to start
    except OSError as error:
        raise InputError(
            f"--port {port}: {(error.strerror or str(error)).lower()}; leave it out for a free port"
        ) from None
    laboratory = Laboratory(listening.getsockname()[1], str(contest.resolve()) if contest else "")
    click.echo(f"bjsim is at {laboratory.address}\nCtrl-C ends it")
    if not no_browser:
        webbrowser.open(laboratory.address)
    serve(laboratory, listening)
