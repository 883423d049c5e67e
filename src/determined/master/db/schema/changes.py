"""Tables of changes, which `/stream` reads: one row per thing, written by database triggers (revision 0005)."""

from sqlalchemy import BigInteger, Column, Named, Table, UniqueConstraint, false

from determined.master.db.schema.base import Columns, Id, metadata


class ChangeColumns(Columns):
    """Latest change of each thing.

    Triggers write it in the transaction of the change, so that no code path can forget. A change gives a thing's row a
    new number; a deleted thing leaves a tombstone. There is one writer, so numbers are in the order of commits.
    """

    seq: Named[int] = Column(Id, primary_key=True, autoincrement=True)
    noun: Named[str]  # projects, experiments, trials, checkpoints, tasks, jobs, metrics, models, modelversions
    id: Named[str]  # of metrics: `<trial>/<group>`
    parent: Named[int | None] = Column(BigInteger)  # workspace, project, experiment, trial or model it is in
    value: Named[int | None] = Column(BigInteger)  # of metrics: the last step; of models, versions: the owner
    deleted: Named[bool] = Column(server_default=false())


changes = Table("changes", metadata, ChangeColumns, UniqueConstraint("noun", "id"), sqlite_autoincrement=True)
