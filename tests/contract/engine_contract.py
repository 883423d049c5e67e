"""What every engine must do (the docstring of engines/base.py), as tests. An engine's own suite derives from this.

It gives a fixture `rig`, whose tasks make their pid known and run until the rig finishes them.
"""

import asyncio
import os
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace

import psutil
import pytest

from determined.engines.base import Engine
from determined.engines.model import EngineEvent, GoneReason, Launch, RunnerGone
from determined.errors import Unavailable

PATIENCE = 30.0


class EngineRig(ABC):
    """One place where runners live. Every engine from `engine()` is one more master life over the same runners."""

    @abstractmethod
    def engine(self) -> Engine: ...

    @abstractmethod
    def launch(self, resource_id: str) -> Launch: ...

    @abstractmethod
    def finish(self, resource_id: str) -> None:
        """Let its task end by itself."""

    @abstractmethod
    def crash(self, resource_id: str) -> None:
        """Kill the runner without a chance to do anything, as the kernel would."""

    @abstractmethod
    def task_pid(self, resource_id: str) -> int | None:
        """The task's process once it runs."""

    @abstractmethod
    def times_run(self, resource_id: str) -> int:
        """How often its task was begun, ever."""

    async def until_running(self, resource_id: str) -> int:
        await eventually(lambda: self.task_pid(resource_id) is not None)
        pid = self.task_pid(resource_id)
        assert pid is not None
        return pid


