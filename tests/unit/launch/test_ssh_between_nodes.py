"""Keys that nodes make for one task, and reaching the sshd of peers: what several nodes of Horovod need."""

import shutil
import socket
import threading
from pathlib import Path
from typing import Any

import pytest

from determined._info import ClusterInfo, RendezvousInfo
from determined.errors import FailedPrecondition
from determined.launch import _ssh

CHIEF = "ssh-ed25519 CHIEF determined"


class OtherNode:
    """Answers as the master does once the chief, too, has told its key."""

    def __init__(self) -> None:
        self.bodies: list[dict[str, Any]] = []

    def post(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        assert path == "/api/v1/allocations/1.t.1/all_gather"
        self.bodies.append(body)
        return {"data": [body["data"], {"rank": 0, "public": CHIEF}]}


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
    assert told["data"] == {"rank": 1, "public": keys.identity.with_suffix(".pub").read_text().strip()}
    assert keys.identity.stat().st_mode & 0o777 == 0o600
    assert keys.directory.stat().st_mode & 0o777 == 0o700


def test_peers_are_waited_for_until_they_greet() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        greeter = threading.Thread(target=_greet, args=(listener,))
        greeter.start()
        _ssh.wait_for_peers(["127.0.0.1"], listener.getsockname()[1], seconds=20)
        greeter.join()


def test_peer_that_does_not_answer_is_named(unused_tcp_port: int) -> None:
    with pytest.raises(FailedPrecondition, match=f"no sshd answers at 127.0.0.1 port {unused_tcp_port}"):
        _ssh.wait_for_peers(["127.0.0.1"], unused_tcp_port, seconds=0.3)


def _greet(listener: socket.socket) -> None:
    connection, _ = listener.accept()
    with connection:
        connection.sendall(b"SSH-2.0-test\r\n")
