"""Schemas between the oldest and the newest that are read: what came later is replaced, and the report says so."""

import json
from pathlib import Path

import pytest
from importer import Importer
from sqlalchemy import select

from conftest import Source
from determined.master.db import schema
from determined.master.db.queries import trial, user

_EARLIER = """
DELETE FROM gopg_migrations WHERE version > 20240530112249;
ALTER TABLE projects DROP COLUMN key;
DROP TABLE runs_metadata;
ALTER TABLE runs DROP COLUMN archived, DROP COLUMN log_retention_days, DROP COLUMN local_id;
ALTER TABLE users DROP COLUMN last_auth_at;
ALTER TABLE workspaces DROP COLUMN default_compute_pool, DROP COLUMN default_aux_pool,
  DROP COLUMN auto_created_namespace_name;
INSERT INTO projects (id, name, workspace_id, user_id) VALUES (8, 'Digital', 2, 3), (9, '数字', 2, 3);
"""


@pytest.fixture
def earlier(source: Source) -> Source:
    made = source.copy()
    made.execute(_EARLIER)
    return made


def test_a_source_of_mid_2024_comes_in_with_keys_made_from_names(importer: Importer, earlier: Source) -> None:
    events = importer.run("--source", earlier.url)
    assert events[-1]["problems"] == []
    p = schema.projects.c
    keys = dict([*importer.read(lambda conn: conn.execute(select(p.name, p.key)).all())])
    assert keys == {"Uncategorized": "UNC", "digits": "DIG", "attic": "ATT", "Digital": "DIG1", "数字": "P"}
    ninth = importer.read(lambda conn: trial.get(conn, 9))
    assert (ninth.metadata, ninth.archived, ninth.log_retention_days) == (None, False, None)
    assert {row.last_auth_at for row in importer.read(user.list_all)} == {None}
    report = next(path for path in events[-1]["files"] if path.endswith("report.json"))
    notes = json.loads(Path(report).read_text())["notes"]
    assert notes["project_key"]["count"] == 5
    assert notes["older_schema"]["count"] == 7
    assert "runs_metadata.metadata" in notes["older_schema"]["examples"][0]


def test_projects_without_keys_come_later_beside_those_of_this_cluster(
    sqlite_importer: Importer, earlier: Source
) -> None:
    sqlite_importer.run("--source", earlier.url, "--only", "workspaces=Old")
    sqlite_importer.run("--source", earlier.url)
    p = schema.projects.c
    keys = sqlite_importer.read(lambda conn: sorted(conn.execute(select(p.key)).scalars()))
    assert keys == ["ATT", "DIG", "DIG1", "P", "UNC"]


def test_the_newest_schema_must_have_all_columns(sqlite_importer: Importer, source: Source) -> None:
    changed = source.copy()
    changed.execute("ALTER TABLE projects DROP COLUMN key")
    events = sqlite_importer.run("--source", changed.url, status=1)
    assert "projects.key" in events[-1]["message"]
