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
from cluster import running

ROOT = Path(__file__).parents[1]
DET = Path(sys.executable).with_name("det")
_PATIENCE = 120.0
_MIB = 2**20


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
    rows += submissions(times)
    if not options.ours:
        rows += mlflow_server(max(1, times // 5), idle)
    print(render(rows))
    return 0 if all(_verdict(row) in ("held", "") for row in rows) else 1


def imports(times: int, ours: bool) -> list[Row]:
    """Imports are timed inside the process (what a script pays), --help from outside (what a person waits)."""
    rows = [
        Row("import determined", "ms", _repeat(times, lambda: _import(sys.executable, "determined")), 60),
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


def submissions(times: int) -> list[Row]:
    """`det e create -f` against the embedded master that is already running: what a person at a terminal sees."""
    with tempfile.TemporaryDirectory(prefix="det-submit-") as folder:
        home = Path(folder)
        environment = peers.environment(
            HOME=folder, DET_STATE_DIR=f"{folder}/state", XDG_CONFIG_HOME=f"{folder}/config"
        )
        context = home / "context"
        context.mkdir()
        (context / "train.py").write_text("import time\nprint(f'first line {time.time()}', flush=True)\n")
        storage = f"checkpoint_storage: {{type: directory, container_path: {home / 'checkpoints'}}}\n"
        text = "entrypoint: python3 train.py\nsearcher: {name: single, metric: x}\nmax_restarts: 0\n"
        (home / "config.yaml").write_text(f"name: benchmark\n{text}{storage}")
        (home / "checkpoints").mkdir()
        cold = _submit(home, environment)
        try:
            warm = [_submit(home, environment) for _ in range(times)]
        finally:
            subprocess.run([str(DET), "master", "stop"], env=environment, check=True, stdout=subprocess.DEVNULL)
    ran, seen = [pair[0] for pair in warm], [pair[1] for pair in warm]
    return [
        Row("submit to first user line, warm: on the submitter's screen", "s", seen, 1),
        Row("submit to first user line, warm: the script runs", "s", ran),
        Row("submit to first user line, no master yet: on the screen", "s", [cold[1]]),
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
    code = f"import time; begin = time.perf_counter(); import {name}; print(1000 * (time.perf_counter() - begin))"
    with tempfile.TemporaryDirectory(prefix="det-import-") as folder:
        command = [python, "-c", code]
        done = subprocess.run(
            command, env=peers.environment(), cwd=folder, capture_output=True, text=True, timeout=_PATIENCE, check=True
        )
    return float(done.stdout.splitlines()[-1])


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


def _submit(home: Path, environment: dict[str, str]) -> tuple[float, float]:
    """(seconds until the script's first statement, until its line is on the screen)."""
    command = [str(DET), "e", "create", str(home / "config.yaml"), str(home / "context"), "-f"]
    begin = time.time()
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as det:
        assert det.stdout is not None
        told = []
        for line in det.stdout:
            told.append(line)
            if "first line " in line:
                seen, ran = time.time(), float(line.split("first line ", 1)[1])
                break
        else:
            raise SystemExit("the script's line never came:\n" + "".join(told))
        for _ in det.stdout:
            pass
    return ran - begin, seen - begin


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
