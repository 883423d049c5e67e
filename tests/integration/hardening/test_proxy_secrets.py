"""What an app hears of its visitors, and what it may say to them."""

import socket
from typing import Any
from urllib.parse import urlsplit

import pytest
from proxy_visits import all_text, opened, token_of
from small_app import Received, SmallApp, answer

from determined.master.auth import allocation_token
from determined.master.proxy.http_headers import APP_COOKIE, TICKET


@pytest.fixture
def ground(make_ground: Any) -> Any:
    return make_ground()


def test_an_app_never_sees_the_token_of_a_program(ground: Any, make_app: Any) -> None:
    app = make_app()
    served = ground.serve(ground.admin, {"proxy_port": app.port})
    cookie = {"Cookie": f"auth={token_of(ground.admin)}; mine=1; __Host-auth={token_of(ground.admin)}; {APP_COOKIE}=x"}
    assert ground.raw("GET", served.path(app), {**ground.admin.headers, **cookie}).status == 200
    assert token_of(ground.admin) not in all_text(app)
    assert app.received[0].header("cookie") == "mine=1"
    assert app.received[0].header("authorization") is None


def test_an_app_never_sees_what_opened_it_in_a_browser(ground: Any, make_app: Any) -> None:
    browser, page, _, app = opened(ground, make_app, ground.admin)
    browser.jar[urlsplit(page.url).hostname or "", "/", "auth"] = token_of(ground.admin)  # were it sent there at all
    browser.fetch(page, "again")
    secrets = {value for (_, _, name), value in browser.jar.items() if name in ("auth", APP_COOKIE)}
    assert len(secrets) == 2
    text = all_text(app)
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
    assert "6.6.6.6" not in all_text(app)
    assert "evil" not in all_text(app)
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
    _, page, _, _ = opened(ground, make_app, ground.admin, behave=_say(*SAID))
    assert page.headers.get_all("Set-Cookie") == ["kept=1; Path=/"]
    assert not [name for name in DROPPED if name in page.headers]
