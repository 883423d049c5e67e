"""Who a task runs as, and where it finds its master."""

from sqlalchemy import RowMapping

from determined.engines.model import RunAs
from determined.master.config import MasterConfig

_ANY_ADDRESS = ("", "0.0.0.0", "::")


def run_as(row: RowMapping, config: MasterConfig) -> RunAs:
    """The owner's linked OS user, else the cluster's default; the workspace overrides field by field.

    The built-in default (root) is left to the engine: a master that is root runs tasks as root, any other as itself.
    """
    default = config.security.default_task
    linked = row["agent_uid"] is not None
    base = RunAs()
    if linked:
        base = RunAs(row["agent_user"], row["agent_uid"], row["agent_group"], row["agent_gid"])
    elif default.uid != 0:
        base = RunAs(default.user, default.uid, default.group, default.gid)
    return RunAs(
        user=row["workspace_user"] if row["workspace_user"] is not None else base.user,
        uid=row["workspace_uid"] if row["workspace_uid"] is not None else base.uid,
        group=row["workspace_group"] if row["workspace_group"] is not None else base.group,
        gid=row["workspace_gid"] if row["workspace_gid"] is not None else base.gid,
    )


def advertised_url(config: MasterConfig) -> str:
    """The URL that runners on this machine use."""
    scheme = "https" if config.security.tls.enabled else "http"
    host = "127.0.0.1" if config.host in _ANY_ADDRESS else config.host
    return f"{scheme}://[{host}]:{config.port}" if ":" in host else f"{scheme}://{host}:{config.port}"
