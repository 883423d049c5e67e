"""Trials in full, as bundles take them."""

from collections import defaultdict
from collections.abc import Sequence

from sqlalchemy import Connection

from determined.config import mask_secrets
from determined.master.context import MasterContext
from determined.master.db.queries import experiment as experiments
from determined.master.db.queries import trial_record as rows
from determined.master.db.queries.trial_record import StoredCheckpoint
from determined.master.db.rows.allocations import Allocation
from determined.master.db.rows.experiments import Trial
from determined.master.services import checkpoint_hashes
from determined.master.services.paging import window
from determined.wire.codec import float_to_wire, plain, rfc3339, rfc3339_or_none
from determined.wire.trial_record import (
    MOST,
    AllocationRecord,
    CheckpointRecord,
    ListTrialRecords,
    ListTrialRecordsResponse,
    SeriesRecord,
    TaskRecord,
    TrialRecord,
)


async def list_of_experiment(
    ctx: MasterContext, experiment_id: int, params: ListTrialRecords
) -> ListTrialRecordsResponse:
    """Return a page of the trials of an experiment with all that hangs on them. Raises NotFound."""

    def read(conn: Connection) -> ListTrialRecordsResponse:
        experiments.get(conn, experiment_id)
        limit = min(params.limit if params.limit and params.limit > 0 else MOST, MOST)
        page = window(rows.count(conn, experiment_id), limit, params.offset)
        found = rows.page(conn, experiment_id, limit, page.start_index or 0)
        return ListTrialRecordsResponse(trials=_records(conn, found), pagination=page)

    answer = await ctx.db.read(read)
    if params.hashes:
        await checkpoint_hashes.add(ctx, experiment_id, answer.trials)
    return answer


def _records(conn: Connection, trials: Sequence[Trial]) -> list[TrialRecord]:
    ids = [trial.id for trial in trials]
    tasks, allocations = _tasks(conn, ids), _allocations(conn, ids)
    series, checkpoints = _series(conn, ids), _checkpoints(conn, ids)
    return [
        _record(trial, tasks[trial.id], allocations[trial.id], series[trial.id], checkpoints[trial.id])
        for trial in trials
    ]


def _tasks(conn: Connection, ids: Sequence[int]) -> defaultdict[int, list[TaskRecord]]:
    lines = rows.log_lines(conn, ids)
    tasks_by_trial: defaultdict[int, list[TaskRecord]] = defaultdict(list)
    for row in rows.tasks_of(conn, ids):
        task = TaskRecord(
            id=row.id,
            start_time=rfc3339(row.start_time),
            end_time=rfc3339_or_none(row.end_time),
            log_retention_days=row.log_retention_days,
            log_lines=lines.get(row.id, 0),
        )
        tasks_by_trial[row.trial_id].append(task)
    return tasks_by_trial


def _allocations(conn: Connection, ids: Sequence[int]) -> defaultdict[int, list[AllocationRecord]]:
    allocations_by_trial: defaultdict[int, list[AllocationRecord]] = defaultdict(list)
    for row in rows.allocations_of(conn, ids):
        if row.trial_id is not None:
            allocations_by_trial[row.trial_id].append(_allocation(row))
    return allocations_by_trial


def _series(conn: Connection, ids: Sequence[int]) -> defaultdict[int, list[SeriesRecord]]:
    indexed = rows.indexed(conn, ids)
    series_by_trial: defaultdict[int, list[SeriesRecord]] = defaultdict(list)
    for row in rows.series_of(conn, ids):
        is_indexed = (row.trial_id, row.run_id, row.group) in indexed
        series = SeriesRecord(run_id=row.run_id, group=row.group, points=row.points, indexed=is_indexed)
        series_by_trial[row.trial_id].append(series)
    return series_by_trial


def _checkpoints(conn: Connection, ids: Sequence[int]) -> defaultdict[int, list[CheckpointRecord]]:
    checkpoints_by_trial: defaultdict[int, list[CheckpointRecord]] = defaultdict(list)
    for row in rows.checkpoints_of(conn, ids):
        if row.trial_id is not None:
            checkpoints_by_trial[row.trial_id].append(_checkpoint(row))
    return checkpoints_by_trial


def _allocation(row: Allocation) -> AllocationRecord:
    return AllocationRecord(
        id=row.id,
        task_id=row.task_id,
        run_id=row.run_id,
        slots=row.slots,
        pool=row.pool,
        requested_at=rfc3339(row.requested_at),
        assigned_at=rfc3339_or_none(row.assigned_at),
        started_at=rfc3339_or_none(row.started_at),
        ended_at=rfc3339_or_none(row.ended_at),
        exit_kind=row.exit_kind,
        exit_reason=row.exit_reason,
        exit_code=row.exit_code,
    )


def _checkpoint(row: StoredCheckpoint) -> CheckpointRecord:
    storage = None if row.storage is None else mask_secrets({"checkpoint_storage": row.storage})["checkpoint_storage"]
    return CheckpointRecord(
        uuid=row.uuid,
        task_id=row.task_id,
        state=row.state,
        steps_completed=row.steps_completed,
        metadata=plain(row.metadata),
        resources=row.resources,
        size=row.size,
        report_time=rfc3339(row.report_time),
        allocation_id=row.allocation_id,
        run_id=row.run_id,
        storage=storage,
    )


def _record(
    row: Trial,
    tasks: list[TaskRecord],
    allocations: list[AllocationRecord],
    series: list[SeriesRecord],
    checkpoints: list[CheckpointRecord],
) -> TrialRecord:
    return TrialRecord(
        id=row.id,
        request_id=row.request_id,
        task_id=row.task_id,
        state=row.state,
        hparams=plain(row.hparams),
        seed=row.seed,
        run_id=row.run_id,
        restarts=row.restarts,
        start_time=rfc3339(row.start_time),
        end_time=rfc3339_or_none(row.end_time),
        runner_state=row.runner_state,
        metadata=plain(row.metadata),
        progress=row.progress,
        early_stopped=row.early_stopped,
        stop_reason=row.stop_reason,
        early_exit=row.early_exit,
        warm_start_checkpoint=row.warm_start_checkpoint,
        steps_completed=row.steps_completed,
        latest_validation_step=row.latest_validation_step,
        latest_validation_value=_number(row.latest_validation_value),
        latest_validation_time=rfc3339_or_none(row.latest_validation_time),
        best_validation_step=row.best_validation_step,
        best_validation_value=_number(row.best_validation_value),
        best_validation_time=rfc3339_or_none(row.best_validation_time),
        latest_checkpoint=row.latest_checkpoint,
        log_retention_days=row.log_retention_days,
        log_policy_label=row.log_policy_label,
        external_id=row.external_id,
        last_activity=rfc3339_or_none(row.last_activity),
        archived=row.archived,
        tasks=tasks,
        allocations=allocations,
        series=series,
        checkpoints=checkpoints,
    )


def _number(value: float | None) -> float | str | None:
    return None if value is None else float_to_wire(value)
