"""The Slurm engine: one job per allocation, handed over, followed by squeue, ended by scancel.

Slurm queues and chooses nodes. Nothing of ours runs on them but the sitters of the job itself.
"""

import asyncio
import contextlib
import logging
import os
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from determined.engines.base import Engine
from determined.engines.host import process, untrusted
from determined.engines.model import Device, EngineEvent, GoneReason, Launch, Node, NodesChanged
from determined.engines.slurm import states
from determined.engines.slurm.commands import Slurm
from determined.engines.slurm.config import SlurmManager
from determined.engines.slurm.hosts import Hosts
from determined.engines.slurm.job_table import JobTable
from determined.engines.slurm.poll_interval import PollInterval
from determined.engines.slurm.records import Record, Records
from determined.engines.slurm.script import check_arguments, job_script
from determined.engines.slurm.states import JobView
from determined.engines.slurm.tracked_job import TrackedJob, allocation_of, job_of, output_of, tag_of
from determined.errors import DeterminedError, FailedPrecondition, Unavailable

logger = logging.getLogger(__name__)

_HOSTS_SECONDS = 10.0
_ANSWER_SECONDS = 20.0  # for Slurm to tell its jobs once, before something new is started
_LATE_SECONDS = 300.0  # for a job to turn up whose sbatch has not answered
_STRAY_SECONDS = 60.0  # for somebody to claim a job that carries our mark and that we know nothing of


