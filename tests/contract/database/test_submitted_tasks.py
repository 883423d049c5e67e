"""Queries of tasks that users submit themselves: commands, notebooks, shells, TensorBoards, generic tasks."""

import pytest
from database_world import AWKWARD, NOW, World, after
from sqlalchemy import Connection

from determined.errors import NotFound
from determined.master.db.queries import allocation, submitted_task, task, task_service, tensorboard_source, workspace
from determined.master.db.rows.submitted_tasks import SubmittedTaskValues
from determined.wire.base import OrderBy
from determined.wire.submitted_task import ListSubmittedTasks, SortTasksBy

UNKNOWN = "00000000-0000-0000-0000-000000000000"


def submitted(world: World, task_id: str, values: SubmittedTaskValues | None = None, **job: object) -> str:
    """Make a command in its first run. `job`: columns of its job."""
    kind = str(job.pop("kind", "COMMAND"))
    job_id = world.job({"type": kind, **job})  # type: ignore[typeddict-item]
    world.task({"id": task_id, "type": kind, "job_id": job_id})
    made: SubmittedTaskValues = {"task_id": task_id, "description": "", "config": {}, "submitted_config": {}}
    submitted_task.insert_row(world.conn, {**made, **(values or {})})
    run(world, task_id, 1)
    return task_id


def run(world: World, task_id: str, run_id: int, state: str = "RUNNING") -> None:
    allocation.insert_row(
        world.conn,
        {
            "id": f"{task_id}.{run_id}",
            "task_id": task_id,
            "run_id": run_id,
            "state": state,
            "slots": run_id,
            "pool": "default",
            "preemptible": False,
            "requested_at": NOW,
        },
    )


def test_a_submitted_task_comes_back_as_it_was_stored(conn: Connection, world: World) -> None:
    values: SubmittedTaskValues = {
        "description": AWKWARD,
        "config": {"entrypoint": [AWKWARD], "idle_timeout": None},
        "submitted_config": {},
        "experiment_ids": [3, 2**40],
        "state": "ACTIVE",
    }
    submitted(world, "a", values)
    row = submitted_task.get(conn, "a")
    assert (row.description, row.config, row.submitted_config) == (AWKWARD, values["config"], {})
    assert (row.experiment_ids, row.trial_ids, row.no_pause, row.last_active) == ([3, 2**40], None, False, None)
    submitted_task.update_row(conn, "a", {"last_active": after(1), "state": "PAUSED"})
    changed = submitted_task.find(conn, "a")
    assert changed is not None
    assert (changed.last_active, changed.state, changed.description) == (after(1), "PAUSED", AWKWARD)


def test_an_unknown_task_is_none_or_an_error_that_names_it(conn: Connection) -> None:
    assert submitted_task.find(conn, UNKNOWN) is None
    assert submitted_task.detail(conn, UNKNOWN) is None
    assert submitted_task.context(conn, UNKNOWN) is None
    with pytest.raises(NotFound, match=f"task '{UNKNOWN}' not found"):
        submitted_task.get(conn, UNKNOWN)


def test_a_detail_shows_job_owner_and_the_newest_run(conn: Connection, world: World) -> None:
    owner = world.user({"username": "ann", "display_name": AWKWARD})
    submitted(world, "a", owner_id=owner, priority=7, pool="gpu")
    allocation.update_row(conn, "a.1", {"state": "TERMINATED", "ended_at": after(1), "exit_kind": "KILLED"})
    run(world, "a", 2, "PENDING")
    row = submitted_task.detail(conn, "a")
    assert row is not None
    assert (row.owner_id, row.username, row.display_name) == (owner, "ann", AWKWARD)
    assert (row.priority, row.pool, row.type, row.workspace_id) == (7, "gpu", "COMMAND", world.workspace_id)
    assert (row.allocation_id, row.allocation_state, row.slots, row.exit_kind) == ("a.2", "PENDING", 2, None)
    assert (row.start_time, row.end_time) == (NOW, None)


def test_a_task_that_ended_can_be_taken_up_again(conn: Connection, world: World) -> None:
    submitted(world, "a")
    task.end(conn, after(1), "a")
    assert task.get(conn, "a").end_time == after(1)
    task.reopen(conn, "a")
    assert task.get(conn, "a").end_time is None


