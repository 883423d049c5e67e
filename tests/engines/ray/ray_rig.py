"""The engine contract's rig over a real Ray cluster: one bridge serves all tests of a session, one engine a life."""

from pathlib import Path

from bridge_door import BridgeDoor
from engine_rig import EngineRig, eventually
from ray_cluster import RayCluster

from determined.engines.ray.bridge_supervisor import Home
from determined.engines.ray.config import RayManager, RayPool
from determined.engines.ray.engine import RayEngine

SECRET = b"the secret of the cluster under test"


class AwaitedEngine(RayEngine):
    """Opened when its bridge has told of the nodes: a master serves requests by then, and so does the door."""

    def __init__(self, door: BridgeDoor, settings: RayManager, pools: list[RayPool], cluster_id: str) -> None:
        super().__init__("ray", Home(cluster_id, SECRET, door.url), settings, pools)
        self._door = door

    async def open(self) -> None:
        await super().open()
        self._door.admit(self)
        await eventually(lambda: bool(self.nodes()), 120)
        while not self._events.empty():
            self._events.get_nowait()  # the nodes' arrival, which the contract does not speak of

    async def close(self) -> None:
        self._door.shut(self)
        await super().close()


class RayRig(EngineRig):
    def __init__(self, place: Path, ray: RayCluster, door: BridgeDoor, host: str = "n1") -> None:
        super().__init__(place, host=ray.master_address)
        self.ray, self._door, self._host = ray, door, host
        self.pools = [RayPool(name="default")]

    @property
    def node(self) -> str:
        return self.ray.agent_id(self._host)

    def engine(self) -> RayEngine:
        settings = RayManager(
            dashboard_url=self.ray.dashboard,
            auth_token_file=str(self.ray.token_file),
            run_root=str(self.run_root),
            bridge_silence=60.0,
        )
        return AwaitedEngine(self._door, settings, self.pools, self._door.mark)

    def lose_node(self, resource_id: str) -> None:
        self.ray.kill_node(self._host)

    def notice(self, resource_id: str) -> None:
        self.ray.drain_node(self._host, 60)

    async def clear(self) -> None:
        """Forget every runner, so that the next test finds none."""
        engine = self.engine()
        await engine.open()
        for resource_id in list(engine._runners.reported):
            await engine.forget(resource_id)
        assert engine._runners.reported == {}
        await engine.close()
