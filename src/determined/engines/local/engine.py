"""The local engine: which nodes it offers, and the loop that follows its runners. All blocking work is in threads."""

import asyncio
import contextlib
import logging
import os
import sys
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from determined._version import __version__
from determined.engines.base import Engine
from determined.engines.host import directory
from determined.engines.host.detect import SlotType, count_gpus, detect, slot_type
from determined.engines.host.directory import DirectoryState
from determined.engines.host.process import Identity
from determined.engines.host.runner import Runner
from determined.engines.host.runner_process import RunnerProcess
from determined.engines.local.fork_servers import ForkServers
from determined.engines.model import Device, EngineEvent, Launch, Node, NodesChanged, Slot
from determined.errors import AlreadyExists, FailedPrecondition, NotFound, Unavailable
from determined.rundir.layout import RunDir

logger = logging.getLogger(__name__)

_POLL_SECONDS = 0.5
# After a restart the master starts its runners once more, which tells dead ones its present address; then they drain.
# An unclaimed runner drains to the address it knows.
_CLAIM_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class LocalNode:
    """A node to offer: this machine, or a share of it. `slots` artificial CPU slots; None looks for devices."""

    id: str
    pool: str = "default"
    slots: int | None = None
    slot_type: str = SlotType.AUTO
    max_aux: int = 100


