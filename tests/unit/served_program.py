"""A program that serves a task, started as the runner starts it: settings, socket, log."""

import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import psutil

from determined.api.exchange import exchange
from determined.rundir.layout import RunDir
from determined.wire.codec import to_json
from determined.wire.report import LaunchFile

TASK_ID = "0a1b2c3d-0000-4000-8000-000000000001"
PREFIX = f"/proxy/{TASK_ID}/"
_HANG_SECONDS = 120.0


class ServedProgram:
    """`python -m module` in `work_dir`. Use it as a context manager."""

    def __init__(self, module: str, settings: Any, place: Path, *, cache: Path, master_url: str = "http://localhost:9"):
        self.work_dir, self.run_dir = place / "work", RunDir(place / "run")
        self.work_dir.mkdir(parents=True, exist_ok=True)
        self.run_dir.create()
        launch = LaunchFile(
            master_url=master_url, token="token", allocation_id=f"{TASK_ID}.1", resource_id="r1", container_id="c",
            node_id="n", rank=0, slot_ids=[],
        )  # fmt: skip
        self.run_dir.launch.write_bytes(to_json(launch))
        self._settings = self.run_dir.info / "service.json"
        self._settings.write_bytes(to_json(settings))
        self._short = Path(tempfile.mkdtemp(prefix="det-"))  # the path of a Unix socket is short
        self.socket = self._short / "s"
        self._module, self._variables = module, _variables(place, cache)
        self._log = place / "log"

    def __enter__(self) -> "ServedProgram":
        own = {
            "DET_SERVICE_SOCKET": str(self.socket),
            "DET_SERVICE_PREFIX": PREFIX,
            "DET_SERVICE_SETTINGS": str(self._settings),
            "DET_TASK_ID": TASK_ID,
            "DET_RUN_DIR": str(self.run_dir.path),
        }
        self.process = subprocess.Popen(
            [sys.executable, "-P", "-m", self._module],
            env={**self._variables, **own}, cwd=self.work_dir, stdin=subprocess.DEVNULL,
            stdout=self._log.open("wb"), stderr=subprocess.STDOUT,
        )  # fmt: skip
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
        shutil.rmtree(self._short, ignore_errors=True)

    def stop(self) -> int:
        """End it as the runner does; its status."""
        self.process.terminate()
        return self.process.wait(_HANG_SECONDS)

    @property
    def log(self) -> str:
        return self._log.read_text(errors="replace")

    def wait_for(self, pattern: str) -> None:
        """Wait until its log has a line like this."""
        deadline = time.monotonic() + _HANG_SECONDS
        while not re.search(pattern, self.log):
            assert self.process.poll() is None, self.log
            assert time.monotonic() < deadline, self.log
            time.sleep(0.05)

    def wait_for_socket(self) -> None:
        """Wait until it listens, which may be after the line that says so."""
        deadline = time.monotonic() + _HANG_SECONDS
        while not self.socket.exists():
            assert time.monotonic() < deadline, self.log
            time.sleep(0.05)

    def request(
        self, method: str, path: str, body: Any = None, *, token: str | None = None, seconds: float = 60
    ) -> tuple[int, Any]:
        """Status and answer, decoded where it is JSON."""
        headers = {"Host": "localhost", "Connection": "close"}
        if token is not None:
            headers["Authorization"] = f"token {token}"
        raw = None if body is None else json.dumps(body).encode()
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as sock:
            sock.settimeout(seconds)
            sock.connect(str(self.socket))
            answer = exchange(sock, method, PREFIX + path, headers, raw)
        try:
            return answer.status, json.loads(answer.body)
        except ValueError:
            return answer.status, answer.body

    def listening_ports(self) -> list[int]:
        """Ports on which it or a child of it listens."""
        root = psutil.Process(self.process.pid)
        found = []
        for process in [root, *root.children(recursive=True)]:
            found += [one.laddr.port for one in process.net_connections("inet") if one.status == psutil.CONN_LISTEN]
        return found


def _variables(place: Path, cache: Path) -> Mapping[str, str]:
    """The variables of a task whose user has a home of its own; only what uv has downloaded before is shared."""
    home = place / "home"
    home.mkdir(exist_ok=True)
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("DET_", "JUPYTER"))}
    downloads = os.environ.get("UV_CACHE_DIR") or str(Path.home() / ".cache" / "uv")
    own = {"HOME": str(home), "UV_CACHE_DIR": downloads, "DET_ENVIRONMENT_CACHE": str(cache)}
    return {**kept, **own, "SHELL": "/bin/bash", "PYTHONUNBUFFERED": "1"}


def shared_cache(base_temp: Path) -> Path:
    """A cache of environments that the workers of one test run share."""
    root = base_temp.parent if "PYTEST_XDIST_WORKER" in os.environ else base_temp
    return root / "environments-of-programs"
