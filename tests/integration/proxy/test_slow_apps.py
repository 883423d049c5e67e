"""Apps and visitors that say nothing for five minutes: no deadline of the master's cuts them.

The clock of the master's event loop is put forward, so every timer of those minutes fires; nothing is waited for.
"""

import asyncio
import http.client
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from small_app import Received, SmallApp, answer
from tracked import until
from websockets.sync.client import connect

from determined.exec.runner import tunnel
from determined.master import connections
from determined.master.connections import BoundedProtocol
from determined.master.proxy.tunnels import Tunnels

FIVE_MINUTES = 300.0
HANG_SECONDS = 60


class LoopClock:
    """The time of every event loop, ahead of the real one."""

    def __init__(self) -> None:
        self.ahead = 0.0
        self.swept_at = 0.0  # when connections were last looked through for late ones
        self.pings = 0  # rounds over the free connections of tunnels

    def now(self) -> float:
        return time.monotonic() + self.ahead

    def let_five_minutes_pass(self) -> None:
        """Return when the master has acted on it."""
        self.ahead += FIVE_MINUTES
        late, pings = self.now(), self.pings
        until(lambda: self.swept_at > late and self.pings > pings)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> LoopClock:
    clock = LoopClock()
    look, ping = BoundedProtocol.end_if_late, Tunnels.keep_alive

    def end_if_late(self: BoundedProtocol, now: float) -> None:
        look(self, now)
        clock.swept_at = now

    async def keep_alive(self: Tunnels) -> None:
        await ping(self)
        clock.pings += 1

    monkeypatch.setitem(sys.modules, "uvloop", None)  # its clock is the kernel's
    monkeypatch.setattr(asyncio.BaseEventLoop, "time", lambda self: clock.now())
    monkeypatch.setattr(connections, "SWEEP_SECONDS", 0.05)
    monkeypatch.setattr(BoundedProtocol, "end_if_late", end_if_late)
    monkeypatch.setattr(Tunnels, "keep_alive", keep_alive)
    return clock


@pytest.fixture
def ground(clock: LoopClock, make_ground: Callable[..., Any]) -> Any:
    return make_ground()


@pytest.fixture
def aside() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(1) as threads:
        yield threads


@pytest.mark.parametrize(("method", "body"), [("GET", None), ("POST", b"b" * 2**20)])
def test_an_app_that_answers_after_five_minutes_is_waited_for(
    ground: Any, make_app: Any, clock: LoopClock, aside: Any, method: str, body: bytes | None
) -> None:
    go = threading.Event()

    def late(_request: Received, connection: socket.socket, _app: SmallApp) -> None:
        assert go.wait(HANG_SECONDS)
        answer(connection, b"at last")

    app = make_app(behave=late)
    served = ground.serve(ground.admin, {"proxy_port": app.port})
    asked = aside.submit(ground.raw, method, served.path(app), ground.admin.headers, body)
    until(lambda: app.received)
    clock.let_five_minutes_pass()
    go.set()
    got = asked.result(HANG_SECONDS)
    assert (got.status, got.text) == (200, "at last")
    assert app.received[0].body == (body or b"")


def test_an_app_that_takes_the_body_after_five_minutes_gets_it_whole(
    ground: Any, make_app: Any, clock: LoopClock, aside: Any
) -> None:
    accepted, go, received = threading.Event(), threading.Event(), []

    def late(connection: socket.socket) -> None:
        accepted.set()
        assert go.wait(HANG_SECONDS)
        with connection.makefile("rb") as stream:
            while stream.readline() != b"\r\n":
                pass
            received.append(stream.read(len(body)))
        answer(connection, b"at last")

    app, body = make_app(raw=late), b"b" * (8 * 2**20)  # more than all buffers on the way hold
    served = ground.serve(ground.admin, {"proxy_port": app.port})
    asked = aside.submit(ground.raw, "POST", served.path(app), ground.admin.headers, body)
    assert accepted.wait(HANG_SECONDS)
    clock.let_five_minutes_pass()
    go.set()
    got = asked.result(HANG_SECONDS)
    assert (got.status, got.text) == (200, "at last")
    assert received == [body]


def test_an_answer_that_pauses_for_five_minutes_arrives_whole(ground: Any, make_app: Any, clock: LoopClock) -> None:
    go = threading.Event()

    def halting(_request: Received, connection: socket.socket, _app: SmallApp) -> None:
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\nhalf")
        assert go.wait(HANG_SECONDS)
        connection.sendall(b"half")

    app = make_app(behave=halting)
    served = ground.serve(ground.admin, {"proxy_port": app.port})
    client = http.client.HTTPConnection(ground.address, timeout=HANG_SECONDS)
    client.request("GET", served.path(app), headers=ground.admin.headers)
    got = client.getresponse()
    assert got.read(4) == b"half"
    clock.let_five_minutes_pass()
    go.set()
    assert got.read() == b"half"
    client.close()


def test_a_visitor_who_pauses_for_five_minutes_in_the_body_of_a_request_goes_on(
    ground: Any, make_app: Any, clock: LoopClock
) -> None:
    begun, received = threading.Event(), []

    def reading(connection: socket.socket) -> None:
        with connection.makefile("rb") as stream:
            while stream.readline() != b"\r\n":
                pass
            received.append(stream.read(4))
            begun.set()
            received.append(stream.read(4))
        answer(connection, b"whole")

    app = make_app(raw=reading)
    served = ground.serve(ground.admin, {"proxy_port": app.port})
    client = http.client.HTTPConnection(ground.address, timeout=HANG_SECONDS)
    client.putrequest("POST", served.path(app))
    client.putheader("Authorization", ground.admin.headers["Authorization"])
    client.putheader("Content-Length", "8")
    client.endheaders(b"half")
    assert begun.wait(HANG_SECONDS)
    clock.let_five_minutes_pass()
    client.send(b"rest")
    got = client.getresponse()
    assert (got.status, got.read(), received) == (200, b"whole", [b"half", b"rest"])
    client.close()


def test_raw_connections_on_which_nobody_says_anything_for_five_minutes_stay_open(
    ground: Any, make_app: Any, clock: LoopClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    def echo(connection: socket.socket) -> None:
        while data := connection.recv(2**16):
            connection.sendall(data)

    app = make_app(raw=echo)
    served = ground.serve(ground.admin, {"proxy_port": app.port, "proxy_tcp": True})
    url = ground.master.url.replace("http", "ws", 1) + served.path(app)
    headers = {"Authorization": ground.admin.headers["Authorization"]}
    with connect(url, additional_headers=headers, open_timeout=HANG_SECONDS, ping_interval=None) as client:
        client.send(b"before")
        assert client.recv(timeout=HANG_SECONDS) == b"before"
        monkeypatch.setattr(tunnel, "_SILENT_SECONDS", 0.0)  # of the runner, for connections without a stream
        clock.let_five_minutes_pass()
        client.send(b"after")
        assert client.recv(timeout=HANG_SECONDS) == b"after"
