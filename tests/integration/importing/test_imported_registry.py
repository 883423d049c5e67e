"""Models, lineage, templates, webhooks and allocations come in; bad or taken ones are named and the rest is taken."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from importer import Importer
from sqlalchemy import Connection, insert, select
from upstream_filler import CHECKPOINTS

from conftest import Source
from determined.master.db import dialects, schema
from determined.master.db.queries import import_unit, imported, trial_source

FIRST, *_, LAST = CHECKPOINTS
_NEW = ("models", "model_versions", "trial_source_infos", "templates", "webhooks", "webhook_triggers", "allocations")


def rows(conn: Connection, table: str) -> list[dict[str, Any]]:
    found = schema.metadata.tables[table]
    return [dict(row) for row in conn.execute(select(found).order_by(*found.primary_key.columns)).mappings()]


def notes(events: list[dict[str, Any]]) -> dict[str, Any]:
    path = next(path for path in events[-1]["files"] if path.endswith("report.json"))
    loaded: dict[str, Any] = json.loads(Path(path).read_text())["notes"]
    assert all(note.pop("text") for note in loaded.values())
    return loaded


def test_models_keep_ids_numbers_and_gaps(importer: Importer, source: Source) -> None:
    importer.run("--source", source.url)
    digits, empty = importer.read(lambda conn: rows(conn, "models"))
    assert (digits["id"], digits["name"], digits["labels"], digits["metadata"]) == (3, "digits", ["a", "b"], {"k": [1]})
    assert (digits["last_version"], digits["num_versions"], digits["workspace_id"]) == (5, 2, 2)
    assert (empty["id"], empty["archived"], empty["labels"], empty["num_versions"]) == (8, True, [], 0)
    versions = importer.read(lambda conn: rows(conn, "model_versions"))
    assert [(v["id"], v["version"], v["checkpoint_uuid"], v["user_id"]) for v in versions] == [
        (11, 1, FIRST, 4),
        (14, 4, LAST, 3),
    ]
    (using,) = importer.read(lambda conn: trial_source.using_version(conn, 3, 1, None))
    assert (using.trial_id, using.checkpoint_uuid, using.type) == (2, FIRST, "FINE_TUNING")


def test_templates_webhooks_and_allocations_come(importer: Importer, source: Source) -> None:
    importer.run("--source", source.url)
    (template,) = importer.read(lambda conn: rows(conn, "templates"))
    assert (template["name"], template["workspace_id"], template["user_id"]) == ("gpu-defaults", 2, 3)
    assert template["config"] == {"resources": {"slots_per_trial": 8}}
    hooks = importer.read(lambda conn: rows(conn, "webhooks"))
    assert [(h["id"], h["type"], h["mode"], h["name"], h["workspace_id"]) for h in hooks] == [
        (1, "SLACK", "WORKSPACE", "ended", None),
        (4, "DEFAULT", "SPECIFIC", "alerts", 2),
    ]
    triggers = importer.read(lambda conn: rows(conn, "webhook_triggers"))
    assert [(t["webhook_id"], t["type"], t["condition"]) for t in triggers] == [
        (1, "EXPERIMENT_STATE_CHANGE", {"state": "COMPLETED"}),
        (4, "TASK_LOG", {"regex": "out of mem.*"}),
        (4, "CUSTOM", {}),
    ]
    allocations = importer.read(lambda conn: rows(conn, "allocations"))
    runs = sorted((a["trial_id"], a["run_id"]) for a in allocations)
    assert runs == [(1, 1), (1, 2), (1, 3), (2, 1), (3, 1), (5, 1), (5, 2), (5, 3), (9, 1), (10, 1)]
    assert all(a["state"] == "TERMINATED" and a["drained"] and a["ended_at"] for a in allocations)
    failed = next(a for a in allocations if a["exit_code"])
    assert (failed["run_id"], failed["exit_kind"], failed["exit_reason"]) == (2, "errored", "out of memory")
    assert {a["exit_kind"] for a in allocations if a["trial_id"] == 2} == {"killed"}


def test_versions_come_later_with_their_checkpoints(sqlite_importer: Importer, source: Source) -> None:
    first = sqlite_importer.run("--source", source.url, "--only", "experiments=1-2")
    assert notes(first)["lost_versions"]["count"] == 2, "version 4 is of experiment 4"
    sqlite_importer.run("--source", source.url)
    versions = sqlite_importer.read(lambda conn: rows(conn, "model_versions"))
    assert [v["id"] for v in versions] == [11, 14]
    assert sqlite_importer.read(lambda conn: rows(conn, "models"))[0]["num_versions"] == 2


@pytest.mark.parametrize("own", [{"id": 14, "version": 6}, {"id": 20, "version": 4}], ids=["id", "number"])
def test_version_that_was_registered_here_since_the_first_import_stays(
    sqlite_importer: Importer, source: Source, own: dict[str, int]
) -> None:
    sqlite_importer.run("--source", source.url, "--only", "experiments=1-2")
    _write(sqlite_importer, lambda conn: _register(conn, own))
    left = notes(sqlite_importer.run("--source", source.url))
    assert left["taken"] == {"count": 1, "examples": ["version 4 of model 3"]}
    versions = sqlite_importer.read(lambda conn: rows(conn, "model_versions"))
    assert [(v["id"], v["version"], v["comment"]) for v in versions][1:] == [(own["id"], own["version"], "own")]
    assert sqlite_importer.read(lambda conn: imported.count(conn, "experiments")) == 6


def _register(conn: Connection, own: dict[str, int]) -> None:
    (version,) = rows(conn, "model_versions")
    conn.execute(insert(schema.model_versions).values(**{**version, "comment": "own", **own}))


def test_what_is_taken_stays_and_the_rest_comes(sqlite_importer: Importer, source: Source) -> None:
    sqlite_importer.run("--source", source.url, "--dry-run")
    _write(sqlite_importer, _add_own)
    left = notes(sqlite_importer.run("--source", source.url))
    assert left["taken"] == {"count": 3, "examples": ["model 3 (digits)", "template gpu-defaults", "webhook 1"]}
    assert left["lost_versions"]["count"] == 3
    names = [row["name"] for row in sqlite_importer.read(lambda conn: rows(conn, "models"))]
    assert names == ["mine", "empty"]
    first = sqlite_importer.read(lambda conn: rows(conn, "webhooks"))[0]
    assert first["url"] == "https://own.example"
    (lineage,) = sqlite_importer.read(lambda conn: rows(conn, "trial_source_infos"))
    assert (lineage["trial_id"], lineage["model_id"]) == (2, None), "model 3 here is another one"


def _write(importer: Importer, change: Callable[[Connection], None]) -> None:
    engine = dialects.create_engine(importer.url)
    with engine.connect() as conn:
        dialects.begin_write(conn)
        change(conn)
        conn.commit()
    engine.dispose()


def _add_own(conn: Connection) -> None:
    time = conn.execute(select(schema.users.c.created_at).limit(1)).scalar_one()
    model = {"id": 3, "name": "mine", "metadata": {}, "labels": [], "user_id": 1, "workspace_id": 1}
    conn.execute(insert(schema.models).values(**model, created_at=time, updated_at=time))
    template = {"name": "gpu-defaults", "workspace_id": 1, "config": {}, "user_id": 1, "updated_at": time}
    conn.execute(insert(schema.templates).values(**template))
    hook = {"id": 1, "url": "https://own.example", "type": "DEFAULT", "mode": "WORKSPACE", "name": "own"}
    conn.execute(insert(schema.webhooks).values(**hook, created_at=time))


def test_a_kind_whose_columns_are_missing_is_left_out(sqlite_importer: Importer, source: Source) -> None:
    changed = source.copy()
    changed.execute("ALTER TABLE webhooks DROP COLUMN webhook_type; DROP TABLE trial_source_infos")
    changed.execute("ALTER TABLE user_sessions DROP COLUMN token_type; ALTER TABLE webhook_triggers DROP COLUMN id")
    left = notes(sqlite_importer.run("--source", changed.url))["missing_columns"]
    assert left["count"] == 3
    assert "webhooks: webhooks.webhook_type, webhook_triggers.id" in left["examples"]
    counts = {table: sqlite_importer.read(lambda conn, t=table: imported.count(conn, t)) for table in _NEW}
    assert (counts["models"], counts["webhooks"], counts["trial_source_infos"]) == (2, 0, 0)
    assert sqlite_importer.read(lambda conn: imported.count(conn, "experiments")) == 6


def test_webhooks_of_an_older_schema_have_no_name(sqlite_importer: Importer, source: Source) -> None:
    older = source.copy()
    older.execute("ALTER TABLE webhooks DROP COLUMN name, DROP COLUMN mode, DROP COLUMN workspace_id")
    sqlite_importer.run("--source", older.url)
    hooks = sqlite_importer.read(lambda conn: rows(conn, "webhooks"))
    assert [(h["id"], h["mode"], h["name"]) for h in hooks] == [(1, "WORKSPACE", ""), (4, "WORKSPACE", "")]


def test_abort_removes_all_of_an_import_that_was_not_verified(importer: Importer, source: Source) -> None:
    wrong = source.copy()
    wrong.execute(
        """UPDATE runs SET summary_metrics = '{"avg_metrics": {"loss": {"type": "number", "count": 1}}}' WHERE id = 1"""
    )
    problems = importer.run("--source", wrong.url, status=1)[-1]["problems"]
    assert ["trial 1, avg_metrics, loss" in problem for problem in problems] == [True]
    assert importer.read(lambda conn: imported.count(conn, "model_versions")) == 2
    importer.run("--abort")
    assert importer.read(import_unit.list_all) == []
    counts = {table: importer.read(lambda conn, t=table: imported.count(conn, t)) for table in _NEW}
    assert set(counts.values()) == {0}, counts
    importer.run("--source", source.url)


def test_files_are_compared_where_the_storage_is_there(
    sqlite_importer: Importer, source: Source, tmp_path: Path
) -> None:
    moved = source.copy()
    moved.execute(f"UPDATE storage_backend_shared_fs SET host_path = '{tmp_path}' WHERE id = 1")
    files = tmp_path / "det" / FIRST
    (files / "logs").mkdir(parents=True)
    (files / "metadata.json").write_text("{}")
    (files / "model.pt").write_bytes(b"0" * 10)
    whole = sqlite_importer.run("--source", moved.url, "--dry-run", "--check-files", "9")[0]["notes"]
    assert "files_differ" not in whole
    assert whole["storage_unreachable"]["examples"] == ["shared_fs /abs: /abs is no directory of this machine"]
    (files / "model.pt").write_bytes(b"0" * 9)
    cut = notes(sqlite_importer.run("--source", moved.url, "--check-files", "9"))
    assert cut["files_differ"]["count"] == 1
    assert FIRST in cut["files_differ"]["examples"][0]
    refused = sqlite_importer.run("--source", moved.url, "--check-files", "some", status=1)
    assert "is no number" in refused[-1]["message"]
