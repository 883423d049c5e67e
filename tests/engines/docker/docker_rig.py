"""The engine contract's rig over a real Docker."""

import contextlib
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import psutil
from docker_daemon import DockerDaemon
from engine_rig import EngineRig
from host_image import BARE

from determined.engines.docker.config import DockerManager
from determined.engines.docker.engine import DockerEngine, DockerNode
from determined.engines.model import Container, Launch, Mount


class DockerRig(EngineRig):
    """Tasks run in `image`; changes of `container` and `settings` count from the next launch or engine on."""

    node = "here"

    def __init__(self, place: Path, daemon: DockerDaemon, image: str = BARE) -> None:
        super().__init__(place)
        self.daemon = daemon
        self.settings: dict[str, Any] = {}
        marks = str(self.marks)
        self.container = Container(image=daemon.image(image), mounts=(Mount(marks, marks),))
        self._seen: dict[str, int] = {}

    def engine(self) -> DockerEngine:
        settings = DockerManager(socket=self.daemon.socket, **self.settings)
        return DockerEngine(self.run_root, DockerNode(self.node, slots=4), settings, "cluster-1", sys.executable)

    def launch(self, resource_id: str, *, allocation_id: str | None = None, rank: int = 0, size: int = 1) -> Launch:
        launch = super().launch(resource_id, allocation_id=allocation_id, rank=rank, size=size)
        return replace(launch, container=self.container)

    def task_pid(self, resource_id: str) -> int | None:
        """Return what it says is its number inside; this is the one outside."""
        said = super().task_pid(resource_id)
        if said is not None and resource_id not in self._seen:
            runner = self.daemon.command("inspect", "-f", "{{.State.Pid}}", f"determined-cluster--{resource_id}")
            for process in psutil.Process(int(runner)).children(recursive=True):
                if _inner_pid(process.pid) == said:
                    self._seen[resource_id] = process.pid
        return self._seen.get(resource_id)

    def containers(self) -> list[str]:
        """Names of all that are left."""
        return self.daemon.command("ps", "-a", "--format", "{{.Names}}").split()

    def clean(self) -> None:
        self.daemon.clear()
        super().clean()


def _inner_pid(pid: int) -> int | None:
    """Return the pid of a process in its own namespace."""
    with contextlib.suppress(OSError):
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith("NSpid:"):
                return int(line.split()[-1])
    return None
