"""Locks of experiments: stored by the first runner that resolved the requirements, read by all others and by people."""

from sqlalchemy import Connection

from determined.errors import InvalidArgument, NotFound, TooLarge
from determined.master.context import MasterContext
from determined.master.db.queries import allocation as allocations
from determined.master.db.queries import environment_lock as rows
from determined.master.db.queries import experiment as experiments
from determined.master.db.queries import runner as runners
from determined.master.db.queries import trial as trials
from determined.wire.codec import rfc3339
from determined.wire.environment_lock import EnvironmentLock, PostEnvironmentLockRequest

_LONGEST = 4 * 1024 * 1024  # characters; a lock of a thousand packages with all their hashes has half of that
_MOST = 20  # of one experiment
_LONGEST_PLATFORM = 100


async def store(ctx: MasterContext, allocation_id: str, resource_id: str, request: PostEnvironmentLockRequest) -> str:
    """Store and return the lock that counts for this experiment and platform: the given, unless another was first."""
    _check(request)
    now = ctx.clock.now()

    def write(conn: Connection) -> str:
        experiment_id = _experiment_of(conn, allocation_id, resource_id)
        known = rows.get(conn, experiment_id, request.platform)
        if known is not None:
            return known
        if len(rows.list_all(conn, experiment_id)) >= _MOST:
            raise InvalidArgument(f"experiment {experiment_id} has locks of {_MOST} platforms; that is all it may have")
        rows.put(conn, now, experiment_id, request.platform, request.content)
        return request.content

    return await ctx.db.write(write)


async def list_locks(ctx: MasterContext, experiment_id: int) -> list[EnvironmentLock]:
    def read(conn: Connection) -> list[EnvironmentLock]:
        experiments.get(conn, experiment_id)
        return [
            EnvironmentLock(platform=row.platform, content=row.content, created_at=rfc3339(row.created_at))
            for row in rows.list_all(conn, experiment_id)
        ]

    return await ctx.db.read(read)


def _check(request: PostEnvironmentLockRequest) -> None:
    if not request.platform or len(request.platform) > _LONGEST_PLATFORM or "\0" in request.platform + request.content:
        raise InvalidArgument(f"platform {request.platform[:_LONGEST_PLATFORM]!r} or the lock's text cannot be stored")
    if len(request.content) > _LONGEST:
        raise TooLarge(f"the lock has {len(request.content)} characters, more than the {_LONGEST} that are kept")


def _experiment_of(conn: Connection, allocation_id: str, resource_id: str) -> int:
    runner = runners.get(conn, resource_id)
    trial_id = allocations.get(conn, allocation_id).trial_id
    if runner.allocation_id != allocation_id or trial_id is None:
        raise NotFound(f"resources {resource_id} are not of a trial's allocation {allocation_id}")
    return int(trials.get(conn, trial_id).experiment_id)
