"""Environment variables of a training process. The only file of this package that reads them."""

import json
import os
from dataclasses import dataclass
from pathlib import Path

from determined import constants
from determined._json import JsonObject
from determined.rundir import container

_PUB_PORT, _PULL_PORT = "INTER_TRAIN_PROCESS_COMM_PORT_1", "INTER_TRAIN_PROCESS_COMM_PORT_2"


@dataclass(frozen=True, slots=True)
class Ranks:
    """Rank of this process among its peers, as a launcher told it."""

    rank: int
    size: int
    local_rank: int
    local_size: int
    cross_rank: int
    cross_size: int


TORCH = ("RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "GROUP_RANK", "GROUP_WORLD_SIZE")
DEEPSPEED = ("RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_SIZE", "CROSS_RANK", "CROSS_SIZE")


def ranks(names: tuple[str, ...], launcher: str) -> Ranks:
    """Read the rank of this process. Raises RuntimeError naming the variables a launcher should have set."""
    missing = [name for name in names if name not in os.environ]
    if missing:
        raise RuntimeError(f"{', '.join(missing)} not set; start this script with {launcher}")
    return Ranks(*(int(os.environ[name]) for name in names))


def chief_ip() -> str | None:
    return os.environ.get(constants.ENV_CHIEF_IP)


def peer_ports() -> tuple[int, int]:
    first = int(os.environ.get(_PUB_PORT, "12360"))
    return first, int(os.environ.get(_PULL_PORT, str(first + 16)))


def peer_token() -> str | None:
    """Return what every rank of one allocation knows and nobody else does."""
    return os.environ.get(constants.ENV_SESSION_TOKEN)


def job_marker() -> str:
    """Return what the ranks of one torchrun share and those of another do not: two may run on one machine."""
    return "/".join(os.environ.get(name, "") for name in ("TORCHELASTIC_RUN_ID", "MASTER_ADDR", "MASTER_PORT"))


def tf_config() -> JsonObject | None:
    raw = os.environ.get("TF_CONFIG")
    return dict(json.loads(raw)) if raw else None


def run_dir() -> Path:
    return Path(os.environ.get(constants.ENV_RUN_DIR, constants.DEFAULT_RUN_DIR))


def working_directory() -> str | None:
    """Return the working directory; None when it was removed under this process."""
    try:
        return str(Path.cwd())
    except FileNotFoundError:
        return None


def shared_fs_mount() -> str | None:
    """Return where a container has shared_fs mounted; None when the task runs straight on its node."""
    in_container = os.environ.get(constants.ENV_RESOURCES_TYPE) in (container.RESOURCES_TYPE, "k8s-job")
    return container.SHARED_FS if in_container else None


def retry_settings() -> JsonObject:
    """DET_RETRY_CONFIG: keyword arguments of urllib3's Retry, of which `total` and `backoff_factor` are used.

    Few by default: calls that need an answer are repeated without end anyway (core/_master.py), at a steadier pace.
    """
    raw = os.environ.get(constants.ENV_RETRY_CONFIG)
    given: JsonObject = json.loads(raw) if raw else {}
    return {"retries": int(given.get("total", 1)), "backoff": float(given.get("backoff_factor", 0.5))}


def user_data_dir() -> Path:
    base = os.environ.get("XDG_DATA_HOME")
    return Path(base) / "determined" if base else Path.home() / ".local" / "share" / "determined"
