"""The web page's table over 10,000 trials: search, sort, filter, group, columns, bulk verbs; a real master on SQLite.

    python benchmarks/table.py [--quick] [--only WORDS]

The rows are written into the database before the master starts: 100 experiments, 100 trials each,
30 metrics and 10 hyperparameters each.
"""

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import machine
import rows as stored
import table_plain_sql as plain_sql
from ingest import Master, running_master


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
    parser.add_argument("--only", metavar="WORDS", default="", help="the calls whose names contain this; no bulk verbs")
    options = parser.parse_args()
    number, calls = (4, 3) if options.quick else (100, 30)
    with tempfile.TemporaryDirectory(prefix="det-table-") as folder:
        stored.fill(Path(folder) / "data", number).dispose()
        with running_master(Path(folder)) as master:
            rows = [measure(master, case, calls) for case in _cases() if options.only in case.what]
            beside = plain_sql.measure(master, Path(folder) / "data" / "master.db", calls)
            rows += bulk(master) if not options.only else []
    print(f"The table over {number * stored.PER_EXPERIMENT:,} trials of {number} experiments, pages of 60.\n")
    print(machine.table(["call", "p50 ms", "p95 ms", "CPU ms", "hold", ""], rows))
    times = f"<= {plain_sql.TIMES:.0f}"
    print(f"\n{machine.table(['', 'p50 ms', 'CPU ms', 'times its plain SQL, in CPU time', times], beside)}")
    return 0 if options.quick or not any("missed" in row[-1] for row in (*rows, *beside)) else 1


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
    """Change every run that matches a filter, once there and once back."""
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
    def runs(what: str, hold: float = 200, **body: Any) -> Case:
        return Case(what, "POST", "/api/v1/runs", {"projectId": 1, "limit": 60, **body}, hold)

    yield runs("newest runs")
    for column in ("validation.metric_1.last", "validation.metric_1.mean", "hp.lr", "hp.optimizer", "hp.net.width"):
        yield runs(f"sorted by {column}", sort=f"{column}=desc")
    yield runs("the last page, sorted by a metric", sort="validation.metric_1.last=asc", offset=9900)
    yield runs("filtered by a metric and a hyperparameter", filter=_filter(), sort="validation.metric_1.last=asc")
    yield runs("grouped by a hyperparameter, one metric", 200, groupBy=["hp.optimizer"])
    five = [f"{group}.{name}.last" for group, name in stored.METRICS[:5]]
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


if __name__ == "__main__":
    sys.exit(main())
