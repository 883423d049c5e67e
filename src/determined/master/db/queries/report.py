"""Positions that a runner's journals have reached, and the allocation and trial they belong to."""

import msgspec
from sqlalchemy import Connection, bindparam, select, update

from determined.master.db import fetch
from determined.master.db.dialects import upsert
from determined.master.db.schema import allocations, report_positions, runners, trials


class Target(msgspec.Struct, frozen=True):
    """The runner that reports, its allocation and, for trials, the trial with its current run."""

    resource_id: str
    container_id: str
    node_id: str
    allocation_id: str
    allocation_state: str
    run_id: int
    drained: bool
    task_id: str
    trial_id: int | None
    trial_run_id: int | None
    experiment_id: int | None


# Statements of the reporting path are built once: building one costs more than running it.
_TARGET = (
    select(
        runners.c.resource_id,
        runners.c.container_id,
        runners.c.node_id,
        allocations.c.id.label("allocation_id"),
        allocations.c.state.label("allocation_state"),
        allocations.c.run_id,
        runners.c.drained,
        allocations.c.task_id,
        allocations.c.trial_id,
        trials.c.run_id.label("trial_run_id"),
        trials.c.experiment_id,
    )
    .join(allocations, allocations.c.id == runners.c.allocation_id)
    .outerjoin(trials, trials.c.id == allocations.c.trial_id)
    .where(runners.c.resource_id == bindparam("resource_id"), allocations.c.id == bindparam("allocation_id"))
)
_POSITIONS = select(report_positions.c.source, report_positions.c.position).where(
    report_positions.c.resource_id == bindparam("resource_id")
)


def target(conn: Connection, allocation_id: str, resource_id: str) -> Target | None:
    return fetch.row(conn, _TARGET, Target, {"resource_id": resource_id, "allocation_id": allocation_id})


def positions(conn: Connection, resource_id: str) -> dict[str, int]:
    rows = conn.execute(_POSITIONS, {"resource_id": resource_id})
    return dict(rows.all())


def advance(conn: Connection, resource_id: str, reached: dict[str, int]) -> None:
    rows = [{"resource_id": resource_id, "source": s, "position": p} for s, p in reached.items()]
    upsert(conn, report_positions, rows, ["resource_id", "source"])


def set_runner_state(conn: Connection, trial_id: int, text: str) -> None:
    conn.execute(update(trials).where(trials.c.id == trial_id).values(runner_state=text))
