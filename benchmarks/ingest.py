"""Ingest over HTTP: metric values and log lines a second into a real master on SQLite, beside a bare server and MLflow.

    python benchmarks/ingest.py [--seconds 10] [--mlflow] [--write benchmarks/results/ingest.md]

The master is `python -m determined.master`; a trial that only sleeps gives us a live allocation, and the client, in a
process of its own, posts journals with that allocation's token as a runner does. What was sent is counted afterwards.
The bare server (ingest_floor.py) gets the same bodies of the same client, in turns with the master.
"""

import argparse
import contextlib
import dataclasses
import functools
import json
import math
import multiprocessing
import os
import platform
import shutil
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import msgspec
import psutil
import urllib3

import machine
from determined.wire.report import LogLine, MetricReport, Record, ReportBatch, Segment

BATCH = 1000
HOLD = {"metric values": 50_000, "log lines": 100_000}
TIMES = 2.0  # processor time of the master, of that of the bare server
_TURNS = 4
_CONFIG = """
name: ingest benchmark
entrypoint: ["sleep", "3600"]
searcher: {name: single, metric: loss}
hyperparameters: {}
max_restarts: 0
resources: {slots_per_trial: 1}
"""


@dataclass(frozen=True)
class Result:
    what: str
    per_second: float
    sent: int
    p50_ms: float
    p99_ms: float
    cpu_ms: float = 0.0  # processor time of the server per batch: what remains true on a busy machine
    times: float = 0.0  # that of the bare server


@dataclass(frozen=True)
class Target:
    """A live allocation to report for."""

    url: str
    path: str
    token: str
    trial_id: int
    task_id: str


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=10.0, help="how long each case sends")
    parser.add_argument(
        "--mlflow", action="store_true", help="measure MLflow too, in a virtual environment made for it"
    )
    parser.add_argument("--mlflow-python", help="a python that has MLflow, instead of making an environment")
    parser.add_argument("--write", type=Path, help="write the table to this file")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="det-ingest-") as folder, running_master(Path(folder)) as master:
        results = measure(master, options.seconds)
        results.append(_chart(master))
    if options.mlflow or options.mlflow_python:
        results.append(measure_mlflow(options.mlflow_python, options.seconds))
    table = render(results)
    print(table)
    if options.write:
        options.write.write_text(table)
    is_fast = all(r.per_second >= HOLD[kind] for r in results for kind in HOLD if r.what.startswith(kind))
    return 0 if is_fast and all(r.times <= TIMES for r in results) else 1


def measure(master: "Master", seconds: float) -> list[Result]:
    cases: list[tuple[str, str, Callable[[int], list[Record]], int]] = [
        ("metric values, 1 per report", "one", _single_values, 1),
        ("metric values, 10 per report", "ten", _ten_values, 10),
        ("log lines", "log", _log_lines, 1),
    ]
    results = []
    for what, source, make, values in cases:
        with running_floor() as floor:
            ours, least = _Case(master, source, make), _Case(floor, source, make)
            for _ in range(_TURNS):  # in turns, so that a busy minute of the machine hits both
                ours.send(seconds / _TURNS)
                least.send(seconds / _TURNS)
            result, bare = ours.result(what, values), least.result(f"*a bare server: {what}*", values)
        results += [dataclasses.replace(result, times=result.cpu_ms / bare.cpu_ms), bare]
    return results


class Server(Protocol):
    """A server that takes reports: the master or the bare one."""

    def start_trial(self) -> "Target": ...
    def cpu_seconds(self) -> float: ...
    def count(self, target: "Target", source: str, values: int) -> int: ...


