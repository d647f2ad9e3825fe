"""Submits a bot to a contest that takes bots by pull request: checked as its host would, then a branch and a request.

The repository is a stranger's: nothing of it runs here. Only its `contest.toml` is read, and the bot is checked by this
bjsim, in the sandbox.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from bjsim.bots.contest.config import load_config
from bjsim.bots.contest.entrants import gather
from bjsim.bots.sandbox.folders import MANIFEST, is_bot_folder
from bjsim.bots.sandbox.sources import check_name
from bjsim.errors import InputError, RunFailed

FORGE = "https://github.com/"
RIVALS = ("lim17", "optimal")
MATCHES = 4  # of the short contest, as in `ci/check.sh` of `koth new`
IGNORED = ("__pycache__", ".git")

Say = Callable[[str], object]


def submit(bot: Path, repository: str, say: Say, dry_run: bool = False) -> None:
    """Submit a bot: its file, or its folder with a `bot.toml`; `dry_run` checks it only.

    `repository` is OWNER/REPO of a forge, or any that git can clone and push to, without a pull request then.
    """
    on_forge = bool(re.fullmatch(r"[\w.-]+/[\w.-]+", repository)) and not Path(repository).exists()
    _need("git", "https://git-scm.com")
    if on_forge and not dry_run:
        _need("gh", "https://cli.github.com; or give --to the address of a repository that you may push to")
    with TemporaryDirectory(prefix="bjsim-submit-") as folder:
        clone = Path(folder) / "contest"
        source = f"{FORGE}{repository}.git" if on_forge else repository
        _run(["git", "clone", "--quiet", "--depth", "1", "--", source, clone], Path(folder))
        if not (clone / "contest.toml").is_file():
            raise InputError(f"{repository} has no contest.toml; give the repository of a contest")
        place = _copy(bot, clone)
        check(place, clone, say)
        name = gather([str(place)], load_config(str(clone / "contest.toml"))[0].rules, fewest=1)[0].name
        if dry_run:
            say(f"{name} passes; without --dry-run it would be sent to {repository}")
            return
        _send(name, place.relative_to(clone), clone, repository if on_forge else "", say)


def check(bot: Path, contest: Path, say: Say) -> None:
    """Check a bot as the host of a contest (a folder) does: its moves and faults, and a short contest."""
    config = ["--config", contest / "contest.toml", "--sandbox", "required"]
    short = ["--matches", MATCHES, "--out", contest / "check-site"]
    for words in (["bot", "check", bot, *config], ["koth", "play", bot, *RIVALS, *config, *short]):
        done = subprocess.run(
            [sys.executable, "-m", "bjsim", *map(str, words)], capture_output=True, text=True, errors="replace"
        )
        if done.returncode:
            reason = (done.stderr.strip() or done.stdout.strip()).splitlines()[-1:]
            raise RunFailed(f"{bot.name} fails the check of the contest: {''.join(reason)}")
        lines = [line for line in done.stdout.rstrip().splitlines() if str(contest) not in line]  # which is removed
        say("\n".join(lines))


def _copy(bot: Path, clone: Path) -> Path:
    check_name(bot)
    if not bot.exists():
        raise InputError(f"cannot read {bot}: No such file or directory")
    if bot.is_dir() and not is_bot_folder(bot):
        raise InputError(f"{bot} has no {MANIFEST}; give the file of a bot, or a folder with a {MANIFEST}")
    bots = clone / "bots"
    place = bots / bot.resolve().name
    if bots.is_symlink() or place.is_symlink():
        raise InputError("the repository has a link where its bots should be")
    bots.mkdir(exist_ok=True)
    if place.is_dir():
        shutil.rmtree(place)
    if bot.is_dir():
        shutil.copytree(bot, place, ignore=shutil.ignore_patterns(*IGNORED))
    else:
        shutil.copy(bot, place)
    return place


def _send(name: str, place: Path, clone: Path, forge: str, say: Say) -> None:
    """Commit the bot to a branch, push it, and open a pull request at a forge."""
    branch = "bot-" + (re.sub(r"[^\w.-]+", "-", name).strip(".-") or "new")
    title = f"A bot: {name}"
    _run(["git", "switch", "--quiet", "--create", branch], clone)
    _run(["git", "add", "--", place], clone)
    if not _run(["git", "status", "--porcelain", "--", place], clone).strip():
        raise InputError(f"{name} is in the contest already, and has not changed")
    _run(["git", "commit", "--quiet", "--message", title], clone)
    if not forge:
        _run(["git", "push", "--quiet", "--force", "origin", branch], clone)
        say(f"pushed the branch {branch}; open a pull request for it")
        return
    owner = _run(["gh", "api", "user", "--jq", ".login"], clone).strip()
    upstream, repository = forge.split("/")
    if owner != upstream:
        _run(["gh", "repo", "fork", forge, "--clone=false"], clone)
    _run(["git", "push", "--quiet", "--force", f"{FORGE}{owner}/{repository}.git", branch], clone)
    body = f"Checked with `bjsim koth submit`: no faults, and a contest of {MATCHES} matches against {RIVALS[0]} and "
    body += f"{RIVALS[1]}."
    asked = ["--repo", forge, "--head", f"{owner}:{branch}", "--title", title, "--body", body]
    say(_run(["gh", "pr", "create", *asked], clone).strip())


def _need(tool: str, where: str) -> None:
    if not shutil.which(tool):
        raise InputError(f"{tool} is not installed; see {where}")


def _run(words: Sequence[object], folder: Path) -> str:
    """Run git or the forge's tool, without hooks of anybody. Returns: what it prints."""
    command = [str(word) for word in words]
    if command[0] == "git":
        command[1:1] = ["-c", "core.hooksPath=/dev/null"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, errors="replace")
    if done.returncode:
        reason = " ".join(done.stderr.split()) or f"exit status {done.returncode}"
        raise RunFailed(f"{command[0]} {words[1]} failed: {reason}")
    return done.stdout
