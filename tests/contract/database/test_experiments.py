"""Queries of experiments, jobs, submissions, locks, unmanaged runs and searches."""

import pytest
from database_world import AWKWARD, NOW, World, after
from sqlalchemy import Connection

from determined.errors import NotFound
from determined.master.db.queries import (
    cluster_counts,
    environment_lock,
    experiment,
    experiment_edit,
    experiment_list,
    job,
    log,
    model_definition,
    search,
    search_queue,
    submission,
    task,
    trial,
    trial_access,
    unmanaged,
)
from determined.wire.report import LogLine


def test_an_experiment_comes_back_as_it_was_stored(conn: Connection, world: World) -> None:
    config = {"searcher": {"name": "single"}, "text": AWKWARD, "big": 2**60, "none": None, "list": [1.5, True]}
    experiment_id = world.experiment({"name": AWKWARD, "config": config, "labels": [AWKWARD]})
    row = experiment.get(conn, experiment_id)
    assert (row.name, row.config, row.labels, row.start_time, row.end_time) == (AWKWARD, config, [AWKWARD], NOW, None)
    experiment.update_row(conn, experiment_id, {"state": "COMPLETED", "end_time": after(1.000001), "progress": 0.1})
    row = experiment.get(conn, experiment_id)
    assert (row.state, row.end_time, row.progress) == ("COMPLETED", after(1.000001), 0.1)
    with pytest.raises(NotFound, match="experiment"):
        experiment.get(conn, 2**62)


def test_experiments_are_listed_by_state_and_id(conn: Connection, world: World) -> None:
    ids = [world.experiment({"state": state}) for state in ("ACTIVE", "PAUSED", "ERROR")]
    assert [row.id for row in experiment.in_states(conn, ["PAUSED", "ACTIVE"])] == ids[:2]
    assert cluster_counts.by_state(conn) == {("experiment", s): 1 for s in ("ACTIVE", "PAUSED", "ERROR")}


def test_a_deleted_experiment_takes_all_that_hangs_on_it(conn: Connection, world: World) -> None:
    experiment_id = world.experiment({})
    trial_id = world.trial(experiment_id, {})
    world.checkpoint(trial_id, {})
    allocation_id = world.allocation(trial_id, {})
    world.runner(allocation_id, {})
    task_id = trial.get(conn, trial_id).task_id
    log.append_lines(conn, task_id, [LogLine("x", 0.0, "stdout", "INFO", None, "s")])
    search.append(conn, experiment_id, 1, [{"a": 1}])
    rounds = 0
    while experiment.delete_some(conn, experiment_id, 10):
        rounds += 1
        assert rounds < 100
    experiment.delete_row(conn, experiment_id)
    with pytest.raises(NotFound):
        trial.get(conn, trial_id)
    with pytest.raises(NotFound):
        task.get(conn, task_id)
    assert world.experiment({}) > experiment_id, "an id is never given out again"


def test_a_live_trial_is_seen(conn: Connection, world: World) -> None:
    experiment_id = world.experiment({})
    assert not experiment.has_live_trial(conn, experiment_id, ["ERROR"])
    trial_id = world.trial(experiment_id, {})
    assert experiment.has_live_trial(conn, experiment_id, ["ERROR"])
    trial.update_row(conn, trial_id, {"state": "ERROR"})
    assert not experiment.has_live_trial(conn, experiment_id, ["ERROR"])


def test_the_files_of_an_experiment_are_bytes(conn: Connection, world: World) -> None:
    experiment_id = world.experiment({})
    trial_id = world.trial(experiment_id, {})
    packed = bytes(range(256)) * 10
    experiment.put_model_definition(conn, experiment_id, packed)
    assert model_definition.get(conn, experiment_id) == packed
    assert experiment.model_definition_of_task(conn, trial.get(conn, trial_id).task_id) == packed
    assert model_definition.get(conn, world.experiment({})) is None
    assert experiment.model_definition_of_task(conn, "nowhere") is None


def test_a_context_directory_is_small_up_to_its_own_size(conn: Connection, world: World) -> None:
    experiment_id = world.experiment({})
    experiment.put_model_definition(conn, experiment_id, b"packed")
    assert experiment.small_model_definition(conn, experiment_id, 6) == b"packed"
    assert experiment.small_model_definition(conn, experiment_id, 5) is None
    assert experiment.small_model_definition(conn, world.experiment({}), 6) is None


def test_changes_of_an_experiment_are_seen_by_comparing(conn: Connection, world: World) -> None:
    experiment_id = world.experiment({})
    before = experiment_edit.standing(conn, experiment_id)
    experiment_edit.set_values(conn, experiment_id, {})
    assert experiment_edit.standing(conn, experiment_id) == before
    experiment_edit.set_values(conn, experiment_id, {"archived": True})
    assert experiment_edit.standing(conn, experiment_id) != before
    assert experiment_edit.standing(conn, 2**62) is None
    assert experiment_edit.is_archived(conn, world.home) is False
    assert experiment_edit.is_archived(conn, 2**62) is None


