"""Users of one machine are told apart by the sockets that they hold."""

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from determined.master.auth import peer


@pytest.mark.parametrize(("family", "host"), [(socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")])
def test_a_connection_from_here_has_its_user(family: socket.AddressFamily, host: str) -> None:
    try:
        listener = socket.create_server((host, 0), family=family)
    except OSError:
        pytest.skip(f"this machine has no {host}")
    with listener, socket.create_connection(listener.getsockname()[:2]) as client:
        assert peer.name_of(host, client.getsockname()[1]) == f"{host} uid {os.getuid()}"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_another_users_connection_is_that_users() -> None:
    program = "import socket, sys; s = socket.create_connection(('127.0.0.1', int(sys.argv[1]))); sys.stdin.read()"
    with socket.create_server(("127.0.0.1", 0)) as listener:
        python = "/usr/bin/python3" if Path("/usr/bin/python3").exists() else sys.executable
        command = [python, "-c", program, str(listener.getsockname()[1])]
        with subprocess.Popen(command, stdin=subprocess.PIPE, user=65534) as other:
            _, (host, port) = listener.accept()
            assert peer.name_of(host, port) == "127.0.0.1 uid 65534"
            other.kill()


def test_an_address_elsewhere_or_unknown_stands_for_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert peer.name_of("10.1.2.3", 5) == "10.1.2.3"
    assert peer.name_of("testclient", 5) == "testclient"
    assert peer.name_of("127.0.0.1", 1) == "127.0.0.1"
    monkeypatch.setattr(peer, "_TABLES", ((tmp_path / "none", socket.AF_INET),))
    assert peer.name_of("127.0.0.1", 1) == "127.0.0.1"
