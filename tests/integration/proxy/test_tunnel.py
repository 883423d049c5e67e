"""The tunnel between a runner and the master: connections that are reused, given up and opened again."""

import asyncio
import select
import socket
import threading
from typing import Any

import pytest
from small_app import Received, SmallApp, answer
from tracked import until

from determined.errors import InvalidArgument
from determined.exec.connections import Connections
from determined.master.proxy.tunnels import Tunnels
from determined.wire.tunnel import OPEN_TUNNEL, PROTOCOL, Frame, frame


def _tunnel(ground: Any, served: Any) -> Any:
    tunnels: Tunnels = ground.master.app.state.tunnels
    return tunnels._tunnels.get(served.launch.allocation_id)


def test_requests_one_after_the_other_use_the_same_connections(ground: Any, make_app: Any) -> None:
    app = make_app()
    served = ground.serve(ground.admin, {"proxy_port": app.port})
    until(lambda: len(_tunnel(ground, served).free) == 2)
    before = set(_tunnel(ground, served).connections)
    for number in range(10):
        assert ground.admin.get(served.path(app, str(number))).status == 200
        until(lambda: len(_tunnel(ground, served).free) >= 2)
    assert before <= set(_tunnel(ground, served).connections)
    assert len(_tunnel(ground, served).connections) <= 4


def test_connections_survive_clients_that_leave_in_the_middle(ground: Any, make_app: Any) -> None:
    def pour(_request: Received, connection: socket.socket, _app: SmallApp) -> None:
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000000\r\n\r\n")
        while True:
            connection.sendall(b"z" * 2**20)

    app = make_app(behave=pour)
    served = ground.serve(ground.admin, {"proxy_port": app.port})
    for _ in range(5):
        got = ground.admin.pool.request(
            "GET", ground.master.url + served.path(app), headers=ground.admin.headers, preload_content=False
        )
        assert got.read(1000) == b"z" * 1000
        got.close()
    until(lambda: len(_tunnel(ground, served).free) == len(_tunnel(ground, served).connections))
    app.behave = None
    assert ground.admin.get(served.path(app)).status == 200


