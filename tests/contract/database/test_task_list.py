"""The list of tasks of every kind: order, filters, and the words that are looked for."""

import pytest
from database_world import AWKWARD, NOW, World, after
from sqlalchemy import Connection

from determined.master.db.queries import allocation, submitted_task, task_list
from determined.wire.allocation import AllocationState
from determined.wire.task import TaskType
from determined.wire.task_list import SearchTasks


@pytest.fixture
def tasks(world: World) -> World:
    """Two commands, of which one has ended, a notebook in another workspace, and two trials, of which one runs."""
    ann = world.user({"username": "ann"})
    other = world.workspace({})
    _submitted(world, "old", "COMMAND", {"start": 1, "ended": True})
    _submitted(world, "new", "COMMAND", {"start": 2, "description": AWKWARD, "pool": "gpu"})
    _submitted(world, "lab", "NOTEBOOK", {"start": 3, "owner": ann, "workspace": other, "state": "PENDING"})
    running, over = (world.trial(world.experiment({}), {}) for _ in range(2))
    world.allocation(running, {})
    world.allocation(over, {"id": "over", "state": "TERMINATED", "ended_at": after(9)})
    return world


def _submitted(world: World, task_id: str, kind: str, say: dict[str, object]) -> None:
    job_id = world.job(
        {
            "type": kind,
            "owner_id": say.get("owner", world.owner),  # type: ignore[typeddict-item]
            "workspace_id": say.get("workspace", world.workspace_id),  # type: ignore[typeddict-item]
            "pool": str(say.get("pool", "default")),
        }
    )
    world.task({"id": task_id, "type": kind, "job_id": job_id, "start_time": after(int(str(say["start"])))})
    row = {"task_id": task_id, "description": str(say.get("description", task_id)), "config": {}}
    submitted_task.insert_row(world.conn, {**row, "submitted_config": {}})  # type: ignore[typeddict-item]
    allocation.insert_row(
        world.conn,
        {
            "id": f"{task_id}.1",
            "task_id": task_id,
            "run_id": 1,
            "state": "TERMINATED" if say.get("ended") else str(say.get("state", "RUNNING")),
            "slots": 1,
            "pool": "default",
            "preemptible": False,
            "requested_at": NOW,
            "ended_at": after(4) if say.get("ended") else None,
        },
    )


def ids(conn: Connection, **params: object) -> list[str]:
    asked = SearchTasks(**params)  # type: ignore[arg-type]
    found = [row.task_id for row in task_list.find(conn, asked)]
    assert task_list.count(conn, asked) == len(found)
    return found


def test_tasks_that_have_not_ended_come_first_and_ended_trials_do_not_come(conn: Connection, tasks: World) -> None:
    *live, last = ids(conn)
    assert (live[:2], last) == (["lab", "new"], "old")
    assert len(live) == 3  # the trial that runs is among them
    assert [row.task_id for row in task_list.find(conn, SearchTasks(), limit=2, offset=1)] == live[1:3]


def test_each_filter_narrows_the_list(conn: Connection, tasks: World) -> None:
    assert ids(conn, task_types=[TaskType.COMMAND]) == ["new", "old"]
    assert ids(conn, task_ids=["old", "unknown"]) == ["old"]
    assert ids(conn, states=[AllocationState.QUEUED]) == ["lab"]
    assert ids(conn, states=[AllocationState.TERMINATED]) == ["old"]
    assert ids(conn, task_ids=[over := allocation.get(conn, "over").task_id]) == [over]  # named, so it may have ended
    [lab] = task_list.find(conn, SearchTasks(task_types=[TaskType.NOTEBOOK]))
    assert ids(conn, user_ids=[lab.owner_id]) == ["lab"]
    assert ids(conn, workspace_id=lab.workspace_id) == ["lab"]
    assert lab.username == "ann"


@pytest.mark.parametrize(
    ("text", "found"), [("50%_OFF größe", ["new"]), ("gpu command", ["new"]), ("ANN lab", ["lab"]), ("50x_off", [])]
)
def test_all_words_are_in_name_owner_pool_kind_or_id(
    conn: Connection, tasks: World, text: str, found: list[str]
) -> None:
    assert ids(conn, text=text) == found


def test_a_trial_is_found_by_its_number(conn: Connection, tasks: World) -> None:
    [trial] = task_list.find(conn, SearchTasks(task_types=[TaskType.TRIAL]))
    assert ids(conn, text=f"Trial {trial.trial_id} (Experiment {trial.experiment_id})") == [trial.task_id]
