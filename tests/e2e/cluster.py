"""A real master process for tests: start, kill -9, start again; and the real `det` against it."""

import base64
import json
import os
import select
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import urllib3

ROOT = Path(__file__).parents[2]
# How long anything is waited for before it counts as hanging. No promise of speed: the machine may be busy.
HANG_SECONDS = 180.0


class Cluster:
    """Master over one data directory. `kill` and `start` again is a crash and a recovery, on the same port."""

    def __init__(
        self,
        directory: Path,
        *,
        slots: int | None = 2,
        db_url: str | None = None,
        config: dict[str, Any] | None = None,
        program: tuple[str, ...] = ("-m", "determined.master"),
        host: str = "127.0.0.1",
    ):
        self.host = host
        self.directory = directory
        self.slots = slots
        self.db_url = db_url
        self.program = program
        self.port = 0
        self.process: subprocess.Popen[bytes] | None = None
        self.config = {
            "security": {"initial_user_password": ""},
            "checkpoint_storage": {"type": "shared_fs", "host_path": str(directory / "checkpoints")},
            **(config or {}),
        }
        directory.mkdir(parents=True, exist_ok=True)

    @property
    def url(self) -> str:
        scheme = "https" if self.config["security"].get("tls") else "http"
        return f"{scheme}://{self.host}:{self.port}"

    def start(self) -> None:
        """Returns when it serves."""
        self.port = self.port or int(free_port(self.host))
        config_file = self.directory / "master.yaml"
        config_file.write_text(json.dumps(self.config))
        read_fd, write_fd = os.pipe()
        command = [sys.executable, *self.program, "--config-file", str(config_file)]
        command += ["--data-dir", str(self.directory), "--host", self.host, "--port", str(self.port)]
        command += ["--ready-fd", str(write_fd)]
        if self.slots is not None:
            command += ["--slots", str(self.slots)]
        if self.db_url:
            command += ["--db-url", self.db_url]
        with (self.directory / "master.log").open("ab") as log:
            self.process = subprocess.Popen(
                command, stdout=log, stderr=log, pass_fds=[write_fd], start_new_session=True, env=clean_environment()
            )
        os.close(write_fd)
        try:
            self.port = self._read_ready(read_fd)
        finally:
            os.close(read_fd)

    def kill(self) -> None:
        """kill -9, as a power cut would."""
        assert self.process is not None
        os.kill(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def stop(self) -> None:
        if self.process is None or self.process.poll() is not None:
            return
        self.process.terminate()
        try:
            self.process.wait(timeout=HANG_SECONDS)
        except subprocess.TimeoutExpired:
            self.kill()

    def end_runners(self) -> None:
        """No runner may outlive the test: end those whose run directories are still there, by their own pid files."""
        for pid_file in (self.directory / "runs").glob("*/pid"):
            try:
                os.kill(int(pid_file.read_text()), signal.SIGKILL)
            except (ValueError, OSError):
                continue

    def log(self) -> str:
        return (self.directory / "master.log").read_text(errors="replace")

    def _read_ready(self, read_fd: int) -> int:
        assert self.process is not None
        deadline = time.monotonic() + HANG_SECONDS
        received = b""
        while time.monotonic() < deadline:
            readable, _, _ = select.select([read_fd], [], [], 0.1)
            if readable:
                received += os.read(read_fd, 4096)
                if received.endswith(b"\n"):
                    return int(received)
            if self.process.poll() is not None:
                break
        raise AssertionError(f"the master did not come up:\n{self.log()[-4000:]}")


@contextmanager
def running_cluster(directory: Path, **options: Any) -> Iterator[Cluster]:
    """A cluster that is stopped at the end, and its runners with it."""
    cluster = Cluster(directory, **options)
    cluster.start()
    try:
        yield cluster
    finally:
        cluster.stop()
        cluster.end_runners()


class Client:
    """A small JSON client, apart from ours, logged in as one user. `cert`: a file with the master's own certificate."""

    def __init__(self, url: str, username: str = "determined", password: str = "", cert: str | None = None) -> None:
        self.url = url
        self.pool = urllib3.PoolManager(retries=False, timeout=HANG_SECONDS, ca_certs=cert, maxsize=32)
        self.headers: dict[str, str] = {}
        token = self.call("POST", "/api/v1/auth/login", {"username": username, "password": password})["token"]
        self.headers = {"Authorization": f"Bearer {token}"}

    def call(self, method: str, path: str, body: Any = None) -> Any:
        response = self.pool.request(
            method, self.url + path, body=None if body is None else json.dumps(body).encode(), headers=self.headers
        )
        assert response.status < 300, f"{method} {path}: {response.status} {response.data.decode(errors='replace')}"
        return json.loads(response.data) if response.data else {}

    def get(self, path: str) -> Any:
        return self.call("GET", path)

    def post(self, path: str, body: Any = None) -> Any:
        return self.call("POST", path, body if body is not None else {})

    def submit(self, config: Path) -> int:
        """Submit the directory that `write_experiment` made, with its startup hook if any, as any REST client would."""
        sent = [config.parent / name for name in ("train.py", "startup-hook.sh") if (config.parent / name).exists()]
        files = [
            {"path": path.name, "type": 48, "content": base64.b64encode(path.read_bytes()).decode(), "mtime": "0"}
            | {"mode": 0o644, "uid": 0, "gid": 0}
            for path in sent
        ]
        body = {"config": config.read_text(), "modelDefinition": files, "activate": True}
        experiment: int = self.post("/api/v1/experiments", body)["experiment"]["id"]
        return experiment

    def trials(self, experiment_id: int) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.get(f"/api/v1/experiments/{experiment_id}/trials?limit=1000")["trials"]
        return found

    def state(self, experiment_id: int) -> str:
        state: str = self.get(f"/api/v1/experiments/{experiment_id}")["experiment"]["state"]
        return state.removeprefix("STATE_")

    def log_lines(self, trial_id: int) -> list[str]:
        response = self.pool.request("GET", f"{self.url}/api/v1/trials/{trial_id}/logs", headers=self.headers)
        assert response.status == 200, response.data
        return [json.loads(line)["result"]["message"].rstrip("\n") for line in response.data.splitlines() if line]

    def metrics(self, trial_id: int, group: str) -> list[dict[str, Any]]:
        path = f"{self.url}/api/v1/trials/metrics/trial_metrics?trialIds={trial_id}&group={group}"
        response = self.pool.request("GET", path, headers=self.headers)
        assert response.status == 200, response.data
        lines = [json.loads(line)["result"]["metrics"] for line in response.data.splitlines() if line]
        return [report for line in lines for report in line]

    def wait_state(self, experiment_id: int, *states: str, seconds: float = HANG_SECONDS) -> str:
        return eventually(
            lambda: (s := self.state(experiment_id)) in states and s,
            seconds,
            lambda: f"experiment {experiment_id} is {self.state(experiment_id)}, not {states}",
        )


def eventually(
    condition: Callable[[], Any],
    seconds: float = HANG_SECONDS,
    explain: Callable[[], str] | None = None,
    *,
    poll_seconds: float = 0.05,
) -> Any:
    """Poll until `condition` is truthy; bounded in time, and asked once more when the time is over."""
    deadline = time.monotonic() + seconds
    while True:
        is_last = time.monotonic() >= deadline
        value = condition()
        if value:
            return value
        if is_last:
            raise AssertionError(explain() if explain else f"not within {seconds} s")
        time.sleep(poll_seconds)


def free_port(host: str = "127.0.0.1") -> str:
    """A port that nobody else on this machine is given before it is used, and while its user is being started again."""
    return str(keep_port(0, host))


def keep_port(port: int, host: str = "127.0.0.1") -> int:
    """Bound here for as long as this process lives. Servers can listen there all the same: they set SO_REUSEADDR."""
    with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as kept:
        kept.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        kept.bind((host, port))
        found: int = kept.getsockname()[1]
        kept.detach()
    return found


def lives(pid: int) -> bool:
    """A zombie is gone: nothing of it runs. Whoever took it over may be slow to bury it."""
    try:
        os.kill(pid, 0)
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in ("Z", "X")
    except OSError:
        return False


def clean_environment(**extra: str) -> dict[str, str]:
    kept = {k: v for k, v in os.environ.items() if not k.startswith("DET_") and k != "PYTHONDONTWRITEBYTECODE"}
    return {**kept, **extra}


def det(home: Path, *words: str, master: str | None = None, stdin: str = "", check: bool = True,
        timeout: float = HANG_SECONDS, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:  # fmt: skip
    """Our `det` with a home of its own."""
    program = Path(sys.executable).with_name("det")
    return _run(program, home, words, master, stdin, check, timeout, cwd)


def official(home: Path, *words: str, master: str, stdin: str = "", check: bool = True,
             timeout: float = HANG_SECONDS, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:  # fmt: skip
    """The official client's `det`."""
    return _run(official_python().with_name("det"), home, words, master, stdin, check, timeout, cwd)


def official_python() -> Path:
    venv = os.environ.get("DET_TEST_OFFICIAL", str(ROOT / ".venv-official"))
    python = Path(venv) / "bin" / "python"
    assert python.exists(), f"the official client is not installed in {venv}; run: make official"
    return python


def _run(program: Path, home: Path, words: tuple[str, ...], master: str | None, stdin: str, check: bool, timeout: float,
         cwd: Path | None) -> subprocess.CompletedProcess[str]:  # fmt: skip
    env = clean_environment(
        HOME=str(home),
        XDG_CONFIG_HOME=str(home / "config"),
        XDG_DATA_HOME=str(home / "data"),
        NO_COLOR="1",
        BROWSER="true",  # `open` must not open one on the screen of whoever runs the tests
    )
    if master:
        env["DET_MASTER"] = master
    done = subprocess.run(
        [str(program), *words],
        input=stdin,
        capture_output=True,
        text=True,
        env=env,
        timeout=timeout,
        check=False,
        cwd=cwd,
    )
    if check:
        assert done.returncode == 0, f"{' '.join(words)} -> {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done


def write_experiment(directory: Path, script: str, config: dict[str, Any] | None = None) -> Path:
    """A model directory with train.py and config.yaml; returns the config's path."""
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "train.py").write_text(script)
    full = {
        "name": directory.name,
        "entrypoint": "python3 train.py",
        "searcher": {"name": "single", "metric": "x", "max_length": {"batches": 100}},
        "max_restarts": 0,
        **(config or {}),
    }
    path = directory / "config.yaml"
    path.write_text(json.dumps(full))
    return path


def copy_example(name: str, target: Path) -> Path:
    shutil.copytree(ROOT / "examples" / name, target)
    return target
