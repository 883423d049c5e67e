"""Requests must arrive in time, and nobody holds all connections; what is slow but moving, or long, is left alone."""

import json
import os
import resource
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from determined.master import connections
from determined.master.connections import Connections


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Deadlines of a second instead of twenty."""
    monkeypatch.setattr(connections, "HEAD_SECONDS", 1.0)
    monkeypatch.setattr(connections, "WINDOW_SECONDS", 1.0)
    monkeypatch.setattr(connections, "SWEEP_SECONDS", 0.1)


def _connect(url: str) -> socket.socket:
    address = urlsplit(url)
    return socket.create_connection((address.hostname, address.port), timeout=60)


def _rest(sock: socket.socket) -> bytes:
    """Return what still comes until the other side hangs up."""
    parts = []
    try:
        while part := sock.recv(65536):
            parts.append(part)
    except ConnectionResetError:
        pass
    return b"".join(parts)


@pytest.mark.usefixtures("short")
@pytest.mark.parametrize("sent", [b"", b"GET /health HT", b"GET /health HTTP/1.1\r\nHost: localhost\r\nX-Slow: "])
def test_half_a_head_is_hung_up_on(sqlite_world: Any, sent: bytes) -> None:
    with _connect(sqlite_world.master.url) as sock:
        sock.sendall(sent)
        answer = _rest(sock)
    assert answer.startswith(b"HTTP/1.1 408") if sent else answer == b""


@pytest.mark.usefixtures("short")
def test_a_head_that_drips_is_hung_up_on_also_as_a_second_request(sqlite_world: Any) -> None:
    with _connect(sqlite_world.master.url) as sock:
        sock.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert sock.recv(4096).startswith(b"HTTP/1.1 200")
        sock.sendall(b"GET /")
        sock.settimeout(0.2)
        assert _is_hung_up_on(sock, b"x")


def _is_hung_up_on(sock: socket.socket, drip: bytes) -> bool:
    """Send a little again and again, for a minute at most, until the other side has had enough."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        try:
            sock.sendall(drip)
            if sock.recv(4096)[:12] in (b"", b"HTTP/1.1 408"):
                return True
        except TimeoutError:
            continue
        except (BrokenPipeError, ConnectionResetError):
            return True
    return False


@pytest.mark.usefixtures("short")
def test_a_body_that_does_not_come_is_hung_up_on(sqlite_world: Any) -> None:
    head = b"POST /api/v1/auth/login HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9000\r\n\r\n"
    with _connect(sqlite_world.master.url) as sock:
        sock.sendall(head + b"{")
        assert not _rest(sock).startswith(b"HTTP/1.1 5")
    assert sqlite_world.admin.get("/api/v1/me").status == 200


@pytest.mark.usefixtures("short")
def test_a_slow_upload_that_keeps_moving_arrives(sqlite_world: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "WINDOW_BYTES", 1)
    body = json.dumps({"name": "slow"}).encode()
    token = sqlite_world.admin.headers["Authorization"].encode()
    head = b"POST /api/v1/workspaces HTTP/1.1\r\nHost: localhost\r\nAuthorization: %s\r\nContent-Length: %d\r\n\r\n"
    with _connect(sqlite_world.master.url) as sock:
        sock.sendall(head % (token, len(body)))
        for n in range(len(body)):
            sock.sendall(body[n : n + 1])
            time.sleep(0.25)  # longer than the deadline in all
        assert sock.recv(4096).startswith(b"HTTP/1.1 200")


@pytest.mark.usefixtures("short")
def test_a_long_poll_outlives_the_deadlines(sqlite_world: Any) -> None:
    launch = sqlite_world.trial.launch
    path = f"/api/v1/allocations/{launch.allocation_id}/signals/preemption?timeout_seconds=3"
    answer = sqlite_world.master.anonymous.get(path, headers=sqlite_world.task_headers)
    assert answer.status == 200


