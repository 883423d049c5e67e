"""Every table, once. Migrations bring a database to exactly this; times are integer microseconds, read as aware UTC."""

from datetime import UTC, datetime, timedelta
from typing import Any

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
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
    false,
    text,
    true,
)
from sqlalchemy.engine import Dialect
from sqlalchemy.types import TypeDecorator

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class Time(TypeDecorator[datetime]):
    """Aware UTC datetimes as integer microseconds: exact, sortable, the same on both dialects."""

    impl = BigInteger
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> int | None:
        if value is None:
            return None
        return (value - _EPOCH) // timedelta(microseconds=1)

    def process_result_value(self, value: Any, dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        return _EPOCH + timedelta(microseconds=value)


# SQLite gives out ids only for INTEGER PRIMARY KEY; AUTOINCREMENT keeps deleted ids from coming back.
_Id = BigInteger().with_variant(Integer, "sqlite")

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
    }
)

# -- the cluster itself -------------------------------------------------------------------------------------------

# cluster_id, token_secret, heartbeat (last time the master was alive), cluster message, ...
cluster = Table("cluster", metadata, Column("key", String, primary_key=True), Column("value", JSON, nullable=False))

# Enable/disable/drain of nodes and slots, kept apart from what engines report. slot_id -1 = the whole node.
node_overrides = Table(
    "node_overrides",
    metadata,
    Column("node_id", String, primary_key=True),
    Column("slot_id", Integer, primary_key=True),
    Column("enabled", Boolean, nullable=False),
    Column("draining", Boolean, nullable=False, server_default=false()),
)

# Nodes added to the local engine at run time (`det deploy local agent-up`).
local_nodes = Table(
    "local_nodes",
    metadata,
    Column("node_id", String, primary_key=True),
    Column("pool", String, nullable=False),
    Column("slots", Integer, nullable=False),
    Column("created_at", Time, nullable=False),
)

# -- people -------------------------------------------------------------------------------------------------------

users = Table(
    "users",
    metadata,
    Column("id", _Id, primary_key=True, autoincrement=True),
    Column("username", String, nullable=False, unique=True),
    Column("display_name", String, nullable=False, server_default=""),
    Column("password_hash", String),  # argon2 of the salted sha512 the client sends; NULL = blank password
    Column("admin", Boolean, nullable=False, server_default=false()),
    Column("active", Boolean, nullable=False, server_default=true()),
    Column("remote", Boolean, nullable=False, server_default=false()),
    Column("agent_uid", Integer),
    Column("agent_user", String),
    Column("agent_gid", Integer),
    Column("agent_group", String),
    Column("created_at", Time, nullable=False),
    Column("modified_at", Time, nullable=False),
    Column("last_auth_at", Time),
    sqlite_autoincrement=True,
)

# kind: "session" (login) or "access" (access token)
sessions = Table(
    "sessions",
    metadata,
    Column("id", _Id, primary_key=True, autoincrement=True),
    Column("user_id", ForeignKey("users.id"), nullable=False, index=True),
    Column("token_hash", String, nullable=False, unique=True),
    Column("kind", String, nullable=False),
    Column("description", String, nullable=False, server_default=""),
    Column("created_at", Time, nullable=False),
    Column("expires_at", Time),
    Column("revoked_at", Time),
    sqlite_autoincrement=True,
)

user_settings = Table(
    "user_settings",
    metadata,
    Column("user_id", ForeignKey("users.id"), primary_key=True),
    Column("storage_path", String, primary_key=True),
    Column("key", String, primary_key=True),
    Column("value", Text),
)

# -- workspaces and projects --------------------------------------------------------------------------------------

workspaces = Table(
    "workspaces",
    metadata,
    Column("id", _Id, primary_key=True, autoincrement=True),
    Column("name", String, nullable=False, unique=True),
    Column("user_id", ForeignKey("users.id"), nullable=False),
    Column("archived", Boolean, nullable=False, server_default=false()),
    Column("immutable", Boolean, nullable=False, server_default=false()),
    Column("agent_uid", Integer),
    Column("agent_user", String),
    Column("agent_gid", Integer),
    Column("agent_group", String),
    Column("checkpoint_storage", JSON(none_as_null=True)),
    Column("default_compute_pool", String),
    Column("default_aux_pool", String),
    Column("created_at", Time, nullable=False),
    sqlite_autoincrement=True,
)

workspace_pins = Table(
    "workspace_pins",
    metadata,
    Column("user_id", ForeignKey("users.id"), primary_key=True),
    Column("workspace_id", ForeignKey("workspaces.id", ondelete="CASCADE"), primary_key=True),
    Column("pinned_at", Time, nullable=False),
)

