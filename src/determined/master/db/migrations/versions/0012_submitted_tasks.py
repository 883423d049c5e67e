"""submitted tasks."""

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None


def upgrade() -> None:
    number = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
    op.create_table(
        "submitted_tasks",
        sa.Column("task_id", sa.String(), nullable=False),
        sa.Column("description", sa.Text(), nullable=False),
        sa.Column("config", sa.JSON(), nullable=False),
        sa.Column("submitted_config", sa.JSON(), nullable=False),
        sa.Column("template", sa.String(), nullable=True),
        sa.Column("submitter_python", sa.String(), nullable=True),
        sa.Column("experiment_ids", sa.JSON(none_as_null=True), nullable=True),
        sa.Column("trial_ids", sa.JSON(none_as_null=True), nullable=True),
        sa.Column("last_active", sa.BigInteger(), nullable=True),
        sa.Column("share_links", sa.Integer(), server_default="0", nullable=False),
        sa.Column("is_shared", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.Column("state", sa.String(), nullable=True),
        sa.Column("project_id", number, nullable=True),
        sa.Column("parent_id", sa.String(), nullable=True),
        sa.Column("forked_from", sa.String(), nullable=True),
        sa.Column("no_pause", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.ForeignKeyConstraint(["task_id"], ["tasks.id"], name=op.f("fk_submitted_tasks_task_id"), ondelete="CASCADE"),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.id"], name=op.f("fk_submitted_tasks_project_id"), ondelete="SET NULL"
        ),
        sa.ForeignKeyConstraint(
            ["parent_id"], ["tasks.id"], name=op.f("fk_submitted_tasks_parent_id"), ondelete="SET NULL"
        ),
        sa.PrimaryKeyConstraint("task_id", name=op.f("pk_submitted_tasks")),
    )
    op.create_index(op.f("ix_submitted_tasks_project_id"), "submitted_tasks", ["project_id"])
    op.create_index(op.f("ix_submitted_tasks_parent_id"), "submitted_tasks", ["parent_id"])
    op.create_table(
        "task_contexts",
        sa.Column("task_id", sa.String(), nullable=False),
        sa.Column("tgz", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(["task_id"], ["tasks.id"], name=op.f("fk_task_contexts_task_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("task_id", name=op.f("pk_task_contexts")),
    )
