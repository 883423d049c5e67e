"""Filler of a database with upstream's schema: every oddity that an import meets, and what it has to make of them."""

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import bcrypt
import psycopg

SCHEMA = Path(__file__).parent / "upstream_schema.sql"
CLUSTER_ID = "0b6cbd1c-5f5f-4a7e-9f35-2f5f4f0f8b11"
START = datetime(2024, 7, 1, 12, 0, 0, 250_000, tzinfo=UTC)
SALT = "GubPEmmotfiK9TMD6Zdw"
PASSWORDS = {"admin": "old admin password", "alice": "Zürich 7"}
NAMES = ("loss", "accuracy", "lr")


@dataclass(slots=True)
class Filled:
    """What is in the source, counted while it was written."""

    metric_rows: dict[str, int] = field(default_factory=dict)  # rows that count, by table
    points: dict[tuple[int, str], int] = field(default_factory=dict)  # by trial and group of ours
    archived: int = 0


def hashed(password: str) -> str:
    """Return what upstream stores, with a cost that a test can pay."""
    sent = hashlib.sha512((SALT + password).encode()).hexdigest()
    return bcrypt.hashpw(sent[:72].encode(), bcrypt.gensalt(4, b"2a")).decode()


def create(url: str) -> None:
    with psycopg.connect(url, autocommit=True) as conn:
        conn.execute(SCHEMA.read_text())
        conn.execute("INSERT INTO cluster_id VALUES (%s)", (CLUSTER_ID,))


def fill(url: str, rows: int = 200) -> Filled:
    """Fill an empty schema; `rows`: training metrics of each large trial."""
    filled = Filled()
    with psycopg.connect(url) as conn:
        _people(conn)
        _places(conn)
        _experiments(conn)
        _trials(conn)
        _metrics(conn, rows, filled)
        _checkpoints(conn)
        _logs(conn)
        _webhooks_and_templates(conn)
        _models(conn)
        _allocations(conn)
        _leftovers(conn)
    return filled


def config(**changes: Any) -> dict[str, Any]:
    """A complete config as 0.38 stores it."""
    whole = {
        "name": "mnist",
        "description": "digits",
        "labels": ["vision", "old"],
        "data": {},
        "debug": False,
        "workspace": "",
        "project": "",
        "entrypoint": "python3 train.py",
        "max_restarts": 5,
        "hyperparameters": {"lr": {"type": "const", "val": 0.1}, "units": {"type": "int", "minval": 1, "maxval": 9}},
        "searcher": {"name": "single", "metric": "loss", "smaller_is_better": True},
        "checkpoint_policy": "best",
        "checkpoint_storage": {
            "type": "shared_fs", "host_path": "/mnt/checkpoints", "storage_path": "determined",
            "save_experiment_best": 0, "save_trial_best": 1, "save_trial_latest": 1, "propagation": "rprivate",
            "container_path": None,
        },
        "resources": {"slots_per_trial": 1, "resource_pool": "gpus", "priority": 30, "weight": 1.0, "max_slots": None},
        "reproducibility": {"experiment_seed": 7},
        "environment": {"image": {"cpu": "ubuntu", "cuda": "ubuntu", "rocm": "ubuntu"}, "force_pull_image": False},
        "profiling": {"enabled": False},
        "integrations": None,
        "retention_policy": None,
        "preemption_timeout": 3600,
    }  # fmt: skip
    return {**whole, **changes}


