"""Event files of a trial: written to a local directory, copied to the store when they have grown."""

import logging
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath

from determined.storage import StorageManager
from determined.tensorboard.upload_thread import UploadThread

logger = logging.getLogger("determined.tensorboard")

Selector = Callable[[Path], bool]
Mangler = Callable[[Path, int], Path]


def event_prefix(cluster_id: str, experiment_id: int, trial_id: int) -> str:
    """Where a trial's event files lie in its checkpoint store."""
    return f"{cluster_id}/tensorboard/experiment/{experiment_id}/trial/{trial_id}"


class TensorboardManager:
    """`sync` copies what changed since the last one. Not thread-safe: one thread syncs.

    A store that fails is logged, never raised: event files are a convenience and training goes on without them.
    """

    def __init__(
        self,
        directory: Path,
        storage: StorageManager,
        prefix: str,
        *,
        async_upload: bool = False,
        sync_on_close: bool = False,
    ) -> None:
        """`async_upload`: between `start` and `close` a thread copies, and `sync` only asks it to."""
        self._directory = directory
        self._storage = storage
        self._prefix = PurePosixPath(prefix)
        self._sent: dict[Path, tuple[int, int]] = {}
        self._thread = UploadThread() if async_upload else None
        self._sync_on_close = sync_on_close

    @property
    def base_path(self) -> Path:
        """Where event files are written."""
        self._directory.mkdir(parents=True, exist_ok=True)
        return self._directory

    @property
    def sync_path(self) -> Path:
        """Where they go, within the store."""
        return Path(self._prefix)

    def start(self) -> None:
        if self._thread is not None:
            self._thread.start()

    def sync(
        self,
        selector: Selector = lambda _path: True,
        mangler: Mangler = lambda path, _rank: path,
        rank: int = 0,
    ) -> int:
        """Copy each changed file that `selector` picks to where `mangler` puts it.

        Args:
            selector: which files; gets their paths within `base_path`.
            mangler: gets such a path and `rank`; the path within `sync_path`.
            rank: of this process.

        Returns:
            How many were copied by now; none where the thread does it.
        """
        if self._thread is not None and self._thread.is_alive:
            self._thread.ask(lambda: self._copy(selector, mangler, rank))
            return 0
        return self._copy(selector, mangler, rank)

    def close(self) -> None:
        """Wait for what was asked for; copy what changed since, if that is wanted."""
        if self._thread is not None:
            self._thread.close()
        if self._sync_on_close:
            self._copy(lambda _path: True, lambda path, _rank: path, 0)

    def delete(self) -> None:
        """Remove every event file from the store."""
        self._storage.remove(str(self._prefix))
        self._sent.clear()

    def _copy(self, selector: Selector, mangler: Mangler, rank: int) -> int:
        copied = 0
        try:
            for path in self._changed(selector):
                target = mangler(path.relative_to(self._directory), rank)
                self._copy_file(path, str(self._prefix / target.as_posix()))
                copied += 1
        except Exception as err:  # noqa: BLE001  edge to the store: a trial would fail for want of a convenience
            logger.warning("TensorBoard events could not be stored: %s", err)
        return copied

    def _changed(self, selector: Selector) -> Iterator[Path]:
        for path in sorted(self.base_path.rglob("*")):
            if path.is_file() and selector(path.relative_to(self._directory)) and self._sent.get(path) != _stamp(path):
                yield path

    def _copy_file(self, path: Path, key: str) -> None:
        stamp = _stamp(path)  # before the copy: what is written meanwhile is copied the next time
        if stamp is None:
            return  # a framework has moved its temporary file away
        self._storage.put(path, key)
        self._sent[path] = stamp


def _stamp(path: Path) -> tuple[int, int] | None:
    try:
        status = path.stat()
    except FileNotFoundError:
        return None
    return status.st_size, status.st_mtime_ns
