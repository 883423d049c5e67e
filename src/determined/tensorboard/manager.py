"""Event files of a trial: written to a local directory, copied to the store when they have grown."""

import logging
import os
from collections.abc import Callable
from pathlib import Path, PurePosixPath

from determined.rundir.event_files import Ledger, Stamp, changed_files, stamp
from determined.storage import StorageManager
from determined.tensorboard.upload_thread import UploadThread

logger = logging.getLogger("determined.tensorboard")

Selector = Callable[[Path], bool]
Mangler = Callable[[Path, int], Path]


def event_prefix(cluster_id: str, experiment_id: int, trial_id: int) -> str:
    """Return where a trial's event files lie in its checkpoint store."""
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
        ledger: Ledger | None = None,
    ) -> None:
        """`async_upload`: between `start` and `close` a thread copies, and `sync` only asks it to.

        `ledger`: of the same directory; what is copied is noted there. Only for whoever copies every file as it is.
        """
        self._directory = directory
        self._storage = storage
        self._prefix = PurePosixPath(prefix)
        self._ledger = ledger
        self._sent: dict[str, Stamp] = {} if ledger is None else ledger.sent
        self._thread = UploadThread() if async_upload else None
        self._sync_on_close = sync_on_close

    @property
    def base_path(self) -> Path:
        """Return where event files are written."""
        self._directory.mkdir(parents=True, exist_ok=True)
        return self._directory

    @property
    def sync_path(self) -> Path:
        """Return where they go, within the store."""
        return Path(self._prefix)

    def start(self) -> None:
        self._note()
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
        copied, noted = 0, dict(self._sent)
        try:
            for path in changed_files(self.base_path, self._sent):
                relative = path.relative_to(self._directory)
                if selector(relative):
                    copied += self._copy_file(path, str(self._prefix / mangler(relative, rank).as_posix()))
        except Exception as err:  # noqa: BLE001  edge to the store: a trial would fail for want of a convenience
            logger.warning("TensorBoard events could not be stored: %s", err)
        if self._sent != noted:
            self._note()
        return copied

    def _copy_file(self, path: Path, key: str) -> bool:
        """Return whether it is in the store now."""
        before = stamp(path)  # what is written during the copy is copied the next time
        if before is None:
            return False  # a framework has moved its temporary file away
        is_stored = True
        try:
            self._storage.put(path, key)
        except FileNotFoundError:
            if path.exists():
                raise
            return False
        except (PermissionError, UnicodeError) as err:
            if isinstance(err, PermissionError) and os.access(path, os.R_OK):
                raise  # of the store
            # Noted as sent until it changes: it would keep those that come after it from being copied, time and again.
            logger.warning("%s is not stored with the TensorBoard events: %s", ascii(str(path)), err)
            is_stored = False
        self._sent[path.relative_to(self._directory).as_posix()] = before
        return is_stored

    def _note(self) -> None:
        if self._ledger is None:
            return
        try:
            self._ledger.keep()
        except OSError as err:
            logger.warning("what is stored of TensorBoard events could not be noted: %s", err)
