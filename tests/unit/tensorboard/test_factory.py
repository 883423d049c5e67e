"""Managers and writers by name, as older code asks for them."""

from pathlib import Path
from typing import Any

import pytest

from determined import tensorboard
from determined.tensorboard.metric_writers import pytorch as torch_writers
from determined.tensorboard.metric_writers import tensorflow as tensorflow_writers


@pytest.fixture
def own_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """In place of a temporary directory of the process."""
    directory = tmp_path / "events"
    directory.mkdir()
    monkeypatch.setattr("determined.tensorboard.factory._temporary", lambda: directory)
    return directory


@pytest.mark.parametrize("kind", ["shared_fs", "directory"])
def test_what_is_built_stores_a_trials_files(own_directory: Path, tmp_path: Path, kind: str) -> None:
    place = {"shared_fs": "host_path", "directory": "container_path"}[kind]
    config = {"type": kind, place: str(tmp_path / "store")}
    manager = tensorboard.build("cluster", "3", "7", config)
    manager.start()
    (manager.base_path / "a").write_text("1")
    manager.close()
    assert manager.base_path == own_directory
    assert manager.sync_path == tensorboard.get_sync_path("cluster", 3, 7)
    assert (tmp_path / "store" / "cluster/tensorboard/experiment/3/trial/7/a").read_text() == "1"


def test_without_a_trial_it_is_the_experiments_own_place(own_directory: Path, tmp_path: Path) -> None:
    manager = tensorboard.build("cluster", 3, None, str(tmp_path / "store"))
    assert manager.sync_path == tensorboard.get_experiment_sync_path("cluster", 3)
    assert manager.sync_path == Path("cluster/tensorboard/experiment/3")


@pytest.mark.parametrize("config", [{"type": "hdfs"}, {}])
def test_another_kind_of_storage_is_a_type_error(own_directory: Path, config: dict[str, Any]) -> None:
    with pytest.raises(TypeError, match="use one of shared_fs, directory, s3, gcs, azure"):
        tensorboard.build("cluster", 3, 7, config)


def test_off_cluster_the_base_path_is_one_directory_of_this_process() -> None:
    path = tensorboard.get_base_path({})
    assert path.is_dir()
    assert tensorboard.get_base_path({"type": "s3"}) == path


def test_metrics_are_written_without_any_framework(own_directory: Path) -> None:
    writer = tensorboard.get_metric_writer()
    writer.on_train_step_end(10, {"loss": 0.5, "note": "text", "done": True}, [{"loss": 1.0}, {"loss": 0.0}])
    writer.on_validation_step_end(10, {"loss": 0.25, "val_acc": 1})
    (file,) = own_directory.iterdir()
    raw = file.read_bytes()
    counts = {tag: raw.count(tag) for tag in (b"Determined/loss", b"Determined/val_loss", b"Determined/val_acc")}
    assert counts == {b"Determined/loss": 3, b"Determined/val_loss": 1, b"Determined/val_acc": 1}
    assert b"note" not in raw and b"done" not in raw


def test_after_a_reset_there_is_another_file(own_directory: Path) -> None:
    writer = tensorboard.get_metric_writer().writer
    for step in range(2):
        writer.add_scalar("x", 1.0, step)
        writer.reset()
    assert len(list(own_directory.iterdir())) == 2


def test_writers_of_frameworks_name_the_extra_they_need(monkeypatch: pytest.MonkeyPatch) -> None:
    for module, make in (("torch", torch_writers.TorchWriter), ("tensorflow", tensorflow_writers.TFWriter)):
        monkeypatch.setitem(__import__("sys").modules, module, None)
        with pytest.raises(ImportError, match=rf"pip install 'redetermined\[{module}\]'"):
            make()