class _Case:
    """Records of one kind that one server is sent, in several turns."""

    def __init__(self, server: Server, source: str, make: Callable[[int], list[Record]]) -> None:
        self._server, self._source, self._make = server, source, make
        self._target = server.start_trial()
        self._sent, self._elapsed, self._cpu = 0, 0.0, 0.0
        self._latencies: list[float] = []

    def send(self, seconds: float) -> None:
        before = self._server.cpu_seconds()
        sent, elapsed, latencies = _in_another_process(self._target, self._source, self._make, seconds, self._sent)
        self._cpu += self._server.cpu_seconds() - before
        self._sent, self._elapsed = sent, self._elapsed + elapsed
        self._latencies += latencies

    def result(self, what: str, values: int) -> Result:
        stored = self._server.count(self._target, self._source, values)
        if stored != self._sent:
            raise SystemExit(f"{what}: {self._sent} records were acknowledged but {stored} are stored")
        found = _result(what, self._sent * values, self._elapsed, self._latencies)
        return dataclasses.replace(found, cpu_ms=self._cpu / len(self._latencies) * 1000)


def _chart(master: "Master") -> Result:
    """Read a chart of 100,000 points: not a rate, but the other half of what metrics are for."""
    target = master.start_trial()
    sender = Sender(target, "chart")
    for start in range(0, 100_000, 5000):
        sender.post([MetricReport("training", start + i, {"loss": math.sin(i)}, 1.0) for i in range(5000)])
    took = []
    for _ in range(20):
        before = time.perf_counter()
        answer = master.get(f"/api/v1/trials/{target.trial_id}/metrics/series?name=loss&points=2000")
        took.append((time.perf_counter() - before) * 1000)
    p99 = sorted(took)[-1]
    return Result(f"chart of 100,000 points ({len(answer) // 1000} KB)", 0.0, 100_000, statistics.median(took), p99)


class Master:
    """A real master process and a logged-in user of it."""

    def __init__(self, url: str, folder: Path, pid: int) -> None:
        self.url, self._folder = url, folder
        self._process = psutil.Process(pid)
        self._http = urllib3.PoolManager(retries=False)
        answer = self.call("POST", "/api/v1/auth/login", {"username": "admin", "password": ""})
        self._headers = {"Authorization": f"Bearer {answer['token']}"}

    def start_trial(self, more_config: str = "") -> Target:
        """A trial that sleeps; answers once its runner has its launch file."""
        known = set(self._launches())
        body = {"activate": True, "config": self._config() + more_config, "modelDefinition": []}
        experiment = self.call("POST", "/api/v1/experiments", body)["experiment"]["id"]
        deadline = time.monotonic() + 60
        while not (new := [f for f in self._launches() if f not in known]):
            if time.monotonic() > deadline:
                raise SystemExit("the benchmark's trial did not start within 60 s")
            time.sleep(0.02)
        launch = json.loads(new[0].read_text())
        trial = self.call("GET", f"/api/v1/experiments/{experiment}/trials")["trials"][0]
        path = f"/api/v1/allocations/{launch['allocationId']}/resources/{launch['resourceId']}/reports"
        return Target(self.url, path, launch["token"], trial["id"], launch["allocationId"].rsplit(".", 1)[0])

    def count(self, target: Target, source: str, values: int) -> int:
        """Count the records that are stored, of `values` values each."""
        if source == "log":
            return self.get(f"/api/v1/tasks/{target.task_id}/logs?sources=task&searchText=samples").count(b"\n")
        series = self.get(f"/api/v1/trials/{target.trial_id}/metrics/series?group={source}&name=m0&points=1")
        return int(json.loads(series)["total"])

    def cpu_seconds(self) -> float:
        times = self._process.cpu_times()
        return float(times.user + times.system)

    def get(self, path: str) -> bytes:
        answer = self._http.request("GET", self.url + path, headers=self._headers)
        assert answer.status == 200, answer.data
        return answer.data

    def call(self, method: str, path: str, body: Any = None) -> Any:
        raw = None if body is None else json.dumps(body).encode()
        headers = getattr(self, "_headers", {})
        answer = self._http.request(method, self.url + path, body=raw, headers=headers)
        if answer.status != 200:
            raise SystemExit(f"{method} {path}: {answer.status} {answer.data.decode()}")
        return json.loads(answer.data)

    def stop_trials(self) -> None:
        for experiment in self.call("GET", "/api/v1/experiments")["experiments"]:
            self.call("POST", f"/api/v1/experiments/{experiment['id']}/kill")
        deadline = time.monotonic() + 60
        while any(not (f.parent / "done").exists() for f in self._launches()) and time.monotonic() < deadline:
            time.sleep(0.1)

    def _launches(self) -> list[Path]:
        return sorted((self._folder / "data").glob("runs/*/launch.json"))

    def _config(self) -> str:
        storage = self._folder / "checkpoints"
        return f"{_CONFIG}checkpoint_storage: {{type: directory, container_path: {storage}}}\n"


