"""The context directory of a task, as its runner fetches it: apart, since a runner needs nothing else of tasks."""

from determined.wire.codec import Wire
from determined.wire.operation import Nothing, Operation


class GetTaskContextDirectoryResponse(Wire):
    b64_tgz: str


GET_CONTEXT_DIRECTORY = Operation(
    "GET", "/api/v1/tasks/{task_id:str}/context_directory", Nothing, GetTaskContextDirectoryResponse
)
