"""The part of a master that a bridge talks to, at one address for many tests: each opens its own engine behind it."""

import asyncio
import secrets
import threading
from collections.abc import Callable, Coroutine
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from determined.engines.ray.engine import RayEngine
from determined.errors import DeterminedError, Unavailable
from determined.wire.bridge import Enrolment, EnrolRequest, Sealed
from determined.wire.codec import from_json, to_json

_ANSWER_SECONDS = 40.0


class BridgeDoor:
    """`mark`: a name for the cluster of all engines behind this door."""

    def __init__(self, host: str) -> None:
        self.mark = secrets.token_hex(4)
        self._engine: RayEngine | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._server = ThreadingHTTPServer((host, 0), self._handler())
        self._server.daemon_threads = True
        self.url = f"http://{host}:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,))
        self._thread.start()

    def admit(self, engine: RayEngine) -> None:
        self._loop = asyncio.get_running_loop()
        self._engine = engine

    def shut(self, engine: RayEngine) -> None:
        if self._engine is engine:
            self._engine = None

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def answer(self, path: str, body: bytes) -> Enrolment | Sealed:
        engine, loop = self._engine, self._loop
        if engine is None or loop is None:
            raise Unavailable("no master is up")
        work: Callable[[], Coroutine[Any, Any, Enrolment | Sealed]]
        if path.endswith("/enrol"):

            async def work() -> Enrolment | Sealed:
                return engine.enrol(from_json(body, EnrolRequest))
        else:

            async def work() -> Enrolment | Sealed:
                return await engine.exchange(from_json(body, Sealed))

        try:
            return asyncio.run_coroutine_threadsafe(work(), loop).result(_ANSWER_SECONDS)
        except (RuntimeError, TimeoutError, asyncio.CancelledError) as e:
            raise Unavailable("the master went away") from e

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        door = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                try:
                    status, text = 200, to_json(door.answer(self.path, body))
                except DeterminedError as e:
                    status, text = e.status, to_json({"error": {"reason": e.code, "error": e.message}})
                try:
                    self.send_response(status)
                    self.end_headers()
                    self.wfile.write(text)
                except OSError:
                    self.close_connection = True

            def log_message(self, format: str, *args: Any) -> None:
                pass

        return Handler
