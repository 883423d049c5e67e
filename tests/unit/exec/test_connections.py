"""A runner's connections: proved before a token is sent, kept, made anew when the peer hung up, encrypted as told."""

import ssl
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from proving_peer import PEER_TOKEN, Peer

from determined.api.proof import NotProven
from determined.constants import ALLOCATION_TOKEN_HEADER
from determined.exec.connections import Connections
from determined.wire.report import LaunchFile


@pytest.fixture
def connect() -> Iterator[Callable[..., Connections]]:
    made: list[Connections] = []

    def make(peer: Peer, **more: str | None) -> Connections:
        launch = LaunchFile(
            master_url=peer.url, token=PEER_TOKEN, allocation_id="1.a.1", resource_id="r", container_id="c",
            node_id="n", rank=0, slot_ids=[0], device="cpu", **more,
        )  # fmt: skip
        made.append(Connections(launch))
        return made[-1]

    yield make
    for connections in made:
        connections.close()


def ask(connections: Connections, path: str = "/x") -> int:
    return connections.request("GET", path, headers={ALLOCATION_TOKEN_HEADER: PEER_TOKEN}, body=None, seconds=60)[0]


def test_one_proof_serves_every_request_of_a_connection(
    start: Callable[..., Peer], connect: Callable[..., Connections]
) -> None:
    peer = start()
    connections = connect(peer)
    assert [ask(connections, "/a"), ask(connections, "/b")] == [200, 200]
    assert peer.targets() == ["/info", "/a", "/b"]
    assert len({port for port, _, _ in peer.asked}) == 1


def test_stranger_gets_no_token(start: Callable[..., Peer], connect: Callable[..., Connections]) -> None:
    peer = start()
    peer.answer = lambda _proof: b'{"proofs": ["00"]}'
    with pytest.raises(NotProven, match="not the master of this task"):
        ask(connect(peer))
    assert peer.tokens() == []


def test_connection_that_the_peer_closed_meanwhile_is_made_and_proved_anew(
    start: Callable[..., Peer], connect: Callable[..., Connections]
) -> None:
    peer = start()
    peer.hangs_up = True
    connections = connect(peer)
    assert ask(connections) == 200
    [idle] = connections._idle
    assert idle.recv(1) == b""  # it has hung up
    assert ask(connections) == 200
    assert peer.targets() == ["/info", "/x", "/info", "/x"]


def test_peer_that_hangs_up_after_its_proof_gets_no_token(
    start: Callable[..., Peer], connect: Callable[..., Connections]
) -> None:
    """A master that stops does so; whoever answers the next connection may be somebody else."""
    peer = start(protocol="HTTP/1.0")
    with pytest.raises(NotProven, match="closes the connection after its proof"):
        ask(connect(peer))
    assert (peer.targets(), peer.tokens()) == (["/info"], [])


def test_proof_of_a_master_at_another_address_is_not_believed(
    start: Callable[..., Peer], connect: Callable[..., Connections]
) -> None:
    genuine, taken = start(), start()
    taken.master = genuine.url  # it passes the questions on
    with pytest.raises(NotProven, match="not the master of this task"):
        ask(connect(taken))
    assert taken.tokens() == []


@pytest.fixture
def certificate(tmp_path: Path) -> Path:
    words = "req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=master -addext subjectAltName=DNS:master.example"
    file = tmp_path / "cert.pem"
    command = ["openssl", *words.split(), "-keyout", str(file), "-out", str(tmp_path / "alone.pem")]
    subprocess.run(command, check=True, capture_output=True)
    file.write_text(file.read_text() + (tmp_path / "alone.pem").read_text())
    return file


@pytest.mark.parametrize(
    ("file", "name", "trusted"),
    [
        ("cert.pem", "master.example", True),
        ("cert.pem", "another.example", False),
        ("cert.pem", None, False),  # it is not made out to 127.0.0.1
        (None, "master.example", False),  # nobody vouches for it
        ("noverify", None, True),
    ],
)
def test_encrypted_master_must_show_the_certificate_that_the_launch_names(
    start: Callable[..., Peer],
    connect: Callable[..., Connections],
    certificate: Path,
    file: str | None,
    name: str | None,
    trusted: bool,
) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    peer = start(context=context)
    trust = str(certificate) if file == "cert.pem" else file
    connections = connect(peer, master_cert_file=trust, master_cert_name=name)
    if trusted:
        assert ask(connections) == 200
        return
    with pytest.raises(ssl.SSLCertVerificationError):
        ask(connections)
    assert peer.tokens() == []
