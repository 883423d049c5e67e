"""The order of a trial's workloads: training, validation and checkpoints, by the config and by the searcher."""

import math
from typing import Any

import pytest

from determined import core
from determined.errors import InvalidExperimentException
from determined.trial import EnvContext, Save, Train, Validate, Workloads


class _Master:
    """What a trial tells and asks; `log` has it in order."""

    def __init__(self, *lengths: int, unit: str = "BATCHES", stop_at: int | None = None) -> None:
        self.log: list[Any] = []
        self._lengths = lengths
        self._unit = core.Unit[unit]
        self.stop_at = stop_at
        self.batches = 0
        self.best: float | None = None
        self.last_validation: int | None = None
        self.distributed = core.DummyDistributedContext()
        self.train = self.preempt = self.searcher = self

    def set_status(self, status: str) -> None: ...

    def report_training_metrics(self, batches: int, metrics: dict[str, Any]) -> None:
        self.batches = batches
        self.log.append(("trained", batches, metrics))

    def report_validation_metrics(self, batches: int, metrics: dict[str, Any]) -> None:
        self.last_validation = batches
        self.log.append(("validated", batches))

    def get_experiment_best_validation(self) -> float | None:
        return self.best

    def _get_last_validation(self) -> int | None:
        return self.last_validation

    def report_progress(self, progress: float) -> None:
        self.log.append(("progress", progress))

    def should_preempt(self) -> bool:
        return self.stop_at is not None and self.batches >= self.stop_at

    def get_configured_units(self) -> core.Unit:
        return self._unit

    def operations(self) -> Any:
        return (_Operation(self.log, length) for length in self._lengths)


class _Operation:
    def __init__(self, log: list[Any], length: int) -> None:
        self.length = length
        self._log = log

    def report_progress(self, length: float) -> None:
        self._log.append(("progress", length))

    def report_completed(self, metric: Any) -> None:
        self._log.append(("completed", self.length, metric))


def _config(**sections: Any) -> dict[str, Any]:
    searcher = {"name": "single", "metric": "loss", "max_length": {"batches": 10}}
    return {"searcher": searcher, "scheduling_unit": 4, "checkpoint_policy": "none", **sections}


def _workloads(master: Any, config: dict[str, Any], *, state: Any = None, **fields: Any) -> Workloads:
    options = {name: fields.pop(name) for name in ("records_per_epoch", "validation_alters") if name in fields}
    env = EnvContext.from_config(config, seed=1, on_cluster=True, **fields)
    return Workloads(master, env, global_batch_size=8, state=state, **options)


def _done(workloads: Workloads, loss: float = 0.5) -> list[Any]:
    """Everything it asks for, in short: a number of batches, "V", "S"."""
    asked: list[Any] = []
    for workload in workloads:
        match workload:
            case Train(batches):
                asked.append(batches)
                workloads.trained({"loss": loss}, batches)
            case Validate():
                asked.append("V")
                workloads.validated({"loss": loss})
            case Save():
                asked.append("S")
                workloads.saved("uuid")
    return asked


def test_at_the_end_of_an_operation_the_checkpoint_is_first_and_the_searcher_last() -> None:
    master = _Master(10)
    assert _done(_workloads(master, _config())) == [4, 4, 2, "S", "V"]
    assert master.log[-3:] == [("progress", 10), ("validated", 10), ("completed", 10, 0.5)]


def test_a_validation_that_alters_the_trial_is_part_of_its_checkpoint() -> None:
    assert _done(_workloads(_Master(10), _config(), validation_alters=True)) == [4, 4, 2, "V", "S"]


def test_periodic_validations_come_before_periodic_checkpoints() -> None:
    config = _config(min_validation_period={"batches": 3}, min_checkpoint_period={"batches": 3})
    assert _done(_workloads(_Master(7), config)) == [3, "V", "S", 3, "V", "S", 1, "S", "V"]


def test_periods_count_from_the_last_of_their_kind() -> None:
    config = _config(min_validation_period={"batches": 6})
    assert _done(_workloads(_Master(5, 12), config)) == [4, 1, "S", "V", 4, 2, "V", 1, "S", "V"]


@pytest.mark.parametrize(
    ("period", "batches"), [({"records": 17}, 2), ({"records": 3}, 1), ({"epochs": 1}, 2), ({"epochs": 2}, 5)]
)
def test_periods_are_whole_batches(period: dict[str, int], batches: int) -> None:
    config = _config(min_validation_period=period, scheduling_unit=100)
    assert _done(_workloads(_Master(11), config, records_per_epoch=20))[:2] == [batches, "V"]


def test_epochs_need_the_number_of_their_records() -> None:
    with pytest.raises(ValueError, match=r"min_validation_period counts epochs.*records_per_epoch"):
        _workloads(_Master(3), _config(min_validation_period={"epochs": 1}))
    with pytest.raises(InvalidExperimentException, match=r"Epoch\(3\).*records_per_epoch"):
        _done(_workloads(_Master(3, unit="EPOCHS"), _config()))


def test_operations_in_epochs_end_at_whole_batches() -> None:
    master = _Master(3, unit="EPOCHS")
    assert _done(_workloads(master, _config(), records_per_epoch=20)) == [4, 3, "S", "V"]
    assert [entry for entry in master.log if entry[0] == "progress"] == [("progress", 1.6), ("progress", 3)]