def test_a_list_has_one_kind_and_the_owners_that_either_name_or_id_matches(conn: Connection, world: World) -> None:
    ann, ben = world.user({"username": "ann"}), world.user({"username": "ben"})
    submitted(world, "a", owner_id=ann)
    submitted(world, "b", owner_id=ben)
    submitted(world, "c")
    submitted(world, "d", owner_id=ann, kind="SHELL")

    def ids(params: ListSubmittedTasks) -> list[str]:
        return [row.task_id for row in submitted_task.find_page(conn, "COMMAND", params)]

    assert ids(ListSubmittedTasks()) == ["a", "b", "c"]
    assert ids(ListSubmittedTasks(users=["ann"])) == ["a"]
    assert ids(ListSubmittedTasks(users=["ann"], user_ids=[ben])) == ["a", "b"]
    assert ids(ListSubmittedTasks(users=["nobody"])) == []
    elsewhere = world.workspace({})
    submitted(world, "e", workspace_id=elsewhere)
    assert ids(ListSubmittedTasks(workspace_id=elsewhere)) == ["e"]
    assert submitted_task.count(conn, "COMMAND", ListSubmittedTasks(user_ids=[ann, ben])) == 2
    some = submitted_task.find_page(conn, "COMMAND", ListSubmittedTasks(), limit=2, offset=1)
    assert [row.task_id for row in some] == ["b", "c"]


def test_lists_are_sorted_and_ids_decide_ties(conn: Connection, world: World) -> None:
    other = world.workspace({})
    for task_id, description, place in [("a", "y", other), ("b", "x", world.workspace_id), ("c", "y", other)]:
        submitted(world, task_id, {"description": description}, workspace_id=place)

    def ids(by: SortTasksBy, order: OrderBy = OrderBy.ASC) -> str:
        params = ListSubmittedTasks(sort_by=by, order_by=order)
        return "".join(row.task_id for row in submitted_task.find_page(conn, "COMMAND", params))

    assert ids(SortTasksBy.ID) == "abc"
    assert ids(SortTasksBy.UNSPECIFIED, OrderBy.DESC) == "cba"
    assert (ids(SortTasksBy.DESCRIPTION), ids(SortTasksBy.DESCRIPTION, OrderBy.DESC)) == ("bac", "cab")
    assert ids(SortTasksBy.START_TIME) == "abc"
    by_place = "bac" if world.workspace_id < other else "acb"
    assert ids(SortTasksBy.WORKSPACE_ID) == by_place


def test_live_tasks_of_a_workspace_are_those_that_have_not_ended(conn: Connection, world: World) -> None:
    elsewhere = world.workspace({})
    owner = world.user({})
    submitted(world, "a", workspace_id=elsewhere, owner_id=owner)
    submitted(world, "b", workspace_id=elsewhere)
    submitted(world, "c")
    task.end(conn, NOW, "b")
    rows = submitted_task.live(conn, elsewhere)
    assert [(row.task_id, row.owner_id, row.pool) for row in rows] == [("a", owner, "default")]
    assert [row.task_id for row in submitted_task.live(conn)] == ["a", "c"]


def test_served_tasks_are_those_of_a_kind_whose_service_has_answered(conn: Connection, world: World) -> None:
    config = {"idle_timeout": 60}
    for name in "abc":
        submitted(world, name, {"config": config}, kind="NOTEBOOK")
    submitted(world, "d", kind="SHELL")
    for name in "abd":
        allocation.update_row(conn, f"{name}.1", {"ready_at": after(1)})
    task.end(conn, NOW, "b")
    allocation.update_row(conn, "b.1", {"ended_at": NOW})
    submitted_task.update_row(conn, "a", {"last_active": after(2)})
    [row] = submitted_task.served(conn, ["NOTEBOOK"])
    assert (row.task_id, row.type, row.allocation_id, row.config) == ("a", "NOTEBOOK", "a.1", config)
    assert (row.ready_at, row.last_active) == (after(1), after(2))


