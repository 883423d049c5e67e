"""backward and step_optimizer: the plain loop's results, aggregation, clipping, and what is refused."""

import copy
import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from made_context import made_context

from determined.errors import InvalidExperimentException


def _data(batches: int, size: int = 4) -> list[tuple[torch.Tensor, torch.Tensor]]:
    generator = torch.Generator().manual_seed(3)
    xs = torch.randn(batches, size, 3, generator=generator)
    return [(x, x.sum(dim=1, keepdim=True)) for x in xs]


def _net() -> torch.nn.Module:
    torch.manual_seed(5)
    return torch.nn.Sequential(torch.nn.Linear(3, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))


def _train(context: Any, data: list[tuple[torch.Tensor, torch.Tensor]], **options: Any) -> list[torch.Tensor]:
    model = context.wrap_model(_net())
    wrapping = {name: options.pop(name) for name in ("average_aggregated_gradients",) if name in options}
    optimizer = context.wrap_optimizer(torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9), **wrapping)
    for index, (x, y) in enumerate(data):
        context._before_batch(index)
        context.backward(torch.nn.functional.mse_loss(model(x), y))
        context.step_optimizer(optimizer, **options)
        context._after_batch()
    return [parameter.detach().clone() for parameter in model.parameters()]


def _by_hand(
    data: list[tuple[torch.Tensor, torch.Tensor]], clip: Callable[[list[Any]], Any] | None = None
) -> list[torch.Tensor]:
    model = _net()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    for x, y in data:
        torch.nn.functional.mse_loss(model(x), y).backward()
        if clip is not None:
            clip(list(model.parameters()))
        optimizer.step()
        optimizer.zero_grad()
    return [parameter.detach().clone() for parameter in model.parameters()]


def _same(ours: list[torch.Tensor], theirs: list[torch.Tensor]) -> bool:
    return all(torch.equal(a, b) for a, b in zip(ours, theirs, strict=True))


def _close(ours: list[torch.Tensor], theirs: list[torch.Tensor]) -> bool:
    return all(torch.allclose(a, b, atol=1e-6) for a, b in zip(ours, theirs, strict=True))


def test_training_is_bit_equal_to_the_plain_loop(tmp_path: Path) -> None:
    assert _same(_train(made_context(tmp_path), _data(6)), _by_hand(_data(6)))


def test_aggregation_over_four_batches_equals_a_batch_of_four_times_the_size(tmp_path: Path) -> None:
    data = _data(8)
    large = [tuple(torch.cat(parts) for parts in zip(*data[at : at + 4], strict=True)) for at in (0, 4)]
    ours = _train(made_context(tmp_path, aggregation_frequency=4), data)
    assert _close(ours, _by_hand(large))  # type: ignore[arg-type]
    assert not _close(ours, _by_hand(data))


def test_aggregated_gradients_may_be_summed(tmp_path: Path) -> None:
    data = _data(4)
    large = [tuple(torch.cat(parts) for parts in zip(*data, strict=True))]
    summed = _by_hand(large, clip=lambda parameters: [p.grad.mul_(4) for p in parameters])  # type: ignore[arg-type]
    by_config = made_context(tmp_path, aggregation_frequency=4, average_aggregated_gradients=False)
    assert _close(_train(by_config, data), summed)
    by_optimizer = made_context(tmp_path, aggregation_frequency=4)
    assert _close(_train(by_optimizer, data, average_aggregated_gradients=False), summed)


def _stepping(context: Any, model: Any, optimizer: torch.optim.Optimizer, batches: range) -> list[int]:
    """The batches on which the optimizer stepped."""
    stepped: list[int] = []
    optimizer.register_step_pre_hook(lambda *_: stepped.append(context._current_batch_idx))
    for batch in batches:
        context._before_batch(batch)
        context.backward(model(torch.ones(1, 3)).sum())
        context.step_optimizer(optimizer)
    return stepped


def test_only_every_nth_batch_steps(tmp_path: Path) -> None:
    context = made_context(tmp_path, aggregation_frequency=3)
    model = context.wrap_model(_net())
    optimizer = context.wrap_optimizer(torch.optim.SGD(model.parameters(), lr=0.1))
    assert _stepping(context, model, optimizer, range(8)) == [2, 5]


def test_aggregation_goes_on_in_the_middle_after_a_restart(tmp_path: Path) -> None:
    context = made_context(tmp_path, aggregation_frequency=2)
    model = context.wrap_model(_net())
    optimizer = context.wrap_optimizer(torch.optim.SGD(model.parameters(), lr=0.1))
    assert _stepping(context, model, optimizer, range(5, 8)) == [5, 7]


