"""Preview of a keep policy: the checkpoints that it would delete."""

from sqlalchemy import Connection

from determined._json import JsonObject
from determined.config import ExperimentConfig
from determined.master.context import MasterContext
from determined.master.db.queries import experiment as experiments
from determined.master.lifecycle import checkpoint as lifecycle
from determined.master.lifecycle.checkpoint_gc_policy import Keep
from determined.master.services import checkpoint_view
from determined.wire.checkpoint import Checkpoint, PreviewCheckpointGC


async def preview(ctx: MasterContext, experiment_id: int, params: PreviewCheckpointGC) -> JsonObject:
    """List what a keep policy would delete, in the raw shape of PREVIEW_CHECKPOINT_GC."""

    def read(conn: Connection) -> JsonObject:
        row = experiments.get(conn, experiment_id)
        own = lifecycle.keep_of(ExperimentConfig.load(row.config).checkpoint_storage)
        keep = Keep(
            own.experiment_best if params.save_experiment_best is None else params.save_experiment_best,
            own.trial_best if params.save_trial_best is None else params.save_trial_best,
            own.trial_latest if params.save_trial_latest is None else params.save_trial_latest,
        )
        to_delete = checkpoint_view.load(conn, lifecycle.preview_garbage(conn, experiment_id, keep))
        return {"metric_name": row.searcher_metric, "checkpoints": [_raw(checkpoint) for checkpoint in to_delete]}

    return await ctx.db.read(read)


def _raw(checkpoint: Checkpoint) -> JsonObject:
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
