"""WebSockets through the proxy: to apps that speak them, and raw TCP in their messages."""

import os
import socket
import threading
from contextlib import closing
from typing import Any

import pytest
from small_app import PING, SmallApp, answer, echo, echo_websocket
from tracked import until
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from determined.api.session import Session
from determined.api.tcp_tunnel import TcpTunnel
from determined.errors import DeterminedError, Forbidden, NotFound, Unauthenticated
from determined.wire.tunnel import TCP_SUBPROTOCOL


def _url(ground: Any, path: str) -> str:
    return f"ws://{ground.address}{path}"


def _session(client: Any) -> Session:
    return Session(client.url, token=client.headers["Authorization"].removeprefix("Bearer "), retries=0)


def test_a_websocket_reaches_an_app_that_speaks_it(ground: Any, make_app: Any) -> None:
    app = make_app(behave=echo_websocket)
    served = ground.serve(ground.admin, {"proxy_port": app.port})
    with connect(_url(ground, served.path(app, "chat?x=1")), additional_headers=ground.admin.headers) as client:
        client.send("hello")  # an app that sends masked frames back is no server, but its bytes came back unchanged
        until(lambda: app.received)
    assert app.received[0].line == f"GET {served.path(app, 'chat?x=1')} HTTP/1.1"
    assert app.received[0].header("upgrade") == "websocket"
    assert app.received[0].header("authorization") is None


def test_bytes_after_the_handshake_pass_unchanged_in_both_directions(ground: Any, make_app: Any) -> None:
    app = make_app(behave=echo_websocket)
    served = ground.serve(ground.admin, {"proxy_port": app.port})
    sent = os.urandom(3_000_000).replace(PING, b"x")
    with socket.create_connection(tuple(ground.address.split(":"))) as client:
        client.settimeout(60)
        lines = [f"GET {served.path(app)} HTTP/1.1", f"Host: {ground.address}", "Connection: Upgrade"]
        lines += ["Upgrade: websocket", "Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=="]
        lines += [f"Authorization: {ground.admin.headers['Authorization']}", "", ""]
        client.sendall("\r\n".join(lines).encode())
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            head += client.recv(1)
        assert head.startswith(b"HTTP/1.1 101 ")
        assert b"s3pPLMBiTxaQ9kYGzzhZRbK+xOo=" in head
        threading.Thread(target=client.sendall, args=(sent,), daemon=True).start()
        got = bytearray()
        while len(got) < len(sent):
            got += client.recv(2**16)
    assert bytes(got) == sent


def test_an_app_that_refuses_a_websocket_is_heard(ground: Any, make_app: Any) -> None:
    app = make_app(behave=lambda _request, connection, _app: answer(connection, b"no", status="418 Teapot"))
    served = ground.serve(ground.admin, {"proxy_port": app.port})
    with (
        pytest.raises(InvalidStatus) as refused,
        connect(_url(ground, served.path(app)), additional_headers=ground.admin.headers),
    ):
        pass
    assert (refused.value.response.status_code, refused.value.response.body) == (418, b"no")


def test_raw_tcp_carries_bytes_both_ways(ground: Any, make_app: Any) -> None:
    app = make_app(raw=echo)
    served = ground.serve(ground.admin, {"proxy_port": app.port, "proxy_tcp": True})
    sent = os.urandom(2_000_000)
    with connect(_url(ground, served.path(app)), additional_headers=ground.admin.headers) as client:
        threading.Thread(target=lambda: [client.send(sent[at : at + 4096]) for at in range(0, len(sent), 4096)]).start()
        got = bytearray()
        while len(got) < len(sent):
            got += client.recv(60)
    assert bytes(got) == sent


def test_raw_tcp_ends_when_the_app_closes(ground: Any, make_app: Any) -> None:
    app = make_app(raw=lambda connection: connection.sendall(b"bye"))
    served = ground.serve(ground.admin, {"proxy_port": app.port, "proxy_tcp": True})
    with connect(_url(ground, served.path(app)), additional_headers=ground.admin.headers) as client:
        assert list(client) == [b"bye"]


def test_raw_tcp_ends_the_connection_to_the_app_when_the_client_leaves(ground: Any, make_app: Any) -> None:
    ended = threading.Event()

    def wait(connection: socket.socket) -> None:
        assert connection.recv(10) == b"hi"
        assert connection.recv(10) == b""
        ended.set()

    app = make_app(raw=wait)
    served = ground.serve(ground.admin, {"proxy_port": app.port, "proxy_tcp": True})
    with connect(_url(ground, served.path(app)), additional_headers=ground.admin.headers) as client:
        client.send(b"hi")
    assert ended.wait(60)


def test_plain_http_to_raw_tcp_is_refused(ground: Any, make_app: Any) -> None:
    app = make_app(raw=echo)
    served = ground.serve(ground.admin, {"proxy_port": app.port, "proxy_tcp": True})
    got = ground.admin.get(served.path(app))
    assert (got.status, "determined.cli.tunnel" in got.message) == (400, True)


