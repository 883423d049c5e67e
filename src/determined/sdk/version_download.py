"""Files of a registered version on their way to a local directory: resumed, verified, then given their names.

Unfinished files lie in a hidden directory of the target. What has its own name there is whole and has the hash of the
manifest.
"""

import contextlib
import fcntl
import hashlib
import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import urllib3

from determined.api import model_version as api
from determined.api.session import Session
from determined.errors import CheckpointDamaged, FailedPrecondition
from determined.sdk import partial_file
from determined.storage import copying, manifest
from determined.wire.model_version import ModelFile, ModelFilesResponse

PARTS = ".det-download"


def list_files(session: Session, model: str | int, version: str | int) -> ModelFilesResponse:
    """List the files of a version, which is a number, an alias or `latest`.

    Raises:
        CheckpointDamaged: a path leads outside of the directory that the files are put in.
    """
    listing = api.files(session, model, version)
    try:
        for file in listing.files:
            manifest.check_path(file.path)
    except ValueError as err:
        raise CheckpointDamaged(f"{_name(listing)} cannot be downloaded: {err}; use another version") from err
    return listing


def download(
    session: Session,
    listing: ModelFilesResponse,
    target: Path,
    *,
    force: bool = False,
    advance: partial_file.Advance = lambda _: None,
) -> None:
    """Put the files of `list_files` in `target`; those that are there already are verified and not fetched again.

    Args:
        session: how to reach the master.
        listing: the files.
        target: the directory; it is created where it is missing.
        force: replace files that differ.
        advance: hears of bytes as they come, and of those that were there.

    Raises:
        FailedPrecondition: a file in `target` differs from the version's, or another download goes there.
        CheckpointDamaged: what came differs from the manifest; it is removed.
        MasterNotFound: the master is away; what has come is kept for the next try.
    """
    target.mkdir(parents=True, exist_ok=True)
    with _parts_of(target) as parts:
        work = _Download(session, listing, target, parts, advance)
        for file in work.missing(force=force):
            work.fetch(file)


@dataclass(frozen=True, slots=True)
class _Download:
    session: Session
    listing: ModelFilesResponse
    target: Path
    parts: Path
    advance: partial_file.Advance

    def missing(self, *, force: bool) -> list[ModelFile]:
        """List the files to fetch. Raises FailedPrecondition for files that would be replaced."""
        present = [file for file in self.listing.files if os.path.lexists(self.target / file.path)]
        different = [file.path for file in present if not _is_same(self.target / file.path, file)]
        if different and not force:
            raise FailedPrecondition(self._difference(different))
        kept = {file.path: file.size for file in present if file.path not in different}
        self.advance(sum(kept.values()))
        return [file for file in self.listing.files if file.path not in kept]

    def fetch(self, file: ModelFile) -> None:
        """Fetch one file, verify it, and give it its name."""
        final = self.target / file.path
        if file.path.endswith("/"):
            final.mkdir(parents=True, exist_ok=True)
            return
        content = f"{self.listing.checkpoint_uuid}/{file.path}"  # a checkpoint never changes: its parts fit together
        part = self.parts / hashlib.blake2b(content.encode(), digest_size=16).hexdigest()
        self.advance(part.stat().st_size if part.exists() else 0)
        partial_file.fill(part, file.size, lambda position: self._open(file, position), self.advance)
        if not _is_same(part, file):
            part.unlink()
            raise CheckpointDamaged(self._damage(file), path=file.path)
        final.parent.mkdir(parents=True, exist_ok=True)
        part.replace(final)

    def _open(self, file: ModelFile, position: int) -> urllib3.BaseHTTPResponse:
        headers = {"Accept": "*/*", "Accept-Encoding": "identity"}
        if position:
            headers["Range"] = f"bytes={position}-"
        return api.read_file(self.session, self.listing.model_name, self.listing.version, file.path, headers)

    def _difference(self, paths: list[str]) -> str:
        others = f" (and {len(paths) - 1} more)" if len(paths) > 1 else ""
        return (
            f"{self.target / paths[0]}{others} differs from the file of {_name(self.listing)}; "
            "give another directory, or --force (in Python: force=True) to replace it"
        )

    def _damage(self, file: ModelFile) -> str:
        return (
            f"{_name(self.listing)}: what came as {file.path!r} is not what its manifest says ({file.size} bytes, "
            f"hash {file.hash}) and was removed; try again. If it fails again, the stored file is damaged"
        )


@contextlib.contextmanager
def _parts_of(target: Path) -> Iterator[Path]:
    """Hold the directory of unfinished files; it is removed after a download that ended well."""
    parts = target / PARTS
    parts.mkdir(exist_ok=True)
    descriptor = os.open(parts, os.O_RDONLY)
    try:
        _lock(descriptor, target)
        yield parts
        shutil.rmtree(parts)
    finally:
        os.close(descriptor)


def _lock(descriptor: int, target: Path) -> None:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as err:
        raise FailedPrecondition(f"another download into {target} is running; wait for its end") from err


def _is_same(path: Path, file: ModelFile) -> bool:
    """Compare size and hash; the size alone where the checkpoint has no manifest."""
    if file.path.endswith("/"):
        return path.is_dir()
    if not path.is_file() or path.stat().st_size != file.size:
        return False
    return file.hash is None or copying.hash_files([path])[0][1] == file.hash


def _name(listing: ModelFilesResponse) -> str:
    return f"version {listing.version} of model '{listing.model_name}'"
