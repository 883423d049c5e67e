"""Cost of a search: searches that are computed, and searches that are simulated."""

from typing import Any

import pytest

from determined._json import JsonObject
from determined.errors import InvalidArgument, InvalidConfig
from determined.search import preview as preview_module
from determined.search import registry
from determined.search.method import SearchMethod
from determined.search.parameters import OptionalLength
from determined.search.preview import Preview, TrialGroup, preview
from determined.search.random_search import RandomSearch
from determined.search.searcher_config import SearcherConfig

ASHA = {"name": "adaptive_asha", "metric": "loss", "time_metric": "batches", "divisor": 4}
CLASSIC = {"metric": "loss", "max_length": {"batches": 1000}}


def late(**config: Any) -> Preview:
    return preview({"metric": "loss", **config}, {}, classic=False)


def classic(**config: Any) -> Preview:
    return preview({**CLASSIC, **config}, {}, classic=True)


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        ({"max_trials": 16, "max_time": 1000}, {62: 9, 250: 5, 1000: 2}),
        ({"max_trials": 16, "max_time": 1000, "mode": "aggressive"}, {62: 12, 250: 3, 1000: 1}),
        ({"max_trials": 16, "max_time": 1000, "mode": "conservative"}, {62: 9, 250: 4, 1000: 3}),
        (
            {"max_trials": 10, "max_time": 900, "divisor": 3, "max_rungs": 10, "max_concurrent_trials": 5},
            {100: 5, 300: 3, 900: 2},
        ),
        ({"max_trials": 100, "max_time": 937}, {14: 53, 58: 30, 234: 13, 937: 4}),
        ({"max_trials": 1, "max_time": 1000}, {1000: 1}),
    ],
)
def test_adaptive_asha_counts_as_the_examples_do(config: dict[str, Any], expected: dict[int, int]) -> None:
    seen = late(**{**ASHA, **config})
    assert seen.groups == tuple(TrialGroup(count, (length,)) for length, count in expected.items())
    assert seen.unit == "batches"
    assert seen.trials == config["max_trials"]
    assert seen.total_units == sum(length * count for length, count in expected.items())


def test_async_halving_is_previewed_as_one_bracket() -> None:
    asha = {**ASHA, "name": "async_halving", "num_rungs": 3, "max_trials": 16, "max_time": 1000}
    assert late(**asha).groups == late(**ASHA, max_trials=16, max_time=1000, mode="aggressive").groups


def test_sampler_and_initial_points_change_no_count() -> None:
    plain = {**ASHA, "max_trials": 16, "max_time": 1000}
    assert late(**plain, sampler="tpe", initial_points=[{"lr": 0.1}]) == late(**plain)


def test_late_trials_that_nothing_cuts_train_as_long_as_they_like() -> None:
    assert late(name="single") == Preview((TrialGroup(1, ()),), None)
    assert late(name="random", max_trials=7).groups == (TrialGroup(7, ()),)
    assert late(name="random", max_trials=7).total_units is None


def test_max_length_tells_how_long_late_trials_train() -> None:
    assert late(name="random", max_trials=7, max_length={"epochs": 3}) == Preview((TrialGroup(7, (3,)),), "epochs")


def test_optuna_counts_as_random_does() -> None:
    config = {"max_trials": 7, "time_metric": "steps", "max_time": 50}
    assert late(name="optuna", sampler="tpe", **config) == Preview((TrialGroup(7, (50,)),), "steps")


@pytest.mark.parametrize("generation", [True, False])
def test_huge_grid_is_counted_not_built(generation: bool) -> None:
    space = {f"x{i}": {"type": "double", "minval": 0, "maxval": 1, "count": 1000} for i in range(6)}
    seen = preview({"name": "grid", "max_length": 10}, space, classic=generation)
    assert seen.groups == (TrialGroup(10**18, (10,)),)
    assert seen.total_units == 10**19


def test_classic_single_and_random_train_to_the_end() -> None:
    assert classic(name="single") == Preview((TrialGroup(1, (1000,)),), "batches")
    assert classic(name="random", max_trials=7) == Preview((TrialGroup(7, (1000,)),), "batches")


