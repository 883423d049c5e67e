"""Backends by which the ranks of a DeepSpeed trial talk, and the device of each. The only file of this package that
looks into the process environment."""

import contextlib
import logging
import os
import warnings
from collections.abc import Iterator
from typing import Any

import deepspeed
import torch
import torch.distributed as dist
from deepspeed.accelerator import get_accelerator

from determined import core
from determined._info import ClusterInfo
from determined.constants import ENV_MANUAL_INIT_DISTRIBUTED
from determined.pytorch import _parallel

logger = logging.getLogger("determined.pytorch.deepspeed")

_LAUNCHER = "python3 -m determined.launch.deepspeed"
# Port 0 is any that is free: with DET_MANUAL_INIT_DISTRIBUTED a trial makes its group from these by itself.
_ALONE = {"RANK": "0", "WORLD_SIZE": "1", "LOCAL_RANK": "0", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "0"}
# Of DeepSpeed's own launcher, and of ours.
_LAUNCHED = ("RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_SIZE", "CROSS_RANK", "CROSS_SIZE")
# Of torch, for what DeepSpeed calls in every batch; nobody but DeepSpeed can change it.
_DEEPSPEEDS_AFFAIR = r"`torch\.distributed\.\w+` is deprecated"
_warned_of_cpu = False


@contextlib.contextmanager
def backend(
    info: ClusterInfo | None, given: core.DistributedContext | None
) -> Iterator[core.DistributedContext | None]:
    """Have DeepSpeed's process group for the length of the block, unless the trial makes it by itself.

    The arguments are those of `determined.pytorch._parallel.backend`.
    """
    ranks = given if info is None and given is not None else _launched(info)
    with _alone() if ranks is None or ranks.size == 1 else contextlib.nullcontext():
        is_ours = not dist.is_initialized()
        if not os.environ.get(ENV_MANUAL_INIT_DISTRIBUTED):
            _join()
        yield ranks
        # Not after an error: a peer that failed would be waited for, and this process ends anyway.
        if is_ours:
            _leave()


def device(local_rank: int) -> torch.device:
    """Return where this rank computes: on its accelerator, or on the processor where there is none or
    DS_ACCELERATOR=cpu."""
    accelerator: Any = get_accelerator()
    name = accelerator.device_name()
    if name == "cpu":
        _warn_of_cpu()
        return torch.device("cpu")
    accelerator.set_device(local_rank)
    return torch.device(name, local_rank)


def _launched(info: ClusterInfo | None) -> core.DistributedContext | None:
    """Return who a launcher says this process is; None for a process on its own."""
    is_launched = info is None and all(name in os.environ for name in _LAUNCHED)
    if os.environ.get("USE_DEEPSPEED") or is_launched:
        return core.DistributedContext.from_deepspeed()
    if os.environ.get("USE_TORCH_DISTRIBUTED") or (info is None and _parallel.is_one_of_torchruns()):
        return core.DistributedContext.from_torch_distributed()
    _parallel.refuse_several_slots(info, _LAUNCHER)
    return None


@contextlib.contextmanager
def _alone() -> Iterator[None]:
    """Set what a launcher would have told a single process, with a process group that needs no port."""
    missing = {name: value for name, value in _ALONE.items() if name not in os.environ}
    os.environ.update(missing)
    is_ours = not dist.is_initialized() and not os.environ.get(ENV_MANUAL_INIT_DISTRIBUTED)
    if is_ours:
        backend_name = get_accelerator().communication_backend_name()
        store = dist.HashStore()  # type: ignore[attr-defined]
        dist.init_process_group(backend_name, store=store, rank=0, world_size=1)
    try:
        yield
    finally:
        if is_ours:
            _leave()
        for name in missing:
            del os.environ[name]


def _join() -> None:
    if get_accelerator().device_name() == "cpu":
        # It would be compiled here for minutes, by every user anew, for DeepSpeed's inference alone.
        deepspeed.ops.__compatible_ops__["deepspeed_shm_comm"] = False
    warnings.filterwarnings("ignore", _DEEPSPEEDS_AFFAIR, FutureWarning)
    deepspeed.init_distributed(auto_mpi_discovery=False)


def _leave() -> None:
    """Leave the process group by DeepSpeed, which remembers groups: else the next trial in this process would meet
    those of this one."""
    if dist.is_initialized():
        deepspeed.comm.destroy_process_group()


def _warn_of_cpu() -> None:
    global _warned_of_cpu
    if not _warned_of_cpu:
        _warned_of_cpu = True
        logger.warning("DeepSpeed finds no accelerator (or DS_ACCELERATOR=cpu is set): this trial trains on the CPU")
