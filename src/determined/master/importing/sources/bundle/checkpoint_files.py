"""Files of checkpoints out of a bundle, into a directory that then is their storage."""

import os
import shutil
from pathlib import Path

from determined.bundle import layout
from determined.bundle.layout import CheckpointEntry
from determined.bundle.reader import Bundle
from determined.errors import FailedPrecondition


def copy(bundle: Bundle, experiment_id: int, entry: CheckpointEntry, directory: Path) -> None:
    """Write the files of a checkpoint below `<directory>/<uuid>`; those that are there in their size stay.

    Names were checked when the bundle was opened: none leads out of the directory.

    Raises:
        FailedPrecondition: they cannot be written.
    """
    prefix = f"{layout.folder(experiment_id)}/checkpoints/{entry.uuid}/"
    try:
        for name in bundle.below(prefix):
            _write(bundle, name, directory / entry.uuid / name.removeprefix(prefix))
    except OSError as e:
        raise FailedPrecondition(
            f"checkpoint {entry.uuid} cannot be written to {directory}: {e}; see --checkpoints"
        ) from e


def _write(bundle: Bundle, name: str, path: Path) -> None:
    if path.is_file() and not path.is_symlink() and path.stat().st_size == bundle.manifest.files[name].size:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(path.name + ".part")
    part.unlink(missing_ok=True)
    with bundle.open(name) as source, part.open("xb") as target:
        shutil.copyfileobj(source, target, 1024 * 1024)
        target.flush()
        os.fsync(target.fileno())
    part.replace(path)
