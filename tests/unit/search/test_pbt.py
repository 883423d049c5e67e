"""Population based training: rounds, truncation, children and how they are explored."""

import math
from typing import Any

import pytest

from determined.search.method import Close, Create, ExitReason, Operation, Shutdown, ValidateAfter
from determined.search.methods.classic.pbt import ExploreFunction, explore
from determined.search.rng import Rng
from determined.search.searcher import Searcher

SPACE = {
    "units": {"type": "int", "minval": 8, "maxval": 64},
    "lr": {"type": "log", "base": 10, "minval": -3, "maxval": -1},
    "net": {"drop": {"type": "double", "minval": 0, "maxval": 0.5}},
    "kind": {"type": "categorical", "vals": ["a", "b", "c"]},
    "depth": 4,
}


def explored(resample_probability: float, perturb_factor: float) -> ExploreFunction:
    return ExploreFunction(resample_probability=resample_probability, perturb_factor=perturb_factor)


def begin(**config: Any) -> tuple[Searcher, list[str]]:
    """Five trials, three rounds of ten, one replaced after each, unless told otherwise."""
    whole = {"name": "pbt", "population_size": 5, "num_rounds": 3, "length_per_round": {"batches": 10}}
    search = Searcher.create({**whole, **config}, SPACE, seed=7, classic=True)
    operations = search.start()
    ids = [op.request_id for op in operations if isinstance(op, Create)]
    assert [op for op in operations if isinstance(op, ValidateAfter)] == [ValidateAfter(one, 10) for one in ids]
    return search, ids


def complete(search: Searcher, results: dict[str, float], length: int) -> list[Operation]:
    """Return what the last of these results causes; those before it cause nothing."""
    *waiting, last = [search.validation(request_id, metric, length) for request_id, metric in results.items()]
    assert waiting == [[]] * len(waiting)
    return last


def ranked(ids: list[str]) -> dict[str, float]:
    return {request_id: float(place) for place, request_id in enumerate(ids)}


def test_round_ends_when_all_have_reported_the_best_is_cloned_and_the_worst_closed() -> None:
    search, ids = begin()
    close, create, first, *others = complete(search, ranked(ids), 10)
    assert close == Close(ids[4])
    assert isinstance(create, Create)
    assert create.checkpoint_of == ids[0]
    assert first == ValidateAfter(create.request_id, 10)
    assert others == [ValidateAfter(one, 20) for one in ids[:4]]


def test_child_goes_on_by_its_own_count_of_rounds_and_the_last_round_closes_all() -> None:
    search, ids = begin()
    child = next(op.request_id for op in complete(search, ranked(ids), 10) if isinstance(op, Create))
    for one in ids[:3]:
        assert search.validation(one, 1.0, 20) == []
    assert search.validation(child, 0.5, 10) == []
    second = search.validation(ids[3], 9.0, 20)
    assert ValidateAfter(child, 20) in second
    assert [op.checkpoint_of for op in second if isinstance(op, Create)] == [child]
    grandchild = next(op.request_id for op in second if isinstance(op, Create))
    last = complete(search, {**dict.fromkeys(ids[:3], 1.0), child: 2.0, grandchild: 3.0}, 30)
    assert {op.request_id for op in last if isinstance(op, Close)} == {*ids[:3], child, grandchild}
    assert len(last) == 5
    said = [search.exited(one) for one in (*ids, child, grandchild)]
    assert [op for ops in said for op in ops] == [Shutdown()]


def test_single_round_closes_everybody() -> None:
    search, ids = begin(num_rounds=1)
    assert complete(search, ranked(ids), 10) == [Close(one) for one in ids]


def test_fraction_that_replaces_nobody_only_goes_on() -> None:
    search, ids = begin(replace_function={"truncate_fraction": 0.1})
    assert complete(search, ranked(ids), 10) == [ValidateAfter(one, 20) for one in ids]


def test_half_of_the_population_can_be_replaced() -> None:
    search, ids = begin(population_size=4, replace_function={"truncate_fraction": 0.5})
    operations = complete(search, ranked(ids), 10)
    assert [op.checkpoint_of for op in operations if isinstance(op, Create)] == ids[:2]
    assert [op.request_id for op in operations if isinstance(op, Close)] == ids[2:]


def test_of_equal_metrics_the_smaller_id_is_the_better() -> None:
    search, ids = begin()
    operations = complete(search, dict.fromkeys(ids, 1.0), 10)
    assert operations[0] == Close(max(ids))
    assert [op.checkpoint_of for op in operations if isinstance(op, Create)] == [min(ids)]


def test_trial_that_reports_nan_is_the_one_replaced() -> None:
    search, ids = begin()
    assert complete(search, {**ranked(ids), ids[2]: math.nan}, 10)[0] == Close(ids[2])


