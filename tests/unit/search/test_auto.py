"""`auto`: who is stopped and why, what it opens, where its budget ends; late and classic."""

import json
import math
from collections.abc import Sequence
from typing import Any

import pytest
from numbered_search import NumberedSearch

from determined.errors import FailedPrecondition, InvalidConfig
from determined.search import auto_sampler
from determined.search.auto_sampler import AutoSampler
from determined.search.axes import Axis
from determined.search.events import feed
from determined.search.evidence import Numbers
from determined.search.method import Create, ExitReason, Stop
from determined.search.preview import preview
from determined.search.rng import Rng
from determined.search.searcher import Searcher
from determined.search.simulate import Metric, Simulation, simulate

X = {"x": {"type": "double", "minval": 0, "maxval": 1}}
AUTO = {"name": "auto", "metric": "loss", "max_trials": 30, "max_concurrent_trials": 2}
RUNGS = [1, 2, 4, 8, 16, 32, 64]


def late(**config: Any) -> NumberedSearch:
    search = NumberedSearch(space=X, **{**AUTO, "time_metric": "epochs", "max_time": 64, **config})
    search.start()
    return search


def classic(**config: Any) -> NumberedSearch:
    search = NumberedSearch(classic=True, space=X, **{**AUTO, "max_length": {"batches": 64}, **config})
    search.start()
    return search


def run(metric: Metric, *, seed: int = 3, reports: list[int] = RUNGS, space: Any = None, **config: Any) -> Simulation:
    auto = {**AUTO, "time_metric": "epochs", "max_time": 64, **config}
    return simulate(
        Searcher.create(auto, X if space is None else space, seed=seed, classic=False),
        metric,
        Rng(seed),
        reports=reports,
    )


def reasons(done: Simulation) -> list[str]:
    return [str(op.reason) for batch in done.operations for op in batch if isinstance(op, Stop)]


def test_first_trials_go_on_as_nothing_is_known_yet() -> None:
    search = late()
    assert search.report(1, 0.5, 1) == []
    assert search.report(2, 0.9, 1) == []


def test_trial_whose_metric_is_no_number_is_stopped_once_another_has_one() -> None:
    search = late()
    assert search.report(1, math.nan, 1) == []
    assert search.report(2, 0.5, 1) == []
    assert search.report(1, math.nan, 2) == []
    assert search.report(2, 0.4, 2) == []
    assert search.report(1, math.inf, 4) == []
    assert search.report(2, math.nan, 4) == []
    assert search.report(1, 0.3, 8) == []
    assert search.report(2, math.nan, 8) == ["stop 2", "create 3"]


def test_best_result_counts_not_the_last() -> None:
    search = late()
    search.report(1, 0.5, 1)
    search.report(2, 0.1, 1)
    search.report(2, 1e6, 2)
    assert search.state()["rungs"][1]["metrics"] == [0.1]


def test_trial_at_full_length_ends_and_says_so() -> None:
    search = late()
    operations = search.search.validation(search.ids[0], 0.5, 64)
    stops = [op for op in operations if isinstance(op, Stop)]
    assert [stop.reason for stop in stops] == ["trained to its full length"]


def test_classic_trial_is_sent_from_rung_to_rung() -> None:
    search = classic()
    assert [search.complete(1, 0.5) for _ in RUNGS[1:]] == [[f"1 to {length}"] for length in RUNGS[1:]]
    assert search.complete(1, 0.5) == ["close 1", "create 3", "3 to 1"]
    with pytest.raises(FailedPrecondition, match="its current operation"):
        search.report(2, 0.5, 4)


def test_every_stop_says_what_chance_was_left() -> None:
    done = run(lambda hparams, length: float(hparams["x"]))
    said = {one for one in reasons(done) if one != "trained to its full length"}
    assert said and all(one.startswith("stopped: ") and one.endswith(" chance to reach the best 10%") for one in said)


def test_ranks_that_predict_stop_more_trials_than_ranks_that_do_not() -> None:
    rng = Rng(5)
    telling = run(lambda hparams, length: float(hparams["x"]))
    noise = run(lambda hparams, length: rng.uniform(0, 1) - length)
    full = [sum(trial.reached == 64 for trial in done.trials) for done in (telling, noise)]
    assert full[0] <= 15 < full[1]


