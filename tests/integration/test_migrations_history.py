"""Databases written by earlier releases: each step upgrades them and keeps their rows."""

from datetime import UTC, datetime
from typing import Any

from alembic import command
from sqlalchemy import Connection, MetaData, Table, inspect, text

from determined.master.db import dialects, migrate


def _upgrade(conn: Connection, revision: str) -> None:
    config: Any = migrate._config()
    config.attributes["connection"] = conn
    command.upgrade(config, revision)


def test_database_of_the_first_revision_gets_an_empty_history_and_keeps_its_rows(empty_db_url: str) -> None:
    engine = dialects.create_engine(empty_db_url)
    with engine.connect() as conn:
        dialects.begin_write(conn)
        _upgrade(conn, "0001")
        conn.execute(text("INSERT INTO cluster (key, value) VALUES ('x', '1')"))
        assert "search_history" not in inspect(conn).get_table_names()
        conn.commit()
    migrate.upgrade(engine)
    with engine.connect() as conn:
        assert conn.execute(text("SELECT count(*) FROM search_history")).scalar_one() == 0
        assert conn.execute(text("SELECT count(*) FROM cluster")).scalar_one() == 1
        assert migrate.current_revision(conn) == migrate.HEAD
    engine.dispose()


def test_runners_of_the_third_revision_are_kept_and_claimed_by_nobody(empty_db_url: str) -> None:
    engine = dialects.create_engine(empty_db_url)
    with engine.connect() as conn:
        dialects.begin_write(conn)
        _upgrade(conn, "0003")
        _insert(conn, "tasks", id="t", type="TRIAL")
        _insert(conn, "allocations", id="t.1", task_id="t", run_id=1, state="RUNNING", slots=1, pool="default")
        _insert(conn, "runners", resource_id="r", allocation_id="t.1", engine="local", node_id="a", rank=0)
        conn.commit()
    migrate.upgrade(engine)
    with engine.connect() as conn:
        assert conn.execute(text("SELECT resource_id, claimant FROM runners")).all() == [("r", None)]
        assert migrate.current_revision(conn) == migrate.HEAD
    engine.dispose()


def test_what_the_fourth_revision_holds_is_numbered_once_and_watched_from_then_on(empty_db_url: str) -> None:
    engine = dialects.create_engine(empty_db_url)
    with engine.connect() as conn:
        dialects.begin_write(conn)
        _upgrade(conn, "0004")
        _insert(conn, "users", id=1, username="u")
        _insert(conn, "workspaces", id=1, user_id=1, name="w")
        _insert(conn, "projects", id=7, workspace_id=1, user_id=1, name="p")
        _insert(conn, "jobs", id="j", owner_id=1, workspace_id=1)
        _insert(conn, "experiments", id=3, job_id="j", project_id=7, owner_id=1)
        _insert(conn, "trials", id=5, experiment_id=3, task_id="t")
        _insert(conn, "tasks", id="t", type="TRIAL", trial_id=5)
        for run, last in ((1, 40), (2, 30)):
            _insert(conn, "metric_watermarks", trial_id=5, run_id=run, group="training", last_step=last)
        conn.commit()
    migrate.upgrade(engine)
    with engine.connect() as conn:
        found = conn.execute(text("SELECT noun, id, parent, value FROM changes ORDER BY seq")).all()
        assert sorted(found) == [
            ("experiments", "3", 7, None), ("jobs", "j", None, None), ("metrics", "5/training", 5, 40),
            ("projects", "7", 1, None), ("tasks", "t", None, None), ("trials", "5", 3, None),
        ]  # fmt: skip
        top = conn.execute(text("SELECT max(seq) FROM changes")).scalar_one()
        conn.rollback()
        dialects.begin_write(conn)
        conn.execute(text("DELETE FROM experiments"))
        conn.commit()
        later = text(f"SELECT noun, id, parent FROM changes WHERE seq > {top} AND deleted ORDER BY noun")
        assert conn.execute(later).all() == [("experiments", "3", 7), ("tasks", "t", None), ("trials", "5", 3)]
        assert conn.execute(text("SELECT count(*) FROM changes WHERE noun = 'metrics'")).scalar_one() == 0
    engine.dispose()


