"""Tables of jobs, experiments, their searches and trials."""

from datetime import datetime

from sqlalchemy import (
    JSON,
    BigInteger,
    Column,
    Float,
    ForeignKey,
    Index,
    Named,
    Table,
    Text,
    UniqueConstraint,
    false,
    text,
    true,
)

from determined._json import JsonObject
from determined.master.db.schema.base import Columns, Id, Time, metadata


class JobColumns(Columns):
    id: Named[str] = Column(primary_key=True)  # uuid
    type: Named[str]  # EXPERIMENT, COMMAND, ... (master/lifecycle/states.py)
    owner_id: Named[int] = Column(Id, ForeignKey("users.id"))
    workspace_id: Named[int] = Column(Id, ForeignKey("workspaces.id"))
    pool: Named[str]
    priority: Named[int]
    weight: Named[float] = Column(Float)
    max_slots: Named[int | None]
    submitted_at: Named[datetime] = Column(Time)
    position: Named[float] = Column(Float)  # queue position; smaller is earlier


jobs = Table("jobs", metadata, JobColumns)


class ExperimentColumns(Columns):
    id: Named[int] = Column(Id, primary_key=True, autoincrement=True)
    job_id: Named[str] = Column(ForeignKey("jobs.id"), unique=True)
    project_id: Named[int] = Column(Id, ForeignKey("projects.id"), index=True)
    owner_id: Named[int] = Column(Id, ForeignKey("users.id"))
    parent_id: Named[int | None] = Column(Id)
    state: Named[str] = Column(index=True)  # bare names: ACTIVE, PAUSED, STOPPING_*, ...
    name: Named[str]
    description: Named[str | None] = Column(Text)
    notes: Named[str] = Column(Text, server_default="")
    labels: Named[list[str]] = Column(JSON)
    config: Named[JsonObject] = Column(JSON)  # active config, fully defaulted
    original_config: Named[str] = Column(Text)  # exact user text
    template: Named[str | None]
    archived: Named[bool] = Column(server_default=false())
    unmanaged: Named[bool] = Column(server_default=false())
    external_id: Named[str | None] = Column(unique=True)
    generation: Named[str]  # "classic" or "late"
    searcher_metric: Named[str | None]
    smaller_is_better: Named[bool] = Column(server_default=true())
    warm_start_checkpoint: Named[str | None]
    submitter_python: Named[str | None]  # interpreter of the submitter's environment, local engine only
    progress: Named[float | None] = Column(Float)
    start_time: Named[datetime] = Column(Time)
    end_time: Named[datetime | None] = Column(Time)
    best_trial_id: Named[int | None] = Column(Id)
    error: Named[str | None] = Column(Text)  # why it is in ERROR, for people
    gc_time: Named[datetime | None] = Column(
        Time
    )  # when the checkpoint GC policy was last applied; older than end_time = apply it again


experiments = Table("experiments", metadata, ExperimentColumns, sqlite_autoincrement=True)


class ModelDefinitionColumns(Columns):
    experiment_id: Named[int] = Column(Id, ForeignKey("experiments.id", ondelete="CASCADE"), primary_key=True)
    tgz: Named[bytes]


model_definitions = Table("model_definitions", metadata, ModelDefinitionColumns)


class EnvironmentLockColumns(Columns):
    """Resolved requirements of an experiment, for each kind of machine and Python that asked."""

    experiment_id: Named[int] = Column(Id, ForeignKey("experiments.id", ondelete="CASCADE"), primary_key=True)
    platform: Named[str] = Column(primary_key=True)
    content: Named[str] = Column(Text)
    created_at: Named[datetime] = Column(Time)


environment_locks = Table("environment_locks", metadata, EnvironmentLockColumns)


class SearchEventColumns(Columns):
    """Event log of a search; a restart loads the snapshot and replays the later events."""

    experiment_id: Named[int] = Column(Id, ForeignKey("experiments.id", ondelete="CASCADE"), primary_key=True)
    seq: Named[int] = Column(primary_key=True)
    event: Named[JsonObject] = Column(JSON)


search_events = Table("search_events", metadata, SearchEventColumns)


class SearchSnapshotColumns(Columns):
    experiment_id: Named[int] = Column(Id, ForeignKey("experiments.id", ondelete="CASCADE"), primary_key=True)
    seq: Named[int]  # events up to and including this one are inside
    snapshot: Named[JsonObject] = Column(JSON)


search_snapshots = Table("search_snapshots", metadata, SearchSnapshotColumns)


