"""Saves of one trial: in the background where that is asked for and memory allows it, and one at a time."""

import contextlib
import functools
import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from determined import core
from determined._json import JsonObject
from determined.pytorch._callback_set import CallbackSet
from determined.pytorch._copies import Copies, size_of, write_state
from determined.pytorch._memory_file import MemoryFile
from determined.pytorch._state import restore_rng, take_rng
from determined.trial import free_memory

if TYPE_CHECKING:
    from torch.distributed.tensor import DTensor

logger = logging.getLogger("determined.pytorch")

# Off until tests/gpu/check_saves.py has passed on a GPU: a state there is moved to the host before training goes on.
_OVERLAPS = False
_STORED, _WRITTEN = "on_checkpoint_upload_end", ("on_checkpoint_write_end", "on_checkpoint_end")


class Way(Enum):
    """Work that is done before training goes on.

    STORED: everything. WRITTEN: the files are written; they are stored and reported in the background. COPIED: the
    state is copied in memory; the rest follows in the background.
    """

    STORED = "stored"
    WRITTEN = "written"
    COPIED = "copied"


class OpenSave:
    """A checkpoint while it is written.

    Attributes:
        path: the directory to write into.
        storage_id: the checkpoint's id.
    """

    def __init__(self, core_context: core.Context, path: Path, storage_id: str, later: "_Later | None" = None) -> None:
        self.path = path
        self.storage_id = storage_id
        self._core = core_context
        self._later = later

    def write_state(self, name: str, state: Any) -> "Written":
        """Write a state as `torch.save` does. Directories of `name` must exist."""
        create = functools.partial(self._core.checkpoint._create_file, self.path / name)
        if self._later is None:
            with create() as file:
                write_state(state, file)
            return Written(self.path / name, (self.path / name).stat().st_size)
        copies = self._later.copies
        copy = copies.file(state)
        self._later.save.write_later(_write_copy, copies, copy, create)
        return Written(copy.reader(), copy.size)

    def write_shards(self, shards: "dict[str, DTensor]") -> None:
        """Write this rank's part of tensors that all ranks have spread among them. Collective."""
        from determined.pytorch import _shards  # takes a second to import, and most trials have none

        if self._later is None:
            _shards.save(shards, _shards.parts(shards), self.path, self._core.distributed)
            return
        # Its exchanges must not meet those of the training: they have connections of their own.
        ranks, copies = self._core.checkpoint._connect_background(), self._later.copies
        parts = copies.tensors(_shards.parts(shards))
        self._later.save.write_later(copies.wait)
        self._later.save.write_later(_shards.save, shards, parts, self.path, ranks)

    def write_rest(self, write: Callable[[Path], object]) -> None:
        """Call `write(path)`, behind what was written before; what it reads must not change with the training."""
        if self._later is None:
            write(self.path)
        else:
            self._later.save.write_later(write, self.path)


class Saves:
    """Saves of one trial, of which one at most is under way.

    Args:
        core_context: stores them.
        callbacks: hear of each that is stored.
        in_background: let training go on meanwhile.
    """

    def __init__(self, core_context: core.Context, callbacks: CallbackSet, *, in_background: bool) -> None:
        self._core = core_context
        self._dist = core_context.distributed
        self._callbacks = callbacks
        self._in_background = in_background
        self._copies = Copies(overlaps=_OVERLAPS)
        self._save: core.BackgroundSave | None = None  # of this rank
        self._under_way: str | None = None  # its id, on every rank
        self._has_told = False

    def wait(self) -> None:
        """Wait until the last checkpoint is stored, and tell callbacks of it. Collective.

        Raises:
            Exception: what the save in the background has failed with, whatever it is.
        """
        storage_id, self._under_way = self._under_way, None
        if storage_id is None:
            return
        self._core.checkpoint._wait()
        self._save = None
        self._dist.broadcast(None)  # no rank's callbacks hear of it before it is stored
        self._tell(storage_id)

    def look(self) -> None:
        """Do as `wait` if the save is over by now. Collective."""
        if self._under_way is None:
            return
        is_over = self._save is None or self._save.done()
        if all(self._dist.allgather(is_over)):
            self.wait()

    def way(self, state: Any, *, awaited: bool, shared: bool = False, more: int | None = 0) -> Way:
        """Choose how to save a state.

        Args:
            state: what is to be copied on this rank.
            awaited: training does not go on before it is stored, so that a copy would only cost.
            shared: all ranks save their parts, and so choose together.
            more: bytes to be copied beside the state; None where nobody knows how many.
        """
        if awaited or not self._in_background:
            return Way.STORED
        if more is None or any(self._callbacks.anywhere(hook) for hook in _WRITTEN):
            return Way.WRITTEN  # hooks find the files, and the model as it is in them
        has_room = self._has_room(size_of(state) + more, shared=shared)
        if shared:
            has_room = all(self._dist.allgather(has_room))
        return Way.COPIED if has_room else Way.WRITTEN

    @contextlib.contextmanager
    def opened(self, words: JsonObject, way: Way, *, shard: bool = False) -> Iterator[OpenSave]:
        """Yield a checkpoint to write; nothing of it is left where the block fails.

        Args:
            words: its metadata.
            way: what `way` chose.
            shard: all ranks write into it, together.
        """
        if way is Way.STORED:
            with self._core.checkpoint.store_path(words, shard=shard) as (path, storage_id):
                yield OpenSave(self._core, path, storage_id)
            return
        self._copies.begin()
        with self._core.checkpoint.store_path_async(words, shard=shard) as save:
            later = _Later(save, self._copies) if way is Way.COPIED else None
            yield OpenSave(self._core, save.path, save.storage_id, later)
        self._save = save

    def left(self, storage_id: str, way: Way) -> None:
        """Note, on every rank, that training goes on behind a checkpoint."""
        if way is Way.STORED:
            self._tell(storage_id)
        else:
            self._under_way = storage_id

    def _tell(self, storage_id: str) -> None:
        if not self._callbacks.overrides(_STORED):
            return
        rng = take_rng()
        self._callbacks.fire(_STORED, storage_id)
        restore_rng(rng)  # they may have drawn: when they are told depends on the speed of a disk

    def _has_room(self, size: int, *, shared: bool) -> bool:
        lacking = self._copies.lacking(size)
        here = sum(self._dist.allgather_local(lacking)) if shared else lacking
        memory = free_memory()
        try:
            if memory is None or here <= memory.spare:
                self._copies.reserve(size)
                return True
            reason = f"{memory.free >> 20} of {memory.total >> 20} MiB are free"
        except OSError as err:
            reason = str(err)
        if not self._has_told:
            self._has_told = True
            logger.warning(
                "checkpoints are written before training goes on, and only stored in the background: a copy of the "
                "state takes %s MiB more memory, and %s",
                here >> 20,
                reason,
            )
        return False


@dataclass(frozen=True, slots=True)
class Written:
    """A file that was written, or will be.

    Attributes:
        content: where it can be read, within the block of its save.
        size: its bytes.
    """

    content: Path | BinaryIO
    size: int


@dataclass(frozen=True, slots=True)
class _Later:
    """The save in the background that copies are written for."""

    save: core.BackgroundSave
    copies: Copies


def _write_copy(
    copies: Copies, copy: MemoryFile, create: Callable[[], contextlib.AbstractContextManager[BinaryIO]]
) -> None:
    with create() as file:
        copies.write(copy, file)
