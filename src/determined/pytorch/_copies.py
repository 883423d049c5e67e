"""Copies of a trial's state, taken between two batches: they stay as they are, whatever training does next."""

from collections import OrderedDict
from collections.abc import Iterator
from typing import Any, BinaryIO

import torch
from torch.utils.serialization import config

from determined.pytorch._device_copies import DeviceCopies
from determined.pytorch._host_memory import HostMemory
from determined.pytorch._memory_file import MemoryFile

_SLACK = 1 << 20  # names, shapes and numbers beside the tensors
_DISK_BLOCK = 4096
_HARDLY = 50  # a file that gets longer by a fiftieth
_LARGE = 64 << 20


class Copies:
    """Copies for one checkpoint, in memory that the next one uses again.

    Args:
        overlaps: let a GPU go on while its tensors are copied. Else this waits for them.

    Example:
        >>> copies.begin()
        >>> file = copies.file(state)
        >>> copies.write(file, out)  # on another thread, later
    """

    def __init__(self, *, overlaps: bool = False) -> None:
        self._memory = HostMemory()
        self._devices = DeviceCopies(self._memory)
        self._overlaps = overlaps

    def lacking(self, size: int) -> int:
        """Return the bytes of memory that copies of `size` bytes need beyond what is kept."""
        return max(0, size + _SLACK - self._memory.size)

    def reserve(self, size: int) -> None:
        """Have the memory for them. Raises OSError where the system refuses it."""
        self._memory.reserve(size + _SLACK)

    def begin(self) -> None:
        """Begin with another checkpoint: the last one is stored."""
        self._memory.rewind()

    def file(self, state: Any) -> MemoryFile:
        """Return the file that `torch.save` makes of a state."""
        with MemoryFile(self._memory) as file:
            write_state(self._from_devices(state), file)
        return file

    def write(self, file: MemoryFile, out: BinaryIO) -> None:
        """Write a file of `file` to another, once all of it has arrived."""
        self._devices.wait()
        file.write_to(out)

    def tensors(self, tensors: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
        """Return copies of tensors on the host, complete after `wait`."""
        replaced = self._from_devices(tensors)
        return {name: self._on_host(tensors[name], copied) for name, copied in replaced.items()}

    def wait(self) -> None:
        self._devices.wait()

    def _from_devices(self, state: Any) -> Any:
        return self._devices.replaced(state) if self._overlaps else state

    def _on_host(self, tensor: torch.Tensor, copied: torch.Tensor) -> torch.Tensor:
        if copied is not tensor:
            return copied
        if type(tensor) is not torch.Tensor or not tensor.nbytes:
            return tensor.detach().cpu().clone()
        target = torch.from_numpy(self._memory.take(tensor.nbytes)).view(tensor.dtype).view(tensor.shape)
        return target.copy_(tensor)


def size_of(state: Any) -> int:
    """Return the bytes of the tensors in the dicts and lists of a state; memory that several share counts once."""
    return sum(_sizes(state).values())


def write_state(state: Any, file: Any) -> None:
    """Write a state in the format of `torch.save`."""
    # The manifest of the store has a hash of every file; a second one by zip would double the time this takes.
    previous = torch.serialization.get_crc32_options()
    torch.serialization.set_crc32_options(False)
    try:
        with config.patch({"save.storage_alignment": _alignment(state)}):  # type: ignore[attr-defined]  # torch adds it
            torch.save(state, file)
    finally:
        torch.serialization.set_crc32_options(previous)


def _alignment(state: Any) -> int:
    """Return where tensors begin in the file: in a large one at blocks of the disk, if that makes it hardly longer.

    Then a file system with clones stores those that did not change once, wherever they have moved to.
    """
    sizes = _sizes(state).values()
    is_large = sum(sizes) >= max(_LARGE, len(sizes) * _DISK_BLOCK * _HARDLY)
    return _DISK_BLOCK if is_large else int(config.save.storage_alignment)


def _sizes(state: Any) -> dict[int, int]:
    return {storage.data_ptr(): storage.nbytes() for storage in _storages(state)}


def _storages(node: Any) -> Iterator[torch.UntypedStorage]:
    if isinstance(node, torch.Tensor):
        local = node.to_local() if hasattr(node, "to_local") else node
        if local.layout is torch.strided:
            yield local.untyped_storage()
    elif type(node) in (dict, OrderedDict):
        for child in node.values():
            yield from _storages(child)
    elif type(node) in (list, tuple):
        for child in node:
            yield from _storages(child)
