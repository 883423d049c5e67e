"""What a keep policy would delete, shown before anybody agrees to it."""

from typing import Any

from sqlalchemy import Connection

from determined.master.context import MasterContext
from determined.master.db.queries import experiment as experiments
from determined.master.lifecycle import checkpoint as lifecycle
from determined.master.lifecycle.gc_policy import Keep
from determined.master.services import checkpoint_view
from determined.wire.checkpoint import Checkpoint


async def preview(
    ctx: MasterContext,
    experiment_id: int,
    experiment_best: int | None,
    trial_best: int | None,
    trial_latest: int | None,
) -> dict[str, Any]:
    """In the raw shape of `/experiments/{id}/preview_gc`; numbers not given are those of the experiment's config."""

    def read(conn: Connection) -> dict[str, Any]:
        row = experiments.get(conn, experiment_id)
        own = lifecycle.keep_of(row.config.get("checkpoint_storage") or {})
        keep = Keep(
            own.experiment_best if experiment_best is None else experiment_best,
            own.trial_best if trial_best is None else trial_best,
            own.trial_latest if trial_latest is None else trial_latest,
        )
        doomed = checkpoint_view.load(conn, lifecycle.preview_garbage(conn, experiment_id, keep))
        return {"metric_name": row.searcher_metric, "checkpoints": [_raw(checkpoint) for checkpoint in doomed]}

    return await ctx.db.read(read)


def _raw(checkpoint: Checkpoint) -> dict[str, Any]:
    metrics = checkpoint.training.validation_metrics
    validated = metrics.avg_metrics if metrics else {}
    return {
        "UUID": checkpoint.uuid,
        "TrialID": checkpoint.training.trial_id,
        "StepsCompleted": checkpoint.metadata.get("steps_completed"),
        "State": checkpoint.state.removeprefix("STATE_"),
        "ReportTime": checkpoint.report_time,
        "Resources": checkpoint.resources,
        "ValidationMetrics": validated,
        "step": {"validation": {"metrics": {"validation_metrics": validated}}} if validated else {},
    }
