"""Copies of tensors that lie on a GPU, made while the GPU goes on: the processor only asks for them.

Each tensor is copied on its device first, where there is room: that takes the GPU a fraction of a step, and what
follows may change the original. The copy then moves to the host on a stream of its own. Without room the GPU, and not
the processor, waits until everything has been moved.
"""

import copy
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import torch

from determined.pytorch._host_memory import HostMemory

_MARGIN = 0.05  # of a device's memory
_PORTABLE = 1  # cudaHostRegisterPortable: locked for every device


class DeviceCopies:
    """Copies of the tensors of one process, in memory that its GPUs write to by themselves.

    Args:
        memory: where copies are made.
    """

    def __init__(self, memory: HostMemory) -> None:
        self._memory = memory
        self._streams: dict[torch.device, torch.cuda.Stream] = {}
        self._locked = 0  # segments of the memory
        self._moving: list[_Move] = []

    def replaced(self, state: Any) -> Any:
        """The state with copies in place of the tensors on GPUs that lie in its dicts and lists; tensors that share
        memory share it in the copy. The copies are complete after `wait`."""
        storages: dict[int, _Move] = {}
        replaced = _map(state, lambda tensor: self._copy_of(tensor, storages))
        if storages:
            self._lock_pages()
        self._start(list(storages.values()))
        return replaced

    def wait(self) -> None:
        """Wait until all has been moved. Any thread may call it."""
        for move in self._moving:
            if move.is_done is not None:
                move.is_done.synchronize()
        self._moving.clear()  # and the copies on devices with them

    def _copy_of(self, tensor: torch.Tensor, storages: dict[int, "_Move"]) -> torch.Tensor:
        storage = tensor.untyped_storage()
        move = storages.get(storage.data_ptr())
        if move is None:
            target = torch.from_numpy(self._memory.take(storage.nbytes()))
            move = storages[storage.data_ptr()] = _Move(_bytes_of(storage), target)
        made = torch.empty(0, dtype=tensor.dtype)
        made.set_(move.target.untyped_storage(), tensor.storage_offset(), tensor.size(), tensor.stride())
        return made

    def _start(self, moves: list["_Move"]) -> None:
        self._moving += moves
        for device in {move.source.device for move in moves}:
            self._start_on(device, [move for move in moves if move.source.device == device])

    def _start_on(self, device: torch.device, moves: list["_Move"]) -> None:
        training = torch.cuda.current_stream(device)
        has_room = _has_room(device, sum(move.source.nbytes for move in moves))
        if has_room:
            for move in moves:
                move.source = move.source.clone()
        aside = self._streams.setdefault(device, torch.cuda.Stream(device))  # type: ignore[no-untyped-call]
        aside.wait_stream(training)
        with torch.cuda.stream(aside):
            for move in moves:
                move.target.copy_(move.source, non_blocking=True)
            is_done = torch.cuda.Event()  # type: ignore[no-untyped-call]
            is_done.record(aside)
        for move in moves:
            move.is_done = is_done
        if not has_room:
            training.wait_event(is_done)

    def _lock_pages(self) -> None:
        """Lock new memory, once; where that fails copies are as correct, and the processor waits for them."""
        for segment in self._memory.segments[self._locked :]:
            torch.cuda.cudart().cudaHostRegister(  # type: ignore[no-untyped-call]
                segment.ctypes.data, segment.size, _PORTABLE
            )
        self._locked = len(self._memory.segments)


@dataclass(slots=True)
class _Move:
    """Block of memory on its way to the host."""

    source: torch.Tensor
    target: torch.Tensor
    is_done: Any = field(default=None)


def _map(node: Any, copied: Callable[[torch.Tensor], torch.Tensor]) -> Any:
    if _is_plain(node):
        return copied(node)
    if type(node) in (dict, OrderedDict):
        rest = copy.copy(node)  # keeps its kind, and the versions torch hangs onto a model's state
        for key, child in node.items():
            rest[key] = _map(child, copied)
        return rest
    if type(node) in (list, tuple):
        return type(node)([_map(child, copied) for child in node])
    return node


def _is_plain(node: object) -> bool:
    """Return whether it is a tensor on a GPU that a block of memory, a shape and strides say everything about."""
    return (
        type(node) is torch.Tensor
        and node.device.type == "cuda"
        and node.layout is torch.strided
        and not (node.requires_grad or node.is_quantized or node.is_conj() or node.is_neg() or vars(node))
    )


def _bytes_of(storage: torch.UntypedStorage) -> torch.Tensor:
    return torch.empty(0, dtype=torch.uint8, device=storage.device).set_(storage)


def _has_room(device: torch.device, size: int) -> bool:
    """Return whether a device holds `size` bytes more beside all that a step of the training has ever needed."""
    free, total = torch.cuda.mem_get_info(device)
    free += torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device)
    step = torch.cuda.max_memory_allocated(device) - torch.cuda.memory_allocated(device)
    return bool(free - step - total * _MARGIN >= size)
