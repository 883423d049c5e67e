"""Ranks of a trial: how they find one another, and which GPU is whose. The only file of this package that looks into
the process environment."""

import contextlib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from types import ModuleType

from determined import core
from determined._imports import load_optional
from determined._info import ClusterInfo
from determined.config import ExperimentConfig
from determined.keras._gradients import Averaging, over_core, over_horovod
from determined.keras._tensorflow import tf

_LAUNCHER = "python3 -m determined.launch.torch_distributed --trial MODULE:CLASS"


@dataclass(frozen=True, slots=True)
class Ranks:
    """Rank of this process; `average` is None where it trains alone."""

    distributed: core.DistributedContext | None = None
    average: Averaging | None = None


@contextlib.contextmanager
def joined(info: ClusterInfo) -> Iterator[Ranks]:
    """Join the ranks as the launcher of this process chose, for the length of the block.

    The launcher of torch_distributed starts one process for each slot and needs no torch; it is what a trial class on
    several slots is started by.

    Raises:
        ValueError: a task of several slots without a launcher.
    """
    compress = ExperimentConfig.load(info.trial._config).optimizations.gradient_compression
    if os.environ.get("USE_HOROVOD"):
        hvd: ModuleType = load_optional("horovod.tensorflow", extra="horovod")
        hvd.init()
        distributed = core.DistributedContext.from_horovod(hvd)
        yield Ranks(distributed, over_horovod(hvd, compress=compress) if distributed.size > 1 else None)
        hvd.shutdown()
        return
    if not os.environ.get("USE_TORCH_DISTRIBUTED"):
        _refuse_several_slots(info)
        yield Ranks()
        return
    distributed = core.DistributedContext.from_torch_distributed()
    yield Ranks(distributed, over_core(distributed, compress=compress) if distributed.size > 1 else None)


def claim_gpu(distributed: core.DistributedContext) -> None:
    """Use one of several GPUs on a node for each rank; memory is taken as it is needed."""
    gpus = tf.config.list_physical_devices("GPU")
    if distributed.size > 1 and len(gpus) > 1:
        gpus = [gpus[distributed.local_rank % len(gpus)]]
        tf.config.set_visible_devices(gpus, "GPU")
    for gpu in gpus:
        with contextlib.suppress(RuntimeError):  # TensorFlow was used before: it is as the user's code has left it
            tf.config.experimental.set_memory_growth(gpu, True)


def _refuse_several_slots(info: ClusterInfo) -> None:
    if len(info.slot_ids) > 1 or len(info.container_addrs) > 1:
        raise ValueError(
            f"this trial has {len(info.slot_ids)} slots on {len(info.container_addrs)} node(s) and was started "
            f"without a launcher; write `entrypoint: MODULE:CLASS` or `entrypoint: {_LAUNCHER}`"
        )