@contextmanager
def running_master(folder: Path, more_config: str = "") -> Iterator[Master]:
    (folder / "checkpoints").mkdir()
    config = folder / "master.yaml"
    config.write_text(f"security: {{initial_user_password: ''}}\n{more_config}")
    command = [sys.executable, "-m", "determined.master", "--config-file", str(config), "--port", "0", "--slots", "8"]
    log = (folder / "master.log").open("wb")
    process = subprocess.Popen([*command, "--data-dir", str(folder / "data")], stderr=log, stdout=log)
    try:
        port = _wait_for_port(folder, process)
        master = Master(f"http://127.0.0.1:{port}", folder, process.pid)
        yield master
        master.stop_trials()
    finally:
        process.terminate()
        process.wait(30)
        log.close()


def _wait_for_port(folder: Path, process: "subprocess.Popen[bytes]") -> str:
    ready = folder / "data" / "master.port"
    deadline = time.monotonic() + 60
    while not ready.exists():
        if process.poll() is not None or time.monotonic() > deadline:
            raise SystemExit("the master did not start:\n" + (folder / "master.log").read_text())
        time.sleep(0.02)
    return ready.read_text().strip()


class Floor:
    """The bare server in a process of its own."""

    def __init__(self, process: "subprocess.Popen[str]", database: Path) -> None:
        assert process.stdout is not None
        self._port = process.stdout.readline().strip()
        self._process, self._database = psutil.Process(process.pid), database

    def start_trial(self) -> Target:
        return Target(f"http://127.0.0.1:{self._port}", "/reports", "", 0, "")

    def cpu_seconds(self) -> float:
        times = self._process.cpu_times()
        return float(times.user + times.system)

    def count(self, target: Target, source: str, values: int) -> int:
        table = "line" if source == "log" else "value_"
        with contextlib.closing(sqlite3.connect(self._database)) as connection:
            return int(connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0]) // values


