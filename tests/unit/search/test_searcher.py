"""The wrapper and the three methods that need no metric: single, random, grid."""

from typing import Any

import pytest

from determined.errors import FailedPrecondition, InvalidArgument, InvalidConfig
from determined.search import searcher as searcher_module
from determined.search.method import Close, Create, ExitReason, Operation, Shutdown, ValidateAfter
from determined.search.searcher import Searcher

SPACE = {
    "a": {"type": "int", "minval": 0, "maxval": 10},
    "b": {"type": "double", "minval": 0, "maxval": 1},
    "c": {"type": "log", "base": 10, "minval": -3, "maxval": -1},
    "d": {"type": "categorical", "vals": ["x", "y", "z"]},
}
GRID = {
    "a": {"type": "categorical", "vals": ["x", "y"]},
    "b": {"type": "int", "minval": 0, "maxval": 1, "count": 2},
}


def searcher(space: dict[str, Any] | None = None, *, classic: bool = False, seed: int = 42, **config: Any) -> Searcher:
    return Searcher.create({"metric": "loss", **config}, {} if space is None else space, seed=seed, classic=classic)


def begin(search: Searcher) -> list[str]:
    """Start, tell it that its trials exist, and return their request ids."""
    ids = created(search.start())
    for request_id in ids:
        assert search.trial_created(request_id) == []
    return ids


def created(operations: list[Operation]) -> list[str]:
    return [op.request_id for op in operations if isinstance(op, Create)]


def test_seed_42_gives_upstreams_trials() -> None:
    first, second = searcher(SPACE, name="random", max_trials=2).start()
    assert first == Create(
        "142ccb98-66d6-4027-b918-2272d241ef27",
        {"a": 6, "b": 0.7965429868602328, "c": pytest.approx(0.00232739222806287, rel=1e-15), "d": "x"},
        429389014,
    )
    assert second == Create(
        "95064505-34fd-400e-8103-4cf857e9d4b8",
        {"a": 10, "b": 0.45924889196586716, "c": pytest.approx(0.004649617447336329, rel=1e-15), "d": "z"},
        1427830251,
    )


def test_seed_42_with_constants_only_gives_upstreams_ids() -> None:
    assert searcher({"lr": 0.1}, name="random", max_trials=2).start() == [
        Create("66dce15f-b33d-4acb-9c03-62f30e95f52e", {"lr": 0.1}, 996406378),
        Create("47d499c7-bcae-4199-942c-cb9866d6f027", {"lr": 0.1}, 1914837113),
    ]


def test_single_creates_one_trial_and_completes_when_it_exits() -> None:
    search = searcher(name="single")
    (trial,) = begin(search)
    assert search.validation(trial, 0.5, 100) == []
    assert search.exited(trial) == [Shutdown()]


def test_single_does_not_replace_an_invalid_trial() -> None:
    search = searcher(name="single")
    (trial,) = begin(search)
    assert search.exited_early(trial, ExitReason.INVALID_HP) == []
    assert search.exited(trial) == [Shutdown()]


@pytest.mark.parametrize("length", [50, {"batches": 50}])
@pytest.mark.parametrize("method", [{"name": "single"}, {"name": "random", "max_trials": 1}, {"name": "grid"}])
def test_classic_trial_gets_its_length_and_is_closed(method: dict[str, Any], length: Any) -> None:
    create, validate, close = searcher(classic=True, max_length=length, **method).start()
    assert isinstance(create, Create)
    assert validate == ValidateAfter(create.request_id, 50)
    assert close == Close(create.request_id)


def test_late_search_ignores_a_max_length() -> None:
    assert len(searcher(name="single", max_length=50).start()) == 1


def test_random_replaces_each_exit_until_the_budget_is_spent() -> None:
    search = searcher(name="random", max_trials=3, max_concurrent_trials=2)
    first, second = begin(search)
    (third,) = created(search.exited(first))
    assert search.exited(second) == []
    assert search.exited(third) == [Shutdown()]


@pytest.mark.parametrize(("concurrent", "initial"), [(0, 20), (5, 5), (None, 16), (30, 20)])
def test_random_starts_as_many_as_may_run_at_once(concurrent: int | None, initial: int) -> None:
    search = searcher(name="random", max_trials=20, max_concurrent_trials=concurrent)
    assert len(created(search.start())) == initial


