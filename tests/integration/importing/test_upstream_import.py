"""An upstream database comes in whole: ids, states, metrics, and what becomes of every oddity."""

import json
import math
from pathlib import Path
from typing import Any

from importer import Importer
from sqlalchemy import Connection, select
from upstream_filler import CHECKPOINTS, LINES, TRIALS

from conftest import Source
from determined.master.db import schema
from determined.master.db.log_filter import LogFilter
from determined.master.db.queries import experiment, import_check, import_unit, log, metric, trial, user
from determined.master.db.queries.checkpoint import GC_FROZEN

FIRST_TASK = "1.00000000-0000-4000-8000-000000000001"


def test_every_row_comes_in_or_is_listed(importer: Importer, source: Source) -> None:
    events = importer.run("--source", source.url)
    assert events[-1]["problems"] == []
    report = next(path for path in events[-1]["files"] if path.endswith("report.json"))
    notes = {name: note["count"] for name, note in _json(report)["notes"].items()}
    assert notes == {
        "archived_metrics": source.filled.archived, "groups": 1, "access_tokens": 1, "webhooks": 2,
        "profiling": 6, "old_profiling": 2, "lost_checkpoints": 1, "cluster_admin": 1, "blank_password": 2,
        "deletion": 2, "live": 2, "config": 2, "request_id": 1, "task_id": 1, "group_name": 1, "checkpoint_active": 1,
        "log_bytes": 3, "bad_template": 1, "bad_trigger": 1, "lost_versions": 1, "lost_lineage": 1,
        "allocation_live": 1, "storage_gone": 1, "other_tasks": 3, "other_logs": 4, "namespaces": 1, "policies": 2,
        "profile_images": 1, "searches": 1, "local_ids": 7, "sessions": 2, "invalid_bindings": 1, "hardware": 1,
        "internals": 2, "roles": 1,
    }  # fmt: skip
    importer.read(lambda conn: _check(conn, source))


def test_each_bad_row_is_named_and_the_rest_comes(sqlite_importer: Importer, source: Source) -> None:
    first, *_ = CHECKPOINTS
    broken = source.copy()
    broken.execute("UPDATE raw_steps SET metrics = '[1]' WHERE trial_id = 1 AND total_batches = 10")
    broken.execute("""UPDATE raw_steps SET metrics = '{"avg_metrics": 7}' WHERE trial_id = 2 AND total_batches = 20""")
    broken.execute("UPDATE experiments SET config = '[null, {\"searcher\": 3}]' WHERE id = 1")
    broken.execute(f"UPDATE checkpoints_v2 SET storage_id = 77 WHERE uuid = '{first}'")
    events = sqlite_importer.run("--source", broken.url)
    assert events[-1]["problems"] == []
    notes = _json(next(path for path in events[-1]["files"] if path.endswith("report.json")))["notes"]
    assert notes["bad_metrics"]["count"] == 2
    for rule, place in [
        ("bad_metrics", "trial 1, training, step 10"),
        ("bad_metrics", "trial 2, training, step 20"),
        ("config", "experiment 1"),
        ("storage_gone", first),
    ]:
        assert any(place in example for example in notes[rule]["examples"]), notes[rule]
    stored = sqlite_importer.read(lambda conn: import_check.points(conn, list(TRIALS)))
    counts = {key: n for key, (n, _, _) in stored.items()}
    fewer = {(1, "training"): 1, (2, "training"): 1}
    assert counts == {key: n - fewer.get(key, 0) for key, n in source.filled.points.items()}
    assert sqlite_importer.read(lambda conn: len(list(trial.of_experiment(conn, 1)))) == 1


def _check(conn: Connection, source: Source) -> None:
    _check_people(conn)
    _check_experiments(conn)
    _check_metrics(conn, source)
    _check_files_and_logs(conn)
    assert import_unit.running(conn) is None


def _check_people(conn: Connection) -> None:
    people = {row.username: row for row in user.list_all(conn)}
    assert {name: row.id for name, row in people.items()} == {
        "admin": 1, "determined": 2, "alice": 3, "bob": 4, "carol": 5, "dave": 6,
    }  # fmt: skip
    assert people["dave"].admin
    assert not people["bob"].active
    assert people["bob"].password_hash == "!"
    assert (people["alice"].agent_user, people["alice"].agent_uid) == ("alice", 1003)
    assert ("theme", "dark", "true") in list(user.settings(conn, 3))


def _check_experiments(conn: Connection) -> None:
    rows = {id_: experiment.get(conn, id_) for id_ in (1, 2, 3, 4, 9, 12)}
    states = {id_: row.state for id_, row in rows.items()}
    assert states == {1: "COMPLETED", 2: "CANCELED", 3: "ACTIVE", 4: "ERROR", 9: "CANCELED", 12: "COMPLETED"}
    assert rows[2].notes == "was ACTIVE when imported"
    assert rows[4].generation == "classic"
    assert rows[4].original_config == "{broken: ["
    assert rows[9].searcher_metric == "validation_loss"
    assert rows[3].external_id == "job-77"
    assert {row.gc_time for row in rows.values()} == {GC_FROZEN}
    assert (rows[1].name, sorted(rows[1].labels), rows[1].best_trial_id) == ("mnist", ["old", "vision"], 1)
    code = conn.execute(select(schema.model_definitions.c.experiment_id)).scalars()
    assert sorted(code) == [1, 2, 4, 9, 12]
    fifth = trial.get(conn, 5)
    assert (fifth.run_id, fifth.restarts, fifth.seed) == (2, 1, 1005)
    assert fifth.task_id.endswith("-2"), "the last of its tasks is current"
    assert {t.state for t in trial.of_experiment(conn, 2)} == {"CANCELED", "COMPLETED"}


def _check_metrics(conn: Connection, source: Source) -> None:
    stored = {key: n for key, (n, _, _) in import_check.points(conn, list(TRIALS)).items()}
    assert stored == source.filled.points
    odd = import_check.point(conn, 3, "training", 1, 2010)
    assert odd is not None
    assert math.isnan(odd.metrics["nan"])
    assert (odd.metrics["up"], odd.metrics["down"]) == (math.inf, -math.inf)
    assert odd.metrics["nested"]["a"]["b"][0] == 1
    assert odd.metrics["huge"] == float(2**70)
    assert odd.batch_metrics is not None
    summaries = metric.summary(conn, [1, 3])
    assert summaries[1]["avg_metrics"]["loss"]["count"] == 200
    assert summaries[1]["validation_metrics"]["loss"]["min"] == 0.25
    assert summaries[3]["avg_metrics"]["mixed"]["type"] == "string"
    first = trial.get(conn, 1)
    assert (first.best_validation_step, first.best_validation_value, first.latest_validation_step) == (400, 0.75, 400)


def _check_files_and_logs(conn: Connection) -> None:
    c = schema.checkpoints.c
    states = dict([*conn.execute(select(c.uuid, c.state))])
    assert states == {u: "ERROR" if state == "ACTIVE" else state for u, (_, state, _) in CHECKPOINTS.items()}
    assert trial.get(conn, 1).latest_checkpoint == next(iter(CHECKPOINTS))
    configs = list(conn.execute(select(schema.storage_backends.c.config)).scalars())
    assert {"type": "shared_fs", "host_path": "/abs"} in configs
    page = log.read_forward(conn, FIRST_TASK, 1, LogFilter())
    texts = [record.text for record in page.records]
    assert texts[:5] == ["first line", "bad � byte and � NUL", "two", "lines", "größer 🚀"]
    assert len(texts) == 3 * (len(LINES) + 1)


def _json(path: str) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads(Path(path).read_text())
    return loaded
