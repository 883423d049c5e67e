"""A runner's connections: proved before a token is sent, kept, made anew when the peer hung up, encrypted as told."""

import json
import ssl
import subprocess
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from determined.api.proof import NotProven
from determined.exec.connections import Connections
from determined.wire.allocation_proof import allocation_proof
from determined.wire.report import LaunchFile

TOKEN = "the token"


class Peer:
    """Whoever listens at the master's address; `secret` is what it proves to know."""

    def __init__(self, *, protocol: str = "HTTP/1.1", context: ssl.SSLContext | None = None) -> None:
        self.secret = TOKEN
        self.asked: list[tuple[int, str]] = []  # port of the caller, path
        self.tokens: list[str] = []
        peer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = protocol

            def do_GET(self) -> None:
                url = urlsplit(self.path)
                peer.asked.append((self.client_address[1], url.path))
                if token := self.headers["X-Token"]:
                    peer.tokens.append(token)
                challenge = parse_qs(url.query).get("challenge")
                proof = allocation_proof(peer.secret, bytes.fromhex(challenge[0])) if challenge else ""
                self._answer(json.dumps({"proof": proof}).encode())

            def _answer(self, body: bytes) -> None:
                self.send_response(200)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)
                self.close_connection |= peer.hangs_up and not self.path.startswith("/info")

            def log_message(self, format: str, *args: object) -> None:
                return None

        self.hangs_up = False  # after a request, without a word
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._server.handle_error = lambda *_: None  # type: ignore[method-assign]  # refused handshakes are tested
        if context is not None:
            self._server.socket = context.wrap_socket(self._server.socket, server_side=True)
        self.url = f"http{'s' if context else ''}://127.0.0.1:{self._server.server_address[1]}"
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02})
        self._thread.start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


@pytest.fixture
def start() -> Iterator[Callable[..., Peer]]:
    started: list[Peer] = []

    def make(**how: object) -> Peer:
        started.append(Peer(**how))  # type: ignore[arg-type]
        return started[-1]

    yield make
    for peer in started:
        peer.close()


@pytest.fixture
def connect() -> Iterator[Callable[..., Connections]]:
    made: list[Connections] = []

    def make(peer: Peer, **more: str | None) -> Connections:
        launch = LaunchFile(
            master_url=peer.url, token=TOKEN, allocation_id="1.a.1", resource_id="r", container_id="c", node_id="n",
            rank=0, slot_ids=[0], device="cpu", **more,
        )  # fmt: skip
        made.append(Connections(launch))
        return made[-1]

    yield make
    for connections in made:
        connections.close()


def ask(connections: Connections, path: str = "/x") -> int:
    return connections.request("GET", path, headers={"X-Token": TOKEN}, body=None, seconds=10)[0]


def test_one_proof_serves_every_request_of_a_connection(
    start: Callable[..., Peer], connect: Callable[..., Connections]
) -> None:
    peer = start()
    connections = connect(peer)
    assert [ask(connections, "/a"), ask(connections, "/b")] == [200, 200]
    assert [path for _, path in peer.asked] == ["/info", "/a", "/b"]
    assert len({port for port, _ in peer.asked}) == 1


def test_stranger_gets_no_token(start: Callable[..., Peer], connect: Callable[..., Connections]) -> None:
    peer = start()
    peer.secret = "of another cluster"
    with pytest.raises(NotProven, match="not the master of this task"):
        ask(connect(peer))
    assert peer.tokens == []


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
    assert [path for _, path in peer.asked] == ["/info", "/x", "/info", "/x"]


def test_peer_that_answers_one_request_a_connection_is_served_by_two(
    start: Callable[..., Peer], connect: Callable[..., Connections]
) -> None:
    peer = start(protocol="HTTP/1.0")
    assert ask(connect(peer)) == 200
    assert [path for _, path in peer.asked] == ["/info", "/x"]


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
    assert peer.tokens == []
