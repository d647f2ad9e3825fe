"""Reports as pages: self-contained HTML files, and fragments for other pages and notebooks."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from bjsim.report import svg
from bjsim.report.colours import ACTIONS, FULL, LINES, NIGHT
from bjsim.report.parts import DataTable, Figures, Report, typeset
from bjsim.sim.game.actions import NAMES

if TYPE_CHECKING:
    from jinja2 import Environment


@cache
def templates(package: str) -> Environment:
    """The templates of a package, which escape what they are given; those of reports are found too."""
    from jinja2 import ChoiceLoader, Environment, PackageLoader, select_autoescape  # slow to import
    from markupsafe import Markup

    loader = ChoiceLoader([PackageLoader(package), PackageLoader("bjsim.report")])
    found = Environment(loader=loader, autoescape=select_autoescape(default=True), trim_blocks=True, lstrip_blocks=True)
    drawn = {draw.__name__: draw for draw in (svg.draw_panel, svg.draw_bars, svg.draw_dots)}
    found.globals |= {name: lambda *given, draw=draw: Markup(draw(*given)) for name, draw in drawn.items()}
    found.filters["typeset"] = typeset
    found.globals |= {
        "names": NAMES,
        "colours": ACTIONS,
        "night": NIGHT,
        "full": FULL,
        "lines": LINES,
        "kind_of": lambda part: type(part).__name__,
        "lines_of": lambda part: {line.name: line for panel in part.panels for line in panel.lines}.values(),
        "levels_of": lambda part: dict.fromkeys(name for panel in part.panels for name in panel.levels),
        "most_of": lambda part: max(max(map(max, part.values)), 1e-9),
        "values": lambda cell: " ".join(
            f"{letter}{ev:+.6f}".replace("inf", "Infinity") for letter, ev in cell.ev.items()
        ),
    }
    return found


def render_page(package: str, template: str, **values: object) -> str:
    """Render a template in a package's folder `templates`."""
    return templates(package).get_template(template).render(**values)


def make_page(report: Report) -> str:
    """Make a report's page, a file that needs no other."""
    from markupsafe import Markup

    return render_page("bjsim.report", "shell.html", title=report.title, body=Markup(page_body(report)))


def page_body(report: Report) -> str:
    """Make the body of a report's page, without style and script."""
    return render_page("bjsim.report", "report.html", report=report)


def notebook_html(report: Report) -> str:
    """The figures and the first table, unstyled."""
    shown = list(report.parts_for("terminal"))
    figures = [part for part in shown if isinstance(part, Figures)]
    tables = [part for part in shown if isinstance(part, DataTable)]
    return page_body(Report(report.title, (), [*figures, *tables[:1]]))
