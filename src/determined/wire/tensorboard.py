"""TensorBoards."""

from determined._json import JsonObject
from determined.wire.base import LaunchWarning, Pagination
from determined.wire.codec import Wire
from determined.wire.experiment_bulk import BulkExperimentFilters
from determined.wire.operation import Nothing, Operation
from determined.wire.submitted_task import (
    LaunchRequest,
    ListSubmittedTasks,
    ServedTask,
    SetPriorityRequest,
    SourceIds,
)
from determined.wire.upstream import Ours


class Tensorboard(ServedTask):
    """A TensorBoard of experiments and trials."""

    experiment_ids: list[int] | None = None
    trial_ids: list[int] | None = None


class LaunchTensorboardRequest(LaunchRequest):
    """A TensorBoard. Its sources are any of these together."""

    experiment_ids: SourceIds | None = None
    trial_ids: SourceIds | None = None
    filters: BulkExperimentFilters | None = None


class LaunchTensorboardResponse(Wire):
    """`messages` is ours: remarks on the config, in words."""

    tensorboard: Tensorboard
    config: JsonObject
    warnings: list[LaunchWarning] | None = None
    messages: Ours[list[str] | None] = None


class GetTensorboardsResponse(Wire):
    tensorboards: list[Tensorboard]
    pagination: Pagination | None = None


class GetTensorboardResponse(Wire):
    tensorboard: Tensorboard
    config: JsonObject


class KillTensorboardResponse(Wire):
    tensorboard: Tensorboard | None = None


class SetTensorboardPriorityResponse(Wire):
    tensorboard: Tensorboard | None = None


LIST_TENSORBOARDS = Operation("GET", "/api/v1/tensorboards", ListSubmittedTasks, GetTensorboardsResponse)
LAUNCH_TENSORBOARD = Operation("POST", "/api/v1/tensorboards", LaunchTensorboardRequest, LaunchTensorboardResponse)
GET_TENSORBOARD = Operation(
    "GET", "/api/v1/tensorboards/{task_id:str}", Nothing, GetTensorboardResponse, id_names=("tensorboardId",)
)
KILL_TENSORBOARD = Operation(
    "POST", "/api/v1/tensorboards/{task_id:str}/kill", Nothing, KillTensorboardResponse, id_names=("tensorboardId",)
)
SET_TENSORBOARD_PRIORITY = Operation(
    "POST",
    "/api/v1/tensorboards/{task_id:str}/set_priority",
    SetPriorityRequest,
    SetTensorboardPriorityResponse,
    id_names=("tensorboardId",),
)
