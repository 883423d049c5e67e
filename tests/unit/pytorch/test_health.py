"""What is said of a training that learns nothing, and of errors in torch's own words."""

import logging
import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

from determined import pytorch
from determined.pytorch._health import Health, advice, explained


def optimizer(model: torch.nn.Module) -> torch.optim.Optimizer:
    return torch.optim.SGD(model.parameters(), lr=0.1)


def health(*optimizers: torch.optim.Optimizer, every: int = 1) -> Health:
    chief = SimpleNamespace(rank=0)
    context: Any = SimpleNamespace(optimizers=list(optimizers), _aggregation_frequency=every, distributed=chief)
    return Health(context)


def learn(model: torch.nn.Module, opt: torch.optim.Optimizer) -> None:
    opt.zero_grad()
    model(torch.ones(1, 2)).sum().backward()
    opt.step()


@pytest.fixture
def model() -> torch.nn.Module:
    return torch.nn.Linear(2, 1)


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf, np.float32("nan")])
def test_metric_that_is_no_number_is_named_once_with_its_batch_and_a_way_out(
    caplog: pytest.LogCaptureFixture, bad: Any
) -> None:
    watched = health()
    watched.look(100, {"loss": 1.0}, [{"loss": 1.0}] * 100)
    watched.look(103, {"acc": 0.5, "loss": bad}, [{"loss": 1.0}, {"loss": bad}, {"loss": bad}])
    watched.look(106, {"acc": bad, "loss": bad}, [{"loss": bad}] * 3)
    (record,) = caplog.records
    assert record.levelno == logging.WARNING
    text = record.getMessage()
    assert text.startswith(f"training metric 'loss' is {bad} in batch 101;")
    assert all(word in text for word in ("set_detect_anomaly", "learning rate", "clip_grads", "GradScaler"))


def test_metric_without_a_form_per_batch_is_named_with_the_batches_between(caplog: pytest.LogCaptureFixture) -> None:
    watched = health()
    watched.look(50, {"f1": 0.2})
    watched.look(100, {"f1": math.nan})
    assert "'f1' is nan between batches 50 and 100" in caplog.text


def test_values_that_are_not_numbers_are_let_be(caplog: pytest.LogCaptureFixture) -> None:
    health().look(1, {"a": None, "b": "nan", "c": [math.nan], "d": True, "e": torch.tensor([1.0, 2.0])})
    assert caplog.text == ""


def test_optimizer_that_never_steps_is_warned_of_once(caplog: pytest.LogCaptureFixture, model: torch.nn.Module) -> None:
    watched = health(optimizer(model))
    for done in (10, 20):
        watched.look(done, {"loss": 1.0}, [{"loss": 1.0}] * 10)
    (record,) = caplog.records
    assert "no optimizer has stepped in the first 10 batches" in record.getMessage()
    assert "step_optimizer(optimizer) in train_batch" in record.getMessage()


def test_chunk_shorter_than_the_aggregation_is_too_early_to_tell(
    caplog: pytest.LogCaptureFixture, model: torch.nn.Module
) -> None:
    opt = optimizer(model)
    watched = health(opt, every=4)
    watched.look(2, {"loss": 1.0}, [{"loss": 1.0}] * 2)
    learn(model, opt)
    watched.look(4, {"loss": 1.0}, [{"loss": 1.0}] * 2)
    assert caplog.text == ""


def test_step_without_gradients_is_warned_of(caplog: pytest.LogCaptureFixture, model: torch.nn.Module) -> None:
    opt, other = optimizer(model), torch.optim.Adam(torch.nn.Linear(2, 1).parameters())
    watched = health(opt, other)
    learn(model, opt)
    other.step()
    for done in (1, 2):
        watched.look(done, {"loss": 1.0}, [{"loss": 1.0}])
    (record,) = caplog.records
    assert "optimizer 1 (Adam) stepped, but none of its parameters had a gradient" in record.getMessage()
    assert "self.context.backward(loss)" in record.getMessage()


def test_healthy_steps_leave_no_hook_and_no_word(caplog: pytest.LogCaptureFixture, model: torch.nn.Module) -> None:
    opt, users = optimizer(model), []
    watched = health(opt)
    opt.register_step_pre_hook(lambda *_: users.append("called"))
    learn(model, opt)
    watched.look(1, {"loss": 1.0}, [{"loss": 1.0}])
    learn(model, opt)
    assert (caplog.text, users) == ("", ["called", "called"])
    assert len(opt._optimizer_step_pre_hooks) == 1


def test_closure_makes_its_gradients_inside_the_step(caplog: pytest.LogCaptureFixture, model: torch.nn.Module) -> None:
    opt = torch.optim.LBFGS(model.parameters())
    watched = health(opt)

    def closure() -> float:
        opt.zero_grad()
        loss = model(torch.ones(1, 2)).pow(2).sum()
        loss.backward()
        return loss.item()

    opt.step(closure)
    watched.look(1, {"loss": 1.0}, [{"loss": 1.0}])
    assert caplog.text == ""


class _Lookahead(torch.optim.Optimizer):
    """Wraps another, and never calls Optimizer.__init__."""

    def __init__(self, inner: torch.optim.Optimizer) -> None:
        self.inner, self.param_groups, self.state = inner, inner.param_groups, inner.state

    def step(self, closure: Any = None) -> Any:
        return None  # does not step the inner one every time


def test_optimizer_that_torch_keeps_no_hooks_for_is_not_judged(
    caplog: pytest.LogCaptureFixture, model: torch.nn.Module
) -> None:
    idle, other = _Lookahead(optimizer(model)), optimizer(torch.nn.Linear(2, 1))
    watched = health(idle, other)
    watched.look(10, {"loss": 1.0}, [{"loss": 1.0}] * 10)
    assert caplog.text == ""
    other.step()
    watched.look(11, {"loss": 1.0}, [{"loss": 1.0}])
    assert "optimizer 1 (SGD) stepped, but none of its parameters had a gradient" in caplog.text


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (torch.OutOfMemoryError("CUDA out of memory. Tried to allocate"), ["global_batch_size", "aggregation", "amp"]),
        (RuntimeError("CUDA error: out of memory"), ["global_batch_size"]),
        (MemoryError(), ["num_workers", "on the host"]),
        (RuntimeError("[enforce fail] DefaultCPUAllocator: can't allocate memory: you tried"), ["on the host"]),
    ],
)
def test_lack_of_memory_carries_advice(error: Exception, words: list[str]) -> None:
    with pytest.raises(type(error)) as raised, explained(), explained():
        raise error
    (note,) = raised.value.__notes__
    assert all(word in note for word in words)


def test_real_lack_of_host_memory_is_recognised() -> None:
    with pytest.raises(RuntimeError) as raised, explained():
        torch.empty(2**55, dtype=torch.uint8)
    assert "out of memory on the host" in raised.value.__notes__[0]


def test_loss_without_a_graph_is_explained() -> None:
    with pytest.raises(RuntimeError) as raised, explained():
        torch.tensor(1.0).backward()
    assert "train_batch" in raised.value.__notes__[0]


def test_other_errors_pass_as_they_are() -> None:
    error = RuntimeError("shapes differ")
    with pytest.raises(RuntimeError), explained():
        raise error
    assert (advice(error), hasattr(error, "__notes__")) == (None, False)


def test_trainer_off_cluster_gives_the_advice_with_the_error() -> None:
    with pytest.raises(torch.OutOfMemoryError) as raised, pytorch.init(hparams={}):
        raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 20.00 GiB")
    assert "lower hyperparameters.global_batch_size" in raised.value.__notes__[0]
