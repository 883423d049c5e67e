"""Table of tracked allocations, their runners, and the reported ends. The records keep what must last."""

import asyncio
from collections.abc import Iterator

from determined.engines.model import EngineEvent, GoneReason, Launch, RunnerGone
from determined.engines.slurm.records import Record, Records
from determined.engines.slurm.tracked_job import TrackedJob


class JobTable:
    """Table of jobs. `events` gets the end of each runner once; `gone` holds the runners whose end was reported."""

    def __init__(self, records: Records) -> None:
        self.events: asyncio.Queue[EngineEvent | None] = asyncio.Queue()
        self.gone: set[str] = set()
        self._records = records
        self._held: dict[str, TrackedJob] = {}  # by allocation
        self._by_resource: dict[str, TrackedJob] = {}

    def __iter__(self) -> Iterator[TrackedJob]:
        return iter(list(self._held.values()))

    def __len__(self) -> int:
        return len(self._held)

    def __contains__(self, allocation_id: str) -> bool:
        return allocation_id in self._held

    def get(self, allocation_id: str) -> TrackedJob | None:
        return self._held.get(allocation_id)

    def holder_of(self, resource_id: str) -> TrackedJob | None:
        return self._by_resource.get(resource_id)

    def add(self, record: Record) -> TrackedJob:
        """Add a new job, or one that an earlier life of this master left."""
        held = self._held[record.allocation_id] = TrackedJob(record)
        self._by_resource.update((one, held) for one in record.resources)
        if record.verdict is not None:
            self.tell(held, GoneReason(record.verdict), record.detail)
        return held

    def hold(self, held: TrackedJob, launch: Launch) -> bool:
        """Add a runner to a job; return True when the job did not have it before."""
        held.launches[launch.resource_id] = launch
        self._by_resource[launch.resource_id] = held
        if launch.resource_id in held.record.resources:
            return False
        held.record.resources.append(launch.resource_id)
        return True

    def drop_if_empty(self, held: TrackedJob) -> bool:
        if not held.record.resources:
            self._held.pop(held.record.allocation_id, None)
        return not held.record.resources

    def unclaimed(self) -> list[str]:
        return [one for one, held in self._by_resource.items() if one not in held.launches]

    def running(self) -> list[str]:
        alive = (held for held in self._held.values() if held.record.job_id is not None and not held.is_reported)
        return [one for held in alive for one in held.record.resources]

    async def give_up(self, held: TrackedJob, last: Launch, why: str) -> None:
        """Give up an allocation that never became a job. `last` hears it from `start`, the others as an event."""
        self._by_resource.pop(last.resource_id, None)
        held.record.resources.remove(last.resource_id)
        self.tell(held, GoneReason.NOT_STARTED, why)
        self.drop_if_empty(held)
        await asyncio.to_thread(self._records.remove, held.record)

    async def report_gone(self, held: TrackedJob, reason: GoneReason, detail: str) -> None:
        """Record the end, then report it: a receiver may have the record removed at once."""
        held.record.verdict, held.record.detail = reason, detail
        await asyncio.to_thread(self._records.write, held.record)
        self.tell(held, reason, detail)

    async def forget(self, resource_id: str) -> None:
        held = self._by_resource.pop(resource_id, None)
        if held is None:
            return
        async with held.lock:
            held.record.resources.remove(resource_id)
            if self.drop_if_empty(held):
                await asyncio.to_thread(self._records.remove, held.record)
            else:
                await asyncio.to_thread(self._records.write, held.record)

    def tell(self, held: TrackedJob, reason: GoneReason, detail: str) -> None:
        """Report the end once for each of its runners."""
        held.is_reported = True
        held.record.verdict, held.record.detail = reason, detail
        for resource_id in held.record.resources:
            self.report_again(held, resource_id)

    def report_again(self, held: TrackedJob, resource_id: str) -> None:
        """Report the known end of a job to a runner that did not get it."""
        reason = GoneReason(held.record.verdict or GoneReason.LOST)
        self.tell_one(resource_id, reason, held.record.detail)

    def tell_one(self, resource_id: str, reason: GoneReason, detail: str) -> None:
        if resource_id not in self.gone:
            self.gone.add(resource_id)
            self.events.put_nowait(RunnerGone(resource_id, reason, detail))
