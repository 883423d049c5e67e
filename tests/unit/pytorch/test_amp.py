"""Mixed precision: use_amp in float16 and bfloat16 on a CPU, a scaler of one's own, and their order."""

import collections
import copy
import dataclasses
import inspect
import sys
import types
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import torch
from made_context import made_context

from determined.errors import InvalidExperimentException
from determined.pytorch._amp import AutocastForward

Pair = collections.namedtuple("Pair", ["hidden", "number"])


class Net(torch.nn.Module):
    """Tells which type it computes in, and returns it in every structure."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = torch.nn.Linear(3, 1)
        self.computed: list[torch.dtype] = []

    def forward(self, x: torch.Tensor, scale: float = 1.0) -> Any:
        y = self.layer(x) * scale
        self.computed.append(y.dtype)
        return {"a": [y, (y,)], "b": Pair(y, 3), "c": torch.ones(1, dtype=torch.long)}


def test_bfloat16_is_computed_in_and_full_precision_returned(tmp_path: Path) -> None:
    context = made_context(tmp_path)
    context.experimental.use_amp()
    model = context.wrap_model(Net())
    output = model(torch.ones(2, 3), scale=2.0)
    assert model.computed == [torch.bfloat16]
    assert {output["a"][0].dtype, output["a"][1][0].dtype, output["b"].hidden.dtype} == {torch.float32}
    assert (output["b"].number, output["c"].dtype) == (3, torch.long)
    assert context._scaler is None


@dataclasses.dataclass(frozen=True, slots=True)
class Scores:
    logits: torch.Tensor
    count: int


@dataclasses.dataclass
class ModelOutput(collections.OrderedDict[str, Any]):
    """As Hugging Face's: items and attributes are the same, and `update` is forbidden."""

    logits: Any = None

    def __post_init__(self) -> None:
        self["logits"] = self.logits

    def __setitem__(self, key: str, value: Any) -> None:
        super().__setitem__(key, value)
        super().__setattr__(key, value)

    def update(self, *_arguments: Any, **_named: Any) -> None:
        raise TypeError("items are set one by one")

    def __reduce__(self) -> Any:
        return (ModelOutput, (self.logits,))


def test_full_precision_is_returned_in_mappings_and_dataclasses_of_any_kind() -> None:
    half = torch.ones(2, dtype=torch.bfloat16)
    given: dict[str, Any] = {
        "ordered": collections.OrderedDict(y=half),
        "default": collections.defaultdict(list, y=half),
        "user": collections.UserDict(y=half),
        "read-only": types.MappingProxyType({"y": half}),
        "model": ModelOutput(half),
        "scores": Scores(half, 3),
    }
    output = AutocastForward(lambda: given, "cpu", torch.bfloat16)()
    assert {name: type(value) for name, value in output.items()} == {name: type(given[name]) for name in given}
    inner = [output[name]["y"] for name in ("ordered", "default", "user", "read-only")]
    inner += [output["model"]["logits"], output["model"].logits, output["scores"].logits]
    assert {tensor.dtype for tensor in inner} == {torch.float32}
    assert output["scores"].count == 3
    assert output["default"]["other"] == []
    assert given["model"].logits.dtype is torch.bfloat16, "what the model keeps is left alone"


def test_a_model_that_is_not_trained_computes_as_it_is(tmp_path: Path) -> None:
    context = made_context(tmp_path, managed_training=False)
    context.experimental.use_amp()
    model = context.wrap_model(Net())
    model(torch.ones(2, 3))
    assert model.computed == [torch.float32]


def test_bfloat16_trains(tmp_path: Path) -> None:
    context = made_context(tmp_path)
    context.experimental.use_amp(torch.bfloat16)
    model = context.wrap_model(torch.nn.Linear(3, 1))
    optimizer = context.wrap_optimizer(torch.optim.SGD(model.parameters(), lr=0.1))
    x = torch.randn(32, 3, generator=torch.Generator().manual_seed(0))
    losses = []
    for batch in range(20):
        context._before_batch(batch)
        loss = (model(x) - x.sum(dim=1, keepdim=True)).square().mean()
        context.backward(loss)
        context.step_optimizer(optimizer)
        context._after_batch()
        losses.append(loss.item())
    assert losses[-1] < losses[0] / 10
    assert model.weight.dtype == torch.float32


