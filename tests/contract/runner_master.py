"""The least a runner needs of a master, on loopback: a spec, an empty context directory, and an ear for reports."""

import base64
import io
import json
import tarfile
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs

import msgspec

from determined.wire.allocation_proof import allocation_proof
from determined.wire.report import Exit, ReportBatch


class RunnerMaster:
    """`entrypoint(resource_id)` says what a runner executes. `exits` holds what runners reported at their end."""

    def __init__(self, entrypoint: Callable[[str], str]) -> None:
        self.exits: dict[str, Exit] = {}
        self._entrypoint = entrypoint
        self._positions: dict[str, dict[str, int]] = {}
        self._closing = threading.Event()
        self._lock = threading.Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,))
        self._thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    def close(self) -> None:
        self._closing.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def answer(self, path: str, body: bytes) -> dict[str, Any]:
        path, _, query = path.partition("?")
        if path == "/info":
            return {"proof": allocation_proof("secret", bytes.fromhex(parse_qs(query)["challenge"][0]))}
        if path.endswith("/context_directory"):
            return {"b64Tgz": _empty_tgz()}
        resource = path.split("/")[-2]
        if path.endswith("/spec"):
            return self._spec(resource)
        if path.endswith("/rendezvous"):
            return {"rendezvousInfo": {"addresses": ["127.0.0.1"], "rank": 0, "slots": [0]}}
        if path.endswith("/signals"):
            self._closing.wait(5)
            return {"preempt": False, "kill": False, "ended": False}
        return {"positions": self._report(resource, body), "ended": False}

    def _spec(self, resource: str) -> dict[str, Any]:
        return {
            "taskId": f"task-{resource}",
            "taskType": "COMMAND",
            "clusterId": "cluster",
            "masterId": "master",
            "username": "determined",
            "entrypoint": self._entrypoint(resource),
        }

    def _report(self, resource: str, body: bytes) -> dict[str, int]:
        batch = msgspec.msgpack.decode(body, type=ReportBatch)
        with self._lock:
            positions = self._positions.setdefault(resource, {})
            for segment in batch.segments:
                known = positions.get(segment.source, 0)
                positions[segment.source] = max(known, segment.first + len(segment.records) - 1)
                ends = [record for record in segment.records if isinstance(record, Exit)]
                self.exits.update((resource, end) for end in ends)
            return dict(positions)

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        master = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                text = json.dumps(master.answer(self.path, body)).encode()
                try:
                    self.send_response(200)
                    self.send_header("Content-Length", str(len(text)))
                    self.end_headers()
                    self.wfile.write(text)
                except OSError:
                    self.close_connection = True  # the runner was killed in the middle of a call

            do_POST = do_GET

            def log_message(self, format: str, *args: Any) -> None:
                pass

        return Handler


def _empty_tgz() -> str:
    buffer = io.BytesIO()
    tarfile.open(fileobj=buffer, mode="w:gz").close()
    return base64.b64encode(buffer.getvalue()).decode()
