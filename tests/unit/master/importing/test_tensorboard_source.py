"""Event files of real writers (tracker_stores of tests/integration/importing) become experiments."""

import shutil
from pathlib import Path

import pytest

from determined.errors import InvalidArgument
from determined.master.importing.sources.tensorboard.mapping import TensorBoardSource
from determined.master.lifecycle.states import State

STORE = Path(__file__).parents[3] / "integration" / "importing" / "tracker_stores" / "tensorboard"


def test_runs_in_one_directory_are_the_trials_of_one_experiment() -> None:
    (experiment,) = TensorBoardSource(str(STORE)).experiments()
    assert (experiment.name, experiment.project, experiment.is_search) == ("sweep", "tensorboard", True)
    assert [trial.external_id for trial in experiment.trials] == ["sweep/lr=0.01", "sweep/lr=0.1"]
    assert (experiment.metric, experiment.smaller_is_better) == ("val/loss", True)
    assert experiment.state == State.COMPLETED


def test_scalars_and_hyperparameters_come() -> None:
    (experiment,) = TensorBoardSource(str(STORE)).experiments()
    trial = experiment.trials[1]
    assert trial.hparams == {"lr": 0.1, "opt": "sgd"}
    reports = [(report.group, report.step, report.metrics) for report in trial.reports()]
    assert reports[:2] == [
        ("training", 0, {"train/loss": pytest.approx(0.1)}),
        ("validation", 0, {"val/loss": pytest.approx(0.2)}),
    ]
    assert len(reports) == 8
    assert trial.started_at is not None
    assert trial.ended_at is not None
    assert (trial.started_at.timestamp(), trial.ended_at.timestamp()) == (1_700_000_001, 1_700_000_004.5)


def test_train_and_validation_are_parts_of_one_run(tmp_path: Path) -> None:
    first, second = sorted((STORE / "sweep").iterdir())
    shutil.copytree(first, tmp_path / "logs" / "train")
    shutil.copytree(second, tmp_path / "logs" / "validation")
    (experiment,) = TensorBoardSource(str(tmp_path)).experiments()
    (trial,) = experiment.trials
    assert trial.external_id == "logs"
    assert {report.group for report in trial.reports()} == {"training", "validation"}
    assert len(list(trial.reports())) == 16


def test_a_cut_file_gives_what_comes_before(tmp_path: Path) -> None:
    shutil.copytree(STORE / "sweep" / "lr=0.1", tmp_path / "run")
    (events,) = (tmp_path / "run").iterdir()
    events.write_bytes(events.read_bytes()[:-30])
    (experiment,) = TensorBoardSource(str(tmp_path)).experiments()
    assert len(list(experiment.trials[0].reports())) == 7


def test_a_directory_without_event_files_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidArgument, match="no event files"):
        list(TensorBoardSource(str(tmp_path)).experiments())
