"""Validation: hooks and modes, both evaluate methods, reducers, and one process and two with the same result."""

import itertools
import logging
import math
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from ranks import run_ranks

from determined import core, pytorch
from determined.errors import InvalidExperimentException
from determined.pytorch import Reducer
from determined.pytorch._callback_set import CallbackSet
from determined.pytorch._validation import Validation

_BATCH = 2
_REDUCERS = {"mean": Reducer.AVG, "sum": Reducer.SUM, "max": Reducer.MAX, "min": Reducer.MIN}


class _Trial(pytorch.PyTorchTrial):
    """A model with dropout and buffers; metrics of every reducer, one of them a vector, and two reducers."""

    def __init__(self, context: pytorch.PyTorchTrialContext, shard: bool = False) -> None:
        torch.manual_seed(3)
        self.context = context
        layers = [torch.nn.Linear(3, 4), torch.nn.BatchNorm1d(4), torch.nn.Dropout(0.5), torch.nn.Linear(4, 1)]
        self.model = context.wrap_model(torch.nn.Sequential(*layers), shard=(torch.nn.Linear,) if shard else False)
        self.optimizer = context.wrap_optimizer(torch.optim.SGD(self.model.parameters(), lr=0.1))
        self.indices = context.wrap_reducer(list, "order", for_training=False)
        self.modes: list[bool] = []

    def build_training_data_loader(self) -> Any:
        raise NotImplementedError

    def build_validation_data_loader(self) -> Any:
        raise NotImplementedError

    def train_batch(self, batch: Any, epoch_idx: int, batch_idx: int) -> Any:
        loss = self.model(batch).square().mean()
        self.context.backward(loss)
        self.context.step_optimizer(self.optimizer)
        return loss


class _ByBatch(_Trial):
    def evaluate_batch(self, batch: Any, batch_idx: int) -> dict[str, Any]:
        self.modes += [self.model.training, torch.is_grad_enabled()]
        out = self.model(batch)
        self.indices.update(float(batch[0, 0]))
        return {"mean": out.mean(), "sum": float(len(batch)), "max": out.flatten(), "min": batch.sum().double()}

    def evaluation_reducer(self) -> Any:
        return _REDUCERS


class _Whole(_Trial):
    def evaluate_full_dataset(self, data_loader: Any) -> dict[str, Any]:
        outs = torch.cat([self.model(batch) for batch in data_loader])
        return {"mean": outs.mean(), "n": len(outs), "first": outs[:2, 0]}


class _Following(pytorch.PyTorchCallback):
    """Wants to know the result on every rank."""

    def on_validation_end(self, metrics: dict[str, Any]) -> None:
        raise AssertionError("the caller fires it")


def _loader(records: int) -> pytorch.DataLoader:
    x = torch.arange(records * 3, dtype=torch.float32).reshape(records, 3)
    return pytorch.DataLoader(x, batch_size=_BATCH)  # type: ignore[arg-type]


def _context(core_context: core.Context) -> pytorch.PyTorchTrialContext:
    size = core_context.distributed.size
    return pytorch.PyTorchTrialContext(
        core_context=core_context, trial_seed=1, hparams={}, exp_conf={}, slots_per_trial=size, num_gpus=0
    )


@pytest.fixture
def context(off_cluster: Path) -> Any:
    with core.init() as core_context:
        yield _context(core_context)


def _run(trial: _Trial, records: int = 10, callbacks: dict[str, Any] | None = None, **how: Any) -> dict[str, Any]:
    validation = Validation(trial, trial.context, _loader(records), CallbackSet(callbacks or {}))
    return validation.run(trial.context.distributed, **how)


def test_models_are_evaluated_without_gradients_and_train_on_afterwards(context: Any) -> None:
    trial = _ByBatch(context)
    _run(trial, records=4)
    assert trial.modes == [False, False] * 2
    assert trial.model.training and torch.is_grad_enabled()


