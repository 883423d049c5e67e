"""The engine contract against a real Slurm, and what only Slurm has. What every engine does is mostly for `engines`."""

import asyncio
import json
import shutil
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from engine_contract import EngineContract
from engine_rig import eventually, is_running, opened
from slurm_cluster import SlurmCluster
from slurm_rig import SlurmRig

from determined.engines.model import GoneReason, RunAs
from determined.errors import FailedPrecondition, InvalidArgument, Unavailable


@pytest.fixture
def rig(tmp_path: Path, at_slurm: SlurmCluster) -> Iterator[SlurmRig]:
    rig = SlurmRig(tmp_path, at_slurm, sys.executable)
    yield rig
    at_slurm.clear()
    rig.clean()


@pytest.fixture
def own_slurm(
    slurm: SlurmCluster, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> Iterator[SlurmCluster]:
    """Start a Slurm whose controller may be stopped without harm to other tests."""
    own = SlurmCluster(tmp_path_factory.mktemp("own-slurm"))
    for name, value in own.environment().items():
        monkeypatch.setenv(name, value)
    try:
        own.start()
        yield own
    finally:
        own.stop()


@pytest.mark.engines
class TestSlurmEngine(EngineContract):
    @pytest.fixture
    def rig(self, rig: SlurmRig) -> SlurmRig:  # type: ignore[override]
        return rig


@pytest.mark.engines
async def test_runners_of_a_gang_are_one_job_and_end_in_order(rig: SlurmRig, at_slurm: SlurmCluster) -> None:
    gang = [rig.launch(f"g{rank}", allocation_id="1.gang.1", rank=rank, size=2) for rank in range(2)]
    async with opened(rig) as (engine, heard):
        await engine.start(gang[0])
        assert at_slurm.command("squeue", "-h") == ""
        await engine.start(gang[1])
        for launch in gang:
            await rig.until_running(launch.resource_id)
        assert at_slurm.command("squeue", "-h", "-o", "%D %k") == "2 determined:cluster-1:1.gang.1"
        assert rig.node_of("g0") != rig.node_of("g1")
        for launch in gang:
            rig.finish(launch.resource_id)
        assert [(await heard.gone(one.resource_id)).reason for one in gang] == [GoneReason.EXITED] * 2


async def test_job_of_another_life_is_taken_up_and_ends_with_a_kill(rig: SlurmRig) -> None:
    async with opened(rig) as (engine, _):
        await engine.start(rig.launch("a"))
        task = await rig.until_running("a")
    async with opened(rig) as (engine, heard):
        assert list(await engine.running()) == list(engine.unclaimed()) == ["a"]
        await engine.start(replace(rig.launch("a"), begun=True))
        assert engine.unclaimed() == []
        await engine.kill("a", force=False)
        assert (await heard.gone("a")).reason is GoneReason.EXITED
        assert not is_running(task)
        await engine.forget("a")
        assert list((rig.place / "slurm").glob("job-*")) == []


async def test_job_that_slurm_refuses_is_refused_in_its_words(rig: SlurmRig) -> None:
    launch = replace(rig.launch("a"), options={"sbatch_args": ["--time=banana"]})
    async with opened(rig) as (engine, heard):
        with pytest.raises(FailedPrecondition, match="Invalid --time specification"):
            await engine.start(launch)
        assert heard.events == []
        assert list(await engine.running()) == []
    assert list((rig.place / "slurm").glob("job-*")) == []


async def test_task_of_another_user_is_refused(rig: SlurmRig) -> None:
    async with opened(rig) as (engine, _):
        with pytest.raises(FailedPrecondition, match=r"master's own user|only root"):
            await engine.start(replace(rig.launch("a"), run_as=RunAs(uid=12345, gid=12345)))


async def test_size_and_options_are_checked_before_anything_is_queued(rig: SlurmRig) -> None:
    async with opened(rig) as (engine, _):
        assert engine.spread("main", 16, {}, single_node=False) == [8, 8]
        assert engine.spread("small", 8, {"slots_per_node": 8}, single_node=False) == [8]
        with pytest.raises(InvalidArgument, match="ask for 8"):
            engine.spread("small", 16, {}, single_node=False)
        with pytest.raises(InvalidArgument, match="--nodes=3"):
            engine.spread("main", 1, {"sbatch_args": ["--nodes=3"]}, single_node=False)
        shared = {node.id: (node.pool, *node.also_pools) for node in engine.nodes()}
        assert shared == {"n1": ("main", "quick", "small"), "n2": ("main", "quick"), "n3": ("main", "quick")}


@pytest.mark.engines
async def test_pending_job_tells_why_and_is_canceled_by_a_kill(rig: SlurmRig, at_slurm: SlurmCluster) -> None:
    launch = replace(rig.launch("a"), options={"sbatch_args": ["--begin=now+1hour"]})
    async with opened(rig) as (engine, heard):
        await engine.start(launch)
        await eventually(lambda: "is PENDING: BeginTime" in engine.waiting().get(launch.allocation_id, ""))
        await engine.kill("a", force=False)
        assert (await heard.gone("a")).reason is GoneReason.LOST
        assert at_slurm.command("squeue", "-h") == ""


@pytest.mark.engines
async def test_job_canceled_by_somebody_else_is_told_as_that(rig: SlurmRig, at_slurm: SlurmCluster) -> None:
    async with opened(rig) as (engine, heard):
        await engine.start(rig.launch("a"))
        await rig.until_running("a")
        at_slurm.command("scancel", at_slurm.command("squeue", "-h", "-o", "%i"))
        gone = await heard.gone("a")
        assert gone.reason is GoneReason.CANCELED
        assert "is CANCELLED" in gone.detail


@pytest.mark.engines
async def test_nothing_is_lost_while_the_controller_is_away(tmp_path: Path, own_slurm: SlurmCluster) -> None:
    rig = SlurmRig(tmp_path / "rig", own_slurm, sys.executable)
    try:
        await _outlive_the_controller(rig, own_slurm)
    finally:
        rig.clean()


async def _outlive_the_controller(rig: SlurmRig, at_slurm: SlurmCluster) -> None:
    async with opened(rig) as (engine, heard):
        await engine.start(rig.launch("a"))
        task = await rig.until_running("a")
        at_slurm.stop_controller()
        try:
            with pytest.raises(Unavailable):
                await engine.start(rig.launch("b"))
            assert is_running(task)
        finally:
            at_slurm.start_controller()
        assert heard.events == []
    async with opened(rig) as (engine, heard):
        await engine.start(replace(rig.launch("a"), begun=True))
        rig.finish("a")
        assert (await heard.gone("a")).reason is GoneReason.EXITED


@pytest.mark.engines
async def test_job_whose_number_was_not_written_down_is_found_by_its_mark(rig: SlurmRig) -> None:
    async with opened(rig) as (engine, _):
        await engine.start(rig.launch("a"))
        await rig.until_running("a")
    (record,) = (rig.place / "slurm").glob("job-*.json")
    record.write_text(json.dumps({**json.loads(record.read_text()), "job_id": None}))
    async with opened(rig) as (engine, _):
        assert list(await engine.running()) == ["a"]
    record.unlink()
    async with opened(rig) as (engine, heard):
        await engine.start(replace(rig.launch("a"), begun=True))
        assert rig.times_run("a") == 1
        rig.finish("a")
        assert (await heard.gone("a")).reason is GoneReason.EXITED


@pytest.mark.engines
async def test_job_of_an_sbatch_that_did_not_answer_is_looked_for_and_canceled(
    rig: SlurmRig, at_slurm: SlurmCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("determined.engines.slurm.engine._STRAY_SECONDS", 1.0)
    commands = rig.place / "commands"
    commands.mkdir()
    for name in ("squeue", "scancel", "sinfo"):
        (commands / name).symlink_to(str(shutil.which(name)))
    sbatch = commands / "sbatch"
    sbatch.write_text(f"#!/bin/sh\n{shutil.which('sbatch')} --begin=now+1hour >&2\necho timed out >&2\nexit 1\n")
    sbatch.chmod(0o755)
    engine = rig.engine(path=str(commands))
    await engine.open()
    try:
        with pytest.raises(Unavailable, match="timed out"):
            await engine.start(rig.launch("a"))
        assert "determined:cluster-1" in at_slurm.command("squeue", "-h", "-o", "%k")
        await eventually(lambda: at_slurm.command("squeue", "-h") == "", 20)
    finally:
        await engine.close()


@pytest.mark.engines
async def test_disowned_job_is_canceled(rig: SlurmRig, at_slurm: SlurmCluster) -> None:
    async with opened(rig) as (engine, _):
        await engine.start(rig.launch("a"))
        task = await rig.until_running("a")
    async with opened(rig) as (engine, heard):
        await asyncio.gather(*(engine.disown(one) for one in engine.unclaimed()))
        await eventually(lambda: not is_running(task) and at_slurm.command("squeue", "-h") == "")
        assert heard.events == []
        assert list(await engine.running()) == []


@pytest.mark.engines
async def test_trial_near_its_time_limit_is_asked_to_leave(rig: SlurmRig) -> None:
    launch = replace(rig.launch("a"), options={"sbatch_args": ["--time=1"]})
    async with opened(rig) as (engine, heard):
        await engine.start(launch)
        await rig.until_running("a")
        await heard.gone("a")
        assert rig.master.leaving == [launch.allocation_id]
