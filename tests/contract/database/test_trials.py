"""Queries of trials, their allocations, runners, tasks, reports, policies and slot use."""

import pytest
from database_world import AWKWARD, NOW, World, after
from sqlalchemy import Connection
from sqlalchemy.exc import IntegrityError

from determined.errors import NotFound
from determined.master.db.queries import (
    allocation,
    log_policy,
    report,
    resource_allocation,
    run,
    runner,
    task,
    trial,
    trial_list,
    user,
    workspace,
)
from determined.master.db.queries.log_policy import Hit


def test_a_trial_comes_back_as_it_was_stored(conn: Connection, world: World) -> None:
    experiment_id = world.experiment({})
    trial_id = world.trial(experiment_id, {"request_id": AWKWARD, "hparams": {"lr": 1e-300, "n": 2**60, "x": None}})
    row = trial.get(conn, trial_id)
    assert (row.hparams, row.seed, row.metadata) == ({"lr": 1e-300, "n": 2**60, "x": None}, 2**40 + 1, None)
    assert trial.by_request(conn, experiment_id, AWKWARD) == row
    assert trial.by_request(conn, experiment_id, "%") is None
    assert trial.by_requests(conn, experiment_id, [*map(str, range(2000)), AWKWARD]) == {AWKWARD: row}
    assert trial.of_experiment(conn, experiment_id) == [row]
    with pytest.raises(NotFound, match="trial"):
        trial.get(conn, 2**62)
    assert trial.insert_rows(conn, []) == {}


def test_two_trials_of_one_task_are_refused(conn: Connection, world: World) -> None:
    experiment_id = world.experiment({})
    world.trial(experiment_id, {"task_id": "same"})
    with pytest.raises(IntegrityError), conn.begin_nested():
        world.trial(experiment_id, {"task_id": "same"})


def test_trials_are_updated_together_and_each_by_itself(conn: Connection, world: World) -> None:
    experiment_id = world.experiment({})
    first, second = world.trial(experiment_id, {}), world.trial(experiment_id, {})
    trial.update_rows(conn, [first, second, *range(2**40, 2**40 + 2000)], {"state": "PAUSED"})
    trial.update_each(conn, {first: {"progress": 0.25}, second: {"progress": None}})
    trial.update_each(conn, {})
    rows = trial.of_experiment(conn, experiment_id)
    assert [(row.state, row.progress) for row in rows] == [("PAUSED", 0.25), ("PAUSED", None)]


def test_trials_with_and_without_a_live_allocation_are_told_apart(conn: Connection, world: World) -> None:
    experiment_id = world.experiment({})
    idle, live = world.trial(experiment_id, {}), world.trial(experiment_id, {})
    world.allocation(live, {"state": "PENDING"})
    world.allocation(idle, {"state": "TERMINATED", "ended_at": NOW})
    assert trial.with_live_allocation(conn, experiment_id) == [(live, "ACTIVE")]
    assert list(trial.idle(conn, experiment_id, ["ACTIVE"], 10)) == [idle]
    assert [row.id for row in trial.wanting_allocation(conn, 10)] == [idle]
    assert trial.waiting_counts(conn)[experiment_id] == 1
    assert trial.wanting_allocation(conn, 1) == [], "enough of this experiment wait already"


def test_ends_that_the_searcher_does_not_know_are_listed(conn: Connection, world: World) -> None:
    experiment_id = world.experiment({})
    first, second = (world.trial(experiment_id, {"state": "COMPLETED"}) for _ in range(2))
    assert [row.id for row in trial.unreported_exits(conn, experiment_id, ["COMPLETED"])] == [first, second]
    assert len(trial.unreported_exits(conn, experiment_id, ["COMPLETED"], 1)) == 1
    trial.mark_reported(conn, [first])
    assert [row.id for row in trial.unreported_exits(conn, experiment_id, ["COMPLETED"])] == [second]


def test_the_latest_checkpoint_is_the_one_with_the_most_steps(conn: Connection, world: World) -> None:
    trial_id = world.trial(world.experiment({}), {})
    assert trial.latest_checkpoint(conn, trial_id) is None
    uuid = world.checkpoint(trial_id, {"steps_completed": 2**40})
    world.checkpoint(trial_id, {"steps_completed": 5})
    world.checkpoint(trial_id, {"steps_completed": 2**41, "delete_requested_at": NOW})
    latest = trial.latest_checkpoint(conn, trial_id)
    assert latest is not None
    assert (latest.uuid, latest.steps_completed) == (uuid, 2**40)
    assert trial.task_count(conn, trial_id) == 1


def test_a_page_of_trials_loads_tasks_states_and_times(conn: Connection, world: World) -> None:
    experiment_id = world.experiment({})
    trial_id = world.trial(experiment_id, {})
    world.allocation(trial_id, {"state": "PULLING", "started_at": NOW, "ended_at": None})
    assert [row.id for row in trial_list.load(conn, [2**62, trial_id])] == [trial_id]
    assert trial_list.task_ids(conn, [trial_id]) == {trial_id: [trial.get(conn, trial_id).task_id]}
    assert trial_list.furthest_allocations(conn, [trial_id]) == {trial_id: "PULLING"}
    assert trial_list.seconds_run(conn, after(10), [trial_id])[trial_id] == pytest.approx(10)


