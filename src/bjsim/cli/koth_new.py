"""`bjsim koth new`: a folder for a contest, with example bots and a workflow for a public forge."""

import json
import shlex
import subprocess
from importlib.metadata import PackageNotFoundError, distribution
from importlib.resources import files
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit
from urllib.request import url2pathname

import click

from bjsim import __version__
from bjsim.bots.contest.config import MAX_TITLE
from bjsim.bots.protocol import printable
from bjsim.errors import InputError

TEMPLATES = {  # path in the new folder: file in cli/templates
    "contest.toml": "contest.toml",
    "README.md": "README.md",
    "AUTHORS.md": "AUTHORS.md",
    ".gitignore": "ignored",
    "ci/setup.sh": "setup.sh",
    "ci/check.sh": "check.sh",
    "ci/play.sh": "play.sh",
    "ci/journal.sh": "journal.sh",
    "ci/keep.sh": "keep.sh",
    ".github/workflows/contest.yml": "workflow.yml",
}
RELEASE = f"bjsim>={'.'.join(__version__.split('.')[:2])}"  # what pip installs from the package index
SAMPLES = {"bots/example.py": "lim17.py", "bots/example_line.py": "lim17_line.py"}  # files in bots/samples


@click.command(short_help="Create a folder for a contest.")
@click.argument("folder", metavar="NAME", type=click.Path(path_type=Path))
def new(folder: Path) -> None:
    """Create the folder NAME for a contest, ready for a repository that takes bots by pull request.

    It has the settings, two example bots, a guide for hosts (README.md), one for authors (AUTHORS.md), and a workflow
    that checks the bots of a pull request without secrets and publishes the page after a merge.
    """
    name = folder.resolve().name
    if not name or printable(name) != name or len(name) > MAX_TITLE:
        raise InputError(f"{printable(str(folder))} is not accepted; use a name of at most {MAX_TITLE} characters")
    if name.startswith("-") or str(folder).startswith("-"):  # of commands, such as the one printed below
        raise InputError(f"{folder} looks like an option in commands; use a name that does not start with a dash")
    try:
        if folder.exists() and any(folder.iterdir()):
            raise InputError(f"{folder} is not empty; choose another name")
        for path, text in contents(name).items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(text, encoding="utf-8", newline="\n")
            if path.endswith(".sh"):
                (folder / path).chmod(0o755)
    except OSError as error:
        raise InputError(f"cannot write {error.filename or folder}: {error.strerror}") from None
    where = shlex.quote(str(folder))
    click.echo(f"wrote {folder}; play it with: cd {where} && ci/play.sh")
    if came_from() and requirement() == RELEASE:
        click.echo(
            f"ci/setup.sh installs {RELEASE}, as no forge can reach the folder from which bjsim was installed here"
        )
    click.echo(f"how to put it on a forge: {folder / 'README.md'}; how to take part: {folder / 'AUTHORS.md'}")


def contents(name: str) -> dict[str, str]:
    """The texts of the files by path."""
    texts = {path: (files("bjsim.cli") / "templates" / file).read_text("utf-8") for path, file in TEMPLATES.items()}
    texts |= {path: (files("bjsim.bots") / "samples" / file).read_text("utf-8") for path, file in SAMPLES.items()}
    values = {"@NAME@": name, "@TITLE@": json.dumps(name, ensure_ascii=False), "@BJSIM@": shlex.quote(requirement())}
    for mark, value in values.items():
        texts = {path: text.replace(mark, value) for path, text in texts.items()}
    return texts


def came_from() -> dict[str, Any]:
    """What pip noted of where bjsim was installed from (PEP 610); empty after an installation from an index."""
    try:
        noted: dict[str, Any] = json.loads(distribution("bjsim").read_text("direct_url.json") or "{}")
    except PackageNotFoundError:
        return {}
    return noted


def requirement() -> str:
    """What pip needs to install bjsim on a forge from where it came from here."""
    noted = came_from()
    address = urlsplit(noted.get("url", ""))
    if "vcs_info" in noted and address.scheme != "file":
        return f"bjsim @ {noted['vcs_info']['vcs']}+{noted['url']}@{noted['vcs_info']['commit_id']}"
    if address.scheme == "https":
        return f"bjsim @ {noted['url']}"
    if address.scheme == "file" and (remote := find_remote(url2pathname(address.path))):
        return f"bjsim @ git+{remote}"
    return RELEASE


def find_remote(folder: str) -> str:
    """The address that a checkout was cloned from, without a user's name or token; empty if it is not of the web."""
    try:
        words = ["git", "-C", folder, "remote", "get-url", "origin"]
        found = subprocess.run(words, capture_output=True, text=True, check=False).stdout.strip()
    except OSError:  # git is not installed
        return ""
    address = urlsplit(found)
    return urlunsplit(address._replace(netloc=address.netloc.rpartition("@")[2])) if address.scheme == "https" else ""
