"""Commands."""

from determined._json import JsonObject
from determined.wire.base import LaunchWarning, Pagination
from determined.wire.codec import Wire
from determined.wire.operation import Nothing, Operation
from determined.wire.submitted_task import (
    LaunchRequest,
    ListSubmittedTasks,
    SetPriorityRequest,
    SubmittedTask,
)
from determined.wire.upstream import Ours


class Command(SubmittedTask):
    """A program that runs once."""


class LaunchCommandRequest(LaunchRequest):
    """A command."""


class LaunchCommandResponse(Wire):
    """`messages` is ours: remarks on the config, in words."""

    command: Command
    config: JsonObject
    warnings: list[LaunchWarning] | None = None
    messages: Ours[list[str] | None] = None


class GetCommandsResponse(Wire):
    commands: list[Command]
    pagination: Pagination | None = None


class GetCommandResponse(Wire):
    command: Command
    config: JsonObject


class KillCommandResponse(Wire):
    command: Command | None = None


class SetCommandPriorityResponse(Wire):
    command: Command | None = None


LIST_COMMANDS = Operation("GET", "/api/v1/commands", ListSubmittedTasks, GetCommandsResponse)
LAUNCH_COMMAND = Operation("POST", "/api/v1/commands", LaunchCommandRequest, LaunchCommandResponse)
GET_COMMAND = Operation("GET", "/api/v1/commands/{task_id:str}", Nothing, GetCommandResponse, id_names=("commandId",))
KILL_COMMAND = Operation(
    "POST", "/api/v1/commands/{task_id:str}/kill", Nothing, KillCommandResponse, id_names=("commandId",)
)
SET_COMMAND_PRIORITY = Operation(
    "POST",
    "/api/v1/commands/{task_id:str}/set_priority",
    SetPriorityRequest,
    SetCommandPriorityResponse,
    id_names=("commandId",),
)
