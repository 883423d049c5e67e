"""Files an experiment leaves in its checkpoint storage besides checkpoints. Blocking: call these in a thread."""

from typing import Any

from determined import storage
from determined.errors import FailedPrecondition


def remove_tensorboard(config: dict[str, Any], cluster_id: str, experiment_id: int) -> None:
    """Drop the experiment's TensorBoard files; none there is fine."""
    manager = open_storage(config.get("checkpoint_storage"))
    manager.remove(f"{cluster_id}/tensorboard/experiment/{experiment_id}")


def open_storage(config: dict[str, Any] | None) -> storage.StorageManager:
    try:
        return storage.build(config or {})
    except (ValueError, TypeError) as e:
        raise FailedPrecondition(f"the checkpoint storage cannot be opened: {e}") from e
