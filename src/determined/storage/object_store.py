"""Checkpoints in an object store, on any fsspec file system.

An object store has no rename: files go to their final keys under a staging mark, then the manifest, then the mark is
removed. Until the manifest is there the checkpoint does not count.
"""

import contextlib
import logging
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

from determined.errors import CheckpointDamaged, CheckpointNotFound, NoDirectStorageAccess
from determined.storage import copying, listing, manifest
from determined.storage.base import Paths, Selector, StorageManager, preserved_random_state
from determined.storage.checkpoint_id import check_name
from determined.storage.local import check_digest
from determined.storage.loose_file import LooseFile, from_driver
from determined.storage.manifest import Entry

logger = logging.getLogger("determined.core")

_GLOB_SIGNS = "*?["
_MANIFEST_SECONDS = 60.0  # to read one: an endpoint that sends a byte now and then would hold the thread for ever


class CloudStorageManager(StorageManager):
    """Checkpoints under `base_path` (`bucket[/prefix]`) of `filesystem`."""

    def __init__(self, filesystem: Any, base_path: str, temp_dir: str | None = None) -> None:
        super().__init__(base_path)
        self._filesystem = filesystem
        self._temp_dir = temp_dir

    @classmethod
    def from_config(cls, config: dict[str, Any], container_path: str | None) -> "CloudStorageManager":
        raise NotImplementedError(f"{cls.__name__} is not built from a config; derive a store from it")

    def access_errors(self) -> tuple[type[BaseException], ...]:
        """Return the errors that this store's driver raises when this machine may not reach or use the store."""
        return (PermissionError, ConnectionError)

    def pre_store_path(self, dst: str) -> Path:
        top = Path(tempfile.mkdtemp(prefix="determined-checkpoint-", dir=self._temp_dir))
        path = top / check_name(dst)
        path.mkdir()
        return path

    def post_store_path(self, src: Paths, dst: str, paths: set[str] | None = None) -> None:
        self.upload(src, dst, paths)

    def release_store_path(self, path: Path) -> None:
        shutil.rmtree(path.parent, ignore_errors=True)

    def store_path_is_direct_access(self) -> bool:
        return False

    @contextlib.contextmanager
    def restore_path(self, src: str, selector: Selector | None = None) -> Iterator[Path]:
        with tempfile.TemporaryDirectory(prefix="determined-restore-", dir=self._temp_dir) as top:
            path = Path(top) / check_name(src)
            self.download(src, path, selector)
            yield path

    @contextlib.contextmanager
    def opened_file(self, src: str, path: str) -> Iterator[tuple[BinaryIO, Entry]]:
        entry = self.file_entry(src, path)
        with self._access():
            try:
                file = self._filesystem.open(self._key(src, path), "rb")
            except FileNotFoundError:
                raise manifest.damaged(src, entry, "it is missing") from None
        with file:
            if file.size != entry.size:
                raise manifest.damaged(src, entry, f"it has {file.size} bytes")
            yield file, entry

    def stage(self, src: Paths, dst: str, paths: set[str] | None = None) -> list[Entry]:
        source = Path(src)
        sizes = listing.list_directory(source)
        chosen = sorted(sizes if paths is None else listing.with_parents(sizes, paths & sizes.keys()))
        files = [path for path in chosen if not path.endswith("/")]
        digests = self._hashed.digests(source / path for path in files)
        with self._access():
            self._filesystem.pipe_file(self._key(dst, manifest.STAGING_MARK), b"staging")
            self._put([str(source / path) for path in files], [self._key(dst, path) for path in files])
        directories = [Entry(path, 0) for path in chosen if path.endswith("/")]
        return directories + [Entry(p, *digest) for p, digest in zip(files, digests, strict=True)]

    def publish(self, dst: str, entries: Iterable[Entry]) -> None:
        with self._access():
            self._write_manifest(dst, [*self._listed(dst), *entries])
            self._remove_key(self._key(dst, manifest.STAGING_MARK))

    def discard(self, dst: str) -> None:
        key = self._key(dst)
        try:
            with self._access():
                if not self._filesystem.exists(self._key(dst, manifest.MANIFEST_NAME)):
                    self._remove_key(key)
        except Exception as err:  # noqa: BLE001  edge to the store: it must not hide why this is discarded
            logger.warning("%s is no checkpoint, and what is there of it could not be removed: %s", key, err)

    def download(self, src: str, dst: Paths, selector: Selector | None = None) -> None:
        destination, known = Path(dst), self.entries(src)
        chosen = listing.select((entry.path for entry in known), selector)
        destination.mkdir(parents=True, exist_ok=True)
        files = [entry for entry in known if entry.path in chosen and not entry.is_directory]
        for path in chosen:
            (destination / path if path.endswith("/") else (destination / path).parent).mkdir(
                parents=True, exist_ok=True
            )
        with self._access():
            self._get(src, files, destination)
        for entry, digest in zip(files, copying.hash_files(destination / e.path for e in files), strict=True):
            check_digest(src, entry, *digest)

    def entries(self, src: str) -> list[Entry]:
        with self._access():
            listed = self._listed(src)
            if listed:
                return listed
            present = self._present(src)
            staging = self._filesystem.exists(self._key(src, manifest.STAGING_MARK))
        if not present:
            raise CheckpointNotFound(f"checkpoint {src} is not in the store: nothing under {self._key(src)}")
        if staging or manifest.METADATA_NAME not in present:
            raise CheckpointNotFound(f"checkpoint {src} was never completed: {self._key(src)} has no manifest")
        return [Entry(path, size) for path, size in present.items()]

    def hashes(self, src: str) -> dict[str, str]:
        with self._access():
            return manifest.hashes(self._listed(src))

    def _measured(self, src: str) -> list[Entry]:
        known = self.entries(src)
        with self._access():
            present = self._present(src)
        for entry in known:
            if not entry.is_directory and present.get(entry.path) != entry.size:
                size = present.get(entry.path)
                raise manifest.damaged(src, entry, "it is missing" if size is None else f"it has {size} bytes")
        return known

    def delete(self, tgt: str, globs: list[str]) -> dict[str, int]:
        with self._access():
            present = manifest.resources(self._listed(tgt)) or self._present(tgt)
            self._refuse_foreign(tgt, present)
            doomed = listing.match_globs(present, globs)
            remaining = {path: size for path, size in present.items() if path not in doomed}
            if all(path.endswith("/") for path in remaining):
                self._remove_key(self._key(tgt))
                return {}
            known = self._listed(tgt) or [Entry(path, size) for path, size in present.items()]
            self._write_manifest(tgt, [entry for entry in known if entry.path in remaining])
            for path in doomed:
                if not path.endswith("/"):
                    self._remove_key(self._key(tgt, path))
        return remaining

    def put(self, src: Paths, key: str) -> None:
        with self._access():
            self._put([str(src)], [f"{self._base_path}/{key}"])

    def read(self, key: str, start: int = 0) -> bytes:
        with self._access():
            return bytes(self._filesystem.cat_file(f"{self._base_path}/{key}", start=start or None))

    def list_loose(self, key: str) -> dict[str, LooseFile]:
        with self._access():
            self._filesystem.invalidate_cache()
            top = self._filesystem._strip_protocol(f"{self._base_path}/{key}") + "/"
            files = self._filesystem.find(top, detail=True)
        return {path.removeprefix(top): from_driver(info) for path, info in sorted(files.items())}

    def remove(self, key: str) -> None:
        with self._access():
            self._remove_key(f"{self._base_path}/{key}")

    def _key(self, name: str, path: str = "") -> str:
        return f"{self._base_path}/{check_name(name)}" + (f"/{path}" if path else "")

    def _put(self, local: list[str], remote: list[str]) -> None:
        if local:
            self._filesystem.put(local, remote)

    def _get(self, src: str, files: list[Entry], destination: Path) -> None:
        for entry in files:
            try:
                self._filesystem.get_file(self._key(src, entry.path), str(destination / entry.path))
            except FileNotFoundError:
                raise manifest.damaged(src, entry, "it is missing") from None

    def _remove_key(self, key: str) -> None:
        with contextlib.suppress(FileNotFoundError):
            if not any(sign in key for sign in _GLOB_SIGNS):
                self._filesystem.rm(key, recursive=True)
                return
            # `rm` would take the key for a glob, and remove the files that match it instead.
            for name in self._filesystem.find(key):
                self._filesystem.rm_file(name)

    def _listed(self, name: str) -> list[Entry]:
        limit = {"timeout": _MANIFEST_SECONDS} if self._filesystem.async_impl else {}
        try:
            key = self._key(name, manifest.MANIFEST_NAME)
            raw = self._filesystem.cat_file(key, end=manifest.MOST_BYTES + 1, **limit)
        except FileNotFoundError:
            return []
        return manifest.decode(bytes(raw), name)

    def _present(self, name: str) -> dict[str, int]:
        self._filesystem.invalidate_cache()
        top = self._filesystem._strip_protocol(self._key(name)) + "/"
        files = self._filesystem.find(top, detail=True)
        sizes = {self._inside(name, path.removeprefix(top)): int(info["size"]) for path, info in files.items()}
        return {
            path: size
            for path, size in sorted(sizes.items())
            if path not in (manifest.MANIFEST_NAME, manifest.STAGING_MARK)
        }

    def _refuse_foreign(self, name: str, present: dict[str, int]) -> None:
        """Raise for a directory that no upload of a checkpoint has made: it is not ours to delete."""
        ours = (manifest.MANIFEST_NAME, manifest.METADATA_NAME, manifest.STAGING_MARK)
        if present and not any(self._filesystem.exists(self._key(name, own)) for own in ours):
            raise manifest.foreign(name, self._key(name))

    def _inside(self, name: str, path: str) -> str:
        """Check a path: an object's key may hold `..`; a file made from it must not leave the checkpoint."""
        try:
            return manifest.check_path(path)
        except ValueError as err:
            raise CheckpointDamaged(f"checkpoint {name} cannot be used: {err}; use another checkpoint") from err

    def _write_manifest(self, name: str, entries: list[Entry]) -> None:
        self._filesystem.pipe_file(self._key(name, manifest.MANIFEST_NAME), manifest.encode(entries))

    @contextlib.contextmanager
    def _access(self) -> Iterator[None]:
        with preserved_random_state():
            try:
                yield
            except self.access_errors() as err:
                raise NoDirectStorageAccess(
                    f"{self._base_path} cannot be used from this machine ({err}); check the credentials, "
                    "the network and the bucket's policy"
                ) from err
