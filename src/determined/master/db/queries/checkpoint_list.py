"""Checkpoints in lists and one by one, with the experiment and trial they belong to."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, TypeVarTuple

from sqlalchemy import BigInteger, ColumnElement, Connection, Select, func, select, type_coerce

from determined.master.db.queries.batching import AnyRow, batches
from determined.master.db.schema import checkpoints, experiments, storage_backends, trials

Ts = TypeVarTuple("Ts")


class CheckpointSort(StrEnum):
    UUID = "UUID"
    TRIAL_ID = "TRIAL_ID"
    BATCH_NUMBER = "BATCH_NUMBER"
    END_TIME = "END_TIME"
    STATE = "STATE"


@dataclass(frozen=True, slots=True)
class CheckpointFilter:
    """Of one experiment or one trial; no states means any."""

    experiment_id: int | None = None
    trial_id: int | None = None
    states: Sequence[str] = ()


def find(
    conn: Connection,
    where: CheckpointFilter,
    *,
    sort: CheckpointSort = CheckpointSort.TRIAL_ID,
    descending: bool = False,
    limit: int | None = None,
    offset: int = 0,
) -> list[str]:
    key = _sort_key(sort)
    tie = (checkpoints.c.trial_id, checkpoints.c.steps_completed, checkpoints.c.uuid)
    order = [c.desc() if descending else c.asc() for c in (key, *tie)]
    query = _matching(select(checkpoints.c.uuid), where).order_by(*order).offset(offset)
    return list(conn.execute(query.limit(limit) if limit is not None else query).scalars())


def count(conn: Connection, where: CheckpointFilter) -> int:
    total: int = conn.execute(_matching(select(func.count()).select_from(checkpoints), where)).scalar_one()
    return total


def positions(conn: Connection, where: CheckpointFilter) -> list[AnyRow]:
    """uuid, trial and steps of every match: enough to sort by a metric without loading the checkpoints."""
    query = select(checkpoints.c.uuid, checkpoints.c.trial_id, checkpoints.c.steps_completed)
    return list(conn.execute(_matching(query, where)))


def load(conn: Connection, uuids: Sequence[str]) -> list[AnyRow]:
    """Checkpoints with their trial's hyperparameters and their own storage if any, in the order of `uuids`."""
    found: dict[str, AnyRow] = {}
    for some in batches(uuids):
        found.update((row.uuid, row) for row in conn.execute(_detailed().where(checkpoints.c.uuid.in_(some))))
    return [found[u] for u in uuids if u in found]


def experiment_configs(conn: Connection, rows: Sequence[AnyRow]) -> dict[int, dict[str, Any]]:
    """The config of each experiment that these checkpoints belong to, decoded once."""
    ids = sorted({row.experiment_id for row in rows if row.experiment_id is not None})
    found: dict[int, dict[str, Any]] = {}
    for some in batches(ids):
        query = select(experiments.c.id, experiments.c.config).where(experiments.c.id.in_(some))
        found.update((experiment_id, config) for experiment_id, config in conn.execute(query))
    return found


def at_steps(conn: Connection, trial_ids: Sequence[int]) -> list[AnyRow]:
    """COMPLETED checkpoints of some trials, for what each trial's best one is."""
    found: list[AnyRow] = []
    for some in batches(trial_ids):
        query = select(checkpoints).where(checkpoints.c.trial_id.in_(some), checkpoints.c.state == "COMPLETED")
        found.extend(conn.execute(query.order_by(checkpoints.c.trial_id, checkpoints.c.steps_completed)))
    return found


def _detailed() -> Select[Any]:
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


def _matching(query: Select[*Ts], where: CheckpointFilter) -> Select[*Ts]:
    if where.experiment_id is not None:
        query = query.where(checkpoints.c.experiment_id == where.experiment_id)
    if where.trial_id is not None:
        query = query.where(checkpoints.c.trial_id == where.trial_id)
    if where.states:
        query = query.where(checkpoints.c.state.in_(where.states))
    return query


def _sort_key(sort: CheckpointSort) -> ColumnElement[Any]:
    plain: dict[CheckpointSort, ColumnElement[Any]] = {
        CheckpointSort.UUID: checkpoints.c.uuid,
        CheckpointSort.TRIAL_ID: checkpoints.c.trial_id,
        CheckpointSort.BATCH_NUMBER: checkpoints.c.steps_completed,
        CheckpointSort.END_TIME: type_coerce(checkpoints.c.report_time, BigInteger),
        CheckpointSort.STATE: checkpoints.c.state,
    }
    return plain[sort]