@pytest.mark.parametrize("reason", [ExitReason.INVALID_HP, ExitReason.INIT_INVALID_HP])
def test_random_gives_an_invalid_trials_budget_to_another(reason: ExitReason) -> None:
    search = searcher(name="random", max_trials=1)
    (first,) = begin(search)
    assert search.exited_early(first, reason) == []
    (second,) = created(search.exited(first))
    assert search.exited(second) == [Shutdown()]


def test_random_does_not_replace_an_errored_trial() -> None:
    search = searcher(name="random", max_trials=1)
    (trial,) = begin(search)
    search.exited_early(trial, ExitReason.ERRORED)
    assert search.exited(trial) == [Shutdown(failure=True)]


def test_grid_runs_its_last_point_first() -> None:
    search = searcher(GRID, name="grid", max_concurrent_trials=1)
    operations = search.start()
    points = []
    while isinstance(operations[0], Create):
        points.append((operations[0].hparams["a"], operations[0].hparams["b"]))
        operations = search.exited(operations[0].request_id)
    assert points == [("y", 1), ("y", 0), ("x", 1), ("x", 0)]
    assert operations == [Shutdown()]


def test_grid_never_replaces_a_point() -> None:
    search = searcher(GRID, name="grid", max_concurrent_trials=0)
    ids = begin(search)
    assert len(ids) == 4
    for trial in ids:
        assert search.exited_early(trial, ExitReason.INVALID_HP) == []
        last = search.exited(trial)
    assert last == [Shutdown()]


def test_one_trial_that_did_not_error_is_enough_to_complete() -> None:
    search = searcher(name="random", max_trials=2)
    first, second = begin(search)
    search.exited_early(first, ExitReason.ERRORED)
    search.exited(first)
    assert search.exited(second) == [Shutdown(cancel=False, failure=False)]


def test_search_is_canceled_when_every_trial_was() -> None:
    search = searcher(name="random", max_trials=2)
    first, second = begin(search)
    for trial in (first, second):
        search.exited_early(trial, ExitReason.USER_CANCELED)
    assert search.exited(first) == []
    assert search.exited(second) == [Shutdown(cancel=True)]


def test_repeated_reports_of_an_exit_count_once() -> None:
    search = searcher(name="random", max_trials=3, max_concurrent_trials=1)
    (trial,) = begin(search)
    search.exited_early(trial, ExitReason.ERRORED)
    assert search.exited_early(trial, ExitReason.INVALID_HP) == []
    assert len(search.exited(trial)) == 1
    assert search.exited(trial) == []


def test_search_starts_once() -> None:
    search = searcher(name="single")
    search.start()
    with pytest.raises(FailedPrecondition, match="already started"):
        search.start()


def test_late_progress_is_the_mean_over_valid_trials() -> None:
    search = searcher(name="random", max_trials=4, max_concurrent_trials=3)
    assert search.progress() == 0
    first, second, third = begin(search)
    assert search.progress_reported(first, 0.5) == []
    assert search.progress() == pytest.approx(0.5 / 3)
    search.exited(second)
    assert search.progress() == pytest.approx(1.5 / 3)
    search.exited_early(third, ExitReason.INVALID_HP)
    assert search.progress() == pytest.approx(1.5 / 2)
    search.progress_reported(third, 0.9)
    assert search.progress() == pytest.approx(1.5 / 2)


def test_classic_random_progress_counts_units_of_the_whole_budget() -> None:
    search = searcher(classic=True, name="random", max_trials=4, max_concurrent_trials=2, max_length=100)
    first, second = begin(search)
    search.progress_reported(first, 30)
    search.exited(second)
    assert search.progress() == pytest.approx((30 + 100) / 400)


def test_classic_grid_progress_counts_units_of_all_points() -> None:
    search = searcher(GRID, classic=True, name="grid", max_concurrent_trials=2, max_length={"epochs": 10})
    first, second = begin(search)
    search.progress_reported(first, 5)
    search.exited(second)
    assert search.progress() == pytest.approx((10 + 5) / 40)


@pytest.mark.parametrize("name", ["nonsense", None])
def test_unknown_method_is_refused_by_name(name: str | None) -> None:
    with pytest.raises(InvalidConfig, match=f"searcher {name!r} is unknown"):
        searcher(name=name, max_trials=1)


