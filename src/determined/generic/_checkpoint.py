"""Checkpoints of a script: save into a directory, load from the one this trial goes on from."""

import contextlib
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType

from determined import core
from determined._json import JsonObject

ErrorInfo = tuple[type[BaseException] | None, BaseException | None, TracebackType | None]  # what ends a `with` block


class Steps:
    """Number of batches known to be trained: the steps of a checkpoint unless the script gives others."""

    def __init__(self, trained: int) -> None:
        self.trained = trained

    def reached(self, batches: int) -> None:
        self.trained = max(self.trained, batches)


class Checkpointing:
    """`context.checkpoint`."""

    def __init__(self, checkpoints: core.CheckpointContext, steps: Steps) -> None:
        self._checkpoints = checkpoints
        self._steps = steps
        self._last_saved_uuid: str | None = None

    @property
    def last_saved_uuid(self) -> str | None:
        """The checkpoint this process saved last."""
        return self._last_saved_uuid

    @contextlib.contextmanager
    def save_path(self, metadata: JsonObject | None = None) -> Iterator[Path]:
        """Yield a directory to write into; store and report it on a clean exit, drop it otherwise. Chief only.

        Args:
            metadata: anything to keep with it; `steps_completed` is the largest number of batches reported so far
                unless it is given.

        Raises:
            RuntimeError: a rank other than the chief.

        Example:
            >>> with context.checkpoint.save_path() as path:
            ...     (path / "weights").write_text("1")
        """
        described = {"steps_completed": self._steps.trained, **(metadata or {})}
        with self._checkpoints.store_path(described) as (path, uuid):
            yield path
        self._last_saved_uuid = uuid

    @contextlib.contextmanager
    def restore_path(self, uuid: str) -> Iterator[Path]:
        """Yield a directory that holds a checkpoint for the length of the block.

        Raises:
            CheckpointNotFound: no such checkpoint.
        """
        with self._checkpoints.restore_path(uuid) as path:
            yield path

    def delete(self, uuid: str) -> None:
        """Delete a checkpoint's files."""
        self._checkpoints.delete(uuid)


class LatestCheckpoint:
    """The checkpoint this trial goes on from: `with context.latest_checkpoint as path`, as often as needed."""

    def __init__(self, uuid: str, checkpoints: core.CheckpointContext) -> None:
        self._uuid = uuid
        self._checkpoints = checkpoints
        self._open: list[contextlib.AbstractContextManager[Path]] = []

    @property
    def uuid(self) -> str:
        return self._uuid

    def __enter__(self) -> Path:
        restored = self._checkpoints.restore_path(self._uuid)
        path = restored.__enter__()
        self._open.append(restored)
        return path

    def __exit__(self, *error: *ErrorInfo) -> None:
        self._open.pop().__exit__(*error)

    def __repr__(self) -> str:
        return f"LatestCheckpoint({self._uuid!r})"
