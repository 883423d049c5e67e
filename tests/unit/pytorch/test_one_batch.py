"""test_one_batch: a trial class is trained, validated and saved once, off cluster, and leaves nothing behind."""

from pathlib import Path
from typing import Any

import pytest
import torch
from small_trial import SmallTrial

from determined import experimental, pytorch
from determined.errors import InvalidExperimentException


class _Watching(pytorch.PyTorchCallback):
    def __init__(self) -> None:
        self.saved: list[list[str]] = []

    def on_checkpoint_write_end(self, checkpoint_dir: str) -> None:
        self.saved.append(sorted(path.name for path in Path(checkpoint_dir).iterdir()))


class _Watched(SmallTrial):
    def __init__(self, context: pytorch.PyTorchTrialContext) -> None:
        super().__init__(context)
        self.watching = _Watching()
        self.validated = 0

    def build_callbacks(self) -> dict[str, pytorch.PyTorchCallback]:
        return {"watching": self.watching}

    def evaluate_batch(self, batch: Any) -> dict[str, Any]:
        self.validated += 1
        return super().evaluate_batch(batch)


def test_a_trial_trains_one_batch_validates_one_and_saves_once(off_cluster: Path) -> None:
    trial = experimental.test_one_batch(_Watched, {"hyperparameters": {"global_batch_size": 4}})
    assert trial.seen == [(0, 0)]
    assert trial.validated == 1
    assert len(trial.watching.saved) == 1
    assert "state_dict.pth" in trial.watching.saved[0]
    assert not off_cluster.exists(), "the checkpoint went nowhere near the user's data"


def test_hyperparameters_are_drawn_from_the_config(off_cluster: Path) -> None:
    ranges = {"global_batch_size": 4, "lr": {"type": "categorical", "vals": [0.25]}}

    class Asking(SmallTrial):
        def __init__(self, context: pytorch.PyTorchTrialContext) -> None:
            super().__init__(context)
            self.asked = (context.get_hparam("lr"), context.get_per_slot_batch_size(), context.get_data_config())

    trial = experimental.test_one_batch(Asking, {"hyperparameters": ranges, "data": {"url": "u"}})
    assert trial.asked == (0.25, 4, {"url": "u"})


def test_a_seeded_config_gives_the_same_weights_again(off_cluster: Path) -> None:
    config = {"hyperparameters": {"global_batch_size": 4}, "reproducibility": {"experiment_seed": 5}}

    class Random(SmallTrial):
        def __init__(self, context: pytorch.PyTorchTrialContext) -> None:
            self.first = torch.rand(1).item()
            super().__init__(context)

    assert experimental.test_one_batch(Random, config).first == experimental.test_one_batch(Random, config).first


def test_bad_user_code_says_what_is_wrong(off_cluster: Path) -> None:
    class NoModel(SmallTrial):
        def __init__(self, context: pytorch.PyTorchTrialContext) -> None:
            self.context = context

    with pytest.raises(InvalidExperimentException, match="wrap_model"):
        experimental.test_one_batch(NoModel, {"hyperparameters": {"global_batch_size": 4}})


def test_only_trial_classes_can_be_tried() -> None:
    with pytest.raises(NotImplementedError, match="PyTorchTrial"):
        experimental.test_one_batch(dict)
    with pytest.raises(TypeError, match="the trial class itself"):
        experimental.test_one_batch(3)  # type: ignore[arg-type]


def test_a_trial_instance_is_built_from_a_config_and_trains_by_hand() -> None:
    config = {"hyperparameters": {"global_batch_size": 8}, "data": {"url": "here"}}
    with pytest.warns(FutureWarning, match=r"deprecated.*PyTorchTrialContext\.from_config"):
        trial = experimental.create_trial_instance(SmallTrial, config=config, hparams={"global_batch_size": 2, "lr": 1})
    assert trial.context.get_hparams() == {"global_batch_size": 2, "lr": 1}
    assert trial.context.get_data_config() == {"url": "here"}
    batch = next(iter(trial.build_training_data_loader()))
    assert trial.train_batch(batch, 0, 0)["loss"].isfinite()


def test_a_trial_instance_of_something_else_is_refused() -> None:
    with pytest.warns(FutureWarning), pytest.raises(TypeError, match=r"got <class 'int'>; pass a trial class"):
        experimental.create_trial_instance(int)
