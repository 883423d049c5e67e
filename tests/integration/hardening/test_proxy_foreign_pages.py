"""Pages with bad intent: none reaches the master or another app in the name of its visitor."""

from typing import Any
from urllib.parse import urlsplit

import pytest
from proxy_visits import WEBSOCKET, main_origin, opened, signed_in, token_of
from small_app import echo, echo_websocket
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from browser import NAVIGATE
from determined.master.auth import allocation_token


@pytest.fixture
def ground(make_ground: Any) -> Any:
    return make_ground()


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_a_page_of_an_app_cannot_call_the_master_as_its_visitor(ground: Any, make_app: Any, site: str) -> None:
    browser, page, _, _ = opened(ground, make_app, ground.admin)
    workspaces = browser.fetch(page, main_origin(ground) + "/api/v1/workspaces", "POST", site)
    assert workspaces.status == 403
    me = browser.fetch(page, main_origin(ground) + "/api/v1/me", "GET", site)
    assert "access-control-allow-origin" not in me.headers, "the browser would show it to the page"


def test_a_page_of_an_app_cannot_follow_the_masters_changes(ground: Any, make_app: Any) -> None:
    browser, page, _, _ = opened(ground, make_app, ground.admin)
    origin = f"http://{urlsplit(page.url).netloc}"
    cookie = browser.cookies_for(main_origin(ground) + "/stream")
    headers = {**WEBSOCKET, "Cookie": cookie, "Origin": origin, "Host": urlsplit(main_origin(ground)).netloc}
    assert ground.raw("GET", "/stream", headers).status in (401, 403)


def test_a_page_cannot_read_another_app_with_the_cookie_of_the_master(ground: Any, make_app: Any) -> None:
    browser, page, _, _ = opened(ground, make_app, ground.admin)
    other = make_app()
    served = ground.serve(ground.admin, {"proxy_port": other.port})
    got = browser.fetch(page, main_origin(ground) + served.path(other), "GET", "same-site")
    assert got.status == 403
    post = browser.fetch(page, main_origin(ground) + served.path(other), "POST", "same-site")
    assert post.status == 403
    assert other.received == []


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_a_page_of_one_app_cannot_use_another_that_is_open_as_well(ground: Any, make_app: Any, method: str) -> None:
    browser, page, _, _ = opened(ground, make_app, ground.admin)
    other = make_app()
    served = ground.serve(ground.admin, {"proxy_port": other.port})
    other_page = browser.open(main_origin(ground) + served.path(other))
    assert other_page.status == 200
    before = len(other.received)
    for site in ("cross-site", "same-site"):
        assert browser.fetch(page, other_page.url, method, site).status == 403
    framed = {**NAVIGATE, "Sec-Fetch-Site": "cross-site", "Sec-Fetch-Dest": "iframe"}
    assert browser.request("GET", other_page.url, framed).status == 403
    assert len(other.received) == before


def test_a_form_that_another_page_sends_to_an_app_is_refused_by_its_origin(ground: Any, make_app: Any) -> None:
    browser, page, _, app = opened(ground, make_app, ground.admin)
    before = len(app.received)
    plain_http = {"Origin": "http://evil.example", "Accept": "text/html"}  # browsers leave Sec-Fetch-Site out there
    assert browser.request("POST", page.url, plain_http).status == 403
    assert browser.request("POST", page.url, {**plain_http, "Origin": "null"}).status == 403
    assert len(app.received) == before


# WebSockets


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "", "main"])
def test_a_websocket_of_a_foreign_page_is_refused_at_the_origin_of_an_app(
    ground: Any, make_app: Any, origin: str
) -> None:
    browser, page, served, app = opened(ground, make_app, ground.admin)
    app.behave = echo_websocket
    cookie, host = browser.cookies_for(page.url), urlsplit(page.url).netloc
    headers = {**WEBSOCKET, "Cookie": cookie, "Host": host}
    named = main_origin(ground) if origin == "main" else origin
    assert ground.raw("GET", served.path(app), {**headers, **({"Origin": named} if named else {})}).status == 403
    own = {**headers, "Origin": f"http://{host}"}
    assert ground.raw("GET", served.path(app), own).status == 101


def test_a_websocket_of_a_page_is_refused_at_the_address_of_the_master(ground: Any, make_app: Any) -> None:
    app = make_app(behave=echo_websocket)
    served = ground.serve(ground.admin, {"proxy_port": app.port})
    own = allocation_token.app_token(ground.master.ctx.cluster.secret, served.launch.allocation_id)
    url = f"ws://{ground.address}{served.path(app)}?token={own}"
    with pytest.raises(InvalidStatus), connect(url, origin=main_origin(ground)):  # type: ignore[arg-type]
        pass
    cookie = {"Cookie": f"auth={token_of(ground.admin)}", "Origin": main_origin(ground)}
    assert ground.raw("GET", served.path(app), {**WEBSOCKET, **cookie}).status == 403
    assert app.received == []


def test_raw_tcp_is_never_opened_by_a_cookie(ground: Any, make_app: Any) -> None:
    app = make_app(raw=echo)
    served = ground.serve(ground.admin, {"proxy_port": app.port, "proxy_tcp": True})
    browser = signed_in(ground, ground.admin)
    first = browser.request("GET", main_origin(ground) + served.path(app), NAVIGATE)
    browser.request("GET", first.headers["Location"], NAVIGATE)
    host = urlsplit(first.headers["Location"]).netloc
    cookie = browser.cookies_for(first.headers["Location"])
    headers = {**WEBSOCKET, "Cookie": cookie, "Host": host, "Origin": f"http://{host}"}
    assert ground.raw("GET", served.path(app), headers).status == 403
