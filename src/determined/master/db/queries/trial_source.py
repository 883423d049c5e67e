"""Rows of the checkpoints that trials were started from."""

from sqlalchemy import Connection, select

from determined.master.db.dialects import upsert
from determined.master.db.rows.checkpoints import TrialSourceInfoValues
from determined.master.db.schema import checkpoints, trial_source_infos


def put(conn: Connection, trial_id: int, uuid: str, values: TrialSourceInfoValues) -> bool:
    """Store that a trial works with a checkpoint. False when there is no such checkpoint."""
    if conn.execute(select(checkpoints.c.uuid).where(checkpoints.c.uuid == uuid)).first() is None:
        return False
    row: TrialSourceInfoValues = {"trial_id": trial_id, "checkpoint_uuid": uuid, **values}
    upsert(conn, trial_source_infos, row, ["trial_id", "checkpoint_uuid"])
    return True
