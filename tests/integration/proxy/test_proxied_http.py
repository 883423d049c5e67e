"""HTTP through the proxy with a token: what goes to the app, what comes back, and what happens when one side is odd."""

import socket
import threading
from collections.abc import Callable
from typing import Any

import pytest
from small_app import Received, SmallApp, answer
from tracked import until

MIB = 2**20


def test_a_request_reaches_the_declared_port_with_its_path_and_query_unchanged(ground: Any, make_app: Any) -> None:
    app = make_app()
    served = ground.serve(ground.admin, {"proxy_port": app.port})
    got = ground.raw("GET", served.path(app, "a%2Fb/../c//d?x=%20&x=2"), ground.admin.headers)
    assert got.status == 200
    assert got.text == f"Hello GET {served.path(app)}a%2Fb/../c//d?x=%20&x=2 HTTP/1.1"
    assert got.headers["content-type"] == "text/plain"


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE", "OPTIONS", "PROPFIND"])
def test_every_method_and_body_goes_through(ground: Any, make_app: Any, method: str) -> None:
    app = make_app()
    served = ground.serve(ground.admin, {"proxy_port": app.port})
    assert ground.admin.call(method, served.path(app), b"the body").status == 200
    assert app.received[0].line.startswith(method)
    assert app.received[0].body == b"the body"


def test_a_head_request_has_headers_and_no_body(ground: Any, make_app: Any) -> None:
    def head_only(_request: Received, connection: socket.socket, _app: SmallApp) -> None:
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1234\r\nX-Own: yes\r\n\r\n")

    app = make_app(behave=head_only)
    served = ground.serve(ground.admin, {"proxy_port": app.port})
    got = ground.admin.call("HEAD", served.path(app))
    assert (got.status, got.headers["x-own"], got.headers["content-length"]) == (200, "yes", "1234")


def test_a_body_of_unknown_length_is_sent_on_in_chunks(ground: Any, make_app: Any) -> None:
    app = make_app()
    served = ground.serve(ground.admin, {"proxy_port": app.port})
    pieces = (b"one ", b"two ", b"three")
    url = ground.master.url + served.path(app)
    got = ground.admin.pool.request("POST", url, body=iter(pieces), headers=ground.admin.headers, chunked=True)
    assert got.status == 200
    assert app.received[0].header("transfer-encoding") == "chunked"
    assert app.received[0].header("content-length") is None
    assert b"".join(app.received[0].body.split(b"\r\n")[1::2]) == b"one two three"


def test_an_answer_in_chunks_arrives_whole(ground: Any, make_app: Any) -> None:
    def chunks(_request: Received, connection: socket.socket, _app: SmallApp) -> None:
        connection.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        for piece in (b"one", b" and ", b"two"):
            connection.sendall(b"%x\r\n%b\r\n" % (len(piece), piece))
        connection.sendall(b"0\r\n\r\n")

    app = make_app(behave=chunks)
    served = ground.serve(ground.admin, {"proxy_port": app.port})
    assert ground.admin.get(served.path(app)).raw == b"one and two"


def test_an_answer_that_ends_with_the_connection_arrives_whole(ground: Any, make_app: Any) -> None:
    def old_style(_request: Received, connection: socket.socket, _app: SmallApp) -> None:
        connection.sendall(b"HTTP/1.0 200 OK\r\n\r\nsome text")

    app = make_app(behave=old_style)
    served = ground.serve(ground.admin, {"proxy_port": app.port})
    assert ground.admin.get(served.path(app)).raw == b"some text"


