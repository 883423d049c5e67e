"""Queries of checkpoints, their storages, what trials were started from, and the changes that `/stream` tells."""

import pytest
from database_world import AWKWARD, NOW, World, after
from sqlalchemy import Connection

from determined.errors import NotFound
from determined.master.db.queries import (
    change,
    change_rows,
    checkpoint,
    checkpoint_list,
    storage_backend,
    streamed,
    trial,
    trial_source,
)
from determined.master.db.queries.checkpoint_list import CheckpointScope
from determined.wire.base import OrderBy
from determined.wire.checkpoint import CheckpointState, ListCheckpoints

NO_FILTER = ListCheckpoints()
MANY = [f"missing-{n}" for n in range(2000)]  # beyond what one statement may bind


def test_a_checkpoint_comes_back_as_it_was_stored(conn: Connection, world: World) -> None:
    trial_id = world.trial(world.experiment({}), {})
    uuid = world.checkpoint(trial_id, {"metadata": {"a": AWKWARD, "n": 2**60}, "resources": {AWKWARD: 2**50}})
    state = checkpoint.state_of(conn, uuid)
    assert state is not None
    assert (state.metadata, state.resources, state.trial_id) == ({"a": AWKWARD, "n": 2**60}, {AWKWARD: 2**50}, trial_id)
    assert (checkpoint.owner(conn, uuid), checkpoint.owner(conn, "nowhere")) == (trial_id, None)
    assert checkpoint.state_of(conn, "nowhere") is None
    checkpoint.require_all(conn, [uuid])
    with pytest.raises(NotFound, match="missing-1999"):
        checkpoint.require_all(conn, [uuid, *MANY])
    reporting = checkpoint.reporting_trial(conn, trial_id)
    assert reporting is not None
    assert checkpoint.reporting_trial(conn, 2**62) is None
    of_task = checkpoint.trial_of_task(conn, reporting.task_id)
    assert of_task is not None
    assert (of_task.id, of_task.experiment_id) == (trial_id, reporting.experiment_id)
    assert checkpoint.trial_of_task(conn, "nowhere") is None


def test_a_pending_deletion_is_widened_and_never_narrowed(conn: Connection, world: World) -> None:
    trial_id = world.trial(world.experiment({}), {})
    uuid, gone = world.checkpoint(trial_id, {}), world.checkpoint(trial_id, {"state": "DELETED"})
    checkpoint.mark_for_deletion(conn, NOW, [uuid, gone, *MANY], ["a*"])
    checkpoint.mark_for_deletion(conn, after(1), [uuid], ["b*", "a*"])
    (pending,) = checkpoint.pending_deletions(conn, 10)
    assert (pending.uuid, pending.delete_globs, pending.delete_requested_at) == (uuid, ["a*", "b*"], after(1))
    checkpoint.mark_for_deletion(conn, after(2), [uuid], None)
    (pending,) = checkpoint.pending_deletions(conn, 10, uuid)
    assert pending.delete_globs is None
    assert checkpoint.pending_deletions(conn, 10, "nowhere") == []
    assert checkpoint.trials_of(conn, [uuid, *MANY]) == [trial_id]


def test_what_a_live_experiment_starts_from_is_not_deleted(conn: Connection, world: World) -> None:
    experiment_id = world.experiment({})
    trial_id = world.trial(experiment_id, {})
    uuid = world.checkpoint(trial_id, {})
    starter = world.experiment({"warm_start_checkpoint": uuid})
    checkpoint.mark_for_deletion(conn, NOW, [uuid], None)
    assert checkpoint.pending_deletions(conn, 10) == []
    assert checkpoint.live_starters(conn, experiment_id) == [starter]
    assert checkpoint.exempt(conn, starter) == {uuid}


def test_the_summary_of_a_trial_follows_its_checkpoints(conn: Connection, world: World) -> None:
    trial_id = world.trial(world.experiment({}), {})
    uuid = world.checkpoint(trial_id, {"size": 2**40})
    world.checkpoint(trial_id, {"steps_completed": 500, "delete_requested_at": NOW, "size": 1})
    checkpoint.refresh_trials(conn, [trial_id, *range(2**40, 2**40 + 2000)])
    row = trial.get(conn, trial_id)
    assert (row.latest_checkpoint, row.checkpoint_count, row.checkpoint_size) == (uuid, 2, 2**40 + 1)
    checkpoint.update_row(conn, uuid, {"state": "DELETED", "size": 0})
    checkpoint.refresh_trials(conn, [trial_id])
    row = trial.get(conn, trial_id)
    assert (row.latest_checkpoint, row.checkpoint_count) == (None, 1)


