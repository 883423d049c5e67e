"""Tables of jobs, experiments, their searches and trials."""

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    String,
    Table,
    Text,
    UniqueConstraint,
    false,
    text,
    true,
)

from determined.master.db.schema.base import Id, Time, metadata

jobs = Table(
    "jobs",
    metadata,
    Column("id", String, primary_key=True),  # uuid
    Column("type", String, nullable=False),  # EXPERIMENT, COMMAND, ... (master/lifecycle/states.py)
    Column("owner_id", ForeignKey("users.id"), nullable=False),
    Column("workspace_id", ForeignKey("workspaces.id"), nullable=False),
    Column("pool", String, nullable=False),
    Column("priority", Integer, nullable=False),
    Column("weight", Float, nullable=False),
    Column("max_slots", Integer),
    Column("submitted_at", Time, nullable=False),
    Column("position", Float, nullable=False),  # queue position; smaller is earlier
)

experiments = Table(
    "experiments",
    metadata,
    Column("id", Id, primary_key=True, autoincrement=True),
    Column("job_id", ForeignKey("jobs.id"), nullable=False, unique=True),
    Column("project_id", ForeignKey("projects.id"), nullable=False, index=True),
    Column("owner_id", ForeignKey("users.id"), nullable=False),
    Column("parent_id", Id),
    Column("state", String, nullable=False, index=True),  # bare names: ACTIVE, PAUSED, STOPPING_*, ...
    Column("name", String, nullable=False),
    Column("description", Text),
    Column("notes", Text, nullable=False, server_default=""),
    Column("labels", JSON, nullable=False),
    Column("config", JSON, nullable=False),  # active config, fully defaulted
    Column("original_config", Text, nullable=False),  # exact user text
    Column("template", String),
    Column("archived", Boolean, nullable=False, server_default=false()),
    Column("unmanaged", Boolean, nullable=False, server_default=false()),
    Column("external_id", String, unique=True),
    Column("generation", String, nullable=False),  # "classic" or "late" (design 4.6)
    Column("searcher_metric", String),
    Column("smaller_is_better", Boolean, nullable=False, server_default=true()),
    Column("warm_start_checkpoint", String),
    Column("submitter_python", String),  # interpreter of the submitter's environment, local engine only
    Column("progress", Float),
    Column("start_time", Time, nullable=False),
    Column("end_time", Time),
    Column("best_trial_id", Id),
    Column("error", Text),  # why it is in ERROR, for people
    Column("gc_time", Time),  # when the checkpoint GC policy was last applied; older than end_time = apply it again
    sqlite_autoincrement=True,
)

model_definitions = Table(
    "model_definitions",
    metadata,
    Column("experiment_id", ForeignKey("experiments.id", ondelete="CASCADE"), primary_key=True),
    Column("tgz", LargeBinary, nullable=False),
)

# What the requirements of an experiment were resolved to, for each kind of machine and Python that asked.
environment_locks = Table(
    "environment_locks",
    metadata,
    Column("experiment_id", ForeignKey("experiments.id", ondelete="CASCADE"), primary_key=True),
    Column("platform", String, primary_key=True),
    Column("content", Text, nullable=False),
    Column("created_at", Time, nullable=False),
)

# Search: the event log and the newest snapshot; a restart is snapshot + replay of later events.
search_events = Table(
    "search_events",
    metadata,
    Column("experiment_id", ForeignKey("experiments.id", ondelete="CASCADE"), primary_key=True),
    Column("seq", Integer, primary_key=True),
    Column("event", JSON, nullable=False),
)

search_snapshots = Table(
    "search_snapshots",
    metadata,
    Column("experiment_id", ForeignKey("experiments.id", ondelete="CASCADE"), primary_key=True),
    Column("seq", Integer, nullable=False),  # events up to and including this one are inside
    Column("snapshot", JSON, nullable=False),
)

# Operations that a search has asked for and that are not done yet, in order (lifecycle/search_batches.py).
search_queue = Table(
    "search_queue",
    metadata,
    Column("experiment_id", ForeignKey("experiments.id", ondelete="CASCADE"), primary_key=True),
    Column("n", Integer, primary_key=True),  # 0: no operations, but trials to look at once more
    Column("operations", JSON, nullable=False),
)

# What the search has learnt from its trials, in order and for good: a continued search is told it again.
search_history = Table(
    "search_history",
    metadata,
    Column("experiment_id", ForeignKey("experiments.id", ondelete="CASCADE"), primary_key=True),
    Column("n", Integer, primary_key=True),
    Column("request_id", String, nullable=False),
    Column("event", JSON, nullable=False),
    Column("pending", Boolean, nullable=False, server_default=false()),  # of an earlier search: still to be told
)
Index(
    "ix_search_history_pending",
    search_history.c.experiment_id,
    search_history.c.request_id,
    sqlite_where=text("pending IS 1"),
    postgresql_where=text("pending IS true"),
)

trials = Table(
    "trials",
    metadata,
    Column("id", Id, primary_key=True, autoincrement=True),
    Column("experiment_id", ForeignKey("experiments.id", ondelete="CASCADE"), nullable=False, index=True),
    Column("request_id", String, nullable=False),
    Column("task_id", String, nullable=False, unique=True),  # current task: `<exp>.<request>[-n]`
    Column("state", String, nullable=False, index=True),
    Column("hparams", JSON, nullable=False),
    Column("seed", BigInteger, nullable=False),
    Column("run_id", Integer, nullable=False, server_default="0"),
    Column("restarts", Integer, nullable=False, server_default="0"),
    Column("start_time", Time, nullable=False),
    Column("end_time", Time),
    Column("runner_state", String),  # core.train.set_status
    Column("metadata", JSON(none_as_null=True)),  # run metadata (set/get)
    Column("progress", Float),
    # search, classic generation
    Column("op_length", BigInteger),  # current ValidateAfter length
    Column("op_completed", BigInteger),  # longest completed length
    Column("op_closed", Boolean, nullable=False, server_default=false()),
    # search, both
    Column("early_stopped", Boolean, nullable=False, server_default=false()),  # the searcher said Stop
    Column("early_exit", String),  # why it left before its time: INVALID_HP, INIT_INVALID_HP, USER_REQUESTED_STOP
    Column("exit_reported", Boolean, nullable=False, server_default=false()),  # searcher knows it exited
    Column("warm_start_checkpoint", String),
    # summaries kept in the transaction that ingests
    Column("steps_completed", BigInteger, nullable=False, server_default="0"),
    Column("latest_validation_step", BigInteger),
    Column("latest_validation_value", Float),  # of the searcher metric
    Column("latest_validation_time", Time),
    Column("best_validation_step", BigInteger),
    Column("best_validation_value", Float),
    Column("best_validation_time", Time),
    Column("latest_checkpoint", String),
    Column("checkpoint_count", Integer, nullable=False, server_default="0"),
    Column("checkpoint_size", BigInteger, nullable=False, server_default="0"),
    Column("log_retention_days", Integer),
    Column("log_policy_label", String),
    Column("external_id", String),
    Column("last_activity", Time),
    Column("archived", Boolean, nullable=False, server_default=false()),
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
