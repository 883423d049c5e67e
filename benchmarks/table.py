"""The web page's table over 10,000 trials: search, sort, filter, group, columns, bulk verbs; a real master on SQLite.

    python benchmarks/table.py [--quick]

The rows are written into the database before the master starts: 100 experiments, 100 trials each, 12 metrics each.
"""

import argparse
import json
import random
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from sqlalchemy import Table, insert

import machine
from determined.master.db import dialects, migrate
from determined.master.db.schema import experiments, jobs, metric_summaries, trials
from determined.master.services import bootstrap
from ingest import Master, running_master

_BEGIN = datetime(2026, 1, 1, tzinfo=UTC)
_METRICS = [("validation" if n % 2 else "training", f"metric_{n}") for n in range(12)]
_PER_EXPERIMENT = 100


@dataclass(frozen=True)
class Case:
    what: str
    method: str
    path: str
    body: dict[str, Any] | None
    hold_ms: float


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="see that it works: 400 trials, three calls each")
    options = parser.parse_args()
    number, calls = (4, 3) if options.quick else (100, 30)
    with tempfile.TemporaryDirectory(prefix="det-table-") as folder:
        fill(Path(folder) / "data", number)
        with running_master(Path(folder)) as master:
            rows = [measure(master, case, calls) for case in _cases()]
            rows += bulk(master)
    print(f"The table over {number * _PER_EXPERIMENT:,} trials of {number} experiments, pages of 60.\n")
    print(machine.table(["call", "p50 ms", "p95 ms", "CPU ms", "hold", ""], rows))
    return 0 if options.quick or not any("missed" in row[-1] for row in rows) else 1


def measure(master: Master, case: Case, calls: int) -> list[str]:
    master.call(case.method, case.path, case.body)
    took, before = [], master.cpu_seconds()
    for _ in range(calls):
        begin = time.perf_counter()
        master.call(case.method, case.path, case.body)
        took.append((time.perf_counter() - begin) * 1000)
    cpu = (master.cpu_seconds() - before) * 1000 / calls
    p95 = machine.quantile(took, 0.95)
    shown = [f"{machine.median(took):.0f}", f"{p95:.0f}", f"{cpu:.0f}"]
    return [case.what, *shown, f"{case.hold_ms:.0f}", machine.held(p95, case.hold_ms)]


def bulk(master: Master) -> list[list[str]]:
    """Every run that matches a filter, once there and once back."""
    rows = []
    whole = json.dumps({"filterGroup": {"children": []}})
    for verb in ("archive", "unarchive"):
        begin, before = time.perf_counter(), master.cpu_seconds()
        results = master.call("POST", f"/api/v1/runs/{verb}", {"filter": whole, "projectId": 1})["results"]
        took, cpu = time.perf_counter() - begin, master.cpu_seconds() - before
        assert all(row["changed"] for row in results), f"{verb} left some as they were"
        what = f"{verb} all {len(results):,} by a filter"
        rows.append([what, f"{took * 1000:.0f}", "", f"{cpu * 1000:.0f}", "10000", machine.held(took, 10.0)])
    return rows


def _cases() -> Iterator[Case]:
    def runs(what: str, hold: float = 100, **body: Any) -> Case:
        return Case(what, "POST", "/api/v1/runs", {"projectId": 1, "limit": 60, **body}, hold)

    yield runs("newest runs")
    for column in ("validation.metric_1.last", "validation.metric_1.mean", "hp.lr", "hp.optimizer", "hp.net.width"):
        yield runs(f"sorted by {column}", sort=f"{column}=desc")
    yield runs("the last page, sorted by a metric", sort="validation.metric_1.last=asc", offset=9900)
    yield runs("filtered by a metric and a hyperparameter", filter=_filter(), sort="validation.metric_1.last=asc")
    yield runs("grouped by a hyperparameter, one metric", 200, groupBy=["hp.optimizer"])
    five = [f"{group}.{name}.last" for group, name in _METRICS[:5]]
    yield runs("grouped by two columns, five metrics", 400, groupBy=["hp.net.width", "state"], groupMetrics=five)
    columns = "/api/v1/projects/1/columns?tableType=TABLE_TYPE_RUN&values=true"
    yield Case("columns with their values", "GET", columns, None, 200)
    yield Case("ranges of metrics", "GET", "/api/v1/projects/1/experiments/metric-ranges", None, 200)
    yield Case("counts without each clause", "POST", "/api/v1/projects/1/filter-counts", {"filter": _filter()}, 200)
    yield Case("search box", "GET", "/api/v1/search?q=experiment%201", None, 100)