def test_metrics_are_reduced_as_the_trial_says(context: Any) -> None:
    trial = _ByBatch(context)
    metrics = _run(trial, records=5)
    trial.model.eval()
    batches = list(_loader(5))
    with torch.no_grad():
        outs = [trial.model(batch) for batch in batches]
    assert metrics["mean"] == pytest.approx(np.mean([float(out.mean()) for out in outs]), abs=1e-12)
    assert metrics["sum"] == 5.0
    assert metrics["max"] == max(float(out.max()) for out in outs)
    assert metrics["min"] == 0.0 + 1 + 2 + 3 + 4 + 5
    assert metrics["order"] == [0.0, 6.0, 12.0]


def test_hooks_come_in_order_and_see_the_batches_of_this_rank(context: Any) -> None:
    notes: list[Any] = []

    class Noting(pytorch.PyTorchCallback):
        def on_validation_start(self) -> None:
            notes.append("start")

        def on_validation_epoch_start(self) -> None:
            notes.append("epoch start")

        def on_validation_epoch_end(self, outputs: list[Any]) -> None:
            notes.append(outputs)

        def on_validation_end(self, metrics: dict[str, Any]) -> None:
            notes.append("end")

    class Trial(_ByBatch):
        def evaluate_batch(self, batch: Any, batch_idx: int) -> dict[str, Any]:
            notes.append(batch_idx)
            return {"loss": torch.tensor(float(batch_idx)), "vector": torch.ones(2, dtype=torch.bfloat16)}

        def evaluation_reducer(self) -> Any:
            return Reducer.AVG

    _run(Trial(context), records=4, callbacks={"noting": Noting()})
    outputs = notes.pop()
    assert notes == ["start", "epoch start", 0, 1]
    assert [output["loss"] for output in outputs] == [0.0, 1.0]
    assert isinstance(outputs[0]["vector"], np.ndarray) and outputs[0]["vector"].tolist() == [1.0, 1.0]


def test_evaluate_full_dataset_has_all_data_and_only_two_hooks(context: Any) -> None:
    notes: list[str] = []

    class Noting(pytorch.PyTorchCallback):
        def on_validation_start(self) -> None:
            notes.append("start")

        def on_validation_epoch_start(self) -> None:
            notes.append("epoch start")

    metrics = _run(_Whole(context), records=5, callbacks={"noting": Noting()})
    assert metrics["n"] == 5 and type(metrics["mean"]) is float and len(metrics["first"]) == 2
    assert metrics["order"] == [] and notes == ["start"]


@pytest.mark.parametrize("signature", ["self, batch", "self, data", "self, batch, batch_idx", "self, data, i", "*args"])
def test_evaluate_batch_gets_the_number_of_the_batch_if_it_wants_it(signature: str, context: Any) -> None:
    seen: list[tuple[Any, ...]] = []
    values = signature.replace("self, ", "").replace("*args", "*args[1:]")
    namespace: dict[str, Any] = {"seen": seen}
    exec(f"def evaluate_batch({signature}):\n    seen.append(({values},))\n    return {{}}", namespace)
    trial = type("Trial", (_Trial,), {"evaluate_batch": namespace["evaluate_batch"]})(context)
    assert _run(trial, records=4) == {"order": []}
    wanted = signature.endswith(("batch_idx", " i"))
    assert [numbers for _, *numbers in seen] == ([[0], [1]] if wanted else [[], []])


def test_a_default_of_the_users_own_is_not_taken_for_the_number_of_the_batch(context: Any) -> None:
    class Trial(_Trial):
        def evaluate_batch(self, batch: Any, threshold: float = 0.5) -> dict[str, Any]:  # type: ignore[override]
            return {"threshold": threshold}

    assert _run(Trial(context))["threshold"] == 0.5


def test_no_more_batches_are_evaluated_than_were_asked_for(context: Any) -> None:
    assert _run(_ByBatch(context), max_batches=1)["sum"] == 2.0


