"""Databases written before searches kept a history: they are upgraded and their searches can still be continued."""

from typing import Any

from alembic import command
from sqlalchemy import Connection, inspect, text

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
