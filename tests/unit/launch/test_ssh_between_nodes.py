"""Keys that nodes make for one task, and reaching the sshd of peers: what several nodes of Horovod need."""

import contextlib
import os
import shutil
import socket
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from determined._info import ClusterInfo, RendezvousInfo
from determined.errors import FailedPrecondition
from determined.launch import _ssh
from determined.wire.allocation import ALL_GATHER, AllocationAllGatherResponse
from determined.wire.operation import Operation

CHIEF = "ssh-ed25519 CHIEF determined"
NO_SSHD = shutil.which("sshd", path="/usr/sbin:/usr/local/sbin:/sbin") is None or shutil.which("ssh") is None


class OtherNode:
    """Answers as the master does once the chief, too, has told its key."""

    def __init__(self) -> None:
        self.bodies: list[dict[str, Any]] = []

    def call(self, operation: Operation[Any, Any], request: Any, *, allocation_id: str) -> AllocationAllGatherResponse:
        assert operation is ALL_GATHER and allocation_id == "1.t.1"
        self.bodies.append(msgspec.to_builtins(request))
        chief = {"rank": 0, "public": CHIEF, "host": "ssh-ed25519 HOST determined"}
        return AllocationAllGatherResponse(data=[request.data, chief])


class Alone:
    """Answers a task of one node, which logs in to itself."""

    def call(self, operation: Operation[Any, Any], request: Any, *, allocation_id: str) -> AllocationAllGatherResponse:
        return AllocationAllGatherResponse(data=[request.data | {"rank": 0}])


@pytest.fixture
def info() -> ClusterInfo:
    return ClusterInfo(
        master_url="http://m", cluster_id="c", agent_id="a", slot_ids=[0], task_id="1.t", allocation_id="1.t.1",
        session_token="s", task_type="TRIAL", rendezvous_info=RendezvousInfo(["127.0.0.1", "127.0.0.2"], 1, [1, 1]),
    )  # fmt: skip


@pytest.mark.skipif(shutil.which("ssh-keygen") is None, reason="ssh-keygen makes the keys")
def test_only_the_chief_may_log_in_and_no_private_key_leaves_its_node(tmp_path: Path, info: ClusterInfo) -> None:
    master: Any = OtherNode()
    keys = _ssh.exchange_keys(master, info, tmp_path / "ssh")
    assert (tmp_path / "ssh" / "authorized_keys").read_text() == f"{CHIEF}\n"
    [told] = master.bodies
    assert told["numPeers"] == 2 and told["topic"] == "ssh keys"
    public = {name: (keys.directory / f"{name}.pub").read_text().strip() for name in ("identity", "host")}
    assert told["data"] == {"rank": 1, "public": public["identity"], "host": public["host"]}
    assert keys.hosts == ["ssh-ed25519 HOST determined", public["host"]]
    assert keys.identity.stat().st_mode & 0o777 == 0o600
    assert keys.directory.stat().st_mode & 0o777 == 0o700


@pytest.fixture
def served(tmp_path: Path, info: ClusterInfo, unused_tcp_port: int) -> Iterator[tuple[_ssh.Keys, int]]:
    """A real sshd as a node runs it, at 127.0.0.2."""
    master: Any = Alone()
    keys = _ssh.exchange_keys(master, info, tmp_path / "ssh with space")
    config = _ssh.write_sshd_config(keys, "127.0.0.2", unused_tcp_port, {"OF_THE_NODE": 'a "quoted" \\ value'})
    with subprocess.Popen([_ssh.find_sshd(), "-D", "-e", "-f", str(config)]) as daemon:
        try:
            _ssh.wait_for_peers(["127.0.0.2"], unused_tcp_port, seconds=60)
            yield keys, unused_tcp_port
        finally:
            daemon.terminate()


@pytest.mark.skipif(NO_SSHD, reason="openssh-server and openssh-client are not installed")
def test_logins_find_the_variables_of_the_node(served: tuple[_ssh.Keys, int]) -> None:
    keys, port = served
    assert _log_in(keys, port).stdout == 'a "quoted" \\ value\n'


@pytest.mark.skipif(NO_SSHD, reason="openssh-server and openssh-client are not installed")
def test_node_with_another_key_is_not_logged_in_to(served: tuple[_ssh.Keys, int]) -> None:
    keys, port = served
    other = (keys.directory / "identity.pub").read_text().strip()
    done = _log_in(_ssh.Keys(keys.directory, [other]), port)
    assert done.returncode == 255
    assert "Host key verification failed" in done.stderr


def test_peers_are_waited_for_until_they_greet() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        greeter = threading.Thread(target=_greet, args=(listener,))
        greeter.start()
        _ssh.wait_for_peers(["127.0.0.1"], listener.getsockname()[1], seconds=60)
        listener.shutdown(socket.SHUT_RDWR)
        greeter.join()


def test_peer_that_does_not_answer_is_named(unused_tcp_port: int) -> None:
    with pytest.raises(FailedPrecondition, match=f"no sshd answers at 127.0.0.1 port {unused_tcp_port}"):
        _ssh.wait_for_peers(["127.0.0.1"], unused_tcp_port, seconds=0.3)


def _log_in(keys: _ssh.Keys, port: int) -> "subprocess.CompletedProcess[str]":
    """As horovodrun does."""
    programs = _ssh.write_ssh(keys, ["127.0.0.2"], port)
    command = ["ssh", "-o", "StrictHostKeyChecking=no", "127.0.0.2", "-p", str(port), "-i", str(keys.identity)]
    environment = os.environ | {"PATH": f"{programs}{os.pathsep}{os.environ['PATH']}"}
    return subprocess.run(
        [*command, 'echo "$OF_THE_NODE"'], capture_output=True, text=True, env=environment, timeout=60, check=False
    )


def _greet(listener: socket.socket) -> None:
    """Everybody until it is shut down: one that has waited too long calls again."""
    while True:
        try:
            connection, _ = listener.accept()
        except OSError:
            return
        with connection, contextlib.suppress(OSError):
            connection.sendall(b"SSH-2.0-test\r\n")
