"""Rig of the engine contract: start runners with one engine, see how they end, and what is left of them.

Every task makes its pid known, says hello, and runs until the rig finishes it.
"""

import asyncio
import contextlib
import os
import signal
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import psutil
from runner_master import TICKET, TOKEN, RunnerMaster

from determined.engines.base import Engine
from determined.engines.model import Device, EngineEvent, Launch, RunnerGone, RunnerNews
from determined.errors import Unavailable

PATIENCE = 60.0


class TaskRig:
    """Tasks of a loopback master, and what is left of them.

    `run_root` is where run directories must come to lie; `marks` is read and written by tasks. Both are below `place`;
    a process whose command line or environment names `place` counts as left over by the test.
    """

    def __init__(self, place: Path, *, host: str = "127.0.0.1", tls: tuple[Path, Path] | None = None) -> None:
        """`host`: an address of this machine that nodes reach. `tls`: certificate and key (PEM)."""
        self.place = place
        self.run_root = place / "runs"
        self.marks = place / "marks"
        self.marks.mkdir(parents=True)
        self.master = RunnerMaster(self._entrypoint, host=host, tls=tls)
        self._launches: dict[str, Launch] = {}

    @property
    def node(self) -> str:
        return "here"

    def launch(self, resource_id: str, *, allocation_id: str | None = None, rank: int = 0, size: int = 1) -> Launch:
        """The same again for the same `resource_id`. Each has an allocation of its own unless one is given."""
        if resource_id not in self._launches:
            self._launches[resource_id] = Launch(
                allocation_id=allocation_id or f"1.task-{resource_id}.1",
                resource_id=resource_id,
                container_id=f"container-{resource_id}",
                node_id=self.node,
                rank=rank,
                slot_ids=(len(self._launches),),
                device=Device.CPU,
                master_url=self.master.url,
                token=TOKEN,
                ticket=TICKET,
                size=size,
            )
            self.master.expect(self._launches[resource_id])
        return self._launches[resource_id]

    def finish(self, resource_id: str, status: int = 0) -> None:
        """Let its task end by itself."""
        fresh = self.marks / f"{resource_id}.finish.new"
        fresh.write_text(str(status))
        fresh.rename(self.marks / f"{resource_id}.finish")

    def crash(self, resource_id: str) -> None:
        """Kill the runner of a running task without a chance to do anything, as the kernel would."""
        os.kill(self.runner_pid(resource_id), signal.SIGKILL)

    def task_pid(self, resource_id: str) -> int | None:
        """The task's process once it runs."""
        try:
            return int((self.marks / f"{resource_id}.pid").read_text())
        except (FileNotFoundError, ValueError):
            return None

    def runner_pid(self, resource_id: str) -> int:
        """The runner of a task that runs."""
        above = psutil.Process(self.task_pid(resource_id)).parents()
        return next(process.pid for process in above if "determined.exec.runner" in process.cmdline())

    def times_run(self, resource_id: str) -> int:
        """Return how often its task was begun, ever."""
        begun = self.marks / f"{resource_id}.begun"
        return len(begun.read_text().splitlines()) if begun.exists() else 0

    async def until_running(self, resource_id: str) -> int:
        await eventually(lambda: self.task_pid(resource_id) is not None)
        pid = self.task_pid(resource_id)
        assert pid is not None
        return pid

    def left_over(self) -> list[psutil.Process]:
        """Processes that name `place`, zombies aside."""
        return [process for process in psutil.process_iter() if process.pid != os.getpid() and self._is_ours(process)]

    def clean(self) -> None:
        """After a test, failed or not. A rig with more to put away does that first."""
        for process in self.left_over():
            with contextlib.suppress(psutil.Error):
                process.kill()
        self.master.close()

    def _is_ours(self, process: psutil.Process) -> bool:
        with contextlib.suppress(psutil.Error, OSError):
            if process.status() != psutil.STATUS_ZOMBIE:
                return str(self.place) in "\0".join([*process.cmdline(), *process.environ().values()])
        return False

    def _entrypoint(self, resource_id: str) -> str:
        mark = self.marks / resource_id
        return (
            f"echo begun >> {mark}.begun; echo hello from {resource_id}; echo $$ > {mark}.pid;"
            f" while [ ! -e {mark}.finish ]; do sleep 0.02; done; exit $(cat {mark}.finish)"
        )


class EngineRig(TaskRig, ABC):
    """Base of an engine's own rig: `engine` and `node` are all that it must define.

    - Every engine from `engine()` is one more master life over the same runners.
    - `node` is where launches go, a pool for an engine that chooses nodes itself. It offers at least four slots.
    - Run directories must be made in `run_root` (`Order.run_root`); daemons of a cluster keep their files outside of
      `place` and run without it in their environment.
    - `lose_node` and `notice` are what only some engines have: override them, or the test is skipped.
    """

    @abstractmethod
    def engine(self) -> Engine: ...

    @property
    @abstractmethod
    def node(self) -> str: ...

    def lose_node(self, resource_id: str) -> None:
        """The node of this running runner vanishes, as in a power failure, and stays away for the test."""
        raise NotImplementedError

    def notice(self, resource_id: str) -> None:
        """The engine's own cluster announces that it takes the host of this running runner away."""
        raise NotImplementedError


async def eventually(condition: Callable[[], bool], patience: float = PATIENCE) -> None:
    async with asyncio.timeout(patience):
        while not condition():  # noqa: ASYNC110 - what it waits for happens in other processes
            await asyncio.sleep(0.01)


def is_running(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


@asynccontextmanager
async def opened(rig: EngineRig) -> AsyncIterator[tuple[Engine, "Heard"]]:
    """Open the engine for one life of a master, and collect its events."""
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
        self._engine = engine
        self._task = asyncio.create_task(self._listen(engine))

    async def gone(self, resource_id: str) -> RunnerGone:
        await eventually(lambda: bool(self.all_gone(resource_id)))
        return self.all_gone(resource_id)[0]

    def all_gone(self, resource_id: str) -> list[RunnerGone]:
        return [e for e in self.events if isinstance(e, RunnerGone) and e.resource_id == resource_id]

    def news(self, resource_id: str) -> list[str]:
        return [e.text for e in self.events if isinstance(e, RunnerNews) and e.resource_id == resource_id]

    async def refusal(self, launch: Launch) -> str:
        """Return why a start failed: from its error, or from the runner's end where the engine learns it later."""
        try:
            await self._engine.start(launch)
        except Unavailable as e:
            assert self.all_gone(launch.resource_id) == []
            return e.message
        return (await self.gone(launch.resource_id)).detail

    async def end(self) -> None:
        """The stream of events ends with the engine."""
        async with asyncio.timeout(PATIENCE):
            await self._task

    async def _listen(self, engine: Engine) -> None:
        async for event in engine.events():
            self.events.append(event)
