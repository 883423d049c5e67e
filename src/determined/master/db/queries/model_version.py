"""Rows of versions of models, and which checkpoints they protect."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import Connection, delete, func, insert, select, update

from determined.master.db import fetch
from determined.master.db.queries.batching import batches
from determined.master.db.rows.models import ModelVersion, ModelVersionValues
from determined.master.db.schema import checkpoints, model_versions, users
from determined.master.db.statements import AnySelect
from determined.wire.base import OrderBy
from determined.wire.model_version import GetModelVersionsRequestSortBy as SortBy
from determined.wire.model_version import ListModelVersions


class VersionDetail(ModelVersion, frozen=True):
    """A version with the name of whoever registered it."""

    username: str


def get(conn: Connection, model_id: int, version: int) -> VersionDetail | None:
    c = model_versions.c
    return fetch.row(conn, _detailed().where(c.model_id == model_id, c.version == version), VersionDetail)


def highest(conn: Connection, model_id: int) -> int | None:
    """Return the highest number of a version that is there."""
    c = model_versions.c
    return conn.execute(select(func.max(c.version)).where(c.model_id == model_id)).scalar_one()


def find(
    conn: Connection, model_id: int, params: ListModelVersions, *, limit: int | None = None, offset: int = 0
) -> list[VersionDetail]:
    """List versions of a model in their order. `limit` and `offset` are rows, not those of `params`."""
    c = model_versions.c
    by_time = params.sort_by is SortBy.CREATION_TIME
    keys = (c.created_at, c.version) if by_time else (c.version,)
    order = [key.desc() if params.order_by is OrderBy.DESC else key.asc() for key in keys]
    query = _detailed().where(c.model_id == model_id).order_by(*order).offset(offset)
    return fetch.rows(conn, query.limit(limit) if limit is not None else query, VersionDetail)


def of_checkpoint(conn: Connection, uuid: str) -> list[VersionDetail]:
    """List versions that a checkpoint is registered as, by model and number."""
    c = model_versions.c
    query = _detailed().where(c.checkpoint_uuid == uuid).order_by(c.model_id, c.version)
    return fetch.rows(conn, query, VersionDetail)


def create(conn: Connection, now: datetime, values: ModelVersionValues) -> int:
    row: ModelVersionValues = {**values, "created_at": now, "updated_at": now}
    return conn.execute(insert(model_versions).values(**row).returning(model_versions.c.id)).scalar_one()


def change(conn: Connection, now: datetime, version_id: int, values: ModelVersionValues) -> None:
    """Write what changed, and when."""
    statement = update(model_versions).where(model_versions.c.id == version_id)
    conn.execute(statement.values(**values, updated_at=now))


def remove(conn: Connection, version_id: int) -> None:
    conn.execute(delete(model_versions).where(model_versions.c.id == version_id))


def registered(conn: Connection, uuids: Sequence[str]) -> list[str]:
    """List those of the checkpoints that a version has."""
    found: set[str] = set()
    for some in batches(uuids):
        query = select(model_versions.c.checkpoint_uuid).where(model_versions.c.checkpoint_uuid.in_(some))
        found.update(conn.execute(query).scalars())
    return [uuid for uuid in uuids if uuid in found]


def registered_of_experiment(conn: Connection, experiment_id: int) -> list[str]:
    """List checkpoints of an experiment that a version has."""
    query = (
        select(checkpoints.c.uuid)
        .where(checkpoints.c.experiment_id == experiment_id)
        .where(checkpoints.c.uuid.in_(select(model_versions.c.checkpoint_uuid)))
    )
    return sorted(conn.execute(query).scalars())


def _detailed() -> AnySelect:
    return select(model_versions, users.c.username).join(users, users.c.id == model_versions.c.user_id)
