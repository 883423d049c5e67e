"""Services of a task as the proxy finds them: whose they are, and which allocation serves them now."""

from sqlalchemy import Connection

from determined.master.context import MasterContext
from determined.master.db.queries import allocation as allocations
from determined.master.db.queries import task_service as targets
from determined.master.db.queries.task_service import ServiceTarget
from determined.master.lifecycle import task_services
from determined.wire.report import Service


async def of_allocation(ctx: MasterContext, allocation_id: str) -> list[Service]:
    """Return what a task has declared. Raises NotFound."""

    def read(conn: Connection) -> list[Service]:
        return task_services.of_task(conn, allocations.get(conn, allocation_id).task_id)

    return await ctx.db.read(read)


async def of_task(ctx: MasterContext, task_id: str) -> list[Service]:
    """Return what a task has declared. Raises NotFound."""
    return await ctx.db.read(lambda conn: task_services.of_task(conn, task_id))


async def target(ctx: MasterContext, task_id: str) -> ServiceTarget | None:
    """Return the owner of a task and its live allocation; None for a task that does not exist."""
    return await ctx.db.read(lambda conn: targets.find(conn, task_id))
