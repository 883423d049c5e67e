"""Start of a runner's container: the first time, or again to report what it left."""

import asyncio
import contextlib
import logging
import os
from collections.abc import Callable, Mapping

from determined.engines.docker.api import Docker, Ended, Status
from determined.engines.docker.config import DockerManager
from determined.engines.docker.container_spec import EngineValues, container_body
from determined.engines.docker.images import Images
from determined.engines.docker.python_mounts import PythonMounts
from determined.engines.docker.tracked_container import KILLED_STATUS, TrackedContainer
from determined.engines.host.directory import DirectoryState
from determined.engines.model import Container, GoneReason, Launch, Node, RunnerGone, RunnerNews
from determined.errors import AlreadyExists, DeterminedError, Unavailable

logger = logging.getLogger(__name__)

RESOURCE = "determined.resource"  # the label that says whose container it is
_ALLOCATION = "determined.allocation"
_CAUSE_LOOKS, _CAUSE_SECONDS = 10, 0.2


class Starter:
    """Starter of containers.

    Args:
        labels: Of every container of this cluster.
        python_mounts: For images without determined.
        tell: Called with what the logs of tasks should say.
    """

    def __init__(
        self,
        docker: Docker,
        images: Images,
        settings: DockerManager,
        labels: Mapping[str, str],
        node: Node,
        python_mounts: PythonMounts,
        tell: Callable[[RunnerNews], None],
    ) -> None:
        self._docker = docker
        self._images = images
        self._settings = settings
        self._labels = labels
        self._devices = {slot.id: slot.uuid for slot in node.slots}
        self._python_mounts = python_mounts
        self._tell = tell

    async def bring(self, held: TrackedContainer, state: Status | None) -> RunnerGone | None:
        """Create or start the container; return how the runner ended where there is nothing more to do for it.

        `state`: of its container, if it has one.
        """
        begun = await asyncio.to_thread(held.has_begun)
        fresh = state is None or state.state == "created"
        try:
            if begun or not fresh:
                await self._note_end(held)
                if await asyncio.to_thread(held.is_hopeless):
                    return await self._exit_event(held)
                _count(held)
            if fresh:
                await self._create(held)
            await self._docker.start(held.name)
        except DeterminedError as e:
            if begun:
                await self._remove_unstartable(held, e)
            return _failed(held, e, begun=begun)
        return None

    async def _remove_unstartable(self, held: TrackedContainer, problem: DeterminedError) -> None:
        """Remove a container that Docker refuses to start again (a mounted path has moved): its records wait."""
        if held.launch is not None and not isinstance(problem, Unavailable):
            with contextlib.suppress(DeterminedError):
                await self._docker.remove(held.name)

    async def _note_end(self, held: TrackedContainer) -> None:
        ended = await self._docker.ended(held.name)
        if ended is not None and ended.code == KILLED_STATUS and self._settings.memory and not held.was_killed:
            ended = await self._with_cause(held, ended)
        if ended is not None:
            await asyncio.to_thread(held.note_end, ended)

    async def _with_cause(self, held: TrackedContainer, ended: Ended) -> Ended:
        """Return the end with its cause: Docker learns of an out-of-memory kill separately, often a moment later."""
        for _ in range(_CAUSE_LOOKS):
            if ended.out_of_memory:
                break
            await asyncio.sleep(_CAUSE_SECONDS)
            ended = await self._docker.ended(held.name) or ended
        return ended

    async def _exit_event(self, held: TrackedContainer) -> RunnerGone:
        words = await self._docker.last_words(held.name)
        return await asyncio.to_thread(held.exit_event, DirectoryState.DEAD, words)

    async def _create(self, held: TrackedContainer) -> None:
        launch = held.launch
        assert launch is not None, "nobody makes a container for a runner that was not asked for"
        held.is_fetching = True
        image_id = await self._images.ready(
            launch.container or Container(), lambda text: self._tell(RunnerNews(held.resource_id, text))
        )
        held.is_fetching = False
        body = container_body(launch, await self._engine_values(held, launch, image_id))
        with contextlib.suppress(AlreadyExists):  # by a master that was killed just then
            await self._docker.create(held.name, body)

    async def _engine_values(self, held: TrackedContainer, launch: Launch, image_id: str) -> EngineValues:
        is_own = await self._images.has_determined(image_id)
        environments = await asyncio.to_thread(_environments, held)
        who = held.identity
        return EngineValues(
            run_dir=str(held.run_dir.path),
            image_id=image_id,
            labels={**self._labels, RESOURCE: held.resource_id, _ALLOCATION: launch.allocation_id},
            user=f"{who.uid}:{who.gid}" if who else f"{os.geteuid()}:{os.getegid()}",
            groups=tuple(map(str, who.groups)) if who else (),
            python="python3" if is_own else self._python_mounts.python,
            python_mounts=() if is_own else self._python_mounts.paths,
            network=self._settings.network,
            memory=self._settings.memory,
            gpus=tuple(self._devices.get(slot, str(slot)) for slot in launch.slot_ids),
            environments=environments,
        )


def _environments(held: TrackedContainer) -> str:
    """Return the environments' directory: beside the run directories, one per task user, who changes no other's."""
    who = held.identity
    path = held.run_dir.path.parent.with_name("environments") / str(who.uid if who else os.geteuid())
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        if who is not None:
            os.chown(path, who.uid, who.gid)
    except OSError as e:
        raise Unavailable(f"Python environments cannot be kept in {path}: {e}; free space or correct its owner") from e
    return str(path)


def _count(held: TrackedContainer) -> None:
    logger.warning("%s: its container ended; starting it again to report what it left", held.resource_id)
    held.retry_at = asyncio.get_running_loop().time() + held.next_delay
    held.restarts += not held.was_killed
    held.is_again, held.was_killed = True, False


def _failed(held: TrackedContainer, problem: DeterminedError, *, begun: bool) -> RunnerGone | None:
    """Return the event of a failed start. A runner that has begun is tried again instead: it has records."""
    logger.warning("%s: its container cannot be started: %s", held.resource_id, problem.message)
    if begun:
        held.retry_at = asyncio.get_running_loop().time() + held.next_delay
        return None
    # What Docker refuses it would refuse again.
    reason = GoneReason.NOT_STARTED if isinstance(problem, Unavailable) else GoneReason.CANCELED
    return RunnerGone(held.resource_id, reason, f"could not start: {problem.message}")
