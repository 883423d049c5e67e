"""Bytes on a socket that no HTTP library would send: each gets an answer or an end, and the master goes on."""

import errno
import logging
import socket
from typing import Any
from urllib.parse import urlsplit

import pytest

WORKSPACES = b"POST /api/v1/workspaces HTTP/1.1\r\nHost: localhost\r\nAuthorization: %s\r\n"


def _send(world: Any, raw: bytes, *, then_close: bool = False) -> bytes:
    """Return what comes back until the other side closes, or for a short while."""
    address = urlsplit(world.master.url)
    with socket.create_connection((address.hostname, address.port), timeout=60) as sock:
        try:
            sock.sendall(raw)
            if then_close:
                return b""
            sock.shutdown(socket.SHUT_WR)
            return _all(sock)
        except OSError as e:
            # hung up on, at whichever step we were
            assert e.errno in (errno.ECONNRESET, errno.EPIPE, errno.ENOTCONN), e
            return b""


def _all(sock: socket.socket) -> bytes:
    parts = []
    while part := sock.recv(65536):
        parts.append(part)
    return b"".join(parts)


def _head(world: Any) -> bytes:
    return WORKSPACES % world.admin.headers["Authorization"].encode()


REQUESTS = [
    b"nonsense\r\n\r\n",
    b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
    b"GET / HTTP/9.9\r\n\r\n",
    b"GET /\x00 HTTP/1.1\r\nHost: localhost\r\n\r\n",
    b"GET /api/v1/users/\xff\xfe HTTP/1.1\r\nHost: localhost\r\n\r\n",
    b"GET http://[::1 HTTP/1.1\r\nHost: localhost\r\n\r\n",
    b"GET //evil/..//%2e%2e/etc/passwd HTTP/1.1\r\nHost: localhost\r\n\r\n",
    b"GET /info HTTP/1.1\r\nHost: [::1\r\n\r\n",
    b"GET /info HTTP/1.1\r\n\r\n",
    b"GET /info HTTP/1.1\r\nHost: localhost\r\nCookie: auth=\xff\xfe; =; ;;\r\n\r\n",
    b"GET /api/v1/me HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer \xff\xfe\r\n\r\n",
    b"GET /api/v1/me HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer det-alloc.\xe9.\xe9\r\n\r\n",
    b"GET /api/v1/me HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer det-alloc.AAAA.x\r\n\r\n",
    b"GET /info HTTP/1.1\r\nHost: localhost\r\nX: " + b"x" * 300_000 + b"\r\n\r\n",
    b"POST /api/v1/auth/login HTTP/1.1\r\nHost: localhost\r\nOrigin: http://[::1\r\nContent-Length: 2\r\n\r\n{}",
    b"GET /stream HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n",
]


def test_an_odd_request_is_refused_and_the_next_one_served(sqlite_world: Any, caplog: pytest.LogCaptureFixture) -> None:
    for raw in REQUESTS:
        answer = _send(sqlite_world, raw)
        assert b" 500 " not in answer[:20], raw[:200]
        assert sqlite_world.admin.get("/api/v1/me").status == 200, raw[:200]
    assert not [record.getMessage() for record in caplog.records if record.levelno >= logging.ERROR]


BODIES = [
    b"Transfer-Encoding: chunked\r\n\r\nzz\r\ngarbage\r\n",
    b"Transfer-Encoding: chunked\r\n\r\n5\r\n{}",
    b"Transfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n{}\r\n0\r\n\r\n",
    b"Transfer-Encoding: gzip\r\n\r\n{}",
    b"Content-Length: -5\r\n\r\n{}",
    b"Content-Length: five\r\n\r\n{}",
    b"Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}",
    b"Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
    b"Content-Length: 500\r\n\r\n{",
    b"Content-Length: 99999999999999999999\r\n\r\n{",
    b"Content-Length: 2\r\nContent-Type: \xff; charset=\xfe\r\n\r\n{}",
    b"Content-Length: 2\r\nContent-Type: multipart/form-data\r\n\r\n{}",
    b"Content-Length: 2\r\nContent-Encoding: gzip\r\n\r\n{}",
]


@pytest.mark.parametrize("then_close", [False, True])
def test_a_broken_body_is_refused_and_leaves_nothing_in_the_log(
    sqlite_world: Any, then_close: bool, caplog: pytest.LogCaptureFixture
) -> None:
    for rest in BODIES:
        answer = _send(sqlite_world, _head(sqlite_world) + rest, then_close=then_close)
        assert b" 500 " not in answer[:20], rest
        assert sqlite_world.admin.get("/api/v1/me").status == 200, rest
    assert not [record.getMessage() for record in caplog.records if record.levelno >= logging.ERROR]


def test_a_chunked_body_beyond_the_limit_is_refused(sqlite_world: Any) -> None:
    piece = b"100000\r\n" + b" " * 0x100000 + b"\r\n"
    raw = _head(sqlite_world) + b"Transfer-Encoding: chunked\r\n\r\n" + piece * 20 + b"0\r\n\r\n"
    address = urlsplit(sqlite_world.master.url)
    with socket.create_connection((address.hostname, address.port), timeout=60) as sock:
        sock.sendall(raw)
        assert sock.recv(100).startswith(b"HTTP/1.1 413")


def test_a_client_that_says_nothing_holds_nobody_up(sqlite_world: Any) -> None:
    address = urlsplit(sqlite_world.master.url)
    silent = [socket.create_connection((address.hostname, address.port), timeout=60) for _ in range(50)]
    for sock in silent:
        sock.sendall(b"POST /api/v1/workspaces HTTP/1.1\r\nHost: localhost\r\nContent-Le")
    assert sqlite_world.admin.get("/api/v1/me").status == 200  # while all of them are still waited for
    for sock in silent:
        sock.close()
