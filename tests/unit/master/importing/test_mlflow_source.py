"""Runs of real MLflow stores (tracker_stores of tests/integration/importing) become experiments."""

import math
import shutil
from pathlib import Path

import pytest

from determined.errors import DeterminedError
from determined.master.importing.notes import Tally
from determined.master.importing.sources.mlflow.mapping import MlflowSource, value_of
from determined.master.importing.tracked import TrackedExperiment
from determined.master.importing.tracked_metrics import MetricChoice
from determined.master.lifecycle.states import State

STORES = Path(__file__).parents[3] / "integration" / "importing" / "tracker_stores" / "mlflow"
SOURCES = {"directory": str(STORES / "mlruns"), "database": f"sqlite:///{STORES / 'mlflow.db'}"}


@pytest.fixture(params=SOURCES)
def experiments(request: pytest.FixtureRequest) -> list[TrackedExperiment]:
    return list(MlflowSource(SOURCES[request.param]).experiments())


def named(experiments: list[TrackedExperiment], name: str) -> TrackedExperiment:
    return next(experiment for experiment in experiments if experiment.name == name)


def test_a_run_is_an_experiment_and_one_with_children_is_a_search(experiments: list[TrackedExperiment]) -> None:
    vision = [e for e in experiments if e.project == "vision/mnist"]
    assert [(e.name, e.is_search, len(e.trials), e.state) for e in vision] == [
        ("baseline", False, 1, State.COMPLETED),
        ("search", True, 2, State.COMPLETED),
        ("failed", False, 1, State.ERROR),
    ]
    assert [trial.state for trial in named(experiments, "search").trials] == [State.COMPLETED, State.CANCELED]


def test_parameters_are_numbers_again_and_tags_are_kept(experiments: list[TrackedExperiment]) -> None:
    (trial,) = named(experiments, "baseline").trials
    assert trial.hparams == {"lr": 0.01, "layers": 3, "optimizer": "adam", "augment": True}
    assert trial.metadata["tags"] == {"team": "blue"}
    assert trial.metadata["mlflow"]["artifact_uri"].startswith("s3://bucket/artifacts/")
    assert trial.started_at is not None
    assert trial.started_at.timestamp() == 1_700_000_000


def test_logins_in_addresses_are_masked(tmp_path: Path) -> None:
    run = tmp_path / "1" / "r"
    (run / "tags").mkdir(parents=True)
    (run.parent / "meta.yaml").write_text("name: e\n")
    (run / "meta.yaml").write_text("run_id: r\nartifact_uri: ftp://user:hidden@host/a\n")
    (run / "tags" / "mlflow.source.git.repoURL").write_text("https://hidden@host/code.git")
    (experiment,) = MlflowSource(str(tmp_path)).experiments()
    metadata = experiment.trials[0].metadata
    assert metadata["mlflow"]["artifact_uri"] == "ftp://********@host/a"
    assert metadata["tags"] == {"mlflow.source.git.repoURL": "https://********@host/code.git"}
    assert not any("hidden" in note.example for note in experiment.findings)


def test_values_are_by_group_step_and_time(experiments: list[TrackedExperiment]) -> None:
    baseline = named(experiments, "baseline")
    reports = list(baseline.trials[0].reports())
    losses = {report.step: report.metrics["loss"] for report in reports if report.group == "training"}
    assert losses[0] == 0.25, "the later of two values of one step"
    assert losses[4] == 0.2
    assert math.isnan(losses[5])
    assert losses[6] == math.inf
    validations = [report for report in reports if report.group == "validation"]
    assert [(report.step, report.metrics) for report in validations][1] == (1, {"val/loss": 0.75})
    assert (baseline.metric, baseline.smaller_is_better) == ("val/loss", True)


def test_metrics_without_steps_are_numbered_by_time(experiments: list[TrackedExperiment]) -> None:
    search = named(experiments, "search")
    assert [report.step for report in search.trials[0].reports()] == [0, 1, 2]
    assert (search.metric, search.smaller_is_better) == ("val_accuracy", False)


