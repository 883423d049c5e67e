"""A script off cluster that passes latest_checkpoint: the trial is told where it goes on."""

import shutil
from pathlib import Path
from typing import Any

import pytest
from small_trial import SmallTrial

from determined import pytorch
from determined.errors import CheckpointNotFound
from determined.pytorch import Batch
from determined.storage.manifest import MANIFEST_NAME

UPSTREAM = Path(__file__).parent / "upstream_checkpoints"
UUID = "3f1d2a8e-0c1b-4f6a-8a53-d2b7c9e01f4a"

pytestmark = pytest.mark.usefixtures("own_place")


class _Told(SmallTrial):
    """Notes what it is told about where training begins, and by whom."""

    def __init__(self, context: pytorch.PyTorchTrialContext) -> None:
        super().__init__(context)
        self.told: dict[str, Any] = {}

    def build_callbacks(self) -> dict[str, pytorch.PyTorchCallback]:
        self.told["build_callbacks"] = self.context.get_initial_batch()
        return {"startup": _Startup(self.told)}

    def build_training_data_loader(self) -> pytorch.DataLoader:
        self.told["loader"] = (self.context.get_initial_batch(), self.context.env.steps_completed)
        return super().build_training_data_loader()


class _Startup(pytorch.PyTorchCallback):
    def __init__(self, told: dict[str, Any]) -> None:
        self._told = told

    def on_trial_startup(self, first_batch_idx: int, checkpoint_uuid: str | None) -> None:
        self._told["startup"] = (first_batch_idx, checkpoint_uuid)


def _fit(batches: int, *checkpoints: str | None) -> _Told:
    """Train once from each of the checkpoints, with one context."""
    with pytorch.init(hparams={}) as context:
        trial = _Told(context)
        for latest in checkpoints:
            pytorch.Trainer(trial, context).fit(
                max_length=Batch(batches), checkpoint_policy="none", latest_checkpoint=latest
            )
        return trial


def test_hooks_and_loaders_are_told_the_batch_that_a_training_goes_on_with(off_cluster: Path) -> None:
    assert _fit(3, None).told == {"build_callbacks": 0, "startup": (0, None), "loader": (0, 0)}
    (saved,) = off_cluster.iterdir()
    resumed = _fit(5, saved.name)
    assert resumed.told == {"build_callbacks": 3, "startup": (3, saved.name), "loader": (3, 3)}
    assert [batch for _epoch, batch in resumed.seen] == [3, 4]
    assert _fit(5, saved.name, None).told["startup"] == (0, None), "the second training begins anew"


def test_weights_of_another_trial_and_of_nobody_begin_at_0(off_cluster: Path) -> None:
    _fit(3, None)
    (saved,) = off_cluster.iterdir()
    (saved / "trial_state.pkl").unlink()
    (saved / MANIFEST_NAME).unlink()
    assert _fit(2, saved.name).told["startup"] == (0, saved.name)


def test_checkpoints_of_earlier_releases_say_it_as_well(off_cluster: Path) -> None:
    from determined.pytorch._checkpoint import batches_trained

    for layout in sorted(path.name for path in UPSTREAM.iterdir() if path.is_dir()):
        shutil.rmtree(off_cluster, ignore_errors=True)
        shutil.copytree(UPSTREAM / layout, off_cluster / UUID)
        with pytorch.init() as context:
            assert batches_trained(context._core, UUID, 0) == 6, layout
            assert batches_trained(context._core, UUID, 1) == 0, "another trial's"


def test_a_checkpoint_that_is_not_there_is_named_before_anything_begins() -> None:
    with pytorch.init(hparams={}) as context:
        trial = _Told(context)
        with pytest.raises(CheckpointNotFound, match=UUID):
            pytorch.Trainer(trial, context).fit(max_length=Batch(1), latest_checkpoint=UUID)
    assert trial.told == {}
