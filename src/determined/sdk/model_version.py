"""ModelVersion: a checkpoint under a number of a model in the registry."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Self

from determined.api import model_version as api
from determined.api.session import Session
from determined.sdk.checkpoint import Checkpoint
from determined.sdk.deprecation import warn_deprecated
from determined.sdk.metrics import TrialMetrics, from_wire
from determined.sdk.version_download import download, list_files
from determined.wire.model_version import ModelVersion as WireModelVersion
from determined.wire.model_version import PatchModelVersion


class ModelVersion:
    """A version of a registered model. Attributes are those of the last `reload()`; None before the first."""

    def __init__(self, session: Session, model_version: int, model_name: str) -> None:
        self._session = session
        self.model_version = model_version
        self.model_name = model_name
        self.model_id: int | None = None
        self.checkpoint: Checkpoint | None = None
        self.metadata: dict[str, Any] | None = None
        self.name: str | None = None
        self.comment: str | None = None
        self.notes: str | None = None

    def reload(self) -> None:
        self._load(api.get(self._session, self._model, self.model_version))

    def set_name(self, name: str) -> None:
        self._patch(PatchModelVersion(name=name))

    def set_notes(self, notes: str) -> None:
        self._patch(PatchModelVersion(notes=notes))

    def delete(self) -> None:
        """Delete the version; its checkpoint stays."""
        api.delete(self._session, self._model, self.model_version)

    def download(self, path: str, *, force: bool = False) -> str:
        """Fetch the files through the master into `path`; go on with what an earlier try has left there.

        Args:
            path: the directory; it is created where it is missing.
            force: replace files there that differ from those of this version.

        Returns:
            The directory. Every file in it has the size and the hash of the version's manifest.

        Raises:
            FailedPrecondition: a file there differs, and `force` is not set.
            CheckpointDamaged: what came is not what the manifest says; nothing of that file is left.
        """
        download(self._session, list_files(self._session, self._model, self.model_version), Path(path), force=force)
        return path

    def iter_metrics(self, group: str | None = None) -> Iterator[TrialMetrics]:
        """Yield the metrics of the trials that said they use this version, such as batch inference.

        Args:
            group: only this group, such as "validation"; all groups by default.
        """
        return (from_wire(report) for report in api.metrics(self._session, self._model, self.model_version, group))

    def get_metrics(self, group: str | None = None) -> Iterator[TrialMetrics]:
        """Deprecated: iter_metrics."""
        warn_deprecated("ModelVersion.get_metrics()", "ModelVersion.iter_metrics()")
        return self.iter_metrics(group)

    def __repr__(self) -> str:
        return f"ModelVersion(model={self.model_name}, version={self.model_version})"

    @classmethod
    def _from_wire(cls, session: Session, row: WireModelVersion) -> "ModelVersion":
        return cls(session, row.version, row.model.name)._load(row)

    @property
    def _model(self) -> str | int:
        return self.model_name if self.model_id is None else self.model_id

    def _load(self, row: WireModelVersion) -> Self:
        self.model_version, self.model_name, self.model_id = row.version, row.model.name, row.model.id
        self.checkpoint = Checkpoint._from_wire(self._session, row.checkpoint)
        self.metadata, self.name = dict(row.metadata or {}), row.name
        self.comment, self.notes = row.comment or "", row.notes or ""
        return self

    def _patch(self, changes: PatchModelVersion) -> None:
        self._load(api.patch(self._session, self._model, self.model_version, changes))
