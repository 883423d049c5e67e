"""A prototype of the warm runner (docs/architecture/warm_runner.md): imports done once, two forks a trial.

    python benchmarks/warm_runner_prototype.py [--trials 100] [--workers 4]

A server that has imported the runner and `determined.core` forks, for each trial, a runner; that forks the user's
interpreter, which runs a script by runpy on a run directory. Beside it, the same with two Pythons that start cold, as
it is today. Nobody ships the journals: what a master costs is measured by search_speed.py.
"""

import argparse
import gc
import json
import os
import random
import resource
import runpy
import select
import signal
import socket
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import msgspec

import machine
import peers
from determined.rundir.journal import JournalReader, journal_names
from determined.rundir.layout import RunDir

SCRIPT = """
import os
from determined import core

with core.init() as context:
    context.train.report_validation_metrics(steps_completed=1, metrics={"loss": context.info.trial.hparams["x"]})
print("pid", os.getpid(), "in", os.getcwd())
"""
_LONGEST = 1 << 20  # bytes of a request


@dataclass(frozen=True, slots=True)
class Measured:
    """Trials a second, one after the other and side by side; milliseconds of processor a trial; the server's memory."""

    cold: float
    warm: float
    cold_many: float
    warm_many: float
    cold_processor: float
    warm_processor: float
    server_mib: float


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trials", type=int, default=100)
    parser.add_argument("--workers", type=int, default=4)
    parser.add_argument("--cold-runner", nargs=2, metavar=("RUN_DIR", "SCRIPT"), help=argparse.SUPPRESS)
    parser.add_argument("--serve", metavar="SOCKET", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.cold_runner:
        return attend(*options.cold_runner, start=_start_cold)
    if options.serve:
        serve(options.serve)
    print(render(measure(options.trials, options.workers)))
    return 0


def measure(trials: int, workers: int) -> Measured:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        script = folder / "trial.py"
        script.write_text(SCRIPT)
        server = Server(folder / "warm.socket")
        try:
            cold, cold_cpu = _rate(folder / "cold", script, trials, 1, server, warm=False)
            warm, warm_cpu = _rate(folder / "warm", script, trials, 1, server, warm=True)
            cold_many, _ = _rate(folder / "colds", script, trials, workers, server, warm=False)
            warm_many, _ = _rate(folder / "warms", script, trials, workers, server, warm=True)
            memory = server.resident()
        finally:
            server.close()
    return Measured(cold, warm, cold_many, warm_many, cold_cpu * 1e3, warm_cpu * 1e3, memory / 2**20)


def render(found: Measured) -> str:
    rows = [
        ["one after the other", f"{found.cold:.1f}/s", f"{found.warm:.1f}/s", f"{found.warm / found.cold:.1f}"],
        [
            "side by side",
            f"{found.cold_many:.1f}/s",
            f"{found.warm_many:.1f}/s",
            f"{found.warm_many / found.cold_many:.1f}",
        ],
    ]
    table = machine.table(["trials", "two cold Pythons", "two forks", "times"], rows)
    return f"""Runner and script alone, without a master; the script is the one above. A trial is a run directory with
its journals, its output and its exit record.

{table}

Processor time a trial: {found.cold_processor:.0f} ms cold, {found.warm_processor:.0f} ms forked. The server holds
{found.server_mib:.0f} MiB."""


class Server:
    """The process that has everything imported."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._process = subprocess.Popen([sys.executable, __file__, "--serve", str(path)], env=peers.environment())
        while not path.exists():
            if self._process.poll() is not None:
                raise SystemExit(f"the server ended with status {self._process.returncode}")
            time.sleep(0.005)

    def begin(self, run_dir: Path, script: Path) -> socket.socket:
        """Ask for a trial; the connection answers with its exit status when it is over."""
        connection = socket.socket(socket.AF_UNIX)
        connection.connect(str(self._path))
        request = {"run_dir": str(run_dir), "script": str(script), "environment": _environment(run_dir)}
        connection.sendall(json.dumps(request).encode() + b"\n")
        return connection

    def resident(self) -> int:
        for line in Path(f"/proc/{self._process.pid}/status").read_text().splitlines():
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) * 1024
        return 0

    def processor(self) -> float:
        """Return its own time and that of every runner and script it has forked and reaped."""
        fields = Path(f"/proc/{self._process.pid}/stat").read_text().rpartition(")")[2].split()
        return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")

    def close(self) -> None:
        self._process.terminate()
        self._process.wait(10)


def serve(path: str) -> NoReturn:
    """Accept, fork, go on. Single-threaded, and nothing may have started a thread: only that makes forking safe."""
    _import_everything()
    # What is imported stays as it is: a collector that touched it would copy every page in every child.
    gc.collect()
    gc.freeze()
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(path + ".new")
    Path(path + ".new").chmod(0o600)
    listener.listen(64)
    Path(path + ".new").rename(path)
    signal.signal(signal.SIGCHLD, _reap)
    while True:
        connection, _ = listener.accept()
        with connection:
            request = json.loads(connection.makefile("rb").readline(_LONGEST))
            if os.fork() == 0:
                listener.close()
                _be_runner(connection, request)


def _reap(*_: object) -> None:
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        return


def _be_runner(connection: socket.socket, request: dict[str, Any]) -> NoReturn:
    status = 1
    try:
        os.setsid()
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        status = attend(request["run_dir"], request["script"], start=_start_forked)
        connection.sendall(f"{status}\n".encode())
    finally:
        os._exit(status)  # never back into the server's loop


def attend(run_dir_name: str, script: str, start: Any) -> int:
    """Do what a runner does between two talks with its master: directory, journals, output, exit record."""
    from determined.exec.runner.log_sink import LogSink
    from determined.exec.runner.output import OutputPipes
    from determined.rundir.lock import hold
    from determined.wire.report import ExitCause

    run_dir = RunDir(Path(run_dir_name))
    run_dir.create()
    run_dir.workdir.mkdir()
    lock = hold(run_dir.lock)
    assert lock is not None, "somebody else has this run directory"
    _write_info(run_dir.info)
    sink = LogSink(run_dir, lambda: None)
    sink.phase("RUNNING")
    output = OutputPipes(sink)
    pid = start(run_dir.workdir, script, output, _environment(run_dir.path))
    output.start()
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    output.finish(1.0)
    sink.exit(ExitCause.EXITED, status, f"the entrypoint exited with status {status}")
    run_dir.done.write_text("{}")
    return status


def _start_cold(workdir: Path, script: str, output: Any, environment: dict[str, str]) -> int:
    process = subprocess.Popen(
        [sys.executable, script], cwd=workdir, env=environment, stdin=subprocess.DEVNULL, stdout=output.stdout,
        stderr=output.stderr, process_group=0,
    )  # fmt: skip
    process.returncode = 0  # waited for by its number
    return process.pid


def _start_forked(workdir: Path, script: str, output: Any, environment: dict[str, str]) -> int:
    pid = os.fork()
    if pid == 0:
        _be_user(workdir, script, output, environment)
    return pid


def _be_user(workdir: Path, script: str, output: Any, environment: dict[str, str]) -> NoReturn:
    """An interpreter as fresh as a fork can be: environment, directory, descriptors, signals, randomness, __main__."""
    status = 1
    try:
        os.setpgid(0, 0)
        os.chdir(workdir)
        null = os.open(os.devnull, os.O_RDONLY)
        for target, source in enumerate((null, output.stdout, output.stderr)):
            os.dup2(source, target)
        os.closerange(3, os.sysconf("SC_OPEN_MAX") if os.sysconf("SC_OPEN_MAX") < 65536 else 65536)
        for number in set(signal.Signals) - {signal.SIGKILL, signal.SIGSTOP}:
            signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)
        os.environ.clear()
        os.environ.update(environment)
        random.seed()
        sys.argv, sys.path[0] = [script], str(Path(script).parent)
        status = _run(script)
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


def _run(script: str) -> int:
    try:
        runpy.run_path(script, run_name="__main__")
    except SystemExit as e:
        return e.code if isinstance(e.code, int) else int(e.code is not None)
    except BaseException:  # noqa: BLE001 (as the interpreter itself: a traceback and status 1)
        sys.excepthook(*sys.exc_info())
        return 1
    return 0


def _import_everything() -> None:
    """Import here once what a trial would. Nothing of it starts a thread or touches a device."""
    from determined import core
    from determined.exec.runner import journal_upload, log_sink, output, task_supervisor

    assert core.init and task_supervisor and log_sink and output and journal_upload


def _environment(run_dir: Path) -> dict[str, str]:
    return {**peers.environment(), "DET_RUN_DIR": str(run_dir), "PYTHONUNBUFFERED": "1"}


def _write_info(info: Path) -> None:
    config = {"searcher": {"name": "random", "metric": "loss"}, "checkpoint_storage": None}
    cluster = {
        "master_url": "http://127.0.0.1:9", "cluster_id": "c", "agent_id": "a", "slot_ids": [0], "task_id": "t",
        "allocation_id": "t.1", "session_token": "s", "task_type": "TRIAL", "latest_checkpoint": None,
    }  # fmt: skip
    trial = {"trial_id": 1, "experiment_id": 1, "trial_seed": 1, "hparams": {"x": 0.5}, "config": config}
    rendezvous = {"container_addrs": ["127.0.0.1"], "container_rank": 0, "container_slot_counts": [1]}
    for name, content in {
        "cluster": cluster,
        "trial": trial,
        "rendezvous": rendezvous,
        "resources": {"gpu_uuids": []},
    }.items():
        (info / f"{name}.json").write_text(json.dumps(content))


def _rate(root: Path, script: Path, trials: int, workers: int, server: Server, *, warm: bool) -> tuple[float, float]:
    """(trials a second, processor seconds a trial); every trial is checked."""
    root.mkdir()
    directories = [root / str(number) for number in range(trials)]
    left, running = list(directories), list[Running]()
    spent, begin = _processor(server), time.perf_counter()
    while left or running:
        while left and len(running) < workers:
            running.append(_begin(left.pop(), script, server, warm=warm))
        running = [one for one in running if not _is_over(one)]
        time.sleep(0.0005)
    took, spent = time.perf_counter() - begin, _processor(server) - spent
    for run_dir in directories:
        _check(run_dir)
    return trials / took, spent / trials


Running = subprocess.Popen[bytes] | socket.socket


def _begin(run_dir: Path, script: Path, server: Server, *, warm: bool) -> Running:
    if warm:
        return server.begin(run_dir, script)
    return subprocess.Popen([sys.executable, __file__, "--cold-runner", str(run_dir), str(script)])


def _is_over(one: Running) -> bool:
    if isinstance(one, socket.socket):
        if not select.select([one], [], [], 0)[0]:
            return False
        with one:
            status = int(one.recv(100) or b"1")
    else:
        ended = one.poll()
        if ended is None:
            return False
        status = ended
    if status:
        raise SystemExit(f"a trial ended with status {status}")
    return True


def _processor(server: Server) -> float:
    """Return the processor time of everybody who has ended, and of the server."""
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    return ended.ru_utime + ended.ru_stime + server.processor()


def _check(run_dir: Path) -> None:
    """Check for one validation, one line of output, one exit, and a directory that is done."""
    journals = RunDir(run_dir).journals
    records = []
    for name in journal_names(journals):
        _, raw = JournalReader(journals, name).read(1000, 1 << 20)
        records += [msgspec.msgpack.decode(record)[0] for record in raw]
    kinds = sorted(records)
    if kinds != ["exit", "log", "metric", "phase"] or not RunDir(run_dir).done.exists():
        raise SystemExit(f"{run_dir.name}: its journals hold {kinds}")


if __name__ == "__main__":
    sys.exit(main())
