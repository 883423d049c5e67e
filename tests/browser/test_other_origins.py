"""Pages of other origins can do nothing to a user who is signed in; headers tell the browser what to forbid."""

import base64
import re
import secrets
from collections.abc import Iterator
from typing import Any

import pytest
import urllib3
from ground import Watch
from playwright.sync_api import BrowserContext, Page

from cluster import Client, Cluster

pytestmark = pytest.mark.browser

EVIL = "http://evil.example"
TRY_CHANGE = """async ([url, method, type]) => {
    const body = JSON.stringify({ name: "from elsewhere" });
    const headers = type ? { "Content-Type": type } : {};
    try {
        const mode = type ? "cors" : "no-cors";
        return (await fetch(url, { method, body, headers, credentials: "include", mode })).type;
    } catch { return "refused"; }
}"""
TRY_SOCKET = """(url) => new Promise((done) => {
    const socket = new WebSocket(url);
    socket.onopen = () => done("open");
    socket.onerror = () => done("refused");
})"""


@pytest.fixture
def elsewhere(context: BrowserContext, signed_in: Page, site: Cluster, watch: Watch) -> Iterator[Page]:
    """A page of another site, in the browser of somebody who is signed in at ours."""
    watch.allow(r"CORS|40[0-9]|Content Security Policy|frame|WebSocket|ERR_FAILED|ERR_BLOCKED")
    address = f"{site.url.replace('127.0.0.1', 'localhost')}/evil"
    context.route(address, lambda route: route.fulfill(content_type="text/html", body="<p>welcome</p>"))
    signed_in.goto(address)
    yield signed_in
    watch.foreign.clear()


@pytest.mark.parametrize("how", [("POST", ""), ("POST", "application/json"), ("PUT", "application/json")])
def test_a_script_of_another_site_changes_nothing(
    elsewhere: Page, site: Cluster, client: Client, how: tuple[str, str]
) -> None:
    elsewhere.evaluate(TRY_CHANGE, [f"{site.url}/api/v1/workspaces", *how])
    names = [workspace["name"] for workspace in client.get("/api/v1/workspaces")["workspaces"]]
    assert "from elsewhere" not in names


def test_a_script_of_another_site_reads_nothing_and_opens_no_socket(elsewhere: Page, site: Cluster) -> None:
    read = "(url) => fetch(url, { credentials: 'include' }).then((a) => a.text(), () => 'refused')"
    assert elsewhere.evaluate(read, f"{site.url}/api/v1/me") == "refused"
    assert elsewhere.evaluate(TRY_SOCKET, f"{site.url.replace('http', 'ws')}/stream") == "refused"


def test_our_own_page_may_open_the_socket(signed_in: Page, site: Cluster) -> None:
    signed_in.goto("/det/dashboard")
    assert signed_in.evaluate(TRY_SOCKET, f"{site.url.replace('http', 'ws')}/stream") == "open"


def test_another_site_cannot_put_the_page_into_a_frame(elsewhere: Page, site: Cluster) -> None:
    elsewhere.evaluate(
        """(url) => new Promise((done) => {
        const frame = document.createElement("iframe");
        frame.src = url;
        frame.onload = done;
        document.body.append(frame);
    })""",
        f"{site.url}/det/login",
    )
    framed = elsewhere.frames[-1]
    assert framed != elsewhere.main_frame
    assert framed.url.startswith("chrome-error:")


@pytest.mark.parametrize("headers", [
    {"Origin": EVIL},
    {"Origin": "null"},
    {"Sec-Fetch-Site": "cross-site"},
    {"Sec-Fetch-Site": "same-site"},
    {"Host": "evil.example"},
])  # fmt: skip
def test_the_cookie_alone_is_not_enough(
    context: BrowserContext, signed_in: Page, site: Cluster, headers: dict[str, str]
) -> None:
    """A browser without SameSite sends such requests, or one that reached our address under another name."""
    sent = {"Cookie": f"auth={_cookie(context)['value']}", "Content-Type": "application/json", **headers}
    http = urllib3.PoolManager(retries=False, timeout=30)
    change = http.request("POST", f"{site.url}/api/v1/workspaces", body=b'{"name": "forged"}', headers=sent)
    assert change.status == 403, change.data
    socket = http.request("GET", f"{site.url}/stream", headers={**sent, **_upgrade()})
    assert socket.status == 403, socket.data


def test_the_same_cookie_from_our_own_page_is_enough(context: BrowserContext, signed_in: Page, site: Cluster) -> None:
    sent = {"Cookie": f"auth={_cookie(context)['value']}", "Origin": site.url, "Sec-Fetch-Site": "same-origin"}
    http = urllib3.PoolManager(retries=False, timeout=30)
    change = http.request("POST", f"{site.url}/api/v1/workspaces", body=b'{"name": "our own"}', headers=sent)
    assert change.status == 200, change.data


def test_the_cookie_is_kept_from_scripts_and_from_other_sites(context: BrowserContext, signed_in: Page) -> None:
    cookie = _cookie(context)
    assert cookie["httpOnly"]
    assert cookie["sameSite"] in ("Lax", "Strict")
    signed_in.goto("/det/dashboard")
    assert signed_in.evaluate("document.cookie") == ""
    kept = signed_in.evaluate("JSON.stringify([{...localStorage}, {...sessionStorage}])")
    assert cookie["value"] not in kept


@pytest.mark.parametrize("path", ["/det/", "/det/login", "/det/experiments/1", "/det/<script>", "/docs"])
def test_the_policy_of_a_page_is_strict(page: Page, path: str) -> None:
    answer = page.request.get(path)
    policy = dict(
        part.strip().split(" ", 1)
        for part in answer.headers["content-security-policy"].split(";")
        if " " in part.strip()
    )
    scripts = policy.get("script-src", policy["default-src"])
    assert not re.search(r"unsafe|\*|http|data:|blob:", scripts), scripts
    assert "unsafe" not in policy.get("style-src", "")
    assert policy.get("object-src", policy["default-src"]) == "'none'"
    assert policy["base-uri"] == "'none'"
    assert answer.headers["x-content-type-options"] == "nosniff"


def _cookie(context: BrowserContext) -> Any:
    [found] = [cookie for cookie in context.cookies() if cookie.get("name") == "auth"]
    return found


def _upgrade() -> dict[str, str]:
    key = base64.b64encode(secrets.token_bytes(16)).decode()
    return {
        "Connection": "Upgrade",
        "Upgrade": "websocket",
        "Sec-WebSocket-Version": "13",
        "Sec-WebSocket-Key": key,
    }
