"""Metric reducers: registering, reducing over one and several ranks, and what goes wrong in users' methods."""

from typing import Any

import pytest
import torch
from ranks import run_ranks

from determined.core import DistributedContext, DummyDistributedContext
from determined.pytorch import MetricReducer, Reducer
from determined.pytorch._reducer import ReducerSet, interleaved


class _MeanOf(MetricReducer):
    """Right over total: no mean of the slots' means, which uneven shares would falsify."""

    def __init__(self, as_dict: bool = False) -> None:
        self.as_dict = as_dict
        self.reset()

    def reset(self) -> None:
        self.sum, self.count = torch.zeros(()), 0

    def update(self, value: float) -> None:
        self.sum, self.count = self.sum + value, self.count + 1

    def per_slot_reduce(self) -> Any:
        return self.sum, self.count

    def cross_slot_reduce(self, per_slot_metrics: list[Any]) -> Any:
        total, count = (sum(each) for each in zip(*per_slot_metrics, strict=True))
        return {"mean": total / count, "count": count} if self.as_dict else total / count


def _filled(values: list[float]) -> ReducerSet:
    reducers = ReducerSet()
    in_order = reducers.wrap(list, "in_order")
    of_tensors = reducers.wrap(lambda pairs: float(sum(x * w for x, w in pairs)), "dot")
    mean = reducers.wrap(_MeanOf(as_dict=True))
    for value in values:
        in_order.update(value)
        of_tensors.update((torch.tensor(value, requires_grad=True), 2))
        mean.update(value)
    return reducers


def a_share_of_the_values(distributed: DistributedContext, values: list[float]) -> dict[str, Any]:
    share = values[distributed.rank :: distributed.size]
    return _filled(share).reduce(distributed, for_training=False)


def test_two_ranks_with_uneven_shares_reduce_to_the_result_of_one_process() -> None:
    values = [1.0, 5.0, 2.0, 8.0, 4.0]
    alone = _filled(values).reduce(DummyDistributedContext(), for_training=False)
    assert alone == {"in_order": values, "dot": 40.0, "mean": 4.0, "count": 5}
    assert run_ranks(2, f"{__file__}:a_share_of_the_values", values) == [alone, alone]


def test_interleaving_undoes_dealing_out() -> None:
    assert interleaved([[0, 2, 4], [1, 3]]) == [0, 1, 2, 3, 4]
    assert interleaved([[], [1]]) == [1]
    assert interleaved([]) == []


def test_reset_forgets_all_values() -> None:
    reducers = ReducerSet()
    total, mean = reducers.wrap(sum, "total"), reducers.wrap(_MeanOf(), "mean")
    total.update(3)
    mean.update(3)
    reducers.reset()
    total.update(4)
    mean.update(5)
    assert reducers.reduce(DummyDistributedContext(), for_training=True) == {"total": 4, "mean": 5.0}


def test_reducers_count_only_where_they_were_asked_to() -> None:
    reducers = ReducerSet()
    reducers.wrap(len, "always")
    reducers.wrap(len, "training", for_validation=False)
    reducers.wrap(len, "validation", for_training=False)
    alone = DummyDistributedContext()
    assert set(reducers.reduce(alone, for_training=True)) == {"always", "training"}
    assert set(reducers.reduce(alone, for_training=False)) == {"always", "validation"}


def test_without_reducers_ranks_exchange_nothing() -> None:
    class Silent(DummyDistributedContext):
        def allgather(self, stuff: Any) -> list[Any]:
            raise AssertionError("nothing to exchange")

    reducers = ReducerSet()
    reducers.wrap(len, "training", for_validation=False)
    assert reducers.reduce(Silent(), for_training=False) == {}


def test_with_one_slot_tensors_stay_where_they_are() -> None:
    """A meta tensor has no content, and any way to the host fails."""
    reducers = ReducerSet()
    there = reducers.wrap(lambda values: f"{values[0].device} {len(values)}", "there")
    for _ in range(2):
        there.update(torch.zeros(3, device="meta", requires_grad=True))
    assert reducers.reduce(DummyDistributedContext(), for_training=True) == {"there": "meta 2"}


def test_values_do_not_keep_a_graph_alive() -> None:
    reducers = ReducerSet()
    seen: list[Any] = []
    kept = reducers.wrap(lambda values: seen.extend(values) or 0, "kept")
    weight = torch.ones(2, requires_grad=True)
    kept.update({"loss": (weight * 2).sum()})
    reducers.reduce(DummyDistributedContext(), for_training=True)
    assert seen[0]["loss"].grad_fn is None and seen[0]["loss"].item() == 4.0


@pytest.mark.parametrize(
    ("reducer", "words"),
    [
        (3, "wrap_reducer got a int; pass a MetricReducer or a function"),
        (_MeanOf, "wrap_reducer got the class _MeanOf; pass an object of it"),
    ],
)
def test_reducers_of_a_wrong_kind_are_refused(reducer: Any, words: str) -> None:
    with pytest.raises(AssertionError, match=words):
        ReducerSet().wrap(reducer, "name")


def test_one_object_is_registered_once_and_a_function_as_often_as_wanted() -> None:
    reducers = ReducerSet()
    mean = _MeanOf()
    assert reducers.wrap(mean, "a") is mean
    with pytest.raises(AssertionError, match=r"wrap_reducer got reducer _MeanOf \('b'\) twice"):
        reducers.wrap(mean, "b")
    assert reducers.wrap(len, "a") is not reducers.wrap(len, "b")


def test_a_name_needs_one_value_and_no_name_a_dict() -> None:
    named, nameless = ReducerSet(), ReducerSet()
    named.wrap(lambda values: {"a": 1}, "score")
    with pytest.raises(AssertionError, match=r"\('score'\) returned a dict; return one value, or give wrap_reducer no"):
        named.reduce(DummyDistributedContext(), for_training=True)
    nameless.wrap(len)
    with pytest.raises(AssertionError, match="reducer len returned a int; return a dict of metrics, or give wrap_red"):
        nameless.reduce(DummyDistributedContext(), for_training=True)


@pytest.mark.parametrize("method", ["reset", "per_slot_reduce", "cross_slot_reduce"])
def test_an_error_in_a_reducer_names_it_and_its_method(method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_arguments: Any) -> None:
        raise ZeroDivisionError("by nothing")

    reducers = ReducerSet()
    reducers.wrap(_MeanOf(), "mean").update(1.0)
    monkeypatch.setattr(_MeanOf, method, broken)
    with pytest.raises(
        ValueError, match=rf"reducer _MeanOf \('mean'\) failed in {method}: ZeroDivisionError: by nothing"
    ):
        reducers.reset() if method == "reset" else reducers.reduce(DummyDistributedContext(), for_training=True)


def test_two_reducers_of_one_metric_are_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    reducers = ReducerSet()
    reducers.wrap(lambda values: 1, "score")
    reducers.wrap(lambda values: 2, "score")
    assert reducers.reduce(DummyDistributedContext(), for_training=True) == {"score": 2}
    assert "several reducers give a metric 'score'" in caplog.text


def test_the_numbers_of_reducers_are_those_of_older_releases() -> None:
    assert [(each.name, each.value) for each in Reducer] == [("AVG", 1), ("SUM", 2), ("MAX", 3), ("MIN", 4)]
