"""Apps in a browser: from the page of the master to the origin of the app, and what is served there."""

import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlsplit

import pytest
from small_app import Received, SmallApp, answer, echo_websocket
from tracked import until
from websockets.sync.client import connect

from browser import NAVIGATE, Browser
from determined.master.proxy.http_headers import APP_COOKIE


def _signed_in(ground: Any, client: Any) -> Browser:
    """The browser of somebody who has logged in at the page of the master."""
    browser = Browser(ground.address)
    browser.jar["localhost", "/", "auth"] = client.headers["Authorization"].removeprefix("Bearer ")
    return browser


def _main(ground: Any) -> str:
    return f"http://localhost:{ground.address.partition(':')[2]}"


def _label(served: Any, app: SmallApp) -> str:
    return f"{served.task_id}-{app.port}".replace(".", "-")


def test_a_browser_is_led_to_the_origin_of_the_app(ground: Any, make_app: Any) -> None:
    app = make_app()
    served = ground.serve(ground.admin, {"proxy_port": app.port})
    browser = _signed_in(ground, ground.admin)
    page = browser.open(_main(ground) + served.path(app, "tree/x?a=1&b=%20"))
    assert page.status == 200
    assert page.text == f"Hello GET {served.path(app, 'tree/x?a=1&b=%20')} HTTP/1.1"
    assert urlsplit(page.url).hostname == f"{_label(served, app)}.localhost"
    assert "ticket" not in page.url
    assert [cookie for cookie in browser.jar if cookie[2] == APP_COOKIE] == [
        (f"{_label(served, app)}.localhost", served.path(app), APP_COOKIE)
    ]


def test_the_cookie_of_the_app_is_kept_from_scripts_and_other_sites(ground: Any, make_app: Any) -> None:
    app = make_app()
    served = ground.serve(ground.admin, {"proxy_port": app.port})
    browser = _signed_in(ground, ground.admin)
    first = browser.request("GET", _main(ground) + served.path(app), NAVIGATE)
    assert first.status == 303
    second = browser.request("GET", first.headers["Location"], NAVIGATE)
    attributes = second.headers["Set-Cookie"].split("; ")[1:]
    assert attributes[:3] == [f"Path={served.path(app)}", "HttpOnly", "SameSite=Lax"]
    assert "Domain" not in second.headers["Set-Cookie"]
    assert second.headers["Location"] == served.path(app)


def test_the_pages_of_the_app_work_at_its_origin(ground: Any, make_app: Any) -> None:
    app = make_app()
    served = ground.serve(ground.admin, {"proxy_port": app.port})
    browser = _signed_in(ground, ground.admin)
    page = browser.open(_main(ground) + served.path(app))
    assert browser.fetch(page, "api/kernels").status == 200
    assert browser.fetch(page, "api/kernels", "POST").status == 200
    assert browser.open(page.url, site="cross-site").status == 200, "a link from elsewhere opens it"


def test_nothing_of_the_master_is_served_at_the_origin_of_an_app(ground: Any, make_app: Any) -> None:
    app = make_app()
    served = ground.serve(ground.admin, {"proxy_port": app.port})
    browser = _signed_in(ground, ground.admin)
    page = browser.open(_main(ground) + served.path(app))
    host = urlsplit(page.url).netloc
    for path in ("/", "/det/", "/api/v1/me", "/info", "/docs/openapi.json", "/health", "/stream", "/api/v1/auth/login"):
        for headers in ({}, ground.admin.headers, {"Cookie": browser.cookies_for(_main(ground) + "/")}):
            got = ground.raw("GET", path, {"Host": host, **headers})
            assert got.status == 404, (path, headers, got.text)


def test_a_websocket_that_is_not_of_an_app_is_refused_at_its_origin(ground: Any, make_app: Any) -> None:
    app = make_app()
    served = ground.serve(ground.admin, {"proxy_port": app.port})
    upgrade = {"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13"}
    headers = {**upgrade, "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==", **ground.admin.headers}
    host = f"{_label(served, app)}.localhost:1"
    assert ground.raw("GET", "/stream", {"Host": host, **headers}).status == 403
    assert ground.raw("GET", "/stream", headers).status == 101