def _train_in_float16(context: Any, every: int = 1, **options: Any) -> tuple[Any, Any]:
    context.experimental.use_amp(torch.float16)
    context._scaler.load_state_dict(torch.amp.GradScaler("cpu", init_scale=8.0).state_dict())
    model = context.wrap_model(torch.nn.Linear(3, 1))
    optimizer = context.wrap_optimizer(torch.optim.SGD(model.parameters(), lr=0.1))
    for batch in range(every):
        context._before_batch(batch)
        context.backward(model(torch.ones(2, 3)).mean())
        context.step_optimizer(optimizer, **options)
        context._after_batch()
    return model, optimizer


def test_float16_scales_the_loss_and_steps_by_the_true_gradient(tmp_path: Path) -> None:
    torch.manual_seed(1)
    plain = torch.nn.Linear(3, 1)
    torch.manual_seed(1)
    model, _ = _train_in_float16(made_context(tmp_path))
    assert torch.allclose(model.weight, plain.weight - 0.1)
    assert torch.allclose(model.bias, plain.bias - 0.1)


def test_float16_gradients_are_clipped_at_their_true_size(tmp_path: Path) -> None:
    norms = []
    clip = lambda p: norms.append(torch.nn.utils.clip_grad_norm_(p, 1e9).item())  # noqa: E731
    _train_in_float16(made_context(tmp_path), clip_grads=clip)
    assert norms == [pytest.approx(2.0)]  # three weights and a bias, each with gradient 1


def test_an_overflow_skips_the_step_and_lowers_the_scale(tmp_path: Path) -> None:
    context = made_context(tmp_path)
    model, optimizer = _train_in_float16(context)
    before, scale = copy.deepcopy(model.state_dict()), context._scaler.get_scale()
    context._before_batch(1)
    context.backward(model(torch.ones(2, 3)).mean() * float("inf"))
    context.step_optimizer(optimizer)
    context._after_batch()
    assert torch.equal(model.weight, before["weight"])
    assert context._scaler.get_scale() == scale / 2


def test_the_scale_is_updated_only_on_batches_that_step(tmp_path: Path) -> None:
    context = made_context(tmp_path, aggregation_frequency=4)
    _train_in_float16(context, every=7)
    assert context._scaler.state_dict()["_growth_tracker"] == 1


def test_a_batch_that_steps_nothing_leaves_the_scaler_alone(tmp_path: Path) -> None:
    context = made_context(tmp_path)
    _train_in_float16(context)
    context._before_batch(1)
    context._after_batch()
    assert context._scaler.state_dict()["_growth_tracker"] == 1


def test_a_copy_of_a_model_computes_with_its_own_weights(tmp_path: Path) -> None:
    context = made_context(tmp_path)
    context.experimental.use_amp()
    model = context.wrap_model(torch.nn.Linear(2, 1))
    averaged = copy.deepcopy(model)
    with torch.no_grad():
        averaged.weight.fill_(0.0)
        averaged.bias.fill_(5.0)
    assert averaged(torch.ones(1, 2)).item() == 5.0
    assert model(torch.ones(1, 2)).item() != 5.0


def test_a_compiled_model_computes_in_bfloat16_and_shows_its_signature(tmp_path: Path) -> None:
    context = made_context(tmp_path)
    context.experimental.use_amp(torch.bfloat16)
    model = context.wrap_model(torch.nn.Linear(3, 1), compile={"backend": "eager"})
    inner = context._bare(model)
    x = torch.randn(4, 3, generator=torch.Generator().manual_seed(0))
    expected = torch.nn.functional.linear(x.bfloat16(), inner.weight.bfloat16(), inner.bias.bfloat16()).float()
    assert torch.equal(model(x), expected)
    assert list(inspect.signature(inner.forward).parameters) == ["input"]


@pytest.mark.parametrize("first", ["use_amp", "wrap_scaler"])
@pytest.mark.parametrize("second", ["use_amp", "wrap_scaler"])
def test_mixed_precision_is_chosen_once(tmp_path: Path, first: str, second: str) -> None:
    context = made_context(tmp_path)
    calls = {
        "use_amp": lambda: context.experimental.use_amp(torch.bfloat16),
        "wrap_scaler": lambda: context.wrap_scaler(torch.amp.GradScaler("cpu")),
    }
    calls[first]()
    with pytest.raises(InvalidExperimentException, match=f"{second} was called after"):
        calls[second]()


def test_mixed_precision_is_chosen_before_models_are_wrapped(tmp_path: Path) -> None:
    context = made_context(tmp_path)
    context.wrap_model(torch.nn.Linear(2, 1))
    with pytest.raises(InvalidExperimentException, match="use_amp was called after wrap_model; call it before"):
        context.experimental.use_amp()
    with pytest.raises(InvalidExperimentException, match="wrap_scaler was called after wrap_model; call it before"):
        context.wrap_scaler(torch.amp.GradScaler("cpu"))


