"""Apps and visitors with bad intent: an app gets nothing of its visitors, and nobody gets to another's app."""

import socket
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlsplit

import pytest
from small_app import Received, SmallApp, answer, echo, echo_websocket
from tracked import until
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from browser import NAVIGATE, Browser
from determined.master.auth import allocation_token
from determined.master.proxy.http_headers import APP_COOKIE, TICKET

WEBSOCKET = {
    "Connection": "Upgrade",
    "Upgrade": "websocket",
    "Sec-WebSocket-Version": "13",
    "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
}


def _token(client: Any) -> str:
    return str(client.headers["Authorization"].removeprefix("Bearer "))


def _main(ground: Any) -> str:
    return f"http://localhost:{ground.address.partition(':')[2]}"


def _signed_in(ground: Any, client: Any) -> Browser:
    browser = Browser(ground.address)
    browser.jar["localhost", "/", "auth"] = _token(client)
    return browser


def _host(ground: Any, served: Any, app: SmallApp) -> str:
    label = f"{served.task_id}-{app.port}".replace(".", "-")
    return f"{label}.localhost:{ground.address.partition(':')[2]}"


def _opened(ground: Any, make_app: Any, client: Any, **how: Any) -> tuple[Browser, Any, Any, SmallApp]:
    """A browser with a page of an app."""
    app = make_app(**how)
    served = ground.serve(client, {"proxy_port": app.port})
    browser = _signed_in(ground, client)
    return browser, browser.open(_main(ground) + served.path(app)), served, app


@pytest.fixture
def ground(make_ground: Any) -> Any:
    return make_ground()


# What an app hears of its visitors


def _all_text(app: SmallApp) -> str:
    return "\n".join(
        [request.line + "".join(f"\n{name}: {value}" for name, value in request.headers) for request in app.received]
    )


def test_an_app_never_sees_the_token_of_a_program(ground: Any, make_app: Any) -> None:
    app = make_app()
    served = ground.serve(ground.admin, {"proxy_port": app.port})
    cookie = {"Cookie": f"auth={_token(ground.admin)}; mine=1; __Host-auth={_token(ground.admin)}; {APP_COOKIE}=x"}
    assert ground.raw("GET", served.path(app), {**ground.admin.headers, **cookie}).status == 200
    assert _token(ground.admin) not in _all_text(app)
    assert app.received[0].header("cookie") == "mine=1"
    assert app.received[0].header("authorization") is None


def test_an_app_never_sees_what_opened_it_in_a_browser(ground: Any, make_app: Any) -> None:
    browser, page, _, app = _opened(ground, make_app, ground.admin)
    browser.jar[urlsplit(page.url).hostname or "", "/", "auth"] = _token(ground.admin)  # were it sent there at all
    browser.fetch(page, "again")
    secrets = {value for (_, _, name), value in browser.jar.items() if name in ("auth", APP_COOKIE)}
    assert len(secrets) == 2
    text = _all_text(app)
    assert not [secret for secret in secrets if secret in text]
    assert TICKET not in text


def test_the_token_of_the_app_itself_is_left_out_of_its_address(ground: Any, make_app: Any) -> None:
    app = make_app()
    served = ground.serve(ground.admin, {"proxy_port": app.port})
    own = allocation_token.app_token(ground.master.ctx.cluster.secret, served.launch.allocation_id)
    assert ground.raw("GET", served.path(app, f"?a=1&token={own}&token=theirs")).status == 200
    assert app.received[0].line == f"GET {served.path(app, '?a=1&token=theirs')} HTTP/1.1"


def test_what_says_where_a_request_came_from_is_ours(ground: Any, make_app: Any) -> None:
    app = make_app()
    served = ground.serve(ground.admin, {"proxy_port": app.port})
    claims = {
        "X-Forwarded-Host": "evil.example",
        "X-Forwarded-Prefix": "/evil",
        "X_Forwarded_For": "6.6.6.6",
        "X-Real-IP": "6.6.6.6",
        "Forwarded": "for=6.6.6.6",
        "Proxy-Authorization": "Basic eDp5",
        "Connection": "close, X-Hop",
        "X-Hop": "dropped",
    }
    assert ground.raw("GET", served.path(app), {**claims, **ground.admin.headers}).status == 200
    got = app.received[0]
    assert "6.6.6.6" not in _all_text(app)
    assert "evil" not in _all_text(app)
    assert (got.header("x-hop"), got.header("proxy-authorization")) == (None, None)
    assert got.header("x-forwarded-for") == "127.0.0.1"
    assert got.header("x-forwarded-host") == ground.address