class SearchQueueEntryColumns(Columns):
    """Operations that a search has asked for and that are not done yet, in order (lifecycle/search_batches.py)."""

    experiment_id: Named[int] = Column(Id, ForeignKey("experiments.id", ondelete="CASCADE"), primary_key=True)
    n: Named[int] = Column(primary_key=True)  # 0: no operations, but trials to look at once more
    operations: Named[list[JsonObject]] = Column(JSON)


search_queue = Table("search_queue", metadata, SearchQueueEntryColumns)


class SearchHistoryEntryColumns(Columns):
    """Events that a search has learnt from its trials, in order and for good: a continued search replays them."""

    experiment_id: Named[int] = Column(Id, ForeignKey("experiments.id", ondelete="CASCADE"), primary_key=True)
    n: Named[int] = Column(primary_key=True)
    request_id: Named[str]
    event: Named[JsonObject] = Column(JSON)
    pending: Named[bool] = Column(server_default=false())  # of an earlier search: not replayed yet


search_history = Table("search_history", metadata, SearchHistoryEntryColumns)
Index(
    "ix_search_history_pending",
    search_history.c.experiment_id,
    search_history.c.request_id,
    sqlite_where=text("pending IS 1"),
    postgresql_where=text("pending IS true"),
)


class TrialColumns(Columns):
    id: Named[int] = Column(Id, primary_key=True, autoincrement=True)
    experiment_id: Named[int] = Column(Id, ForeignKey("experiments.id", ondelete="CASCADE"), index=True)
    request_id: Named[str]
    task_id: Named[str] = Column(unique=True)  # current task: `<exp>.<request>[-n]`
    state: Named[str] = Column(index=True)
    hparams: Named[JsonObject] = Column(JSON)
    seed: Named[int] = Column(BigInteger)
    run_id: Named[int] = Column(server_default="0")
    restarts: Named[int] = Column(server_default="0")
    start_time: Named[datetime] = Column(Time)
    end_time: Named[datetime | None] = Column(Time)
    runner_state: Named[str | None]  # core.train.set_status
    metadata: Named[JsonObject | None] = Column(JSON(none_as_null=True))  # run metadata (set/get)
    progress: Named[float | None] = Column(Float)
    # search, classic generation
    op_length: Named[int | None] = Column(BigInteger)  # current ValidateAfter length
    op_completed: Named[int | None] = Column(BigInteger)  # longest completed length
    op_closed: Named[bool] = Column(server_default=false())
    # search, both
    early_stopped: Named[bool] = Column(server_default=false())  # the searcher said Stop
    stop_reason: Named[str | None]  # why the searcher ended it, a sentence for people
    early_exit: Named[str | None]  # why it left before its time: INVALID_HP, INIT_INVALID_HP, USER_REQUESTED_STOP
    exit_reported: Named[bool] = Column(server_default=false())  # searcher knows it exited
    warm_start_checkpoint: Named[str | None]
    # summaries kept in the transaction that ingests
    steps_completed: Named[int] = Column(BigInteger, server_default="0")
    latest_validation_step: Named[int | None] = Column(BigInteger)
    latest_validation_value: Named[float | None] = Column(Float)  # of the searcher metric
    latest_validation_time: Named[datetime | None] = Column(Time)
    best_validation_step: Named[int | None] = Column(BigInteger)
    best_validation_value: Named[float | None] = Column(Float)
    best_validation_time: Named[datetime | None] = Column(Time)
    latest_checkpoint: Named[str | None]
    checkpoint_count: Named[int] = Column(server_default="0")
    checkpoint_size: Named[int] = Column(BigInteger, server_default="0")
    log_retention_days: Named[int | None]
    log_policy_label: Named[str | None]
    external_id: Named[str | None]
    last_activity: Named[datetime | None] = Column(Time)
    archived: Named[bool] = Column(server_default=false())


trials = Table(
    "trials",
    metadata,
    TrialColumns,
    UniqueConstraint("experiment_id", "request_id"),
    UniqueConstraint("experiment_id", "external_id"),
    sqlite_autoincrement=True,
)


# Of a search with thousands of trials behind it only these are looked at again and again.
# The conditions are written as `.is_(False)` is on each dialect: SQLite uses such an index for that very text only.
Index(
    "ix_trials_open",
    trials.c.experiment_id,
    trials.c.state,
    sqlite_where=text("exit_reported IS 0"),
    postgresql_where=text("exit_reported IS false"),
)
