"""Problems of this machine that keep bots from running, and the commands that fix them."""

import shutil
import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from bjsim.bots.sandbox.folders import is_bot_folder, read_bot
from bjsim.bots.sandbox.languages import BuildError, Language, MissingToolchain

# Settings of Linux that forbid user namespaces, which bubblewrap needs, and the values that allow them.
SETTINGS = {
    "kernel.apparmor_restrict_unprivileged_userns": ("1", "0"),  # Ubuntu, from 23.10 on
    "kernel.unprivileged_userns_clone": ("0", "1"),  # Debian, until 11
    "user.max_user_namespaces": ("0", "15000"),
}


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
    return ""


def find_tools(language: Language, name: str = "") -> tuple[bool, str]:
    """Whether what a language's bot, perhaps of this name, needs is installed, and where it is or what is missing."""
    try:
        return True, language.need_tools(name)
    except MissingToolchain as missing:
        return False, str(missing).partition(" (")[0]


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