# What an app says to its visitors


def _say(*headers: str) -> Any:
    def say(_request: Received, connection: socket.socket, _app: SmallApp) -> None:
        answer(connection, b"<script>", *headers)

    return say


SAID = (
    "Content-Type: text/html",
    "Set-Cookie: auth=evil; Path=/",
    "Set-Cookie: __Host-auth=evil; Path=/; Secure",
    f"Set-Cookie: {APP_COOKIE}=evil; Path=/",
    "Set-Cookie: kept=1; Domain=localhost; Path=/",
    "Service-Worker-Allowed: /",
    "Clear-Site-Data: *",
    "Strict-Transport-Security: max-age=99999999; includeSubDomains",
    "Access-Control-Allow-Origin: https://evil.example",
    "Access-Control-Allow-Credentials: true",
    "X-Accel-Redirect: /etc/passwd",
)
DROPPED = ("service-worker-allowed", "clear-site-data", "strict-transport-security", "x-accel-redirect")
DROPPED += ("access-control-allow-origin", "access-control-allow-credentials")


def test_a_page_at_the_address_of_the_master_can_do_nothing_in_its_name(ground: Any, make_app: Any) -> None:
    app = make_app(behave=_say(*SAID))
    served = ground.serve(ground.admin, {"proxy_port": app.port})
    got = ground.raw("GET", served.path(app), ground.admin.headers)
    assert "sandbox" in got.headers.get_all("Content-Security-Policy")
    assert got.headers["X-Content-Type-Options"] == "nosniff"
    assert got.headers.get_all("Set-Cookie") == [f"kept=1; Path={served.path(app)}"]
    assert not [name for name in DROPPED if name in got.headers]


def test_a_page_at_its_own_origin_cannot_speak_for_the_host(ground: Any, make_app: Any) -> None:
    _, page, _, _ = _opened(ground, make_app, ground.admin, behave=_say(*SAID))
    assert page.headers.get_all("Set-Cookie") == ["kept=1; Path=/"]
    assert not [name for name in DROPPED if name in page.headers]


# What a page of an app makes a browser do


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_a_page_of_an_app_cannot_call_the_master_as_its_visitor(ground: Any, make_app: Any, site: str) -> None:
    browser, page, _, _ = _opened(ground, make_app, ground.admin)
    workspaces = browser.fetch(page, _main(ground) + "/api/v1/workspaces", "POST", site)
    assert workspaces.status == 403
    me = browser.fetch(page, _main(ground) + "/api/v1/me", "GET", site)
    assert "access-control-allow-origin" not in me.headers, "the browser would show it to the page"


def test_a_page_of_an_app_cannot_follow_the_masters_changes(ground: Any, make_app: Any) -> None:
    browser, page, _, _ = _opened(ground, make_app, ground.admin)
    origin = f"http://{urlsplit(page.url).netloc}"
    cookie = browser.cookies_for(_main(ground) + "/stream")
    headers = {**WEBSOCKET, "Cookie": cookie, "Origin": origin, "Host": urlsplit(_main(ground)).netloc}
    assert ground.raw("GET", "/stream", headers).status in (401, 403)


def test_a_page_cannot_read_another_app_with_the_cookie_of_the_master(ground: Any, make_app: Any) -> None:
    browser, page, _, _ = _opened(ground, make_app, ground.admin)
    other = make_app()
    served = ground.serve(ground.admin, {"proxy_port": other.port})
    got = browser.fetch(page, _main(ground) + served.path(other), "GET", "same-site")
    assert got.status == 403
    post = browser.fetch(page, _main(ground) + served.path(other), "POST", "same-site")
    assert post.status == 403
    assert other.received == []


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_a_page_of_one_app_cannot_use_another_that_is_open_as_well(ground: Any, make_app: Any, method: str) -> None:
    browser, page, _, _ = _opened(ground, make_app, ground.admin)
    other = make_app()
    served = ground.serve(ground.admin, {"proxy_port": other.port})
    opened = browser.open(_main(ground) + served.path(other))
    assert opened.status == 200
    before = len(other.received)
    for site in ("cross-site", "same-site"):
        assert browser.fetch(page, opened.url, method, site).status == 403
    framed = {**NAVIGATE, "Sec-Fetch-Site": "cross-site", "Sec-Fetch-Dest": "iframe"}
    assert browser.request("GET", opened.url, framed).status == 403
    assert len(other.received) == before


