"""changes of rows.

One row per thing that `/stream` tells of, kept by triggers: whatever changes a thing numbers it in the same transaction.
"""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

# noun: table, the columns whose change counts (none named: all), then id, parent and value of its row in `changes`, where
# {row} is NEW or OLD.
_WATCHED = {
    "projects": ("projects", (), "CAST({row}.id AS TEXT)", "{row}.workspace_id", "NULL"),
    "experiments": ("experiments", (), "CAST({row}.id AS TEXT)", "{row}.project_id", "NULL"),
    "trials": ("trials", (), "CAST({row}.id AS TEXT)", "{row}.experiment_id", "NULL"),
    "checkpoints": ("checkpoints", (), "{row}.uuid", "{row}.experiment_id", "NULL"),
    # every batch of log lines counts up next_log_id
    "tasks": ("tasks", ("job_id", "spec", "start_time", "end_time"), "{row}.id", "{row}.experiment_id", "NULL"),
    "jobs": ("jobs", (), "{row}.id", "NULL", "NULL"),
    "metrics": (
        "metric_watermarks",
        (),
        "CAST({row}.trial_id AS TEXT) || '/' || {row}.\"group\"",
        "{row}.trial_id",
        "{row}.last_step",
    ),
}
# What is shown of these depends on a live allocation: (noun, query of id and parent).
_OF_ALLOCATION = (
    ("tasks", "SELECT id, experiment_id FROM tasks WHERE id = NEW.task_id"),
    ("jobs", "SELECT job_id, CAST(NULL AS BIGINT) FROM tasks WHERE id = NEW.task_id AND job_id IS NOT NULL"),
    ("trials", "SELECT CAST(id AS TEXT), experiment_id FROM trials WHERE id = NEW.trial_id"),
    (
        "experiments",
        "SELECT CAST(e.id AS TEXT), e.project_id FROM experiments e JOIN trials t ON t.experiment_id = e.id"
        " WHERE t.id = NEW.trial_id",
    ),
)


def upgrade() -> None:
    op.create_table(
        "changes",
        sa.Column("seq", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=True, nullable=False),
        sa.Column("noun", sa.String(), nullable=False),
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("parent", sa.BigInteger(), nullable=True),
        sa.Column("value", sa.BigInteger(), nullable=True),
        sa.Column("deleted", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.PrimaryKeyConstraint("seq", name=op.f("pk_changes")),
        sa.UniqueConstraint("noun", "id", name=op.f("uq_changes_noun_id")),
        sqlite_autoincrement=True,
    )
    for noun, (table, columns, key, parent, value) in _WATCHED.items():
        _number_what_is_there(noun, table, key, parent, value)
        of = f" OF {', '.join(columns)}" if columns else ""
        written = _written(noun, key.format(row="NEW"), parent.format(row="NEW"), value.format(row="NEW"))
        _trigger(f"change_{noun}_insert", f"INSERT ON {table}", written)
        _trigger(f"change_{noun}_update", f"UPDATE{of} ON {table}", written)
        _trigger(f"change_{noun}_delete", f"DELETE ON {table}", _gone(noun, key, parent))
    touched = "".join(_touched(noun, query) for noun, query in _OF_ALLOCATION)
    _trigger("change_allocation_insert", "INSERT ON allocations", touched)
    _trigger("change_allocation_update", "UPDATE ON allocations", touched)
    queue = _written("jobs", "NEW.job_id", "NULL", "NULL")
    _trigger("change_experiment_state", "UPDATE OF state, name ON experiments", queue)


def _number_what_is_there(noun: str, table: str, key: str, parent: str, value: str) -> None:
    """The runs of a trial share one row per group."""
    columns = [part.format(row="r").replace("NULL", "CAST(NULL AS BIGINT)") for part in (key, parent, value)]
    grouped = ""
    if noun == "metrics":
        columns[2] = "max(r.last_step)"
        grouped = ' GROUP BY r.trial_id, r."group"'
    op.execute(
        f"INSERT INTO changes (noun, id, parent, value) SELECT '{noun}', {', '.join(columns)} FROM {table} r{grouped}"
    )


def _written(noun: str, key: str, parent: str, value: str) -> str:
    return (
        f"DELETE FROM changes WHERE noun = '{noun}' AND id = {key};"
        f" INSERT INTO changes (noun, id, parent, value) VALUES ('{noun}', {key}, {parent}, {value}); "
    )


def _gone(noun: str, key: str, parent: str) -> str:
    key, parent = key.format(row="OLD"), parent.format(row="OLD")
    removed = f"DELETE FROM changes WHERE noun = '{noun}' AND id = {key}; "
    if noun == "metrics":
        return removed  # the tombstone of the trial says it
    return f"{removed}INSERT INTO changes (noun, id, parent, deleted) VALUES ('{noun}', {key}, {parent}, {_true()}); "


def _touched(noun: str, query: str) -> str:
    """`query` finds the id and the parent."""
    key, _, rest = query.removeprefix("SELECT ").partition(", ")
    source = rest.partition(" FROM ")[2]
    return (
        f"DELETE FROM changes WHERE noun = '{noun}' AND id IN (SELECT {key} FROM {source});"
        f" INSERT INTO changes (noun, id, parent) SELECT '{noun}', {query.removeprefix('SELECT ')}; "
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
