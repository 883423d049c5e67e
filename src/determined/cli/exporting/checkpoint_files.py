"""Files of checkpoints on their way into a bundle, one checkpoint at a time."""

import shutil
from dataclasses import dataclass, field
from pathlib import Path

from determined.api import checkpoint
from determined.api.session import Session
from determined.bundle import layout
from determined.bundle.writer import BundleWriter
from determined.errors import DeterminedError
from determined.storage.copying import hash_files
from determined.wire.trial_record import CheckpointRecord

_WITH_FILES = frozenset({"COMPLETED", "PARTIALLY_DELETED"})


@dataclass(slots=True)
class CheckpointCopier:
    """`directory` holds the files of one checkpoint and is removed with them. `problems`: what could not be read."""

    session: Session
    out: BundleWriter
    directory: Path
    problems: list[str] = field(default_factory=list)

    def copy(self, experiment_id: int, record: CheckpointRecord) -> bool:
        """Copy the files of a checkpoint; False where it has none or they cannot be read."""
        if record.state not in _WITH_FILES:
            return False
        prefix = f"{layout.folder(experiment_id)}/checkpoints/{record.uuid}"
        self._clean()
        try:
            files = self._fetch(record)
            problem = self._problem(prefix, record, files)
            if problem:
                self.problems.append(f"checkpoint {record.uuid}: {problem}")
                return False
            for name, path in sorted(files.items()):
                with path.open("rb") as file:
                    self.out.add_file(f"{prefix}/{name}", file)
        finally:
            self._clean()
        return bool(files)

    def _problem(self, prefix: str, record: CheckpointRecord, files: dict[str, Path]) -> str | None:
        for name, path in files.items():
            if not layout.is_known(f"{prefix}/{name}"):
                return f"a bundle cannot hold a file named {name!r}"
            # what came through the master was not compared with the manifest
            if name in record.hashes and hash_files([path])[0][1] != record.hashes[name]:
                return f"file {name!r} is not what its manifest says; it is damaged"
        return None

    def _fetch(self, record: CheckpointRecord) -> dict[str, Path]:
        from determined.sdk.download import download

        try:
            download(self.session, checkpoint.get(self.session, record.uuid), self.directory)
        except (DeterminedError, OSError) as e:
            self.problems.append(f"checkpoint {record.uuid}: {e}")
            return {}
        return {str(path.relative_to(self.directory)): path for path in self.directory.rglob("*") if path.is_file()}

    def _clean(self) -> None:
        shutil.rmtree(self.directory, ignore_errors=True)
