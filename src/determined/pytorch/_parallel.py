"""Backends by which the ranks of a trial talk, and the wrappers of models: DDP, FSDP2, horovod, torch.compile,
channels-last. The only file of this package that looks into the process environment."""

import contextlib
import logging
import os
import sys
from collections.abc import Iterator
from types import ModuleType
from typing import Any, cast

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from determined import core
from determined._imports import load_optional
from determined._info import ClusterInfo, get_cluster_info, trial_of
from determined._json import JsonObject
from determined.errors import InvalidExperimentException

logger = logging.getLogger("determined.pytorch")

_GROUP = ("MASTER_ADDR", "MASTER_PORT", "RANK", "WORLD_SIZE")
_LAUNCHER = "python3 -m determined.launch.torch_distributed"


@contextlib.contextmanager
def backend(
    info: ClusterInfo | None, given: core.DistributedContext | None
) -> Iterator[core.DistributedContext | None]:
    """Have what the ranks talk by for the length of the block.

    Args:
        info: the trial this process works on, None off cluster.
        given: who this process is, where the user's script says it; ignored on a cluster.
    """
    yield given if info is None and given is not None else start_backend()
    # Not after an error: a peer that failed would be waited for, and this process ends anyway.
    stop_backend()


def start_backend() -> core.DistributedContext | None:
    """Start what the launcher of this process chose, off cluster also torchrun; None for a process on its own.

    Raises:
        ValueError: a task of several slots whose script was started without a launcher.
    """
    if os.environ.get("USE_HOROVOD"):
        return core.DistributedContext.from_horovod(_start_horovod())
    if os.environ.get("USE_DEEPSPEED"):
        return core.DistributedContext.from_deepspeed()
    if os.environ.get("USE_TORCH_DISTRIBUTED"):
        join_process_group()
        return core.DistributedContext.from_torch_distributed()
    info = get_cluster_info()
    if info is None and is_one_of_torchruns():
        join_process_group()
        return core.DistributedContext.from_torch_distributed()
    refuse_several_slots(info)
    return None


def is_one_of_torchruns() -> bool:
    return all(os.environ.get(name) for name in _GROUP) and int(os.environ["WORLD_SIZE"]) > 1


def stop_backend() -> None:
    """Stop what was started here; a process group that user code made stays."""
    global _group_is_ours, _horovod
    if _group_is_ours and dist.is_initialized():
        dist.destroy_process_group()
    if _horovod is not None:
        _horovod.shutdown()
    _group_is_ours, _horovod = False, None


def join_process_group() -> None:
    """Have torch's process group, from the variables of a launcher where nobody made it before.

    Raises:
        InvalidExperimentException: there are no such variables.
    """
    global _group_is_ours
    if dist.is_initialized():
        return
    missing = [name for name in _GROUP if name not in os.environ]
    if missing:
        raise InvalidExperimentException(
            f"several ranks train together but {', '.join(missing)} not set; start the script with torchrun or "
            f"{_LAUNCHER}, or call torch.distributed.init_process_group before pytorch.init"
        )
    if torch.cuda.is_available():
        device = torch.device("cuda", int(os.environ.get("LOCAL_RANK", "0")))
        torch.cuda.set_device(device)
        dist.init_process_group("nccl", device_id=device)
    else:
        dist.init_process_group("gloo")
    _group_is_ours = True


def device_of(distributed: core.DistributedContext, num_gpus: int) -> torch.device:
    """Return where this rank computes."""
    if num_gpus < 1 or not torch.cuda.is_available():
        return torch.device("cpu")
    if distributed.size == 1:
        return torch.device("cuda", 0)
    device = torch.device("cuda", distributed.local_rank)
    torch.cuda.set_device(device)
    return device


def place(model: nn.Module, device: torch.device, memory_format: torch.memory_format | None) -> nn.Module:
    """The model on its device, its weights laid out as asked."""
    if memory_format is not None:
        model = model.to(memory_format=memory_format)  # type: ignore[call-overload]
    return model if is_sharded(model) else model.to(device)


