"""A cluster with one of everything that a bundle holds, and everything odd about it."""

import io
import math
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, insert

from determined.config import apply_defaults, dump_yaml
from determined.master.config import load_master_config
from determined.master.db import schema
from determined.master.db.log_chunk import Origin
from determined.master.db.queries import (
    checkpoint,
    environment_lock,
    experiment,
    log,
    metric,
    metric_trial,
    project,
    storage_backend,
    trial,
    user,
    workspace,
)
from determined.master.importing.target import Target
from determined.storage.copying import hash_files
from determined.storage.manifest import MANIFEST_NAME, Entry, encode
from determined.wire.report import LogLine, MetricReport

START = datetime(2026, 3, 1, 12, 0, 0, 123_457, tzinfo=UTC)
UUIDS = [f"00000000-0000-4000-8000-00000000000{n}" for n in range(4)]
FILES = ("a/weights", "metadata.json")  # of the first checkpoint
ODD_GROUP = "a/b ü%2F"
BYTES = "bad \ufffd, \x1b[31mred\x1b[0m, \u2028, \t, 学習 🚀"


def fill(data: Path, db_url: str | None, rows: int, files: Path) -> None:
    """Fill a new cluster. `rows`: reports of the longest series; `files`: storage of its checkpoints."""
    with _opened(data, db_url) as target:
        target.write(lambda conn: _fill(conn, rows, files))


def add_groups(data: Path, trial_id: int, groups: list[str]) -> None:
    """Add a report in each of these metric groups to a trial."""

    def write(conn: Connection) -> None:
        for group in groups:
            _report(conn, trial_id, group, 1, {"x": 1.0})

    with _opened(data, None) as target:
        target.write(write)


@contextmanager
def _opened(data: Path, db_url: str | None) -> Iterator[Target]:
    raw: dict[str, Any] = {"data_dir": str(data), "security": {"initial_user_password": ""}}
    target = Target(load_master_config({**raw, **({"db": {"url": db_url}} if db_url else {})}, {}, {}))
    try:
        yield target
    finally:
        target.close()


def after(seconds: float) -> datetime:
    return START + timedelta(seconds=seconds)


def _fill(conn: Connection, rows: int, files: Path) -> None:
    alice = user.create(conn, START, {"username": "alice", "display_name": "Alice A.", "password_hash": "secret-hash"})
    room = workspace.create(conn, START, {"name": "Vision", "user_id": alice})
    place = project.create(
        conn,
        START,
        {
            "workspace_id": room,
            "user_id": 2,
            "name": "Cats / dogs",
            "key": "CAT",
            "description": "which is which",
            "notes": [{"name": "one", "contents": "text"}],
        },
    )
    _search(conn, _experiment(conn, alice, room, place, files, "search", {}), rows, files)
    _unmanaged(conn, _experiment(conn, 2, 1, 1, files, "unmanaged", {
        "state": "ACTIVE", "unmanaged": True, "external_id": "outside:1", "end_time": None, "progress": None,
    }))  # fmt: skip
    _experiment(conn, alice, room, place, files, "empty", {
        "archived": True, "parent_id": 1, "template": "gone", "error": "nothing ran", "state": "ERROR"})  # fmt: skip
    _live(conn, _experiment(conn, alice, room, place, files, "live", {"state": "PAUSED", "end_time": None}))


def _experiment(
    conn: Connection, owner: int, room: int, place: int, files: Path, name: str, values: dict[str, Any]
) -> int:
    raw = {
        "name": name,
        "entrypoint": "python3 train.py",
        "searcher": {"name": "random", "metric": "loss", "max_trials": 3, "max_length": {"batches": 10**6}},
        "hyperparameters": {
            "lr": {"type": "log", "base": 10, "minval": -5, "maxval": -0.5},
            "tiny": 1e-05,
            "text": "3",
        },
        "checkpoint_storage": {"type": "shared_fs", "host_path": str(files)},
        "environment": {"environment_variables": ["A=b"], "registry_auth": {"username": "u", "password": "hidden"}},
        "labels": ["Größe", "b"],
    }
    active = apply_defaults(raw, seed=1, name=name)
    job = {"id": f"job-of-{name}", "type": "EXPERIMENT", "owner_id": owner, "workspace_id": room, "pool": "default",
           "priority": 42, "weight": 1.0, "submitted_at": START, "position": 1.0}  # fmt: skip
    conn.execute(insert(schema.jobs), [job])
    id_ = experiment.insert_row(
        conn,
        {
            "job_id": job["id"],
            "project_id": place,
            "owner_id": owner,
            "state": "COMPLETED",
            "name": name,
            "description": "50%_off 学習",
            "notes": "line\nline",
            "labels": ["Größe", "b"],
            "config": active,
            "original_config": "# by hand\n" + dump_yaml({k: v for k, v in raw.items() if k != "environment"}),
            "generation": "classic",
            "searcher_metric": "loss",
            "smaller_is_better": True,
            "progress": 1.0,
            "start_time": START,
            "end_time": after(3600),
            **values,  # type: ignore[typeddict-item]
        },
    )
    experiment.put_model_definition(conn, id_, _code(name))
    return id_


