"""What two ranks do for test_parallel: everything in one pair of processes, because starting them takes longest."""

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from made_context import made_context
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import FSDPModule, fully_shard
from torch.distributed.tensor import DTensor

from determined.errors import InvalidExperimentException
from determined.pytorch import _parallel

BATCHES, SIZE = 8, 4


class Block(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(8, 8)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + torch.tanh(self.layer(x))


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first, self.blocks, self.last = nn.Linear(3, 8), nn.ModuleList([Block(), Block()]), nn.Linear(8, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.first(x)
        for block in self.blocks:
            x = block(x)
        result: torch.Tensor = self.last(x)
        return result

    def own_method(self) -> str:
        return "own"


def net(seed: int = 5) -> Net:
    torch.manual_seed(seed)
    return Net()


def data(rank: int) -> list[tuple[torch.Tensor, torch.Tensor]]:
    """Batches of one rank; those of both together are what one process trains on."""
    xs = torch.randn(2, BATCHES, SIZE, 3, generator=torch.Generator().manual_seed(3))
    return [(x, x.sum(dim=1, keepdim=True)) for x in xs[rank]]


def everything(directory: Path) -> dict[str, Any]:
    with _parallel.backend(None, None) as distributed:
        assert distributed is not None
        results = {job.__name__: job(distributed, directory) for job in JOBS}
        results["backend"] = (dist.get_backend(), distributed.size, distributed.rank)
        distributed.close()
    results["is_stopped"] = not dist.is_initialized()
    return results


def ddp(distributed: Any, directory: Path) -> Any:
    return _trained(made_context(directory, distributed), distributed.rank)


def ddp_begins_with_the_chiefs_weights(distributed: Any, directory: Path) -> Any:
    return _trained(made_context(directory, distributed), distributed.rank, net(seed=5 + distributed.rank))


def aggregated(distributed: Any, directory: Path) -> Any:
    return _trained(made_context(directory, distributed, aggregation_frequency=4), distributed.rank)


def clipped(distributed: Any, directory: Path) -> Any:
    return _trained(made_context(directory, distributed), distributed.rank, clip=_clip)


def compiled(distributed: Any, directory: Path) -> Any:
    context = made_context(directory, distributed, aggregation_frequency=4)
    return _trained(context, distributed.rank, compile={"backend": "eager"})


def in_bfloat16(distributed: Any, directory: Path) -> Any:
    context = made_context(directory, distributed)
    context.experimental.use_amp(torch.bfloat16)
    return _trained(context, distributed.rank)


def compressed(distributed: Any, directory: Path) -> Any:
    return _trained(made_context(directory, distributed, gradient_compression=True), distributed.rank)


def sharded(distributed: Any, directory: Path) -> Any:
    return _trained(made_context(directory, distributed), distributed.rank, shard=(Block,))


def sharded_begins_with_the_chiefs_weights(distributed: Any, directory: Path) -> Any:
    model = net(seed=5 + distributed.rank)
    return _trained(made_context(directory, distributed), distributed.rank, model, shard=True)


def sharded_aggregated(distributed: Any, directory: Path) -> Any:
    context = made_context(directory, distributed, aggregation_frequency=4)
    return _trained(context, distributed.rank, shard=(Block,), compile={"backend": "eager"})


def sharded_clipped(distributed: Any, directory: Path) -> Any:
    return _trained(made_context(directory, distributed), distributed.rank, clip=_clip, shard=True)


def sharded_by_the_user(distributed: Any, directory: Path) -> Any:
    model = net()
    fully_shard(model, mesh=init_device_mesh("cpu", (distributed.size,)))
    return _trained(made_context(directory, distributed), distributed.rank, model)


def gradients_of_a_batch_that_does_not_step(distributed: Any, directory: Path) -> list[float]:
    context = made_context(directory, distributed, aggregation_frequency=2)
    model = context.wrap_model(net())
    context.wrap_optimizer(torch.optim.SGD(model.parameters(), lr=0.1))
    context._before_batch(0)
    x, y = data(distributed.rank)[0]
    context.backward(nn.functional.mse_loss(model(x), y))
    return [p.grad.norm().item() for p in model.parameters()]


def resumed_between_steps(distributed: Any, directory: Path) -> Any:
    """As `aggregated`, with a new context in the middle of an aggregation."""
    first = made_context(directory, distributed, aggregation_frequency=4)
    _trained(first, distributed.rank, until=6)
    pending = first._gradients.pending(first.optimizers, distributed.size)
    second = made_context(directory, distributed, aggregation_frequency=4)
    model = second.wrap_model(copy.deepcopy(first._bare(first.models[0])))
    optimizer = second.wrap_optimizer(torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9))
    optimizer.load_state_dict(first.optimizers[0].state_dict())
    second._gradients.put_back(second.optimizers, pending)
    return _train(second, distributed.rank, model, optimizer, range(6, BATCHES))


def pending_of_shards(distributed: Any, directory: Path) -> Any:
    context = made_context(directory, distributed, aggregation_frequency=4)
    _trained(context, distributed.rank, until=6, shard=True)
    return context._gradients.pending(context.optimizers, distributed.size)


def shapes(distributed: Any, directory: Path) -> dict[str, Any]:
    """Return what is put around models, and what of them is still seen."""
    context = made_context(directory, distributed)
    model = context.wrap_model(net(), ddp={"find_unused_parameters": True})
    frozen = context.wrap_model(net().requires_grad_(False))
    both = context.wrap_model(net(), compile={"backend": "eager"})
    parts = made_context(directory, distributed).wrap_model(net(), shard=(Block,))
    return {
        "ddp": (type(model).__name__, model.own_method(), model.find_unused_parameters),
        "frozen": type(frozen).__name__,
        "compiled": (type(both).__name__, type(context._bare(both)).__name__, both.own_method()),
        "names": set(context._bare(both).state_dict()) == set(net().state_dict()),
        "missing": hasattr(model, "no_such_attribute"),
        "sharded": [name for name, module in parts.named_modules() if isinstance(module, FSDPModule)],
        "local": sum(p.to_local().numel() for p in parts.parameters() if isinstance(p, DTensor)),
        "all": sum(p.numel() for p in net().parameters()),
    }


def stale_optimizer(distributed: Any, directory: Path) -> str:
    context = made_context(directory, distributed)
    model = net()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    context.wrap_model(model, shard=True)
    try:
        context.wrap_optimizer(optimizer)
    except InvalidExperimentException as err:
        return str(err)
    return "accepted"


JOBS = (
    ddp,
    ddp_begins_with_the_chiefs_weights,
    aggregated,
    clipped,
    compiled,
    in_bfloat16,
    compressed,
    sharded,
    sharded_begins_with_the_chiefs_weights,
    sharded_aggregated,
    sharded_clipped,
    sharded_by_the_user,
    gradients_of_a_batch_that_does_not_step,
    resumed_between_steps,
    pending_of_shards,
    shapes,
    stale_optimizer,
)


def _trained(
    context: Any, rank: int, model: nn.Module | None = None, clip: Any = None, until: int = BATCHES, **wrapping: Any
) -> Any:
    model = context.wrap_model(model or net(), **wrapping)
    optimizer = context.wrap_optimizer(torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9))
    return _train(context, rank, model, optimizer, range(until), clip)