def test_an_ended_experiment_is_due_for_its_keep_policy_once(conn: Connection, world: World) -> None:
    config = {"checkpoint_storage": {"type": "shared_fs", "save_trial_best": 0}}
    experiment_id = world.experiment({"state": "COMPLETED", "end_time": after(1), "config": config})
    uuid = world.checkpoint(world.trial(experiment_id, {"state": "COMPLETED"}), {})
    assert checkpoint.due_for_gc(conn) == [experiment_id]
    settings = checkpoint.gc_settings(conn, experiment_id)
    assert settings is not None
    assert (settings.storage, settings.smaller_is_better) == (config["checkpoint_storage"], True)
    assert checkpoint.gc_settings(conn, 2**62) is None
    assert [candidate.uuid for candidate in checkpoint.gc_candidates(conn, experiment_id)] == [uuid]
    checkpoint.mark_for_deletion(conn, after(2), [uuid], None)
    assert checkpoint.gc_candidates(conn, experiment_id) == []
    checkpoint.set_gc_time(conn, experiment_id, after(3))
    assert checkpoint.due_for_gc(conn) == []
    assert checkpoint.being_collected(conn, after(5)) == [(experiment_id, after(2))]


def test_checkpoints_are_filtered_sorted_and_paged(conn: Connection, world: World) -> None:
    experiment_id = world.experiment({})
    trial_id = world.trial(experiment_id, {})
    uuids = [world.checkpoint(trial_id, {"steps_completed": n}) for n in (1, 2, 3)]
    damaged = world.checkpoint(trial_id, {"steps_completed": 4, "state": "ERROR"})
    scope = CheckpointScope(experiment_id=experiment_id)
    assert checkpoint_list.find(conn, scope, NO_FILTER) == [*uuids, damaged]
    assert checkpoint_list.find(conn, scope, NO_FILTER, limit=2, offset=1) == uuids[1:3]
    newest_first = ListCheckpoints(order_by=OrderBy.DESC, states=[CheckpointState.COMPLETED])
    assert checkpoint_list.find(conn, CheckpointScope(trial_id=trial_id), newest_first) == uuids[::-1]
    assert checkpoint_list.count(conn, scope, newest_first) == 3
    assert len(checkpoint_list.positions(conn, scope, NO_FILTER)) == 4
    details = checkpoint_list.load(conn, [uuids[1], *MANY, uuids[0]])
    assert [(row.uuid, row.hparams, row.owner_id) for row in details] == [
        (uuids[1], {"lr": 0.1}, world.owner),
        (uuids[0], {"lr": 0.1}, world.owner),
    ]
    assert list(checkpoint_list.experiment_configs(conn, details)) == [experiment_id]
    assert [row.steps_completed for row in checkpoint_list.at_steps(conn, [trial_id])] == [1, 2, 3]


def test_a_storage_is_stored_once_whatever_is_kept_there(conn: Connection, world: World) -> None:
    config = {"type": "s3", "bucket": AWKWARD, "prefix": None, "save_trial_best": 1}
    storage_id = storage_backend.ensure(conn, config)
    assert storage_backend.ensure(conn, {**config, "save_trial_best": 9}) == storage_id
    assert storage_backend.get(conn, storage_id) == {"type": "s3", "bucket": AWKWARD}
    assert storage_backend.get(conn, 2**62) is None
    experiment_id = world.experiment({"config": {"checkpoint_storage": config}})
    trial_id, other = world.trial(experiment_id, {}), world.trial(world.experiment({}), {})
    assert storage_backend.of_trial(conn, trial_id) == config
    assert storage_backend.is_allowed(conn, trial_id, storage_id)
    assert not storage_backend.is_allowed(conn, other, storage_id)
    storage_backend.allow(conn, other, storage_id)
    storage_backend.allow(conn, other, storage_id)
    assert storage_backend.is_allowed(conn, other, storage_id)