def test_runs_are_archived_and_their_metadata_set(conn: Connection, world: World) -> None:
    run_id = world.trial(world.experiment({}), {})
    before = run.standing(conn, run_id)
    run.set_metadata(conn, run_id, {"a": {"b": AWKWARD}})
    assert trial.get(conn, run_id).metadata == {"a": {"b": AWKWARD}}
    assert run.standing(conn, run_id) == before
    run.set_archived(conn, [run_id], True)
    assert run.archiving(conn, [run_id, 2**62]) == {run_id: ("ACTIVE", True)}
    assert run.standing(conn, run_id) != before
    assert [row.id for row in run.load(conn, [run_id])] == [run_id]


def test_an_allocation_is_found_updated_and_listed_newest_first(conn: Connection, world: World) -> None:
    trial_id = world.trial(world.experiment({}), {})
    old = world.allocation(trial_id, {"run_id": 1, "ended_at": NOW, "exit_kind": "ERROR", "exit_reason": AWKWARD})
    new = world.allocation(trial_id, {"run_id": 2, "ports": {"a": 1734}, "kill_at": None})
    task_id = trial.get(conn, trial_id).task_id
    allocation.update_row(conn, new, {"state": "STARTING", "started_at": after(0.000001)})
    row = allocation.get(conn, new)
    assert (row.state, row.started_at, row.ports) == ("STARTING", after(0.000001), {"a": 1734})
    assert allocation.find(conn, "nowhere") is None
    with pytest.raises(NotFound):
        allocation.get(conn, "nowhere")
    assert allocation.live_of_trial(conn, trial_id) == row
    assert allocation.live_of_experiment(conn, trial.get(conn, trial_id).experiment_id) == [row]
    assert [one.id for one in allocation.of_task(conn, task_id)] == [new, old]
    assert allocation.first_run(conn, task_id) == 1
    assert allocation.first_run(conn, "nowhere") == 0
    assert [end.exit_kind for end in allocation.latest_ends(conn, trial_id, 5)] == [None, "ERROR"]
    assert [one.id for one in allocation.live_with_job(conn)] == [new]
    assert allocation.reserved_ports(conn) == {1734}


def test_the_reason_of_the_first_failed_trial_is_found(conn: Connection, world: World) -> None:
    experiment_id = world.experiment({})
    trial_id = world.trial(experiment_id, {"state": "ERROR"})
    world.allocation(trial_id, {"ended_at": NOW, "exit_reason": AWKWARD})
    assert allocation.first_failure_reason(conn, experiment_id) == AWKWARD
    assert allocation.first_failure_reason(conn, world.experiment({})) is None


def test_an_allocation_past_its_deadline_is_overdue(conn: Connection, world: World) -> None:
    trial_id = world.trial(world.experiment({}), {})
    allocation_id = world.allocation(trial_id, {"preempt_deadline": after(5)})
    assert list(allocation.overdue(conn, NOW)) == []
    assert list(allocation.overdue(conn, after(6))) == [allocation_id]


def test_runners_are_listed_by_allocation_and_node(conn: Connection, world: World) -> None:
    allocation_id = world.allocation(world.trial(world.experiment({}), {}), {})
    second = world.runner(allocation_id, {"rank": 1, "slot_ids": [3, 1]})
    first = world.runner(allocation_id, {"rank": 0, "node_id": "node-2"})
    runner.update_row(conn, second, {"state": "RUNNING"})
    assert [row.resource_id for row in runner.of_allocation(conn, allocation_id)] == [first, second]
    assert [row.resource_id for row in runner.of_live_allocations(conn)] == [first, second]
    assert runner.get(conn, second).slot_ids == [3, 1]
    assert runner.find(conn, "nowhere") is None
    with pytest.raises(NotFound):
        runner.get(conn, "nowhere")
    assert runner.known(conn, [*map(str, range(2000)), first]) == {first}
    assert {row.resource_id for row in runner.alive(conn)} == {first, second}
    assert [row.resource_id for row in runner.on_node(conn, "node-2")] == [first]


def test_a_runner_has_the_identity_of_its_owner_and_workspace(conn: Connection, world: World) -> None:
    user.change(conn, NOW, world.owner, {"agent_uid": 7, "agent_user": "ada", "agent_gid": 8, "agent_group": "lab"})
    assert workspace.get(conn, world.workspace_id, world.owner) is not None
    assert runner.identity(conn, world.owner, world.workspace_id) is not None
    with pytest.raises(NotFound):
        runner.identity(conn, 2**62, world.workspace_id)


