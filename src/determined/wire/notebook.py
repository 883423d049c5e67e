"""Notebooks."""

from determined._json import JsonObject
from determined.wire.base import LaunchWarning, Pagination
from determined.wire.codec import Wire
from determined.wire.operation import Nothing, Operation
from determined.wire.submitted_task import (
    LaunchRequest,
    ListSubmittedTasks,
    ServedTask,
    SetPriorityRequest,
)


class Notebook(ServedTask):
    """A JupyterLab."""


class LaunchNotebookRequest(LaunchRequest):
    """`checkpoint_uuid` is ours: start with the code of its experiment and a notebook file that loads it."""

    preview: bool | None = None  # answer the config, create nothing
    checkpoint_uuid: str | None = None


class LaunchNotebookResponse(Wire):
    """`messages` is ours: remarks on the config, in words."""

    notebook: Notebook
    config: JsonObject
    warnings: list[LaunchWarning] | None = None
    messages: list[str] | None = None


class GetNotebooksResponse(Wire):
    notebooks: list[Notebook]
    pagination: Pagination | None = None


class GetNotebookResponse(Wire):
    notebook: Notebook
    config: JsonObject


class KillNotebookResponse(Wire):
    notebook: Notebook | None = None


class SetNotebookPriorityResponse(Wire):
    notebook: Notebook | None = None


class IdleNotebookRequest(Wire):
    """Report of a notebook on its use. `idle: false` renews its time."""

    notebook_id: str | None = None
    idle: bool | None = None


REPORT_NOTEBOOK_IDLE = Operation("PUT", "/api/v1/notebooks/{task_id:str}/report_idle", IdleNotebookRequest, Nothing)
LIST_NOTEBOOKS = Operation("GET", "/api/v1/notebooks", ListSubmittedTasks, GetNotebooksResponse)
LAUNCH_NOTEBOOK = Operation("POST", "/api/v1/notebooks", LaunchNotebookRequest, LaunchNotebookResponse)
GET_NOTEBOOK = Operation("GET", "/api/v1/notebooks/{task_id:str}", Nothing, GetNotebookResponse)
KILL_NOTEBOOK = Operation("POST", "/api/v1/notebooks/{task_id:str}/kill", Nothing, KillNotebookResponse)
SET_NOTEBOOK_PRIORITY = Operation(
    "POST", "/api/v1/notebooks/{task_id:str}/set_priority", SetPriorityRequest, SetNotebookPriorityResponse
)