def _filter() -> str:
    clauses = [("validation.metric_1.last", "<", 0.5), ("hp.lr", ">", 1e-3)]
    children = [{"kind": "field", "columnName": c, "operator": o, "value": v} for c, o, v in clauses]
    return json.dumps({"filterGroup": {"conjunction": "and", "children": children}, "showArchived": True})


def fill(data: Path, number: int) -> None:
    """A database with `number` ended experiments, as a master would have left it."""
    data.mkdir(mode=0o700, parents=True)
    engine = dialects.create_engine(f"sqlite:///{data / 'master.db'}")
    migrate.upgrade(engine)
    rng = random.Random(1)
    with engine.connect() as conn:
        dialects.begin_write(conn)
        bootstrap.populate(conn, _BEGIN, bootstrap.first_password(""))
        for table, make in _ROWS.items():
            for n in range(1, number + 1):
                conn.execute(insert(table), make(n, rng))
        conn.commit()
    engine.dispose()


def _job(n: int, _rng: random.Random) -> list[dict[str, Any]]:
    own = {"id": f"job-{n}", "type": "EXPERIMENT", "owner_id": 1, "workspace_id": 1, "pool": "default"}
    return [own | {"priority": 42, "weight": 1.0, "submitted_at": _BEGIN, "position": float(n)}]


def _experiment(n: int, _rng: random.Random) -> list[dict[str, Any]]:
    config = {"name": f"experiment {n}", "searcher": {"name": "random", "metric": "metric_1"}, "padding": "x" * 3000}
    own = {"id": n, "job_id": f"job-{n}", "project_id": 1, "owner_id": 1, "state": "COMPLETED", "config": config}
    return [own | {"name": f"experiment {n}", "labels": [f"label{n % 7}"], "original_config": "", "generation": "late",
                   "searcher_metric": "metric_1", "start_time": _BEGIN, "end_time": _BEGIN}]  # fmt: skip


def _trials(n: int, rng: random.Random) -> list[dict[str, Any]]:
    return [_trial(n, number, rng) for number in _numbers(n)]


def _trial(experiment: int, n: int, rng: random.Random) -> dict[str, Any]:
    hparams = {
        "lr": 10 ** rng.uniform(-5, -1),
        "optimizer": rng.choice(["adam", "sgd", "lamb"]),
        "net": {"width": rng.choice([32, 64, 128]), "depth": rng.randint(1, 9)},
        "augment": rng.random() < 0.5,
    }
    begin = _BEGIN + timedelta(seconds=n)
    times = {"start_time": begin, "end_time": begin + timedelta(seconds=rng.randint(10, 9999))}
    own = {"id": n, "experiment_id": experiment, "request_id": f"r{n}", "task_id": f"{experiment}.r{n}", "seed": 1}
    state = {"state": rng.choice(["COMPLETED", "ERROR"]), "exit_reported": True, "best_validation_value": rng.random()}
    return own | times | state | {"hparams": hparams}


def _summaries(n: int, rng: random.Random) -> list[dict[str, Any]]:
    made = []
    for number in _numbers(n):
        for group, name in _METRICS:
            value = rng.random()
            own = {"trial_id": number, "group": group, "name": name, "type": "number", "last_step": 100}
            made.append(own | {"count": 10, "sum": value * 10, "min": value, "max": value + 1, "last": value})
    return made


def _numbers(experiment: int) -> range:
    return range((experiment - 1) * _PER_EXPERIMENT + 1, experiment * _PER_EXPERIMENT + 1)


_ROWS: dict[Table, Callable[[int, random.Random], list[dict[str, Any]]]] = {
    jobs: _job,
    experiments: _experiment,
    trials: _trials,
    metric_summaries: _summaries,
}

if __name__ == "__main__":
    sys.exit(main())
