"""A small master of threads and lists: the endpoints a runner speaks to, with positions kept as ours keeps them."""

import base64
import contextlib
import io
import json
import os
import signal
import socket
import subprocess
import sys
import tarfile
import threading
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from determined._bound_address import of_url
from determined.rundir.layout import RunDir
from determined.rundir.lock import is_held
from determined.wire import master_proof
from determined.wire.codec import from_msgpack, to_json
from determined.wire.master_proof import allocation_proof
from determined.wire.report import (
    Exit,
    LaunchFile,
    LogLine,
    Phase,
    Record,
    ReportBatch,
    RunnerSignals,
    TaskSpec,
)

TOKEN = "secret-token"
Refusal = tuple[int, str, str]  # status, reason, message
HANG_SECONDS = 100.0  # only ends a hang: a task that builds a package takes long on a busy machine


def eventually(condition: Callable[[], Any], timeout: float = HANG_SECONDS) -> Any:
    """The first true value of `condition`; fails when it stays false."""
    deadline = time.monotonic() + timeout
    while time.monotonic() < deadline:
        if value := condition():
            return value
        time.sleep(0.01)
    raise AssertionError(f"never became true: {condition}")


class FakeMaster:
    def __init__(self) -> None:
        self.spec = TaskSpec(task_id="t1", task_type="COMMAND", cluster_id="c", master_id="m", username="ann")
        self.files: dict[str, str] = {}
        self.journals: dict[str, list[Record]] = {}
        self.batches: list[int] = []
        self.signals = RunnerSignals()
        self.kill_heard = False
        self.ended = False
        self.refuse: Callable[[ReportBatch], Refusal | None] = lambda batch: None
        self.gone: set[str] = set()  # endpoints that answer 410
        self.errors: list[BaseException] = []  # of its own handlers
        self.secret = TOKEN  # of the one allocation; another makes this another cluster's master
        self.tokens: set[str] = set()
        self.questions = 0
        self.calls: list[str] = []  # last part of the path of each request of a runner
        self.connections = 0
        self.rendezvous_open = threading.Event()
        self.rendezvous_open.set()
        self.addresses = ["127.0.0.1"]  # of the runners, ours first
        self.gather: Callable[[str, dict[str, Any]], list[dict[str, Any]]] = lambda topic, data: [data]
        self._lock = threading.Lock()
        self._signalled = threading.Condition()
        self._server: _Server | None = None
        self._port = 0
        self._kept: list[socket.socket] = []  # holds our ports while nothing listens there
        self.start(port=0)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._port}"

    def start(self, port: int | None = None) -> None:
        """Come (back), at the same port unless another is asked for."""
        self._port = self._keep_one() if port == 0 else port or self._port
        self._server = _Server(("127.0.0.1", self._port), _Handler, self)
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()

    def stop(self) -> None:
        """Go away: nothing listens, open connections break."""
        if self._server is None:
            return
        server, self._server = self._server, None
        server.shutdown()
        server.server_close()
        server.break_connections()
        with self._signalled:
            self._signalled.notify_all()

    def close(self) -> None:
        self.stop()
        for held in self._kept:
            held.close()
        assert not self.errors, f"the fake master failed: {self.errors}"

    def signal(self, **changes: int) -> None:
        with self._signalled:
            for name, value in changes.items():
                setattr(self.signals, name, value)
            self._signalled.notify_all()

    def report(self, batch: ReportBatch) -> dict[str, Any]:
        with self._lock:
            for segment in batch.segments:
                have = self.journals.setdefault(segment.source, [])
                if segment.first > len(have) + 1:
                    raise _Refused(409, "conflict", "gap", {"positions": self._positions()})
            for segment in batch.segments:
                have = self.journals[segment.source]
                have.extend(segment.records[len(have) + 1 - segment.first :])
            self.batches.append(sum(len(s.records) for s in batch.segments))
            return {"positions": self._positions(), "ended": self.ended}

    def await_signals(self, known: RunnerSignals, timeout: float) -> RunnerSignals:
        with self._signalled:
            self.kill_heard |= known.kill
            self._signalled.wait_for(lambda: self.signals != known or self._server is None, timeout)
            return self.signals

    def context(self) -> bytes:
        buffer = io.BytesIO()
        with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
            for name, text in self.files.items():
                member = tarfile.TarInfo(name)
                member.size, member.mode = len(text.encode()), 0o755
                archive.addfile(member, io.BytesIO(text.encode()))
        return buffer.getvalue()

    def lines(self, source: str | None = None) -> list[LogLine]:
        with self._lock:
            records = [r for r in self.journals.get("logs", []) if isinstance(r, LogLine)]
        return [r for r in records if source is None or r.source == source]

    def texts(self, source: str = "task") -> list[str]:
        return [line.text for line in self.lines(source)]

    def phases(self) -> list[str]:
        return [r.state for r in self.journals.get("logs", []) if isinstance(r, Phase)]

    def exit(self) -> Exit | None:
        with self._lock:
            last = (self.journals.get("logs") or [None])[-1]
        return last if isinstance(last, Exit) else None

    def _keep_one(self) -> int:
        """A port that nobody else on this machine gets, also while our server is away."""
        held = socket.socket()
        held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # what lets the server have it beside us
        held.bind(("127.0.0.1", 0))
        self._kept.append(held)
        port: int = held.getsockname()[1]
        return port

    def _positions(self) -> dict[str, int]:
        return {name: len(records) for name, records in self.journals.items()}


