"""`bjsim koth new`: a folder for a contest, with its settings, example bots and guides."""

import json
import shlex
from importlib.metadata import PackageNotFoundError, distribution
from importlib.resources import files
from pathlib import Path

import click

from bjsim.bots.contest.config import MAX_TITLE
from bjsim.errors import InputError, printable

TEMPLATES = {  # path in the new folder: file in cli/templates
    "contest.toml": "contest.toml",
    "README.md": "README.md",
    "AUTHORS.md": "AUTHORS.md",
    ".gitignore": "ignored",
}
SAMPLES = {"bots/example.py": "lim17.py", "bots/example_line.py": "lim17_line.py"}  # files in bots/samples


@click.command(short_help="Create a folder for a contest.")
@click.argument("folder", metavar="NAME", type=click.Path(path_type=Path))
def new(folder: Path) -> None:
    """Create the folder NAME for a contest, ready for a repository.

    It has the settings, two example bots, a guide for hosts (README.md) and one for authors (AUTHORS.md).
    """
    name = folder.resolve().name
    if not name or printable(name) != name or len(name) > MAX_TITLE:
        how = f"use a name of 1 to {MAX_TITLE} printable characters"
        raise InputError(f"{printable(str(folder))} is not accepted; {how}")
    if name.startswith("-") or str(folder).startswith("-"):  # of commands, such as the one printed below
        raise InputError(f"{folder} looks like an option in commands; use a name that does not start with a dash")
    try:
        if folder.exists() and any(folder.iterdir()):
            raise InputError(f"{folder} is not empty; choose another name")
        for path, text in contents(name).items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(text, encoding="utf-8", newline="\n")
    except OSError as error:
        raise InputError(f"cannot write {error.filename or folder}: {error.strerror}") from None
    where = shlex.quote(str(folder))
    click.echo(f"wrote {folder}; play it with: cd {where} && bjsim koth play --config contest.toml --out hill")
    click.echo(f"how to host it: {folder / 'README.md'}; how to take part: {folder / 'AUTHORS.md'}")


def contents(name: str) -> dict[str, str]:
    """The texts of the files by path."""
    texts = {path: (files("bjsim.cli") / "templates" / file).read_text("utf-8") for path, file in TEMPLATES.items()}
    texts |= {path: (files("bjsim.bots") / "samples" / file).read_text("utf-8") for path, file in SAMPLES.items()}
    marks = {"@NAME@": name, "@TITLE@": json.dumps(name, ensure_ascii=False), "@SOURCE@": origin()}
    for mark, value in marks.items():
        texts = {path: text.replace(mark, value) for path, text in texts.items()}
    return texts


def origin() -> str:
    """Where pip finds the bjsim that is installed here: its commit, or else its repository."""
    try:
        came = json.loads(distribution("bjsim").read_text("direct_url.json") or "{}")
        addresses = dict(each.split(", ", 1) for each in distribution("bjsim").metadata.get_all("Project-URL") or [])
    except PackageNotFoundError:  # it runs from a folder
        return "bjsim"
    if (vcs := came.get("vcs_info")) and not came["url"].startswith("file:"):
        return f"{vcs['vcs']}+{came['url']}@{vcs['commit_id']}"
    return f"git+{addresses['Homepage']}"
