"""Test the duties of every engine (the docstring of engines/base.py). An engine's own suite derives from this and gives
a fixture `rig` (engine_rig.py), which it cleans; nothing of a test may be left running by then.
"""

import asyncio
import os
from collections.abc import AsyncIterator
from dataclasses import replace

import pytest
from engine_rig import EngineRig, eventually, is_running, opened

from determined.engines.model import GoneReason
from determined.errors import Unavailable
from determined.wire.report import ExitCause


class EngineContract:
    @pytest.fixture
    def rig(self) -> EngineRig:
        raise NotImplementedError("the engine's own suite gives its rig")

    @pytest.fixture(autouse=True)
    async def nothing_left_behind(self, rig: EngineRig) -> AsyncIterator[None]:
        """No test of this suite leaves a process, whatever it did to runners and masters."""
        yield
        await eventually(lambda: rig.left_over() == [])

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
        elsewhere = replace(rig.launch("a"), node_id="no-such-node")
        async with opened(rig) as (engine, heard):
            assert "no-such-node" in await heard.refusal(elsewhere)
            assert [event.reason for event in heard.all_gone("a")] in ([], [GoneReason.NOT_STARTED])
            assert list(await engine.running()) == []
        assert rig.times_run("a") == 0

    async def test_begun_runner_of_which_nothing_is_left_is_not_begun_again(self, rig: EngineRig) -> None:
        async with opened(rig) as (_, heard):
            assert "was begun" in await heard.refusal(replace(rig.launch("a"), begun=True))
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
        async with opened(rig) as (_, heard):
            assert "was begun" in await heard.refusal(replace(rig.launch("a"), begun=True))
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

    async def test_output_and_status_of_a_task_reach_the_master_before_it_is_gone(self, rig: EngineRig) -> None:
        async with opened(rig) as (engine, heard):
            await engine.start(rig.launch("a"))
            await rig.until_running("a")
            rig.finish("a", status=7)
            assert (await heard.gone("a")).reason is GoneReason.EXITED
            assert "hello from a" in rig.master.lines["a"]
            assert (rig.master.exits["a"].cause, rig.master.exits["a"].code) == (ExitCause.EXITED, 7)

    async def test_killed_task_is_reported_as_killed(self, rig: EngineRig) -> None:
        async with opened(rig) as (engine, heard):
            await engine.start(rig.launch("a"))
            await rig.until_running("a")
            await engine.kill("a", force=False)
            await heard.gone("a")
            assert rig.master.exits["a"].cause is ExitCause.KILLED

    async def test_kill_said_by_the_master_alone_ends_the_task(self, rig: EngineRig) -> None:
        async with opened(rig) as (engine, heard):
            await engine.start(rig.launch("a"))
            task = await rig.until_running("a")
            rig.master.say("a", kill=True)
            assert (await heard.gone("a")).reason is GoneReason.EXITED
            assert not is_running(task)

    async def test_preempted_task_is_asked_to_leave(self, rig: EngineRig) -> None:
        async with opened(rig) as (engine, heard):
            await engine.start(rig.launch("a"))
            await rig.until_running("a")
            rig.master.say("a", preempt=True)
            assert (await heard.gone("a")).reason is GoneReason.EXITED
            assert rig.master.exits["a"].cause is ExitCause.PREEMPTED

    async def test_host_that_is_to_be_taken_away_is_told_to_the_master(self, rig: EngineRig) -> None:
        if type(rig).notice is EngineRig.notice:
            pytest.skip("this engine's hosts are never taken away with a notice")
        async with opened(rig) as (engine, heard):
            await engine.start(rig.launch("a"))
            await rig.until_running("a")
            rig.notice("a")
            await heard.gone("a")
            assert rig.master.leaving == [rig.launch("a").allocation_id]
            assert rig.master.exits["a"].cause is ExitCause.PREEMPTED

    async def test_runner_of_a_vanished_node_is_lost(self, rig: EngineRig) -> None:
        if type(rig).lose_node is EngineRig.lose_node:
            pytest.skip("this engine's node is the master's own")
        async with opened(rig) as (engine, heard):
            await engine.start(rig.launch("a"))
            task = await rig.until_running("a")
            rig.lose_node("a")
            assert (await heard.gone("a")).reason is GoneReason.LOST
            assert list(await engine.running()) == []
            assert not is_running(task)
            assert rig.times_run("a") == 1

    async def test_runners_of_one_allocation_live_together_and_across_masters(self, rig: EngineRig) -> None:
        gang = [rig.launch(f"g{rank}", allocation_id="1.gang.1", rank=rank, size=2) for rank in range(2)]
        names = [launch.resource_id for launch in gang]
        async with opened(rig) as (engine, _):
            await asyncio.gather(*(engine.start(launch) for launch in gang))
            for name in names:
                await rig.until_running(name)
            assert sorted(await engine.running()) == names
        async with opened(rig) as (engine, heard):
            for launch in gang:
                await engine.start(replace(launch, begun=True))
            for name in names:
                rig.finish(name)
            assert [(await heard.gone(name)).reason for name in names] == [GoneReason.EXITED] * 2
            assert [rig.times_run(name) for name in names] == [1, 1]
