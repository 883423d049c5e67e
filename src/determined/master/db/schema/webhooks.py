"""Tables of webhooks, their triggers, what has triggered them, and the queue of deliveries."""

from datetime import datetime

from sqlalchemy import JSON, Column, ForeignKey, Index, Named, Table, Text, UniqueConstraint, text

from determined._json import JsonObject
from determined.master.db.schema.base import Columns, Id, Time, metadata


class WebhookColumns(Columns):
    id: Named[int] = Column(Id, primary_key=True, autoincrement=True)
    url: Named[str] = Column(Text)
    type: Named[str]  # DEFAULT, SLACK
    mode: Named[str]  # WORKSPACE, SPECIFIC
    name: Named[str] = Column(Text)
    workspace_id: Named[int | None] = Column(Id, ForeignKey("workspaces.id", ondelete="CASCADE"), index=True)
    created_at: Named[datetime] = Column(Time)


webhooks = Table("webhooks", metadata, WebhookColumns, sqlite_autoincrement=True)


class WebhookTriggerColumns(Columns):
    id: Named[int] = Column(Id, primary_key=True, autoincrement=True)
    webhook_id: Named[int] = Column(Id, ForeignKey("webhooks.id", ondelete="CASCADE"), index=True)
    type: Named[str]  # EXPERIMENT_STATE_CHANGE, METRIC_THRESHOLD_EXCEEDED, TASK_LOG, CUSTOM
    condition: Named[JsonObject] = Column(JSON)


webhook_triggers = Table("webhook_triggers", metadata, WebhookTriggerColumns, sqlite_autoincrement=True)


class WebhookFiringColumns(Columns):
    """Tasks and trials for which a trigger has fired, once, by a log or by metrics; also trials not to be told of."""

    id: Named[int] = Column(Id, primary_key=True, autoincrement=True)
    trigger_id: Named[int] = Column(Id, ForeignKey("webhook_triggers.id", ondelete="CASCADE"))
    task_id: Named[str | None] = Column(ForeignKey("tasks.id", ondelete="CASCADE"), index=True)
    trial_id: Named[int | None] = Column(Id, ForeignKey("trials.id", ondelete="CASCADE"), index=True)


webhook_firings = Table(
    "webhook_firings",
    metadata,
    WebhookFiringColumns,
    UniqueConstraint("trigger_id", "task_id"),
    UniqueConstraint("trigger_id", "trial_id"),
    sqlite_autoincrement=True,
)


class TrialReportTimeColumns(Columns):
    """Time of a trial's last metric report, written while a trigger waits for silence (`no_report_for`).

    Of an unmanaged trial also the start of its run.
    """

    trial_id: Named[int] = Column(Id, ForeignKey("trials.id", ondelete="CASCADE"), primary_key=True)
    reported_at: Named[datetime] = Column(Time)


trial_report_times = Table("trial_report_times", metadata, TrialReportTimeColumns)


class WebhookDeliveryColumns(Columns):
    """Events on their way to a webhook, each written with its cause. The payload is built when it is sent."""

    id: Named[int] = Column(Id, primary_key=True, autoincrement=True)
    webhook_id: Named[int] = Column(Id, ForeignKey("webhooks.id", ondelete="CASCADE"))
    event_id: Named[str]  # uuid, the same in every attempt
    event_type: Named[str]  # of its trigger
    event: Named[JsonObject] = Column(JSON)  # lifecycle/webhook_event.py
    state: Named[str]  # PENDING, SENDING, DELIVERED, FAILED
    attempts: Named[int] = Column(server_default="0")
    created_at: Named[datetime] = Column(Time)
    next_attempt_at: Named[datetime] = Column(Time)
    claimed_by: Named[str | None]  # the start of a master (its id) that sends it
    finished_at: Named[datetime | None] = Column(Time)
    url: Named[str | None] = Column(Text)  # of the last attempt
    status_code: Named[int | None]
    answer: Named[str | None] = Column(Text)
    error: Named[str | None] = Column(Text)


webhook_deliveries = Table(
    "webhook_deliveries",
    metadata,
    WebhookDeliveryColumns,
    Index("ix_webhook_deliveries_webhook_id", "webhook_id", "id"),
    sqlite_autoincrement=True,
)
Index(
    "ix_webhook_deliveries_waiting",
    webhook_deliveries.c.webhook_id,
    webhook_deliveries.c.next_attempt_at,
    sqlite_where=text("finished_at IS NULL"),
    postgresql_where=text("finished_at IS NULL"),
)