def test_a_form_that_another_page_sends_to_an_app_is_refused_by_its_origin(ground: Any, make_app: Any) -> None:
    browser, page, _, app = _opened(ground, make_app, ground.admin)
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
    browser, page, served, app = _opened(ground, make_app, ground.admin)
    app.behave = echo_websocket
    cookie, host = browser.cookies_for(page.url), urlsplit(page.url).netloc
    headers = {**WEBSOCKET, "Cookie": cookie, "Host": host}
    named = _main(ground) if origin == "main" else origin
    assert ground.raw("GET", served.path(app), {**headers, **({"Origin": named} if named else {})}).status == 403
    own = {**headers, "Origin": f"http://{host}"}
    assert ground.raw("GET", served.path(app), own).status == 101


def test_a_websocket_of_a_page_is_refused_at_the_address_of_the_master(ground: Any, make_app: Any) -> None:
    app = make_app(behave=echo_websocket)
    served = ground.serve(ground.admin, {"proxy_port": app.port})
    own = allocation_token.app_token(ground.master.ctx.cluster.secret, served.launch.allocation_id)
    url = f"ws://{ground.address}{served.path(app)}?token={own}"
    with pytest.raises(InvalidStatus), connect(url, origin=_main(ground)):  # type: ignore[arg-type]
        pass
    cookie = {"Cookie": f"auth={_token(ground.admin)}", "Origin": _main(ground)}
    assert ground.raw("GET", served.path(app), {**WEBSOCKET, **cookie}).status == 403
    assert app.received == []


def test_raw_tcp_is_never_opened_by_a_cookie(ground: Any, make_app: Any) -> None:
    app = make_app(raw=echo)
    served = ground.serve(ground.admin, {"proxy_port": app.port, "proxy_tcp": True})
    browser = _signed_in(ground, ground.admin)
    first = browser.request("GET", _main(ground) + served.path(app), NAVIGATE)
    browser.request("GET", first.headers["Location"], NAVIGATE)
    host = urlsplit(first.headers["Location"]).netloc
    cookie = browser.cookies_for(first.headers["Location"])
    headers = {**WEBSOCKET, "Cookie": cookie, "Host": host, "Origin": f"http://{host}"}
    assert ground.raw("GET", served.path(app), headers).status == 403


# Tickets and cookies of others


def _ticket(ground: Any, browser: Browser, path: str) -> str:
    page = browser.request("GET", _main(ground) + path, NAVIGATE)
    assert page.status == 303
    return str(page.headers["Location"])


def test_a_ticket_is_good_once(ground: Any, make_app: Any) -> None:
    app = make_app()
    served = ground.serve(ground.admin, {"proxy_port": app.port})
    location = _ticket(ground, _signed_in(ground, ground.admin), served.path(app))
    assert Browser(ground.address).open(location).status == 200
    assert Browser(ground.address).open(location).status == 401


def test_a_ticket_is_good_for_half_a_minute(make_ground: Any, make_app: Any) -> None:
    clock = _Clock()
    ground = make_ground(clock=clock)
    app = make_app()
    served = ground.serve(ground.admin, {"proxy_port": app.port})
    location = _ticket(ground, _signed_in(ground, ground.admin), served.path(app))
    clock.ahead = timedelta(seconds=31)
    assert Browser(ground.address).open(location).status == 401


class _Clock:
    def __init__(self) -> None:
        self.ahead = timedelta(0)

    def now(self) -> datetime:
        return datetime.now(UTC) + self.ahead


