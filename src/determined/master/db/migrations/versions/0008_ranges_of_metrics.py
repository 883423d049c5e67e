"""ranges of metrics."""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "metric_ranges",
        sa.Column("experiment_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("group", sa.String(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("min", sa.Float(), nullable=False),
        sa.Column("max", sa.Float(), nullable=False),
        sa.ForeignKeyConstraint(
            ["experiment_id"], ["experiments.id"], name=op.f("fk_metric_ranges_experiment_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("experiment_id", "group", "name", name=op.f("pk_metric_ranges")),
    )
    op.execute(
        'INSERT INTO metric_ranges (experiment_id, "group", name, min, max)'
        ' SELECT trials.experiment_id, s."group", s.name, min(s.min), max(s.max)'
        " FROM metric_summaries AS s JOIN trials ON trials.id = s.trial_id"
        " WHERE s.min IS NOT NULL AND s.max IS NOT NULL"
        ' GROUP BY trials.experiment_id, s."group", s.name'
    )
