"""Writer of a bundle: a tar with nothing in it that differs between two exports of the same things.

Everything goes to `<file>.part`, which gets its name at the end: a killed export leaves nothing under it.
"""

import fcntl
import hashlib
import os
import tarfile
from io import BytesIO
from pathlib import Path
from types import TracebackType
from typing import IO

from determined.bundle.layout import MANIFEST, BundleFile, Manifest, document
from determined.errors import AlreadyExists, FailedPrecondition

PART = ".part"


class BundleWriter:
    """Context manager; without `finish` nothing stays.

    Raises:
        AlreadyExists: the file is there and may not be replaced.
        FailedPrecondition: another export writes it.
    """

    def __init__(self, path: Path, *, replace: bool = False) -> None:
        if path.exists() and not replace:
            raise AlreadyExists(f"{path} exists; name another file, or replace it with --force")
        self._path, self._part = path, path.with_name(path.name + PART)
        self._file = _locked(self._part)
        self._tar = tarfile.open(fileobj=self._file, mode="w", format=tarfile.PAX_FORMAT)  # noqa: SIM115
        self.files: dict[str, BundleFile] = {}

    def __enter__(self) -> "BundleWriter":
        return self

    def __exit__(self, kind: type[BaseException] | None, e: BaseException | None, trace: TracebackType | None) -> None:
        if not self._file.closed:
            self._file.close()
            self._part.unlink(missing_ok=True)

    @property
    def size(self) -> int:
        """Return how many bytes are written."""
        return self._file.tell() if not self._file.closed else self._path.stat().st_size

    def add_bytes(self, name: str, data: bytes) -> None:
        self.add_file(name, BytesIO(data))

    def add_file(self, name: str, file: IO[bytes], *, unpacked: int | None = None) -> None:
        """Add the whole of an open file."""
        size = file.seek(0, os.SEEK_END)
        file.seek(0)
        member = tarfile.TarInfo(name)  # of nobody, of 1970
        member.size, member.mode = size, 0o644
        hashed = _Hashed(file)
        self._tar.addfile(member, hashed)
        self.files[name] = BundleFile(size, hashed.digest(), unpacked)

    def finish(self, manifest: Manifest) -> None:
        """Add the manifest and give the bundle its name."""
        data = document(manifest)
        member = tarfile.TarInfo(MANIFEST)
        member.size, member.mode = len(data), 0o644
        self._tar.addfile(member, BytesIO(data))
        self._tar.close()
        self._file.flush()
        os.fsync(self._file.fileno())
        self._part.replace(self._path)
        self._file.close()


class _Hashed:
    """File that remembers the hash of what was read."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file, self._hash = file, hashlib.sha256()

    def read(self, size: int = -1) -> bytes:
        data = self._file.read(size)
        self._hash.update(data)
        return data

    def digest(self) -> str:
        return self._hash.hexdigest()


def _locked(path: Path) -> IO[bytes]:
    """Open the unfinished file for this export alone; what an earlier one has left there goes."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as e:
        os.close(descriptor)
        raise FailedPrecondition(f"another export writes {path}; wait for it, or name another file") from e
    os.ftruncate(descriptor, 0)
    return os.fdopen(descriptor, "r+b")