_PATIENT = """
from determined import constants
constants.PEER_GRACE_SECONDS = 60.0
from determined.exec.runner import task_supervisor
task_supervisor._SAME_SIGNAL_SECONDS = 60.0
from determined.exec.runner.preflight import check
check._FACTS_BY, check._GATHERED_BY, check._REACHED_BY, check._OVER_BY = 15.0, 30.0, 45.0, 60.0
from determined.exec.runner.__main__ import run
run()
"""

_TOLD = """
import signal
from determined.exec.runner import command
keep = command.keep_exported
def keep_and_hear(*words):
    keep(*words)
    signal.raise_signal(signal.SIGTERM)
command.keep_exported = keep_and_hear
from determined.exec.runner.__main__ import run
run()
"""

_NO_NAMESPACES = """
import errno
from determined.exec.runner import namespace
def refuse(flags):
    raise OSError(errno.EPERM, "unshare")
namespace._unshare = refuse
from determined.exec.runner.__main__ import run
run()
"""


class RunnerUnderTest:
    """A real runner process on a directory of its own."""

    def __init__(self, master: FakeMaster, path: Path, **launch: Any) -> None:
        self.master = master
        self.dir = RunDir(path)
        self.dir.create()
        fields: dict[str, Any] = {
            "master_url": master.url, "token": TOKEN, "allocation_id": "a1", "resource_id": "r1",
            "container_id": "c1", "node_id": "node", "rank": 0, "slot_ids": [0],
        }  # fmt: skip
        self.dir.launch.write_bytes(to_json(LaunchFile(**(fields | launch))))
        self._process: subprocess.Popen[bytes] | None = None

    def start(self, **environment: str) -> "RunnerUnderTest":
        """The first, or the next one once nothing is left of the one before."""
        return self._start("-m", "determined.exec.runner", **environment)

    def start_patient(self) -> "RunnerUnderTest":
        """One that gives its preflight, its own verdict after a peer's failure, and the signal that has ended its task
        and is for itself too, all the time that they take."""
        return self._start("-c", _PATIENT)

    def start_told(self) -> "RunnerUnderTest":
        """One that is told to end in the last moment before its task is started."""
        return self._start("-c", _TOLD)

    def start_without_namespaces(self) -> "RunnerUnderTest":
        """One on a system that lets nobody have mounts of its own."""
        return self._start("-c", _NO_NAMESPACES)

    def _start(self, *program: str, **environment: str) -> "RunnerUnderTest":
        if self._process is not None:
            self.await_release()
        self._process = subprocess.Popen(
            [sys.executable, *program, str(self.dir.path)],
            start_new_session=True,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            env=os.environ | environment,
        )
        return self

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    def wait(self, timeout: float = HANG_SECONDS) -> int:
        assert self._process is not None
        try:
            return self._process.wait(timeout)
        except subprocess.TimeoutExpired as e:
            raise AssertionError(self.dir.runner_log.read_text()[-3000:]) from e

    def finish(self, timeout: float = HANG_SECONDS) -> Exit:
        """Wait until it left in good order; the exit the master has."""
        assert self.wait(timeout) == 0, self.dir.runner_log.read_text()
        assert self.dir.done.exists(), self.dir.runner_log.read_text()
        told = self.master.exit()
        assert told is not None, self.dir.runner_log.read_text()
        return told

    def kill(self) -> None:
        os.kill(self.pid, signal.SIGKILL)
        self.wait()

    def await_release(self) -> None:
        """Its orphan killer leaves after it and has the directory until then."""
        eventually(lambda: not is_held(self.dir.lock))

    def close(self) -> None:
        """End it by force, if a test failed, and wait until its orphan killer has cleaned up."""
        if self._process is not None and self._process.poll() is None:
            self.kill()
        self.await_release()


