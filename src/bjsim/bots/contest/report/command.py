"""The command that reproduces a contest, and a TOML file for rules of its own."""

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


def published_sources(sources: Sequence[str]) -> list[str]:
    """The sources of the bots for publication; files are relative to the folder that holds them all.

    The page must not reveal other paths. A file starts with `./`, so that it cannot be mistaken for anything else.
    """
    files = [source for source in sources if os.path.isabs(source)]
    folder = os.path.commonpath([os.path.dirname(file) for file in files]) if files else ""
    return [f"./{os.path.relpath(source, folder)}" if os.path.isabs(source) else source for source in sources]


def contest_command(contest: Contest, names: Sequence[str], sources: Sequence[str]) -> str:
    """The POSIX shell command that reproduces a contest in the folder of the bots and any `settings_file`."""
    words = ["bjsim", "koth", "play"]
    if settings_file(contest):
        words += ["--config", "contest.toml"]
    if _is_preset(contest.rules):
        words += ["--rules", contest.rules.name]
    for name in SETTINGS:
        value = getattr(contest, name)
        if isinstance(value, bool):
            words += [f"--{name}"] if value else []
        elif value != DEFAULTS[name] or name in ("matches", "seed"):
            words += [f"--{name}", ",".join(value) if isinstance(value, tuple) else str(value)]
    bots = [source if name == source else f"{name}={source}" for name, source in zip(names, sources, strict=True)]
    return shlex.join([*words, "--out", "again", "--", *bots])  # no name of a bot is parsed as an option


def settings_file(contest: Contest) -> str:
    """The TOML file of changed rules, or "" for a preset: the other settings have options."""
    if _is_preset(contest.rules):
        return ""
    preset = contest.rules.name if contest.rules.name in PRESETS else "cardshark"
    base = PRESETS[preset].rules.to_dict()
    changed = {name: value for name, value in contest.rules.to_dict().items() if value != base[name]}
    return "\n".join(
        ["[rules]", f"preset = {_toml(preset)}", *(f"{name} = {_toml(value)}" for name, value in changed.items())]
    )


def _is_preset(rules: Rules) -> bool:
    return rules.name in PRESETS and rules == PRESETS[rules.name].rules


def _toml(value: object) -> str:
    """A number, boolean or string, which TOML and JSON write alike."""
    return json.dumps(value, ensure_ascii=False)
