"""What every table is made of: the metadata, ids, and times as integer microseconds read as aware UTC."""

from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import BigInteger, Integer, MetaData
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

    def process_result_value(self, value: Any, dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        return _EPOCH + timedelta(microseconds=value)


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
