"""The engine contract against a real Ray cluster, and what only Ray has."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from bridge_door import BridgeDoor
from engine_contract import EngineContract
from engine_rig import eventually, opened
from ray_cluster import RayCluster
from ray_rig import RayRig

from determined.engines.model import GoneReason
from determined.engines.ray.engine import RayEngine

pytestmark = [pytest.mark.engines, pytest.mark.timeout(240)]

_TAKE_A_NODE = (
    EngineContract.test_runner_of_a_vanished_node_is_lost.__name__,
    EngineContract.test_host_that_is_to_be_taken_away_is_told_to_the_master.__name__,
)


@pytest.fixture
async def rig(tmp_path: Path, ray: RayCluster, door: BridgeDoor) -> AsyncIterator[RayRig]:
    rig = RayRig(tmp_path, ray, door)
    yield rig
    await rig.clear()
    rig.clean()


async def test_runner_whose_actor_is_slow_to_answer_a_new_bridge_is_not_lost(rig: RayRig) -> None:
    async with opened(rig) as (engine, heard):
        assert isinstance(engine, RayEngine)
        await engine.start(rig.launch("a"))
        await rig.until_running("a")
        (actor,) = rig.ray.processes("ray::RunnerActor")
        actor.suspend()
        try:
            before = engine._viewed[0]
            rig.ray.kill_processes("determined.engines.ray.bridge")
            await eventually(lambda: engine._viewed[0] != before, 90)
        finally:
            actor.resume()
        assert heard.all_gone("a") == []
        assert list(await engine.running()) == ["a"]
        rig.finish("a")
        assert (await heard.gone("a")).reason is GoneReason.EXITED
        assert rig.times_run("a") == 1


class TestRayEngine(EngineContract):
    @pytest.fixture
    async def rig(
        self, request: pytest.FixtureRequest, tmp_path: Path, ray: RayCluster, door: BridgeDoor
    ) -> AsyncIterator[RayRig]:
        """On a node of its own where the test takes its node away."""
        host = "n1"
        if request.function.__name__ in _TAKE_A_NODE:
            host = f"spare{_TAKE_A_NODE.index(request.function.__name__)}"
            ray.add_node(host, gpus=4)
        rig = RayRig(tmp_path, ray, door, host)
        yield rig
        await rig.clear()
        rig.clean()
        if host != "n1":
            ray.kill_node(host)
