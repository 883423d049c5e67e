"""The table behind `/stream`: what changed last, one row per thing, written by database triggers (revision 0005)."""

from sqlalchemy import BigInteger, Boolean, Column, String, Table, UniqueConstraint, false

from determined.master.db.schema.base import Id, metadata

# Triggers write it in the transaction of the change, so that no code path can forget. A change gives a thing's row a
# new number; a deleted thing leaves a tombstone. There is one writer, so numbers are in the order of commits.
changes = Table(
    "changes",
    metadata,
    Column("seq", Id, primary_key=True, autoincrement=True),
    Column("noun", String, nullable=False),  # projects, experiments, trials, checkpoints, tasks, jobs, metrics
    Column("id", String, nullable=False),  # of metrics: `<trial>/<group>`
    Column("parent", BigInteger),  # workspace, project, experiment or (of metrics) trial it belongs to
    Column("value", BigInteger),  # of metrics: the last step reported
    Column("deleted", Boolean, nullable=False, server_default=false()),
    UniqueConstraint("noun", "id"),
    sqlite_autoincrement=True,
)
