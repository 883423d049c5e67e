"""Stores of MLflow, W&B, TensorBoard and Optuna come in: once, after a kill, again with new runs; an abort, the API."""

import json
import os
import shutil
import signal
import sqlite3
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from importer import Importer
from sqlalchemy import Connection, func, select
from sqlalchemy.exc import OperationalError

from determined.master.db import schema
from determined.master.db.queries import import_unit, imported

STORES = Path(__file__).with_name("tracker_stores")
SOURCES = {
    "mlflow": str(STORES / "mlflow" / "mlruns"),
    "wandb": str(STORES / "wandb"),
    "tensorboard": str(STORES / "tensorboard"),
    "optuna": f"sqlite:///{STORES / 'optuna' / 'study.db'}",
}
COUNTS = {"mlflow": (4, 5), "wandb": (2, 3), "tensorboard": (1, 2), "optuna": (2, 7)}  # experiments and trials
_TABLES = ("experiments", "trials", "tasks", "jobs", "metric_chunks", "metric_summaries", "metric_ranges", "projects")


def counts(conn: Connection) -> dict[str, int]:
    found = {name: schema.metadata.tables[name] for name in _TABLES}
    return {name: conn.execute(select(func.count()).select_from(table)).scalar_one() for name, table in found.items()}


def metrics(conn: Connection) -> list[Any]:
    c = schema.metric_summaries.c
    return sorted(tuple(row) for row in conn.execute(select(c.group, c.name, c.count, c.sum, c.min, c.max)))


@pytest.fixture(params=SOURCES)
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_a_store_comes_in_once(importer: Importer, kind: str) -> None:
    importer.kind = kind
    dry = importer.run("--source", SOURCES[kind], "--dry-run")
    survey = dry[0]["counts"]
    assert (survey["experiments"], survey["trials"]) == COUNTS[kind]
    assert importer.read(counts)["experiments"] == 0, "a dry run writes nothing"
    assert "Nothing was written." in Path(dry[-1]["files"][0]).read_text()
    events = importer.run("--source", SOURCES[kind])
    assert events[-1]["problems"] == []
    first = importer.read(counts)
    assert (first["experiments"], first["trials"], first["tasks"]) == (*COUNTS[kind], COUNTS[kind][1])
    report = json.loads(next(Path(path) for path in events[-1]["files"] if path.endswith("json")).read_text())
    assert report["taken"]["trials"] == COUNTS[kind][1]
    again = importer.run("--source", SOURCES[kind])
    assert again[0]["counts"] == {"experiments": 0, "trials": 0}
    known = again[0]["notes"].pop("known")
    assert (known["text"], known["count"]) == (
        "Runs that are here already: of an earlier import.",
        COUNTS[kind][1],
    )
    assert again[0]["notes"].keys() <= {"mlflow_models"}, "what is known is not told again"
    assert importer.read(counts) == first


def test_a_store_without_runs_is_told(sqlite_importer: Importer, tmp_path: Path) -> None:
    sqlite_importer.kind = "mlflow"
    (tmp_path / "1").mkdir()
    (tmp_path / "1" / "meta.yaml").write_text("name: e\n")
    events = sqlite_importer.run("--source", str(tmp_path))
    assert events[0]["notes"]["empty"]["examples"] == [str(tmp_path)]
    assert "hold no runs" in Path(events[-1]["files"][0]).read_text()


@pytest.mark.parametrize(
    ("kind", "names"), [("tensorboard", "val/loss, train/loss"), ("wandb", "val/acc, "), ("mlflow", "val")]
)
def test_a_metric_that_no_run_has_is_told(sqlite_importer: Importer, kind: str, names: str) -> None:
    sqlite_importer.kind = kind
    events = sqlite_importer.run("--source", SOURCES[kind], "--metric", "nope", "--dry-run")
    (told,) = events[0]["notes"]["metric"]["examples"]
    assert told.startswith(f"no run has a metric 'nope'; there are: {names}")
    assert told in Path(events[-1]["files"][0]).read_text()
    first = told.partition("there are: ")[2].partition(",")[0]
    assert "metric" not in sqlite_importer.run("--source", SOURCES[kind], "--metric", first, "--dry-run")[0]["notes"]


