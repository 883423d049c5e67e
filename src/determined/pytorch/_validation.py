"""Validation: runs evaluate_batch or evaluate_full_dataset over the validation data and reduces what they return."""

import inspect
import itertools
import logging
import time
from collections.abc import Callable, Iterable
from typing import Any

import torch

from determined import core
from determined._json import JsonObject
from determined.errors import InvalidExperimentException
from determined.pytorch._batch_order import generators_of
from determined.pytorch._callback_set import CallbackSet
from determined.pytorch._context import PyTorchTrialContext
from determined.pytorch._data_random_state import SeededBatches
from determined.pytorch._evaluating import evaluating
from determined.pytorch._evaluation_reducer import Counted, reduced, share_of
from determined.pytorch._loader import DataLoader, adapt_batch_sampler
from determined.pytorch._metric_columns import MetricColumns, plain
from determined.pytorch._trial import PyTorchTrial
from determined.pytorch._trial_checks import check_loader
from determined.pytorch.samplers import EpochShuffle

logger = logging.getLogger("determined.pytorch")


class Validation:
    """The validations of one trial.

    Args:
        trial: overrides exactly one of `evaluate_batch` and `evaluate_full_dataset`.
        context: the trial's.
        loader: what `build_validation_data_loader` returned.
        callbacks: the trial's.

    Raises:
        InvalidExperimentException: none or both of the methods are overridden.
        RuntimeError: torch's own loader without `disable_dataset_reproducibility_checks`.
        TypeError: something else than a loader.
    """

    _API: type = PyTorchTrial

    def __init__(
        self, trial: PyTorchTrial, context: PyTorchTrialContext, loader: object, callbacks: CallbackSet
    ) -> None:
        self._by_batch = _evaluates_by_batch(trial, self._API)
        self._trial = trial
        self._context = context
        self._loader = self._checked(loader)
        self._callbacks = callbacks
        self._data: Iterable[object] | None = None
        self._order = _FixedOrder(self._loader)

    def run(self, distributed: core.DistributedContext, *, max_batches: int | None = None) -> JsonObject:
        """Validate. All ranks must call it; `on_validation_end` is left to the caller.

        Args:
            distributed: the ranks that share the data.
            max_batches: stop after so many batches of each rank.

        Returns:
            Metrics over all ranks, on the chief; elsewhere too if a callback of any rank overrides `on_validation_end`,
            else {}.

        Raises:
            RuntimeError: no rank has a batch.
            TypeError: not a dict of numbers from `evaluate_batch`, or not a dict from `evaluate_full_dataset`.
            ValueError: the names of metrics change between batches or ranks.
            InvalidExperimentException: `evaluation_reducer` does not fit the metrics.
        """
        context, began = self._context, time.monotonic()
        data = self._rank_data(distributed)
        context._reducers.reset()
        in_step = self._is_in_step(data, distributed, max_batches)
        with evaluating(context.models, in_step=in_step), self._order:
            self._callbacks.fire("on_validation_start")
            if self._by_batch:
                metrics, counted = self._run_batches(data, distributed, max_batches)
            else:
                metrics, counted = self._run_whole(data, distributed)
            metrics |= context._reducers.reduce(distributed, for_training=False)
        if distributed.rank == 0:
            _log_speed(time.monotonic() - began, counted)
        if self._callbacks.anywhere("on_validation_end"):
            return dict(distributed.broadcast(metrics))
        return metrics if distributed.rank == 0 else {}

    def _checked(self, loader: object) -> Any:
        return check_loader(loader, "build_validation_data_loader", self._context)

    def _rank_data(self, distributed: core.DistributedContext) -> Iterable[object]:
        """Return this rank's share of the data, or all of it for `evaluate_full_dataset`. Kept: it may hold worker
        processes."""
        if self._data is None:
            size, rank = (distributed.size, distributed.rank) if self._by_batch else (1, 0)
            loader = self._loader
            self._data = share(loader, size, rank) if isinstance(loader, DataLoader) else loader
        return self._data

    def _is_in_step(self, data: Iterable[object], distributed: core.DistributedContext, most: int | None) -> bool:
        """Return whether all ranks call their models equally often; asked only where it makes a difference."""
        if distributed.size == 1 or not self._context._is_sharded():
            return True
        length = _length(data)
        lengths = distributed.allgather(length if length is None or most is None else min(length, most))
        return self._by_batch and None not in lengths and len(set(lengths)) == 1

    def _run_batches(
        self, data: Iterable[object], distributed: core.DistributedContext, most: int | None
    ) -> tuple[JsonObject, Counted]:
        self._callbacks.fire("on_validation_epoch_start")
        returned, records = self._evaluate(data, distributed, most)
        counted, columns = Counted(len(returned), records), returned.drain()
        if self._callbacks.overrides("on_validation_epoch_end"):
            outputs = [{name: column[at] for name, column in columns.items()} for at in range(counted.batches or 0)]
            self._callbacks.fire("on_validation_epoch_end", outputs)
        reducers = self._trial.evaluation_reducer()
        shares = distributed.gather(share_of(columns, counted, reducers))
        if shares is None:
            return {}, counted
        return dict(reduced(shares, reducers)), Counted.total(share.counted for share in shares)

    def _evaluate(
        self, data: Iterable[object], distributed: core.DistributedContext, most: int | None
    ) -> tuple[MetricColumns, int | None]:
        """Return what each batch returned, and how many records there were, if the trial can tell."""
        context, evaluate = self._context, evaluator(self._trial)
        returned, records = MetricColumns("evaluate_batch"), 0
        length: Callable[[object], int | None] = self._trial.get_batch_length
        unknown = False
        for index, batch in enumerate(itertools.islice(data, most)):
            count = None if unknown else records_of(length, batch)
            unknown = count is None
            records += count or 0
            returned.add(evaluate(context.to_device(batch) if context._auto_to_device else batch, index))
        return returned, None if unknown else records

    def _run_whole(self, data: Iterable[object], distributed: core.DistributedContext) -> tuple[JsonObject, Counted]:
        if distributed.rank != 0:
            return {}, Counted(0, 0)
        metrics: object = self._trial.evaluate_full_dataset(data)  # type: ignore[arg-type]
        if not isinstance(metrics, dict):
            raise TypeError(
                f"evaluate_full_dataset returned a {type(metrics).__name__}; return a dict of metric names to values"
            )
        counted = Counted(_length(data), _length(getattr(data, "dataset", None)))
        return {name: plain(value) for name, value in metrics.items()}, counted