def test_the_session_cookie_opens_nothing_at_the_origin_of_an_app(ground: Any, make_app: Any) -> None:
    app = make_app()
    served = ground.serve(ground.admin, {"proxy_port": app.port})
    token = ground.admin.headers["Authorization"].removeprefix("Bearer ")
    headers = {"Host": f"{_label(served, app)}.localhost:1", "Cookie": f"auth={token}"}
    assert ground.raw("GET", served.path(app), headers).status == 401
    assert app.received == []


def test_a_browser_that_is_not_signed_in_is_told_where_to(ground: Any, make_app: Any) -> None:
    app = make_app()
    served = ground.serve(ground.admin, {"proxy_port": app.port})
    page = Browser(ground.address).open(_main(ground) + served.path(app))
    assert page.status == 401
    assert page.headers["content-type"].startswith("text/html")
    assert 'href="/det/login"' in page.text


def test_a_browser_waits_for_an_app_that_does_not_listen_yet(ground: Any, make_app: Any) -> None:
    app = make_app()
    served = ground.serve(ground.admin, {"proxy_port": app.port})
    app.close()
    page = _signed_in(ground, ground.admin).open(_main(ground) + served.path(app))
    assert page.status == 503
    assert "http-equiv=refresh" in page.text


def _after_opening(ground: Any, make_app: Any, client: Any) -> tuple[Browser, Any, Any]:
    app = make_app()
    served = ground.serve(client, {"proxy_port": app.port})
    browser = _signed_in(ground, client)
    page = browser.open(_main(ground) + served.path(app))
    assert browser.fetch(page, "x").status == 200
    return browser, page, served


def test_a_logout_ends_the_visit(ground: Any, make_app: Any) -> None:
    ada = ground.person("ada")
    browser, page, _ = _after_opening(ground, make_app, ada)
    assert ada.post("/api/v1/auth/logout").status == 200
    assert browser.fetch(page, "x").status == 401


def test_a_deactivation_ends_the_visit(ground: Any, make_app: Any) -> None:
    ada = ground.person("ada")
    user_id = ada.get("/api/v1/me").json["user"]["id"]
    browser, page, _ = _after_opening(ground, make_app, ada)
    assert ground.admin.patch(f"/api/v1/users/{user_id}", {"active": False}).status == 200
    assert browser.fetch(page, "x").status in (401, 403)


def test_the_end_of_the_task_ends_the_visit(ground: Any, make_app: Any) -> None:
    browser, page, served = _after_opening(ground, make_app, ground.admin)
    experiment = served.task_id.partition(".")[0]
    assert ground.admin.post(f"/api/v1/experiments/{experiment}/kill").status == 200
    served.end()
    until(lambda: browser.fetch(page, "x").status != 200)


def test_twelve_hours_end_the_visit_and_the_master_renews_it(make_ground: Any, make_app: Any) -> None:
    clock = _Clock()
    ground = make_ground(clock=clock)
    browser, page, _ = _after_opening(ground, make_app, ground.admin)
    clock.ahead = timedelta(hours=13)
    assert browser.fetch(page, "x").status == 401
    assert browser.open(page.url).status == 200, "who is still signed in gets another ticket"
    assert browser.fetch(page, "x").status == 200


class _Clock:
    def __init__(self) -> None:
        self.ahead = timedelta(0)

    def now(self) -> datetime:
        return datetime.now(UTC) + self.ahead


def test_cookies_of_the_app_stay_at_its_host(ground: Any, make_app: Any) -> None:
    def cookies(_request: Received, connection: Any, _app: SmallApp) -> None:
        answer(
            connection, b"", "Set-Cookie: own=1; Domain=localhost; Path=/; HttpOnly", "Set-Cookie: auth=evil; Path=/"
        )

    app = make_app(behave=cookies)
    served = ground.serve(ground.admin, {"proxy_port": app.port})
    page = _signed_in(ground, ground.admin).open(_main(ground) + served.path(app))
    assert page.headers.get_all("Set-Cookie") == ["own=1; Path=/; HttpOnly"]


