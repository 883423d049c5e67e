"""Tables of imports from other systems: what was asked for, and which units of it are stored."""

from datetime import datetime

from sqlalchemy import JSON, BigInteger, Column, ForeignKey, Named, Table, Text

from determined._json import JsonObject
from determined.master.db.schema.base import Columns, Id, Time, metadata


class ImportColumns(Columns):
    """Imports. While one is RUNNING no master starts on the database, so nobody sees half of it."""

    id: Named[int] = Column(Id, primary_key=True, autoincrement=True)
    kind: Named[str]  # upstream
    source_id: Named[str] = Column(index=True)  # upstream's cluster id
    source: Named[str] = Column(Text)  # its address without secrets, for people
    options: Named[JsonObject] = Column(JSON)
    state: Named[str]  # RUNNING, DONE
    started_at: Named[datetime] = Column(Time)
    ended_at: Named[datetime | None] = Column(Time)


imports = Table("imports", metadata, ImportColumns, sqlite_autoincrement=True)


class ImportUnitColumns(Columns):
    """Units of an import, each written in the transaction that stores its rows."""

    import_id: Named[int] = Column(Id, ForeignKey("imports.id", ondelete="CASCADE"), primary_key=True)
    step: Named[str] = Column(primary_key=True)  # users, experiments, metrics of raw_steps, ...
    number: Named[int] = Column(primary_key=True)
    rows: Named[int] = Column(BigInteger)  # rows of the source that it covers
    checksum: Named[str]
    upto: Named[list[int] | None] = Column(JSON(none_as_null=True))  # where the next unit of the step begins, exclusive
    ids: Named[list[int] | None] = Column(JSON(none_as_null=True))  # of the stored rows, where they are kept
    notes: Named[JsonObject] = Column(JSON)  # what was changed or left out, counted, with examples


import_units = Table("import_units", metadata, ImportUnitColumns)