def test_a_ticket_is_good_for_its_service_alone(ground: Any, make_app: Any) -> None:
    app, other = make_app(), make_app()
    served = ground.serve(ground.admin, {"proxy_port": app.port}, {"proxy_port": other.port})
    location = _ticket(ground, _signed_in(ground, ground.admin), served.path(app))
    query = urlsplit(location).query
    stolen = f"http://{_host(ground, served, other)}{served.path(other)}?{query}"
    assert Browser(ground.address).open(stolen).status == 401
    assert other.received == []


def test_the_cookie_of_one_app_opens_no_other(ground: Any, make_app: Any) -> None:
    browser, page, _, _ = _opened(ground, make_app, ground.admin)
    other = make_app()
    served = ground.serve(ground.admin, {"proxy_port": other.port})
    cookie = {"Cookie": browser.cookies_for(page.url)}
    assert ground.raw("GET", served.path(other), {**cookie, "Host": _host(ground, served, other)}).status == 401
    assert ground.raw("GET", served.path(other), {**cookie, "Host": urlsplit(page.url).netloc}).status == 404
    assert ground.raw("GET", served.path(other), cookie).status == 401
    assert other.received == []


@pytest.mark.parametrize("change", [lambda c: c[:-4] + "AAAA", lambda c: "e30." + c.partition(".")[2], lambda _: "x"])
def test_a_cookie_that_we_did_not_make_opens_nothing(ground: Any, make_app: Any, change: Any) -> None:
    browser, page, _, app = _opened(ground, make_app, ground.admin)
    before = len(app.received)
    for key, value in list(browser.jar.items()):
        if key[2] == APP_COOKIE:
            browser.jar[key] = change(value)
    assert browser.fetch(page, "x").status == 401
    assert len(app.received) == before


# Other people


@pytest.mark.parametrize("how", ["bearer", "session cookie", "nothing", "task", "other task"])
def test_only_the_owner_and_administrators_are_let_in(ground: Any, make_app: Any, how: str) -> None:
    ada, bob = ground.person("ada"), ground.person("bob")
    app = make_app()
    served = ground.serve(ada, {"proxy_port": app.port})
    others = ground.serve(bob, {"proxy_port": app.port}, connected=False)
    headers, status = {
        "bearer": (bob.headers, 403),
        "session cookie": ({**NAVIGATE, "Cookie": f"auth={_token(bob)}"}, 403),
        "nothing": ({}, 401),
        "task": ({"Grpc-Metadata-x-allocation-token": f"Bearer {served.launch.token}"}, 403),
        "other task": ({"Authorization": f"Bearer {others.launch.token}"}, 403),
    }[how]
    assert ground.raw("GET", served.path(app), headers).status == status
    assert app.received == []
    assert ground.raw("GET", served.path(app), ada.headers).status == 200
    assert ground.raw("GET", served.path(app), ground.admin.headers).status == 200


@pytest.mark.parametrize("path", ["{own}", "/proxy/nothing/", "/proxy/", "/proxy/..%2f..%2f/x", "/proxy/a:b:c/"])
def test_nobody_learns_which_services_exist(ground: Any, make_app: Any, path: str) -> None:
    app = make_app()
    served = ground.serve(ground.admin, {"proxy_port": app.port})
    asked = path.format(own=served.path(app))
    assert ground.raw("GET", asked).status == 401
    assert ground.raw("GET", asked, ground.admin.headers).status == (200 if path == "{own}" else 404)


def test_the_token_of_an_app_opens_that_app_alone(ground: Any, make_app: Any) -> None:
    app, other = make_app(), make_app()
    served = ground.serve(ground.admin, {"proxy_port": app.port})
    others = ground.serve(ground.admin, {"proxy_port": other.port})
    own = allocation_token.app_token(ground.master.ctx.cluster.secret, served.launch.allocation_id)
    assert ground.raw("GET", served.path(app), {"Authorization": f"token {own}"}).status == 200
    assert ground.raw("GET", others.path(other), {"Authorization": f"token {own}"}).status == 401
    assert ground.raw("GET", "/api/v1/me", {"Authorization": f"Bearer {own}"}).status == 401


