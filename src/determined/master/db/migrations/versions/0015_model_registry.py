"""model registry."""

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None

# noun: table, then id, parent and value of its row in `changes` as in revision 0005; the value is the owner, whom
# subscriptions may name too.
_WATCHED = {
    "models": ("models", "CAST({row}.id AS TEXT)", "{row}.workspace_id", "{row}.user_id"),
    "modelversions": ("model_versions", "CAST({row}.id AS TEXT)", "{row}.model_id", "{row}.user_id"),
}


def upgrade() -> None:
    _create_models()
    _create_versions()
    _create_aliases()
    op.create_index(op.f("ix_trial_source_infos_checkpoint_uuid"), "trial_source_infos", ["checkpoint_uuid"])
    op.create_index("ix_trial_source_infos_model", "trial_source_infos", ["model_id", "model_version"])
    for noun, (table, key, parent, value) in _WATCHED.items():
        written = _written(noun, *(part.format(row="NEW") for part in (key, parent, value)))
        gone = _gone(noun, *(part.format(row="OLD") for part in (key, parent, value)))
        _trigger(f"change_{noun}_insert", f"INSERT ON {table}", written)
        _trigger(f"change_{noun}_update", f"UPDATE ON {table}", written)
        _trigger(f"change_{noun}_delete", f"DELETE ON {table}", gone)
    # the messages of versions name the workspace of their model
    _trigger("change_model_workspace", "UPDATE OF workspace_id ON models", _versions_of_model())


def _number() -> sa.types.TypeEngine[int]:
    return sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def _texts_and_times() -> list[sa.Column[object]]:
    return [
        sa.Column("notes", sa.Text(), server_default="", nullable=False),
        sa.Column("metadata", sa.JSON(), nullable=False),
        sa.Column("labels", sa.JSON(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
    ]


def _create_models() -> None:
    op.create_table(
        "models",
        sa.Column("id", _number(), autoincrement=True, nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("description", sa.Text(), server_default="", nullable=False),
        sa.Column("user_id", _number(), nullable=False),
        sa.Column("workspace_id", _number(), nullable=False),
        sa.Column("archived", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.Column("last_version", sa.Integer(), server_default="0", nullable=False),
        sa.Column("num_versions", sa.Integer(), server_default="0", nullable=False),
        *_texts_and_times(),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_models_user_id")),
        sa.ForeignKeyConstraint(["workspace_id"], ["workspaces.id"], name=op.f("fk_models_workspace_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_models")),
        sa.UniqueConstraint("name", name=op.f("uq_models_name")),
        sqlite_autoincrement=True,
    )
    op.create_index(op.f("ix_models_workspace_id"), "models", ["workspace_id"])


def _create_versions() -> None:
    op.create_table(
        "model_versions",
        sa.Column("id", _number(), autoincrement=True, nullable=False),
        sa.Column("model_id", _number(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("checkpoint_uuid", sa.String(), nullable=False),
        sa.Column("user_id", _number(), nullable=False),
        sa.Column("name", sa.String(), server_default="", nullable=False),
        sa.Column("comment", sa.Text(), server_default="", nullable=False),
        *_texts_and_times(),
        sa.ForeignKeyConstraint(
            ["model_id"], ["models.id"], name=op.f("fk_model_versions_model_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["checkpoint_uuid"], ["checkpoints.uuid"], name=op.f("fk_model_versions_checkpoint_uuid")
        ),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_model_versions_user_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_model_versions")),
        sa.UniqueConstraint("model_id", "version", name=op.f("uq_model_versions_model_id_version")),
        sqlite_autoincrement=True,
    )
    op.create_index(op.f("ix_model_versions_checkpoint_uuid"), "model_versions", ["checkpoint_uuid"])


def _create_aliases() -> None:
    op.create_table(
        "model_aliases",
        sa.Column("model_id", _number(), nullable=False),
        sa.Column("alias", sa.String(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("user_id", _number(), nullable=False),
        sa.Column("set_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["model_id"], ["models.id"], name=op.f("fk_model_aliases_model_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_model_aliases_user_id")),
        sa.PrimaryKeyConstraint("model_id", "alias", name=op.f("pk_model_aliases")),
    )
    op.create_table(
        "model_alias_changes",
        sa.Column("id", _number(), autoincrement=True, nullable=False),
        sa.Column("model_id", _number(), nullable=False),
        sa.Column("alias", sa.String(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=True),
        sa.Column("previous_version", sa.Integer(), nullable=True),
        sa.Column("user_id", _number(), nullable=False),
        sa.Column("changed_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["model_id"], ["models.id"], name=op.f("fk_model_alias_changes_model_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_model_alias_changes_user_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_model_alias_changes")),
        sqlite_autoincrement=True,
    )
    op.create_index(op.f("ix_model_alias_changes_model_id"), "model_alias_changes", ["model_id"])


def _written(noun: str, key: str, parent: str, value: str) -> str:
    return (
        f"DELETE FROM changes WHERE noun = '{noun}' AND id = {key};"
        f" INSERT INTO changes (noun, id, parent, value) VALUES ('{noun}', {key}, {parent}, {value}); "
    )


def _gone(noun: str, key: str, parent: str, value: str) -> str:
    return (
        f"DELETE FROM changes WHERE noun = '{noun}' AND id = {key};"
        " INSERT INTO changes (noun, id, parent, value, deleted)"
        f" VALUES ('{noun}', {key}, {parent}, {value}, {_true()}); "
    )


def _versions_of_model() -> str:
    versions = "FROM model_versions WHERE model_id = NEW.id"
    return (
        f"DELETE FROM changes WHERE noun = 'modelversions' AND id IN (SELECT CAST(id AS TEXT) {versions});"
        " INSERT INTO changes (noun, id, parent, value)"
        f" SELECT 'modelversions', CAST(id AS TEXT), model_id, user_id {versions}; "
    )


def _trigger(name: str, event: str, body: str) -> None:
    if _dialect() == "sqlite":
        op.execute(f"CREATE TRIGGER {name} AFTER {event} BEGIN {body} END")
        return
    op.execute(f"CREATE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN {body} RETURN NULL; END $$")
    op.execute(f"CREATE TRIGGER {name} AFTER {event} FOR EACH ROW EXECUTE FUNCTION {name}()")


def _true() -> str:
    return "1" if _dialect() == "sqlite" else "true"


def _dialect() -> str:
    return op.get_bind().dialect.name
