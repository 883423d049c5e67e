"""MLflow itself, in an environment of its own (`.venv-mlflow`, built where it is missing): a server, and its client."""

import json
import os
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[3]
VERSION = "3.17.2"
_HOME = ROOT / ".venv-mlflow"
_READY_SECONDS = 120


def mlflow_python() -> Path:
    """Return a Python that has MLflow; a minute's work where it has to be installed."""
    python, stamp = _HOME / "bin" / "python", _HOME / ".stamp"
    if not stamp.exists() or stamp.read_text() != VERSION:
        install = ["sh", "scripts/pip_install.sh", str(_HOME), f"mlflow=={VERSION}"]
        subprocess.run(install, cwd=ROOT, check=True, timeout=900)
        stamp.write_text(VERSION)
    return python


@contextmanager
def mlflow_server(directory: Path) -> Iterator[str]:
    """Run `mlflow server` on SQLite in a directory (`mlflow.db`, `artifacts`); yield its address."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port = listener.getsockname()[1]
    stores = ["--backend-store-uri", f"sqlite:///{directory / 'mlflow.db'}", "--artifacts-destination"]
    command = [str(mlflow_python().with_name("mlflow")), "server", *stores, str(directory / "artifacts")]
    listen = ["--host", "127.0.0.1", "--port", str(port), "--workers", "1"]
    with (directory / "server.log").open("wb") as log:
        process = subprocess.Popen(
            [*command, *listen], cwd=directory, env=_environment(), stdout=log, stderr=log, start_new_session=True
        )
    try:
        _wait_ready(process, f"http://127.0.0.1:{port}/health", directory / "server.log")
        yield f"http://127.0.0.1:{port}"
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait(30)


def run_client(code: str, uri: str) -> Any:
    """Run code with `client`, MLflow's own, and return what it leaves in `result`."""
    whole = f"""
import json, sys
from mlflow.tracking import MlflowClient
client = MlflowClient(tracking_uri={uri!r}, registry_uri={uri!r})
{code}
print(json.dumps(result))
"""
    done = subprocess.run(
        [str(mlflow_python()), "-c", whole],
        env=_environment(),
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout.splitlines()[-1])


def _environment() -> dict[str, str]:
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("DET_", "MLFLOW_"))}
    return {**kept, "MLFLOW_DISABLE_TELEMETRY": "true", "DO_NOT_TRACK": "1"}


def _wait_ready(process: "subprocess.Popen[bytes]", url: str, log: Path) -> None:
    deadline = time.monotonic() + _READY_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        try:
            with urllib.request.urlopen(url, timeout=5) as response:
                assert response.status == 200
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.1)
    raise AssertionError(f"mlflow server does not answer: {log.read_text()[-3000:]}")
