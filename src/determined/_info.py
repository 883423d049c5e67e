"""Information of a task about itself: the files that its runner wrote, as `det.get_cluster_info()` returns them."""

import json
import os
from pathlib import Path
from typing import Any

from determined.constants import DEFAULT_RUN_DIR, ENV_INFO_DIR, ENV_RUN_DIR

_CLUSTER, _TRIAL, _RENDEZVOUS, _RESOURCES = "cluster.json", "trial.json", "rendezvous.json", "resources.json"
_TRIAL_TYPE = "TRIAL"
# Agent of a trial that runs outside of the cluster (detached mode).
UNMANAGED = "unmanaged"


class RendezvousInfo:
    """Containers of this task."""

    def __init__(self, container_addrs: list[str], container_rank: int, container_slot_counts: list[int]) -> None:
        self.container_addrs = container_addrs
        self.container_rank = container_rank
        self.container_slot_counts = container_slot_counts


class ResourcesInfo:
    """Accelerators of this container."""

    def __init__(self, gpu_uuids: list[str]) -> None:
        self.gpu_uuids = gpu_uuids


class TrialInfo:
    """The trial this task works on. Attributes with an underscore are for the platform's own libraries."""

    def __init__(
        self,
        *,
        trial_id: int,
        experiment_id: int,
        trial_seed: int,
        hparams: dict[str, Any],
        config: dict[str, Any],
        steps_completed: int = 0,
        trial_run_id: int = 0,
        debug: bool = False,
        inter_node_network_interface: str | None = None,
    ) -> None:
        self.trial_id = trial_id
        self.experiment_id = experiment_id
        self.trial_seed = trial_seed
        self.hparams = hparams
        self._config = config
        self._steps_completed = steps_completed
        self._trial_run_id = trial_run_id
        self._debug = debug
        self._inter_node_network_interface = inter_node_network_interface


class ClusterInfo:
    """The task this process belongs to."""

    def __init__(
        self,
        *,
        master_url: str,
        cluster_id: str,
        agent_id: str,
        slot_ids: list[int],
        task_id: str,
        allocation_id: str,
        session_token: str,
        task_type: str,
        master_cert_name: str | None = None,
        master_cert_file: str | None = None,
        latest_checkpoint: str | None = None,
        trial_info: TrialInfo | None = None,
        rendezvous_info: RendezvousInfo | None = None,
        resources_info: ResourcesInfo | None = None,
    ) -> None:
        self.master_url = master_url.rstrip("/")
        self.cluster_id = cluster_id
        self.agent_id = agent_id
        self.slot_ids = slot_ids
        self.task_id = task_id
        self.allocation_id = allocation_id
        self.session_token = session_token
        self.task_type = task_type
        self.master_cert_name = master_cert_name
        self.master_cert_file = master_cert_file
        self._latest_checkpoint = latest_checkpoint
        self._trial_info = trial_info
        self._rendezvous_info = rendezvous_info
        self._resources_info = resources_info

    @property
    def _is_trial(self) -> bool:
        return self.task_type == _TRIAL_TYPE

    @property
    def _is_unmanaged(self) -> bool:
        """Check whether the trial runs outside of the cluster, without an allocation and with its user's token."""
        return self.agent_id == UNMANAGED

    @property
    def latest_checkpoint(self) -> str | None:
        """Checkpoint to resume from; None at the first start of a trial and in tasks that are no trial."""
        return self._latest_checkpoint if self._is_trial else None

    @property
    def trial(self) -> TrialInfo:
        """The trial; RuntimeError in a task that is none."""
        if not self._is_trial:
            raise RuntimeError(f"this task is a {self.task_type}, not a TRIAL: it has no trial info")
        if self._trial_info is None:
            raise RuntimeError(f"task {self.task_id} has no {_TRIAL}; its info directory is incomplete")
        return self._trial_info

    @property
    def user_data(self) -> dict[str, Any]:
        """The `data` section of the experiment config."""
        if not self._is_trial:
            return {}
        data: dict[str, Any] | None = self.trial._config.get("data")
        return data or {}

    @property
    def container_addrs(self) -> list[str]:
        return self._rendezvous.container_addrs if self._is_trial else ["127.0.0.1"]

    @property
    def container_slot_counts(self) -> list[int]:
        return self._rendezvous.container_slot_counts if self._is_trial else [len(self.slot_ids)]

    @property
    def container_rank(self) -> int:
        return self._rendezvous.container_rank if self._is_trial else 0

    @property
    def gpu_uuids(self) -> list[str]:
        if self._resources_info is None:
            raise RuntimeError(f"task {self.task_id} has no {_RESOURCES}; its info directory is incomplete")
        return self._resources_info.gpu_uuids

    @property
    def _rendezvous(self) -> RendezvousInfo:
        if self._rendezvous_info is None:
            raise RuntimeError(f"task {self.task_id} has no {_RENDEZVOUS} yet; addresses are known after rendezvous")
        return self._rendezvous_info


def trial_of(info: ClusterInfo | None) -> ClusterInfo | None:
    """Return `info` where it is that of a trial; None off cluster and in tasks that are no trial."""
    return info if info is not None and info.task_type == _TRIAL_TYPE else None


def get_cluster_info() -> ClusterInfo | None:
    """Return the task this process runs in, or None off cluster. Read once per process.

    Example:
        >>> get_cluster_info() is None  # on a laptop
        True
    """
    global _cached, _known
    if not _known:
        _cached, _known = read_info(info_directory()), True
    return _cached


def info_directory() -> Path:
    """$DET_INFO_DIR, else $DET_RUN_DIR/info, else where containers have it."""
    if named := os.environ.get(ENV_INFO_DIR):
        return Path(named)
    return run_directory() / "info"


def run_directory() -> Path:
    """Return the private directory of this task's runner, $DET_RUN_DIR, else where containers have it."""
    return Path(os.environ.get(ENV_RUN_DIR) or DEFAULT_RUN_DIR)


def read_info(directory: Path) -> ClusterInfo | None:
    """Return the info files of one directory; None when there is no cluster.json."""
    cluster = _load(directory / _CLUSTER)
    if cluster is None:
        return None
    trial, rendezvous, resources = (_load(directory / name) for name in (_TRIAL, _RENDEZVOUS, _RESOURCES))
    return ClusterInfo(
        **cluster,
        trial_info=None if trial is None else TrialInfo(**trial),
        rendezvous_info=None if rendezvous is None else RendezvousInfo(**rendezvous),
        resources_info=None if resources is None else ResourcesInfo(**resources),
    )


def _load(path: Path) -> dict[str, Any] | None:
    try:
        content: dict[str, Any] = json.loads(path.read_text())
    except FileNotFoundError:
        return None
    except ValueError as e:
        raise RuntimeError(f"{path} is not JSON ({e}); this task's info directory is damaged") from e
    return content


_cached: ClusterInfo | None = None
_known = False
