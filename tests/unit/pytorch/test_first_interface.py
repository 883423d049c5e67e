"""Trials as the first releases had them: build_model, optimizer, create_lr_scheduler, and the model as an argument."""

from pathlib import Path
from typing import Any

import pytest
import torch
from small_trial import BATCH, SmallTrial, dataset, model, weights

from determined import pytorch
from determined.errors import InvalidExperimentException
from determined.pytorch import Batch, Epoch, LRScheduler

pytestmark = pytest.mark.usefixtures("own_place")

mse = torch.nn.functional.mse_loss


class FirstTrial(pytorch.PyTorchTrial):
    """SmallTrial, had it been written in the spring of 2020."""

    def __init__(self, context: pytorch.PyTorchTrialContext) -> None:
        self.context: Any = context

    def build_model(self) -> torch.nn.Module:
        return model()

    def optimizer(self, model: torch.nn.Module) -> torch.optim.Optimizer:
        return torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)

    def create_lr_scheduler(self, optimizer: torch.optim.Optimizer) -> Any:
        scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1, gamma=0.9)
        return LRScheduler(scheduler, LRScheduler.StepMode.STEP_EVERY_EPOCH)

    def build_training_data_loader(self) -> pytorch.DataLoader:
        return pytorch.DataLoader(dataset(), batch_size=BATCH, shuffle=True)

    def build_validation_data_loader(self) -> pytorch.DataLoader:
        return pytorch.DataLoader(dataset(), batch_size=BATCH)

    def train_batch(self, batch: Any, model: torch.nn.Module, epoch_idx: int, batch_idx: int) -> Any:  # type: ignore[override]
        assert self.context.get_model() is model
        return {"loss": mse(model(batch[0]), batch[1])}

    def evaluate_batch(self, batch: Any, model: torch.nn.Module) -> dict[str, Any]:  # type: ignore[override]
        return {"validation_loss": mse(model(batch[0]), batch[1])}


class Whole(FirstTrial):
    evaluate_batch = pytorch.PyTorchTrial.evaluate_batch  # type: ignore[assignment]

    def evaluate_full_dataset(self, data_loader: Any, model: torch.nn.Module) -> dict[str, Any]:  # type: ignore[override]
        losses = [mse(model(x), y) for x, y in data_loader]
        return {"validation_loss": torch.stack(losses).mean()}


class Kept(pytorch.PyTorchCallback):
    """The last validation, and the checkpoint's id."""

    def on_validation_end(self, metrics: dict[str, Any]) -> None:
        self.metrics = metrics

    def on_checkpoint_upload_end(self, uuid: str) -> None:
        self.uuid = uuid


def _trained(
    trial_class: type[Any], *, callback: pytorch.PyTorchCallback | None = None, length: Any = None, every: int = 1
) -> tuple[Any, Kept]:
    """The trial after training, and what was kept of it."""
    kept = Kept()
    torch.manual_seed(5)
    with pytorch.init(hparams={"global_batch_size": BATCH}, aggregation_frequency=every) as context:
        trial = trial_class(context)
        trial.build_callbacks = lambda: {"kept": kept} | ({} if callback is None else {"given": callback})
        pytorch.Trainer(trial, context).fit(max_length=length or Epoch(3), checkpoint_policy="none")
    return trial, kept


@pytest.mark.parametrize("every", [1, 2], ids=["plain", "aggregated"])
def test_a_trial_of_the_first_releases_trains_to_the_weights_of_todays(every: int) -> None:
    todays, wanted = _trained(SmallTrial, every=every)
    trial, kept = _trained(FirstTrial, every=every)
    found = list(trial.context.get_model().parameters())
    assert all(torch.equal(ours, theirs) for ours, theirs in zip(found, weights(todays), strict=True))
    assert kept.metrics == wanted.metrics
    assert trial.context.get_lr_scheduler().get_last_lr() == todays.scheduler.get_last_lr() != [0.1]
    assert trial.context.get_optimizer() is trial.context.optimizers[0]


def test_its_evaluate_full_dataset_gets_the_model_as_well() -> None:
    _, wanted = _trained(FirstTrial, length=Batch(2))
    _, kept = _trained(Whole, length=Batch(2))
    assert kept.metrics["validation_loss"] == pytest.approx(wanted.metrics["validation_loss"])


def test_its_checkpoint_becomes_a_trial_with_its_weights(off_cluster: Path) -> None:
    trained, kept = _trained(FirstTrial, length=Batch(2))
    (directory,) = (path for path in off_cluster.rglob(kept.uuid) if path.is_dir())
    loaded: Any = pytorch.load_trial_from_checkpoint_path(str(directory), trial_class=FirstTrial)
    before, after = (list(each.context.get_model().parameters()) for each in (trained, loaded))
    assert all(torch.equal(ours, theirs) for ours, theirs in zip(before, after, strict=True))


def test_a_train_batch_without_a_loss_is_told_what_to_return() -> None:
    class Lossless(FirstTrial):
        def train_batch(self, batch: Any, model: Any, epoch_idx: int, batch_idx: int) -> Any:  # type: ignore[override]
            return {"error": 1.0}

    with pytest.raises(InvalidExperimentException, match=r"must return the loss.*'loss' in a dict; .*'error': 1\.0"):
        _trained(Lossless)


def test_a_bare_scheduler_is_refused_with_the_class_it_belongs_into() -> None:
    class Bare(FirstTrial):
        def create_lr_scheduler(self, optimizer: torch.optim.Optimizer) -> Any:
            return torch.optim.lr_scheduler.StepLR(optimizer, 1)

    with pytest.raises(InvalidExperimentException, match=r"create_lr_scheduler returned a StepLR.*LRScheduler\("):
        _trained(Bare)


@pytest.mark.parametrize("trial_class", [FirstTrial, SmallTrial], ids=["first", "todays"])
@pytest.mark.parametrize(
    ("callback", "of"),
    [
        (pytorch.ClipGradsL2Norm(1e-3), lambda gradients: gradients.norm()),
        (pytorch.ClipGradsL2Value(1e-3), lambda gradients: gradients.abs().max()),
    ],
    ids=["norm", "value"],
)
def test_clipping_callbacks_clip_before_every_step(trial_class: type[Any], callback: Any, of: Any) -> None:
    trial, _ = _trained(trial_class, callback=callback, length=Batch(1))
    steps = [
        now - before for now, before in zip(trial.context.models[0].parameters(), model().parameters(), strict=True)
    ]
    gradients = torch.cat([step.flatten() for step in steps]).detach() / 0.1
    assert float(of(gradients)) == pytest.approx(1e-3, rel=1e-2)


def test_helpers_of_todays_trials_may_have_the_same_names() -> None:
    class Forgetful(SmallTrial):
        def __init__(self, context: pytorch.PyTorchTrialContext) -> None:
            self.context = context

        def build_model(self, width: int) -> torch.nn.Module:
            return torch.nn.Linear(width, 1)

        def optimizer(self) -> None:
            """Not of a model."""

    with pytest.raises(InvalidExperimentException, match=r"Forgetful.__init__ wrapped no model"):
        _trained(Forgetful)
