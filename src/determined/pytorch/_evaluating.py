"""Evaluation mode: models without dropout, gradients, and without exchanges that would need every rank to run as many
forward passes as the others."""

import contextlib
from collections.abc import Iterator, Sequence
from typing import Any

import torch
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from determined.pytorch._parallel import is_shard
from determined.pytorch._state import restore_rng, take_rng


@contextlib.contextmanager
def evaluating(models: Sequence[nn.Module], *, in_step: bool) -> Iterator[None]:
    """Models are in evaluation mode within the block and in training mode afterwards. All ranks must enter it.

    Random numbers are put back at the end: a trial that was paused before a validation trains on as one that was not.

    Args:
        models: as they were wrapped.
        in_step: every rank will run the same number of forward passes. If not, sharded parameters are gathered for
            the whole block, which takes the memory of the whole model.
    """
    with torch.no_grad(), contextlib.ExitStack() as at_the_end:
        at_the_end.callback(restore_rng, take_rng())
        for model in models:
            at_the_end.callback(model.train)
            model.eval()
        for part in _parts(models):
            at_the_end.enter_context(_quiet(part, in_step))
        yield


def _quiet(part: nn.Module, in_step: bool) -> contextlib.AbstractContextManager[None]:
    if isinstance(part, DistributedDataParallel):
        return _buffers_of_rank_0(part)
    return _gathered(part) if is_shard(part) and not in_step else contextlib.nullcontext()


def _parts(models: Sequence[nn.Module]) -> list[nn.Module]:
    return list(dict.fromkeys(part for model in models for part in model.modules()))


@contextlib.contextmanager
def _buffers_of_rank_0(model: DistributedDataParallel) -> Iterator[None]:
    """Buffers are exchanged here, at once; DDP would do so in its first forward pass, which a rank may not have."""
    if model.will_sync_module_buffers():  # type: ignore[no-untyped-call]
        model._sync_buffers()  # type: ignore[no-untyped-call]
    before, model.require_forward_param_sync = model.require_forward_param_sync, False
    try:
        yield
    finally:
        model.require_forward_param_sync = before


@contextlib.contextmanager
def _gathered(module: Any) -> Iterator[None]:
    """A module of FSDP2 with its whole parameters, which stay after a forward pass."""
    state = module._get_fsdp_state()
    state._lazy_init()  # a trial may validate before it trains
    groups = state._fsdp_param_groups
    after_forward = [group.post_forward_mesh_info for group in groups]
    for group in groups:
        group.post_forward_mesh_info = None
    module.unshard()
    try:
        yield
    finally:
        # The order of forward passes tells the next backward pass what to prefetch: it must be alike on all ranks.
        state._comm_ctx.post_forward_order.clear()
        for group, before in zip(groups, after_forward, strict=True):
            group.post_forward_mesh_info = before
            group._post_forward_indices.clear()
        module.reshard()