def test_what_stays_out_is_named(experiments: list[TrackedExperiment]) -> None:
    tally = Tally()
    for experiment in experiments:
        tally.add(experiment.findings)
    assert tally.counts == {
        "mlflow_models": 1,
        "mlflow_artifacts": 6,
        "mlflow_deleted": 1,
        "mlflow_running": 1,
    }


def test_the_parent_directory_of_mlruns_will_do() -> None:
    assert MlflowSource(str(STORES)).identity == MlflowSource(SOURCES["directory"]).identity


def test_a_damaged_directory_gives_what_can_be_read(tmp_path: Path) -> None:
    store = tmp_path / "mlruns"
    shutil.copytree(STORES / "mlruns", store)
    (metric,) = store.glob("*/*/metrics/loss")
    metric.write_text("no numbers here\n1700000001000 nan 1\n1700000002000 0.5 2 and more\n1700000003000\n")
    (metric.parents[1] / "params" / "link").symlink_to("/etc/passwd")
    failed = next(path for path in store.glob("*/*/tags/mlflow.runName") if path.read_text() == "failed")
    (failed.parents[1] / "meta.yaml").write_text("a: [")
    experiments = list(MlflowSource(str(store)).experiments())
    runs = [trial for e in experiments for trial in e.trials if "lr" in trial.hparams]
    assert all("link" not in trial.hparams for trial in runs)
    assert sum(note.rule.name == "mlflow_damaged" for e in experiments for note in e.findings) == 3
    reports = named(experiments, "baseline").trials[0].reports()
    assert [report.step for report in reports if report.group == "training"] == [1, 2]
    assert "failed" not in [experiment.name for experiment in experiments]


def test_the_database_is_not_written(tmp_path: Path) -> None:
    copy = tmp_path / "mlflow.db"
    shutil.copy(STORES / "mlflow.db", copy)
    copy.chmod(0o444)
    before = copy.read_bytes()
    assert len(list(MlflowSource(f"sqlite:///{copy}").experiments())) == 4
    assert copy.read_bytes() == before
    assert list(tmp_path.iterdir()) == [copy]


@pytest.mark.parametrize("source", ["sqlite:///missing.db", "missing", "mysql://user:secret@host/db"])
def test_a_source_that_is_none_is_refused_without_its_secrets(source: str) -> None:
    with pytest.raises(DeterminedError) as raised:
        list(MlflowSource(source).experiments())
    assert "secret" not in raised.value.message


@pytest.mark.parametrize(
    ("text", "value"), [("3", 3), ("1e-3", 0.001), ("True", True), ("None", None), ("adam", "adam"), ("1.2.3", "1.2.3")]
)
def test_texts_become_values(text: str, value: object) -> None:
    assert value_of(text) == value


@pytest.mark.parametrize(
    ("name", "group"),
    [
        ("val_loss", "validation"),
        ("val/loss", "validation"),
        ("epoch/eval_loss", "validation"),
        ("test.acc", "validation"),
        ("value", "training"),
        ("train/loss", "training"),
        ("latest", "training"),
    ],
)
def test_groups_by_name(name: str, group: str) -> None:
    assert MetricChoice().group(name) == group


def test_the_compared_metric_is_chosen_or_said() -> None:
    assert MetricChoice().compared(["val_acc", "val_loss", "loss"]) == ("val_loss", True)
    assert MetricChoice().compared(["acc"]) == ("acc", False)
    assert MetricChoice().compared([]) == ("validation_loss", True)
    assert MetricChoice(metric="speed", maximize=True).compared(["loss"]) == ("speed", False)


@pytest.mark.parametrize("text", ["0123", "1_000", "12e4567", "9" * 40, "nan", "1 2", "0x10", ".", "e5", "none"])
def test_a_parameter_that_is_not_written_as_a_number_stays_text(text: str) -> None:
    assert value_of(text) == text


@pytest.mark.parametrize(("text", "value"), [("-3", -3), ("1e-05", 1e-05), (".5", 0.5), ("10.", 10.0), ("0", 0)])
def test_a_parameter_that_is_written_as_a_number_is_one(text: str, value: float) -> None:
    assert (value_of(text), type(value_of(text))) == (value, type(value))
