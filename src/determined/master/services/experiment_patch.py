"""PATCH of an experiment: an absent field stays, a null clears, and GC settings take effect at once."""

from datetime import datetime

from msgspec import UNSET, UnsetType
from sqlalchemy import Connection

from determined.errors import Conflict, FailedPrecondition, InvalidArgument
from determined.master.auth.identity import Caller, require_owner
from determined.master.context import MasterContext
from determined.master.db.queries import experiment as rows
from determined.master.db.queries import experiment_edit
from determined.master.db.rows.experiments import Experiment as ExperimentRow
from determined.master.db.rows.experiments import ExperimentValues, JobValues
from determined.master.lifecycle import checkpoint as checkpoints
from determined.master.lifecycle import experiment as lifecycle
from determined.master.services import experiment_view
from determined.master.services.experiment import announce
from determined.master.services.naming import checked_labels, checked_text
from determined.wire.experiment import (
    Experiment,
    PatchExperiment,
    PatchExperimentPatchCheckpointStorage,
    PatchExperimentPatchResources,
)


async def patch(ctx: MasterContext, caller: Caller, experiment_id: int, request: PatchExperiment) -> Experiment:
    """Everybody edits texts and resources. Which checkpoints are kept, and so deleted, is its owner's to say."""

    def run(conn: Connection) -> Experiment:
        now = ctx.clock.now()
        if request.checkpoint_storage is not None:
            require_owner(caller, rows.get(conn, experiment_id).owner_id, f"experiment {experiment_id}")
        _apply(conn, now, experiment_id, request)
        return experiment_view.one(conn, now, experiment_id)

    experiment = await ctx.db.write(run)
    announce(ctx, experiment_id)
    return experiment


def _apply(conn: Connection, now: datetime, experiment_id: int, request: PatchExperiment) -> None:
    row = rows.get(conn, experiment_id)
    if row.archived:
        raise FailedPrecondition(f"experiment {experiment_id} is archived; unarchive it to change it")
    _refuse_overwriting(row, request)
    experiment_edit.set_values(conn, experiment_id, _texts(row, request))
    if request.resources is not None:
        _set_resources(conn, now, experiment_id, request.resources)
    if request.checkpoint_storage is not None:
        _set_keep_policy(conn, now, experiment_id, request.checkpoint_storage)


def _refuse_overwriting(row: ExperimentRow, request: PatchExperiment) -> None:
    """Refuse, with the text as it is, when somebody else has changed what the author began with. Raises Conflict."""
    texts = (
        ("notes", row.notes, request.expected_notes),
        ("description", row.description, request.expected_description),
    )
    for name, stored, expected in texts:
        current = stored or ""
        if expected is not None and expected != current:
            raise Conflict(
                f"the {name} of experiment {row.id} have changed meanwhile; look at them and save again",
                current=current,
            )


def _texts(row: ExperimentRow, request: PatchExperiment) -> ExperimentValues:
    """Name, description and labels live in the row and in the active config."""
    changes: ExperimentValues = {}
    if not isinstance(request.name, UnsetType):
        changes["name"] = _name(request.name)
    if not isinstance(request.description, UnsetType):
        changes["description"] = request.description
    if not isinstance(request.labels, UnsetType):
        changes["labels"] = checked_labels(request.labels or [])
    if changes:
        changes["config"] = {**row.config, **changes}
    if not isinstance(request.notes, UnsetType):
        changes["notes"] = request.notes or ""
    return changes


def _name(name: str | None) -> str:
    if name is None or not name.strip():
        raise InvalidArgument("name must not be blank")
    return checked_text(name, "name")


def _set_resources(conn: Connection, now: datetime, experiment_id: int, request: PatchExperimentPatchResources) -> None:
    changes: JobValues = {}
    if isinstance(request.priority, int):
        changes["priority"] = request.priority
    if isinstance(request.weight, int | float):
        changes["weight"] = request.weight
    if request.max_slots is not UNSET:
        changes["max_slots"] = request.max_slots
    lifecycle.set_resources(conn, now, experiment_id, changes)


def _set_keep_policy(
    conn: Connection, now: datetime, experiment_id: int, request: PatchExperimentPatchCheckpointStorage
) -> None:
    given = {
        "save_experiment_best": request.save_experiment_best,
        "save_trial_best": request.save_trial_best,
        "save_trial_latest": request.save_trial_latest,
    }
    changes = {name: value for name, value in given.items() if value is not None}
    for name, value in changes.items():
        if value < 0:
            raise InvalidArgument(f"{name}={value} must not be negative")
    config = rows.get(conn, experiment_id).config
    storage = {**(config.get("checkpoint_storage") or {}), **changes}
    experiment_edit.set_values(conn, experiment_id, {"config": {**config, "checkpoint_storage": storage}})
    checkpoints.collect_garbage(conn, now, experiment_id)