def test_the_log_says_how_fast_it_was(context: Any, caplog: pytest.LogCaptureFixture) -> None:
    class Unmeasured(_ByBatch):
        def get_batch_length(self, batch: Any) -> int:
            raise TypeError("who knows")

    with caplog.at_level(logging.INFO, "determined.pytorch"):
        _run(_ByBatch(context), records=5)
        _run(Unmeasured(context), records=5)
    first, second = [record.getMessage() for record in caplog.records if "validated" in record.getMessage()]
    assert first.startswith("validated: 5 records in ") and " records/s), in 3 batches (" in first
    assert second.startswith("validated: in ") and "in 3 batches (" in second


def test_training_goes_on_with_the_random_numbers_it_had(context: Any) -> None:
    class Random(_ByBatch):
        def evaluate_batch(self, batch: Any, batch_idx: int) -> dict[str, Any]:
            return {"noise": torch.rand(()) + np.random.rand() + random.random()}

        def evaluation_reducer(self) -> Any:
            return Reducer.AVG

    trial = Random(context)
    torch.manual_seed(8)
    expected = torch.rand(3)
    torch.manual_seed(8)
    numpy_before, python_before = np.random.get_state()[2], random.getstate()
    _run(trial)
    assert torch.equal(torch.rand(3), expected)
    assert np.random.get_state()[2] == numpy_before and random.getstate() == python_before


def _returning(metrics: Any, reducer: Any = Reducer.AVG) -> type[_Trial]:
    methods = {"evaluate_batch": lambda self, batch: metrics(batch), "evaluation_reducer": lambda self: reducer}
    return type("Trial", (_Trial,), methods)


@pytest.mark.parametrize(
    ("trial", "error", "words"),
    [
        (_returning(lambda batch: torch.ones(())), TypeError, "evaluate_batch returned a Tensor; return a dict"),
        (
            _returning(lambda batch: None),
            TypeError,
            "evaluate_batch returned a NoneType; return a dict of metric names",
        ),
        (
            _returning(lambda batch: {f"loss{int(batch[0, 0])}": 1.0}),
            ValueError,
            r"evaluate_batch returned metrics \['loss6'\] for a batch and \['loss0'\] for those before; return",
        ),
        (
            _returning(lambda batch: {"words": "text"}),
            TypeError,
            "evaluate_batch returned a str as metric 'words', which evaluation_reducer cannot reduce",
        ),
        (_returning(lambda batch: {"a": None}), TypeError, "evaluate_batch returned a NoneType as metric 'a'"),
        (
            _returning(lambda batch: {"a": torch.ones(0)}, Reducer.MAX),
            TypeError,
            "evaluate_batch returned an empty array as metric 'a'",
        ),
        (
            _returning(lambda batch: {"a": 1.0}, np.mean),
            InvalidExperimentException,
            r"evaluation_reducer returned <function mean.*>; return one of Reducer.AVG, Reducer.SUM, Reducer.MAX, Redu",
        ),
        (
            _returning(lambda batch: {"a": 1.0, "b": 1.0}, {"a": Reducer.AVG, "c": Reducer.AVG}),
            InvalidExperimentException,
            r"evaluation_reducer has reducers for \['a', 'c'\] and evaluate_batch returned metrics \['a', 'b'\]; give",
        ),
        (
            _returning(lambda batch: {"a": 1.0}, {"a": "mean"}),
            InvalidExperimentException,
            "evaluation_reducer returned 'mean' for 'a'; return one of Reducer.AVG",
        ),
        (
            type("Trial", (_Trial,), {"evaluate_full_dataset": lambda self, data_loader: 3.0}),
            TypeError,
            "evaluate_full_dataset returned a float; return a dict of metric names to values",
        ),
    ],
)
def test_bad_code_is_told_which_method_and_what_to_do(trial: Any, error: Any, words: str, context: Any) -> None:
    with pytest.raises(error, match=words):
        _run(trial(context))