def test_a_few_trials_are_never_stopped_however_bad() -> None:
    done = run(lambda hparams, length: float(hparams["x"]), seed=4)
    insured = [done.trials[number] for number in (3, 10)]
    assert [trial.reached for trial in insured] == [64, 64]


def test_constant_metric_ends_like_any_search() -> None:
    done = run(lambda hparams, length: 1.0)
    assert len(done.trials) == 30


@pytest.mark.parametrize("jump", [1e6, -1e6, 1e300])
def test_jumps_of_a_metric_change_no_decision_that_ranks_do_not_change(jump: float) -> None:
    """Added to every report at a rung it leaves all ranks as they are."""
    plain = run(lambda hparams, length: float(hparams["x"]))
    scaled = run(lambda hparams, length: float(hparams["x"]) * abs(jump))
    assert [trial.lengths for trial in scaled.trials] == [trial.lengths for trial in plain.trials]
    assert [trial.hparams for trial in scaled.trials] == [trial.hparams for trial in plain.trials]


def test_trial_that_ends_by_itself_before_the_longest_counts_as_fully_trained() -> None:
    done = run(lambda hparams, length: float(hparams["x"]), reports=[1, 2, 4])
    assert len(done.trials) == 30
    assert sum(trial.reached == 4 and not trial.told_to_end for trial in done.trials) > 0


def test_invalid_trial_is_replaced_and_a_failed_one_uses_up_its_place() -> None:
    search = late(max_trials=3)
    assert search.leave(1, ExitReason.INVALID_HP) == ["stop 1", "create 3"]
    assert search.leave(2, ExitReason.ERRORED) == ["create 4"]
    assert search.leave(3, ExitReason.ERRORED) == []


def test_budget_bounds_all_training_together() -> None:
    done = run(lambda hparams, length: float(hparams["x"]), max_trials=None, budget=640, reports=list(range(1, 65)))
    spent = sum(trial.reached for trial in done.trials)
    assert 640 <= spent <= 640 + 2  # each of the two that run makes one more report
    assert "the budget of the search is used" in reasons(done)
    assert len(done.trials) > 10


def test_search_with_a_budget_alone_cannot_be_extended() -> None:
    with pytest.raises(FailedPrecondition, match=r"larger searcher\.budget"):
        late(max_trials=None, budget=640).extend(3)


def test_extension_opens_more_trials() -> None:
    search = late(max_trials=2)
    assert search.extend(2) == []
    assert search.report(1, 0.5, 64) == ["stop 1", "create 3"]


def test_search_fails_when_a_trial_never_reports_what_it_compares() -> None:
    search = late()
    with pytest.raises(FailedPrecondition, match=r"searcher\.time_metric 'epochs'"):
        search.exit(1)


def test_restored_search_decides_alike_in_the_middle_of_everything() -> None:
    done = run(lambda hparams, length: float(hparams["x"]) / length)
    search = Searcher.create({**AUTO, "time_metric": "epochs", "max_time": 64}, X, seed=3, classic=False)
    for event, operations in zip(done.events, done.operations, strict=True):
        search = Searcher.restore(json.loads(json.dumps(search.snapshot(), allow_nan=False)))
        assert feed(search, event) == operations


@pytest.mark.parametrize(
    ("config", "named"),
    [
        ({"max_trials": None}, "budget"),
        ({"max_length": {"epochs": 4}, "budget": {"batches": 9}}, "use one unit"),
    ],
)
def test_incomplete_config_is_refused(config: dict[str, Any], named: str) -> None:
    searcher = {"name": "auto", "metric": "loss", "max_trials": 3, "max_length": {"epochs": 4}, **config}
    with pytest.raises(InvalidConfig) as refused:
        Searcher.create(searcher, X, seed=1, classic=True)
    assert named in str(refused.value.__dict__)


def test_preview_knows_the_trials_and_a_budget_bounds_them() -> None:
    by_trials = preview({**AUTO, "max_length": {"epochs": 64}}, X, classic=True)
    assert by_trials.trials == 30 and by_trials.unit == "epochs"
    by_budget = preview(
        {"name": "auto", "metric": "loss", "time_metric": "epochs", "max_time": 64, "budget": 640}, X, classic=False
    )
    assert by_budget.total_units is not None and 400 <= by_budget.total_units <= 640


