"""Checkpoint events inside a write transaction: reported, marked for deletion, deleted; and the garbage collection.

`trials.latest_checkpoint` is kept here: the COMPLETED checkpoint with the most steps that nobody has asked to delete.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from sqlalchemy import Connection

from determined._json import JsonObject
from determined.errors import Conflict, FailedPrecondition, InvalidArgument, NotFound
from determined.master.db import fetch
from determined.master.db.queries import checkpoint as rows
from determined.master.db.queries import model_version as model_versions
from determined.master.db.queries import storage_backend as storages
from determined.master.db.queries import validation as validations
from determined.master.db.rows.checkpoints import CheckpointValues
from determined.master.lifecycle import checkpoint_gc_policy
from determined.storage.checkpoint_id import is_checkpoint_id
from determined.storage.listing import match_globs
from determined.storage.manifest import METADATA_NAME
from determined.storage.section import CheckpointStorage
from determined.wire.run import PREPARE_FOR_REPORTING

COMPLETED = "COMPLETED"
PARTIALLY_DELETED = "PARTIALLY_DELETED"
DELETED = "DELETED"
ERROR = "ERROR"
_NAMED = 5  # checkpoints that a message names
_NOT_REQUESTED: CheckpointValues = {"delete_requested_at": None, "delete_globs": None}


def report(
    conn: Connection,
    now: datetime,
    *,
    trial_id: int,
    allocation_id: str | None,
    run_id: int | None,
    uuid: str,
    steps: int,
    metadata: JsonObject,
    resources: dict[str, int],
    time: float | None,
    storage_id: int | None,
) -> None:
    """Store a checkpoint that is complete in its storage. The same uuid again from the same trial changes nothing."""
    if not is_checkpoint_id(uuid):
        raise InvalidArgument(f"checkpoint id {uuid!r} is not a UUID in its usual form; report str(uuid.uuid4())")
    earlier = rows.owner(conn, uuid)
    if earlier == trial_id:
        return
    if earlier is not None:
        raise Conflict(f"checkpoint {uuid} already belongs to trial {earlier}, not {trial_id}; use a new uuid")
    trial = fetch.existing(rows.reporting_trial(conn, trial_id), f"trial {trial_id} not found")
    if storage_id is not None and not storages.is_allowed(conn, trial_id, storage_id):
        # Its files would be read, served and deleted there with the credentials of whoever that storage belongs to.
        raise NotFound(f"trial {trial_id} has no storage {storage_id}; call {PREPARE_FOR_REPORTING.path} first")
    rows.insert_row(
        conn,
        {
            "uuid": uuid,
            "task_id": trial.task_id,
            "allocation_id": allocation_id,
            "trial_id": trial_id,
            "experiment_id": trial.experiment_id,
            "run_id": run_id,
            "state": COMPLETED,
            "steps_completed": steps,
            "metadata": {**metadata, "steps_completed": steps},
            "resources": resources,
            "size": sum(resources.values()),
            "report_time": datetime.fromtimestamp(time, UTC) if time is not None else now,
            "storage_id": _storage_id(conn, trial_id) if storage_id is None else storage_id,
        },
    )
    rows.refresh_trials(conn, [trial_id])


def _storage_id(conn: Connection, trial_id: int) -> int | None:
    """Return the id of the experiment's storage as its config has it now: a continued one may save elsewhere later."""
    config = storages.of_trial(conn, trial_id)
    return None if config is None else storages.ensure(conn, config)


def request_delete(conn: Connection, now: datetime, uuids: Sequence[str], globs: Sequence[str] | None = None) -> None:
    """Mark checkpoints for the background deleter: all their files, or those that match `globs`."""
    check_globs(globs)
    rows.require_all(conn, uuids)
    refuse_registered(conn, uuids, "deleted")
    rows.mark_for_deletion(conn, now, uuids, globs)
    rows.refresh_trials(conn, rows.trials_of(conn, uuids))


def refuse_registered(conn: Connection, uuids: Sequence[str], what: str) -> None:
    """Raise FailedPrecondition for checkpoints that are versions of models. `what`: `deleted`, `patched`."""
    registered = model_versions.registered(conn, uuids)
    if registered:
        raise FailedPrecondition(
            f"checkpoints {', '.join(registered[:_NAMED])} are in the model registry and cannot be {what}; delete their"
            " model versions first"
        )


