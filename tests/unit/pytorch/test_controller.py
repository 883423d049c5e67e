"""The training loop: what happens when, and that pausing changes nothing."""

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from small_trial import BATCH, SmallTrial, dataset, model, weights

from determined import core, pytorch
from determined.errors import InvalidExperimentException, InvalidHP
from determined.pytorch import Batch, Epoch

_HOOKS = [name for name in dir(pytorch.PyTorchCallback) if name.startswith("on_")]


class _Traced(SmallTrial):
    """Writes down every hook and batch."""

    def __init__(self, context: pytorch.PyTorchTrialContext) -> None:
        super().__init__(context)
        self.trace: list[str] = []

    def build_callbacks(self) -> dict[str, pytorch.PyTorchCallback]:
        return {"first": _tracing(self.trace, ""), "second": _tracing(self.trace, "2:")}

    def train_batch(self, batch: Any, epoch_idx: int, batch_idx: int) -> dict[str, Any]:
        self.trace.append(f"train {epoch_idx} {batch_idx}")
        return super().train_batch(batch, epoch_idx, batch_idx)

    def evaluate_batch(self, batch: Any) -> dict[str, Any]:
        self.trace.append("evaluate")
        return super().evaluate_batch(batch)


def _tracing(trace: list[str], prefix: str) -> pytorch.PyTorchCallback:
    # deprecated forms
    ignored = {
        "on_before_optimizer_step", "on_checkpoint_end", "on_validation_step_start", "on_validation_step_end",
    }  # fmt: skip
    methods = {hook: _noting(trace, prefix + hook) for hook in _HOOKS if hook not in ignored}
    methods["on_training_epoch_start"] = lambda _self, epoch_idx: trace.append(f"{prefix}on_training_epoch_start")
    return type("Tracing", (pytorch.PyTorchCallback,), methods)()


def _noting(trace: list[str], word: str) -> Any:
    return lambda _self, *_arguments: trace.append(word)


@pytest.fixture(autouse=True)
def _own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)


@pytest.fixture(autouse=True)
def _same_random_numbers() -> Iterator[None]:
    random.seed(5)
    np.random.seed(5)
    torch.manual_seed(5)
    yield


def _fit(trial_class: type[SmallTrial], **how: Any) -> Any:
    with pytorch.init(hparams={}) as context:
        trial = trial_class(context)
        torch.manual_seed(7)
        pytorch.Trainer(trial, context).fit(**how)
        return trial


def _stored(home: Path) -> list[str]:
    return sorted(path.name for path in (home / "determined").iterdir() if (path / "state_dict.pth").exists())


def test_hooks_fire_in_the_documented_order() -> None:
    trial = _fit(
        _Traced, max_length=Batch(5), reporting_period=Batch(2), validation_period=Batch(3), checkpoint_policy="none"
    )
    first = [step for step in trial.trace if not step.startswith("2:")]
    validation = ["on_validation_start", "on_validation_epoch_start", *["evaluate"] * 4]
    validation += ["on_validation_epoch_end", "on_validation_end"]
    checkpoint = ["on_checkpoint_save_start", "on_checkpoint_write_end", "on_checkpoint_upload_end"]
    assert first == [
        "on_trial_startup",
        "on_training_start",
        "on_training_epoch_start",
        "train 0 0",
        "train 0 1",
        "on_training_workload_end",
        "train 0 2",
        "on_training_workload_end",
        *validation,
        "train 0 3",
        "on_training_epoch_end",
        "on_training_workload_end",
        "on_training_epoch_start",
        "train 1 4",
        "on_training_workload_end",
        *validation,
        *checkpoint,
        "on_trial_shutdown",
    ]


def test_callbacks_are_shut_down_in_reverse_also_when_training_fails() -> None:
    class Failing(_Traced):
        def train_batch(self, batch: Any, epoch_idx: int, batch_idx: int) -> dict[str, Any]:
            raise ZeroDivisionError

    with pytorch.init(hparams={}) as context:
        trial = Failing(context)
        with pytest.raises(ZeroDivisionError):
            pytorch.Trainer(trial, context).fit(max_length=Batch(1))
    assert trial.trace[-2:] == ["2:on_trial_shutdown", "on_trial_shutdown"]


def test_training_equals_a_loop_written_by_hand() -> None:
    trial = _fit(SmallTrial, max_length=Epoch(3))
    trained = weights(trial)
    order = _batches_of(trial, 12)

    net = model()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1, gamma=0.9)
    torch.manual_seed(7)
    torch.randint(2**31, (1,))  # the seed of the data
    for index, (x, y) in enumerate(order):
        loss = torch.nn.functional.mse_loss(net(x), y)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        if index % 4 == 3:
            scheduler.step()
    assert all(torch.equal(a, b) for a, b in zip(trained, net.parameters(), strict=True))