def test_projects_of_the_fifth_revision_get_no_views_and_can_have_some(empty_db_url: str) -> None:
    engine = dialects.create_engine(empty_db_url)
    with engine.connect() as conn:
        dialects.begin_write(conn)
        _upgrade(conn, "0005")
        _insert(conn, "users", id=1, username="u")
        _insert(conn, "workspaces", id=1, name="w", user_id=1)
        _insert(conn, "projects", id=7, name="p", workspace_id=1, user_id=1)
        assert "saved_views" not in inspect(conn).get_table_names()
        conn.commit()
    migrate.upgrade(engine)
    with engine.connect() as conn:
        dialects.begin_write(conn)
        assert conn.execute(text("SELECT count(*) FROM saved_views")).scalar_one() == 0
        _insert(conn, "saved_views", id=1, project_id=7, user_id=1, name="v")
        conn.execute(text("DELETE FROM projects"))
        assert conn.execute(text("SELECT count(*) FROM saved_views")).scalar_one() == 0, "they go with their project"
        conn.rollback()
        assert migrate.current_revision(conn) == migrate.HEAD
    engine.dispose()


def test_experiments_of_the_sixth_revision_have_no_locks_and_can_have_some(empty_db_url: str) -> None:
    engine = dialects.create_engine(empty_db_url)
    with engine.connect() as conn:
        dialects.begin_write(conn)
        _upgrade(conn, "0006")
        _insert(conn, "users", id=1, username="u")
        _insert(conn, "workspaces", id=1, name="w", user_id=1)
        _insert(conn, "projects", id=7, name="p", workspace_id=1, user_id=1)
        _insert(conn, "jobs", id="j", owner_id=1, workspace_id=1)
        _insert(conn, "experiments", id=3, job_id="j", project_id=7, owner_id=1)
        assert "environment_locks" not in inspect(conn).get_table_names()
        conn.commit()
    migrate.upgrade(engine)
    with engine.connect() as conn:
        dialects.begin_write(conn)
        assert conn.execute(text("SELECT count(*) FROM environment_locks")).scalar_one() == 0
        _insert(conn, "environment_locks", experiment_id=3, platform="linux", content="a==1")
        conn.execute(text("DELETE FROM experiments"))
        left = conn.execute(text("SELECT count(*) FROM environment_locks")).scalar_one()
        assert left == 0, "they go with their experiment"
        conn.rollback()
        assert migrate.current_revision(conn) == migrate.HEAD
    engine.dispose()


def test_ranges_of_metrics_are_gathered_from_what_the_seventh_revision_holds(empty_db_url: str) -> None:
    engine = dialects.create_engine(empty_db_url)
    with engine.connect() as conn:
        dialects.begin_write(conn)
        _upgrade(conn, "0007")
        _insert(conn, "users", id=1, username="u")
        _insert(conn, "workspaces", id=1, name="w", user_id=1)
        _insert(conn, "projects", id=7, name="p", workspace_id=1, user_id=1)
        for number in (3, 4):
            _insert(conn, "jobs", id=f"j{number}", owner_id=1, workspace_id=1)
            _insert(conn, "experiments", id=number, job_id=f"j{number}", project_id=7, owner_id=1)
        for trial, owner, low, high in ((5, 3, 1.5, 2.0), (6, 3, -4.0, 0.5), (7, 4, 9.0, 9.0), (8, 4, None, None)):
            _insert(conn, "trials", id=trial, experiment_id=owner, task_id=f"t{trial}", request_id=f"r{trial}")
            _insert(conn, "metric_summaries", trial_id=trial, group="training", name="loss", min=low, max=high)
        _insert(conn, "metric_summaries", trial_id=8, group="training", name="word", min=None, max=None)
        conn.commit()
    migrate.upgrade(engine)
    with engine.connect() as conn:
        found = conn.execute(text('SELECT experiment_id, "group", name, min, max FROM metric_ranges ORDER BY 1')).all()
        assert found == [(3, "training", "loss", -4.0, 2.0), (4, "training", "loss", 9.0, 9.0)]
        assert migrate.current_revision(conn) == migrate.HEAD
    engine.dispose()


