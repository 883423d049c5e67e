"""Checkpoints in lists and one by one, with the experiment and trial they belong to."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeVarTuple

import msgspec
from sqlalchemy import BigInteger, ColumnElement, Connection, NotNullable, Select, func, select, type_coerce

from determined._json import JsonObject
from determined.master.db import fetch
from determined.master.db.queries.batching import batches, load_in_order
from determined.master.db.rows.checkpoints import Checkpoint
from determined.master.db.schema import checkpoints, experiments, storage_backends, trials
from determined.wire.base import OrderBy
from determined.wire.checkpoint import ListCheckpoints, SortBy

Ts = TypeVarTuple("Ts")


@dataclass(frozen=True, slots=True)
class CheckpointScope:
    """Scope of a list: one experiment or one trial."""

    experiment_id: int | None = None
    trial_id: int | None = None


class CheckpointPosition(msgspec.Struct, frozen=True):
    uuid: str
    trial_id: int
    steps_completed: int


class CheckpointDetail(Checkpoint, frozen=True):
    """A checkpoint with its experiment's metric and owner, its trial's hyperparameters and its own storage if any."""

    searcher_metric: str | None
    owner_id: int | None
    hparams: JsonObject | None
    storage: JsonObject | None


def find(
    conn: Connection, scope: CheckpointScope, params: ListCheckpoints, *, limit: int | None = None, offset: int = 0
) -> list[str]:
    """List the uuids of those that fit, in their order. `limit` and `offset` are rows, not those of `params`."""
    key = _sort_key(params.sort_by_attr or SortBy.UNSPECIFIED)
    tie = (checkpoints.c.trial_id, checkpoints.c.steps_completed, checkpoints.c.uuid)
    order = [c.desc() if params.order_by is OrderBy.DESC else c.asc() for c in (key, *tie)]
    query = _matching(select(checkpoints.c.uuid), scope, params).order_by(*order).offset(offset)
    return list(conn.execute(query.limit(limit) if limit is not None else query).scalars())


def count(conn: Connection, scope: CheckpointScope, params: ListCheckpoints) -> int:
    return conn.execute(_matching(select(func.count()).select_from(checkpoints), scope, params)).scalar_one()


def positions(conn: Connection, scope: CheckpointScope, params: ListCheckpoints) -> list[CheckpointPosition]:
    """List the position of every match: enough to sort by a metric without loading the checkpoints."""
    query = select(checkpoints.c.uuid, NotNullable(checkpoints.c.trial_id), checkpoints.c.steps_completed)
    return fetch.rows(conn, _matching(query, scope, params), CheckpointPosition)


def load(conn: Connection, uuids: Sequence[str]) -> list[CheckpointDetail]:
    """Read checkpoints with their details in the order of `uuids`; what does not exist is left out."""
    return load_in_order(conn, _detailed(), CheckpointDetail, checkpoints.c.uuid, uuids)


def experiment_configs(conn: Connection, rows: Sequence[Checkpoint]) -> dict[int, JsonObject]:
    """Return the config of each experiment that these checkpoints belong to, decoded once."""
    ids = sorted({row.experiment_id for row in rows if row.experiment_id is not None})
    configs: dict[int, JsonObject] = {}
    for some in batches(ids):
        query = select(experiments.c.id, experiments.c.config).where(experiments.c.id.in_(some))
        configs.update((experiment_id, config) for experiment_id, config in conn.execute(query))
    return configs


def at_steps(conn: Connection, trial_ids: Sequence[int]) -> list[Checkpoint]:
    """List COMPLETED checkpoints of some trials by trial and steps."""
    completed: list[Checkpoint] = []
    for some in batches(trial_ids):
        query = select(checkpoints).where(checkpoints.c.trial_id.in_(some), checkpoints.c.state == "COMPLETED")
        query = query.order_by(checkpoints.c.trial_id, checkpoints.c.steps_completed)
        completed.extend(fetch.rows(conn, query, Checkpoint))
    return completed


def _detailed() -> Select[*tuple[Any, ...]]:
    return (
        select(
            checkpoints,
            experiments.c.searcher_metric,
            experiments.c.owner_id,
            trials.c.hparams,
            storage_backends.c.config.label("storage"),
        )
        .outerjoin(experiments, experiments.c.id == checkpoints.c.experiment_id)
        .outerjoin(trials, trials.c.id == checkpoints.c.trial_id)
        .outerjoin(storage_backends, storage_backends.c.id == checkpoints.c.storage_id)
    )


def _matching(query: Select[*Ts], scope: CheckpointScope, params: ListCheckpoints) -> Select[*Ts]:
    if scope.experiment_id is not None:
        query = query.where(checkpoints.c.experiment_id == scope.experiment_id)
    if scope.trial_id is not None:
        query = query.where(checkpoints.c.trial_id == scope.trial_id)
    if params.states:
        query = query.where(checkpoints.c.state.in_([state.removeprefix("STATE_") for state in params.states]))
    return query


def _sort_key(sort: SortBy) -> ColumnElement[Any]:
    plain: dict[SortBy, ColumnElement[Any]] = {
        SortBy.UNSPECIFIED: checkpoints.c.trial_id,
        SortBy.UUID: checkpoints.c.uuid,
        SortBy.TRIAL_ID: checkpoints.c.trial_id,
        SortBy.BATCH_NUMBER: checkpoints.c.steps_completed,
        SortBy.END_TIME: type_coerce(checkpoints.c.report_time, BigInteger),
        SortBy.STATE: checkpoints.c.state,
    }
    return plain[sort]
