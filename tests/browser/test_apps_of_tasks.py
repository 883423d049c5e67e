"""An app of a task in a real browser: it is shown at an origin of its own, and can do nothing as its visitor."""

from collections.abc import Iterator
from typing import Any

import pytest
import urllib3
from ground import Watch
from playwright.sync_api import BrowserContext, Page
from served import Serving, serving

from cluster import Client, Cluster

pytestmark = pytest.mark.browser

TRY_READ = "(url) => fetch(url, { credentials: 'include' }).then((a) => a.text(), () => 'refused')"
TRY_CHANGE = """(url) => fetch(url, {
    method: "POST", mode: "no-cors", credentials: "include", body: JSON.stringify({ name: "from an app" }),
}).then((a) => a.type, () => "refused")"""
TRY_SOCKET = """(url) => new Promise((done) => {
    const socket = new WebSocket(url);
    socket.onopen = () => done("open");
    socket.onerror = () => done("refused");
})"""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    running = Cluster(tmp_path_factory.mktemp("site"))
    running.start()
    yield running
    running.stop()
    running.end_runners()


@pytest.fixture(scope="module")
def trial(site: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    with serving(site, tmp_path_factory.mktemp("model")) as found:
        yield found


@pytest.fixture
def app(signed_in: Page, trial: Serving, watch: Watch) -> Iterator[Page]:
    """The app's page, opened by somebody who is signed in at the master."""
    watch.allow(r"CORS|40[0-9]|WebSocket|ERR_FAILED|ERR_BLOCKED|favicon")
    signed_in.goto(f"/proxy/{trial.task_id}:{trial.http}/page")
    yield signed_in
    watch.foreign.clear()


def test_the_app_is_shown_at_a_host_of_its_own(app: Page, trial: Serving) -> None:
    label = f"{trial.task_id}-{trial.http}".replace(".", "-")
    assert app.evaluate("location.hostname") == f"{label}.localhost"
    assert "ticket" not in app.url
    assert f"Hello /proxy/{trial.task_id}:{trial.http}/page" in app.content()


def test_a_script_of_the_app_finds_no_cookie_of_ours(app: Page, context: BrowserContext) -> None:
    assert app.evaluate("document.cookie") == ""
    own = {cookie["name"]: cookie for cookie in context.cookies() if cookie["domain"].endswith(".localhost")}
    assert [(cookie["httpOnly"], cookie["sameSite"]) for cookie in own.values()] == [(True, "Lax")]


def test_a_script_of_the_app_reads_the_app_and_nothing_of_the_master(
    app: Page, trial: Serving, site: Cluster, client: Client
) -> None:
    path = f"/proxy/{trial.task_id}:{trial.http}/data"
    assert app.evaluate(TRY_READ, path) == f"Hello {path}"
    for host in (site.url, site.url.replace("127.0.0.1", "localhost")):
        assert app.evaluate(TRY_READ, f"{host}/api/v1/me") == "refused"
        assert app.evaluate(TRY_READ, f"{host}{path}") == "refused"
        app.evaluate(TRY_CHANGE, f"{host}/api/v1/workspaces")
        assert app.evaluate(TRY_SOCKET, f"{host.replace('http', 'ws')}/stream") == "refused"
    assert "not found" in app.evaluate(TRY_READ, "/api/v1/me")
    assert "from an app" not in [one["name"] for one in client.get("/api/v1/workspaces")["workspaces"]]


def test_a_script_of_the_master_reads_no_app_with_its_cookie(
    signed_in: Page, trial: Serving, watch: Watch, context: BrowserContext, site: Cluster
) -> None:
    watch.allow(r"40[0-9]|favicon")
    context.route(f"{site.url}/blank", lambda route: route.fulfill(content_type="text/html", body="<p>blank</p>"))
    signed_in.goto("/blank")
    said: Any = signed_in.evaluate(TRY_READ, f"/proxy/{trial.task_id}:{trial.http}/data")
    assert "Hello" not in said
    assert "opens no apps" in said


def test_after_a_logout_the_app_asks_the_master_again(app: Page, context: BrowserContext, site: Cluster) -> None:
    [session] = [cookie["value"] for cookie in context.cookies() if cookie["name"] == "auth"]
    headers = {"Authorization": f"Bearer {session}"}
    assert urllib3.request("POST", f"{site.url}/api/v1/auth/logout", headers=headers).status == 200
    app.reload()
    assert app.url.startswith(site.url)
    assert "Sign in" in app.content()
