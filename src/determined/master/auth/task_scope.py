"""Scope of a task's token: operations that name tasks, and in them its own allocation, trial and experiment.

Ids outside of the path (bodies, queries) are checked by the services that read them.
"""

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection

from determined.errors import Forbidden
from determined.master.auth.identity import Caller, require_task
from determined.master.auth.permission import TASKS, Permission, Who
from determined.master.context import MasterContext
from determined.master.db.queries import trial_access
from determined.wire.custom_search import driven_experiment


async def check(ctx: MasterContext, caller: Caller, permission: Permission, path: Mapping[str, Any]) -> None:
    """Check that a task may do this, and to this object. Raises Forbidden."""
    who = TASKS.intersection(permission.who)
    if not who:
        raise Forbidden(f"allocation {caller.allocation_id} may not do this; log in as a user")
    if Who.TASK in who:
        return
    if Who.ALLOCATION in who and "allocation_id" in path:
        require_task(caller, path["allocation_id"])
    if Who.ITSELF in who:
        _require(caller.task_id in path.values(), caller, f"task {', '.join(map(str, path.values()))}")
    if Who.TRIAL in who:
        _check_trial(caller, path)
    if Who.EXPERIMENT in who:
        await ctx.db.read(lambda conn: _check_experiment(conn, caller, path))


def _check_trial(caller: Caller, path: Mapping[str, Any]) -> None:
    trial_id = path.get("trial_id", path.get("run_id", caller.trial_id))
    if trial_id != caller.trial_id:
        raise Forbidden(f"allocation {caller.allocation_id} may not report for trial {trial_id}")


def _check_experiment(conn: Connection, caller: Caller, path: Mapping[str, Any]) -> None:
    if "external_id" in path:
        own = caller.trial_id is not None and path["external_id"] == driven_experiment(caller.trial_id)
        _require(own, caller, f"the experiment {path['external_id']!r}")
    elif "experiment_id" in path:
        own = _is_own(conn, caller, path["experiment_id"])
        _require(own, caller, f"experiment {path['experiment_id']}")
    elif "task_id" in path:
        own = _is_own(conn, caller, trial_access.experiment_of_task(conn, path["task_id"]))
        _require(own or path["task_id"] == caller.task_id, caller, f"task {path['task_id']}")
    else:
        trial_id = path["trial_id"] if "trial_id" in path else path["run_id"]
        own = trial_id == caller.trial_id or _is_own(conn, caller, trial_access.experiment_of_trial(conn, trial_id))
        _require(own, caller, f"trial {trial_id}")


def _is_own(conn: Connection, caller: Caller, experiment_id: int | None) -> bool:
    """Return whether it is the experiment that the task works for, or whose custom search its trial drives."""
    if experiment_id is None or experiment_id == caller.experiment_id:
        return experiment_id is not None
    if caller.trial_id is None:
        return False
    driven = driven_experiment(caller.trial_id)
    return trial_access.is_submitted_as(conn, experiment_id, driven, caller.user_id)


def _require(own: bool, caller: Caller, what: str) -> None:
    if not own:
        raise Forbidden(f"allocation {caller.allocation_id} may not use {what}, which is not its own; log in as a user")
