"""Samplers, their options, several metrics and initial points in the searcher section."""

from typing import Any

import pytest

from determined.config import apply_defaults, check_complete
from determined.config.experiment import find_violations
from determined.config.pipeline import find_warnings
from determined.schema.engine_traits import NO_TRAITS
from determined.search.methods.optuna import Optuna
from determined.search.sampler_parameters import Metric

SPACE: dict[str, Any] = {
    "lr": {"type": "log", "base": 10, "minval": -3, "maxval": -1},
    "width": {"type": "int", "minval": 4, "maxval": 64},
    "dropout": {"type": "double", "minval": 0, "maxval": 0.5},
    "optimizer": {"name": {"type": "categorical", "vals": ["sgd", None, {"adam": 1}, 1]}, "nesterov": True},
}
ASHA = {"name": "adaptive_asha", "max_trials": 9, "time_metric": "batches", "max_time": 64}
OPTUNA = {"name": "optuna", "max_trials": 9}


def whole(searcher: dict[str, Any], space: dict[str, Any] | None = None) -> dict[str, Any]:
    raw = {
        "checkpoint_storage": {"type": "directory", "container_path": "/x"},
        "hyperparameters": SPACE if space is None else space,
        "searcher": searcher,
    }
    return apply_defaults(raw, seed=0, name="a-b-c")


def violations(searcher: dict[str, Any], space: dict[str, Any] | None = None) -> list[str]:
    return find_violations(whole({"metric": "loss", **searcher}, space), complete=True)


def test_the_first_of_several_metrics_is_the_metric_of_the_experiment() -> None:
    metrics = [{"name": "accuracy", "smaller_is_better": False}, {"name": "latency"}]
    active = whole({**OPTUNA, "metrics": metrics})
    typed = check_complete(active).searcher
    assert (typed.metric, typed.smaller_is_better) == ("accuracy", False)
    assert isinstance(typed, Optuna)
    assert typed.metrics == (
        Metric(name="accuracy", smaller_is_better=False),
        Metric(name="latency", smaller_is_better=True),
    )
    assert apply_defaults(active, seed=0, name="x") == active  # what is stored can be submitted again


@pytest.mark.parametrize(
    ("searcher", "expected"),
    [
        (
            {**OPTUNA, "metric": "loss", "metrics": [{"name": "accuracy"}]},
            "<config>.searcher.metric: give either `metric` or `metrics`; `loss` is not the first of `metrics`",
        ),
        (
            {**OPTUNA, "metrics": [{"name": "a"}, {"name": "b"}, {"name": "a"}]},
            "<config>.searcher.metrics: `a` is named more than once",
        ),
        (
            {**OPTUNA, "smaller_is_better": False, "metrics": [{"name": "a"}]},
            "<config>.searcher.smaller_is_better: the first of `metrics` says true; give the direction there",
        ),
        (
            {**ASHA, "metrics": [{"name": "a"}, {"name": "b"}]},
            "<config>.searcher.metrics: adaptive_asha stops trials by one metric; give one, or use `name: optuna` or"
            " `random`",
        ),
        (
            {**OPTUNA, "sampler": "cmaes", "metrics": [{"name": "a"}, {"name": "b"}]},
            "<config>.searcher.sampler: cmaes follows a single metric; use tpe, gp or nsga2 for several",
        ),
        ({**OPTUNA, "metrics": []}, "<config>.searcher.metrics: must not be empty: give at least one value"),
        (
            {**OPTUNA, "metrics": [{"smaller_is_better": True}]},
            "<config>.searcher.metrics[0]: `name` is a required property",
        ),
    ],
)
def test_metrics_that_contradict_are_refused(searcher: dict[str, Any], expected: str) -> None:
    assert expected in find_violations(whole(searcher), complete=True)


@pytest.mark.parametrize("method", [{"name": "grid"}, {"name": "single"}])
def test_methods_that_do_not_learn_take_none_of_these_fields(method: dict[str, Any]) -> None:
    for field in ({"sampler": "tpe"}, {"initial_points": [{"lr": 0.01}]}, {"metrics": [{"name": "loss"}]}):
        (name,) = field
        expected = f"<config>.searcher: additional property `{name}` not allowed with name `{method['name']}`"
        assert expected in violations({**method, **field}, {})


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"sampler": "grid"}, "<config>.searcher.sampler: must be one of tpe, gp, cmaes, random, nsga2, not `grid`"),
        (
            {"sampler": "tpe", "sampler_options": {"n_startup": 5}},
            "<config>.searcher.sampler_options: additional property `n_startup` not allowed; did you mean"
            " `n_startup_trials`? (sampler tpe)",
        ),
        (
            {"sampler": "nsga2", "sampler_options": {"population_size": 1}},
            "<config>.searcher.sampler_options.population_size: must be at least 2, not 1 (sampler nsga2)",
        ),
        (
            {"sampler": "cmaes", "sampler_options": {"sigma0": 0}},
            "<config>.searcher.sampler_options.sigma0: must be greater than 0, not 0 (sampler cmaes)",
        ),
        (
            {"sampler_options": {"popsize": 4}},
            "<config>.searcher.sampler_options: has no `sampler` to go to; name one",
        ),
    ],
)
def test_sampler_options_are_checked_by_name(fields: dict[str, Any], expected: str) -> None:
    assert expected in violations({**ASHA, **fields})


