"""Services of tasks: whose they are, which allocation serves them, and which ports live tasks declare."""

from database_world import NOW, World, after
from sqlalchemy import Connection, select

from determined.master.db.queries import allocation, submitted_task, task_service
from determined.master.db.schema import trials

PORTS = {"environment": {"proxy_ports": [{"proxy_port": 8000, "proxy_tcp": False}]}}


def task_of(world: World, trial_id: int) -> str:
    return str(world.conn.execute(select(trials.c.task_id).where(trials.c.id == trial_id)).scalar_one())


def test_a_task_is_found_with_its_owner_and_its_live_allocation(conn: Connection, world: World) -> None:
    ann = world.user({"username": "ann"})
    trial = world.trial(world.experiment({}, {"owner_id": ann}), {})
    over = world.allocation(trial, {"state": "TERMINATED", "ended_at": after(1), "run_id": 1})
    live = world.allocation(trial, {"run_id": 2})
    found = task_service.find(conn, task_of(world, trial))
    assert found is not None
    assert (found.owner_id, found.allocation_id, found.task_type) == (ann, live, "TRIAL")
    assert found.end_time is None
    assert over != live


def test_a_task_between_two_runs_has_no_allocation(conn: Connection, world: World) -> None:
    trial = world.trial(world.experiment({}), {})
    world.allocation(trial, {"state": "TERMINATED", "ended_at": after(1)})
    found = task_service.find(conn, task_of(world, trial))
    assert found is not None
    assert found.allocation_id is None


def test_a_task_that_does_not_exist_is_not_found(conn: Connection, world: World) -> None:
    assert task_service.find(conn, "nothing") is None


def test_ports_are_listed_of_live_tasks_that_declare_any(conn: Connection, world: World) -> None:
    declaring, silent = world.experiment({"config": PORTS}), world.experiment({"config": {"environment": {}}})
    live, ended = world.trial(declaring, {}), world.trial(declaring, {})
    world.allocation(live, {})
    world.allocation(ended, {"state": "TERMINATED", "ended_at": after(1)})
    world.allocation(world.trial(silent, {}), {})
    _submitted(world, "lab")
    ports = PORTS["environment"]["proxy_ports"]
    assert task_service.declared_ports(conn) == {task_of(world, live): ports, "lab": ports}


def _submitted(world: World, task_id: str) -> None:
    world.task({"id": task_id, "type": "NOTEBOOK", "job_id": world.job({"type": "NOTEBOOK"})})
    submitted_task.insert_row(
        world.conn, {"task_id": task_id, "description": "", "config": PORTS, "submitted_config": {}}
    )
    allocation.insert_row(
        world.conn,
        {
            "id": f"{task_id}.1",
            "task_id": task_id,
            "run_id": 1,
            "state": "RUNNING",
            "slots": 0,
            "pool": "default",
            "preemptible": False,
            "requested_at": NOW,
        },
    )
