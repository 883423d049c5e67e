"""The documentation site as the master serves it: found from the page, searched, and with nothing from other hosts."""

import importlib.util
import re

import pytest
from ground import Watch
from playwright.sync_api import Browser, Page, expect

from cluster import ROOT, Cluster

pytestmark = [pytest.mark.browser, pytest.mark.timeout(600)]


@pytest.fixture(scope="module", autouse=True)
def built_guide() -> None:
    spec = importlib.util.spec_from_file_location("guide_build", ROOT / "scripts" / "guide" / "build.py")
    assert spec is not None
    assert spec.loader is not None
    build = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(build)
    build.ensure()


def test_the_account_menu_opens_the_guide(signed_in: Page) -> None:
    signed_in.goto("/det/dashboard")
    signed_in.get_by_role("button", name="Account of determined").click()
    with signed_in.expect_popup() as opened:
        signed_in.get_by_role("menuitem", name="Guide").click()
    expect(opened.value.get_by_role("heading", name="Determined", level=1)).to_be_visible()


def test_a_word_is_found_and_leads_to_its_page(page: Page) -> None:
    page.goto("/docs/guide/")
    page.get_by_role("button", name="Search").first.click()
    page.keyboard.type("should_preempt")
    page.locator("a", has_text="should_preempt").filter(has_text="determined.core").first.click()
    expect(page).to_have_url(re.compile(r"/docs/guide/reference/python/core\.html"))


@pytest.mark.parametrize("colours", ["light", "dark"])
def test_pages_of_each_kind_are_shown_in_the_colours_of_the_system(
    browser: Browser, site: Cluster, watch: Watch, colours: str
) -> None:
    context = browser.new_context(base_url=site.url, color_scheme=colours)
    watch.over(context)
    page = context.new_page()
    for name in (
        "getting-started",
        "reference/cli",
        "reference/python/core",
        "examples/pytorch/mnist",
        "architecture/http",
    ):
        page.goto(f"/docs/guide/{name}.html")
        expect(page.get_by_role("heading", level=1)).to_be_visible()
    assert page.evaluate("document.body.dataset.mdColorScheme") == {"light": "default", "dark": "slate"}[colours]
    context.close()
    watch.assert_clean()
