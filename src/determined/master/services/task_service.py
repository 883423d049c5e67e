"""Services that tasks have declared, for the proxy."""

from sqlalchemy import Connection

from determined.master.context import MasterContext
from determined.master.db.queries import allocation as allocations
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
