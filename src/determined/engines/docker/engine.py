"""Docker engine: one container per runner on this machine.

The next step follows from the daemon's containers and the run directories alone, so a restarted master goes on.
"""

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from determined._version import __version__
from determined.engines.base import Engine
from determined.engines.docker.api import Docker, Status
from determined.engines.docker.config import DockerManager
from determined.engines.docker.images import Images
from determined.engines.docker.python_mounts import find_python_mounts
from determined.engines.docker.starter import RESOURCE, Starter
from determined.engines.docker.tracked_container import ENDED_EARLY, TrackedContainer
from determined.engines.host import directory
from determined.engines.host.detect import detect, slot_type
from determined.engines.host.directory import DirectoryState
from determined.engines.model import EngineEvent, GoneReason, Launch, Node, RunnerGone
from determined.errors import DeterminedError, FailedPrecondition, Unavailable

logger = logging.getLogger(__name__)

_POLL_SECONDS = 0.5  # while something waits for a retry, or no events of the daemon arrive
_LOOK_SECONDS = 5.0  # events may be lost
_CLAIM_SECONDS = 30.0  # for the master to tell its address to runners that died while it was away
_CLUSTER, _RUNS = "determined.cluster", "determined.runs"


@dataclass(frozen=True, slots=True)
class DockerNode:
    """Node that the engine offers: this machine. `slots` artificial CPU slots; None looks for devices."""

    id: str
    pool: str = "default"
    also_pools: tuple[str, ...] = ()
    slots: int | None = None
    slot_type: str = "auto"
    visible_gpus: str | None = None
    max_aux: int = 100