def test_tasks_end_once(conn: Connection, world: World) -> None:
    experiment_id = world.experiment({})
    trial_id = world.trial(experiment_id, {})
    task_id = trial.get(conn, trial_id).task_id
    task.insert_rows(conn, [])
    task.insert_rows(conn, [{"id": "other", "type": "COMMAND", "start_time": NOW, "spec": {"a": [AWKWARD]}}])
    task.end_of_trials(conn, after(1), [trial_id])
    task.end(conn, after(2), task_id)
    task.end(conn, after(2), "other")
    assert (task.get(conn, task_id).end_time, task.get(conn, "other").end_time) == (after(1), after(2))
    assert task.get(conn, "other").spec == {"a": [AWKWARD]}
    with pytest.raises(NotFound):
        task.get(conn, "nowhere")


def test_a_task_shows_its_trial_and_accelerators(conn: Connection, world: World) -> None:
    experiment_id = world.experiment({})
    trial_id = world.trial(experiment_id, {})
    details = task.trial_details(conn, trial_id)
    assert (details.id, details.experiment_id, details.hparams) == (trial_id, experiment_id, {"lr": 0.1})
    with pytest.raises(NotFound):
        task.trial_details(conn, 2**62)
    assert task.active_counts(conn) == {}
    world.allocation(trial_id, {})
    assert task.active_counts(conn) == {"TRIAL": 1}
    assert task.accelerators(conn, details.task_id) == []


def test_positions_of_journals_only_replace_their_own(conn: Connection, world: World) -> None:
    trial_id = world.trial(world.experiment({}), {})
    allocation_id = world.allocation(trial_id, {})
    resource_id = world.runner(allocation_id, {})
    report.advance(conn, resource_id, {"a": 1, AWKWARD: 2**60})
    report.advance(conn, resource_id, {"a": 2})
    report.advance(conn, resource_id, {})
    assert report.positions(conn, resource_id) == {"a": 2, AWKWARD: 2**60}
    target = report.target(conn, allocation_id, resource_id)
    assert target is not None
    assert target.trial_id == trial_id
    assert report.target(conn, allocation_id, "nowhere") is None
    report.set_runner_state(conn, trial_id, AWKWARD)
    assert trial.get(conn, trial_id).runner_state == AWKWARD


def test_positions_of_journals_of_unmanaged_trials_are_their_own(conn: Connection, world: World) -> None:
    first, second = (world.trial(world.experiment({"unmanaged": True}), {"run_id": 3}) for _ in range(2))
    report.advance_unmanaged(conn, first, {"a": 1, "b": 2**60})
    report.advance_unmanaged(conn, first, {"a": 2})
    report.advance_unmanaged(conn, second, {"a": 7})
    assert report.unmanaged_positions(conn, first, {"a", "b", AWKWARD}) == {"a": 2, "b": 2**60}
    assert report.unmanaged_positions(conn, second, ["a"]) == {"a": 7}
    assert report.unmanaged_positions(conn, second, []) == {}
    target = report.unmanaged_target(conn, first, 2)
    assert target is not None
    assert (target.trial_id, target.run_id, target.trial_run_id, target.allocation_id) == (first, 2, 3, "")
    assert report.unmanaged_target(conn, world.trial(world.experiment({}), {}), 1) is None
    assert report.unmanaged_target(conn, 2**62, 1) is None


def test_a_hit_of_a_log_policy_is_recorded_once(conn: Connection, world: World) -> None:
    config = {"searcher": {"name": "single"}, "log_policies": [{"pattern": AWKWARD}]}
    experiment_id = world.experiment({"config": config})
    trial_id = world.trial(experiment_id, {})
    world.allocation(trial_id, {})
    task_id = trial.get(conn, trial_id).task_id
    hit = Hit(task_id=task_id, action="exclude_node", node_id="node-1", pattern=AWKWARD, line="x")
    assert log_policy.record(conn, hit)
    assert not log_policy.record(conn, hit)
    assert list(trial.policy_hits(conn, task_id, "exclude_node")) == ["node-1"]
    assert allocation.excluded_nodes(conn) == {task_id: frozenset({"node-1"})}
    assert [policy.pattern for policy in log_policy.configured(conn, experiment_id)] == [AWKWARD]
    assert not log_policy.configured(conn, 2**62)
    log_policy.label(conn, trial_id, "oom")
    assert trial.get(conn, trial_id).log_policy_label == "oom"


def test_slots_that_were_held_within_a_span_are_listed_oldest_first(conn: Connection, world: World) -> None:
    trial_id = world.trial(world.experiment({"labels": [AWKWARD]}), {})
    late = world.allocation(trial_id, {"assigned_at": after(5), "slots": 4})
    early = world.allocation(trial_id, {"assigned_at": NOW, "ended_at": after(3)})
    world.allocation(trial_id, {"assigned_at": None})
    found = resource_allocation.overlapping(conn, after(1), after(10))
    assert [(row.id, row.labels, row.user_id) for row in found] == [
        (early, [AWKWARD], world.owner),
        (late, [AWKWARD], world.owner),
    ]
    assert [row.id for row in resource_allocation.overlapping(conn, after(3), after(5))] == []
