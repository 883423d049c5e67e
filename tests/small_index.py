"""A package index on the loopback: the wheels of a directory, for those who know the login if there is one."""

import base64
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path


@contextmanager
def serving(wheels: Path, login: str | None = None) -> Iterator[str]:
    """Its address, `http://127.0.0.1:PORT/simple`, without the login."""

    class Index(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            found = _page(wheels, self.path)
            if login is not None and self.headers.get("Authorization") != _basic(login):
                self._answer(401, b"", "text/plain")
            elif found is None:
                self._answer(404, b"", "text/plain")
            else:
                self._answer(200, *found)

        do_HEAD = do_GET

        def _answer(self, status: int, body: bytes, kind: str) -> None:
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            if self.command == "GET":
                self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            """Quiet."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Index) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/simple"
        finally:
            server.shutdown()
            thread.join()


def _page(wheels: Path, path: str) -> tuple[bytes, str] | None:
    """`/simple/NAME/` lists, `/files/WHEEL` is the wheel."""
    kind, _, name = path.strip("/").partition("/")
    if kind == "simple":
        files = sorted(file.name for file in wheels.glob(f"{name}-*.whl"))
        links = "".join(f'<a href="/files/{file}">{file}</a>' for file in files)
        return (f"<html><body>{links}</body></html>".encode(), "text/html") if files else None
    file = wheels / name
    return (file.read_bytes(), "application/octet-stream") if kind == "files" and file.is_file() else None


def _basic(login: str) -> str:
    return f"Basic {base64.b64encode(login.encode()).decode()}"
