"""Forwarded ports: `-L`, `-D` and `-R` of OpenSSH's client."""

import contextlib
import re
import socket
import socketserver
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from shell_rig import TIMEOUT, ShellRig


@pytest.fixture
def rig(shared_rig: ShellRig) -> ShellRig:
    """The server of all tests here."""
    return shared_rig


class Echo(socketserver.StreamRequestHandler):
    def handle(self) -> None:
        while data := self.request.recv(65536):
            self.request.sendall(data)


@pytest.fixture
def echo_port() -> Iterator[int]:
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Echo) as server:
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server.server_address[1]
        server.shutdown()
        thread.join(TIMEOUT)


@pytest.fixture
def echo_path(tmp_path: Path, directory: Path) -> Iterator[Path]:
    path = directory / "echo"
    with socketserver.ThreadingUnixStreamServer(str(path), Echo) as server:
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield path
        server.shutdown()
        thread.join(TIMEOUT)


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as found:
        return int(found.getsockname()[1])


@contextlib.contextmanager
def forwarding(rig: ShellRig, *words: str) -> Iterator[str]:
    """`ssh` with a forwarded port, as soon as it works; its first line."""
    words = ("-oExitOnForwardFailure=yes", *words, "echo up; cat")
    with subprocess.Popen(rig.argv(*words), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as p:
        assert p.stdin is not None and p.stdout is not None and p.stderr is not None
        try:
            first = p.stdout.readline()
            assert first == b"up\n", p.stderr.read()
            yield ""
        finally:
            p.stdin.close()
            p.wait(TIMEOUT)


def echoed(connected: socket.socket, size: int = 1_000_000) -> bool:
    data = bytes(range(250)) * (size // 250)
    sender = threading.Thread(target=lambda: (connected.sendall(data), connected.shutdown(socket.SHUT_WR)))
    sender.start()
    connected.settimeout(TIMEOUT)
    received = b"".join(iter(lambda: connected.recv(65536), b""))
    sender.join(TIMEOUT)
    return received == data


def test_a_local_port_reaches_what_the_task_can_reach(rig: ShellRig, echo_port: int) -> None:
    port = free_port()
    with (
        forwarding(rig, f"-L{port}:127.0.0.1:{echo_port}"),
        socket.create_connection(("127.0.0.1", port)) as client,
    ):
        assert echoed(client)


def test_a_local_port_reaches_a_unix_socket_of_the_task(rig: ShellRig, echo_path: Path) -> None:
    port = free_port()
    with forwarding(rig, f"-L{port}:{echo_path}"), socket.create_connection(("127.0.0.1", port)) as client:
        assert echoed(client)


def test_a_port_where_nobody_listens_closes_the_connection(rig: ShellRig) -> None:
    port = free_port()
    with (
        forwarding(rig, f"-L{port}:127.0.0.1:{free_port()}"),
        socket.create_connection(("127.0.0.1", port)) as client,
    ):
        client.settimeout(TIMEOUT)
        assert client.recv(1) == b""


def test_a_socks_proxy_connects_as_editors_use_it(rig: ShellRig, echo_port: int) -> None:
    port = free_port()
    with forwarding(rig, f"-D{port}"), socket.create_connection(("127.0.0.1", port)) as client:
        client.settimeout(TIMEOUT)
        client.sendall(b"\x05\x01\x00")
        assert client.recv(2) == b"\x05\x00"
        client.sendall(b"\x05\x01\x00\x01" + socket.inet_aton("127.0.0.1") + echo_port.to_bytes(2, "big"))
        assert client.recv(10)[:2] == b"\x05\x00"
        assert echoed(client)


def test_a_remote_port_reaches_the_client_from_the_loopback_alone(rig: ShellRig, echo_port: int) -> None:
    port = free_port()
    with forwarding(rig, f"-R*:{port}:127.0.0.1:{echo_port}"):
        with socket.create_connection(("127.0.0.1", port)) as client:
            assert echoed(client)
        listening = subprocess.run(["cat", "/proc/net/tcp", "/proc/net/tcp6"], capture_output=True, check=True).stdout
        addresses = re.findall(rb": ([0-9A-F]+):%04X 0+:0000 0A" % port, listening)
        assert addresses == [b"0100007F"]


def test_a_remote_port_is_closed_with_the_connection(rig: ShellRig, echo_port: int) -> None:
    port = free_port()
    with forwarding(rig, f"-R{port}:127.0.0.1:{echo_port}"):
        pass
    deadline = time.monotonic() + TIMEOUT
    while time.monotonic() < deadline:
        try:
            socket.create_connection(("127.0.0.1", port)).close()
        except ConnectionRefusedError:
            return
    raise AssertionError("the port is still open")


def test_a_port_is_chosen_where_the_client_leaves_it_open(rig: ShellRig, echo_port: int) -> None:
    words = rig.argv(f"-R0:127.0.0.1:{echo_port}", "echo up; cat")
    words = [word.replace("LogLevel=ERROR", "LogLevel=INFO") for word in words]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as client:
        assert client.stderr is not None and client.stdin is not None
        line = client.stderr.readline().decode()
        found = re.search(r"Allocated port (\d+)", line)
        assert found, line
        with socket.create_connection(("127.0.0.1", int(found[1]))) as connected:
            assert echoed(connected)
        client.stdin.close()
        client.wait(TIMEOUT)
