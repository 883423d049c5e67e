"""The packed model directory of an experiment. Stored by lifecycle when the experiment is created; read here."""

from sqlalchemy import Connection, select

from determined.master.db.schema import model_definitions


def get(conn: Connection, experiment_id: int) -> bytes | None:
    """The tgz, or None for an experiment without files."""
    query = select(model_definitions.c.tgz).where(model_definitions.c.experiment_id == experiment_id)
    return conn.execute(query).scalar()
