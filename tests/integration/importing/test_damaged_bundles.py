"""Bundles whose hashes are right and whose content cannot be: refused in words that name the file."""

import json
import re
import shutil
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, select

from determined.bundle import columns, layout, tables
from determined.bundle.columns import METRICS, TRIALS
from determined.bundle.layout import JSON_LINES, Manifest
from determined.bundle.writer import BundleWriter
from determined.config import apply_defaults, dump_yaml
from determined.master.config import load_master_config
from determined.master.db import schema
from determined.master.db.queries import import_unit, imported
from determined.master.importing import command
from determined.master.importing.target import Target
from determined.wire.trial_record import SeriesRecord, TaskRecord, TrialRecord

TIME = "2026-03-01T12:00:00.123457Z"
FOLDER = "experiments/1"
TRIALS_FILE, METRICS_FILE = f"{FOLDER}/trials.jsonl.gz", f"{FOLDER}/metrics/training.jsonl.gz"
LOG_FILE = f"{FOLDER}/logs/1.r.jsonl.gz"


class Content:
    """What goes into a bundle of one experiment; a test changes some of it."""

    def __init__(self) -> None:
        config = apply_defaults({"searcher": {"name": "single", "metric": "loss"}, "entrypoint": "x"}, seed=0, name="e")
        self.users: list[Any] = [{"id": 5, "username": "carol"}]
        self.places: Any = {
            "workspaces": [{"id": 7, "name": "W", "owner": "carol"}],
            "projects": [{"id": 8, "workspace_id": 7, "name": "P", "owner": "carol", "key": "PPP"}],
        }
        self.experiment: dict[str, Any] = {
            "id": 1, "project_id": 8, "owner": "carol", "job_id": "j", "state": "COMPLETED", "name": "e",
            "start_time": TIME,
        }  # fmt: skip
        self.config = dump_yaml(config)
        self.trial = TrialRecord(
            id=3, request_id="r", task_id="1.r", state="COMPLETED", hparams={}, seed=0, run_id=1, restarts=0,
            start_time=TIME, steps_completed=2, tasks=[TaskRecord(id="1.r", start_time=TIME, log_lines=1)],
            series=[SeriesRecord(run_id=1, group="training", points=2)],
        )  # fmt: skip
        self.metrics: list[list[Any]] = [[3, 1, 1, TIME, "loss", 0.5, None], [3, 1, 2, TIME, "loss", 0.25, None]]
        self.log: list[bytes] = [b'{"time": "' + TIME.encode() + b'", "text": "line"}']
        self.checkpoints: list[Any] = []
        self.files: dict[str, bytes] = {}  # of checkpoints
        self.names: dict[str, str] = {}  # other names for files

    def write(self, path: Path) -> Path:
        with BundleWriter(path, replace=True) as out:
            documents = {
                "users.json": self.users, "places.json": self.places, f"{FOLDER}/experiment.json": self.experiment,
            }  # fmt: skip
            for name, value in documents.items():
                out.add_bytes(name, json.dumps(value).encode())
            out.add_bytes(f"{FOLDER}/config.yaml", self.config.encode())
            out.add_bytes(f"{FOLDER}/checkpoints.json", layout.lines_of(self.checkpoints))
            self._table(out, TRIALS_FILE, TRIALS, [list(columns.trial_row(self.trial).values())])
            self._table(out, METRICS_FILE, METRICS, self.metrics)
            self._lines(out, LOG_FILE)
            for name, data in self.files.items():
                out.add_bytes(name, data)
            out.finish(Manifest(layout.FORMAT, layout.VERSION, "other", "1", JSON_LINES, [1], {}, out.files))
        return path

    def _table(self, out: BundleWriter, name: str, which: Any, rows: list[list[Any]]) -> None:
        file = BytesIO()
        table = tables.JsonLines(file, which)
        for row in rows:
            table.add(row)
        table.close()
        out.add_file(self.names.get(name, name), file, unpacked=table.unpacked)

    def _lines(self, out: BundleWriter, name: str) -> None:
        file = BytesIO()
        table = tables.JsonLines(file)
        for line in self.log:
            table.add_line(line)
        table.close()
        out.add_file(self.names.get(name, name), file, unpacked=table.unpacked)


