"""Generic tasks: programs that can be paused, and that may have parents."""

from determined.wire.base import ConfigText, LaunchWarning
from determined.wire.codec import Wire
from determined.wire.operation import Nothing, Operation
from determined.wire.submitted_task import Files
from determined.wire.upstream import Ours, UpstreamRequired


class CreateGenericTaskRequest(Wire):
    """`config`: YAML. `inherit_context`: take the parent's files. `submitter_python`, `template_name` are ours."""

    config: UpstreamRequired[ConfigText | None] = None
    context_directory: UpstreamRequired[Files | None] = None
    forked_from: str | None = None
    inherit_context: bool | None = None
    no_pause: bool | None = None
    parent_id: str | None = None
    project_id: int | None = None
    submitter_python: Ours[str | None] = None
    template_name: Ours[str | None] = None


class CreateGenericTaskResponse(Wire):
    task_id: str
    warnings: list[LaunchWarning] | None = None


class KillGenericTaskRequest(Wire):
    """`kill_from_root`: from the topmost ancestor on."""

    task_id: UpstreamRequired[str | None] = None
    kill_from_root: bool | None = None


class GetGenericTaskConfigResponse(Wire):
    """JSON text of the config as it was submitted."""

    config: str


CREATE_GENERIC_TASK = Operation("POST", "/api/v1/generic-tasks", CreateGenericTaskRequest, CreateGenericTaskResponse)
GET_GENERIC_TASK_CONFIG = Operation("GET", "/api/v1/tasks/{task_id:str}/config", Nothing, GetGenericTaskConfigResponse)
KILL_GENERIC_TASK = Operation("POST", "/api/v1/tasks/{task_id:str}/kill", KillGenericTaskRequest, Nothing)
PAUSE_GENERIC_TASK = Operation("POST", "/api/v1/tasks/{task_id:str}/pause", Nothing, Nothing)
UNPAUSE_GENERIC_TASK = Operation("POST", "/api/v1/tasks/{task_id:str}/unpause", Nothing, Nothing)
