"""Every snippet of the PyTorch guide of release 0.17 runs; where the guide has a slip, it is corrected."""

import json
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import image_folder
import pytest
import torch
from guide_trial import EPOCH, HPARAMS, MyTrial, accuracy
from ranks import run_ranks

from determined import core, experimental, pytorch
from determined.pytorch import (
    Batch,
    DataLoader,
    Epoch,
    LRScheduler,
    PyTorchCallback,
    PyTorchTrial,
    PyTorchTrialContext,
    Reducer,
)
from determined.storage.manifest import MANIFEST_NAME

TorchData = dict[str, torch.Tensor] | Sequence[torch.Tensor] | torch.Tensor
GUIDE_KEYS = {"models_state_dict", "optimizers_state_dict", "lr_schedulers_state_dict", "callbacks"}


pytestmark = pytest.mark.usefixtures("own_place")


@pytest.fixture
def url(tmp_path: Path) -> str:
    """Return where the pictures are downloaded from."""
    for part in ("train", "val"):
        image_folder.write_pictures(tmp_path / "source" / part)
    return str(tmp_path / "source")


def _fit(trial_class: Callable[[PyTorchTrialContext], Any], url: str = "", **how: Any) -> Any:
    hparams = {**HPARAMS, **how.pop("hparams", {})}
    torch.manual_seed(7)
    with pytorch.init(hparams=hparams, exp_conf={"data": {"url": url}}) as context:
        trial = trial_class(context)
        pytorch.Trainer(trial, context).fit(**{"checkpoint_policy": "none", **how})
        return trial


def _checkpoints(data: Path) -> list[Path]:
    """The oldest first."""
    return sorted((path.parent for path in data.glob("*/state_dict.pth")), key=lambda path: path.stat().st_mtime_ns)


def _weights(trial: Any) -> list[torch.Tensor]:
    return [parameter.detach().clone() for parameter in trial.model.parameters()]


class Skeleton(PyTorchTrial):
    """The guide's template, with the least in it that trains."""

    def __init__(self, context: PyTorchTrialContext) -> None:
        self.context = context
        self.model = context.wrap_model(torch.nn.Linear(2, 1))
        self.optimizer = context.wrap_optimizer(torch.optim.SGD(self.model.parameters(), lr=0.1))

    def build_training_data_loader(self) -> DataLoader:
        return DataLoader(torch.ones(4, 2))  # type: ignore[arg-type]  # torch takes whatever has items, too

    def build_validation_data_loader(self) -> DataLoader:
        return DataLoader(torch.ones(4, 2))  # type: ignore[arg-type]

    def train_batch(self, batch: TorchData, epoch_idx: int, batch_idx: int) -> dict[str, Any]:
        self.context.backward(self.model(batch).sum())
        self.context.step_optimizer(self.optimizer)
        return {}

    def evaluate_batch(self, batch: TorchData) -> dict[str, Any]:
        return {}


def test_the_skeleton_runs_as_an_entrypoint_and_by_the_trainer() -> None:
    trial = experimental.test_one_batch(Skeleton, {"hyperparameters": {"global_batch_size": 1}})
    assert trial.context.current_train_batch() == 0
    assert _fit(Skeleton, max_length=Epoch(2)).context.current_train_batch() == 7


def _leaves(data: Any) -> list[Any]:
    if isinstance(data, dict):
        data = list(data.values())
    return [leaf for part in data for leaf in _leaves(part)] if isinstance(data, list | tuple) else [data]


def _shape(data: Any) -> Any:
    """Containers as they are, their leaves as nested lists."""
    if isinstance(data, dict):
        return {key: _shape(value) for key, value in data.items()}
    if isinstance(data, list | tuple):
        return type(data)(_shape(part) for part in data)
    return data.tolist()


ONE, TWO = torch.zeros(2), torch.ones(2, 2)
BATCHES: dict[str, Any] = {
    "array": TWO.numpy(),
    "tensor": TWO,
    "tuple": (ONE, TWO),
    "list": [ONE, TWO],
    "arrays": [ONE.numpy(), TWO.numpy()],
    "dictionary": {"image": TWO, "class": ONE},
    "combination": {"inputs": [{"left": TWO}, {"right": ONE}], "targets": (ONE, TWO)},
}


