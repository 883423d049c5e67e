"""A task for training code to run in: run directory, info files, a runner that acknowledges, a master that answers."""

import json
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import msgspec
import pytest

from determined import _info
from determined._bound_address import of_url
from determined.rundir.control import Control
from determined.rundir.journal import JournalReader, journal_names
from determined.rundir.layout import RunDir
from determined.wire import master_proof
from determined.wire.master_proof import allocation_proof
from determined.wire.report import Record

Answer = tuple[int, Any]


class FakeMaster:
    """`routes[(method, path)]` is an answer's JSON, or a function of the request body giving (status, JSON)."""

    def __init__(self) -> None:
        self.routes: dict[tuple[str, str], Any] = {}
        self.requests: list[tuple[str, str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.secret = "token"  # with another one it is not the master of the task
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))
        self._thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    def close(self) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def answer(self, method: str, path: str, body: Any) -> Answer:
        self.requests.append((method, path, body))
        found = self.routes.get((method, path))
        if found is None:
            return 404, {"error": {"code": 5, "reason": "not_found", "error": f"no {path}"}}
        return found(body) if callable(found) else (200, found)

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        master = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"  # a connection that was proved is kept for the request

            def _serve(self) -> None:
                raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                if self.path.startswith("/info?allocation="):
                    nonce = bytes.fromhex(self.path.rpartition("=")[2])
                    self._send(200, master_proof.answer([allocation_proof(master.secret, nonce, of_url(master.url))]))
                    return
                master.headers.append(dict(self.headers))
                status, body = master.answer(self.command, self.path.split("?")[0], json.loads(raw) if raw else None)
                self._send(status, body)

            def _send(self, status: int, body: Any) -> None:
                payload = body if isinstance(body, bytes) else json.dumps(body).encode()
                self.send_response(status)
                self.send_header("Content-Length", str(len(payload)))
                self.end_headers()
                self.wfile.write(payload)

            do_GET = do_POST = do_PATCH = do_PUT = do_DELETE = _serve

            def log_message(self, *args: Any) -> None:
                return

        return Handler


class FakeRunner:
    """Acknowledges every journal, keeping the decoded records, until `hold` is set."""

    def __init__(self, run_dir: RunDir) -> None:
        self.records: list[Any] = []
        self.hold = threading.Event()
        self.control = Control.open(run_dir.control)
        self._directory = run_dir.journals
        self._readers: dict[str, JournalReader] = {}
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def wait_for(self, count: int, kind: type | None = None) -> list[Any]:
        """The records (of one kind) once there are `count` of them."""
        deadline = time.monotonic() + 60
        while len(found := self._of(kind)) < count:
            assert time.monotonic() < deadline, f"only {found}"
            time.sleep(0.005)
        return found

    def close(self) -> None:
        self._stop.set()
        self._thread.join()
        self.control.close()
        for reader in self._readers.values():
            reader.close()

    def _of(self, kind: type | None) -> list[Any]:
        return [record for record in self.records if kind is None or isinstance(record, kind)]

    def _run(self) -> None:
        while not self._stop.wait(0.002):
            if not self.hold.is_set():
                self._pass()
        if not self.hold.is_set():
            self._pass()  # what was written since the last look

    def _pass(self) -> None:
        for name in journal_names(self._directory):
            if name not in self._readers:
                self._readers[name] = JournalReader(self._directory, name)
            first, payloads = self._readers[name].read()
            self.records += [msgspec.msgpack.decode(raw, type=Record) for raw in payloads]
            self._readers[name].acknowledge(first + len(payloads) - 1)


class Operations:
    """A searcher that wants a trial to be trained to each length, and keeps the metrics it is told."""

    def __init__(self, master: FakeMaster, *lengths: int) -> None:
        self._left = list(lengths)
        self._last = 0
        self.completed: list[tuple[int, Any]] = []
        path = "/api/v1/trials/7/searcher"
        master.routes["GET", f"{path}/operation"] = lambda _body: (200, self._next())
        master.routes["POST", f"{path}/completed_operation"] = self._complete

    def _next(self) -> dict[str, Any]:
        length = self._left[0] if self._left else self._last
        return {"op": {"validateAfter": {"length": str(length)}}, "completed": not self._left}

    def _complete(self, body: Any) -> Answer:
        self._last = self._left.pop(0)
        self.completed.append((int(body["op"]["length"]), body["searcherMetric"]))
        return 200, {}