def test_classic_asha_shows_sequences_of_lengths() -> None:
    seen = classic(name="async_halving", num_rungs=3, max_trials=27, divisor=3, max_length={"batches": 9000})
    assert [group.lengths for group in seen.groups] == [(1000,), (1000, 3000), (1000, 3000, 9000)]
    assert seen.trials == 27
    first, second, top = (group.count for group in seen.groups)
    assert second + top >= 9 and top >= 3
    assert seen.total_units == first * 1000 + second * 3000 + top * 9000


def test_classic_adaptive_asha_runs_every_bracket() -> None:
    seen = classic(name="adaptive_asha", max_trials=16, sampler="tpe", initial_points=[{}])
    assert seen.trials == 16
    assert {group.lengths for group in seen.groups} <= {(62,), (62, 250), (62, 250, 1000), (250,), (250, 1000)}


def test_simulated_preview_is_the_same_each_time() -> None:
    config = {"name": "adaptive_asha", "max_trials": 50}
    assert classic(**config) == classic(**config)


def test_sync_halving_is_previewed_by_its_stages() -> None:
    seen = classic(name="sync_halving", num_rungs=4, max_length={"batches": 800}, budget={"batches": 480})
    assert seen.groups == (
        TrialGroup(9, (12,)),
        TrialGroup(1, (12, 50)),
        TrialGroup(1, (12, 50, 200, 800)),
    )


def test_pbt_is_previewed_by_simulation() -> None:
    seen = preview(
        {"name": "pbt", "metric": "loss", "population_size": 10, "num_rounds": 3, "length_per_round": {"epochs": 2}},
        {},
        classic=True,
    )
    assert seen.unit == "epochs"
    assert seen.trials == 14
    assert {group.lengths for group in seen.groups} <= {(2,), (2, 4), (2, 4, 6)}


class Unplanned(OptionalLength, SearcherConfig):
    """Runs three trials and does not say so by `plan`."""

    name = "unplanned"

    def build(self, space: JsonObject, *, classic: bool) -> SearchMethod:
        return RandomSearch(max_trials=3, max_concurrent=0, length=self.classic_length() if classic else None)


@pytest.fixture
def unplanned(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(registry._METHODS._found, "unplanned", Unplanned)


@pytest.mark.usefixtures("unplanned")
def test_late_search_without_a_plan_is_simulated_in_its_generation() -> None:
    assert late(name="unplanned") == Preview((TrialGroup(3, ()),), None)
    assert late(name="unplanned", max_length={"epochs": 4}) == Preview((TrialGroup(3, (4,)),), "epochs")
    assert classic(name="unplanned") == Preview((TrialGroup(3, (1000,)),), "batches")


def test_custom_search_cannot_be_previewed() -> None:
    with pytest.raises(InvalidArgument, match="'custom' cannot be previewed"):
        classic(name="custom")


@pytest.mark.parametrize("name", ["nonsense", None])
def test_unknown_searcher_is_refused_by_name(name: str | None) -> None:
    with pytest.raises(InvalidConfig, match=f"searcher {name!r} is unknown"):
        classic(name=name)


def test_incomplete_searcher_names_the_field() -> None:
    with pytest.raises(InvalidConfig, match=r"searcher\.max_trials"):
        late(name="random")
    with pytest.raises(InvalidConfig, match=r"searcher\.max_time"):
        late(**ASHA, max_trials=4)


@pytest.mark.parametrize(
    ("config", "named"),
    [
        ({"name": "adaptive_asha", "max_trials": 10**9, "max_concurrent_trials": 0}, "max_trials"),
        ({"name": "sync_halving", "num_rungs": 2, "budget": {"batches": 10**12}}, "budget"),
        ({"name": "adaptive", "budget": {"batches": 10**12}}, "budget"),
        (
            {"name": "pbt", "population_size": 10**9, "num_rounds": 1, "length_per_round": {"batches": 1}},
            "population_size",
        ),
    ],
)
def test_search_of_too_many_trials_is_not_even_begun(
    monkeypatch: pytest.MonkeyPatch, config: dict[str, Any], named: str
) -> None:
    monkeypatch.setattr(preview_module, "simulate", lambda *args, **options: pytest.fail("it was simulated"))
    with pytest.raises(InvalidArgument, match=f"cannot be previewed: {named} makes"):
        classic(**config)


def test_simulation_that_goes_on_and_on_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(preview_module, "_MAX_EVENTS", 1000)
    with pytest.raises(InvalidArgument, match="rungs or rounds"):
        classic(name="pbt", population_size=2, num_rounds=10**9, length_per_round={"batches": 1})
