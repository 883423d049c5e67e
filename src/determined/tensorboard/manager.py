"""Event files of a trial: written to a local directory, copied to the store when they have grown."""

from collections.abc import Callable
from pathlib import Path, PurePosixPath

from determined.storage import StorageManager

Selector = Callable[[Path], bool]
Mangler = Callable[[Path, int], Path]


def event_prefix(cluster_id: str, experiment_id: int, trial_id: int) -> str:
    """Where a trial's event files lie in its checkpoint store."""
    return f"{cluster_id}/tensorboard/experiment/{experiment_id}/trial/{trial_id}"


class TensorboardManager:
    """`sync` copies what changed since the last one. Not thread-safe: one thread syncs."""

    def __init__(self, directory: Path, storage: StorageManager, prefix: str) -> None:
        self._directory = directory
        self._storage = storage
        self._prefix = PurePosixPath(prefix)
        self._sent: dict[Path, tuple[int, int]] = {}

    @property
    def base_path(self) -> Path:
        self._directory.mkdir(parents=True, exist_ok=True)
        return self._directory

    def sync(
        self,
        selector: Selector = lambda _path: True,
        mangler: Mangler = lambda path, _rank: path,
        rank: int = 0,
    ) -> int:
        """Copy each changed file that `selector` picks to where `mangler` puts it; how many were copied."""
        copied = 0
        for path in sorted(self.base_path.rglob("*")):
            if not path.is_file() or not selector(path.relative_to(self._directory)):
                continue
            status = path.stat()
            stamp = (status.st_size, status.st_mtime_ns)
            if self._sent.get(path) == stamp:
                continue
            target = mangler(path.relative_to(self._directory), rank)
            self._storage.put(path, str(self._prefix / target.as_posix()))
            self._sent[path] = stamp
            copied += 1
        return copied
