"""Tasks of every kind in one list."""

from determined.master.auth.permission import ANY_USER
from determined.master.context import MasterContext
from determined.master.routes.serve import serve
from determined.master.services import task_list
from determined.wire.task_list import SEARCH_TASKS, SearchTasks, SearchTasksResponse


@serve(SEARCH_TASKS, ANY_USER)
async def search_tasks(params: SearchTasks, ctx: MasterContext) -> SearchTasksResponse:
    return await task_list.search(ctx, params)
