"""MetricColumns: metrics of many batches, kept on their device until all are wanted. Copying a tensor to the host makes
the processor wait for the device, so it happens once per metric and not once per batch."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

Array = npt.NDArray[Any]
Column = Array | list[Any]

_PACK_BATCHES = 1000
_WATCHED_BATCHES = 8


class MetricColumns:
    """What one method of the trial returned for each batch, by metric.

    Args:
        method: the method, for messages.
        bare: the name of the metric that a bare tensor is; None where a dict is needed.
    """

    def __init__(self, method: str, bare: str | None = None) -> None:
        self._method = method
        self._bare = bare
        self._count = 0
        self._columns: dict[str, list[Any]] = {}
        self._packed: dict[str, list[Tensor | list[Any]]] = {}
        self._fresh: set[str] = set()
        self._watched: dict[str, dict[int, Tensor] | None] = {}

    def __len__(self) -> int:
        return self._count

    def add(self, returned: Tensor | dict[str, Any]) -> None:
        """Keep the metrics of one batch. Runs for every batch: a few microseconds, and nothing waits for the device.

        Raises:
            TypeError: not a dict of names.
            ValueError: other names than those of the first batch.
        """
        row = returned if type(returned) is dict else self._row(returned)
        columns = self._columns
        if row.keys() != columns.keys():
            columns = self._begin(row)
        fresh = self._fresh
        for name, value in row.items():
            if name in fresh and isinstance(value, Tensor) and value.untyped_storage().nbytes() <= value.nbytes:
                columns[name].append(
                    value.data if value.requires_grad else value
                )  # `data` is `detach` in half the time
            else:
                columns[name].append(self._copied(name, value))
        self._count += 1
        if self._count % _PACK_BATCHES == 0:
            self._pack()

    def drain(self) -> dict[str, Column]:
        """Everything kept, on the host: an array with a row per batch where all batches are alike. Then it is empty."""
        self._pack()
        columns = {name: _joined([_on_host(block) for block in blocks]) for name, blocks in self._packed.items()}
        self._count, self._columns, self._packed = 0, {}, {}
        return columns

    def _row(self, returned: Any) -> dict[str, Any]:
        if isinstance(returned, Tensor) and self._bare is not None:
            return {self._bare: returned}
        if isinstance(returned, Mapping):
            return dict(returned)
        also = "" if self._bare is None else f", or a tensor, which is the metric {self._bare!r}"
        raise TypeError(
            f"{self._method} returned a {type(returned).__name__}; return a dict of metric names to values{also}"
        )

    def _begin(self, row: dict[str, Any]) -> dict[str, list[Any]]:
        if self._count:
            raise ValueError(
                f"{self._method} returned metrics {sorted(map(str, row))} for a batch and {sorted(self._columns)} for "
                "those before; return the same names for every batch"
            )
        for name in row:
            if not isinstance(name, str):
                raise TypeError(f"{self._method} returned a metric named {name!r}; metric names are text")
        self._columns = {name: [] for name in row}
        return self._columns

    def _copied(self, name: str, value: Any) -> Any:
        """A copy of what later batches may write to: an array, a buffer of the model, a CUDA graph's output.

        A metric whose first few tensors all had memory of their own (they are held meanwhile, so that none can be
        handed out again) needs no more copies; one that came twice from the same place is copied for ever, and so is
        a part of a larger tensor, which would keep the whole of it.
        """
        if not isinstance(value, Tensor):
            return _detached(value)
        watched = self._watched.setdefault(name, {})
        if watched is not None and name not in self._fresh:
            place = value.data_ptr()
            self._watched[name] = None if place in watched else watched | {place: value.detach()}
            self._judge(name)
        return value.detach().clone()

    def _judge(self, name: str) -> None:
        if len(self._watched[name] or ()) == _WATCHED_BATCHES:
            self._fresh.add(name)
            del self._watched[name]

    def _pack(self) -> None:
        """Many small tensors into one, still on the device."""
        for name, values in self._columns.items():
            blocks = self._packed.setdefault(name, [])
            if values:
                blocks.append(_stacked(values))
        self._columns = {name: [] for name in self._columns}


def plain(value: Any) -> Any:
    """A tensor as a number or nested lists; anything else as it is."""
    return _array(value).tolist() if isinstance(value, Tensor) else value


def is_numeric(column: Column) -> bool:
    return isinstance(column, np.ndarray) and column.dtype.kind in "biuf"


def _detached(value: Any) -> Any:
    """A copy without the graph of the batch, in whatever structure tensors and arrays are."""
    if isinstance(value, Tensor):
        return value.detach().clone()
    if isinstance(value, np.ndarray):
        return value.copy()
    if type(value) in (list, tuple):
        return type(value)(_detached(part) for part in value)
    if type(value) is dict:
        return {name: _detached(part) for name, part in value.items()}
    return value


def _stacked(values: list[Any]) -> Tensor | list[Any]:
    try:
        return torch.stack(values)
    except (TypeError, RuntimeError):  # numbers, or tensors of several shapes or devices: each is copied by itself
        return values


def _on_host(block: Tensor | list[Any]) -> Column:
    if isinstance(block, Tensor):
        return _array(block)
    values = [_array(value) if isinstance(value, Tensor) else value for value in block]
    return np.asarray(values, dtype=np.float64) if _are_numbers(values) else values


def _are_numbers(values: Iterable[Any]) -> bool:
    return {type(value) for value in values} <= {float, int, bool}


def _array(tensor: Tensor) -> Array:
    if hasattr(tensor, "full_tensor"):  # a DTensor, as FSDP's gradient norm is; every rank has the same ones
        tensor = tensor.full_tensor()
    if tensor.is_floating_point() and tensor.itemsize < 4:
        tensor = tensor.float()  # numpy knows no bfloat16, and sums of float16 overflow
    array: Array = tensor.numpy(force=True)
    return array


def _joined(pieces: list[Column]) -> Column:
    if len(pieces) == 1:
        return pieces[0]
    arrays = [piece for piece in pieces if isinstance(piece, np.ndarray)]
    if len(arrays) == len(pieces) and len({array.shape[1:] for array in arrays}) == 1:
        return np.concatenate(arrays)
    return [value for piece in pieces for value in piece]
