"""Packed model directories of experiments. Lifecycle stores them when it creates an experiment."""

from sqlalchemy import Connection, select

from determined.master.db.schema import model_definitions


def get(conn: Connection, experiment_id: int) -> bytes | None:
    """Return the tgz, or None for an experiment without files."""
    query = select(model_definitions.c.tgz).where(model_definitions.c.experiment_id == experiment_id)
    return conn.execute(query).scalar()
