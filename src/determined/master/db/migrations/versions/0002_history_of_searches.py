"""history of searches."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "search_history",
        sa.Column("experiment_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("n", sa.Integer(), nullable=False),
        sa.Column("request_id", sa.String(), nullable=False),
        sa.Column("event", sa.JSON(), nullable=False),
        sa.Column("pending", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.ForeignKeyConstraint(
            ["experiment_id"], ["experiments.id"], name=op.f("fk_search_history_experiment_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("experiment_id", "n", name=op.f("pk_search_history")),
    )
    with op.batch_alter_table("search_history", schema=None) as batch_op:
        batch_op.create_index(
            "ix_search_history_pending",
            ["experiment_id", "request_id"],
            unique=False,
            sqlite_where=sa.text("pending IS 1"),
            postgresql_where=sa.text("pending IS true"),
        )
