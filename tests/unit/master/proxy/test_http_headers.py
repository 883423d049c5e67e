"""Headers of requests and answers on their way through the proxy."""

import pytest

from determined.master.proxy.http_headers import Visit, cookie_of, from_app, hide_tokens, request_head

VISIT = Visit(peer="10.0.0.7", scheme="https")
HOST = (b"host", b"master.example:8443")


def _lines(head: bytes) -> list[bytes]:
    assert head.endswith(b"\r\n\r\n")
    return head.removesuffix(b"\r\n\r\n").split(b"\r\n")


def test_a_request_is_passed_on_with_what_we_say_of_its_visitor() -> None:
    head = request_head("GET", b"/proxy/t/a%2Fb", b"x=1", [HOST, (b"accept", b"*/*")], VISIT)
    assert _lines(head) == [
        b"GET /proxy/t/a%2Fb?x=1 HTTP/1.1",
        b"host: master.example:8443",
        b"accept: */*",
        b"x-real-ip: 10.0.0.7",
        b"x-forwarded-for: 10.0.0.7",
        b"x-forwarded-proto: https",
        b"x-forwarded-host: master.example:8443",
        b"connection: close",
    ]


def test_a_websocket_keeps_its_upgrade() -> None:
    headers = [HOST, (b"connection", b"keep-alive, Upgrade"), (b"upgrade", b"websocket"), (b"sec-websocket-key", b"k")]
    lines = _lines(request_head("GET", b"/p", b"", headers, VISIT, upgrades=True))
    assert lines[-2:] == [b"connection: Upgrade", b"upgrade: websocket"]
    assert b"sec-websocket-key: k" in lines
    assert sum(line.startswith(b"connection:") for line in lines) == 1


def test_the_credential_of_the_app_takes_the_place_of_the_visitors() -> None:
    visit = Visit(peer="", scheme="http", app_token="own")
    lines = _lines(request_head("GET", b"/p", b"", [HOST, (b"authorization", b"Bearer user")], visit))
    assert [line for line in lines if line.startswith(b"authorization")] == [b"authorization: token own"]


@pytest.mark.parametrize(
    ("headers", "passed"),
    [
        ([(b"authorization", b"Basic eDp5")], True),
        ([(b"cookie", b"auth=x; det-app=y")], False),
        ([(b"x_real_ip", b"6.6.6.6")], False),
        ([(b"x-forwarded-proto", b"evil")], False),
        ([(b"connection", b"X-Hop"), (b"x-hop", b"1")], False),
        ([(b"te", b"trailers")], False),
        ([(b"expect", b"100-continue")], False),
        ([(b"if-none-match", b"x")], True),
    ],
)
def test_only_what_is_the_apps_to_know_is_passed_on(headers: list[tuple[bytes, bytes]], passed: bool) -> None:
    lines = _lines(request_head("GET", b"/p", b"", [HOST, *headers], VISIT))
    name, value = headers[-1]
    assert (name + b": " + value in lines) == passed


def test_a_connection_header_cannot_remove_what_routes_the_request() -> None:
    headers = [HOST, (b"content-length", b"3"), (b"connection", b"Host, Content-Length")]
    lines = _lines(request_head("POST", b"/p", b"", headers, VISIT))
    assert b"host: master.example:8443" in lines
    assert b"content-length: 3" in lines


@pytest.mark.parametrize(
    ("query", "kept"),
    [
        (b"", b""),
        (b"token=own", b""),
        (b"a=1&token=own&b=%20", b"a=1&b=%20"),
        (b"token=other", b"token=other"),
        (b"det_ticket=t&x", b"x"),
        (b"mytoken=own", b"mytoken=own"),
    ],
)
def test_tokens_of_ours_leave_the_query_and_the_rest_stays_as_written(query: bytes, kept: bytes) -> None:
    assert hide_tokens(query, ["own"]) == kept


@pytest.mark.parametrize(
    ("said", "path", "kept"),
    [
        (b"a=1; Domain=.example.com; Path=/; Secure", None, b"a=1; Path=/; Secure"),
        (b"a=1; Path=/; Secure", b"/proxy/t/", b"a=1; Secure; Path=/proxy/t/"),
        (b"a=1", b"/proxy/t/", b"a=1; Path=/proxy/t/"),
        (b"auth=1; Path=/", None, None),
        (b" auth =1", None, None),
        (b"__Secure-det-app=1", None, None),
    ],
)
def test_a_cookie_of_an_app_stays_where_the_app_is(said: bytes, path: bytes | None, kept: bytes | None) -> None:
    expected = [] if kept is None else [(b"set-cookie", kept)]
    assert from_app([(b"set-cookie", said)], cookie_path=path) == expected


def test_cross_origin_reading_is_allowed_without_credentials_alone() -> None:
    allowed = (b"access-control-allow-origin", b"*")
    assert from_app([allowed], cookie_path=None) == [allowed]
    assert from_app([allowed, (b"access-control-allow-credentials", b"true")], cookie_path=None) == []


def test_a_cookie_is_found_among_others() -> None:
    headers = [(b"cookie", b"a=1; b=2"), (b"cookie", b"c=x=y")]
    assert [cookie_of(headers, name) for name in "abcd"] == ["1", "2", "x=y", None]