class _FixedOrder:
    """A loader that shuffles has the same order each time within `with`: a trial that was paused would else not know
    how many validations there were, and its sums would be added up in another order than those of one left alone."""

    def __init__(self, loader: Any) -> None:
        is_ours = isinstance(loader, DataLoader)
        sampler = getattr(loader.batch_sampler, "sampler", None) if is_ours else None
        self._shuffle = sampler if isinstance(sampler, EpochShuffle) else None
        self._generators = generators_of(loader) if is_ours else []
        self._first = [generator.get_state() for generator in self._generators]
        self._outside = self._first

    def __enter__(self) -> None:
        if self._shuffle is not None:
            self._shuffle.set_epoch(0)
        self._outside = [generator.get_state() for generator in self._generators]
        self._put(self._first)

    def __exit__(self, *error: object) -> None:
        self._put(self._outside)  # the training data may be ordered by the same generator

    def _put(self, states: list[torch.Tensor]) -> None:
        for generator, state in zip(self._generators, states, strict=True):
            generator.set_state(state)


def share(loader: DataLoader, size: int, rank: int) -> torch.utils.data.DataLoader[Any]:
    if not loader.persistent_workers:
        return loader.get_data_loader(repeat=False, skip=0, num_replicas=size, rank=rank)
    batches = adapt_batch_sampler(loader.batch_sampler, num_replicas=size, rank=rank)
    # Workers are made, and their seed is drawn, in the first validation alone: not from the process's random numbers.
    own = loader.generator or torch.Generator()
    return loader._torch_loader(SeededBatches(batches), own, persistent_workers=True)


def _evaluates_by_batch(trial: PyTorchTrial, api: type) -> bool:
    by_batch = _is_overridden(trial, "evaluate_batch", api)
    if by_batch != _is_overridden(trial, "evaluate_full_dataset", api):
        return by_batch
    how_many = "both evaluate_batch and" if by_batch else "neither evaluate_batch nor"
    raise InvalidExperimentException(
        f"{type(trial).__name__} overrides {how_many} evaluate_full_dataset; override exactly one of them"
    )


def _is_overridden(trial: PyTorchTrial, method: str, api: type) -> bool:
    bound = getattr(trial, method)
    return getattr(bound, "__func__", bound) is not getattr(api, method)


def evaluator(trial: PyTorchTrial) -> Callable[[Any, int], Any]:
    """`evaluate_batch` as it wants to be called: with the number of the batch, or, as in older trials, without."""
    evaluate: Callable[..., object] = trial.evaluate_batch
    parameters = inspect.signature(evaluate).parameters
    required = [
        each
        for each in parameters.values()
        if each.kind in (each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD) and each.default is each.empty
    ]
    if "batch_idx" in parameters and "batch" in parameters:
        return lambda batch, index: evaluate(batch=batch, batch_idx=index)
    if "batch_idx" in parameters:
        return lambda batch, index: evaluate(batch, batch_idx=index)
    if len(required) >= 2:
        return evaluate
    if "batch" in parameters:
        return lambda batch, _index: evaluate(batch=batch)
    return lambda batch, _index: evaluate(batch)


def records_of(length: Callable[[object], int | None], batch: object) -> int | None:
    """Count records for the log alone: a batch of a kind that get_batch_length does not know is evaluated all the
    same."""
    try:
        return length(batch)
    except (TypeError, ValueError):
        return None


def _length(data: Any) -> int | None:
    try:
        return len(data)
    except (TypeError, NotImplementedError):
        return None


def _log_speed(seconds: float, counted: Counted) -> None:
    took = max(seconds, 1e-9)
    parts = [f"in {seconds:.4g}s" if counted.records is None else f"{counted.records} records in {seconds:.4g}s"]
    if counted.records is not None:
        parts[0] += f" ({counted.records / took:.4g} records/s)"
    if counted.batches is not None:
        parts.append(f"in {counted.batches} batches ({counted.batches / took:.4g} batches/s)")
    logger.info("validated: %s", ", ".join(parts))
