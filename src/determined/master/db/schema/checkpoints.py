"""Tables of storages and checkpoints."""

from sqlalchemy import JSON, BigInteger, Column, ForeignKey, Integer, String, Table

from determined.master.db.schema.base import Id, Time, metadata

storage_backends = Table(
    "storage_backends",
    metadata,
    Column("id", Id, primary_key=True, autoincrement=True),
    Column("key", String, nullable=False, unique=True),  # canonical JSON of the config without save_*
    Column("config", JSON, nullable=False),
    sqlite_autoincrement=True,
)

checkpoints = Table(
    "checkpoints",
    metadata,
    Column("uuid", String, primary_key=True),
    Column("task_id", String, nullable=False),
    Column("allocation_id", String),
    Column("trial_id", ForeignKey("trials.id", ondelete="CASCADE"), index=True),
    Column("experiment_id", ForeignKey("experiments.id", ondelete="CASCADE"), index=True),
    Column("run_id", Integer),
    Column("state", String, nullable=False),  # COMPLETED, PARTIALLY_DELETED, DELETED, ERROR
    Column("steps_completed", BigInteger, nullable=False),
    Column("metadata", JSON, nullable=False),
    Column("resources", JSON, nullable=False),  # {path: size}
    Column("size", BigInteger, nullable=False),
    Column("report_time", Time, nullable=False),
    Column("storage_id", ForeignKey("storage_backends.id")),
    Column("delete_requested_at", Time, index=True),
    Column("delete_globs", JSON(none_as_null=True)),  # which files; null = all of them
)

# Storages that a trial said it would save in (POST /api/v1/runs/start): its reports may name these and no others.
trial_storages = Table(
    "trial_storages",
    metadata,
    Column("trial_id", ForeignKey("trials.id", ondelete="CASCADE"), primary_key=True),
    Column("storage_id", ForeignKey("storage_backends.id"), primary_key=True),
)

# Which checkpoints a trial was started from (POST /api/v1/trial-source-info).
trial_source_infos = Table(
    "trial_source_infos",
    metadata,
    Column("trial_id", ForeignKey("trials.id", ondelete="CASCADE"), primary_key=True),
    Column("checkpoint_uuid", ForeignKey("checkpoints.uuid", ondelete="CASCADE"), primary_key=True),
    Column("type", String, nullable=False),  # INFERENCE, FINE_TUNING
    Column("model_id", Id),
    Column("model_version", Integer),
)
