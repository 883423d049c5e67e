"""A stand-in for whoever listens at a master's address, which proves itself as told and remembers what it was asked."""

import json
import ssl
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

import pytest

from determined._bound_address import of_url
from determined.constants import ALLOCATION_TOKEN_HEADER
from determined.wire.master_proof import allocation_proof

PEER_TOKEN = "the token"


class Peer:
    """Whoever listens at the address. `answer` makes the body of its /info from the right proof."""

    def __init__(self, *, protocol: str = "HTTP/1.1", context: ssl.SSLContext | None = None) -> None:
        self.answer: Callable[[str], bytes] = lambda proof: json.dumps({"proofs": [proof]}).encode()
        self.asked: list[tuple[int, str, str | None]] = []  # port of the caller, target, token
        self.master = ""  # the address it proves to be at
        self.hangs_up = False  # after a request, without a word
        peer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = protocol

            def do_GET(self) -> None:
                given = self.headers[ALLOCATION_TOKEN_HEADER]
                peer.asked.append((self.client_address[1], self.path.partition("?")[0], given))
                query = parse_qs(urlsplit(self.path).query)
                body = b"{}"
                if "challenge" in query:
                    body = peer.answer(
                        allocation_proof(PEER_TOKEN, bytes.fromhex(query["challenge"][0]), of_url(peer.master))
                    )
                self.send_response(200)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)
                self.close_connection |= peer.hangs_up and "challenge" not in query

            def log_message(self, format: str, *args: object) -> None:
                return None

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.server.handle_error = lambda *_: None  # type: ignore[method-assign]  # callers that hang up are tested
        if context is not None:
            self.server.socket = context.wrap_socket(self.server.socket, server_side=True)
        self.url = f"http{'s' if context else ''}://127.0.0.1:{self.server.server_address[1]}"
        self.master = self.url
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