def _train(context: Any, rank: int, model: nn.Module, optimizer: Any, batches: range, clip: Any = None) -> Any:
    everything = data(rank)
    for index in batches:
        x, y = everything[index]
        context._before_batch(index)
        context.backward(nn.functional.mse_loss(model(x), y))
        context.step_optimizer(optimizer, clip_grads=clip)
        context._after_batch()
    return [_whole(value) for value in context._bare(model).state_dict().values()]


def _whole(value: torch.Tensor) -> Any:
    return (value.full_tensor() if isinstance(value, DTensor) else value).detach().clone().numpy()


def _clip(parameters: Any) -> None:
    nn.utils.clip_grad_norm_(parameters, 0.05)


def trained_alone(*, every: int = 1, clip: Any = None) -> Any:
    """The plain loop of one process on the data of both ranks; `every` batches at once."""
    batches = list(zip(data(0), data(1), strict=True))

    def gradients(model: nn.Module, at: int) -> None:
        pairs = [pair for both in batches[at : at + every] for pair in both]
        x, y = (torch.cat([pair[part] for pair in pairs]) for part in (0, 1))
        nn.functional.mse_loss(model(x), y).backward()
        if clip is not None:
            clip(model.parameters())

    return _loop(gradients, every)


def trained_alone_in_bfloat16() -> Any:
    """One rank's data after the other's, as rounding is each rank's own."""
    batches = list(zip(data(0), data(1), strict=True))

    def gradients(model: nn.Module, at: int) -> None:
        for x, y in batches[at]:
            with torch.autocast("cpu", torch.bfloat16):
                output = model(x)
            (nn.functional.mse_loss(output.float(), y) / 2).backward()

    return _loop(gradients, 1)


def _loop(gradients: Callable[[nn.Module, int], None], every: int) -> Any:
    model = net()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    for at in range(0, BATCHES, every):
        gradients(model, at)
        optimizer.step()
        optimizer.zero_grad()
    return [value.detach().numpy() for value in model.state_dict().values()]