def _code(name: str) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as archive:
        data = f"# {name}\n".encode() * 50
        info = tarfile.TarInfo("train.py")
        info.size = len(data)
        archive.addfile(info, io.BytesIO(data))
    return out.getvalue()


def _trial(conn: Connection, experiment_id: int, number: int, values: dict[str, Any]) -> int:
    task = f"{experiment_id}.request-{number}"
    made = {
        "experiment_id": experiment_id, "request_id": f"request-{number}", "task_id": task, "state": "COMPLETED",
        "hparams": {"lr": 0.1 * number, "n": 3, "whole": 3.0, "nested": {"a": [1, None, True]}}, "seed": 2**40 + number,
        "run_id": 1, "start_time": after(number), "end_time": after(1000 + number), "exit_reported": True, **values,
    }  # fmt: skip
    trial_id = trial.insert_rows(conn, [made])[made["task_id"]]  # type: ignore[list-item]
    _task(conn, experiment_id, trial_id, task, after(number), made["end_time"])
    return trial_id


def _task(conn: Connection, experiment_id: int, trial_id: int, task: str, start: datetime, end: Any) -> None:
    job_id = experiment.get(conn, experiment_id).job_id
    values = {"id": task, "type": "TRIAL", "job_id": job_id, "trial_id": trial_id, "experiment_id": experiment_id,
              "start_time": start, "end_time": end}  # fmt: skip
    conn.execute(insert(schema.tasks), [values])


def _allocation(conn: Connection, trial_id: int, task: str, run: int) -> None:
    values = {"id": f"{task}.{run}", "task_id": task, "trial_id": trial_id, "run_id": run, "state": "TERMINATED",
              "slots": 2, "pool": "default", "preemptible": True, "requested_at": after(run),
              "started_at": after(run + 1), "ended_at": after(run + 50.5),
              "exit_kind": "completed", "exit_code": 0, "drained": True}  # fmt: skip
    conn.execute(insert(schema.allocations), [values])


def _report(conn: Connection, trial_id: int, group: str, step: int | None, metrics: dict[str, Any], n: int = 0) -> None:
    reports = [MetricReport(group, step, metrics, START.timestamp() + (step or 0) + n / 7)]
    assert not metric.append_reports(conn, metric_trial.reporter(conn, trial_id), reports).rejected


def _many(conn: Connection, trial_id: int, group: str, steps: range) -> None:
    reports = [
        MetricReport(group, step, {"loss": 1 / (step + 1), "count": step}, START.timestamp() + step / 3)
        for step in steps
    ]
    assert not metric.append_reports(conn, metric_trial.reporter(conn, trial_id), reports).rejected


def _search(conn: Connection, id_: int, rows: int, files: Path) -> None:
    continued = _trial(conn, id_, 1, {"run_id": 1, "restarts": 1, "metadata": {"k": "v", "n": [1.5]}})
    _many(conn, continued, "training", range(1, 101))
    _report(conn, continued, "validation", 50, {"loss": 0.5, "acc": math.nan})
    _report(conn, continued, "gpu", None, {"node0": {"GPU-1": {"util": 3.0, "free": math.inf}}})
    _report(conn, continued, "gpu", None, {"node0": {"GPU-1": {"util": 4.0}}})
    trial.update_row(conn, continued, {"run_id": 2})
    _many(conn, continued, "training", range(60, 60 + rows))  # what run 1 has from here on is hidden
    _report(conn, continued, "gpu", None, {"node0": {"GPU-1": {"util": 5.0}}})
    second = f"{id_}.request-1-1"
    _task(conn, id_, continued, second, after(2000), after(3000))
    trial.update_row(conn, continued, {"task_id": second})
    _allocation(conn, continued, f"{id_}.request-1", 1)
    _allocation(conn, continued, second, 2)
    _logs(conn, f"{id_}.request-1", second)
    odd = _trial(conn, id_, 2, {"early_stopped": True, "early_exit": "INVALID_HP", "log_retention_days": 3})
    _odd_values(conn, odd)
    _checkpoints(conn, id_, continued, files)
    environment_lock.put(conn, START, id_, "linux-x86_64-py3.11", "numpy==2.0 \\\n  --hash=sha256:0\n")