def test_new_runs_of_a_known_store_come_later(sqlite_importer: Importer, tmp_path: Path) -> None:
    sqlite_importer.kind = "tensorboard"
    store = tmp_path / "runs"
    shutil.copytree(STORES / "tensorboard" / "sweep" / "lr=0.1", store / "sweep" / "a")
    sqlite_importer.run("--source", str(store))
    shutil.copytree(STORES / "tensorboard" / "sweep" / "lr=0.01", store / "sweep" / "b")
    survey = sqlite_importer.run("--source", str(store))[0]
    assert (survey["counts"], survey["known_trials"]) == ({"experiments": 0, "trials": 1}, 1)
    assert sqlite_importer.read(counts)["trials"] == 2


def test_names_of_files_that_are_no_text_do_not_stop_it(sqlite_importer: Importer, tmp_path: Path) -> None:
    sqlite_importer.kind = "tensorboard"
    store = tmp_path / os.fsdecode(b"runs\xff")
    shutil.copytree(STORES / "tensorboard" / "sweep" / "lr=0.1", store / "sweep" / os.fsdecode(b"a\xff"))
    shutil.copytree(STORES / "tensorboard" / "sweep" / "lr=0.01", store / "sweep" / "b")
    damaged = store / "sweep" / "b" / os.fsdecode(b"tfevents.\xff")
    damaged.write_bytes(b"\xff" * 100)
    events = sqlite_importer.run("--source", str(store))
    assert (events[0]["counts"], events[-1]["problems"]) == ({"experiments": 1, "trials": 2}, [])
    again = sqlite_importer.run("--source", str(store))[0]
    assert (again["counts"], again["known_trials"]) == ({"experiments": 0, "trials": 0}, 2)


def test_steps_that_no_run_here_can_have_are_left_out_and_told(sqlite_importer: Importer, tmp_path: Path) -> None:
    sqlite_importer.kind = "mlflow"
    run = tmp_path / "mlruns" / "1" / "r"
    (run / "metrics").mkdir(parents=True)
    (run.parent / "meta.yaml").write_text("name: e\n")
    (run / "meta.yaml").write_text("run_id: r\nstatus: 3\n")
    (run / "metrics" / "loss").write_text(f"1 0.5 -1\n2 0.25 0\n3 0.125 {2**62}\n")
    events = sqlite_importer.run("--source", str(tmp_path / "mlruns"))
    assert events[-1]["problems"] == []
    c = schema.metric_watermarks.c
    marks = sqlite_importer.read(lambda conn: conn.execute(select(c.first_step, c.last_step)).all())
    assert [tuple(mark) for mark in marks] == [(0, 0)]
    report = json.loads(next(Path(path) for path in events[-1]["files"] if path.endswith("json")).read_text())
    examples = ["run r, training, step -1", f"run r, training, step {2**62}"]
    told = report["notes"]["steps"]
    assert (told["count"], told["examples"]) == (2, examples)


def test_an_id_that_comes_again_is_left_out_and_told(sqlite_importer: Importer, tmp_path: Path) -> None:
    sqlite_importer.kind = "mlflow"
    for experiment in ("1", "2"):  # somebody has copied a run from one experiment to another
        run = tmp_path / "mlruns" / experiment / "r"
        run.mkdir(parents=True)
        (run.parent / "meta.yaml").write_text(f"name: e{experiment}\n")
        (run / "meta.yaml").write_text("run_id: r\nstatus: 3\n")
    events = sqlite_importer.run("--source", str(tmp_path / "mlruns"))
    assert events[0]["counts"] == {"experiments": 1, "trials": 1}
    told = events[0]["notes"]["repeated"]
    assert (told["count"], told["examples"]) == (1, ["r"])
    assert events[-1]["problems"] == []
    sqlite_importer.kind = "optuna"
    study = shutil.copy(STORES / "optuna" / "study.db", tmp_path / "study.db")
    with sqlite3.connect(study) as conn:  # as old versions of Optuna numbered trials of several processes
        conn.execute("UPDATE trials SET number = 0 WHERE number = 1 AND study_id = 1")
    events = sqlite_importer.run("--source", f"sqlite:///{study}")
    assert (events[0]["counts"]["trials"], events[-1]["problems"]) == (COUNTS["optuna"][1] - 1, [])


def test_an_import_ends_quietly_when_nobody_listens(sqlite_importer: Importer) -> None:
    """As in `det master import optuna --dry-run | head -1`; the next run goes on."""
    sqlite_importer.kind = "optuna"
    command = sqlite_importer.command("--source", SOURCES["optuna"])
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 1
    assert sqlite_importer.run("--source", SOURCES["optuna"])[-1]["problems"] == []


