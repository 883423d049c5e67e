"""What the reconciler tells engines about a runner: whether it was begun, and that its end is on record."""

from collections.abc import Callable
from datetime import datetime
from typing import Any

from sqlalchemy import Connection
from world import World

from determined.config.container_defaults import TaskContainerDefaults
from determined.engines.model import GoneReason, Launch
from determined.errors import FailedPrecondition, Unavailable
from determined.master.db.database import Database
from determined.master.db.queries import allocation as allocations
from determined.master.db.queries.log import LogFilter, read_forward
from determined.master.lifecycle import allocation, spec
from determined.wire.report import Exit, ExitCause


async def test_runner_with_reports_is_handed_over_as_begun(world: World) -> None:
    await world.submit()
    [first] = await world.running()
    assert first.begun is False
    seen: list[Launch] = []
    await world.close()
    world.machine.launched.clear()
    world.machine.alive.clear()
    await world.open()
    await world.until(lambda: world.machine.launched)
    seen += world.machine.launched
    assert [(launch.resource_id, launch.begun) for launch in seen] == [(first.resource_id, True)]


async def test_runner_of_a_trial_beside_the_master_is_handed_what_it_would_ask_for_first(world: World) -> None:
    await world.submit()
    [launch] = await world.running()
    [trial] = await world.rows("trials")
    assert launch.spec is not None
    assert (launch.spec.trial_id, launch.spec.trial_run_id, launch.spec.slot_counts) == (trial["id"], 1, [1])
    assert launch.spec.hparams == trial["hparams"]
    [packed] = await world.rows("model_definitions")
    assert launch.context == packed["tgz"]
    await world.close()
    world.machine.launched.clear()
    world.machine.alive.clear()
    await world.open()
    await world.until(lambda: world.machine.launched)
    assert [(again.begun, again.spec) for again in world.machine.launched] == [(True, None)]


async def test_runner_is_forgotten_only_after_its_end_is_on_record(world: World) -> None:
    on_record: list[Any] = []
    await world.submit()
    [launch] = await world.running()
    forget = world.engine.forget

    async def watched(resource_id: str) -> None:
        on_record.extend(r["drained"] for r in await world.rows("runners") if r["resource_id"] == resource_id)
        await forget(resource_id)

    world.engine.forget = watched  # type: ignore[method-assign]
    world.engine.lose(launch.resource_id)
    await world.until(lambda: world.engine.forgotten == [launch.resource_id])
    assert on_record == [True]


async def test_end_of_a_runner_that_has_reported_everything_changes_no_row(world: World) -> None:
    await world.submit()
    [launch] = await world.running()

    def report(conn: Connection, now: datetime) -> None:
        allocation.runner_exited(conn, now, launch.resource_id, Exit(ExitCause.EXITED, 0, "", 0.0))
        allocation.mark_drained(conn, launch.resource_id)

    await world.write(report)
    await world.until_state("COMPLETED")
    before = await world.rows("runners"), await world.rows("allocations"), await world.rows("log_chunks")
    world.engine.lose(launch.resource_id, GoneReason.EXITED)
    await world.until(lambda: launch.resource_id in world.engine.forgotten)
    assert before == (await world.rows("runners"), await world.rows("allocations"), await world.rows("log_chunks"))


async def test_end_of_a_runner_that_has_reported_nothing_ends_its_allocation(world: World) -> None:
    await world.submit(max_restarts=0)
    [launch] = await world.running()
    world.engine.lose(launch.resource_id, GoneReason.EXITED)
    await world.until(lambda: launch.resource_id in world.engine.forgotten)
    [first, *_] = await world.rows("allocations")
    assert (first["id"], first["state"]) == (launch.allocation_id, "TERMINATED")


