"""Shells."""

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


class Shell(SubmittedTask):
    """An SSH server. Keys are shown to its owner and administrators.

    `host_public_key` is ours: with it a client knows the server.
    """

    private_key: str | None = None
    public_key: str | None = None
    host_public_key: Ours[str | None] = None
    addresses: list[JsonObject] | None = None
    agent_user_group: JsonObject | None = None


class LaunchShellRequest(LaunchRequest):
    """A shell."""


class LaunchShellResponse(Wire):
    """`messages` is ours: remarks on the config, in words."""

    shell: Shell
    config: JsonObject
    warnings: list[LaunchWarning] | None = None
    messages: Ours[list[str] | None] = None


class GetShellsResponse(Wire):
    shells: list[Shell]
    pagination: Pagination | None = None


class GetShellResponse(Wire):
    shell: Shell
    config: JsonObject


class KillShellResponse(Wire):
    shell: Shell | None = None


class SetShellPriorityResponse(Wire):
    shell: Shell | None = None


class IdleShellRequest(Wire):
    """Ours: whether nobody has used the shell for a while."""

    idle: bool | None = None


REPORT_SHELL_IDLE = Operation("PUT", "/api/v1/shells/{task_id:str}/report_idle", IdleShellRequest, Nothing, ours=True)
LIST_SHELLS = Operation("GET", "/api/v1/shells", ListSubmittedTasks, GetShellsResponse)
LAUNCH_SHELL = Operation("POST", "/api/v1/shells", LaunchShellRequest, LaunchShellResponse)
GET_SHELL = Operation("GET", "/api/v1/shells/{task_id:str}", Nothing, GetShellResponse, id_names=("shellId",))
KILL_SHELL = Operation("POST", "/api/v1/shells/{task_id:str}/kill", Nothing, KillShellResponse, id_names=("shellId",))
SET_SHELL_PRIORITY = Operation(
    "POST",
    "/api/v1/shells/{task_id:str}/set_priority",
    SetPriorityRequest,
    SetShellPriorityResponse,
    id_names=("shellId",),
)
