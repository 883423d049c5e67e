"""A task's token goes only over connections whose peer proved itself: plain, encrypted, through a proxy."""

import json
import ssl
import subprocess
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from determined.api.session import CertSpec, Session
from determined.constants import ALLOCATION_TOKEN_HEADER
from determined.errors import MasterNotFound
from determined.wire.allocation_proof import allocation_proof

ALLOCATION, TOKEN = "1.abc.1", "the token"


class Peer:
    """Whoever listens at the address. `answer` makes the body of its /info from the right proof."""

    def __init__(self, *, protocol: str = "HTTP/1.1", context: ssl.SSLContext | None = None) -> None:
        self.answer: Callable[[str], bytes] = lambda proof: json.dumps({"proof": proof}).encode()
        self.asked: list[tuple[int, str, str | None]] = []  # port of the caller, target, token
        peer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = protocol

            def do_GET(self) -> None:
                given = self.headers[ALLOCATION_TOKEN_HEADER]
                peer.asked.append((self.client_address[1], self.path.partition("?")[0], given))
                query = parse_qs(urlsplit(self.path).query)
                body = b"{}"
                if "challenge" in query:
                    body = peer.answer(allocation_proof(TOKEN, bytes.fromhex(query["challenge"][0])))
                self.send_response(200)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *args: object) -> None:
                return None

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.server.handle_error = lambda *_: None  # type: ignore[method-assign]  # callers that hang up are tested
        if context is not None:
            self.server.socket = context.wrap_socket(self.server.socket, server_side=True)
        self.url = f"http{'s' if context else ''}://127.0.0.1:{self.server.server_address[1]}"
        self._thread = threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.02})
        self._thread.start()

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()
        self._thread.join()

    def targets(self) -> list[str]:
        return [target for _, target, _ in self.asked]

    def tokens(self) -> list[str]:
        return [token for _, _, token in self.asked if token is not None]


@pytest.fixture
def start() -> Iterator[Callable[..., Peer]]:
    started: list[Peer] = []

    def make(**how: object) -> Peer:
        started.append(Peer(**how))  # type: ignore[arg-type]
        return started[-1]

    yield make
    for peer in started:
        peer.close()


def session(url: str, cert: CertSpec | None = None) -> Session:
    return Session(url, token=TOKEN, allocation_token=True, allocation_id=ALLOCATION, retries=0, cert=cert)


def test_proof_is_asked_for_once_a_connection(start: Callable[..., Peer]) -> None:
    peer = start()
    with session(peer.url) as task:
        for _ in range(3):
            task.get("/api/v1/x")
    assert peer.targets() == ["/info", "/api/v1/x", "/api/v1/x", "/api/v1/x"]
    assert len({port for port, _, _ in peer.asked}) == 1
    assert peer.tokens() == [f"Bearer {TOKEN}"] * 3


def test_master_below_a_path_is_asked_there(start: Callable[..., Peer]) -> None:
    peer = start()
    with session(peer.url + "/cluster/") as task:
        task.get("/api/v1/x")
    assert peer.targets() == ["/cluster/info", "/cluster/api/v1/x"]


def test_peer_that_keeps_no_connections_is_asked_once_a_request(start: Callable[..., Peer]) -> None:
    peer = start(protocol="HTTP/1.0")
    with session(peer.url) as task:
        task.get("/api/v1/x")
        task.get("/api/v1/x")
    assert peer.targets() == ["/info", "/api/v1/x", "/info", "/api/v1/x"]


@pytest.mark.parametrize(
    "answer",
    [b'{"proof": "00"}', b'{"proof": 5}', b"{}", b"[]", b"hello", b"", b'"' + b"x" * 100_000 + b'"'],
    ids=["wrong", "no text", "no proof", "a list", "no JSON", "nothing", "endless"],
)
def test_peer_without_a_proof_gets_no_token(start: Callable[..., Peer], answer: bytes) -> None:
    peer = start()
    peer.answer = lambda _proof: answer
    with session(peer.url) as task, pytest.raises(MasterNotFound, match="who answers"):
        task.get("/api/v1/x")
    assert (peer.targets(), peer.tokens()) == (["/info"], [])


def test_encrypted_connection_asks_for_the_proof_too(start: Callable[..., Peer], tmp_path: Path) -> None:
    words = "req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=cluster -addext subjectAltName=DNS:cluster"
    key, pem = tmp_path / "key", tmp_path / "pem"
    subprocess.run(["openssl", *words.split(), "-keyout", key, "-out", pem], check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(pem, key)
    peer = start(context=context)
    with session(peer.url, CertSpec(str(pem), "cluster")) as task:
        task.get("/api/v1/x")
        task.get("/api/v1/x")
    assert peer.targets() == ["/info", "/api/v1/x", "/api/v1/x"]


def test_master_behind_a_forwarding_proxy_is_asked_by_its_own_name(
    start: Callable[..., Peer], monkeypatch: pytest.MonkeyPatch
) -> None:
    proxy = start()
    monkeypatch.setenv("http_proxy", proxy.url)
    monkeypatch.setenv("no_proxy", "")
    with session("http://master.invalid:8080") as task:
        task.get("/api/v1/x")
    assert proxy.targets() == ["http://master.invalid:8080/info", "http://master.invalid:8080/api/v1/x"]
