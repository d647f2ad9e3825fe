"""`--vary` of `bjsim compare` and `bjsim count`."""

from collections.abc import Sequence

from bjsim.errors import InputError
from bjsim.sim.game.rule_text import expand_words
from bjsim.sim.game.rules import RULE_FIELDS, parse_field


def parse_varied(varied: Sequence[str], others: Sequence[str] = ()) -> list[list[tuple[str, str]]]:
    """For each `--vary`, its name paired with each of its values.

    Texts are such as `das=true,false`; a semicolon separates values that have commas. `others` may vary besides
    rules.
    """
    axes = []
    owners: dict[str, str] = {}
    for text in varied:
        name, equals, values = text.partition("=")
        name = name.strip()
        if not equals:
            more = f", or vary {', '.join(others)}" if others else ""
            raise InputError(f"--vary {text} is not accepted; write FIELD=V1,V2, such as cut=70%,80%{more}")
        axis = [(name, value.strip()) for value in values.split(";" if ";" in values else ",")]
        for field in [name] if name in others else dict.fromkeys(f for _, value in axis for f in _fields(name, value)):
            if field in owners:
                first = "" if owners[field] == name else f", first as {owners[field]}"
                raise InputError(f"--vary {name} is given twice{first}; give all its values at once, as {name}=V1,V2")
            owners[field] = name
        axes.append(axis)
    return axes


def _fields(name: str, value: str) -> list[str]:
    """The rules that a name, which may be a word of the trade, stands for. Raises: InputError."""
    fields = expand_words({name: value}, RULE_FIELDS)
    for field, each in fields.items():
        parse_field(field, each)
    return [*fields]
