"""Service of a task (notebook, shell, TensorBoard): its Unix socket, its settings, and when it answers."""

import json
import os
import shutil
import socket
import sys
import tempfile
import threading
from pathlib import Path

from determined import constants as c
from determined._json import JsonObject
from determined.exec.runner import environment
from determined.exec.runner.log_sink import LogSink
from determined.rundir.layout import RunDir
from determined.wire.report import TaskSpec

_LONGEST_PATH = 100  # bytes; the kernel takes 107 for a Unix socket
_SHORT_ROOT = "/dev/shm"
_NOTE = ".socket.json"
_LOOK_SECONDS = 0.1
_ANSWER_SECONDS = 5.0


def provide(spec: TaskSpec, run_dir: RunDir) -> dict[str, str]:
    """Make room for the service socket, write the settings, and return the variables that tell the task of both."""
    if not _has_own_socket(spec):
        return {}
    path = place(run_dir, "service", spec)
    settings = run_dir.info / "service.json"
    write_private(settings, spec.settings or {})
    return {
        c.ENV_SERVICE_SOCKET: str(path),
        c.ENV_SERVICE_PREFIX: f"/proxy/{spec.task_id}/",
        c.ENV_SERVICE_SETTINGS: str(settings),
    }


def place(run_dir: RunDir, name: str, spec: TaskSpec) -> Path:
    """Make room for the socket of a program, and note where that is. Its libraries may come from the node."""
    path = _short(run_dir.path / f"{name}.sock")
    (run_dir.path / f"{name}{_NOTE}").write_text(json.dumps(str(path)))
    # For programs that come from an environment of the node: the task has none of the node's indexes and certificates.
    write_private(run_dir.installer, _installer_variables(spec, run_dir))
    return path


def service_path(run_dir: RunDir) -> Path | None:
    """Return the service socket of the task; None where it has none."""
    return _noted(run_dir.path / f"service{_NOTE}")


def remove(run_dir: RunDir) -> None:
    """Remove sockets that lie outside of the run directory."""
    for note in run_dir.path.glob(f"*{_NOTE}"):
        path = _noted(note)
        if path is not None and not path.is_relative_to(run_dir.path):
            shutil.rmtree(path.parent, ignore_errors=True)


def _noted(note: Path) -> Path | None:
    try:
        return Path(json.loads(note.read_text()))
    except (OSError, ValueError):
        return None


def report_when_ready(run_dir: RunDir, sink: LogSink, ended: threading.Event) -> None:
    """Report READY as soon as the service takes a connection, in a thread that ends with the task."""
    path = service_path(run_dir)
    if path is not None:
        threading.Thread(target=_wait, args=(path, sink, ended), name="service", daemon=True).start()


def _wait(path: Path, sink: LogSink, ended: threading.Event) -> None:
    while not ended.wait(_LOOK_SECONDS):
        if _answers(path):
            sink.phase("READY")
            sink.say("INFO", "the service of this task is available")
            return


def _answers(path: Path) -> bool:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as client:
        client.settimeout(_ANSWER_SECONDS)
        try:
            client.connect(str(path))
        except OSError:
            return False
    return True


def _installer_variables(spec: TaskSpec, run_dir: RunDir) -> dict[str, str]:
    """Return the node's variables for installers. Our own uv is last on their PATH: the task's Python may have none."""
    variables = environment.for_installer(spec, run_dir)
    own, link = Path(sys.executable).with_name("uv"), run_dir.path / "uv" / "uv"
    if own.exists():
        link.parent.mkdir(mode=0o700, exist_ok=True)
        link.unlink(missing_ok=True)
        link.symlink_to(own)
        variables["PATH"] = os.pathsep.join(filter(None, [variables.get("PATH"), str(link.parent)]))
    return variables


def write_private(path: Path, content: JsonObject) -> None:
    path.touch(mode=0o600)
    path.write_text(json.dumps(content))


def _has_own_socket(spec: TaskSpec) -> bool:
    return any(one.port == 0 for one in spec.services)


def _short(path: Path) -> Path:
    """Return the path, or one in a directory of our own where it is too long to bind."""
    path.unlink(missing_ok=True)
    if len(str(path).encode()) <= _LONGEST_PATH:
        return path
    root = _SHORT_ROOT if Path(_SHORT_ROOT).is_dir() else None
    return Path(tempfile.mkdtemp(prefix="determined-", dir=root)) / path.name
