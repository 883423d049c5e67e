"""Searchers of every generation as typed data."""

from typing import Any

import pytest

from determined.config import apply_defaults, check_complete
from determined.schema.quantities import Length, Unit
from determined.schema.quantity_nodes import LengthNode
from determined.search.methods.adaptive_asha import AdaptiveAsha
from determined.search.methods.async_halving import AsyncHalving
from determined.search.methods.classic.custom import Custom
from determined.search.methods.optuna import Optuna
from determined.search.methods.random import Random
from determined.search.registry import searchers
from determined.search.searcher_config import SearcherConfig

BATCHES = {"batches": 100}


def minimal(declared: type[SearcherConfig]) -> dict[str, Any]:
    """Return what a searcher demands and nothing more."""
    required = {key: known for key, known in declared.schema.fields.items() if known.required and key != "name"}
    fields = {key: BATCHES if isinstance(known.node, LengthNode) else 3 for key, known in required.items()}
    fields |= {"max_trials": 3} if declared.name == "auto" else {}  # this or `budget`
    return {**fields, **({"time_metric": "batches", "max_time": 10} if declared.needs_length else {})}


def searcher(name: str, **fields: Any) -> SearcherConfig:
    raw = {
        "checkpoint_storage": {"type": "directory", "container_path": "/x"},
        "searcher": {"name": name, "metric": "loss", **fields},
    }
    return check_complete(apply_defaults(raw, seed=0, name="a-b-c")).searcher


@pytest.mark.parametrize("name", sorted(searchers()))
def test_every_method_is_accepted_and_typed(name: str) -> None:
    typed = searcher(name, **minimal(searchers()[name]))
    assert type(typed) is searchers()[name]
    assert (typed.name, typed.metric, typed.smaller_is_better) == (name, "loss", True)
    assert typed.raw["name"] == name


def test_random_defaults_to_sixteen_at_a_time() -> None:
    typed = searcher("random", max_trials=3)
    assert isinstance(typed, Random)
    assert (typed.max_trials, typed.max_concurrent_trials, typed.max_length) == (3, 16, None)


def test_adaptive_asha_defaults() -> None:
    typed = searcher("adaptive_asha", max_trials=3, max_length=50)
    assert isinstance(typed, AdaptiveAsha)
    assert (typed.mode, typed.divisor, typed.max_rungs, typed.bracket_rungs) == ("standard", 4, 5, ())
    assert (typed.stop_once, typed.max_length, typed.generation) == (False, Length(None, 50), "classic")


def test_a_length_beside_a_time_leaves_the_search_late() -> None:
    typed = searcher("async_halving", max_trials=3, num_rungs=2, time_metric="batches", max_time=9, max_length=BATCHES)
    assert isinstance(typed, AsyncHalving)
    assert (typed.generation, typed.max_time, typed.time_metric) == ("late", 9, "batches")
    assert typed.max_length == Length(Unit.BATCHES, 100)


def test_extra_fields_of_custom_stay_readable() -> None:
    custom = searcher("custom", unit="batches", mine={"a": 1})
    assert isinstance(custom, Custom) and custom.unit == "batches" and custom.raw["mine"] == {"a": 1}


def test_optuna_learns_by_tpe_unless_it_is_told_otherwise() -> None:
    optuna = searcher("optuna", max_trials=3)
    assert isinstance(optuna, Optuna)
    assert (optuna.sampler, optuna.sampler_options, optuna.metrics, optuna.initial_points) == ("tpe", {}, None, ())
    assert searcher("random", max_trials=3).sampler is None


def test_grid_walks_into_lists_for_missing_counts() -> None:
    from determined.config.experiment import find_violations

    raw = {
        "searcher": {"name": "grid", "metric": "m"},
        "hyperparameters": {"a": [{"type": "int", "minval": 0, "maxval": 3}], "b": {"c": {"type": "log"}}},
    }
    found = find_violations(raw, complete=True)
    said = "grid search is in use but `count` was not provided: add `count`, how many points to try"
    assert f"<config>.hyperparameters.a[0]: {said}" in found
    assert f"<config>.hyperparameters.b.c: {said}" in found