def test_a_provisional_answer_is_left_out(ground: Any, make_app: Any) -> None:
    def hints(_request: Received, connection: socket.socket, _app: SmallApp) -> None:
        connection.sendall(b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n")
        answer(connection, b"the answer")

    app = make_app(behave=hints)
    served = ground.serve(ground.admin, {"proxy_port": app.port})
    got = ground.admin.get(served.path(app))
    assert (got.status, got.raw, got.headers.get("link")) == (200, b"the answer", None)


@pytest.mark.parametrize("status", ["204 No Content", "304 Not Modified"])
def test_an_answer_without_a_body_ends_at_its_head(ground: Any, make_app: Any, status: str) -> None:
    def bodiless(_request: Received, connection: socket.socket, _app: SmallApp) -> None:
        connection.sendall(f"HTTP/1.1 {status}\r\nContent-Length: 5\r\nETag: x\r\n\r\n".encode())

    app = make_app(behave=bodiless)
    served = ground.serve(ground.admin, {"proxy_port": app.port})
    got = ground.admin.get(served.path(app))
    assert (str(got.status), got.raw, got.headers["etag"]) == (status[:3], b"", "x")


def test_many_requests_at_once_all_get_their_own_answer(ground: Any, make_app: Any) -> None:
    app = make_app()
    served = ground.serve(ground.admin, {"proxy_port": app.port})
    answers: dict[int, bytes] = {}

    def ask(number: int) -> None:
        client = type(ground.admin)(ground.master.url, ground.admin.headers)
        answers[number] = client.get(served.path(app, str(number))).raw

    threads = [threading.Thread(target=ask, args=(n,)) for n in range(40)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert answers == {n: f"Hello GET {served.path(app, str(n))} HTTP/1.1".encode() for n in range(40)}


def test_a_large_answer_streams_to_a_slow_reader_without_piling_up_in_the_master(ground: Any, make_app: Any) -> None:
    sent = 0

    def pour(_request: Received, connection: socket.socket, _app: SmallApp) -> None:
        nonlocal sent
        size = 256 * MIB
        connection.sendall(f"HTTP/1.1 200 OK\r\nContent-Length: {size}\r\n\r\n".encode())
        while sent < size:
            connection.sendall(b"x" * MIB)
            sent += MIB

    app = make_app(behave=pour)
    served = ground.serve(ground.admin, {"proxy_port": app.port})
    url = ground.master.url + served.path(app)
    got = ground.admin.pool.request("GET", url, headers=ground.admin.headers, preload_content=False, timeout=60)
    assert len(got.read(MIB)) == MIB
    stood = _standstill(lambda: sent)
    assert stood < 128 * MIB, "the app was read further than kernel buffers explain"
    total = MIB
    for piece in got.stream(MIB):
        total += len(piece)
    assert total == 256 * MIB


def _standstill(value: Callable[[], int]) -> int:
    """The value at which it stays."""
    last = [-1]

    def stays() -> bool:
        before, last[0] = last[0], value()
        threading.Event().wait(0.3)
        return before == last[0] == value()

    until(stays)
    return last[0]


def test_an_upload_waits_for_an_app_that_reads_slowly(ground: Any, make_app: Any) -> None:
    go, total = threading.Event(), 0

    def slow(connection: socket.socket) -> None:
        nonlocal total
        raw = b""
        while b"\r\n\r\n" not in raw:
            raw += connection.recv(4096)
        total = len(raw.partition(b"\r\n\r\n")[2])
        assert go.wait(60)
        while total < 64 * MIB:
            total += len(connection.recv(MIB))
        answer(connection, b"done")

    app = make_app(raw=slow)
    served = ground.serve(ground.admin, {"proxy_port": app.port})
    produced = 0

    def pieces() -> Any:
        nonlocal produced
        for _ in range(64):
            produced += 1
            yield b"y" * MIB

    url, headers = ground.master.url + served.path(app), {**ground.admin.headers, "Content-Length": str(64 * MIB)}
    result: list[Any] = []
    thread = threading.Thread(
        target=lambda: result.append(ground.admin.pool.request("PUT", url, body=pieces(), headers=headers, timeout=60))
    )
    thread.start()
    stood = _standstill(lambda: produced)
    go.set()
    thread.join(60)
    assert stood < 48, "the upload was taken further than kernel buffers explain"
    assert result[0].data == b"done"


def test_an_answer_that_breaks_off_does_not_look_whole(ground: Any, make_app: Any) -> None:
    def broken(_request: Received, connection: socket.socket, _app: SmallApp) -> None:
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nonly this")

    app = make_app(behave=broken)
    served = ground.serve(ground.admin, {"proxy_port": app.port})
    with pytest.raises(Exception, match=r"IncompleteRead|Connection|closed|reset"):
        ground.admin.get(served.path(app))


@pytest.mark.parametrize(
    ("said", "why"),
    [
        (b"", "without an answer"),
        (b"SSH-2.0-OpenSSH_9.2\r\n", "not HTTP"),
        (b"HTTP/1.1 700 Odd\r\nContent-Length: 0\r\n\r\n", "700"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\nabc", "not HTTP"),
        (b"HTTP/1.1 200 OK\r\nX: " + b"h" * MIB + b"\r\nContent-Length: 0\r\n\r\n", "longer than"),
        (b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n", "another protocol"),
    ],
)
def test_nonsense_of_an_app_is_a_bad_gateway(ground: Any, make_app: Any, said: bytes, why: str) -> None:
    app = make_app(behave=lambda _request, connection, _app: connection.sendall(said))
    served = ground.serve(ground.admin, {"proxy_port": app.port})
    got = ground.admin.get(served.path(app))
    assert got.status == 502
    assert why in got.message


def test_a_header_of_a_megabyte_is_refused_before_the_app(ground: Any, make_app: Any) -> None:
    app = make_app()
    served = ground.serve(ground.admin, {"proxy_port": app.port})
    got = ground.admin.get(served.path(app), headers={"X-Long": "h" * MIB})
    assert got.status == 431
    assert app.received == []


def test_a_client_that_leaves_ends_the_request_to_the_app(ground: Any, make_app: Any) -> None:
    left = threading.Event()

    def never(_request: Received, connection: socket.socket, _app: SmallApp) -> None:
        assert connection.recv(1) == b""
        left.set()

    app = make_app(behave=never)
    served = ground.serve(ground.admin, {"proxy_port": app.port})
    host, port = ground.master.url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port))) as client:
        token = ground.admin.headers["Authorization"]
        head = f"GET {served.path(app)} HTTP/1.1\r\nHost: {host}\r\nAuthorization: {token}\r\n\r\n"
        client.sendall(head.encode())
        until(lambda: app.received)
    assert left.wait(60)


def test_before_the_app_listens_the_answer_says_when_to_try_again(ground: Any, make_app: Any) -> None:
    app = make_app()
    served = ground.serve(ground.admin, {"proxy_port": app.port})
    app.close()
    got = ground.admin.get(served.path(app))
    assert (got.status, got.headers["retry-after"]) == (503, "2")
    assert f"nothing listens on port {app.port}" in got.message


def test_before_the_runner_is_connected_the_answer_says_when_to_try_again(ground: Any, make_app: Any) -> None:
    app = make_app()
    served = ground.serve(ground.admin, {"proxy_port": app.port}, connected=False)
    got = ground.admin.get(served.path(app))
    assert (got.status, got.headers["retry-after"]) == (503, "2")
    assert "not connected" in got.message


def test_a_port_that_is_not_declared_is_not_found_although_something_listens(ground: Any, make_app: Any) -> None:
    app, other = make_app(), make_app()
    served = ground.serve(ground.admin, {"proxy_port": app.port})
    got = ground.admin.get(served.path(other))
    assert got.status == 404
    assert got.message.startswith(f"service not found: {served.task_id}:{other.port}")


def test_a_task_that_has_ended_is_not_found(ground: Any, make_app: Any) -> None:
    app = make_app()
    served = ground.serve(ground.admin, {"proxy_port": app.port})
    experiment = served.task_id.partition(".")[0]
    assert ground.admin.post(f"/api/v1/experiments/{experiment}/kill").status == 200
    served.end()
    until(lambda: ground.admin.get(served.path(app)).status in (404, 503))


def test_a_path_without_its_last_slash_is_completed(ground: Any, make_app: Any) -> None:
    app = make_app()
    served = ground.serve(ground.admin, {"proxy_port": app.port})
    path = served.path(app)
    got = ground.admin.pool.request(
        "GET", ground.master.url + path[:-1] + "?a=1", headers=ground.admin.headers, redirect=False
    )
    assert (got.status, got.headers["location"]) == (307, path + "?a=1")