def _people(conn: psycopg.Connection[Any]) -> None:
    users = [
        (1, "admin", hashed(PASSWORDS["admin"]), True, True, None, False),
        (2, "determined", None, False, True, None, False),
        (3, "alice", hashed(PASSWORDS["alice"]), False, True, "Alice", False),
        (4, "bob", "", False, False, "Bob (left)", False),
        (5, "carol", "", False, True, None, True),
        (6, "dave", None, False, True, "Dave", False),
    ]
    insert = (
        "INSERT INTO users (id, username, password_hash, admin, active, display_name, remote)"
        " VALUES (%s, %s, %s, %s, %s, %s, %s)"
    )
    conn.cursor().executemany(insert, users)
    conn.execute("INSERT INTO agent_user_groups VALUES (3, 'alice', 1003, 'staff', 50)")
    personal = [(id_, f"{id_}DeterminedPersonalGroup", id_) for id_ in range(1, 7)]
    conn.cursor().executemany("INSERT INTO groups VALUES (%s, %s, %s)", [*personal, (20, "operators", None)])
    conn.cursor().executemany(
        "INSERT INTO user_group_membership VALUES (%s, %s)", [*((id_, id_) for id_ in range(1, 7)), (6, 20)]
    )
    conn.execute("INSERT INTO role_assignment_scopes VALUES (1, NULL), (2, 2)")
    conn.execute("INSERT INTO role_assignments VALUES (20, 1, 1), (3, 5, 2)")
    conn.execute(
        "INSERT INTO user_web_settings VALUES (3, 'theme', 'dark', 'true'), (3, 'table', 'columns', '[\"id\"]')"
    )
    conn.execute("INSERT INTO user_sessions (user_id, token_type, description) VALUES (3, 'ACCESS_TOKEN', 'nightly')")


def _places(conn: psycopg.Connection[Any]) -> None:
    storage = json.dumps({"type": "s3", "bucket": "vision", "access_key": "AKIA", "secret_key": "top secret"})
    conn.cursor().executemany(
        "INSERT INTO workspaces (id, name, user_id, immutable, archived, state, checkpoint_storage_config)"
        " VALUES (%s, %s, %s, %s, %s, %s, %s)",
        [
            (1, "Uncategorized", 1, True, False, None, None),
            (2, "Vision", 3, False, False, "UNSPECIFIED", storage),
            (5, "Old", 1, False, True, "DELETE_FAILED", None),
        ],
    )
    notes = json.dumps([{"name": "read me", "contents": "# hello"}])
    conn.cursor().executemany(
        "INSERT INTO projects (id, name, workspace_id, user_id, immutable, key, notes, state)"
        " VALUES (%s, %s, %s, %s, %s, %s, %s, %s)",
        [
            (1, "Uncategorized", 1, 1, True, "UNC", None, None),
            (2, "digits", 2, 3, False, "DIG", notes, "UNSPECIFIED"),
            (7, "attic", 5, 1, False, "ATT", "[]", "DELETING"),
        ],
    )
    conn.execute("INSERT INTO workspace_pins VALUES (2, 3)")
    conn.execute("INSERT INTO rp_workspace_bindings VALUES (2, 'gpus', true), (2, 'gone', false)")
    conn.execute("INSERT INTO activity VALUES (3, 2, %s)", (START,))


def _experiments(conn: psycopg.Connection[Any]) -> None:
    random = {
        "name": "random",
        "metric": "accuracy",
        "smaller_is_better": False,
        "max_trials": 4,
        "max_concurrent_trials": 2,
    }
    classic = {"name": "single", "metric": "loss", "smaller_is_better": True, "max_length": {"batches": 1000}}
    rows = [
        (1, "COMPLETED", config(), "name: mnist\n", 3, 2, 1, False, None, False),
        (2, "ACTIVE", config(name="search", searcher=random), None, 3, 2, None, False, None, False),
        (3, "RUNNING", config(name="elsewhere", searcher={"name": "single", "metric": "loss"}), "", 4, 1, None, True,
         "job-77", False),
        (4, "ERROR", config(name="of 2022", searcher=classic, scheduling_unit=50), "{broken: [", 1, 1, 5, False, None,
         False),
        (9, "CANCELED", config(name="strange", searcher="single", max_restarts=-4), "name: strange\n", 1, 7, 9, False,
         None, True),
        (12, "COMPLETED", "not an object", None, 1, 1, None, False, None, False),
    ]  # fmt: skip
    for id_, state, active, original, owner, project, best, unmanaged, external, archived in rows:
        over = state in ("COMPLETED", "CANCELED", "ERROR")
        conn.execute("INSERT INTO jobs VALUES (%s, 'EXPERIMENT', %s, '')", (f"job-of-{id_}", owner))
        conn.execute(
            "INSERT INTO experiments (id, state, config, original_config, model_definition, start_time, end_time,"
            " owner_id, project_id, best_trial_id, unmanaged, external_experiment_id, archived, job_id,"
            " progress, parent_id) VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s)",
            (
                id_, state, json.dumps(active), original, b"" if unmanaged else b"\x1f\x8b code of %d" % id_,
                START + timedelta(days=id_), START + timedelta(days=id_, hours=5) if over else None, owner, project,
                best, unmanaged, external, archived, f"job-of-{id_}", 1.0 if over else 0.4, 1 if id_ == 2 else None,
            ),
        )  # fmt: skip


