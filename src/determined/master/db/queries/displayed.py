"""Displayed states in SQL: an ACTIVE trial or experiment shows how far its live allocations have come."""

from collections.abc import Sequence

from sqlalchemy import ColumnElement, and_, case, func, or_, select

from determined.master.db.schema import allocations, experiments, trials

# How far an allocation has come, as people see it; PENDING and ASSIGNED are both "queued".
_RANKS = {"PENDING": 0, "ASSIGNED": 0, "PULLING": 1, "STARTING": 2}
_RUNNING = 3
_SHOWN = {"QUEUED": 0, "PULLING": 1, "STARTING": 2, "RUNNING": _RUNNING}


def allocation_rank() -> ColumnElement[int]:
    return case(_RANKS, value=allocations.c.state, else_=_RUNNING)


def experiment_shows(wanted: Sequence[str]) -> ColumnElement[bool]:
    """Select experiments shown in one of the wanted states, stored or displayed (QUEUED, PULLING, STARTING, ...)."""
    own = trials.alias("own")
    furthest = (
        select(func.coalesce(func.max(allocation_rank()), 0))
        .select_from(own.join(allocations, allocations.c.trial_id == own.c.id))
        .where(own.c.experiment_id == experiments.c.id, allocations.c.state != "TERMINATED")
        .scalar_subquery()
    )
    return _shows(experiments.c.state, furthest, experiments.c.unmanaged, wanted)


def trial_shows(wanted: Sequence[str]) -> ColumnElement[bool]:
    furthest = (
        select(func.coalesce(func.max(allocation_rank()), 0))
        .where(allocations.c.trial_id == trials.c.id, allocations.c.state != "TERMINATED")
        .scalar_subquery()
    )
    owner = experiments.alias("owner")
    unmanaged = select(owner.c.unmanaged).where(owner.c.id == trials.c.experiment_id).scalar_subquery()
    return _shows(trials.c.state, furthest, unmanaged, wanted)


def _shows(
    state: ColumnElement[str],
    furthest: ColumnElement[int],
    unmanaged: ColumnElement[bool],
    wanted: Sequence[str],
) -> ColumnElement[bool]:
    stored = state.in_(list(wanted))
    shown = [_SHOWN[name] for name in wanted if name in _SHOWN]
    if not shown:
        return stored
    # nobody schedules an unmanaged run: while it is active, it runs
    rank = case((unmanaged, _RUNNING), else_=furthest)
    return or_(stored, and_(state == "ACTIVE", rank.in_(shown)))
