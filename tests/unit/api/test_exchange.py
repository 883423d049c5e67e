"""One HTTP request over a socket: every framing a master, or something in front of it, may answer with."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from determined.api.exchange import Answer, BadAnswer, exchange

HEADERS = {"Host": "master:8080", "X-Token": "t"}


@contextmanager
def answering(raw: bytes) -> Iterator[tuple[socket.socket, list[bytes]]]:
    """A socket whose peer reads one request, answers `raw` and hangs up."""
    ours, theirs = socket.socketpair()
    heard: list[bytes] = []

    def serve() -> None:
        with theirs:
            heard.append(theirs.recv(65536))
            theirs.sendall(raw)

    peer = threading.Thread(target=serve)
    peer.start()
    with ours:
        ours.settimeout(60)
        yield ours, heard
        ours.shutdown(socket.SHUT_WR)
    peer.join()


@pytest.mark.parametrize(
    ("raw", "answer"),
    [
        (b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi", Answer(200, b"hi", kept=True)),
        (b"HTTP/1.1 410 Gone\r\nconnection: Close\r\ncontent-length: 0\r\n\r\n", Answer(410, b"", kept=False)),
        (b"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nhi", Answer(200, b"hi", kept=False)),
        (b"HTTP/1.1 200 OK\r\n\r\nuntil the end", Answer(200, b"until the end", kept=False)),
        (b"HTTP/1.1 204 No Content\r\n\r\n", Answer(204, b"", kept=True)),
        (
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3;a=b\r\nabc\r\nA\r\n0123456789\r\n0\r\nX:y\r\n\r\n",
            Answer(200, b"abc0123456789", kept=True),
        ),
        (b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx", Answer(200, b"x", kept=True)),
    ],
)
def test_every_framing_of_an_answer_is_read(raw: bytes, answer: Answer) -> None:
    with answering(raw) as (sock, _):
        assert exchange(sock, "GET", "/x", HEADERS) == answer


def test_request_carries_its_headers_and_body() -> None:
    with answering(b"HTTP/1.1 204 No Content\r\n\r\n") as (sock, heard):
        exchange(sock, "POST", "/reports?a=b", HEADERS, b"body")
    assert heard == [b"POST /reports?a=b HTTP/1.1\r\nHost: master:8080\r\nX-Token: t\r\nContent-Length: 4\r\n\r\nbody"]


@pytest.mark.parametrize(
    ("raw", "why"),
    [
        (b"", "was closed"),
        (b"SSH-2.0-OpenSSH_9.6\r\n", "not HTTP"),
        (b"HTTP/1.1 what\r\n\r\n", "not HTTP"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhi", "after 2 of 5 bytes"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\nhi", "negative length"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", "not HTTP"),
        (b"HTTP/1.1 200 OK\r\n" + b"A: b\r\n" * 300 + b"\r\n", "too many headers"),
    ],
)
def test_what_is_no_answer_is_refused(raw: bytes, why: str) -> None:
    with answering(raw) as (sock, _), pytest.raises(BadAnswer, match=why):
        exchange(sock, "GET", "/x", HEADERS)


def test_peer_that_says_nothing_is_not_waited_for_longer_than_the_socket_allows() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        ours.settimeout(0.05)
        with pytest.raises(TimeoutError):
            exchange(ours, "GET", "/x", HEADERS)