# trial: experiment, state, current run, tasks, request id
TRIALS: dict[int, tuple[int, str, int, int, bool]] = {
    1: (1, "COMPLETED", 3, 1, True),
    2: (2, "ACTIVE", 1, 1, True),
    3: (2, "COMPLETED", 1, 1, True),
    4: (3, "RUNNING", 1, 0, False),
    5: (4, "ERROR", 2, 3, True),  # continued twice
    9: (9, "CANCELED", 1, 1, True),
    10: (12, "COMPLETED", 1, 1, True),
}


def _trials(conn: psycopg.Connection[Any]) -> None:
    for id_, (experiment, state, run, tasks, managed) in TRIALS.items():
        begin = START + timedelta(days=experiment, minutes=1)
        over = state in ("COMPLETED", "CANCELED", "ERROR")
        conn.execute(
            "INSERT INTO runs (id, experiment_id, state, start_time, end_time, hparams, restart_id, restarts,"
            " total_batches, external_run_id, archived, local_id)"
            " VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s)",
            (
                id_, experiment, state, begin, begin + timedelta(hours=4) if over else None,
                json.dumps({"lr": 0.1, "nested": {"deep": [1, None]}}), run, run - 1, 100 * id_,
                None if managed else "external-1", id_ == 9, id_,
            ),
        )  # fmt: skip
        request = f"00000000-0000-4000-8000-{id_:012d}" if managed else None
        conn.execute("INSERT INTO trials_v2 VALUES (%s, %s, %s)", (id_, request, 1000 + id_))
        for number in range(tasks):
            task = f"{experiment}.{request}" + (f"-{number}" if number else "")
            start = (begin + timedelta(hours=number)).replace(tzinfo=None)
            conn.execute(
                "INSERT INTO tasks VALUES (%s, 'TRIAL', %s, %s, %s)", (task, start, start, f"job-of-{experiment}")
            )
            conn.execute("INSERT INTO run_id_task_id VALUES (%s, %s)", (id_, task))
    conn.execute("INSERT INTO runs_metadata VALUES (1, %s)", (json.dumps({"git": {"commit": "abc"}}),))


def _metrics(conn: psycopg.Connection[Any], rows: int, filled: Filled) -> None:
    with conn.cursor().copy(
        "COPY metrics (trial_id, trial_run_id, total_batches, end_time, archived, metric_group, partition_type,"
        " metrics) FROM STDIN"
    ) as copy:
        for table, group, row in _metric_rows(rows):
            copy.write_row(row)
            if row[4]:
                filled.archived += 1
            elif table:
                filled.metric_rows[table] = filled.metric_rows.get(table, 0) + 1
                filled.points[row[0], group] = filled.points.get((row[0], group), 0) + 1
    conn.execute(
        "UPDATE runs r SET searcher_metric_value = (v.metrics->'validation_metrics'->>'loss')::float8,"
        " best_validation_id = v.id, latest_validation_id = v.id FROM raw_validations v"
        " WHERE v.trial_id = r.id AND NOT v.archived AND v.total_batches ="
        " (SELECT max(total_batches) FROM raw_validations w WHERE w.trial_id = r.id AND NOT w.archived)"
    )


