"""Test the content of a checkpoint of Lightning's Trainer, and who goes on from it."""

import threading
from pathlib import Path
from typing import Any

import lightning.pytorch as L
import pytest
import torch
from fits import SEARCHER, Net, fit, noisy_loader
from lightning.pytorch.callbacks import ModelCheckpoint, StochasticWeightAveraging

from determined import lightning as det_lightning
from determined.errors import CheckpointNotFound
from determined.lightning import DeterminedCheckpoint
from determined.storage.local import LocalStorageManager


def test_checkpoints_are_lightnings_own_and_come_every_epoch(task: Any, runner: Any, tmp_path: Path) -> None:
    fitted = fit(task, runner)
    assert len(fitted.checkpoints) == 3
    directory = tmp_path / "checkpoints" / fitted.checkpoints[-1]
    loaded = Net.load_from_checkpoint(directory / "lightning.ckpt")
    assert loaded.net[0].weight.flatten().tolist() == fitted.weights["net.0.weight"]


def test_a_checkpoint_of_another_trial_gives_its_weights_alone(task: Any, runner: Any, tmp_path: Path) -> None:
    other = fit(task, runner)
    about = tmp_path / "checkpoints" / other.checkpoints[-1] / "determined.json"
    task(searcher=SEARCHER, latest_checkpoint=other.checkpoints[-1])
    text = about.read_text().replace('"trial_id": 7', '"trial_id": 6')
    about.unlink()
    about.write_text(text)
    with det_lightning.init() as context:
        module = Net()
        assert context.resume_path() is None
        trainer = L.Trainer(**context.trainer_kwargs(max_epochs=1, limit_train_batches=0, enable_model_summary=False))
        trainer.fit(module, noisy_loader())
    assert module.net[0].weight.flatten().tolist() == other.weights["net.0.weight"]


def test_a_checkpoint_every_few_batches_survives_a_kill(task: Any, runner: Any) -> None:
    """Batches after the checkpoint are trained again, to the same end."""
    alone = fit(task, runner, every_n_batches=2)
    for at, checkpoint in enumerate(alone.checkpoints[:-1]):
        resumed = fit(task, runner, latest=checkpoint, every_n_batches=2)
        assert resumed.weights == alone.weights, f"from checkpoint {at}"
        assert resumed.validation.items() <= alone.validation.items()


def test_checkpoints_are_stored_while_training_goes_on_and_all_are_when_fit_returns(
    task: Any, runner: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    threads, publish = [], LocalStorageManager.publish

    def noted(manager: LocalStorageManager, dst: str, entries: Any) -> None:
        publish(manager, dst, entries)
        threads.append(threading.current_thread().name)

    monkeypatch.setattr(LocalStorageManager, "publish", noted)
    fitted = fit(task, runner, every_n_batches=4)
    assert set(threads[:-1]) == {"checkpoint-save"} and threads[-1] == "MainThread"
    assert len(threads) == len(fitted.checkpoints) > 2


def test_own_callbacks_work_beside_ours(task: Any, runner: Any, tmp_path: Path) -> None:
    """Averaged weights are put into the model when training ends, and are in the last checkpoint."""
    own = ModelCheckpoint(dirpath=tmp_path / "own", monitor="val_loss")
    averaging = StochasticWeightAveraging(swa_lrs=0.01, swa_epoch_start=1)
    fitted = fit(task, runner, own=lambda: [own, averaging])
    assert list((tmp_path / "own").glob("*.ckpt"))
    last = torch.load(tmp_path / "checkpoints" / fitted.checkpoints[-1] / "lightning.ckpt", weights_only=True)
    assert last["state_dict"]["net.0.weight"].flatten().tolist() == fitted.weights["net.0.weight"]


def test_a_checkpoint_of_another_number_of_ranks_is_gone_on_from(
    task: Any, runner: Any, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    paused = fit(task, runner, pause_in=7)
    about = tmp_path / "checkpoints" / paused.checkpoints[-1] / "determined.json"
    text = about.read_text().replace('"ranks": 1', '"ranks": 2')
    about.unlink()
    about.write_text(text)
    resumed = fit(task, runner, latest=paused.checkpoints[-1])
    assert resumed.counts["ended"] == 15
    assert "of 2 rank(s), and 1 go on from it" in caplog.text


def test_a_checkpoint_that_is_none_of_lightnings_is_refused(task: Any, runner: Any) -> None:
    task(searcher=SEARCHER)
    with det_lightning.init() as context:
        with context.core.checkpoint.store_path({"steps_completed": 1}) as (path, storage_id):
            (path / "weights").write_text("1")
        with pytest.raises(CheckpointNotFound, match=r"has no lightning\.ckpt"):
            context.checkpoint.resume_path(storage_id)


def test_a_period_below_one_is_refused() -> None:
    with pytest.raises(ValueError, match="every_n_batches=0"):
        DeterminedCheckpoint(None, every_n_batches=0)  # type: ignore[arg-type]
