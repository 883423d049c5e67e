"""The context directory of a task, as its runner fetches it: apart, since a runner needs nothing else of tasks."""

from determined.wire.codec import Wire


class GetTaskContextDirectoryResponse(Wire):
    b64_tgz: str