class SlurmEngine(Engine):
    """Engine that submits one job per allocation.

    Args:
        settings: What the operator says about their Slurm.
        pools: pool -> partition.
        place: A directory of the engine's own; it should survive a restart of the master.
        cluster_id: Marks our jobs among those of our user.
        python: The interpreter that sitters run with where the settings name none.
    """

    kind = SlurmManager.kind

    def __init__(
        self,
        settings: SlurmManager,
        pools: Mapping[str, str],
        place: Path,
        cluster_id: str,
        python: str,
        *,
        name: str = "slurm",
    ) -> None:
        self.name = name
        self._settings = settings
        self._cluster_id = cluster_id
        self._python = settings.python or python
        self._slurm = Slurm(settings.path)
        self._records = Records(place)
        self._hosts = Hosts(settings, pools)
        self._hosts_due = 0.0
        self._jobs = JobTable(self._records)
        self._strays: dict[str, tuple[JobView, float]] = {}  # by allocation, with the time they were first seen
        self._strays_until = 0.0  # until when some may turn up
        self._looked = asyncio.Event()  # set once Slurm has listed its jobs in this life
        self._pace = PollInterval()
        self._watching: asyncio.Task[None] | None = None

    @property
    def device(self) -> Device:
        return self._hosts.device

    async def open(self) -> None:
        await asyncio.to_thread(self._records.open)
        self._hosts.learn(await asyncio.to_thread(self._records.hosts))
        for record in await asyncio.to_thread(lambda: list(self._records.all())):
            self._jobs.add(record)
        await self._look()
        self._watching = asyncio.create_task(self._watch(), name=f"{self.name}-watch")

    async def close(self) -> None:
        if self._watching is None:
            return
        self._watching.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self._watching
        self._watching = None
        self._jobs.events.put_nowait(None)

    def nodes(self) -> Sequence[Node]:
        return self._hosts.nodes

    def spread(self, pool: str, slots: int, options: Mapping[str, Any], *, single_node: bool) -> list[int]:
        """Return the slots on each node. Also refuses options that are ours to set: this is called at submit."""
        check_arguments(options.get("sbatch_args") or (), self.device if slots else Device.CPU)
        return self._hosts.spread(pool, slots, options.get("slots_per_node"), single_node=single_node)

    def waiting(self) -> Mapping[str, str]:
        views = ((held.record.allocation_id, held.view) for held in self._jobs)
        return {key: states.describe(job) for key, job in views if job is not None and states.is_waiting(job)}

    async def start(self, launch: Launch) -> None:
        if self._watching is None:
            raise Unavailable(f"the {self.name} engine is not open")
        if launch.resource_id in self._jobs.gone:
            return
        _require_own_user(launch)
        await self._be_sure(launch)
        held = self._jobs.get(launch.allocation_id) or self._adopted(launch.allocation_id)
        async with held.lock:
            await self._begin(held, launch)

    async def kill(self, resource_id: str, *, force: bool) -> None:
        held = self._jobs.holder_of(resource_id)
        if held is None or held.is_reported:
            return
        async with held.lock:
            if held.record.job_id is None:
                self._jobs.tell(held, GoneReason.NOT_STARTED, "it was ended before it was handed to Slurm")
                return
            held.is_ours_to_end = True
            await self._end(held.record.job_id, held.view, force=force)
        self._pace.poll_now()

    async def forget(self, resource_id: str) -> None:
        await self._jobs.forget(resource_id)

    def unclaimed(self) -> Sequence[str]:
        """Return runners of jobs that an earlier master submitted, and that `start` has not asked for since."""
        return self._jobs.unclaimed()

    async def disown(self, resource_id: str) -> None:
        """Cancel the job of a runner that no master will ever claim. No event follows."""
        self._jobs.gone.add(resource_id)
        held = self._jobs.holder_of(resource_id)
        if held is not None and held.record.job_id is not None:
            await self._end(held.record.job_id, held.view, force=True)
        await self.forget(resource_id)

    async def running(self) -> Sequence[str]:
        return self._jobs.running()

    async def events(self) -> AsyncIterator[EngineEvent]:
        while (event := await self._jobs.events.get()) is not None:
            yield event

    async def _be_sure(self, launch: Launch) -> None:
        """Wait until Slurm has listed its jobs: a job of an earlier life of this master must not be submitted again.

        A launch that has begun waits without a limit; it may be running well.
        """
        held = self._jobs.get(launch.allocation_id)
        if self._looked.is_set() or (held is not None and held.record.job_id is not None):
            return
        patient = launch.begun or held is not None
        try:
            async with asyncio.timeout(None if patient else _ANSWER_SECONDS):
                await self._looked.wait()
        except TimeoutError as e:
            raise Unavailable("Slurm does not answer (squeue); see the master's log") from e

    def _adopted(self, allocation_id: str) -> TrackedJob:
        """Track an allocation, with its job if Slurm has one that we have no record of."""
        held = self._jobs.add(Record(allocation_id, tag_of(self._cluster_id, allocation_id), []))
        if allocation_id in self._strays:
            held.view, _ = self._strays.pop(allocation_id)
            held.record.job_id = held.view.id
        return held

    async def _begin(self, held: TrackedJob, launch: Launch) -> None:
        """Add a launch, under the job's lock. The last of an allocation's runners submits the job of all."""
        if held.is_reported:
            self._jobs.hold(held, launch)
            self._jobs.report_again(held, launch.resource_id)
            return
        if held.record.job_id is not None:
            if self._jobs.hold(held, launch):
                await asyncio.to_thread(self._records.write, held.record)
            return
        self._require_fresh(held, launch)
        self._jobs.hold(held, launch)
        if len(held.launches) == launch.size:
            await self._submit(held, launch)

    def _require_fresh(self, held: TrackedJob, launch: Launch) -> None:
        """Refuse a runner that has begun. So has one on a known node: before the start `node_id` is its pool."""
        fresh = launch.node_id in self._hosts.pools
        if fresh and not launch.begun:
            return
        self._jobs.drop_if_empty(held)
        what = "it was begun" if fresh else f"'{launch.node_id}' is no pool of the {self.name} engine"
        raise Unavailable(f"{what}, but Slurm knows no job of allocation {launch.allocation_id}")

    async def _submit(self, held: TrackedJob, last: Launch) -> None:
        launches = sorted(held.launches.values(), key=lambda launch: launch.rank)
        limit, partition = self._hosts.time_limit(last.node_id), self._hosts.pools[last.node_id]
        try:
            job = await asyncio.to_thread(
                job_of, launches, held.record.tag, partition, limit, self._settings, self._python
            )
            check_arguments(job.sbatch_args, job.device)
            await asyncio.to_thread(self._records.write, held.record)
            held.record.job_id = await self._slurm.submit(job_script(job))
        except DeterminedError as e:
            await self._jobs.give_up(held, last, e.message)
            if not isinstance(e, Unavailable):
                raise FailedPrecondition(e.message) from e
            # An sbatch that did not answer may have submitted: look for its job, though nothing else may run.
            self._strays_until = asyncio.get_running_loop().time() + _LATE_SECONDS
            raise
        held.submitted_at = asyncio.get_running_loop().time()
        logger.info("%s: is Slurm job %s", held.record.allocation_id, held.record.job_id)
        await asyncio.to_thread(self._records.write, held.record)
        self._pace.poll_now()

    async def _end(self, job_id: int, view: JobView | None, *, force: bool) -> None:
        """End a job. By force: the sitters kill their tasks at once; Slurm kills the sitters after its KillWait."""
        begun = view is not None and not states.is_waiting(view)
        try:
            if begun:
                await self._slurm.signal(job_id, "USR1" if force else "INT")
            if force or not begun:
                await self._slurm.cancel(job_id)
        except Unavailable as e:
            # The master asks again; meanwhile runners hear of it from the master itself.
            logger.warning("Slurm job %s cannot be ended now: %s", job_id, e.message)

    async def _watch(self) -> None:
        while True:
            await self._pace.wait()
            try:
                await self._look()
            except Exception:
                # The loop's edge: what has changed is noticed on the next turn instead of never.
                logger.exception("%s: looking after jobs failed; trying again", self.name)

    async def _look(self) -> None:
        now = asyncio.get_running_loop().time()
        try:
            if now >= self._hosts_due or any(held.is_ours_to_end for held in self._jobs):
                self._learn(await self._slurm.hosts())
                self._hosts_due = now + _HOSTS_SECONDS
                await asyncio.to_thread(self._records.remember_hosts, self._hosts.lines)
            if self._jobs or self._strays or now < self._strays_until or not self._looked.is_set():
                await self._settle(now, await self._slurm.jobs())
                self._looked.set()
        except (Unavailable, FailedPrecondition) as e:
            logger.warning("%s: what is known stays as it is: %s", self.name, e.message)

    def _learn(self, lines: list[str]) -> None:
        if self._hosts.learn(lines) and self._watching is not None:
            self._jobs.events.put_nowait(NodesChanged())

    async def _settle(self, asked_at: float, jobs: Sequence[JobView]) -> None:
        """Compare Slurm's list of jobs with ours and act on the differences."""
        by_id = {job.id: job for job in jobs}
        active = {job.tag: job for job in reversed(jobs) if not states.is_over(job)}
        for held in self._jobs:
            if held.lock.locked() or held.is_reported:
                continue
            if held.record.job_id is None and held.record.tag in active and not held.launches:
                held.record.job_id = active[held.record.tag].id
                await asyncio.to_thread(self._records.write, held.record)
            if held.record.job_id is not None:
                await self._follow(held, by_id.get(held.record.job_id), asked_at)
        await self._look_at_strays(asked_at, active.values())

    async def _follow(self, held: TrackedJob, job: JobView | None, asked_at: float) -> None:
        if job is None and held.submitted_at >= asked_at:
            return  # that answer is older than the job
        if job is None:
            await self._jobs.report_gone(held, GoneReason.LOST, f"Slurm no longer knows job {held.record.job_id}")
            return
        if held.view is None or held.view.state != job.state:
            self._pace.poll_often()
        held.view = job
        if not states.is_over(job):
            await self._leave_silent_nodes(held, job)
            return
        reason, detail = states.verdict(job), states.describe(job)
        if reason is not GoneReason.EXITED:
            detail += await asyncio.to_thread(_last_words, output_of(self._settings, str(job.id)))
        ours = reason is GoneReason.CANCELED and held.is_ours_to_end
        await self._jobs.report_gone(held, GoneReason.LOST if ours else reason, detail)

    async def _leave_silent_nodes(self, held: TrackedJob, job: JobView) -> None:
        """Report runners on silent nodes as lost at once, for a job that is to end.

        Slurm waits long before it gives a node up. The failures of their peers are theirs, and reported later they
        would count as ended by us.
        """
        silent = self._hosts.silent_ranks(job.nodes) if held.is_ours_to_end else {}
        gone = self._jobs.gone
        lost = [one for one in held.launches.values() if one.rank in silent and one.resource_id not in gone]
        for launch in lost:
            detail = f"its node {silent[launch.rank]} does not answer; Slurm job {job.id} is canceled"
            self._jobs.tell_one(launch.resource_id, GoneReason.LOST, detail)
        if lost:
            await self._end(job.id, job, force=True)

    async def _look_at_strays(self, now: float, active: Iterable[JobView]) -> None:
        """Find jobs with our mark but no record (a late sbatch, a lost directory); cancel those that nobody claims."""
        seen = {}
        for job in active:
            allocation_id = allocation_of(self._cluster_id, job.tag)
            if allocation_id is None or allocation_id in self._jobs:
                continue
            _, since = self._strays.get(allocation_id, (job, now))
            seen[allocation_id] = (job, since)
            if now - since > _STRAY_SECONDS:
                logger.warning(
                    "Slurm job %s is of allocation %s, which nobody claims: cancelled", job.id, allocation_id
                )
                await self._end(job.id, job, force=True)
        self._strays = seen


def _require_own_user(launch: Launch) -> None:
    if process.resolve(launch.run_as) is not None:
        who = launch.run_as.user or launch.run_as.uid
        raise FailedPrecondition(
            f"the task is to run as {who}, but Slurm jobs run as the master's own user (uid {os.geteuid()});"
            " remove the user's agent link, or give that user a master of their own"
        )


def _last_words(output: str) -> str:
    """Return the end of a job's output, if it is in a place that we can read."""
    words = untrusted.read_end(Path(output), 500).decode(errors="replace").strip()
    return f"; its last words: {words}" if words else ""
