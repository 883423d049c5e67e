"""Reasons why a job waits in the queue, as sentences for people."""

from collections.abc import Callable

from determined.engines.scheduling.feasible import is_feasible
from determined.engines.scheduling.fitting import Cluster, shape_of
from determined.engines.scheduling.model import Request, Settings

IMPOSSIBLE = "cannot start"  # how the reason of a request begins that no passing of time will help


class WaitReasons:
    """Sentences about one pool at the end of a pass; `cluster` is its capacity after what this pass starts."""

    def __init__(self, cluster: Cluster, settings: Settings) -> None:
        self._cluster = cluster
        self._settings = settings
        self._pool = f"pool '{settings.pool}'"
        self._free, self._total = cluster.free, cluster.total
        # One text per shape: the queue may be long, its shapes are few.
        self._by_shape: dict[object, tuple[str, bool]] = {}

    def no_room(self, request: Request, jobs_ahead: int | None = None) -> str:
        """Return the reason of a request that fits nowhere now, or never."""
        text, can_start = self._remembered(request)
        if not can_start or jobs_ahead is None:
            return text
        return f"{text}, {jobs_ahead} job{'s' * (jobs_ahead != 1)} ahead"

    def reserved(self, owner: Request) -> str:
        """Return the reason of a request that would fit, but would make a larger job before it wait longer."""
        wanted = f"{owner.slots} slot{'s' * (owner.slots != 1)}"
        return f"waits behind job {owner.job_id}, for which {wanted} of {self._pool} are reserved"

    def promised(self) -> str:
        """Return the reason of a request for which running tasks are being preempted."""
        return f"waits for preempted tasks to leave: their slots in {self._pool} are promised to it"

    def behind_promise(self) -> str:
        """Return the reason of a request behind others for which running tasks are being preempted."""
        return (
            f"waits for preempted tasks to leave: their slots in {self._pool} are promised to jobs of higher priority"
        )

    def kept(self) -> str:
        """Return the reason of a request that would fit on slots which wait for jobs before it."""
        return f"waits behind jobs before it in the queue, for which the free slots of {self._pool} are kept"

    def backfill(self, request: Request) -> str:
        """Return the reason of a request that would fit while a job of higher priority waits."""
        if not self._settings.preemption:
            return f"waits behind jobs of higher priority: backfill needs preemption, which is off in {self._pool}"
        return "waits behind jobs of higher priority: backfill is only for preemptible tasks, which it is not"

    def behind_own_job(self) -> str:
        return "waits for its job's turn: an older request of the same job waits as well"

    def share(self, request: Request, *, offered: int, used: int) -> str:
        """Return the reason of a request whose job gets less by fair share than it asks for."""
        if request.max_slots is not None and used + request.slots > request.max_slots:
            return f"waits for its own job, which uses {used} of its max_slots={request.max_slots}"
        return (
            f"waits for its fair share of {self._pool}: its job may use {offered} of {self._total} slots now,"
            f" uses {used} and asks for {request.slots} more"
        )

    def _remembered(self, request: Request) -> tuple[str, bool]:
        shape = shape_of(request)
        if shape not in self._by_shape:
            never = self._never(request)
            self._by_shape[shape] = (never, False) if never else (self._not_now(request), True)
        return self._by_shape[shape]

    def _never(self, request: Request) -> str | None:
        if not self._cluster.sizes:
            return f"{IMPOSSIBLE}: {self._pool} has no enabled node"
        if request.slots and not self._feasible(request, self._cluster.sizes):
            return f"{IMPOSSIBLE}: {self._impossible(request)}"
        allowed = self._cluster.sizes_for(request)
        if not allowed or (request.slots and not self._feasible(request, allowed)):
            return f"{IMPOSSIBLE}: its log policies exclude the nodes of {self._pool} that could hold it"
        return None

    def _feasible(self, request: Request, sizes: list[int]) -> bool:
        mixed = self._settings.allow_heterogeneous
        return is_feasible(request.slots, sizes, request.single_node, heterogeneous=mixed)

    def _impossible(self, request: Request) -> str:
        sizes = self._cluster.sizes
        if request.single_node:
            return f"no node of {self._pool} has {request.slots} slots, the largest has {max(sizes)}"
        if request.slots > sum(sizes):
            return f"{request.slots} slots exceed {self._pool} ({sum(sizes)} slots)"
        return f"{request.slots} slots neither fit one node of {self._pool} nor fill whole nodes of equal size"

    def _not_now(self, request: Request) -> str:
        if not request.slots:
            free, places = self._cluster.aux
            return f"waits for a free zero-slot place in {self._pool}: {places - free} of {places} in use"
        where = f"in {self._pool}: {self._free} of {self._total} free"
        wanted = "1 free slot" if request.slots == 1 else f"{request.slots} free slots"
        if self._free < request.slots:
            return f"waits for {wanted} {where}"
        shape = "on one node" if request.single_node else "on one node or on whole idle nodes"
        return f"waits for {wanted} {shape} {where} but scattered"


def jobs_ahead(queue: list[Request]) -> Callable[[Request], int]:
    """Return a function that counts the other jobs before a request in `queue` (which is in scheduling order)."""
    counts: dict[str, int] = {}
    seen: set[str] = set()
    for request in queue:
        counts[request.allocation_id] = len(seen) - (request.job_id in seen)
        seen.add(request.job_id)
    return lambda request: counts[request.allocation_id]
