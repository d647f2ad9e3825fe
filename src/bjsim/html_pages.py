"""Pages: self-contained HTML files on one layout, with the templates of `bjsim/templates`."""

from __future__ import annotations


def render_page(package: str, template: str, **values: object) -> str:
    """Render a template of a package, which may extend `base.html` and import `parts.html`.

    Args:
        package: The package, such as `bjsim.cli`; the template is in its folder `templates`.
        template: The name of the file.
        **values: What the template uses.

    Returns:
        The page.
    """
    from jinja2 import ChoiceLoader, Environment, PackageLoader, select_autoescape  # slow to import

    environment = Environment(
        loader=ChoiceLoader([PackageLoader(package), PackageLoader("bjsim")]),
        autoescape=select_autoescape(default=True), trim_blocks=True, lstrip_blocks=True,
    )  # fmt: skip
    return environment.get_template(template).render(**values)