def write_task_info(
    run_dir: RunDir,
    master_url: str,
    config: dict[str, Any],
    *,
    slot_ids: list[int] | None = None,
    task_type: str = "TRIAL",
    hparams: dict[str, Any] | None = None,
    latest_checkpoint: str | None = None,
    steps_completed: int = 0,
) -> None:
    """Write the files that tell a process which task it is: trial 7 of experiment 3."""
    slots = [0] if slot_ids is None else slot_ids
    files = {
        "cluster": {
            "master_url": master_url, "cluster_id": "cluster", "agent_id": "agent", "slot_ids": slots,
            "task_id": "1.abc", "allocation_id": "1.abc.1", "session_token": "token", "task_type": task_type,
            "latest_checkpoint": latest_checkpoint,
        },
        "trial": {
            "trial_id": 7, "experiment_id": 3, "trial_seed": 1, "hparams": hparams or {}, "config": config,
            "steps_completed": steps_completed, "trial_run_id": 1,
        },
        "rendezvous": {
            "container_addrs": ["127.0.0.1"], "container_rank": 0, "container_slot_counts": [len(slots)],
        },
    }  # fmt: skip
    for name, content in files.items():
        (run_dir.info / f"{name}.json").write_text(json.dumps(content))


@pytest.fixture
def master() -> Iterator[FakeMaster]:
    running = FakeMaster()
    yield running
    running.close()


@pytest.fixture
def run_dir(tmp_path: Path) -> RunDir:
    directory = RunDir(tmp_path / "run")
    directory.create()
    return directory


@pytest.fixture
def runner(run_dir: RunDir) -> Iterator[FakeRunner]:
    running = FakeRunner(run_dir)
    yield running
    running.close()


@pytest.fixture
def off_cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """No task around; the user's data directory is the returned one."""
    monkeypatch.setenv("DET_INFO_DIR", str(tmp_path / "no-info"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setattr(_info, "_known", False)
    return tmp_path / "data" / "determined"


@pytest.fixture
def task(tmp_path: Path, run_dir: RunDir, master: FakeMaster, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Make this process a task, e.g. `task(searcher=..., slot_ids=..., hparams=..., latest_checkpoint=...)`."""

    def make(
        searcher: dict[str, Any] | None = None,
        slot_ids: list[int] | None = None,
        task_type: str = "TRIAL",
        hparams: dict[str, Any] | None = None,
        latest_checkpoint: str | None = None,
    ) -> None:
        storage = {"type": "directory", "container_path": str(tmp_path / "checkpoints")}
        config = {"searcher": searcher or {"name": "single", "metric": "x"}, "checkpoint_storage": storage}
        write_task_info(run_dir, master.url, config, slot_ids=slot_ids, task_type=task_type, hparams=hparams,
                        latest_checkpoint=latest_checkpoint)  # fmt: skip
        monkeypatch.setenv("DET_RUN_DIR", str(run_dir.path))
        monkeypatch.setenv("DET_RETRY_CONFIG", '{"total": 0}')
        monkeypatch.setattr(_info, "_known", False)

    return make


@pytest.fixture(autouse=True)
def _forget_the_task(monkeypatch: pytest.MonkeyPatch) -> None:
    """What one test found out about its task must not reach the next."""
    monkeypatch.setattr(_info, "_known", _info._known)
    monkeypatch.setattr(_info, "_cached", _info._cached)


@pytest.fixture(autouse=True)
def _keep_signal_handlers() -> Iterator[None]:
    import signal

    before = signal.getsignal(signal.SIGUSR1)
    yield
    signal.signal(signal.SIGUSR1, before)
