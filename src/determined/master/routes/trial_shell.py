"""Shells beside running trials."""

from determined.errors import FailedPrecondition
from determined.master.auth.identity import Caller
from determined.master.auth.permission import OWN_ALLOCATION, OWNER
from determined.master.context import MasterContext
from determined.master.routes.serve import INTERNAL, serve
from determined.master.services import trial_shell
from determined.wire.shell_settings import ShellSettings
from determined.wire.trial_shell import GET_TRIAL_SHELL_SETTINGS, OPEN_TRIAL_SHELL, OpenTrialShellResponse


@serve(OPEN_TRIAL_SHELL, OWNER, errors=(FailedPrecondition,))
async def open_trial_shell(ctx: MasterContext, caller: Caller, trial_id: int) -> OpenTrialShellResponse:
    """Open a shell in the environment and working directory of a running trial (ours)."""
    return OpenTrialShellResponse(shell=await trial_shell.open_shell(ctx, caller, trial_id))


@serve(GET_TRIAL_SHELL_SETTINGS, OWN_ALLOCATION, errors=(FailedPrecondition,), tags=INTERNAL)
async def get_trial_shell_settings(ctx: MasterContext, allocation_id: str) -> ShellSettings:
    return await trial_shell.settings(ctx, allocation_id)
