"""A master on an imported database: old passwords log in, experiments, charts and logs are served, forks work."""

import shutil
from pathlib import Path
from typing import Any

import pytest
from importer import Importer
from upstream_filler import PASSWORDS

from conftest import Source
from determined.master.db.queries import user


@pytest.fixture(scope="module")
def imported_data(source: Source, tmp_path_factory: pytest.TempPathFactory) -> Path:
    data = tmp_path_factory.mktemp("imported") / "data"
    Importer(data, None).run("--source", source.url)
    return data


@pytest.fixture
def master(start_master: Any, sqlite_importer: Importer, imported_data: Path) -> Any:
    shutil.copytree(imported_data, sqlite_importer.data)
    return start_master(data_dir=sqlite_importer.data)


def test_old_passwords_log_in_and_are_stored_anew(master: Any, sqlite_importer: Importer) -> None:
    before = {row.username: row.password_hash for row in sqlite_importer.read(user.list_all)}
    assert str(before["alice"]).startswith("$2a$")
    refused = master.anonymous.post("/api/v1/auth/login", {"username": "alice", "password": "wrong"})
    assert refused.status == 401
    for _ in range(2):
        master.client("alice", PASSWORDS["alice"])
    after = {row.username: row.password_hash for row in sqlite_importer.read(user.list_all)}
    assert str(after["alice"]).startswith("$argon2")
    assert after["admin"] == before["admin"], "nobody has logged in as admin"
    assert master.anonymous.post("/api/v1/auth/login", {"username": "bob", "password": ""}).status == 401


def test_experiments_trials_metrics_and_logs_are_served(master: Any) -> None:
    admin = master.client("admin", PASSWORDS["admin"])
    listed = {e["id"]: e for e in admin.get("/api/v1/experiments?showArchived=true").json["experiments"]}
    assert sorted(listed) == [1, 2, 3, 4, 9, 12]
    for id_ in listed:
        assert admin.get(f"/api/v1/experiments/{id_}").status == 200
        assert admin.get(f"/api/v1/experiments/{id_}/trials").status == 200
    query = "trialIds=1&metricNames=loss&group=training&maxDatapoints=1000"
    series = admin.get(f"/api/v1/trials/time-series?{query}").json["trials"][0]["metrics"][0]["data"]
    assert len(series) == 200
    assert series[-1]["values"]["loss"] == 1 / 200
    lines = list(admin.lines("/api/v1/trials/1/logs"))
    assert len(lines) == 15
    summary = admin.get("/api/v1/trials/5").json["trial"]["summaryMetrics"]
    assert summary["avg_metrics"]["loss"]["count"] == 203


def test_new_things_get_ids_above_the_imported_ones(master: Any) -> None:
    alice = master.client("alice", PASSWORDS["alice"])
    forked = alice.post(
        "/api/v1/experiments",
        {"config": _CONFIG, "parentId": 1, "activate": False, "projectId": 2},
    )
    assert forked.status == 200, forked.message
    assert forked.json["experiment"]["id"] == 13


def test_a_continued_experiment_keeps_its_trial(master: Any) -> None:
    alice = master.client("alice", PASSWORDS["alice"])
    overrides = "resources: {resource_pool: default, slots_per_trial: 0}"
    done = alice.post("/api/v1/experiments/continue", {"id": 1, "overrideConfig": overrides})
    assert done.status == 200, done.message
    trials = alice.get("/api/v1/experiments/1/trials").json["trials"]
    assert [trial["id"] for trial in trials] == [1]


_CONFIG = """
name: fork
entrypoint: python3 train.py
searcher: {name: single, metric: loss}
hyperparameters: {}
resources: {slots_per_trial: 0}
checkpoint_storage: {type: shared_fs, host_path: /tmp}
"""
