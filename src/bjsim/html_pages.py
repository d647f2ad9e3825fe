"""Pages: self-contained HTML files on one layout, with the templates of `bjsim/templates`."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jinja2 import Environment


@cache
def templates(package: str) -> Environment:
    """The templates of a package, which escape what they are given. Those of `bjsim` are found too."""
    from jinja2 import ChoiceLoader, Environment, PackageLoader, select_autoescape  # slow to import

    loader = ChoiceLoader([PackageLoader(package), PackageLoader("bjsim")])
    return Environment(loader=loader, autoescape=select_autoescape(default=True), trim_blocks=True, lstrip_blocks=True)


def render_page(package: str, template: str, **values: object) -> str:
    """Render a template in a package's folder `templates`, which may use `base.html` and `parts.html`."""
    return templates(package).get_template(template).render(**values)