@pytest.mark.parametrize("sampler", ["tpe", "gp", "cmaes", "random", "nsga2"])
@pytest.mark.parametrize("method", [OPTUNA, ASHA, {"name": "random", "max_trials": 9}])
def test_every_sampler_goes_with_every_method_that_draws(method: dict[str, Any], sampler: str) -> None:
    assert violations({**method, "sampler": sampler}) == []


def test_initial_points_inside_the_space_are_accepted() -> None:
    points = [
        {"lr": 0.001, "width": 4, "dropout": 0.5},
        {"lr": 0.1, "optimizer": {"name": None}},
        {"optimizer": {"name": {"adam": 1}, "nesterov": True}},
    ]
    assert violations({**OPTUNA, "initial_points": points}) == []


@pytest.mark.parametrize(
    ("point", "expected"),
    [
        ({"speed": 1}, ".speed: is not among the hyperparameters (dropout, lr, optimizer, width)"),
        ({"optimizer": {"lr": 1}}, ".optimizer.lr: is not among the hyperparameters (name, nesterov)"),
        ({"optimizer": "sgd"}, ".optimizer: must be a mapping like the hyperparameters of that name, not a string"),
        ({"width": 65}, ".width: must lie between 4 and 64, not 65"),
        ({"width": 8.5}, ".width: must be an integer, not a number"),
        ({"width": True}, ".width: must be an integer, not a boolean"),
        ({"lr": 0.0005}, ".lr: must lie between 0.001 and 0.1, not 0.0005"),
        ({"lr": "fast"}, ".lr: must be a number, not a string"),
        ({"optimizer": {"name": "adam"}}, ".optimizer.name: must be one of ['sgd', None, {'adam': 1}, 1], not 'adam'"),
        ({"optimizer": {"name": True}}, ".optimizer.name: must be one of ['sgd', None, {'adam': 1}, 1], not True"),
        ({"optimizer": {"nesterov": False}}, ".optimizer.nesterov: is the constant True, not False"),
        ({}, ": names no hyperparameter; give at least one, or drop it"),
    ],
)
def test_an_initial_point_outside_the_space_is_refused_with_its_path(point: dict[str, Any], expected: str) -> None:
    found = violations({**OPTUNA, "initial_points": [{"width": 8}, point]})
    assert found == [f"<config>.searcher.initial_points[1]{expected}"]


def test_more_initial_points_than_trials_are_refused() -> None:
    points = [{"width": 8}] * 10
    expected = "<config>.searcher.initial_points: has 10 points, but max_trials is 9; raise it or drop points"
    assert violations({**ASHA, "initial_points": points}) == [expected]


def test_cmaes_without_a_number_to_move_is_refused() -> None:
    space = {"kind": {"type": "categorical", "vals": ["a", "b"]}, "depth": 3}
    expected = (
        "<config>.searcher.sampler: cmaes needs a hyperparameter of type int, double or log; use tpe for categories"
    )
    assert violations({**OPTUNA, "sampler": "cmaes"}, space) == [expected]


def test_log_base_one_is_refused() -> None:
    space = {"lr": {"type": "log", "base": 1, "minval": -3, "maxval": -1}}
    expected = "<config>.hyperparameters.lr.base: must not be 1, whose powers are all 1; 10 is usual"
    assert violations(OPTUNA, space) == [expected]


def test_powers_that_are_no_numbers_are_refused() -> None:
    space = {"lr": {"type": "log", "base": 10, "minval": 0, "maxval": 400}}
    expected = (
        "<config>.hyperparameters.lr.maxval: 10 to the power of 400 is no number; minval and maxval are exponents"
    )
    assert violations(OPTUNA, space) == [expected]


def test_range_wider_than_numbers_go_is_refused() -> None:
    space = {"x": {"type": "double", "minval": -1e308, "maxval": 1e308}}
    [problem] = violations(OPTUNA, space)
    assert problem.startswith("<config>.hyperparameters.x: ") and problem.endswith("narrow them")


def test_max_time_without_its_metric_is_refused_beside_a_length_too() -> None:
    asha = {"name": "adaptive_asha", "metric": "loss", "max_trials": 9, "max_length": 16, "max_time": 16}
    expected = (
        "<config>.searcher.time_metric: max_time needs a time_metric, the metric that says how far a trial is;"
        " or drop max_time"
    )
    assert violations(asha) == [expected]


def test_more_rungs_than_any_search_can_use_are_refused() -> None:
    [problem] = violations({**ASHA, "max_rungs": 1_000_000})
    assert problem.startswith("<config>.searcher.max_rungs: ") and "100" in problem


def test_samplers_that_will_surprise_are_named_in_the_warnings() -> None:
    assert find_warnings({}, whole({**OPTUNA, "metric": "loss", "sampler": "cmaes"}), NO_TRAITS) == [
        "`hyperparameters.optimizer.name` is drawn at random: cmaes knows no categories"
    ]
    assert find_warnings({}, whole({**OPTUNA, "metric": "loss", "sampler": "nsga2"}), NO_TRAITS) == [
        "`searcher.sampler: nsga2` is made for several `metrics`; tpe learns faster from one",
        "nsga2 draws its first 50 trials at random, and max_trials is 9; lower sampler_options.population_size",
    ]
    assert find_warnings({}, whole({**OPTUNA, "metric": "loss"}), NO_TRAITS) == []