def test_a_port_that_wants_no_login_still_asks_for_one_unless_the_config_allows_it(
    make_ground: Any, make_app: Any
) -> None:
    app = make_app()
    strict = make_ground()
    served = strict.serve(strict.admin, {"proxy_port": app.port, "unauthenticated": True})
    assert strict.raw("GET", served.path(app)).status == 401
    served.end()


def test_a_port_that_wants_no_login_is_open_where_the_config_allows_it(make_ground: Any, make_app: Any) -> None:
    app, closed = make_app(), make_app()
    ground = make_ground(proxy={"allow_unauthenticated_ports": True})
    served = ground.serve(ground.admin, {"proxy_port": app.port, "unauthenticated": True}, {"proxy_port": closed.port})
    assert ground.raw("GET", served.path(app)).status == 200
    assert ground.raw("GET", served.path(closed)).status == 401


# Requests that two readers read in two ways


@pytest.mark.parametrize(
    "lines",
    [
        ["Content-Length: 5", "Transfer-Encoding: chunked"],
        ["Content-Length: 5", "Content-Length: 6"],
        ["Content-Length: +5"],
        ["Transfer-Encoding: gzip, chunked"],
        ["Transfer-Encoding: xchunked"],
        ["Host: evil.example"],
        ["X: a\r\n Folded: yes"],
        ["Bad Name: 1"],
    ],
)
def test_a_request_that_two_servers_could_read_differently_is_refused(
    ground: Any, make_app: Any, lines: list[str]
) -> None:
    app = make_app()
    served = ground.serve(ground.admin, {"proxy_port": app.port})
    head = [f"POST {served.path(app)} HTTP/1.1", f"Host: {ground.address}"]
    head += [f"Authorization: {ground.admin.headers['Authorization']}", "Connection: close", *lines, "", ""]
    host, port = ground.address.split(":")
    with socket.create_connection((host, int(port)), timeout=60) as sock:
        sock.sendall("\r\n".join(head).encode() + b"0\r\n\r\nGET /smuggled HTTP/1.1\r\n\r\n")
        status = sock.recv(100).partition(b"\r\n")[0]
    if lines == ["X: a\r\n Folded: yes"] and status.startswith(b"HTTP/1.1 200"):
        assert "smuggled" not in _all_text(app)
    else:
        assert status.startswith(b"HTTP/1.1 400"), status
        assert app.received == []


def test_what_follows_a_request_does_not_reach_the_app(ground: Any, make_app: Any) -> None:
    app = make_app()
    served = ground.serve(ground.admin, {"proxy_port": app.port})
    head = [f"POST {served.path(app)} HTTP/1.1", f"Host: {ground.address}", "Content-Length: 3"]
    head += [f"Authorization: {ground.admin.headers['Authorization']}", "", ""]
    host, port = ground.address.split(":")
    with socket.create_connection((host, int(port)), timeout=60) as sock:
        sock.sendall("\r\n".join(head).encode() + b"abcGET /smuggled HTTP/1.1\r\nHost: localhost\r\n\r\n")
        until(lambda: app.received)
        assert sock.recv(100).startswith(b"HTTP/1.1 200")
    assert [request.body for request in app.received] == [b"abc"]


# Redirections


@pytest.mark.parametrize("rest", ["//evil.example/", "%2F%2Fevil.example/", "\\\\evil.example", "?next=//evil", "..//"])
def test_a_browser_is_never_sent_to_a_foreign_host(ground: Any, make_app: Any, rest: str) -> None:
    app = make_app()
    served = ground.serve(ground.admin, {"proxy_port": app.port})
    browser = _signed_in(ground, ground.admin)
    first = browser.request("GET", _main(ground) + served.path(app) + rest, NAVIGATE)
    assert urlsplit(first.headers["Location"]).netloc == _host(ground, served, app)
    second = browser.request("GET", first.headers["Location"], NAVIGATE)
    assert second.headers["Location"].startswith(served.path(app))


def test_a_host_that_is_not_ours_is_refused_before_the_proxy(ground: Any, make_app: Any) -> None:
    app = make_app()
    served = ground.serve(ground.admin, {"proxy_port": app.port})
    for host in ("evil.example", "localhost.evil.example", "xlocalhost"):
        assert ground.raw("GET", served.path(app), {**ground.admin.headers, "Host": host}).status == 403
