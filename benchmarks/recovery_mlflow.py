"""MLflow's part of the kills: eight processes log to its tracking server, which is killed -9 and started again.

Its clients are as MLflow leaves them: seven tries of a request, each after twice the wait of the one before.
"""

import socket
import sqlite3
import subprocess
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import peers
import recovery_steps
from recovery_outcome import CALM, TRAINERS, Moment, Outcome, all_train, moments, outcome
from recovery_processes import Process, end, wait

HERE = Path(__file__).parent
_READY = 120.0
DRAIN = 150.0  # seconds for what is still to be said when the kills are over


def tracking(kills: int, mode: str) -> Outcome:
    """`mode`: sync, as log_metric is, or async, as it can be told to be."""
    with tempfile.TemporaryDirectory(prefix="det-recovery-") as place:
        folder, diaries = Path(place), Path(place) / "diaries"
        diaries.mkdir()
        with _serving(folder) as server, _clients(server.url, diaries, mode) as clients:
            wait(lambda: all_train(diaries), "eight clients that train", _READY)
            time.sleep(CALM)
            first_kill = time.monotonic()
            serving = [_crash(server, moment) for moment in moments(kills)]
            (diaries / "stop").touch()
            crashed = _ended_badly(clients)
        told = [(name, step.number) for name, runs in recovery_steps.read(diaries).items() for step in runs[0]]
        kept = _kept(folder / "mlflow.db")
        return outcome(diaries, serving, first_kill, crashed=crashed, told=told, kept=kept, checkpoints=False)


class Server:
    """Server on one database and port; `kill` and `start` as often as wanted."""

    def __init__(self, folder: Path) -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        self._folder, self.url = folder, f"http://127.0.0.1:{port}"
        store = ["--backend-store-uri", f"sqlite:///{folder}/mlflow.db", "--default-artifact-root", f"{folder}/files"]
        options = ["--host", "127.0.0.1", "--port", str(port), "--workers", "1", *store]
        self._command = [peers.peers_python(), "-m", "mlflow", "server", *options]
        self._process: Process | None = None

    def start(self) -> float:
        """Seconds until it tells of an experiment."""
        begin = time.perf_counter()
        with (self._folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                self._command, env=peers.environment(), cwd=self._folder, stdout=log, stderr=log
            )
        wait(self._answers, "MLflow's server", _READY, by=self._process, log=self._folder / "log")
        return time.perf_counter() - begin

    def kill(self) -> None:
        if self._process is not None:
            end(self._process)

    def _answers(self) -> bool:
        try:
            urllib.request.urlopen(f"{self.url}/api/2.0/mlflow/experiments/get?experiment_id=0", timeout=30).close()
        except OSError:
            return False
        return True


@contextmanager
def _serving(folder: Path) -> Iterator[Server]:
    server = Server(folder)
    try:
        server.start()
        yield server
    finally:
        server.kill()


@contextmanager
def _clients(url: str, diaries: Path, mode: str) -> Iterator[list[Process]]:
    command = [peers.peers_python(), str(HERE / "recovery_mlflow_client.py"), url, str(diaries)]
    with (diaries / "log").open("ab") as log:
        started = [
            subprocess.Popen([*command, f"client-{n}", mode], env=peers.environment(), stdout=log, stderr=log)
            for n in range(TRAINERS)
        ]
    try:
        yield started
    finally:
        for client in started:
            end(client)


def _crash(server: Server, moment: Moment) -> float:
    time.sleep(moment.serves)
    server.kill()
    time.sleep(moment.is_away)
    return server.start()


def _ended_badly(clients: list[Process]) -> int:
    """Those with an error, and those that have not said everything in time."""
    deadline, bad = time.monotonic() + DRAIN, 0
    for client in clients:
        try:
            bad += client.wait(max(0.0, deadline - time.monotonic())) != 0
        except subprocess.TimeoutExpired:
            bad += 1
    return bad


def _kept(database: Path) -> list[tuple[str, int]]:
    connection = sqlite3.connect(database)
    try:
        asked = "SELECT runs.name, metrics.step FROM metrics JOIN runs USING (run_uuid) WHERE key = 'x'"
        return [(name, int(step)) for name, step in connection.execute(asked)]
    finally:
        connection.close()
