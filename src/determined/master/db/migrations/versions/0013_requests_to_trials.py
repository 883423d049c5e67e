"""requests to trials."""

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("allocations", sa.Column("stacks_requested", sa.Integer(), server_default="0", nullable=False))
    op.add_column("allocations", sa.Column("shell_requested", sa.Boolean(), server_default=sa.false(), nullable=False))
