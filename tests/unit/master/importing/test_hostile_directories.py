"""Directories of MLflow and W&B that a stranger made: links, pipes and numbers of any size in them."""

import os
from pathlib import Path

import pytest

from determined.errors import InvalidArgument
from determined.master.importing.sources.mlflow.mapping import MlflowSource
from determined.master.importing.sources.wandb.mapping import WandbSource
from determined.master.importing.sources.wandb.reading import find_logs
from determined.master.importing.tracked import TrackedExperiment


def private(tmp_path: Path) -> Path:
    """Make a directory of whoever imports, which is not of the store."""
    (tmp_path / "private").mkdir()
    (tmp_path / "private" / "id_rsa").write_text("hidden key")
    (tmp_path / "private" / "meta.yaml").write_text("name: hidden key\n")
    return tmp_path / "private"


def mlflow_run(store: Path, meta: str = "run_id: r\nstatus: 3\n") -> Path:
    run = store / "1" / "r"
    run.mkdir(parents=True)
    (run.parent / "meta.yaml").write_text("name: e\n")
    (run / "meta.yaml").write_text(meta)
    return run


def only(store: Path) -> TrackedExperiment:
    (experiment,) = MlflowSource(str(store)).experiments()
    return experiment


@pytest.mark.parametrize("name", ["params", "tags", "metrics"])
def test_a_directory_of_a_run_that_is_a_link_is_not_read(tmp_path: Path, name: str) -> None:
    (mlflow_run(tmp_path / "store") / name).symlink_to(private(tmp_path))
    experiment = only(tmp_path / "store")
    assert "hidden" not in repr((experiment, list(experiment.trials[0].reports())))
    assert "id_rsa" not in repr(experiment)


def test_models_of_a_link_are_not_named(tmp_path: Path) -> None:
    mlflow_run(tmp_path / "store")
    (tmp_path / "models" / "hidden").mkdir(parents=True)
    (tmp_path / "models" / "hidden" / "meta.yaml").write_text("name: hidden\n")
    (tmp_path / "store" / "models").symlink_to(tmp_path / "models")
    assert only(tmp_path / "store").findings == []


def test_a_store_that_a_directory_links_to_is_not_taken_for_its_own(tmp_path: Path) -> None:
    mlflow_run(tmp_path / "mine" / "mlruns")
    (tmp_path / "theirs").mkdir()
    (tmp_path / "theirs" / "mlruns").symlink_to(tmp_path / "mine" / "mlruns")
    with pytest.raises(InvalidArgument, match="mlruns"):
        list(MlflowSource(str(tmp_path / "theirs")).experiments())
    assert only(tmp_path / "theirs" / "mlruns").name == "r", "a link that is named itself is what is meant"


@pytest.mark.parametrize("number", ["1" + "0" * 400, "-1" + "0" * 400, ".inf", ".nan", "0x" + "f" * 5000])
def test_times_of_any_size_do_not_end_an_import_of_mlflow(tmp_path: Path, number: str) -> None:
    mlflow_run(tmp_path, f"run_id: r\nrun_name: {number}\nstatus: 3\nstart_time: {number}\n")
    assert only(tmp_path).trials[0].started_at is None


def test_a_pipe_in_the_place_of_a_log_of_wandb_does_not_hold_an_import(tmp_path: Path) -> None:
    (tmp_path / "run-1").mkdir()
    os.mkfifo(tmp_path / "run-1" / "run-1.wandb")
    with pytest.raises(InvalidArgument, match="wandb"):
        find_logs(tmp_path)


def test_links_in_the_place_of_logs_of_wandb_are_not_read(tmp_path: Path) -> None:
    mine = tmp_path / "mine" / "run-1"
    mine.mkdir(parents=True)
    (mine / "run-1.wandb").write_bytes(b"log")
    theirs = tmp_path / "theirs"
    (theirs / "run-2").mkdir(parents=True)
    (theirs / "run-1").symlink_to(mine)
    (theirs / "run-2" / "run-1.wandb").symlink_to(mine / "run-1.wandb")
    with pytest.raises(InvalidArgument, match="wandb"):
        list(WandbSource(str(theirs)).experiments())
    assert find_logs(theirs / "run-1") == [theirs / "run-1" / "run-1.wandb"], "a link that is named itself is meant"
