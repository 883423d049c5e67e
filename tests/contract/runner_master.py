"""The least a runner needs of a master, on loopback or on an address that other hosts reach: a spec, an empty context
directory, signals, an ear for reports, and launch files for the sitters of remote engines."""

import base64
import io
import json
import ssl
import sys
import tarfile
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import msgspec

from determined._bound_address import of_url
from determined.engines.host.directory import launch_file
from determined.engines.model import Launch
from determined.wire import master_proof
from determined.wire.claim import Claimed, ClaimRequest, answer_proof, claim_proof, is_proven
from determined.wire.codec import from_json, to_json
from determined.wire.master_proof import allocation_proof
from determined.wire.report import Exit, LogLine, ReportBatch

TOKEN = "secret"  # of every allocation here: launches carry it
TICKET = "ticket"


class RunnerMaster:
    """A master for as many allocations as a test wants, all of which have the token `TOKEN`.

    - `entrypoint(resource_id)` says what a runner executes.
    - `expect(launch)` makes its rank claimable at `/api/v1/claims` with the launch's ticket: by one claimant, as often
      as that one asks. Local engines need no claims. `claims` holds who claimed what, by resource id.
    - `say(resource_id, preempt=..., kill=..., ended=...)` is what that runner's next `/signals` answers; whoever polls
      hears it at once. A sitter's `pending_preemption` is noted in `leaving` (allocation ids) and said as a preemption
      to every runner of that allocation that was expected.
    - `exits` and `lines` hold what runners reported, by resource id.
    - `away = True`: calls are dropped unheard, `dropped` counts them. `mute = True`: calls take effect and their
      answers are lost. `refused` counts callers who did not trust our certificate.

    Args:
        host: the address to listen on and to be reached at.
        tls: certificate and key files (PEM).
    """

    def __init__(
        self, entrypoint: Callable[[str], str], *, host: str = "127.0.0.1", tls: tuple[Path, Path] | None = None
    ) -> None:
        self.exits: dict[str, Exit] = {}
        self.lines: dict[str, list[str]] = {}
        self.claims: dict[str, ClaimRequest] = {}
        self.asked: list[ClaimRequest] = []
        self.leaving: list[str] = []
        self.away = False
        self.mute = False
        self.dropped = 0
        self.refused = 0
        self._entrypoint = entrypoint
        self._host, self._tls = host, tls
        self._expected: dict[tuple[str, int], Launch] = {}
        self._said: dict[str, dict[str, bool]] = {}
        self._positions: dict[str, dict[str, int]] = {}
        self._closing = False
        self._changed = threading.Condition()
        self._server = _Server(self, host, self._handler())
        if tls is not None:
            self._server.socket = _tls(tls).wrap_socket(
                self._server.socket, server_side=True, do_handshake_on_connect=False
            )
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,))
        self._thread.start()

    @property
    def url(self) -> str:
        return f"{'https' if self._tls else 'http'}://{self._host}:{self._server.server_port}"

    def expect(self, launch: Launch) -> None:
        with self._changed:
            self._expected[launch.allocation_id, launch.rank] = launch

    def say(self, resource_id: str, **signals: bool) -> None:
        with self._changed:
            self._said[resource_id] = {**self._signals(resource_id), **signals}
            self._changed.notify_all()

    def close(self) -> None:
        with self._changed:
            self._closing = True
            self._changed.notify_all()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def answer(self, target: str, body: bytes) -> tuple[int, dict[str, Any]]:
        """Status and JSON."""
        url = urlsplit(target)
        query = {name: values[0] for name, values in parse_qs(url.query).items()}
        parts = url.path.strip("/").split("/")
        if url.path == "/info":
            return 200, master_proof.answer(
                [allocation_proof(TOKEN, bytes.fromhex(query["challenge"]), of_url(self.url))]
            )
        if url.path == "/api/v1/claims":
            return self._claim(from_json(body, ClaimRequest))
        if parts[-1] == "context_directory":
            return 200, {"b64Tgz": _empty_tgz()}
        if parts[-1] == "pending_preemption":
            return self._leave(parts[3])
        resource = parts[-2]
        if parts[-1] == "spec":
            return 200, self._spec(resource)
        if parts[-1] == "rendezvous":
            return 200, {"rendezvousInfo": {"addresses": [self._host], "rank": 0, "slots": [0]}}
        if parts[-1] == "signals":
            return 200, self._await_signals(resource, query)
        return 200, {"positions": self._report(resource, body), "ended": False}

    def _claim(self, asked: ClaimRequest) -> tuple[int, dict[str, Any]]:
        with self._changed:
            self.asked.append(asked)
            launch = self._expected.get((asked.allocation_id, asked.rank))
            if launch is None:
                return _refused(404, "not_found", f"no rank {asked.rank} in {asked.allocation_id}")
            if not is_proven(claim_proof(launch.ticket, asked.claimant, asked.rank, of_url(self.url)), asked.proof):
                return _refused(401, "unauthenticated", "this ticket is not of that allocation")
            if self._signals(launch.resource_id)["ended"] or launch.resource_id in self.exits:
                return _refused(410, "gone", f"allocation {asked.allocation_id} is over")
            holder = self.claims.setdefault(launch.resource_id, asked)
            if holder.claimant != asked.claimant:
                return _refused(409, "conflict", "it was begun before")
            file = launch_file(launch)
            file.node_id = asked.node_id or file.node_id
            return 200, json.loads(to_json(Claimed(launch=file, proof=answer_proof(launch.ticket, asked.claimant))))

    def _leave(self, allocation_id: str) -> tuple[int, dict[str, Any]]:
        with self._changed:
            self.leaving.append(allocation_id)
            group = [launch for (known, _), launch in self._expected.items() if known == allocation_id]
        for launch in group:
            self.say(launch.resource_id, preempt=True)
        return 200, {}

    def _signals(self, resource: str) -> dict[str, bool]:
        return self._said.get(resource, {"preempt": False, "kill": False, "ended": False})

    def _await_signals(self, resource: str, query: dict[str, str]) -> dict[str, bool]:
        known = {name: query.get(name) == "true" for name in ("preempt", "kill")}
        with self._changed:
            self._changed.wait_for(
                lambda: self._closing or self.away or self._signals(resource) != {**known, "ended": False}, 5
            )
            return self._signals(resource)

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
        with self._changed:
            positions = self._positions.setdefault(resource, {})
            for segment in batch.segments:
                known = positions.get(segment.source, 0)
                fresh = segment.records[max(0, known + 1 - segment.first) :]
                positions[segment.source] = max(known, segment.first + len(segment.records) - 1)
                texts = [record.text for record in fresh if isinstance(record, LogLine)]
                self.lines.setdefault(resource, []).extend(texts)
                self.exits.update((resource, record) for record in fresh if isinstance(record, Exit))
            return dict(positions)

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        master = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                if master.away:
                    master.dropped += 1
                    self.close_connection = True
                    return
                status, answer = master.answer(self.path, body)
                if master.mute or master.away:
                    self.close_connection = True
                    return
                text = json.dumps(answer).encode()
                try:
                    self.send_response(status)
                    self.send_header("Content-Length", str(len(text)))
                    self.end_headers()
                    self.wfile.write(text)
                except OSError:
                    self.close_connection = True  # the runner was killed in the middle of a call

            do_POST = do_GET

            def log_message(self, format: str, *args: Any) -> None:
                pass

        return Handler


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, master: RunnerMaster, host: str, handler: type[BaseHTTPRequestHandler]) -> None:
        self._master = master
        super().__init__((host, 0), handler)

    def handle_error(self, request: Any, client_address: Any) -> None:
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)
        elif isinstance(sys.exception(), ssl.SSLError):
            self._master.refused += 1


def _refused(status: int, reason: str, text: str) -> tuple[int, dict[str, Any]]:
    return status, {"error": {"code": status, "reason": reason, "error": text}}


def _tls(files: tuple[Path, Path]) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*files)
    return context


def _empty_tgz() -> str:
    buffer = io.BytesIO()
    tarfile.open(fileobj=buffer, mode="w:gz").close()
    return base64.b64encode(buffer.getvalue()).decode()