def test_a_head_without_end_is_refused(sqlite_world: Any) -> None:
    with _connect(sqlite_world.master.url) as sock:
        try:
            sock.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\n" + b"X-Long: " + b"x" * 200_000)
            assert _rest(sock).startswith((b"HTTP/1.1 431", b"HTTP/1.1 400"))
        except (BrokenPipeError, ConnectionResetError):
            pass  # hung up on while it was still talking
    assert sqlite_world.admin.get("/api/v1/me").status == 200


def test_half_open_connections_make_room_for_real_ones(sqlite_world: Any) -> None:
    """With all places taken by connections that have asked for nothing, the oldest of them go."""
    limits: Connections = sqlite_world.master._server.connections
    limits.most = 40
    silent = [_connect(sqlite_world.master.url) for _ in range(60)]
    try:
        for sock in silent:
            sock.sendall(b"GET /health HT")
        for _ in range(5):
            assert sqlite_world.master.client("admin").get("/api/v1/me").status == 200
        assert len(limits._open) <= 40
    finally:
        for sock in silent:
            sock.close()


class Connection:
    """A connection as far as `Connections` knows one."""

    def __init__(self, peer: str) -> None:
        self.peer, self.aborted, self.transport = peer, False, self

    def abort(self) -> None:
        self.aborted = True


@pytest.mark.parametrize("peer", ["10.0.0.1", "127.0.0.1"])
def test_of_many_half_heads_from_one_address_the_oldest_go(monkeypatch: pytest.MonkeyPatch, peer: str) -> None:
    monkeypatch.setattr(connections, "UNPROVEN_PER_PEER", 3)
    limits = Connections(descriptors=1000)
    served: Any = Connection(peer)
    elsewhere: Any = Connection("10.0.0.9")
    assert limits.admit(served) and limits.admit(elsewhere)
    limits.at_work(served)
    half: list[Any] = [Connection(peer) for _ in range(5)]
    assert all(limits.admit(one) for one in half)
    assert [one.aborted for one in half] == [True, True, False, False, False]
    assert not served.aborted and not elsewhere.aborted
    for one in (*half, served, elsewhere):
        limits.left(one)
    assert not limits._open and not limits._unproven_peers and not limits._peers


def test_one_address_does_not_hold_all_connections(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "PER_PEER", 3)
    limits = Connections(descriptors=1000)
    mine: list[Any] = [Connection("10.0.0.1") for _ in range(4)]
    for one in mine[:3]:
        assert limits.admit(one)
        limits.at_work(one)
    assert not limits.admit(mine[3]), "all of its connections are at work"
    other: Any = Connection("10.0.0.2")
    assert limits.admit(other)
    limits.waits(mine[1])
    assert limits.admit(mine[3])
    assert mine[1].aborted and not mine[0].aborted, "the idle one made room"
    for one in (*mine, other):
        limits.left(one)
    assert not limits._open and not limits._peers


def test_the_master_may_open_as_many_files_as_the_system_allows(
    await_port: Callable[..., tuple["subprocess.Popen[bytes]", int]], tmp_path: Path
) -> None:
    code = (
        "import resource;"
        "h = resource.getrlimit(resource.RLIMIT_NOFILE)[1];"
        "resource.setrlimit(resource.RLIMIT_NOFILE, (256, h));"
        "from determined.master.connections import raise_descriptor_limit;"
        "print(raise_descriptor_limit(), resource.getrlimit(resource.RLIMIT_NOFILE)[0])"
    )
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    wanted = (
        connections.WANTED_DESCRIPTORS if hard == resource.RLIM_INFINITY else min(hard, connections.WANTED_DESCRIPTORS)
    )
    said = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=dict(os.environ)
    )
    assert said.stdout.split() == [str(wanted), str(wanted)]
    process, _ = await_port("--data-dir", str(tmp_path / "data"))
    limits = Path(f"/proc/{process.pid}/limits").read_text().splitlines()
    assert next(line for line in limits if line.startswith("Max open files")).split()[3] == str(wanted)
