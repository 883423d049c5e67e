"""How long to train, by operations, by script and by config."""

import logging
import warnings
from collections.abc import Iterator
from typing import Any

import pytest

from determined import core
from determined.trial import Batch, Epoch
from determined.trial._length import late_length, length_of, operation_legs


class _Operation:
    def __init__(self, length: int) -> None:
        self.length = length
        self.progress: list[float] = []
        self.metric: Any = None

    def report_progress(self, length: float) -> None:
        self.progress.append(length)

    def report_completed(self, metric: Any) -> None:
        self.metric = metric


class _Searcher:
    def __init__(self, unit: core.Unit | None, *lengths: int) -> None:
        self.searcher = self
        self._unit = unit
        self.handed_out = [_Operation(length) for length in lengths]

    def get_configured_units(self) -> core.Unit | None:
        return self._unit

    def operations(self) -> Iterator[_Operation]:
        return iter(self.handed_out)


def _no_batch_size() -> int:
    raise AssertionError("the global batch size is needed for records alone")


def _legs(context: Any, batch_size: Any = _no_batch_size) -> list[Any]:
    return list(operation_legs(context, batch_size))


def test_operations_in_epochs_are_as_long_as_the_data() -> None:
    context = _Searcher(core.Unit.EPOCHS, 1, 3)
    assert [leg.batches(7) for leg in _legs(context)] == [7, 21]


def test_operations_in_records_count_whole_batches() -> None:
    context = _Searcher(core.Unit.RECORDS, 100, 3)
    assert [leg.batches(7) for leg in _legs(context, lambda: 32)] == [3, 1]


def test_progress_is_told_in_the_searchers_units() -> None:
    context = _Searcher(core.Unit.EPOCHS, 2)
    (leg,) = _legs(context)
    leg.report_progress(context, 7, 4)
    leg.report_progress(context, 9, 4)
    assert context.handed_out[0].progress == [1.75, 2]


def test_a_length_without_unit_counts_epochs_and_says_so() -> None:
    with pytest.warns(FutureWarning, match="taken for epochs"):
        (leg,) = _legs(_Searcher(None, 2))
    assert leg.until == Epoch(2)


def test_only_the_chief_completes_an_operation() -> None:
    context = _Searcher(core.Unit.BATCHES, 2, 2)
    first, second = _legs(context)
    first.complete(0.5, is_chief=True)
    second.complete(0.5, is_chief=False)
    assert [operation.metric for operation in context.handed_out] == [0.5, None]
    assert first.is_completed
    assert second.is_completed


@pytest.mark.parametrize(
    ("config", "expected"), [({"batches": 9}, Batch(9)), ({"epochs": 2}, Epoch(2)), ({"records": 65}, Batch(2))]
)
def test_a_configured_length_has_a_unit(config: dict[str, int], expected: Any) -> None:
    assert length_of(config, lambda: 32) == expected


@pytest.mark.parametrize(
    ("searcher", "expected"),
    [
        ({"max_length": {"batches": 5}}, Batch(5)),
        ({"max_length": 5}, Epoch(5)),
        ({"time_metric": "batches", "max_time": 8}, Batch(8)),
        ({"time_metric": "epochs", "max_time": 8}, Epoch(8)),
    ],
)
def test_the_config_says_how_long_when_the_script_does_not(searcher: dict[str, Any], expected: Any) -> None:
    assert late_length(None, searcher, _no_batch_size, "Trainer.fit") == expected


@pytest.mark.parametrize("searcher", [{}, {"time_metric": "loss", "max_time": 8}])
def test_no_length_at_all_is_an_error_that_says_where_to_put_one(searcher: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"pass max_length=pytorch\.Epoch"):
        late_length(None, searcher, _no_batch_size, "Trainer.fit")


def test_a_script_that_disagrees_with_the_searcher_is_warned(caplog: pytest.LogCaptureFixture) -> None:
    searcher = {"time_metric": "batches", "max_time": 8}
    with caplog.at_level(logging.WARNING), warnings.catch_warnings():
        assert late_length(Batch(9), searcher, _no_batch_size, "Trainer.fit") == Batch(9)
    assert "the searcher expects 8 of batches" in caplog.text


@pytest.mark.parametrize("bad", [3, Batch([1]), "epoch"])
def test_a_length_must_be_a_number_of_batches_or_epochs(bad: Any) -> None:
    with pytest.raises(TypeError, match="max_length"):
        late_length(bad, {}, _no_batch_size, "Trainer.fit")