def test_gradients_collected_before_a_pause_are_not_lost(tmp_path: Path) -> None:
    data = _data(8)
    whole = made_context(tmp_path, aggregation_frequency=4)
    expected = _train(whole, data)

    first = made_context(tmp_path, aggregation_frequency=4)
    _train(first, data[:6])
    pending = copy.deepcopy(first._gradients.pending(first.optimizers, 1))
    second = made_context(tmp_path, aggregation_frequency=4)
    model = second.wrap_model(first.models[0])
    optimizer = second.wrap_optimizer(torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9))
    optimizer.load_state_dict(first.optimizers[0].state_dict())
    optimizer.zero_grad()
    second._gradients.put_back(second.optimizers, pending)
    assert second._gradients.pending(second.optimizers, 1) is not None
    for index, (x, y) in list(enumerate(data))[6:]:
        second._before_batch(index)
        second.backward(torch.nn.functional.mse_loss(model(x), y))
        second.step_optimizer(optimizer)
    assert _same([p.detach() for p in model.parameters()], expected)
    assert second._gradients.pending(second.optimizers, 1) is None


def test_gradients_are_clipped_before_the_step(tmp_path: Path) -> None:
    seen: list[int] = []

    def clip(parameters: list[Any]) -> None:
        seen.append(len(parameters))
        torch.nn.utils.clip_grad_norm_(parameters, 0.01)

    ours = _train(made_context(tmp_path), _data(3), clip_grads=clip)
    assert _same(ours, _by_hand(_data(3), clip))
    assert seen[:3] == [4, 4, 4]


def test_aggregated_gradients_are_averaged_before_they_are_clipped(tmp_path: Path) -> None:
    norms: list[float] = []
    context = made_context(tmp_path, aggregation_frequency=2)
    x, y = _data(1)[0]
    _train(context, [(x, y), (x, y)], clip_grads=lambda p: norms.append(torch.nn.utils.clip_grad_norm_(p, 1e9).item()))
    alone: list[float] = []
    _by_hand([(x, y)], clip=lambda p: alone.append(torch.nn.utils.clip_grad_norm_(p, 1e9).item()))
    assert norms == pytest.approx(alone)


def test_gradients_stay_when_the_trial_zeroes_them_itself(tmp_path: Path) -> None:
    context = made_context(tmp_path)
    model = context.wrap_model(_net())
    optimizer = context.wrap_optimizer(torch.optim.SGD(model.parameters(), lr=0.1))
    context.backward(model(torch.ones(1, 3)).sum())
    context.step_optimizer(optimizer, auto_zero_grads=False)
    assert all(parameter.grad is not None for parameter in model.parameters())
    context.step_optimizer(optimizer)
    assert all(parameter.grad is None for parameter in model.parameters())


def test_aggregation_needs_gradients_to_be_zeroed(tmp_path: Path) -> None:
    context = made_context(tmp_path, aggregation_frequency=2)
    with pytest.raises(InvalidExperimentException, match=r"auto_zero_grads=False\) with aggregation_frequency=2"):
        _train(context, _data(1), auto_zero_grads=False)


def test_the_graph_may_be_kept_and_a_gradient_given(tmp_path: Path) -> None:
    context = made_context(tmp_path)
    x = torch.ones(2, requires_grad=True)
    y = x * x
    context.backward(y, torch.tensor([1.0, 3.0]), retain_graph=True)
    context.backward(y, gradient=torch.ones(2))
    assert x.grad is not None
    assert x.grad.tolist() == [4.0, 8.0]


def test_a_scaler_of_the_trial_makes_the_step(tmp_path: Path) -> None:
    context = made_context(tmp_path)
    scaler = context.wrap_scaler(torch.amp.GradScaler("cpu", init_scale=4.0))
    assert context._scaler is scaler
    model = context.wrap_model(_net())
    optimizer = context.wrap_optimizer(torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9))
    for x, y in _data(3):
        context.backward(scaler.scale(torch.nn.functional.mse_loss(model(x), y)))
        context.step_optimizer(optimizer, scaler=scaler)
        scaler.update()
        context._after_batch()
    assert _same([p.detach() for p in model.parameters()], _by_hand(_data(3)))


def test_an_optimizer_that_was_not_wrapped_steps_with_one_warning(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    context = made_context(tmp_path)
    model = context.wrap_model(_net())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    before = copy.deepcopy(list(model.parameters()))
    with caplog.at_level(logging.WARNING):
        for _ in range(2):
            context.backward(model(torch.ones(1, 3)).sum())
            context.step_optimizer(optimizer)
    assert not torch.equal(before[0], next(iter(model.parameters())))
    assert caplog.text.count("context.wrap_optimizer") == 1
    with pytest.raises(TypeError, match="step_optimizer got a str"):
        context.step_optimizer("adam")
