"""Which checkpoints trials work with."""

from typing import Any

from sqlalchemy import Connection, select

from determined.master.db.dialects import upsert
from determined.master.db.schema import checkpoints, trial_source_infos


def put(conn: Connection, trial_id: int, uuid: str, values: dict[str, Any]) -> bool:
    """False when there is no such checkpoint."""
    if conn.execute(select(checkpoints.c.uuid).where(checkpoints.c.uuid == uuid)).first() is None:
        return False
    row = {"trial_id": trial_id, "checkpoint_uuid": uuid, **values}
    upsert(conn, trial_source_infos, row, ["trial_id", "checkpoint_uuid"])
    return True
