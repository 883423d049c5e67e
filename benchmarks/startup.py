"""Time until something happens: imports, --help, a master that serves, a submitted script's first line.

    python benchmarks/startup.py [--quick]

MLflow stands beside it where it has the same thing (import, --help, server), W&B and trackio for the import.
"""

import argparse
import functools
import os
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil

import machine
import peers
import startup_submit
from cluster import running

ROOT = Path(__file__).parents[1]
DET = startup_submit.DET
_PATIENCE = 120.0
_CLIENT = "from determined.experimental import client"


@dataclass(frozen=True, slots=True)
class Row:
    what: str
    unit: str
    values: list[float]
    hold: float | None = None
    peer: str = ""  # whose number it is; ours when empty


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="few repetitions: to see that it works, not how fast")
    parser.add_argument("--ours", action="store_true", help="leave the peers out")
    options = parser.parse_args()
    times = 3 if options.quick else 15
    idle = 2.0 if options.quick else 10.0
    rows = [*imports(times, options.ours), *install_sizes(options.ours), *masters(max(2, times // 3), idle)]
    cold, warm = startup_submit.measured(times, max(2, times // 3))
    rows += [
        Row(f"submit to first user line, {which}: on the submitter's screen", "s", startup_submit.seen(submits), hold)
        for which, submits, hold in (("warm", warm, 0.2), ("no master yet", cold, 1.0))
    ]
    if not options.ours:
        rows += mlflow_server(max(1, times // 5), idle)
    print(render(rows))
    print(startup_submit.render(cold, warm))
    return 0 if all(_verdict(row) in ("held", "") for row in rows) else 1


def imports(times: int, ours: bool) -> list[Row]:
    """Imports are timed inside the process (what a script pays), --help from outside (what a person waits)."""
    rows = [
        Row("import determined", "ms", _repeat(times, lambda: _import(sys.executable, "determined")), 60),
        *_clients(times, ours),
        Row("det --help", "ms", _repeat(times, lambda: _run([str(DET), "--help"])), 200),
        Row("python -c pass, for comparison", "ms", _repeat(times, lambda: _run([sys.executable, "-c", "pass"]))),
    ]
    if ours:
        return rows
    python = peers.peers_python()
    few = max(2, times // 3)
    for name in ("mlflow", "wandb", "trackio"):
        rows.append(Row(f"import {name}", "ms", _repeat(few, functools.partial(_import, python, name)), peer=name))
    command = [str(Path(python).with_name("mlflow")), "--help"]
    return [*rows, Row("mlflow --help", "ms", _repeat(few, lambda: _run(command)), peer="mlflow")]


def _clients(times: int, ours: bool) -> list[Row]:
    """The SDK beside upstream's own, in turns: alone, and with what its first function needs."""
    pythons = {"": sys.executable} if ours else {"": sys.executable, "upstream": peers.official_python()}
    rows = {}
    for python in pythons.values():
        _import_client(python, used=True)
    for used, what in ((False, _CLIENT), (True, f"{_CLIENT}, and all that its first call imports")):
        for peer in pythons:
            name = f"{what}, upstream's 0.38.1" if peer else what
            rows[used, peer] = Row(name, "ms", [], hold=80 if not used and not peer else None, peer=peer)
    for _ in range(times):
        for (used, peer), row in rows.items():
            row.values.append(_import_client(pythons[peer], used=used))
    return list(rows.values())


def install_sizes(ours: bool) -> list[Row]:
    """Everything a plain install brings, bytecode included, as pip leaves it; the interpreter is not counted."""
    rows = [Row("base install", "MB", [_installed(str(ROOT))], 120)]
    return rows if ours else [*rows, Row("mlflow install", "MB", [_installed("mlflow")], peer="mlflow")]


def masters(times: int, idle: float) -> list[Row]:
    first, again = [], []
    for _ in range(times):
        with tempfile.TemporaryDirectory(prefix="det-startup-") as folder, running(Path(folder)) as cluster:
            first.append(cluster.started_in)
            cluster.stop()
            again.append(cluster.start())
    with tempfile.TemporaryDirectory(prefix="det-startup-") as folder, running(Path(folder)) as cluster:
        assert cluster.process is not None
        memory, cpu = _idle(psutil.Process(cluster.process.pid), idle)
    return [
        Row("master ready, first start (makes its database)", "s", first, 2),
        Row("master ready, later starts", "s", again, 2),
        Row("idle master, resident memory", "MB", [memory], 150),
        Row(f"idle master, CPU over {idle:.0f} s", "%", [cpu], 1),
    ]


def mlflow_server(times: int, idle: float) -> list[Row]:
    ready, memory, cpu = [], 0.0, 0.0
    for number in range(times):
        with _mlflow() as (process, seconds):
            ready.append(seconds)
            if number == times - 1:
                memory, cpu = _idle(psutil.Process(process.pid), idle)
    return [
        Row("mlflow server ready (SQLite, 1 worker)", "s", ready, peer="mlflow"),
        Row("idle mlflow server, resident memory of its processes", "MB", [memory], peer="mlflow"),
        Row(f"idle mlflow server, CPU over {idle:.0f} s", "%", [cpu], peer="mlflow"),
    ]


def render(rows: list[Row]) -> str:
    lines = [_line(row) for row in rows]
    header = ["what", "median", "range", "n", "hold", ""]
    return "\n".join([
        "# Start-up",
        "",
        "Bytecode is compiled beforehand. Imports are timed inside a fresh process, commands from outside.",
        "",
        machine.table(header, lines),
        "",
    ])  # fmt: skip


def _line(row: Row) -> list[str]:
    spread = f"{min(row.values):.4g} to {max(row.values):.4g}"
    hold = "" if row.hold is None else f"{row.hold:g} {row.unit}"
    return [row.what, f"{machine.median(row.values):.4g} {row.unit}", spread, str(len(row.values)), hold, _verdict(row)]


def _verdict(row: Row) -> str:
    return "" if row.hold is None else machine.held(machine.median(row.values), row.hold)


def _repeat(times: int, measure: Callable[[], float]) -> list[float]:
    measure()  # compiles bytecode and warms the page cache
    return [measure() for _ in range(times)]


def _import(python: str, name: str) -> float:
    return _timed_inside(
        python, f"import time; begin = time.perf_counter(); import {name}; print(1000 * (time.perf_counter() - begin))"
    )


def _timed_inside(python: str, code: str) -> float:
    with tempfile.TemporaryDirectory(prefix="det-import-") as folder:
        command = [python, "-c", code]
        done = subprocess.run(
            command, env=peers.environment(), cwd=folder, capture_output=True, text=True, timeout=_PATIENCE, check=True
        )
    return float(done.stdout.splitlines()[-1])


def _import_client(python: str, *, used: bool) -> float:
    names = _CLIENT + ("; client.create_experiment" if used else "")
    code = f"import time; begin = time.perf_counter(); {names}; print(1000 * (time.perf_counter() - begin))"
    return _timed_inside(python, code)


def _run(command: list[str]) -> float:
    begin = time.perf_counter()
    subprocess.run(command, env=peers.environment(), stdout=subprocess.DEVNULL, timeout=_PATIENCE, check=True)
    return 1000 * (time.perf_counter() - begin)


def _installed(package: str) -> float:
    with tempfile.TemporaryDirectory(prefix="det-install-") as folder:
        peers.make_environment(Path(folder) / "venv")
        libraries = next((Path(folder) / "venv" / "lib").glob("python*/site-packages"))
        before = _size(libraries)
        peers.install(str(Path(folder) / "venv" / "bin" / "python"), (package,), "--link-mode=copy")
        return (_size(libraries) - before) / 1e6


def _size(folder: Path) -> int:
    files = (Path(root) / name for root, _, names in os.walk(folder) for name in names)
    return sum(file.lstat().st_size for file in files)


def _idle(process: psutil.Process, seconds: float) -> tuple[float, float]:
    """(resident MB, percent of one core) of a process and its children that nobody asks anything."""
    time.sleep(min(5.0, seconds))  # what start-up left to do is not idling
    family = [process, *process.children(recursive=True)]
    before = sum(_cpu(one) for one in family)
    time.sleep(seconds)
    spent = sum(_cpu(one) for one in family) - before
    return sum(one.memory_info().rss for one in family) / 1e6, 100 * spent / seconds


def _cpu(process: psutil.Process) -> float:
    times = process.cpu_times()
    return float(times.user + times.system)


@contextmanager
def _mlflow() -> Iterator[tuple["subprocess.Popen[bytes]", float]]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    python = peers.peers_python()
    with tempfile.TemporaryDirectory(prefix="det-mlflow-") as folder:
        store = ["--backend-store-uri", f"sqlite:///{folder}/mlflow.db", "--default-artifact-root", f"{folder}/files"]
        options = ["--host", "127.0.0.1", "--port", str(port), "--workers", "1", *store]
        with (Path(folder) / "log").open("wb") as log:
            begin = time.perf_counter()
            command = [python, "-m", "mlflow", "server", *options]
            process = subprocess.Popen(command, env=peers.environment(), cwd=folder, stdout=log, stderr=log)
        try:
            _wait_for_health(f"http://127.0.0.1:{port}/health", process, Path(folder) / "log")
            yield process, time.perf_counter() - begin
        finally:
            children = psutil.Process(process.pid).children(recursive=True)
            process.terminate()
            process.wait(30)
            _, left = psutil.wait_procs(children, 10)
            for child in left:
                child.kill()


def _wait_for_health(url: str, process: "subprocess.Popen[bytes]", log: Path) -> None:
    deadline = time.monotonic() + _PATIENCE
    while True:
        try:
            urllib.request.urlopen(url, timeout=5).close()
            return
        except OSError:
            if process.poll() is not None or time.monotonic() > deadline:
                raise SystemExit("the server did not start:\n" + log.read_text()[-2000:]) from None
            time.sleep(0.01)


if __name__ == "__main__":
    sys.exit(main())