def _odd_values(conn: Connection, trial_id: int) -> None:
    odd = {
        "nan": math.nan, "inf": math.inf, "minus": -math.inf, "int": 7, "large": 2**62, "float": 7.0, "tiny": 5e-324,
        "true": True, "text": "three", "none": None, "list": [1, 2.0, math.nan, "x"], "deep": {"a": {"b": [math.inf]}},
        "a.b/c ü": 0.1, "": 1.5,
    }  # fmt: skip
    _report(conn, trial_id, "training", 3, odd)
    _report(conn, trial_id, ODD_GROUP, 0, {"x": 1.0})
    _report(conn, trial_id, ODD_GROUP, 7, {})
    who = metric_trial.reporter(conn, trial_id)
    batches: list[dict[str, Any]] = [{"loss": 1.0}, {}, {"loss": math.nan, "n": 2}]
    metric.append_reports(conn, who, [MetricReport("training", 9, {"loss": 0.25}, START.timestamp(), batches)])
    _report(conn, trial_id, "training", 5, {"late": 1.0})


def _logs(conn: Connection, first: str, second: str) -> None:
    lines = [LogLine(f"line {n}", START.timestamp() + n / 1000, "stdout", "INFO", n % 2) for n in range(1500)]
    origin = Origin("a-1", "container-1", "node0", 0)
    log.append_mixed(conn, first, [(origin, line) for line in lines])
    odd = [LogLine(BYTES, START.timestamp(), "stderr"), LogLine("", 0.0), LogLine("no level", 1.25, "stdout", None, 3)]
    for line in odd:
        log.append_mixed(conn, second, [(Origin(None, None, None, line.rank, line.stdtype, "other"), line)])


def _checkpoints(conn: Connection, id_: int, trial_id: int, files: Path) -> None:
    storage = storage_backend.ensure(conn, {"type": "shared_fs", "host_path": str(files)})
    states = ("COMPLETED", "DELETED", "PARTIALLY_DELETED", "ERROR")
    for number, (uuid, state) in enumerate(zip(UUIDS, states, strict=True)):
        is_first = number == 0
        checkpoint.insert_row(
            conn,
            {
                "uuid": uuid, "task_id": f"{id_}.request-1",
                "allocation_id": f"{id_}.request-1.1" if is_first else None,
                "trial_id": trial_id, "experiment_id": id_, "run_id": 1, "state": state, "steps_completed": 10 * number,
                "metadata": {"steps_completed": 10 * number, "note": "x"}, "report_time": after(number),
                "resources": {"a/weights": 7, "metadata.json": 2, "a/": 0} if is_first else {},
                "size": 9 if is_first else 0, "storage_id": storage if is_first else None,
            },
        )  # fmt: skip
    (files / UUIDS[0] / "a").mkdir(parents=True)
    (files / UUIDS[0] / "a" / "weights").write_bytes(b"weights")
    (files / UUIDS[0] / "metadata.json").write_bytes(b"{}")
    paths = [files / UUIDS[0] / name for name in FILES]
    entries = [Entry(name, *digest) for name, digest in zip(FILES, hash_files(paths), strict=True)]
    (files / UUIDS[0] / MANIFEST_NAME).write_bytes(encode([*entries, Entry("a/", 0)]))
    checkpoint.refresh_trials(conn, [trial_id])


def _unmanaged(conn: Connection, id_: int) -> None:
    trial_id = _trial(conn, id_, 1, {
        "state": "ACTIVE", "external_id": "run/1", "end_time": None, "exit_reported": False, "last_activity": after(5),
    })  # fmt: skip
    _many(conn, trial_id, "training", range(10))
    _many(conn, trial_id, "validation", range(10))


def _live(conn: Connection, id_: int) -> None:
    _trial(conn, id_, 1, {"state": "PAUSED", "end_time": None, "exit_reported": False, "runner_state": "training"})