def test_first_trial_is_the_middle_of_the_space_and_the_next_spread_evenly() -> None:
    done = run(lambda hparams, length: float(hparams["x"]), max_trials=6, max_concurrent_trials=6)
    values = [trial.hparams["x"] for trial in done.trials]
    assert values[0] == 0.5
    assert max(b - a for a, b in zip(sorted(values), sorted(values)[1:], strict=False)) < 0.35


def test_points_of_the_config_come_first() -> None:
    done = run(lambda hparams, length: float(hparams["x"]), initial_points=[{"x": 0.9}, {"x": 0.1}])
    assert [trial.hparams["x"] for trial in done.trials[:3]] == [0.9, 0.1, 0.5]


def test_every_point_of_a_small_space_is_tried_once_before_any_is_tried_again() -> None:
    space = {"n": {"type": "int", "minval": 0, "maxval": 3}, "c": {"type": "categorical", "vals": ["a", "b", None]}}
    done = run(lambda hparams, length: float(hparams["n"]), space=space, max_trials=12)
    points = {json.dumps(trial.hparams, sort_keys=True) for trial in done.trials}
    assert len(points) >= 11


def test_first_points_of_a_tiny_space_cost_no_more_for_more_trials(monkeypatch: pytest.MonkeyPatch) -> None:
    """It has fewer points than are to be spread: the even sequence is not followed forever, nor looked at again."""
    steps: list[int] = []
    spread = auto_sampler._spread

    def counted(axes: Sequence[Axis], step: int) -> Numbers:
        steps.append(step)
        return spread(axes, step)

    monkeypatch.setattr(auto_sampler, "_spread", counted)
    space = {"amsgrad": {"type": "categorical", "vals": [True, False]}}
    cost = {}
    for trials in (10, 800):
        steps.clear()
        auto = {**AUTO, "max_trials": trials, "max_concurrent_trials": trials, "time_metric": "epochs", "max_time": 64}
        search = NumberedSearch(space=space, **auto)
        assert search.start() == ["create 1", "create 2"]
        assert len(search.search.proposals()) == trials - 2
        cost[trials] = len(steps)
    assert cost[800] == cost[10] < 200


def test_restored_sampler_of_a_tiny_space_has_as_many_first_points() -> None:
    space = {"amsgrad": {"type": "categorical", "vals": [True, False]}}
    going, restored = AutoSampler(space, [1, 2]), AutoSampler(space, [1, 2])
    for _ in range(10):
        restored.restore(json.loads(json.dumps(going.snapshot())))
        assert restored.at_once() == going.at_once()
        assert restored.snapshot() == going.snapshot()
    assert going.at_once() is None


def test_model_finds_the_good_corner_of_nested_logarithmic_and_categorical_hyperparameters() -> None:
    space = {
        "lr": {"type": "log", "base": 10, "minval": -5, "maxval": 0},
        "net": {"width": {"type": "int", "minval": 1, "maxval": 64}, "act": "relu"},
        "optimizer": {"type": "categorical", "vals": [{"name": "sgd", "momentum": 0.9}, {"name": "adam"}]},
    }

    def loss(hparams: dict[str, Any], length: float) -> float:
        off = (math.log10(hparams["lr"]) + 3) ** 2 + (hparams["net"]["width"] / 64 - 0.7) ** 2
        return float(off + (hparams["optimizer"]["name"] == "sgd") + 4 / length)

    done = run(loss, space=space, max_trials=40)
    last = done.trials[20:]
    assert sum(abs(math.log10(trial.hparams["lr"]) + 3) < 1 for trial in last) > len(last) / 2
    assert sum(trial.hparams["optimizer"]["name"] == "adam" for trial in last) > len(last) / 2


def test_equal_seeds_search_alike() -> None:
    first, second = (run(lambda hparams, length: float(hparams["x"])) for _ in range(2))
    assert first == second
    creates = [op.hparams for batch in first.operations for op in batch if isinstance(op, Create)]
    assert len(creates) == 30
