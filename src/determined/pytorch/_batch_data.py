"""Batches of data: their types, how many records one has, and how it gets to the device."""

import copy
import logging
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np
import torch

TorchData = dict[str, torch.Tensor] | Sequence[torch.Tensor] | torch.Tensor

logger = logging.getLogger("determined.pytorch")

T = TypeVar("T")

_MOVED_KINDS = "fciub"  # kinds of arrays that are numbers; text and objects stay where they are
_warned_types: set[type] = set()


def data_length(data: object) -> int:
    """The number of records in a batch: the length of the first array or tensor in it.

    Args:
        data: an array, a tensor, or dicts, lists and tuples of them, nested as deep as one likes.

    Raises:
        ValueError: nothing but empty containers.
        TypeError: something else, and no array or tensor with a length.

    Example:
        >>> data_length({"data": [{"image": torch.zeros(8, 3)}], "label": torch.zeros(8)})
        8
    """
    others: set[str] = set()
    for leaf in _leaves(data):
        if isinstance(leaf, torch.Tensor | np.ndarray) and leaf.ndim:
            return len(leaf)
        others.add(type(leaf).__name__)
    if not others:
        raise ValueError(f"a batch is an empty {type(data).__name__}, which has no length; check collate_fn")
    raise TypeError(
        f"no array or tensor with a length in a batch of {', '.join(sorted(others))}; return one from the dataset, or "
        "override get_batch_length in the trial"
    )


def to_device(data: T, device: torch.device | str, warned_types: set[type] | None = None) -> T:
    """A batch on `device`, in the same structure; what is there already is not copied.

    Copies out of pinned memory run beside the computation (`DataLoader(pin_memory=True)`); nothing is waited for.

    Args:
        data: tensors, arrays of numbers (which become tensors), objects with a method `to`, or dicts, lists, tuples and
            named tuples of these. Anything else is kept as it is, with one warning per type.
        device: where to; text such as "cuda:0" will do.
        warned_types: types which were warned of; None keeps one set for the whole process.

    Example:
        >>> to_device({"x": np.zeros(2)}, torch.device("cpu"))
        {'x': tensor([0., 0.], dtype=torch.float64)}
    """
    device = torch.device(device) if isinstance(device, str) else device
    # A copy to the CPU that nobody waits for would be read before it has arrived.
    is_async = device.type != "cpu"
    moved: T = _move(data, device, is_async, _warned_types if warned_types is None else warned_types)
    return moved


def _leaves(data: object) -> Iterator[object]:
    if isinstance(data, Mapping):
        data = data.values()
    elif not isinstance(data, list | tuple):
        yield data
        return
    for part in data:
        yield from _leaves(part)


def _move(data: Any, device: torch.device, is_async: bool, warned: set[type]) -> Any:
    """The usual types first, by identity: this runs for every batch."""
    kind = type(data)
    if kind is torch.Tensor:
        return data if data.device == device else data.to(device, non_blocking=is_async)
    if kind is list:
        return [_move(part, device, is_async, warned) for part in data]
    if kind is tuple:
        return tuple([_move(part, device, is_async, warned) for part in data])
    if kind is dict:
        return {key: _move(part, device, is_async, warned) for key, part in data.items()}
    return _move_unusual(data, device, is_async, warned)


def _move_unusual(data: Any, device: torch.device, is_async: bool, warned: set[type]) -> object:
    if isinstance(data, torch.Tensor):
        return data.to(device, non_blocking=is_async)
    if callable(getattr(data, "to", None)):  # before containers: PackedSequence is a tuple that knows what must stay
        return data.to(device)
    if isinstance(data, np.ndarray) and data.dtype.kind in _MOVED_KINDS:
        return _tensor_of(data).to(device, non_blocking=is_async)
    if isinstance(data, dict):
        moved = copy.copy(data)  # some, such as defaultdict, are not made from their items alone
        moved.update({key: _move(part, device, is_async, warned) for key, part in data.items()})
        return moved
    if isinstance(data, list | tuple):
        parts = [_move(part, device, is_async, warned) for part in data]
        return type(data)(*parts) if hasattr(data, "_fields") else type(data)(parts)
    if type(data) not in warned:
        warned.add(type(data))
        what = f"ndarray ({data.dtype})" if isinstance(data, np.ndarray) else type(data).__name__
        logger.warning("to_device leaves data of type %s where it is", what)
    return data


def _tensor_of(array: np.ndarray[Any, Any]) -> torch.Tensor:
    """Shares the array's memory where torch can: not that of read-only, reversed or byte-swapped arrays."""
    if not array.dtype.isnative:
        array = array.astype(array.dtype.newbyteorder("="))
    if not array.flags.writeable or any(stride < 0 for stride in array.strides):
        array = array.copy()
    return torch.from_numpy(array)