def test_descendants_are_found_however_deep_and_parents_come_first(conn: Connection, world: World) -> None:
    submitted(world, "root")
    submitted(world, "other")
    parent = "root"
    for n in range(1200):
        parent = submitted(world, f"{9999 - n}", {"parent_id": parent})
    submitted(world, "late", {"parent_id": "root"})
    found = submitted_task.descendants(conn, "root")
    assert (found[0], set(found[:2]), found[-1], len(found)) == ("9999", {"9999", "late"}, parent, 1201)
    assert submitted_task.descendants(conn, parent) == []
    assert submitted_task.topmost(conn, parent) == "root"
    assert submitted_task.topmost(conn, "other") == "other"


def test_a_task_is_found_by_its_job(conn: Connection, world: World) -> None:
    submitted(world, "a", id="job-a")
    assert submitted_task.of_job(conn, "job-a") == "a"
    assert submitted_task.of_job(conn, world.job({})) is None


def test_files_of_a_task_come_back_byte_for_byte(conn: Connection, world: World) -> None:
    submitted(world, "a")
    assert submitted_task.context(conn, "a") is None
    submitted_task.put_context(conn, "a", bytes(range(256)))
    assert submitted_task.context(conn, "a") == bytes(range(256))


def test_files_of_a_task_are_deleted_and_those_of_others_stay(conn: Connection, world: World) -> None:
    for task_id in ("a", "b"):
        submitted_task.put_context(conn, submitted(world, task_id), b"packed")
    submitted_task.delete_context(conn, "a")
    assert (submitted_task.context(conn, "a"), submitted_task.context(conn, "b")) == (None, b"packed")


def test_the_target_of_a_service_is_the_run_that_lives(conn: Connection, world: World) -> None:
    owner = world.user({})
    submitted(world, "a", owner_id=owner, kind="NOTEBOOK")
    target = task_service.find(conn, "a")
    assert target is not None
    assert (target.task_id, target.task_type, target.owner_id, target.allocation_id) == ("a", "NOTEBOOK", owner, "a.1")
    allocation.update_row(conn, "a.1", {"ended_at": after(1)})
    ended = task_service.find(conn, "a")
    assert ended is not None
    assert ended.allocation_id is None
    run(world, "a", 2)
    again = task_service.find(conn, "a")
    assert again is not None
    assert again.allocation_id == "a.2"
    assert task_service.find(conn, UNKNOWN) is None


def test_the_target_of_a_trials_port_belongs_to_the_owner_of_its_experiment(conn: Connection, world: World) -> None:
    trial_id = world.trial(world.experiment({}), {})
    allocation_id = world.allocation(trial_id, {})
    target = task_service.find(conn, allocation.get(conn, allocation_id).task_id)
    assert target is not None
    assert (target.owner_id, target.allocation_id) == (world.owner, allocation_id)


def test_sources_of_a_tensorboard_are_those_that_exist_by_id(conn: Connection, world: World) -> None:
    workspace_id = world.workspace({"checkpoint_storage": {"type": "s3", "bucket": AWKWARD}})
    one = world.experiment({"project_id": world.project({"workspace_id": workspace_id}), "config": {"name": AWKWARD}})
    owner = world.user({"username": "ann"})
    two = world.experiment({"owner_id": owner})
    asked = [two, one, two + 1000, *range(2**40, 2**40 + 2000)]
    rows = tensorboard_source.list_experiments(conn, asked)
    assert [(row.id, row.owner_id) for row in rows] == [(one, world.owner), (two, owner)]
    assert (rows[0].config, rows[0].workspace_storage) == ({"name": AWKWARD}, {"type": "s3", "bucket": AWKWARD})
    assert (rows[1].username, rows[1].workspace_storage) == ("ann", None)
    trial_id = world.trial(two, {})
    assert tensorboard_source.experiments_of_trials(conn, [trial_id, trial_id + 1000]) == {trial_id: two}
    assert (tensorboard_source.list_experiments(conn, []), tensorboard_source.experiments_of_trials(conn, [])) == (
        [],
        {},
    )


def test_a_workspace_is_found_by_its_id(conn: Connection, world: World) -> None:
    workspace_id = world.workspace({"name": AWKWARD})
    row = workspace.find(conn, workspace_id)
    assert row is not None
    assert (row.name, row.archived) == (AWKWARD, False)
    assert workspace.find(conn, workspace_id + 1000) is None
    assert workspace.existing(conn, workspace_id) == row
    with pytest.raises(NotFound, match=f"no workspace with id {workspace_id + 1000}"):
        workspace.existing(conn, workspace_id + 1000)
