"""Journeys: whoever signs out, or is signed out, sees nothing any more in any tab, and no tab holds a stream."""

import pytest
from ground import Watch, submit
from playwright.sync_api import BrowserContext, Locator, Page, WebSocket, expect

from cluster import Client, Cluster, eventually

pytestmark = pytest.mark.browser

SOON_MS = 10_000  # on a busy machine; alone it takes a fraction of a second


@pytest.fixture(autouse=True)
def experiment(client: Client, tmp_path_factory: pytest.TempPathFactory) -> int:
    made = submit(client, tmp_path_factory.mktemp("exp"), name="kept secret")
    client.wait_state(made, "COMPLETED")
    return made


def test_signing_out_in_one_tab_empties_every_tab(signed_in: Page, context: BrowserContext) -> None:
    idle = context.new_page()
    idle.goto("/det/projects/1/runs")
    expect(idle.get_by_text("kept secret").first).to_be_visible()
    expect(_live(idle)).to_be_visible()
    signed_in.goto("/det/dashboard")
    expect(_live(signed_in)).to_be_visible()
    signed_in.goto("/det/logout")
    expect(idle.get_by_label("User", exact=True)).to_be_visible(timeout=SOON_MS)
    expect(idle.get_by_text("kept secret")).to_have_count(0)


def test_a_tab_of_an_ended_session_holds_no_stream(signed_in: Page, context: BrowserContext) -> None:
    context.add_init_script("delete window.SharedWorker")  # Playwright sees sockets of pages, not of workers
    sockets: list[WebSocket] = []
    idle = context.new_page()
    idle.on("websocket", lambda opened: sockets.append(opened))  # noqa: PLW0108 (Playwright marks the handler)
    idle.goto("/det/projects/1/runs")
    expect(_live(idle)).to_be_visible()
    signed_in.goto("/det/logout")
    expect(idle.get_by_label("User", exact=True)).to_be_visible(timeout=SOON_MS)
    assert eventually(lambda: idle.wait_for_timeout(50) or all(socket.is_closed() for socket in sockets))
    assert len(sockets) == 1


def test_a_session_that_an_administrator_ends_empties_an_idle_tab(signed_in: Page, watch: Watch, site: Cluster) -> None:
    watch.allow("WebSocket connection")
    signed_in.goto("/det/projects/1/runs")
    expect(signed_in.get_by_text("kept secret").first).to_be_visible()
    expect(_live(signed_in)).to_be_visible()
    cookie = next(one for one in signed_in.context.cookies() if one["name"] == "auth")
    other = Client(site.url)
    other.headers = {"Authorization": f"Bearer {cookie['value']}"}
    other.post("/api/v1/auth/logout")
    expect(signed_in.get_by_label("User", exact=True)).to_be_visible(timeout=SOON_MS)
    expect(signed_in.get_by_text("kept secret")).to_have_count(0)


def _live(page: Page) -> Locator:
    return page.get_by_role("banner").get_by_text("Live", exact=True)
