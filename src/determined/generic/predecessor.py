"""The contexts of releases 0.17.0 to 0.17.13, before there was Core API: `determined._generic`, `determined._core`.

Scripts of that time name things otherwise: `latest_batch`, `checkpointing.store_path` giving (uuid, path), `ops()`.
"""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from determined import core
from determined._info import trial_of
from determined._json import JsonObject
from determined.generic._checkpoint import ErrorInfo, Steps
from determined.generic._search import Search, SearcherOp, configured_unit
from determined.generic._training import Training, Trial
from determined.storage import StorageManager

_METADATA = frozenset({"latest_batch", "framework", "format", "total_records", "total_epochs"})


def init(
    *, distributed: core.DistributedContext | None = None, storage_manager: StorageManager | None = None
) -> "Context":
    """A context for a `with` block, on a cluster or off it.

    Args:
        distributed: who this process is among its peers; needed in a task with more than one slot.
        storage_manager: where checkpoints go instead of the experiment's own storage.
    """
    context = core.init(
        distributed=distributed, storage_manager=storage_manager, preempt_mode=core.PreemptMode.ChiefOnly
    )
    return Context.around(context)


class Context:
    """The parts under their old names."""

    def __init__(
        self,
        checkpointing: "Checkpointing",
        distributed: core.DistributedContext,
        preemption: "Preemption",
        training: Training,
        searcher: "Searcher",
        _core: core.Context | None = None,
    ) -> None:
        self.checkpointing = checkpointing
        self.distributed = distributed
        self.preemption = preemption
        self.training = training
        self.searcher = searcher
        self._core = _core

    @classmethod
    def around(cls, context: core.Context) -> "Context":
        info = trial_of(context.info)
        trial = Trial() if info is None else Trial.of(info.trial)
        search = Search(context, configured_unit(context))
        return cls(
            Checkpointing(context.checkpoint),
            context.distributed,
            Preemption(context),
            Training(context, trial, search, Steps(trial.steps_completed)),
            Searcher(context, search),
            context,
        )

    def __enter__(self) -> "Context":
        if self._core is not None:
            self._core.start()
        return self

    def __exit__(self, *error: *ErrorInfo) -> None:
        if self._core is not None:
            self._core.__exit__(*error)


class Checkpointing:
    """Checkpoints; `metadata` needs `latest_batch` and may hold framework, format, total_records, total_epochs."""

    def __init__(self, checkpoints: core.CheckpointContext) -> None:
        self._checkpoints = checkpoints

    def upload(self, path: str | os.PathLike[str], metadata: JsonObject) -> str:
        """Store a directory; its uuid."""
        return self._checkpoints.upload(path, _described(metadata))

    @contextlib.contextmanager
    def store_path(self, metadata: JsonObject) -> Iterator[tuple[str, Path]]:
        """Yield (uuid, directory to write into): the reverse of what `core` gives."""
        with self._checkpoints.store_path(_described(metadata)) as (path, uuid):
            yield uuid, path

    def download(self, uuid: str, path: str | os.PathLike[str]) -> None:
        self._checkpoints.download(uuid, path)

    @contextlib.contextmanager
    def restore_path(self, uuid: str) -> Iterator[Path]:
        with self._checkpoints.restore_path(uuid) as path:
            yield path

    def delete(self, uuid: str) -> None:
        self._checkpoints.delete(uuid)


class Preemption:
    """Preemption: whether to save and leave."""

    def __init__(self, context: core.Context) -> None:
        self._preempt = context.preempt
        self._dist = context.distributed

    def should_preempt(self, chief_only: bool = False, auto_ack: bool = True) -> bool:
        """The chief looks; unless `chief_only`, every rank must ask and hears the answer.

        Raises:
            RuntimeError: a worker asks with `chief_only`.
        """
        is_wanted = self._preempt.should_preempt(auto_ack) if chief_only or self._dist.rank == 0 else None
        return bool(is_wanted if chief_only else self._dist.broadcast(is_wanted))

    def acknowledge_preemption_signal(self) -> None:
        self._preempt.acknowledge_preemption_signal()


class Searcher:
    """The operations of the search."""

    def __init__(self, context: core.Context, search: Search) -> None:
        self._context = context
        self._search = search

    def ops(self, auto_ack: bool = True) -> Iterator[SearcherOp]:
        """Yield operations one after the other; complete each before going on to the next."""
        return self._search.advanced(auto_ack)

    def acknowledge_out_of_ops(self) -> None:
        self._context.searcher.acknowledge_out_of_ops()


def _described(metadata: JsonObject) -> JsonObject:
    unknown = sorted(set(metadata) - _METADATA)
    if unknown or "latest_batch" not in metadata:
        raise ValueError(
            f"checkpoint metadata has {sorted(metadata)}; it needs latest_batch and may have {sorted(_METADATA)}"
        )
    return {"steps_completed": metadata["latest_batch"], **metadata}
