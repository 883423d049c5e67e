"""Identity that a task runs as, and the address of its master."""

import os
import pwd

from determined import _bound_address
from determined.engines.model import RunAs
from determined.errors import FailedPrecondition
from determined.master.config import MasterConfig
from determined.master.db.queries.runner import Identity

_ANY_ADDRESS = ("", "0.0.0.0", "::")


def can_switch_users() -> bool:
    """Return whether tasks can run as the OS user linked to their owner."""
    return os.geteuid() == 0


def run_as(row: Identity, config: MasterConfig) -> RunAs:
    """Return the OS user of a task: ourselves where we can become nobody else."""
    return linked(row, config) if can_switch_users() else RunAs()


def task_uid(row: Identity, config: MasterConfig) -> int:
    """Return the uid of the files that a task of this user makes on this machine."""
    who = run_as(row, config)
    if who.uid is not None:
        return who.uid
    if who.user is None:
        return os.geteuid()
    uid = _uid_of(who.user)
    if uid is None:
        raise FailedPrecondition(f"OS user {who.user!r} is linked to '{row.username}' but not known here")
    return uid


def isolation_problem(row: Identity, config: MasterConfig, engine: str | None = None) -> str | None:
    """Return why `security.require_user_isolation` forbids to run this task; None when it may run.

    A task that runs as the master's own user could read the cluster's secret, so that is no isolation either.
    """
    if not config.security.require_user_isolation:
        return None
    configured = config.engine(engine)
    if configured is not None and not configured.manager.runs_here:
        return (
            f"security.require_user_isolation is set, but all tasks of '{configured.name}' ({configured.type}) run as"
            " one OS user; choose a resource pool of the master's own machine"
        )
    if not can_switch_users():
        return (
            "security.require_user_isolation is set, but this master is not root and cannot run tasks as other users;"
            " start it as root"
        )
    if _is_root(linked(row, config)):
        return (
            f"security.require_user_isolation is set, but user '{row.username}' is linked to no OS user other than"
            " root, or to root's group; an administrator can do that: det user link-with-agent-user"
        )
    return _borrowed(row)


def _borrowed(row: Identity) -> str | None:
    """Return the problem of a workspace that lends the OS user of one person to everybody who submits into it."""
    other, uid = row.workspace_user_of, row.workspace_uid
    if other is None or (uid is not None and uid == row.agent_uid):
        return None
    return (
        f"security.require_user_isolation is set, but the workspace runs tasks as the OS user of '{other}';"
        " submit into another workspace, or have an administrator link this one to an OS user of its own"
    )


def _is_root(who: RunAs) -> bool:
    """Return whether it is root. The group counts as well: much of what is root's is open to it."""
    if who.user == "root" or who.group == "root" or 0 in (who.uid, who.gid):
        return True
    # A user who is not known here is not root: the engine refuses to start the task, with that reason.
    return who.uid is None and (who.user is None or _uid_of(who.user) == 0)


def _uid_of(user: str) -> int | None:
    try:
        return pwd.getpwnam(user).pw_uid
    except KeyError:
        return None


def linked(row: Identity, config: MasterConfig) -> RunAs:
    """Return the owner's linked OS user, else the cluster's default; the workspace overrides field by field.

    The built-in default (root) is left to the engine: a master that is root runs tasks as root, any other as itself.
    """
    default = config.security.default_task
    linked = row.agent_uid is not None
    base = RunAs()
    if linked:
        base = RunAs(row.agent_user, row.agent_uid, row.agent_group, row.agent_gid)
    elif default.uid != 0:
        base = RunAs(default.user, default.uid, default.group, default.gid)
    return RunAs(
        user=row.workspace_user if row.workspace_user is not None else base.user,
        uid=row.workspace_uid if row.workspace_uid is not None else base.uid,
        group=row.workspace_group if row.workspace_group is not None else base.group,
        gid=row.workspace_gid if row.workspace_gid is not None else base.gid,
    )


def own_addresses(config: MasterConfig) -> list[str]:
    """Return where callers may have dialled us: proofs are good there alone (_bound_address)."""
    urls = (advertised_url(config), _listener(config))
    return list(dict.fromkeys(_bound_address.of_url(url) for url in urls))


def advertised_url(config: MasterConfig) -> str:
    """Return the URL that runners use: as the config says, else one that is good on this machine."""
    if config.advertised_url is not None:
        return config.advertised_url.rstrip("/")
    return _listener(config)


def _listener(config: MasterConfig) -> str:
    scheme = "https" if config.security.tls.enabled else "http"
    host = "127.0.0.1" if config.host in (*_ANY_ADDRESS, "localhost") else config.host
    return f"{scheme}://[{host}]:{config.port}" if ":" in host else f"{scheme}://{host}:{config.port}"