class _Refused(Exception):
    def __init__(self, status: int, reason: str, message: str, details: dict[str, Any] | None = None) -> None:
        super().__init__(message)
        self.status = status
        error: dict[str, Any] = {"code": 9, "reason": reason, "error": message}
        self.body = {"error": error | ({"details": details} if details else {}), "message": message}


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    allow_reuse_address = True

    def __init__(self, address: tuple[str, int], handler: type[BaseHTTPRequestHandler], master: FakeMaster) -> None:
        self.master = master
        self._open: set[socket.socket] = set()
        super().__init__(address, handler)

    def get_request(self) -> tuple[socket.socket, Any]:
        connection, address = super().get_request()
        self._open.add(connection)
        self.master.connections += 1
        return connection, address

    def break_connections(self) -> None:
        for connection in self._open:
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Keep what went wrong for `close`; a killed runner that breaks its connections is no fault."""
        error = sys.exc_info()[1]
        if error is not None and not isinstance(error, OSError):
            self.master.errors.append(error)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: _Server

    def do_GET(self) -> None:
        self._answer(self._get)

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self._answer(lambda master, parts: self._post(master, parts[-1], body))

    def _get(self, master: FakeMaster, parts: list[str]) -> Any:
        what = parts[-1]
        master.calls.append(what)
        if what == "info":
            master.questions += 1
            nonce = bytes.fromhex(parse_qs(urlsplit(self.path).query)["challenge"][0])
            return master_proof.answer([allocation_proof(master.secret, nonce, of_url(master.url))])
        if what == "spec":
            return json.loads(to_json(master.spec))
        if what == "context_directory":
            return {"b64Tgz": base64.b64encode(master.context()).decode() if master.files else ""}
        if what == "rendezvous":
            master.rendezvous_open.wait(HANG_SECONDS)
            addresses = master.addresses
            return {"rendezvousInfo": {"addresses": addresses, "rank": 0, "slots": [1] * len(addresses)}}
        query = parse_qs(urlsplit(self.path).query)
        known = RunnerSignals(
            preempt=query["preempt"] == ["true"],
            kill=query["kill"] == ["true"],
            stacks=int(query["stacks"][0]),
            shell=query["shell"] == ["true"],
        )
        return json.loads(to_json(master.await_signals(known, float(query["timeoutSeconds"][0]))))

    def _post(self, master: FakeMaster, what: str, body: bytes) -> Any:
        if what == "all_gather":
            asked = json.loads(body)
            return {"data": master.gather(asked["topic"], asked["data"])}
        assert self.headers["Content-Type"] == "application/msgpack"
        batch = from_msgpack(body, ReportBatch)
        if refusal := master.refuse(batch):
            raise _Refused(*refusal)
        return master.report(batch)

    def _answer(self, act: Callable[[FakeMaster, list[str]], Any]) -> None:
        master = self.server.master
        parts = urlsplit(self.path).path.split("/")
        try:
            given = self.headers["Grpc-Metadata-x-allocation-token"]
            master.tokens.update([given] if given else [])
            if parts[-1] != "info" and given != f"Bearer {master.secret}":
                raise _Refused(401, "unauthenticated", "bad token")
            if parts[-1] in master.gone:
                raise _Refused(410, "gone", "stale run")
            status, content = 200, act(master, parts)
        except _Refused as e:
            status, content = e.status, e.body
        raw = json.dumps(content).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(raw)))
        self.end_headers()
        self.wfile.write(raw)

    def log_message(self, format: str, *args: Any) -> None:
        pass


def trial(master: FakeMaster, tmp_path: Path, **config: Any) -> None:
    spec = master.spec
    spec.task_type, spec.trial_id, spec.experiment_id = "TRIAL", 7, 3
    spec.trial_seed, spec.trial_run_id, spec.hparams = 11, 2, {"lr": 0.5}
    storage = {"type": "directory", "container_path": str(tmp_path / "store")}
    spec.config = {"checkpoint_storage": storage, "data": {"a": 1}} | config