def laid_out(data: Any, memory_format: torch.memory_format) -> Any:
    """A batch whose images (tensors of four dimensions and real numbers) are laid out as the model's weights are."""
    if isinstance(data, torch.Tensor):
        is_image = data.dim() == 4 and data.is_floating_point()
        return data.to(memory_format=memory_format) if is_image else data
    if type(data) is dict:
        return {name: laid_out(value, memory_format) for name, value in data.items()}
    if type(data) in (list, tuple):
        return type(data)([laid_out(value, memory_format) for value in data])
    return data


def spread(
    model: nn.Module,
    distributed: core.DistributedContext,
    device: torch.device,
    *,
    shard: bool | tuple[type, ...],
    ddp: JsonObject,
) -> nn.Module:
    """The model as one of the copies or shards that all ranks train together. One rank alone gets it as it is."""
    if distributed.size == 1 or is_sharded(model):
        return model
    if _horovod is not None:
        _refuse_horovod_shards(shard)
        _horovod.broadcast_parameters(bare(model).state_dict(), root_rank=0)
        return model
    join_process_group()
    if shard:
        _shard(bare(model), device, shard if isinstance(shard, tuple) else ())
        return model
    if not any(parameter.requires_grad for parameter in model.parameters()):
        return model  # nothing to exchange, and DDP refuses such models
    return DistributedModel(model, device_ids=[device] if device.type == "cuda" else None, **ddp)


def compiled(model: nn.Module, options: bool | JsonObject) -> nn.Module:
    """The model through torch.compile, with its options if there are any."""
    if options is False:
        return model
    made: Any = torch.compile(model, **({} if options is True else options))
    return made  # type: ignore[no-any-return]


class DistributedModel(DistributedDataParallel):
    """DDP that shows the attributes and methods of the model inside."""

    def __getattr__(self, name: str) -> Any:
        try:
            return super().__getattr__(name)
        except AttributeError:
            if name == "module":
                raise  # not built yet: looking inside would come back here
            return getattr(self.module, name)


def bare(model: nn.Module) -> nn.Module:
    """The user's own model inside DDP and torch.compile: its state has no `module.` or `_orig_mod.` in its names."""
    while True:
        inner = model.module if isinstance(model, DistributedDataParallel) else model._modules.get("_orig_mod")
        if not isinstance(inner, nn.Module):
            return model
        model = inner


def is_sharded(model: nn.Module) -> bool:
    """Return whether FSDP2 has spread the parameters over the ranks."""
    return any(is_shard(module) for module in model.modules())


def is_shard(module: nn.Module) -> bool:
    """Return whether `fully_shard` was called on this very module. FSDP2 takes a second to import: who never did has
    none."""
    fsdp = sys.modules.get("torch.distributed.fsdp")
    return fsdp is not None and isinstance(module, fsdp.FSDPModule)


def exchanging(model: nn.Module) -> list[nn.Module]:
    """The modules, as wrapped, whose backward pass exchanges gradients with other ranks."""
    if is_sharded(model):
        return [bare(model)]
    return [module for module in model.modules() if isinstance(module, DistributedDataParallel)]


def exchange_gradients(model: nn.Module, is_on: bool) -> None:
    """Set whether passes that begin now exchange gradients: what DDP calls no_sync, over forward and backward
    alike."""
    if isinstance(model, DistributedDataParallel):
        model.require_backward_grad_sync = is_on
        return
    for module in model.modules():
        if is_shard(module):
            cast(Any, module).set_requires_gradient_sync(is_on, recurse=False)


def spread_optimizer(
    optimizer: torch.optim.Optimizer, models: list[nn.Module], *, number: int, passes: int, compress: bool
) -> torch.optim.Optimizer:
    """The optimizer as one of those that all ranks step together.

    Args:
        optimizer: of parameters of `models`.
        models: as wrapped so far.
        number: keeps several optimizers apart.
        passes: backward passes between two steps.
        compress: exchange gradients in half precision.
    """
    if _horovod is not None:
        return _horovod_optimizer(optimizer, number, passes, compress)
    if any(is_sharded(model) for model in models):
        _refuse_stale(optimizer, models)
    if compress:
        _compress(models, {id(parameter) for parameter in parameters_of(optimizer)})
    return optimizer


