"""webhooks."""

import sqlalchemy as sa
from alembic import op

revision = "0018"
down_revision = "0017"
branch_labels = None
depends_on = None


def upgrade() -> None:
    number = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
    op.create_table(
        "webhooks",
        sa.Column("id", number, autoincrement=True, nullable=False),
        sa.Column("url", sa.Text(), nullable=False),
        sa.Column("type", sa.String(), nullable=False),
        sa.Column("mode", sa.String(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("workspace_id", number, nullable=True),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["workspace_id"], ["workspaces.id"], name=op.f("fk_webhooks_workspace_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_webhooks")),
        sqlite_autoincrement=True,
    )
    op.create_index(op.f("ix_webhooks_workspace_id"), "webhooks", ["workspace_id"])
    op.create_table(
        "webhook_triggers",
        sa.Column("id", number, autoincrement=True, nullable=False),
        sa.Column("webhook_id", number, nullable=False),
        sa.Column("type", sa.String(), nullable=False),
        sa.Column("condition", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(
            ["webhook_id"], ["webhooks.id"], name=op.f("fk_webhook_triggers_webhook_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_webhook_triggers")),
        sqlite_autoincrement=True,
    )
    op.create_index(op.f("ix_webhook_triggers_webhook_id"), "webhook_triggers", ["webhook_id"])
    op.create_table(
        "webhook_firings",
        sa.Column("id", number, autoincrement=True, nullable=False),
        sa.Column("trigger_id", number, nullable=False),
        sa.Column("task_id", sa.String(), nullable=True),
        sa.Column("trial_id", number, nullable=True),
        sa.ForeignKeyConstraint(
            ["trigger_id"], ["webhook_triggers.id"], name=op.f("fk_webhook_firings_trigger_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(["task_id"], ["tasks.id"], name=op.f("fk_webhook_firings_task_id"), ondelete="CASCADE"),
        sa.ForeignKeyConstraint(
            ["trial_id"], ["trials.id"], name=op.f("fk_webhook_firings_trial_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_webhook_firings")),
        sa.UniqueConstraint("trigger_id", "task_id", name=op.f("uq_webhook_firings_trigger_id_task_id")),
        sa.UniqueConstraint("trigger_id", "trial_id", name=op.f("uq_webhook_firings_trigger_id_trial_id")),
        sqlite_autoincrement=True,
    )
    op.create_index(op.f("ix_webhook_firings_task_id"), "webhook_firings", ["task_id"])
    op.create_index(op.f("ix_webhook_firings_trial_id"), "webhook_firings", ["trial_id"])
    op.create_table(
        "trial_report_times",
        sa.Column("trial_id", number, nullable=False),
        sa.Column("reported_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["trial_id"], ["trials.id"], name=op.f("fk_trial_report_times_trial_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("trial_id", name=op.f("pk_trial_report_times")),
    )
    op.create_table(
        "webhook_deliveries",
        sa.Column("id", number, autoincrement=True, nullable=False),
        sa.Column("webhook_id", number, nullable=False),
        sa.Column("event_id", sa.String(), nullable=False),
        sa.Column("event_type", sa.String(), nullable=False),
        sa.Column("event", sa.JSON(), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("attempts", sa.Integer(), server_default="0", nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("next_attempt_at", sa.BigInteger(), nullable=False),
        sa.Column("claimed_by", sa.String(), nullable=True),
        sa.Column("finished_at", sa.BigInteger(), nullable=True),
        sa.Column("url", sa.Text(), nullable=True),
        sa.Column("status_code", sa.Integer(), nullable=True),
        sa.Column("answer", sa.Text(), nullable=True),
        sa.Column("error", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(
            ["webhook_id"], ["webhooks.id"], name=op.f("fk_webhook_deliveries_webhook_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_webhook_deliveries")),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_webhook_deliveries_webhook_id", "webhook_deliveries", ["webhook_id", "id"])
    op.create_index(
        "ix_webhook_deliveries_waiting",
        "webhook_deliveries",
        ["webhook_id", "next_attempt_at"],
        sqlite_where=sa.text("finished_at IS NULL"),
        postgresql_where=sa.text("finished_at IS NULL"),
    )