projects = Table(
    "projects",
    metadata,
    Column("id", _Id, primary_key=True, autoincrement=True),
    Column("workspace_id", ForeignKey("workspaces.id"), nullable=False, index=True),
    Column("user_id", ForeignKey("users.id"), nullable=False),
    Column("name", String, nullable=False),
    Column("key", String, unique=True),
    Column("description", Text, nullable=False, server_default=""),
    Column("notes", JSON, nullable=False),  # [{"name":, "contents":}]
    Column("archived", Boolean, nullable=False, server_default=false()),
    Column("immutable", Boolean, nullable=False, server_default=false()),
    Column("created_at", Time, nullable=False),
    UniqueConstraint("workspace_id", "name"),
    sqlite_autoincrement=True,
)

# What a user looked at last, for "recent projects".
project_views = Table(
    "project_views",
    metadata,
    Column("user_id", ForeignKey("users.id"), primary_key=True),
    Column("project_id", ForeignKey("projects.id", ondelete="CASCADE"), primary_key=True),
    Column("viewed_at", Time, nullable=False),
)

pool_bindings = Table(
    "pool_bindings",
    metadata,
    Column("pool", String, primary_key=True),
    Column("workspace_id", ForeignKey("workspaces.id", ondelete="CASCADE"), primary_key=True),
)

# -- jobs, experiments, trials ------------------------------------------------------------------------------------

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
    Column("id", _Id, primary_key=True, autoincrement=True),
    Column("job_id", ForeignKey("jobs.id"), nullable=False, unique=True),
    Column("project_id", ForeignKey("projects.id"), nullable=False, index=True),
    Column("owner_id", ForeignKey("users.id"), nullable=False),
    Column("parent_id", _Id),
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
    Column("best_trial_id", _Id),
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
    Column("id", _Id, primary_key=True, autoincrement=True),
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

# -- tasks and allocations ----------------------------------------------------------------------------------------

tasks = Table(
    "tasks",
    metadata,
    Column("id", String, primary_key=True),
    Column("type", String, nullable=False),  # TRIAL, COMMAND, CHECKPOINT_GC, ...
    Column("job_id", ForeignKey("jobs.id")),
    Column("trial_id", ForeignKey("trials.id", ondelete="CASCADE"), index=True),
    Column("experiment_id", ForeignKey("experiments.id", ondelete="CASCADE"), index=True),
    Column("spec", JSON(none_as_null=True)),  # what a non-trial task runs
    Column("start_time", Time, nullable=False),
    Column("end_time", Time),
    Column("log_retention_days", Integer),
    Column("next_log_id", BigInteger, nullable=False, server_default="1"),
)

allocations = Table(
    "allocations",
    metadata,
    Column("id", String, primary_key=True),  # `<task>.<k>`
    Column("task_id", ForeignKey("tasks.id", ondelete="CASCADE"), nullable=False, index=True),
    Column("trial_id", ForeignKey("trials.id", ondelete="CASCADE"), index=True),
    Column("run_id", Integer, nullable=False),
    Column("state", String, nullable=False, index=True),  # PENDING .. TERMINATED (runtime.md 5)
    Column("slots", Integer, nullable=False),
    Column("pool", String, nullable=False),
    Column("preemptible", Boolean, nullable=False),
    Column("single_node", Boolean, nullable=False, server_default=false()),
    Column("requested_at", Time, nullable=False),
    Column("assigned_at", Time),
    Column("started_at", Time),
    Column("ready_at", Time),
    Column("ended_at", Time),
    Column("ports", JSON(none_as_null=True)),
    # signals, persisted so that a restart forgets none
    Column("preempt_at", Time),  # first time preemption was asked for
    Column("preempt_reason", String),
    Column("preempt_deadline", Time),
    Column("preempt_acked_at", Time),
    Column("kill_at", Time),  # kill was asked for
    Column("kill_reason", String),
    # how it ended (runtime.md 5 exit classification)
    Column("exit_kind", String),  # states.ExitKind
    Column("exit_reason", Text),  # for people
    Column("exit_code", Integer),
    Column("drained", Boolean, nullable=False, server_default=false()),  # all runners' journals acknowledged
    Column("accelerators", JSON(none_as_null=True)),
    Column("proxy_address", String),
)

Index(
    "ix_allocations_live",
    allocations.c.trial_id,
    sqlite_where=text("ended_at IS NULL"),
    postgresql_where=text("ended_at IS NULL"),
)

