"""Tasks of every kind in one list, for the web page. Ours."""

from typing import Annotated

from msgspec import Meta

from determined.wire.allocation import AllocationState
from determined.wire.base import Paged, Pagination
from determined.wire.codec import Wire
from determined.wire.operation import Operation
from determined.wire.task import GenericTaskState, TaskType


class ListedTask(Wire):
    """A task that a user submitted, or the task of a trial that has not ended."""

    task_id: str
    task_type: TaskType
    name: str
    state: AllocationState
    is_ready: bool
    has_failed: bool  # it has ended, and not as it should have
    exit_status: str  # empty while it lives
    job_id: str
    user_id: int
    username: str
    workspace_id: int
    workspace_name: str
    resource_pool: str
    slots: int
    priority: int
    start_time: str
    display_name: str | None = None
    end_time: str | None = None
    task_state: GenericTaskState | None = None  # generic tasks only
    service_address: str | None = None  # of a task with a page of its own, below the master's address
    experiment_id: int | None = None  # of a trial
    trial_id: int | None = None
    experiment_ids: list[int] | None = None  # sources of a TensorBoard
    trial_ids: list[int] | None = None


class SearchTasks(Paged):
    """A page of the tasks of every kind, those that have not ended first, then the newest."""

    task_types: Annotated[list[TaskType] | None, Meta(description="Only of these kinds.")] = None
    task_ids: Annotated[list[str] | None, Meta(description="Only these, ended trials too.")] = None
    states: Annotated[list[AllocationState] | None, Meta(description="Only in one of these states.")] = None
    user_ids: Annotated[list[int] | None, Meta(description="Only of these owners.")] = None
    workspace_id: Annotated[int | None, Meta(description="Only of this workspace; 0: of all.")] = None
    text: Annotated[
        str | None, Meta(description="Words that must all be in the name, the owner, the pool, the kind or the id.")
    ] = None


class SearchTasksResponse(Wire):
    tasks: list[ListedTask]
    pagination: Pagination


SEARCH_TASKS = Operation("GET", "/api/v1/tasks/search", SearchTasks, SearchTasksResponse, ours=True)