def test_a_loader_without_batches_is_an_error(context: Any) -> None:
    loader = pytorch.DataLoader(torch.ones(1, 3), batch_size=2, drop_last=True)  # type: ignore[arg-type]
    validation = Validation(_ByBatch(context), context, loader, CallbackSet({}))
    with pytest.raises(
        RuntimeError, match="build_validation_data_loader returned a loader without a single batch; giv"
    ):
        validation.run(context.distributed)


def test_exactly_one_evaluate_method_must_be_overridden(context: Any) -> None:
    class Both(_ByBatch):
        def evaluate_full_dataset(self, data_loader: Any) -> dict[str, Any]:
            return {}

    class Heir(_ByBatch):
        """What it inherits counts."""

    with pytest.raises(
        InvalidExperimentException, match="_Trial overrides neither evaluate_batch nor evaluate_full_da"
    ):
        Validation(_Trial(context), context, _loader(4), CallbackSet({}))
    with pytest.raises(
        InvalidExperimentException, match="Both overrides both evaluate_batch and evaluate_full_dataset"
    ):
        Validation(Both(context), context, _loader(4), CallbackSet({}))
    assert _run(Heir(context), records=2)["sum"] == 2.0


def test_loaders_of_a_wrong_kind_are_refused(context: Any) -> None:
    own = torch.utils.data.DataLoader(torch.ones(5, 3), batch_size=2)  # type: ignore[arg-type, var-annotated]
    trial = _ByBatch(context)
    with pytest.raises(RuntimeError, match=r"build_validation_data_loader .*disable_dataset_reproducibility_checks"):
        Validation(trial, context, own, CallbackSet({}))
    with pytest.raises(
        TypeError, match=r"build_validation_data_loader returned a list; return a determined\.pytorch\.Dat"
    ):
        Validation(trial, context, [1, 2], CallbackSet({}))
    context.experimental.disable_dataset_reproducibility_checks()
    assert Validation(trial, context, own, CallbackSet({})).run(context.distributed)["sum"] == 5.0


def all_kinds(distributed: core.DistributedContext) -> dict[str, Any]:
    """Validate, train a batch, validate again: trials that evaluate by batch or whole, replicated or sharded."""
    found: dict[str, Any] = {}
    with core.init(distributed=distributed) as core_context:
        for kind, shard, records in itertools.product((_ByBatch, _Whole), (False, True), (10, 8, 2)):
            trial = kind(_context(core_context), shard=shard)
            if not shard:
                for buffer in trial.model.buffers():
                    buffer.add_(distributed.rank)  # the chief's are those that count
            first = _run(trial, records, {"following": _Following()})
            trial.context._before_batch(0)
            trial.train_batch(torch.ones(4, 3) * torch.arange(4).reshape(4, 1), 0, 0)
            trial.context._after_batch()
            found[f"{kind.__name__} {shard=} {records=}"] = (first, _run(trial, records))
    return found


def test_two_ranks_with_uneven_batches_give_the_metrics_of_one_process(off_cluster: Path) -> None:
    """Of five batches, four and one the second rank has two, two and none."""
    alone = all_kinds(core.DummyDistributedContext())
    chief, other = run_ranks(2, f"{__file__}:all_kinds")
    for kind, (first, second) in alone.items():
        assert chief[kind][0] == first, kind
        _assert_close(chief[kind][1], second, kind)
        assert other[kind] == (first, {}), kind


def _assert_close(found: dict[str, Any], expected: dict[str, Any], kind: str) -> None:
    """After training, whose gradients are summed in another order by two ranks."""
    assert found.keys() == expected.keys()
    for name, value in expected.items():
        assert np.allclose(found[name], value, rtol=1e-4, atol=1e-6), (kind, name, found[name], value)
        assert not math.isnan(np.sum(value))