def test_metrics_say_how_far_training_is() -> None:
    master = _Master(5)
    _done(_workloads(master, _config(), records_per_epoch=32))
    assert [entry[2] for entry in master.log if entry[0] == "trained"] == [
        {"batches": 4, "epochs": 1, "loss": 0.5},
        {"batches": 5, "epochs": 1.25, "loss": 0.5},
    ]


@pytest.mark.parametrize(
    ("policy", "best", "expected"), [("all", 0.1, True), ("best", 0.1, False), ("best", 0.9, True)]
)
def test_the_policy_says_which_validations_are_saved(policy: str, best: float, expected: bool) -> None:
    master = _Master(10)
    master.best = best
    asked = _done(_workloads(master, _config(checkpoint_policy=policy, min_validation_period={"batches": 4})))
    assert asked[:3] == [4, "V", "S" if expected else 4]


def test_a_late_search_trains_for_its_length_once() -> None:
    config = _config(searcher={"name": "single", "metric": "loss", "time_metric": "batches", "max_time": 6})
    master = _Master()
    assert _done(_workloads(master, config)) == [4, 2, "S", "V"]
    assert ("progress", 1.0) in master.log


def test_a_pause_saves_and_leaves_before_anything_else_is_done() -> None:
    master = _Master(10, stop_at=4)
    workloads = _workloads(master, _config(min_validation_period={"batches": 4}))
    assert _done(workloads) == [4, "S"]
    assert workloads.state()["last_val"] == 0


@pytest.mark.parametrize("alters", [False, True])
@pytest.mark.parametrize("stop_at", [1, 3, 4, 6, 8, 9, 10])
def test_a_paused_trial_does_what_one_left_alone_does(stop_at: int, alters: bool) -> None:
    config = _config(min_validation_period={"batches": 3}, min_checkpoint_period={"batches": 4})
    alone = _Master(10)
    _done(_workloads(alone, config, validation_alters=alters))
    master = _Master(10, stop_at=stop_at)
    first = _workloads(master, config, validation_alters=alters)
    _done(first)
    master.stop_at = None
    _done(_workloads(master, config, state=first.state(), validation_alters=alters))
    wanted = [entry for entry in alone.log if entry[0] in ("validated", "completed")]
    assert [entry for entry in master.log if entry[0] in ("validated", "completed")] == wanted


def test_a_trial_killed_after_its_last_validation_completes_its_operation() -> None:
    master = _Master(4)
    first = _workloads(master, _config())
    for workload in first:
        if isinstance(workload, Train):
            first.trained({}, workload.batches)
        elif isinstance(workload, Save):
            state = first.state()
            first.saved("uuid")
        else:
            first.validated({"loss": 0.25})
            break
    assert _done(_workloads(master, _config(), state=state), loss=0.25) == ["V"]
    assert master.log[-1] == ("completed", 4, 0.25)


def test_a_result_in_the_checkpoint_is_not_computed_again() -> None:
    master = _Master(4)
    first = _workloads(master, _config(), validation_alters=True)
    states = []
    for workload in first:
        match workload:
            case Train(batches):
                first.trained({}, batches)
            case Validate():
                first.validated({"loss": 0.25})
            case Save():
                states.append(first.state())
                break
    assert _done(_workloads(master, _config(), state=states[-1], validation_alters=True)) == []
    assert master.log[-1] == ("completed", 4, 0.25)


def test_a_requested_stop_ends_after_the_workload_in_progress() -> None:
    workloads = _workloads(_Master(10), _config())
    asked = []
    for workload in workloads:
        asked.append(workload)
        if isinstance(workload, Train):
            workloads.trained({}, 2)
            workloads.stop()
        else:
            workloads.saved("uuid")
    assert asked == [Train(4), Save()]
    assert workloads.state()["steps_completed"] == 2


def test_an_initial_validation_is_made_once() -> None:
    master = _Master(4)
    config = _config(perform_initial_validation=True)
    assert _done(_workloads(master, config))[:2] == ["V", 4]
    assert _done(_workloads(master, config))[:1] == [4]


def test_test_mode_trains_one_batch() -> None:
    config = _config(min_validation_period={"batches": 1}, checkpoint_policy="all")
    assert _done(_workloads(_Master(), config, test_mode=True)) == [1, "S", "V"]


def test_another_trials_counters_are_not_taken_over() -> None:
    workloads = _workloads(_Master(), _config(), state={"trial_id": 7, "steps_completed": 3})
    assert workloads.steps_completed == 0


def test_counters_of_older_releases_are_understood() -> None:
    workloads = _workloads(_Master(), _config(), state={"trial_id": 0, "latest_batch": 3, "last_val": None})
    assert workloads.steps_completed == 3


def test_a_workload_without_an_answer_is_an_error() -> None:
    workloads = iter(_workloads(_Master(10), _config()))
    next(workloads)
    with pytest.raises(RuntimeError, match=r"Train.* has no answer"):
        next(workloads)


def test_a_wrong_answer_is_an_error() -> None:
    workloads = _workloads(_Master(10), _config())
    next(iter(workloads))
    with pytest.raises(RuntimeError, match="an answer to Validate while Train"):
        workloads.validated({})


def test_a_missing_searcher_metric_is_named_once_it_is_reported() -> None:
    master = _Master(1)
    workloads = _workloads(master, _config(checkpoint_policy="best"))
    with pytest.raises(RuntimeError, match="'loss' is not among"):
        for workload in workloads:
            match workload:
                case Train(batches):
                    workloads.trained({}, batches)
                case Save():
                    workloads.saved("uuid")
                case Validate():
                    workloads.validated({"accuracy": math.pi})
    assert ("validated", 1) in master.log
