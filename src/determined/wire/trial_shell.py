"""Shells beside running trials: in their environment and working directory, on their node of rank 0."""

from determined.wire.codec import Wire
from determined.wire.operation import Nothing, Operation
from determined.wire.shell import Shell
from determined.wire.shell_settings import ShellSettings

SERVICE = "shell"  # id of the service: `/proxy/<task id>:shell/`


class OpenTrialShellResponse(Wire):
    """The shell, as one that `det shell` opens. Its id is that of the service; its server may need a moment."""

    shell: Shell


OPEN_TRIAL_SHELL = Operation("POST", "/api/v1/trials/{trial_id:int}/shell", Nothing, OpenTrialShellResponse, ours=True)
GET_TRIAL_SHELL_SETTINGS = Operation(
    "GET", "/api/v1/allocations/{allocation_id:str}/shell", Nothing, ShellSettings, ours=True
)
