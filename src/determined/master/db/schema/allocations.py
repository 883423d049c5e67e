"""Tables of tasks, allocations, their runners and how far each runner's journals are written."""

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    Column,
    ForeignKey,
    Index,
    Integer,
    String,
    Table,
    Text,
    UniqueConstraint,
    false,
    text,
)

from determined.master.db.schema.base import Id, Time, metadata

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
    Column(
        "state", String, nullable=False
    ),  # ASSIGNED, PULLING, STARTING, RUNNING, TERMINATING (knows of its end), TERMINATED
    Column("address", String),
    Column("claimant", String),  # which sitter on another host has its launch file
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
    Column("id", Id, primary_key=True, autoincrement=True),
    Column("task_id", ForeignKey("tasks.id", ondelete="CASCADE"), nullable=False),
    Column("action", String, nullable=False),  # cancel_retries, exclude_node
    Column("node_id", String, nullable=False, server_default=""),
    Column("pattern", Text, nullable=False),
    Column("line", Text, nullable=False),
    UniqueConstraint("task_id", "action", "node_id", "pattern"),
    sqlite_autoincrement=True,
)
