"""Tables of storages and checkpoints."""

from datetime import datetime

from sqlalchemy import JSON, BigInteger, Column, ForeignKey, Index, Named, Table

from determined._json import JsonObject
from determined.master.db.schema.base import Columns, Id, Time, metadata


class StorageBackendColumns(Columns):
    id: Named[int] = Column(Id, primary_key=True, autoincrement=True)
    key: Named[str] = Column(unique=True)  # canonical JSON of the config without save_*
    config: Named[JsonObject] = Column(JSON)


storage_backends = Table("storage_backends", metadata, StorageBackendColumns, sqlite_autoincrement=True)


class CheckpointColumns(Columns):
    uuid: Named[str] = Column(primary_key=True)
    task_id: Named[str]
    allocation_id: Named[str | None]
    trial_id: Named[int | None] = Column(Id, ForeignKey("trials.id", ondelete="CASCADE"), index=True)
    experiment_id: Named[int | None] = Column(Id, ForeignKey("experiments.id", ondelete="CASCADE"), index=True)
    run_id: Named[int | None]
    state: Named[str]  # COMPLETED, PARTIALLY_DELETED, DELETED, ERROR
    steps_completed: Named[int] = Column(BigInteger)
    metadata: Named[JsonObject] = Column(JSON)
    resources: Named[dict[str, int]] = Column(JSON)  # {path: size}
    size: Named[int] = Column(BigInteger)
    report_time: Named[datetime] = Column(Time)
    storage_id: Named[int | None] = Column(Id, ForeignKey("storage_backends.id"))
    delete_requested_at: Named[datetime | None] = Column(Time, index=True)
    delete_globs: Named[list[str] | None] = Column(JSON(none_as_null=True))  # which files; null = all of them


checkpoints = Table("checkpoints", metadata, CheckpointColumns)


class TrialStorageColumns(Columns):
    """Storages that a trial may save in: those that it named at its start (PREPARE_FOR_REPORTING)."""

    trial_id: Named[int] = Column(Id, ForeignKey("trials.id", ondelete="CASCADE"), primary_key=True)
    storage_id: Named[int] = Column(Id, ForeignKey("storage_backends.id"), primary_key=True)


trial_storages = Table("trial_storages", metadata, TrialStorageColumns)


class TrialSourceInfoColumns(Columns):
    """Checkpoints that a trial was started from (REPORT_TRIAL_SOURCE)."""

    trial_id: Named[int] = Column(Id, ForeignKey("trials.id", ondelete="CASCADE"), primary_key=True)
    checkpoint_uuid: Named[str] = Column(
        ForeignKey("checkpoints.uuid", ondelete="CASCADE"), primary_key=True, index=True
    )
    type: Named[str]  # INFERENCE, FINE_TUNING
    model_id: Named[int | None] = Column(Id)
    model_version: Named[int | None]


trial_source_infos = Table(
    "trial_source_infos",
    metadata,
    TrialSourceInfoColumns,
    Index("ix_trial_source_infos_model", "model_id", "model_version"),
)
