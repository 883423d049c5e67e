"""A database full of trials, as a master would have left it: 100 trials an experiment, 40 columns each.

Rows go straight into the tables (10,000 trials over the API would take an hour); curves go through the code that stores
reports.
"""

import random
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, Table, func, insert, select

from determined.master.db import dialects, migrate
from determined.master.db.queries import metric, metric_trial
from determined.master.db.schema import experiments, jobs, metric_ranges, metric_summaries, trials
from determined.master.services import bootstrap
from determined.wire.report import MetricReport

PER_EXPERIMENT = 100
METRICS = [("validation" if n % 2 else "training", f"metric_{n}") for n in range(30)]
HPARAMS = ["lr", "optimizer", "net.width", "net.depth", "augment", *(f"knob_{n}" for n in range(5))]
BEGIN = datetime(2026, 1, 1, tzinfo=UTC)
_REPORTS_A_TURN = 10_000


def fill(data: Path, number: int) -> Engine:
    """A database with `number` ended experiments; whoever asked disposes of the engine before a master starts."""
    data.mkdir(mode=0o700, parents=True)
    engine = dialects.create_engine(f"sqlite:///{data / 'master.db'}")
    migrate.upgrade(engine)
    rng = random.Random(1)
    with engine.connect() as conn:
        dialects.begin_write(conn)
        bootstrap.populate(conn, BEGIN, bootstrap.first_password(""))
        for table, make in _ROWS.items():
            for n in range(1, number + 1):
                conn.execute(insert(table), make(n, rng))
        _add_ranges(conn)
        conn.commit()
    return engine


def report(engine: Engine, trial_id: int, points: Iterable[dict[str, float]]) -> None:
    """Training metrics of one trial, a step each, as its reports would have been stored."""
    with engine.connect() as conn:
        dialects.begin_write(conn)
        _append(conn, trial_id, iter(points))
        conn.commit()


def _append(conn: Connection, trial_id: int, points: Iterator[dict[str, float]]) -> None:
    who, step, begin = metric_trial.reporter(conn, trial_id), 0, BEGIN.timestamp()
    while turn := list(islice(points, _REPORTS_A_TURN)):
        made = [MetricReport("training", step + i + 1, values, begin + step + i) for i, values in enumerate(turn)]
        metric.append_reports(conn, who, made)
        step += len(turn)


def _add_ranges(conn: Connection) -> None:
    m, key = metric_summaries.c, trials.c.experiment_id
    ranges = select(key, m.group, m.name, func.min(m.min), func.max(m.max)).join(trials, trials.c.id == m.trial_id)
    columns = ["experiment_id", "group", "name", "min", "max"]
    conn.execute(insert(metric_ranges).from_select(columns, ranges.group_by(key, m.group, m.name)))


def _job(n: int, _rng: random.Random) -> list[dict[str, Any]]:
    own = {"id": f"job-{n}", "type": "EXPERIMENT", "owner_id": 1, "workspace_id": 1, "pool": "default"}
    return [own | {"priority": 42, "weight": 1.0, "submitted_at": BEGIN, "position": float(n)}]


def _experiment(n: int, _rng: random.Random) -> list[dict[str, Any]]:
    config = {"name": f"experiment {n}", "searcher": {"name": "random", "metric": "metric_1"}, "padding": "x" * 3000}
    own = {"id": n, "job_id": f"job-{n}", "project_id": 1, "owner_id": 1, "state": "COMPLETED", "config": config}
    return [own | {"name": f"experiment {n}", "labels": [f"label{n % 7}"], "original_config": "", "generation": "late",
                   "searcher_metric": "metric_1", "start_time": BEGIN, "end_time": BEGIN}]  # fmt: skip


def _trials(n: int, rng: random.Random) -> list[dict[str, Any]]:
    return [_trial(n, number, rng) for number in _numbers(n)]


def _trial(experiment: int, n: int, rng: random.Random) -> dict[str, Any]:
    hparams = {
        "lr": 10 ** rng.uniform(-5, -1),
        "optimizer": rng.choice(["adam", "sgd", "lamb"]),
        "net": {"width": rng.choice([32, 64, 128]), "depth": rng.randint(1, 9)},
        "augment": rng.random() < 0.5,
        **{f"knob_{k}": rng.random() for k in range(5)},
    }
    begin = BEGIN + timedelta(seconds=n)
    times = {"start_time": begin, "end_time": begin + timedelta(seconds=rng.randint(10, 9999))}
    own = {"id": n, "experiment_id": experiment, "request_id": f"r{n}", "task_id": f"{experiment}.r{n}", "seed": 1}
    state = {"state": rng.choice(["COMPLETED", "ERROR"]), "exit_reported": True, "best_validation_value": rng.random()}
    return own | times | state | {"hparams": hparams}


def _summaries(n: int, rng: random.Random) -> list[dict[str, Any]]:
    made = []
    for number in _numbers(n):
        for group, name in METRICS:
            value = rng.random()
            own = {"trial_id": number, "group": group, "name": name, "type": "number", "last_step": 100}
            made.append(own | {"count": 10, "sum": value * 10, "min": value, "max": value + 1, "last": value})
    return made


def _numbers(experiment: int) -> range:
    return range((experiment - 1) * PER_EXPERIMENT + 1, experiment * PER_EXPERIMENT + 1)


_ROWS: dict[Table, Callable[[int, random.Random], list[dict[str, Any]]]] = {
    jobs: _job,
    experiments: _experiment,
    trials: _trials,
    metric_summaries: _summaries,
}
