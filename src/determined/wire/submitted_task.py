"""Tasks that users submit themselves: commands, notebooks, shells and TensorBoards. What these nouns share is here."""

from enum import StrEnum
from typing import Annotated

from msgspec import Meta

from determined._json import JsonObject
from determined.wire.allocation import AllocationState
from determined.wire.base import Ordered
from determined.wire.codec import Wire
from determined.wire.experiment import File
from determined.wire.upstream import Ours

Files = Annotated[list[File], Meta(max_length=100_000)]
SourceIds = Annotated[list[int], Meta(max_length=10_000)]


class SubmittedTask(Wire):
    """The fields that a command, notebook, shell and TensorBoard have in common."""

    id: str
    description: str
    job_id: str
    resource_pool: str
    start_time: str
    state: AllocationState
    username: str
    workspace_id: int
    display_name: str | None = None
    exit_status: str | None = None  # empty while it lives
    user_id: int | None = None
    # ours
    is_ready: Ours[bool | None] = None
    end_time: Ours[str | None] = None
    slots: Ours[int | None] = None
    priority: Ours[int | None] = None


class ServedTask(SubmittedTask):
    """A task with a page of its own."""

    service_address: str | None = None  # below the master's address


class LaunchRequest(Wire):
    """`submitter_python` is ours: the interpreter of the environment that was active at submission."""

    config: JsonObject | None = None
    template_name: str | None = None
    files: Files | None = None
    workspace_id: int | None = None
    submitter_python: Ours[str | None] = None


class SortTasksBy(StrEnum):
    __upstream__ = "v1GetTensorboardsRequestSortBy"

    UNSPECIFIED = "SORT_BY_UNSPECIFIED"
    ID = "SORT_BY_ID"
    DESCRIPTION = "SORT_BY_DESCRIPTION"
    START_TIME = "SORT_BY_START_TIME"
    WORKSPACE_ID = "SORT_BY_WORKSPACE_ID"


class ListSubmittedTasks(Ordered):
    """A page of the tasks of a kind."""

    sort_by: Annotated[SortTasksBy | None, Meta(description="What the list is sorted by; ids decide ties.")] = None
    users: Annotated[list[str] | None, Meta(description="Names of owners.")] = None
    user_ids: Annotated[list[int] | None, Meta(description="Ids of owners; either matches.")] = None
    workspace_id: Annotated[int | None, Meta(description="Only of this workspace; 0: of all.")] = None


class SetPriorityRequest(Wire):
    priority: int | None = None