def parameters_of(optimizer: torch.optim.Optimizer) -> list[nn.Parameter]:
    return [parameter for group in optimizer.param_groups for parameter in group["params"]]


def can_read_gradients(models: list[nn.Module]) -> bool:
    """Return whether the gradients each rank has collected can be read: FSDP2 keeps them to itself until it exchanges
    them."""
    return dist.is_initialized() and all(isinstance(model, DistributedDataParallel) for model in models)


def is_horovod_optimizer(optimizer: object) -> bool:
    return _horovod is not None and hasattr(optimizer, "skip_synchronize")


_COMPRESSED = "_determined_compressed"
_group_is_ours = False
_horovod: Any = None


def _start_horovod() -> ModuleType:
    global _horovod
    module = _horovod = load_optional("horovod.torch", extra="horovod")
    module.init()
    return module


def refuse_several_slots(info: ClusterInfo | None, launcher: str = _LAUNCHER) -> None:
    """Raise ValueError in a trial of several slots: this process was started without a launcher."""
    info = trial_of(info)
    if info is None:
        return
    slots = sum(info.container_slot_counts)
    if slots > 1 or len(info.container_addrs) > 1:
        raise ValueError(
            f"this trial has {slots} slots on {len(info.container_addrs)} node(s), but its script was started without "
            f"a launcher; make the entrypoint `{launcher} python3 train.py`, or set resources.slots_per_trial: 1"
        )


def _refuse_horovod_shards(shard: bool | tuple[type, ...]) -> None:
    if shard:
        raise InvalidExperimentException(
            f"wrap_model(shard={shard!r}) needs torch's own ranks, not horovod's; start the script with {_LAUNCHER}"
        )


def _shard(model: nn.Module, device: torch.device, classes: tuple[type, ...]) -> None:
    """Inner modules first; the root takes the parameters that are left."""
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.fsdp import fully_shard

    for tensor in (*model.parameters(), *model.buffers()):
        dist.broadcast(tensor.detach(), src=0)  # every rank keeps its part of the chief's weights
    mesh = init_device_mesh(device.type, (dist.get_world_size(),))
    inner = [module for module in model.modules() if isinstance(module, classes) and module is not model]
    for module in reversed(inner):
        fully_shard(module, mesh=mesh)
    fully_shard(model, mesh=mesh)


def _horovod_optimizer(
    optimizer: torch.optim.Optimizer, number: int, passes: int, compress: bool
) -> torch.optim.Optimizer:
    parameters = enumerate(parameters_of(optimizer))
    made: torch.optim.Optimizer = _horovod.DistributedOptimizer(
        optimizer,
        named_parameters=[(f"optimizer{number}.{at}", parameter) for at, parameter in parameters],
        backward_passes_per_step=passes,
        compression=_horovod.Compression.fp16 if compress else _horovod.Compression.none,
    )
    return made


def _refuse_stale(optimizer: torch.optim.Optimizer, models: list[nn.Module]) -> None:
    """Sharding replaces a model's parameters: an optimizer of the old ones would train nothing."""
    current = {id(parameter) for model in models for parameter in model.parameters()}
    if any(id(parameter) not in current for parameter in parameters_of(optimizer)):
        raise InvalidExperimentException(
            "wrap_optimizer got parameters that no wrapped model has; make the optimizer from the model that "
            "wrap_model(shard=...) returned"
        )


def _compress(models: list[nn.Module], parameters: set[int]) -> None:
    from torch.distributed.algorithms.ddp_comm_hooks.default_hooks import fp16_compress_hook

    for ddp in (module for model in models for module in exchanging(model)):
        if not isinstance(ddp, DistributedDataParallel) or hasattr(ddp, _COMPRESSED):
            continue
        if any(id(parameter) in parameters for parameter in ddp.parameters()):
            ddp.register_comm_hook(None, fp16_compress_hook)
            setattr(ddp, _COMPRESSED, True)