@pytest.mark.parametrize("kind", BATCHES)
def test_a_batch_may_be(kind: str) -> None:
    class Shaped(Skeleton):
        seen: list[Any]

        def build_training_data_loader(self) -> DataLoader:
            self.seen = []
            return DataLoader(range(4), batch_size=2, collate_fn=lambda _records: BATCHES[kind])  # type: ignore[arg-type]

        build_validation_data_loader = build_training_data_loader

        def train_batch(self, batch: Any, epoch_idx: int, batch_idx: int) -> dict[str, Any]:
            self.seen.append(batch)
            loss = self.model(torch.ones(2)).sum() * sum(leaf.sum() for leaf in _leaves(batch))
            self.context.backward(loss)
            self.context.step_optimizer(self.optimizer)
            return {"loss": loss}

        def evaluate_batch(self, batch: Any) -> dict[str, Any]:
            self.seen.append(batch)
            return {"records": self.get_batch_length(batch)}

    trial = _fit(Shaped, max_length=Batch(2))
    assert [_shape(batch) for batch in trial.seen] == [_shape(BATCHES[kind])] * 4
    assert all(isinstance(leaf, torch.Tensor) for batch in trial.seen for leaf in _leaves(batch))
    assert trial.get_batch_length(BATCHES[kind]) == 2


class Watched(MyTrial):
    """Keeps its batches, and what was reported."""

    def __init__(self, context: PyTorchTrialContext) -> None:
        super().__init__(context)
        self.batches: list[Any] = []
        self.reports = Reports()

    def build_callbacks(self) -> dict[str, PyTorchCallback]:
        return {"reports": self.reports}

    def train_batch(self, batch: Any, epoch_idx: int, batch_idx: int) -> dict[str, Any]:
        self.batches.append(batch)
        return super().train_batch(batch, epoch_idx, batch_idx)


class Reports(PyTorchCallback):
    def __init__(self) -> None:
        self.hooks: list[str] = []
        self.training: dict[str, Any] = {}
        self.validation: dict[str, Any] = {}

    def on_training_epoch_start(self, epoch_idx: int) -> None:
        self.hooks.append(f"epoch {epoch_idx} starts")

    def on_training_epoch_end(self, epoch_idx: int) -> None:
        self.hooks.append(f"epoch {epoch_idx} ends")

    def on_training_workload_end(self, avg_metrics: dict[str, Any], batch_metrics: list[dict[str, Any]]) -> None:
        self.training = avg_metrics

    def on_validation_end(self, metrics: dict[str, Any]) -> None:
        self.hooks.append("validated")
        self.validation = metrics

    def state_dict(self) -> dict[str, Any]:
        return {"hooks": list(self.hooks)}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        self.hooks = state_dict["hooks"]


@pytest.mark.parametrize("workers", [0, 2])
def test_pictures_are_loaded_from_folders_and_varied(url: str, workers: int) -> None:
    trial = _fit(Watched, url, max_length=Epoch(1), hparams={"workers": workers})
    assert [tuple(images.shape) for images, _ in trial.batches] == [(4, 3, 8, 8)] * EPOCH
    labels = torch.cat([target for _, target in trial.batches]).tolist()
    assert sorted(labels) == sorted(list(range(6)) * 4), "each picture once"
    assert labels != sorted(labels), "shuffled"


def test_training_equals_the_loop_that_the_guide_starts_from(url: str) -> None:
    trial = _fit(Watched, url, max_length=Epoch(1))
    torch.manual_seed(1)
    model = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(3 * 8 * 8, 6))
    optimizer = torch.optim.SGD(model.parameters(), 0.1, momentum=0.9, weight_decay=1e-4)
    metrics: dict[str, list[float]] = {"loss": [], "top1": [], "top5": []}
    for images, labels in trial.batches:
        model.zero_grad()
        output = model(images)
        loss = torch.nn.functional.cross_entropy(output, labels)
        loss.backward()
        optimizer.step()
        shares = [share.item() for share in accuracy(output, labels, topk=(1, 5))]
        for name, value in zip(metrics, [loss.item(), *shares], strict=True):
            metrics[name].append(value)
    assert all(torch.equal(a, b) for a, b in zip(_weights(trial), model.parameters(), strict=True))
    averages = {name: sum(values) / EPOCH for name, values in metrics.items()}
    assert {name: trial.reports.training[name] for name in averages} == pytest.approx(averages)


class SteppedByHand(MyTrial):
    step_mode = LRScheduler.StepMode.MANUAL_STEP

    def train_batch(self, batch: Any, epoch_idx: int, batch_idx: int) -> dict[str, Any]:
        metrics = super().train_batch(batch, epoch_idx, batch_idx)
        self.lr_sch.step()
        return metrics


