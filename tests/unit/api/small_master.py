"""An HTTP server on loopback that answers from a table and remembers what it was asked."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Answer = tuple[int, Any]


class SmallMaster:
    """`answers`: (method, path) -> (status, body); bodies other than bytes are sent as JSON."""

    def __init__(self, answers: dict[tuple[str, str], Answer]) -> None:
        self.answers = answers
        self.asked: list[tuple[str, str, dict[str, str], bytes]] = []
        self.url = ""

    def paths(self) -> list[str]:
        return [f"{method} {path}" for method, path, _, _ in self.asked]

    def tokens(self) -> list[str]:
        return [headers["Authorization"] for _, _, headers, _ in self.asked if "Authorization" in headers]


@contextmanager
def serving(answers: dict[tuple[str, str], Answer], port: int = 0) -> Iterator[SmallMaster]:
    master = SmallMaster(answers)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            path = self.path.partition("?")[0]
            master.asked.append((self.command, self.path, dict(self.headers), body))
            status, answer = master.answers.get((self.command, path), (404, {"error": {"error": f"no {path}"}}))
            data = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        do_POST = do_PUT = do_PATCH = do_DELETE = do_GET

        def log_message(self, format: str, *args: Any) -> None:
            return None

    server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    master.url = f"http://127.0.0.1:{server.server_address[1]}"
    try:
        yield master
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
