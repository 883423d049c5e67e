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
from determined.wire.upstream import Ours


class Notebook(ServedTask):
    """A JupyterLab."""


class LaunchNotebookRequest(LaunchRequest):
    """`checkpoint_uuid` is ours: start with the code of its experiment and a notebook file that loads it."""

    preview: bool | None = None  # answer the config, create nothing
    checkpoint_uuid: Ours[str | None] = None


class LaunchNotebookResponse(Wire):
    """`messages` is ours: remarks on the config, in words. So is `from_template`, in a preview: paths of `config`."""

    notebook: Notebook
    config: JsonObject
    warnings: list[LaunchWarning] | None = None
    messages: Ours[list[str] | None] = None
    from_template: Ours[list[str] | None] = None


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


REPORT_NOTEBOOK_IDLE = Operation(
    "PUT",
    "/api/v1/notebooks/{task_id:str}/report_idle",
    IdleNotebookRequest,
    Nothing,
    rpc="IdleNotebook",
    id_names=("notebookId",),
)
LIST_NOTEBOOKS = Operation("GET", "/api/v1/notebooks", ListSubmittedTasks, GetNotebooksResponse)
LAUNCH_NOTEBOOK = Operation("POST", "/api/v1/notebooks", LaunchNotebookRequest, LaunchNotebookResponse)
GET_NOTEBOOK = Operation(
    "GET", "/api/v1/notebooks/{task_id:str}", Nothing, GetNotebookResponse, id_names=("notebookId",)
)
KILL_NOTEBOOK = Operation(
    "POST", "/api/v1/notebooks/{task_id:str}/kill", Nothing, KillNotebookResponse, id_names=("notebookId",)
)
SET_NOTEBOOK_PRIORITY = Operation(
    "POST",
    "/api/v1/notebooks/{task_id:str}/set_priority",
    SetPriorityRequest,
    SetNotebookPriorityResponse,
    id_names=("notebookId",),
)
