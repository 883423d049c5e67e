"""`det master import upstream`: 100,000 trials and 20 million metric values out of a real PostgreSQL into SQLite.

    python benchmarks/import_upstream.py [--quick] [--trials N] [--rows N] [--mlflow-python PYTHON]

The source is made by SQL in a server of the benchmark's own. What a kill costs is the largest unit: only a unit that
was not committed is done again. Beside it `mlflow migrate-filestore`, MLflow's own bulk import, takes the same values
of the first trials out of its files.
"""

import argparse
import json
import os
import pwd
import resource
import shutil
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg

import machine
import peers

SCHEMA = Path(__file__).parent.parent / "tests/integration/importing/upstream_schema.sql"
HOLD_VALUES, HOLD_MLFLOW, HOLD_MB, HOLD_RESUME = 100_000, 5, 500, 1.0
MLFLOW_TRIALS = 1_000  # its rate is the same for more of them
TRIALS_OF_EXPERIMENT = 100
VALUES_OF_ROW = 2


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="see that it works: 500 trials")
    parser.add_argument("--trials", type=int, default=100_000)
    parser.add_argument("--rows", type=int, default=100, help="training metrics of each trial, of two values each")
    parser.add_argument("--mlflow-python", metavar="PYTHON", help="a python that has MLflow; installed by default")
    options = parser.parse_args()
    trials = 500 if options.quick else options.trials
    with tempfile.TemporaryDirectory(prefix="det-import-", dir="/var/tmp") as folder, _server(Path(folder)) as url:
        _fill(url, trials, options.rows)
        seconds, metric_seconds = _import(Path(folder) / "target", url)
        resumed = _largest_unit(Path(folder) / "target" / "master.db")
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    theirs = _mlflow(options.mlflow_python or peers.peers_python(), min(trials // 10, MLFLOW_TRIALS), options.rows)
    values = trials * options.rows * VALUES_OF_ROW
    rate, mlflow_rate = values / seconds, theirs["values"] / theirs["seconds"]
    least = max(HOLD_VALUES, HOLD_MLFLOW * mlflow_rate)
    rows = [
        ["metric values/s, whole import", f"{rate:,.0f}", f">= {least:,.0f}", machine.held(least, rate)],
        ["metric values/s, metrics alone", f"{values / metric_seconds:,.0f}", "", ""],
        [f"metric values/s, MLflow {theirs['version']}", f"{mlflow_rate:,.0f}", "", ""],
        ["largest memory of the process, MB", f"{peak:,.0f}", f"<= {HOLD_MB}", machine.held(peak, HOLD_MB)],
        ["metrics that a kill costs, %", f"{resumed:.2f}", f"<= {HOLD_RESUME}", machine.held(resumed, HOLD_RESUME)],
    ]
    of_mlflow = f"{theirs['values']:,} of the same values into SQLite: {theirs['seconds']:,.0f} s"
    print(
        f"Import of {trials:,} trials and {values:,} metric values from PostgreSQL into SQLite: {seconds:,.0f} s.\n"
        f"`mlflow migrate-filestore` of {of_mlflow}.\n"
    )
    print(machine.table(["", "measured", "hold", ""], rows))
    return 0 if options.quick or not any("missed" in row[-1] for row in rows) else 1


def _mlflow(python: str, trials: int, rows: int) -> dict[str, Any]:
    script = str(Path(__file__).with_name("import_mlflow.py"))
    environment = peers.environment(MLFLOW_ALLOW_FILE_STORE="true")
    with tempfile.TemporaryDirectory(prefix="det-import-", dir="/var/tmp") as folder:
        command = [python, script, folder, str(trials), str(rows)]
        done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    answer: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return answer


def _import(data: Path, url: str) -> tuple[float, float]:
    """Seconds of the whole import, and of its metrics."""
    begin = time.perf_counter()
    command = [
        sys.executable,
        "-m",
        "determined.master",
        "import",
        "--data-dir",
        str(data),
        "upstream",
        "--source",
        url,
    ]
    seen: dict[str, float] = {}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for line in process.stdout:
            event: dict[str, Any] = json.loads(line)
            seen[event.get("step", event["event"])] = time.perf_counter()
    assert process.returncode == 0, "the import failed"
    return time.perf_counter() - begin, seen["metrics of raw_steps"] - seen["trials"]


def _largest_unit(database: Path) -> float:
    query = "SELECT 100.0 * max(rows) / sum(rows) FROM import_units WHERE step = 'metrics of raw_steps'"
    share: float = sqlite3.connect(database).execute(query).fetchone()[0]
    return share


def _fill(url: str, trials: int, rows: int) -> None:
    config = json.dumps(
        {
            "name": "bench", "entrypoint": "true", "hyperparameters": {},
            "searcher": {"name": "single", "metric": "loss"},
            "checkpoint_storage": {"type": "shared_fs", "host_path": "/tmp"},
        }
    )  # fmt: skip
    with psycopg.connect(url, autocommit=True) as conn:
        conn.execute(SCHEMA.read_text())
        conn.execute("INSERT INTO cluster_id VALUES ('benchmark')")
        conn.execute("INSERT INTO users (id, username, admin) VALUES (1, 'admin', true), (2, 'determined', false)")
        conn.execute("INSERT INTO workspaces (id, name, user_id, immutable) VALUES (1, 'Uncategorized', 1, true)")
        conn.execute("INSERT INTO projects (id, name, workspace_id, user_id) VALUES (1, 'Uncategorized', 1, 1)")
        conn.execute(
            "INSERT INTO experiments (id, state, config, start_time, end_time, owner_id, project_id, job_id,"
            " model_definition) SELECT i, 'COMPLETED', %s, now(), now(), 1, 1, 'job-' || i, 'code'"
            " FROM generate_series(1, %s) i",
            (config, (trials - 1) // TRIALS_OF_EXPERIMENT + 1),
        )
        conn.execute(
            "INSERT INTO runs (id, experiment_id, state, start_time, end_time, hparams)"
            " SELECT i, (i - 1) / %s + 1, 'COMPLETED', now(), now(), '{\"lr\": 0.1}' FROM generate_series(1, %s) i",
            (TRIALS_OF_EXPERIMENT, trials),
        )
        conn.execute("INSERT INTO trials_v2 SELECT id, 'request-' || id, id FROM runs")
        conn.execute("INSERT INTO tasks SELECT 'task-' || id, 'TRIAL', now(), now() FROM runs")
        conn.execute("INSERT INTO run_id_task_id SELECT id, 'task-' || id FROM runs")
        conn.execute(
            "INSERT INTO raw_steps (trial_id, trial_run_id, total_batches, end_time, partition_type, metrics)"
            " SELECT t, 1, s * 10, now(), 'TRAINING', jsonb_build_object('avg_metrics',"
            " jsonb_build_object('loss', 1.0 / (t + s), 'accuracy', s * 0.001), 'batch_metrics', NULL)"
            " FROM generate_series(1, %s) t, generate_series(1, %s) s",
            (trials, rows),
        )
        conn.execute("ANALYZE")


@contextmanager
def _server(folder: Path) -> Iterator[str]:
    """A PostgreSQL of the benchmark's own; it refuses to run as root."""
    binaries = next(path.parent for path in sorted(Path("/usr/lib/postgresql").glob("*/bin/postgres")))
    folder.chmod(0o755)
    home = folder / "postgres"
    home.mkdir()
    identity: dict[str, Any] = {}
    if os.geteuid() == 0:
        nobody = pwd.getpwnam("nobody")
        shutil.chown(home, nobody.pw_uid, nobody.pw_gid)
        identity = {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": [], "cwd": home}
    data = home / "data"
    made = [binaries / "initdb", "-A", "trust", "-U", "det", "--no-sync", "--encoding", "UTF8", "--locale", "C.UTF-8"]
    subprocess.run([*made, "-D", data], check=True, stdout=subprocess.DEVNULL, **identity)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    options = ["-F", "-p", str(port), "-k", home, "-c", "listen_addresses=127.0.0.1", "-c", "shared_buffers=256MB"]
    quiet: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.STDOUT}
    server = subprocess.Popen([binaries / "postgres", "-D", data, *options], **quiet, **identity)
    try:
        url = f"postgresql://det@127.0.0.1:{port}/postgres"
        _wait(url)
        yield url
    finally:
        server.terminate()
        server.wait(60)


def _wait(url: str) -> None:
    deadline = time.monotonic() + 60
    while True:
        try:
            psycopg.connect(url, connect_timeout=2).close()
            return
        except psycopg.OperationalError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.1)


if __name__ == "__main__":
    sys.exit(main())