async def eventually(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(PATIENCE):
        while not condition():  # noqa: ASYNC110 - what it waits for happens in other processes
            await asyncio.sleep(0.01)


def is_running(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


@asynccontextmanager
async def opened(rig: EngineRig) -> AsyncIterator[tuple[Engine, "Heard"]]:
    """One life of a master: the engine, and what it says."""
    engine = rig.engine()
    await engine.open()
    heard = Heard(engine)
    try:
        yield engine, heard
    finally:
        await engine.close()
        await heard.end()


class Heard:
    """Collects an engine's events."""

    def __init__(self, engine: Engine) -> None:
        self.events: list[EngineEvent] = []
        self._task = asyncio.create_task(self._listen(engine))

    async def gone(self, resource_id: str) -> RunnerGone:
        await eventually(lambda: bool(self.all_gone(resource_id)))
        return self.all_gone(resource_id)[0]

    def all_gone(self, resource_id: str) -> list[RunnerGone]:
        return [e for e in self.events if isinstance(e, RunnerGone) and e.resource_id == resource_id]

    async def end(self) -> None:
        """The stream of events ends with the engine."""
        async with asyncio.timeout(PATIENCE):
            await self._task

    async def _listen(self, engine: Engine) -> None:
        async for event in engine.events():
            self.events.append(event)


class EngineContract:
    @pytest.fixture
    def rig(self) -> EngineRig:
        raise NotImplementedError("the engine's own suite gives its rig")

    async def test_nodes_have_distinct_ids_and_slots(self, rig: EngineRig) -> None:
        async with opened(rig) as (engine, _):
            nodes = engine.nodes()
            assert nodes
            assert len({node.id for node in nodes}) == len(nodes)
            for node in nodes:
                assert len({slot.id for slot in node.slots}) == len(node.slots)

    async def test_started_runner_is_listed_and_ends_with_one_event(self, rig: EngineRig) -> None:
        async with opened(rig) as (engine, heard):
            await engine.start(rig.launch("a"))
            await rig.until_running("a")
            assert list(await engine.running()) == ["a"]
            rig.finish("a")
            assert (await heard.gone("a")).reason is GoneReason.EXITED
            assert list(await engine.running()) == []
            # A second runner's whole life gives a doubled event of the first one time to show.
            await engine.start(rig.launch("b"))
            await rig.until_running("b")
            rig.finish("b")
            await heard.gone("b")
            assert len(heard.all_gone("a")) == 1

    async def test_starting_twice_runs_once(self, rig: EngineRig) -> None:
        async with opened(rig) as (engine, heard):
            await asyncio.gather(engine.start(rig.launch("a")), engine.start(rig.launch("a")))
            await engine.start(rig.launch("a"))
            await rig.until_running("a")
            await engine.start(rig.launch("a"))
            rig.finish("a")
            await heard.gone("a")
            await engine.start(rig.launch("a"))
            assert list(await engine.running()) == []
            assert rig.times_run("a") == 1
            assert len(heard.all_gone("a")) == 1

    async def test_several_runners_live_side_by_side(self, rig: EngineRig) -> None:
        names = [f"r{i}" for i in range(3)]
        async with opened(rig) as (engine, heard):
            await asyncio.gather(*(engine.start(rig.launch(name)) for name in names))
            for name in names:
                await rig.until_running(name)
            assert sorted(await engine.running()) == names
            rig.finish("r1")
            await heard.gone("r1")
            assert sorted(await engine.running()) == ["r0", "r2"]
            for name in ("r0", "r2"):
                rig.finish(name)
                await heard.gone(name)

    async def test_killing_an_unknown_runner_does_nothing(self, rig: EngineRig) -> None:
        async with opened(rig) as (engine, heard):
            await engine.kill("nobody", force=False)
            await engine.kill("nobody", force=True)
            assert heard.events == []

    async def test_kill_ends_the_task_and_the_runner_reports(self, rig: EngineRig) -> None:
        async with opened(rig) as (engine, heard):
            await engine.start(rig.launch("a"))
            task = await rig.until_running("a")
            await engine.kill("a", force=False)
            assert (await heard.gone("a")).reason is GoneReason.EXITED
            assert not is_running(task)
            await engine.kill("a", force=False)

    async def test_forced_kill_ends_runner_and_task_at_once(self, rig: EngineRig) -> None:
        async with opened(rig) as (engine, heard):
            await engine.start(rig.launch("a"))
            task = await rig.until_running("a")
            await engine.kill("a", force=True)
            await eventually(lambda: not is_running(task))
            await heard.gone("a")
            assert rig.times_run("a") == 1

    async def test_runner_outlives_the_master_and_is_adopted(self, rig: EngineRig) -> None:
        async with opened(rig) as (engine, _):
            await engine.start(rig.launch("a"))
            task = await rig.until_running("a")
        assert is_running(task)
        async with opened(rig) as (engine, heard):
            assert list(await engine.running()) == ["a"]
            await engine.start(rig.launch("a"))
            assert rig.times_run("a") == 1
            assert is_running(task)
            rig.finish("a")
            assert (await heard.gone("a")).reason is GoneReason.EXITED

    async def test_adopted_runner_can_be_killed(self, rig: EngineRig) -> None:
        async with opened(rig) as (engine, _):
            await engine.start(rig.launch("a"))
            await engine.start(rig.launch("b"))
            tasks = [await rig.until_running("a"), await rig.until_running("b")]
        async with opened(rig) as (engine, heard):
            await engine.start(rig.launch("a"))
            await engine.start(rig.launch("b"))
            await engine.kill("a", force=False)
            await engine.kill("b", force=True)
            await heard.gone("a")
            await heard.gone("b")
            assert not any(is_running(task) for task in tasks)

    async def test_runner_that_ended_while_nobody_watched_is_reported_and_not_run_again(self, rig: EngineRig) -> None:
        async with opened(rig) as (engine, _):
            await engine.start(rig.launch("a"))
            task = await rig.until_running("a")
        rig.finish("a")
        await eventually(lambda: not is_running(task))
        async with opened(rig) as (engine, heard):
            await engine.start(rig.launch("a"))
            assert (await heard.gone("a")).reason is GoneReason.EXITED
            await engine.start(rig.launch("a"))
            assert rig.times_run("a") == 1
            assert len(heard.all_gone("a")) == 1

    async def test_crashed_runner_takes_its_task_along_and_is_reported_once(self, rig: EngineRig) -> None:
        async with opened(rig) as (engine, heard):
            await engine.start(rig.launch("a"))
            task = await rig.until_running("a")
            rig.crash("a")
            await heard.gone("a")
            assert not is_running(task)
            assert rig.times_run("a") == 1
            await engine.start(rig.launch("a"))
            assert len(heard.all_gone("a")) == 1

    async def test_runner_that_crashed_while_nobody_watched_is_reported(self, rig: EngineRig) -> None:
        async with opened(rig) as (engine, _):
            await engine.start(rig.launch("a"))
            task = await rig.until_running("a")
        rig.crash("a")
        async with opened(rig) as (engine, heard):
            await engine.start(rig.launch("a"))
            await heard.gone("a")
            assert not is_running(task)
            assert rig.times_run("a") == 1

    async def test_unknown_node_is_refused(self, rig: EngineRig) -> None:
        launch = rig.launch("a")
        elsewhere = Launch(
            allocation_id=launch.allocation_id,
            resource_id="a",
            container_id=launch.container_id,
            node_id="no-such-node",
            rank=0,
            slot_ids=(),
            device=launch.device,
            master_url=launch.master_url,
            token=launch.token,
        )
        async with opened(rig) as (engine, heard):
            with pytest.raises(Unavailable, match="no-such-node"):
                await engine.start(elsewhere)
            assert heard.events == []
            assert list(await engine.running()) == []

    async def test_begun_runner_of_which_nothing_is_left_is_not_begun_again(self, rig: EngineRig) -> None:
        async with opened(rig) as (engine, heard):
            with pytest.raises(Unavailable, match="was begun"):
                await engine.start(replace(rig.launch("a"), begun=True))
            assert heard.events == []
        assert rig.times_run("a") == 0

    async def test_end_is_told_in_each_life_until_it_is_on_record(self, rig: EngineRig) -> None:
        async with opened(rig) as (engine, heard):
            await engine.start(rig.launch("a"))
            await rig.until_running("a")
            rig.finish("a")
            await heard.gone("a")
        async with opened(rig) as (engine, heard):
            await engine.start(replace(rig.launch("a"), begun=True))
            assert (await heard.gone("a")).reason is GoneReason.EXITED
            await engine.forget("a")
        async with opened(rig) as (engine, _):
            with pytest.raises(Unavailable, match="was begun"):
                await engine.start(replace(rig.launch("a"), begun=True))
        assert rig.times_run("a") == 1

    async def test_forgetting_an_unknown_runner_does_nothing(self, rig: EngineRig) -> None:
        async with opened(rig) as (engine, heard):
            await engine.forget("nobody")
            assert heard.events == []

    async def test_closed_engine_starts_nothing(self, rig: EngineRig) -> None:
        async with opened(rig) as (engine, _):
            pass
        with pytest.raises(Unavailable):
            await engine.start(rig.launch("a"))
        assert rig.times_run("a") == 0

    async def test_runner_is_in_a_session_of_its_own(self, rig: EngineRig) -> None:
        async with opened(rig) as (engine, heard):
            await engine.start(rig.launch("a"))
            task = await rig.until_running("a")
            assert os.getsid(task) != os.getsid(0)
            rig.finish("a")
            await heard.gone("a")
