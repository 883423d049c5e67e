"""A local HTTP receiver of webhooks, as somebody would write one: keeps what it gets, answers as it is told."""

import json
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True)
class Received:
    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass
class Receiver:
    """`respond`: status, headers and body for a request; called in a thread of its own, so it may wait.

    `protocol`: with HTTP/1.1 connections stay open for more requests.
    """

    respond: Callable[[Received], tuple[int, dict[str, str], bytes]] = lambda _: (200, {}, b"ok")
    received: list[Received] = field(default_factory=list)
    protocol: str = "HTTP/1.0"

    def __post_init__(self) -> None:
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = outer.protocol

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length", "0")))
                request = Received(self.path, dict(self.headers), body)
                outer.received.append(request)
                status, headers, text = outer.respond(request)
                self.send_response(status)
                for name, value in {"Content-Length": str(len(text)), **headers}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(text)

            def log_message(self, *_: Any) -> None: ...

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()

    def at(self, path: str) -> list[Received]:
        return [request for request in self.received if request.path == path]

    def wait(self, count: int, path: str | None = None, seconds: float = 60) -> list[Received]:
        """Wait until `count` requests have come (to `path`); return them."""
        deadline = time.monotonic() + seconds
        while len(found := self.received if path is None else self.at(path)) < count:
            assert time.monotonic() < deadline, f"{len(found)} of {count} requests have come: {self.received}"
            time.sleep(0.01)
        return list(found)

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