class DockerEngine(Engine):
    """Engine that runs each runner in a container.

    Args:
        run_root: Root of the run directories; it must survive a restart of the master.
        node: What to offer.
        settings: What the operator says about their Docker.
        cluster_id: Marks our containers among those of others.
        python: The interpreter that is mounted into images without determined, where the settings name none.
    """

    def __init__(
        self,
        run_root: Path,
        node: DockerNode,
        settings: DockerManager,
        cluster_id: str,
        python: str,
        *,
        name: str = "docker",
    ) -> None:
        self.name = name
        self._run_root = run_root
        self._wanted = node
        self._settings = settings
        self._labels = {_CLUSTER: cluster_id, _RUNS: str(run_root)}
        self._prefix = f"determined-{cluster_id[:8]}-"
        self._python = settings.python or python
        self._docker = Docker(settings.socket)
        self._images = Images(self._docker, self._labels)
        self._node: Node | None = None
        self._starter: Starter | None = None
        self._held: dict[str, TrackedContainer] = {}
        self._gone: set[str] = set()
        self._remains: dict[str, tuple[TrackedContainer, DirectoryState]] = {}  # until their end is on record
        self._events: asyncio.Queue[EngineEvent | None] = asyncio.Queue()
        self._changed = asyncio.Event()
        self._is_hearing = False  # the daemon's events
        self._is_away = False  # the daemon, as of the last look
        self._loops: list[asyncio.Task[None]] = []

    async def open(self) -> None:
        await asyncio.to_thread(directory.make_root, self._run_root)
        node = self._node = await asyncio.to_thread(self._offer)
        python_mounts = await asyncio.to_thread(find_python_mounts, self._python)
        self._starter = Starter(
            self._docker, self._images, self._settings, self._labels, node, python_mounts, self._events.put_nowait
        )
        until = asyncio.get_running_loop().time() + _CLAIM_SECONDS
        for run_dir in await asyncio.to_thread(lambda: list(directory.listing(self._run_root))):
            self._held[run_dir.path.name] = self._hold(run_dir.path.name, retry_at=until)
        await self._remove_strays()
        self._loops = [
            asyncio.create_task(self._watch(), name=f"{self.name}-watch"),
            asyncio.create_task(self._listen(), name=f"{self.name}-events"),
        ]

    async def close(self) -> None:
        if not self._loops:
            return
        # What is half done is found and finished by the next master.
        ending = [*self._loops, *(held.bringing for held in self._held.values() if held.bringing)]
        for task in ending:
            task.cancel()
        await asyncio.gather(*ending, return_exceptions=True)
        await self._images.close()
        self._loops = []
        self._held.clear()
        self._events.put_nowait(None)

    def nodes(self) -> Sequence[Node]:
        return [self._node] if self._node else []

    async def start(self, launch: Launch) -> None:
        if not self._loops:
            raise Unavailable(f"the {self.name} engine is not open")
        resource_id = launch.resource_id
        if resource_id in self._gone:
            return
        held = self._held.get(resource_id)
        if held is None:
            held = self._held[resource_id] = self._hold(resource_id)
        async with held.lock:
            if held.launch is None:
                await self._take(held, launch)
        self._changed.set()

    async def kill(self, resource_id: str, *, force: bool) -> None:
        held = self._held.get(resource_id)
        if held is None:
            return
        async with held.lock:
            if held.bringing is not None and held.is_fetching:
                held.bringing.cancel()
            if held.bringing is not None:
                await asyncio.wait([held.bringing])
            if not await asyncio.to_thread(held.has_begun) and await self._is_absent(held):
                event = RunnerGone(resource_id, GoneReason.NOT_STARTED, ENDED_EARLY)
                self._report_gone(held, DirectoryState.DEAD, event)
                return
            await self._end(held, force=force)
        self._changed.set()

    async def forget(self, resource_id: str) -> None:
        remains = self._remains.pop(resource_id, None)
        if remains is None:
            return
        held, state = remains
        await self._remove(held.name)
        await asyncio.to_thread(held.clear_away, state)

    def unclaimed(self) -> Sequence[str]:
        """Return runners that an earlier master left here, dead or alive, and that `start` has not asked for since."""
        remains = [held for held, _ in self._remains.values()]
        return [held.resource_id for held in (*self._held.values(), *remains) if held.launch is None]

    async def disown(self, resource_id: str) -> None:
        """End a runner that no master will ever claim, and keep its directory under `<runs>/lost`. No event follows."""
        remains = self._remains.pop(resource_id, None)
        held = self._held.pop(resource_id, None) or (remains[0] if remains else None)
        if held is None:
            return
        self._gone.add(resource_id)
        await self._remove(held.name)
        await asyncio.to_thread(directory.put_aside, held.run_dir)

    async def running(self) -> Sequence[str]:
        resource_ids = {one.labels.get(RESOURCE) for one in await self._containers() if one.is_running}
        return [resource_id for resource_id in self._held if resource_id in resource_ids]

    async def events(self) -> AsyncIterator[EngineEvent]:
        while (event := await self._events.get()) is not None:
            yield event

    def _offer(self) -> Node:
        wanted = self._wanted
        slots = detect(wanted.id, slot_type(wanted.slot_type), artificial=wanted.slots, visible=wanted.visible_gpus)
        return Node(
            wanted.id,
            wanted.pool,
            slots,
            max_aux=wanted.max_aux,
            version=__version__,
            also_pools=wanted.also_pools,
        )

    def _hold(self, resource_id: str, *, retry_at: float = 0.0) -> TrackedContainer:
        run_dir = directory.locate(self._run_root, resource_id)
        return TrackedContainer(run_dir, self._prefix + resource_id, retry_at=retry_at)

    async def _remove_strays(self) -> None:
        """Remove containers of ours without a directory: it was removed, or a master died while it probed an image."""
        try:
            containers = await self._containers()
        except (Unavailable, FailedPrecondition) as e:
            logger.warning("%s: %s", self.name, e.message)
            return
        for one in containers:
            if one.labels.get(RESOURCE) not in self._held:
                logger.warning("container %s belongs to no runner of this master: removed", one.id[:12])
                await self._remove(one.id)

    async def _take(self, held: TrackedContainer, launch: Launch) -> None:
        known = self._node is not None and launch.node_id == self._node.id
        try:
            await asyncio.to_thread(held.take, launch, known=known)
        except DeterminedError:
            if not await asyncio.to_thread(held.run_dir.path.exists):
                self._held.pop(held.resource_id, None)
            raise
        held.launch, held.retry_at = launch, 0.0

    async def _containers(self) -> list[Status]:
        return await self._docker.containers(self._labels)

    async def _is_absent(self, held: TrackedContainer) -> bool:
        try:
            return await self._docker.find(held.name) is None
        except (Unavailable, FailedPrecondition):
            return False

    async def _end(self, held: TrackedContainer, *, force: bool) -> None:
        """End a runner.

        A forced end of one that only drains does nothing: its task is dead, and its records are wanted.
        """
        if force and await asyncio.to_thread(held.only_drains):
            held.given_up |= held.retries_exhausted
            return
        try:
            await self._docker.kill(held.name, "KILL" if force else "TERM")
            held.was_killed |= force
        except (Unavailable, FailedPrecondition) as e:
            # The master asks again; meanwhile the runner hears of it from the master itself.
            logger.warning("%s cannot be ended now: %s", held.resource_id, e.message)

    async def _remove(self, container: str) -> None:
        try:
            await self._docker.remove(container)
        except (Unavailable, FailedPrecondition) as e:
            logger.warning("container %s stays until the next start of the master: %s", container, e.message)

    async def _listen(self) -> None:
        """Listen to the daemon's events, which only say that a look is worth while."""
        while True:
            with contextlib.suppress(Unavailable, OSError):
                async for _ in self._docker.changes(self._labels):
                    self._is_hearing = True
                    self._changed.set()
            self._is_hearing = False
            await asyncio.sleep(_POLL_SECONDS if self._held else _LOOK_SECONDS)

    async def _watch(self) -> None:
        while True:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(self._patience()):
                    await self._changed.wait()
            self._changed.clear()
            try:
                await self._look()
            except Exception:
                # The loop's edge: a runner's end is noticed on the next turn instead of never.
                logger.exception("%s: looking after containers failed; trying again", self.name)
                await asyncio.sleep(_POLL_SECONDS)

    def _patience(self) -> float | None:
        if not self._held:
            return None
        now = asyncio.get_running_loop().time()
        is_waiting = any(held.retry_at > now for held in self._held.values())
        return _POLL_SECONDS if is_waiting or self._is_away or not self._is_hearing else _LOOK_SECONDS

    async def _look(self) -> None:
        asked_at = asyncio.get_running_loop().time()
        states = await self._states() if self._held else {}
        for held in list(self._held.values()):
            # A list requested before it became idle says nothing about it.
            if not held.lock.locked() and held.bringing is None and held.idle_since <= asked_at:
                await self._settle(held, states)

    async def _states(self) -> dict[str, Status] | None:
        """Return the containers by resource id; None while the daemon does not answer, which is logged once."""
        try:
            containers = {one.labels.get(RESOURCE, ""): one for one in await self._containers()}
        except (Unavailable, FailedPrecondition) as e:
            if not self._is_away:
                logger.warning("%s: %s; runners are left as they are", self.name, e.message)
            self._is_away = True
            return None
        self._is_away = False
        return containers

    async def _settle(self, held: TrackedContainer, states: dict[str, Status] | None) -> None:
        state = states.get(held.resource_id) if states is not None else None
        if state is not None and state.is_running:
            return
        directory_state, has_begun, is_drained = await asyncio.to_thread(held.look)
        if held.resource_id not in self._held or held.lock.locked():
            return  # disowned, or ended meanwhile
        if directory_state is DirectoryState.DONE:
            self._report_gone(held, directory_state, held.exit_event(directory_state, ""))
        elif directory_state is DirectoryState.ALIVE or asyncio.get_running_loop().time() < held.retry_at:
            return
        elif held.launch is None and (state is None or state.state == "created"):
            # A container is made only for a runner that was asked for. One that nobody asks for and that has nothing to
            # report was reported by a master that died before it could remove it.
            if states is not None and is_drained:
                self._report_gone(
                    held, directory_state, RunnerGone(held.resource_id, GoneReason.LOST, "nothing is left of it")
                )
        elif states is not None or not has_begun:
            held.bringing = asyncio.create_task(self._bring(held, state), name=f"{self.name}-{held.resource_id}")

    async def _bring(self, held: TrackedContainer, state: Status | None) -> None:
        assert self._starter is not None
        event = None
        try:
            event = await self._starter.bring(held, state)
        except Exception:
            # The task's edge: its container is tried again after a delay instead of never, or without end at once.
            logger.exception("%s: getting its container up failed; trying again", held.resource_id)
            held.retry_at = asyncio.get_running_loop().time() + _LOOK_SECONDS
        finally:
            held.bringing, held.is_fetching = None, False
            held.idle_since = asyncio.get_running_loop().time()
            self._changed.set()
        if event is not None:
            self._report_gone(held, DirectoryState.DEAD, event)

    def _report_gone(self, held: TrackedContainer, state: DirectoryState, event: RunnerGone) -> None:
        # Container and directory stay until the event is on record: a master killed before that finds them.
        if self._held.pop(held.resource_id, None) is None:
            return
        self._gone.add(held.resource_id)
        self._remains[held.resource_id] = (held, state)
        self._events.put_nowait(event)
