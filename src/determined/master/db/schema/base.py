"""Parts of every table: typed columns, metadata, ids, and times as integer microseconds read as aware UTC."""

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from sqlalchemy import BigInteger, Integer, MetaData, TypedColumns
from sqlalchemy.engine import Dialect
from sqlalchemy.types import TypeDecorator

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class Time(TypeDecorator[datetime]):
    """Aware UTC datetimes as integer microseconds: exact, sortable, the same on both dialects."""

    impl = BigInteger
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> int | None:
        if value is None:
            return None
        return (value - _EPOCH) // timedelta(microseconds=1)

    def process_result_value(self, value: int | None, dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        return _EPOCH + timedelta(microseconds=value)


class Columns(TypedColumns):
    """Columns of a table: `table.c.name` is typed, and `scripts/make_rows.py` writes the table's row from them."""

    if TYPE_CHECKING:
        # Without this the base class lets every name pass, and a mistyped column is found only when its query runs.
        __getattr__: None  # type: ignore[assignment, misc]


# SQLite gives out ids only for INTEGER PRIMARY KEY; AUTOINCREMENT keeps deleted ids from coming back.
Id = BigInteger().with_variant(Integer, "sqlite")

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
    }
)