def test_random_without_max_trials_is_refused() -> None:
    with pytest.raises(InvalidConfig, match=r"searcher\.max_trials: `max_trials` is a required property"):
        searcher(name="random")


def test_length_with_two_units_is_refused() -> None:
    with pytest.raises(InvalidConfig, match=r"max_length: .* needs exactly one of"):
        searcher(classic=True, name="single", max_length={"batches": 1, "epochs": 2})


COMPARING: list[dict[str, Any]] = [
    {"classic": True, "name": "adaptive_asha", "max_trials": 4, "max_length": 16},
    {"classic": True, "name": "async_halving", "max_trials": 4, "num_rungs": 2, "max_length": 16, "stop_once": True},
    {"classic": True, "name": "sync_halving", "num_rungs": 2, "budget": 100, "max_length": 16},
    {"classic": True, "name": "pbt", "population_size": 3, "num_rounds": 2, "length_per_round": 4},
    {"name": "optuna", "max_trials": 3},
]


@pytest.mark.parametrize("method", COMPARING, ids=lambda method: method["name"])
def test_search_whose_trials_never_report_the_metric_fails_and_names_it(method: dict[str, Any]) -> None:
    search = searcher(**method, metric="accuracy")

    def leave(operations: list[Operation]) -> None:
        for operation in operations:
            if isinstance(operation, Create):
                leave(search.trial_created(operation.request_id))
                if method.get("classic"):
                    leave(search.exited_early(operation.request_id, ExitReason.USER_REQUESTED_STOP))
                leave(search.exited(operation.request_id))
        while held := search.proposals():
            leave(search.proposed(held[0], search.propose(held[0])))

    with pytest.raises(FailedPrecondition, match=r"reported the searcher metric 'accuracy'.*searcher\.metric"):
        leave(search.start())


def test_comparing_search_of_invalid_trials_alone_needs_no_metric() -> None:
    search = searcher(classic=True, name="pbt", population_size=2, num_rounds=1, length_per_round=4)
    ended = []
    for request_id in begin(search):
        search.exited_early(request_id, ExitReason.ERRORED)
        ended += search.exited(request_id)
    assert ended == [Shutdown(failure=True)]


@pytest.mark.parametrize(
    "config",
    [
        {"name": "random", "max_trials": 4, "max_concurrent_trials": 0},
        {"name": "grid", "max_concurrent_trials": 4},
        {"name": "adaptive_asha", "max_trials": 9, "max_concurrent_trials": 8, "time_metric": "t", "max_time": 9},
        {"name": "pbt", "population_size": 4, "num_rounds": 1, "length_per_round": {"epochs": 1}},
    ],
)
def test_search_that_begins_too_many_trials_at_once_is_refused(
    monkeypatch: pytest.MonkeyPatch, config: dict[str, Any]
) -> None:
    monkeypatch.setattr(searcher_module, "MAX_AT_ONCE", 3)
    search = searcher(GRID, classic=config["name"] == "pbt", **config)
    with pytest.raises(InvalidArgument, match=r"more than 3 trials at once.*max_concurrent_trials.*population_size"):
        search.start()


def test_trials_with_many_hyperparameters_are_fewer_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(searcher_module, "MAX_VALUES_AT_ONCE", 3 * len(SPACE))
    begin(searcher(SPACE, name="random", max_trials=9, max_concurrent_trials=3))
    with pytest.raises(InvalidArgument, match=r"more than 3 trials of \d+ hyperparameters at once"):
        searcher(SPACE, name="random", max_trials=9, max_concurrent_trials=4).start()


def test_the_bound_is_on_what_begins_at_once_not_on_the_whole_search(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(searcher_module, "MAX_AT_ONCE", 3)
    search = searcher(SPACE, name="random", max_trials=3, max_concurrent_trials=0)
    begin(search)
    assert len(created(search.extend(3))) == 3
    with pytest.raises(InvalidArgument, match="more than 3 trials at once"):
        search.extend(4)


def test_grid_of_more_points_than_can_be_counted_is_refused() -> None:
    axis = {"type": "double", "minval": 0, "maxval": 1, "count": 10**9}
    with pytest.raises(InvalidConfig, match=r"a: 1000000000, b: 1000000000, c: 1000000000"):
        searcher({"a": axis, "b": axis, "c": axis}, name="grid")
