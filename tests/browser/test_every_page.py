"""Open every address of the page over a cluster full of hostile names: each renders, is accessible in both themes, fits
a phone and a screen magnified to 200 %, runs no attack, and logs no error.
"""

import re

import pytest
from addresses import ADDRESSES, COMING, REDIRECTS, settled
from ground import COLOURS, assert_accessible, assert_fits, darken
from hostility import assert_inert, listen_to_violations
from playwright.sync_api import BrowserContext, Page, expect

from cluster import ROOT

pytestmark = pytest.mark.browser
COMMANDS = ROOT / "tests" / "unit" / "cli" / "command_tree.txt"


@pytest.mark.parametrize("address", ADDRESSES)
def test_a_page_is_accessible_inert_and_fits(guarded: Page, named: dict[str, int], address: str) -> None:
    guarded.goto(f"/det/{address.format(**named)}")
    settled(guarded)
    expect(guarded.get_by_text("There is no page")).to_have_count(1 if address == "no/such/page" else 0)
    assert_accessible(guarded)
    darken(guarded)
    assert_accessible(guarded, *COLOURS)
    assert_inert(guarded)
    assert_fits(guarded, 320, 640)
    assert_inert(guarded)
    assert_fits(guarded, 640, 400)  # 1280 x 800 at 200 %


@pytest.mark.parametrize("address", COMING)
def test_a_page_to_come_names_commands_that_exist(signed_in: Page, named: dict[str, int], address: str) -> None:
    signed_in.goto(f"/det/{address.format(**named)}")
    expect(signed_in.get_by_text("This page is still to come")).to_be_visible()
    shown = signed_in.locator("main code").all_inner_texts()
    assert shown
    tree = COMMANDS.read_text().splitlines()
    for command in shown:
        assert any(re.match(_pattern(line), command) for line in tree), f"there is no {command!r}"


@pytest.mark.parametrize("path", REDIRECTS)
def test_an_older_address_leads_to_its_page(signed_in: Page, named: dict[str, int], path: str) -> None:
    signed_in.goto(f"/det/{path.format(**named)}")
    expect(signed_in).to_have_url(re.compile(rf"/det/{re.escape(REDIRECTS[path].format(**named))}$"))
    settled(signed_in)


def test_the_sign_in_is_accessible_inert_and_fits(context: BrowserContext, page: Page, named: dict[str, int]) -> None:
    listen_to_violations(context)
    page.goto("/det/login?redirect=javascript:stolen=1")
    expect(page.get_by_label(re.compile("^password", re.I))).to_be_visible()
    assert_accessible(page)
    darken(page)
    assert_accessible(page, *COLOURS)
    assert_fits(page, 320, 640)
    page.get_by_label(re.compile("user", re.I)).first.fill("determined")
    page.get_by_role("button", name=re.compile("sign in", re.I)).click()
    expect(page).to_have_url(re.compile("/det/dashboard$"))
    assert_inert(page)


def _pattern(line: str) -> str:
    """Return what a command may begin with, from a line such as `det agent|a list|ls * :: --json`."""
    words = line.split(" ::", maxsplit=1)[0].removesuffix(" *").split()
    return " ".join(f"(?:{word})" for word in words) + r"(?: |$)"