def test_logs_are_kept_as_long_as_said(conn: Connection, world: World) -> None:
    experiment_id = world.experiment({})
    one, other = world.trial(experiment_id, {}), world.trial(experiment_id, {})
    experiment_edit.retain_logs_of_experiment(conn, experiment_id, 7)
    experiment_edit.retain_logs(conn, [one], -1)
    days = [trial.get(conn, trial_id).log_retention_days for trial_id in (one, other)]
    assert days == [-1, 7]
    assert task.get(conn, trial.get(conn, one).task_id).log_retention_days == -1


def test_a_list_of_experiments_loads_totals_and_best_trials(conn: Connection, world: World) -> None:
    first, second = (
        world.experiment({"labels": ["a", "b"]}),
        world.experiment({"labels": ["b"], "smaller_is_better": False}),
    )
    for value in (2.0, 1.0):
        world.trial(first, {"best_validation_value": value, "checkpoint_count": 2, "checkpoint_size": 2**40})
    best = world.trial(second, {"best_validation_value": 5.0})
    world.trial(second, {"best_validation_value": 4.0})
    world.allocation(best, {"state": "STARTING"})
    assert [row.id for row in experiment_list.load(conn, [second, 2**62, first])] == [second, first]
    total = experiment_list.totals(conn, [first])[first]
    assert (total.trials, total.checkpoints, total.checkpoint_size) == (2, 4, 2**41)
    found = experiment_list.best_trials(conn, [first, second])
    assert (found[first][1], found[second]) == (1.0, (best, 5.0))
    assert experiment_list.furthest_allocations(conn, [first, second]) == {second: "STARTING"}
    assert len(experiment_list.trial_ids(conn, first)) == 2
    assert experiment_list.labels_by_popularity(conn, world.home) == ["b", "a"]
    assert experiment_list.labels_by_popularity(conn, None)[0] == "b"


def test_a_job_is_stored_moved_and_deleted(conn: Connection, world: World) -> None:
    late, early = world.job({"position": 2.5}), world.job({"position": -1e300})
    for job_id in (late, early):
        world.experiment({"job_id": job_id})
    job.update_row(conn, late, {"priority": 41})
    assert [row.id for row in job.live_in_pool(conn, "default", ["ACTIVE"])] == [late, early]
    assert job.experiment_of(conn, late) is not None
    assert job.experiment_of(conn, "nowhere") is None
    spare = world.job({})
    job.delete_row(conn, spare)
    with pytest.raises(NotFound):
        job.get(conn, spare)


def test_the_first_trial_of_a_job_says_when_it_started(conn: Connection, world: World) -> None:
    job_id, waiting = world.job({}), world.job({})
    experiment_id = world.experiment({"job_id": job_id})
    first, second = world.trial(experiment_id, {}), world.trial(experiment_id, {})
    world.allocation(second, {"started_at": NOW})
    world.allocation(first, {"started_at": after(5)})
    many = [f"job-{n}" for n in range(2000)]  # beyond what one statement may bind
    assert job.first_starts(conn, [*many, job_id, waiting]) == {job_id: after(5)}


def test_what_a_submission_continues_is_found(conn: Connection, world: World) -> None:
    experiment_id = world.experiment({})
    trial_id = world.trial(experiment_id, {})
    uuid = world.checkpoint(trial_id, {})
    parent = submission.parent(conn, experiment_id)
    assert parent is not None
    assert (parent.archived, parent.project_archived) == (False, False)
    assert submission.parent(conn, 2**62) is None
    assert submission.trial_exists(conn, trial_id)
    assert not submission.trial_exists(conn, 2**62)
    assert submission.latest_checkpoint(conn, trial_id) is None
    assert submission.checkpoint_state(conn, uuid) == "COMPLETED"
    assert submission.checkpoint_state(conn, "nowhere") is None


def test_the_owner_of_a_trial_and_of_a_task_is_found(conn: Connection, world: World) -> None:
    experiment_id = world.experiment({"external_id": AWKWARD})
    trial_id = world.trial(experiment_id, {"external_id": "t"})
    task_id = trial.get(conn, trial_id).task_id
    allocation_id = world.allocation(trial_id, {})
    access = trial_access.of_trial(conn, trial_id)
    assert (access.owner_id, access.unmanaged, access.run_id) == (world.owner, False, 1)
    assert trial_access.of_task(conn, task_id).trial_id == trial_id
    for missing in (lambda: trial_access.of_trial(conn, 2**62), lambda: trial_access.of_task(conn, "nowhere")):
        with pytest.raises(NotFound):
            missing()
    assert trial_access.experiment_of_trial(conn, trial_id) == trial_access.experiment_of_task(conn, task_id)
    assert trial_access.experiment_of_trial(conn, 2**62) is None
    assert trial_access.is_submitted_as(conn, experiment_id, AWKWARD, world.owner)
    assert not trial_access.is_submitted_as(conn, experiment_id, "%", world.owner)
    found = trial_access.of_allocation(conn, allocation_id)
    assert found is not None
    assert (found.trial_id, found.task_id) == (trial_id, task_id)
    assert trial_access.of_allocation(conn, "nowhere") is None
    assert unmanaged.experiment_by_external_id(conn, AWKWARD) == experiment_id
    assert unmanaged.trial_by_external_id(conn, experiment_id, "t") == trial_id
    assert unmanaged.trial_by_external_id(conn, experiment_id, "T") is None


