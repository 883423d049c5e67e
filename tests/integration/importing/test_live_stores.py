"""Stores that others write to while they are imported: what was read comes in, what is new does not stop the import."""

import json
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from importer import Importer
from sqlalchemy import func, select

from determined.master.config import load_master_config
from determined.master.db import schema
from determined.master.importing import command, tracked_verify

STORES = Path(__file__).with_name("tracker_stores")
Import = Callable[..., tuple[list[dict[str, Any]], int]]


@pytest.fixture
def run_import(
    tmp_path: Path, sqlite_template: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Import:
    """`run_import(kind, source, meanwhile)`: import, with a call between the writing and the verification."""
    (tmp_path / "into").mkdir()
    shutil.copy(sqlite_template, tmp_path / "into" / "master.db")
    config = load_master_config({"data_dir": str(tmp_path / "into")}, {}, {})
    real = tracked_verify.problems

    def run(kind: str, source: str, meanwhile: Callable[[], None] = lambda: None) -> tuple[list[dict[str, Any]], int]:
        def problems(*arguments: Any) -> list[str]:
            meanwhile()
            return real(*arguments)

        monkeypatch.setattr(tracked_verify, "problems", problems)
        status = command.main(config, [kind, "--source", source])
        events = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
        assert status == (1 if events[-1].get("problems") else 0), events[-1]
        return events, _trials(tmp_path / "into")

    return run


def _trials(data: Path) -> int:
    count = select(func.count()).select_from(schema.trials)
    return Importer(data, None).read(lambda conn: conn.execute(count).scalar_one())


def mlflow_run(place: Path, status: int, points: int) -> Path:
    (place / "metrics").mkdir(parents=True)
    (place.parent / "meta.yaml").write_text("name: e\n")
    (place / "meta.yaml").write_text(f"run_id: {place.name}\nstatus: {status}\n")
    (place / "metrics" / "loss").write_text("".join(f"{n} 0.5 {n}\n" for n in range(points)))
    return place


def test_runs_of_mlflow_that_begin_or_go_on_meanwhile_do_not_stop_it(run_import: Import, tmp_path: Path) -> None:
    store = tmp_path / "mlruns"
    mlflow_run(store / "1" / "ended", 3, 4)
    live = mlflow_run(store / "1" / "live", 1, 2)

    def go_on() -> None:
        (live / "meta.yaml").write_text("run_id: live\nstatus: 3\n")
        with (live / "metrics" / "loss").open("a") as file:
            file.write("9 0.1 9\n")
        mlflow_run(store / "1" / "new", 3, 3)

    events, trials = run_import("mlflow", str(store), go_on)
    assert (events[-1]["problems"], trials) == ([], 2)
    events, trials = run_import("mlflow", str(store))
    assert (events[0]["counts"], trials) == ({"experiments": 1, "trials": 1}, 3)


def test_a_run_that_had_ended_and_is_another_at_the_verification_is_named(run_import: Import, tmp_path: Path) -> None:
    ended = mlflow_run(tmp_path / "mlruns" / "1" / "ended", 3, 4)

    def cut() -> None:
        (ended / "metrics" / "loss").write_text("0 0.5 0\n")

    events, _ = run_import("mlflow", str(tmp_path / "mlruns"), cut)
    assert events[-1]["problems"] == ["trial 1, training: 1 points, here 4"]


def test_trials_of_optuna_that_begin_meanwhile_are_for_the_next_import(run_import: Import, tmp_path: Path) -> None:
    study = shutil.copy(STORES / "optuna" / "study.db", tmp_path / "study.db")

    def ask() -> None:
        with closing(sqlite3.connect(study, isolation_level=None)) as database:
            database.execute("INSERT INTO trials (study_id, number, state) VALUES (1, 99, 'RUNNING')")

    events, trials = run_import("optuna", f"sqlite:///{study}", ask)
    assert (events[-1]["problems"], trials) == ([], 7)
    _, trials = run_import("optuna", f"sqlite:///{study}")
    assert trials == 8