def test_only_a_scaler_is_wrapped_as_one(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="wrap_scaler got a str"):
        made_context(tmp_path).wrap_scaler("scaler")


def _wrapped(context: Any) -> tuple[Any, Any]:
    model = context.wrap_model(torch.nn.Linear(2, 1))
    return model, context.wrap_optimizer(torch.optim.SGD(model.parameters(), lr=0.1))


def test_apex_comes_after_wrapping_and_needs_a_gpu(tmp_path: Path) -> None:
    context = made_context(tmp_path)
    with pytest.raises(InvalidExperimentException, match="configure_apex_amp was called before wrap_model"):
        context.configure_apex_amp([], [])
    with pytest.raises(InvalidExperimentException, match=r"configure_apex_amp needs a CUDA device.*use_amp"):
        context.configure_apex_amp(*_wrapped(context))


def test_apex_is_not_joined_with_use_amp(tmp_path: Path) -> None:
    context = made_context(tmp_path)
    context.experimental.use_amp()
    with pytest.raises(InvalidExperimentException, match="cannot be joined with use_amp"):
        context.configure_apex_amp(*_wrapped(context))


def _fake_apex(calls: list[Any]) -> types.ModuleType:
    amp = types.ModuleType("apex.amp")

    @contextmanager
    def scale_loss(loss: Any, optimizers: Any, loss_id: int, delay_unscale: bool) -> Any:
        calls.append(("scale_loss", loss_id, delay_unscale))
        yield loss

    def initialize(models: Any, optimizers: Any, **options: Any) -> Any:
        calls.append(("initialize", options["opt_level"], options["num_losses"]))
        return models, optimizers

    amp.scale_loss, amp.initialize = scale_loss, initialize  # type: ignore[attr-defined]
    amp.master_params = lambda optimizer: ["master"]  # type: ignore[attr-defined]
    return amp


@pytest.fixture
def apex_calls(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    calls: list[Any] = []
    monkeypatch.setitem(sys.modules, "apex", types.ModuleType("apex"))
    monkeypatch.setitem(sys.modules, "apex.amp", _fake_apex(calls))
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    return calls


def test_apex_leaves_what_it_was_not_given_in_its_place(
    tmp_path: Path, apex_calls: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    context = made_context(tmp_path, num_gpus=0, aggregation_frequency=2)
    models = [context.wrap_model(torch.nn.Linear(2, 1)) for _ in range(3)]
    optimizers = [
        context.wrap_optimizer(torch.optim.SGD(model.parameters(), lr=0.1), average_aggregated_gradients=number != 1)
        for number, model in enumerate(models[:2])
    ]
    cast, stepping = copy.deepcopy(models[1]), copy.deepcopy(optimizers[1])
    monkeypatch.setattr(sys.modules["apex.amp"], "initialize", lambda *_given, **_options: (cast, [stepping]))
    assert context.configure_apex_amp(models[1], [optimizers[1]]) == (cast, [stepping])
    assert context.models == [models[0], cast, models[2]]
    assert context.optimizers == [optimizers[0], stepping]
    assert [context._gradients._averages[id(one)] for one in context.optimizers] == [True, False]


def test_apex_scales_each_loss_by_its_own_number(tmp_path: Path, apex_calls: list[Any]) -> None:
    context = made_context(tmp_path, num_gpus=0)
    model, optimizer = _wrapped(context)
    assert context.configure_apex_amp([model], optimizer, opt_level="O2", num_losses=2) == ([model], optimizer)
    assert (context.models, context.optimizers) == ([model], [optimizer])
    clipped: list[Any] = []
    for batch in range(2):
        context._before_batch(batch)
        for _ in range(2):
            context.backward(model(torch.ones(1, 2)).sum())
        context.step_optimizer(optimizer, clip_grads=clipped.append)
        context._after_batch()
    scaled = [("scale_loss", 0, False), ("scale_loss", 1, False)]
    assert apex_calls == [("initialize", "O2", 2), *scaled, *scaled]
    assert clipped == [["master"], ["master"]]
    assert context._apex_state is sys.modules["apex.amp"]
    for refused in (
        lambda: context.wrap_model(torch.nn.Linear(1, 1)),
        lambda: context.configure_apex_amp([model], optimizer),
        lambda: context.wrap_scaler(torch.amp.GradScaler("cpu")),
    ):
        with pytest.raises(InvalidExperimentException, match="configure_apex_amp"):
            refused()
