"""Rows of the checkpoints and model versions that trials said they work with."""

from datetime import datetime

import msgspec
from sqlalchemy import ColumnElement, Connection, select

from determined.master.db import fetch
from determined.master.db.dialects import upsert
from determined.master.db.rows.checkpoints import TrialSourceInfoValues
from determined.master.db.schema import checkpoints, experiments, trial_source_infos, trials, users

_SOURCE = trial_source_infos.c


class TrialUsing(msgspec.Struct, frozen=True):
    """A trial that works with a checkpoint, with its experiment and owner."""

    trial_id: int
    checkpoint_uuid: str
    type: str
    model_id: int | None
    model_version: int | None
    state: str
    start_time: datetime
    unmanaged: bool
    experiment_id: int
    experiment_name: str
    user_id: int
    username: str


def put(conn: Connection, trial_id: int, uuid: str, values: TrialSourceInfoValues) -> bool:
    """Store that a trial works with a checkpoint. False when there is no such checkpoint."""
    if conn.execute(select(checkpoints.c.uuid).where(checkpoints.c.uuid == uuid)).first() is None:
        return False
    row: TrialSourceInfoValues = {"trial_id": trial_id, "checkpoint_uuid": uuid, **values}
    upsert(conn, trial_source_infos, row, ["trial_id", "checkpoint_uuid"])
    return True


def using_checkpoint(conn: Connection, uuid: str, kind: str | None) -> list[TrialUsing]:
    """List trials that said they use a checkpoint, by trial."""
    return _using(conn, _SOURCE.checkpoint_uuid == uuid, kind)


def using_version(conn: Connection, model_id: int, version: int, kind: str | None) -> list[TrialUsing]:
    """List trials that said they use a version of a model, by trial."""
    return _using(conn, (_SOURCE.model_id == model_id) & (_SOURCE.model_version == version), kind)


def _using(conn: Connection, condition: ColumnElement[bool], kind: str | None) -> list[TrialUsing]:
    query = (
        select(
            _SOURCE.trial_id,
            _SOURCE.checkpoint_uuid,
            _SOURCE.type,
            _SOURCE.model_id,
            _SOURCE.model_version,
            trials.c.state,
            trials.c.start_time,
            experiments.c.unmanaged,
            experiments.c.id.label("experiment_id"),
            experiments.c.name.label("experiment_name"),
            experiments.c.owner_id.label("user_id"),
            users.c.username,
        )
        .join(trials, trials.c.id == _SOURCE.trial_id)
        .join(experiments, experiments.c.id == trials.c.experiment_id)
        .join(users, users.c.id == experiments.c.owner_id)
        .where(condition)
        .order_by(_SOURCE.trial_id, _SOURCE.checkpoint_uuid)
    )
    return fetch.rows(conn, query if kind is None else query.where(_SOURCE.type == kind), TrialUsing)