def _metric_rows(rows: int) -> Iterator[tuple[str, str, tuple[Any, ...]]]:
    """Yield (table, group of ours, row to copy)."""
    for trial in TRIALS:
        for step in range(1, rows + 1):
            values = {"loss": 1 / step, "accuracy": step / rows, "lr": 0.1}
            yield _row("raw_steps", "training", trial, 1, step * 10, {"avg_metrics": values, "batch_metrics": None})
    # run 2 of trial 5 goes back to step 10 * rows - 20: upstream hides what lies beyond of run 1
    body = {"avg_metrics": {"loss": 9.0}, "batch_metrics": None}
    for step in range(1, 4):
        yield _row("raw_steps", "training", 5, 1, 10 * rows + 10 * step, body, archived=True)
        yield _row("raw_steps", "training", 5, 2, 10 * rows + 10 * step, {"avg_metrics": {"loss": 0.5 / step}})
    for step, loss in enumerate((0.5, 0.25, "NaN", 0.75), start=1):
        values = {"validation_metrics": {"loss": loss, "accuracy": 0.1 * step}}
        yield _row("raw_validations", "validation", 1, 1, step * 100, values)
    odd = {
        "nan": "NaN", "up": "Infinity", "down": "-Infinity", "text": "warm", "flag": True, "nothing": None,
        "nested": {"a": {"b": [1, "NaN"]}}, "list": [1, 2.5], "huge": 2**70, "date": "2024-07-01T00:00:00Z", "whole": 3,
        "mixed": 1,
    }  # fmt: skip
    yield _row("raw_steps", "training", 3, 1, 10 * rows + 10, {"avg_metrics": odd, "batch_metrics": [{"loss": "NaN"}]})
    yield _row("raw_steps", "training", 3, 1, 10 * rows + 20, {"avg_metrics": {"mixed": "two", "nan": 1.5}})
    for step in range(3):
        yield _row(
            "generic_metrics", "infer_speed", 1, 1, step, {"avg_metrics": {"ms": 1.5 * step}}, group="infer.speed"
        )
    yield _row("generic_metrics", "late", 2, 1, 0, {"avg_metrics": {"x": -1}}, group="late")
    for number in range(3):
        body = {"node": {"GPU-1": {"gpu_util": "NaN" if number == 1 else 0.5 * number}}}
        yield _row("", "gpu", 1, 1, None, body, group="gpu", seconds=number)
    yield _row("", "gpu", 1, 2, None, {"node": {"GPU-1": {"gpu_util": 7.0}}}, group="gpu", seconds=9)
    yield _row("", "cpu", 1, 1, None, {"node": {"cpu_util_simple": 20.0}}, group="cpu")
    yield _row("", "memory", 1, 1, None, ["of another form"], group="memory")


_PARTITIONS = {"raw_steps": "TRAINING", "raw_validations": "VALIDATION", "generic_metrics": "GENERIC", "": "PROFILING"}


def _row(
    table: str,
    name: str,
    trial: int,
    run: int,
    step: int | None,
    body: Any,
    *,
    group: str | None = None,
    archived: bool = False,
    seconds: float | None = None,
) -> tuple[str, str, tuple[Any, ...]]:
    time = START + timedelta(seconds=(step or 0) / 4 if seconds is None else seconds)
    partition = _PARTITIONS[table]
    return table, name, (trial, run, step, time, archived, group or name, partition, json.dumps(body))


CHECKPOINTS = {
    "c0000000-0000-4000-8000-000000000001": (1, "COMPLETED", 1),
    "c0000000-0000-4000-8000-000000000002": (1, "DELETED", 2),
    "c0000000-0000-4000-8000-000000000003": (2, "ACTIVE", 99),  # was being written, in a storage that is gone
    "c0000000-0000-4000-8000-000000000004": (5, "COMPLETED", 3),
}


