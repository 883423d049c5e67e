"""`det deploy local`: named clusters of this user, each a master process with its own directory."""

import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from determined.api import environment
from determined.api.own_master import MasterState
from determined.deploy.options import AUTO, MasterOptions, SlotsOption
from determined.deploy.process import MasterProcess, is_free
from determined.errors import FailedPrecondition, InvalidArgument, NotFound

DEFAULT_PORT = 8080


@dataclass(frozen=True, slots=True)
class ClusterOptions:
    port: int | None = None  # None: what the master's own config says, else 8080
    host: str | None = None  # None: what the master's own config says, else loopback
    master_config_path: Path | None = None
    storage_host_path: str | None = None
    initial_user_password: str | None = field(default=None, repr=False)
    agents: int = 1
    gpu: bool = True
    auto_work_dir: str | None = None
    delete_db: bool = False
    slots: SlotsOption | None = None  # None: what the master's own config says


def directory(cluster_name: str) -> Path:
    if not cluster_name or "/" in cluster_name or cluster_name.startswith("."):
        raise InvalidArgument(f"'{cluster_name}' cannot name a cluster; use letters, digits, '-' and '_'")
    return environment.state_dir() / "clusters" / cluster_name


def process(cluster_name: str) -> MasterProcess:
    return MasterProcess(directory(cluster_name))


def existing(cluster_name: str) -> MasterProcess:
    own = process(cluster_name)
    if not own.directory.exists():
        raise NotFound(
            f"no cluster '{cluster_name}'; det deploy local cluster-up --cluster-name {cluster_name} makes it"
        )
    return own


def up(cluster_name: str, options: ClusterOptions) -> MasterState:
    """Start the cluster anew; what an earlier one of this name kept stays unless `delete_db`."""
    own = process(cluster_name)
    file = _read(options.master_config_path)
    host = options.host or str(file.get("host") or "127.0.0.1")
    port = options.port or int(file.get("port") or DEFAULT_PORT)
    own.stop()
    if not is_free(host, port):
        raise FailedPrecondition(f"port {port} is taken by another program; choose another with --master-port")
    if options.delete_db:
        _forget(own.directory)
    state, _ = own.start(
        MasterOptions(
            host=host,
            port=port,
            config_file=str(options.master_config_path.resolve()) if options.master_config_path else None,
            config=_config(options),
            slots=None if options.slots == AUTO else options.slots,
            password=options.initial_user_password,
        )
    )
    return state


def down(cluster_name: str, *, delete_db: bool) -> bool:
    own = process(cluster_name)
    if not own.directory.exists():
        return False
    was_running = own.stop()
    if delete_db:
        _forget(own.directory)
    return was_running


def _read(path: Path | None) -> dict[str, Any]:
    if path is None:
        return {}
    if not path.is_file():
        raise InvalidArgument(f"no master config at '{path}'; check --master-config-path")
    from determined.config import parse_yaml
    from determined.master.config import load_master_config

    own = parse_yaml(path.read_text())
    load_master_config(own, {}, {})  # refused here, before a running cluster is stopped for it
    return own


def _config(options: ClusterOptions) -> dict[str, Any]:
    config: dict[str, Any] = {}
    if options.storage_host_path:
        config["checkpoint_storage"] = {"type": "shared_fs", "host_path": options.storage_host_path}
    if options.auto_work_dir:
        config["task_container_defaults"] = {"work_dir": options.auto_work_dir}
    if not options.gpu:
        config["slot_type"] = "cpu"
    if options.slots == AUTO:
        config["slots"] = None  # over the one of a master.yaml
    if options.agents != 1:
        config["local_agents"] = options.agents
    return config


def _forget(own: Path) -> None:
    """Remove the database and what belongs to it; checkpoints are kept, as they are not the cluster's to delete."""
    for path in (*own.glob("master.db*"), own / "state.json", own / "identity"):
        path.unlink(missing_ok=True)
    shutil.rmtree(own / "runs", ignore_errors=True)
