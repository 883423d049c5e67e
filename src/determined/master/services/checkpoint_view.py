"""Checkpoints as the wire shows them, with the validation that lies at their step."""

from collections.abc import Sequence

from sqlalchemy import Connection

from determined._json import JsonObject
from determined.errors import NotFound
from determined.master.db.queries import checkpoint_list, validation
from determined.master.db.queries.checkpoint_list import CheckpointDetail
from determined.master.db.queries.validation import Validation
from determined.master.services.experiment_view import masked
from determined.wire.checkpoint import Checkpoint, CheckpointState, CheckpointTrainingMetadata, Metrics
from determined.wire.codec import plain, rfc3339


def one(conn: Connection, uuid: str) -> Checkpoint:
    """Return one checkpoint. Raises NotFound."""
    checkpoints = load(conn, [uuid])
    if not checkpoints:
        raise NotFound(f"checkpoint {uuid} not found")
    return checkpoints[0]


def load(conn: Connection, uuids: Sequence[str]) -> list[Checkpoint]:
    rows = checkpoint_list.load(conn, uuids)
    places = [(row.trial_id, row.steps_completed) for row in rows if row.trial_id is not None]
    validated = validation.at_places(conn, places)
    trained = validation.at_places(conn, places, "training")
    configs = {i: masked(c) for i, c in checkpoint_list.experiment_configs(conn, rows).items()}
    return [_checkpoint(row, configs.get(row.experiment_id or 0), validated, trained) for row in rows]


Reports = dict[tuple[int, int], Validation]


def _checkpoint(row: CheckpointDetail, config: JsonObject | None, validated: Reports, trained: Reports) -> Checkpoint:
    place = (row.trial_id or 0, row.steps_completed)
    return Checkpoint(
        uuid=row.uuid,
        state=CheckpointState("STATE_" + row.state),
        metadata=plain(row.metadata),
        resources={path: str(size) for path, size in row.resources.items()},
        training=_training(row, config, validated.get(place), trained.get(place)),
        task_id=row.task_id,
        allocation_id=row.allocation_id,
        report_time=rfc3339(row.report_time),
        storage_id=row.storage_id,
    )


def _training(
    row: CheckpointDetail, config: JsonObject | None, validated: Validation | None, trained: Validation | None
) -> CheckpointTrainingMetadata:
    value = validated.metrics.get(row.searcher_metric) if validated and row.searcher_metric else None
    return CheckpointTrainingMetadata(
        experiment_id=row.experiment_id,
        experiment_config=config,
        trial_id=row.trial_id,
        hparams=plain(row.hparams),
        searcher_metric=value if isinstance(value, int | float) and not isinstance(value, bool) else None,
        validation_metrics=Metrics(avg_metrics=plain(validated.metrics) if validated else {}),
        training_metrics=Metrics(avg_metrics=plain(trained.metrics) if trained else {}),
    )