def _checkpoints(conn: psycopg.Connection[Any]) -> None:
    conn.execute(
        "INSERT INTO storage_backend_shared_fs (host_path, storage_path) VALUES ('/mnt', 'det'), ('/mnt', '/abs')"
    )
    conn.execute("INSERT INTO storage_backend_s3 (bucket, access_key, secret_key) VALUES ('b', 'AKIA', 'top secret')")
    conn.execute(
        "INSERT INTO storage_backend (id, shared_fs_id, s3_id) VALUES (1, 1, NULL), (2, NULL, 1), (3, 2, NULL)"
    )
    for number, (uuid, (trial, state, storage)) in enumerate(CHECKPOINTS.items(), start=1):
        metadata = json.dumps({"steps_completed": 100 * number, "mine": {"note": "x"}})
        conn.execute(
            "INSERT INTO checkpoints_v2 (uuid, report_time, state, resources, metadata, size, storage_id)"
            " VALUES (%s, %s, %s, %s, %s, %s, %s)",
            (uuid, START, state, json.dumps({"model.pt": 10 * number, "logs/": 0}), metadata, 10 * number, storage),
        )
        conn.execute("INSERT INTO run_checkpoints VALUES (%s, %s)", (trial, uuid))
    conn.execute(
        "INSERT INTO checkpoints_v2 (uuid, state) VALUES ('d0000000-0000-4000-8000-000000000009', 'COMPLETED')"
    )  # of no trial


LINES = (b"first line\n", b"bad \xff byte and \x00 NUL\n", b"two\nlines\n", "größer 🚀\n".encode())


def _logs(conn: psycopg.Connection[Any]) -> None:
    task = f"1.00000000-0000-4000-8000-{1:012d}"
    for number in range(3):
        for line in LINES:
            conn.execute(
                "INSERT INTO task_logs (task_id, allocation_id, agent_id, rank_id, stdtype, level, timestamp, log)"
                " VALUES (%s, %s, 'agent-1', %s, 'stderr', 'WARNING', %s, %s)",
                (task, f"{task}.1", number, START.replace(tzinfo=None), line),
            )
    conn.execute(
        "INSERT INTO trial_logs (trial_id, message, timestamp) VALUES (9, %s, %s)",
        (b"[2021-03-01T00:00:00Z] abcdef [rank=3] || ERROR: old words\n", START.replace(tzinfo=None)),
    )


def _webhooks_and_templates(conn: psycopg.Connection[Any]) -> None:
    conn.execute("INSERT INTO templates VALUES ('gpu-defaults', '{\"resources\": {\"slots_per_trial\": 8}}', 2)")
    conn.execute("INSERT INTO templates VALUES ('broken', '\"no object\"', NULL)")
    conn.execute(
        "INSERT INTO webhooks VALUES (1, 'https://hooks.example/abc', 'SLACK', NULL, 'ended', 'WORKSPACE'),"
        " (4, 'https://hooks.example/def', 'DEFAULT', 2, 'alerts', 'SPECIFIC')"
    )
    conn.execute(
        "INSERT INTO webhook_triggers (webhook_id, trigger_type, condition) VALUES"
        " (1, 'EXPERIMENT_STATE_CHANGE', '{\"state\": \"COMPLETED\"}'),"
        " (4, 'TASK_LOG', '{\"regex\": \"out of mem.*\"}'),"
        " (4, 'CUSTOM', NULL), (4, 'METRIC_THRESHOLD_EXCEEDED', '{}')"
    )


