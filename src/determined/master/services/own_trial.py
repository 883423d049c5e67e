"""Right to write the data of a trial: its task at its current run has it, its owner, an administrator.

That everybody may edit any experiment means its verbs (pause, kill, labels, notes), not what a trial has measured.
"""

from sqlalchemy import Connection

from determined.errors import FailedPrecondition, Forbidden, Gone
from determined.master.auth.identity import Caller, require_admin, require_owner
from determined.master.context import MasterContext
from determined.master.db.queries import trial_access
from determined.master.db.queries.trial_access import TrialAccess
from determined.master.lifecycle.states import TERMINAL


async def require_own_trial(ctx: MasterContext, caller: Caller, trial_id: int) -> None:
    """Require what `check_reporter` does, for what is then written by somebody else."""
    await ctx.db.read(lambda conn: check_reporter(conn, caller, trial_id))


def check_reporter(conn: Connection, caller: Caller, trial_id: int) -> None:
    """Check that the caller may report metrics, logs, checkpoints, progress: nobody to a managed trial that is over.

    Raises:
        Forbidden: another's trial. Gone: a task of an earlier run. FailedPrecondition: the trial is over.
    """
    trial = check_author(conn, caller, trial_id)
    if trial.state in TERMINAL and not trial.unmanaged:
        raise FailedPrecondition(f"trial {trial_id} is {trial.state}; it takes no more reports")


def check_author(conn: Connection, caller: Caller, trial_id: int) -> TrialAccess:
    """Check that the caller may change what is known of a trial, over or not. Returns its row of `trial_access`."""
    trial = trial_access.of_trial(conn, trial_id)
    if caller.kind == "task":
        _check_task(conn, caller.allocation_id or "", trial_id, trial.run_id)
    else:
        require_owner(caller, trial.owner_id, f"trial {trial_id}")
    return trial


def check_task_writer(conn: Connection, caller: Caller, task_id: str) -> None:
    """Check that the caller may write to the log of a task: as `check_reporter` where it is a trial's."""
    task = trial_access.of_task(conn, task_id)
    if caller.kind == "task":
        own = trial_access.of_allocation(conn, caller.allocation_id or "")
        if own is None or own.task_id != task_id:
            raise Forbidden(f"allocation {caller.allocation_id} may not write to the log of task {task_id}")
    if task.trial_id is not None:
        check_reporter(conn, caller, task.trial_id)
    elif caller.kind == "user" and task.owner_id is not None:
        require_owner(caller, task.owner_id, f"task {task_id}")
    elif caller.kind == "user":
        require_admin(caller)


def _check_task(conn: Connection, allocation_id: str, trial_id: int, run_id: int) -> None:
    own = trial_access.of_allocation(conn, allocation_id)
    if own is None or own.trial_id != trial_id:
        raise Forbidden(f"allocation {allocation_id} may not report for trial {trial_id}")
    if own.run_id != run_id:
        raise Gone(f"trial {trial_id} is at run {run_id}; run {own.run_id} of allocation {allocation_id} is stale")
