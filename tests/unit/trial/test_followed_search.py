"""A framework's own loop follows the searcher: when to say how good the model is, and when to stop."""

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from determined import core
from determined.trial import Epoch, FollowedSearch

CLASSIC = {"searcher": {"name": "single", "metric": "loss", "max_length": {"epochs": 3}}}
LATE = {"searcher": {"name": "single", "metric": "loss", "time_metric": "epochs", "max_time": 3}}


class _Searcher:
    """Wants each of `lengths` epochs in turn."""

    def __init__(self, *lengths: int) -> None:
        self.lengths = lengths
        self.told: list[Any] = []
        self.progress: list[float] = []

    def get_configured_units(self) -> core.Unit:
        return core.Unit.EPOCHS

    def operations(self) -> Iterator[Any]:
        for length in self.lengths:
            yield SimpleNamespace(
                length=length, report_completed=self.told.append, report_progress=self.progress.append
            )


def _search(searcher: _Searcher, config: dict[str, Any] | None = None, rank: int = 0) -> FollowedSearch:
    info = SimpleNamespace(task_type="TRIAL", trial=SimpleNamespace(_config=config or CLASSIC))
    context: Any = SimpleNamespace(info=info, searcher=searcher, distributed=SimpleNamespace(rank=rank))
    followed = FollowedSearch(context, lambda: 32)
    followed.start()
    return followed


def test_each_operation_is_completed_when_it_is_trained() -> None:
    searcher = _Searcher(1, 3)
    search = _search(searcher)
    assert search.until == Epoch(1)
    assert not search.is_due(4, 5)
    assert search.is_due(5, 5)
    search.complete({"loss": 0.5}, 5, 5)
    assert search.until == Epoch(3) and not search.is_over
    search.complete({"loss": 0.1}, 15, 5)
    assert searcher.told == [0.5, 0.1] and search.is_over


def test_nothing_is_told_before_its_time() -> None:
    searcher = _Searcher(2)
    _search(searcher).complete({"loss": 0.5}, 9, 5)
    assert searcher.told == []


def test_a_training_that_went_further_completes_all_that_asked_for_less() -> None:
    searcher = _Searcher(1, 2, 4)
    search = _search(searcher)
    search.complete({"loss": 0.5}, 15, 5)
    assert searcher.told == [0.5, 0.5] and search.until == Epoch(4)


def test_workers_follow_and_tell_nothing() -> None:
    searcher = _Searcher(1)
    search = _search(searcher, rank=1)
    search.report_progress(3, 5)
    search.complete({}, 5, 5)
    assert search.is_over and searcher.told == searcher.progress == []


def test_progress_is_that_of_the_operation() -> None:
    searcher = _Searcher(2)
    _search(searcher).report_progress(5, 5)
    assert searcher.progress == [1]


def test_a_trial_whose_operations_are_done_is_over_at_once() -> None:
    assert _search(_Searcher()).is_over


def test_without_operations_the_loop_goes_on_as_it_likes() -> None:
    search = _search(_Searcher(1), config=LATE)
    assert not search.is_over and not search.is_due(1000, 5) and search.until is None


def test_a_missing_metric_is_named() -> None:
    with pytest.raises(RuntimeError, match="'loss' is not among"):
        _search(_Searcher(1)).complete({"accuracy": 1.0}, 5, 5)