class LocalEngine(Engine):
    """Engine of processes on this machine, each with a directory under `run_root` named by its resource id.

    Args:
        run_root: made if missing; it must survive a restart of the master and lie where task users can reach it.
        nodes: what to offer; `add_node` and `remove_node` change it later.
        python: the interpreter that runs the runner.
        visible_gpus: what CUDA_VISIBLE_DEVICES or ROCR_VISIBLE_DEVICES of the master says; None for all.
        warm: fork runners from a process that has imported what they need.
    """

    name = "local"

    def __init__(
        self,
        run_root: Path,
        nodes: Sequence[LocalNode],
        python: str = sys.executable,
        *,
        visible_gpus: str | None = None,
        warm: bool = False,
    ) -> None:
        self._run_root = run_root
        self._wanted = list(nodes)
        self._python = python
        self._visible_gpus = visible_gpus
        self._fork_servers = ForkServers(python, run_root) if warm and sys.platform == "linux" else None
        self._nodes: dict[str, Node] = {}
        self._runners: dict[str, Runner] = {}
        self._launching: dict[str, asyncio.Task[None]] = {}
        self._gone: set[str] = set()
        self._remains: dict[str, tuple[Runner, DirectoryState]] = {}  # until their end is on record
        self._pidfds: dict[str, int] = {}
        self._events: asyncio.Queue[EngineEvent | None] = asyncio.Queue()
        self._changed = asyncio.Event()
        self._watching: asyncio.Task[None] | None = None

    async def open(self) -> None:
        await asyncio.to_thread(directory.make_root, self._run_root)
        for node in self._wanted:
            self._nodes[node.id] = await self._offer(node)
        await self._warn_of_unused_gpus()
        for run_dir in await asyncio.to_thread(lambda: list(directory.listing(self._run_root))):
            self._follow(Runner(run_dir, self._python, retry_at=asyncio.get_running_loop().time() + _CLAIM_SECONDS))
        self._watching = asyncio.create_task(self._watch(), name="local-engine-watch")

    async def close(self) -> None:
        if self._watching is None:
            return
        await asyncio.gather(*self._launching.values(), return_exceptions=True)
        self._watching.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self._watching
        self._watching = None
        for resource_id, runner in self._runners.items():
            self._unwatch_child(resource_id)
            runner.let_go()
        self._runners.clear()
        if self._fork_servers is not None:
            await asyncio.to_thread(self._fork_servers.close)
        self._events.put_nowait(None)

    def nodes(self) -> Sequence[Node]:
        return list(self._nodes.values())

    async def add_node(self, node: LocalNode) -> None:
        """Offer another node. A device that one node offers is not offered by a second."""
        if node.id in self._nodes:
            raise AlreadyExists(f"node '{node.id}' exists already; remove it first or choose another id")
        self._nodes[node.id] = await self._offer(node)
        self._events.put_nowait(NodesChanged())

    async def remove_node(self, node_id: str) -> None:
        """Offer it no longer. Its runners go on until they end or are killed."""
        if self._nodes.pop(node_id, None) is None:
            raise NotFound(f"node '{node_id}' does not exist; the nodes are {sorted(self._nodes)}")
        self._events.put_nowait(NodesChanged())

    async def start(self, launch: Launch) -> None:
        if self._watching is None:
            raise Unavailable("the local engine is not open")
        resource_id = launch.resource_id
        if resource_id in self._gone:
            return
        if resource_id not in self._launching:
            task = asyncio.create_task(self._launch(launch), name=f"local-engine-start-{resource_id}")
            self._launching[resource_id] = task
            task.add_done_callback(lambda _: self._launching.pop(resource_id))
        # Shielded: a caller that gives up must not leave a directory without a runner.
        await asyncio.shield(self._launching[resource_id])

    async def kill(self, resource_id: str, *, force: bool) -> None:
        if resource_id in self._launching:
            await asyncio.wait([self._launching[resource_id]])
        runner = self._runners.get(resource_id)
        if runner is not None:
            await asyncio.to_thread(runner.end, force=force)

    async def forget(self, resource_id: str) -> None:
        remains = self._remains.pop(resource_id, None)
        if remains is not None:
            runner, state = remains
            await asyncio.to_thread(runner.clear_away, state)

    def unclaimed(self) -> Sequence[str]:
        """Return runners that an earlier master left here, dead or alive, and that `start` has not asked for since."""
        remains = [runner for runner, _ in self._remains.values()]
        return [runner.resource_id for runner in (*self._runners.values(), *remains) if not runner.claimed]

    async def disown(self, resource_id: str) -> None:
        """End a runner that no master will ever claim, and keep its directory under `<runs>/lost`. No event follows."""
        remains = self._remains.pop(resource_id, None)
        runner = self._runners.pop(resource_id, None) or (remains[0] if remains else None)
        if runner is None:
            return
        self._gone.add(resource_id)
        self._unwatch_child(resource_id)
        if not await asyncio.to_thread(runner.disown):
            logger.warning("%s: its runner cannot be ended; it goes on in %s", resource_id, runner.run_dir.path)

    async def running(self) -> Sequence[str]:
        runners = list(self._runners.values())
        return await asyncio.to_thread(lambda: [runner.resource_id for runner in runners if runner.is_alive()])

    async def events(self) -> AsyncIterator[EngineEvent]:
        while (event := await self._events.get()) is not None:
            yield event

    async def _offer(self, node: LocalNode) -> Node:
        slots = await asyncio.to_thread(
            detect, node.id, slot_type(node.slot_type), artificial=node.slots, visible=self._visible_gpus
        )
        return Node(node.id, node.pool, self._unclaimed(slots), max_aux=node.max_aux, version=__version__)

    async def _warn_of_unused_gpus(self) -> None:
        """Name the GPUs that artificial slots replace: whoever typed `--slots 2` may have meant two GPUs."""
        if not self._wanted or any(node.slots is None for node in self._wanted):
            return
        count = await asyncio.to_thread(count_gpus, self._visible_gpus)
        if count:
            text = "slots=%s offers CPU slots; the %s GPU(s) of this machine are not offered; to offer them, omit it"
            logger.warning(text, self._wanted[0].slots, count)

    def _unclaimed(self, slots: tuple[Slot, ...]) -> tuple[Slot, ...]:
        claimed = {slot.uuid for node in self._nodes.values() for slot in node.slots if slot.device is not Device.CPU}
        return tuple(slot for slot in slots if slot.uuid not in claimed)

    async def _launch(self, launch: Launch) -> None:
        runner = self._runners.get(launch.resource_id)
        if runner is not None:
            runner.group = launch.group
            await asyncio.to_thread(runner.claim, directory.launch_file(launch), launch.run_as)
            self._changed.set()
            return
        run_dir = directory.locate(self._run_root, launch.resource_id)
        known = launch.node_id in self._nodes
        if not known and not await asyncio.to_thread(run_dir.path.exists):
            raise Unavailable(f"node '{launch.node_id}' does not exist; the nodes are {sorted(self._nodes)}")
        runner = Runner(run_dir, self._python, fork=self._fork, group=launch.group)
        file = directory.launch_file(launch)
        await asyncio.to_thread(runner.launch, file, launch.run_as, begun=launch.begun)
        self._follow(runner)

    def _fork(self, run_dir: RunDir, identity: Identity | None, group: str | None) -> RunnerProcess | None:
        if self._fork_servers is None:
            return None
        try:
            return self._fork_servers.fork(run_dir, identity, group)
        except OSError as e:
            logger.warning("%s: its runner cannot be forked and is started: %s", run_dir.path.name, e)
            return None

    def _follow(self, runner: Runner) -> None:
        self._runners[runner.resource_id] = runner
        self._watch_child(runner)
        self._changed.set()

    def _watch_child(self, runner: Runner) -> None:
        """Hear of the end of what we have started at once, without asking again and again."""
        descriptor = runner.pidfd()
        if descriptor is None:
            return
        self._pidfds[runner.resource_id] = descriptor
        asyncio.get_running_loop().add_reader(descriptor, self._child_ended, runner.resource_id)

    def _child_ended(self, resource_id: str) -> None:
        self._unwatch_child(resource_id)
        self._changed.set()

    def _unwatch_child(self, resource_id: str) -> None:
        descriptor = self._pidfds.pop(resource_id, None)
        if descriptor is not None:
            asyncio.get_running_loop().remove_reader(descriptor)
            os.close(descriptor)

    async def _watch(self) -> None:
        while True:
            # Runners of an earlier master are no children of ours: only asking for their lock tells of their end.
            asking = len(self._runners) > len(self._pidfds)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_POLL_SECONDS if asking else None):
                    await self._changed.wait()
            self._changed.clear()
            try:
                await self._settle()
            except Exception:
                # The loop's edge: a runner's end is noticed on the next turn instead of never.
                logger.exception("local engine: looking after runners failed; trying again")
                await asyncio.sleep(_POLL_SECONDS)
                self._changed.set()

    async def _settle(self) -> None:
        """Start again what died too early, report what is gone."""
        asked = [runner for key, runner in self._runners.items() if key not in self._pidfds]
        looks = await asyncio.to_thread(lambda: [(runner, _look(runner)) for runner in asked])
        for runner, (state, hopeless) in looks:
            if runner.resource_id not in self._runners:
                continue  # disowned meanwhile
            if state is DirectoryState.DONE or hopeless:
                await self._report_gone(runner, state)
            elif state is DirectoryState.DEAD and asyncio.get_running_loop().time() >= runner.retry_at:
                await self._restart(runner)

    async def _restart(self, runner: Runner) -> None:
        logger.warning("%s: its runner vanished; starting it again to report what it left", runner.resource_id)
        runner.retry_at = asyncio.get_running_loop().time() + runner.next_delay
        try:
            await asyncio.to_thread(runner.restart)
        except (FailedPrecondition, Unavailable, OSError) as e:
            logger.warning("%s: its runner cannot be started again: %s", runner.resource_id, e)
            return
        self._watch_child(runner)

    async def _report_gone(self, runner: Runner, state: DirectoryState) -> None:
        # Its directory stays until the event is on record: a master killed before that finds it and tells it again.
        event = await asyncio.to_thread(runner.exit_event, state)
        if self._runners.pop(runner.resource_id, None) is None:
            return  # disowned meanwhile
        learning = self._learn(runner)  # before its directory may be forgotten
        try:
            await learning
        finally:
            self._gone.add(runner.resource_id)
            self._remains[runner.resource_id] = (runner, state)
            self._events.put_nowait(event)

    async def _learn(self, runner: Runner) -> None:
        if self._fork_servers is None:
            return
        try:
            await asyncio.to_thread(self._fork_servers.learn, runner.run_dir, runner.identity, runner.group)
        except Exception:
            # The end of a runner must be told whatever its task has left: its trials only start slower.
            logger.exception("%s: what it imported cannot be read", runner.resource_id)


def _look(runner: Runner) -> tuple[DirectoryState, bool]:
    """Return the state of a runner and whether to give it up.

    Blocking; a broken directory concerns this runner alone.
    """
    try:
        state = runner.look()
        return state, state is DirectoryState.DEAD and runner.is_hopeless()
    except OSError as e:
        logger.warning("%s cannot be looked after: %s", runner.resource_id, e)
        return DirectoryState.DEAD, False
