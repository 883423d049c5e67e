"""Migrations bring a database to exactly the schema, and refuse what is not ours."""

import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Engine, create_engine, text

from determined.errors import FailedPrecondition, Unavailable
from determined.master.db import dialects, migrate, new_database
from determined.master.db.schema import metadata


def test_migrations_end_at_the_schema(empty_db_url: str) -> None:
    engine = dialects.create_engine(empty_db_url)
    migrate.upgrade(engine)
    with engine.connect() as conn:
        assert compare_metadata(MigrationContext.configure(conn), metadata) == []
    engine.dispose()


def test_a_new_sqlite_database_is_what_the_migrations_make_of_an_empty_one(tmp_path: Path) -> None:
    def made_by(make: Callable[[Engine], None], name: str) -> tuple[list[str], list[tuple[str, ...]]]:
        engine = dialects.create_engine(f"sqlite:///{tmp_path / name}")
        make(engine)
        engine.dispose()
        database = sqlite3.connect(tmp_path / name)
        objects = "SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY type, name"
        try:
            return sorted(database.iterdump()), database.execute(objects).fetchall()
        finally:
            database.close()

    assert made_by(migrate.upgrade, "new.db") == made_by(migrate.run_migrations, "migrated.db")


def test_making_a_new_sqlite_database_runs_no_migration(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(migrate, "_run", lambda conn: pytest.fail("a migration ran"))
    engine = dialects.create_engine(f"sqlite:///{tmp_path / 'new.db'}")
    migrate.upgrade(engine)
    with engine.connect() as conn:
        assert migrate.current_revision(conn) == migrate.HEAD
    engine.dispose()


def test_migrations_that_the_schema_of_new_databases_lacks_run_after_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = dialects.create_engine(f"sqlite:///{tmp_path / 'behind.db'}")
    with engine.connect() as conn:
        dialects.begin_write(conn)
        config = migrate._config()
        config.attributes["connection"] = conn
        command.upgrade(config, "0017")
        conn.commit()
    engine.dispose()
    behind = sqlite3.connect(tmp_path / "behind.db")
    older = tmp_path / "older.sql"
    older.write_text(new_database.text_of(behind))
    behind.close()
    monkeypatch.setattr(new_database, "FILE", older)
    engine = dialects.create_engine(f"sqlite:///{tmp_path / 'new.db'}")
    migrate.upgrade(engine)
    with engine.connect() as conn:
        assert migrate.current_revision(conn) == migrate.HEAD
        assert compare_metadata(MigrationContext.configure(conn), metadata) == []
    engine.dispose()


def test_a_new_sqlite_database_that_cannot_be_finished_stays_empty(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = tmp_path / "broken.sql"
    broken.write_text("CREATE TABLE first (id INTEGER);\nCREATE TABLE first (id INTEGER);\n")
    engine = dialects.create_engine(f"sqlite:///{tmp_path / 'new.db'}")
    with monkeypatch.context() as patch, pytest.raises(Unavailable, match="already exists"):
        patch.setattr(new_database, "FILE", broken)
        migrate.upgrade(engine)
    migrate.upgrade(engine)
    with engine.connect() as conn:
        assert migrate.current_revision(conn) == migrate.HEAD
    engine.dispose()


def test_migrating_again_changes_nothing(empty_db_url: str) -> None:
    engine = dialects.create_engine(empty_db_url)
    migrate.upgrade(engine)
    with engine.begin() as conn:
        conn.execute(text("INSERT INTO cluster (key, value) VALUES ('x', '1')"))
    migrate.upgrade(engine)
    with engine.connect() as conn:
        assert conn.execute(text("SELECT count(*) FROM cluster")).scalar_one() == 1
    engine.dispose()


def test_the_newest_file_is_the_newest_revision() -> None:
    config = Config()
    config.set_main_option("script_location", str(Path(migrate.__file__).parent / "migrations"))
    assert ScriptDirectory.from_config(config).get_current_head() == migrate.HEAD


def test_a_damaged_file_is_named_and_left_as_it_is(tmp_path: Path) -> None:
    file = tmp_path / "master.db"
    file.write_bytes(b"this is not a database, whatever the name says" * 100)
    before = file.read_bytes()
    engine = dialects.create_engine(f"sqlite:///{file}")
    with pytest.raises(FailedPrecondition, match=r"master\.db is damaged"):
        migrate.upgrade(engine)
    engine.dispose()
    assert file.read_bytes() == before


def test_a_file_with_a_torn_page_is_damaged(tmp_path: Path) -> None:
    file = tmp_path / "master.db"
    engine = dialects.create_engine(f"sqlite:///{file}")
    migrate.upgrade(engine)
    engine.dispose()
    whole = bytearray(file.read_bytes())
    whole[4096 : 4096 * 4] = b"\xa5" * (4096 * 3)
    file.write_bytes(bytes(whole))
    engine = dialects.create_engine(f"sqlite:///{file}")
    with pytest.raises(FailedPrecondition, match="damaged"):
        migrate.upgrade(engine)
    engine.dispose()


def test_somebody_elses_database_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "theirs.db"
    connection = sqlite3.connect(file)
    connection.execute("CREATE TABLE recipes (id INTEGER)")
    connection.close()
    engine = dialects.create_engine(f"sqlite:///{file}")
    with pytest.raises(FailedPrecondition, match="recipes"):
        migrate.upgrade(engine)
    engine.dispose()


def test_a_database_of_a_newer_version_is_refused(empty_db_url: str) -> None:
    engine = dialects.create_engine(empty_db_url)
    migrate.upgrade(engine)
    with engine.connect() as conn:
        conn.execute(text("UPDATE alembic_version SET version_num = '9999'"))
        conn.commit()
    with pytest.raises(FailedPrecondition, match="newer version"):
        migrate.upgrade(engine)
    engine.dispose()


def test_a_server_that_is_not_there_is_unavailable() -> None:
    engine = dialects.create_engine("postgresql://nobody@127.0.0.1:1/none")
    with pytest.raises(Unavailable, match="cannot open the database"):
        migrate.upgrade(engine)
    engine.dispose()


def test_metadata_needs_no_migration_to_be_created_on_both(empty_db_url: str) -> None:
    """What unit tests do with `metadata.create_all` is the same schema."""
    engine = create_engine(dialects.create_engine(empty_db_url).url)
    metadata.create_all(engine)
    with engine.connect() as conn:
        assert compare_metadata(MigrationContext.configure(conn), metadata) == []
    engine.dispose()


def test_trials_of_an_older_database_may_go_on_saving_where_they_have_saved(tmp_path: Path) -> None:
    file = tmp_path / "master.db"
    engine = dialects.create_engine(f"sqlite:///{file}")
    with engine.connect() as conn:
        dialects.begin_write(conn)
        config = migrate._config()
        config.attributes["connection"] = conn
        command.upgrade(config, "0002")
        conn.commit()
    older = sqlite3.connect(file)  # enforces no foreign keys: the rows around these are of no matter here
    _put(older, "storage_backends", id=7)
    for trial in (1, 2):
        _put(older, "trials", id=trial, task_id=f"task {trial}", request_id=str(trial))
    for uuid, trial, storage in (("a", 1, 7), ("b", 1, 7), ("c", 2, None)):
        _put(older, "checkpoints", uuid=uuid, trial_id=trial, storage_id=storage)
    older.commit()
    older.close()
    migrate.upgrade(engine)
    with engine.connect() as conn:
        assert conn.execute(text("SELECT trial_id, storage_id FROM trial_storages")).all() == [(1, 7)]
    engine.dispose()


def _put(older: sqlite3.Connection, table: str, **values: object) -> None:
    """A row whose other columns hold whatever is allowed."""
    for _, name, _, needed, default, _ in older.execute(f"PRAGMA table_info({table})").fetchall():
        if needed and default is None:
            values.setdefault(name, "")
    places = ", ".join("?" * len(values))
    older.execute(f"INSERT INTO {table} ({', '.join(values)}) VALUES ({places})", list(values.values()))
