"""imports."""

import sqlalchemy as sa
from alembic import op

revision = "0017"
down_revision = "0016"
branch_labels = None
depends_on = None


def upgrade() -> None:
    number = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
    op.create_table(
        "imports",
        sa.Column("id", number, autoincrement=True, nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("source_id", sa.String(), nullable=False),
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column("options", sa.JSON(), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("started_at", sa.BigInteger(), nullable=False),
        sa.Column("ended_at", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_imports")),
        sqlite_autoincrement=True,
    )
    op.create_index(op.f("ix_imports_source_id"), "imports", ["source_id"], unique=False)
    op.create_table(
        "import_units",
        sa.Column("import_id", number, nullable=False),
        sa.Column("step", sa.String(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("rows", sa.BigInteger(), nullable=False),
        sa.Column("checksum", sa.String(), nullable=False),
        sa.Column("upto", sa.JSON(none_as_null=True), nullable=True),
        sa.Column("ids", sa.JSON(none_as_null=True), nullable=True),
        sa.Column("notes", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(
            ["import_id"], ["imports.id"], name=op.f("fk_import_units_import_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("import_id", "step", "number", name=op.f("pk_import_units")),
    )