@pytest.mark.parametrize(
    ("trial_class", "mode", "steps"),
    [
        (MyTrial, LRScheduler.StepMode.STEP_EVERY_EPOCH, 2),
        (MyTrial, LRScheduler.StepMode.STEP_EVERY_BATCH, 2 * EPOCH),
        (MyTrial, LRScheduler.StepMode.MANUAL_STEP, 0),
        (SteppedByHand, LRScheduler.StepMode.MANUAL_STEP, 2 * EPOCH),
    ],
)
def test_the_learning_rate_is_stepped(
    url: str, trial_class: type[MyTrial], mode: LRScheduler.StepMode, steps: int
) -> None:
    trial = _fit(type("Stepped", (trial_class,), {"step_mode": mode}), url, max_length=Epoch(2))
    assert trial.lr_sch.last_epoch == steps
    assert trial.optimizer.param_groups[0]["lr"] == pytest.approx(0.1 * 0.1 ** (steps // 2))


def test_a_checkpoint_has_the_keys_of_the_guide_and_the_code(url: str, off_cluster: Path) -> None:
    Path("model_def.py").write_text("'the model definition'")
    trial = _fit(Watched, url, max_length=Epoch(1))
    (path,) = _checkpoints(off_cluster)
    saved = torch.load(path / "state_dict.pth", weights_only=False)
    assert saved.keys() >= GUIDE_KEYS
    assert torch.equal(saved["models_state_dict"][0]["1.weight"], trial.model[1].weight)
    assert saved["optimizers_state_dict"][0]["param_groups"][0]["momentum"] == 0.9
    assert saved["lr_schedulers_state_dict"][0]["last_epoch"] == 1
    assert saved["callbacks"] == {"reports": {"hooks": ["epoch 0 starts", "epoch 0 ends", "validated"]}}
    about = json.loads((path / "load_data.json").read_text())
    assert (about["hparams"], about["experiment_config"]) == (HPARAMS, {"data": {"url": url}})
    assert (path / "code" / "model_def.py").exists()


def test_a_file_named_and_filled_as_in_the_guide_is_gone_on_from(
    url: str, off_cluster: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    whole = _fit(Watched, url, max_length=Epoch(1))
    (path,) = _checkpoints(off_cluster)
    saved = torch.load(path / "state_dict.pth", weights_only=False)
    torch.save({key: saved[key] for key in GUIDE_KEYS}, path / "state-dict.pth")
    (path / "state_dict.pth").unlink()
    (path / MANIFEST_NAME).unlink(missing_ok=True)

    (tmp_path / "again").mkdir()
    monkeypatch.chdir(tmp_path / "again")
    resumed = _fit(Watched, url, max_length=Epoch(1), latest_checkpoint=path.name)
    assert resumed.batches == [], "all of it was trained before"
    assert all(torch.equal(a, b) for a, b in zip(_weights(resumed), _weights(whole), strict=True))
    assert resumed.lr_sch.last_epoch == 1
    assert resumed.reports.hooks[:3] == whole.reports.hooks


class Reduced(Watched):
    def evaluation_reducer(self) -> dict[str, Reducer]:
        return {"val_loss": Reducer.AVG, "val_top1": Reducer.MIN, "val_top5": Reducer.MAX}


class OverTheWhole(Watched):
    evaluate_batch = PyTorchTrial.evaluate_batch  # type: ignore[assignment]  # not overridden

    def evaluate_full_dataset(self, data_loader: Any) -> dict[str, Any]:
        losses = [torch.nn.functional.cross_entropy(self.model(images), labels) for images, labels in data_loader]
        return {"val_loss": torch.stack(losses).mean()}


def test_validation_reduces_batches_or_looks_at_all_data(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trial = _fit(Reduced, url, max_length=Batch(1))
    trial.model.eval()
    with torch.no_grad():
        batches = [MyTrial.evaluate_batch(trial, batch) for batch in trial.build_validation_data_loader()]
    by_name = {name: [float(metrics[name]) for metrics in batches] for name in batches[0]}
    average = sum(by_name["val_loss"]) / EPOCH
    expected = {"val_loss": average, "val_top1": min(by_name["val_top1"]), "val_top5": max(by_name["val_top5"])}
    assert {name: trial.reports.validation[name] for name in expected} == pytest.approx(expected)

    (tmp_path / "again").mkdir()
    monkeypatch.chdir(tmp_path / "again")
    whole = _fit(OverTheWhole, url, max_length=Batch(1))
    assert float(whole.reports.validation["val_loss"]) == pytest.approx(average)


def two_ranks(distributed: core.DistributedContext, url: str, directory: str) -> tuple[str, int, list[Any]]:
    """Runs in a process of its own."""
    os.environ["XDG_DATA_HOME"] = directory
    os.chdir(directory)
    with pytorch.init(hparams=HPARAMS, exp_conf={"data": {"url": url}}, distributed=distributed) as context:
        trial = Watched(context)
        pytorch.Trainer(trial, context).fit(max_length=Epoch(1), checkpoint_policy="none")
        images, _ = trial.batches[0]
        return trial.download_directory, len(images), [weight.tolist() for weight in _weights(trial)]


def test_every_rank_downloads_to_a_directory_of_its_own(url: str, tmp_path: Path) -> None:
    (tmp_path / "ranks").mkdir()
    first, second = run_ranks(2, f"{__file__}:two_ranks", url, str(tmp_path / "ranks"))
    assert [Path(rank[0]).name for rank in (first, second)] == ["data-rank0", "data-rank1"]
    assert [rank[1] for rank in (first, second)] == [2, 2], "half of the global batch size"
    assert first[2] == second[2], "the weights are the same on both"
