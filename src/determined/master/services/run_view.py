"""Runs as the wire shows them."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import Connection

from determined.master.db.queries import metric, run, trial_list
from determined.master.db.queries.run import ListedRun
from determined.master.services.experiment_view import shown_state
from determined.search.registry import is_multi_trial
from determined.wire.codec import rfc3339, rfc3339_or_none
from determined.wire.run import FlatRun, FlatRunExperiment
from determined.wire.trial import TrialState


def load(conn: Connection, now: datetime, ids: Sequence[int]) -> list[FlatRun]:
    summaries = metric.encoded_summaries(conn, ids)
    rows = run.load(conn, ids)
    allocations = trial_list.furthest_allocations(conn, [row.id for row in rows if row.state == "ACTIVE"])
    return [_run(row, now, summaries.get(row.id, {}), allocations.get(row.id)) for row in rows]


def _run(row: ListedRun, now: datetime, summary: metric.EncodedSummaries, allocation: str | None) -> FlatRun:
    """Show a run. The state is the stored one, as filters know it; the shown one says how far its allocation is."""
    return FlatRun(
        id=row.id,
        local_id=f"{row.project_key}-{row.id}" if row.project_key else None,
        state=TrialState("STATE_" + row.state),
        shown_state=TrialState("STATE_" + shown_state(row.state, allocation, unmanaged=row.unmanaged)),
        start_time=rfc3339(row.start_time),
        end_time=rfc3339_or_none(row.end_time),
        duration=int(((row.end_time or now) - row.start_time).total_seconds()),
        archived=row.archived or row.experiment_archived,
        parent_archived=row.project_archived or row.workspace_archived,
        checkpoint_count=row.checkpoint_count,
        checkpoint_size=str(row.checkpoint_size),
        project_id=row.project_id,
        project_name=row.project_name,
        workspace_id=row.workspace_id,
        workspace_name=row.workspace_name,
        hyperparameters=row.hparams,
        labels=row.labels,
        summary_metrics=summary,
        searcher_metric_value=row.best_validation_value,
        metadata=row.metadata,
        user_id=row.owner_id,
        external_run_id=row.external_id,
        log_policy_matched=row.log_policy_label,
        experiment=_experiment(row),
    )


def _experiment(row: ListedRun) -> FlatRunExperiment:
    return FlatRunExperiment(
        id=row.experiment_id,
        name=row.experiment_name,
        description=row.experiment_description or "",
        progress=row.experiment_progress or 0.0,
        resource_pool=row.pool,
        searcher_type=row.searcher_type or "",
        searcher_metric=row.searcher_metric or "",
        is_multitrial=is_multi_trial(row.searcher_type),
        unmanaged=row.unmanaged,
        forked_from=row.parent_id,
        external_experiment_id=row.external_experiment_id,
    )
