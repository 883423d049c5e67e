"""Checkpoints of a trial: what they hold, and that training goes on from them, ours and those of other releases."""

import json
import logging
import pickle
import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from saving_trial import Made
from small_trial import SmallTrial, weights

from determined import _info, pytorch
from determined._imports import import_from_path
from determined._version import __version__
from determined.errors import UnsafeCheckpoint
from determined.pytorch import Batch
from determined.pytorch._callback_set import CallbackSet
from determined.pytorch._checkpoint import Checkpoints
from determined.pytorch._state import TrialState, restore_rng
from determined.rundir.layout import RunDir
from determined.storage.manifest import MANIFEST_NAME

UPSTREAM = Path(__file__).parent / "upstream_checkpoints"
LAYOUTS = sorted(path.name for path in UPSTREAM.iterdir() if path.is_dir())
UUID = "3f1d2a8e-0c1b-4f6a-8a53-d2b7c9e01f4a"


class Opinion:
    """A class of the user's."""


pytestmark = pytest.mark.usefixtures("own_place")


def _same(first: list[torch.Tensor], second: list[torch.Tensor]) -> bool:
    return all(torch.equal(one, other) for one, other in zip(first, second, strict=True))


def test_a_checkpoint_has_the_files_and_keys_of_the_format(tmp_path: Path) -> None:
    Path("train.py").write_text("x = 1")
    made = Made(tmp_path)
    path = made.save(TrialState(4, step_id=2, last_val=1, batches_trained=3, epochs_trained=1))
    files = {entry.relative_to(path).as_posix() for entry in path.rglob("*") if entry.is_file()}
    ours = {"state_dict.pth", "trial_state.pkl", "load_data.json", "metadata.json", "code/train.py"}
    assert files - {MANIFEST_NAME} == ours
    state = torch.load(path / "state_dict.pth", weights_only=False)
    wanted = {"models_state_dict", "optimizers_state_dict", "lr_schedulers_state_dict", "callbacks", "rng_state"}
    assert set(state) == wanted | {"loader_state", "mine"}
    assert set(state["rng_state"]) == {"cpu_rng_state", "np_rng_state", "random_rng_state"}
    counters = pickle.loads((path / "trial_state.pkl").read_bytes())
    assert counters == {
        "trial_id": 4, "last_ckpt": 3, "step_id": 2, "last_val": 1, "batches_trained": 3, "epochs_trained": 1,
    }  # fmt: skip
    assert json.loads((path / "load_data.json").read_text()) == {
        "trial_type": "PyTorchTrial",
        "experiment_config": {"data": {"url": "here"}},
        "hparams": {"global_batch_size": 8, "lr": 0.1},
        "trial_cls_spec": "small_trial:SmallTrial",
        "is_trainer": True,
    }
    assert json.loads((path / "metadata.json").read_text()) == {
        "determined_version": __version__,
        "steps_completed": 3,
        "framework": f"torch-{torch.__version__}",
        "format": "pickle",
    }
    assert (path / "code").stat().st_mode & 0o777 == 0o755


def test_a_trial_of_an_entrypoint_says_so_by_saying_nothing(tmp_path: Path) -> None:
    made = Made(tmp_path, exp_conf=None)
    made.checkpoints = Checkpoints(made.trial, made.context, CallbackSet({}), is_trainer=False)
    load_data = json.loads((made.save() / "load_data.json").read_text())
    assert "is_trainer" not in load_data
    assert load_data["experiment_config"] is None and load_data["hparams"]["lr"] == 0.1


def test_hyperparameters_that_numpy_made_are_saved_as_numbers(tmp_path: Path) -> None:
    chosen = {"layers": np.int64(8), "dropout": np.float32(0.5), "flag": np.bool_(True), "sizes": np.arange(2)}
    hparams = {"global_batch_size": 8, "lr": 0.1, **chosen}
    load_data = json.loads((Made(tmp_path, hparams=hparams).save() / "load_data.json").read_text())
    assert {name: load_data["hparams"][name] for name in chosen} == {
        "layers": 8, "dropout": 0.5, "flag": True, "sizes": [0, 1],
    }  # fmt: skip


def test_keys_of_the_storage_are_not_saved_with_the_config(tmp_path: Path) -> None:
    storage = {"type": "s3", "bucket": "b", "secret_key": "hush"}
    path = Made(tmp_path, exp_conf={"checkpoint_storage": storage}).save()
    text = (path / "load_data.json").read_text()
    assert "hush" not in text and json.loads(text)["experiment_config"]["checkpoint_storage"]["bucket"] == "b"


