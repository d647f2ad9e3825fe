"""Options of commands from what functions and requests declare, and from the kinds of parameters."""

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import click
from click.shell_completion import CompletionItem

from bjsim.arguments import command_line
from bjsim.asked.kinds import KINDS, Flag, Names, Written
from bjsim.asked.signature import REQUIRED, parameters

F = TypeVar("F", bound=Callable[..., Any])


def player_names() -> Iterable[str]:
    from bjsim.strategies.players.catalogue import player_names

    return player_names()


COMPLETED: dict[str, Callable[[], Iterable[str]]] = {"bots": player_names, "chart": player_names}


class AskedType(click.ParamType):  # type: ignore[type-arg]
    """A parameter's type for click: its texts are read as its kind reads them."""

    def __init__(self, asked: str, kind: Written, known: Callable[[], Iterable[str]]) -> None:
        self.name, self.asked, self.kind, self.known, self.text = kind.metavar, asked, kind, known, kind.text

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        with command_line(not isinstance(param, click.Argument)):
            return self.kind.parse(self.asked, value) if isinstance(value, str) else value

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        before, comma, last = incomplete.rpartition(",") if isinstance(self.kind, Names) else ("", "", incomplete)
        found = [CompletionItem(before + comma + name) for name in self.known() if name.startswith(last)]
        return found or ([CompletionItem(incomplete, type="file")] if "FILE" in self.name else [])


def ask(
    name: str,
    about: str = "",
    default: Any = None,
    shown: str = "",
    kind: Written | None = None,
    known: Callable[[], Iterable[str]] | None = None,
    variable: str = "",
) -> Callable[[F], F]:
    """An option of the kind that the name has everywhere, or of another; `shown` says what its default is."""
    kind, option = kind or KINDS[name], "--" + name.replace("_", "-")
    names = (option, variable or name)
    if isinstance(kind, Flag):
        names = (option if default is False else f"{option}/{option.replace('--', '--no-', 1)}", names[1])
        more: dict[str, Any] = {"is_flag": True}
        shown = shown or ("on" if default else "")
    else:
        more = {"type": AskedType(name, kind, known or COMPLETED.get(name, kind.known)), "metavar": kind.metavar}
    more |= {"required": True} if default is REQUIRED else {"default": default}
    shown = shown or (kind.text(default) if default not in (None, REQUIRED, False) else "")
    return click.option(*names, **more, help=(about or kind.about) + (f"  [default: {shown}]" if shown else ""))


def asked_of(target: str, *left_out: str, only_given: bool = False, **shown: str) -> Callable[[F], F]:
    """Add an option for each parameter of `MODULE:NAME` that has a kind, with its default.

    For those with a default in `shown`, or for all if `only_given`, the command receives None and chooses the default
    itself.
    """

    def decorate(command: F) -> F:
        found = [each for each in parameters(target) if each.name not in left_out]
        names = {each.name for each in found}
        for each in reversed(found):
            parts = each.about.split("`")  # it may name other parameters
            parts[1::2] = ("--" + part.replace("_", "-") if part in names else part for part in parts[1::2])
            said = shown.get(each.name, each.kind.text(each.default) if only_given and each.default else "")
            default = None if only_given or each.name in shown else each.default
            command = ask(each.name, "".join(parts), default, said, each.kind)(command)
        return command

    return decorate
