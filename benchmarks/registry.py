"""The model registry over 10,000 models of 20 versions: lists of our master on SQLite, and of MLflow's server.

    python benchmarks/registry.py [--quick] [--mlflow-python PYTHON]

The rows are written into both databases before the servers start. Calls are made one after the other over HTTP.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from sqlalchemy import Connection, Engine, insert

import machine
import peers
import rows as stored
from determined.master.db import dialects
from determined.master.db.schema import checkpoints, model_aliases, model_versions, models, workspaces
from ingest import Master, running_master

HOLD_MS = 100.0
VERSIONS = 20
_PLACES = 20
_LABELS = 50


@dataclass(frozen=True)
class Case:
    what: str
    path: str
    peer: str = ""  # the call of registry_mlflow.py that does the same


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="see that it works: 200 models, three calls each")
    parser.add_argument("--mlflow-python", metavar="PYTHON", help="a python that has MLflow; installed by default")
    options = parser.parse_args()
    number, calls = (200, 3) if options.quick else (10_000, 30)
    with tempfile.TemporaryDirectory(prefix="det-registry-") as folder:
        engine = stored.fill(Path(folder) / "data", 1)
        fill(engine, number)
        engine.dispose()
        with running_master(Path(folder)) as master:
            ours = {case.what: measure(master, case, calls) for case in _cases(number)}
    theirs = _mlflow(options.mlflow_python or peers.peers_python(), number, calls)
    print(f"Lists of {number:,} models with {VERSIONS} versions each, pages of 100. MLflow {theirs['version']}.\n")
    rows = [_row(case, ours[case.what], theirs) for case in _cases(number)]
    print(machine.table(["call", "p50 ms", "p95 ms", "hold", "", "MLflow p50 ms", "MLflow p95 ms"], rows))
    return 0 if options.quick or not any("missed" in row[4] for row in rows) else 1


def measure(master: Master, case: Case, calls: int) -> list[float]:
    master.get(case.path)
    took = []
    for _ in range(calls):
        begin = time.perf_counter()
        master.get(case.path)
        took.append((time.perf_counter() - begin) * 1000)
    return took


def fill(engine: Engine, number: int) -> None:
    """Write models, versions and aliases as the registry would have left them."""
    with engine.connect() as conn:
        dialects.begin_write(conn)
        _places_and_checkpoint(conn)
        for first in range(1, number + 1, 500):
            some = range(first, min(first + 500, number + 1))
            conn.execute(insert(models), [_model(n) for n in some])
            conn.execute(insert(model_versions), [_version(n, v) for n in some for v in range(1, VERSIONS + 1)])
            conn.execute(insert(model_aliases), [_alias(n) for n in some])
        conn.commit()


def _places_and_checkpoint(conn: Connection) -> None:
    made = [{"name": f"team {n}", "user_id": 1, "created_at": stored.BEGIN} for n in range(_PLACES)]
    conn.execute(insert(workspaces), made)
    own = {"uuid": "c", "task_id": "1.r1", "trial_id": 1, "experiment_id": 1, "run_id": 1, "state": "COMPLETED"}
    files = {"steps_completed": 1, "metadata": {"steps_completed": 1}, "resources": {"w": 1}, "size": 1}
    conn.execute(insert(checkpoints), own | files | {"report_time": stored.BEGIN})


def _model(n: int) -> dict[str, object]:
    texts = {"name": f"model {n} of team {n % _PLACES}", "description": f"a description {n % 97}", "notes": "n" * 200}
    times = {"created_at": stored.BEGIN, "updated_at": stored.BEGIN + timedelta(seconds=n * 7919 % 100_003)}
    owner = {"user_id": 1, "workspace_id": 1 + n % _PLACES, "last_version": VERSIONS, "num_versions": VERSIONS}
    return {"id": n, **texts, **times, **owner, "metadata": {"rank": n}, "labels": [f"label{n % _LABELS}"]}


def _version(n: int, version: int) -> dict[str, object]:
    own = {"model_id": n, "version": version, "checkpoint_uuid": "c", "user_id": 1, "metadata": {}, "labels": []}
    return own | {"created_at": stored.BEGIN, "updated_at": stored.BEGIN, "name": f"v{version}"}


def _alias(n: int) -> dict[str, object]:
    return {"model_id": n, "alias": "production", "version": 3, "user_id": 1, "set_at": stored.BEGIN}


def _cases(number: int) -> list[Case]:
    last, one = number - 100, number // 2
    page, newest = "/api/v1/models?limit=100", "sortBy=SORT_BY_LAST_UPDATED_TIME&orderBy=ORDER_BY_DESC"
    versions = f"/api/v1/models/{one}/versions"
    return [
        Case("first page by name", f"{page}&sortBy=SORT_BY_NAME", "by_name"),
        Case("last changed first", f"{page}&{newest}", "newest"),
        Case("last page by name", f"{page}&sortBy=SORT_BY_NAME&offset={last}"),
        Case("part of a name", f"{page}&name=77", "part_of_name"),
        Case("a label", f"{page}&labels=label7", "tag"),
        Case(
            "two workspaces, by number of versions", f"{page}&workspaceIds=2&workspaceIds=3&sortBy=SORT_BY_NUM_VERSIONS"
        ),
        Case("labels by popularity", "/api/v1/model/labels"),
        Case("versions of a model", f"{versions}?limit=100", "versions"),
        Case("a version by its alias", f"{versions}/production", "alias"),
    ]


def _row(case: Case, took: list[float], theirs: dict[str, object]) -> list[str]:
    p95 = machine.quantile(took, 0.95)
    shown = [f"{machine.median(took):.0f}", f"{p95:.0f}", f"{HOLD_MS:.0f}", machine.held(p95, HOLD_MS)]
    peer = theirs.get(case.peer)
    if not isinstance(peer, list):
        return [case.what, *shown, "", ""]
    return [case.what, *shown, f"{machine.median(peer):.0f}", f"{machine.quantile(peer, 0.95):.0f}"]


def _mlflow(python: str, number: int, calls: int) -> dict[str, object]:
    script = str(Path(__file__).with_name("registry_mlflow.py"))
    with tempfile.TemporaryDirectory(prefix="det-registry-") as folder:
        done = subprocess.run(
            [python, script, folder, str(number), str(VERSIONS), str(calls)],
            env=peers.environment(), stdout=subprocess.PIPE, text=True, check=True,
        )  # fmt: skip
    answer: dict[str, object] = json.loads(done.stdout.splitlines()[-1])
    return answer


if __name__ == "__main__":
    sys.exit(main())
