"""Problems of this machine that keep bots from running, and the commands that fix them."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from bjsim.bots.sandbox import restrictions
from bjsim.bots.sandbox.folders import is_bot_folder, read_bot
from bjsim.bots.sandbox.languages import BuildError, Custom, Language, MissingToolchain, find_tool

# Settings of Linux that forbid user namespaces, which bubblewrap needs, and the values that allow them.
SETTINGS = {
    "kernel.apparmor_restrict_unprivileged_userns": ("1", "0"),  # Ubuntu, from 23.10 on
    "kernel.unprivileged_userns_clone": ("0", "1"),  # Debian, until 11
    "user.max_user_namespaces": ("0", "15000"),
}
CONTAINERS = ("/.dockerenv", "/run/.containerenv")
IN_CONTAINER = " ".join(f"--security-opt {name}=unconfined" for name in ("seccomp", "apparmor", "systempaths"))


def install_command(package: str) -> str:
    """The command that installs a package of Debian."""
    command = f"sudo apt install {package}"
    return command if shutil.which("apt") or shutil.which("apt-get") else f"on Debian and Ubuntu: {command}"


def find_sandbox_fix(root: Path = Path("/")) -> str:
    """The command that makes the sandbox work, or what to do instead; "" if unknown, as outside Linux."""
    if sys.platform != "linux":
        return ""
    if not shutil.which("bwrap"):
        return install_command("bubblewrap")
    for name, (bad, good) in SETTINGS.items():
        setting = root / "proc/sys" / name.replace(".", "/")
        if setting.is_file() and setting.read_text().strip() == bad:
            return f"sudo sysctl -w {name}={good}"
    if any((root / name.lstrip("/")).exists() for name in CONTAINERS):
        return f"start the container with docker run {IN_CONTAINER} ..."
    return ""


def find_toolchain(language: Language) -> tuple[bool, str]:
    """Whether the compiler or interpreter of a language is installed, and its path or the reason why not."""
    try:
        return True, find_tool(language)
    except MissingToolchain:
        trouble = f"cannot be read by user {restrictions.SANDBOX_USER}" if language.find_tools() else "is not installed"
        return False, f"{language.tools[0]} {trouble}"


def find_bots(paths: Iterable[Path]) -> Iterator[tuple[str, Language]]:
    """The name and the language of each bot in files and folders, without what has no known language."""
    for path in paths:
        if path.is_dir() and not is_bot_folder(path):
            yield from find_bots(sorted(each for each in path.iterdir() if each.is_file() or is_bot_folder(each)))
            continue
        with suppress(BuildError):
            bot = read_bot(path, links=True)
            if bot.language:
                yield bot.name, bot.language


def find_run_command(name: str, language: Custom) -> tuple[bool, str]:
    """Whether the command that a bot's folder names is installed, and a sentence about it. name: of the bot."""
    try:
        language.need_tools(name)
    except MissingToolchain as error:
        return False, str(error)
    return True, f"{name} runs {language.run[0]}"
