"""Workloads of a trial, step by step: training and validation reports and checkpoints in one list."""

from sqlalchemy import Connection

from determined.master.context import MasterContext
from determined.master.db.queries import checkpoint_list, validation
from determined.master.db.queries import trial as trials
from determined.master.db.queries.checkpoint_list import CheckpointScope
from determined.master.db.queries.validation import Validation
from determined.master.services.downsample import is_number
from determined.master.services.metric import moment
from determined.master.services.paging import page
from determined.master.services.trial_view import checkpoint_workload
from determined.wire.base import OrderBy
from determined.wire.checkpoint import CheckpointState, ListCheckpoints, Metrics
from determined.wire.codec import plain
from determined.wire.trial import (
    GetTrialWorkloadsRequestFilterOption,
    GetTrialWorkloadsResponse,
    ListTrialWorkloads,
    MetricsWorkload,
    MetricType,
    WorkloadContainer,
)

DEFAULT_LIMIT = 100
_STORED = (
    CheckpointState.COMPLETED,
    CheckpointState.PARTIALLY_DELETED,
    CheckpointState.ERROR,
    CheckpointState.DELETED,
)


async def workloads(ctx: MasterContext, trial_id: int, params: ListTrialWorkloads) -> GetTrialWorkloadsResponse:
    def read(conn: Connection) -> list[WorkloadContainer]:
        trials.get(conn, trial_id)
        return _collect(conn, trial_id, params)

    every = _ordered(await ctx.db.read(read), params.sort_key or "batches", params.order_by is OrderBy.DESC)
    shown, pagination = page(every, params.limit or DEFAULT_LIMIT, params.offset)
    return GetTrialWorkloadsResponse(workloads=shown, pagination=pagination)


def _collect(conn: Connection, trial_id: int, params: ListTrialWorkloads) -> list[WorkloadContainer]:
    containers: list[WorkloadContainer] = []
    only = GetTrialWorkloadsRequestFilterOption
    option = params.filter or only.UNSPECIFIED
    training = params.group or "training"
    if option is only.UNSPECIFIED and params.metric_type is not MetricType.VALIDATION:
        reports = validation.of_trial(conn, trial_id, training)
        containers += [WorkloadContainer(training=_metrics(report)) for report in reports]
    if option is not only.CHECKPOINT and params.metric_type is not MetricType.TRAINING:
        containers += [WorkloadContainer(validation=_metrics(r)) for r in validation.of_trial(conn, trial_id)]
    if option is not only.VALIDATION:
        deleted = CheckpointState.DELETED
        states = [s for s in _STORED if s is not deleted or not params.remove_deleted_checkpoints]
        uuids = checkpoint_list.find(conn, CheckpointScope(trial_id=trial_id), ListCheckpoints(states=states))
        rows = checkpoint_list.load(conn, uuids)
        containers += [WorkloadContainer(checkpoint=checkpoint_workload(row)) for row in rows]
    return containers


def _metrics(report: Validation) -> MetricsWorkload:
    return MetricsWorkload(
        metrics=Metrics(avg_metrics=plain(report.metrics)),
        num_inputs=0,
        total_batches=report.steps,
        end_time=moment(report.time),
    )


def _ordered(every: list[WorkloadContainer], key: str, descending: bool) -> list[WorkloadContainer]:
    """Sort by batches, or by a metric of that name; what has no such number comes last, whichever way."""
    by_place = sorted(every, key=_place, reverse=descending)
    if key == "batches":
        return by_place
    values = [(_value(workload, key), workload) for workload in by_place]
    valued = [(value, workload) for value, workload in values if value is not None]
    valued.sort(key=lambda pair: pair[0], reverse=descending)
    return [workload for _, workload in valued] + [workload for value, workload in values if value is None]


def _place(workload: WorkloadContainer) -> tuple[int, int]:
    """Return the step, and within it reports before checkpoints."""
    report = workload.validation or workload.training
    steps = report.total_batches if report else workload.checkpoint.total_batches if workload.checkpoint else 0
    return steps, 0 if workload.training else 1 if workload.validation else 2


def _value(workload: WorkloadContainer, key: str) -> float | None:
    report = workload.validation or workload.training
    value = report.metrics.avg_metrics.get(key) if report else None
    return float(value) if is_number(value) else None
