"""Files of checkpoints out of a bundle, into a directory that then is their storage, with their manifests."""

import hashlib
import os
import shutil
from pathlib import Path

from determined.bundle import layout
from determined.bundle.layout import BundleFile, CheckpointEntry
from determined.bundle.reader import Bundle
from determined.errors import FailedPrecondition, InvalidArgument
from determined.storage import copying, manifest
from determined.storage.manifest import Entry


def copy(bundle: Bundle, experiment_id: int, entry: CheckpointEntry, directory: Path) -> None:
    """Write the files of a checkpoint below `<directory>/<uuid>`; those that are there with their content stay.

    Names were checked when the bundle was opened: none leads out of the directory.

    Raises:
        FailedPrecondition: they cannot be written.
        InvalidArgument: a path of the checkpoint leads out of it.
    """
    prefix = _prefix(experiment_id, entry)
    try:
        for name in bundle.below(prefix):
            _write(bundle, name, directory / entry.uuid / name.removeprefix(prefix))
        if entry.hashes:
            _write_manifest(entry, directory / entry.uuid)
    except OSError as e:
        raise FailedPrecondition(
            f"checkpoint {entry.uuid} cannot be written to {directory}: {e}; see --checkpoints"
        ) from e


def problem(bundle: Bundle, experiment_id: int, entry: CheckpointEntry, directory: Path) -> str | None:
    """Return which file of a copied checkpoint is not in the bundle and below `<directory>/<uuid>`; None: all are."""
    prefix = _prefix(experiment_id, entry)
    for name, size in entry.resources.items():
        if name.endswith("/"):
            continue
        packed = bundle.manifest.files.get(f"{prefix}{name}")
        if packed is None or packed.size != size:
            return f"{name} of {size} bytes is not in the bundle"
        path = directory / entry.uuid / name  # a name of the bundle: it leads nowhere else
        if not path.is_file() or path.stat().st_size != size:
            return f"{path} is missing or has not {size} bytes"
        exported_hash = entry.hashes.get(name)
        if exported_hash is not None and copying.hash_files([path])[0][1] != exported_hash:
            return f"{path} is not what the manifest of the checkpoint says"
    return None


def _prefix(experiment_id: int, entry: CheckpointEntry) -> str:
    return f"{layout.folder(experiment_id)}/checkpoints/{entry.uuid}/"


def _write(bundle: Bundle, name: str, path: Path) -> None:
    if _is_there(path, bundle.manifest.files[name]):
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(path.name + ".part")
    part.unlink(missing_ok=True)
    with bundle.open(name) as source, part.open("xb") as target:
        shutil.copyfileobj(source, target, 1024 * 1024)
        target.flush()
        os.fsync(target.fileno())
    part.replace(path)


def _write_manifest(entry: CheckpointEntry, directory: Path) -> None:
    """Write what a reader of the checkpoint compares its files with; raises InvalidArgument for a path that leads out.

    A checkpoint of a release without manifests has none here either.
    """
    try:
        listed = [
            Entry(manifest.check_path(path), size, entry.hashes.get(path)) for path, size in entry.resources.items()
        ]
    except ValueError as e:
        raise InvalidArgument(f"checkpoint {entry.uuid} of the bundle: {e}; export it again") from e
    part = directory / f"{manifest.MANIFEST_NAME}.part"
    part.write_bytes(manifest.encode(listed))
    part.replace(directory / manifest.MANIFEST_NAME)


def _is_there(path: Path, entry: BundleFile) -> bool:
    if path.is_symlink() or not path.is_file() or path.stat().st_size != entry.size:
        return False
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest() == entry.sha256
