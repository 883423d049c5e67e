"""Behaviours that every training API has, run over a rig of each: train, validate, checkpoint, pause to the same
result, report, search, and say what is wrong with a trial."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from rigs import LENGTH, Rig, all_rigs
from trial_task import Programs, Run, TrialTask

from determined._frameworks import frameworks
from determined.wire.report import EarlyExit, PreemptAck, Progress

pytestmark = pytest.mark.timeout(900)  # some import for minutes on a busy machine


def _param(rig: Rig) -> object:
    return pytest.param(rig, id=rig.name, marks=[] if rig.environment_name == "here" else [pytest.mark.frameworks])


@pytest.fixture(scope="module", params=[_param(rig) for rig in all_rigs()])
def rig(request: pytest.FixtureRequest) -> Rig:
    chosen: Rig = request.param
    if chosen.obstacle is not None:
        pytest.skip(chosen.obstacle)
    return chosen


@pytest.fixture(scope="module")
def running_programs() -> Iterator[dict[object, Programs]]:
    """Share one process between all rigs that import the same packages."""
    running: dict[object, Programs] = {}
    yield running
    for programs in running.values():
        programs.close()


@pytest.fixture(scope="module")
def programs(rig: Rig, running_programs: dict[object, Programs]) -> Programs:
    if rig.imports not in running_programs:
        running_programs[rig.imports] = Programs(rig)
    return running_programs[rig.imports]


@pytest.fixture
def trial(rig: Rig, programs: Programs, tmp_path: Path) -> TrialTask:
    return TrialTask(rig, programs, tmp_path / "trial")


@pytest.fixture(scope="module")
def undisturbed_trial(rig: Rig, programs: Programs, tmp_path_factory: pytest.TempPathFactory) -> TrialTask:
    return TrialTask(rig, programs, tmp_path_factory.mktemp(rig.name) / "trial")


@pytest.fixture(scope="module")
def undisturbed(undisturbed_trial: TrialTask) -> Run:
    """A trial trained to its end in one go."""
    run = undisturbed_trial.run()
    assert run.status == 0, run.output
    return run


def test_training_metrics_are_reported_at_their_batches(rig: Rig, undisturbed: Run) -> None:
    training = undisturbed.metrics("training")
    assert tuple(sorted(training)) == rig.training
    losses = [training[batch]["loss"] for batch in rig.training]
    assert losses[-1] < losses[0], "the model learns"


def test_validation_metrics_are_reported_at_their_batches_and_hold_the_searcher_metric(
    rig: Rig, undisturbed: Run
) -> None:
    validation = undisturbed.metrics("validation")
    assert tuple(sorted(validation)) == rig.validation
    assert all(isinstance(metrics[rig.metric], float) for metrics in validation.values())
    assert validation[LENGTH][rig.metric] < validation[rig.validation[0]][rig.metric], "the model learns"


def test_last_checkpoint_is_stored_whole_before_it_is_reported(undisturbed_trial: TrialTask, undisturbed: Run) -> None:
    last = undisturbed.checkpoints[-1]
    assert last.steps == LENGTH
    assert last.metadata["steps_completed"] == LENGTH
    stored = undisturbed_trial.storage / last.uuid
    files = {path: size for path, size in last.resources.items() if not path.endswith("/")}
    assert files
    assert {path: (stored / path).stat().st_size for path in files} == files


def test_searcher_is_told_the_metric_of_the_last_validation_and_the_progress(rig: Rig, undisturbed: Run) -> None:
    assert undisturbed.operations == [(LENGTH, undisturbed.metrics("validation")[LENGTH][rig.metric])]
    assert undisturbed.of(Progress)[-1].value == LENGTH


def test_paused_trial_ends_with_the_metrics_of_an_undisturbed_one(trial: TrialTask, undisturbed: Run) -> None:
    paused = trial.run(pauses=True)
    assert paused.status == 0, paused.output
    assert paused.of(PreemptAck), "it leaves because it was asked to"
    assert not paused.operations
    latest = paused.checkpoints[-1]
    assert 0 < latest.steps < LENGTH
    resumed = trial.run(latest=latest)
    assert resumed.status == 0, resumed.output
    assert min(resumed.metrics("training")) > latest.steps, "nothing is trained twice"
    both = {**paused.metrics("validation"), **resumed.metrics("validation")}
    assert both == undisturbed.metrics("validation")
    last = resumed.metrics("training")[LENGTH]["loss"]
    assert last == undisturbed.metrics("training")[LENGTH]["loss"]
    assert resumed.operations == undisturbed.operations


def test_search_chooses_hyperparameters_and_lengths(rig: Rig, trial: TrialTask, undisturbed: Run) -> None:
    first, second = 4, 8
    run = trial.run(lengths=(first, second), hparams={"lr": 0.03})
    assert run.status == 0, run.output
    validation = run.metrics("validation")
    assert run.operations == [(batch, validation[batch][rig.metric]) for batch in (first, second)]
    assert max(run.metrics("training")) == second
    assert run.checkpoints[-1].steps == second
    assert validation[first] != undisturbed.metrics("validation")[first], "the hyperparameter arrives"


def test_trial_with_invalid_hyperparameters_ends_well_and_says_so(trial: TrialTask) -> None:
    run = trial.run(hparams={"lr": -1.0})
    assert run.status == 0, run.output
    assert [report.reason for report in run.of(EarlyExit)] == ["EXITED_REASON_INVALID_HP"]
    assert not run.operations


def test_error_of_user_code_names_file_and_value(rig: Rig, trial: TrialTask) -> None:
    run = trial.run(hparams={"lr": "fast"})
    assert run.status != 0
    assert f"{rig.entrypoint.partition(':')[0].removesuffix('.py')}.py" in run.output
    assert "could not convert string to float: 'fast'" in run.output


def test_trial_that_leaves_something_out_is_told_what(rig: Rig, trial: TrialTask) -> None:
    run = trial.run(entrypoint=rig.mistake)
    assert run.status != 0
    assert rig.advice in run.output
    assert not run.operations


@pytest.mark.parametrize("rig", [_param(rig) for rig in all_rigs() if rig.checks_searcher_metric], indirect=True)
def test_searcher_metric_that_no_validation_reports_is_named(rig: Rig, trial: TrialTask) -> None:
    run = trial.run(metric="accuracy_of_nothing")
    assert run.status != 0
    assert "accuracy_of_nothing" in run.output
    assert rig.metric in run.output, "the metrics that there are"


@pytest.mark.parametrize("rig", [_param(rig) for rig in all_rigs() if rig.is_trial_class], indirect=True)
def test_trial_class_can_be_tried_on_one_batch_off_cluster(rig: Rig, trial: TrialTask) -> None:
    run = trial.run_one_batch()
    assert run.status == 0, run.output


def test_every_training_api_has_a_rig() -> None:
    assert {rig.api for rig in all_rigs()} >= {framework.package for framework in frameworks()}
