"""DeepSpeedValidation: evaluates with every rank calling its engine equally often, as the parts of a spread model need
one another."""

import itertools
import logging
from collections.abc import Callable, Iterable, Iterator
from typing import Any, cast

from determined import core
from determined._json import JsonObject
from determined.errors import InvalidExperimentException
from determined.pytorch._callback_set import CallbackSet
from determined.pytorch._evaluation_reducer import Counted
from determined.pytorch._loader import DataLoader
from determined.pytorch._metric_columns import MetricColumns
from determined.pytorch._validation import Validation, evaluator, records_of, share
from determined.pytorch.deepspeed._context import DeepSpeedTrialContext
from determined.pytorch.deepspeed._micro_batches import is_ragged
from determined.pytorch.deepspeed._trial import DeepSpeedTrial

logger = logging.getLogger("determined.pytorch.deepspeed")


class DeepSpeedValidation(Validation):
    """The validations of one trial.

    Args:
        trial, context, loader, callbacks: as of Validation; the loader may be None.
        counts: whether this rank's metrics are reduced; not where they are those of another rank as well.
    """

    _API = DeepSpeedTrial

    def __init__(
        self,
        trial: DeepSpeedTrial,
        context: DeepSpeedTrialContext,
        loader: object,
        callbacks: CallbackSet,
        *,
        counts: bool,
    ) -> None:
        super().__init__(cast(Any, trial), context, loader, callbacks)
        self._mpu = context._mpu
        self._counts = counts
        self._is_pipeline = context.use_pipeline_parallel
        self._per_call = context.get_num_micro_batches_per_slot() if self._is_pipeline else 1
        has_parts = self._is_pipeline or self._mpu.data_parallel_world_size < context.distributed.size
        self._needs_all = has_parts or any(engine.zero_optimization_partition_weights() for engine in context.models)
        # A micro batch of another size would be filled up with what the stages exchanged before.
        self._without_last = context._exchanges_one_size and is_ragged(loader)
        self._warned_of_tail = False

    def _checked(self, loader: Any) -> object:
        return None if loader is None else super()._checked(loader)

    def _rank_data(self, distributed: core.DistributedContext) -> Iterable[object]:
        if self._data is None:
            mpu, loader = self._mpu, self._loader
            size, rank = (mpu.data_parallel_world_size, mpu.data_parallel_rank) if self._by_batch else (1, 0)
            self._data = share(loader, size, rank) if isinstance(loader, DataLoader) else loader
        return cast(Iterable[Any], self._data)

    def _is_in_step(self, data: Iterable[object], distributed: core.DistributedContext, most: int | None) -> bool:
        return True

    def _evaluate(
        self, data: Iterable[object], distributed: core.DistributedContext, most: int | None
    ) -> tuple[MetricColumns, int | None]:
        own, calls = self._count_calls(data, distributed, most)
        evaluate = evaluator(self._trial)
        self._fill_up(calls - own, evaluate)
        returned = MetricColumns("evaluate_batch")
        stream = None if data is None else _Recorded(iter(data), self._trial.get_batch_length)
        for index in range(own):
            metrics = _taking_what_there_is(evaluate, stream, index)
            if self._counts:
                returned.add(metrics)
        if not self._counts:
            return returned, 0
        return returned, None if stream is None or self._is_pipeline else stream.records

    def _count_calls(
        self, data: Iterable[object], distributed: core.DistributedContext, most: int | None
    ) -> tuple[int, int]:
        """Calls of `evaluate_batch` that this rank has data for, and that of the rank which has most."""
        mine = None if data is None else self._length(data)
        by_rank = distributed.allgather((self._mpu.data_parallel_rank, mine))
        lengths: dict[int, int] = {}
        for copy, length in by_rank:
            if length is not None:
                lengths[copy] = min(length, lengths.get(copy, length))
        if not lengths:
            raise InvalidExperimentException(
                "build_validation_data_loader returned None on every rank; return a loader, or override "
                "evaluate_full_dataset in place of evaluate_batch"
            )
        self._warn_of_tail(lengths)
        calls = {copy: length // self._per_call for copy, length in lengths.items()}
        if self._is_pipeline and not any(calls.values()):
            raise InvalidExperimentException(
                f"the pipeline evaluates {self._per_call} micro batches at once, and the validation data has only "
                f"{max(lengths.values())} for each; add data, or lower the micro batch size"
            )
        own, longest = calls.get(self._mpu.data_parallel_rank, 0), max(calls.values())
        return (own, longest) if most is None else (min(own, most), min(longest, most))

    def _length(self, data: Any) -> int:
        """Return how many micro batches this rank has that can be evaluated."""
        try:
            return len(data) - self._has_last()
        except (TypeError, NotImplementedError):
            raise InvalidExperimentException(
                "the validation loader has no length, and ranks must know how often to evaluate; return one with "
                "__len__, or override evaluate_full_dataset in place of evaluate_batch"
            ) from None

    def _has_last(self) -> bool:
        """Return whether the last micro batch is to be left out, and this rank's."""
        if not self._without_last or not isinstance(self._loader, DataLoader):
            return self._without_last
        return (len(self._loader) - 1) % self._mpu.data_parallel_world_size == self._mpu.data_parallel_rank

    def _warn_of_tail(self, lengths: dict[int, int]) -> None:
        left = max(length % self._per_call for length in lengths.values()) + self._without_last
        if left and not self._warned_of_tail:
            self._warned_of_tail = True
            logger.warning(
                "the pipeline evaluates %s whole micro batches at once: up to %s at the end of the validation data are "
                "left out",
                self._per_call,
                left,
            )

    def _fill_up(self, missing: int, evaluate: Callable[[object, int], object]) -> None:
        """Calls for the sake of the other ranks, before those that count: what reducers hear of them is forgotten."""
        if not missing:
            return
        stream = None if self._loader is None else _endless(self._loader, without_last=self._without_last)
        for _ in range(missing):
            evaluate(stream, 0)
        self._context.reset_reducers()

    def _run_whole(self, data: Iterable[object], distributed: core.DistributedContext) -> tuple[JsonObject, Counted]:
        if self._needs_all and distributed.rank != 0:
            self._trial.evaluate_full_dataset(cast(Any, data))
            self._context.reset_reducers()  # they have heard of all the data here, as the chief's have
        return super()._run_whole(data, distributed)


def _taking_what_there_is(evaluate: Callable[[object, int], object], stream: object, index: int) -> Any:
    try:
        return evaluate(stream, index)
    except StopIteration as err:
        raise InvalidExperimentException(
            f"call {index} of evaluate_batch found no data left: it is called once for each micro batch; take one by "
            "next(dataloader_iter) in each call, or override evaluate_full_dataset in place of it"
        ) from err


class _Recorded:
    """An iterator that counts records, as far as the trial can tell their number."""

    def __init__(self, stream: Iterator[object], length: Callable[[object], int]) -> None:
        self._stream = stream
        self._length = length
        self.records: int | None = 0

    def __iter__(self) -> "_Recorded":
        return self

    def __next__(self) -> Any:
        batch = next(self._stream)
        count = None if self.records is None else records_of(self._length, batch)
        self.records = None if count is None or self.records is None else self.records + count
        return batch


def _endless(loader: Any, *, without_last: bool) -> Iterator[object]:
    """Yield all of the data, again and again: even a rank without a batch of its own has some of it."""
    while True:
        is_empty = True
        for batch in itertools.islice(loader, len(loader) - 1 if without_last else None):
            is_empty = False
            yield batch
        if is_empty:
            raise InvalidExperimentException("the validation loader of a rank is empty while others have data")