def check_globs(globs: Iterable[str] | None) -> None:
    for glob in globs or ():
        if not glob or ".." in glob:
            raise InvalidArgument(f"glob {glob!r} is not allowed; name files inside the checkpoint, without '..'")
        try:
            match_globs((), [glob])
        except ValueError as err:
            # Found out by the deleter, it would look as if the files could not be deleted: the checkpoint is lost then.
            raise InvalidArgument(str(err)) from err


@dataclass(frozen=True, slots=True)
class Deletion:
    """A request as it was when somebody set out to fulfil it; one made since then stays to be fulfilled."""

    requested_at: datetime | None
    globs: list[str] | None


def files_left(conn: Connection, uuid: str, resources: dict[str, int], fulfilled: Deletion | None = None) -> None:
    """Record what a deletion left: nothing -> DELETED, other files -> PARTIALLY_DELETED, the same -> unchanged.

    A deleted one still shows what it held; its size counts no more.
    """
    row = rows.state_of(conn, uuid)
    if row is None:
        return
    values = _after(row.state, row.resources, resources)
    if fulfilled == Deletion(row.delete_requested_at, row.delete_globs):
        values.update(_NOT_REQUESTED)
    rows.update_row(conn, uuid, values)
    _refresh_owner(conn, uuid)


def deletion_failed(conn: Connection, uuid: str, attempted: Deletion) -> None:
    """Record that files could not be removed: what is left cannot be trusted, so nothing resumes from it."""
    row = rows.state_of(conn, uuid)
    if row is None or attempted != Deletion(row.delete_requested_at, row.delete_globs):
        return
    rows.update_row(conn, uuid, {"state": ERROR, **_NOT_REQUESTED})
    _refresh_owner(conn, uuid)


def collect_garbage(conn: Connection, now: datetime, experiment_id: int) -> list[str]:
    """Apply the experiment's keep policy: mark what it does not keep. Returns the uuids marked."""
    to_delete = preview_garbage(conn, experiment_id)
    rows.mark_for_deletion(conn, now, to_delete, None)
    rows.refresh_trials(conn, rows.trials_of(conn, to_delete))
    rows.set_gc_time(conn, experiment_id, now)
    return to_delete


def preview_garbage(conn: Connection, experiment_id: int, keep: checkpoint_gc_policy.Keep | None = None) -> list[str]:
    """List what `collect_garbage` would delete now, under the experiment's own policy or the given one."""
    settings = fetch.existing(rows.gc_settings(conn, experiment_id), f"experiment {experiment_id} not found")
    candidates = _candidates(conn, experiment_id)
    policy = keep or keep_of(CheckpointStorage.load(settings.storage or {}))
    kept = checkpoint_gc_policy.select_kept(candidates, policy, smaller_is_better=settings.smaller_is_better)
    kept |= rows.exempt(conn, experiment_id)
    return sorted(c.uuid for c in candidates if c.uuid not in kept)


def keep_of(storage: CheckpointStorage) -> checkpoint_gc_policy.Keep:
    """Read the keep policy of an experiment."""
    return checkpoint_gc_policy.Keep(storage.save_experiment_best, storage.save_trial_best, storage.save_trial_latest)


def _candidates(conn: Connection, experiment_id: int) -> list[checkpoint_gc_policy.Candidate]:
    completed = rows.gc_candidates(conn, experiment_id)
    values = validations.searcher_values(conn, [(c.trial_id, c.steps_completed) for c in completed])
    return [_candidate(c.uuid, c.trial_id, c.steps_completed, values) for c in completed]


def _candidate(uuid: str, trial_id: int, steps: int, values: validations.Values) -> checkpoint_gc_policy.Candidate:
    value, time = values.get((trial_id, steps), (None, 0.0))
    return checkpoint_gc_policy.Candidate(uuid, trial_id, steps, value, time)


def _after(state: str, before: dict[str, int], after: dict[str, int]) -> CheckpointValues:
    if not after:
        return {"state": DELETED, "size": 0}
    if METADATA_NAME not in before:  # written beside what was reported; that it is there is no change
        after = {path: size for path, size in after.items() if path != METADATA_NAME}
    return {
        "state": state if after == before else PARTIALLY_DELETED,
        "resources": after,
        "size": sum(after.values()),
    }


def _refresh_owner(conn: Connection, uuid: str) -> None:
    trial_id = rows.owner(conn, uuid)
    if trial_id is not None:
        rows.refresh_trials(conn, [trial_id])
