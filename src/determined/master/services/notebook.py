"""Notebooks as clients see them: the address with the token of the server goes to those who may use it."""

from determined.master.auth import allocation_token
from determined.master.auth.identity import Caller
from determined.master.context import MasterContext
from determined.master.db.queries.submitted_task import TaskDetail
from determined.master.services import submitted_task_view as view
from determined.wire.notebook import Notebook


def to_wire(ctx: MasterContext, caller: Caller, task: TaskDetail) -> Notebook:
    """Show a notebook. Editors connect by its address alone, so that has the token, which ends with the task."""
    address = view.service_address(task)
    if task.end_time is None and (caller.admin or caller.user_id == task.owner_id):
        address = f"{address}?token={allocation_token.app_token(ctx.cluster.secret, task.allocation_id)}"
    return Notebook(**view.fields_of(task), service_address=address)