@pytest.mark.parametrize("reason", [*ExitReason, None])
def test_exited_trial_ends_the_round_as_the_worst_and_is_replaced_but_not_closed(reason: ExitReason | None) -> None:
    search, ids = begin()
    for place, one in enumerate(ids[1:]):
        assert search.validation(one, float(place), 10) == []
    operations = search.exited(ids[0]) if reason is None else search.exited_early(ids[0], reason)
    assert not [op for op in operations if isinstance(op, Close)]
    assert [op.checkpoint_of for op in operations if isinstance(op, Create)] == [ids[1]]
    assert [op.request_id for op in operations if isinstance(op, ValidateAfter)][1:] == ids[1:]
    assert search.exited(ids[0]) == []


def test_trial_that_exits_while_it_waits_is_not_cloned() -> None:
    search, ids = begin()
    search.validation(ids[0], -5.0, 10)
    assert search.exited_early(ids[0], ExitReason.USER_CANCELED) == []
    operations = complete(search, ranked(ids[1:]), 10)
    assert [op.checkpoint_of for op in operations if isinstance(op, Create)] == [ids[1]]


def test_trials_that_report_nan_rank_before_those_that_are_gone() -> None:
    search, ids = begin(population_size=4, replace_function={"truncate_fraction": 0.5})
    gone, alive = sorted(ids)[:2], sorted(ids)[2:]
    for one in gone:
        search.exited_early(one, ExitReason.ERRORED)
    operations = complete(search, dict.fromkeys(alive, math.nan), 10)
    assert [op.checkpoint_of for op in operations if isinstance(op, Create)] == alive


def test_search_whose_population_is_gone_ends() -> None:
    search, ids = begin()
    said = [op for one in ids for op in search.exited_early(one, ExitReason.ERRORED) + search.exited(one)]
    assert said == [Shutdown(failure=True)]


def test_population_that_shrank_does_not_clone_what_it_closes() -> None:
    search, ids = begin(population_size=4, num_rounds=5, replace_function={"truncate_fraction": 0.5})
    for one in ids[1:]:
        search.exited_early(one, ExitReason.ERRORED)
    alive = {ids[0]: 10}
    for _ in range(4):
        operations = complete(search, dict.fromkeys(alive, 1.0), 10)
        closed = {op.request_id for op in operations if isinstance(op, Close)}
        assert not closed & {op.checkpoint_of for op in operations if isinstance(op, Create)}
        alive = {op.request_id: op.length for op in operations if isinstance(op, ValidateAfter)}
    assert len(complete(search, dict.fromkeys(alive, 1.0), 10)) == len(alive)


def test_child_has_explored_hyperparameters_within_the_space() -> None:
    search, ids = begin()
    create = next(op for op in complete(search, ranked(ids), 10) if isinstance(op, Create))
    assert sorted(create.hparams) == sorted(SPACE)
    assert 8 <= create.hparams["units"] <= 64
    assert 0.001 <= create.hparams["lr"] <= 0.1
    assert 0 <= create.hparams["net"]["drop"] <= 0.5
    assert create.hparams["depth"] == 4


PARENT = {"units": 11, "lr": 0.01, "net": {"drop": 0.1}, "kind": "b", "depth": 4}


def test_perturbing_multiplies_by_one_more_or_one_less_than_the_factor() -> None:
    children = [explore(SPACE, PARENT, explored(0.0, 0.25), Rng(seed)) for seed in range(40)]
    assert {child["units"] for child in children} == {8, 14}  # 8.25 down, 13.75 up
    assert {child["lr"] for child in children} == {0.01 * 0.75, 0.01 * 1.25}
    assert {child["net"]["drop"] for child in children} == {0.1 * 0.75, 0.1 * 1.25}
    assert {(child["kind"], child["depth"]) for child in children} == {("b", 4)}


def test_perturbed_values_stay_within_their_range() -> None:
    edge = {"units": 64, "lr": 0.1, "net": {"drop": 0.5}, "kind": "a", "depth": 4}
    children = [explore(SPACE, edge, explored(0.0, 0.9), Rng(seed)) for seed in range(40)]
    assert {child["units"] for child in children} == {8, 64}
    assert sorted({child["lr"] for child in children}) == pytest.approx([0.01, 0.1])
    assert max(child["net"]["drop"] for child in children) == 0.5


def test_resampling_draws_anew_from_the_space() -> None:
    children = [explore(SPACE, PARENT, explored(1.0, 0.2), Rng(seed)) for seed in range(60)]
    assert {child["kind"] for child in children} == {"a", "b", "c"}
    assert len({child["units"] for child in children}) > 20
    assert all(type(child["units"]) is int and 8 <= child["units"] <= 64 for child in children)


def test_constants_draw_nothing() -> None:
    rng, untouched = Rng(5), Rng(5)
    assert explore({"depth": 4, "empty": {}}, {"depth": 4}, explored(1.0, 0.2), rng) == {"depth": 4, "empty": {}}
    assert rng.snapshot() == untouched.snapshot()


def test_progress_counts_reported_units_and_at_least_the_rounds_that_are_over() -> None:
    search, ids = begin()
    for one in ids:
        search.trial_created(one)
    search.progress_reported(ids[0], 6)
    assert search.progress() == pytest.approx(6 / 150)
    complete(search, ranked(ids), 10)
    assert search.progress() == pytest.approx(50 / 150)
