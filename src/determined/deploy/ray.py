"""A master on this machine whose resource pool is a Ray cluster that already runs."""

import socket
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from determined.api.address import is_loopback
from determined.api.own_master import MasterState
from determined.deploy import local, master_log
from determined.deploy.options import MasterOptions
from determined.deploy.process import is_free
from determined.errors import FailedPrecondition, InvalidArgument
from determined.master.config import load_master_config

_CONNECT_SECONDS = 5.0
_NODES_SECONDS = 60.0  # a bridge and its nodes are there in seconds; a Ray head that just started takes longer
_PROBLEM_SECONDS = 3.0


@dataclass(frozen=True, slots=True)
class RayOptions:
    """Options of a master for Ray.

    `host`: where the master listens; None: this machine's address on the way to the Ray cluster.
    """

    dashboard_url: str
    auth_token_file: str | None = None
    python: str = "python"
    resource: str = "GPU"
    slots_per_node: int | None = None
    max_nodes: int = 0
    host: str | None = None
    port: int = local.DEFAULT_PORT
    storage_host_path: str | None = None
    initial_user_password: str | None = field(default=None, repr=False)


def up(cluster_name: str, options: RayOptions) -> MasterState:
    """Start it anew; what an earlier master of this name kept stays, and so does what it has running.

    Raises:
        InvalidArgument: the dashboard's address cannot be one.
        FailedPrecondition: nobody answers there, or the port is taken.
    """
    address = _way_to(options.dashboard_url)
    host = options.host or address
    config = _config(options)
    own = local.process(cluster_name)
    own.stop()
    if not is_free(host, options.port):
        raise FailedPrecondition(f"port {options.port} is taken by another program; choose another with --master-port")
    asked = MasterOptions(host=host, port=options.port, config=config, password=options.initial_user_password)
    state, _ = own.start(asked)
    return state


def await_nodes(state: MasterState, count: Callable[[], int], seconds: float = _NODES_SECONDS) -> str | None:
    """Wait until `count` finds a node. Returns None then, else what keeps the nodes away.

    A problem that the master has logged ends the waiting when it lasts: the first try may come too early.
    """
    deadline, problem_since = time.monotonic() + seconds, None
    log = Path(state.data_dir) / "master.log"
    begin = log.stat().st_size if log.exists() else 0
    while not count():
        problem = master_log.last_warning(log, "determined.engines.ray", begin)
        now = time.monotonic()
        problem_since = problem_since or now if problem else None
        if now > deadline or (problem_since and now - problem_since > _PROBLEM_SECONDS):
            return problem or f"no node has reported in {seconds:.0f} s; is there one with the asked resource?"
        time.sleep(0.25)
    return None


def reach_problem(state: MasterState) -> str | None:
    """Return why nodes of the cluster cannot reach this master, if its address shows that."""
    if not is_loopback(urlsplit(state.url).hostname or ""):
        return None
    return (
        f"Only this machine reaches the master at {state.url}: trials start on no other node of the Ray cluster."
        " Where it has others, give the dashboard's address as they see it (http://ADDRESS:8265), or"
        " --master-host ADDRESS"
    )


def _way_to(dashboard_url: str) -> str:
    """Return our own address, as the Ray cluster sees it."""
    url = urlsplit(dashboard_url)
    if url.scheme not in ("http", "https") or not url.hostname:
        raise InvalidArgument(f"'{dashboard_url}' is no dashboard of a Ray cluster; give it as http://HEAD:8265")
    port = url.port or (443 if url.scheme == "https" else 80)
    try:
        with socket.create_connection((url.hostname, port), _CONNECT_SECONDS) as probe:
            return str(probe.getsockname()[0])
    except OSError as e:
        raise FailedPrecondition(
            f"no Ray dashboard answers at {dashboard_url}: {e}; start Ray with"
            " `ray start --head --dashboard-host 0.0.0.0`, or open its port"
        ) from e


def _config(options: RayOptions) -> dict[str, Any]:
    manager: dict[str, Any] = {"type": "ray", "dashboard_url": options.dashboard_url, "python": options.python}
    if options.auth_token_file:
        manager["auth_token_file"] = str(Path(options.auth_token_file).resolve())
    pool: dict[str, Any] = {"resource": options.resource}
    if options.slots_per_node:
        pool["slots_per_node"] = options.slots_per_node
    if options.max_nodes:
        pool["max_nodes"] = options.max_nodes
    config: dict[str, Any] = {
        "resource_manager": manager,
        "resource_pools": [{"pool_name": "default", "ray": pool}],
    }
    if options.storage_host_path:
        config["checkpoint_storage"] = {"type": "shared_fs", "host_path": options.storage_host_path}
    load_master_config(config, {}, {})  # refused here, before a running master is stopped for it
    return config
