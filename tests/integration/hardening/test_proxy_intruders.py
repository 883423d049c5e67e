"""Tickets, cookies, people and requests that must not get to an app."""

import socket
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlsplit

import pytest
from proxy_visits import all_text, host_of, main_origin, opened, signed_in, token_of
from tracked import until

from browser import NAVIGATE, Browser
from determined.master.auth import allocation_token
from determined.master.proxy.http_headers import APP_COOKIE


@pytest.fixture
def ground(make_ground: Any) -> Any:
    return make_ground()


# Tickets and cookies of others


def _ticket(ground: Any, browser: Browser, path: str) -> str:
    page = browser.request("GET", main_origin(ground) + path, NAVIGATE)
    assert page.status == 303
    return str(page.headers["Location"])


def test_a_ticket_is_good_once(ground: Any, make_app: Any) -> None:
    app = make_app()
    served = ground.serve(ground.admin, {"proxy_port": app.port})
    location = _ticket(ground, signed_in(ground, ground.admin), served.path(app))
    assert Browser(ground.address).open(location).status == 200
    assert Browser(ground.address).open(location).status == 401


def test_a_ticket_is_good_for_half_a_minute(make_ground: Any, make_app: Any) -> None:
    clock = _Clock()
    ground = make_ground(clock=clock)
    app = make_app()
    served = ground.serve(ground.admin, {"proxy_port": app.port})
    location = _ticket(ground, signed_in(ground, ground.admin), served.path(app))
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
    location = _ticket(ground, signed_in(ground, ground.admin), served.path(app))
    query = urlsplit(location).query
    stolen = f"http://{host_of(ground, served, other)}{served.path(other)}?{query}"
    assert Browser(ground.address).open(stolen).status == 401
    assert other.received == []


def test_the_cookie_of_one_app_opens_no_other(ground: Any, make_app: Any) -> None:
    browser, page, _, _ = opened(ground, make_app, ground.admin)
    other = make_app()
    served = ground.serve(ground.admin, {"proxy_port": other.port})
    cookie = {"Cookie": browser.cookies_for(page.url)}
    assert ground.raw("GET", served.path(other), {**cookie, "Host": host_of(ground, served, other)}).status == 401
    assert ground.raw("GET", served.path(other), {**cookie, "Host": urlsplit(page.url).netloc}).status == 404
    assert ground.raw("GET", served.path(other), cookie).status == 401
    assert other.received == []


@pytest.mark.parametrize("change", [lambda c: c[:-4] + "AAAA", lambda c: "e30." + c.partition(".")[2], lambda _: "x"])
def test_a_cookie_that_we_did_not_make_opens_nothing(ground: Any, make_app: Any, change: Any) -> None:
    browser, page, _, app = opened(ground, make_app, ground.admin)
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
        "session cookie": ({**NAVIGATE, "Cookie": f"auth={token_of(bob)}"}, 403),
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
        assert "smuggled" not in all_text(app)
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
    browser = signed_in(ground, ground.admin)
    first = browser.request("GET", main_origin(ground) + served.path(app) + rest, NAVIGATE)
    assert urlsplit(first.headers["Location"]).netloc == host_of(ground, served, app)
    second = browser.request("GET", first.headers["Location"], NAVIGATE)
    assert second.headers["Location"].startswith(served.path(app))


def test_a_host_that_is_not_ours_is_refused_before_the_proxy(ground: Any, make_app: Any) -> None:
    app = make_app()
    served = ground.serve(ground.admin, {"proxy_port": app.port})
    for host in ("evil.example", "localhost.evil.example", "xlocalhost"):
        assert ground.raw("GET", served.path(app), {**ground.admin.headers, "Host": host}).status == 403
