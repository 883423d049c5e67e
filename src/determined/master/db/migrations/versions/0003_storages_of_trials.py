"""storages of trials."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "trial_storages",
        sa.Column("trial_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("storage_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.ForeignKeyConstraint(["storage_id"], ["storage_backends.id"], name=op.f("fk_trial_storages_storage_id")),
        sa.ForeignKeyConstraint(
            ["trial_id"], ["trials.id"], name=op.f("fk_trial_storages_trial_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("trial_id", "storage_id", name=op.f("pk_trial_storages")),
    )
    # Trials that run on through the upgrade name the storage that they have been using.
    op.execute(
        "INSERT INTO trial_storages (trial_id, storage_id) SELECT DISTINCT trial_id, storage_id FROM checkpoints"
        " WHERE trial_id IS NOT NULL AND storage_id IS NOT NULL"
    )