@pytest.fixture
def run(
    sqlite_template: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> Callable[..., tuple[int, list[dict[str, Any]]]]:
    """`run(content)`: status and events of an import into a new cluster, in this process."""

    def imported_by(content: Content) -> tuple[int, list[dict[str, Any]]]:
        (tmp_path / "data").mkdir(exist_ok=True)
        if not (tmp_path / "data" / "master.db").exists():
            shutil.copy(sqlite_template, tmp_path / "data" / "master.db")
        config = load_master_config({"data_dir": str(tmp_path / "data")}, {}, {})
        status = command.main(config, ["bundle", "--source", str(content.write(tmp_path / "b.tar"))])
        return status, [json.loads(line) for line in capsys.readouterr().out.splitlines()]

    return imported_by


Run = Callable[[Content], tuple[int, list[dict[str, Any]]]]


def test_the_bundle_that_the_others_damage_is_whole(run: Run, tmp_path: Path) -> None:
    status, events = run(Content())
    assert (status, events[-1].get("problems")) == (0, [])
    target = Target(load_master_config({"data_dir": str(tmp_path / "data")}, {}, {}))
    try:
        names = target.read(lambda conn: imported.existing_names(conn, "users", "username"))
        assert names["carol"] == 5, "ids are kept where they are free"
        assert target.read(import_unit.running) is None
    finally:
        target.close()


def _set(name: str, **values: Any) -> Callable[[Content], None]:
    def change(content: Content) -> None:
        found = getattr(content, name)
        for key, value in values.items():
            if isinstance(found, dict):
                found[key] = value
            else:
                setattr(found, key, value)

    return change


def _put(name: str, value: Any) -> Callable[[Content], None]:
    return lambda content: setattr(content, name, value)


UUID = "3f1d2a8e-0c1b-4f6a-8a53-d2b7c9e01f4a"
CHECKPOINT = {
    "uuid": UUID, "taskId": "1.r", "state": "COMPLETED", "stepsCompleted": 1, "metadata": {}, "resources": {},
    "size": 0, "reportTime": TIME, "trialId": 3,
}  # fmt: skip


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (_set("experiment", owner="nobody"), "experiment.json of .* names owner 'nobody'"),
        (_set("experiment", id=2), "experiment.json of .* is of experiment 2"),
        (_set("experiment", start_time="yesterday"), "'yesterday' in the bundle is no time"),
        (_put("users", [{"id": "x", "username": "carol"}]), "users.json of"),
        (_put("users", [{"id": 5, "username": "c\x1b[31m"}]), "places.json of .* names owners"),
        (_put("users", [{"id": 5, "username": "carol"}, {"id": 1, "username": "Admin"}]), "'Admin' is not written as"),
        (_put("places", {"workspaces": [], "projects": []}), "names owner 'carol' and project 8"),
        (_put("config", "a: &a [*a]"), "experiments/1/config.yaml of"),
        (_put("config", "x: " + "[" * 5000), "experiments/1/config.yaml of .*: the config is nested deeper"),
        (_set("trial", id=-1), "-1 is no id of a trial"),
        (_set("trial", id=2**70), "a number that no database takes"),
        (_set("trial", seed=2**70), "a number that no database takes|does not fit"),
        (_set("trial", task_id="of another"), "trial 3 of .* names a task that is not listed"),
        (
            _put("metrics", [[4, 1, 1, TIME, "loss", 0.5, None]]),
            "metrics/training.jsonl.gz of .*: its trial has no such",
        ),
        (_put("metrics", [[3, 1, 2, TIME, "a", 1.0, None], [3, 1, 1, TIME, "a", 1.0, None]]), "row 2: .* come after"),
        (_put("metrics", [[3, 1, -5, TIME, "a", 1.0, None]]), "row 1: step -5"),
        (_put("metrics", [[3, 1, 1, "never", "a", 1.0, None]]), "training.jsonl.gz of .*, row 1"),
        (_put("metrics", [[3, 1, 1, TIME, "a", None, None]]), "row 1: a row has neither"),
        (_put("metrics", [[3, 1, 1, TIME, "a", None, "{"]]), "training.jsonl.gz of .*, row 1"),
        (_put("metrics", [[3, 1, 1, TIME, "a", None, "[" * 100_000]]), "training.jsonl.gz of .*, row 1"),
        (_put("names", {METRICS_FILE: f"{FOLDER}/metrics/a.b.jsonl.gz"}), "metric group 'a.b' is not usable"),
        (_put("names", {LOG_FILE: f"{FOLDER}/logs/other.jsonl.gz"}), "is the log of no task of the experiment"),
        (_put("log", [b"not json"]), "logs/1.r.jsonl.gz of"),
        (_put("checkpoints", [{**CHECKPOINT, "uuid": "../../x"}]), "'../../x' is no id of a checkpoint"),
        (
            _put("checkpoints", [{**CHECKPOINT, "trialId": 9}]),
            f"checkpoint {UUID} is of trial 9, which is not in the bundle",
        ),
        (_put("checkpoints", [{**CHECKPOINT, "state": "ODD"}]), f"checkpoint {UUID}: 'ODD' is no state"),
    ],
)
def test_what_cannot_be_is_refused_and_named(run: Run, change: Callable[[Content], None], message: str) -> None:
    content = Content()
    change(content)
    status, events = run(content)
    assert status == 1
    assert events[-1]["event"] == "error", events[-1]
    assert re.search(message, events[-1]["message"]), events[-1]["message"]