def test_a_trial_names_the_checkpoints_it_works_with(conn: Connection, world: World) -> None:
    trial_id = world.trial(world.experiment({}), {})
    uuid = world.checkpoint(trial_id, {})
    assert trial_source.put(conn, trial_id, uuid, {"type": "INFERENCE", "model_id": None})
    assert trial_source.put(conn, trial_id, uuid, {"type": "FINE_TUNING", "model_id": 2**40})
    assert not trial_source.put(conn, trial_id, "nowhere", {"type": "INFERENCE"})
    [using] = trial_source.using_checkpoint(conn, uuid, None)
    assert (using.trial_id, using.type, using.model_id, using.user_id) == (trial_id, "FINE_TUNING", 2**40, world.owner)
    assert trial_source.using_checkpoint(conn, uuid, "INFERENCE") == []


def test_trials_that_use_a_version_are_found_by_its_model_and_number(conn: Connection, world: World) -> None:
    first, second = world.trial(world.experiment({}), {}), world.trial(world.experiment({"name": AWKWARD}), {})
    uuid = world.checkpoint(first, {})
    trial_source.put(conn, second, uuid, {"type": "INFERENCE", "model_id": 7, "model_version": 2})
    trial_source.put(conn, first, uuid, {"type": "FINE_TUNING", "model_id": 7, "model_version": 2})
    using = trial_source.using_version(conn, 7, 2, None)
    assert [(row.trial_id, row.experiment_name) for row in using][1] == (second, AWKWARD)
    assert [row.trial_id for row in using] == [first, second]
    assert [row.trial_id for row in trial_source.using_version(conn, 7, 2, "INFERENCE")] == [second]
    assert trial_source.using_version(conn, 7, 1, None) == trial_source.using_version(conn, 8, 2, None) == []


def test_every_change_has_a_number_and_a_deletion_leaves_a_tombstone(conn: Connection, world: World) -> None:
    experiment_id = world.experiment({})
    trial_id = world.trial(experiment_id, {})
    before = change.newest(conn)
    trial.update_row(conn, trial_id, {"restarts": 1})
    (changed,) = change.of_noun(conn, "trials", before)
    assert (changed.id, changed.parent, changed.deleted, change.newest(conn)) == (
        str(trial_id),
        experiment_id,
        False,
        changed.seq,
    )
    assert change.of_noun(conn, "trials", before, ids=[str(trial_id), *MANY]) == [changed]
    assert change.of_noun(conn, "trials", before, ids=[], parents=[experiment_id]) == [changed]
    assert changed in change.since(conn, before, 10)
    uuid = world.checkpoint(trial_id, {})
    conn.exec_driver_sql("DELETE FROM checkpoints")
    (gone,) = change.of_noun(conn, "checkpoints", before)
    assert (gone.id, gone.deleted) == (uuid, True)
    assert change.horizon(conn) == 0
    assert change.sweep(conn, 0) == 1
    assert change.horizon(conn) == gone.seq


def test_a_changed_row_is_read_as_its_message(conn: Connection, world: World) -> None:
    experiment_id = world.experiment({"progress": None}, {"pool": AWKWARD})
    trial_id = world.trial(experiment_id, {"steps_completed": 2**40})
    world.allocation(trial_id, {"state": "PULLING"})
    uuid = world.checkpoint(trial_id, {})
    row = trial.get(conn, trial_id)
    (message,) = change_rows.read(conn, streamed.TRIALS, {str(trial_id): 7}).values()
    assert (message.total_batches_processed, message.runner_state, message.seq) == (2**40, "", 7)
    (told,) = change_rows.read(conn, streamed.TASKS, {row.task_id: 8, **dict.fromkeys(MANY, 0)}).values()
    assert (told.state, told.type, told.end_time) == ("STATE_PULLING", "TASK_TYPE_TRIAL", None)
    (stored,) = change_rows.read(conn, streamed.CHECKPOINTS, {uuid: 9}).values()
    assert (stored.id, stored.trial_id) == (uuid, trial_id)
    (shown,) = change_rows.read(conn, streamed.EXPERIMENTS, {str(experiment_id): 10}).values()
    assert (shown.state, shown.progress) == ("STATE_ACTIVE", None)
    (project,) = change_rows.read(conn, streamed.PROJECTS, {str(world.home): 11}).values()
    assert (project.archived, project.created_at, project.key) == (False, NOW.timestamp(), "")
    (job,) = change_rows.read(conn, streamed.JOBS, {shown.job_id: 12}).values()
    assert (job.resource_pool, job.type) == (AWKWARD, "TYPE_EXPERIMENT")