@pytest.mark.parametrize("stop_after", [1, 3, 4, 6, 11])
def test_a_paused_training_goes_on_bit_by_bit(stop_after: int, tmp_path: Path) -> None:
    whole = weights(_fit(SmallTrial, max_length=Epoch(3)))
    rate = _fit(SmallTrial, max_length=Epoch(3)).scheduler.get_last_lr()
    before = _stored(tmp_path)

    class Stopping(SmallTrial):
        def train_batch(self, batch: Any, epoch_idx: int, batch_idx: int) -> dict[str, Any]:
            if batch_idx == stop_after - 1:
                self.context.set_stop_requested(True)
            return super().train_batch(batch, epoch_idx, batch_idx)

    random.seed(5)
    np.random.seed(5)
    _fit(Stopping, max_length=Epoch(3), reporting_period=Batch(1))
    (paused,) = set(_stored(tmp_path)) - set(before)
    torch.manual_seed(99)  # another process knows nothing of the first one's random numbers
    resumed = _fit(SmallTrial, max_length=Epoch(3), latest_checkpoint=paused)
    assert [batch for _epoch, batch in resumed.seen] == list(range(stop_after, 12))
    assert all(torch.equal(a, b) for a, b in zip(whole, weights(resumed), strict=True))
    assert resumed.scheduler.get_last_lr() == rate


def test_invalid_hyperparameters_are_saved_and_end_the_training(tmp_path: Path) -> None:
    class Unlucky(SmallTrial):
        def train_batch(self, batch: Any, epoch_idx: int, batch_idx: int) -> dict[str, Any]:
            if batch_idx == 2:
                raise InvalidHP("the learning rate diverges")
            return super().train_batch(batch, epoch_idx, batch_idx)

    with pytest.raises(SystemExit) as ended:
        _fit(Unlucky, max_length=Epoch(1))
    assert ended.value.code == 0
    assert len(_stored(tmp_path)) == 1


@pytest.mark.parametrize("forgotten", ["wrap_model", "wrap_optimizer"])
def test_a_trial_that_wraps_nothing_is_told_which_call_is_missing(forgotten: str) -> None:
    class Forgetful(SmallTrial):
        def __init__(self, context: pytorch.PyTorchTrialContext) -> None:
            self.context = context
            if forgotten == "wrap_optimizer":
                context.wrap_model(model())

    with pytorch.init(hparams={}) as context, pytest.raises(InvalidExperimentException, match=forgotten):
        pytorch.Trainer(Forgetful(context), context).fit(max_length=Batch(1))


def test_epochs_of_data_without_length_are_refused() -> None:
    class Endless(SmallTrial):
        def __init__(self, context: pytorch.PyTorchTrialContext) -> None:
            super().__init__(context)
            context.experimental.disable_dataset_reproducibility_checks()

        def build_training_data_loader(self) -> Any:
            class Stream(torch.utils.data.IterableDataset[Any]):
                def __iter__(self) -> Iterator[Any]:
                    while True:
                        yield dataset()[0]

            return torch.utils.data.DataLoader(Stream(), batch_size=BATCH)

    message = "give the length in batches"
    with pytorch.init(hparams={}) as context, pytest.raises(InvalidExperimentException, match=message):
        pytorch.Trainer(Endless(context), context).fit(max_length=Epoch(1))
    assert _fit(Endless, max_length=Batch(6)).seen[-1] == (0, 5)


def test_a_stop_request_of_any_batch_ends_training_at_the_next_boundary(tmp_path: Path) -> None:
    class Stopping(SmallTrial):
        def train_batch(self, batch: Any, epoch_idx: int, batch_idx: int) -> dict[str, Any]:
            self.context.set_stop_requested(batch_idx >= 1)
            return super().train_batch(batch, epoch_idx, batch_idx)

    trial = _fit(Stopping, max_length=Epoch(9), reporting_period=Batch(3))
    assert trial.seen[-1] == (0, 2)
    assert len(_stored(tmp_path)) == 1


def test_test_mode_trains_and_validates_one_batch(tmp_path: Path) -> None:
    trial = _fit(_Traced, test_mode=True)
    assert trial.trace.count("evaluate") == 1
    assert trial.seen == [(0, 0)]
    assert len(_stored(tmp_path)) == 1


def test_a_length_is_needed_off_cluster() -> None:
    with pytest.raises(ValueError, match="needs max_length"):
        _fit(SmallTrial)


@pytest.mark.parametrize("argument", ["validation_period", "checkpoint_period", "reporting_period"])
def test_a_period_that_is_none_of_ours_is_refused(argument: str) -> None:
    with pytest.raises(TypeError, match=argument):
        _fit(SmallTrial, max_length=Batch(1), **{argument: 5})


def test_metrics_carry_their_position(monkeypatch: pytest.MonkeyPatch) -> None:
    reported: list[tuple[str, int, dict[str, Any]]] = []
    monkeypatch.setattr(
        core.DummyTrainContext,
        "report_metrics",
        lambda _self, group, steps, metrics: reported.append((group, steps, metrics)),
    )
    _fit(SmallTrial, max_length=Batch(6), reporting_period=Batch(4))
    assert [(group, steps, metrics["batches"], metrics["epochs"]) for group, steps, metrics in reported] == [
        ("training", 4, 4, 1),
        ("training", 6, 6, 1.5),
        ("validation", 6, 6, 1.5),
    ]


def _batches_of(trial: SmallTrial, count: int) -> list[Any]:
    """The data as the loop saw it: the same seed gives the same order."""
    torch.manual_seed(7)
    seed = int(torch.randint(2**31, (1,)).item())
    batches = pytorch._batches.TrainingBatches(trial.build_training_data_loader(), num_replicas=1, rank=0, seed=seed)
    stream = batches.iterate(0)
    return [next(stream) for _ in range(count)]