def many_studies(path: Path, trials: int) -> str:
    """A copy of the storage whose first study has many trials."""
    shutil.copy(STORES / "optuna" / "study.db", path)
    with sqlite3.connect(path) as conn:
        for number in range(10, 10 + trials):
            conn.execute(
                "INSERT INTO trials (trial_id, number, study_id, state, datetime_start, datetime_complete) "
                "VALUES (?, ?, 1, 'COMPLETE', '2026-01-01 00:00:00', '2026-01-01 00:01:00')",
                (number + 1000, number),
            )
            rows = [(number + 1000, step, step / number) for step in range(50)]
            conn.executemany(
                "INSERT INTO trial_intermediate_values (trial_id, step, intermediate_value, intermediate_value_type) "
                "VALUES (?, ?, ?, 'FINITE')",
                rows,
            )
    return f"sqlite:///{path}"


@pytest.mark.parametrize("after", [1, 5, 20])
def test_a_killed_import_goes_on(sqlite_importer: Importer, tmp_path: Path, after: int) -> None:
    source = many_studies(tmp_path / "many.db", 1000)
    whole = Importer(tmp_path / "whole", None, "optuna")
    whole.run("--source", source)
    sqlite_importer.kind = "optuna"
    _kill_after(sqlite_importer, source, after)
    unfinished = sqlite_importer.read(counts)
    other = sqlite_importer.run("--source", SOURCES["optuna"], status=1)
    assert (
        "is unfinished; repeat it, or remove what it stored: det master import optuna --abort" in other[-1]["message"]
    )
    events = sqlite_importer.run("--source", source)
    assert events[-1]["problems"] == []
    assert unfinished["trials"] < 1005
    assert sqlite_importer.read(counts) == whole.read(counts)
    assert sqlite_importer.read(metrics) == whole.read(metrics)


def test_abort_leaves_nothing_but_what_was_there(sqlite_importer: Importer, tmp_path: Path) -> None:
    sqlite_importer.kind = "optuna"
    source = many_studies(tmp_path / "many.db", 20)
    sqlite_importer.run("--source", source)
    before, ranges = sqlite_importer.read(counts), sqlite_importer.read(_ranges)
    many_studies(tmp_path / "many.db", 1000)
    _kill_after(sqlite_importer, source, 2)
    assert sqlite_importer.read(counts) != before
    sqlite_importer.run("--abort")
    assert sqlite_importer.read(counts) == before
    assert sqlite_importer.read(_ranges) == ranges
    assert sqlite_importer.read(import_unit.running) is None


def test_an_owner_who_is_not_there_is_refused(sqlite_importer: Importer) -> None:
    sqlite_importer.kind = "wandb"
    events = sqlite_importer.run("--source", SOURCES["wandb"], "--user", "nobody", status=1)
    assert "--user 'nobody' does not exist" in events[-1]["message"]


def test_the_master_serves_what_came_in(start_master: Callable[..., Any], sqlite_importer: Importer, kind: str) -> None:
    sqlite_importer.kind = kind
    sqlite_importer.run("--source", SOURCES[kind], "--workspace", "Old runs", "--user", "admin")
    master = start_master(data_dir=sqlite_importer.data)
    admin = master.client("admin", (sqlite_importer.data / "initial-password").read_text().strip())
    listed = admin.get("/api/v1/experiments").json["experiments"]
    assert len(listed) == COUNTS[kind][0]
    for experiment in listed:
        found = admin.get(f"/api/v1/experiments/{experiment['id']}").json["experiment"]
        assert (found["workspaceName"], found["unmanaged"]) == ("Old runs", True)
        for trial in admin.get(f"/api/v1/experiments/{experiment['id']}/trials").json["trials"]:
            assert admin.get(f"/api/v1/trials/{trial['id']}").status == 200
            assert admin.get(f"/api/v1/trials/{trial['id']}/logs").status == 200
    assert len(admin.post("/api/v1/runs", {"limit": 100}).json["runs"]) == COUNTS[kind][1]


def _ranges(conn: Connection) -> list[Any]:
    return sorted(tuple(row) for row in conn.execute(select(schema.metric_ranges)))


def _kill_after(importer: Importer, source: str, units: int) -> None:
    """Kill an import when it has stored that many units, beside the one with which it begins."""
    before = _units(importer)
    process = importer.start("--source", source)
    while _units(importer) <= before + units:
        assert process.poll() is None, "the import has ended before it could be killed"
    process.send_signal(signal.SIGKILL)
    process.wait()


def _units(importer: Importer) -> int:
    try:
        return importer.read(lambda conn: imported.count(conn, "import_units"))
    except OperationalError:  # nothing has been made yet
        return 0
