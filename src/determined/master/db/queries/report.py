"""Positions that a runner's journals have reached, and the allocation and trial they belong to."""

from collections.abc import Collection

import msgspec
from sqlalchemy import Connection, bindparam, select, update

from determined.master.db import fetch
from determined.master.db.dialects import upsert
from determined.master.db.prepared import prepare
from determined.master.db.schema import (
    allocations,
    experiments,
    report_positions,
    runners,
    trials,
    unmanaged_report_positions,
)


class Target(msgspec.Struct, frozen=True):
    """The runner that reports, its allocation and, for trials, the trial with its current run.

    An unmanaged trial has neither runner nor allocation; their texts are empty.
    """

    resource_id: str
    container_id: str
    node_id: str
    allocation_id: str
    allocation_state: str
    run_id: int
    drained: bool
    is_over: bool  # the allocation has ended and everything that its runners said was written
    task_id: str
    trial_id: int | None
    trial_run_id: int | None
    experiment_id: int | None


class _UnmanagedTrial(msgspec.Struct, frozen=True):
    task_id: str
    trial_run_id: int
    experiment_id: int


# Statements of the reporting path are built once: building one costs more than running it.
_TARGET = prepare(
    select(
        runners.c.resource_id,
        runners.c.container_id,
        runners.c.node_id,
        allocations.c.id.label("allocation_id"),
        allocations.c.state.label("allocation_state"),
        allocations.c.run_id,
        runners.c.drained,
        allocations.c.drained.label("is_over"),
        allocations.c.task_id,
        allocations.c.trial_id,
        trials.c.run_id.label("trial_run_id"),
        trials.c.experiment_id,
    )
    .join(allocations, allocations.c.id == runners.c.allocation_id)
    .outerjoin(trials, trials.c.id == allocations.c.trial_id)
    .where(runners.c.resource_id == bindparam("resource_id"), allocations.c.id == bindparam("allocation_id"))
)
_POSITIONS = prepare(
    select(report_positions.c.source, report_positions.c.position).where(
        report_positions.c.resource_id == bindparam("resource_id")
    )
)

_UNMANAGED = (
    select(trials.c.task_id, trials.c.run_id.label("trial_run_id"), trials.c.experiment_id)
    .join(experiments, experiments.c.id == trials.c.experiment_id)
    .where(trials.c.id == bindparam("trial"), experiments.c.unmanaged)
)
_P = unmanaged_report_positions.c
_UNMANAGED_POSITIONS = select(_P.source, _P.position).where(
    _P.trial_id == bindparam("trial"), _P.source.in_(bindparam("sources", expanding=True))
)


def target(conn: Connection, allocation_id: str, resource_id: str) -> Target | None:
    return fetch.row(conn, _TARGET, Target, {"resource_id": resource_id, "allocation_id": allocation_id})


def positions(conn: Connection, resource_id: str) -> dict[str, int]:
    return dict(fetch.tuples(conn, _POSITIONS, {"resource_id": resource_id}))


def advance(conn: Connection, resource_id: str, reached: dict[str, int]) -> None:
    rows = [{"resource_id": resource_id, "source": s, "position": p} for s, p in reached.items()]
    upsert(conn, report_positions, rows, ["resource_id", "source"])


def unmanaged_target(conn: Connection, trial_id: int, run_id: int) -> Target | None:
    """Return whom a run of an unmanaged trial reports for; None for other trials."""
    row = fetch.row(conn, _UNMANAGED, _UnmanagedTrial, {"trial": trial_id})
    if row is None:
        return None
    return Target("", "", "", "", "", run_id, False, False, row.task_id, trial_id, row.trial_run_id, row.experiment_id)


def unmanaged_positions(conn: Connection, trial_id: int, sources: Collection[str]) -> dict[str, int]:
    """Return how far these journals have come; a trial may have had thousands, a few for each of its processes."""
    rows = conn.execute(_UNMANAGED_POSITIONS, {"trial": trial_id, "sources": list(sources)})
    return dict(rows.all())


def advance_unmanaged(conn: Connection, trial_id: int, reached: dict[str, int]) -> None:
    rows = [{"trial_id": trial_id, "source": s, "position": p} for s, p in reached.items()]
    upsert(conn, unmanaged_report_positions, rows, ["trial_id", "source"])


def set_runner_state(conn: Connection, trial_id: int, text: str) -> None:
    conn.execute(update(trials).where(trials.c.id == trial_id).values(runner_state=text))
