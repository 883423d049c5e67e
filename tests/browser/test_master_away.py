"""Journeys: while the master or the network is away a page keeps what it drew, says so, and comes back by itself."""

from pathlib import Path

import pytest
from ground import Watch, submit
from playwright.sync_api import BrowserContext, Locator, Page, expect

from cluster import Client, Cluster

pytestmark = pytest.mark.browser

PROVOKED = "ERR_CONNECTION|WebSocket|ERR_EMPTY_RESPONSE|ERR_INCOMPLETE|ERR_INTERNET|net::|Failed to load resource"
COLOURED = """canvas => {
    const filter = getComputedStyle(canvas).filter;
    return filter === "none";
}"""


@pytest.fixture
def experiment(client: Client, tmp_path: Path) -> int:
    made = submit(client, tmp_path / "exp", name="an idle one")
    client.wait_state(made, "COMPLETED")
    return made


def test_charts_and_tables_stay_greyed_while_the_master_is_away_and_come_back(
    signed_in: Page, watch: Watch, site: Cluster, experiment: int, tmp_path: Path
) -> None:
    watch.allow(PROVOKED)
    signed_in.goto(f"/det/experiments/{experiment}/overview")
    expect(_chart(signed_in)).to_be_visible()
    expect(signed_in.get_by_role("cell", name="validation").first).to_be_visible()
    expect(_pill(signed_in, "Live")).to_be_visible()
    site.kill()
    away = signed_in.get_by_role("alert").filter(has_text="The master does not answer")
    expect(away).to_be_visible()
    signed_in.screenshot(path=tmp_path / "away.png")
    assert _chart(signed_in).evaluate(COLOURED) is False
    expect(signed_in.get_by_role("cell", name="validation").first).to_be_visible()
    expect(signed_in.get_by_role("button", name="Retry")).to_have_count(0)
    site.start()
    expect(_pill(signed_in, "Live")).to_be_visible()
    expect(away).to_have_count(0)
    assert _chart(signed_in).evaluate(COLOURED) is True


def test_an_idle_page_says_that_the_browser_is_offline(
    signed_in: Page, context: BrowserContext, watch: Watch, experiment: int
) -> None:
    watch.allow(PROVOKED)
    signed_in.goto(f"/det/experiments/{experiment}/overview")
    expect(_chart(signed_in)).to_be_visible()
    context.set_offline(True)
    away = signed_in.get_by_role("alert").filter(has_text="This browser is offline")
    expect(away).to_be_visible()
    expect(_pill(signed_in, "Offline")).to_be_visible()
    expect(_chart(signed_in)).to_be_visible()
    context.set_offline(False)
    expect(away).to_have_count(0)
    expect(_pill(signed_in, "Live")).to_be_visible()


def _chart(page: Page) -> Locator:
    return page.locator("figure canvas").first


def _pill(page: Page, word: str) -> Locator:
    return page.get_by_role("banner").get_by_text(word, exact=True)