def test_everything_is_put_back_bit_by_bit(tmp_path: Path) -> None:
    saved = Made(tmp_path)
    saved.train()
    saved.memory.state = np.float32(0.25)
    torch.manual_seed(11)
    path = saved.save()
    drawn = torch.rand(1).item(), float(np.random.rand()), random.random()

    loaded = Made(tmp_path)
    assert not _same(weights(saved.trial), weights(loaded.trial))
    restored = loaded.restore(path)
    assert _same(weights(saved.trial), weights(loaded.trial))
    before, after = (made.trial.optimizer.state_dict() for made in (saved, loaded))
    assert before["param_groups"] == after["param_groups"]
    buffers = [[moments["momentum_buffer"] for moments in each["state"].values()] for each in (before, after)]
    assert _same(*buffers)
    assert loaded.trial.scheduler.state_dict() == saved.trial.scheduler.state_dict()
    assert loaded.memory.state == np.float32(0.25)
    assert restored.state == TrialState(0, last_ckpt=3, batches_trained=3)
    assert restored.rng is not None
    restore_rng(restored.rng)
    assert (torch.rand(1).item(), float(np.random.rand()), random.random()) == drawn


def test_callbacks_hear_of_a_checkpoint_in_order(tmp_path: Path) -> None:
    made = Made(tmp_path)
    path = made.save()
    keys, files, uuid = made.memory.told
    assert "models_state_dict" in keys and "mine" not in keys
    assert "state_dict.pth" in files and "trial_state.pkl" in files
    assert uuid == path.name
    made.restore(path)
    assert made.memory.told[-1] == "edited"


def test_another_trials_checkpoint_gives_weights_and_no_position(tmp_path: Path) -> None:
    saved, loaded = Made(tmp_path), Made(tmp_path)
    saved.train()
    restored = loaded.restore(saved.save(), trial_id=9)
    assert _same(weights(saved.trial), weights(loaded.trial))
    assert restored.state == TrialState(9) and restored.loader_state is None and restored.rng is not None


