"""Options that are an error when they are given twice."""

from typing import Any

import click
from click.core import ParameterSource

from bjsim.errors import InputError


class Once(click.Option):
    """An option that is an error when it is given twice; of others the last value counts, without a word."""

    def __init__(self, *args: Any, several: str = "", **options: Any) -> None:
        super().__init__(*args, **options)
        self.several = several  # how to give several values, if that is possible

    def add_to_parser(self, parser: Any, ctx: click.Context) -> None:
        self.multiple = True  # so that the parser collects all values
        super().add_to_parser(parser, ctx)
        self.multiple = False

    def consume_value(self, ctx: click.Context, opts: Any) -> tuple[Any, ParameterSource]:
        given = opts.get(self.name)
        if isinstance(given, list):
            if len(given) > 1:
                raise InputError(f"{self.opts[0]} is given {len(given)} times; give it once{self.several}")
            opts = {**opts, self.name: given[0]}
        return super().consume_value(ctx, opts)