def _models(conn: psycopg.Connection[Any]) -> None:
    first, *_, last = CHECKPOINTS
    conn.execute(
        "INSERT INTO models VALUES"
        " (3, 'digits', 'reads digits', %(t)s, %(t)s, '{\"k\": [1]}', '{a,b}', 3, false, 'n', 2),"
        " (8, 'empty', NULL, %(t)s, NULL, NULL, NULL, 1, true, NULL, 1)",
        {"t": START},
    )
    conn.execute(
        "INSERT INTO model_versions (id, model_id, version, checkpoint_uuid, creation_time, last_updated_time, name,"
        " comment, notes, labels, metadata, user_id) VALUES (11, 3, 1, %(first)s, %(t)s, %(t)s, 'one', 'c', 'n', '{x}',"
        " '{}', 4), (14, 3, 4, %(last)s, %(t)s, %(t)s, NULL, NULL, NULL, NULL, NULL, NULL),"
        " (15, 3, 5, 'd0000000-0000-4000-8000-000000000009', %(t)s, %(t)s, '', '', '', NULL, NULL, 3)",
        {"t": START, "first": first, "last": last},
    )
    conn.execute(
        "INSERT INTO trial_source_infos VALUES (2, %s, 'FINE_TUNING', 3, 1),"
        " (3, 'd0000000-0000-4000-8000-000000000009', 'INFERENCE', NULL, NULL)",
        (first,),
    )


def _allocations(conn: psycopg.Connection[Any]) -> None:
    """Write an allocation for each task, and three for the first: its second had failed."""
    conn.execute(
        "INSERT INTO allocations (task_id, allocation_id, resource_pool, slots, start_time, end_time, state)"
        " SELECT t.task_id, t.task_id || '.1', 'gpus', 4, t.start_time,"
        " CASE WHEN x.run_id <> 2 THEN t.start_time + interval '1 hour' END, 'TERMINATED'"
        " FROM tasks t JOIN run_id_task_id x ON x.task_id = t.task_id"
    )
    conn.execute(
        "INSERT INTO allocations (task_id, allocation_id, resource_pool, slots, start_time, end_time, state,"
        " exit_error, status_code) SELECT t.task_id, t.task_id || '.' || k, 'gpus', 4,"
        " t.start_time + k * interval '2 hours',"
        " t.start_time + k * interval '3 hours', 'TERMINATED', CASE WHEN k = 2 THEN 'out of memory' END,"
        " CASE WHEN k = 2 THEN 137 END FROM tasks t JOIN run_id_task_id x ON x.task_id = t.task_id,"
        " generate_series(2, 3) k WHERE x.run_id = 1"
    )


def _leftovers(conn: psycopg.Connection[Any]) -> None:
    """Write what has no place here, and must be named."""
    start = START.replace(tzinfo=None)
    conn.cursor().executemany(
        "INSERT INTO tasks VALUES (%s, %s, %s, NULL, NULL)",
        [("cmd-1", "COMMAND", start), ("cmd-2", "COMMAND", start), ("nb-1", "NOTEBOOK", start)],
    )
    conn.cursor().executemany(
        "INSERT INTO task_logs (task_id, log) VALUES (%s, %s)",
        [("cmd-1", b"one\n"), ("cmd-1", b"two\n"), ("nb-1", b"three\n"), ("gone", b"four\n")],
    )
    conn.execute("INSERT INTO workspace_namespace_bindings VALUES (2, 'default', 'vision', false)")
    conn.execute(
        "INSERT INTO task_config_policies VALUES"
        " (NULL, 'EXPERIMENT', '{\"max_restarts\": 1}', NULL), (2, 'NTSC', NULL, '{\"priority_limit\": 10}')"
    )
    conn.execute("INSERT INTO user_profile_images (user_id, file_data) VALUES (3, 'png')")
    conn.execute("INSERT INTO experiment_snapshots (experiment_id, content, version) VALUES (2, '{}', 6)")
    conn.execute("INSERT INTO trial_profiler_metrics (labels) VALUES ('{}'), ('{}')")
    conn.execute("INSERT INTO user_sessions (user_id, token_type) VALUES (3, 'USER_SESSION'), (4, 'USER_SESSION')")
    conn.execute("INSERT INTO resource_aggregates VALUES ('2024-07-01', 'total', 'total', 1.5)")
    conn.execute("INSERT INTO allocation_accelerators VALUES ('cmd-1.1', 'node', 'A100', '{GPU-1}')")
    conn.execute("INSERT INTO scim.users VALUES ('d0000000-0000-4000-8000-000000000001', 3)")
