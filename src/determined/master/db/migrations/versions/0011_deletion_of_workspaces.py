"""deletion of workspaces."""

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None


def upgrade() -> None:
    for table in ("workspaces", "projects"):
        op.add_column(table, sa.Column("state", sa.String(), server_default="UNSPECIFIED", nullable=False))
        op.add_column(table, sa.Column("error_message", sa.Text(), server_default="", nullable=False))
