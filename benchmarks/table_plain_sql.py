"""A page of 1,000 runs beside the plain SQL that fetches the same rows: what the master adds to its database."""

import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import machine
from ingest import Master

TIMES = 5.0
_RUNS = 1000
_SEARCH = {"projectId": 1, "limit": _RUNS}
# What an answer shows of a run, and of its metrics.
_ROWS = """
SELECT t.id, t.experiment_id, t.state, t.hparams, t.start_time, t.end_time, t.archived, t.checkpoint_count,
       t.checkpoint_size, t.best_validation_value, t.metadata, t.external_id, t.log_policy_label, e.name, e.description,
       e.progress, e.archived, e.external_id, e.parent_id, e.labels, e.unmanaged, e.owner_id, e.project_id,
       e.searcher_metric, j.pool, p.name, p.key, p.archived, w.id, w.name, w.archived
FROM trials t JOIN experiments e ON e.id = t.experiment_id JOIN jobs j ON j.id = e.job_id
JOIN projects p ON p.id = e.project_id JOIN workspaces w ON w.id = p.workspace_id
WHERE e.project_id = 1 ORDER BY t.id DESC LIMIT ?"""
_METRICS = """
SELECT trial_id, "group", name, type, count, sum, min, max, last FROM metric_summaries
WHERE trial_id IN (SELECT t.id FROM trials t JOIN experiments e ON e.id = t.experiment_id
                   WHERE e.project_id = 1 ORDER BY t.id DESC LIMIT ?)"""


def measure(master: Master, database: Path, calls: int) -> list[list[str]]:
    """Rows of a table; the last column says whether the answer costs no more than `TIMES` its plain SQL."""
    search, plain = [], []
    with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as connection:
        _search(master), _fetch(connection)
        for _ in range(calls):  # in turns, so that a busy second of the machine hits both
            search.append(_spent(lambda: _search(master), master.cpu_seconds))
            plain.append(_spent(lambda: _fetch(connection), time.process_time))
    slow, fast = _processor_ms(search), _processor_ms(plain)
    verdict = machine.held(slow / fast, TIMES)
    return [
        _row("1,000 runs in one answer", search, f"{slow / fast:.1f}", verdict),
        _row("*plain SQL that fetches the same rows*", plain, "", ""),
    ]


def _search(master: Master) -> None:
    found: dict[str, Any] = master.call("POST", "/api/v1/runs", _SEARCH)
    assert found["runs"], "the search finds nothing"


def _fetch(connection: sqlite3.Connection) -> None:
    for statement in (_ROWS, _METRICS):
        assert connection.execute(statement, [_RUNS]).fetchall(), "the statement finds nothing"


def _spent(do: Callable[[], None], clock: Callable[[], float]) -> tuple[float, float]:
    """Return seconds and processor seconds."""
    begin, before = time.perf_counter(), clock()
    do()
    return time.perf_counter() - begin, clock() - before


def _row(what: str, taken: list[tuple[float, float]], times: str, verdict: str) -> list[str]:
    wall = machine.median([seconds * 1000 for seconds, _ in taken])
    return [what, f"{wall:.0f}", f"{_processor_ms(taken):.0f}", times, verdict]


def _processor_ms(taken: list[tuple[float, float]]) -> float:
    """Return the mean of processor times: each is known to 10 ms only."""
    return sum(processor for _, processor in taken) / len(taken) * 1000