def test_names_that_nobody_may_have_are_refused(run: Run) -> None:
    content = Content()
    text = json.dumps({"users": content.users, "places": content.places, "experiment": content.experiment})
    changed = json.loads(text.replace("carol", "c\\u001b[31m"))
    content.users, content.places, content.experiment = changed["users"], changed["places"], changed["experiment"]
    status, events = run(content)
    assert (status, events[-1]["event"]) == (1, "error")
    assert "is not usable" in events[-1]["message"]


def test_a_bundle_that_loses_points_does_not_verify(run: Run) -> None:
    content = Content()
    content.trial.tasks[0].log_lines = 7
    status, events = run(content)
    assert (status, events[-1]["problems"]) == (1, ["task 1.r: 7 lines, here 1"])


@pytest.mark.parametrize("name", ["weights", "other"])
def test_a_bundle_without_a_file_of_a_copied_checkpoint_does_not_verify(run: Run, name: str) -> None:
    content = Content()
    content.checkpoints = [{**CHECKPOINT, "resources": {"code/": 0, "weights": 7}, "copied": True}]
    content.files = {f"{FOLDER}/checkpoints/{UUID}/{name}": b"w" * (8 if name == "weights" else 7)}
    status, events = run(content)
    problem = f"checkpoint {UUID}: weights of 7 bytes is not in the bundle"
    assert (status, events[-1].get("problems")) == (1, [problem]), events[-1]


def test_reports_with_long_texts_are_stored_in_small_units(run: Run, tmp_path: Path) -> None:
    content = Content()
    text = json.dumps("".join(chr(97 + n % 23) for n in range(1 << 20)))
    content.metrics = [[3, 1, n, TIME, "sample", None, text] for n in range(1, 41)]
    status, events = run(content)
    assert (status, events[-1].get("problems")) == (0, [])
    progress = [event["rows"] for event in events if event["event"] == "progress" and event["step"] == "metrics"]
    target = Target(load_master_config({"data_dir": str(tmp_path / "data")}, {}, {}))
    try:
        sizes = target.read(_chunk_rows)
    finally:
        target.close()
    assert sum(sizes) == 40
    assert max(sizes) <= 5, "a chunk is read as a whole where one of its reports is shown"
    assert progress[-1] == 40


def _chunk_rows(conn: Connection) -> list[int]:
    return list(conn.execute(select(schema.metric_chunks.c.n)).scalars())
