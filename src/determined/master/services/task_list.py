"""Tasks of every kind in one list."""

from sqlalchemy import Connection

from determined.config.task_kinds import KINDS
from determined.master.context import MasterContext
from determined.master.db.queries import task_list
from determined.master.services import submitted_task_view as view
from determined.master.services.experiment_list import DEFAULT_LIMIT, rows_of
from determined.master.services.paging import window
from determined.wire.codec import rfc3339, rfc3339_or_none
from determined.wire.task import GenericTaskState
from determined.wire.task_list import ListedTask, SearchTasks, SearchTasksResponse


async def search(ctx: MasterContext, params: SearchTasks) -> SearchTasksResponse:
    def read(conn: Connection) -> SearchTasksResponse:
        page = window(task_list.count(conn, params), params.limit or DEFAULT_LIMIT, params.offset)
        start, size = rows_of(page)
        found = task_list.find(conn, params, limit=size, offset=start)
        return SearchTasksResponse(tasks=[_to_wire(task) for task in found], pagination=page)

    return await ctx.db.read(read)


def _to_wire(task: task_list.ListedTask) -> ListedTask:
    kind, status = KINDS[task.type], view.exit_status(task)
    return ListedTask(
        task_id=task.task_id,
        task_type=kind.type,
        name=_name(task),
        state=view.state_of(task),
        is_ready=task.ready_at is not None and task.end_time is None,
        has_failed=task.end_time is not None and status != view.SUCCESS,
        exit_status=status,
        job_id=task.job_id,
        user_id=task.owner_id,
        username=task.username,
        display_name=task.display_name,
        workspace_id=task.workspace_id,
        workspace_name=task.workspace_name,
        resource_pool=task.pool,
        slots=task.slots,
        priority=task.priority,
        start_time=rfc3339(task.start_time),
        end_time=rfc3339_or_none(task.end_time),
        task_state=GenericTaskState(f"GENERIC_TASK_STATE_{task.task_state}") if task.task_state else None,
        service_address=None if kind.is_raw else view.service_address(task),
        experiment_id=task.experiment_id,
        trial_id=task.trial_id,
        experiment_ids=task.experiment_ids,
        trial_ids=task.trial_ids,
    )


def _name(task: task_list.ListedTask) -> str:
    columns = {name: getattr(task, name) for name in ("task_id", "trial_id", "experiment_id", "description")}
    return KINDS[task.type].title.format(**columns)
