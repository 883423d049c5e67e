"""Ranks of a trial: how they find one another. The only file of this package that looks into the process
environment."""

import os
from types import ModuleType
from typing import TYPE_CHECKING, Any

from determined import core
from determined._imports import load_optional
from determined._info import ClusterInfo
from determined._json import JsonObject

if TYPE_CHECKING:
    import tensorflow as tf


def start_backend(info: ClusterInfo | None) -> core.DistributedContext | None:
    """Return who this process is, by what its launcher set; None for a process on its own.

    Raises:
        ValueError: a task of several slots whose entrypoint has another launcher.
    """
    if os.environ.get("USE_HOROVOD"):
        return core.DistributedContext.from_horovod(_start_horovod())
    if os.environ.get("USE_TORCH_DISTRIBUTED"):
        return core.DistributedContext.from_torch_distributed()
    if info is not None and (len(info.container_addrs) > 1 or sum(info.container_slot_counts) > 1):
        raise ValueError(
            f"this trial has {sum(info.container_slot_counts)} slots on {len(info.container_addrs)} node(s), and its "
            "launcher starts no process for each; make the entrypoint `model_def:MyTrial`, or set "
            "resources.slots_per_trial: 1"
        )
    return None


def stop_backend() -> None:
    global _horovod
    if _horovod is not None:
        _horovod.shutdown()
    _horovod = None


def horovod() -> ModuleType:
    """The module, where the ranks talk by it."""
    module: ModuleType = _horovod
    return module


def horovod_optimizer(
    optimizer: "tf.compat.v1.train.Optimizer", optimizations: JsonObject
) -> "tf.compat.v1.train.Optimizer":
    """The optimizer as one of those that all ranks step together."""
    compression = _horovod.Compression
    return _horovod.DistributedOptimizer(
        optimizer,
        compression=compression.fp16 if optimizations["gradient_compression"] else compression.none,
        backward_passes_per_step=int(optimizations["aggregation_frequency"]),
        average_aggregated_gradients=bool(optimizations["average_aggregated_gradients"]),
    )


_horovod: Any = None


def _start_horovod() -> ModuleType:
    global _horovod
    module = _horovod = load_optional("horovod.tensorflow", extra="horovod")
    module.init()
    return module
