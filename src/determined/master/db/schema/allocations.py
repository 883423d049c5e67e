"""Tables of tasks, allocations, their runners and how far each runner's journals are written."""

from datetime import datetime

from sqlalchemy import JSON, BigInteger, Column, ForeignKey, Index, Named, Table, Text, UniqueConstraint, false, text

from determined._json import JsonObject
from determined.master.db.schema.base import Columns, Id, Time, metadata


class TaskColumns(Columns):
    id: Named[str] = Column(primary_key=True)
    type: Named[str]  # TRIAL, COMMAND, CHECKPOINT_GC, ...
    job_id: Named[str | None] = Column(ForeignKey("jobs.id"))
    trial_id: Named[int | None] = Column(Id, ForeignKey("trials.id", ondelete="CASCADE"), index=True)
    experiment_id: Named[int | None] = Column(Id, ForeignKey("experiments.id", ondelete="CASCADE"), index=True)
    spec: Named[JsonObject | None] = Column(JSON(none_as_null=True))  # what a non-trial task runs
    start_time: Named[datetime] = Column(Time)
    end_time: Named[datetime | None] = Column(Time)
    log_retention_days: Named[int | None]
    next_log_id: Named[int] = Column(BigInteger, server_default="1")


tasks = Table("tasks", metadata, TaskColumns)


class AllocationColumns(Columns):
    id: Named[str] = Column(primary_key=True)  # `<task>.<k>`
    task_id: Named[str] = Column(ForeignKey("tasks.id", ondelete="CASCADE"), index=True)
    trial_id: Named[int | None] = Column(Id, ForeignKey("trials.id", ondelete="CASCADE"), index=True)
    run_id: Named[int]
    state: Named[str] = Column(index=True)  # PENDING .. TERMINATED
    slots: Named[int]
    pool: Named[str]
    preemptible: Named[bool]
    single_node: Named[bool] = Column(server_default=false())
    requested_at: Named[datetime] = Column(Time)
    assigned_at: Named[datetime | None] = Column(Time)
    started_at: Named[datetime | None] = Column(Time)
    ready_at: Named[datetime | None] = Column(Time)
    ended_at: Named[datetime | None] = Column(Time)
    ports: Named[dict[str, int] | None] = Column(JSON(none_as_null=True))
    # signals, persisted so that a restart forgets none
    preempt_at: Named[datetime | None] = Column(Time)  # first time preemption was asked for
    preempt_reason: Named[str | None]
    preempt_deadline: Named[datetime | None] = Column(Time)
    preempt_acked_at: Named[datetime | None] = Column(Time)
    kill_at: Named[datetime | None] = Column(Time)  # kill was asked for
    kill_reason: Named[str | None]
    stacks_requested: Named[int] = Column(server_default="0")  # how often people asked for all ranks' stacks
    shell_requested: Named[bool] = Column(server_default=false())  # somebody wants a shell beside the task
    # how it ended (exit classification)
    exit_kind: Named[str | None]  # states.ExitKind
    exit_reason: Named[str | None] = Column(Text)  # for people
    exit_code: Named[int | None]
    drained: Named[bool] = Column(server_default=false())  # all runners' journals acknowledged
    accelerators: Named[list[JsonObject] | None] = Column(JSON(none_as_null=True))
    proxy_address: Named[str | None]


allocations = Table("allocations", metadata, AllocationColumns)
Index(
    "ix_allocations_live",
    allocations.c.trial_id,
    sqlite_where=text("ended_at IS NULL"),
    postgresql_where=text("ended_at IS NULL"),
)


class RunnerColumns(Columns):
    """Runners (containers) of allocations, one row each."""

    resource_id: Named[str] = Column(primary_key=True)
    allocation_id: Named[str] = Column(ForeignKey("allocations.id", ondelete="CASCADE"), index=True)
    container_id: Named[str]
    rank: Named[int]
    engine: Named[str]
    node_id: Named[str]
    slot_ids: Named[list[int]] = Column(JSON)
    device: Named[str]
    # ASSIGNED, PULLING, STARTING, RUNNING, TERMINATING (knows of its end), TERMINATED
    state: Named[str]
    address: Named[str | None]
    claimant: Named[str | None]  # which sitter on another host has its launch file
    rendezvous_at: Named[datetime | None] = Column(Time)  # has asked for rendezvous
    started_at: Named[datetime | None] = Column(Time)
    exited_at: Named[datetime | None] = Column(Time)
    exit_code: Named[int | None]
    exit_cause: Named[str | None]  # wire.report.ExitCause
    exit_message: Named[str | None] = Column(Text)
    daemon: Named[bool] = Column(server_default=false())
    drained: Named[bool] = Column(server_default=false())


runners = Table("runners", metadata, RunnerColumns)
Index(
    "ix_runners_undrained",
    runners.c.allocation_id,
    sqlite_where=text("drained IS 0"),
    postgresql_where=text("drained IS false"),
)


class ReportPositionColumns(Columns):
    """Position in each journal of a runner: records up to it are in the database, exactly once."""

    resource_id: Named[str] = Column(ForeignKey("runners.resource_id", ondelete="CASCADE"), primary_key=True)
    source: Named[str] = Column(primary_key=True)
    position: Named[int] = Column(BigInteger)


report_positions = Table("report_positions", metadata, ReportPositionColumns)


class UnmanagedReportPositionColumns(Columns):
    """Position in each journal of an unmanaged trial, which has no runner."""

    trial_id: Named[int] = Column(Id, ForeignKey("trials.id", ondelete="CASCADE"), primary_key=True)
    source: Named[str] = Column(primary_key=True)
    position: Named[int] = Column(BigInteger)


unmanaged_report_positions = Table("unmanaged_report_positions", metadata, UnmanagedReportPositionColumns)


class LogPolicyHitColumns(Columns):
    """Log lines that matched a log policy, one per task, action, node and pattern."""

    id: Named[int] = Column(Id, primary_key=True, autoincrement=True)
    task_id: Named[str] = Column(ForeignKey("tasks.id", ondelete="CASCADE"))
    action: Named[str]  # cancel_retries, exclude_node
    node_id: Named[str] = Column(server_default="")
    pattern: Named[str] = Column(Text)
    line: Named[str] = Column(Text)


log_policy_hits = Table(
    "log_policy_hits",
    metadata,
    LogPolicyHitColumns,
    UniqueConstraint("task_id", "action", "node_id", "pattern"),
    sqlite_autoincrement=True,
)
