"""ChunkMetrics: training metrics of one reporting chunk, averaged over slots and batches when it ends."""

from collections.abc import Sequence

import numpy as np
import torch

from determined import core
from determined._json import JsonObject
from determined.pytorch._metric_columns import Array, Column, MetricColumns, is_numeric


class ChunkMetrics(MetricColumns):
    """Values that `train_batch` returned since the last report.

    Example:
        >>> chunk = ChunkMetrics()
        >>> chunk.add({"loss": torch.tensor(1.0)})
        >>> chunk.add({"loss": torch.tensor(2.0)})
        >>> chunk.take(distributed)
        ({'loss': 1.5}, [{'loss': 1.0}, {'loss': 2.0}])
    """

    def __init__(self) -> None:
        super().__init__("train_batch", bare="loss")

    def take(self, distributed: core.DistributedContext) -> tuple[JsonObject, list[JsonObject]]:
        """Metrics of the chunk, the same on every rank; then it is empty. All ranks must call it.

        Args:
            distributed: the ranks to average over.

        Returns:
            Averages over batches and ranks, and each batch's averages over ranks. NaN stays NaN; None is left out of
            averages; what is no number becomes None.

        Raises:
            ValueError: ranks have metrics of different names.
        """
        gathered = [columns for columns in distributed.allgather(self._share()) if columns is not None]
        names = _same_names(gathered)
        over_ranks = {name: _over_ranks([columns[name] for columns in gathered]) for name in names}
        averages = {name: _over_batches(column) for name, column in over_ranks.items()}
        values = [_plain_list(column) for column in over_ranks.values()]
        return averages, [dict(zip(names, batch, strict=True)) for batch in zip(*values, strict=True)]

    def _share(self) -> dict[str, Column] | None:
        """Return what this rank adds; None where its batches are another rank's as well."""
        return self.drain()


def _same_names(gathered: Sequence[dict[str, Column]]) -> list[str]:
    first = gathered[0]
    for rank, columns in enumerate(gathered):
        if columns.keys() != first.keys():
            raise ValueError(
                f"train_batch returned metrics {sorted(columns)} on rank {rank} and {sorted(first)} on rank 0; return "
                "the same names on every rank"
            )
    return list(first)


def _over_ranks(columns: list[Column]) -> Column:
    """Return each batch's mean over ranks: float64, where a batch has a number of one shape on all of them."""
    if all(is_numeric(column) for column in columns) and len({np.shape(column) for column in columns}) == 1:
        return np.mean(np.asarray(columns, dtype=np.float64), axis=0)  # type: ignore[no-any-return]
    return [mean_of(values) for values in zip(*columns, strict=True)]


def mean_of(values: Sequence[object]) -> Array | None:
    arrays = [array for value in values if (array := _as_numbers(value)) is not None]
    if not arrays or len({array.shape for array in arrays}) > 1:
        return None
    return np.mean(np.asarray(arrays), axis=0)  # type: ignore[no-any-return]


def _as_numbers(value: object) -> Array | None:
    """Convert a value to numbers; None for text, tensors in a list and the like, which have no average."""
    if _holds_tensors(value):
        return None
    try:
        array = np.asarray(value)
    except ValueError:  # lists of several lengths
        return None
    return array.astype(np.float64) if array.dtype.kind in "biuf" else None


def _holds_tensors(value: object) -> bool:
    if isinstance(value, list | tuple):
        return any(_holds_tensors(part) for part in value)
    return isinstance(value, torch.Tensor)


def _over_batches(column: Column) -> float | None:
    """The mean of all elements; every batch has the same weight."""
    if isinstance(column, np.ndarray):
        return float(column.mean()) if column.size else None
    means = [float(value.mean()) for value in column if value is not None and value.size]
    return float(np.mean(means)) if means else None


def _plain_list(column: Column) -> list[object]:
    if isinstance(column, np.ndarray):
        return column.tolist()  # type: ignore[no-any-return]
    return [None if value is None else value.tolist() for value in column]
