"""Checkpoint: what users hold to download, annotate and delete one."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Self

from determined.api import checkpoint as api
from determined.api.session import Session
from determined.errors import CheckpointStateException
from determined.sdk.checkpoint_deprecated import DeprecatedCheckpointMethods
from determined.sdk.download import download, write_metadata
from determined.sdk.enums import CheckpointState, DownloadMode
from determined.sdk.metrics import TrialMetrics, from_wire
from determined.wire.checkpoint import Checkpoint as WireCheckpoint


@dataclass
class CheckpointTrainingMetadata:
    experiment_config: dict[str, Any] | None
    experiment_id: int | None
    trial_id: int | None
    hparams: dict[str, Any] | None
    validation_metrics: dict[str, Any] | None


class Checkpoint(DeprecatedCheckpointMethods):
    """A saved state of a trial. Attributes are those of the last `reload()`."""

    def __init__(self, session: Session, uuid: str) -> None:
        self._session = session
        self.uuid = uuid
        self.task_id: str | None = None
        self.allocation_id: str | None = None
        self.report_time: datetime | None = None
        self.resources: dict[str, Any] | None = None
        self.metadata: dict[str, Any] | None = None
        self.state: CheckpointState | None = None
        self.training: CheckpointTrainingMetadata | None = None
        self._found: WireCheckpoint | None = None

    def reload(self) -> None:
        self._load(api.get(self._session, self.uuid))

    def download(self, path: str | None = None, mode: DownloadMode = DownloadMode.AUTO) -> str:
        """Fetch the files into `path` (default `checkpoints/<uuid>`); nothing is fetched twice.

        Returns:
            The directory.

        Raises:
            ValueError: the checkpoint was made by hand and never reloaded.
            CheckpointStateException: it is not COMPLETED or PARTIALLY_DELETED.
        """
        if self._found is None:
            raise ValueError(f"checkpoint {self.uuid} has no state yet; call reload() first")
        if self.state not in {CheckpointState.COMPLETED, CheckpointState.PARTIALLY_DELETED}:
            raise CheckpointStateException(
                f"checkpoint {self.uuid} is {self.state}; only COMPLETED ones can be downloaded"
            )
        target = Path(path) if path else Path("checkpoints") / self.uuid
        return str(download(self._session, self._found, target, DownloadMode(str(mode))))

    def write_metadata_file(self, path: str) -> None:
        if self._found is None:
            self.reload()
        assert self._found is not None
        Path(path).unlink(missing_ok=True)
        write_metadata(self._found, Path(path))

    def add_metadata(self, metadata: dict[str, Any]) -> None:
        """Replace the given top-level keys."""
        self._set_metadata({**self._current(), **metadata})

    def remove_metadata(self, keys: list[str]) -> None:
        self._set_metadata({k: v for k, v in self._current().items() if k not in keys})

    def delete(self) -> None:
        """Ask the master to remove the files; it does so in its own time."""
        api.delete(self._session, [self.uuid])

    def remove_files(self, globs: list[str]) -> None:
        api.remove_files(self._session, [self.uuid], globs)

    def iter_metrics(self, group: str | None = None) -> Iterator[TrialMetrics]:
        """Yield the metrics of the trials that said they use it, such as batch inference; none of its own trial.

        Args:
            group: only this group, such as "validation"; all groups by default.
        """
        return (from_wire(report) for report in api.metrics(self._session, self.uuid, group))

    def get_metrics(self, group: str | None = None) -> Iterator[TrialMetrics]:
        """Upstream's name of `iter_metrics`."""
        return self.iter_metrics(group)

    def get_pachyderm_commit(self) -> dict[str, Any]:
        """Return the Pachyderm commit. Raises ValueError when the experiment reads nothing from Pachyderm."""
        if self.training is None:
            self.reload()
        config = (self.training.experiment_config if self.training else None) or {}
        section = (config.get("integrations") or {}).get("pachyderm")
        if not section:
            raise ValueError(f"the experiment of checkpoint {self.uuid} has no integrations.pachyderm in its config")
        return dict(section.get("dataset") or {})

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Checkpoint) and other.uuid == self.uuid

    def __hash__(self) -> int:
        return hash(("checkpoint", self.uuid))

    def __repr__(self) -> str:
        return f"Checkpoint(uuid={self.uuid}, state={self.state})"

    @classmethod
    def _from_wire(cls, session: Session, row: WireCheckpoint) -> "Checkpoint":
        return cls(session, row.uuid)._load(row)

    def _load(self, row: WireCheckpoint) -> Self:
        self._found = row
        self.task_id, self.allocation_id = row.task_id, row.allocation_id
        self.report_time = datetime.fromisoformat(row.report_time) if row.report_time else None
        self.resources, self.metadata = dict(row.resources or {}), dict(row.metadata or {})
        self.state = CheckpointState(str(row.state))
        training = row.training
        metrics = training.validation_metrics.avg_metrics if training.validation_metrics else None
        self.training = CheckpointTrainingMetadata(
            training.experiment_config, training.experiment_id, training.trial_id, training.hparams, metrics
        )
        return self

    def _current(self) -> dict[str, Any]:
        if self.metadata is None:
            self.reload()
        return dict(self.metadata or {})

    def _set_metadata(self, metadata: dict[str, Any]) -> None:
        api.set_metadata(self._session, self.uuid, metadata)
        self.metadata = metadata
        if self._found is not None:  # from which the metadata file is written
            self._found.metadata = metadata