# One row per runner (container) of an allocation.
runners = Table(
    "runners",
    metadata,
    Column("resource_id", String, primary_key=True),
    Column("allocation_id", ForeignKey("allocations.id", ondelete="CASCADE"), nullable=False, index=True),
    Column("container_id", String, nullable=False),
    Column("rank", Integer, nullable=False),
    Column("engine", String, nullable=False),
    Column("node_id", String, nullable=False),
    Column("slot_ids", JSON, nullable=False),
    Column("device", String, nullable=False),
    Column("state", String, nullable=False),  # ASSIGNED, PULLING, STARTING, RUNNING, TERMINATED
    Column("address", String),
    Column("rendezvous_at", Time),  # has asked for rendezvous
    Column("started_at", Time),
    Column("exited_at", Time),
    Column("exit_code", Integer),
    Column("exit_cause", String),  # wire.report.ExitCause
    Column("exit_message", Text),
    Column("daemon", Boolean, nullable=False, server_default=false()),
    Column("drained", Boolean, nullable=False, server_default=false()),
)

Index(
    "ix_runners_undrained",
    runners.c.allocation_id,
    sqlite_where=text("drained IS 0"),
    postgresql_where=text("drained IS false"),
)

# How far each journal of a runner has been written: records up to `position` are in the database, exactly once.
report_positions = Table(
    "report_positions",
    metadata,
    Column("resource_id", ForeignKey("runners.resource_id", ondelete="CASCADE"), primary_key=True),
    Column("source", String, primary_key=True),
    Column("position", BigInteger, nullable=False),
)

# What log policies have seen (runtime.md 6.6).
log_policy_hits = Table(
    "log_policy_hits",
    metadata,
    Column("id", _Id, primary_key=True, autoincrement=True),
    Column("task_id", ForeignKey("tasks.id", ondelete="CASCADE"), nullable=False),
    Column("action", String, nullable=False),  # cancel_retries, exclude_node
    Column("node_id", String, nullable=False, server_default=""),
    Column("pattern", Text, nullable=False),
    Column("line", Text, nullable=False),
    UniqueConstraint("task_id", "action", "node_id", "pattern"),
    sqlite_autoincrement=True,
)

# -- checkpoints --------------------------------------------------------------------------------------------------

storage_backends = Table(
    "storage_backends",
    metadata,
    Column("id", _Id, primary_key=True, autoincrement=True),
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
    Column("model_id", _Id),
    Column("model_version", Integer),
)

# -- metrics ------------------------------------------------------------------------------------------------------

# A run of reports of one trial, run and group, columnar and packed (master/db/metric_chunk.py).
metric_chunks = Table(
    "metric_chunks",
    metadata,
    Column("id", _Id, primary_key=True, autoincrement=True),
    Column("trial_id", ForeignKey("trials.id", ondelete="CASCADE"), nullable=False),
    Column("run_id", Integer, nullable=False),
    Column("group", String, nullable=False),
    Column("first_step", BigInteger, nullable=False),
    Column("last_step", BigInteger, nullable=False),
    Column("n", Integer, nullable=False),
    Column("full", Boolean, nullable=False, server_default=false()),
    Column("data", LargeBinary, nullable=False),
    Index("ix_metric_chunks_series", "trial_id", "group", "run_id", "first_step"),
    sqlite_autoincrement=True,
)

# The first step a run reported per group: rows of earlier runs at later steps are archived by it, not rewritten.
metric_watermarks = Table(
    "metric_watermarks",
    metadata,
    Column("trial_id", ForeignKey("trials.id", ondelete="CASCADE"), primary_key=True),
    Column("run_id", Integer, primary_key=True),
    Column("group", String, primary_key=True),
    Column("first_step", BigInteger, nullable=False),  # -1: reports without steps, numbered in order
    Column("last_step", BigInteger, nullable=False),
    Column("tail_id", _Id),  # the chunk that the next report of this series is added to
)

metric_summaries = Table(
    "metric_summaries",
    metadata,
    Column("trial_id", ForeignKey("trials.id", ondelete="CASCADE"), primary_key=True),
    Column("group", String, primary_key=True),
    Column("name", String, primary_key=True),
    Column("type", String, nullable=False),  # number, string, boolean, date, object, array, null
    Column("count", BigInteger, nullable=False),  # finite numbers only feed sum/min/max
    Column("sum", Float),
    Column("min", Float),
    Column("max", Float),
    Column("last", JSON),  # NaN and infinities as strings
    Column("last_step", BigInteger),
    Index("ix_metric_summaries_name", "group", "name", "trial_id"),
)

# -- logs ---------------------------------------------------------------------------------------------------------

# One compressed batch of lines (master/db/log_chunk.py). `levels` is a bit mask; filters skip chunks by it.
log_chunks = Table(
    "log_chunks",
    metadata,
    Column("task_id", ForeignKey("tasks.id", ondelete="CASCADE"), primary_key=True),
    Column("first_id", BigInteger, primary_key=True),
    Column("n", Integer, nullable=False),
    Column("min_time", Time, nullable=False),
    Column("max_time", Time, nullable=False),
    Column("levels", Integer, nullable=False),
    Column("data", LargeBinary, nullable=False),
)
