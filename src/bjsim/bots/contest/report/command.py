"""What it takes to play a contest again, in words to be typed: a command, and a file where options do not suffice."""

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
OPTIONS = ("matches", "seed", "until", "duplicate", "house", "timeout", "cold")  # settings that `koth` takes as options


def sources_of(sources: Sequence[str]) -> list[str]:
    """Where the bots come from. Of a file that is its place in the folder that holds them all; where that folder lies
    is nobody else's affair, and the page is there to be published. It begins with `./`, so that no file's name is taken
    for anything else."""
    files = [source for source in sources if os.path.isabs(source)]
    folder = os.path.commonpath([os.path.dirname(file) for file in files]) if files else ""
    return [f"./{os.path.relpath(source, folder)}" if os.path.isabs(source) else source for source in sources]


def command_again(contest: Contest, names: Sequence[str], sources: Sequence[str]) -> str:
    """The command that plays the contest again, where the bots' files are and the file of `file_again`, if any."""
    words = ["bjsim", "koth"]
    if file_again(contest):
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
    return shlex.join([*words, "--out", "again", "--", *bots])  # no bot's name becomes an option


def file_again(contest: Contest) -> str:
    """What no option of the command says, as the TOML file of a contest; "" for nothing."""
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
    """A number, a flag or a text, which TOML writes as JSON does."""
    return json.dumps(value, ensure_ascii=False)