def _carry(tunnel: TcpTunnel, sent: bytes) -> bytes:
    """Return what comes back after these bytes and their end."""
    near, far = socket.socketpair()
    near.settimeout(60)
    far.setblocking(False)

    def run() -> None:
        with far:
            tunnel.carry(far.fileno(), far.fileno(), lambda: far.shutdown(socket.SHUT_WR))

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    threading.Thread(target=lambda: (near.sendall(sent), near.shutdown(socket.SHUT_WR)), daemon=True).start()
    got = bytearray()
    while piece := near.recv(2**16):
        got += piece
    thread.join(60)
    near.close()
    return bytes(got)


def test_our_client_ends_one_side_and_still_hears_the_answer(ground: Any, make_app: Any) -> None:
    def answer_at_the_end(connection: socket.socket) -> None:
        got = bytearray()
        while piece := connection.recv(2**16):
            got += piece
        connection.sendall(b"got " + str(len(got)).encode())

    app = make_app(raw=answer_at_the_end)
    served = ground.serve(ground.admin, {"proxy_port": app.port, "proxy_tcp": True})
    with closing(TcpTunnel(_session(ground.admin), f"{served.task_id}:{app.port}")) as tunnel:
        assert _carry(tunnel, b"x" * 1_000_000) == b"got 1000000"


def test_our_client_hears_the_end_of_the_app_and_may_still_send(ground: Any, make_app: Any) -> None:
    heard = bytearray()
    done = threading.Event()

    def end_first(connection: socket.socket) -> None:
        connection.sendall(b"that is all")
        connection.shutdown(socket.SHUT_WR)
        while piece := connection.recv(2**16):
            heard.extend(piece)
        done.set()

    app = make_app(raw=end_first)
    served = ground.serve(ground.admin, {"proxy_port": app.port, "proxy_tcp": True})
    near, far = socket.socketpair()
    near.settimeout(60)
    far.setblocking(False)
    with closing(TcpTunnel(_session(ground.admin), f"{served.task_id}:{app.port}")) as tunnel, near, far:
        thread = threading.Thread(
            target=lambda: tunnel.carry(far.fileno(), far.fileno(), lambda: far.shutdown(socket.SHUT_WR)), daemon=True
        )
        thread.start()
        assert near.recv(100) == b"that is all"
        assert near.recv(100) == b""
        near.sendall(b"one more thing")
        near.shutdown(socket.SHUT_WR)
        assert done.wait(60)
        thread.join(60)
    assert bytes(heard) == b"one more thing"


def test_our_client_reaches_a_port_that_speaks_http_as_raw_tcp(ground: Any, make_app: Any) -> None:
    app = make_app()
    served = ground.serve(ground.admin, {"proxy_port": app.port})
    with closing(TcpTunnel(_session(ground.admin), f"{served.task_id}:{app.port}")) as tunnel:
        got = _carry(tunnel, b"GET /any HTTP/1.0\r\n\r\n")
    assert got.endswith(b"Hello GET /any HTTP/1.0")


def test_a_client_of_raw_tcp_waits_until_the_app_listens(ground: Any, make_app: Any) -> None:
    late = make_app(raw=echo)
    late.close()
    served = ground.serve(ground.admin, {"proxy_port": late.port, "proxy_tcp": True})
    opened: list[TcpTunnel] = []
    thread = threading.Thread(
        target=lambda: opened.append(TcpTunnel(_session(ground.admin), f"{served.task_id}:{late.port}")), daemon=True
    )
    thread.start()
    listener = socket.create_server(("127.0.0.1", late.port))
    listener.settimeout(60)
    connection, _ = listener.accept()
    thread.join(60)
    with closing(opened[0]), listener, connection:
        connection.sendall(b"late but here")
        connection.close()
        assert _carry(opened[0], b"") == b"late but here"


@pytest.mark.parametrize(
    ("who", "what", "error"),
    [
        ("nobody", "{task}:{port}", Unauthenticated),
        ("bob", "{task}:{port}", Forbidden),
        ("admin", "{task}:1", NotFound),
    ],
)
def test_our_client_raises_the_error_of_the_master(
    ground: Any, make_app: Any, who: str, what: str, error: type[DeterminedError]
) -> None:
    app: SmallApp = make_app(raw=echo)
    served = ground.serve(ground.admin, {"proxy_port": app.port, "proxy_tcp": True})
    clients = {"nobody": Session(ground.master.url, retries=0), "admin": _session(ground.admin)}
    session = clients.get(who) or _session(ground.person(who))
    with pytest.raises(error):
        TcpTunnel(session, what.format(task=served.task_id, port=app.port))


def test_the_subprotocol_for_raw_tcp_is_confirmed(ground: Any, make_app: Any) -> None:
    app = make_app(raw=echo)
    served = ground.serve(ground.admin, {"proxy_port": app.port, "proxy_tcp": True})
    with connect(
        _url(ground, served.path(app)), additional_headers=ground.admin.headers, subprotocols=[TCP_SUBPROTOCOL]
    ) as client:
        assert client.subprotocol == TCP_SUBPROTOCOL