def test_sessions_of_the_ninth_revision_go_on_without_a_parent(empty_db_url: str) -> None:
    engine = dialects.create_engine(empty_db_url)
    with engine.connect() as conn:
        dialects.begin_write(conn)
        _upgrade(conn, "0009")
        _insert(conn, "users", id=1, username="u")
        _insert(conn, "sessions", id=4, user_id=1, token_hash="h", kind="session")
        conn.commit()
    migrate.upgrade(engine)
    with engine.connect() as conn:
        assert conn.execute(text("SELECT id, parent_id FROM sessions")).all() == [(4, None)]
        assert migrate.current_revision(conn) == migrate.HEAD
    engine.dispose()


def test_workspaces_and_projects_of_the_tenth_revision_are_not_being_deleted(empty_db_url: str) -> None:
    engine = dialects.create_engine(empty_db_url)
    with engine.connect() as conn:
        dialects.begin_write(conn)
        _upgrade(conn, "0010")
        _insert(conn, "users", id=1, username="u")
        _insert(conn, "workspaces", id=1, name="w", user_id=1)
        _insert(conn, "projects", id=7, name="p", workspace_id=1, user_id=1)
        conn.commit()
    migrate.upgrade(engine)
    with engine.connect() as conn:
        for table in ("workspaces", "projects"):
            assert conn.execute(text(f"SELECT state, error_message FROM {table}")).all() == [("UNSPECIFIED", "")]
        assert migrate.current_revision(conn) == migrate.HEAD
    engine.dispose()


def test_tasks_of_the_eleventh_revision_were_not_submitted_and_later_ones_go_with_their_task(empty_db_url: str) -> None:
    engine = dialects.create_engine(empty_db_url)
    with engine.connect() as conn:
        dialects.begin_write(conn)
        _upgrade(conn, "0011")
        _insert(conn, "tasks", id="t", type="TRIAL")
        conn.commit()
    migrate.upgrade(engine)
    with engine.connect() as conn:
        assert conn.execute(text("SELECT count(*) FROM submitted_tasks")).scalar_one() == 0
        conn.rollback()
        dialects.begin_write(conn)
        for name in ("parent", "child"):
            _insert(conn, "tasks", id=name, type="GENERIC")
        _insert(conn, "submitted_tasks", task_id="parent", config={}, submitted_config={})
        _insert(conn, "submitted_tasks", task_id="child", parent_id="parent", config={}, submitted_config={})
        _insert(conn, "task_contexts", task_id="parent", tgz=b"x")
        conn.execute(text("DELETE FROM tasks WHERE id = 'parent'"))
        left = conn.execute(text("SELECT task_id, parent_id, no_pause FROM submitted_tasks")).all()
        assert [(row.task_id, row.parent_id, bool(row.no_pause)) for row in left] == [("child", None, False)]
        assert conn.execute(text("SELECT count(*) FROM task_contexts")).scalar_one() == 0
        assert conn.execute(text("SELECT id FROM tasks ORDER BY id")).scalars().all() == ["child", "t"]
        conn.commit()
        assert migrate.current_revision(conn) == migrate.HEAD
    engine.dispose()


def _insert(conn: Connection, table_name: str, /, **values: Any) -> None:
    """With something of the right type in every other column that must have a value."""
    table = Table(table_name, MetaData(), autoload_with=conn)
    for column in table.columns:
        if column.name not in values and not column.nullable and not column.primary_key and column.default is None:
            values[column.name] = _anything(column.type.python_type)
    conn.execute(table.insert().values(values))


def _anything(kind: type) -> Any:
    known = {datetime: datetime(2026, 11, 15, tzinfo=UTC), object: []}  # a JSON column can hold any object
    return known[kind] if kind in known else kind()
