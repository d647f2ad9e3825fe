"""The preset games: name, rules, source, and decisions where the source is silent. Also reads TOML rules files."""

import os
from dataclasses import dataclass
from pathlib import Path

from bjsim.arguments import a_type, names_wrong_types
from bjsim.errors import InputError, one_line, suggest
from bjsim.files import read_toml
from bjsim.sim.game.rule_text import ALIASES, WORDS, expand_words, parse_word, side_bet_error
from bjsim.sim.game.rules import LONGEST_NAME, RULE_FIELDS, Rules, RulesError


@dataclass(frozen=True)
class Preset:
    """A named game; `decisions` are those where its source is silent."""

    rules: Rules
    about: str
    source: str
    decisions: tuple[str, ...] = ()


def _read_presets() -> dict[str, Preset]:
    presets: dict[str, Preset] = {}
    for name, values in read_toml(Path(__file__).with_suffix(".toml")).items():
        base = presets[values.pop("preset")].rules if "preset" in values else Rules()
        about, source, decisions = values.pop("about"), values.pop("source"), tuple(values.pop("decisions", ()))
        presets[name] = Preset(base.replace(name=name, **values), about, source, decisions)
    return presets


RulesLike = Rules | str | os.PathLike[str]
PRESETS = _read_presets()
"""Every preset by name: its `rules`, `about` (a line), `source`, and `decisions` where the source is silent."""


def named_rules(name: str) -> Rules:
    """Return the rules of a preset. Raises: RulesError, with the most similar name."""
    if name in PRESETS:
        return PRESETS[name].rules
    if refused := side_bet_error(name):
        raise refused
    hint = suggest(name, PRESETS, f"presets are {', '.join(PRESETS)}.")
    raise RulesError(f"no rule set is called {name!r}; {hint} A rules file must end in .toml")


@names_wrong_types
def load_rules(rules: RulesLike) -> Rules:
    """The rules of a game: as they are, by a preset's name, or from a TOML file.

    Args:
        rules: Rules; a preset's name; or a path that ends in .toml, of a file with values by field. With
            `preset = "NAME"`, missing fields have the values of that preset.

    Returns:
        The rules.

    Raises:
        InputError: The name, the file or a field is not accepted. The message names it.
    """
    if isinstance(rules, Rules):
        return rules
    if not isinstance(rules, str | os.PathLike):
        raise RulesError(f"rules: {a_type(rules)} is not accepted; Rules, a preset's name or a TOML file")
    path = Path(rules)
    if path.suffix != ".toml":
        return named_rules(os.fspath(rules))
    try:
        values = read_toml(path)
        base = named_rules(str(values.pop("preset"))) if "preset" in values else Rules()
        return base.replace(**{"name": one_line(path.stem)[:LONGEST_NAME], **values})
    except OSError as error:
        raise RulesError(f"cannot read the rules file {rules}: {error.strerror}") from None
    except RulesError as error:
        raise RulesError(f"{rules}: {error}") from None
    except ValueError as error:
        raise RulesError(f"{rules} {error}") from None


def the_rules(rules: str | Rules, settings: tuple[str, ...]) -> Rules:
    """The rules, by name or file or as they are, with the changes of `--set`. Raises: InputError."""
    return load_rules(rules).replace(**expand_words(map(read_setting, settings), RULE_FIELDS))


def read_setting(setting: str) -> tuple[str, object]:
    """The name and the value of a `--set`; a word of the trade alone is true. Raises: InputError: It has no value."""
    name, equals, value = (part.strip() for part in setting.partition("="))
    if equals:
        return name, value
    if parse_word(name) is None:
        hint = suggest(name, WORDS, f"single words are {', '.join(WORDS)}")
        is_field = name.lower().replace("-", "_") in {*RULE_FIELDS, *ALIASES}
        how = f"{name}=VALUE, without blanks" if is_field else f"FIELD=VALUE, such as peek=true; {hint}"
        raise InputError(f"--set {setting} is not accepted; write {how}")
    return name, True