def test_more_streams_than_an_allocation_may_have_are_refused(
    ground: Any, make_app: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("determined.master.proxy.tunnels.MAX_STREAMS", 3)
    go = threading.Event()

    def wait(_request: Received, connection: socket.socket, _app: SmallApp) -> None:
        assert go.wait(60)
        answer(connection, b"done")

    app = make_app(behave=wait)
    served = ground.serve(ground.admin, {"proxy_port": app.port})
    statuses: list[int] = []

    def ask() -> None:
        client = type(ground.admin)(ground.master.url, ground.admin.headers)
        statuses.append(client.get(served.path(app)).status)

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    until(lambda: statuses)
    go.set()
    for thread in threads:
        thread.join(60)
    assert sorted(statuses) == [200, 200, 200, 429]


def test_a_runner_opens_its_connections_again_when_they_break(ground: Any, make_app: Any) -> None:
    app = make_app()
    served = ground.serve(ground.admin, {"proxy_port": app.port})
    broken = list(_tunnel(ground, served).connections)
    for connection in broken:
        ground.master._server.servers[0].get_loop().call_soon_threadsafe(connection.abort)
    until(lambda: (tunnel := _tunnel(ground, served)) is not None and len(set(tunnel.free) - set(broken)) == 2)
    assert ground.admin.get(served.path(app)).status == 200


def test_the_end_of_the_task_closes_the_tunnel(ground: Any, make_app: Any) -> None:
    app = make_app()
    served = ground.serve(ground.admin, {"proxy_port": app.port})
    served.end()
    until(lambda: _tunnel(ground, served) is None)
    assert ground.admin.get(served.path(app)).status == 503


def test_a_runner_that_does_not_answer_pings_is_given_up(ground: Any, make_app: Any) -> None:
    served = ground.serve(ground.admin, {"proxy_port": make_app().port}, connected=False)
    sock = _opened(served)
    until(lambda: _tunnel(ground, served) is not None)
    _sweep(ground)
    assert sock.recv(100) == frame(Frame.PING)
    _sweep(ground)
    with pytest.raises(ConnectionResetError):
        sock.recv(100)
    until(lambda: _tunnel(ground, served) is None)


def test_a_runner_that_sends_nonsense_is_given_up(ground: Any, make_app: Any) -> None:
    served = ground.serve(ground.admin, {"proxy_port": make_app().port}, connected=False)
    sock = _opened(served)
    sock.sendall(b"\xff\xff\xff\xff")
    with pytest.raises(ConnectionResetError):
        sock.recv(100)


def test_a_tunnel_asks_for_the_token_of_its_own_allocation(ground: Any, make_app: Any) -> None:
    ada = ground.person("ada")
    served = ground.serve(ground.admin, {"proxy_port": make_app().port}, connected=False)
    other = ground.serve(ada, {"proxy_port": make_app().port}, connected=False)
    upgrade = {"Connection": "Upgrade", "Upgrade": PROTOCOL}
    path = OPEN_TUNNEL.at(allocation_id=served.launch.allocation_id)
    task = {"Grpc-Metadata-x-allocation-token": f"Bearer {other.launch.token}"}
    assert ground.raw("GET", path, upgrade).status == 401
    assert ground.raw("GET", path, upgrade | ground.admin.headers).status == 403
    assert ground.raw("GET", path, upgrade | task).status == 403


def test_a_tunnel_without_an_upgrade_is_told_so(ground: Any, make_app: Any) -> None:
    served = ground.serve(ground.admin, {"proxy_port": make_app().port}, connected=False)
    task = {"Grpc-Metadata-x-allocation-token": f"Bearer {served.launch.token}"}
    got = ground.raw("GET", OPEN_TUNNEL.at(allocation_id=served.launch.allocation_id), task)
    assert got.status == InvalidArgument.status
    assert PROTOCOL in got.text


def _opened(served: Any) -> socket.socket:
    """A connection of the tunnel, without a runner behind it."""
    path = OPEN_TUNNEL.at(allocation_id=served.launch.allocation_id)
    headers = {"Grpc-Metadata-x-allocation-token": f"Bearer {served.launch.token}"}
    link = served.tunnel._link
    sock = Connections(link.launch).switch(path, headers | {"Connection": "Upgrade", "Upgrade": PROTOCOL})
    assert isinstance(sock, socket.socket), sock
    sock.settimeout(60)
    return sock


def _sweep(ground: Any) -> None:
    loop = ground.master._server.servers[0].get_loop()
    asyncio.run_coroutine_threadsafe(ground.master.app.state.tunnels.keep_alive(), loop).result(60)


def test_a_service_that_takes_nothing_is_left_when_its_visitor_has_gone(
    ground: Any, make_app: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("determined.master.proxy.tunnel_connection._CLOSE_SECONDS", 0.1)
    monkeypatch.setattr("determined.master.proxy.tunnel_connection._STALLED_SECONDS", 2.0)
    begun, ended = threading.Event(), threading.Event()

    def take_nothing(connection: socket.socket) -> None:
        begun.set()
        poll = select.poll()
        poll.register(connection, select.POLLRDHUP)
        assert poll.poll(60_000)
        ended.set()

    app = make_app(raw=take_nothing)
    served = ground.serve(ground.admin, {"proxy_port": app.port})
    host, port = ground.address.split(":")
    with socket.create_connection((host, int(port)), timeout=1) as client:
        token = ground.admin.headers["Authorization"]
        head = f"PUT {served.path(app)} HTTP/1.1\r\nHost: {ground.address}\r\nAuthorization: {token}\r\n"
        client.sendall(f"{head}Content-Length: {2**30}\r\n\r\n".encode())
        with pytest.raises(TimeoutError):
            for _ in range(1024):
                client.sendall(b"y" * 2**20)
        assert begun.wait(60)
    assert ended.wait(60)


def test_a_burst_of_streams_opens_as_many_connections(ground: Any, make_app: Any) -> None:
    together = threading.Barrier(30, timeout=60)

    def meet(_request: Received, connection: socket.socket, _app: SmallApp) -> None:
        together.wait()
        answer(connection, b"met")

    app = make_app(behave=meet)
    served = ground.serve(ground.admin, {"proxy_port": app.port})
    answers: list[bytes] = []

    def ask() -> None:
        answers.append(type(ground.admin)(ground.master.url, ground.admin.headers).get(served.path(app)).raw)

    threads = [threading.Thread(target=ask) for _ in range(30)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert answers == [b"met"] * 30
    _sweep(ground)
    until(lambda: len(_tunnel(ground, served).connections) <= 10)
