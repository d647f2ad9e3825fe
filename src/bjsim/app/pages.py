"""The pages of the app and their files, for the local server and for an exported site."""

from functools import cache

from bjsim.app.controls import MORE, PAGES, rule_controls, rule_texts
from bjsim.app.long_work import AskedCount, AskedRun
from bjsim.app.table_work import AskedPlay
from bjsim.report.page import render_page, templates
from bjsim.sim.game.presets import PRESETS
from bjsim.strategies.counting.system import built_in_systems
from bjsim.strategies.evaluation.drill import TOPICS
from bjsim.strategies.formats.files import WRITERS
from bjsim.strategies.players.catalogue import BUILT_IN, CATALOGUE

OWN_SCRIPTS = ("start.js", "app.js", "game.js", "hand.js", "count.js", "play.js", "host.js")
HANDS = {"one": "T,6 v T", "both": "T,6 v T,7"}  # examples, by how many cards the dealer shows
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'"
)
SCRIPTS: dict[str, tuple[str, ...]] = {
    page: ("cells.js", "app.js") for page in PAGES if page not in ("start", "contest")
}
SCRIPTS |= {page: ("cells.js", "app.js", f"{page}.js") for page in ("hand", "play")}
SCRIPTS |= {page: ("cells.js", "figures.js", "app.js", f"{page}.js") for page in ("game", "count")}
SCRIPTS["start"] = ("start.js",)


@cache
def shell(name: str, ending: str = "", policy: str = "", report: str = "") -> str:
    """A page whose script asks for its report, and shows the given one until then.

    ending: what follows a page's name in an address. policy: the page's own, where no server sends one.
    """
    return render_page(
        "bjsim.app", f"{name}.html", page=name, pages=PAGES, more=MORE, ending=ending, up="", policy=policy,
        scripts=SCRIPTS.get(name, ()), report=report, rules=rule_controls(name), presets=PRESETS,
        hands=HANDS, systems=built_in_systems(), players=[*CATALOGUE, *BUILT_IN], run=AskedRun._field_defaults,
        count=AskedCount._field_defaults, table=AskedPlay._field_defaults, topics=TOPICS,
        sample=WRITERS["chart"](CATALOGUE["mimic"].chart(PRESETS["vegas-s17"].rules)) if name == "chart" else "",
    )  # fmt: skip


@cache
def assets() -> dict[str, tuple[str, str]]:
    """The stylesheet and the scripts by name, with their types; those of reports are the ones of pages."""
    read = templates("bjsim.app").get_template
    return {
        "style.css": ("".join(read(name).render() for name in ("style.css", "nav.css", "app.css")), "text/css"),
        "cells.js": (read("charts.js").render(), "text/javascript"),
        "figures.js": (templates("bjsim.strategies.counting").get_template("figures.js").render(), "text/javascript"),
        **{name: (read(name).render(), "text/javascript") for name in OWN_SCRIPTS},
    }


def presets() -> dict[str, dict[str, str]]:
    """The rules of each preset as texts."""
    return {name: rule_texts(preset.rules) for name, preset in PRESETS.items()}
