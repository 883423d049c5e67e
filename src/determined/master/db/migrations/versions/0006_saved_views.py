"""saved views of a project's table."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    key = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
    op.create_table(
        "saved_views",
        sa.Column("id", key, autoincrement=True, nullable=False),
        sa.Column("project_id", key, nullable=False),
        sa.Column("user_id", key, nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.id"], name=op.f("fk_saved_views_project_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_saved_views_user_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_saved_views")),
        sa.UniqueConstraint("project_id", "name", name=op.f("uq_saved_views_project_id_name")),
        sqlite_autoincrement=True,
    )