def test_the_app_may_be_framed_by_the_page_of_the_master_alone(ground: Any, make_app: Any) -> None:
    app = make_app()
    served = ground.serve(ground.admin, {"proxy_port": app.port})
    page = _signed_in(ground, ground.admin).open(_main(ground) + served.path(app))
    assert page.headers.get_all("Content-Security-Policy") == [f"frame-ancestors {_main(ground)}"]


def test_a_domain_of_the_config_gives_each_app_a_host_below_it(make_ground: Any, make_app: Any) -> None:
    ground = make_ground(proxy={"domain": "apps.example.com"})
    app = make_app()
    served = ground.serve(ground.admin, {"proxy_port": app.port})
    browser = _signed_in(ground, ground.admin)
    page = browser.open(_main(ground) + served.path(app))
    assert page.status == 200
    assert urlsplit(page.url).hostname == f"{_label(served, app)}.apps.example.com"


def test_a_second_port_is_the_origin_of_all_apps(make_ground: Any, make_app: Any) -> None:
    ground = make_ground(second_port=True, host="0.0.0.0")
    app = make_app(behave=_set_cookie)
    served = ground.serve(ground.admin, {"proxy_port": app.port})
    browser = Browser(ground.address)
    browser.jar["master.example", "/", "auth"] = ground.admin.headers["Authorization"].removeprefix("Bearer ")
    page = browser.open(f"http://master.example:{ground.address.partition(':')[2]}{served.path(app)}")
    assert page.status == 200
    assert urlsplit(page.url).netloc == f"master.example:{ground.second_port}"
    assert page.headers.get_all("Set-Cookie") == [f"own=1; Path={served.path(app)}"]
    assert browser.fetch(page, "/api/v1/me").status == 404


def _set_cookie(_request: Received, connection: Any, _app: SmallApp) -> None:
    answer(connection, b"", "Set-Cookie: own=1; Path=/")


@pytest.mark.parametrize("headers", [{"Host": "master.example"}, {"X-Forwarded-For": "203.0.113.5"}])
def test_without_an_origin_for_apps_a_browser_is_told_so(make_ground: Any, make_app: Any, headers: Any) -> None:
    ground = make_ground(host="0.0.0.0")
    app = make_app()
    served = ground.serve(ground.admin, {"proxy_port": app.port})
    token = ground.admin.headers["Authorization"].removeprefix("Bearer ")
    got = ground.raw("GET", served.path(app), {**NAVIGATE, "Cookie": f"auth={token}", **headers})
    assert got.status == 403
    assert "proxy.domain" in got.text
    assert ground.admin.get(served.path(app)).status == 200, "a token works regardless"


def test_an_operator_may_insist_on_apps_at_the_address_of_the_master(make_ground: Any, make_app: Any) -> None:
    ground = make_ground(proxy={"same_origin": True})
    app = make_app()
    served = ground.serve(ground.admin, {"proxy_port": app.port})
    browser = _signed_in(ground, ground.admin)
    page = browser.open(_main(ground) + served.path(app))
    assert (page.status, urlsplit(page.url).netloc) == (200, urlsplit(_main(ground)).netloc)
    assert page.headers.get_all("Content-Security-Policy") == ["frame-ancestors 'self'"]
    assert browser.fetch(page, "data", "POST").status == 200
    assert browser.fetch(page, "data", "POST", "cross-site", Origin="http://evil.example").status == 403
    assert "auth" not in (app.received[-1].header("cookie") or "")


def _rests(read: Callable[[], object]) -> bool:
    """Look twice: the answer to the handshake may still be on its way when the client has read it."""
    before = read()
    time.sleep(0.3)
    return read() == before


def test_a_tab_that_only_pings_does_not_count_as_use(ground: Any, make_app: Any) -> None:
    app = make_app(behave=echo_websocket)
    served = ground.serve(ground.admin, {"proxy_port": app.port})
    url, activity = f"ws://{ground.address}{served.path(app)}", ground.master.ctx.activity
    with connect(url, additional_headers=ground.admin.headers, ping_interval=None) as client:
        until(lambda: _rests(lambda: activity.last(served.task_id)))  # the opening of the connection has been noted
        opened = activity.last(served.task_id)
        client.ping()
        until(lambda: app.pings)
        assert activity.last(served.task_id) == opened
        client.send("something")
        until(lambda: activity.last(served.task_id) != opened)
