"""Logins in what other trackers have: everybody sees hyperparameters, metadata and notes of an imported run."""

from datetime import UTC, datetime
from pathlib import Path

from determined.master.importing.sources.mlflow.mapping import MlflowSource
from determined.master.importing.sources.wandb.mapping import experiment
from determined.master.importing.sources.wandb.reading import Run
from determined.master.importing.tracked import TrackedExperiment
from determined.master.importing.tracked_metrics import MetricChoice
from determined.master.importing.tracked_rows import Place, experiment_rows, trial_row

PLACE = Place("store", datetime(2026, 1, 1, tzinfo=UTC), 1, 1, 1, "default")
URL, MASKED = "postgresql://ada:hidden@db/x", "postgresql://********@db/x"


def stored(tracked: TrackedExperiment) -> str:
    """Return the rows of an experiment and its first trial."""
    return repr((experiment_rows(tracked, PLACE), trial_row(tracked.trials[0], 1, PLACE)))


def test_logins_in_parameters_and_notes_of_mlflow_are_masked(tmp_path: Path) -> None:
    run = tmp_path / "1" / "r"
    for folder, name in (("params", "data"), ("tags", "mlflow.note.content")):
        (run / folder).mkdir(parents=True)
        (run / folder / name).write_text(f"from {URL}")
    (run.parent / "meta.yaml").write_text("name: e\n")
    (run / "meta.yaml").write_text("run_id: r\nstatus: 3\n")
    (tracked,) = MlflowSource(str(tmp_path)).experiments()
    assert "hidden" not in stored(tracked)
    assert experiment_rows(tracked, PLACE)[1]["notes"] == f"from {MASKED}"
    assert trial_row(tracked.trials[0], 1, PLACE)["hparams"] == {"data": f"from {MASKED}"}


def test_logins_in_the_config_and_summary_of_wandb_are_masked() -> None:
    config = {"lr": 0.1, "data": {"urls": [URL, "plain"]}}
    run = Run("r", [], config=config, summary={"from": URL}, notes=f"see {URL}", exit_code=0)
    tracked = experiment("r", [run], MetricChoice())
    assert "hidden" not in stored(tracked)
    assert trial_row(tracked.trials[0], 1, PLACE)["hparams"] == {"lr": 0.1, "data": {"urls": [MASKED, "plain"]}}
