"""A real master in a process of its own, for benchmarks: start, log in, submit, kill, start again."""

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil
import urllib3

import peers

_PATIENCE = 60.0


class Cluster:
    """Master with a data directory; `kill` and `start` as often as wanted."""

    def __init__(self, folder: Path, slots: int = 8, nodes: int = 1, settings: str = "") -> None:
        self._folder, self._slots, self._nodes, self._settings = folder, slots, nodes, settings
        self._http = urllib3.PoolManager(retries=False)
        self._headers: dict[str, str] = {}
        self.process: subprocess.Popen[bytes] | None = None
        self.url = ""
        self.started_in = 0.0  # seconds from the process to the first answer of /health, at the last start

    @property
    def data(self) -> Path:
        return self._folder / "data"

    @property
    def headers(self) -> dict[str, str]:
        """Headers that show the master who asks."""
        return dict(self._headers)

    def start(self, *, port: int = 0) -> float:
        """Start the master; answers `started_in`."""
        config, ready = self._folder / "master.yaml", self.data / "master.port"
        config.write_text(f"security: {{initial_user_password: ''}}\nlocal_agents: {self._nodes}\n{self._settings}")
        ready.unlink(missing_ok=True)  # a killed master leaves it behind
        options = ["--config-file", str(config), "--port", str(port), "--slots", str(self._slots)]
        command = [sys.executable, "-m", "determined.master", *options, "--data-dir", str(self.data)]
        with (self._folder / "master.log").open("ab") as log:
            begin = time.perf_counter()
            self.process = subprocess.Popen(command, stdout=log, stderr=log, env=peers.environment())
        self.wait(ready.exists, "a master that serves")
        self.url = f"http://127.0.0.1:{ready.read_text().strip()}"
        self._http.request("GET", f"{self.url}/health")
        self.started_in = time.perf_counter() - begin
        return self.started_in

    def kill(self) -> None:
        """Kill it without warning, as a machine that loses it would."""
        assert self.process is not None
        self.process.kill()
        self.process.wait(30)

    def stop(self) -> None:
        if self.process is not None and self.process.poll() is None:
            self.process.terminate()
            self.process.wait(30)

    def log_in(self) -> None:
        self._headers = {}
        token = self.call("POST", "/api/v1/auth/login", {"username": "admin", "password": ""})["token"]
        self._headers = {"Authorization": f"Bearer {token}"}

    def submit(self, entrypoint: list[str], slots: int = 1) -> int:
        config = {
            "name": "benchmark",
            "entrypoint": entrypoint,
            "searcher": {"name": "single", "metric": "loss"},
            "max_restarts": 0,
            "environment": {"shared_tmp": True},  # trial and benchmark exchange files there
            "resources": {"slots_per_trial": slots},
            "checkpoint_storage": {"type": "directory", "container_path": str(self._folder / "checkpoints")},
        }
        (self._folder / "checkpoints").mkdir(exist_ok=True)
        body = {"activate": True, "config": json.dumps(config), "modelDefinition": []}
        return int(self.call("POST", "/api/v1/experiments", body)["experiment"]["id"])

    def state_of(self, experiment: int) -> str:
        found = self.call("GET", f"/api/v1/experiments/{experiment}")["experiment"]["state"]
        return str(found).removeprefix("STATE_")

    def trial_of(self, experiment: int) -> int:
        return int(self.call("GET", f"/api/v1/experiments/{experiment}/trials")["trials"][0]["id"])

    def call(self, method: str, path: str, body: Any = None) -> Any:
        return json.loads(self._answer(method, path, body))

    def stream(self, path: str) -> list[Any]:
        """The results of an answer that comes in lines."""
        return [json.loads(line)["result"] for line in self._answer("GET", path).splitlines() if line]

    def wait(self, condition: Any, what: str, seconds: float = _PATIENCE) -> None:
        deadline = time.monotonic() + seconds
        while not condition():
            if time.monotonic() > deadline:
                raise SystemExit(f"waited {seconds:.0f} s in vain for {what}; the master says:\n{self._last_words()}")
            time.sleep(0.005)

    def end_runners(self) -> None:
        """Whatever still runs of this data directory, by the process ids its run directories hold."""
        for file in self.data.glob("**/pid"):
            if (file.parent / "launch.json").exists() and not (file.parent / "done").exists():
                _end(int(file.read_text()), str(file.parent))

    def _answer(self, method: str, path: str, body: Any = None) -> bytes:
        raw = None if body is None else json.dumps(body).encode()
        answer = self._http.request(method, self.url + path, body=raw, headers=self._headers)
        if answer.status != 200:
            raise SystemExit(f"{method} {path}: {answer.status} {answer.data.decode()}")
        return answer.data

    def _last_words(self) -> str:
        return "\n".join((self._folder / "master.log").read_text().splitlines()[-10:])


@contextmanager
def running(folder: Path, slots: int = 8, nodes: int = 1, settings: str = "") -> Iterator[Cluster]:
    """Start a cluster of so many nodes with so many slots each, admin logged in; leave nothing behind.

    `settings` are further lines of its master.yaml.
    """
    cluster = Cluster(folder, slots, nodes, settings)
    try:
        cluster.start()
        cluster.log_in()
        yield cluster
    finally:
        cluster.stop()
        cluster.end_runners()


def _end(pid: int, run_dir: str) -> None:
    try:
        process = psutil.Process(pid)
        if run_dir not in process.cmdline():
            return  # the number belongs to somebody else by now
        doomed = [process, *process.children(recursive=True)]
        for one in doomed:
            one.kill()
        psutil.wait_procs(doomed, 10)
    except psutil.NoSuchProcess:
        return
