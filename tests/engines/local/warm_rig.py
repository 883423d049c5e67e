"""A local engine whose runners are forked, from their first one on."""

from pathlib import Path

import pytest
from engine_rig import eventually
from local_rig import LocalRig

from determined.engines.base import Engine
from determined.engines.local import fork_servers
from determined.engines.local.engine import LocalEngine, LocalNode


class WarmEngine(LocalEngine):
    """Waits at its start for the server that it would only start at the second launch."""

    async def open(self) -> None:
        await super().open()
        servers = self._fork_servers
        assert servers is not None
        await eventually(servers.is_ready)


class WarmRig(LocalRig):
    def __init__(self, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        super().__init__(place)
        monkeypatch.setattr(fork_servers, "_ENOUGH_LAUNCHES", 0)

    def engine(self) -> Engine:
        return WarmEngine(self.run_root, [LocalNode("here", slots=4), LocalNode("there", "other", slots=2)], warm=True)