def test_silent_unmanaged_trials_are_found(conn: Connection, world: World) -> None:
    experiment_id = world.experiment({"unmanaged": True})
    silent = world.trial(experiment_id, {"last_activity": NOW})
    world.trial(experiment_id, {"last_activity": after(10)})
    world.trial(world.experiment({}), {"last_activity": NOW})
    assert [row.id for row in unmanaged.silent_since(conn, after(5))] == [silent]
    assert unmanaged.trial_states(conn, experiment_id) == ["ACTIVE"]
    assert unmanaged.latest_end(conn, experiment_id) is None
    world.trial(experiment_id, {"end_time": NOW})
    world.trial(experiment_id, {"end_time": after(2)})
    assert unmanaged.latest_end(conn, experiment_id) == after(2)
    task_id = trial.get(conn, silent).task_id
    unmanaged.set_task_end(conn, task_id, after(3))
    assert task.get(conn, task_id).end_time == after(3)
    unmanaged.set_task_end(conn, task_id, None)
    assert task.get(conn, task_id).end_time is None


def test_the_first_lock_of_a_platform_stays_and_is_copied(conn: Connection, world: World) -> None:
    source, target = world.experiment({}), world.experiment({})
    environment_lock.put(conn, NOW, source, "linux", AWKWARD)
    environment_lock.put(conn, NOW, source, "darwin", "b")
    environment_lock.copy(conn, source, target)
    assert [row.platform for row in environment_lock.list_all(conn, target)] == ["darwin", "linux"]
    assert environment_lock.get(conn, target, "linux") == AWKWARD
    environment_lock.forget(conn, source)
    assert environment_lock.get(conn, source, "linux") is None


def test_events_of_a_search_are_read_after_its_snapshot(conn: Connection, world: World) -> None:
    experiment_id = world.experiment({"config": {"searcher": {"name": "random", "sampler": "tpe"}}})
    assert search.last_event(conn, experiment_id) is None
    assert search.snapshot_seq(conn, experiment_id) is None
    search.append(conn, experiment_id, 1, [{"n": n, "text": AWKWARD, "big": 2**60} for n in range(5)])
    search.put_snapshot(conn, experiment_id, 3, {"state": [1.5, None]})
    assert [event.seq for event in search.events_after(conn, experiment_id, 0)] == [3, 4, 5]
    last = search.last_event(conn, experiment_id)
    assert last is not None
    assert (last.seq, last.event) == (5, {"n": 4, "text": AWKWARD, "big": 2**60})
    assert search.event_at(conn, experiment_id, 4) == {"n": 3, "text": AWKWARD, "big": 2**60}
    assert search.event_at(conn, experiment_id, 1) is None
    assert (search.snapshot_seq(conn, experiment_id), search.snapshot(conn, experiment_id)) == (
        3,
        {"state": [1.5, None]},
    )
    assert list(search.active_with_sampler(conn)) == [experiment_id]
    search.forget(conn, experiment_id)
    assert search.snapshot_seq(conn, experiment_id) is None


def test_the_history_of_a_search_stays_in_order(conn: Connection, world: World) -> None:
    experiment_id = world.experiment({})
    search.append_history(conn, experiment_id, [{"id": "a"}, {"n": 1}])
    search.append_history(conn, experiment_id, [{"id": "a"}, {"id": "b"}], pending=True)
    search.append_history(conn, experiment_id, [])
    assert [entry.n for entry in search.history(conn, experiment_id)] == [1, 2, 3, 4]
    pending = search.pending_history(conn, experiment_id, [f"x{n}" for n in range(2000)] + ["a"])
    assert [entry.n for entry in pending] == [3]
    search.drop_history(conn, experiment_id, [1, 3])
    assert [entry.request_id for entry in search.history(conn, experiment_id)] == ["", "b"]
    search.drop_history(conn, experiment_id)
    assert search.history(conn, experiment_id) == []


def test_pieces_of_a_search_are_taken_one_by_one(conn: Connection, world: World) -> None:
    experiment_id = world.experiment({})
    search_queue.put(conn, experiment_id, [[{"a": 1}], [{"b": 2}]])
    search_queue.put(conn, experiment_id, [])
    search_queue.mark(conn, experiment_id)
    search_queue.mark(conn, experiment_id)
    assert list(search_queue.experiments(conn)) == [experiment_id]
    assert search_queue.take(conn, experiment_id) == [{"a": 1}]
    assert search_queue.has_operations(conn, experiment_id)
    search_queue.drop_operations(conn, experiment_id)
    assert search_queue.take(conn, experiment_id) == []
    assert search_queue.is_waiting(conn, experiment_id)
    assert search_queue.unmark(conn, experiment_id)
    assert not search_queue.unmark(conn, experiment_id)
    assert not search_queue.is_waiting(conn, experiment_id)
