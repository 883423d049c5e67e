"""MetricColumns: metrics of many batches, kept on their device until all are wanted. Copying a tensor to the host makes
the processor wait for the device, so it happens once per metric and not once per batch. Where they are large they leave
the device earlier, behind the back of training, so that they take no more than a few times _DEVICE_BYTES of it."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from determined._json import JsonObject

Array = npt.NDArray[Any]
Column = Array | list[Any]
Block = Tensor | list[Any]

_PACK_BATCHES = 1000
_DEVICE_BYTES = 16 * 1024 * 1024
_WATCHED_BATCHES = 8
_WATCHED_BYTES = 64 * 1024


class MetricColumns:
    """Values that one method of the trial returned for each batch, by metric.

    Args:
        method: the method, for messages.
        bare: the name of the metric that a bare tensor is; None where a dict is needed.
    """

    def __init__(self, method: str, bare: str | None = None) -> None:
        self._method = method
        self._bare = bare
        self._count = 0
        self._columns: dict[str, list[object]] = {}
        # Of each metric, in the order of batches: on the host; on the way there; on the device.
        self._arrived: dict[str, list[Column]] = {}
        self._sent: dict[str, list[_Sent]] = {}
        self._packed: dict[str, list[Block]] = {}
        self._bytes = 0  # of tensors that have not been sent
        self._fresh: set[str] = set()
        self._watched: dict[str, dict[int, Tensor] | None] = {}

    def __len__(self) -> int:
        return self._count

    def add(self, returned: Tensor | JsonObject) -> None:
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
            if (
                name in fresh
                and isinstance(value, Tensor)
                and value.untyped_storage().nbytes() <= (size := value.nbytes)
            ):
                columns[name].append(
                    value.data if value.requires_grad else value
                )  # `data` is `detach` in half the time
                self._bytes += size
            else:
                columns[name].append(self._copied(name, value))
        self._count += 1
        if self._bytes > _DEVICE_BYTES:
            self._offload()
        elif self._count % _PACK_BATCHES == 0:
            self._pack()

    def drain(self) -> dict[str, Column]:
        """Take everything kept, on the host: an array with a row per batch where all batches are alike."""
        self._pack()
        self._arrive()
        for name, blocks in self._packed.items():
            self._arrived.setdefault(name, []).extend(_on_host(block) for block in blocks)
        columns = {name: _joined(pieces) for name, pieces in self._arrived.items()}
        self._count, self._bytes, self._columns, self._packed, self._arrived = 0, 0, {}, {}, {}
        return columns

    def _row(self, returned: object) -> JsonObject:
        if isinstance(returned, Tensor) and self._bare is not None:
            return {self._bare: returned}
        if isinstance(returned, Mapping):
            return dict(returned)
        also = "" if self._bare is None else f", or a tensor, which is the metric {self._bare!r}"
        raise TypeError(
            f"{self._method} returned a {type(returned).__name__}; return a dict of metric names to values{also}"
        )

    def _begin(self, row: JsonObject) -> dict[str, list[object]]:
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

    def _copied(self, name: str, value: object) -> object:
        """A copy of what later batches may write to: an array, a buffer of the model, a CUDA graph's output.

        A metric whose first few tensors all had memory of their own (they are held meanwhile, so that none can be
        handed out again) needs no more copies; one that came twice from the same place is copied for ever, and so is
        a large one, of which none is held, and a part of a larger tensor, which would keep the whole of it.
        """
        if not isinstance(value, Tensor):
            copied = _detached(value)
            if copied is not value:  # a number, of which there are many, comes back as it is
                self._bytes += _bytes_of(copied)
            return copied
        self._bytes += value.nbytes
        watched = self._watched.setdefault(name, {})
        is_small = value.untyped_storage().nbytes() <= _WATCHED_BYTES
        if is_small and watched is not None and name not in self._fresh:
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

    def _offload(self) -> None:
        """Send what is on the device to the host without waiting for it; what was sent before has come by now."""
        self._pack()
        self._arrive()
        ready = [name for name, blocks in self._packed.items() if not any(map(_has_shards, blocks))]
        self._sent = {name: [_Sent(block) for block in self._packed.pop(name)] for name in ready}
        self._bytes = 0

    def _arrive(self) -> None:
        for name, blocks in self._sent.items():
            self._arrived.setdefault(name, []).extend(block.arrived() for block in blocks)
        self._sent = {}


class _Sent:
    """A block on its way to the host, into pinned memory where it comes from a GPU."""

    def __init__(self, block: Block) -> None:
        devices = {tensor.device for tensor in _tensors(block) if tensor.is_cuda}
        self._block = each_tensor(block, lambda tensor: tensor.to("cpu", non_blocking=tensor.is_cuda))
        self._copies = [torch.cuda.current_stream(device).record_event() for device in devices]

    def arrived(self) -> Column:
        for copy in self._copies:
            copy.synchronize()
        # Pinned memory is scarce: what stays for long lies elsewhere.
        return _on_host(each_tensor(self._block, Tensor.clone) if self._copies else self._block)


def plain(value: object) -> Any:
    """A tensor as a number or nested lists; anything else as it is."""
    return _array(value).tolist() if isinstance(value, Tensor) else value


def is_numeric(column: Column) -> bool:
    return isinstance(column, np.ndarray) and column.dtype.kind in "biuf"


def each_tensor(value: Any, change: Callable[[Tensor], Tensor]) -> Any:
    """The value with every tensor in it changed, in whatever lists, tuples and dicts they are."""
    if isinstance(value, Tensor):
        return change(value)
    if type(value) in (list, tuple):
        return type(value)(each_tensor(part, change) for part in value)
    if type(value) is dict:
        return {name: each_tensor(part, change) for name, part in value.items()}
    return value


def _tensors(value: Any) -> Iterator[Tensor]:
    if isinstance(value, Tensor):
        yield value
    elif type(value) in (list, tuple, dict):
        for part in value.values() if type(value) is dict else value:
            yield from _tensors(part)


def _bytes_of(value: object) -> int:
    return sum(tensor.nbytes for tensor in _tensors(value))


def _has_shards(block: Block) -> bool:
    """Return whether bringing it to the host takes all ranks at once, as they come together at the end of a chunk
    alone."""
    return any(map(_is_shard, _tensors(block)))


def _is_shard(tensor: Tensor) -> bool:
    """A DTensor, as FSDP's gradient norm is; every rank has the same ones."""
    return hasattr(tensor, "full_tensor")


def _detached(value: Any) -> object:
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


def _stacked(values: list[Any]) -> Block:
    try:
        return torch.stack(values)
    except (TypeError, RuntimeError):  # numbers, or tensors of several shapes or devices: each is copied by itself
        return values


def _on_host(block: Block) -> Column:
    if isinstance(block, Tensor):
        return _array(block)
    values = [_array(value) if isinstance(value, Tensor) else value for value in block]
    return np.asarray(values, dtype=np.float64) if _are_numbers(values) else values


def _are_numbers(values: Iterable[object]) -> bool:
    return {type(value) for value in values} <= {float, int, bool}


def _array(tensor: Tensor) -> Array:
    if _is_shard(tensor):
        tensor = tensor.full_tensor()  # type: ignore[attr-defined]
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
