"""The command that reproduces a contest, and a TOML file for settings that have no option."""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Sequence
from dataclasses import fields

from bjsim.bots.contest.config import SETTINGS, Contest
from bjsim.sim.game.presets import PRESETS
from bjsim.sim.game.rules import Rules

DEFAULTS = {setting.name: setting.default for setting in fields(Contest)}
OPTIONS = ("matches", "seed", "until", "duplicate", "house", "timeout", "cold")  # settings that are options of `koth`


def published_sources(sources: Sequence[str]) -> list[str]:
    """The sources of the bots for publication.

    Args:
        sources: Names of strategies, and absolute paths of files.

    Returns:
        The same names; files relative to the folder that holds them all, because the page must not reveal other
        paths. A file starts with `./`, so that it cannot be mistaken for anything else.
    """
    files = [source for source in sources if os.path.isabs(source)]
    folder = os.path.commonpath([os.path.dirname(file) for file in files]) if files else ""
    return [f"./{os.path.relpath(source, folder)}" if os.path.isabs(source) else source for source in sources]


def contest_command(contest: Contest, names: Sequence[str], sources: Sequence[str]) -> str:
    """The command that reproduces a contest, in the folder of the bots' files and of the `settings_file`, if any.

    Args:
        contest: The settings.
        names: The names of the bots.
        sources: Their sources.

    Returns:
        The command, quoted for a POSIX shell.
    """
    words = ["bjsim", "koth"]
    if settings_file(contest):
        words += ["--config", "contest.toml"]
    if _is_preset(contest.rules):
        words += ["--rules", contest.rules.name]
    for name in OPTIONS:
        value = getattr(contest, name)
        if isinstance(value, bool):
            words += [f"--{name}"] if value else []
        elif value != DEFAULTS[name] or name in ("matches", "seed"):
            words += [f"--{name}", str(value)]
    bots = [source if name == source else f"{name}={source}" for name, source in zip(names, sources, strict=True)]
    return shlex.join([*words, "--out", "again", "--", *bots])  # no name of a bot is parsed as an option


def settings_file(contest: Contest) -> str:
    """The TOML file of the settings that have no option; "" if none differ from the defaults."""
    values = {name: getattr(contest, name) for name in SETTINGS if name not in OPTIONS}
    lines = [f"{name} = {_toml(value)}" for name, value in values.items() if value != DEFAULTS[name]]
    if not _is_preset(contest.rules):
        preset = contest.rules.name if contest.rules.name in PRESETS else "cardshark"
        base = PRESETS[preset].rules.to_dict()
        changed = {name: value for name, value in contest.rules.to_dict().items() if value != base[name]}
        lines += ["[rules]", f"preset = {_toml(preset)}", *(f"{name} = {_toml(changed[name])}" for name in changed)]
    return "\n".join(lines)


def _is_preset(rules: Rules) -> bool:
    return rules.name in PRESETS and rules == PRESETS[rules.name].rules


def _toml(value: object) -> str:
    """A number, boolean or string, which TOML and JSON write alike."""
    return json.dumps(value, ensure_ascii=False)
