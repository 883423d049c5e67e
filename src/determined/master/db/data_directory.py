"""The directory a master keeps its state in: private, and used by one master at a time."""

import fcntl
import os
from pathlib import Path

from determined.errors import FailedPrecondition


class DataDirectory:
    """Held for the life of the master; the lock goes with the process, however it ends."""

    def __init__(self, path: Path) -> None:
        self.path = path
        # a master that runs tasks as other users must let them pass to their run directories, but not list ours
        path.mkdir(parents=True, exist_ok=True, mode=0o711 if os.geteuid() == 0 else 0o700)
        self._lock = os.open(path / "master.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as e:
            holder = os.pread(self._lock, 32, 0).decode().strip() or "unknown"
            os.close(self._lock)
            raise FailedPrecondition(
                f"another master (process {holder}) already uses {path}; stop it or name another --data-dir"
            ) from e
        os.ftruncate(self._lock, 0)
        os.pwrite(self._lock, f"{os.getpid()}\n".encode(), 0)

    @property
    def database_url(self) -> str:
        """URL of the SQLite file, made here so that nobody else can read it; its side files get the same mode."""
        file = self.path / "master.db"
        os.close(os.open(file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
        return f"sqlite:///{file}"

    @property
    def runs(self) -> Path:
        return self.path / "runs"

    @property
    def checkpoints(self) -> Path:
        return self.path / "checkpoints"

    def make_checkpoints(self) -> None:
        """Make the directory where tasks of every user keep checkpoints by default. Tasks could not: it lies in ours.

        Sticky, so that nobody removes what belongs to others.
        """
        if os.geteuid() == 0:
            self.checkpoints.mkdir(exist_ok=True)
            self.checkpoints.chmod(0o1777)

    def write_secret(self, name: str, text: str) -> Path:
        """Write a file only this user can read."""
        target = self.path / name
        descriptor = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        with os.fdopen(descriptor, "w") as file:
            file.write(text)
        return target

    def close(self) -> None:
        os.close(self._lock)