def test_a_scaler_is_saved_and_its_absence_is_no_failure(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    class Scaled(SmallTrial):
        def __init__(self, context: pytorch.PyTorchTrialContext) -> None:
            self.scaler = context.wrap_scaler(torch.amp.GradScaler("cpu", init_scale=context.get_hparam("scale")))
            super().__init__(context)

    scaled, plain = Made(tmp_path, Scaled, hparams={"scale": 8.0}), Made(tmp_path)
    path = scaled.save()
    again = Made(tmp_path, Scaled, hparams={"scale": 2.0})
    again.restore(path)
    assert again.trial.scaler.get_scale() == 8.0
    with caplog.at_level(logging.WARNING, logger="determined.pytorch"):
        plain.restore(path)
        scaled.restore(plain.save())
    assert "has a scaler_state_dict, which the trial does not use" in caplog.text
    assert "has no scaler_state_dict" in caplog.text


def test_a_model_that_is_another_one_is_named(tmp_path: Path) -> None:
    class Wider(SmallTrial):
        def __init__(self, context: pytorch.PyTorchTrialContext) -> None:
            super().__init__(context)
            context.models[0] = torch.nn.Linear(7, 1)

    path = Made(tmp_path).save()
    with pytest.raises(RuntimeError, match="model 0 of wrap_model, a Linear, is not the one in the checkpoint"):
        Made(tmp_path, Wider).restore(path)


def test_more_models_than_were_saved_are_refused(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    class Two(SmallTrial):
        def __init__(self, context: pytorch.PyTorchTrialContext) -> None:
            super().__init__(context)
            self.second = context.wrap_model(torch.nn.Linear(1, 1))

    one, two = Made(tmp_path), Made(tmp_path, Two)
    with pytest.raises(RuntimeError, match=r"2 object\(s\) of wrap_model and the checkpoint's models_state_dict 1"):
        two.restore(one.save())
    with caplog.at_level(logging.WARNING, logger="determined.pytorch"):
        one.restore(two.save())
    assert "models_state_dict has 2 states, the trial only 1" in caplog.text


def test_a_first_checkpoint_that_others_cannot_load_is_pointed_out(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    made = Made(tmp_path)
    made.memory.state = Opinion()
    with caplog.at_level(logging.WARNING, logger="determined.pytorch"):
        made.save()
        made.save()
    (record,) = [record for record in caplog.records if "add_safe_globals" in record.getMessage()]
    assert "test_checkpoint.Opinion: nothing goes on from them off cluster" in record.getMessage()
    assert "this trial resumes" not in record.getMessage()


def test_only_the_trials_own_checkpoint_is_trusted(
    tmp_path: Path,
    task: Callable[..., None],
    run_dir: RunDir,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    made = Made(tmp_path)
    made.memory.state = Opinion()
    monkeypatch.delenv("DET_INFO_DIR")
    task()
    made.context._core.info = info = _info.get_cluster_info()
    assert info is not None
    with caplog.at_level(logging.WARNING, logger="determined.pytorch"):
        path = made.save()
    assert "this trial resumes from them, but another one does not" in caplog.text
    info._latest_checkpoint = path.name
    with pytest.raises(UnsafeCheckpoint, match="add_safe_globals"):
        made.restore(path)  # this trial has trained nothing yet: it is the one it was forked from
    info.trial._steps_completed = 3
    assert made.restore(path, trial_id=0).state.batches_trained == 3
    info._latest_checkpoint = "another"
    with pytest.raises(UnsafeCheckpoint):
        made.restore(path)


def test_a_checkpoint_that_fails_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_arguments: Any) -> None:
        raise OSError("disk full")

    made = Made(tmp_path)
    monkeypatch.setattr(torch, "save", fail)
    wanted = torch.serialization.get_crc32_options()
    with pytest.raises(OSError, match="disk full"):
        made.save()
    assert list(made.store.iterdir()) == []
    assert torch.serialization.get_crc32_options() is wanted


@pytest.mark.parametrize("layout", LAYOUTS)
def test_training_goes_on_from_what_earlier_releases_have_saved(
    layout: str, off_cluster: Path, caplog: pytest.LogCaptureFixture
) -> None:
    shutil.copytree(UPSTREAM / layout, off_cluster / UUID)
    torch.manual_seed(3)
    with import_from_path(UPSTREAM / layout / "code"), caplog.at_level(logging.WARNING, logger="determined.pytorch"):
        import model_def  # type: ignore[import-not-found]

        with pytorch.init(hparams={"lr": 0.5}, enable_tensorboard_logging=False) as context:
            trial = model_def.TinyTrial(context)
            pytorch.Trainer(trial, context).fit(max_length=Batch(8), latest_checkpoint=UUID, checkpoint_policy="none")
    assert trial.counter.epochs == 2
    assert trial.scheduler.get_last_lr() == [0.01 * 0.5**4]
    assert trial.optimizer.state_dict()["state"][0]["step"] == 8
    if layout == "documented_in_0_17":
        assert "no random state" in caplog.text  # so dropout is another one
        return
    expected = _trained_on_by_torch_alone(batches=2)
    for name, value in trial.model.state_dict().items():
        torch.testing.assert_close(value, expected[name], rtol=1e-6, atol=1e-7)


def _trained_on_by_torch_alone(batches: int) -> dict[str, torch.Tensor]:
    """The weights that a plain loop comes to from the same checkpoint, after six batches. Not stored: processors of
    different makes draw other dropout from the same state."""
    saved = torch.load(UPSTREAM / "trainer" / "state_dict.pth", weights_only=False)
    nn = torch.nn
    model = nn.Sequential(nn.Linear(4, 3), nn.BatchNorm1d(3), nn.Dropout(0.5), nn.Linear(3, 2))
    optimizer = torch.optim.Adam(model.parameters())
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 2, gamma=0.5)
    model.load_state_dict(saved["models_state_dict"][0])
    optimizer.load_state_dict(saved["optimizers_state_dict"][0])
    scheduler.load_state_dict(saved["lr_schedulers_state_dict"][0])
    generator = torch.Generator().manual_seed(0)
    x, y = torch.randn(16, 4, generator=generator), torch.randint(0, 2, (16,), generator=generator)
    torch.set_rng_state(saved["rng_state"]["cpu_rng_state"])
    for batch in range(6, 6 + batches):
        records = slice(batch % 4 * 4, batch % 4 * 4 + 4)
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x[records]), y[records]).backward()
        optimizer.step()
        scheduler.step()
    return model.state_dict()


def test_a_checkpoint_without_a_position_starts_counting_anew(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    made = Made(tmp_path)
    path = made.save()
    (path / "trial_state.pkl").unlink()
    (path / MANIFEST_NAME).unlink()
    with caplog.at_level(logging.WARNING, logger="determined.pytorch"):
        restored = made.restore(path)
    assert restored.state == TrialState(0)
    assert "counted from 0" in caplog.text
