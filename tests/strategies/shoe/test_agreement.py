"""The page of agreement, docs/reference/agreement.md: it is up to date, and every difference has its reason."""

from __future__ import annotations

import importlib.util
import sys
import tomllib
from types import ModuleType

import pytest
from support.documents import ROOT

pytestmark = pytest.mark.skipif(not (ROOT / ".ci").is_dir(), reason="only in a checkout")
QUICK = {
    "infinite",
    "infinite hand",
    "insurance",
    "dealer",
    "depleted hand",
    "exceptions",
    "value, term by term",
    "side bet",
    "side bet, in bets",
    "side bet, with sd and hits",
    "side bet, three-card hands",
    "side bet, busts by cards",
    "side bet, effects of removal",
    "first card",
}  # quantities of which every figure takes a moment
DAILY = {  # quantity and rules of further figures that are computed by day
    ("by upcard", "6"), ("hand", "1"), ("td below cdz-", "1"), ("td below cdz-", "6"), ("td below cdz-", "8"),
    ("value", "single-deck"),
}  # fmt: skip


def groups() -> list[dict]:
    return tomllib.loads((ROOT / "docs/reference/published.toml").read_text(encoding="utf-8"))["group"]


def page() -> str:
    return (ROOT / "docs/reference/agreement.md").read_text(encoding="utf-8")


FIGURES = [
    pytest.param(group | {"figures": [figure]}, id=f"{group['title']}: {' '.join(figure[:2])}")
    for group in groups()
    for figure in group["figures"]
    if group["quantity"] in QUICK or (group["quantity"], figure[0]) in DAILY
]


@pytest.fixture(scope="module")
def agreement() -> ModuleType:
    spec = importlib.util.spec_from_file_location("agreement", ROOT / ".ci/agreement.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["agreement"] = module  # dataclasses look themselves up
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("group", FIGURES)
def test_a_published_figure_is_ours(agreement: ModuleType, group: dict) -> None:
    """Or differs as the page says."""
    [found] = agreement.figures(group)
    assert not found.worst or f"| {found.published} | {found.ours} |" in page()


def test_what_is_computed_by_day_is_among_the_published_figures() -> None:
    assert {group["quantity"] for group in groups()} >= QUICK
    assert {(group["quantity"], figure[0]) for group in groups() for figure in group["figures"]} >= DAILY


def test_the_page_has_every_published_figure(agreement: ModuleType) -> None:
    text = page()
    for group in groups():
        assert f"## {group['title']} · [{group['source']}](sources.md)" in text
        for _, _, published in group["figures"]:
            assert f"| {published} |" in text


def test_every_source_has_a_key() -> None:
    sources = (ROOT / "docs/reference/sources.md").read_text(encoding="utf-8")
    for group in groups():
        assert f"| [{group['source']}] |" in sources


def test_a_difference_needs_a_reason_and_a_bound(agreement: ModuleType) -> None:
    """Negative control: a figure that is wrong in its last digit is refused."""
    group = {"title": "", "source": "Farmer", "quantity": "insurance", "figures": [["1", "", "-.0589"]]}
    with pytest.raises(ValueError, match="0589"):
        agreement.figures(group)
    assert agreement.figures(group | {"why": "rounding", "within": 1e-3})[0].worst == pytest.approx(0.0589 - 3 / 51)
    with pytest.raises(ValueError, match="0589"):
        agreement.figures(group | {"why": "rounding", "within": 1e-5})
    assert agreement.figures(group | {"figures": [["1", "", "-.0588"]]})[0].worst == 0


def test_farmers_figure_of_cdp_maximizes_each_term(agreement: ModuleType) -> None:
    """To all digits of the program; the value of the strategy that we call CDP is higher by 2e-7 of a bet."""
    solver = agreement.shoe(agreement.parse_rules("1"))
    value = agreement.value_term_by_term(solver)
    assert 100 * value == pytest.approx(0.18311174418803589, abs=1e-12)
    assert solver.value_of("cdp") - value == pytest.approx(2.182e-7, abs=1e-10)


@pytest.mark.slow
def test_the_page_is_up_to_date(agreement: ModuleType) -> None:
    """About a minute on an idle core."""
    assert agreement.main(["--check"]) == 0