@contextmanager
def running_floor() -> Iterator[Floor]:
    with tempfile.TemporaryDirectory(prefix="det-floor-") as folder:
        database = Path(folder) / "floor.db"
        command = [sys.executable, str(Path(__file__).with_name("ingest_floor.py")), str(database)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            try:
                yield Floor(process, database)
            finally:
                process.terminate()


class Sender:
    """Posts batches of one journal, one after the other."""

    def __init__(self, target: Target, source: str, first: int = 1) -> None:
        self._target, self._source, self._next = target, source, first
        self._http = urllib3.HTTPConnectionPool(target.url.split("//")[1], retries=False)
        self._headers = {
            "Grpc-Metadata-x-allocation-token": f"Bearer {target.token}",
            "Content-Type": "application/msgpack",
        }

    def post(self, records: list[Record]) -> None:
        raw = msgspec.msgpack.encode(ReportBatch([Segment(self._source, self._next, records)]))
        answer = self._http.urlopen("POST", self._target.path, body=raw, headers=self._headers)
        assert answer.status == 200, answer.data
        self._next += len(records)


def _send(
    target: Target, source: str, make: Callable[[int], list[Record]], seconds: float, sent: int, pipe: Any
) -> None:
    sender = Sender(target, source, sent + 1)
    latencies = []
    start = time.perf_counter()
    while time.perf_counter() - start < seconds:
        records = make(sent)
        before = time.perf_counter()
        sender.post(records)
        latencies.append(time.perf_counter() - before)
        sent += len(records)
    pipe.send((sent, time.perf_counter() - start, latencies))


def _in_another_process(
    target: Target, source: str, make: Callable[[int], list[Record]], seconds: float, sent: int
) -> tuple[int, float, list[float]]:
    """Send for so long, after `sent` records; return how many are sent then, the seconds, and those of each batch."""
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe()
    process = context.Process(target=_send, args=(target, source, make, seconds, sent, there))
    process.start()
    there.close()  # so that a client that dies is seen as the end of the pipe
    try:
        answer: tuple[int, float, list[float]] = here.recv()
    finally:
        process.join(30)
    return answer


def _single_values(start: int) -> list[Record]:
    return [MetricReport("one", start + i, {"m0": (start + i) / 7}, 1.7e9 + i) for i in range(BATCH)]


def _ten_values(start: int) -> list[Record]:
    names = [f"m{i}" for i in range(10)]
    return [
        MetricReport("ten", start + i, dict.fromkeys(names, (start + i) / 7), 1.7e9 + i) for i in range(BATCH // 10)
    ]


@functools.cache
def _lines(part: int) -> list[Record]:
    """Made once: a runner ships lines that others have made."""
    start = part * BATCH
    return [
        LogLine(
            f"[train] step {start + i} loss={math.sin(start + i):.6f} lr=3.0e-04 throughput={i * 1.7:.2f} samples/s",
            1.7e9 + i,
            "stdout",
            "INFO",
            i % 4,
        )
        for i in range(BATCH)
    ]


def _log_lines(start: int) -> list[Record]:
    return _lines(start // BATCH % 20)


def measure_mlflow(python: str | None, seconds: float) -> Result:
    """The same values through MLflow's own server on SQLite, by its client's `log_batch` of 1,000."""
    with tempfile.TemporaryDirectory(prefix="mlflow-ingest-") as folder:
        chosen = python or _mlflow_environment(Path(folder))
        script = Path(__file__).with_name("ingest_mlflow.py")
        done = subprocess.run([chosen, script, folder, str(seconds)], check=True, capture_output=True, text=True)
    found = json.loads(done.stdout.splitlines()[-1])
    return _result(f"MLflow {found['version']}: values", found["sent"], found["elapsed"], found["latencies"])


def _mlflow_environment(folder: Path) -> str:
    home = folder / "venv"
    uv = shutil.which("uv")
    if uv is None:
        raise SystemExit("--mlflow needs uv on the PATH, or name a python that has MLflow with --mlflow-python")
    subprocess.run([uv, "venv", "--quiet", "--python", sys.executable, home], check=True)
    python = str(home / "bin" / "python")
    subprocess.run([uv, "pip", "install", "--quiet", "--system-certs", "--python", python, "mlflow"], check=True)
    return python


def _result(what: str, sent: int, elapsed: float, latencies: list[float]) -> Result:
    ordered = sorted(latencies)
    p99 = ordered[min(len(ordered) - 1, int(len(ordered) * 0.99))]
    return Result(what, sent / elapsed, sent, statistics.median(ordered) * 1000, p99 * 1000)


def render(results: list[Result]) -> str:
    lines = [
        "# Ingest over HTTP",
        "",
        f"Batches of {BATCH:,}, SQLite, client in another process; {os.cpu_count()} cores, "
        f"Python {platform.python_version()}.",
        "Every acknowledged record was read back and counted.",
        "",
        "| what | per second | hold | sent | batch p50 ms | batch p99 ms | CPU ms per batch | times a bare server's |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for r in results:
        hold = next((f">= {n:,}" for kind, n in HOLD.items() if r.what.startswith(kind)), "")
        hold = "<= 300 ms, <= 200 KB" if r.what.startswith("chart") else hold
        cpu = f"{r.cpu_ms:.1f}" if r.cpu_ms else ""
        rate = f"{r.per_second:,.0f}" if r.per_second else ""
        times = f"{r.times:.1f}, {machine.held(r.times, TIMES)}" if r.times else ""
        lines.append(f"| {r.what} | {rate} | {hold} | {r.sent:,} | {r.p50_ms:.1f} | {r.p99_ms:.1f} | {cpu} | {times} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit(main())