async def test_database_that_is_away_while_runners_are_taken_up_again_loses_none(world: World) -> None:
    await world.submit()
    [first] = await world.running()
    await world.close()
    world.guard_db = AwayOnce
    await world.open()
    away = world.ctx.db
    assert isinstance(away, AwayOnce)
    await world.until(lambda: first.resource_id in world.engine.starts)
    assert away.refused == 1
    assert [row["id"] for row in await world.rows("allocations")] == [first.allocation_id]
    assert list(world.machine.alive) == [first.resource_id]


async def test_words_of_an_engine_are_in_the_log_of_the_task_until_its_runner_has_left(world: World) -> None:
    await world.submit()
    await world.until(lambda: bool(world.machine.alive))
    [launch] = world.machine.alive.values()
    [task] = await world.rows("tasks")

    async def said() -> list[str]:
        page = await world.db.read(lambda conn: read_forward(conn, task["id"], 1, LogFilter()))
        return [record.text for record in page.records]

    async def is_said() -> bool:
        return "image x is fetched" in await said()

    world.engine.say("unknown", "of nobody")
    world.engine.say(launch.resource_id, "image x is fetched")
    await world.until(is_said)
    assert [row["state"] for row in await world.rows("allocations")] == ["PULLING"]
    assert "of nobody" not in await said()
    world.engine.lose(launch.resource_id)
    world.engine.say(launch.resource_id, "too late")
    world.engine.lose("the last event")
    await world.until(lambda: "the last event" in world.engine.forgotten)
    assert "too late" not in await said()


async def test_task_without_a_config_is_told_the_defaults_of_its_pool(world: World) -> None:
    await world.submit()
    [launch] = await world.running()
    defaults = {
        "environment_variables": {"cpu": ["A=1"], "cuda": ["A=2"]},
        "bind_mounts": [{"host_path": "/d", "container_path": "data", "read_only": True, "propagation": "rslave"}],
        "work_dir": "/srv",
    }
    seen = spec.Cluster("cluster", "master", "token", TaskContainerDefaults.load(defaults))

    def build(conn: Connection, now: datetime) -> Any:
        allocations.update_row(conn, launch.allocation_id, {"trial_id": None})
        built = spec.build(conn, launch.resource_id, "u", seen)
        allocations.update_row(conn, launch.allocation_id, {"trial_id": 1})
        return built

    task = await world.write(build)
    assert (task.environment, task.work_dir) == (["A=1"], "/srv")
    assert [(m.host_path, m.container_path, m.read_only) for m in task.bind_mounts] == [("/d", "data", True)]


class AwayOnce:
    """A database that cannot be read the first time somebody asks what to start."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self.refused = 0

    @property
    def commits(self) -> int:
        return self._db.commits

    async def read(self, run: Callable[[Connection], Any]) -> Any:
        if not self.refused and "_launch_of" in run.__qualname__:
            self.refused += 1
            raise Unavailable("the database is away")
        return await self._db.read(run)

    async def write(self, run: Callable[[Connection], Any]) -> Any:
        return await self._db.write(run)


async def test_start_that_can_never_succeed_ends_the_trial_with_its_message(world: World) -> None:
    tried: list[str] = []

    async def refuse(launch: Launch) -> None:
        tried.append(launch.resource_id)
        raise FailedPrecondition("uid 7 cannot reach /opt/python")

    world.engine.start = refuse  # type: ignore[method-assign]
    await world.submit(max_restarts=5)
    await world.until_state("ERROR")
    assert len(tried) == 1
    [ended] = await world.rows("allocations")
    assert "uid 7 cannot reach /opt/python" in ended["exit_reason"]


async def test_lost_directory_of_a_begun_runner_costs_a_new_allocation_only(world: World) -> None:
    """The reports of the next allocation are not taken for repeated ones of this."""
    await world.submit()
    [first] = await world.running()

    def gone(conn: Connection, now: datetime) -> None:
        allocation.runner_gone(conn, now, first.resource_id, "not_started", "its run directory is gone")

    world.machine.alive.clear()
    await world.write(gone)
    [second] = await world.running()
    assert (second.allocation_id != first.allocation_id, second.begun) == (True, False)
    assert (await world.trial())["restarts"] == 0
